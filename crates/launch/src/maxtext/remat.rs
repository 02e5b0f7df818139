//! MaxText's rematerialisation: named policies, and `custom`, which places each named tensor.
//!
//! Responsible for: reading the policy and the places of tensors by MaxText's names. [`Placed`] has the
//! recompute of each. (Names and defaults: MaxText's `base.yml`, section `remat_policy`.)

use crate::RemarkKind;
use crate::fields::Fields;
use LayerTensor::{Context, Key, Mlp, Output, Query, Value};
use railwright_spec::plan::{HostPart, LayerTensor, Memory, Placed, Recompute};

/// Key of the policy.
const POLICY: &str = "remat_policy";

/// The layer's input, which no policy rematerialises.
const INPUT: &str = "decoder_layer_input";

/// Tensors that `custom` places, and what they are. Without any: tensors whose rematerialisation costs little
/// or is part of another.
const TENSORS: &[(&str, &[LayerTensor])] = &[
    ("query_proj", &[Query]),
    ("key_proj", &[Key]),
    ("value_proj", &[Value]),
    ("kv_proj", &[Key, Value]),
    ("qkv_proj", &[Query, Key, Value]),
    ("mla_q", &[Query]),
    ("mla_kv", &[Key, Value]),
    ("query_wa_proj", &[]),
    ("kv_wa_proj", &[]),
    ("context", &[Context]),
    ("attention_out", &[]),
    ("out_proj", &[Output]),
    ("mlpwi", &[Mlp]),
    ("mlpwi_0", &[Mlp]),
    ("mlpwi_1", &[Mlp]),
    ("moe_mlpwi_0", &[Mlp]),
    ("moe_mlpwi_1", &[Mlp]),
    ("mlpwo", &[]),
    ("moe_mlpwo", &[]),
    ("indexer_cutoff_threshold", &[]),
    ("engram", &[]),
];

/// Tests whether a key places a tensor under `custom`.
pub(super) fn places(path: &str) -> bool {
    path == INPUT || TENSORS.iter().any(|(name, _)| *name == path)
}

/// Reads the policy.
pub(super) fn read(fields: &mut Fields<'_>) {
    let policy = fields.word(POLICY);
    if policy.as_deref() != Some("custom") {
        without_effect(fields);
    }
    match policy.as_deref() {
        // Settings of another file, which was not read.
        None if fields.draft.is_open("plan.recompute") => {}
        None => fields.default(
            "plan.recompute",
            &Recompute::Full { layers: None },
            "MaxText's base.yml (remat_policy: full)",
        ),
        Some("none") => fields.set("plan.recompute", &Recompute::None, POLICY),
        Some("custom") => {
            if let Some(placed) = custom(fields) {
                apply(fields, &placed);
            }
        }
        Some(name) => match Placed::named(name) {
            Some(placed) => apply(fields, &placed),
            None => fields.remark(RemarkKind::NotModelled, POLICY, "recompute stays unset"),
        },
    }
}

/// Lists places of tensors that another policy ignores.
fn without_effect(fields: &mut Fields<'_>) {
    for name in TENSORS.iter().map(|(name, _)| *name).chain([INPUT]) {
        if fields.take(name).is_some() {
            fields.remark(RemarkKind::Ignored, name, "applies only with `remat_policy: custom`");
        }
    }
}

/// The policy that `custom` describes. `None` for an unknown place.
fn custom(fields: &mut Fields<'_>) -> Option<Placed> {
    let mut is_known = true;
    let mut place = |name: &str, is_input: bool| match fields.word(name).as_deref() {
        Some("device") => Some(Memory::Device),
        Some("offload") => Some(Memory::Host),
        Some("remat") if !is_input => None,
        None => is_input.then_some(Memory::Device),
        Some(_) => {
            fields.remark(RemarkKind::NotModelled, name, "not a place of a tensor: recompute stays unset");
            is_known = false;
            None
        }
    };
    let mut placed = Placed::inputs(place(INPUT, true).unwrap_or(Memory::Device));
    for (name, tensors) in TENSORS {
        if let Some(memory) = place(name, false) {
            placed = placed.with(tensors, memory);
        }
    }
    is_known.then_some(placed)
}

/// Sets the recompute of a policy, and the share in host memory.
fn apply(fields: &mut Fields<'_>, placed: &Placed) {
    fields.set("plan.recompute", &placed.recompute(), POLICY);
    let mut estimated = placed.approximations();
    match placed.on_host() {
        HostPart::Nothing => {}
        HostPart::All => fields.set("plan.offload.activations", &1.0, POLICY),
        // The share of bytes depends on the model and the layout.
        HostPart::Residual | HostPart::AllButResidual | HostPart::Some => estimated.push(
            "offloaded tensors are estimated on the device, because others are: see `plan.offload.activations`",
        ),
    }
    if !estimated.is_empty() {
        fields.remark(RemarkKind::NotModelled, POLICY, estimated.join("; "));
    }
}
