//! llm-foundry: MPT's dimensions, batches over all ranks, and Composer's FSDP.

use super::common::named;
use crate::RemarkKind;
use crate::accelerate::{fsdp, set_optimizer, software};
use crate::adapter;
use crate::document::{Data, Document};
use crate::fields::Fields;
use railwright_spec::model::{Activation, NormKind, Position, Style};
use std::borrow::Cow;

/// Sections of a job of MosaicML's platform: settings in `parameters`, devices in `compute`.
const PARAMETERS: &str = "parameters";

/// The settings of a job as a text of their own; any other text unchanged.
pub(super) fn settings(text: &str) -> Cow<'_, str> {
    let top = |line: &str, key: &str| line.strip_prefix(key).is_some_and(|rest| rest.starts_with(':'));
    let is_job = ["command", "image"].iter().any(|key| text.lines().any(|line| top(line, key)));
    let Some(at) = text.lines().position(|line| top(line, PARAMETERS)).filter(|_| is_job) else {
        return Cow::Borrowed(text);
    };
    let inside = || {
        let lines = text.lines().skip(at + 1);
        lines.take_while(|line| line.trim().is_empty() || line.starts_with([' ', '#']))
    };
    let depth = |line: &str| line.len() - line.trim_start().len();
    let is_key = |line: &&str| !line.trim().is_empty() && !line.trim_start().starts_with('#');
    let first = inside().find(is_key).map_or(0, depth);
    Cow::Owned(inside().map(|line| line.get(first..).unwrap_or_default()).collect::<Vec<_>>().join("\n"))
}

/// The same for a document.
pub(super) fn unwrapped(mut document: Document) -> Document {
    if !document.has(PARAMETERS) || !(document.has("command") || document.has("image")) {
        return document;
    }
    for path in ["compute.gpus", "gpus"] {
        document.rename(&[(path, "parameters.num_processes")]);
    }
    document.entries.retain_mut(|entry| {
        let inside = entry.path.strip_prefix(PARAMETERS).and_then(|path| path.strip_prefix('.'));
        let inside = inside.map(str::to_owned);
        entry.path = inside.clone().unwrap_or_default();
        inside.is_some()
    });
    document
}

pub(super) fn model(fields: &mut Fields<'_>) {
    let name = fields.word("model.name").unwrap_or_default();
    let path = "model.pretrained_model_name_or_path";
    if let Some(id) = fields.word(path) {
        named(fields, path, &id);
    } else if name == "mpt_causal_lm" {
        mpt(fields);
    } else if !name.is_empty() {
        let message = "the dimensions of this model are not supported, so the model is unknown";
        fields.remark(RemarkKind::Unresolved, "model.name", message);
    }
    if fields.document.has("model.peft_config") {
        let path = "model.peft_config.peft_type";
        let _ = fields.word(path);
        let (source, line) = fields.source(path);
        adapter::lora(&mut fields.draft, &source, line);
        adapter::read(fields, &["model.peft_config.r"], &["model.peft_config.target_modules"], adapter::PEFT);
    }
    let has_experts = fields.draft.spec().model.experts.is_some();
    for path in ["model.config_overrides", "model.ffn_config.ffn_type"] {
        if fields.document.has(path) && !(has_experts && path.ends_with("ffn_type")) {
            let message = "changes the model, but is not supported";
            fields.draft.remark(RemarkKind::NotModelled, path, None, message);
        }
    }
}

