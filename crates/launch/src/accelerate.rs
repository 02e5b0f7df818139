//! The YAML of Hugging Face accelerate: FSDP, DeepSpeed, Megatron-LM, plain replicas.
//!
//! Responsible for: accelerate's settings, and arguments of Hugging Face's trainer if the file contains them.
//! Does not guess settings that such files never contain, and reports the flags for them.

pub(crate) mod fsdp;
mod keys;
mod software;
pub(crate) mod write;

pub(crate) use software::software;
pub use write::AccelerateWriter;

#[cfg(test)]
mod tests;

use crate::document::{self, Data, Entry};
use crate::fields::Fields;
use crate::missing::missing;
use crate::{Context, Evidence, Format, Launch, Reader, RemarkKind, Strength, deepspeed};
use railwright_spec::plan::{Optimizer, PrecisionPreset, Recompute, Sharding};
use railwright_spec::precision::DataType;
use railwright_spec::problem::{Problem, nearest};

/// Reason why a vocabulary is not padded.
pub(crate) const UNPADDED: &str = "Hugging Face's models do not pad the vocabulary";

/// Reads accelerate's YAML.
#[derive(Clone, Copy, Debug)]
pub struct AccelerateReader;

const KINDS: &[&str] = &[
    "FSDP",
    "DEEPSPEED",
    "MULTI_GPU",
    "MEGATRON_LM",
    "TP",
    "NO",
    "MULTI_CPU",
    "MULTI_XPU",
    "MULTI_NPU",
    "XLA",
];

impl Reader for AccelerateReader {
    fn format(&self) -> Format {
        Format::Accelerate
    }

    fn recognise(&self, text: &str) -> Option<Evidence> {
        if crate::foreign::owner(text).is_some() {
            return None;
        }
        let has = |key: &str| text.lines().any(|line| line.starts_with(key));
        let key =
            ["distributed_type:", "fsdp_config:", "deepspeed_config:"].into_iter().find(|key| has(key))?;
        let strength = if key == "distributed_type:" { Strength::Certain } else { Strength::Likely };
        Some(Evidence::new(strength, format!("YAML with the key `{}`", key.trim_end_matches(':'))))
    }

    fn read_with(&self, text: &str, file: &str, _: &Context<'_>) -> Result<Launch, Vec<Problem>> {
        let document = document::yaml(text, file).map_err(|problem| vec![problem])?;
        let mut fields = Fields::new(Format::Accelerate, file, text, document);
        let kind = kind(&mut fields);
        world(&mut fields);
        fields.copy(keys::KNOWN);
        match kind.as_deref() {
            Some("FSDP") => fsdp::read(&mut fields),
            Some("DEEPSPEED") => of_deepspeed(&mut fields),
            Some("MEGATRON_LM") => of_megatron(&mut fields),
            _ => replicas(&mut fields),
        }
        if kind.as_deref() != Some("MEGATRON_LM") {
            let id = if kind.as_deref() == Some("DEEPSPEED") { "transformers" } else { "accelerate" };
            fields.draft.front_end(id);
            for key in [
                "plan.tensor_parallel",
                "plan.pipeline_parallel",
                "plan.context_parallel",
                "plan.expert_parallel",
            ] {
                fields.default(key, &1_u64, "accelerate does not shard a model by default");
            }
        }
        precision(&mut fields);
        trainer(&mut fields);
        unpadded(&mut fields);
        missing(&mut fields, "accelerate");
        fields.rest(keys::KNOWN);
        fields.finish()
    }
}

fn kind(fields: &mut Fields<'_>) -> Option<String> {
    let path = "distributed_type";
    let source = fields.word(path);
    let Some(source) = source else {
        return ["fsdp_config", "deepspeed_config", "megatron_lm_config"]
            .into_iter()
            .zip(["FSDP", "DEEPSPEED", "MEGATRON_LM"])
            .find(|(section, _)| fields.document.has(section))
            .map(|(_, kind)| kind.to_owned());
    };
    let kind = source.to_ascii_uppercase();
    if !KINDS.contains(&kind.as_str()) {
        let problem = Problem::new(format!("unknown kind `{source}`"));
        let hint = match nearest(&kind, KINDS.iter().copied()).first() {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("use one of {}", KINDS.join(", ")),
        };
        fields.problem(problem.hint(hint), path);
    }
    Some(kind)
}

