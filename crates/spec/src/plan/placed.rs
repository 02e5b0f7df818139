//! Policies that place the named tensors of a layer: kept on the device, kept in host memory, or
//! rematerialised.
//!
//! Responsible for: MaxText's named policies, the recompute of what a policy does not keep, and the part of
//! the kept tensors in host memory. Names of tensors belong to readers. (Source: MaxText
//! `src/maxtext/layers/decoders.py` `get_remat_policy`, `utils/maxtext_utils.py`
//! `get_save_and_offload_names`, e591f30c.)

use super::{Recompute, RecomputeModule};
use std::collections::BTreeMap;

/// Tensors of a layer that a policy can keep. The layer's input is always kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LayerTensor {
    /// Queries.
    Query,
    /// Keys.
    Key,
    /// Values.
    Value,
    /// Output of the attention kernel.
    Context,
    /// Output of the attention's last projection.
    Output,
    /// Outputs of the MLP's first matrices.
    Mlp,
}

/// Memory of a kept tensor between the forward and the backward pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Memory {
    /// The accelerator's.
    Device,
    /// The host's.
    Host,
}

/// Kept tensors in host memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostPart {
    /// None of them.
    Nothing,
    /// All of them.
    All,
    /// Only the residual stream: the input of each layer.
    Residual,
    /// All but the residual stream.
    AllButResidual,
    /// Some of the tensors besides the residual stream.
    Some,
}

/// A policy: the kept tensors of a layer with their memory. All others are rematerialised.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placed {
    input: Memory,
    kept: BTreeMap<LayerTensor, Memory>,
}

use LayerTensor::{Context, Key, Mlp, Output, Query, Value};

/// MaxText's named policies in the order of their memory, and what they keep besides the layer's input.
const NAMED: [(&str, &[LayerTensor], Memory); 13] = [
    ("minimal_with_context", &[Query, Key, Value, Context, Output, Mlp], Memory::Device),
    ("minimal_flash", &[Query, Key, Value, Context, Output, Mlp], Memory::Device),
    ("minimal_with_context_and_quantization", &[Query, Key, Value, Context, Output, Mlp], Memory::Device),
    ("minimal", &[Query, Key, Value, Output, Mlp], Memory::Device),
    ("minimal_with_quantization", &[Query, Key, Value, Output, Mlp], Memory::Device),
    ("save_dot_with_context_except_mlp", &[Query, Key, Value, Context, Output], Memory::Device),
    ("save_dot_except_mlp", &[Query, Key, Value, Output], Memory::Device),
    ("save_dot_except_mlpwi", &[Query, Key, Value, Output], Memory::Device),
    ("save_qkv_proj", &[Query, Key, Value], Memory::Device),
    ("save_out_proj", &[Output], Memory::Device),
    ("full", &[], Memory::Device),
    ("minimal_offloaded", &[Query, Key, Value, Output, Mlp], Memory::Host),
    ("qkv_proj_offloaded", &[Query, Key, Value], Memory::Host),
];

impl Placed {
    /// A policy that keeps only the layers' inputs.
    pub fn inputs(input: Memory) -> Self {
        Self { input, kept: BTreeMap::new() }
    }

    /// The same with further kept tensors.
    #[must_use]
    pub fn with(mut self, tensors: &[LayerTensor], memory: Memory) -> Self {
        self.kept.extend(tensors.iter().map(|&tensor| (tensor, memory)));
        self
    }

    /// A named policy of MaxText; `None` for `none`, `custom` and unknown names.
    pub fn named(policy: &str) -> Option<Self> {
        let (_, tensors, memory) = NAMED.iter().find(|(name, ..)| *name == policy)?;
        Some(Self::inputs(Memory::Device).with(tensors, *memory))
    }

