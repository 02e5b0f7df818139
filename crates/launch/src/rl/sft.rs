//! verl's supervised fine-tuning: overrides after `verl.trainer.fsdp_sft_trainer` and
//! `verl.trainer.sft_trainer`.
//!
//! Responsible for: the command with its overrides and the ranks that `torchrun` starts, and the defaults of
//! `sft_trainer.yaml` and `sft_trainer_engine.yaml` (August 2025 to August 2026). Engines other than FSDP and
//! Megatron are errors.

use super::common::{adapters, devices, model, offload, overrides, sharing};
use crate::RemarkKind;
use crate::accelerate::unpadded;
use crate::document::{Data, Document, Entry, Spot};
use crate::fields::{Fields, Known, Meaning};
use crate::packed;
use crate::shell::{Command, Script, Word};
use Meaning::{Ignored, Key, Lost, Read};
use railwright_spec::plan::{ContextKind, PrecisionPreset, Recompute, Sharding};
use railwright_spec::problem::Problem;

/// The programs: the first is only FSDP, the second has a choice of engines.
const PROGRAMS: [&str; 2] = ["fsdp_sft_trainer", "verl.trainer.sft_trainer"];
/// Ranks started by a launcher, and their keys in verl's own configuration.
const RANKS: &[(&str, &str)] = &[
    ("--nproc_per_node", "trainer.n_gpus_per_node"),
    ("--nproc-per-node", "trainer.n_gpus_per_node"),
    ("--nnodes", "trainer.nnodes"),
];

/// Overrides without a value, with their lines.
type Unknown = Vec<(String, usize)>;

/// Tests whether a text is verl's own configuration of fine-tuning, or a changed copy of it.
pub(crate) fn is_configuration(text: &str) -> bool {
    let has = |key: &str| text.lines().any(|line| line.starts_with(key));
    has("data:")
        && has("model:")
        && text.lines().any(|line| line.trim_start().starts_with("partial_pretrain:"))
}

pub(super) fn is_one(text: &str) -> bool {
    PROGRAMS.iter().any(|program| text.contains(program))
        && ["data.", "model."].iter().all(|section| text.contains(section))
}

pub(super) const KNOWN: &[Known] = &[
    ("data.train_batch_size", Key("plan.global_batch")),
    ("data.max_length", Key("plan.sequence_length")),
    ("data.micro_batch_size_per_gpu", Read),
    ("data.micro_batch_size", Read),
    ("data.use_dynamic_bsz", Read),
    ("data.max_token_len_per_gpu", Read),
    ("model.partial_pretrain", Read),
    ("model.path", Read),
    ("model.enable_gradient_checkpointing", Read),
    ("model.lora_rank", Read),
    ("model.target_modules", Read),
    ("model.strategy", Read),
    ("model.fsdp_config.cpu_offload", Read),
    ("ulysses_sequence_parallel_size", Read),
    ("engine", Read),
    ("engine.strategy", Read),
    ("engine.fsdp_size", Read),
    ("engine.ulysses_sequence_parallel_size", Read),
    ("engine.tensor_model_parallel_size", Read),
    ("engine.pipeline_model_parallel_size", Read),
    ("engine.context_parallel_size", Read),
    ("engine.expert_model_parallel_size", Read),
    ("engine.expert_tensor_parallel_size", Read),
    ("engine.virtual_pipeline_model_parallel_size", Read),
    ("engine.sequence_parallel", Read),
    ("engine.use_distributed_optimizer", Read),
    ("engine.param_offload", Read),
    ("engine.optimizer_offload", Read),
    ("engine.offload_policy", Read),
    ("engine.override_transformer_config.recompute_granularity", Read),
    ("engine.override_transformer_config.recompute_method", Read),
    ("engine.override_transformer_config.recompute_num_layers", Read),
    ("engine.override_transformer_config.*", Ignored),
    ("engine.dtype", Read),
    ("engine.grad_offload", Ignored),
    ("engine.use_mbridge", Ignored),
    ("engine.vanilla_mbridge", Ignored),
    ("engine.use_remove_padding", Ignored),
    ("engine.use_dist_checkpointing", Ignored),
    ("engine.dist_checkpointing_path", Ignored),
    ("engine.seed", Ignored),
    ("engine.forward_prefetch", Ignored),
    (
        "engine.model_dtype",
        Lost(&["fp32", "float32"], "weights are estimated with 32-bit copies, an upper bound on memory"),
    ),
    ("engine.reshard_after_forward", Lost(&["true"], "estimated with a second gather in the backward pass")),
    ("engine.use_torch_compile", Ignored),
    ("optim.override_optimizer_config.optimizer_cpu_offload", Read),
    ("optim.override_optimizer_config.optimizer_offload_fraction", Read),
    ("trainer.nnodes", Read),
    ("trainer.n_gpus_per_node", Read),
    ("data.*", Ignored),
    ("model.*", Ignored),
    ("trainer.*", Ignored),
    ("optim.*", Ignored),
    ("checkpoint.*", Ignored),
    ("use_remove_padding", Ignored),
];

