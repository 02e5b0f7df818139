//! NeMo Automodel's YAML: Hugging Face's models and its own copies of them under FSDP 2.
//!
//! Responsible for: batches, adapters and number formats of its recipes (`nemo_automodel/recipes`,
//! `components/distributed/config.py`, August 2026). Diffusion and draft models are errors; teachers,
//! classifiers and changes of a `config.json` are listed.

mod keys;
mod parallel;
mod precision;

use super::common::named;
use crate::accelerate::{set_optimizer, software, unpadded};
use crate::adapter;
use crate::document::{self, Data};
use crate::fields::Fields;
use crate::missing::missing;
use crate::{Format, Launch, RemarkKind, features, samples};
use keys::KNOWN;
use railwright_spec::plan::{LoraTarget, LoraTargets};
use railwright_spec::problem::Problem;

/// Frozen weights in few bits.
const QUANTIZED: [&str; 2] = ["quantization.load_in_4bit", "quantization.load_in_8bit"];

/// Evidence of such a file.
pub(super) const WHY: &str = "YAML with the key `step_scheduler` and classes of `nemo_automodel`";

pub(super) fn is_one(text: &str) -> bool {
    let has = |key: &str| text.lines().any(|line| line.trim_end() == key);
    has("step_scheduler:") && has("model:") && text.contains("nemo_automodel")
}

pub(super) fn read(text: &str, file: &str) -> Result<Launch, Vec<Problem>> {
    let mut document = document::yaml(text, file).map_err(|problem| vec![problem])?;
    let open = document::interpolate(&mut document);
    let mut fields = Fields::new(Format::HfTrainer, file, text, document);
    for (path, value, spot, why) in open.into_iter().filter(|(path, ..)| keys::matters(path)) {
        let message = format!("cannot be resolved, so it stays unset: {why}");
        fields.draft.remark(RemarkKind::Unresolved, &format!("{path}: {value}"), spot.line(), message);
    }
    let other = ["flow_matching", "dllm", "dflash", "vae"].into_iter().find(|key| fields.document.has(key));
    if let Some(section) = other {
        let message = "diffusion and draft models are not modelled, only causal language models";
        fields.problem(Problem::new(message), section);
        return fields.finish();
    }
    fields.document.rename(keys::OLDER);
    fields.copy(KNOWN);
    model(&mut fields);
    samples(&mut fields);
    adapters(&mut fields);
    parallel::read(&mut fields);
    precision::read(&mut fields);
    optimizer(&mut fields);
    losses(&mut fields);
    features::loss(&mut fields, "loss_fn._target_");
    dispatcher(&mut fields);
    unpadded(&mut fields);
    missing(&mut fields, "NeMo Automodel");
    fields.rest(KNOWN);
    fields.finish()
}

/// The model by its repository. Other keys of its configuration change it.
fn model(fields: &mut Fields<'_>) {
    let paths = ["pretrained_model_name_or_path", "config.pretrained_model_name_or_path", "config"];
    let found = paths.into_iter().map(|key| format!("model.{key}")).find_map(|path| {
        let name = fields.word(&path)?;
        Some((path, name))
    });
    if let Some((path, name)) = found {
        named(fields, &path, &name);
    }
    let path = ["num_nextn_predict_layers", "config.num_nextn_predict_layers"]
        .map(|key| format!("model.{key}"))
        .into_iter()
        .find(|path| fields.document.get(path).is_some());
    if let Some(path) = path
        && let Some(modules) = fields.count(&path)
    {
        fields.set("model.mtp", &modules, &path);
    }
    let sizes = ["num_hidden_layers", "num_layers", "hidden_size", "num_experts", "n_routed_experts"];
    let changed = ["config", "text_config"].into_iter().find_map(|section| {
        sizes
            .map(|key| format!("model.{section}.{key}"))
            .into_iter()
            .find(|p| fields.document.get(p).is_some())
    });
    if let Some(path) = changed {
        let (source, line) = fields.source(&path);
        fields.draft.take_back(&["model.name".to_owned()]);
        fields.draft.leave_open("model.name", &source, line, "the file changes the size of the model");
        fields.take(&path);
    }
    for path in ["teacher_model.pretrained_model_name_or_path", "teacher_model._target_"] {
        if fields.take(path).is_some() {
            let message = "the teacher's forward pass and weights are not modelled: a lower bound";
            return fields.remark(RemarkKind::NotModelled, path, message);
        }
    }
}

