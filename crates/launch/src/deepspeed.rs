//! Reads and writes DeepSpeed's JSON.
//!
//! Responsible for: ZeRO, offload, batches and formats under DeepSpeed's names, and the defaults that depend
//! on the stage. Does not guess settings that such files never contain: model, sequence length, recompute.

mod keys;
mod write;

#[cfg(test)]
mod tests;

pub use write::DeepspeedWriter;
pub(crate) use write::zero;

use crate::document;
use crate::fields::Fields;
use crate::missing::missing;
use crate::{Context, Evidence, Format, Launch, Reader, RemarkKind, Strength};
use railwright_spec::plan::{ContextKind, Master, Optimizer, PrecisionPreset, Recompute, Sharding};
use railwright_spec::precision::DataType;
use railwright_spec::problem::Problem;

/// Reads DeepSpeed's JSON.
#[derive(Clone, Copy, Debug)]
pub struct DeepspeedReader;

/// The generation that is assumed.
pub(crate) const SOFTWARE: &str = "deepspeed-2024";

impl Reader for DeepspeedReader {
    fn format(&self) -> Format {
        Format::Deepspeed
    }

    fn recognise(&self, text: &str) -> Option<Evidence> {
        if crate::foreign::owner(text).is_some() {
            return None;
        }
        if !text.trim_start().starts_with('{') {
            return None;
        }
        let has = |key: &&&str| text.contains(&format!("\"{key}\""));
        let certain = ["zero_optimization", "train_micro_batch_size_per_gpu"];
        if let Some(key) = certain.iter().find(has) {
            return Some(Evidence::new(Strength::Certain, format!("JSON with the key `{key}`")));
        }
        let likely =
            ["train_batch_size", "steps_per_print", "gradient_accumulation_steps", "wall_clock_breakdown"];
        let count = likely.iter().filter(has).count();
        (count > 1).then(|| Evidence::new(Strength::Likely, "JSON with several of DeepSpeed's keys"))
    }

    fn read_with(&self, text: &str, file: &str, _: &Context<'_>) -> Result<Launch, Vec<Problem>> {
        let document = document::json(text, file).map_err(|problem| vec![problem])?;
        let mut fields = Fields::new(Format::Deepspeed, file, text, document);
        fields.draft.front_end("deepspeed");
        read(&mut fields, "");
        missing(&mut fields, "DeepSpeed");
        fields.rest(keys::KNOWN);
        fields.finish()
    }
}

/// Reads the keys below a prefix, which is empty or ends in a dot (accelerate nests such a file).
pub(crate) fn read(fields: &mut Fields<'_>, prefix: &str) {
    let at = |key: &str| format!("{prefix}{key}");
    degrees(fields, &at);
    let stage = sharding(fields, &at);
    offload(fields, &at, stage);
    precision(fields, &at, stage);
    batch(fields, &at);
    optimizer(fields, &at);
    recompute(fields, &at);
    if fields.draft.value("plan.software").is_none() {
        fields.default("plan.software", &SOFTWARE.to_owned(), "DeepSpeed");
        let chosen = format!("inferred: `{SOFTWARE}`, for DeepSpeed with Hugging Face models");
        fields.draft.remark(RemarkKind::Assumed, "plan.software", None, chosen);
    }
    fields.default("plan.vocabulary_multiple", &1_u64, "DeepSpeed does not pad the vocabulary");
    fields.default(
        "plan.overlap.tensor",
        &false,
        "DeepSpeed's tensor parallelism does not overlap \
        communication",
    );
    fields.default("plan.overlap.pipeline", &false, "DeepSpeed's pipeline does not overlap messages");
    fields.default("plan.overlap.expert", &false, "DeepSpeed does not overlap the expert all-to-all");
}

/// Reads sharding, degrees, offload and formats of states, for a file whose other settings come from the
/// trainer.
pub(crate) fn shards(fields: &mut Fields<'_>, prefix: &str) {
    let at = |key: &str| format!("{prefix}{key}");
    degrees(fields, &at);
    let stage = sharding(fields, &at);
    offload(fields, &at, stage);
    formats(fields, &at);
}

