//! Reductions of gradients between two pipeline stages that hold copies of the same weights.
//!
//! Responsible for: the list of these, and their time. They follow the stage's own reductions and overlap
//! with nothing.

use super::{Purpose, UpdateCollective, Weights};
use crate::collectives::Collective;
use crate::costing::Costing;
use crate::exchanges::ProcessGroup;
use crate::local::LocalParameters;
use crate::partition::{padded_vocabulary, stage_of};
use railwright_spec::plan::Group;
use railwright_spec::quantity::{Bytes, Seconds};

/// The reductions of a stage with `local` parameters with another stage of the same pipeline, of `chunks`
/// virtual stages in all.
///
/// A tied word embedding is on the first and the last stage, which all-reduce its gradient: `padded
/// vocabulary / t x h x bytes`, without learned positions, which the last stage lacks (Megatron,
/// `_allreduce_word_embedding_grads`, after the reduction among replicas).
///
/// With two directions (DualPipe), a stage and its mirror image hold the same weights. They all-reduce the
/// gradients that a rank keeps after the reduction among replicas: `parameters / ranks of a shard x bytes`.
/// The two copies of a tied embedding are then on one rank, and are part of it.
pub fn between_stages(
    costing: &Costing<'_>,
    local: LocalParameters,
    stage: usize,
    chunks: usize,
) -> impl Iterator<Item = UpdateCollective> {
    let plan = costing.plan;
    let wire = plan.precision.gradient_reduce.bytes();
    let has_mirrors = plan.pipeline_parallel > 1 && plan.schedule.has_two_directions();
    let mirror = (plan.pipeline_parallel as i64 - 1) - 2 * stage as i64;
    let shards = |group: Group| if plan.sharding.zero_stage >= 1 { group.ranks as f64 } else { 1.0 };
    let copies = [
        (Weights::Dense, local.dense / shards(costing.layout.shard)),
        (Weights::Experts, local.routed / shards(costing.layout.expert_shard)),
    ]
    .map(|(weights, elements)| {
        (has_mirrors && elements > 0.0)
            .then(|| one(costing, (Purpose::MirrorGradients, weights), mirror, elements * wire))
    });
    let embedding = (!has_mirrors).then(|| tied_embedding(costing, stage, chunks)).flatten();
    copies.into_iter().chain([embedding]).flatten()
}

/// Total time of [`between_stages`], in seconds.
pub fn time_between_stages(
    costing: &Costing<'_>,
    local: LocalParameters,
    stage: usize,
    chunks: usize,
) -> Seconds {
    between_stages(costing, local, stage, chunks).map(|one| one.time(costing)).sum()
}

fn tied_embedding(costing: &Costing<'_>, stage: usize, chunks: usize) -> Option<UpdateCollective> {
    let plan = costing.plan;
    if !costing.model.tied_embeddings || plan.pipeline_parallel <= 1 || !costing.trains_weights() {
        return None;
    }
    let holder = stage_of(plan, chunks.saturating_sub(1) as u64, 0).cast_signed();
    let offset = match stage as i64 {
        _ if holder == 0 => return None,
        0 => holder,
        last if last == holder => -holder,
        _ => return None,
    };
    let shards = if plan.sharding.zero_stage >= 3 { plan.shard_group() as f64 } else { 1.0 };
    let rows = padded_vocabulary(costing.model.vocabulary, plan) / plan.tensor_parallel as f64;
    let held = rows * costing.model.hidden_size as f64;
    let bytes = held * plan.precision.gradient_reduce.bytes() / shards;
    Some(one(costing, (Purpose::EmbeddingGradients, Weights::Dense), offset, bytes))
}

fn one(
    costing: &Costing<'_>,
    (purpose, weights): (Purpose, Weights),
    offset: i64,
    bytes: f64,
) -> UpdateCollective {
    let process_group = ProcessGroup::Stages(offset);
    UpdateCollective {
        purpose,
        weights,
        operation: Collective::AllReduce,
        process_group,
        group: pair(costing, offset),
        bytes: Bytes::new(bytes),
        buckets: 1.0,
        count: 1.0,
    }
}

