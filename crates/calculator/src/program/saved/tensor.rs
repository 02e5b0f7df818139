//! A saved tensor, and a run as far as saved tensors depend on it.

use super::sizes::SavedSizes;
use crate::memory::MemorySoftware;
use railwright_spec::model::Module;
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
pub(super) type Visit<'a> = &'a mut dyn FnMut(Saved);

/// A run as far as saved tensors depend on it.
#[derive(Clone, Copy)]
pub(crate) struct Saving<'a> {
    pub plan: &'a Plan,
    pub software: &'a MemorySoftware,
    pub sizes: &'a SavedSizes,
}

impl Saving<'_> {
    /// Input of a column-parallel GEMM, once for all GEMMs that share it, at `bytes` per element.
    pub(super) fn shared_input(&self, bytes: f64) -> f64 {
        let micro = &self.sizes.micro;
        let tokens = if self.software.gathered_inputs { micro.tokens } else { micro.sequence_shard_tokens };
        bytes * self.sizes.hidden * tokens
    }
}

/// A tensor of an operator without a name of its own in recompute policies.
pub(super) const fn other(module: Module, bytes: f64) -> Saved {
    Saved { module, bytes, origin: Origin::Other, restored_with: &[] }
}

impl Saved {
    /// The same tensor, restored by recompute of these modules.
    pub(super) const fn with(self, restored_with: &'static [RecomputeModule]) -> Self {
        Self { restored_with, ..self }
    }

    /// The same tensor of another origin.
    pub(super) const fn of(self, origin: Origin) -> Self {
        Self { origin, ..self }
    }
}