fn degrees(fields: &mut Fields<'_>, at: &impl Fn(&str) -> String) {
    for path in [at("tensor_parallel.autotp_size"), at("tensor_parallel.tp_size")] {
        if let Some(tensor) = fields.count(&path).filter(|&n| n > 0) {
            fields.set("plan.tensor_parallel", &tensor, &path);
            fields.default(
                "plan.sequence_parallel",
                &false,
                "DeepSpeed's tensor parallelism does not shard norms",
            );
        }
    }
    let path = at("sequence_parallel_size");
    if let Some(context) = fields.count(&path).filter(|&n| n > 0) {
        fields.set("plan.context_parallel", &context, &path);
        fields.default(
            "plan.context_kind",
            &ContextKind::Ulysses,
            "DeepSpeed converts sequence shards into head shards (Ulysses)",
        );
    }
    let path = at("pipeline.stages");
    if let Some(stages) = fields.count(&path).filter(|&n| n > 0) {
        fields.set("plan.pipeline_parallel", &stages, &path);
        if stages > 1 {
            let why = "DeepSpeed's pipeline divides any number of layers";
            fields.default("plan.uneven_stages", &true, why);
        }
    }
}

/// ZeRO sharding; the stage, if set.
fn sharding(fields: &mut Fields<'_>, at: &impl Fn(&str) -> String) -> Option<u8> {
    let path = at("zero_optimization.stage");
    let stage = fields.count(&path);
    if stage.is_none() && fields.is_auto(&path) {
        return None;
    }
    let stage = match stage.unwrap_or(0) {
        stage @ 0..=3 => stage as u8,
        other => {
            fields.problem(Problem::new(format!("expected a stage from 0 to 3, found {other}")), &path);
            return None;
        }
    };
    let mut sharding = Sharding::zero(stage);
    let mut source = path.clone();
    let mics = at("zero_optimization.mics_shard_size");
    let hpz = at("zero_optimization.zero_hpz_partition_size");
    if let Some(group) = fields.integer(&mics).and_then(|n| u64::try_from(n).ok()).filter(|&n| n > 0) {
        if stage == 3 {
            sharding.group = Some(group);
            source.clone_from(&mics);
        } else {
            fields.remark(RemarkKind::Conflict, &mics, "has an effect only with stage 3");
        }
    }
    if let Some(group) = fields.count(&hpz).filter(|&n| n > 1) {
        if stage == 3 && sharding.group.is_none() {
            sharding.group = Some(group);
            source.clone_from(&hpz);
            let message = "estimated as hybrid sharding: optimizer states, which ZeRO++ shards over all \
                ranks, are counted in each group";
            fields.remark(RemarkKind::NotModelled, &hpz, message);
        } else if stage != 3 {
            fields.remark(RemarkKind::Conflict, &hpz, "has an effect only with stage 3");
        }
    }
    if fields.document.get(&source).is_some() {
        fields.set("plan.sharding", &sharding, &source);
    } else {
        fields.default("plan.sharding", &sharding, "DeepSpeed does not shard by default");
    }
    let path = at("zero_optimization.overlap_comm");
    match fields.flag(&path) {
        Some(overlap) => fields.set("plan.overlap.gradient_reduce", &overlap, &path),
        None => fields.default(
            "plan.overlap.gradient_reduce",
            &(stage == 3),
            "`overlap_comm` is on by default with stage 3",
        ),
    }
    let path = at("zero_optimization.stage3_prefetch_bucket_size");
    match fields.number(&path) {
        Some(bucket) if stage == 3 => fields.set("plan.overlap.parameter_gather", &(bucket > 0.0), &path),
        _ => fields.default(
            "plan.overlap.parameter_gather",
            &(stage == 3),
            "stage 3 prefetches; lower stages gather parameters after the update",
        ),
    }
    Some(stage)
}

