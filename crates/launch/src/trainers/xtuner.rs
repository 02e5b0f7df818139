//! xtuner's configurations of MMEngine: Python modules whose variables are the sections.
//!
//! Responsible for: models, adapters and batches of the versions before 1.0 (`xtuner/model/sft.py`,
//! `xtuner/configs`, May 2025). Sharding is a flag of the command and not in the file. Configurations of
//! version 1 are errors.

use super::common::named;
use crate::accelerate::{set_optimizer, software, unpadded};
use crate::adapter;
use crate::fields::{Fields, Known, Meaning};
use crate::missing::missing;
use crate::python;
use crate::{Context, Format, Launch, RemarkKind, samples};
use Meaning::{Key, Read};
use railwright_spec::plan::{ContextKind, LoraTarget, PrecisionPreset, Recompute, Sharding};
use railwright_spec::problem::Problem;

/// Evidence of such a file.
pub(super) const WHY: &str = "Python that imports `xtuner` and `mmengine`";

/// Sections of the model: a language model, alone or with a vision tower.
const LLM: &str = "model.llm";

const KNOWN: &[Known] = &[
    ("train_dataloader.batch_size", Key("plan.micro_batch")),
    ("optim_wrapper.accumulative_counts", Key("plan.micro_batches")),
    ("model.llm.pretrained_model_name_or_path", Read),
];

/// Without names, xtuner adapts every linear layer (`find_all_linear_names`).
const ALL_LINEAR: adapter::Usual =
    adapter::Usual { of: "xtuner", rank: 8, targets: &[LoraTarget::AllLinear] };

pub(super) fn is_one(text: &str) -> bool {
    python::imports(text, "xtuner")
        && (python::imports(text, "mmengine") || python::imports(text, "xtuner.v1"))
}

pub(super) fn read(text: &str, file: &str, context: &Context<'_>) -> Result<Launch, Vec<Problem>> {
    if python::imports(text, "xtuner.v1") {
        let problem = Problem::new("configurations of xtuner 1.0 are not supported")
            .hint("set model and layout with flags, as in `railwright estimate qwen3-8b --gpus 8`");
        return Err(vec![problem.in_file(file)]);
    }
    let recipe = python::variables(text, file, context).map_err(|problem| vec![problem])?;
    let mut fields = Fields::new(Format::HfTrainer, file, text, recipe.document.clone());
    fields.draft.lines_of(recipe.sources.clone());
    recipe.remarks(&mut fields.draft, &|path| KNOWN.iter().any(|(known, _)| *known == path), &|_| true);
    fields.copy(KNOWN);
    model(&mut fields);
    samples(&mut fields);
    precision(&mut fields);
    optimizer(&mut fields);
    parallel(&mut fields);
    fields.default("plan.micro_batches", &1_u64, "xtuner accumulates over 1 batch by default");
    unpadded(&mut fields);
    missing(&mut fields, "xtuner");
    fields.finish()
}

fn model(fields: &mut Fields<'_>) {
    let path = format!("{LLM}.pretrained_model_name_or_path");
    if let Some(name) = fields.word(&path) {
        named(fields, &path, &name);
    }
    let lora = ["model.lora", "model.llm_lora"].into_iter().find(|section| fields.document.has(section));
    if let Some(section) = lora {
        let path = format!("{section}._target_");
        let _ = fields.word(&path);
        let (source, line) = fields.source(&path);
        adapter::lora(&mut fields.draft, &source, line);
        let (rank, targets) = (format!("{section}.r"), format!("{section}.target_modules"));
        adapter::read(fields, &[&rank], &[&targets], ALL_LINEAR);
    }
    let quantized = ["load_in_4bit", "load_in_8bit"].map(|key| format!("{LLM}.quantization_config.{key}"));
    adapter::quantized_by(fields, quantized.each_ref().map(String::as_str));
    if fields.document.has("model.visual_encoder") {
        let message = crate::lost::TOWER_IS_LEFT_OUT;
        fields.draft.remark(RemarkKind::NotModelled, "model.visual_encoder", None, message);
    }
    let class = class(fields, "model").unwrap_or_default();
    if ["DPO", "ORPO", "RewardModel"].iter().any(|name| class.ends_with(name)) {
        let message = "pairs of samples and reference models are not modelled: estimated as plain training, a lower bound";
        fields.remark(RemarkKind::NotModelled, "model.type", message);
    }
}

/// The class of a section, `dict(type=...)`.
fn class(fields: &mut Fields<'_>, section: &str) -> Option<String> {
    fields.word(&format!("{section}.type"))
}

fn samples(fields: &mut Fields<'_>) {
    let found = samples::first(
        fields,
        &["train_dataset.max_length", "train_dataset.max_packed_length", "max_length"],
    );
    if samples::longest(fields, found).is_none() {
        return;
    }
    let packs = ["train_dataset.pack_to_max_length", "pack_to_max_length"]
        .into_iter()
        .any(|path| fields.flag(path) == Some(true));
    if !packs {
        samples::unpacked(&mut fields.draft);
    }
}

fn precision(fields: &mut Fields<'_>) {
    for path in ["optim_wrapper.dtype", "model.llm.torch_dtype"] {
        let Some(word) = fields.word(path).map(|word| word.to_ascii_lowercase()) else { continue };
        let preset = match word.trim_start_matches("torch.") {
            "float16" => PrecisionPreset::Fp16,
            "bfloat16" => PrecisionPreset::Bf16,
            "float32" => PrecisionPreset::Fp32,
            _ => continue,
        };
        return fields.set("plan.precision.preset", &preset, path);
    }
}

fn optimizer(fields: &mut Fields<'_>) {
    let path = "optim_wrapper.optimizer.type";
    let Some(name) = fields.word(path).map(|name| name.to_ascii_lowercase()) else { return };
    if fields.draft.value("plan.optimizer").is_some() {
        return;
    }
    set_optimizer(fields, path, name.rsplit('.').next().unwrap_or(&name));
}

/// Recompute and sequence parallelism; sharding is a flag of `xtuner train`.
fn parallel(fields: &mut Fields<'_>) {
    let path = "model.use_activation_checkpointing";
    match fields.flag(path) {
        Some(false) => fields.set("plan.recompute", &Recompute::None, path),
        Some(true) => fields.set("plan.recompute", &Recompute::Full { layers: None }, path),
        None => {
            let full = Recompute::Full { layers: None };
            fields.default("plan.recompute", &full, "xtuner checkpoints every layer by default");
        }
    }
    let path = "sequence_parallel_size";
    if let Some(ranks) = fields.count(path).filter(|&n| n > 0) {
        fields.set("plan.context_parallel", &ranks, path);
        if ranks > 1 {
            fields.set("plan.context_kind", &ContextKind::Ulysses, path);
        }
    }
    fields.undivided("xtuner");
    let none = Sharding { zero_stage: 0, group: None, reshard_after_forward: false };
    fields.default("plan.sharding", &none, "xtuner trains replicas without `--deepspeed`");
    let message = "replicas are assumed, because DeepSpeed is a flag of `xtuner train`: pass `--sharding zero2` if it shards";
    fields.draft.remark(RemarkKind::Assumed, "plan.sharding", None, message);
    software(fields, "transformers-2026", "Hugging Face's models, eager");
}
