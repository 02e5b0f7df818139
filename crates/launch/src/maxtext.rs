//! MaxText's YAML, and `key=value` overrides of it.
//!
//! Responsible for: MaxText's axes, which multiply over the links inside and between slices, its names of
//! dimensions, and settings of its base file. Scales of a model that are not powers of two are errors, as in
//! MaxText.

mod base;
mod chips;
mod keys;
mod model;
mod remat;
mod script;
mod write;

pub(crate) use keys::knows;
pub use write::MaxTextWriter;

#[cfg(test)]
mod tests;

use crate::document::{self, Document};
use crate::features;
use crate::fields::Fields;
use crate::missing::missing;
use crate::{Context, Evidence, Format, Launch, Reader, RemarkKind, Strength};
use railwright_spec::model::by_name;
use railwright_spec::plan::{
    AttentionKernel, ContextKind, Master, Optimizer, PrecisionPreset, Schedule, Sharding,
};
use railwright_spec::precision::DataType;
use railwright_spec::problem::Problem;
use railwright_spec::run::Amount;

/// Reads MaxText's YAML.
#[derive(Clone, Copy, Debug)]
pub struct MaxTextReader;

impl Reader for MaxTextReader {
    fn format(&self) -> Format {
        Format::MaxText
    }

    fn recognise(&self, text: &str) -> Option<Evidence> {
        if crate::foreign::owner(text).is_some() {
            return None;
        }
        let marks = ["base_emb_dim", "ici_fsdp_parallelism", "per_device_batch_size", "max_target_length"];
        let starts = |mark: &str, with: char| {
            text.split_whitespace()
                .any(|word| word.strip_prefix(mark).is_some_and(|rest| rest.starts_with(with)))
        };
        // Its YAML is flat: the same name further in belongs to another program.
        let is_key = |mark: &str| {
            text.lines().any(|line| line.strip_prefix(mark).is_some_and(|rest| rest.starts_with(':')))
        };
        let yaml: Vec<&str> = marks.into_iter().filter(|mark| is_key(mark)).collect();
        // Trainers on Hugging Face's models have batches of this name too.
        let is_of_hub = ["model_name_or_path", "pretrained_model_name_or_path"].into_iter().any(is_key);
        if is_of_hub && yaml == ["per_device_batch_size"] {
            return None;
        }
        if let Some(mark) = yaml.first() {
            return Some(Evidence::new(Strength::Certain, format!("YAML with the key `{mark}`")));
        }
        let words = marks.into_iter().filter(|mark| starts(mark, '=')).count();
        let is_named = || text.to_ascii_lowercase().contains("maxtext");
        (words > 1 || (words == 1 && is_named()))
            .then(|| Evidence::new(Strength::Likely, "MaxText's keys with `=`"))
    }

    fn read_with(&self, text: &str, file: &str, context: &Context<'_>) -> Result<Launch, Vec<Problem>> {
        let is_yaml = text.lines().any(|line| line.split_once(':').is_some_and(|(key, _)| is_key(key)));
        let mut script = None;
        let document: Result<Document, Problem> = if is_yaml {
            document::yaml(text, file)
        } else {
            script = script::read(text, file, context).map_err(|problem| vec![problem])?;
            match &script {
                Some(found) => Ok(found.document.clone()),
                None => document::overrides(text, file).map(|found| found.document),
            }
        };
        let mut document = document.map_err(|problem| vec![problem])?;
        let is_based = |entry: &document::Entry| entry.data.plain().ends_with("base.yml");
        if is_yaml && document.get("base_config").is_some_and(is_based) {
            base::fill(&mut document, None);
        }
        let mut fields = Fields::new(Format::MaxText, file, text, document);
        if let Some(script) = script {
            script.remark(&mut fields.draft);
        }
        fill(&mut fields);
        if is_yaml {
            missing(&mut fields, "MaxText");
        }
        // The base file has hundreds of keys; a typo is to be found in short files and in overrides.
        if fields.document.entries.len() > base::BASE_FILE {
            fields.document.entries.retain(|entry| knows(&entry.path));
        }
        fields.rest(keys::KNOWN);
        fields.finish()
    }
}

/// Applies a configuration's keys to a plan.
pub(crate) fn fill(fields: &mut Fields<'_>) {
    fields.copy(keys::KNOWN);
    model::read(fields);
    let halves = chips::of_two_devices(fields);
    let mesh = mesh(fields, halves);
    batch(fields, &mesh);
    choices(fields);
    software(fields);
    let path = "context_parallel_load_balance";
    if fields.flag(path) == Some(false) && fields.draft.spec().plan.context_parallel.unwrap_or(1) > 1 {
        features::add(fields, "contiguous-context", path);
    }
}

