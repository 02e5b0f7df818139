//! Features that a software generation offers its users: the limits of a search, from
//! `catalog/software.toml`.
//!
//! Responsible for: the table of features. Excludes prices and rejections: plans with other features are
//! still estimated.

use crate::model::Model;
use crate::plan::{ContextKind, Overlap, RankOrder, RecomputeModule, Schedule};
use serde::Deserialize;

/// Features shipped with a generation.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Offers {
    /// Documentation of these features.
    pub source: String,
    /// Tensor parallelism.
    pub tensor: bool,
    /// Sequence parallelism in addition.
    pub sequence_parallel: bool,
    /// Pipeline parallelism.
    pub pipeline: bool,
    /// Several chunks per stage.
    pub interleaving: bool,
    /// Stages with unequal numbers of layers.
    pub uneven_stages: bool,
    /// Schedules.
    pub schedules: Vec<Schedule>,
    /// Context-parallel algorithms; empty: no context parallelism.
    pub context: Vec<ContextKind>,
    /// Expert parallelism.
    pub expert: bool,
    /// ZeRO stages.
    pub zero_stages: Vec<u8>,
    /// ZeRO stages supported with pipeline stages.
    pub zero_stages_with_pipeline: Vec<u8>,
    /// ZeRO stages supported with tensor parallelism.
    pub zero_stages_with_tensor: Vec<u8>,
    /// Stage 3 whose parameters stay gathered between the forward and backward passes.
    pub keeps_gathered: bool,
    /// Sharding over groups smaller than all replicas.
    pub hybrid_sharding: bool,
    /// Rank orders.
    pub rank_orders: Vec<RankOrder>,
    /// Modules with selective recompute.
    pub recompute: Vec<RecomputeModule>,
    /// Recompute of whole layers.
    pub full_recompute: bool,
    /// Recompute of a number of layers per stage instead of all.
    pub recompute_layers: bool,
    /// Fused kernels for the dispatch of tokens to experts (DeepEP, HybridEP), as the feature
    /// `fused-dispatch`.
    pub fused_dispatch: bool,
    /// Communication that can be overlapped.
    pub overlap: Overlap,
    /// True if recompute of activation functions covers only those of experts.
    pub recompute_activation_of_experts: bool,
    /// True if 1F1B without interleaving waits for its transfers, even where `overlap` includes them.
    pub overlaps_transfers_only_interleaved: bool,
    /// True if exchanges of experts hide under passes of another chunk, so that pipelines need virtual
    /// stages.
    pub overlaps_experts_only_interleaved: bool,
}

impl Offers {
    /// All features supported by the calculator.
    pub fn everything() -> Self {
        use RecomputeModule::{Activation, CoreAttention, LatentUpProjection, Mlp, Moe, Norm, Operators};

        Self {
            source: "no limits".to_owned(),
            tensor: true,
            sequence_parallel: true,
            pipeline: true,
            interleaving: true,
            uneven_stages: true,
            schedules: Schedule::ALL.to_vec(),
            context: vec![ContextKind::Ring, ContextKind::AllGather, ContextKind::Ulysses],
            expert: true,
            zero_stages: vec![0, 1, 2, 3],
            zero_stages_with_pipeline: vec![0, 1, 2, 3],
            zero_stages_with_tensor: vec![0, 1, 2, 3],
            keeps_gathered: true,
            hybrid_sharding: true,
            rank_orders: vec![RankOrder::TensorContextDataPipeline, RankOrder::TensorContextPipelineData],
            recompute: vec![CoreAttention, Norm, Activation, Mlp, Moe, LatentUpProjection, Operators],
            full_recompute: true,
            recompute_layers: true,
            fused_dispatch: true,
            overlap: Overlap {
                gradient_reduce: true,
                parameter_gather: true,
                tensor: true,
                pipeline: true,
                expert: true,
            },
            recompute_activation_of_experts: false,
            overlaps_transfers_only_interleaved: false,
            overlaps_experts_only_interleaved: false,
        }
    }

    /// True if a module of a model can be recomputed.
    pub fn recomputes(&self, module: RecomputeModule, model: &Model) -> bool {
        let has_module = module != RecomputeModule::Activation
            || !self.recompute_activation_of_experts
            || model.is_mixture_of_experts();
        has_module && self.recompute.contains(&module)
    }

    /// True if transfers between stages can be overlapped with this number of virtual stages per rank.
    pub fn overlaps_transfers(&self, schedule: Schedule, virtual_stages: u64) -> bool {
        let waits = self.overlaps_transfers_only_interleaved
            && schedule == Schedule::OneForwardOneBackward
            && virtual_stages <= 1;
        self.overlap.pipeline && !waits
    }

    /// True if exchanges of experts can be overlapped with these numbers of stages and chunks per rank.
    pub fn overlaps_experts(&self, pipeline_parallel: u64, virtual_stages: u64) -> bool {
        let waits = self.overlaps_experts_only_interleaved && pipeline_parallel > 1 && virtual_stages <= 1;
        self.overlap.expert && !waits
    }
}

#[cfg(test)]
mod tests {
    use crate::software::{by_id, generations};

    #[test]
    fn every_generation_can_do_what_it_does_by_default() {
        for generation in generations() {
            let offers = &generation.offers;
            assert!(offers.zero_stages.contains(&generation.zero_stage), "{}", generation.id);
            assert!(!offers.schedules.is_empty() && !offers.rank_orders.is_empty(), "{}", generation.id);
            let (does, can) = (generation.overlap, offers.overlap);
            let within = |does: bool, can: bool| can || !does;
            assert!(
                within(does.gradient_reduce, can.gradient_reduce)
                    && within(does.parameter_gather, can.parameter_gather)
                    && within(does.tensor, can.tensor)
                    && within(does.pipeline, can.pipeline)
                    && within(does.expert, can.expert),
                "{}",
                generation.id
            );
        }
    }

    #[test]
    fn full_sharding_alone_offers_no_other_parallelism() {
        let offers = &by_id("fsdp1-2023").expect("known").offers;
        assert!(!offers.tensor && !offers.pipeline && offers.context.is_empty());
        assert!(by_id("megatron-core-2025").expect("known").offers.interleaving);
    }
}
