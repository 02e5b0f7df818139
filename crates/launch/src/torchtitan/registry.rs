//! torchtitan's configurations in Python (`config_registry.py`), mapped to the keys of its TOML.
//!
//! Responsible for: classes that replace former keys (checkpointing, converters, the model flavour). Does not
//! follow models built in code.

use super::models::FLAVOURS;
use crate::Context;
use crate::document::{Data, Document, Entry, Node};
use crate::python::{self, Recipe};
use railwright_spec::problem::Problem;

/// Sections in which something matters.
const SECTIONS: &[&str] = &["training", "parallelism", "activation_checkpoint", "compile"];

pub(super) fn is_one(text: &str) -> bool {
    python::imports(text, "torchtitan")
}

/// Reads a configuration: its keys, true if it is a whole one, and the open keys.
pub(super) fn read(
    text: &str,
    file: &str,
    context: &Context<'_>,
) -> Result<(Document, bool, Recipe), Problem> {
    let accepts = |recipe: &Recipe| {
        let sections = ["training", "parallelism", "model_spec", "activation_checkpoint"];
        let has = |section: &&&str| {
            recipe.document.has(section) || recipe.document.has(&format!("{OF_TRAINER}{section}"))
        };
        sections.iter().filter(has).count() > 1
    };
    let recipe = python::read(text, file, context, |function| function == "model_registry", &accepts)?;
    let mut document = recipe.document.clone();
    trainer_of_rollouts(&mut document);
    let target = document.get("_target_").map(|entry| entry.data.plain()).unwrap_or_default();
    // A configuration that copies fields from an unknown place has no defaults.
    let is_whole = target.ends_with("Config") && recipe.open_line("").is_none();
    classes(&mut document, &recipe.name);
    Ok((document, is_whole, recipe))
}

/// The section of the trainer, which runs with a generator (`torchtitan/experiments/rl`).
const OF_TRAINER: &str = "trainer.";

/// Keys of reinforcement learning as those of a trainer: the trainer's section, and the batch that is made of
/// rollouts.
fn trainer_of_rollouts(document: &mut Document) {
    if !document.has("trainer.parallelism") {
        return;
    }
    for entry in &mut document.entries {
        let path = match entry.path.strip_prefix("batcher.batch.") {
            Some(inner) => format!("training.{inner}"),
            None => entry.path.strip_prefix(OF_TRAINER).unwrap_or(&entry.path).to_owned(),
        };
        entry.path = path;
    }
    // The generator's own settings have the same names.
    document.entries.retain(|entry| !GENERATION.iter().any(|start| entry.path.starts_with(start)));
}

/// Parts of a job of reinforcement learning that do not train.
const GENERATION: [&str; 12] = [
    "generator.",
    "generator_router.",
    "rollouter.",
    "renderer.",
    "batcher.",
    "reward",
    "grader.",
    "num_groups",
    "num_validation",
    "group_size",
    "policy_",
    "validation",
];

pub(super) fn is_wanted(path: &str) -> bool {
    let path = path.strip_prefix(OF_TRAINER).unwrap_or(path);
    let section = path.split('.').next().unwrap_or(path);
    SECTIONS.contains(&section) || path == "optimizer" || path == GROUPS || is_group(path)
}

/// Groups of parameters, each with an optimizer of its own.
const GROUPS: &str = "optimizer.param_groups";

/// Whether a key names the optimizer of a group.
fn is_group(path: &str) -> bool {
    path.starts_with(GROUPS) && path.ends_with(".optimizer_name")
}

/// Arguments of a model's builder that change a step.
const OF_MODEL: &[&str] =
    &["moe_comm_backend", "non_blocking_capacity_factor", "num_mtp_layers", "attn_backend"];

