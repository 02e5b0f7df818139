//! Rows and parts of a profile.
//!
//! Responsible for: their fields, with units. Does not compute them.

use crate::causes::CauseRow;
use crate::trace::DamageKind;
use crate::waterfall::{Group, Parts, Totals};
use railwright_spec::human;
use railwright_step::{OperatorFamily, Phase};
use serde::Serialize;

/// A share of the time.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Part {
    /// Name of the part.
    pub name: String,
    /// Its time over all ranks and steps, in nanoseconds.
    #[serde(rename = "time_ns")]
    pub time: i64,
    /// Its time on the mean rank and step, in nanoseconds.
    #[serde(rename = "mean_ns")]
    pub mean: f64,
    /// Share of the total time (0 to 1).
    pub share: f64,
}

/// A line of the first page.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Line {
    /// Group of labels.
    pub group: Group,
    /// Total of the group.
    #[serde(flatten)]
    pub part: Part,
    /// Accelerator-hours per day, for the whole job; `None` with too few steps.
    pub gpu_hours_per_day: Option<f64>,
    /// Its components, largest first.
    pub parts: Vec<Part>,
}

/// One step.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StepRow {
    /// Name of the step.
    pub step: String,
    /// Duration in nanoseconds.
    #[serde(rename = "duration_ns")]
    pub duration: i64,
    /// Time on the mean rank by line of the first page, in the order of [`Group::ALL`].
    #[serde(rename = "groups_ns")]
    pub groups: Vec<f64>,
    /// Time by label, in nanoseconds.
    pub parts: Parts,
}

/// One rank.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RankRow {
    /// Number of the rank.
    pub rank: u32,
    /// Its host, if recorded.
    pub host: Option<String>,
    /// Shares by line of the first page, in the order of [`Group::ALL`].
    pub shares: Vec<f64>,
    /// Share of its steps in waits for other ranks in exposed communication (0 to 1).
    #[serde(rename = "waiting_share")]
    pub waiting: f64,
    /// All steps by label, in nanoseconds.
    pub parts: Parts,
    /// Totals of the common window, regardless of steps.
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
    /// Number of calls over all ranks and steps.
    pub count: u64,
    /// Total time regardless of concurrent work, in nanoseconds.
    #[serde(rename = "duration_ns")]
    pub duration: i64,
    /// Mean duration of a call, in nanoseconds.
    #[serde(rename = "mean_ns")]
    pub mean: i64,
    /// Longest call, in nanoseconds.
    #[serde(rename = "longest_ns")]
    pub longest: i64,
    /// Time on the mean rank and step, in nanoseconds.
    #[serde(rename = "per_step_ns")]
    pub per_step: f64,
}

/// Totals of the common window, regardless of steps: means over ranks, in nanoseconds. It may be shorter than
/// a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Recorded {
    /// The common window: the time in which all ranks have device activity.
    #[serde(rename = "window_ns")]
    pub window: f64,
    /// Compute.
    #[serde(rename = "compute_ns")]
    pub compute: f64,
    /// Communication.
    #[serde(rename = "communication_ns")]
    pub communication: f64,
    /// Overlap of compute and communication.
    #[serde(rename = "overlap_ns")]
    pub overlap: f64,
    /// Communication without compute.
    #[serde(rename = "exposed_ns")]
    pub exposed: f64,
    /// Copies without compute and communication.
    #[serde(rename = "copies_ns")]
    pub copies: f64,
    /// Time without activity.
    #[serde(rename = "idle_ns")]
    pub idle: f64,
}

/// A part of a file that a reader repaired or dropped.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Repair {
    /// File.
    pub file: String,
    /// Kind of damage.
    pub kind: DamageKind,
    /// Number of occurrences.
    pub count: u64,
    /// Position of the first one in bytes, with a short description.
    pub first: Option<(u64, String)>,
}

impl Repair {
    /// Number of files with the same repair that are one line.
    const SEVERAL: usize = 3;

    /// Repairs of many files as one line each, then at most `most` others by file. The folder is in the title
    /// of a report, and file names differ at the end.
    pub fn listed(all: &[Self], most: usize) -> Vec<String> {
        let of_kind = |kind| all.iter().filter(move |one| one.kind == kind);
        let (alone, several): (Vec<&Self>, Vec<&Self>) =
            all.iter().partition(|one| of_kind(one.kind).count() < Self::SEVERAL);
        let mut kinds: Vec<DamageKind> = several.iter().map(|one| one.kind).collect();
        kinds.sort_unstable();
        kinds.dedup();
        let joint = |kind: DamageKind| {
            let count = of_kind(kind).map(|one| one.count).fold(0_u64, u64::saturating_add);
            let files = of_kind(kind).count() as u64;
            format!("{} x {} in {}", human::whole(count), Self::what(kind), human::several(files, "file"))
        };
        let line = |one: &&Self| {
            let name = one.file.rsplit('/').next().unwrap_or_default();
            let start = name.char_indices().rev().nth(47).map_or(0, |(at, _)| at);
            format!("{}{}: {}", if start > 0 { "..." } else { "" }, &name[start..], one.words())
        };
        let mut lines: Vec<String> = kinds.into_iter().map(joint).collect();
        lines.extend(alone.iter().take(most).map(line));
        if let Some(more) = alone.len().checked_sub(most).filter(|more| *more > 0) {
            lines.push(format!("and {more} more (all with --json)"));
        }
        lines
    }

    /// A kind of repair, after its number.
    const fn what(kind: DamageKind) -> &'static str {
        match kind {
            DamageKind::RepairedName => "names repaired",
            DamageKind::UnreadableEvent => "unreadable events dropped",
            DamageKind::BadTime => "events without a usable time dropped",
            DamageKind::NegativeDuration => "events with negative duration dropped",
            DamageKind::OutlyingTime => "events far outside the other times dropped",
            DamageKind::DuplicateKey => "duplicate keys, of which the last is used",
            DamageKind::Truncated => "end of the file missing",
            DamageKind::TrailingData => "text after the end ignored",
            DamageKind::PartialOverlap => "partly overlapping events, kept",
            DamageKind::UnmatchedBegin => "begins or ends without the other dropped",
        }
    }

    /// Description for a message.
    pub fn words(&self) -> String {
        let what = Self::what(self.kind);
        match &self.first {
            Some((offset, word)) if !word.is_empty() => {
                format!("{} x {what} (first at byte {offset}: {word})", self.count)
            }
            Some((offset, _)) => format!("{} x {what} (first at byte {offset})", self.count),
            None => format!("{} x {what}", self.count),
        }
    }
}

/// Steps before the steady state, excluded from the means.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WarmUp {
    /// Names of the steps.
    pub steps: Vec<String>,
    /// Their duration in nanoseconds.
    pub time_ns: f64,
    /// Excess over the same number of median steps, in nanoseconds: the one-off cost.
    pub one_off_ns: f64,
    /// Idle time in these steps by cause and frame; means are per rank and step.
    pub causes: Vec<CauseRow>,
}

/// Joint cost of findings, in nanoseconds per step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Joint {
    /// Number of findings with a known cost.
    pub findings: u32,
    /// Their cost without double counts, in nanoseconds per step: at most the step.
    #[serde(rename = "cost_ns")]
    pub cost: f64,
    /// Part of the sum of their costs that is counted twice, in nanoseconds per step.
    #[serde(rename = "shared_ns")]
    pub shared: f64,
}
