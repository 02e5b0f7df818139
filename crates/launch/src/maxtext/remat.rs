//! MaxText's rematerialisation: named policies, and `custom`, which places each named tensor.
//!
//! Responsible for: the policy of the plan that keeps the same tensors, and the share of them in host memory. (Names and defaults: MaxText's
//! `base.yml`, section `remat_policy`.)

use crate::RemarkKind;
use crate::fields::Fields;
use railwright_spec::plan::{Recompute, RecomputeModule};

/// Key of the policy.
const POLICY: &str = "remat_policy";

/// Tensors that `custom` places, and what they are.
const TENSORS: &[(&str, Tensor)] = &[
    ("decoder_layer_input", Tensor::Input),
    ("query_proj", Tensor::Qkv),
    ("key_proj", Tensor::Qkv),
    ("value_proj", Tensor::Qkv),
    ("kv_proj", Tensor::Qkv),
    ("qkv_proj", Tensor::Qkv),
    ("mla_q", Tensor::Qkv),
    ("mla_kv", Tensor::Qkv),
    ("query_wa_proj", Tensor::Other),
    ("kv_wa_proj", Tensor::Other),
    ("context", Tensor::Context),
    ("attention_out", Tensor::Other),
    ("out_proj", Tensor::Output),
    ("mlpwi", Tensor::Mlp),
    ("mlpwi_0", Tensor::Mlp),
    ("mlpwi_1", Tensor::Mlp),
    ("moe_mlpwi_0", Tensor::Mlp),
    ("moe_mlpwi_1", Tensor::Mlp),
    ("mlpwo", Tensor::Other),
    ("moe_mlpwo", Tensor::Other),
];

/// Kinds of tensors of a layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Tensor {
    /// The layer's input, which no policy rematerialises.
    Input,
    /// Queries, keys and values.
    Qkv,
    /// Output of the attention kernel.
    Context,
    /// Output of the attention's last projection.
    Output,
    /// Outputs of the MLP's first matrices.
    Mlp,
    /// Tensors whose rematerialisation costs little or is part of another.
    Other,
}

/// Place of a tensor between the forward and the backward pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Device,
    Host,
}

/// The kept tensors of a layer with their places.
type Kept = Vec<(Tensor, Place)>;

/// Tests whether a key places a tensor under `custom`.
pub(super) fn places(path: &str) -> bool {
    TENSORS.iter().any(|(name, _)| *name == path)
}

/// Reads the policy.
pub(super) fn read(fields: &mut Fields<'_>) {
    let Some(policy) = fields.word(POLICY) else {
        return fields.default(
            "plan.recompute",
            &Recompute::Full { layers: None },
            "MaxText's base.yml (remat_policy: full)",
        );
    };
    match policy.as_str() {
        "none" => fields.set("plan.recompute", &Recompute::None, POLICY),
        "full" => fields.set("plan.recompute", &Recompute::Full { layers: None }, POLICY),
        // Products are kept, all that is cheap is not.
        "minimal" | "minimal_flash" | "minimal_with_context" | "minimal_offloaded" => {
            use RecomputeModule::{Activation, CoreAttention, Norm};
            fields.set("plan.recompute", &selective(&[CoreAttention, Norm, Activation]), POLICY);
            if policy == "minimal_offloaded" {
                fields.set("plan.offload.activations", &1.0, POLICY);
            }
        }
        "qkv_proj_offloaded" => {
            apply(fields, &[(Tensor::Input, Place::Device), (Tensor::Qkv, Place::Host)].to_vec());
        }
        "custom" => {
            if let Some(kept) = placed(fields) {
                apply(fields, &kept);
            }
        }
        policy if policy.starts_with("save_") => {
            fields.remark(RemarkKind::NotModelled, POLICY, "estimated as keeping every second GEMM");
            fields.set("plan.recompute", &selective(&[RecomputeModule::Operators]), POLICY);
        }
        _ => fields.remark(RemarkKind::NotModelled, POLICY, "recompute is open"),
    }
}

fn selective(modules: &[RecomputeModule]) -> Recompute {
    Recompute::Selective { modules: modules.iter().copied().collect(), layers: None }
}

/// The tensors that `custom` keeps. `None` for an unknown place.
fn placed(fields: &mut Fields<'_>) -> Option<Kept> {
    let mut kept = Kept::new();
    let mut is_known = true;
    for &(name, tensor) in TENSORS {
        let place = match fields.word(name).as_deref() {
            Some("device") => Place::Device,
            Some("offload") => Place::Host,
            None if tensor == Tensor::Input => Place::Device,
            Some("remat") if tensor != Tensor::Input => continue,
            None => continue,
            Some(_) => {
                fields.remark(RemarkKind::NotModelled, name, "not a place of a tensor: recompute is open");
                is_known = false;
                continue;
            }
        };
        kept.push((tensor, place));
    }
    is_known.then_some(kept)
}

/// Sets the policy that recomputes what is not kept, and the share in host memory.
fn apply(fields: &mut Fields<'_>, kept: &Kept) {
    use RecomputeModule::{Activation, CoreAttention, Mlp, Moe, Norm};
    let has = |tensor| kept.iter().any(|(one, _)| *one == tensor);
    let recompute = if !has(Tensor::Qkv) && !has(Tensor::Mlp) {
        Recompute::Full { layers: None }
    } else {
        let mut modules = vec![Norm];
        if !has(Tensor::Context) {
            modules.push(CoreAttention);
        }
        modules.extend(if has(Tensor::Mlp) { &[Activation][..] } else { &[Mlp, Moe] });
        selective(&modules)
    };
    let mut estimated = Vec::new();
    if matches!(recompute, Recompute::Full { .. }) {
        if has(Tensor::Context) || has(Tensor::Output) {
            estimated.push("the output of attention is estimated as recomputed");
        }
    } else {
        if !has(Tensor::Qkv) {
            estimated.push("queries, keys and values are estimated as kept");
        }
        if !has(Tensor::Output) {
            estimated.push("the output projection is estimated as kept");
        }
    }
    let on_host = kept.iter().filter(|(_, place)| *place == Place::Host).count();
    if on_host > 0 && on_host == kept.len() {
        fields.set("plan.offload.activations", &1.0, POLICY);
    } else if on_host > 0 {
        estimated.push("offloaded tensors are estimated on the device, because others are: see `plan.offload.activations`");
    }
    if !estimated.is_empty() {
        fields.remark(RemarkKind::NotModelled, POLICY, estimated.join("; "));
    }
    fields.set("plan.recompute", &recompute, POLICY);
}
