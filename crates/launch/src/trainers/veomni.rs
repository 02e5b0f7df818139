//! VeOmni's YAML: Hugging Face's models and its own copies of them under FSDP 2.
//!
//! Responsible for: its keys and defaults (`veomni/arguments/arguments_types.py`, August 2026) and the names
//! that they had in 2025. Diffusion models are errors: the data alone determines the tokens of their samples.

use super::common::named;
use crate::accelerate::{set_optimizer, software, unpadded};
use crate::document;
use crate::fields::{Fields, Known, Meaning};
use crate::missing::missing;
use crate::narrow::pure;
use crate::{Format, Launch, RemarkKind, adapter, samples};
use Meaning::{Ignored, Key, Lost, Read};
use railwright_spec::plan::{ContextKind, LoraTarget, PrecisionPreset, Recompute, Sharding};
use railwright_spec::precision::DataType;
use railwright_spec::problem::Problem;

/// Evidence of such a file.
pub(super) const WHY: &str = "YAML with the keys `model`, `data` and `train` of VeOmni";

/// Rank 64 on no module by default: a file names its modules.
const USUAL: adapter::Usual = adapter::Usual { of: "VeOmni", rank: 64, targets: &[LoraTarget::AllLinear] };

/// Names of 2025.
const OLDER: &[(&str, &str)] = &[
    ("train.data_parallel_mode", "train.accelerator.fsdp_config.fsdp_mode"),
    ("train.ulysses_parallel_size", "train.accelerator.ulysses_size"),
    ("train.expert_parallel_size", "train.accelerator.ep_size"),
    ("train.context_parallel_size", "train.accelerator.cp_size"),
    ("train.tensor_parallel_size", "train.accelerator.tp_size"),
    ("train.data_parallel_replicate_size", "train.accelerator.dp_replicate_size"),
    ("train.enable_gradient_checkpointing", "train.gradient_checkpointing.enable"),
    ("train.enable_mixed_precision", "train.accelerator.fsdp_config.mixed_precision.enable"),
    ("train.enable_reshard_after_forward", "train.accelerator.fsdp_config.reshard_after_forward"),
    ("train.enable_fsdp_offload", "train.accelerator.fsdp_config.offload"),
    ("train.enable_activation_offload", "train.accelerator.offload_config.enable_activation"),
    ("train.accelerator.offload.enable_activation", "train.accelerator.offload_config.enable_activation"),
    ("train.optimizer", "train.optimizer.type"),
    ("train.rmpad_with_pos_ids", "train.dyn_bsz"),
];

const KNOWN: &[Known] = &[
    ("data.max_seq_len", Key("plan.sequence_length")),
    ("train.micro_batch_size", Key("plan.micro_batch")),
    ("train.global_batch_size", Key("plan.global_batch")),
    ("train.accelerator.tp_size", Key("plan.tensor_parallel")),
    ("train.accelerator.pp_size", Key("plan.pipeline_parallel")),
    ("train.accelerator.ep_size", Key("plan.expert_parallel")),
    ("train.accelerator.ulysses_size", Read),
    ("train.accelerator.cp_size", Read),
    ("train.accelerator.dp_replicate_size", Read),
    ("train.accelerator.fsdp_config.fsdp_mode", Read),
    ("train.accelerator.fsdp_config.reshard_after_forward", Read),
    ("train.accelerator.fsdp_config.offload", Read),
    ("train.accelerator.fsdp_config.mixed_precision.enable", Read),
    ("train.accelerator.fsdp_config.mixed_precision.reduce_dtype", Read),
    (
        "train.accelerator.offload_config.enable_activation",
        Lost(&["false"], "kept inputs of layers are estimated on the device"),
    ),
    ("train.gradient_checkpointing.enable", Read),
    ("train.optimizer.type", Read),
    ("train.dyn_bsz", Read),
    ("train.torch_compile.enable", Lost(&["false"], "estimated as eager")),
    ("train.freeze_vit", Lost(&["false"], "frozen parts are not modelled: they are assumed to be trained")),
    ("train.accelerator.*", Ignored),
    ("train.*", Ignored),
    ("model.model_path", Read),
    ("model.config_path", Read),
    ("model.lora_config.rank", Read),
    ("model.lora_config.lora_modules", Read),
    ("model.*", Ignored),
    ("data.data_type", Read),
    ("data.*", Ignored),
    ("dpo_config.*", Ignored),
];

