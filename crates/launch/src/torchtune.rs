//! torchtune's YAML: full fine-tuning and adapters, on one device and with FSDP 2.
//!
//! Responsible for: models by the name of their builder, adapters by their builder's arguments, and number
//! formats without 32-bit copies. Does not use the number of devices of an example command in a comment.
//! Distillation, preferences and quantized weights are listed, never priced as something else.

mod keys;
mod model;
mod parallel;

#[cfg(test)]
mod tests;

use crate::accelerate::set_optimizer;
use crate::document::{self, Data};
use crate::features;
use crate::fields::Fields;
use crate::missing::missing;
use crate::{Context, Evidence, Format, Launch, Reader, RemarkKind, Strength, samples};
use railwright_spec::plan::{Optimizer, PrecisionPreset, Recompute};
use railwright_spec::precision::DataType;
use railwright_spec::problem::Problem;
use railwright_spec::run::Value;

/// Reads torchtune's YAML.
#[derive(Clone, Copy, Debug)]
pub struct TorchtuneReader;

impl Reader for TorchtuneReader {
    fn format(&self) -> Format {
        Format::Torchtune
    }

    fn recognise(&self, text: &str) -> Option<Evidence> {
        let has = |key: &str| text.lines().any(|line| line.starts_with(key));
        let component = text.lines().any(|line| {
            line.trim_start()
                .strip_prefix("_component_:")
                .is_some_and(|rest| rest.trim_start_matches([' ', '\t', '"', '\'']).starts_with("torchtune."))
        });
        // Evaluation and generation have a model, but no optimizer.
        (component && has("model:") && has("optimizer:")).then(|| {
            let why = "YAML with `_component_: torchtune.` and the keys `model` and `optimizer`";
            Evidence::new(Strength::Certain, why)
        })
    }

    fn read_with(&self, text: &str, file: &str, _: &Context<'_>) -> Result<Launch, Vec<Problem>> {
        let mut document = document::yaml(text, file).map_err(|problem| vec![problem])?;
        let open = document::interpolate(&mut document);
        let mut fields = Fields::new(Format::Torchtune, file, text, document);
        fields.draft.front_end("torchtune");
        for (path, value, spot, why) in open.into_iter().filter(|(path, ..)| keys::matters(path)) {
            let message = format!("cannot be resolved, so it stays unset: {why}");
            let source = format!("{path}: {value}");
            if let Some((_, key)) = model::OPEN.iter().find(|(known, _)| *known == path) {
                fields.draft.leave_open(key, &source, spot.line(), why);
            }
            fields.draft.remark(RemarkKind::Unresolved, &source, spot.line(), message);
        }
        fields.document.rename(keys::RENAMED);
        fields.copy(keys::KNOWN);
        model::read(&mut fields);
        model::adapters(&mut fields);
        batch(&mut fields);
        precision(&mut fields);
        optimizer(&mut fields);
        activations(&mut fields);
        parallel::read(&mut fields, text);
        loss(&mut fields);
        let why = "Hugging Face's and Meta's vocabularies are not padded";
        fields.default("plan.vocabulary_multiple", &1_u64, why);
        missing(&mut fields, "torchtune");
        fields.rest(keys::KNOWN);
        fields.finish()
    }
}

/// The length of samples, packed or not.
fn batch(fields: &mut Fields<'_>) {
    // Until 2024 it was a key of the data set.
    let lengths = ["tokenizer.max_seq_len", "dataset.max_seq_len"];
    let found = lengths.iter().find_map(|path| Some((*path, fields.count(path)?)));
    let packed = fields.flag("dataset.packed") == Some(true);
    if samples::longest(fields, found).is_some() && !packed {
        samples::unpacked(&mut fields.draft);
    }
}