/// The overrides of the command that starts the trainer.
pub(super) fn parse(script: &Script, file: &str) -> Result<(Document, Unknown), Problem> {
    let is_start = |command: &&Command| {
        command.words.iter().any(|word| PROGRAMS.iter().any(|program| word.text.contains(program)))
    };
    let started: Vec<&Command> = script.commands.iter().filter(is_start).collect();
    let Some(command) = started.last() else {
        let message = "no command in this file starts verl's fine-tuning";
        // A command that starts with an override has its program in a variable that the caller sets.
        let is_override = |word: &&Word| {
            let is_of_program =
                ["data.", "model.", "trainer."].iter().any(|start| word.text.starts_with(start));
            is_of_program && word.text.contains('=')
        };
        let first = |command: &Command| {
            let is_known = |word: &&Word| word.unknown.is_empty() && !word.text.is_empty();
            command.words.iter().find(is_known).filter(is_override).cloned()
        };
        let bare = script.commands.iter().find_map(first);
        return Err(match bare {
            Some(word) => Problem::new(format!(
                "the program of the command at line {} is in a variable without a value",
                word.line
            ))
            .hint(
                "pass the variable after `--`, as in `-- COMMAND=\"torchrun -m verl.trainer.sft_trainer\"`",
            ),
            None => Problem::new(message),
        }
        .in_file(file));
    };
    let (mut document, mut unknown) = (Document::default(), Vec::new());
    let mut put = |name: &str, value: &str, word: &Word| {
        let spot = Spot { line: word.line, column: 0 };
        let data = if word.unknown.is_empty() {
            Data::of_word(value.trim_matches(['"', '\'']))
        } else {
            unknown.push((format!("{name}={value}"), word.line));
            // `auto` keeps a value open, so that no default is stated for it.
            Data::Text("auto".to_owned())
        };
        document.entries.push(Entry::new(name.to_owned(), data, spot));
    };
    let mut words = command.words.iter().peekable();
    while let Some(word) = words.next() {
        let flag = word.text.split('=').next().unwrap_or_default();
        if let Some((_, path)) = RANKS.iter().find(|(name, _)| *name == flag) {
            match word.text.split_once('=') {
                Some((_, value)) => put(path, value, word),
                None => {
                    if let Some(value) = words.next() {
                        put(path, &value.text, value);
                    }
                }
            }
        } else if let Some((name, value)) = word.text.trim_start_matches(['+', '~']).split_once('=')
            && !name.starts_with('-')
        {
            put(name, value, word);
        }
    }
    Ok((document, unknown))
}

