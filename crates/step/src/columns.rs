//! A timeline in columns, for a canvas that draws tens of thousands of spans: what `railwright timeline --format columns` prints and the page shows.
//!
//! Responsible for: the answer ([`Columns`]): tracks of spans in order of their starts, each column an array, with classes for colours, bubbles as
//! spans of their own, the critical path, messages, and marks of what analyses found. Times are whole nanoseconds since the step began, both ends of a span
//! rounded the same way, so that neighbours still touch and never overlap. What is merged for being small is counted. Refuses to know whether a step was
//! modelled ([`of_step`]) or measured (the profiler fills the same value through [`Track::of`]).

mod arrows;
mod counter;
mod from_step;
mod marks;
pub mod range;
mod track;
mod waits;
mod work;

pub use arrows::{ArrowKind, Arrows};
pub use counter::Counter;
pub use from_step::{Options, of_step, of_step_watched};
pub use marks::{Mark, Severity};
pub use track::{Row, Track, TrackHead, Window};

use crate::{Activity, Dimension, Origin, Phase, Span};
use serde::Serialize;
use std::io;

/// What colours a span. A class is the same in every view.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// The forward pass.
    Forward,
    /// A backward pass, or the half of it that makes the gradient of the input.
    Backward,
    /// The half of a backward pass that makes the gradient of the weights.
    WeightGradient,
    /// Forward work done again.
    Recompute,
    /// Tensor parallel communication.
    Tensor,
    /// Context parallel communication.
    Context,
    /// Data parallel communication.
    Data,
    /// Messages of the pipeline.
    Pipeline,
    /// Expert parallel communication.
    Expert,
    /// Nothing to do while the pipeline runs.
    Bubble,
    /// Reducing gradients, clipping, updating.
    Optimizer,
    /// Copies.
    Copy,
    /// The host at work.
    Host,
    /// Anything else, or unknown.
    #[default]
    Other,
    /// Communication for an unknown sake.
    Communication,
    /// Within communication: until the last rank has come.
    Waiting,
}

impl Class {
    /// All classes; a colour is a place in this list.
    pub const ALL: [Self; 16] = [
        Self::Forward,
        Self::Backward,
        Self::WeightGradient,
        Self::Recompute,
        Self::Tensor,
        Self::Context,
        Self::Data,
        Self::Pipeline,
        Self::Expert,
        Self::Bubble,
        Self::Optimizer,
        Self::Copy,
        Self::Host,
        Self::Other,
        Self::Communication,
        Self::Waiting,
    ];

    /// As answers write it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Forward => "forward",
            Self::Backward => "backward",
            Self::WeightGradient => "weight_gradient",
            Self::Recompute => "recompute",
            Self::Tensor => "tensor",
            Self::Context => "context",
            Self::Data => "data",
            Self::Pipeline => "pipeline",
            Self::Expert => "expert",
            Self::Bubble => "bubble",
            Self::Optimizer => "optimizer",
            Self::Copy => "copy",
            Self::Host => "host",
            Self::Other => "other",
            Self::Communication => "communication",
            Self::Waiting => "waiting",
        }
    }

    /// Of arithmetic.
    pub const fn of_phase(phase: Phase) -> Self {
        match phase {
            Phase::Forward => Self::Forward,
            Phase::Recompute => Self::Recompute,
            Phase::Backward | Phase::BackwardInput => Self::Backward,
            Phase::BackwardWeight => Self::WeightGradient,
            Phase::Optimizer => Self::Optimizer,
            Phase::Other => Self::Other,
        }
    }

    /// Of communication.
    pub const fn of_dimension(dimension: Dimension) -> Self {
        match dimension {
            Dimension::Tensor => Self::Tensor,
            Dimension::Context => Self::Context,
            Dimension::Expert => Self::Expert,
            Dimension::Pipeline => Self::Pipeline,
            Dimension::Data => Self::Data,
            Dimension::Other => Self::Communication,
        }
    }

    /// Of a span.
    pub const fn of(span: &Span) -> Self {
        match span.activity {
            Activity::Compute => Self::of_phase(span.phase),
            Activity::Communication(dimension) => Self::of_dimension(dimension),
            Activity::Copy => Self::Copy,
            Activity::Host => Self::Host,
            Activity::Wait => Self::Waiting,
        }
    }
}

