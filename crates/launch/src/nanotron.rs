//! nanotron's YAML in and out, and the Python from which its users write it.
//!
//! Responsible for: nanotron's parallel sizes, its two schedules, its Hugging Face names of model dimensions.
//! Configurations without the sections that nanotron requires are errors.

mod keys;
mod model;
mod recipe;
mod write;

#[cfg(test)]
mod tests;

pub use write::NanotronWriter;

use crate::document::{self, Data};
use crate::fields::Fields;
use crate::{Context, Evidence, Format, Launch, Reader, RemarkKind, Strength};
use railwright_spec::plan::{
    Master, Optimizer, PrecisionPreset, RankOrder, Recompute, RecomputeModule, Schedule, Sharding,
};
use railwright_spec::precision::DataType;
use railwright_spec::problem::Problem;
use railwright_spec::run::Amount;
use std::collections::BTreeSet;

/// Reads nanotron's YAML.
#[derive(Clone, Copy, Debug)]
pub struct NanotronReader;

const SOFTWARE: &str = "nanotron-2024";

impl Reader for NanotronReader {
    fn format(&self) -> Format {
        Format::Nanotron
    }

    fn recognise(&self, text: &str) -> Option<Evidence> {
        if recipe::is_one(text) {
            return Some(Evidence::new(Strength::Certain, "Python with nanotron's `ParallelismArgs`"));
        }
        let has = |key: &str| text.lines().any(|line| line.starts_with(key));
        let marks = has("parallelism:") && (has("tokens:") || has("optimizer:"));
        marks.then(|| Evidence::new(Strength::Certain, "YAML with the keys `parallelism` and `tokens`"))
    }

    fn read_with(&self, text: &str, file: &str, context: &Context<'_>) -> Result<Launch, Vec<Problem>> {
        let parsed = if recipe::is_one(text) {
            recipe::read(text, file, context).map(|(document, found)| (document, Some(found)))
        } else {
            document::yaml(text, file).map(|document| (document, None))
        };
        let (document, recipe) = parsed.map_err(|problem| vec![problem])?;
        let mut fields = Fields::new(Format::Nanotron, file, text, document);
        if let Some(recipe) = &recipe {
            fields.draft.lines_of(recipe.sources.clone());
            recipe.remarks(&mut fields.draft, &recipe::is_wanted, &|_| false);
        }
        for section in ["parallelism", "tokens", "model"] {
            if !fields.document.has(section) {
                let problem = Problem::new(format!("the section `{section}` is missing"));
                fields.problem(problem, section);
            }
        }
        fields.document.rename(keys::OLDER);
        model::of_text(&mut fields);
        fields.copy(keys::KNOWN);
        model::read(&mut fields);
        parallelism(&mut fields);
        tokens(&mut fields);
        precision(&mut fields);
        optimizer(&mut fields);
        recompute(&mut fields);
        framework_defaults(&mut fields);
        fields.rest(keys::KNOWN);
        fields.finish()
    }
}

