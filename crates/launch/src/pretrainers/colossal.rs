//! Colossal-AI's programs with a booster: `--plugin` and the flags of its plugins.
//!
//! Responsible for: `applications/Colossal-LLaMA`, `applications/ColossalChat` and programs with the same
//! flags (Colossal-AI 0.4). Formats and recompute without a flag are open, because the programs differ in
//! them.

use super::common::{flags, sharding};
use crate::fields::{Fields, Known, Meaning};
use crate::missing::missing;
use crate::shell::{self, Word};
use crate::{Context, Format, Launch, RemarkKind, trainers};
use Meaning::{Ignored, Key, Lost, Read};
use railwright_spec::plan::{ContextKind, PrecisionPreset, Recompute};
use railwright_spec::problem::Problem;

pub(super) const WHY: &str = "a command of Colossal-AI with `--plugin`";

const KNOWN: &[Known] = &[
    ("plugin", Read),
    ("pretrained", Read),
    ("pretrain", Read),
    ("model_path", Read),
    ("tp", Read),
    ("pp", Read),
    ("sp", Read),
    ("sp_mode", Read),
    ("enable_sequence_parallelism", Read),
    ("zero_stage", Read),
    ("zero_cpu_offload", Read),
    ("batch_size", Read),
    ("microbatch_size", Read),
    ("micro_batch_size", Read),
    ("accumulation_steps", Read),
    ("max_length", Key("plan.sequence_length")),
    ("max_len", Key("plan.sequence_length")),
    ("mixed_precision", Read),
    ("use_grad_checkpoint", Read),
    ("grad_checkpoint", Read),
    ("lora_rank", Read),
    ("use_flash_attn", Ignored),
    (
        "freeze_non_embeds_params",
        Lost(&["false"], "all parameters are assumed to be trained, an upper bound"),
    ),
    ("use_neft", Ignored),
    ("lr", Ignored),
    ("weight_decay", Ignored),
    ("warmup_steps", Ignored),
    ("grad_clip", Ignored),
    ("num_epochs", Ignored),
    ("max_epochs", Ignored),
    ("save_interval", Ignored),
    ("dataset", Ignored),
    ("save_dir", Ignored),
    ("save_path", Ignored),
    ("config_file", Ignored),
    ("tensorboard_dir", Ignored),
    ("log_dir", Ignored),
    ("tokenizer_dir", Ignored),
    ("project_name", Ignored),
    ("padding_mode", Ignored),
    ("use_wandb", Ignored),
];

const PLUGINS: [&str; 9] =
    ["gemini", "gemini_auto", "zero1", "zero2", "zero1_cpu", "zero2_cpu", "3d", "3d_cpu", "ddp"];

fn is_program(word: &str) -> bool {
    std::path::Path::new(word).extension().is_some_and(|end| end == "py")
}

pub(super) fn is_one(text: &str) -> bool {
    if !text.contains("--plugin") || !(text.contains("colossal") || text.contains("Colossal")) {
        return false;
    }
    let script = shell::read_alone(text);
    let Some((_, words)) = script.last_with(is_program) else { return false };
    words.iter().any(|word| word.text == "--plugin" || word.text.starts_with("--plugin="))
}

pub(super) fn read(text: &str, file: &str) -> Result<Launch, Vec<Problem>> {
    let script = shell::read(text, file, &Context::default(), |_| Vec::new());
    let Some((launcher, words)) = script.last_with(is_program) else {
        return Err(vec![
            Problem::new("no command in this file starts a program of Colossal-AI").in_file(file),
        ]);
    };
    let mut fields = Fields::new(Format::Pretrainer, file, text, flags(words));
    for (line, what, why) in &script.open {
        fields.draft.remark(RemarkKind::Unresolved, what, Some(*line), why.clone());
    }
    devices(&mut fields, launcher);
    for path in ["pretrained", "pretrain", "model_path"] {
        if let Some(name) = fields.word(path) {
            fields.named_model(path, &name);
            break;
        }
    }
    fields.copy(KNOWN);
    let plugin = fields.word("plugin").unwrap_or_default();
    let is_3d = plugin.starts_with("3d");
    shards(&mut fields, &plugin);
    degrees(&mut fields, is_3d);
    batch(&mut fields, is_3d);
    let path = "mixed_precision";
    match fields.word(path).as_deref() {
        Some("bf16") => fields.set("plan.precision.preset", &PrecisionPreset::Bf16, path),
        Some("fp16") => fields.set("plan.precision.preset", &PrecisionPreset::Fp16, path),
        _ => {
            let why = "programs of Colossal-AI differ in the default of `--mixed_precision`";
            fields.draft.leave_open("plan.precision.preset", "", None, why);
        }
    }
    let on =
        ["use_grad_checkpoint", "grad_checkpoint"].into_iter().find(|path| fields.flag(path) == Some(true));
    match on {
        Some(path) => fields.set("plan.recompute", &Recompute::Full { layers: None }, path),
        None => fields.default(
            "plan.recompute",
            &Recompute::None,
            "nothing is recomputed without `--use_grad_checkpoint`",
        ),
    }
    let path = "lora_rank";
    if fields.count(path).is_some_and(|rank| rank > 0) {
        let (source, line) = fields.source(path);
        crate::adapter::lora(&mut fields.draft, &source, line);
        if let Some(rank) = fields.count(path) {
            fields.set("plan.lora_rank", &rank, path);
        }
    }
    missing(&mut fields, "Colossal-AI");
    fields.rest(KNOWN);
    fields.finish()
}

