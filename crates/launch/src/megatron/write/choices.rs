//! Settings that depend on each other in Megatron-LM: sharding, formats, recompute, offload, overlap.
//!
//! Responsible for: the remaining plan if Megatron-LM rejects a combination (its `validate_args` and
//! `TransformerConfig`, August 2026). Does not report: reading the flags back does.

use super::weights::has_biases;
use railwright_spec::model::{FeedForward, Mixer, Model};
use railwright_spec::plan::{Optimizer, Plan, Recompute, RecomputeModule};
use railwright_spec::precision::DataType;
use railwright_spec::run::Run;

/// Sharding of a rank's states in Megatron.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Sharded {
    /// No sharding.
    Whole,
    /// The states of the optimizer, by Megatron's distributed optimizer.
    Optimizer,
    /// Full sharding by torch's FSDP: Megatron rejects it with pipeline stages, experts, tied embeddings and
    /// fp16.
    Torch,
    /// More than the states, with Megatron's FSDP, which is based on the distributed optimizer.
    Megatron,
}

impl Sharded {
    pub(super) fn of(run: &Run) -> Self {
        let plan = &run.plan;
        let torch = plan.pipeline_parallel == 1
            && plan.expert_parallel == 1
            && !run.model.tied_embeddings
            && plan.precision.activations != DataType::Fp16;
        // Both kinds of FSDP reject optimizers other than these.
        let is_plain = matches!(optimizer(plan), "adam" | "sgd");
        match (plan.sharding.zero_stage, plan.sharding.reshard_after_forward) {
            (0, _) => Self::Whole,
            (1, _) => Self::Optimizer,
            _ if !is_plain => Self::Optimizer,
            (3, false) if torch => Self::Torch,
            _ => Self::Megatron,
        }
    }

    /// Tests whether the distributed optimizer runs, which other flags require.
    pub(super) fn has_distributed_optimizer(self) -> bool {
        matches!(self, Self::Optimizer | Self::Megatron)
    }
}

/// The word after `--optimizer`.
pub(super) fn optimizer(plan: &Plan) -> &'static str {
    match plan.optimizer {
        Optimizer::Sgd => "sgd",
        Optimizer::Lion => "lion",
        Optimizer::Muon => "muon",
        Optimizer::Adam | Optimizer::Adafactor | Optimizer::Lora => "adam",
    }
}

/// Tests whether the distributed optimizer runs with Adam, as the precision-aware optimizer and CPU offload
/// require.
pub(super) fn has_aware_optimizer(run: &Run) -> bool {
    Sharded::of(run).has_distributed_optimizer() && optimizer(&run.plan) == "adam"
}

/// Tests whether the optimizer steps on the CPU.
pub(super) fn offloads_optimizer(run: &Run) -> bool {
    run.plan.offload.optimizer > 0.0 && has_aware_optimizer(run)
}

/// Tests whether parameters are kept and gathered in fp8. This requires GEMMs in fp8, and delayed scaling if
/// the optimizer steps on the CPU.
pub(super) fn has_narrow_parameters(run: &Run) -> bool {
    let precision = run.plan.precision;
    let allowed = match precision.compute {
        DataType::Fp8 => !(offloads_optimizer(run) && recomputes_norms(run)),
        DataType::Mxfp8 => !offloads_optimizer(run),
        _ => false,
    };
    allowed && precision.parameters == DataType::Fp8 && Sharded::of(run).has_distributed_optimizer()
}

/// The recipe of fp8 GEMMs: current scaling, or delayed scaling if no other is allowed.
pub(super) fn fp8_recipe(run: &Run) -> &'static str {
    let delayed = has_narrow_parameters(run) && offloads_optimizer(run);
    if delayed { "delayed" } else { "tensorwise" }
}

fn recomputes_norms(run: &Run) -> bool {
    recompute_words(run).iter().any(|word| matches!(*word, "layernorm" | "moe_act"))
}

/// The words after `--recompute-modules`.
pub(super) fn recompute_words(run: &Run) -> Vec<&'static str> {
    let Recompute::Selective { modules, .. } = &run.plan.recompute else { return Vec::new() };
    let has_experts = run.model.is_mixture_of_experts();
    let is_latent = has(&run.model, |mixer, _| matches!(mixer, Mixer::Latent(_)));
    modules
        .iter()
        .filter_map(|module| match module {
            RecomputeModule::CoreAttention => Some("core_attn"),
            RecomputeModule::Norm => Some("layernorm"),
            // Megatron recomputes the activation of experts only.
            RecomputeModule::Activation => has_experts.then_some("moe_act"),
            RecomputeModule::Mlp => Some("mlp"),
            RecomputeModule::Moe => Some("moe"),
            RecomputeModule::LatentUpProjection => is_latent.then_some("mla_up_proj"),
            RecomputeModule::Operators => None,
        })
        .collect()
}

/// Layers whose activations are moved to the host: some, without stages and without recompute.
pub(super) fn offloaded_layers(run: &Run) -> Option<u64> {
    let plan = &run.plan;
    let layers = run.model.num_layers();
    let moved = (plan.offload.activations * layers as f64).round() as u64;
    let alone = plan.pipeline_parallel == 1
        && !matches!(plan.recompute, Recompute::Full { .. })
        && recompute_words(run).is_empty();
    (alone && moved >= 1).then(|| moved.min(layers.saturating_sub(1))).filter(|moved| *moved > 0)
}

/// Tests whether expert communication overlaps with compute. Megatron interleaves two micro-batches, which
/// requires virtual stages, and excludes recompute of whole layers or expert blocks.
pub(super) fn overlaps_experts(run: &Run) -> bool {
    let plan = &run.plan;
    let predictions = run.model.multi_token_prediction.as_ref().map_or(0, |prediction| prediction.depth);
    plan.overlap.expert
        && plan.expert_parallel > 1
        && (plan.pipeline_parallel == 1 || plan.virtual_stages > 1)
        && !matches!(plan.recompute, Recompute::Full { .. })
        && !recompute_words(run).contains(&"moe")
        && !matches!(plan.precision.activations, DataType::Fp32 | DataType::Tf32)
        && predictions <= 1
}

/// Ranks that share each expert: one if experts have biases.
pub(super) fn expert_tensor_parallel(run: &Run) -> u64 {
    let is_biased = has_biases(&run.model);
    if is_biased { 1 } else { run.plan.expert_tensor_parallel }
}

/// Tests whether any layer has a matching mixer and feed-forward block.
pub(super) fn has(model: &Model, find: impl Fn(&Mixer, &FeedForward) -> bool) -> bool {
    model
        .layers
        .iter()
        .filter_map(|kind| model.layer_kinds.get(*kind))
        .any(|layer| find(&layer.mixer, &layer.feed_forward))
}
