//! Effect of a slow device, host or link on a synchronous step.
//!
//! Responsible for: the rule of synchronous execution. Every collective ends with its slowest member. A
//! member at the share `r` of its rate limits its tensor, context, expert and data-parallel peers to `r`.
//! Through the gradient reduction, replicas without a slow member wait equally long. A slow device therefore
//! costs as much as its whole pipeline stage at its rate. A ring over one slow link costs as much as
//! slow links in the whole group. The effect on the other stages depends on the schedule: passes of the slow
//! stage are stretched before the pipeline is timed. Excludes the frequency of such faults.

mod members;

pub use crate::partition::stage_of_rank;
pub use members::Disturbance;

use crate::costing::Costing;
use crate::layer::LayerCost;
use crate::partition::local_chunks;
use crate::sharding::StageUpdate;
use crate::stage::{self, Chunk};
use crate::transfer::transfer_time;
use crate::work::Work;
use members::SlowStage;
use railwright_spec::quantity::Seconds;

/// The costing of a stage, with the models of its slow links if it has any.
fn of_stage<'a>(costing: &Costing<'a>, slow: &'a SlowStage) -> Costing<'a> {
    let machine = slow.machine.as_ref().unwrap_or(costing.machine);
    Costing { machine, disturbance: None, memo: None, ..costing.clone() }
}

/// Stretches the virtual stages of slow stages.
///
/// A virtual stage on two stages (the two directions of DualPipe) is stretched on both: an upper bound.
pub(crate) fn stretch_chunks(costing: &Costing<'_>, chunks: &mut [Chunk]) {
    let Some(disturbance) = costing.disturbance else { return };
    let mut is_done = vec![false; chunks.len()];
    for slow in &disturbance.stages {
        let own = of_stage(costing, slow);
        let priced = slow.machine.as_ref().map(|_| stage::chunks(&own));
        let slower = own.software.with_host_rate(slow.host);
        let host_costing = Costing { software: &slower, ..own.clone() };
        let wait = transfer_wait(costing, slow.stage);
        for index in local_chunks(costing.plan, slow.stage) {
            let (Some(chunk), Some(false)) = (chunks.get_mut(index), is_done.get(index).copied()) else {
                continue;
            };
            is_done[index] = true;
            if let Some(degraded) = priced.as_ref().and_then(|priced| priced.get(index)) {
                chunk.cost = degraded.cost;
            }
            stretch(&mut chunk.cost, slow.device, slow.host);
            chunk.time = stage::chunk_time(&host_costing, &chunk.cost);
            chunk.time.forward += wait;
            chunk.time.backward_input += wait;
        }
    }
}

/// Additional wait of a stage's passes for transfers over its slow link, beyond the usual transfer time, in
/// seconds.
///
/// Blocking transfers delay the sender. Per micro-batch, a stage sends activations after its forward pass and
/// gradients after its backward pass, and receives while it sends. Overlapped transfers only delay the
/// receiver, which is not modelled.
pub(crate) fn transfer_wait(costing: &Costing<'_>, stage: usize) -> Seconds {
    let slow = costing.disturbance.and_then(|disturbance| disturbance.find(stage));
    match slow {
        Some(slow) if slow.machine.is_some() && !costing.plan.overlap.pipeline => {
            let usual = Costing { disturbance: None, ..costing.clone() };
            (transfer_time(&of_stage(costing, slow)) - transfer_time(&usual)).max(Seconds::ZERO)
        }
        _ => Seconds::ZERO,
    }
}

/// The costing of a stage's update. `None` if it does not differ.
pub(crate) fn update_costing<'a>(costing: &Costing<'a>, stage: usize) -> Option<Costing<'a>> {
    let disturbance = costing.disturbance?;
    disturbance.find(stage).filter(|slow| slow.machine.is_some()).map(|slow| of_stage(costing, slow))
}

/// Stretches the optimizer step of a slow device: `t / rate`.
pub(crate) fn stretch_update(costing: &Costing<'_>, stage: usize, update: &mut StageUpdate) {
    if let Some(slow) = costing.disturbance.and_then(|disturbance| disturbance.find(stage)) {
        update.optimizer = update.optimizer / slow.device;
    }
}

/// Kernels take `t / rate`; communication and arithmetic stay.
fn stretch(cost: &mut LayerCost, device: f64, host: f64) {
    let works: [&mut Work; 4] =
        [&mut cost.forward, &mut cost.backward_input, &mut cost.backward_weight, &mut cost.recompute];
    for work in works {
        for time in work.compute.iter_mut().chain(&mut work.founded) {
            *time = *time / device;
        }
        work.host = work.host / host;
        work.looped = work.looped / host;
    }
}

#[cfg(test)]
mod tests;
