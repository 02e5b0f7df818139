//! The timeline of one training step.
//!
//! Responsible for: ranks, their streams, and what connects spans across them. Refuses to analyse; each analysis is a module
//! of its own.

use crate::{Collective, CollectiveId, Dimension, GroupId, MemoryEvents, Names, Span, Spans, Time};
use railwright_spec::quantity::{Rank, Stage};
use serde::Serialize;

/// Who wrote a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// Formulas.
    #[default]
    Modelled,
    /// A trace.
    Measured,
}

/// A timeline of one training step.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Step {
    /// What it is called, for titles.
    pub name: String,
    /// Writer.
    pub origin: Origin,
    /// Where the step begins; nothing is outside of its window.
    pub start: Time,
    /// Where the step ends.
    pub end: Time,
    /// The ranks that are shown: all, or one for each pipeline stage.
    pub ranks: Vec<RankTimeline>,
    /// The names of spans.
    pub names: Names,
    /// Groups of ranks that communicate.
    pub groups: Vec<Vec<Rank>>,
    /// Communication of spans.
    pub collectives: Vec<Collective>,
    /// Dependencies across streams; on one stream, order implies them.
    pub dependencies: Vec<Dependency>,
}

/// One rank's part of a step.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RankTimeline {
    /// Rank.
    pub rank: Rank,
    /// Its pipeline stage.
    pub stage: Stage,
    /// Its streams.
    pub streams: Vec<Stream>,
    /// What it took from memory and gave back.
    pub memory: MemoryEvents,
}

/// What a stream is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum StreamKind {
    /// Arithmetic.
    Compute,
    /// Communication of a dimension; the number distinguishes streams of one dimension.
    Communication(Dimension, u8),
    /// Copies between device and host.
    Copy(u8),
    /// A host thread.
    Host(u8),
}

impl StreamKind {
    /// Label.
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

/// Spans that run one after the other.
#[derive(Clone, Debug, PartialEq)]
pub struct Stream {
    /// Purpose.
    pub kind: StreamKind,
    /// What ran on it.
    pub spans: Spans,
}

/// A span's address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SpanRef {
    /// Index into [`Step::ranks`].
    pub rank: u32,
    /// Index into [`RankTimeline::streams`].
    pub stream: u32,
    /// Index into [`Stream::spans`].
    pub span: u32,
}

/// Reason why a span waits for another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum DependencyKind {
    /// What was sent is needed: an arrow from one stage to another.
    Message,
    /// An event between two streams of one rank.
    Stream,
    /// The host launched it.
    Launch,
}

/// `to` cannot start before `from` has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dependency {
    /// What must end first.
    pub from: SpanRef,
    /// What waits.
    pub to: SpanRef,
    /// Reason.
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

    /// How many stages its ranks are on.
    pub fn stages(&self) -> u32 {
        self.ranks.iter().map(|rank| rank.stage.0 + 1).max().unwrap_or(0)
    }

    /// Adds a rank without streams; its index.
    pub fn add_rank(&mut self, rank: Rank, stage: Stage) -> usize {
        self.ranks.push(RankTimeline { rank, stage, ..RankTimeline::default() });
        self.ranks.len() - 1
    }

    /// Adds a span at the end of a rank's stream, which is made if need be, and widens the window to hold it. `None` if there
    /// is no such rank.
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

    /// Where a rank's stream ends so far.
    pub fn stream_end(&self, rank: usize, stream: StreamKind) -> Option<Time> {
        self.ranks.get(rank)?.streams.iter().find(|s| s.kind == stream)?.spans.last_end()
    }

    /// Lets one span wait for another.
    pub fn depend(&mut self, from: SpanRef, to: SpanRef, kind: DependencyKind) {
        self.dependencies.push(Dependency { from, to, kind });
    }

    /// The place of a group, new or known. Few groups are expected of a step: the search is linear.
    pub fn group(&mut self, ranks: &[Rank]) -> GroupId {
        let known = self.groups.iter().position(|group| group == ranks);
        GroupId(known.unwrap_or_else(|| {
            self.groups.push(ranks.to_vec());
            self.groups.len() - 1
        }) as u32)
    }

    /// Adds a description of a communication; its place.
    pub fn add_collective(&mut self, collective: Collective) -> CollectiveId {
        self.collectives.push(collective);
        CollectiveId(self.collectives.len() as u32 - 1)
    }

    /// The span at an address.
    pub fn span(&self, at: SpanRef) -> Option<Span> {
        let stream = self.ranks.get(at.rank as usize)?.streams.get(at.stream as usize)?;
        stream.spans.get(at.span as usize)
    }
}