fn parallelism(fields: &mut Fields<'_>) {
    let plan = &fields.draft.spec().plan;
    let degrees = [plan.data_parallel, plan.tensor_parallel, plan.pipeline_parallel, plan.context_parallel];
    let ranks = degrees.into_iter().flatten().fold(1, u64::saturating_mul);
    let experts = plan.expert_parallel.unwrap_or(1);
    let expert_tensor = plan.expert_tensor_parallel.unwrap_or(1);
    let pipeline = plan.pipeline_parallel.unwrap_or(1).max(1);
    if plan.data_parallel.is_some() {
        fields.set("cluster.devices", &ranks, "parallelism.dp");
    }
    let borrowed = experts.saturating_mul(expert_tensor);
    if ranks > 0 && borrowed > 0 && !(ranks / pipeline).is_multiple_of(borrowed) {
        let message = format!(
            "expert groups use the ranks of other dimensions: {ranks} ranks / {pipeline} stages = {} is not a \
             multiple of {borrowed}",
            ranks / pipeline
        );
        fields.problem(Problem::new(message), "parallelism.expert_parallel_size");
    }
    let path = "parallelism.expert_data_parallel_size";
    if let Some(copies) = fields.count(path)
        && copies.saturating_mul(borrowed).saturating_mul(pipeline) != ranks
    {
        let message = format!(
            "expert data {copies} x expert {experts} x expert tensor {expert_tensor} x pipeline {pipeline} \
             differs from the {ranks} ranks of the other dimensions"
        );
        fields.problem(Problem::new(message), path);
    }
    let path = "parallelism.enabled_moe";
    if fields.flag(path) == Some(true) {
        fields.set("plan.rank_order", &RankOrder::TensorContextPipelineData, path);
    } else if experts > 1 {
        let message = "nanotron uses expert parallelism only with `enabled_moe: true`, and otherwise forms \
                       expert groups from tensor-parallel ranks; estimated with expert parallelism";
        fields.remark(RemarkKind::Conflict, "parallelism.expert_parallel_size", message);
    }
    uneven(fields, pipeline);
    let path = "parallelism.pp_engine";
    match fields.word(path).map(|word| word.to_ascii_lowercase()).as_deref() {
        Some("1f1b" | "onefonebpipelineengine") => {
            fields.set("plan.schedule", &Schedule::OneForwardOneBackward, path);
        }
        Some("afab" | "allforwardallbackwardpipelineengine") => {
            fields.set("plan.schedule", &Schedule::Gpipe, path);
        }
        Some(other) => {
            fields.problem(Problem::new(format!("expected `1f1b` or `afab`, found `{other}`")), path);
        }
        None => fields.default("plan.schedule", &Schedule::Gpipe, "nanotron runs all forward passes first"),
    }
    let path = "parallelism.tp_mode";
    match fields.word(path).map(|word| word.to_ascii_lowercase()).as_deref() {
        Some("reduce_scatter") => {
            let cuts = fields.draft.spec().plan.tensor_parallel != Some(1);
            fields.set("plan.sequence_parallel", &cuts, path);
        }
        Some("all_reduce") => fields.set("plan.sequence_parallel", &false, path),
        Some(other) => {
            let message = format!("expected `REDUCE_SCATTER` or `ALL_REDUCE`, found `{other}`");
            fields.problem(Problem::new(message), path);
        }
        None => fields.default("plan.sequence_parallel", &false, "nanotron all-reduces whole sequences"),
    }
    let path = "parallelism.tp_linear_async_communication";
    if let Some(overlap) = fields.flag(path) {
        fields.set("plan.overlap.tensor", &overlap, path);
    }
}

/// nanotron gives every stage about the same work, so the layers need not divide.
fn uneven(fields: &mut Fields<'_>, pipeline: u64) {
    let path = "parallelism.pp";
    let layers = fields.draft.spec().model.layers;
    if pipeline == 1 || layers.is_some_and(|layers| layers.is_multiple_of(pipeline)) {
        return;
    }
    fields.set("plan.uneven_stages", &true, path);
    let message = match layers {
        Some(layers) => format!(
            "{layers} layers are not a multiple of {pipeline} stages: nanotron balances by work, estimated \
             with embedding and head as one layer each"
        ),
        None => {
            "the number of layers is unknown: if it is not a multiple of the stages, nanotron balances by work"
                .to_owned()
        }
    };
    fields.remark(RemarkKind::Assumed, path, message);
}

fn tokens(fields: &mut Fields<'_>) {
    let steps = fields.count("tokens.train_steps");
    let plan = &fields.draft.spec().plan;
    let numbers = [plan.micro_batch, plan.micro_batches, plan.data_parallel, plan.sequence_length, steps]
        .map(|n| n.unwrap_or(0));
    let total: f64 = numbers.iter().map(|n| *n as f64).product();
    if total >= 1.0 {
        fields.set("training.tokens", &Amount(total), "tokens.train_steps");
    }
    let lengths: Vec<u64> = match fields.take("data_stages").map(|entry| entry.data) {
        Some(Data::List(stages)) => stages.iter().filter_map(|stage| stage_length(&stage.data)).collect(),
        _ => Vec::new(),
    };
    let own = fields.draft.spec().plan.sequence_length;
    if let Some(other) = lengths.iter().find(|length| Some(**length) != own) {
        let message = format!("a data stage has sequences of {other}; `tokens.sequence_length` is used");
        fields.remark(RemarkKind::Conflict, "data_stages", message);
    }
}

/// The sequence length of a stage of the data.
fn stage_length(stage: &Data) -> Option<u64> {
    let Data::Table(pairs) = stage else { return None };
    pairs.iter().find_map(|(name, node)| match (name.as_str(), &node.data) {
        ("sequence_length", Data::Integer(n)) => u64::try_from(*n).ok(),
        _ => None,
    })
}

