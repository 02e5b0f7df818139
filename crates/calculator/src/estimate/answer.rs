//! The answer's type: every figure of an estimate, and what it depends on besides the run.

use super::breakdown::Part;
use super::communication::CommunicationRow;
use super::efficiency::Efficiency;
use super::explain::Explanation;
use super::identity::{ClusterIdentity, ModelIdentity, SoftwareIdentity};
use super::memory::MemoryEstimate;
use super::provenance::Foundation;
use super::stages::StageRow;
use super::step_time::{Interval, Throughput};
use crate::money::Bill;
use railwright_spec::plan::Plan;
use railwright_spec::problem::Warning;
use railwright_spec::quantity::Seconds;
use railwright_spec::run::{Cost, Run, SoftwareOrigin, Training};
use serde::Serialize;

/// What an estimate depends on besides model, cluster and plan.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct EstimateOptions {
    /// Token budget and availability.
    pub training: Training,
    /// Prices.
    pub cost: Cost,
    /// Where the plan's software generation comes from: unless it was specified, the interval is that of all software.
    pub software_origin: SoftwareOrigin,
}

impl EstimateOptions {
    /// Those of a resolved run.
    pub fn of(run: &Run) -> Self {
        Self { training: run.training, cost: run.cost, software_origin: run.software_origin }
    }
}

/// The complete estimate of one run.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Estimate {
    /// Trained model.
    pub model: ModelIdentity,
    /// On what.
    pub cluster: ClusterIdentity,
    /// How, in one line.
    pub plan_summary: String,
    /// How, in full.
    pub plan: Plan,
    /// With which software generation.
    pub software: SoftwareIdentity,
    /// Time of one step.
    pub step_time: Seconds,
    /// Between what bounds a measurement of it is expected.
    pub step_time_interval: Interval,
    /// Throughput of a step.
    pub throughput: Throughput,
    /// MFU in every convention.
    pub efficiency: Efficiency,
    /// Step breakdown on the critical stage. The children of every part add up to it.
    pub time: Part,
    /// Every pipeline stage.
    pub stages: Vec<StageRow>,
    /// Every kind of collective of the stage that the others wait for.
    pub communication: Vec<CommunicationRow>,
    /// Memory per stage and kind against the device's.
    pub memory: MemoryEstimate,
    /// Time and cost of the token budget; absent without a budget.
    pub money: Option<Bill>,
    /// Evidence for the step time; the shares add up to 1.
    pub provenance: Vec<Foundation>,
    /// Warnings.
    pub warnings: Vec<Warning>,
    /// Reason why the main numbers are what they are.
    pub why: Vec<Explanation>,
}
