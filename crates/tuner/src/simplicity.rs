//! Simplicity of a layout: unusual properties, and the number of enabled features.
//!
//! Responsible for: the order of layouts with step times within the model error: fewer and lesser
//! [`UnusualFeature`]s first, in the order of the enumeration, then fewer features ([`complexity`]). Ties are
//! determined in [`crate::search`].

use railwright_calculator::defaults::FEWEST_TOKENS;
use railwright_spec::plan::{Layout, Offload, Plan, RankOrder, Recompute};
use railwright_spec::software::by_id;
use serde::Serialize;

/// Unusual features of a layout, the most severe first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum UnusualFeature {
    /// Virtual stages do not divide the layers: inner chunks differ. The first and the last chunk may have
    /// fewer layers, because they contain the embedding and the head.
    UnequalChunks,
    /// A group that communicates in every layer spans two scale-up domains although it would fit into one.
    TornGroup,
    /// Context parallelism leaves a rank fewer than [`FEWEST_TOKENS`] tokens of a sequence, or splits a
    /// micro-batch of several sequences. A smaller micro-batch would split these without communication.
    ShortContext,
    /// Experts are distributed over several scale-up domains, so that tokens cross the network in every
    /// layer. Megatron-Core's guide to mixtures of experts keeps expert and tensor parallelism within the
    /// NVLink domain.
    ScatteredExperts,
    /// States are sharded over a part of the data-parallel ranks.
    PartialSharding,
    /// The optimizer states are whole on every data-parallel rank.
    WholeOptimizer,
    /// More than [`TIGHT`] of the device's memory is in use, so that allocator retries are likely.
    TightMemory,
}

impl UnusualFeature {
    /// All oddities, the most severe first.
    pub const ALL: [Self; 7] = [
        Self::UnequalChunks,
        Self::TornGroup,
        Self::ShortContext,
        Self::ScatteredExperts,
        Self::PartialSharding,
        Self::WholeOptimizer,
        Self::TightMemory,
    ];

    const fn bit(self) -> u8 {
        1 << (Self::ALL.len() - 1 - self as usize)
    }
}

/// Share of the device's memory above which steps slow down
/// ([`railwright_calculator::memory::retry_slowdown`]).
pub const TIGHT: f64 = 0.92;

/// Usual maximum number of GPUs of an expert-parallel group with fused dispatch, also between domains:
/// DeepSeek-V3 trained with experts on 64 GPUs of 8 nodes (arXiv 2412.19437, section 3.2).
const DISPATCHED_RANKS: u64 = 64;

/// Tests whether a stack dispatches tokens by fused kernels.
fn dispatches_fused(software: &str) -> bool {
    by_id(software).is_ok_and(|software| software.fused_expert_dispatch)
}

/// A set of oddities. Its order is lexicographic: a more severe oddity outweighs all others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct UnusualFeatures(u8);

impl UnusualFeatures {
    /// Unusual features of a plan on scale-up domains of `domain` devices, with `used_memory` as a share.
    pub fn of(plan: &Plan, domain: u64, used_memory: f64) -> Self {
        Self::default()
            .with(
                UnusualFeature::UnequalChunks,
                plan.layers_per_stage.as_deref().is_some_and(has_unequal_chunks),
            )
            .with_layout(&Layout::new(plan, domain), dispatches_fused(&plan.software))
            .with(
                UnusualFeature::ShortContext,
                has_short_context(plan.sequence_length, plan.context_parallel, plan.micro_batch),
            )
            .with_sharding(plan)
            .with(UnusualFeature::TightMemory, used_memory > TIGHT)
    }

    /// Adds an oddity if `is_there`.
    #[must_use]
    pub const fn with(self, oddity: UnusualFeature, is_there: bool) -> Self {
        if is_there { Self(self.0 | oddity.bit()) } else { self }
    }

