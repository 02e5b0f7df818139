//! Exchanges around the optimizer step: gradients, parameters, a tied embedding's two copies, the gradients' norm.
//!
//! Responsible for: the same conditions by which [`crate::sharding`] prices them. The last two are not priced there: they are a few
//! bytes or a single matrix, and traffic all the same.

use super::{Among, StageExchange};
use crate::collectives::Collective;
use crate::costing::Costing;
use crate::evaluate::{Evaluation, stage_parameters};
use crate::schedule::stage_of;
use crate::sharding::{local_parameters, reductions_per_step};
use railwright_spec::quantity::Bytes;
use railwright_step::{Dimension, Phase};

pub(super) fn exchanges(
    costing: &Costing<'_>,
    evaluation: &Evaluation,
    stage: usize,
    add: &mut impl FnMut(StageExchange),
) {
    if !costing.trains_weights() {
        return;
    }
    replicas(costing, evaluation, stage, add);
    embedding(costing, evaluation, stage, add);
    if stage == 0 && costing.plan.world_size() > 1 {
        // Clipping: the sum of squares, one fp32 number.
        add(exchange(stage, Dimension::Other, "gradient norm", Collective::AllReduce, Among::All, 4.0, 1.0));
    }
}

fn exchange(
    stage: usize,
    dimension: Dimension,
    purpose: &'static str,
    operation: Collective,
    among: Among,
    bytes: f64,
    count: f64,
) -> StageExchange {
    let (stages, bytes) = (vec![stage as u32], Bytes::new(bytes));
    StageExchange { stages, dimension, purpose, phase: Phase::Optimizer, operation, among, bytes, count }
}

/// Without full sharding: gradients are reduced, and parameters gathered where the optimizer's states are sharded.
fn replicas(
    costing: &Costing<'_>,
    evaluation: &Evaluation,
    stage: usize,
    add: &mut impl FnMut(StageExchange),
) {
    let plan = costing.plan;
    let Some(local) = stage_parameters(costing, &evaluation.chunks).get(stage).copied() else { return };
    if plan.sharding.zero_stage >= 3 {
        return;
    }
    let sharded = plan.sharding.zero_stage >= 1 && plan.shard_group() > 1;
    let times = reductions_per_step(costing, plan.micro_batches().max(1));
    let wire = plan.precision.gradient_reduce.bytes();
    let element = plan.precision.parameters.bytes();
    for (parameters, all, shard, copies) in [
        (local.dense, Among::Data, Among::Shard, Among::Replicate),
        (local.routed, Among::ExpertData, Among::ExpertShard, Among::ExpertReplicate),
    ] {
        let ranks = |among: Among| among.group(&costing.layout).ranks;
        if ranks(all) <= 1 {
            continue;
        }
        let mut push = |purpose, operation, among: Among, bytes, count| {
            if ranks(among) > 1 {
                add(exchange(stage, Dimension::Data, purpose, operation, among, bytes, count));
            }
        };
        if sharded {
            push("gradients", Collective::ReduceScatter, shard, parameters * wire, times);
            push("parameters", Collective::AllGather, shard, parameters * element, 1.0);
            let part = parameters * wire / ranks(shard) as f64;
            push("gradients", Collective::AllReduce, copies, part, times);
        } else {
            push("gradients", Collective::AllReduce, all, parameters * wire, times);
        }
    }
}

/// The first and the last stage each hold a tied embedding, and add up its gradients.
fn embedding(
    costing: &Costing<'_>,
    evaluation: &Evaluation,
    stage: usize,
    add: &mut impl FnMut(StageExchange),
) {
    let plan = costing.plan;
    if stage > 0 || !costing.model.tied_embeddings || plan.pipeline_parallel < 2 {
        return;
    }
    let last = evaluation.chunks.len().saturating_sub(1) as u64;
    let holder = stage_of(plan.schedule, plan.pipeline_parallel, plan.micro_batches().max(1), last, 0);
    if holder == 0 {
        return;
    }
    let shards = if plan.sharding.zero_stage >= 3 { plan.shard_group() as f64 } else { 1.0 };
    let bytes =
        local_parameters(&costing.model.embedding, plan).dense * plan.precision.gradient_reduce.bytes();
    let among = Among::Stages(holder.cast_signed());
    add(exchange(
        stage,
        Dimension::Pipeline,
        "gradients of the embedding",
        Collective::AllReduce,
        among,
        bytes / shards,
        1.0,
    ));
}
