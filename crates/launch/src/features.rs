//! Features of the software that keys switch on: losses that never hold all logits, fused dispatch, graphs.
//!
//! Responsible for: the names that trainers have for them. Excludes their effects, which the catalogue of
//! software has.

use crate::RemarkKind;
use crate::document::{Data, Entry};
use crate::fields::Fields;

/// Feature of a loss in a few chunks.
pub(crate) const CHUNKED: &str = "chunked-loss";
/// Feature of a loss in dozens of chunks, in one kernel with the head.
pub(crate) const FUSED: &str = "fused-loss";

/// Feature of one kernel for each norm, rotary embedding and activation.
const FUSED_LAYERS: &str = "fused-layers";

/// Feature of kernels that send each token once per node.
pub(crate) const FUSED_DISPATCH: &str = "fused-dispatch";

/// Switches of trainers on Hugging Face's models, and the feature that each turns on: a loss fused with the
/// head, and Liger's kernels inside layers. Axolotl has one for each of those kernels; that of norms stands
/// for all.
const SWITCHES: &[(&str, &str)] = &[
    ("use_liger_kernel", FUSED),
    ("enable_liger_kernel", FUSED),
    ("liger_fused_linear_cross_entropy", FUSED),
    ("cut_cross_entropy", FUSED),
    ("actor_rollout_ref.model.use_fused_kernels", FUSED),
    ("policy.megatron_cfg.use_fused_linear_logprobs", FUSED),
    ("use_liger_kernel", FUSED_LAYERS),
    ("enable_liger_kernel", FUSED_LAYERS),
    ("liger_rms_norm", FUSED_LAYERS),
];

/// The switch of all of Liger's kernels, and the key of each kernel, which takes one back. What a file does
/// not name is on, except the loss on whole logits. Source: Transformers,
/// `TrainingArguments.liger_kernel_config`; Liger, `apply_liger_kernel_to_llama`.
const OF_LIGER: (&str, &[(&str, &str)]) = (
    "use_liger_kernel",
    &[
        ("liger_kernel_config.fused_linear_cross_entropy", FUSED),
        ("liger_kernel_config.rms_norm", FUSED_LAYERS),
    ],
);

/// Reads the switches, after the software is known.
pub(crate) fn switches(fields: &mut Fields<'_>) {
    let (all, kernels) = OF_LIGER;
    let off: Vec<&str> = kernels
        .iter()
        .filter(|(path, _)| fields.flag(path) == Some(false))
        .map(|(_, feature)| *feature)
        .collect();
    for (path, feature) in SWITCHES {
        let is_taken_back = *path == all && off.contains(feature);
        if fields.document.has(path) && fields.flag(path) == Some(true) && !is_taken_back {
            add(fields, feature, path);
        }
    }
}

/// Reads what trainers on Hugging Face's models name elsewhere, after the software is known: a plugin, or the
/// name of a loss.
pub(crate) fn trainers(fields: &mut Fields<'_>) {
    // Axolotl's plugin is on by itself.
    let path = "plugins";
    let is_cut = |entry: &Entry| entry.data.names().iter().any(|name| name.contains("CutCrossEntropy"));
    if fields.document.get(path).is_some_and(is_cut) && fields.flag("cut_cross_entropy") != Some(false) {
        fields.take(path);
        add(fields, FUSED, path);
    }
    // TRL's losses have names, and may be a list.
    let path = "loss_type";
    let is_chunked = |entry: &Entry| matches!(&entry.data, Data::Text(name) if name.contains("chunked"));
    if fields.document.get(path).is_some_and(is_chunked) {
        loss(fields, path);
    }
}

/// Reads the class of a loss, after the software is known. Other classes hold the logits.
pub(crate) fn loss(fields: &mut Fields<'_>, path: &str) {
    let Some(name) = fields.word(path) else { return };
    let last = name.rsplit('.').find(|part| *part != "Config").unwrap_or_default().to_ascii_lowercase();
    if last.contains("chunked") || last.starts_with("linearcrossentropy") {
        add(fields, CHUNKED, path);
    } else if last.contains("fusedlinear") {
        add(fields, FUSED, path);
    }
}

/// Adds a feature to the software. Without a known software it is listed.
pub(crate) fn add(fields: &mut Fields<'_>, id: &str, path: &str) {
    let Some(software) = fields.draft.spec().plan.software.clone() else {
        let message = format!("the software is unknown, so its feature `{id}` is not estimated");
        return fields.remark(RemarkKind::NotModelled, path, message);
    };
    if !software.split('+').any(|part| part == id) {
        fields.set("plan.software", &format!("{software}+{id}"), path);
    }
}
