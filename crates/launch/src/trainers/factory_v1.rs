//! The second generation of LLaMA-Factory's YAML (`llamafactory.v1`): plugins in sections of their own.
//!
//! Responsible for: its keys and defaults (`v1/config/*_args.py`, August 2026). Weights have the format of
//! their checkpoint, so there are no 32-bit copies. Training of only some layers leaves the optimizer open.

mod engine;

#[cfg(test)]
mod tests;

use super::common::named;
use super::related;
use crate::accelerate::{set_optimizer, unpadded};
use crate::document::{self, Data};
use crate::fields::{Fields, Known, Meaning};
use crate::missing::missing;
use crate::{Context, Format, Launch, RemarkKind, adapter, samples};
use Meaning::{Ignored, Key, Read};
use railwright_spec::plan::{Optimizer, Recompute};
use railwright_spec::problem::Problem;

/// Evidence of such a file.
pub(super) const WHY: &str = "YAML with the keys `model` and `train_dataset` and a section of a plugin";

/// Sections of plugins.
const PLUGINS: [&str; 6] =
    ["dist_config:", "peft_config:", "kernel_config:", "quant_config:", "init_config:", "optim_config:"];

const KNOWN: &[Known] = &[
    ("micro_batch_size", Key("plan.micro_batch")),
    ("global_batch_size", Key("plan.global_batch")),
    ("cutoff_len", Key("plan.sequence_length")),
    ("cp_size", Key("plan.context_parallel")),
    ("model", Read),
    ("dist_config.dcp_path", Ignored),
    ("dist_config.pin_memory", Ignored),
    ("peft_config.lora_alpha", Ignored),
    ("peft_config.lora_dropout", Ignored),
    ("peft_config.export_dir", Ignored),
    ("peft_config.export_size", Ignored),
    ("optim_config.*", Ignored),
    ("lr_scheduler_config.*", Ignored),
    ("kernel_config.*", Ignored),
    ("init_config.*", Ignored),
    ("deepspeed_file.*", Ignored),
    ("model_class", Ignored),
    ("trust_remote_code", Ignored),
    ("flash_attn", Ignored),
    ("custom_chat_template", Ignored),
    ("train_dataset", Ignored),
    ("eval_dataset", Ignored),
    ("output_dir", Ignored),
    ("learning_rate", Ignored),
    ("num_train_epochs", Ignored),
    ("max_steps", Ignored),
    ("max_grad_norm", Ignored),
    ("batching_workers", Ignored),
    ("dist_timeout", Ignored),
    ("seed", Ignored),
    ("full_determinism", Ignored),
    ("resume_from_checkpoint", Ignored),
    ("save_steps", Ignored),
    ("save_epochs", Ignored),
    ("save_ckpt_as_hf", Ignored),
    ("save_total_limit", Ignored),
    ("logging_steps", Ignored),
    ("sample_backend", Ignored),
    ("max_new_tokens", Ignored),
];

pub(super) fn is_one(text: &str) -> bool {
    let has = |key: &str| text.lines().any(|line| line.starts_with(key));
    ["model: ", "train_dataset:"].iter().all(|key| has(key))
        && ["micro_batch_size:", "cutoff_len:", "model_class:"].iter().any(|key| has(key))
        && PLUGINS.iter().any(|key| has(key))
}