    /// The first named policy of MaxText on the device that recomputes exactly the same.
    pub fn name_of(recompute: &Recompute) -> Option<&'static str> {
        let on_device = NAMED.iter().filter(|(.., memory)| *memory == Memory::Device);
        let is_same = |policy: &Self| policy.recompute() == *recompute && policy.approximations().is_empty();
        on_device
            .map(|(name, ..)| *name)
            .find(|name| Self::named(name).is_some_and(|policy| is_same(&policy)))
    }

    fn keeps(&self, tensor: LayerTensor) -> bool {
        self.kept.contains_key(&tensor)
    }

    fn keeps_any_projection(&self) -> bool {
        [Query, Key, Value].into_iter().any(|tensor| self.keeps(tensor))
    }

    /// Recompute of a layer from the kept tensors.
    pub fn recompute(&self) -> Recompute {
        use RecomputeModule::{Activation, CoreAttention, Moe, Norm};
        if !self.keeps_any_projection() && !self.keeps(Mlp) {
            return Recompute::Full { layers: None };
        }
        let mut modules = vec![Norm];
        if !self.keeps(Context) {
            modules.push(CoreAttention);
        }
        modules.extend(if self.keeps(Mlp) { &[Activation][..] } else { &[RecomputeModule::Mlp, Moe] });
        Recompute::Selective { modules: modules.into_iter().collect(), layers: None }
    }

    /// The part of the kept tensors in host memory.
    pub fn on_host(&self) -> HostPart {
        let hosted = self.kept.values().filter(|memory| **memory == Memory::Host).count();
        match (self.input, hosted) {
            (Memory::Device, 0) => HostPart::Nothing,
            (Memory::Host, n) if n == self.kept.len() => HostPart::All,
            (Memory::Host, 0) => HostPart::Residual,
            (Memory::Device, n) if n == self.kept.len() => HostPart::AllButResidual,
            _ => HostPart::Some,
        }
    }

    /// Differences between the policy and its [`recompute`](Self::recompute), for a remark.
    pub fn approximations(&self) -> Vec<&'static str> {
        let mut found = Vec::new();
        if matches!(self.recompute(), Recompute::Full { .. }) {
            if self.keeps(Context) || self.keeps(Output) {
                found.push("the attention output is assumed to be recomputed");
            }
            return found;
        }
        if !self.keeps_any_projection() {
            found.push("queries, keys and values are assumed to be kept");
        } else if ![Query, Key, Value].into_iter().all(|tensor| self.keeps(tensor)) {
            found.push(
                "queries, keys and values are assumed to be kept, although the policy keeps only part of them",
            );
        }
        if !self.keeps(Output) {
            found.push("the output projection is assumed to be kept");
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_with_the_same_tensors_have_the_same_recompute() {
        let recompute = |name| Placed::named(name).expect("a policy").recompute();
        assert_eq!(recompute("minimal"), recompute("minimal_offloaded"));
        assert_eq!(recompute("save_qkv_proj"), recompute("qkv_proj_offloaded"));
        assert_ne!(recompute("minimal"), recompute("minimal_with_context"));
        assert_eq!(recompute("full"), Recompute::Full { layers: None });
        for name in ["none", "custom", "some"] {
            assert_eq!(Placed::named(name), None, "{name}");
        }
    }

    /// The presets offload tensors by name; the residual stream stays on the device.
    #[test]
    fn presets_leave_the_residual_stream_on_the_device() {
        for name in ["minimal_offloaded", "qkv_proj_offloaded"] {
            assert_eq!(Placed::named(name).expect("a policy").on_host(), HostPart::AllButResidual, "{name}");
        }
        let all = Placed::inputs(Memory::Host).with(&[Query, Key, Value], Memory::Host);
        assert_eq!(all.on_host(), HostPart::All);
        assert_eq!(all.with(&[Output], Memory::Device).on_host(), HostPart::Some);
        assert_eq!(Placed::inputs(Memory::Host).with(&[Mlp], Memory::Device).on_host(), HostPart::Residual);
    }

    #[test]
    fn a_part_of_the_projections_is_an_approximation() {
        let part = Placed::inputs(Memory::Device).with(&[Query, Output], Memory::Device);
        assert_eq!(part.approximations().len(), 1, "{:?}", part.approximations());
        let whole = part.with(&[Key, Value], Memory::Device);
        assert_eq!(whole.approximations(), Vec::<&str>::new());
    }

    #[test]
    fn a_recompute_has_the_name_of_its_policy() {
        for name in ["minimal", "minimal_with_context", "save_dot_with_context_except_mlp", "full"] {
            let recompute = Placed::named(name).expect("a policy").recompute();
            assert_eq!(Placed::name_of(&recompute), Some(name));
        }
        assert_eq!(Placed::name_of(&Recompute::core_attention()), None);
    }
}