/// `dtype` applies to weights, gradients and moments: there are no 32-bit copies.
fn precision(fields: &mut Fields<'_>) {
    let path = "dtype";
    match fields.word(path).map(|word| word.to_ascii_lowercase()).as_deref() {
        Some("bf16") => {
            fields.set("plan.precision.preset", &PrecisionPreset::Bf16, path);
            for key in ["gradients", "gradient_reduce", "moments"] {
                fields.set(&format!("plan.precision.{key}"), &DataType::Bf16, path);
            }
            let (source, line) = fields.source(path);
            let none = Value::Text("none".to_owned());
            fields.draft.set_value("plan.precision.master", &none, &source, line);
        }
        Some("fp32") => fields.set("plan.precision.preset", &PrecisionPreset::Fp32, path),
        Some(other) => {
            let message = format!("expected `bf16` or `fp32`, found `{other}`");
            fields.problem(Problem::new(message), path);
        }
        None => {}
    }
    let path = "enable_fp8_training";
    if fields.flag(path) == Some(true) {
        fields.set("plan.precision.compute", &DataType::Fp8, path);
    }
}

fn optimizer(fields: &mut Fields<'_>) {
    let path = "optimizer._component_";
    let is_lora = fields.draft.spec().plan.optimizer == Some(Optimizer::Lora);
    if let Some(name) = fields.word(path).map(|name| name.to_ascii_lowercase()) {
        set_optimizer(fields, path, &name);
        let is_small = ["8bit", "4bit", "fp8", "paged", "offload"].iter().any(|word| name.contains(word));
        if !is_lora && is_small {
            let message =
                "moments are estimated in the format of the weights on the device, an upper bound on memory";
            fields.remark(RemarkKind::NotModelled, path, message);
        }
    }
    let path = "optimizer_in_bwd";
    if fields.flag(path) == Some(true) && !is_lora {
        let message =
            "gradients are assumed to be kept until the end of the backward pass, an upper bound on memory";
        fields.remark(RemarkKind::NotModelled, path, message);
    }
}

/// Activations kept for the backward pass.
fn activations(fields: &mut Fields<'_>) {
    let path = "enable_activation_checkpointing";
    let mode = fields.word("ac_mode");
    let _ = fields.word("ac_option");
    let flag = fields.flag(path);
    match (mode.as_deref(), flag) {
        (None | Some("full"), Some(true)) => {
            fields.set("plan.recompute", &Recompute::Full { layers: None }, path);
        }
        // The distributed recipe applies the mode even if the flag is off.
        (Some("full"), None | Some(false)) => {
            fields.set("plan.recompute", &Recompute::Full { layers: None }, "ac_mode");
        }
        (Some(_), _) => {
            let message =
                "selective checkpointing of the framework is not supported, so recompute stays unset";
            fields.remark(RemarkKind::Unresolved, "ac_mode", message);
        }
        (None, Some(false)) => fields.set("plan.recompute", &Recompute::None, path),
        (None, None) if fields.document.get(path).is_none() => {
            fields.default("plan.recompute", &Recompute::None, "torchtune does not checkpoint by default");
        }
        (None, None) => {}
    }
    let path = "enable_activation_offloading";
    if fields.flag(path) == Some(true) {
        fields.set("plan.offload.activations", &1.0, path);
    }
}

/// The loss, and training that is more than one model's next token.
fn loss(fields: &mut Fields<'_>) {
    let path = "loss._component_";
    let name = fields.word(path).unwrap_or_default();
    let last = name.rsplit('.').next().unwrap_or_default().to_ascii_lowercase();
    if ["dpo", "rso", "simpo", "ppo", "grpo"].iter().any(|word| last.contains(word)) {
        let message = "pairs of samples, generation and reference models are not modelled: estimated as plain training, a lower bound";
        fields.remark(RemarkKind::NotModelled, path, message);
    } else {
        features::loss(fields, path);
    }
    for (section, message) in [
        ("teacher_model", "the teacher's forward pass and weights are not modelled: a lower bound"),
        ("quantizer", "rounding before GEMMs (QAT) is not modelled: a lower bound on time"),
    ] {
        let path = format!("{section}._component_");
        if fields.take(&path).is_some_and(|entry| matches!(entry.data, Data::Text(_))) {
            fields.remark(RemarkKind::NotModelled, &path, message);
        }
    }
}