/// A list of hosts is in another file, so the number of nodes is open with one.
fn devices(fields: &mut Fields<'_>, launcher: &[Word]) {
    let hosts = launcher.iter().find(|word| word.text.starts_with("--hostfile") || word.text == "--host");
    let Some((devices, source, line)) = trainers::processes(launcher) else { return };
    match hosts {
        Some(word) => {
            let why = "the hosts are in another file: pass --gpus";
            fields.draft.leave_open("cluster.devices", &word.text, Some(word.line), why);
        }
        None => fields.draft.set("cluster.devices", &devices, &source, Some(line)),
    }
}

/// The states that a plugin shards (`colossalai/booster/plugin`).
fn shards(fields: &mut Fields<'_>, plugin: &str) {
    let (key, path) = ("plan.sharding", "plugin");
    let stage = match plugin {
        "ddp" => 0,
        "zero1" | "zero1_cpu" => 1,
        "zero2" | "zero2_cpu" => 2,
        // Chunks of all states over all ranks.
        "gemini" | "gemini_auto" => 3,
        "3d" | "3d_cpu" => match fields.count("zero_stage") {
            Some(stage @ 1..=2) => stage as u8,
            _ => 0,
        },
        _ => {
            let (source, line) = fields.source(path);
            let known = PLUGINS.join(", ");
            let why = format!("unknown plugin; known plugins: {known}");
            return fields.draft.leave_open(key, &source, line, &why);
        }
    };
    fields.set(key, &sharding(stage, None), if plugin.starts_with("3d") { "zero_stage" } else { path });
    if plugin == "gemini_auto" {
        let (source, line) = fields.source(path);
        let why = "the plugin moves states to the host as memory requires";
        fields.draft.leave_open("plan.offload.optimizer", &source, line, why);
        fields.remark(RemarkKind::Unresolved, path, why);
    }
    let of_3d = plugin == "3d_cpu" || fields.flag("zero_cpu_offload") == Some(true);
    if plugin.ends_with("_cpu") || (plugin == "3d" && of_3d) {
        fields.set("plan.offload.optimizer", &1.0, path);
    }
}

fn degrees(fields: &mut Fields<'_>, is_3d: bool) {
    for (path, key) in [("tp", "plan.tensor_parallel"), ("pp", "plan.pipeline_parallel")] {
        let Some(ranks) = fields.count(path).filter(|&ranks| ranks > 0) else { continue };
        if is_3d {
            fields.set(key, &ranks, path);
        } else if ranks > 1 {
            let (source, line) = fields.source(path);
            let why = "support by this plugin depends on the program";
            fields.draft.leave_open(key, &source, line, why);
        }
    }
    let mode = fields.word("sp_mode").unwrap_or_else(|| "split_gather".to_owned());
    let is_on = fields.flag("enable_sequence_parallelism") == Some(true);
    let ranks = fields.count("sp").filter(|&ranks| is_3d && is_on && ranks > 1);
    match (mode.as_str(), ranks) {
        ("all_to_all", Some(ranks)) => {
            fields.set("plan.context_parallel", &ranks, "sp");
            fields.set("plan.context_kind", &ContextKind::Ulysses, "sp_mode");
        }
        ("ring_attn", Some(ranks)) => {
            fields.set("plan.context_parallel", &ranks, "sp");
            fields.set("plan.context_kind", &ContextKind::Ring, "sp_mode");
        }
        // The ranks of tensor parallelism.
        _ if is_3d && is_on => fields.set("plan.sequence_parallel", &true, "enable_sequence_parallelism"),
        _ => {}
    }
    fields.undivided("Colossal-AI");
}

/// Samples of a data-parallel rank; a pipeline divides them into micro-batches.
fn batch(fields: &mut Fields<'_>, is_3d: bool) {
    let stages = fields.draft.spec().plan.pipeline_parallel.unwrap_or(1);
    let steps = fields.count("accumulation_steps").unwrap_or(1).max(1);
    let Some(samples) = fields.count("batch_size").filter(|&samples| samples > 0) else { return };
    let paths = ["microbatch_size", "micro_batch_size"];
    let micro =
        paths.into_iter().find_map(|path| Some((path, fields.count(path).filter(|&micro| micro > 0)?)));
    match micro {
        Some((path, micro)) if is_3d && stages > 1 => {
            fields.set("plan.micro_batch", &micro, path);
            fields.set("plan.micro_batches", &samples.div_ceil(micro).saturating_mul(steps), "batch_size");
        }
        None if is_3d && stages > 1 => {
            let (source, line) = fields.source("batch_size");
            let why = "the pipeline divides it into micro-batches, whose size is not set";
            fields.draft.leave_open("plan.micro_batch", &source, line, why);
        }
        _ => {
            fields.set("plan.micro_batch", &samples, "batch_size");
            fields.set("plan.micro_batches", &steps, "accumulation_steps");
        }
    }
}
