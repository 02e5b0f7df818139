//! The report as a value.

use super::asked::Asked;
use super::bubbles::{Bubble, Causes};
use super::critical::CriticalPath;
use super::decomposition::Decomposition;
use super::judgement::{StragglerVerdict, Verdict};
use super::rows::{PassBox, StepRow};
use super::stages::StageRow;
use super::stalls::Stall;
use crate::certainty::Certainty;
use crate::passes::PassShape;
use crate::replay::{Gaps, StageClock, Subset, WhatIf};
use railwright_spec::problem::Warning;
use serde::Serialize;

/// Selection of the displayed part.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Question {
    /// Number of the step. By default the one with the largest loss by stalls, or a typical one.
    pub step: Option<u32>,
    /// Replica. By default the one that ended last.
    pub replica: Option<u32>,
    /// Sets of passes whose cost is requested.
    pub what_if: Vec<Subset>,
}

/// A stage's row.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Row {
    /// Stage.
    pub stage: u32,
    /// The displayed rank of the stage.
    pub rank: u32,
    /// Its passes, in order.
    pub boxes: Vec<PassBox>,
    /// Its bubbles with their causes.
    pub bubbles: Vec<Bubble>,
    /// The bubbles summed by cause.
    pub causes: Causes,
}

/// The displayed step.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ShownStep {
    /// Number of the step.
    pub step: u32,
    /// Replica.
    pub replica: u32,
    /// Duration in nanoseconds.
    #[serde(rename = "measured_ns")]
    pub measured: i64,
    /// Parts of the measured time.
    pub parts: Decomposition,
    /// Total cost of its stalls in nanoseconds.
    #[serde(rename = "stall_cost_ns")]
    pub stall_cost: i64,
    /// Certainty of that cost.
    pub certainty: Certainty,
    /// Its stalls on all ranks, most expensive first.
    pub stalls: Vec<Stall>,
    /// Its stages in order.
    pub rows: Vec<Row>,
    /// The same order of passes with balanced stages, without latency and without stalls.
    pub expected: Vec<Row>,
    /// Duration of that in nanoseconds.
    #[serde(rename = "expected_duration_ns")]
    pub expected_duration: i64,
    /// Critical path.
    pub critical: CriticalPath,
}

/// Report of a pipeline.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PipelinePage {
    /// Label of the recording.
    pub label: String,
    /// The job's shape.
    pub shape: PassShape,
    /// Stages without recorded ranks.
    pub missing_stages: Vec<u32>,
    /// Number of unrecorded ranks in the other stages, relative to the stage with the most ranks.
    pub missing_ranks: usize,
    /// Reason why costs are upper bounds ("at most"): unrecorded parts may have absorbed them. `None` if
    /// everything was recorded.
    pub bounds_only: Option<String>,
    /// Median replay error of a settled step, in nanoseconds: smaller differences of two replays are not
    /// reported as costs.
    #[serde(rename = "replay_error_ns")]
    pub replay_error: i64,
    /// The median step without warm-up, in nanoseconds; the lower one of two.
    #[serde(rename = "median_step_ns")]
    pub median_step: i64,
    /// The mean step without warm-up, in nanoseconds.
    #[serde(rename = "mean_step_ns")]
    pub mean_step: f64,
    /// Step breakdown: the median of every part over steps.
    pub typical: Decomposition,
    /// Bubble share of the ideal schedule (0 to 1): (p - 1) / (v m + p - 1).
    pub ideal_bubble: Option<f64>,
    /// Steps, in order.
    pub steps: Vec<StepRow>,
    /// Stages, in order.
    pub stages: Vec<StageRow>,
    /// Stalls of all steps, most expensive first, then longest first; at most 1,000.
    pub stalls: Vec<Stall>,
    /// Number of stalls.
    pub stall_count: usize,
    /// Number of the last step of warm-up, which typical steps exclude; `None` without warm-up.
    pub start: Option<u32>,
    /// Fitted gaps between passes.
    pub gaps: Gaps,
    /// Offsets subtracted from the clocks of stages; empty if they agreed.
    pub clocks: Vec<StageClock>,
    /// The slowdown and its shares.
    pub what_if: WhatIf,
    /// Costs of the requested passes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub asked: Vec<Asked>,
    /// The verdict of the straggler report on the same traces. `None` for tables of passes and predictions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub judgement: Option<StragglerVerdict>,
    /// Verdicts, most important first.
    pub verdicts: Vec<Verdict>,
    /// The displayed step.
    pub shown: ShownStep,
    /// Warnings.
    pub warnings: Vec<Warning>,
}
