//! Exchanges around the optimizer step, as in [`crate::update`]: gradients, parameters, gradients between
//! stages, and the gradients' norm, which is excluded from the step time.

use super::{ProcessGroup, StageExchange};
use crate::costing::Costing;
use crate::evaluate::{Evaluation, stage_parameters};
use crate::update::{self, UpdateCollective};
use railwright_step::{Dimension, Phase};

pub(super) fn exchanges(
    costing: &Costing<'_>,
    evaluation: &Evaluation,
    stage: usize,
    add: &mut impl FnMut(StageExchange),
) {
    let local = stage_parameters(costing, &evaluation.chunks).get(stage).copied().unwrap_or_default();
    let micro_batches = costing.plan.micro_batches().max(1);
    for collective in update::around_optimizer(costing, local, micro_batches) {
        add(exchange(stage, &collective));
    }
    // Both stages take part, and the earlier one begins it.
    let is_first = |one: &UpdateCollective| matches!(one.process_group, ProcessGroup::Stages(1..));
    for collective in update::between_stages(costing, local, stage, evaluation.chunks.len()).filter(is_first)
    {
        add(exchange(stage, &collective));
    }
    if stage == 0
        && let Some(collective) = update::not_priced(costing)
    {
        add(exchange(stage, &collective));
    }
}

fn exchange(stage: usize, collective: &UpdateCollective) -> StageExchange {
    StageExchange {
        stages: vec![stage as u32],
        dimension: match collective.process_group {
            ProcessGroup::All => Dimension::Other,
            _ => Dimension::Data,
        },
        purpose: collective.purpose.name(),
        phase: Phase::Optimizer,
        operation: collective.operation,
        process_group: collective.process_group,
        bytes: collective.bytes,
        count: collective.count,
    }
}