fn is_key(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
}

/// The axis that takes all remaining devices by default.
const REST: &str = "ici_fsdp_parallelism";

/// Parallel sizes by purpose; `None` for an axis with the remaining devices.
struct Mesh {
    data: Option<u64>,
    /// Total ranks, if every axis is set.
    ranks: Option<u64>,
    /// Ranks of one replica.
    model: Option<u64>,
    /// JAX's devices of a rank.
    devices: u64,
}

/// Axes, inside a slice and between slices.
fn axis(fields: &mut Fields<'_>, name: &str) -> Result<u64, ()> {
    let mut product = 1_u64;
    let mut is_rest = false;
    for place in ["ici", "dcn"] {
        let path = format!("{place}_{name}_parallelism");
        match fields.integer(&path) {
            // Its base file assigns the remaining devices to this axis.
            None if path == REST && fields.document.get(&path).is_none() => is_rest = true,
            None => {}
            Some(-1) => is_rest = true,
            Some(n) if n > 0 => product = product.saturating_mul(n as u64),
            Some(n) => {
                let message = format!("expected -1 for the rest, or a number of 1 or more, found {n}");
                fields.problem(Problem::new(message), &path);
            }
        }
    }
    if is_rest { Err(()) } else { Ok(product) }
}

fn mesh(fields: &mut Fields<'_>, halves: bool) -> Mesh {
    let [
        mut data,
        mut fsdp,
        transposed,
        sequence,
        context,
        tensor,
        tensor_transposed,
        tensor_sequence,
        expert,
        pipeline,
    ] = [
        "data",
        "fsdp",
        "fsdp_transpose",
        "sequence",
        "context",
        "tensor",
        "tensor_transpose",
        "tensor_sequence",
        "expert",
        "pipeline",
    ]
    .map(|name| axis(fields, name));
    let is_of_chips = !halves || chips::halved([&mut data, &mut fsdp]);
    let product = |axes: &[Result<u64, ()>]| {
        axes.iter().try_fold(1_u64, |all, axis| axis.map(|n| all.saturating_mul(n)))
    };
    let source = |names: &[&str], fields: &Fields<'_>| {
        names
            .iter()
            .flat_map(|name| [format!("ici_{name}_parallelism"), format!("dcn_{name}_parallelism")])
            .find(|path| fields.document.get(path).is_some())
    };
    let mut put = |key: &str, value: Result<u64, ()>, names: &[&str]| {
        let Some(path) = source(names, fields) else { return };
        match value {
            Ok(value) => fields.set(key, &value, &path),
            // A remainder on the sharded axis only replicates. A remainder on another axis shards the model.
            Err(()) if !names.contains(&"fsdp") => {
                let is_rest = |path: &String| {
                    fields.document.get(path).is_some_and(|entry| entry.data == document::Data::Integer(-1))
                };
                let axes = names
                    .iter()
                    .flat_map(|name| ["ici", "dcn"].map(|place| format!("{place}_{name}_parallelism")));
                let path = axes.into_iter().find(is_rest).unwrap_or(path);
                let message = "takes the remaining devices, whose number is not in this file: it stays unset";
                fields.remark(RemarkKind::Unresolved, &path, message);
                let (source, line) = fields.source(&path);
                fields.draft.leave_open(key, &source, line, "takes the remaining devices");
            }
            Err(()) => {}
        }
    };
    let all_tensor = product(&[tensor, tensor_transposed, tensor_sequence]);
    let all_context = product(&[sequence, context]);
    // The batch is also sharded along the experts' axis, so its ranks are replicas of everything else.
    let all_data = product(&[data, fsdp, transposed, expert]);
    put("plan.tensor_parallel", all_tensor, &["tensor", "tensor_transpose", "tensor_sequence"]);
    put("plan.context_parallel", all_context, &["context", "sequence"]);
    put("plan.expert_parallel", expert, &["expert"]);
    put("plan.pipeline_parallel", pipeline, &["pipeline"]);
    put("plan.data_parallel", all_data, &["fsdp", "data", "expert"]);
    if tensor_sequence.is_ok_and(|n| n > 1)
        && let Some(path) = source(&["tensor_sequence"], fields)
    {
        fields.set("plan.sequence_parallel", &true, &path);
    } else if all_tensor.is_ok_and(|n| n > 1) {
        let message = "MaxText's `tensor` axis shards the residual stream by its width; modelled as sequence parallelism";
        fields.default("plan.sequence_parallel", &true, message);
    }
    // `logical_axis_rules` of base.yml: weights outside experts are also divided along the axes of experts
    // and of the sequence.
    let shards = product(&[fsdp, transposed, expert, all_context]);
    let sharding = match (shards, data) {
        (Ok(1), _) => {
            let path = "shard_optimizer_over_data";
            let zero_stage = u8::from(fields.flag(path) == Some(true));
            Some(Sharding { zero_stage, group: None, reshard_after_forward: false })
        }
        (_, Ok(1)) => Some(Sharding { zero_stage: 3, group: None, reshard_after_forward: true }),
        (Ok(shards), _) => Some(Sharding { zero_stage: 3, group: Some(shards), reshard_after_forward: true }),
        // Replicas of shards over the remaining devices, whose number is unknown here.
        (Err(()), _) => None,
    };
    match (sharding, source(&["fsdp", "fsdp_transpose", "data"], fields)) {
        (Some(sharding), Some(path)) => fields.set("plan.sharding", &sharding, &path),
        (Some(sharding), None) => {
            fields.default(
                "plan.sharding",
                &sharding,
                "MaxText shards over the remaining devices by default",
            );
        }
        (None, path) => {
            let (source, line) = fields.source(&path.unwrap_or_default());
            let why =
                "the `-1` axis shards over the devices that the other axes leave: set --sharding hsdp:N";
            fields.draft.remark(RemarkKind::Unresolved, &source, line, why);
            fields.draft.leave_open("plan.sharding", &source, line, why);
        }
    }
    // base.yml: `dcn_data_parallelism: -1` and `ici_fsdp_parallelism: -1`, that is shards within a slice and
    // replicas of slices.
    let has_own =
        ["dcn_data_parallelism", "dcn_fsdp_parallelism"].iter().any(|axis| fields.document.has(axis));
    if fsdp.is_err() && data == Ok(1) && !has_own {
        let is_gpu =
            fields.document.get("hardware").is_some_and(|entry| entry.data.plain().starts_with("gpu"));
        let message = if is_gpu {
            "the base file replicates between slices, and a node of GPUs is a slice: estimated as shards over all \
                devices; on several nodes pass `--sharding hsdp:N` with the devices of a node"
        } else {
            "the base file replicates between slices: estimated as shards over all devices; on several slices pass \
                `--sharding hsdp:N` with the devices of a slice"
        };
        fields.draft.remark(RemarkKind::Assumed, "dcn_data_parallelism", None, message);
    }
    let ranks = product(&[all_data, all_tensor, all_context, pipeline]).ok();
    if let (Some(ranks), Some(path)) = (ranks.filter(|&n| n > 1), source(&["fsdp", "data", "tensor"], fields))
    {
        fields.set("cluster.devices", &ranks, &path);
    } else if is_of_chips {
        chips::of_topology(fields);
    }
    let model = product(&[all_tensor, all_context, pipeline]).ok();
    if !is_of_chips {
        chips::stay_open(fields);
        return Mesh { data: None, ranks: None, model: None, devices: 1 };
    }
    Mesh { data: all_data.ok(), ranks, model, devices: if halves { 2 } else { 1 } }
}

