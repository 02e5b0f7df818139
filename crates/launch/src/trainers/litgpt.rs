//! LitGPT's YAML: pre-training, full fine-tuning and adapters on Lightning Fabric.
//!
//! Responsible for: behaviour of its commands with several devices (`litgpt/pretrain.py`,
//! `litgpt/finetune/*.py`, June 2026), and its flags of adapters. A model described by the file itself is
//! left open.

use super::common::put;
use super::keys;
use crate::RemarkKind;
use crate::accelerate::software;
use crate::adapter;
use crate::document::{Data, Document};
use crate::fields::Fields;
use crate::narrow::pure;
use crate::shell::Word;
use railwright_spec::plan::{Recompute, Sharding};
use railwright_spec::precision::DataType;

/// Matrices by the flags that give them adapters; true if these are on by default.
const TARGETS: [(&str, &[&str], bool); 5] = [
    ("lora_query", &["q_proj"], true),
    ("lora_key", &["k_proj"], false),
    ("lora_value", &["v_proj"], true),
    ("lora_projection", &["o_proj"], false),
    ("lora_mlp", &["gate_proj", "up_proj", "down_proj"], false),
];

/// The value that a word of LitGPT's command line gives to a setting, with its name; the next word may hold
/// it. `None` for settings that no reader supports, and for values that only a run knows.
pub(crate) fn overridden<'a>(word: &'a Word, next: Option<&'a Word>) -> Option<(&'a str, &'a str)> {
    let text = word.text.strip_prefix("--")?;
    let (name, value, place) = match text.split_once('=') {
        Some((name, value)) => (name, value, word),
        None => (text, next?.text.as_str(), next?),
    };
    (keys::is_known(name) && place.unknown.is_empty() && !value.starts_with("--")).then_some((name, value))
}

/// Puts settings of the command line in place of those of the configuration.
pub(super) fn override_with(words: &[Word], document: &mut Document) {
    for (at, word) in words.iter().enumerate() {
        if let Some((name, value)) = overridden(word, words.get(at + 1)) {
            document.entries.retain(|entry| entry.path != name);
            // Its line is one of the script, not of the configuration.
            put(document, name, Data::of_word(value), 0);
        }
    }
}

/// Tests whether the file contains the dimensions of its model: no reader supports these names.
pub(super) fn has_own_model(fields: &mut Fields<'_>) -> bool {
    let has_size = fields.document.get("model_config.n_layer").is_some();
    for entry in fields.document.entries.iter_mut().filter(|entry| entry.path.starts_with("model_config")) {
        entry.taken = true;
    }
    if has_size {
        let (source, line) = fields.source("model_config.n_layer");
        let message = "the dimensions of `model_config` are not supported: pass the model with `--model`";
        fields.draft.remark(RemarkKind::Unresolved, &source, line, message);
        fields.draft.leave_open("model.name", &source, line, "the file describes its model itself");
        fields.take("model_name_or_path");
    }
    has_size
}

/// On several devices fine-tuning shards over all of them and checkpoints every block; pre-training shards
/// within each node.
pub(super) fn parallel(fields: &mut Fields<'_>) {
    let tunes = fields.text().lines().any(|line| line.starts_with("checkpoint_dir:"));
    let devices = fields.draft.spec().cluster.devices;
    let per_node = fields.draft.spec().cluster.devices_per_node;
    match devices {
        Some(1) => {
            let none = Sharding { zero_stage: 0, group: None, reshard_after_forward: false };
            fields.default("plan.sharding", &none, "one device");
            fields.default("plan.recompute", &Recompute::None, "LitGPT does not checkpoint on one device");
        }
        Some(_) => {
            let group = per_node.filter(|_| !tunes);
            let sharding = Sharding { zero_stage: 3, group, reshard_after_forward: true };
            fields.default("plan.sharding", &sharding, "LitGPT uses FSDP on several devices");
            let recompute = if tunes { Recompute::Full { layers: None } } else { Recompute::None };
            let why = "LitGPT checkpoints every block of fine-tuning under FSDP, and none of pre-training";
            fields.default("plan.recompute", &recompute, why);
        }
        None => {
            let message = "sharding and recompute depend on the number of devices: both stay unset";
            fields.draft.remark(RemarkKind::Unresolved, "devices", None, message);
            for key in ["plan.sharding", "plan.recompute"] {
                fields.draft.leave_open(key, "devices", None, "depends on the number of devices");
            }
        }
    }
    software(fields, "fsdp1-2023", "Lightning Fabric's FSDP");
    let path = "precision";
    match fields.document.get(path).map(|entry| entry.data.plain()).as_deref() {
        Some("bf16-true") => pure(fields, path, DataType::Bf16, DataType::Bf16),
        Some("16-true") => pure(fields, path, DataType::Fp16, DataType::Fp16),
        _ => {}
    }
    adapters(fields);
    let path = "quantize";
    if let Some(word) = fields.word(path).filter(|word| !matches!(word.as_str(), "none" | "null" | "")) {
        let (source, line) = fields.source(path);
        let bits = if word.contains("int8") { "8" } else { "4" };
        adapter::quantized(&mut fields.draft, &source, line, bits);
    }
}

/// Adapters: a rank makes it fine-tuning of adapters.
fn adapters(fields: &mut Fields<'_>) {
    let path = "lora_r";
    if fields.document.get(path).is_none() {
        return;
    }
    let (source, line) = fields.source(path);
    adapter::lora(&mut fields.draft, &source, line);
    let mut names: Vec<String> = Vec::new();
    for (flag, targets, is_default) in TARGETS {
        if fields.flag(flag).unwrap_or(is_default) {
            names.extend(targets.iter().map(|name| (*name).to_owned()));
        }
    }
    if fields.take("lora_head").is_some_and(|entry| entry.data == Data::Flag(true)) {
        fields.remark(RemarkKind::NotModelled, "lora_head", "adapters of the output layer are not estimated");
    }
    let (source, line) = fields.source("lora_query");
    adapter::set_targets(&mut fields.draft, &names, &source, line);
    let usual = adapter::Usual { of: "LitGPT", ..adapter::PEFT };
    adapter::read(fields, &[path], &[], usual);
}
