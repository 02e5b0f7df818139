//! The answer: everything that a report, a JSON document, a page or a Python object shows about one run, as one value.
//!
//! Responsible for: gathering what the time, memory and cost models say, naming every figure and every convention, and warning of
//! what is doubtful. Refuses to format for people and to compute physics of its own: its numbers are those of [`crate::evaluate`],
//! [`crate::memory`] and [`crate::model_flop`], divided and added.

pub(crate) mod breakdown;
pub(crate) mod calls;
pub(crate) mod communication;
mod efficiency;
mod explain;
mod identity;
mod memory;
mod money;
mod provenance;
mod stages;
mod step_time;
mod topics;
mod warnings;

pub use breakdown::{Part, part, tree};
pub use communication::CommunicationRow;
pub use efficiency::{Efficiency, ModelFlop, Utilisation};
pub use explain::{Explanation, Input};
pub use identity::{ClusterIdentity, ModelIdentity, SoftwareIdentity, plan_summary};
pub use memory::{KindBytes, MemoryEstimate, StageMemory, TopItem};
pub use provenance::Foundation;
pub use stages::StageRow;
pub use step_time::{Interval, Throughput};
pub use topics::{Topic, topic, topics};

use crate::costing::{Costing, Machine};
use crate::evaluate::{Evaluation, evaluate};
use crate::money::Bill;
use railwright_spec::cluster::Cluster;
use railwright_spec::model::Model;
use railwright_spec::plan::Plan;
use railwright_spec::problem::{Problem, Warning};
use railwright_spec::quantity::Seconds;
use railwright_spec::run::{Cost, Run, Training};
use serde::Serialize;

/// What an estimate depends on beside model, cluster and plan.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct EstimateOptions {
    /// Token budget and availability.
    pub training: Training,
    /// Prices.
    pub cost: Cost,
}

/// Everything that is said about one run.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Estimate {
    /// What is trained.
    pub model: ModelIdentity,
    /// On what.
    pub cluster: ClusterIdentity,
    /// How, in one line.
    pub plan_summary: String,
    /// How, in full.
    pub plan: Plan,
    /// With which software generation.
    pub software: SoftwareIdentity,
    /// How long one step takes.
    pub step_time: Seconds,
    /// Between what bounds a measurement of it is expected.
    pub step_time_interval: Interval,
    /// What a step gets done.
    pub throughput: Throughput,
    /// How well the arithmetic units are used, in every convention.
    pub efficiency: Efficiency,
    /// Where the step's time goes, on the stage that the others wait for. The children of every part sum to it.
    pub time: Part,
    /// Every pipeline stage.
    pub stages: Vec<StageRow>,
    /// Every kind of collective of the stage that the others wait for.
    pub communication: Vec<CommunicationRow>,
    /// Memory per stage and kind against the device's.
    pub memory: MemoryEstimate,
    /// What the token budget takes and costs; absent without a budget.
    pub money: Option<Bill>,
    /// What the step time rests on; the shares sum to 1.
    pub provenance: Vec<Foundation>,
    /// What is doubtful.
    pub warnings: Vec<Warning>,
    /// Why the main numbers are what they are.
    pub why: Vec<Explanation>,
}

/// Estimates one run. Fails when the plan is impossible or cannot be priced.
pub fn estimate(
    model: &Model,
    cluster: &Cluster,
    plan: &Plan,
    options: &EstimateOptions,
) -> Result<Estimate, Problem> {
    estimate_on(&Machine::new(cluster), model, cluster, plan, options)
}

/// Estimates one run on a machine that was prepared: with simulated collectives, say.
pub fn estimate_on(
    machine: &Machine,
    model: &Model,
    cluster: &Cluster,
    plan: &Plan,
    options: &EstimateOptions,
) -> Result<Estimate, Problem> {
    if let Some(problem) = railwright_spec::plan::validate(model, cluster, plan).into_iter().next() {
        return Err(problem);
    }
    let costing = Costing::new(model, cluster, plan, machine)?;
    of_evaluation(&costing, &evaluate(&costing)?, options)
}

/// The estimate of a step that has been evaluated, as a search does.
pub fn of_evaluation(
    costing: &Costing<'_>,
    evaluation: &Evaluation,
    options: &EstimateOptions,
) -> Result<Estimate, Problem> {
    let (model, cluster, plan) = (costing.model, costing.cluster, costing.plan);
    let total = evaluation.time.total;
    if !total.is_finite() || total <= Seconds::ZERO {
        return Err(Problem::new(
            "the step time is not a positive number, so something in the run is out of bounds",
        )
        .hint("look for dimensions, batches or bandwidths that are zero or beyond any machine"));
    }
    let time = breakdown::tree(costing, evaluation);
    let throughput = step_time::throughput(plan, total);
    let memory = memory::estimate(costing)?;
    let stages = stages::table(costing, evaluation, &memory);
    let communication = communication::table(costing, evaluation);
    let provenance = provenance::foundations(costing, evaluation, &communication);
    let money = money::money(model, cluster, plan, options, total);
    let mut estimate = Estimate {
        model: identity::model(model),
        cluster: identity::cluster(cluster),
        plan_summary: plan_summary(plan),
        plan: plan.clone(),
        software: identity::software(costing.software),
        step_time: total,
        step_time_interval: step_time::interval(costing, total),
        throughput,
        efficiency: efficiency::efficiency(costing, evaluation),
        time,
        stages,
        communication,
        memory,
        provenance,
        warnings: money.iter().flat_map(|bill| bill.warnings.clone()).collect(),
        money,
        why: Vec::new(),
    };
    estimate.why = explain::all(costing, evaluation, &estimate);
    let mut warnings = warnings::all(costing, &estimate);
    warnings.append(&mut estimate.warnings);
    estimate.warnings = warnings;
    Ok(estimate)
}

/// Estimates a resolved run.
pub fn estimate_run(run: &Run) -> Result<Estimate, Problem> {
    estimate(&run.model, &run.cluster, &run.plan, &EstimateOptions { training: run.training, cost: run.cost })
}

#[cfg(test)]
mod tests;
