//! Type of the result: every figure of an estimate, and its inputs in addition to the run.

use super::breakdown::Part;
use super::communication::CommunicationRow;
use super::efficiency::Efficiency;
use super::explain::Explanation;
use super::identity::{ClusterIdentity, ModelIdentity, SoftwareIdentity};
use super::memory::MemoryEstimate;
use super::provenance::EvidenceShare;
use super::stages::StageRow;
use super::step_time::{Interval, Throughput};
use crate::money::Bill;
use railwright_spec::plan::{OpenSettings, Plan};
use railwright_spec::problem::Warning;
use railwright_spec::quantity::Seconds;
use railwright_spec::run::{Cost, Run, SoftwareOrigin, Training};
use serde::Serialize;

/// Inputs of an estimate in addition to model, cluster and plan.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct EstimateOptions {
    /// Token budget and availability.
    pub training: Training,
    /// Prices.
    pub cost: Cost,
    /// Origin of the plan's software generation. Unless it was specified, the interval is that of all
    /// software.
    pub software_origin: SoftwareOrigin,
    /// Unspecified settings. The interval covers their alternatives as well.
    pub open_settings: OpenSettings,
}

impl EstimateOptions {
    /// Options of a resolved run.
    pub fn of(run: &Run) -> Self {
        Self {
            training: run.training,
            cost: run.cost,
            software_origin: run.software_origin,
            open_settings: run.open_settings,
        }
    }
}

/// The complete estimate of one run.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Estimate {
    /// Trained model.
    pub model: ModelIdentity,
    /// Cluster of the run.
    pub cluster: ClusterIdentity,
    /// Layout in one line.
    pub plan_summary: String,
    /// Layout and training settings in full.
    pub plan: Plan,
    /// Software generation.
    pub software: SoftwareIdentity,
    /// Time of one step.
    pub step_time: Seconds,
    /// Interval in which a measurement of it is expected.
    pub step_time_interval: Interval,
    /// Throughput of the step.
    pub throughput: Throughput,
    /// MFU in every convention.
    pub efficiency: Efficiency,
    /// Step breakdown on the critical stage. The children of every part sum to it.
    pub time: Part,
    /// Rows of all pipeline stages.
    pub stages: Vec<StageRow>,
    /// Collectives of the critical stage, by kind.
    pub communication: Vec<CommunicationRow>,
    /// Memory per stage and kind, compared with the device's.
    pub memory: MemoryEstimate,
    /// Time and cost of the token budget; absent without a budget.
    pub money: Option<Bill>,
    /// Evidence for the step time; the shares sum to 1.
    pub provenance: Vec<EvidenceShare>,
    /// Warnings.
    pub warnings: Vec<Warning>,
    /// Derivations of the main numbers.
    pub why: Vec<Explanation>,
}
