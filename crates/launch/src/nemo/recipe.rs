//! Recipes of Megatron-Bridge and NeMo 2 in Python, and saved NeMo 2 configurations, mapped to the keys of
//! [`super::names`].
//!
//! Responsible for: the sections of a recipe, model and number formats from names of functions and classes,
//! and a list of settings in other files. Does not guess settings of functions in other files.

use super::helpers;
use crate::adapter;
use crate::document::{Data, Document, Entry};
use crate::python::{self, Recipe};
use crate::{Context, Draft, Format, RemarkKind};
use railwright_spec::human::shorten;
use railwright_spec::model::by_name;
use railwright_spec::problem::Problem;
use std::collections::BTreeMap;

/// Sections of NeMo 2, and the place of their fields in Megatron-Bridge's configuration.
const SECTIONS: &[(&str, &str)] = &[
    ("trainer.strategy.ddp.", "ddp."),
    ("trainer.strategy._", "trainer.strategy_"),
    ("trainer.tensor_parallelism", "model.tensor_model_parallel_size"),
    ("trainer.pipeline_parallelism_type", "model.pipeline_dtype"),
    ("trainer.pipeline_parallelism", "model.pipeline_model_parallel_size"),
    ("trainer.virtual_pipeline_parallelism", "model.virtual_pipeline_model_parallel_size"),
    ("trainer.context_parallelism", "model.context_parallel_size"),
    ("trainer.sequence_parallelism", "model.sequence_parallel"),
    ("trainer.expert_parallelism", "model.expert_model_parallel_size"),
    ("trainer.expert_model_parallelism", "model.expert_model_parallel_size"),
    ("trainer.expert_tensor_parallelism", "model.expert_tensor_parallel_size"),
    ("trainer.num_gpus_per_node", "trainer.devices"),
    ("num_gpus_per_node", "trainer.devices"),
    ("num_nodes", "trainer.num_nodes"),
    ("trainer.strategy.", "model."),
    ("trainer.plugins.", "mixed_precision."),
    ("model.config.", "model."),
    ("data.micro_batch_size", "train.micro_batch_size"),
    ("data.global_batch_size", "train.global_batch_size"),
    ("data.", "dataset."),
    ("optim.config.", "optimizer."),
    ("optim.", "scheduler."),
    ("log.", "logger."),
    ("resume.", "checkpoint."),
];

/// Framework of a recipe in Python; `None` for other texts.
pub(super) fn format_of(text: &str) -> Option<Format> {
    if python::imports(text, "megatron.bridge") {
        return Some(Format::MegatronBridge);
    }
    let nemo = ["nemo_run", "nemo.collections.llm", "nemo.lightning", "nemo.collections", "nemo"];
    nemo.iter().any(|module| python::imports(text, module)).then_some(Format::Nemo)
}

/// Reads a recipe in Python.
pub(super) fn read(format: Format, text: &str, file: &str, context: &Context<'_>) -> Result<Recipe, Problem> {
    let accepts = |recipe: &Recipe| {
        let mut document = recipe.document.clone();
        sections(&mut document);
        let is_field = |path: &str| {
            path.starts_with("model.")
                && super::names::of(format, path).is_some_and(|name| name != super::names::Name::Ignored)
        };
        let fields = document.entries.iter().filter(|entry| is_field(&entry.path)).count();
        let batches = ["train.", "trainer.", "dataset.", "ddp.", "optimizer.", "mixed_precision"];
        let others =
            document.entries.iter().any(|e| batches.iter().any(|section| e.path.starts_with(section)));
        fields > 0 && (others || fields > 2)
    };
    python::read(&helpers::assigned(text), file, context, is_precision, &accepts).map_err(|problem| {
        match imported(text) {
            Some(name) => Problem::new(format!(
                "it builds on NeMo's recipe `{}`, whose settings are in another file",
                shorten(name)
            ))
            .hint("pass the model with its layout, as in `railwright estimate llama-3.1-70b --tp 4 --pp 4`")
            .in_file(file),
            None => problem,
        }
    })
}