    /// Adds the oddities of a layout of ranks.
    #[must_use]
    pub fn with_layout(self, layout: &Layout, fused_dispatch: bool) -> Self {
        let is_usual = fused_dispatch && layout.expert.ranks <= DISPATCHED_RANKS;
        let is_scattered =
            !layout.expert.is_inside_domain() && !layout.expert.straddles_domains() && !is_usual;
        self.with(UnusualFeature::TornGroup, layout.torn().next().is_some())
            .with(UnusualFeature::ScatteredExperts, is_scattered)
    }

    /// Adds the oddities of a plan's sharding.
    #[must_use]
    pub const fn with_sharding(self, plan: &Plan) -> Self {
        let has_peers = plan.data_parallel * plan.context_parallel > 1;
        let is_whole = plan.sharding.zero_stage == 0;
        self.with(UnusualFeature::PartialSharding, !is_whole && plan.sharding.group.is_some())
            .with(UnusualFeature::WholeOptimizer, has_peers && is_whole)
    }

    /// Tests whether the set contains an oddity.
    pub const fn has(self, oddity: UnusualFeature) -> bool {
        self.0 & oddity.bit() != 0
    }

    /// The oddities, the most severe first.
    pub fn list(self) -> Vec<UnusualFeature> {
        UnusualFeature::ALL.into_iter().filter(|oddity| self.has(*oddity)).collect()
    }

    /// A number with the same order as the set.
    pub(crate) const fn level(self) -> u8 {
        self.0
    }
}

/// Tests for unnecessary differences of chunks. Without them, all but the first and the last have the same
/// number of layers, and these have no more. Of two chunks one may have one layer more.
pub fn has_unequal_chunks(layers: &[u64]) -> bool {
    let most = layers.iter().copied().max().unwrap_or(0);
    match layers {
        [] | [_] => false,
        [first, last] => first.abs_diff(*last) > 1,
        [_, inner @ .., _] => inner.iter().any(|n| *n != most),
    }
}

/// Tests whether context parallelism leaves a rank too little work.
pub const fn has_short_context(sequence_length: u64, context: u64, micro_batch: u64) -> bool {
    context > 1 && (micro_batch > 1 || sequence_length < FEWEST_TOKENS.saturating_mul(context))
}

/// Complexity of a plan. Its order is by the features in use, then by chunks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Complexity {
    /// Number of features: kinds of parallelism in use, recompute, offload, uneven stages and partial shard
    /// groups.
    pub(crate) features: u8,
    /// Chunks of the pipeline, virtual stages of all stages: each adds a message per micro-batch and
    /// direction.
    pub(crate) chunks: u64,
}

