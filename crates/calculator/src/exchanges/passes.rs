//! Exchanges of forward and backward passes: the collectives of a stage's chunks, and its messages to other
//! stages.

use super::{ProcessGroup, StageExchange};
use crate::collectives::Collective;
use crate::costing::Costing;
use crate::estimate::breakdown::runs_per_chunk;
use crate::estimate::calls::{self, Call};
use crate::evaluate::Evaluation;
use crate::partition::{local_chunks, stage_of};
use crate::transfer::{Gather, Transfer};
use crate::work::Dimension as WorkDimension;
use railwright_spec::plan::{ContextKind, Plan};
use railwright_step::{Dimension, Phase};

/// The collectives of all chunks of a stage, over all micro-batches.
pub(super) fn collectives(
    costing: &Costing<'_>,
    evaluation: &Evaluation,
    stage: usize,
    add: &mut impl FnMut(StageExchange),
) {
    let runs = runs_per_chunk(costing);
    for chunk in local_chunks(costing.plan, stage) {
        of_chunk(costing, evaluation, stage, chunk, runs).into_iter().for_each(&mut *add);
    }
}

/// The collectives of one chunk, for a number of runs.
pub(super) fn of_chunk(
    costing: &Costing<'_>,
    evaluation: &Evaluation,
    stage: usize,
    chunk: usize,
    runs: f64,
) -> Vec<StageExchange> {
    let exchange = |call: Call| StageExchange {
        stages: vec![stage as u32],
        dimension: call.dimension.of_step(),
        purpose: purpose(costing.plan, &call),
        phase: call.phase,
        operation: call.operation,
        process_group: call.process_group,
        bytes: call.bytes,
        count: call.count * runs,
    };
    calls::of_chunk(costing, &evaluation.chunks, chunk).into_iter().map(exchange).collect()
}

fn purpose(plan: &Plan, call: &Call) -> &'static str {
    match (call.dimension, call.operation) {
        (WorkDimension::Tensor, _) if call.process_group == ProcessGroup::ExpertTensor => "routed tokens",
        (WorkDimension::Context, _) if plan.context_kind == ContextKind::Ulysses => "heads",
        (WorkDimension::Context, _) => "keys and values",
        (WorkDimension::Expert, _) => "tokens",
        (WorkDimension::Shard, Collective::AllGather) => "parameters",
        (WorkDimension::Shard, _) => "gradients",
        _ => "activations",
    }
}

/// Messages of a stage to others: the output of each chunk to the next, the gradient of its input to the
/// previous one. Chunks on one stage (where a V turns) need no message. Without sequence parallelism each
/// tensor rank sends a part, and the receivers gather.
pub(crate) fn transfers(
    costing: &Costing<'_>,
    evaluation: &Evaluation,
    stage: usize,
    add: &mut impl FnMut(StageExchange),
) {
    let Some(transfer) = Transfer::new(costing) else { return };
    for (from, to, phase) in ways(costing.plan, evaluation.chunks.len() as u64) {
        let offset = to.cast_signed() - from.cast_signed();
        let back = phase == Phase::BackwardInput;
        let exchange = |at: u64, operation, process_group, bytes| StageExchange {
            stages: vec![at as u32],
            dimension: Dimension::Pipeline,
            purpose: if back { "gradients of activations" } else { "activations" },
            phase,
            operation,
            process_group,
            bytes,
            count: runs_per_chunk(costing),
        };
        if from == stage as u64 {
            add(exchange(from, Collective::SendReceive, ProcessGroup::Stages(offset), transfer.message));
        }
        if let (true, Some(gather)) = (to == stage as u64, transfer.gather) {
            add(exchange(to, Gather::OPERATION, Gather::PROCESS_GROUP, gather.bytes));
        }
    }
}

/// All routes of micro-batches (of one direction, if there are two) from stage to stage.
fn ways(plan: &Plan, chunks: u64) -> Vec<(u64, u64, Phase)> {
    let second = plan.schedule.has_two_directions().then(|| plan.micro_batches().max(1));
    let mut ways = Vec::new();
    for chunk in 1..chunks {
        for micro_batch in std::iter::once(0).chain(second) {
            let at = |chunk| stage_of(plan, chunk, micro_batch);
            let (before, here) = (at(chunk - 1), at(chunk));
            if before != here {
                ways.push((before, here, Phase::Forward));
                ways.push((here, before, Phase::BackwardInput));
            }
        }
    }
    ways
}
