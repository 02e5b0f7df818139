//! A finding of a profile.
//!
//! Responsible for: its fields, with units, and its subject. The rules of [`crate::findings`] fill them.

use crate::certainty::Certainty;
use railwright_step::columns::Class;
use railwright_step::{Dimension, Phase};
use serde::Serialize;

/// A problem that a rule found.
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
    /// Cost per day over all ranks of the job, in device-hours; in rank-hours without recorded devices
    /// ([`super::Report::from_host`]).
    pub gpu_hours_per_day: Option<f64>,
    /// Ranks, kernels and spans that the finding is about.
    #[serde(skip_serializing_if = "Subject::is_empty")]
    pub subject: Subject,
    /// Evidence lines with numbers.
    pub evidence: Vec<String>,
    /// Recommended action.
    pub advice: String,
    /// Part of the cost that findings with a larger cost also contain, in nanoseconds.
    #[serde(rename = "shared_ns")]
    pub shared: f64,
    /// Part of the cost that the evidence explains.
    #[serde(skip)]
    pub explained: Explained,
    /// True if most of the cost is in the first recorded step: it may not recur, so there is no loss per
    /// day.
    #[serde(skip)]
    pub one_off: bool,
    /// Savings by kernel in nanoseconds per step, for rules that count kernels: two findings cannot save the
    /// same kernel twice.
    #[serde(skip)]
    pub savings: Vec<(String, f64)>,
}

/// Part of a finding's cost that its evidence explains. Every rule sets it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Explained {
    /// No number: then the cost is a bound.
    #[default]
    Unstated,
    /// The whole cost: the evidence lists the summed times, or it is a replay without the cause.
    Whole,
    /// Explained nanoseconds per step.
    Part(f64),
}

/// Subject of a finding. A part that does not apply is absent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Subject {
    /// Recorded ranks, the most affected first; absent if it concerns all ranks.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ranks: Vec<u32>,
    /// Full names of the kernels with most of the cost, largest first; host frames for idle time.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub kernels: Vec<String>,
    /// Phase of the work.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phase: Option<Phase>,
    /// Parallel dimension of the communication.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dimension: Option<Dimension>,
    /// Classes of the spans that show it on a timeline.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub spans: Vec<Class>,
}

impl Subject {
    /// Classes of compute spans.
    pub const COMPUTE: [Class; 5] =
        [Class::Forward, Class::Backward, Class::WeightGradient, Class::Recompute, Class::Other];

    /// Tests whether it has no part: the whole step.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Some ranks, shown by spans of these classes.
    pub fn of_ranks(ranks: impl Into<Vec<u32>>, spans: impl Into<Vec<Class>>) -> Self {
        Self { ranks: ranks.into(), spans: spans.into(), ..Self::default() }
    }

    /// Some kernels, the most time first.
    pub fn of_kernels(kernels: Vec<String>) -> Self {
        Self { kernels, ..Self::default() }
    }

    /// Communication of a dimension, with the spans that show it.
    pub fn of_dimension(dimension: Dimension) -> Self {
        Self { dimension: Some(dimension), spans: vec![Class::of_dimension(dimension)], ..Self::default() }
    }

    /// Work of a phase, with the spans that show it.
    pub fn of_phase(phase: Phase) -> Self {
        Self { phase: Some(phase), spans: vec![Class::of_phase(phase)], ..Self::default() }
    }

    /// Any rank, shown by spans of these classes.
    pub fn of_spans(spans: impl Into<Vec<Class>>) -> Self {
        Self { spans: spans.into(), ..Self::default() }
    }
}
