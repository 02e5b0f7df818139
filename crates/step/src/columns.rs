//! A timeline in columns, for a canvas with tens of thousands of spans: output of `railwright timeline
//! --format columns` and input of the web UI.
//!
//! Responsible for: the answer ([`Columns`]): tracks of spans by start time, one array per column, with
//! classes for colours, bubbles as spans, the critical path, messages, and marks of findings. Times are whole
//! nanoseconds since the start of the step. Both ends of a span are rounded the same way, so neighbours touch
//! and never overlap. Merged small spans are counted. Independent of the origin of a step:
//! modelled ([`of_step`]) or measured (the profiler uses [`Track::of`]).

mod arrows;
mod awaited;
mod counter;
mod from_step;
mod marks;
pub mod range;
mod track;
mod waits;
mod work;

pub use arrows::{ArrowKind, Arrows};
pub use awaited::{Awaited, waiting};
pub use counter::Counter;
pub use from_step::{Options, of_step, of_step_watched};
pub use marks::{Mark, Severity};
pub use track::{Row, Track, TrackHead, Window};

use crate::{Activity, Dimension, Origin, Phase, Span};
use serde::Serialize;
use std::io;

/// Class of a span, which determines its colour in all views.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// The forward pass.
    Forward,
    /// A backward pass, or its gradient of the input.
    Backward,
    /// Weight gradients of a divided backward pass.
    WeightGradient,
    /// Recomputed forward work.
    Recompute,
    /// Tensor-parallel communication.
    Tensor,
    /// Context-parallel communication.
    Context,
    /// Data-parallel communication.
    Data,
    /// Messages of the pipeline.
    Pipeline,
    /// Expert-parallel communication.
    Expert,
    /// Pipeline bubble.
    Bubble,
    /// Gradient reduction, clipping and update.
    Optimizer,
    /// Copies.
    Copy,
    /// Host work.
    Host,
    /// Anything else, or unknown.
    #[default]
    Other,
    /// Communication of an unknown dimension.
    Communication,
    /// Wait within communication, until the last rank enters.
    Waiting,
}

impl Class {
    /// All classes; a colour is an index into this list.
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

    /// Name in answers.
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

    /// Class of compute by phase.
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

    /// Class of communication by dimension.
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

    /// Class of a span.
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

/// Time of one kind, on the critical path or in a rank's bubbles.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Part {
    /// Kind.
    pub name: String,
    /// Duration in nanoseconds.
    pub time_ns: i64,
}

/// A part of the critical path on a rank that is not shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Elsewhere {
    /// Rank.
    pub rank: u32,
    /// Start in nanoseconds since the start of the step.
    pub at: i64,
    /// Duration in nanoseconds.
    pub length: i64,
}

/// Bubbles of one rank.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BubbleRow {
    /// Rank.
    pub rank: u32,
    /// Pipeline stage.
    pub stage: u32,
    /// Bubble time by position (fill, steady, drain) or by cause.
    pub parts: Vec<Part>,
    /// Bubble time as a share of the pipeline's run time, 0 to 1.
    pub share: f64,
    /// Longest waits by awaited work, within the displayed range.
    pub waits: Vec<Awaited>,
    /// Bubble time without a recorded cause within the displayed range, in nanoseconds.
    pub no_cause_ns: i64,
}

/// A timeline in columns.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Columns {
    /// Name.
    pub label: String,
    /// Origin of the timeline.
    pub origin: Origin,
    /// Step time in nanoseconds.
    pub duration_ns: i64,
    /// The displayed range; the whole step unless a part is requested.
    pub window: Window,
    /// Tracks in display order.
    pub tracks: Vec<Track>,
    /// Names of spans; spans contain indices into this list.
    pub names: Vec<String>,
    /// Classes of spans; spans contain indices into this list.
    pub classes: Vec<Class>,
    /// Critical path from first to last span, as index of track and index of span.
    pub critical: Vec<[u32; 2]>,
    /// Time on the critical path by kind, largest first. The sum is the step time, up to a nanosecond per
    /// kind.
    pub critical_parts: Vec<Part>,
    /// Parts of the critical path on ranks that are not shown, in order.
    pub critical_elsewhere: Vec<Elsewhere>,
    /// Arrows: messages, launches, collectives, and causes of waits.
    pub arrows: Arrows,
    /// Kinds of arrows; arrows contain indices into this list.
    pub arrow_kinds: Vec<ArrowKind>,
    /// Counters, such as memory, next to their group of tracks.
    pub counters: Vec<Counter>,
    /// Bubbles of ranks.
    pub bubbles: Vec<BubbleRow>,
    /// Findings with their place in the timeline.
    pub marks: Vec<Mark>,
    /// Number of spans before merging.
    pub spans: u64,
    /// Number of spans merged into others because their track exceeded the limit.
    pub merged: u64,
    /// Ranks of the step that are not shown.
    pub hidden_ranks: Vec<u32>,
}

impl Columns {
    /// An empty timeline of this step time.
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

    /// JSON in one line with a schema version. Streamed, because most of it is numbers.
    pub fn to_json(&self, schema_version: u32) -> String {
        let mut text = Vec::new();
        // Cannot fail: the value has no map and no non-finite float, and memory accepts all text.
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

    /// Adds a track and counts its spans. Returns its index.
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