fn batch(fields: &mut Fields<'_>, mesh: &Mesh) {
    let path = "per_device_batch_size";
    let steps_path = "gradient_accumulation_steps";
    let steps = fields.count(steps_path).filter(|&n| n > 0).unwrap_or(1);
    let pieces =
        fields.integer("num_pipeline_microbatches").and_then(|n| u64::try_from(n).ok()).filter(|&n| n > 0);
    let pipeline = fields.draft.spec().plan.pipeline_parallel.unwrap_or(1);
    let Some(per_device) = fields.number(path) else { return };
    let per_device = per_device * mesh.devices as f64;
    // The batch of one pass, over all devices; fractions are whole sequences shared by several devices.
    let (Some(ranks), Some(data)) = (mesh.ranks, mesh.data) else {
        return per_replica(fields, mesh, per_device, pieces, steps);
    };
    let pass = per_device * ranks as f64;
    let count = if pipeline > 1 { pieces.unwrap_or(pipeline) } else { 1 };
    let micro = pass / (data as f64 * count as f64);
    if pass.fract() != 0.0 || micro.fract() != 0.0 || micro < 1.0 || pass > 9e15 {
        let message = format!(
            "{per_device} sequences on each of {ranks} devices are {pass}, which do not divide into {count} \
             micro-batches for {data} replicas"
        );
        return fields.problem(Problem::new(message), path);
    }
    fields.set("plan.micro_batch", &(micro as u64), path);
    let global = (pass as u64).saturating_mul(steps);
    let source = if fields.document.get(steps_path).is_some() && steps > 1 { steps_path } else { path };
    fields.set("plan.global_batch", &global, source);
    let total = fields.count("steps").zip(fields.draft.spec().plan.sequence_length);
    if let Some((steps, length)) = total {
        let tokens = steps as f64 * global as f64 * length as f64;
        if tokens >= 1.0 {
            fields.set("training.tokens", &Amount(tokens), "steps");
        }
    }
}

