//! torchtune's model builders: the model of each function, and its adapters.
//!
//! Responsible for: prefixes `lora_` and `qlora_` of a builder's name, and the arguments that choose
//! adapters. Excludes dimensions given to a general builder: the model then is open.

use crate::RemarkKind;
use crate::adapter;
use crate::fields::Fields;
use railwright_spec::plan::{LoraTarget, LoraTargets, Optimizer};
use std::collections::BTreeSet;

const BUILDER: &str = "model._component_";

/// Rank of torchtune's builders; targets have no default there.
const RANK: u64 = 8;

/// Adapter settings that are open, not at their defaults, if a reference cannot be resolved.
pub(super) const OPEN: &[(&str, &str)] =
    &[("model.lora_rank", "plan.lora_rank"), ("model.lora_attn_modules", "plan.lora_targets")];

/// The model of the builder.
pub(super) fn read(fields: &mut Fields<'_>) {
    let Some(builder) = fields.word(BUILDER) else { return };
    let (method, name) = parts(&builder);
    fields.named_model(BUILDER, name);
    let (source, line) = fields.source(BUILDER);
    if method.is_some() {
        adapter::lora(&mut fields.draft, &source, line);
    }
    let base = "model.quantize_base";
    let is_quantized = fields.flag(base);
    if is_quantized == Some(true) {
        let (source, line) = fields.source(base);
        adapter::quantized(&mut fields.draft, &source, line, "4");
    } else if method == Some("qlora") {
        adapter::quantized(&mut fields.draft, &source, line, "4");
    }
    for path in ["model.decoder_trainable", "model.encoder_trainable", "model.fusion_trainable"] {
        if fields.word(path).is_some() {
            let message = "image models and their trained parts are not modelled";
            fields.remark(RemarkKind::NotModelled, path, message);
        }
    }
}

/// `torchtune.models.llama3_1.qlora_llama3_1_8b`: the method, and the builder without it.
fn parts(builder: &str) -> (Option<&'static str>, &str) {
    let last = builder.rsplit('.').next().unwrap_or(builder);
    let found = ["qlora", "lora"]
        .into_iter()
        .find_map(|method| Some((Some(method), last.strip_prefix(method)?.strip_prefix('_')?)));
    found.unwrap_or((None, last))
}

/// Rank and targets of the adapters.
pub(super) fn adapters(fields: &mut Fields<'_>) {
    let attention = "model.lora_attn_modules";
    let mlp = "model.apply_lora_to_mlp";
    let output = "model.apply_lora_to_output";
    let rank = fields.count("model.lora_rank");
    let names = fields.words(attention);
    let is_on = |fields: &mut Fields<'_>, path: &str| fields.flag(path) == Some(true);
    let (has_mlp, has_output) = (is_on(fields, mlp), is_on(fields, output));
    let is_dora = is_on(fields, "model.use_dora");
    if fields.draft.spec().plan.optimizer != Some(Optimizer::Lora) {
        return;
    }
    match rank {
        Some(rank) => fields.set("plan.lora_rank", &rank, "model.lora_rank"),
        None if fields.draft.is_open("plan.lora_rank") => {}
        None => fields.default("plan.lora_rank", &RANK, "the default rank of torchtune's builders"),
    }
    let mut targets = BTreeSet::new();
    if let Some(names) = names {
        let (source, line) = fields.source(attention);
        adapter::set_targets(&mut fields.draft, &names, &source, line);
        if let Some(LoraTargets(found)) = &fields.draft.spec().plan.lora_targets {
            targets.extend(found.iter().copied());
        }
    }
    if has_mlp {
        targets.extend([LoraTarget::Gate, LoraTarget::Up, LoraTarget::Down]);
    }
    if fields.draft.is_open("plan.lora_targets") {
        // The reference that cannot be resolved has the modules of attention.
    } else if targets.is_empty() {
        let why = "no module gets an adapter in this file";
        fields.draft.leave_open("plan.lora_targets", attention, fields.source(attention).1, why);
    } else {
        let source = if has_mlp { mlp } else { attention };
        fields.set("plan.lora_targets", &LoraTargets(targets), source);
    }
    if has_output {
        fields.remark(RemarkKind::NotModelled, output, "adapters on the head are not modelled");
    }
    if is_dora {
        let message = "the norms of DoRA are not modelled: estimated as LoRA, a lower bound";
        fields.remark(RemarkKind::NotModelled, "model.use_dora", message);
    }
}