/// The recipe of NeMo's library that a text calls: `llama31_70b.pretrain_recipe`.
fn imported(text: &str) -> Option<&str> {
    ["pretrain_recipe(", "finetune_recipe("].iter().find_map(|call| {
        let at = text.find(&format!(".{call}"))?;
        let start = text[..at]
            .rfind(|c: char| !(c.is_ascii_alphanumeric() || "_.".contains(c)))
            .map_or(0, |at| at + 1);
        text.get(start..at + call.len())
    })
}

/// The recipe that a script names, from the library in its repository; `None` if it is not there.
pub(super) fn of_name(
    format: Format,
    name: &str,
    script: &str,
    file: &str,
    context: &Context<'_>,
) -> Option<Recipe> {
    let is_name = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if format != Format::MegatronBridge || !is_name || context.files.is_none() {
        return None;
    }
    // The lines of the script keep their numbers.
    let lines = "\n".repeat(script.lines().count());
    let text =
        format!("from megatron.bridge.recipes import {name}\n\ndef recipe():\n    return {name}()\n{lines}");
    let mut found = read(format, &text, file, context).ok()?;
    name.clone_into(&mut found.name);
    Some(found)
}

/// Functions of both frameworks with the name of the number format that they set: see [`by_names`].
fn is_precision(function: &str) -> bool {
    function.starts_with("bf16") || function.starts_with("fp16") || function == "get_mixed_precision_config"
}

/// Sections of NeMo 2's trainer that configurations of wrappers have at their top level.
const OF_TRAINER: [&str; 3] = ["strategy", "plugins", "callbacks"];

/// Tests whether a document is a configuration of NeMo 2, and moves its trainer's sections into the trainer.
pub(super) fn is_nemo_2(document: &mut Document) -> bool {
    if document.has("trainer.strategy") {
        return true;
    }
    let is_moved =
        document.has("trainer") && document.entries.iter().any(|e| e.path.starts_with("strategy."));
    if is_moved {
        for entry in &mut document.entries {
            let section = entry.path.split('.').next().unwrap_or_default();
            if OF_TRAINER.contains(&section) {
                entry.path = format!("trainer.{}", entry.path);
            }
        }
    }
    is_moved
}

/// Brings NeMo 2's sections to Megatron-Bridge's.
pub(super) fn sections(document: &mut Document) {
    let mut overlap: Vec<String> = Vec::new();
    for entry in &document.entries {
        if entry.path.starts_with("trainer.callbacks.")
            && entry.data.plain().contains("CommOverlap")
            && let Some(callback) = entry.path.strip_suffix("_target_")
        {
            overlap.push(callback.to_owned());
        }
    }
    for entry in &mut document.entries {
        if let Some(field) = overlap.iter().find_map(|callback| entry.path.strip_prefix(callback.as_str())) {
            entry.path = format!("comm_overlap.{field}");
        } else if let Some((old, new)) = SECTIONS.iter().find(|(old, _)| entry.path.starts_with(old)) {
            entry.path = entry.path.replacen(old, new, 1);
        }
    }
}

/// Settings from names of functions and classes of a recipe, as entries.
pub(super) fn by_names(document: &mut Document) {
    let mut source: BTreeMap<&str, (String, Entry)> = BTreeMap::new();
    for entry in &document.entries {
        for part in ["mixed_precision._target_", "mixed_precision._args_"] {
            if entry.path == part {
                let words = source.entry("mixed_precision").or_insert_with(|| (String::new(), entry.clone()));
                let shown = entry.data.plain();
                words.0.push_str(shown.rsplit('.').next().unwrap_or(&shown));
                words.0.push(' ');
            }
        }
    }
    for (path, (words, entry)) in source {
        let data = Data::Text(words.trim().to_owned());
        document.entries.push(Entry { path: path.to_owned(), name: path.to_owned(), data, ..entry });
    }
    // Both frameworks' `bf16_mixed` and formats based on it reduce gradients in fp32.
    let precision = document.get("mixed_precision").cloned();
    if let Some(entry) = precision
        && let Data::Text(text) = &entry.data
        && text.starts_with("bf16")
        && text.ends_with("mixed")
        && document.get("mixed_precision.grad_reduce_in_fp32").is_none()
    {
        let path = "mixed_precision.grad_reduce_in_fp32".to_owned();
        document.entries.push(Entry { path, data: Data::Flag(true), ..entry });
    }
}

