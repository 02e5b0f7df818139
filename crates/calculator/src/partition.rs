//! Division of a model: layers among virtual stages, virtual stages among pipeline stages, stages among
//! ranks, rows of the vocabulary.
//!
//! Responsible for: these counts and places, once for time, memory, traffic and timelines. Does not validate
//! or price a division.

use railwright_spec::model::Model;
use railwright_spec::plan::{Plan, RankOrder, Recompute, end_balanced_layers};

/// Layers of each virtual stage in pipeline order: the explicit split, otherwise an even one, otherwise a
/// balanced one if layers do not divide.
pub(crate) fn layers_per_virtual_stage(model: &Model, plan: &Plan) -> Vec<u64> {
    let parts = virtual_stages(plan) as usize;
    if let Some(explicit) = &plan.layers_per_stage {
        if explicit.len() == parts {
            return explicit.clone();
        }
        // Specified per pipeline stage: divide each among its chunks.
        let per = parts / explicit.len().max(1);
        let stages = explicit.len();
        return (0..parts)
            .map(|i| {
                let (chunk, stage) = (i / stages.max(1), i % stages.max(1));
                let layers = explicit.get(stage).copied().unwrap_or(0);
                layers / per.max(1) as u64 + u64::from((chunk as u64) < layers % per.max(1) as u64)
            })
            .collect();
    }
    if model.num_layers().is_multiple_of(parts as u64) {
        return vec![model.num_layers() / parts as u64; parts];
    }
    end_balanced_layers(model, parts as u64)
}

/// Chunks per stage from the schedule itself: two if the pipeline folds into a V.
pub fn chunks_per_stage(plan: &Plan) -> u64 {
    plan.schedule.chunks_per_stage(plan.virtual_stages)
}

/// Number of recomputed layers of each chunk, its first ones. A plan's count is per stage, and each of its
/// chunks has an equal part, rounded up. (Megatron's `--recompute-num-layers` is a count of each virtual
/// stage.)
pub(crate) fn recomputed_layers(plan: &Plan) -> u64 {
    match &plan.recompute {
        Recompute::None => 0,
        Recompute::Full { layers } | Recompute::Selective { layers, .. } => {
            layers.map_or(u64::MAX, |n| n.div_ceil(chunks_per_stage(plan)))
        }
    }
}

/// Total number of virtual stages.
pub fn virtual_stages(plan: &Plan) -> u64 {
    plan.pipeline_parallel * chunks_per_stage(plan)
}

/// The virtual stages of a stage.
pub fn local_chunks(plan: &Plan, stage: usize) -> Vec<usize> {
    let own = plan.schedule.local_chunks(plan.pipeline_parallel, plan.virtual_stages, stage as u64);
    own.into_iter().map(|chunk| chunk as usize).collect()
}

/// The stage that runs a virtual stage for a micro-batch.
pub(crate) fn stage_of(plan: &Plan, chunk: u64, micro_batch: u64) -> u64 {
    plan.schedule.stage_of(plan.pipeline_parallel, plan.micro_batches().max(1), chunk, micro_batch)
}

/// Distance between the ranks of neighbouring stages.
pub(crate) fn rank_stride(plan: &Plan) -> u64 {
    let inner = plan.tensor_parallel * plan.context_parallel;
    match plan.rank_order {
        RankOrder::TensorContextDataPipeline => inner * plan.data_parallel,
        RankOrder::TensorContextPipelineData => inner,
    }
}

/// The pipeline stage of a global rank.
pub fn stage_of_rank(plan: &Plan, rank: u64) -> usize {
    (rank / rank_stride(plan).max(1) % plan.pipeline_parallel.max(1)) as usize
}

/// Rows of the vocabulary after padding to a multiple of `vocabulary_multiple x tensor_parallel` (Megatron).
pub(crate) fn padded_vocabulary(vocabulary: u64, plan: &Plan) -> f64 {
    let multiple = plan.vocabulary_multiple.max(1).saturating_mul(plan.tensor_parallel.max(1));
    vocabulary.div_ceil(multiple).saturating_mul(multiple) as f64
}
