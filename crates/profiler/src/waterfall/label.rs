//! Labels of a rank's time.
//!
//! Responsible for: the labels, their order and their groups. Does not decide which one applies.

use railwright_step::Dimension;
use serde::{Serialize, Serializer};

/// Parts of exposed communication.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Share {
    /// Transfer of data.
    Transfer,
    /// Wait for another rank.
    Wait,
    /// Transfer or wait, unknown which: the collective could not be matched with other ranks'.
    Undivided,
}

/// Cause of a pipeline bubble.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Bubble {
    /// The schedule, with equal stages and free messages.
    Schedule,
    /// Unequal stages.
    Imbalance,
    /// Messages.
    Message,
    /// Passes longer than usual.
    Stall,
    /// Unknown cause.
    Undivided,
}

/// Label of a nanosecond of a rank: exactly one of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Label {
    /// Time of the model's compute at the accelerator's peak.
    Ideal,
    /// GEMMs: their excess over the ideal, or all of their time if the ideal is unknown.
    MatrixProduct,
    /// Attention: its excess over the ideal, or all of its time if the ideal is unknown.
    Attention,
    /// Recompute of forward work.
    Recompute,
    /// Memory-bound compute: norms, element-wise kernels, lookups, routing, the loss.
    MemoryBound,
    /// Compute of the optimizer.
    Optimizer,
    /// Compute of unknown kind.
    OtherCompute,
    /// Excess of a chip over the median rank for the same kernels.
    SlowerChip,
    /// Communication without overlapped compute.
    Exposed(Dimension, Share),
    /// Copies without overlapped compute or communication.
    Copy,
    /// Idle because of the pipeline.
    Bubble(Bubble),
    /// Idle because the host has not launched the next work.
    Host,
    /// Idle while the host was in a call that waits for the device.
    Sync,
    /// Idle while the host loaded data.
    DataLoading,
    /// Idle while the driver allocated or freed memory.
    Allocation,
    /// Idle although the next work was launched: gaps of the device, waits for other streams.
    Gap,
    /// Idle without a recorded cause.
    Unexplained,
}

impl Label {
    const SHARES: [Share; 3] = [Share::Transfer, Share::Wait, Share::Undivided];
    const BUBBLES: [Bubble; 5] =
        [Bubble::Schedule, Bubble::Imbalance, Bubble::Message, Bubble::Stall, Bubble::Undivided];
    const COMPUTE: [Self; 8] = [
        Self::Ideal,
        Self::MatrixProduct,
        Self::Attention,
        Self::Recompute,
        Self::MemoryBound,
        Self::Optimizer,
        Self::OtherCompute,
        Self::SlowerChip,
    ];
    const IDLE: [Self; 6] =
        [Self::Host, Self::Sync, Self::DataLoading, Self::Allocation, Self::Gap, Self::Unexplained];
    const EXPOSED: usize = Self::COMPUTE.len();
    const COPY: usize = Self::EXPOSED + Dimension::ALL.len() * Self::SHARES.len();

    /// Number of entries.
    pub const COUNT: usize = Self::COPY + 1 + Self::BUBBLES.len() + Self::IDLE.len();

    /// All labels in display order.
    pub fn all() -> impl Iterator<Item = Self> {
        let exposed =
            Dimension::ALL.into_iter().flat_map(|d| Self::SHARES.map(|share| Self::Exposed(d, share)));
        let bubbles = Self::BUBBLES.map(Self::Bubble);
        Self::COMPUTE.into_iter().chain(exposed).chain([Self::Copy]).chain(bubbles).chain(Self::IDLE)
    }

    /// Index in [`Self::all`].
    pub const fn place(self) -> usize {
        match self {
            Self::Ideal => 0,
            Self::MatrixProduct => 1,
            Self::Attention => 2,
            Self::Recompute => 3,
            Self::MemoryBound => 4,
            Self::Optimizer => 5,
            Self::OtherCompute => 6,
            Self::SlowerChip => 7,
            Self::Exposed(dimension, share) => {
                Self::EXPOSED + dimension as usize * Self::SHARES.len() + share as usize
            }
            Self::Copy => Self::COPY,
            Self::Bubble(bubble) => Self::COPY + 1 + bubble as usize,
            Self::Host => Self::COPY + 6,
            Self::Sync => Self::COPY + 7,
            Self::DataLoading => Self::COPY + 8,
            Self::Allocation => Self::COPY + 9,
            Self::Gap => Self::COPY + 10,
            Self::Unexplained => Self::COPY + 11,
        }
    }