pub(super) fn is_one(text: &str) -> bool {
    let has = |key: &str| text.lines().any(|line| line.trim_end() == key);
    let own = ["ops_implementation:", "ulysses", "fsdp_mode:", "data_parallel_mode:", "dyn_bsz"];
    ["model:", "data:", "train:"].iter().all(|key| has(key))
        && text.contains("train_path:")
        && own.iter().any(|key| text.contains(key))
}

pub(super) fn read(text: &str, file: &str) -> Result<Launch, Vec<Problem>> {
    let document = document::yaml(text, file).map_err(|problem| vec![problem])?;
    let mut fields = Fields::new(Format::HfTrainer, file, text, document);
    let path = "data.data_type";
    if fields.word(path).as_deref() == Some("diffusion") {
        let message = "diffusion models are not supported: the data alone determines the tokens of a sample";
        fields.problem(Problem::new(message).hint("pass the model and `--sequence-length`"), path);
        return fields.finish();
    }
    fields.document.rename(OLDER);
    fields.copy(KNOWN);
    let path = "model.model_path";
    let path = if fields.document.has(path) { path } else { "model.config_path" };
    if let Some(name) = fields.word(path) {
        named(&mut fields, path, &name);
    }
    parallel(&mut fields);
    precision(&mut fields);
    let path = "train.gradient_checkpointing.enable";
    match fields.flag(path) {
        Some(false) => fields.set("plan.recompute", &Recompute::None, path),
        Some(true) => fields.set("plan.recompute", &Recompute::Full { layers: None }, path),
        None => {
            let why = "VeOmni checkpoints every layer by default";
            fields.default("plan.recompute", &Recompute::Full { layers: None }, why);
        }
    }
    fields.default("plan.micro_batch", &1_u64, "VeOmni uses 1 sample by default");
    let rank = "model.lora_config.rank";
    if fields.document.has("model.lora_config") {
        let (source, line) = fields.source(rank);
        adapter::lora(&mut fields.draft, &source, line);
        adapter::read(&mut fields, &[rank], &["model.lora_config.lora_modules"], USUAL);
    }
    let path = "train.optimizer.type";
    if let Some(name) = fields.word(path) {
        set_optimizer(&mut fields, path, &name.to_ascii_lowercase());
    }
    if fields.flag("train.dyn_bsz") == Some(false) {
        samples::unpacked(&mut fields.draft);
    }
    if fields.document.has("dpo_config") {
        let message = "pairs of samples and reference models are not modelled: estimated as plain training, a lower bound";
        fields.draft.remark(RemarkKind::NotModelled, "dpo_config", None, message);
    }
    unpadded(&mut fields);
    missing(&mut fields, "VeOmni");
    fields.rest(KNOWN);
    fields.finish()
}

/// FSDP 2 over all ranks, or inside groups; sequences are divided by heads (Ulysses) or in a ring.
fn parallel(fields: &mut Fields<'_>) {
    let at = |key: &str| format!("train.accelerator.{key}");
    let (mode, reshard) = (at("fsdp_config.fsdp_mode"), at("fsdp_config.reshard_after_forward"));
    let reshards = fields.flag(&reshard) != Some(false);
    let groups = at("dp_replicate_size");
    let replicas = fields.integer(&groups).and_then(|n| u64::try_from(n).ok()).filter(|&n| n > 1);
    let devices = fields.draft.spec().cluster.devices;
    if fields.word(&mode).as_deref() == Some("ddp") {
        let none = Sharding { zero_stage: 0, group: None, reshard_after_forward: false };
        fields.set("plan.sharding", &none, &mode);
    } else if let (Some(_), None) = (replicas, devices) {
        let (source, line) = fields.source(&groups);
        let why = "groups of shards depend on the number of devices";
        fields.draft.leave_open("plan.sharding", &source, line, why);
    } else {
        let sharding = Sharding { zero_stage: 3, group: None, reshard_after_forward: reshards };
        fields.default("plan.sharding", &sharding, "VeOmni shards over all ranks by default");
    }
    let offload = at("fsdp_config.offload");
    if fields.flag(&offload) == Some(true) {
        fields.set("plan.offload.parameters", &1.0, &offload);
        fields.set("plan.offload.optimizer", &1.0, &offload);
    }
    for (key, kind) in [("ulysses_size", ContextKind::Ulysses), ("cp_size", ContextKind::Ring)] {
        let path = at(key);
        if let Some(ranks) = fields.count(&path).filter(|&ranks| ranks > 1) {
            fields.set("plan.context_parallel", &ranks, &path);
            fields.set("plan.context_kind", &kind, &path);
        }
    }
    fields.undivided("VeOmni");
    fields.default("plan.overlap.gradient_reduce", &true, "FSDP overlaps reduction with the backward pass");
    fields.default("plan.overlap.parameter_gather", &true, "FSDP prefetches parameters");
    software(fields, "torchtitan-2024-eager", "FSDP 2, eager");
}