fn world(fields: &mut Fields<'_>) {
    let (ranks_path, machines_path) = ("num_processes", "num_machines");
    let ranks = fields.count(ranks_path).filter(|&n| n > 0);
    let machines = fields.count(machines_path).filter(|&n| n > 0).unwrap_or(1);
    let Some(ranks) = ranks else { return };
    fields.set("cluster.devices", &ranks, ranks_path);
    if !ranks.is_multiple_of(machines) {
        let message = format!("{ranks} processes cannot be divided among {machines} machines");
        return fields.problem(Problem::new(message), ranks_path);
    }
    if machines > 1 {
        fields.set("cluster.devices_per_node", &(ranks / machines), machines_path);
    }
}

/// Replicas, and tensor parallelism if set.
fn replicas(fields: &mut Fields<'_>) {
    if fields.document.has("parallelism_config") {
        fsdp::parallelism(fields);
    }
    let path = "tp_config.tp_size";
    if let Some(tensor) = fields.count(path) {
        fields.set("plan.tensor_parallel", &tensor, path);
        fields.default(
            "plan.sequence_parallel",
            &false,
            "Hugging Face's tensor parallelism does not shard norms",
        );
    }
    let sharding = Sharding { zero_stage: 0, group: None, reshard_after_forward: false };
    fields.default("plan.sharding", &sharding, "replicas are not sharded");
    software(fields, "transformers-2026", "Hugging Face's models, eager");
}

fn of_deepspeed(fields: &mut Fields<'_>) {
    let path = "deepspeed_config.deepspeed_config_file";
    if let Some(file) = fields.word(path) {
        let message =
            format!("its settings also apply: pass `{file}`, and set those of this file with flags");
        fields.remark(RemarkKind::Unresolved, path, message);
    }
    fields.document.rename(keys::OF_DEEPSPEED);
    // DeepSpeed has a switch for each format.
    let entry = fields.document.get("mixed_precision").cloned();
    let word = entry.as_ref().map(|entry| entry.data.plain().to_ascii_lowercase());
    if let Some(entry) = entry.filter(|_| matches!(word.as_deref(), Some("bf16" | "fp16" | "no"))) {
        for format in ["bf16", "fp16"] {
            let is_on = word.as_deref() == Some(format);
            let path = format!("{format}.enabled");
            let switch = Entry { path, data: Data::Flag(is_on), ..entry.clone() };
            fields.document.entries.push(Entry { taken: false, ..switch });
        }
    }
    if fields.document.has("parallelism_config") {
        // Sequences are turned into heads (ALST), shards are DeepSpeed's.
        fsdp::parallelism(fields);
    }
    if fields.document.has("zero_optimization") {
        deepspeed::read(fields, "");
    } else {
        software(fields, deepspeed::SOFTWARE, "DeepSpeed");
    }
}

fn of_megatron(fields: &mut Fields<'_>) {
    let at = |key: &str| format!("megatron_lm_config.megatron_lm_{key}");
    let path = at("use_distributed_optimizer");
    if let Some(shards) = fields.flag(&path) {
        let sharding = Sharding { zero_stage: u8::from(shards), group: None, reshard_after_forward: false };
        fields.set("plan.sharding", &sharding, &path);
    }
    let path = at("recompute_activations");
    match fields.flag(&path) {
        Some(true) => fields.set("plan.recompute", &Recompute::core_attention(), &path),
        Some(false) => fields.set("plan.recompute", &Recompute::None, &path),
        None => {}
    }
    software(fields, "megatron-core-2024", "Megatron-LM under accelerate");
}