    /// Name in JSON: `exposed_data_parallel_wait`.
    pub fn key(self) -> String {
        self.name().replace([' ', '-'], "_").replace(',', "")
    }

    /// Label.
    pub fn name(self) -> String {
        let unknown = |dimension: Dimension| match dimension {
            Dimension::Other => "unknown",
            known => known.name(),
        };
        match self {
            Self::Ideal => "ideal compute".to_owned(),
            Self::MatrixProduct => "matrix products".to_owned(),
            Self::Attention => "attention".to_owned(),
            Self::Recompute => "recompute".to_owned(),
            Self::MemoryBound => "memory-bound kernels".to_owned(),
            Self::Optimizer => "optimizer".to_owned(),
            Self::OtherCompute => "other kernels".to_owned(),
            Self::SlowerChip => "slower chip".to_owned(),
            Self::Exposed(dimension, share) => {
                let share = match share {
                    Share::Transfer => "transfer",
                    Share::Wait => "waiting",
                    Share::Undivided => "undivided",
                };
                format!("{} communication, {share}", unknown(dimension))
            }
            Self::Copy => "memory copies".to_owned(),
            Self::Bubble(bubble) => match bubble {
                Bubble::Schedule => "bubble of the schedule",
                Bubble::Imbalance => "bubble of unequal stages",
                Bubble::Message => "bubble of messages",
                Bubble::Stall => "bubble of stalls",
                Bubble::Undivided => "pipeline bubble",
            }
            .to_owned(),
            Self::Host => "host-bound".to_owned(),
            Self::Sync => "synchronisation".to_owned(),
            Self::DataLoading => "data loading".to_owned(),
            Self::Allocation => "memory allocation".to_owned(),
            Self::Gap => "device gaps".to_owned(),
            Self::Unexplained => "unexplained".to_owned(),
        }
    }

    /// Its line on the first page.
    pub const fn group(self) -> Group {
        match self {
            Self::Ideal => Group::Ideal,
            Self::MatrixProduct
            | Self::Attention
            | Self::Recompute
            | Self::MemoryBound
            | Self::Optimizer
            | Self::OtherCompute
            | Self::SlowerChip => Group::Compute,
            Self::Exposed(..) => Group::Communication,
            Self::Copy => Group::Copy,
            Self::Bubble(_) => Group::Bubble,
            Self::Host | Self::Sync | Self::DataLoading | Self::Allocation => Group::Host,
            Self::Gap | Self::Unexplained => Group::Other,
        }
    }

    /// Tests whether the device computes.
    pub const fn is_compute(self) -> bool {
        matches!(self.group(), Group::Ideal | Group::Compute)
    }

    /// Tests whether the device is idle.
    pub const fn is_idle(self) -> bool {
        matches!(self.group(), Group::Bubble | Group::Host | Group::Other)
    }

    /// Tests whether it is exposed communication of this kind, of any dimension.
    pub fn is_exposed(self, share: Share) -> bool {
        matches!(self, Self::Exposed(_, own) if own == share)
    }

    /// Tests whether the device is idle because of its host, or for a reason that was not recorded.
    pub const fn is_host_idle(self) -> bool {
        matches!(self.hardware(), Hardware::Host) || matches!(self, Self::Unexplained)
    }

    /// Part of the machine that limits the rank.
    pub const fn hardware(self) -> Hardware {
        match self {
            Self::Exposed(_, Share::Wait) | Self::Bubble(_) => Hardware::OtherRanks,
            Self::Exposed(_, Share::Undivided) => Hardware::LinkOrRanks,
            Self::Exposed(..) => Hardware::Link,
            Self::Copy => Hardware::Copies,
            Self::Host | Self::Sync | Self::DataLoading | Self::Allocation => Hardware::Host,
            Self::Unexplained | Self::Gap => Hardware::Unknown,
            _ => Hardware::Device,
        }
    }
}

impl Serialize for Label {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.key())
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Label {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Label".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let keys: Vec<String> = Self::all().map(Self::key).collect();
        schemars::json_schema!({ "type": "string", "enum": keys })
    }
}

/// A line of the first page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Group {
    /// Model compute at peak rate.
    Ideal,
    /// Compute above that, or all of it if the ideal is unknown.
    Compute,
    /// Exposed communication.
    Communication,
    /// Copies.
    Copy,
    /// Pipeline bubble.
    Bubble,
    /// The host.
    Host,
    /// Everything else.
    Other,
}