/// The batch if an axis takes all remaining devices. A replica has `tensor x context x pipeline` of them, for
/// any number of replicas. So its micro-batch and their number are known, and the global batch follows from
/// the number of devices.
fn per_replica(fields: &mut Fields<'_>, mesh: &Mesh, per_device: f64, pieces: Option<u64>, steps: u64) {
    let path = "per_device_batch_size";
    let Some(model) = mesh.model else {
        let message = "the batch depends on the number of devices, which is unknown: pass `--micro-batch` and \
            `--global-batch`";
        return fields.remark(RemarkKind::Unresolved, path, message);
    };
    let pipeline = fields.draft.spec().plan.pipeline_parallel.unwrap_or(1);
    let count = if pipeline > 1 { pieces.unwrap_or(pipeline) } else { 1 };
    let micro = per_device * model as f64 / count as f64;
    if micro.fract() != 0.0 || !(1.0..=9e15).contains(&micro) {
        let message = format!(
            "{per_device} sequences on each of the {model} devices of a replica do not divide into {count} \
             micro-batches: pass `--micro-batch` and `--global-batch`"
        );
        return fields.remark(RemarkKind::Unresolved, path, message);
    }
    fields.set("plan.micro_batch", &(micro as u64), path);
    fields.set("plan.micro_batches", &count.saturating_mul(steps), path);
    // The tokens of all steps follow from the devices as well.
    fields.take("steps");
}

fn choices(fields: &mut Fields<'_>) {
    let path = "context_parallel_strategy";
    let strategy = fields.word(path);
    if fields.draft.spec().plan.context_parallel.unwrap_or(1) > 1 {
        match strategy.as_deref() {
            Some("ring") => fields.set("plan.context_kind", &ContextKind::Ring, path),
            Some("ulysses") => fields.set("plan.context_kind", &ContextKind::Ulysses, path),
            Some("all_gather") => fields.set("plan.context_kind", &ContextKind::AllGather, path),
            Some(_) => {
                fields.remark(RemarkKind::NotModelled, path, "keys and values are assumed to be gathered");
                fields.set("plan.context_kind", &ContextKind::AllGather, path);
            }
            None => {
                let why = "MaxText gathers keys and values by default";
                fields.default("plan.context_kind", &ContextKind::AllGather, why);
            }
        }
    }
    remat::read(fields);
    let path = "quantization";
    let quantised = fields.word(path).map(|word| word.to_ascii_lowercase()).filter(|word| !word.is_empty());
    let preset = match quantised.as_deref() {
        Some(word) if word.contains("int8") => Some(PrecisionPreset::Int8),
        Some(word) if word.contains("fp8") => Some(PrecisionPreset::Fp8),
        Some(_) => {
            fields.remark(RemarkKind::NotModelled, path, "estimated without it");
            None
        }
        None => None,
    };
    let dtype = fields.word("dtype");
    if let Some(preset) = preset {
        fields.set("plan.precision.preset", &preset, path);
    } else if let Some(dtype) = dtype {
        match dtype.as_str() {
            "bfloat16" => fields.set("plan.precision.preset", &PrecisionPreset::Bf16, "dtype"),
            "float32" => fields.set("plan.precision.preset", &PrecisionPreset::Fp32, "dtype"),
            _ => fields
                .problem(Problem::new(format!("expected `bfloat16` or `float32`, found `{dtype}`")), "dtype"),
        }
    }
    stored(fields);
    // The others are fused kernels.
    let path = "attention";
    if fields.word(path).as_deref() == Some("dot_product") {
        fields.set("plan.attention_kernel", &AttentionKernel::Unfused, path);
    }
    for (path, key) in [
        ("optimizer_memory_host_offload", "plan.offload.optimizer"),
        ("parameter_memory_host_offload", "plan.offload.parameters"),
    ] {
        if fields.flag(path) == Some(true) {
            fields.set(key, &1.0, path);
        }
    }
    let path = "opt_type";
    match fields.word(path).as_deref() {
        Some(name) if name.starts_with("adam") => fields.set("plan.optimizer", &Optimizer::Adam, path),
        Some("sgd") => fields.set("plan.optimizer", &Optimizer::Sgd, path),
        Some("muon") => fields.set("plan.optimizer", &Optimizer::Muon, path),
        Some(_) => fields.remark(RemarkKind::NotModelled, path, "estimated as adam"),
        None => {}
    }
    experts(fields);
    let path = "num_pipeline_repeats";
    if let Some(repeats) = fields.integer(path).and_then(|n| u64::try_from(n).ok()).filter(|&n| n > 0) {
        fields.set("plan.virtual_stages", &repeats, path);
    }
    if fields.draft.spec().plan.pipeline_parallel.unwrap_or(1) > 1 {
        fields.default("plan.schedule", &Schedule::Gpipe, "MaxText's pipeline runs all forward passes first");
    }
}