fn precision(fields: &mut Fields<'_>) {
    let mut path = "mixed_precision";
    let mut word = fields.word(path).map(|word| word.to_ascii_lowercase());
    for flag in ["bf16", "fp16"] {
        if fields.flag(flag) == Some(true) && word.is_none() {
            path = flag;
            word = Some(flag.to_owned());
        }
    }
    let preset = match word.as_deref() {
        Some("bf16") => PrecisionPreset::Bf16,
        Some("fp16") => PrecisionPreset::Fp16,
        Some("fp8") => PrecisionPreset::Fp8,
        Some("no" | "false") => PrecisionPreset::Fp32,
        Some(other) => {
            let message = format!("expected `no`, `bf16`, `fp16` or `fp8`, found `{other}`");
            return fields.problem(Problem::new(message), path);
        }
        None => return,
    };
    if fields.draft.value("plan.precision.preset").is_none() {
        fields.set("plan.precision.preset", &preset, path);
    }
    let is_sharded = fields.draft.spec().plan.sharding.is_some_and(|sharding| sharding.zero_stage == 3);
    let wire = match preset {
        PrecisionPreset::Bf16 | PrecisionPreset::Fp8 => DataType::Bf16,
        PrecisionPreset::Fp16 => DataType::Fp16,
        _ => return,
    };
    if is_sharded {
        fields.default(
            "plan.precision.gradient_reduce",
            &wire,
            "accelerate's FSDP reduces in the mixed format",
        );
    }
}

/// The optimizer of a name of Hugging Face's `optim`, in lower case; `None` if unknown.
fn trainer_optimizer(name: &str) -> Option<Optimizer> {
    let known = [
        ("adafactor", Optimizer::Adafactor),
        ("lion", Optimizer::Lion),
        ("sgd", Optimizer::Sgd),
        ("muon", Optimizer::Muon),
        ("adam", Optimizer::Adam),
    ];
    known.into_iter().find_map(|(known, optimizer)| name.contains(known).then_some(optimizer))
}

/// Sets the optimizer of a name in lower case; an unknown one is estimated as Adam. That of adapters is
/// irrelevant: their states are small.
pub(crate) fn set_optimizer(fields: &mut Fields<'_>, path: &str, name: &str) {
    let is_lora = fields.draft.spec().plan.optimizer == Some(Optimizer::Lora);
    match trainer_optimizer(name) {
        Some(_) if is_lora => {}
        Some(optimizer) => fields.set("plan.optimizer", &optimizer, path),
        None => fields.remark(RemarkKind::NotModelled, path, "estimated as adam"),
    }
}

/// The default of models of Hugging Face.
pub(crate) fn unpadded(fields: &mut Fields<'_>) {
    fields.default("plan.vocabulary_multiple", &1_u64, UNPADDED);
}

/// Arguments of Hugging Face's trainer, which some keep in the same file.
fn trainer(fields: &mut Fields<'_>) {
    let path = "gradient_checkpointing";
    match fields.flag(path) {
        Some(true) => fields.set("plan.recompute", &Recompute::Full { layers: None }, path),
        Some(false) => fields.set("plan.recompute", &Recompute::None, path),
        None => {}
    }
    let path = "optim";
    if let Some(name) = fields.word(path) {
        let name = name.to_ascii_lowercase();
        set_optimizer(fields, path, &name);
        if name.contains("8bit") || name.contains("paged") {
            fields.remark(RemarkKind::NotModelled, path, "moments are estimated in 32 bits on the device");
        }
    }
    if fields.flag("use_peft") == Some(true) {
        let (source, line) = fields.source("use_peft");
        crate::adapter::lora(&mut fields.draft, &source, line);
    }
    // TRL's own rank (`ModelConfig.lora_r`); without targets PEFT takes those of the model's family.
    let usual = crate::adapter::Usual { of: "TRL", rank: 16, ..crate::adapter::PEFT };
    crate::adapter::read(fields, &["lora_r"], &["lora_target_modules"], usual);
    for path in ["model_name_or_path", "base_model"] {
        let Some(name) = fields.word(path) else { continue };
        fields.named_model(path, &name);
    }
}