impl Group {
    /// All groups in display order.
    pub const ALL: [Self; 7] =
        [Self::Ideal, Self::Compute, Self::Communication, Self::Copy, Self::Bubble, Self::Host, Self::Other];

    /// Name; `ideal` is true if [`Group::Ideal`] is known.
    pub const fn name(self, ideal: bool) -> &'static str {
        match self {
            Self::Ideal => "ideal compute (MFU)",
            Self::Compute if ideal => "compute above ideal",
            Self::Compute => "compute",
            Self::Communication => "exposed communication",
            Self::Copy => "memory copies",
            Self::Bubble => "pipeline bubble",
            Self::Host => "host",
            Self::Other => "other idle time",
        }
    }
}

/// A part of the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Hardware {
    /// The accelerator.
    Device,
    /// The host: launches, waits, data.
    Host,
    /// Copy engines and the host bus.
    Copies,
    /// Links between accelerators.
    Link,
    /// Ranks that enter later.
    OtherRanks,
    /// Links or ranks that enter later, unknown which.
    LinkOrRanks,
    /// Unknown.
    Unknown,
}

impl Hardware {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::Device,
        Self::Host,
        Self::Copies,
        Self::Link,
        Self::OtherRanks,
        Self::LinkOrRanks,
        Self::Unknown,
    ];

    /// Label.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Device => "accelerator",
            Self::Host => "host",
            Self::Copies => "copies",
            Self::Link => "links",
            Self::OtherRanks => "other ranks",
            Self::LinkOrRanks => "transfer or waiting",
            Self::Unknown => "unknown",
        }
    }
}

/// Time by label, in nanoseconds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parts([i64; Label::COUNT]);

impl Default for Parts {
    fn default() -> Self {
        Self([0; Label::COUNT])
    }
}

impl Parts {
    /// Adds time to a label.
    pub fn add(&mut self, label: Label, time: i64) {
        self.0[label.place()] += time;
    }

    /// Moves time from one label to another, at most the available time. Returns the moved nanoseconds.
    pub fn shift(&mut self, from: Label, to: Label, time: i64) -> i64 {
        let moved = time.clamp(0, self.get(from).max(0));
        self.add(from, -moved);
        self.add(to, moved);
        moved
    }

    /// Adds all times of another one.
    pub fn merge(&mut self, other: &Self) {
        for (mine, theirs) in self.0.iter_mut().zip(&other.0) {
            *mine += theirs;
        }
    }

    /// Time of a label.
    pub fn get(&self, label: Label) -> i64 {
        self.0[label.place()]
    }

    /// Time of all selected labels.
    pub fn sum(&self, fits: impl Fn(Label) -> bool) -> i64 {
        self.iter().filter(|(label, _)| fits(*label)).map(|(_, time)| time).sum()
    }

    /// Time of a line of the first page.
    pub fn group(&self, group: Group) -> i64 {
        self.sum(|label| label.group() == group)
    }

    /// Total time.
    pub fn total(&self) -> i64 {
        self.0.iter().sum()
    }

    /// Labels with time, in order.
    pub fn iter(&self) -> impl Iterator<Item = (Label, i64)> {
        Label::all().zip(self.0).filter(|(_, time)| *time != 0)
    }
}

impl Serialize for Parts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Parts {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Parts".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let label = Label::json_schema(generator);
        schemars::json_schema!({
            "description": "Time of each label that has any, in nanoseconds.",
            "type": "object",
            "propertyNames": label,
            "additionalProperties": { "type": "integer", "x-unit": "ns" }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_those_of_the_list() {
        let all: Vec<Label> = Label::all().collect();
        assert_eq!(all.len(), Label::COUNT);
        for (place, label) in all.iter().enumerate() {
            assert_eq!(label.place(), place, "{}", label.name());
        }
        let mut names: Vec<String> = all.iter().map(|label| label.name()).collect();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), Label::COUNT);
    }

    #[test]
    fn time_moves_but_does_not_vanish() {
        let mut parts = Parts::default();
        parts.add(Label::MatrixProduct, 10);
        assert_eq!(parts.shift(Label::MatrixProduct, Label::Ideal, 25), 10);
        assert_eq!(parts.shift(Label::Attention, Label::Ideal, 5), 0);
        assert_eq!((parts.total(), parts.group(Group::Ideal)), (10, 10));
        assert_eq!(serde_json::to_string(&parts).unwrap(), r#"{"ideal_compute":10}"#);
    }
}
