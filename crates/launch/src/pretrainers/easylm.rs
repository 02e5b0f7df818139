//! EasyLM's command for Llama: flags of a mesh, a named configuration and a data set.
//!
//! Responsible for: `EasyLM/models/llama/llama_train.py` and its configurations (version 2 and the first
//! one). Training with rewards is detected by missing flags, and rejected.

use super::common::{flags, sharding};
use crate::accelerate::software;
use crate::fields::{Fields, Known, Meaning};
use crate::missing::missing;
use crate::shell;
use crate::{Context, Format, Launch, RemarkKind};
use Meaning::{Ignored, Lost, Read};
use railwright_spec::plan::{Optimizer, PrecisionPreset, Recompute};
use railwright_spec::precision::DataType;
use railwright_spec::problem::Problem;

pub(super) const WHY: &str = "a command that starts `EasyLM.models.llama.llama_train`";

const PROGRAM: &str = "EasyLM.models.llama.llama_train";

const KNOWN: &[Known] = &[
    ("mesh_dim", Read),
    ("dtype", Read),
    ("param_dtype", Read),
    ("load_llama_config", Read),
    ("llama.base_model", Read),
    ("llama.remat_policy", Read),
    ("update_llama_config", Lost(&["", "auto"], "changes the configuration: estimated without this change")),
    ("llama.scan_attention", Lost(&["false"], "attention in blocks, estimated with a fused kernel")),
    ("llama.scan_mlp", Lost(&["false"], "the MLP in pieces of a sequence: memory is an upper bound")),
    ("optimizer.type", Read),
    ("optimizer.accumulate_gradient_steps", Read),
    ("llama.*", Ignored),
    ("optimizer.*", Ignored),
    ("train_dataset.*", Ignored),
    ("eval_dataset.*", Ignored),
    ("tokenizer.*", Ignored),
    ("tokenizer", Ignored),
    ("checkpointer.*", Ignored),
    ("logger.*", Ignored),
    ("jax_distributed.*", Ignored),
    ("total_steps", Ignored),
    ("num_epochs", Ignored),
    ("log_freq", Ignored),
    ("log_all_worker", Ignored),
    ("save_model_freq", Ignored),
    ("save_milestone_freq", Ignored),
    ("eval_steps", Ignored),
    ("seed", Ignored),
    ("load_checkpoint", Ignored),
    ("load_dataset_state", Ignored),
];

/// Layers, width, heads, groups, MLP and rows of the configurations (`LLaMAConfigurator`); the first release
/// had names without `llama_`.
const MODELS: &[(&str, [u64; 6])] = &[
    ("1b", [22, 2048, 16, 16, 5504, 32_000]),
    ("3b", [26, 3200, 32, 32, 8640, 32_000]),
    ("7b", [32, 4096, 32, 32, 11_008, 32_000]),
    ("13b", [40, 5120, 40, 40, 13_824, 32_000]),
    ("30b", [60, 6656, 52, 52, 17_920, 32_000]),
    ("65b", [80, 8192, 64, 64, 22_016, 32_000]),
    ("llama2_70b", [80, 8192, 64, 8, 28_672, 32_000]),
    ("llama3_8b", [32, 4096, 32, 8, 14_336, 128_256]),
    ("llama3_70b", [80, 8192, 64, 8, 28_672, 128_256]),
];

pub(super) fn is_one(text: &str) -> bool {
    text.contains(PROGRAM)
        && text.contains("--mesh_dim")
        && text.split_whitespace().any(|word| word == PROGRAM)
}