/// MPT: LayerNorm, GELU in two matrices, tied embeddings; learned positions by default.
fn mpt(fields: &mut Fields<'_>) {
    fields.set("model.style", &Style::Gpt, "model.name");
    fields.default("model.norm", &NormKind::LayerNorm, "MPT");
    fields.default("model.activation", &Activation::Gelu, "MPT");
    fields.default("model.gated_mlp", &false, "MPT");
    fields.default("model.tied", &true, "MPT ties its embeddings by default");
    let hidden = fields.count("model.d_model");
    let path = "model.expansion_ratio";
    if let Some(hidden) = hidden.filter(|&hidden| hidden > 0) {
        fields.set("model.hidden", &hidden, "model.d_model");
        let ratio = fields.number(path).unwrap_or(4.0);
        let ffn = ratio * hidden as f64;
        if (1.0..1e9).contains(&ffn) {
            if fields.document.get(path).is_some() {
                fields.set("model.ffn", &(ffn as u64), path);
            } else {
                fields.default("model.ffn", &(ffn as u64), "the MLPs of MPT are 4 times as wide by default");
            }
        }
    }
    let kind = "model.ffn_config.ffn_type";
    if fields.word(kind).is_some_and(|kind| matches!(kind.as_str(), "mb_moe" | "mb_dmoe" | "torch_dmoe")) {
        let known = [("moe_num_experts", "model.experts"), ("moe_top_k", "model.top_k")];
        for (key, to) in known {
            let path = format!("model.ffn_config.{key}");
            if let Some(n) = fields.count(&path).filter(|&n| n > 0) {
                fields.set(to, &n, &path);
            }
        }
    }
    let path = "model.no_bias";
    match fields.flag(path) {
        Some(no_bias) => fields.set("model.biases", &!no_bias, path),
        None => fields.default("model.biases", &true, "MPT has biases by default"),
    }
    let path = "model.attn_config.kv_n_heads";
    if let Some(heads) = fields.count(path).filter(|&n| n > 0) {
        fields.set("model.kv_heads", &heads, path);
    }
    for (path, position) in
        [("model.attn_config.rope", Position::Rotary), ("model.attn_config.alibi", Position::Alibi)]
    {
        if fields.flag(path) == Some(true) {
            fields.set("model.position", &position, path);
        }
    }
}

pub(super) fn batch(fields: &mut Fields<'_>) {
    let path = "device_train_microbatch_size";
    if fields.is_auto(path) {
        let message = "the trainer determines what fits, so the micro-batch stays unset";
        fields.remark(RemarkKind::Unresolved, path, message);
    }
    if let Some(micro) = fields.number(path).filter(|&micro| micro > 0.0) {
        if micro.fract() == 0.0 && micro < 1e9 {
            fields.set("plan.micro_batch", &(micro as u64), path);
        } else {
            fields.remark(RemarkKind::NotModelled, path, "less than one sample is not modelled");
        }
    }
}

pub(super) fn parallel(fields: &mut Fields<'_>) {
    let at = |key: &str| format!("fsdp_config.fsdp_{key}");
    // Composer's own names, as `decoupled_lionw`.
    let path = "optimizer.name";
    if let Some(name) = fields.word(path) {
        set_optimizer(fields, path, &name.to_ascii_lowercase());
    }
    if !fields.document.has("fsdp_config") {
        let message = "no `fsdp_config`: replicas";
        let none =
            railwright_spec::plan::Sharding { zero_stage: 0, group: None, reshard_after_forward: false };
        fields.default("plan.sharding", &none, message);
        return software(fields, "transformers-2026", "Hugging Face's models, eager");
    }
    let path = at("mixed_precision");
    if let Some(word) = fields.word(&path).map(|word| word.to_ascii_uppercase()) {
        use railwright_spec::precision::DataType;
        match word.as_str() {
            "PURE" => fields.set("plan.precision.gradient_reduce", &DataType::Bf16, &path),
            "DEFAULT" | "FULL" => fields.set("plan.precision.gradient_reduce", &DataType::Fp32, &path),
            _ => {}
        }
    }
    if fields.document.get(&at("activation_checkpointing")).is_none() {
        let entry = crate::document::Entry::new(
            at("activation_checkpointing"),
            Data::Null,
            crate::document::Spot::default(),
        );
        fields.document.entries.push(entry);
        let none = railwright_spec::plan::Recompute::None;
        fields.default("plan.recompute", &none, "llm-foundry does not checkpoint by default");
    }
    fsdp::read(fields);
}