fn precision(fields: &mut Fields<'_>) {
    let path = "model.dtype";
    let preset = match fields.word(path).map(|word| word.to_ascii_lowercase()).as_deref() {
        Some("bfloat16" | "bf16") => Some(PrecisionPreset::Bf16),
        Some("float16" | "fp16") => Some(PrecisionPreset::Fp16),
        Some("float32" | "fp32") => Some(PrecisionPreset::Fp32),
        Some("fp8" | "float8") => Some(PrecisionPreset::Fp8),
        Some(other) => {
            let message = format!("expected `bfloat16`, `float16`, `float32` or `fp8`, found `{other}`");
            return fields.problem(Problem::new(message), path);
        }
        None => None,
    };
    match preset {
        Some(preset) => fields.set("plan.precision.preset", &preset, path),
        None => {
            fields.default("plan.precision.preset", &PrecisionPreset::Bf16, "nanotron computes in bfloat16");
        }
    }
    let path = "optimizer.accumulate_grad_in_fp32";
    let single = preset == Some(PrecisionPreset::Fp32);
    match fields.flag(path) {
        Some(true) if !single => {
            fields.set("plan.precision.gradients", &DataType::Fp32, path);
            fields.set("plan.precision.gradient_reduce", &DataType::Fp32, path);
        }
        Some(false) if !single => {
            let narrow = if preset == Some(PrecisionPreset::Fp16) { DataType::Fp16 } else { DataType::Bf16 };
            fields.set("plan.precision.gradients", &narrow, path);
            fields.set("plan.precision.gradient_reduce", &narrow, path);
            // Without the accumulator in 32 bits there are no master weights either.
            fields.set("plan.precision.master", &Master(None), path);
            fields.set("plan.precision.moments", &narrow, path);
        }
        _ => {}
    }
}

fn optimizer(fields: &mut Fields<'_>) {
    let path = "optimizer.optimizer_factory.name";
    match fields.word(path).map(|word| word.to_ascii_lowercase()).as_deref() {
        Some("adam" | "adamw") => fields.set("plan.optimizer", &Optimizer::Adam, path),
        Some("sgd") => fields.set("plan.optimizer", &Optimizer::Sgd, path),
        Some(other) if other.contains("muon") => fields.set("plan.optimizer", &Optimizer::Muon, path),
        Some(_) => fields.remark(RemarkKind::NotModelled, path, "estimated as adam"),
        None => {}
    }
    let path = "optimizer.zero_stage";
    match fields.count(path) {
        Some(stage @ (0 | 1)) => {
            let sharding = Sharding { zero_stage: stage as u8, group: None, reshard_after_forward: false };
            fields.set("plan.sharding", &sharding, path);
        }
        Some(other) => {
            fields.problem(Problem::new(format!("expected 0 or 1, found {other}")), path);
        }
        None => {}
    }
}

fn recompute(fields: &mut Fields<'_>) {
    let path = "parallelism.recompute_layer";
    // Until 2024 a word: nanotron recomputed the attention core or whole layers.
    let word = match fields.document.get(path).map(|entry| &entry.data) {
        Some(Data::Text(_)) => fields.word(path).map(|word| word.to_ascii_lowercase()),
        _ => None,
    };
    match word.as_deref() {
        Some("selective") => {
            let modules = BTreeSet::from([RecomputeModule::CoreAttention]);
            return fields.set("plan.recompute", &Recompute::Selective { modules, layers: None }, path);
        }
        Some("full") => return fields.set("plan.recompute", &Recompute::Full { layers: None }, path),
        _ => {}
    }
    let whole = fields.flag(path);
    let experts_path = "parallelism.moe_layer_recompute";
    let experts = fields.flag(experts_path);
    if whole == Some(true) {
        fields.set("plan.recompute", &Recompute::Full { layers: None }, path);
    } else if experts == Some(true) {
        let modules = BTreeSet::from([RecomputeModule::Moe]);
        fields.set("plan.recompute", &Recompute::Selective { modules, layers: None }, experts_path);
    } else if whole == Some(false) {
        fields.set("plan.recompute", &Recompute::None, path);
    } else {
        fields.default("plan.recompute", &Recompute::None, "nanotron does not recompute by default");
    }
}

/// Properties common to all runs of nanotron.
fn framework_defaults(fields: &mut Fields<'_>) {
    fields.default("plan.software", &SOFTWARE.to_owned(), "nanotron");
    let chosen = format!("inferred: `{SOFTWARE}`, the only measured generation of nanotron");
    fields.draft.remark(RemarkKind::Assumed, "plan.software", None, chosen);
    fields.default("plan.vocabulary_multiple", &1_u64, "nanotron does not pad the vocabulary by default");
    fields.default(
        "plan.overlap.gradient_reduce",
        &false,
        "nanotron reduces gradients after the backward pass",
    );
    fields.default("plan.overlap.parameter_gather", &false, "nanotron gathers parameters after the update");
    fields.default(
        "plan.overlap.tensor",
        &false,
        "nanotron does not overlap tensor-parallel communication by \
        default",
    );
    fields.default("plan.overlap.pipeline", &false, "nanotron does not overlap pipeline messages");
    fields.default("plan.overlap.expert", &false, "nanotron does not overlap the expert all-to-all");
}