pub(super) fn read(text: &str, file: &str, context: &Context<'_>) -> Result<Launch, Vec<Problem>> {
    let mut document = document::yaml(text, file).map_err(|problem| vec![problem])?;
    document.entries.retain(|entry| entry.data != Data::Null);
    document.rename(&[("dist_config.config_file", "deepspeed")]);
    related::open(&mut document, file, context);
    let mut fields = Fields::new(Format::HfTrainer, file, text, document);
    fields.copy(KNOWN);
    if let Some(name) = fields.word("model") {
        named(&mut fields, "model", &name);
    }
    batch(&mut fields);
    trained(&mut fields);
    engine::sharding(&mut fields);
    engine::context(&mut fields);
    let path = "enable_activation_checkpointing";
    match fields.flag(path) {
        Some(false) => fields.set("plan.recompute", &Recompute::None, path),
        Some(true) => fields.set("plan.recompute", &Recompute::Full { layers: None }, path),
        None => {
            let why = "LLaMA-Factory checkpoints every layer by default";
            fields.default("plan.recompute", &Recompute::Full { layers: None }, why);
        }
    }
    engine::precision(&mut fields);
    fields.undivided("LLaMA-Factory");
    for path in ["pref_loss", "pref_beta", "pref_ftx", "simpo_gamma", "dpo_label_smoothing", "ld_alpha"] {
        if fields.take(path).is_some() {
            let message = "estimated as plain training: reference models and pairs are not modelled";
            fields.remark(RemarkKind::NotModelled, path, message);
        }
    }
    unpadded(&mut fields);
    missing(&mut fields, "LLaMA-Factory");
    fields.rest(KNOWN);
    fields.finish()
}

fn batch(fields: &mut Fields<'_>) {
    fields.default("plan.micro_batch", &1_u64, "LLaMA-Factory uses 1 sample by default");
    fields.default(
        "plan.sequence_length",
        &2048_u64,
        "LLaMA-Factory truncates samples at 2,048 tokens by default",
    );
    if fields.draft.value("plan.global_batch").is_none() {
        fields.default("plan.micro_batches", &1_u64, "one micro-batch for an update by default");
    }
    let path = "batching_strategy";
    match fields.word(path).as_deref() {
        None | Some("normal") => samples::unpacked(&mut fields.draft),
        Some("padding_free" | "dynamic_padding_free" | "dynamic_batching") => {
            let message = "samples are packed: estimated as full samples of the maximum length";
            fields.remark(RemarkKind::Assumed, path, message);
        }
        Some(_) => fields.remark(RemarkKind::Unresolved, path, "this strategy is not known"),
    }
}

/// Adapters, some layers, or all parameters.
fn trained(fields: &mut Fields<'_>) {
    let path = "peft_config.name";
    let (source, line) = fields.source(path);
    match fields.word(path).as_deref() {
        Some("lora") => {
            adapter::lora(&mut fields.draft, &source, line);
            let targets = "peft_config.target_modules";
            let is_all = fields
                .document
                .get(targets)
                .is_some_and(|entry| matches!(&entry.data, Data::Text(text) if text == "all"));
            let named = if is_all { &[][..] } else { &[targets][..] };
            let _ = fields.take(targets);
            adapter::read(fields, &["peft_config.r"], named, adapter::ALL_OF_RANK_8);
            if fields.flag("peft_config.use_dora") == Some(true) {
                let message = "the norms of DoRA are not modelled: estimated as LoRA, a lower bound";
                fields.remark(RemarkKind::NotModelled, "peft_config.use_dora", message);
            }
        }
        Some(_) => {
            let why = "a part of the parameters is trained, which is not modelled";
            fields.draft.leave_open("plan.optimizer", &source, line, why);
            fields.remark(RemarkKind::Unresolved, path, format!("{why}: `plan.optimizer` stays unset"));
        }
        None => {}
    }
    let bits = "quant_config.quantization_bit";
    let _ = fields.take("quant_config.name");
    if let Some(n) = fields.document.has(bits).then(|| fields.count(bits)).flatten() {
        let (source, line) = fields.source(bits);
        adapter::quantized(&mut fields.draft, &source, line, &n.to_string());
    }
    let path = "optim_config.name";
    let name = fields.word(path);
    if fields.draft.is_open("plan.optimizer") {
        return;
    }
    if let Some(name) = name {
        set_optimizer(fields, path, &name.to_ascii_lowercase());
    } else {
        let why = "LLaMA-Factory trains with AdamW by default";
        fields.default("plan.optimizer", &Optimizer::Adam, why);
    }
}
