//! Order of 1F1B and of interleaved 1F1B (Megatron-LM's), and their published closed forms.

use super::Pipeline;
use super::rules::{Rules, bound_of_whole_backward};
use super::slot::{Pass, Shape, Slot};
use super::stage_cost::StageCost;
use railwright_spec::quantity::Seconds;

/// 1F1B, interleaved if stages hold several chunks.
pub(super) struct Order;

impl Rules for Order {
    fn order(&self, shape: &Shape, stage: u64) -> Vec<Slot> {
        let Shape { stages, virtual_stages, micro_batches, .. } = *shape;
        if virtual_stages == 1 {
            alternate(micro_batches, stage, stages - 1 - stage, None)
        } else {
            rounds(stages, virtual_stages, micro_batches, stage)
        }
    }

    fn period(&self, shape: &Shape) -> u64 {
        if shape.virtual_stages > 1 { shape.stages } else { 1 }
    }

    fn enough(&self, shape: &Shape) -> u64 {
        if shape.virtual_stages > 1 { 6 * shape.stages } else { 5 * shape.stages + 4 }
    }

    fn lower_bound(&self, pipeline: &Pipeline) -> f64 {
        bound_of_whole_backward(pipeline)
    }
}

/// `warmup` forwards, then one forward and one backward alternately, then the remaining backwards.
///
/// With `weight_delay` the backward pass is split. A weight gradient follows each input gradient except the
/// first `weight_delay` ones, which leaves that number for the end.
pub(super) fn alternate(micro_batches: u64, chunk: u64, warmup: u64, weight_delay: Option<u64>) -> Vec<Slot> {
    let warmup = warmup.min(micro_batches);
    let mut slots = Vec::with_capacity(3 * micro_batches as usize);
    let mut weights = 0;
    for turn in 0..warmup + micro_batches {
        if turn < micro_batches {
            slots.push(Slot::new(Pass::Forward, turn, chunk));
        }
        let Some(backward) = turn.checked_sub(warmup) else { continue };
        let Some(delay) = weight_delay else {
            slots.push(Slot::new(Pass::Backward, backward, chunk));
            continue;
        };
        slots.push(Slot::new(Pass::BackwardInput, backward, chunk));
        if backward >= delay {
            slots.push(Slot::new(Pass::BackwardWeight, weights, chunk));
            weights += 1;
        }
    }
    if weight_delay.is_some() {
        slots.extend((weights..micro_batches).map(|m| Slot::new(Pass::BackwardWeight, m, chunk)));
    }
    slots
}

/// Interleaved 1F1B: micro-batches run in groups of `stages`, each group through all local chunks in turn.
/// Warmup is `2(p-1-s) + (v-1)p` passes (Narayanan et al. 2021, section 2.2; Megatron-LM).
///
/// Megatron-LM rejects a last group smaller than `stages`, because its order would deadlock. Here the order
/// of a full last group is used without the missing micro-batches, whose slots remain idle.
fn rounds(stages: u64, virtual_stages: u64, micro_batches: u64, stage: u64) -> Vec<Slot> {
    let whole = micro_batches.next_multiple_of(stages);
    let mut table = Vec::with_capacity((virtual_stages * whole) as usize);
    for first in (0..whole).step_by(stages as usize) {
        for chunk in 0..virtual_stages {
            table.extend((first..first + stages).map(|m| (m, chunk)));
        }
    }
    let warmup = (2 * (stages - 1 - stage) + (virtual_stages - 1) * stages).min(table.len() as u64) as usize;
    let mut slots = Vec::with_capacity(2 * table.len());
    for turn in 0..table.len() + warmup {
        if let Some(&(m, chunk)) = table.get(turn) {
            slots.push(Slot::new(Pass::Forward, m, chunk * stages + stage));
        }
        if let Some(&(m, chunk)) = turn.checked_sub(warmup).and_then(|turn| table.get(turn)) {
            slots.push(Slot::new(Pass::Backward, m, (virtual_stages - 1 - chunk) * stages + stage));
        }
    }
    slots.retain(|slot| u64::from(slot.micro_batch) < micro_batches);
    slots
}

/// Idle time of GPipe and 1F1B in s: `(p-1)(F+B+W)`, a share `(p-1)/(m+p-1)` of the step.
///
/// Huang et al. 2019 (GPipe); Narayanan et al. 2021, section 2.2.1.
pub fn bubble(stages: u64, cost: &StageCost) -> Seconds {
    cost.sum() * (stages.saturating_sub(1)) as f64
}

/// Idle time of interleaved 1F1B in s: `(p-1)(F+B+W)/v`. If the micro-batches leave a remainder `r` over `p`,
/// at most another `(v-1)(p-r)` chunks: the last group takes the time of a full one in all of its rounds but
/// one. Stages that continue while others wait lose less; [`super::summarize`] is exact.
///
/// Narayanan et al. 2021, section 2.2.2.
pub fn interleaved(stages: u64, virtual_stages: u64, micro_batches: u64, cost: &StageCost) -> Seconds {
    let v = virtual_stages.max(1);
    let remainder = micro_batches % stages.max(1);
    let short = if remainder == 0 { 0 } else { (v - 1) * (stages - remainder) };
    cost.sum() * ((stages.saturating_sub(1) + short) as f64 / v as f64)
}

/// Live activations of 1F1B on a stage, in micro-batches: `min(m, p-s)`. Narayanan et al. 2021, section
/// 2.2.1.
pub fn in_flight(stages: u64, micro_batches: u64, stage: u64) -> u64 {
    micro_batches.min(stages.saturating_sub(stage))
}

/// Live activations of interleaved 1F1B on the first stage, as a multiple of 1F1B's `p` micro-batches: `1 +
/// (p-1)/(pv)`.
///
/// Korthikanti et al. 2022, section 4.2.3.
pub fn interleaved_memory_factor(stages: u64, virtual_stages: u64) -> f64 {
    1.0 + (stages as f64 - 1.0) / (stages as f64 * virtual_stages as f64)
}
