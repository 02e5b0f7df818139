//! Commands of Megatron-Bridge's performance scripts, which name a recipe and set its sizes by flags.
//!
//! Responsible for: these flags as the recipe's keys (`scripts/performance/argument_parser.py`, 2025 and
//! 2026), and the name of the recipe. All other settings are in the recipe for the kind of GPU, so they stay
//! open.

use super::started::Started;
use crate::document::{Data, Entry, Spot};
use crate::megatron::stranger::starts_recipe;
use crate::megatron::world::World;
use crate::shell::{self, Command, Script};

/// Flags, and the keys that they set.
const FLAGS: &[(&str, &str)] = &[
    ("tensor_model_parallel_size", "model.tensor_model_parallel_size"),
    ("pipeline_model_parallel_size", "model.pipeline_model_parallel_size"),
    ("virtual_pipeline_model_parallel_size", "model.virtual_pipeline_model_parallel_size"),
    ("context_parallel_size", "model.context_parallel_size"),
    ("expert_model_parallel_size", "model.expert_model_parallel_size"),
    ("expert_tensor_parallel_size", "model.expert_tensor_parallel_size"),
    ("sequence_parallel", "model.sequence_parallel"),
    ("seq_length", "model.seq_length"),
    ("global_batch_size", "train.global_batch_size"),
    ("micro_batch_size", "train.micro_batch_size"),
    ("recompute_granularity", "model.recompute_granularity"),
    ("recompute_method", "model.recompute_method"),
    ("recompute_num_layers", "model.recompute_num_layers"),
    ("recompute_modules", "model.recompute_modules"),
    ("use_megatron_fsdp", "ddp.use_megatron_fsdp"),
    ("cuda_graph_impl", "model.cuda_graph_impl"),
    ("cuda_graph_scope", "model.cuda_graph_scope"),
];

/// Formats of products, and the recipes of mixed precision that use them.
const FORMATS: &[(&str, &str)] = &[
    ("bf16", "bf16_mixed"),
    ("fp8_cs", "bf16_with_fp8_current_scaling_mixed"),
    ("fp8_ds", "bf16_with_fp8_delayed_scaling_mixed"),
    ("fp8_sc", "bf16_with_fp8_subchannel_scaling_mixed"),
    ("fp8_mx", "bf16_with_mxfp8_mixed"),
    ("nvfp4", "bf16_with_nvfp4_mixed"),
];

/// Flags without effect on the plan.
const HARMLESS: &[&str] = &[
    "account",
    "partition",
    "time_limit",
    "container_image",
    "custom_mounts",
    "hf_token",
    "wandb_key",
    "wandb_project_name",
    "wandb_experiment_name",
    "log_dir",
    "dryrun",
    "detach",
    "max_steps",
    "max_step",
    "gpu",
    "gpus_per_node",
    "num_gpus",
    "model_name",
    "model_family_name",
    "model_size",
    "model_recipe_name",
    "domain",
];

/// The command of a script, or of a text that it writes for its ranks.
fn command(script: &Script, text: &str) -> Option<Command> {
    let is_start = |command: &&Command| {
        let words: Vec<&str> = command.words.iter().map(|word| word.text.as_str()).collect();
        words.iter().any(|word| crate::megatron::is_program(word)) && starts_recipe(&words.join(" "))
    };
    if let Some(command) = script.commands.iter().rev().find(is_start) {
        return Some(command.clone());
    }
    shell::documents(text).1.iter().rev().find_map(|written| {
        // The outer shell removes these.
        let inner = shell::read_alone(&written.text.replace("\\$", "$"));
        let mut command = inner.commands.iter().rev().find(is_start)?.clone();
        for word in &mut command.words {
            word.line += written.before;
        }
        Some(command)
    })
}

/// The settings of the command; `None` if a text has none.
pub(super) fn read(script: &Script, text: &str) -> Option<Started> {
    if !starts_recipe(text) {
        return None;
    }
    let command = command(script, text)?;
    let mut started = Started::default();
    let (mut name, mut gpus, mut per_node) = ([None, None, None], None, None);
    // Those before the program are options of its launcher.
    let program = command.words.iter().position(|word| crate::megatron::is_program(&word.text)).unwrap_or(0);
    let mut words = command.words.iter().skip(program).peekable();
    while let Some(word) = words.next() {
        let Some(flag) = word.text.strip_prefix("--") else {
            if let Some((path, value)) = word.text.split_once('=').filter(|(path, _)| path.contains('.')) {
                put(&mut started, path, value, word.line, word.unknown.is_empty());
            }
            continue;
        };
        let (flag, value, is_known) = match flag.split_once('=') {
            Some((flag, value)) => (flag, value.to_owned(), word.unknown.is_empty()),
            None => match words.next_if(|next| !next.text.starts_with("--")) {
                Some(next) => (flag, next.text.clone(), next.unknown.is_empty()),
                None => (flag, "true".to_owned(), true),
            },
        };
        let count = || value.parse::<u64>().ok().filter(|&n| n > 0 && is_known);
        match flag {
            "model_recipe_name" => name[0] = Some((value.clone(), word.line)),
            "model_name" => name[1] = Some((value.clone(), word.line)),
            "model_size" => name[2] = Some((value.clone(), word.line)),
            "num_gpus" => gpus = count().map(|n| (n, word.line)),
            "gpus_per_node" => per_node = count(),
            "compute_dtype" => {
                let format =
                    FORMATS.iter().find(|(own, _)| *own == value).map_or(value.as_str(), |(_, name)| name);
                put(&mut started, "mixed_precision", format, word.line, is_known);
            }
            _ => {
                if let Some((_, path)) = FLAGS.iter().find(|(own, _)| *own == flag) {
                    put(&mut started, path, &value, word.line, is_known);
                } else if !HARMLESS.contains(&flag) && word.text.starts_with("--") {
                    started.unknown.push((format!("--{flag} {value}"), word.line));
                }
            }
        }
    }
    if let Some((gpus, line)) = gpus {
        let source = format!("--num_gpus {gpus}");
        started.world = World { ranks: Some(gpus), per_node, source, line: Some(line) };
    }
    started.recipe = match name {
        [Some(recipe), ..] => Some(recipe),
        [None, Some((name, line)), size] => {
            Some((size.map_or_else(|| name.clone(), |(size, _)| format!("{name}_{size}")), line))
        }
        _ => None,
    };
    Some(started)
}

fn put(started: &mut Started, path: &str, value: &str, line: usize, is_known: bool) {
    if !is_known {
        return started.open.push((format!("{path}={value}"), line));
    }
    let spot = Spot { line, column: 0 };
    started.document.entries.retain(|entry| entry.path != path);
    started.document.entries.push(Entry::new(path.to_owned(), Data::of_word(value), spot));
}