fn offload(fields: &mut Fields<'_>, at: &impl Fn(&str) -> String, stage: Option<u8>) {
    let stage = stage.unwrap_or(0);
    let older = fields.flag(&at("zero_optimization.cpu_offload"));
    if older == Some(true) {
        fields.set("plan.offload.optimizer", &1.0, &at("zero_optimization.cpu_offload"));
    }
    if fields.flag(&at("zero_optimization.cpu_offload_params")) == Some(true) {
        fields.set("plan.offload.parameters", &1.0, &at("zero_optimization.cpu_offload_params"));
    }
    for (section, key, least) in [
        ("zero_optimization.offload_optimizer", "plan.offload.optimizer", 1),
        ("zero_optimization.offload_param", "plan.offload.parameters", 3),
    ] {
        let path = at(&format!("{section}.device"));
        let ratio_path = at(&format!("{section}.ratio"));
        let ratio = fields.number(&ratio_path).unwrap_or(1.0);
        let Some(device) = fields.word(&path) else { continue };
        match device.to_ascii_lowercase().as_str() {
            "none" => continue,
            "cpu" => {}
            "nvme" => {
                fields.remark(
                    RemarkKind::NotModelled,
                    &path,
                    "estimated as the host's memory, which is faster",
                );
            }
            other => {
                let problem = Problem::new(format!("expected `none`, `cpu` or `nvme`, found `{other}`"));
                fields.problem(problem, &path);
                continue;
            }
        }
        if stage < least {
            let message = format!("has an effect from stage {least} on, but this is stage {stage}: ignored");
            fields.remark(RemarkKind::Conflict, &path, message);
        } else if (0.0..=1.0).contains(&ratio) {
            let source = if fields.document.get(&ratio_path).is_some() { &ratio_path } else { &path };
            fields.set(key, &ratio, &source.clone());
        } else {
            let problem = Problem::new(format!("expected a share from 0 to 1, found {ratio}"));
            fields.problem(problem, &ratio_path);
        }
    }
    let path = at("activation_checkpointing.cpu_checkpointing");
    if fields.flag(&path) == Some(true) {
        fields.set("plan.offload.activations", &1.0, &path);
    }
}

fn precision(fields: &mut Fields<'_>, at: &impl Fn(&str) -> String, stage: Option<u8>) {
    let (bf16_path, fp16_path) = (at("bf16.enabled"), at("fp16.enabled"));
    fields.document.rename(&[(at("bfloat16.enabled").as_str(), bf16_path.as_str())]);
    let (bf16, fp16) = (fields.flag(&bf16_path), fields.flag(&fp16_path));
    let (preset, source) = match (bf16, fp16) {
        (Some(true), Some(true)) => {
            let problem = Problem::new("`bf16` and `fp16` are both enabled").hint("keep one");
            return fields.problem(problem, &fp16_path);
        }
        (Some(true), _) => (PrecisionPreset::Bf16, bf16_path),
        (_, Some(true)) => (PrecisionPreset::Fp16, fp16_path),
        (Some(false), Some(false)) => (PrecisionPreset::Fp32, bf16_path),
        _ => {
            let autocast = at("torch_autocast.enabled");
            // GPT-NeoX has one word for it.
            let word = at("precision");
            let named = fields.word(&word).and_then(|named| match named.as_str() {
                "bfloat16" => Some(PrecisionPreset::Bf16),
                "fp16" => Some(PrecisionPreset::Fp16),
                "fp32" => Some(PrecisionPreset::Fp32),
                _ => None,
            });
            if fields.flag(&autocast) == Some(true) {
                (PrecisionPreset::Bf16, autocast)
            } else if let Some(preset) = named {
                (preset, word)
            } else {
                let message = "neither `bf16` nor `fp16` is set: the precision stays unset";
                fields.draft.remark(RemarkKind::Unresolved, "precision", None, message);
                return;
            }
        }
    };
    fields.set("plan.precision.preset", &preset, &source);
    formats(fields, at);
    if preset != PrecisionPreset::Bf16 {
        return;
    }
    if stage.unwrap_or(0) > 0 {
        let why = "ZeRO accumulates gradients in the format of the parameters";
        fields.default("plan.precision.gradients", &DataType::Bf16, why);
    }
    let why = "DeepSpeed sends gradients in the format of the parameters";
    fields.default("plan.precision.gradient_reduce", &DataType::Bf16, why);
}

/// A format by its name.
fn format(fields: &mut Fields<'_>, path: &str) -> Option<DataType> {
    let text = fields.word(path).filter(|text| text != "auto")?;
    let known = DataType::from_name(&text)
        .filter(|format| matches!(format, DataType::Bf16 | DataType::Fp16 | DataType::Fp32));
    if known.is_none() {
        let problem = Problem::new(format!("expected `fp32`, `fp16` or `bf16`, found `{text}`"));
        fields.problem(problem, path);
    }
    known
}

/// Formats of gradients, of master weights and of moments (`deepspeed/runtime/precision_config.py`).
fn formats(fields: &mut Fields<'_>, at: &impl Fn(&str) -> String) {
    for (path, key) in [
        (at("data_types.grad_accum_dtype"), "plan.precision.gradients"),
        (at("communication_data_type"), "plan.precision.gradient_reduce"),
    ] {
        if let Some(format) = format(fields, &path) {
            fields.set(key, &format, &path);
        }
    }
    for (section, narrow) in [("bf16", DataType::Bf16), ("fp16", DataType::Fp16)] {
        if fields.flag(&at(&format!("{section}.enabled"))) == Some(false) {
            continue;
        }
        let path = at(&format!("{section}.{section}_master_weights_and_grads"));
        if fields.flag(&path) == Some(true) {
            fields.set("plan.precision.master", &Master(Some(narrow)), &path);
            fields.set("plan.precision.gradients", &narrow, &path);
        }
        let path = at(&format!("{section}.{section}_optimizer_states"));
        if fields.flag(&path) == Some(true) {
            fields.set("plan.precision.moments", &narrow, &path);
        }
    }
}