/// The complexity of a plan.
pub fn complexity(plan: &Plan) -> Complexity {
    let in_use = [
        plan.tensor_parallel > 1,
        plan.pipeline_parallel > 1,
        plan.virtual_stages > 1,
        plan.context_parallel > 1,
        plan.expert_parallel > 1,
        plan.expert_tensor_parallel > 1 && plan.expert_parallel > 1,
        plan.sharding.zero_stage > 1,
        plan.sharding.group.is_some(),
        plan.layers_per_stage.is_some(),
        plan.recompute != Recompute::None,
        plan.offload != Offload::default(),
        plan.schedule.divides_backward(),
        plan.rank_order != RankOrder::TensorContextDataPipeline,
    ];
    let features = in_use.into_iter().map(u8::from).sum();
    Complexity { features, chunks: plan.pipeline_parallel.saturating_mul(plan.virtual_stages) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use railwright_spec::cluster;
    use railwright_spec::model::by_name;
    use railwright_spec::plan::{PlanSpec, Sharding};

    fn plan(spec: &PlanSpec) -> Plan {
        let model = by_name("llama-3-8b").expect("known");
        let cluster = cluster::by_name("dgx-h100", 8).expect("known");
        spec.resolve(&model, &cluster).expect("possible")
    }

    #[test]
    fn what_has_fewer_parts_is_simpler() {
        let plain = plan(&PlanSpec { tensor_parallel: Some(2), ..PlanSpec::default() });
        assert_eq!(complexity(&plain), Complexity { features: 1, chunks: 1 });
        let more = Plan { context_parallel: 2, recompute: Recompute::Full { layers: None }, ..plain.clone() };
        assert_eq!(complexity(&more), Complexity { features: 3, chunks: 1 });
        let interleaved = |virtual_stages| complexity(&Plan { virtual_stages, ..plain.clone() });
        assert!(interleaved(5) < interleaved(20) && interleaved(20) < complexity(&more));
        // Half as many stages with twice as many chunks each are as simple, so that the faster is first.
        let stages = |pipeline_parallel, virtual_stages| {
            complexity(&Plan { pipeline_parallel, virtual_stages, ..plain.clone() })
        };
        assert_eq!(stages(16, 3), stages(8, 6));
    }

    #[test]
    fn only_the_ends_may_have_fewer_layers() {
        for fine in [&[7, 8, 8, 7][..], &[8, 8], &[1, 2, 2, 0], &[5], &[8, 7], &[4, 4, 4, 4]] {
            assert!(!has_unequal_chunks(fine), "{fine:?}");
        }
        // 80 layers on 18 chunks; an end with more; a chunk in the middle with fewer.
        for odd in [&[4, 4, 5, 5, 4, 3][..], &[9, 8, 8, 8], &[8, 7, 8, 8], &[8, 6]] {
            assert!(has_unequal_chunks(odd), "{odd:?}");
        }
    }

    #[test]
    fn context_parallelism_needs_long_sequences_one_at_a_time() {
        assert!(!has_short_context(8192, 2, 1) && !has_short_context(131_072, 16, 1));
        assert!(!has_short_context(4096, 1, 8));
        assert!(
            has_short_context(4096, 2, 1) && has_short_context(8192, 4, 1) && has_short_context(8192, 2, 2)
        );
    }

    #[test]
    fn a_graver_oddity_outweighs_all_lesser_ones() {
        let of = |list: &[UnusualFeature]| {
            list.iter().fold(UnusualFeatures::default(), |all, one| all.with(*one, true))
        };
        for (index, grave) in UnusualFeature::ALL.into_iter().enumerate() {
            assert!(of(&[grave]) > of(&UnusualFeature::ALL[index + 1..]), "{grave:?}");
            assert_eq!(of(&[grave]).list(), [grave]);
        }
    }

    #[test]
    fn oddities_are_read_from_the_plan() {
        let plain = plan(&PlanSpec { tensor_parallel: Some(2), ..PlanSpec::default() });
        let sharding = |zero_stage, group| Sharding { zero_stage, group, reshard_after_forward: false };
        let sharded = Plan { sharding: sharding(1, None), ..plain };
        assert_eq!(UnusualFeatures::of(&sharded, 8, 0.5), UnusualFeatures::default());
        let list = |plan: &Plan, used| UnusualFeatures::of(plan, 8, used).list();
        assert_eq!(
            list(&Plan { sharding: sharding(1, Some(2)), ..sharded.clone() }, 0.5),
            [UnusualFeature::PartialSharding]
        );
        assert_eq!(
            list(&Plan { sharding: sharding(0, None), ..sharded.clone() }, 0.93),
            [UnusualFeature::WholeOptimizer, UnusualFeature::TightMemory]
        );
        let wide = Plan { data_parallel: 16, expert_tensor_parallel: 1, ..sharded.clone() };
        let spread = |expert_parallel| Plan { expert_parallel, ..wide.clone() };
        assert_eq!(list(&spread(16), 0.5), [UnusualFeature::ScatteredExperts]);
        assert_eq!(list(&spread(8), 0.5), []);
        let fused = |expert_parallel| Plan {
            software: "megatron-core-2025+fused-dispatch".to_owned(),
            data_parallel: 128,
            ..spread(expert_parallel)
        };
        assert_eq!(list(&fused(64), 0.5), []);
        assert_eq!(list(&fused(128), 0.5), [UnusualFeature::ScatteredExperts]);
        let uneven = Plan { pipeline_parallel: 4, layers_per_stage: Some(vec![8, 7, 9, 8]), ..sharded };
        assert_eq!(list(&uneven, 0.5), [UnusualFeature::UnequalChunks]);
    }
}