pub(super) fn fill(fields: &mut Fields<'_>) {
    devices(fields, "trainer.nnodes", "trainer.n_gpus_per_node");
    if fields.document.get("trainer.nnodes").is_none()
        && let Some(ranks) = fields.count("trainer.n_gpus_per_node").filter(|&n| n > 0)
    {
        fields.set("cluster.devices", &ranks, "trainer.n_gpus_per_node");
    }
    let is_engine = !fields.text().contains(PROGRAMS[0]) && !is_configuration(fields.text());
    model(fields, if is_engine { "model.path" } else { "model.partial_pretrain" });
    if fields.document.get("data.train_batch_size").is_none() {
        fields.default("plan.global_batch", &256_u64, "verl trains on 256 samples per step by default");
    }
    if fields.document.get("data.max_length").is_none() {
        fields.default(
            "plan.sequence_length",
            &1024_u64,
            "verl truncates samples at 1,024 tokens by default",
        );
    }
    batch(fields, is_engine);
    // `engine` chooses a file of defaults, `engine.strategy` the engine that runs.
    let [file, strategy] = ["engine", "engine.strategy"].map(|path| fields.word(path));
    let engine = strategy.or(file);
    match engine.as_deref() {
        Some("megatron") => megatron(fields),
        None | Some("fsdp" | "fsdp2") => fsdp(fields, is_engine, engine.as_deref()),
        Some(_) => fields.problem(Problem::new("expected `fsdp` or `megatron`"), "engine"),
    }
    adapters(fields, "model.lora_rank", "model.target_modules");
    let path = "engine.dtype";
    match fields.word(path).as_deref() {
        Some("float16" | "fp16") => fields.set("plan.precision.preset", &PrecisionPreset::Fp16, path),
        Some("bfloat16" | "bf16") => fields.set("plan.precision.preset", &PrecisionPreset::Bf16, path),
        _ => {}
    }
    fields.default("plan.precision.preset", &PrecisionPreset::Bf16, "verl computes in bfloat16");
    unpadded(fields);
    let message = "all samples are assumed to have the maximum length, an upper bound on time and memory";
    fields.draft.remark(RemarkKind::Assumed, "plan.sequence_length", None, message);
}

/// Samples of a rank in one pass; the engine packs them up to a number of tokens, 8,192 by default.
fn batch(fields: &mut Fields<'_>, is_engine: bool) {
    let paths = ["data.micro_batch_size_per_gpu", "data.micro_batch_size"];
    if is_engine && fields.flag("data.use_dynamic_bsz") != Some(false) {
        let tokens = "data.max_token_len_per_gpu";
        if fields.is_auto(tokens) {
            return;
        }
        // Ranks that share a sequence each take this many tokens (`prepare_micro_batches`).
        let is_megatron = fields.document.get("engine").is_some_and(|entry| entry.data.plain() == "megatron");
        let own = if is_megatron {
            "engine.context_parallel_size"
        } else {
            "engine.ulysses_sequence_parallel_size"
        };
        let ranks = sharing(fields, &[own]);
        let count = fields.count(tokens).unwrap_or(8192).saturating_mul(ranks);
        if let Some(length) = fields.draft.spec().plan.sequence_length.filter(|&length| length > 0) {
            let why = "verl packs samples up to 8,192 tokens by default";
            let degrees = ["engine.tensor_model_parallel_size", "engine.pipeline_model_parallel_size"];
            let layered = if is_megatron { sharing(fields, &degrees) } else { 1 };
            let share = packed::share(fields.draft.spec(), ranks.saturating_mul(layered));
            let micro = packed::samples(count, length, share);
            if fields.document.get(tokens).is_some() {
                fields.set("plan.micro_batch", &micro, tokens);
            } else {
                fields.default("plan.micro_batch", &micro, why);
            }
        }
        return;
    }
    match paths.into_iter().find_map(|path| Some((path, fields.count(path).filter(|&n| n > 0)?))) {
        Some((path, micro)) => fields.set("plan.micro_batch", &micro, path),
        None if paths.iter().any(|path| fields.is_auto(path)) => {}
        None => fields.default("plan.micro_batch", &4_u64, "verl has a micro-batch of 4 samples by default"),
    }
}