/// The model that a recipe names: an identifier of Hugging Face, a class, or the recipe that it builds on.
pub(super) fn model(document: &Document, recipe: &str, draft: &mut Draft) {
    let model = &draft.spec().model;
    if model.layers.is_some() || model.name.is_some() || model.config.is_some() {
        return;
    }
    let text = |entry: &Entry| match &entry.data {
        Data::Text(text) => vec![text.clone()],
        Data::List(items) => items.iter().map(|item| item.data.plain()).collect(),
        _ => Vec::new(),
    };
    let paths = [
        "model._args_",
        "model.hf_model_id",
        "model.hf_path",
        "model.model_name",
        "model.version",
        "model._target_",
        "_args_",
        "_target_",
    ];
    for path in paths {
        let Some(entry) = document.get(path) else { continue };
        for text in text(entry) {
            if let Some(name) = candidates(&text).iter().find_map(|name| by_name(name).ok()) {
                let source = format!("{} = {}", entry.name, shorten(&text));
                return draft.set("model.name", &name.name, &source, entry.spot.line());
            }
        }
    }
    if let Some(name) = candidates(recipe).iter().find_map(|name| by_name(name).ok()) {
        draft.set("model.name", &name.name, &format!("the recipe's name, {recipe}"), None);
        let message = format!("model inferred from the name of the recipe: {}", name.name);
        draft.remark(RemarkKind::Assumed, recipe, None, message);
        return;
    }
    // The most exact name that the recipe has for it.
    let named = paths.iter().find_map(|path| {
        let entry = document.get(path).filter(|_| path.starts_with("model."))?;
        text(entry).into_iter().find(|text| text.contains('/') || !text.is_empty()).map(|text| (text, entry))
    });
    if let Some((name, entry)) = named {
        let source = format!("{} = {}", entry.name, shorten(&name));
        let short = if name.contains('/') { name.as_str() } else { name.rsplit('.').next().unwrap_or(&name) };
        draft.unknown_model(short, &source, entry.spot.line());
    }
}

/// Possible model names in the name of a function, class or module: `llama3_70b_pretrain_config`,
/// `Llama3Config70B`.
fn candidates(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    if text.contains('/') {
        found.push(text.to_owned());
    }
    for part in text.split(['.', '/']).rev().take(4) {
        found.push(part.to_owned());
        let ends =
            ["_pretrain", "_sft", "_peft", "_finetune", "_lora", "_full", "_config", "_recipe", "_model"];
        if let Some(end) = ends.iter().filter_map(|end| part.find(end)).min() {
            found.push(part[..end].to_owned());
        }
        for word in ["Config", "ModelProvider", "Provider", "Model"] {
            if part.contains(word) {
                found.push(part.replacen(word, "", 1));
            }
        }
    }
    found.retain(|name| name.len() > 3);
    found
}

/// Reports open settings of a recipe, and those from its name.
pub(super) fn remarks(format: Format, recipe: &Recipe, draft: &mut Draft) {
    const SECTIONS: &[&str] = &[
        "model",
        "train",
        "trainer",
        "data",
        "dataset",
        "ddp",
        "comm_overlap",
        "mixed_precision",
        "optimizer",
    ];
    let is_wanted = |path: &str| {
        let mut document = Document::default();
        document.entries.push(Entry::new(path.to_owned(), Data::Null, crate::document::Spot::default()));
        sections(&mut document);
        let path = document.entries.first().map_or("", |entry| entry.path.as_str());
        let is_known = super::names::of(format, path).is_some_and(|name| name != super::names::Name::Ignored);
        is_known || SECTIONS.contains(&path) || path == "trainer.strategy"
    };
    // The conversion of a checkpoint that names the model sets no more than the model.
    let has_model = draft.spec().model.name.is_some();
    let is_model =
        |function: &str| has_model && matches!(function, "get_model_config" | "to_megatron_provider");
    recipe.remarks(draft, &is_wanted, &|function| is_precision(function) || is_model(function));
    devices(recipe, draft);
    tuning(recipe, draft);
}