/// Formats of stored numbers. Weights are the trained copy: Adam's moments and the gradients take their
/// format, unless `mu_dtype` and `grad_dtype` set others (MaxText's `configs/base.yml` and `optimizers.py`,
/// August 2026).
fn stored(fields: &mut Fields<'_>) {
    let path = "weight_dtype";
    match fields.word(path).as_deref() {
        Some("bfloat16") => {
            for key in ["parameters", "gradients", "moments"] {
                fields.set(&format!("plan.precision.{key}"), &DataType::Bf16, path);
            }
            fields.set("plan.precision.master", &Master(None), path);
        }
        None | Some("float32") => {}
        Some(_) => fields.remark(RemarkKind::NotModelled, path, "weights are estimated in 32 bits"),
    }
    let path = "grad_dtype";
    match fields.word(path).as_deref() {
        Some("bfloat16") => fields.set("plan.precision.gradients", &DataType::Bf16, path),
        Some("float32") => fields.set("plan.precision.gradients", &DataType::Fp32, path),
        Some(other) if !other.is_empty() => {
            fields.remark(
                RemarkKind::NotModelled,
                path,
                "gradients are estimated in the format of the weights",
            );
        }
        _ => {}
    }
    let path = "mu_dtype";
    let first = fields.word(path).filter(|word| !word.is_empty());
    let kept = if fields.draft.spec().plan.precision_moments == Some(DataType::Bf16) {
        "bfloat16"
    } else {
        "float32"
    };
    if first.is_some_and(|first| first != kept) {
        let message = format!("the first moment alone: both are estimated in {kept}");
        fields.remark(RemarkKind::NotModelled, path, message);
    }
}

/// Without sorted products, and without a capacity, every expert computes every token.
fn experts(fields: &mut Fields<'_>) {
    let (path, capacity) = ("sparse_matmul", "capacity_factor");
    if fields.flag(path) != Some(false)
        || fields.document.get(capacity).is_some_and(|entry| !entry.data.plain().starts_with('-'))
    {
        return;
    }
    let spec = &fields.draft.spec().model;
    let named = spec.name.as_deref().and_then(|name| by_name(name).ok());
    let is_dense = named.is_some_and(|model| !model.is_mixture_of_experts());
    if !is_dense && (spec.name.is_some() || spec.experts.is_some() || spec.layers.is_none()) {
        let message = "every expert computes all tokens: estimated with the chosen experts alone, a lower \
            bound on time and memory";
        fields.remark(RemarkKind::NotModelled, path, message);
    }
}

fn software(fields: &mut Fields<'_>) {
    let path = "hardware";
    let hardware = fields.word(path);
    let id = if hardware.as_deref().is_some_and(|h| h.starts_with("gpu")) {
        "maxtext-gpu-2024"
    } else {
        "maxtext-tpu"
    };
    let why = if hardware.is_some() { path } else { "MaxText's default is a TPU" };
    if hardware.is_some() {
        fields.set("plan.software", &id.to_owned(), path);
    } else if fields.draft.is_open("plan.software") {
        return fields.default("plan.vocabulary_multiple", &1_u64, "MaxText does not pad the vocabulary");
    } else {
        fields.default("plan.software", &id.to_owned(), why);
    }
    fields.draft.remark(
        RemarkKind::Assumed,
        "plan.software",
        None,
        format!("inferred: `{id}`, from `{why}`"),
    );
    fields.default("plan.vocabulary_multiple", &1_u64, "MaxText does not pad the vocabulary");
}