fn fsdp(fields: &mut Fields<'_>, is_engine: bool, engine: Option<&str>) {
    let path = "model.strategy";
    let strategy = fields.word(path);
    let sharding = Sharding { zero_stage: 3, group: None, reshard_after_forward: true };
    let size = "engine.fsdp_size";
    match fields.integer(size).and_then(|n| u64::try_from(n).ok()).filter(|&n| n > 0) {
        Some(group) => fields.set("plan.sharding", &Sharding { group: Some(group), ..sharding }, size),
        None => fields.default("plan.sharding", &sharding, "verl uses full sharding by default"),
    }
    fields.default("plan.tensor_parallel", &1_u64, "FSDP does not shard layers");
    fields.default("plan.pipeline_parallel", &1_u64, "FSDP does not support pipeline parallelism");
    let path =
        if is_engine { "engine.ulysses_sequence_parallel_size" } else { "ulysses_sequence_parallel_size" };
    if let Some(context) = fields.count(path).filter(|&n| n > 0) {
        fields.set("plan.context_parallel", &context, path);
        if context > 1 {
            fields.set("plan.context_kind", &ContextKind::Ulysses, path);
        }
    }
    let path = "model.enable_gradient_checkpointing";
    match fields.flag(path) {
        Some(true) => fields.set("plan.recompute", &Recompute::Full { layers: None }, path),
        Some(false) => fields.set("plan.recompute", &Recompute::None, path),
        None if fields.is_auto(path) => {}
        None => {
            let why = "verl checkpoints every layer by default";
            fields.default("plan.recompute", &Recompute::Full { layers: None }, why);
        }
    }
    let path = "model.fsdp_config.cpu_offload";
    if fields.flag(path) == Some(true) {
        fields.set("plan.offload.parameters", &1.0, path);
        fields.set("plan.offload.optimizer", &1.0, path);
    }
    let path = "engine.offload_policy";
    if fields.flag(path) == Some(true) {
        fields.set("plan.offload.parameters", &1.0, path);
        fields.set("plan.offload.optimizer", &1.0, path);
    }
    offload(fields, "engine.param_offload", "engine.optimizer_offload");
    let is_first = strategy.as_deref() == Some("fsdp") || (is_engine && engine != Some("fsdp2"));
    let id = if is_first { "fsdp1-2023" } else { "torchtitan-2024-eager" };
    fields.default("plan.software", &id.to_owned(), "PyTorch's FSDP under verl, eager");
}

fn megatron(fields: &mut Fields<'_>) {
    for (key, to) in [
        ("tensor_model_parallel_size", "plan.tensor_parallel"),
        ("pipeline_model_parallel_size", "plan.pipeline_parallel"),
        ("context_parallel_size", "plan.context_parallel"),
        ("expert_model_parallel_size", "plan.expert_parallel"),
    ] {
        let path = format!("engine.{key}");
        match fields.count(&path).filter(|&n| n > 0) {
            Some(n) => fields.set(to, &n, &path),
            None if fields.document.get(&path).is_some() => {}
            None => fields.default(to, &1_u64, "verl uses no parallelism by default"),
        }
    }
    let path = "engine.expert_tensor_parallel_size";
    if let Some(n) = fields.count(path).filter(|&n| n > 0) {
        fields.set("plan.expert_tensor_parallel", &n, path);
    }
    let path = "engine.virtual_pipeline_model_parallel_size";
    if let Some(n) = fields.count(path).filter(|&n| n > 0) {
        fields.set("plan.virtual_stages", &n, path);
    }
    let path = "engine.sequence_parallel";
    let is_cut = fields.draft.spec().plan.tensor_parallel.map(|tensor| tensor > 1);
    match (fields.flag(path), is_cut) {
        (Some(flag), Some(is_cut)) => fields.set("plan.sequence_parallel", &(flag && is_cut), path),
        (None, Some(is_cut)) if fields.document.get(path).is_none() => {
            fields.default("plan.sequence_parallel", &is_cut, "verl shards norms with tensor parallelism");
        }
        _ => {}
    }
    let path = "engine.use_distributed_optimizer";
    let stage =
        |shards: bool| Sharding { zero_stage: u8::from(shards), group: None, reshard_after_forward: false };
    match fields.flag(path) {
        Some(shards) => fields.set("plan.sharding", &stage(shards), path),
        None if fields.document.get(path).is_some() => {}
        None => {
            let why = "verl's Megatron shards the optimizer by default";
            fields.default("plan.sharding", &stage(true), why);
        }
    }
    overrides(fields, "engine", "optim");
    if !fields.is_auto("engine.override_transformer_config.recompute_granularity") {
        let why = "verl's Megatron does not recompute by default";
        if fields.document.get("engine.override_transformer_config.recompute_granularity").is_none() {
            fields.default("plan.recompute", &Recompute::None, why);
        }
    }
    offload(fields, "engine.param_offload", "engine.optimizer_offload");
    fields.default("plan.software", &"megatron-core-2025".to_owned(), "Megatron-Core under verl");
}