/// The length of samples, and whether they are packed.
fn samples(fields: &mut Fields<'_>) {
    let packed = "packed_sequence.packed_sequence_size";
    if let Some(length) = fields.count(packed).filter(|&length| length > 0) {
        return fields.set("plan.sequence_length", &length, packed);
    }
    let paths = ["packed_sequence.max_length", "dataset.seq_length", "dataset.seq_len", "dataset.max_length"];
    let found = samples::first(fields, &paths);
    let Some(path) = samples::longest(fields, found) else { return };
    // Samples of the benchmarks have their full length.
    let is_mock =
        fields.word("dataset._target_").is_some_and(|name| name.to_ascii_lowercase().contains("mock"));
    if !is_mock && !path.starts_with("packed_sequence") {
        samples::unpacked(&mut fields.draft);
    }
}

/// Adapters (`components/_peft/lora.py`): rank 8; without names, every linear layer that is not excluded.
fn adapters(fields: &mut Fields<'_>) {
    if !fields.document.has("peft") {
        return;
    }
    let path = if fields.document.get("peft._target_").is_some() { "peft._target_" } else { "peft.dim" };
    let _ = fields.word(path);
    let (source, line) = fields.source(path);
    adapter::lora(&mut fields.draft, &source, line);
    let targets = "peft.target_modules";
    // Patterns as of a shell: `*.q_proj`, `*_proj`.
    let names: Vec<String> = fields
        .words(targets)
        .unwrap_or_default()
        .iter()
        .map(|name| name.trim_start_matches(['*', '.']).to_owned())
        .filter(|name| !name.is_empty())
        .collect();
    let all = LoraTargets([LoraTarget::AllLinear].into());
    let path = "peft.match_all_linear";
    if fields.flag(path) == Some(true) {
        fields.set("plan.lora_targets", &all, path);
    } else if names.iter().any(|name| matches!(name.as_str(), "_proj" | "proj")) {
        fields.set("plan.lora_targets", &all, targets);
    } else if !names.is_empty() {
        let (source, line) = fields.source(targets);
        adapter::set_targets(&mut fields.draft, &names, &source, line);
        if fields.draft.value("plan.lora_targets").is_none() {
            let why = "none of the adapted modules is known";
            fields.draft.leave_open("plan.lora_targets", &source, line, why);
            let rank = fields.count("peft.dim").unwrap_or(8);
            fields.set("plan.lora_rank", &rank, "peft.dim");
            return adapter::quantized_by(fields, QUANTIZED);
        }
    }
    let usual = adapter::Usual { of: "NeMo Automodel", ..adapter::ALL_OF_RANK_8 };
    adapter::read(fields, &["peft.dim"], &[], usual);
    adapter::quantized_by(fields, QUANTIZED);
}

fn optimizer(fields: &mut Fields<'_>) {
    let path = "optimizer._target_";
    let compiled = fields.flag("compile.enabled") == Some(true)
        || fields.flag("distributed.enable_compile") == Some(true);
    let id = if compiled { "torchtitan-2024-compile" } else { "torchtitan-2024-eager" };
    software(fields, id, if compiled { "FSDP 2, compiled" } else { "FSDP 2, eager" });
    if fields.draft.value("plan.optimizer").is_some() {
        let _ = fields.word(path);
        return;
    }
    let Some(name) = fields.word(path).map(|name| name.to_ascii_lowercase()) else { return };
    set_optimizer(fields, path, name.rsplit('.').next().unwrap_or(&name));
}

/// Kernels of the dispatch that send each token once per node.
fn dispatcher(fields: &mut Fields<'_>) {
    let (path, older) = ("model.backend.dispatcher", "model.backend.enable_deepep");
    if fields.draft.spec().plan.expert_parallel.is_none_or(|degree| degree < 2) {
        return;
    }
    let fused = ["deepep", "hybridep", "uccl_ep"];
    if fields.document.get(path).is_some_and(|entry| fused.contains(&entry.data.plain().as_str())) {
        let _ = fields.take(path);
        features::add(fields, features::FUSED_DISPATCH, path);
    } else if fields.document.has(older) && fields.flag(older) == Some(true) {
        features::add(fields, features::FUSED_DISPATCH, older);
    }
}

/// Frozen parts, and recipes that train more than the next token.
fn losses(fields: &mut Fields<'_>) {
    let frozen: Vec<String> = fields
        .document
        .entries
        .iter()
        .filter(|entry| entry.path.starts_with("freeze_config.freeze_") && entry.data == Data::Flag(true))
        .map(|entry| entry.path.clone())
        .collect();
    for path in frozen {
        let message = "frozen parts are not modelled: they are assumed to be trained";
        fields.take(&path);
        fields.remark(RemarkKind::NotModelled, &path, message);
    }
    if let Some(recipe) = fields.word("recipe")
        && ["sequenceclassification", "biencoder", "crossencoder", "retrieval", "retriever"]
            .iter()
            .any(|name| recipe.to_ascii_lowercase().contains(name))
    {
        let message =
            "the head of this recipe is not modelled: estimated as a language model, an upper bound";
        fields.remark(RemarkKind::NotModelled, "recipe", message);
    }
}
