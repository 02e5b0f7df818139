//! The estimate: everything that a report, a JSON document, the web UI or a Python object shows about one
//! run, as one value.
//!
//! Responsible for: combining the time, memory and cost models, names of figures and conventions, and
//! warnings. Does not format or model: its numbers are those of [`crate::evaluate`], [`crate::memory`] and
//! [`crate::model_flop`], divided and added.

mod alternatives;
mod answer;
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
mod versions;
mod warnings;

pub use answer::{Estimate, EstimateOptions};
pub use breakdown::{Part, part, tree};
pub use communication::CommunicationRow;
pub use efficiency::{Efficiency, ModelFlop, Utilization};
pub use explain::{Explanation, Input};
pub use identity::{
    ClusterIdentity, ModelIdentity, PoolIdentity, SoftwareIdentity, plan_degrees, plan_summary,
};
pub use memory::{KindBytes, MemoryEstimate, StageMemory, TopItem};
pub use provenance::EvidenceShare;
pub use stages::StageRow;
pub use step_time::{Interval, Throughput, interval};
pub use topics::{Topic, topic, topics};

use crate::costing::{Costing, Machine};
use crate::evaluate::{Evaluation, evaluate};
use crate::stage::ByKind;
use railwright_spec::cluster::Cluster;
use railwright_spec::model::Model;
use railwright_spec::plan::Plan;
use railwright_spec::problem::Problem;
use railwright_spec::quantity::Seconds;
use railwright_spec::run::Run;

/// Estimates one run. Fails if the plan is invalid or cannot be priced.
pub fn estimate(
    model: &Model,
    cluster: &Cluster,
    plan: &Plan,
    options: &EstimateOptions,
) -> Result<Estimate, Problem> {
    estimate_on(&Machine::new(cluster), model, cluster, plan, options)
}

/// Estimates one run with prepared costing, for example with simulated collectives.
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

/// Estimate of an already evaluated step, as in a search.
pub fn of_evaluation(
    costing: &Costing<'_>,
    evaluation: &Evaluation,
    options: &EstimateOptions,
) -> Result<Estimate, Problem> {
    let (model, cluster, plan) = (costing.model, costing.cluster, costing.plan);
    let total = evaluation.time.total;
    if !total.is_finite() || total <= Seconds::ZERO {
        return Err(Problem::new(
            "the step time is not a positive number, so a value of the run is out of range",
        )
        .hint("check dimensions, batch and bandwidths for zeros and extreme values"));
    }
    let time = breakdown::tree(costing, evaluation);
    let throughput = step_time::throughput(plan, total);
    let memory = memory::estimate(costing)?;
    let stages = stages::table(costing, evaluation, &memory);
    // The critical stage can be on devices of a different kind.
    let by_kind = ByKind::new(costing);
    let slowest = by_kind.as_ref().and_then(|by_kind| by_kind.slowest(evaluation.critical_stage));
    let on_stage = slowest.unwrap_or(costing);
    let communication = communication::table(on_stage, evaluation);
    let provenance = provenance::foundations(on_stage, evaluation, &communication);
    let money = money::money(model, cluster, plan, options, total)?;
    let mut estimate = Estimate {
        model: identity::model(model),
        cluster: identity::cluster(cluster),
        plan_summary: plan_summary(plan),
        plan: plan.clone(),
        software: identity::software(costing.software),
        step_time: total,
        step_time_interval: step_time::interval(
            costing,
            total,
            options.software_origin,
            options.open_settings,
        ),
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
    estimate.why = explain::all(on_stage, evaluation, &estimate);
    let mut warnings = warnings::all(costing, &estimate);
    warnings.append(&mut estimate.warnings);
    warnings::with_plan(&mut warnings, railwright_spec::plan::warnings(model, cluster, plan));
    estimate.warnings = warnings;
    Ok(estimate)
}

/// Estimates a resolved run.
pub fn estimate_run(run: &Run) -> Result<Estimate, Problem> {
    estimate(&run.model, &run.cluster, &run.plan, &EstimateOptions::of(run))
}

#[cfg(test)]
mod tests;