pub(super) fn read(text: &str, file: &str) -> Result<Launch, Vec<Problem>> {
    let script = shell::read(text, file, &Context::default(), |_| Vec::new());
    let Some((_, words)) = script.last_with(|word| word == PROGRAM) else {
        return Err(vec![Problem::new("no command in this file starts EasyLM's training").in_file(file)]);
    };
    let mut fields = Fields::new(Format::Pretrainer, file, text, flags(words));
    for (line, what, why) in &script.open {
        fields.draft.remark(RemarkKind::Unresolved, what, Some(*line), why.clone());
    }
    model(&mut fields);
    mesh(&mut fields);
    batch(&mut fields);
    precision(&mut fields);
    let path = "llama.remat_policy";
    match fields.word(path).as_deref() {
        Some("") => fields.set("plan.recompute", &Recompute::None, path),
        Some("nothing_saveable") => fields.set("plan.recompute", &Recompute::Full { layers: None }, path),
        Some(_) => {
            let (source, line) = fields.source(path);
            fields.draft.leave_open(
                "plan.recompute",
                &source,
                line,
                "this policy keeps the outputs of some GEMMs",
            );
        }
        None => {
            let why = "EasyLM recomputes every layer by default";
            fields.default("plan.recompute", &Recompute::Full { layers: None }, why);
        }
    }
    let path = "optimizer.type";
    if fields.word(path).as_deref().is_none_or(|name| name == "adamw") {
        fields.default("plan.optimizer", &Optimizer::Adam, "EasyLM trains with AdamW by default");
    } else {
        let (source, line) = fields.source(path);
        fields.draft.leave_open(
            "plan.optimizer",
            &source,
            line,
            "the states of an optimizer of this name are unknown",
        );
    }
    software(&mut fields, "maxtext-tpu", "JAX; no generation of EasyLM is measured");
    missing(&mut fields, "EasyLM");
    fields.rest(KNOWN);
    fields.finish()
}

fn model(fields: &mut Fields<'_>) {
    let found = ["load_llama_config", "llama.base_model"]
        .into_iter()
        .find_map(|path| Some((path, fields.word(path)?)));
    let Some((path, name)) = found else {
        let why = "no `load_llama_config` or `llama.base_model` names it";
        return fields.draft.leave_open("model.name", "", None, why);
    };
    let short = name.strip_prefix("llama_").or_else(|| name.strip_prefix("llama2_")).unwrap_or(&name);
    let of = |name: &str| MODELS.iter().find(|(known, _)| *known == name);
    let Some((_, [layers, hidden, heads, groups, ffn, rows])) = of(&name).or_else(|| of(short)) else {
        let (source, line) = fields.source(path);
        return fields.draft.leave_open(
            "model.name",
            &source,
            line,
            "no configuration of this name is known",
        );
    };
    for (key, value) in [
        ("model.layers", layers),
        ("model.hidden", hidden),
        ("model.heads", heads),
        ("model.kv_heads", groups),
        ("model.ffn", ffn),
        ("model.vocab", rows),
    ] {
        fields.set(key, value, path);
    }
    fields.default("model.tied", &false, "EasyLM's Llama has a separate head");
}

/// The axes `dp`, `fsdp` and `mp` of `mesh_dim`, by order or by name; -1 is the rest of the devices.
fn mesh(fields: &mut Fields<'_>) {
    let path = "mesh_dim";
    let text = fields.document.get(path).map_or_else(|| "1,-1,1".to_owned(), |entry| entry.data.plain());
    let _ = fields.take(path);
    let axes: Vec<&str> = text.trim_start_matches('!').split(',').map(str::trim).collect();
    let axis = |index: usize, name: &str| {
        let named = axes.iter().find_map(|axis| axis.strip_prefix(name)?.strip_prefix(':'));
        named.or_else(|| axes.get(index).copied())?.trim().parse::<i64>().ok()
    };
    let (source, line) = fields.source(path);
    let all = [axis(0, "dp"), axis(1, "fsdp"), axis(2, "mp")];
    let [Some(copies), Some(shards), Some(parts)] = all else {
        for key in ["plan.tensor_parallel", "plan.sharding"] {
            fields.draft.leave_open(key, &source, line, "its axes are not `dp`, `fsdp` and `mp`");
        }
        return;
    };
    let positive = |n: i64| u64::try_from(n).ok().filter(|&n| n > 0);
    match positive(parts) {
        Some(parts) => fields.set("plan.tensor_parallel", &parts, path),
        None => fields.draft.leave_open("plan.tensor_parallel", &source, line, "the rest of the devices"),
    }
    let all = copies.checked_mul(shards).and_then(|n| n.checked_mul(parts));
    if let Some(devices) = all.filter(|_| [copies, shards, parts].iter().all(|&n| n > 0)).and_then(positive) {
        fields.set("cluster.devices", &devices, path);
    }
    match (copies, positive(shards)) {
        (_, Some(1)) => fields.set("plan.sharding", &sharding(0, None), path),
        (1, _) => fields.set("plan.sharding", &sharding(3, None), path),
        (_, Some(shards)) => fields.set("plan.sharding", &sharding(3, Some(shards)), path),
        _ => {
            let why = "replicas over the other devices: pass `--sharding hsdp:N` with the ranks of a replica";
            fields.draft.leave_open("plan.sharding", &source, line, why);
        }
    }
    if !fields.draft.is_open("plan.tensor_parallel") {
        fields.undivided("EasyLM");
    }
}

