//! Assignment of layers to stages and chunks.
//!
//! Responsible for: the default split, and the place of embedding and head. Does not validate the split.

use super::software::StageSplit;
use crate::partition;
use railwright_spec::model::Model;
use railwright_spec::plan::{Plan, by_compute};

/// The layers of one chunk of one stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StageLayers {
    /// The virtual stage, in pipeline order.
    pub chunk: usize,
    /// Index of the first layer.
    pub start: usize,
    /// Number of layers.
    pub count: usize,
    /// True if the embedding precedes them.
    pub embedding: bool,
    /// True if the head follows them.
    pub head: bool,
}

/// Layers of each chunk in pipeline order (virtual stage 0 first): those of the plan, otherwise by the
/// generation's rule.
pub fn layers_per_chunk(model: &Model, plan: &Plan, split: StageSplit) -> Vec<u64> {
    if split == StageSplit::Compute && plan.layers_per_stage.is_none() {
        by_compute(model, partition::virtual_stages(plan) as usize)
    } else {
        partition::layers_per_virtual_stage(model, plan)
    }
}

/// The chunks of every stage: outer index stage, inner index chunk.
pub(crate) fn layout(model: &Model, plan: &Plan, split: StageSplit) -> Vec<Vec<StageLayers>> {
    arrange(model, plan, &layers_per_chunk(model, plan, split))
}

/// The chunks of every stage for given layers per virtual stage.
pub(crate) fn arrange(model: &Model, plan: &Plan, counts: &[u64]) -> Vec<Vec<StageLayers>> {
    let stages = plan.pipeline_parallel.max(1) as usize;
    let mut start = 0;
    let last = counts.len().saturating_sub(1);
    let chunk: Vec<StageLayers> = counts
        .iter()
        .enumerate()
        .map(|(i, &count)| {
            let room = model.layers.len().saturating_sub(start);
            let layers = StageLayers {
                chunk: i,
                start,
                count: (count as usize).min(room),
                embedding: i == 0,
                head: i == last,
            };
            start += layers.count;
            layers
        })
        .collect();
    let at = |i: usize| chunk.get(i).copied();
    (0..stages)
        .map(|stage| {
            let own = plan.schedule.local_chunks(stages as u64, plan.virtual_stages, stage as u64);
            own.into_iter().filter_map(|i| at(i as usize)).collect()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::testing;
    use railwright_spec::plan::Schedule;

    #[test]
    fn layers_that_do_not_divide_leave_room_for_the_head() {
        // The head of 32,000 x 1,024 has the cost of two of these layers.
        let model = testing::llama(1024, 4096, 8, 8, 10, 32000);
        let mut plan = testing::plan();
        plan.pipeline_parallel = 4;
        assert_eq!(layers_per_chunk(&model, &plan, StageSplit::Even), [3, 3, 3, 1]);
    }

    #[test]
    fn compute_split_counts_the_head_as_four_layers() {
        // Llama-shaped, h 2048, f 8192, 16 layers, 131,072 words: the head has the cost of four layers.
        let model = testing::llama(2048, 8192, 32, 32, 16, 131_072);
        let mut plan = testing::plan();
        plan.pipeline_parallel = 8;
        assert_eq!(layers_per_chunk(&model, &plan, StageSplit::Compute), [3, 3, 2, 3, 2, 3, 0, 0]);
    }

    #[test]
    fn a_folded_pipeline_has_both_ends_on_stage_zero() {
        let model = testing::llama(1024, 4096, 8, 8, 16, 32000);
        let mut plan = testing::plan();
        plan.pipeline_parallel = 4;
        plan.schedule = Schedule::ZbV;
        let stages = layout(&model, &plan, StageSplit::Even);
        assert!(stages[0][0].embedding && stages[0][1].head);
        assert_eq!(stages.iter().flatten().map(|c| c.count).sum::<usize>(), 16);
    }
}
