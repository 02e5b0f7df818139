//! Upper bound on the distance from the optimum.
//!
//! Responsible for: a lower bound on the pipeline's duration from the minimum time of each stage. Does not
//! improve the solution.

use super::trial::Trial;
use railwright_calculator::costing::Costing;
use railwright_calculator::evaluate::{Evaluation, evaluate, local_chunks};
use railwright_calculator::memory::StageRoom;
use railwright_calculator::schedule::ChunkCost;
use railwright_spec::plan::Plan;
use railwright_spec::problem::Problem;
use railwright_spec::quantity::Seconds;

/// Upper bound on the gain over an evaluated plan, as a share of its step; `least` has the time of one
/// micro-batch on each stage and its bound.
///
/// With one virtual stage per device and nothing offloaded, forward and backward are fixed and only recompute
/// varies. A pipeline is never faster for a slower pass, so the minimum of each stage gives the minimum of
/// the step. Otherwise a stage is at best always busy between its first forward pass and its last backward
/// pass. Before and after these the first micro-batch arrives and the last one leaves.
pub(super) fn gap(
    trial: &Trial<'_>,
    plan: &Plan,
    rooms: &[StageRoom],
    least: &[(Seconds, Seconds)],
    offload: bool,
) -> Result<f64, Problem> {
    let is_proven = least.iter().all(|(time, bound)| bound >= time);
    let is_single = rooms.iter().all(|room| room.chunks.len() == 1);
    // ZeRO stages 2 and 3 overlap gathers and reductions with the passes, so a longer pass may hide more of
    // them.
    if is_proven && is_single && !offload && plan.sharding.zero_stage < 2 {
        return Ok(0.0);
    }
    let costing = Costing::new(trial.model, trial.cluster, plan, trial.machine)?;
    let evaluation = evaluate(&costing)?;
    let bounds: Vec<Seconds> = least.iter().map(|(_, bound)| *bound).collect();
    let lower = pipeline_bound(plan, &evaluation, &bounds);
    Ok(((evaluation.pipeline - lower) / evaluation.time.total).max(0.0))
}

/// `max over stages of (arrival + m x time + departure)`, in s.
fn pipeline_bound(plan: &Plan, evaluation: &Evaluation, least: &[Seconds]) -> Seconds {
    let m = plan.micro_batches().max(1) as f64;
    let times: Vec<ChunkCost> = evaluation.chunks.iter().map(|c| c.time).collect();
    let both = plan.schedule.has_two_directions();
    let flows = both || plan.schedule.validates_afterwards();
    least
        .iter()
        .enumerate()
        .map(|(stage, &time)| {
            let local = local_chunks(plan, stage);
            let savings: Seconds = local.iter().map(|&c| times[c].fused_saving * 2.0).sum();
            let busy = (time - savings) * (m * if both { 0.5 } else { 1.0 });
            let first = local.first().copied().unwrap_or(0);
            let way: Seconds =
                times[..first].iter().map(|t| t.forward + t.backward_input + t.backward_weight).sum();
            if flows { busy } else { busy + way }
        })
        .fold(Seconds::ZERO, Seconds::max)
}
