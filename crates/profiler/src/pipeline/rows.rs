//! Rows of the report: a displayed pass, and a step of the table.

use crate::certainty::Certainty;
use crate::passes::PassKind;
use serde::Serialize;

/// A displayed pass. Times are nanoseconds since the step began.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PassBox {
    /// Kind.
    pub kind: PassKind,
    /// Micro-batch.
    pub micro_batch: Option<u32>,
    /// Virtual stage of its rank.
    pub chunk: u32,
    /// Start time.
    #[serde(rename = "start_ns")]
    pub start: i64,
    /// End time.
    #[serde(rename = "end_ns")]
    pub end: i64,
    /// Index of its stall in `ShownStep::stalls`; `None` without a stall.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stall: Option<usize>,
}

/// A row of the table of steps.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StepRow {
    /// Step.
    pub step: u32,
    /// Duration in nanoseconds. For traces of a job, that in all reports.
    #[serde(rename = "step_time_ns")]
    pub step_time: i64,
    /// Time of its passes, from the first to the last, in nanoseconds; at least the duration.
    #[serde(rename = "measured_ns")]
    pub measured: i64,
    /// Its replayed duration.
    #[serde(rename = "replayed_ns")]
    pub replayed: i64,
    /// Replay error as a share of the measured time.
    pub error: f64,
    /// Excess over the median step, in nanoseconds.
    #[serde(rename = "excess_ns")]
    pub excess: i64,
    /// Number of stalls.
    pub stalls: usize,
    /// Their total cost in nanoseconds.
    #[serde(rename = "stall_cost_ns")]
    pub stall_cost: i64,
    /// Certainty of that cost.
    pub certainty: Certainty,
}