/// Mixed precision by default, with sums of gradients in 32 bits; without it weights are those of the
/// checkpoint.
fn precision(fields: &mut Fields<'_>) {
    let at = |key: &str| format!("train.accelerator.fsdp_config.mixed_precision.{key}");
    let enable = at("enable");
    let why = "VeOmni computes in bfloat16 by default";
    if fields.flag(&enable) == Some(false) {
        fields.set("plan.precision.preset", &PrecisionPreset::Bf16, &enable);
        return pure(fields, &enable, DataType::Bf16, DataType::Bf16);
    }
    fields.default("plan.precision.preset", &PrecisionPreset::Bf16, why);
    let path = at("reduce_dtype");
    match fields.word(&path).as_deref() {
        Some("bfloat16") => fields.set("plan.precision.gradient_reduce", &DataType::Bf16, &path),
        Some(_) => fields.set("plan.precision.gradient_reduce", &DataType::Fp32, &path),
        None => {
            let why = "VeOmni reduces gradients in float32 by default";
            fields.default("plan.precision.gradient_reduce", &DataType::Fp32, why);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{Format, detect, read};
    use railwright_spec::run::Value;

    const FILE: &str = "model:\n  model_path: Qwen/Qwen3-30B-A3B\n  ops_implementation:\n    attn_implementation: flash_attention_2\n\
        data:\n  train_path: tokens\n  max_seq_len: 8192\ntrain:\n  accelerator:\n    ulysses_size: 2\n    ep_size: 8\n    \
        fsdp_config:\n      fsdp_mode: fsdp2\n  global_batch_size: 64\n  micro_batch_size: 2\n";

    fn value(text: &str, key: &str) -> String {
        let launch = read(text, "run.yaml").expect("a launch file").expect("no problems");
        launch.spec.get(key).as_ref().map_or_else(|| "open".to_owned(), Value::to_toml)
    }

    #[test]
    fn a_file_of_veomni_is_its_own() {
        let seen = detect(FILE);
        assert_eq!(seen.first().map(|seen| seen.format), Some(Format::HfTrainer), "{seen:?}");
        for (key, expected) in [
            ("model.name", "\"qwen3-30b-a3b\""),
            ("plan.context_parallel", "2"),
            ("plan.context_kind", "\"ulysses\""),
            ("plan.expert_parallel", "8"),
            ("plan.sharding", "\"fsdp\""),
            ("plan.global_batch", "64"),
            ("plan.micro_batch", "2"),
            ("plan.recompute", "\"full\""),
            ("plan.precision.gradient_reduce", "\"fp32\""),
        ] {
            assert_eq!(value(FILE, key), expected, "{key}");
        }
    }

    /// Its older names include `_parallel_size`, as Megatron-Bridge's do.
    #[test]
    fn names_of_2025_mean_the_same() {
        let older = "model:\n  config_path: configs/llama3\n  model_path: meta-llama/Llama-3.1-8B\ndata:\n  train_path: tokens\n  \
            max_seq_len: 2048\ntrain:\n  ulysses_parallel_size: 4\n  data_parallel_mode: fsdp2\n  enable_gradient_checkpointing: false\n  \
            optimizer: adamw\n  global_batch_size: 16\n";
        assert_eq!(detect(older).first().map(|seen| seen.format), Some(Format::HfTrainer));
        assert_eq!(value(older, "plan.context_parallel"), "4");
        assert_eq!(value(older, "plan.recompute"), "\"none\"");
        assert_eq!(value(older, "model.name"), "\"llama-3-8b\"");
    }

    #[test]
    fn diffusion_is_refused() {
        let text = FILE.replace("  max_seq_len: 8192\n", "  max_seq_len: 8192\n  data_type: diffusion\n");
        let problems = read(&text, "run.yaml").expect("a launch file").expect_err("a problem");
        assert!(problems[0].to_string().contains("diffusion"), "{problems:?}");
    }
}
