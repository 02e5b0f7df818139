//! The timeline of one training step.
//!
//! Responsible for: ranks, their streams, and dependencies across them. Each analysis is a module of its own.

use crate::{Collective, CollectiveId, Dimension, GroupId, MemoryEvents, Names, Span, Spans, Time};
use railwright_spec::quantity::{Rank, Stage};
use serde::Serialize;

/// Origin of a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// Cost model.
    #[default]
    Modelled,
    /// Trace.
    Measured,
}

/// A timeline of one training step.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Step {
    /// Title.
    pub name: String,
    /// Origin.
    pub origin: Origin,
    /// Start of the step; all spans are inside its window.
    pub start: Time,
    /// End of the step.
    pub end: Time,
    /// Ranks: all of them, or one per pipeline stage.
    pub ranks: Vec<RankTimeline>,
    /// Names of spans.
    pub names: Names,
    /// Process groups.
    pub groups: Vec<Vec<Rank>>,
    /// Collectives of spans.
    pub collectives: Vec<Collective>,
    /// Dependencies across streams; on one stream, order implies them.
    pub dependencies: Vec<Dependency>,
}

/// Timeline of one rank.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RankTimeline {
    /// Rank.
    pub rank: Rank,
    /// Pipeline stage.
    pub stage: Stage,
    /// Streams.
    pub streams: Vec<Stream>,
    /// Allocations and frees of memory.
    pub memory: MemoryEvents,
}

/// Purpose of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum StreamKind {
    /// Compute.
    Compute,
    /// Communication of a dimension; the number distinguishes streams of one dimension.
    Communication(Dimension, u8),
    /// Copies between device and host.
    Copy(u8),
    /// A host thread.
    Host(u8),
}

impl StreamKind {
    /// Display name.
    pub fn name(self) -> String {
        let numbered = |name: String, n: u8| if n == 0 { name } else { format!("{name} {n}") };
        match self {
            Self::Compute => "compute".to_owned(),
            Self::Communication(dimension, n) => numbered(format!("{} communication", dimension.name()), n),
            Self::Copy(n) => numbered("copy".to_owned(), n),
            Self::Host(n) => numbered("host".to_owned(), n),
        }
    }
}

/// A stream: spans in sequence.
#[derive(Clone, Debug, PartialEq)]
pub struct Stream {
    /// Purpose.
    pub kind: StreamKind,
    /// Spans.
    pub spans: Spans,
}

/// Address of a span.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SpanRef {
    /// Index into [`Step::ranks`].
    pub rank: u32,
    /// Index into [`RankTimeline::streams`].
    pub stream: u32,
    /// Index into [`Stream::spans`].
    pub span: u32,
}

/// Kind of a dependency.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum DependencyKind {
    /// The receiver needs the sent data; shown as an arrow between stages.
    Message,
    /// An event between two streams of one rank.
    Stream,
    /// Launch by the host.
    Launch,
}

/// A dependency: `to` cannot start before `from` has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dependency {
    /// Predecessor.
    pub from: SpanRef,
    /// Dependent span.
    pub to: SpanRef,
    /// Kind.
    pub kind: DependencyKind,
}

impl Step {
    /// An empty modelled step.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), ..Self::default() }
    }

    /// Step time.
    pub fn duration(&self) -> Time {
        self.end - self.start
    }

    /// Number of pipeline stages of its ranks.
    pub fn stages(&self) -> u32 {
        self.ranks.iter().map(|rank| rank.stage.0 + 1).max().unwrap_or(0)
    }

    /// Adds a rank without streams. Returns its index.
    pub fn add_rank(&mut self, rank: Rank, stage: Stage) -> usize {
        self.ranks.push(RankTimeline { rank, stage, ..RankTimeline::default() });
        self.ranks.len() - 1
    }

    /// Adds a span at the end of a rank's stream, which is created if missing. Extends the window to include
    /// it. `None` without such a rank.
    pub fn push(&mut self, rank: usize, stream: StreamKind, span: Span) -> Option<SpanRef> {
        let timeline = self.ranks.get_mut(rank)?;
        let at = timeline.streams.iter().position(|s| s.kind == stream).unwrap_or_else(|| {
            timeline.streams.push(Stream { kind: stream, spans: Spans::default() });
            timeline.streams.len() - 1
        });
        let spans = &mut timeline.streams[at].spans;
        spans.push(span);
        self.end = self.end.max(span.end);
        self.start = self.start.min(span.start);
        Some(SpanRef { rank: rank as u32, stream: at as u32, span: spans.len() as u32 - 1 })
    }

    /// Current end of a rank's stream; `None` without spans.
    pub fn stream_end(&self, rank: usize, stream: StreamKind) -> Option<Time> {
        self.ranks.get(rank)?.streams.iter().find(|s| s.kind == stream)?.spans.last_end()
    }

    /// Adds a dependency of `to` on `from`.
    pub fn depend(&mut self, from: SpanRef, to: SpanRef, kind: DependencyKind) {
        self.dependencies.push(Dependency { from, to, kind });
    }

    /// Index of a process group, which is added if new. The search is linear, because a step has few groups.
    pub fn group(&mut self, ranks: &[Rank]) -> GroupId {
        let known = self.groups.iter().position(|group| group == ranks);
        GroupId(known.unwrap_or_else(|| {
            self.groups.push(ranks.to_vec());
            self.groups.len() - 1
        }) as u32)
    }

    /// Adds the description of a collective. Returns its index.
    pub fn add_collective(&mut self, collective: Collective) -> CollectiveId {
        self.collectives.push(collective);
        CollectiveId(self.collectives.len() as u32 - 1)
    }

    /// Span at an address.
    pub fn span(&self, at: SpanRef) -> Option<Span> {
        let stream = self.ranks.get(at.rank as usize)?.streams.get(at.stream as usize)?;
        stream.spans.get(at.span as usize)
    }
}