/// The batch is the same array on all hosts, divided over `dp` and `fsdp`: samples of a step /
/// `accumulate_gradient_steps`.
fn batch(fields: &mut Fields<'_>) {
    // `train_dataset.type` chooses among the sections of the data sets.
    let chosen = fields
        .word("train_dataset.type")
        .map_or_else(|| "train_dataset.".to_owned(), |kind| format!("train_dataset.{kind}_dataset."));
    let of = |fields: &Fields<'_>, name: &str| {
        let mut found =
            fields.document.entries.iter().filter(|entry| {
                entry.path.starts_with(&chosen) && entry.path.rsplit('.').next() == Some(name)
            });
        found.next_back().map(|entry| entry.path.clone())
    };
    if let Some(path) = of(fields, "seq_length")
        && let Some(length) = fields.count(&path)
    {
        fields.set("plan.sequence_length", &length, &path);
    }
    let accumulation = "optimizer.accumulate_gradient_steps";
    let steps = fields.count(accumulation).unwrap_or(1).max(1);
    if let Some(path) = of(fields, "batch_size")
        && let Some(samples) = fields.count(&path)
    {
        fields.set("plan.global_batch", &samples.saturating_mul(steps), &path);
        if steps > 1 {
            let message = format!("samples of a step: {samples} x {steps} accumulated");
            fields.remark(RemarkKind::Assumed, accumulation, message);
        }
        // The mesh has the ranks: a rank has its part of the array in one pass.
        let spec = fields.draft.spec();
        let ranks =
            spec.cluster.devices.zip(spec.plan.tensor_parallel).map(|(all, parts)| all / parts.max(1));
        match ranks.filter(|&ranks| ranks > 0) {
            Some(ranks) if samples.is_multiple_of(ranks) => {
                fields.set("plan.micro_batch", &(samples / ranks), &path);
            }
            Some(ranks) => {
                let why = format!("{samples} samples cannot be divided over {ranks} ranks");
                fields.draft.leave_open("plan.micro_batch", "", None, &why);
                fields.remark(RemarkKind::Conflict, &path, why);
            }
            None => {
                let why =
                    "the micro-batch is the batch / ranks of data parallelism, which depend on the devices";
                fields.draft.leave_open("plan.micro_batch", "", None, why);
            }
        }
    }
}

/// Products in `dtype`, weights and their gradients in `param_dtype`, moments in fp32.
fn precision(fields: &mut Fields<'_>) {
    let format = |fields: &mut Fields<'_>, path: &str| fields.word(path).unwrap_or_else(|| "fp32".to_owned());
    let (products, weights) = (format(fields, "dtype"), format(fields, "param_dtype"));
    let preset = match products.as_str() {
        "bf16" | "bfloat16" => PrecisionPreset::Bf16,
        "fp16" | "float16" => PrecisionPreset::Fp16,
        _ => PrecisionPreset::Fp32,
    };
    fields.set("plan.precision.preset", &preset, "dtype");
    if matches!(weights.as_str(), "fp32" | "float32") && preset != PrecisionPreset::Fp32 {
        fields.default(
            "plan.precision.gradients",
            &DataType::Fp32,
            "gradients have the format of the weights",
        );
        fields.default(
            "plan.precision.gradient_reduce",
            &DataType::Fp32,
            "gradients are reduced in their format",
        );
    }
}
