//! One step as a timeline: every pass of every stage and micro-batch, its communication streams, and the part
//! after the pipeline.
//!
//! Responsible for: the parts of the fast path's sum, from the same chunk costs, so that both agree. Its
//! length is the fast path's step time to a picosecond's rounding; with zero-bubble schedules, whose steps
//! run into each other, it is longer by the difference of the pipeline duration and the interval of steps.
//! Does not price.
//!
//! One rank represents each pipeline stage of one replica: the others are identical. Exposed communication is
//! on its dimension's stream with a gap in the compute stream; hidden communication is on the dimension's
//! second stream. The host's share of a pass is on the host's stream.

mod detail;
mod groups;
mod layers;
mod maker;
mod memory;
mod parts;
mod passes;
mod update;

pub use detail::Detail;

use crate::costing::{Costing, Machine};
use crate::evaluate::{Evaluation, evaluate, pipeline};
use crate::partition::rank_stride;
use crate::schedule::simulate;
use detail::Depth;
use railwright_spec::cluster::Cluster;
use railwright_spec::model::Model;
use railwright_spec::plan::Plan;
use railwright_spec::problem::{Problem, Wanted};
use railwright_spec::quantity::{Rank, Stage};
use railwright_step::Step;

/// Maximum number of passes with operator families. Above it, each pass is one span.
const MOST_DETAILED: usize = 20_000;
/// Maximum number of passes.
const MOST_PASSES: usize = 400_000;

/// The timeline of one replica's pipeline.
pub fn timeline(model: &Model, cluster: &Cluster, plan: &Plan) -> Result<Step, Problem> {
    timeline_with(model, cluster, plan, Detail::Automatic)
}

/// The same timeline with a given detail.
pub fn timeline_with(model: &Model, cluster: &Cluster, plan: &Plan, detail: Detail) -> Result<Step, Problem> {
    timeline_on(&Machine::new(cluster), model, cluster, plan, detail, &|| Ok(()))
}

/// The timeline with prepared costing, for example with simulated collectives. Cancellable: `wanted` is
/// called periodically.
pub fn timeline_on(
    machine: &Machine,
    model: &Model,
    cluster: &Cluster,
    plan: &Plan,
    detail: Detail,
    wanted: Wanted<'_>,
) -> Result<Step, Problem> {
    if let Some(problem) = railwright_spec::plan::validate(model, cluster, plan).into_iter().next() {
        return Err(problem);
    }
    let costing = Costing::new(model, cluster, plan, machine)?;
    let evaluation = evaluate(&costing)?;
    of_evaluation(&costing, &evaluation, detail, wanted)
}

/// The timeline of an evaluated step.
pub fn of_evaluation(
    costing: &Costing<'_>,
    evaluation: &Evaluation,
    detail: Detail,
    wanted: Wanted<'_>,
) -> Result<Step, Problem> {
    let plan = costing.plan;
    let passes = evaluation.chunks.len().saturating_mul(plan.micro_batches() as usize).saturating_mul(2);
    if passes > MOST_PASSES {
        return Err(Problem::new(format!("a timeline of {passes} passes is too large"))
            .at_key("plan.global_batch")
            .hint("use fewer micro-batches"));
    }
    let depth = match detail {
        Detail::Automatic if passes <= MOST_DETAILED => Depth::Operators,
        Detail::Automatic | Detail::Passes => Depth::Passes,
        Detail::Operators => Depth::Operators,
        Detail::Layers => Depth::Layers,
    };
    let times: Vec<_> = evaluation.chunks.iter().map(|c| c.time).collect();
    let simulated = simulate(&pipeline(plan, &times, evaluation.transfer))?;
    wanted()?;
    let mut step = Step::new(format!("{} on {}", costing.model.name, costing.cluster.devices_by_kind()));
    for stage in 0..plan.pipeline_parallel as u32 {
        let rank = u32::try_from(u64::from(stage) * rank_stride(plan)).unwrap_or(stage);
        step.add_rank(Rank(rank), Stage(stage));
    }
    passes::write(&mut step, costing, evaluation, &simulated, depth, wanted)?;
    wanted()?;
    update::write(&mut step, costing, evaluation, &simulated);
    let end = step.end.seconds();
    memory::write(&mut step, costing, &simulated, end)?;
    Ok(step)
}

#[cfg(test)]
mod tests;
