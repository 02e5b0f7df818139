//! The files of DeepSpeed and accelerate that a configuration or a command names.
//!
//! Responsible for: their settings of sharding, ranks and precision as keys of the same document; the
//! trainer's own keys take precedence. Leaves the name of a file that cannot be opened.

use super::common::put;
use crate::Context;
use crate::document::{self, Data, Document, Entry, Spot};

/// Sections and keys of accelerate's file that a trainer lacks.
const ACCELERATE: [&str; 5] =
    ["fsdp_config", "deepspeed_config", "parallelism_config", "num_processes", "mixed_precision"];

/// Sections and keys of DeepSpeed's file that a trainer leaves to it.
const SECTIONS: [&str; 6] = [
    "zero_optimization",
    "activation_checkpointing",
    "tensor_parallel",
    "sequence_parallel_size",
    "data_types",
    "communication_data_type",
];

/// Ends of its keys for states in 16 bits, which are in the section of a format.
const STATES: [&str; 2] = ["16_master_weights_and_grads", "16_optimizer_states"];

/// The keys that name such a file; true if it is accelerate's.
const NAMED: [(&str, bool); 4] = [
    ("accelerate", true),
    ("deepspeed", false),
    ("deepspeed_config.deepspeed_config_file", false),
    (OF_PROGRAM, false),
];

/// The flag of DeepSpeed's own parser, which a program uses that calls DeepSpeed itself.
pub(super) const OF_PROGRAM: &str = "deepspeed_config";

/// The configuration of a model that a key names by its file or its folder, with the key. A configuration of
/// its own comes before weights: Transformers' `run_clm.py` trains it from the start.
pub(super) fn model(
    document: &Document,
    file: &str,
    context: &Context<'_>,
) -> Option<(&'static str, String)> {
    const OWN: [&str; 2] = ["config_name", "config_name_or_path"];
    OWN.into_iter().chain(super::command::MODELS).find_map(|key| {
        let Data::Text(path) = &document.get(key)?.data else { return None };
        let path = path.trim_end_matches('/');
        let is_json = std::path::Path::new(path).extension().is_some_and(|end| end == "json");
        let config = if is_json { path.to_owned() } else { format!("{path}/config.json") };
        let (_, text) = context.open(&config, file).ok().filter(|_| path.contains(['/', '.']))?;
        let is_model = document::json(&text, &config).ok()?.has("model_type");
        is_model.then_some((key, text))
    })
}

/// Adds the settings of the files that can be opened.
pub(super) fn open(document: &mut Document, file: &str, context: &Context<'_>) {
    for (key, is_accelerate) in NAMED {
        let Some(Data::Text(path)) = document.get(key).map(|entry| entry.data.clone()) else { continue };
        let Ok((name, text)) = context.open(&path, file) else { continue };
        let read = if is_accelerate { document::yaml(&text, &name) } else { document::json(&text, &name) };
        let Ok(other) = read else { continue };
        let mut more = Vec::new();
        for entry in other.entries {
            let section = entry.path.split('.').next().unwrap_or_default();
            let is_wanted = if is_accelerate {
                ACCELERATE.contains(&section)
            } else {
                // Transformers' Trainer fills the formats of the file with its own.
                SECTIONS.contains(&section)
                    || STATES.iter().any(|state| entry.path.ends_with(state))
                    || (key == OF_PROGRAM && matches!(section, "bf16" | "bfloat16" | "fp16"))
            };
            let path =
                if is_accelerate { entry.path.clone() } else { format!("deepspeed_file.{}", entry.path) };
            if is_wanted && document.get(&path).is_none() {
                // The lines of the other file would appear as lines of this one.
                more.push(Entry::new(path, entry.data, Spot { line: 0, column: 0 }));
            }
        }
        if !is_accelerate && !more.iter().any(|entry| entry.path.contains("zero_optimization")) {
            // A file without `zero_optimization` has no sharding.
            let path = "deepspeed_file.zero_optimization.stage".to_owned();
            more.push(Entry::new(path, Data::Integer(0), Spot { line: 0, column: 0 }));
        }
        document.entries.retain(|entry| entry.path != key);
        document.entries.extend(more);
        if is_accelerate {
            put(document, "accelerate", Data::Flag(true), 0);
        }
    }
    for key in ["fsdp", "fsdp_config"] {
        fsdp(document, key, file, context);
    }
}

/// Adds the settings of a JSON file of FSDP: the table of `--fsdp_config`, or a file of both flags that
/// ms-swift's `--fsdp` names.
fn fsdp(document: &mut Document, key: &str, file: &str, context: &Context<'_>) {
    let Some(Data::Text(path)) = document.get(key).map(|entry| entry.data.clone()) else { return };
    if !is_file(&path) {
        return;
    }
    let Ok((name, text)) = context.open(&path, file) else { return };
    let Ok(other) = document::json(&text, &name) else { return };
    document.entries.retain(|entry| entry.path != key);
    let mut has_settings = false;
    for entry in other.entries {
        let path = match entry.path.strip_prefix("fsdp_config.") {
            Some(inner) => inner.to_owned(),
            None if entry.path == "fsdp" => {
                put(document, "fsdp", entry.data, 0);
                has_settings = true;
                continue;
            }
            None if key == "fsdp_config" || entry.path == "fsdp_version" => entry.path,
            None => continue,
        };
        // PyTorch/XLA has its own name for recompute.
        let path = match path.as_str() {
            "xla_fsdp_grad_ckpt" => "activation_checkpointing",
            path => path.strip_prefix("fsdp_").unwrap_or(path),
        };
        let path = format!("fsdp_config.fsdp_{path}");
        if document.get(&path).is_none() {
            document.entries.push(Entry::new(path, entry.data, Spot { line: 0, column: 0 }));
            has_settings = true;
        }
    }
    if !has_settings {
        // The name of the file stays, so that its settings are listed as unknown.
        put(document, key, Data::Text(path), 0);
    }
}

/// Tests whether a value names a file, where FSDP has words such as `full_shard auto_wrap`.
pub(super) fn is_file(value: &str) -> bool {
    std::path::Path::new(value.trim()).extension().is_some_and(|end| end == "json" || end == "yaml")
}