/// Ranks with the same index in two stages at this distance. In one domain if the whole pipeline is, or if
/// the domain is wider than the distance.
fn pair(costing: &Costing<'_>, offset: i64) -> Group {
    let pipeline = costing.layout.pipeline;
    let stride = pipeline.stride * offset.unsigned_abs();
    if pipeline.is_inside_domain() {
        return Group { ranks: 2, per_domain: 2, least: 2, stride };
    }
    Group::new(2, stride, costing.plan.domain(costing.cluster))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::costing::Machine;
    use crate::evaluate::{evaluate, stage_parameters};
    use railwright_spec::plan::{PlanSpec, Schedule};
    use railwright_spec::{cluster, model};

    fn on(name: &str, spec: &PlanSpec, check: impl Fn(&Costing<'_>)) {
        let model = model::by_name(name).expect("in the catalogue");
        let cluster = cluster::by_name("dgx-h100", 64).expect("a preset");
        let plan = spec.resolve(&model, &cluster).expect("resolves");
        let machine = Machine::new(&cluster);
        check(&Costing::new(&model, &cluster, &plan, &machine).expect("known software"));
    }

    fn reductions(costing: &Costing<'_>, stage: usize) -> Vec<UpdateCollective> {
        let evaluation = evaluate(costing).expect("possible");
        let local = stage_parameters(costing, &evaluation.chunks)[stage];
        between_stages(costing, local, stage, evaluation.chunks.len()).collect()
    }

    /// 51,200 / 8 rows x 12,288 columns x 4 bytes between two nodes: each of two ranks sends them once, over
    /// a NIC of 50 GB/s.
    #[test]
    fn the_first_and_the_last_stage_reduce_a_tied_embedding() {
        let spec = PlanSpec { tensor_parallel: Some(8), pipeline_parallel: Some(8), ..PlanSpec::default() };
        on("gpt3-175b", &spec, |costing| {
            let [first, last] = [0, 7].map(|stage| reductions(costing, stage));
            assert_eq!((first.len(), last.len(), reductions(costing, 3).len()), (1, 1, 0));
            assert_eq!((first[0].bytes, first[0].group), (last[0].bytes, last[0].group));
            assert_eq!((first[0].group.ranks, first[0].group.per_domain), (2, 1));
            let (time, least) = (first[0].time(costing).get(), first[0].bytes.get() / 50e9);
            assert!(time > least && time < 2.0 * least, "{time} {least}");
            let evaluation = evaluate(costing).expect("possible");
            assert_eq!(evaluation.updates[7].between_stages.get(), time);
            assert!(evaluation.time.data_parallel.get() >= time * (1.0 - 1e-9));
        });
    }

    /// Each parameter of a pipeline with two directions is on a stage and on its mirror image.
    #[test]
    fn mirror_stages_reduce_their_common_weights() {
        for zero_stage in [0, 1] {
            let spec = PlanSpec {
                pipeline_parallel: Some(4),
                schedule: Some(Schedule::DualPipe),
                micro_batches: Some(16),
                sharding: Some(railwright_spec::plan::Sharding::zero(zero_stage)),
                ..PlanSpec::default()
            };
            on("llama-3-8b", &spec, |costing| {
                let all: Vec<_> = (0..4).map(|stage| reductions(costing, stage)).collect();
                let offsets: Vec<_> = all.iter().map(|own| own[0].process_group).collect();
                assert_eq!(offsets, [3, 1, -1, -3].map(ProcessGroup::Stages));
                let sum: f64 = all.iter().map(|own| own[0].bytes.get()).sum();
                let ranks = if zero_stage == 0 { 1.0 } else { costing.layout.shard.ranks as f64 };
                let bytes =
                    costing.plan.precision.gradient_reduce.bytes() / costing.plan.tensor_parallel as f64;
                let expected = 2.0 * 8.030e9 * bytes / ranks;
                assert!((sum / expected - 1.0).abs() < 0.01, "{sum} {expected}");
            });
        }
    }
}