/// NVIDIA's recipes have their number of GPUs in their name: `..._64gpu_...`.
fn devices(recipe: &Recipe, draft: &mut Draft) {
    if draft.spec().cluster.devices.is_some() {
        return;
    }
    let number = recipe.name.split('_').find_map(|part| {
        part.strip_suffix("gpus").or_else(|| part.strip_suffix("gpu"))?.parse::<u64>().ok().filter(|&n| n > 0)
    });
    if let Some(number) = number {
        draft.set("cluster.devices", &number, &format!("the recipe's name, {}", recipe.name), None);
        let message = format!("{number} GPUs, from the name of the recipe");
        draft.remark(RemarkKind::Assumed, &recipe.name, None, message);
    }
}

/// Adapters of the recipe or its name.
fn tuning(recipe: &Recipe, draft: &mut Draft) {
    if adapters(&recipe.document, draft) {
        return;
    }
    let named = |text: &str| {
        text.to_ascii_lowercase().split(['_', '.']).any(|w| matches!(w, "peft" | "lora" | "dora"))
    };
    let base = recipe.document.get("_target_").map(|entry| entry.data.plain()).unwrap_or_default();
    if let Some(line) = recipe.open_line("peft") {
        let message = "is unset: all parameters are trained unless `--optimizer lora` is set";
        draft.remark(RemarkKind::Unresolved, "peft", Some(line), message);
    } else if named(&recipe.name) || named(&base) {
        adapter::lora(draft, &format!("the recipe's name, {}", recipe.name), None);
        shape(&recipe.document, draft);
    }
}

/// Adapters under `peft`, as in Megatron-Bridge and NeMo 2. False if the document has no such key: another
/// place may have one.
pub(super) fn adapters(document: &Document, draft: &mut Draft) -> bool {
    let paths = ["peft._target_", "peft", "peft.dim"];
    let Some(entry) = paths.iter().find_map(|path| document.get(path)) else { return false };
    let is_none = match &entry.data {
        Data::Text(text) => text.eq_ignore_ascii_case("none"),
        other => *other == Data::Null,
    };
    if !is_none {
        adapter::lora(draft, &format!("{} = {}", entry.name, entry.data.shown()), entry.spot.line());
        shape(document, draft);
    }
    true
}

/// Rank and targets of the adapters.
fn shape(document: &Document, draft: &mut Draft) {
    let source = |entry: &Entry| (format!("{} = {}", entry.name, entry.data.shown()), entry.spot.line());
    // Ranks of 0 and below are rejected with the plan.
    if let Some(entry) = document.get("peft.dim")
        && let Some(rank) = entry.data.count()
    {
        let (text, line) = source(entry);
        draft.set("plan.lora_rank", &rank, &text, line);
    }
    if let Some(entry) = document.get("peft.target_modules")
        && entry.data != Data::Null
    {
        let (text, line) = source(entry);
        adapter::set_targets(draft, &entry.data.names(), &text, line);
    }
    if let Some(entry) = document.get("peft.exclude_modules")
        && !entry.data.names().is_empty()
    {
        let (text, line) = source(entry);
        let message =
            "excluded modules are not supported: adapters are counted on all targets, an upper bound";
        draft.remark(RemarkKind::NotModelled, &text, line, message);
    }
    let class = document
        .get("peft._target_")
        .or_else(|| document.get("peft"))
        .map(|entry| (entry.data.plain(), entry));
    let mut usual = adapter::BRIDGE;
    if let Some((name, entry)) = class {
        match name.rsplit('.').next().unwrap_or_default().trim_matches('"').to_ascii_lowercase().as_str() {
            "lora" => {}
            "canonicallora" | "canonical_lora" => usual = adapter::CANONICAL,
            _ => {
                let (text, line) = source(entry);
                let message = "is estimated as LoRA with the same rank and targets";
                draft.remark(RemarkKind::NotModelled, &text, line, message);
            }
        }
    }
    adapter::defaults(draft, usual);
}