/// Settings of classes.
fn classes(document: &mut Document, name: &str) {
    let entry = |document: &Document, path: &str| document.get(path).cloned();
    let mut add = Vec::new();
    let mut put = |path: &str, data: Data, from: &Entry| {
        add.push(Entry { path: path.to_owned(), name: path.to_owned(), data, ..from.clone() });
    };
    let text = |text: &str| Data::Text(text.to_owned());
    if let Some(from) = entry(document, "activation_checkpoint._target_") {
        let class = from.data.plain();
        let has_mode = document.get("activation_checkpoint.mode").is_some();
        if class.contains("FullAC") {
            put("activation_checkpoint.mode", text("full"), &from);
        } else if class.contains("SelectiveAC") {
            put("activation_checkpoint.mode", text("selective"), &from);
            put("activation_checkpoint.selective_ac_option", text("op"), &from);
        } else if class.contains("MemoryBudgetAC") {
            put("activation_checkpoint.mode", text("memory_budget"), &from);
        } else if !has_mode {
            put("activation_checkpoint.mode", text(&class), &from);
        }
    } else if let Some(from) = entry(document, "activation_checkpoint").filter(|e| e.data == Data::Null) {
        put("activation_checkpoint.mode", text("none"), &from);
    }
    if let Some(from) = entry(document, "optimizer._target_") {
        let class = from.data.plain().to_ascii_lowercase();
        if let Some(known) = ["adamw", "muon", "lion", "sgd"].into_iter().find(|known| class.contains(known))
        {
            put("optimizer.name", text(known), &from);
        }
    }
    // Norms and embeddings keep Adam; the optimizer of the matrices determines time and memory.
    let groups: Vec<Entry> = document.entries.iter().filter(|e| is_group(&e.path)).cloned().collect();
    let is_adam = |entry: &Entry| entry.data.plain().to_ascii_lowercase().contains("adam");
    if let Some(from) = groups.iter().find(|entry| !is_adam(entry)).or(groups.first()) {
        put("optimizer.name", text(&from.data.plain()), from);
    }
    let mut converters: Vec<(String, Entry)> = Vec::new();
    for from in &document.entries {
        if from.path.starts_with("model_spec.converters.")
            && let Some(rest) = from.path.strip_suffix("._target_")
            && rest.matches('.').count() == 2
        {
            let class = from.data.plain();
            let class = class.trim_end_matches(".Config").rsplit('.').next().unwrap_or_default().to_owned();
            let known = match class.as_str() {
                c if c.contains("MXFP8Linear") => "mxfp8".to_owned(),
                c if c.contains("Float8Linear") => "float8".to_owned(),
                c => c.to_owned(),
            };
            converters.push((known, from.clone()));
        }
    }
    if let Some((_, from)) = converters.first().cloned() {
        let items = converters.into_iter().map(|(word, e)| Node { data: Data::Text(word), spot: e.spot });
        put("model.converters", Data::List(items.collect()), &from);
    }
    let arguments = entry(document, "model_spec._args_");
    let flavour = arguments.as_ref().and_then(|entry| match &entry.data {
        Data::List(items) => items.first().map(|item| item.data.plain()),
        _ => None,
    });
    let flavour = flavour.or_else(|| entry(document, "model_spec.flavor").map(|entry| entry.data.plain()));
    if let (Some(from), Some(flavour)) = (arguments.or_else(|| entry(document, "model_spec.flavor")), flavour)
    {
        let registry = entry(document, "model_spec._target_").map(|entry| entry.data.plain());
        if let Some(family) = registry.as_deref().and_then(registered).or_else(|| family(name, &flavour)) {
            put("model.name", text(family), &from);
        }
        put("model.flavor", text(&flavour), &from);
    }
    if let Some(from) = entry(document, "loss._target_") {
        put("loss.name", text(&from.data.plain()), &from);
    }
    for key in OF_MODEL {
        if let Some(from) = entry(document, &format!("model_spec.{key}")) {
            put(&format!("model.{key}"), from.data.clone(), &from);
        }
    }
    // Remaining classes have no effect.
    document.entries.retain(|entry| {
        let last = entry.path.rsplit('.').next().unwrap_or_default();
        !matches!(last, "_target_" | "_args_")
            && !entry.path.starts_with("model_spec.")
            && entry.path != "activation_checkpoint"
    });
    document.entries.extend(add);
}

/// The family whose registry a flavour is from: `torchtitan.models.qwen3.model_registry`.
fn registered(path: &str) -> Option<&'static str> {
    let package = path.strip_prefix("torchtitan.models.")?.strip_suffix(".model_registry")?;
    FLAVOURS.iter().map(|(family, ..)| *family).find(|family| *family == package)
}

/// The family at the start of a configuration's name, before its flavour: `qwen3_8b_lora`, not `qwen3_5_8b`.
fn family(name: &str, flavour: &str) -> Option<&'static str> {
    let plain = |text: &str| text.to_ascii_lowercase().replace(['-', '_', '.'], "");
    let lower = name.to_ascii_lowercase().replace('-', "_");
    FLAVOURS.iter().map(|(family, ..)| *family).find(|family| {
        lower.match_indices(family).any(|(at, _)| {
            let before = &lower[..at];
            let rest = plain(&lower[at + family.len()..]);
            (before.is_empty() || before.ends_with('_')) && rest.starts_with(&plain(flavour))
        })
    })
}
