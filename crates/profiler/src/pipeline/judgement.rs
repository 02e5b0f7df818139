//! Verdicts as values: those of the report, and that of the straggler report.

use super::Certainty;
use crate::attribution::{self, Named};
use serde::Serialize;

/// A verdict of a pipeline report.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Verdict {
    /// A stable identifier.
    pub id: &'static str,
    /// The sentence.
    pub message: String,
    /// Cost per typical step in nanoseconds; 0 if unknown.
    #[serde(rename = "cost_ns")]
    pub cost: i64,
    /// Certainty of the cost.
    pub certainty: Certainty,
}

/// The verdict of the straggler report on the same job.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StragglerVerdict {
    /// Its verdict.
    pub verdict: attribution::Verdict,
    /// Causes of delay that it names, most expensive first.
    pub culprits: Vec<Named>,
    /// Reasons for an inconclusive verdict.
    pub reasons: Vec<String>,
}
