//! Rows and parts of a profile.
//!
//! Responsible for: their fields, with units. Refuses to compute them.

use crate::causes::CauseRow;
use crate::certainty::Certainty;
use crate::trace::DamageKind;
use crate::waterfall::{Group, Parts, Totals};
use railwright_step::{OperatorFamily, Phase};
use serde::Serialize;

/// A share of the time.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Part {
    /// Subject.
    pub name: String,
    /// Its time over all ranks and steps, in nanoseconds.
    #[serde(rename = "time_ns")]
    pub time: i64,
    /// Its time on the mean rank and step, in nanoseconds.
    #[serde(rename = "mean_ns")]
    pub mean: f64,
    /// Of all time.
    pub share: f64,
}

/// A line of the first page.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Line {
    /// Selection.
    pub group: Group,
    /// All of it.
    #[serde(flatten)]
    pub part: Part,
    /// Its value: accelerator-hours per day of the whole job.
    pub gpu_hours_per_day: f64,
    /// Its components, largest first.
    pub parts: Vec<Part>,
}

/// One step.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StepRow {
    /// Its number.
    pub step: String,
    /// Duration in nanoseconds.
    #[serde(rename = "duration_ns")]
    pub duration: i64,
    /// On the mean rank, by line of the first page, in the order of [`Group::ALL`].
    #[serde(rename = "groups_ns")]
    pub groups: Vec<f64>,
    /// Shares of labels.
    pub parts: Parts,
}

/// One rank.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RankRow {
    /// Selection.
    pub rank: u32,
    /// Its host, if recorded.
    pub host: Option<String>,
    /// Shares by line of the first page, in the order of [`Group::ALL`].
    pub shares: Vec<f64>,
    /// Share of its steps in which it waits for other ranks in exposed communication.
    #[serde(rename = "waiting_share")]
    pub waiting: f64,
    /// All steps by label, in nanoseconds.
    pub parts: Parts,
    /// The common window without regard to steps.
    pub recorded: Totals,
}

/// One kernel (or copy) over all ranks.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct KernelRow {
    /// Its name.
    pub name: String,
    /// Part of the step.
    pub phase: Phase,
    /// Kind of operator.
    pub family: OperatorFamily,
    /// Number over all ranks and steps.
    pub count: u64,
    /// Their time, regardless of concurrent work, in nanoseconds.
    #[serde(rename = "duration_ns")]
    pub duration: i64,
    /// The mean, in nanoseconds.
    #[serde(rename = "mean_ns")]
    pub mean: i64,
    /// The longest, in nanoseconds.
    #[serde(rename = "longest_ns")]
    pub longest: i64,
    /// Time on the mean rank and step, in nanoseconds.
    #[serde(rename = "per_step_ns")]
    pub per_step: f64,
}

/// The whole recording, without regard to steps: means over ranks, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Recorded {
    /// The common window.
    #[serde(rename = "window_ns")]
    pub window: f64,
    /// With arithmetic under way.
    #[serde(rename = "compute_ns")]
    pub compute: f64,
    /// With communication under way.
    #[serde(rename = "communication_ns")]
    pub communication: f64,
    /// With both.
    #[serde(rename = "overlap_ns")]
    pub overlap: f64,
    /// With communication and no arithmetic.
    #[serde(rename = "exposed_ns")]
    pub exposed: f64,
    /// With copies and neither.
    #[serde(rename = "copies_ns")]
    pub copies: f64,
    /// With nothing.
    #[serde(rename = "idle_ns")]
    pub idle: f64,
}

/// Something that a reader repaired or dropped.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Repair {
    /// File.
    pub file: String,
    /// Subject.
    pub kind: DamageKind,
    /// Number of occurrences.
    pub count: u64,
    /// Position of the first one in bytes, with a short description.
    pub first: Option<(u64, String)>,
}

impl Repair {
    /// In words.
    pub fn words(&self) -> String {
        let what = match self.kind {
            DamageKind::RepairedName => "names repaired",
            DamageKind::UnreadableEvent => "unreadable events dropped",
            DamageKind::BadTime => "events without a usable time dropped",
            DamageKind::NegativeDuration => "events with negative duration dropped",
            DamageKind::OutlyingTime => "events far outside of the other times dropped",
            DamageKind::DuplicateKey => "duplicate keys, of which the last is used",
            DamageKind::Truncated => "end of the file missing",
            DamageKind::TrailingData => "text after the end ignored",
            DamageKind::PartialOverlap => "events that overlap partly kept",
            DamageKind::UnmatchedBegin => "begins or ends without the other dropped",
        };
        match &self.first {
            Some((offset, word)) if !word.is_empty() => {
                format!("{} x {what} (first at byte {offset}: {word})", self.count)
            }
            Some((offset, _)) => format!("{} x {what} (first at byte {offset})", self.count),
            None => format!("{} x {what}", self.count),
        }
    }
}

/// A fault that a rule found.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Finding {
    /// Identifier for `railwright explain`.
    pub id: String,
    /// The finding in one sentence.
    pub message: String,
    /// Cost per step in nanoseconds, if known.
    #[serde(rename = "cost_ns")]
    pub cost: Option<f64>,
    /// Certainty of the cost if it is a bound.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub certainty: Option<Certainty>,
    /// The same over a day and all ranks of the job, in hours of a device; of a rank where no device was recorded ([`super::Report::from_host`]).
    pub gpu_hours_per_day: Option<f64>,
    /// Numbers that show it.
    pub evidence: Vec<String>,
    /// Action.
    pub advice: String,
    /// Part of the cost that findings with a larger cost also contain, in nanoseconds.
    #[serde(rename = "shared_ns")]
    pub shared: f64,
    /// Part of the cost that the evidence explains.
    #[serde(skip)]
    pub explained: Explained,
}

/// Part of a finding's cost that its evidence explains. Every rule sets it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Explained {
    /// No number: the cost is a bound then.
    #[default]
    Unstated,
    /// The whole cost: the evidence lists the times that it is the sum of, or it is a replay without the cause.
    Whole,
    /// This many nanoseconds of a step.
    Part(f64),
}

/// Steps before the steady state, apart from the means.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WarmUp {
    /// Their name.
    pub steps: Vec<String>,
    /// Their duration in nanoseconds.
    pub time_ns: f64,
    /// Their excess over as many median steps in nanoseconds: the one-off cost.
    pub one_off_ns: f64,
    /// Reason why devices were idle in them, by cause and frame; means are of a rank and of these steps.
    pub causes: Vec<CauseRow>,
}

/// Joint cost of findings, in nanoseconds per step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Joint {
    /// Findings with a known cost.
    pub findings: u32,
    /// Their cost, nothing counted twice: never more than the step.
    #[serde(rename = "cost_ns")]
    pub cost: f64,
    /// Part that the sum of their costs counts twice.
    #[serde(rename = "shared_ns")]
    pub shared: f64,
}
