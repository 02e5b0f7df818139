//! Tensors that automatic differentiation saves in a layer's forward pass of one micro-batch for its backward
//! pass, operator by operator.
//!
//! Responsible for: their widths and shards, and the operator that each is the result of. Independent of
//! recompute, which only drops some of them ([`crate::memory`] applies it), and of stages and schedules.
//!
//! Notation, per rank: T tokens of the micro-batch; Ts the same after sequence parallelism; h hidden width;
//! q, k, v, o widths of queries, keys, values and attention output; f inner width; a bytes of an activation;
//! i bytes of a GEMM's saved input. With 2-byte activations, dropout and unfused attention the sum is
//! Korthikanti's sbh(34 + 5as/h).

mod ends;
mod feed_forward;
mod inputs;
mod mixer;
mod sizes;

pub(crate) use ends::{embedding, head, logits, stage_output};
pub(crate) use sizes::SavedSizes;

use self::inputs::Inputs;
use crate::memory::MemorySoftware;
use railwright_spec::model::{Layer, Module};
use railwright_spec::plan::{Plan, RecomputeModule};

/// A tensor that a layer saves until its backward pass.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Saved {
    pub module: Module,
    pub bytes: f64,
    pub origin: Origin,
    /// Modules whose recompute restores it.
    pub restored_with: &'static [RecomputeModule],
}

/// Origin of a saved tensor, as far as recompute distinguishes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// The layer's input, from which recompute starts.
    LayerInput,
    /// Every second GEMM of a layer, without grouped ones: queries, values and one of gate and up.
    SecondProduct,
    /// The attention kernel.
    Attention,
    /// Any other operator.
    Other,
    /// The output of a down projection. No backward pass reads it: only recompute by operator saves it.
    DownProjection,
    /// Tokens as the all-to-alls of dispatch and combine deliver them. Only recompute by operator saves them.
    TokenExchange,
}

#[cfg(test)]
impl Origin {
    /// Tests for copies that exist only under a recompute policy.
    pub(crate) const fn is_of_recompute(self) -> bool {
        matches!(self, Self::DownProjection | Self::TokenExchange)
    }
}

/// Receives saved tensors.
pub(crate) type Visit<'a> = &'a mut dyn FnMut(Saved);

/// A run as far as saved tensors depend on it.
#[derive(Clone, Copy)]
pub(crate) struct Saving<'a> {
    pub plan: &'a Plan,
    pub software: &'a MemorySoftware,
    pub sizes: &'a SavedSizes,
}

impl Saving<'_> {
    /// Input of a column-parallel GEMM, once for all GEMMs that share it, at `bytes` per element.
    fn shared_input(&self, bytes: f64) -> f64 {
        let micro = &self.sizes.micro;
        let tokens = if self.software.gathered_inputs { micro.tokens } else { micro.sequence_shard_tokens };
        bytes * self.sizes.hidden * tokens
    }
}

/// Visits every tensor that a layer saves.
pub(crate) fn layer(saving: &Saving<'_>, layer: &Layer, visit: Visit<'_>) {
    let SavedSizes { micro, hidden: h, norm_extra, .. } = *saving.sizes;
    let (a, shard) = (micro.activation_bytes, micro.sequence_shard_tokens);
    // The layer's input: the first norm's input, and all that full recompute keeps.
    visit(Saved { origin: Origin::LayerInput, ..other(Module::Norm, a * h * shard) });
    let inner_norms = (layer.norms as f64 - 1.0).max(0.0);
    visit(other(Module::Norm, a * h * shard * inner_norms));
    visit(other(Module::Norm, norm_extra * h * shard));
    visit(other(Module::Norm, saving.software.hidden_replicated * h * micro.tokens));
    let inputs = Inputs::new(layer, saving.plan, [saving.sizes.input, a]);
    mixer::visit(saving, layer, &inputs, visit);
    feed_forward::visit(saving, layer, &inputs, visit);
}

/// A tensor of an operator without a name of its own in recompute policies.
const fn other(module: Module, bytes: f64) -> Saved {
    Saved { module, bytes, origin: Origin::Other, restored_with: &[] }
}

impl Saved {
    /// The same tensor, restored by recompute of these modules.
    const fn with(self, restored_with: &'static [RecomputeModule]) -> Self {
        Self { restored_with, ..self }
    }

    /// The same tensor of another origin.
    const fn of(self, origin: Origin) -> Self {
        Self { origin, ..self }
    }
}

#[cfg(test)]
mod tests;
