//! Activations of one layer kept for one micro-batch between its forward and backward pass, under a recompute
//! policy.
//!
//! Responsible for: the saved tensors of the program that a policy drops, and the additional memory of a
//! backward pass. Excludes the tensors themselves ([`crate::program::saved`]), stages and schedules.

use crate::program::saved::{self, Origin, Saved, SavedSizes, Saving};
use crate::program::{MicroBatch, experts};
use crate::treatment::Treatment;
use railwright_spec::model::{FeedForward, Layer, Mixer, Module};
use railwright_spec::plan::{Plan, Recompute, RecomputeModule};

/// Activation memory of one layer for one micro-batch, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct LayerBytes {
    /// Kept from forward to backward.
    pub saved: f64,
    /// Additional memory during the layer's backward pass: recomputed tensors and gradients of activations.
    pub working: f64,
}

/// Recompute of a layer: nothing, all of it, or some modules.
#[derive(Clone, Copy)]
enum Policy<'a> {
    Keep,
    Full,
    Some(&'a std::collections::BTreeSet<RecomputeModule>),
    /// By operator, and no GEMM output is kept.
    Attention(&'a std::collections::BTreeSet<RecomputeModule>),
}

impl<'a> Policy<'a> {
    fn new(recompute: &'a Recompute, plan: &Plan) -> Self {
        match recompute {
            Recompute::None => Self::Keep,
            Recompute::Full { .. } => Self::Full,
            Recompute::Selective { modules, .. }
                if modules.contains(&RecomputeModule::Operators) && plan.recomputes_products() =>
            {
                Self::Attention(modules)
            }
            Recompute::Selective { modules, .. } => Self::Some(modules),
        }
    }

    /// Tests whether a tensor is kept. `None` for copies that the policy does not make.
    fn keeps_tensor(self, tensor: &Saved) -> Option<bool> {
        let is_kept = match tensor.origin {
            Origin::LayerInput => return Some(true),
            Origin::DownProjection => return (self.is_by_operator() && self.keeps_product()).then_some(true),
            Origin::TokenExchange => return self.is_by_operator().then_some(true),
            Origin::SecondProduct => self.keeps_product(),
            Origin::Attention => !matches!(self, Self::Full),
            Origin::Other => self.keeps_rest(),
        };
        Some(is_kept && tensor.restored_with.iter().all(|&module| self.keeps(module)))
    }

    fn keeps(self, module: RecomputeModule) -> bool {
        match self {
            Self::Keep => true,
            Self::Full => false,
            Self::Some(modules) | Self::Attention(modules) => !modules.contains(&module),
        }
    }

    /// Tests whether tensors outside of the named modules are kept.
    fn keeps_rest(self) -> bool {
        match self {
            Self::Keep => true,
            Self::Full | Self::Attention(_) => false,
            Self::Some(_) => !self.is_by_operator(),
        }
    }

    /// Tests whether products are kept that the operator policy saves.
    fn keeps_product(self) -> bool {
        !matches!(self, Self::Full | Self::Attention(_))
    }

    /// Tests whether each operator is kept or recomputed by its kind: torchtitan's selective checkpointing
    /// keeps attention, collectives and every second GEMM, but no grouped GEMM (torch,
    /// `_functorch/partitioners.py`, `compute_intensive_ops`).
    fn is_by_operator(self) -> bool {
        matches!(self, Self::Some(modules) | Self::Attention(modules) if modules.contains(&RecomputeModule::Operators))
    }
}

/// The policy of a layer, depending on the plan's recompute covering it.
pub(crate) fn covered(plan: &Plan, recomputed: bool) -> &Recompute {
    if recomputed { &plan.recompute } else { &Recompute::None }
}

/// Visits the module and the bytes of every tensor that a layer saves, and true if the recompute policy keeps
/// it.
pub(crate) fn tensors(
    saving: &Saving<'_>,
    layer: &Layer,
    recompute: &Recompute,
    visit: &mut dyn FnMut(Module, f64, bool),
) {
    let policy = Policy::new(recompute, saving.plan);
    saved::layer(saving, layer, &mut |tensor| {
        if let Some(is_kept) = policy.keeps_tensor(&tensor) {
            visit(tensor.module, tensor.bytes, is_kept);
        }
    });
}

/// Memory of a layer, depending on the plan's recompute covering it.
pub(crate) fn layer_bytes(saving: &Saving<'_>, layer: &Layer, recomputed: bool) -> LayerBytes {
    let recompute = covered(saving.plan, recomputed).clone();
    let offload = saving.plan.offload.activations.clamp(0.0, 1.0);
    treated_bytes(saving, layer, &Treatment { recompute, offload })
}

/// Sums the memory of a layer: kept, and additional during its backward pass.
pub(crate) fn treated_bytes(saving: &Saving<'_>, layer: &Layer, treatment: &Treatment) -> LayerBytes {
    let (mut saved, mut dropped) = (0.0, 0.0);
    tensors(saving, layer, &treatment.recompute, &mut |_, bytes, is_kept| {
        if is_kept { saved += bytes } else { dropped += bytes }
    });
    let share = 1.0 - treatment.offload;
    let working = dropped + (1.0 - share) * saved + gradients(saving, layer);
    LayerBytes { saved: saved * share, working }
}

/// Activation gradients alive at once in the backward pass of a layer: of the residual stream (twice), of the
/// inner width, and of scores if they are in memory. Scores have the format of their softmax (gradients of
/// its result and its input). With sequence parallelism also the gathered input and its gradient.
fn gradients(saving: &Saving<'_>, layer: &Layer) -> f64 {
    let Saving { plan, software, sizes } = *saving;
    let SavedSizes { tp, hidden: h, .. } = *sizes;
    let MicroBatch { tokens, sequence_shard_tokens, activation_bytes: a } = sizes.micro;
    let gathered = if plan.sequence_parallel && tp > 1.0 { 2.0 * a * h * tokens } else { 0.0 };
    let inner = match &layer.feed_forward {
        FeedForward::Dense(dense) => {
            let products = if dense.gated { 3.0 } else { 2.0 };
            a * products * dense.intermediate_size as f64 / tp * tokens
        }
        FeedForward::MixtureOfExperts(moe) => {
            let routed = experts::stored(plan, tokens, moe, plan.expert_load());
            let products = if moe.expert.gated { 3.0 } else { 2.0 };
            let width = moe.expert.intermediate_size as f64 / plan.expert_tensor_parallel.max(1) as f64;
            // Dispatched and combined tokens and their gradients: the all-to-all's buffers.
            a * routed * (products * width + 2.0 * experts::input_width(layer, h))
        }
        FeedForward::None => 0.0,
    };
    let scores = match &layer.mixer {
        Mixer::Attention(at) if sizes.is_unfused => {
            2.0 * a.max(software.score_extra) * at.heads as f64 / tp * sizes.sequence * tokens
        }
        _ => 0.0,
    };
    2.0 * a * h * sequence_shard_tokens + gathered + inner.max(scores)
}

#[cfg(test)]
mod tests;