fn batch(fields: &mut Fields<'_>, at: &impl Fn(&str) -> String) {
    let (whole_path, micro_path) = (at("train_batch_size"), at("train_micro_batch_size_per_gpu"));
    let steps_path = at("gradient_accumulation_steps");
    let numbers = [&whole_path, &micro_path, &steps_path].map(|path| fields.count(path));
    for (path, number) in [&whole_path, &micro_path, &steps_path].into_iter().zip(numbers) {
        if number == Some(0) {
            return fields.problem(Problem::new("expected a number of 1 or more, found 0"), path);
        }
    }
    let [whole, micro, steps] = numbers;
    if let Some(micro) = micro {
        fields.set("plan.micro_batch", &micro, &micro_path);
    }
    match (whole, steps) {
        (Some(whole), _) => fields.set("plan.global_batch", &whole, &whole_path),
        (None, Some(steps)) => fields.set("plan.micro_batches", &steps, &steps_path),
        (None, None) => {}
    }
    let (Some(whole), Some(micro)) = (whole, micro) else { return };
    // DeepSpeed's rule: batch = micro batch x accumulation x data-parallel ranks.
    let unit = micro.saturating_mul(steps.unwrap_or(1));
    if !whole.is_multiple_of(unit) {
        let message = match steps {
            Some(steps) => format!(
                "a batch of {whole} is not a multiple of micro-batch {micro} x accumulation {steps} = {unit}, \
                 for any number of ranks"
            ),
            None => format!("a batch of {whole} is not a multiple of micro-batch {micro}"),
        };
        return fields.problem(Problem::new(message), &whole_path);
    }
    if steps.is_some() {
        let data = whole / unit;
        let accumulation = steps.unwrap_or(1);
        let why = format!("batch {whole} / (micro-batch {micro} x accumulation {accumulation}) = {data}");
        fields.draft.set("plan.data_parallel", &data, &why, None);
        let plan = &fields.draft.spec().plan;
        let others = [plan.tensor_parallel, plan.pipeline_parallel, plan.context_parallel];
        let ranks = others.into_iter().flatten().fold(data, u64::saturating_mul);
        if fields.draft.spec().cluster.devices.is_none() {
            fields.draft.set("cluster.devices", &ranks, &why, None);
            let message = format!("{ranks} devices, inferred from the batch: {why}");
            fields.draft.remark(RemarkKind::Assumed, "cluster.devices", None, message);
        }
    }
}

fn optimizer(fields: &mut Fields<'_>, at: &impl Fn(&str) -> String) {
    let path = at("optimizer.type");
    let Some(name) = fields.word(&path) else { return };
    let known = match name.to_ascii_lowercase().as_str() {
        "adam" | "adamw" | "fusedadam" | "deepspeedcpuadam" | "torchadam" => Some(Optimizer::Adam),
        "sgd" => Some(Optimizer::Sgd),
        "lion" | "fusedlion" | "deepspeedcpulion" => Some(Optimizer::Lion),
        "muon" => Some(Optimizer::Muon),
        "adafactor" => Some(Optimizer::Adafactor),
        _ => None,
    };
    match known {
        Some(optimizer) => fields.set("plan.optimizer", &optimizer, &path),
        None => fields.remark(RemarkKind::NotModelled, &path, "estimated as adam"),
    }
}

fn recompute(fields: &mut Fields<'_>, at: &impl Fn(&str) -> String) {
    let path = at("pipeline.activation_checkpoint_interval");
    match fields.count(&path) {
        Some(0) => fields.set("plan.recompute", &Recompute::None, &path),
        Some(1) => fields.set("plan.recompute", &Recompute::Full { layers: None }, &path),
        Some(_) => {
            let message = "each layer is assumed to have its own checkpoint";
            fields.remark(RemarkKind::NotModelled, &path, message);
            fields.set("plan.recompute", &Recompute::Full { layers: None }, &path);
        }
        None => {}
    }
}