/// What a line of the critical path or of a rank's bubbles comes to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Part {
    /// Kind.
    pub name: String,
    /// Duration in nanoseconds.
    pub time_ns: i64,
}

/// A stretch of the critical path on a rank that is not shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Elsewhere {
    /// Rank.
    pub rank: u32,
    /// Start time in nanoseconds since the step began.
    pub at: i64,
    /// Duration in nanoseconds.
    pub length: i64,
}

/// A rank's bubbles.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BubbleRow {
    /// Rank.
    pub rank: u32,
    /// Stage.
    pub stage: u32,
    /// By place (fill, steady, drain) or by cause.
    pub parts: Vec<Part>,
    /// All of them over the time that the pipeline runs.
    pub share: f64,
}

/// A timeline in columns.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Columns {
    /// Name.
    pub label: String,
    /// Writer.
    pub origin: Origin,
    /// Step time.
    pub duration_ns: i64,
    /// The displayed range; the whole step unless a part is requested.
    pub window: Window,
    /// Tracks in the order in which they are drawn.
    pub tracks: Vec<Track>,
    /// What spans are called; spans hold places in this list.
    pub names: Vec<String>,
    /// What colours mean; spans hold places in this list.
    pub classes: Vec<Class>,
    /// The critical path, first to last: tracks and spans.
    pub critical: Vec<[u32; 2]>,
    /// What the critical path is made of, most first; adds up to the step, but for a nanosecond each.
    pub critical_parts: Vec<Part>,
    /// Where the critical path leaves what is shown: its stretches on ranks that could be shown and are not, first to last.
    pub critical_elsewhere: Vec<Elsewhere>,
    /// Messages, launches, collectives, and what waits waited for.
    pub arrows: Arrows,
    /// What kinds of arrows mean; arrows hold places in this list.
    pub arrow_kinds: Vec<ArrowKind>,
    /// Counters of groups.
    pub counters: Vec<Counter>,
    /// Bubbles of ranks.
    pub bubbles: Vec<BubbleRow>,
    /// What was found where.
    pub marks: Vec<Mark>,
    /// Spans before merging.
    pub spans: u64,
    /// Spans that were merged into others, because a track exceeded the limit.
    pub merged: u64,
    /// Ranks that could be shown and are not.
    pub hidden_ranks: Vec<u32>,
}

impl Columns {
    /// An empty timeline of a step of this length.
    pub fn new(label: impl Into<String>, origin: Origin, duration_ns: i64) -> Self {
        Self {
            label: label.into(),
            origin,
            duration_ns,
            window: Window { from: 0, to: duration_ns },
            classes: Class::ALL.to_vec(),
            arrow_kinds: ArrowKind::ALL.to_vec(),
            ..Self::default()
        }
    }

    /// As JSON in one line, under a version of the answers' schema. Written as it is: most of it is numbers.
    pub fn to_json(&self, schema_version: u32) -> String {
        let mut text = Vec::new();
        // The value has no map and no float that is not finite; memory takes all of it.
        let _ = self.write_json(schema_version, &mut text);
        String::from_utf8(text).unwrap_or_default()
    }

    /// Streaming variant; stops at a write error.
    pub fn write_json(&self, schema_version: u32, mut out: impl io::Write) -> io::Result<()> {
        #[derive(Serialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        struct Answer<'a> {
            schema_version: u32,
            kind: &'static str,
            #[serde(flatten)]
            columns: &'a Columns,
        }
        let answer = Answer { schema_version, kind: "timeline", columns: self };
        serde_json::to_writer(&mut out, &answer)?;
        out.write_all(b"\n")
    }

    /// Adds a track and counts its spans; its place.
    pub fn add(&mut self, track: Track) -> u32 {
        let id = self.tracks.len() as u32;
        self.spans += track.spans;
        self.merged += track.merged();
        self.tracks.push(Track { id, ..track });
        id
    }
}

#[cfg(test)]
mod tests;
