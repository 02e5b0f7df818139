//! InternEvo's configurations in Python: dictionaries of a model, its batch and its parallelism.
//!
//! Responsible for: dense models of its keys, and defaults of `internlm/initialize/launch.py` (November
//! 2026). Models with experts are open, and so is parallelism with sharded weights (`isp`).

use super::common::{dimensions, open_model, sharding};
use crate::document::Data;
use crate::fields::{Fields, Known, Meaning};
use crate::missing::missing;
use crate::{Context, Format, Launch, RemarkKind, python};
use Meaning::{Ignored, Key, Lost, Read};
use railwright_spec::model::by_name;
use railwright_spec::plan::{Optimizer, PrecisionPreset, Recompute};
use railwright_spec::precision::DataType;
use railwright_spec::problem::Problem;

pub(super) const WHY: &str = "Python with the dictionaries `data`, `model` and `parallel` of InternEvo";

const KNOWN: &[Known] = &[
    ("data.seq_len", Key("plan.sequence_length")),
    ("data.micro_bsz", Key("plan.micro_batch")),
    ("data.micro_num", Read),
    ("data.gradient_accumulation", Read),
    ("data.rampup_batch_size", Lost(&[""], "the batch grows during the run: the final size is used")),
    ("data.*", Ignored),
    ("model.hidden_size", Read),
    ("model.num_layers", Read),
    ("model.num_attention_heads", Read),
    ("model.num_kv_attention_heads", Read),
    ("model.mlp_ratio", Read),
    ("model.multiple_of", Read),
    ("model.vocab_size", Read),
    ("model.no_bias", Read),
    ("model.norm_type", Read),
    ("model.dtype", Read),
    ("model.checkpoint", Read),
    ("model.num_chunks", Read),
    ("model.num_experts", Read),
    ("model.parallel_output", Ignored),
    ("model.use_flash_attn", Lost(&["true"], "estimated with a fused attention kernel")),
    ("model.*", Ignored),
    ("parallel.tensor.size", Read),
    ("parallel.tensor.mode", Read),
    ("parallel.tensor", Read),
    ("parallel.pipeline.size", Read),
    ("parallel.pipeline", Read),
    ("parallel.pipeline.interleaved_overlap", Ignored),
    ("parallel.expert.size", Read),
    ("parallel.expert.no_tp", Ignored),
    ("parallel.expert", Read),
    (
        "parallel.expert_weight.*",
        Lost(&["1", "true", "wo", "layer"], "further division of expert weights is not supported"),
    ),
    ("parallel.zero1.size", Read),
    ("parallel.zero1.fsdp", Read),
    ("parallel.zero1", Read),
    ("parallel.weight.size", Read),
    ("parallel.weight.overlap", Ignored),
    ("parallel.weight.memory_pool", Ignored),
    ("parallel.sequence_parallel", Read),
    ("hybrid_zero_optimizer.overlap_sync_grad", Read),
    ("hybrid_zero_optimizer.overlap_sync_param", Read),
    ("hybrid_zero_optimizer.reduce_bucket_size", Ignored),
    ("hybrid_zero_optimizer.clip_grad_norm", Ignored),
    ("model_type", Read),
    ("ckpt.*", Ignored),
    ("grad_scaler.*", Ignored),
    ("hybrid_zero_optimizer.*", Ignored),
    ("loss.*", Ignored),
    ("adam.*", Ignored),
    ("lr_scheduler.*", Ignored),
    ("beta2_scheduler.*", Ignored),
    ("monitor.*", Ignored),
    ("moe.*", Ignored),
];

pub(super) fn is_one(text: &str) -> bool {
    let has = |name: &str| {
        text.lines().any(|line| line.split_once('=').is_some_and(|(left, _)| left.trim_end() == name))
    };
    ["parallel", "model", "data", "hybrid_zero_optimizer"].iter().all(|name| has(name))
        && text.contains("micro_bsz")
}

pub(super) fn read(text: &str, file: &str) -> Result<Launch, Vec<Problem>> {
    let recipe = python::variables(text, file, &Context::default()).map_err(|problem| vec![problem])?;
    let mut document = recipe.document.clone();
    // Variables that the dictionaries take their values from.
    document.entries.retain(|entry| {
        entry.path.contains('.') || ["model_type", "model", "parallel"].contains(&entry.path.as_str())
    });
    let mut fields = Fields::new(Format::Pretrainer, file, text, document);
    recipe.remarks(
        &mut fields.draft,
        &|path| ["data", "model", "parallel"].iter().any(|s| path.starts_with(s)),
        &|_| false,
    );
    fields.copy(KNOWN);
    model(&mut fields);
    batch(&mut fields);
    parallel(&mut fields);
    precision(&mut fields);
    recompute(&mut fields);
    fields.default("plan.optimizer", &Optimizer::Adam, "InternEvo trains with AdamW");
    for (path, key) in [
        ("hybrid_zero_optimizer.overlap_sync_grad", "plan.overlap.gradient_reduce"),
        ("hybrid_zero_optimizer.overlap_sync_param", "plan.overlap.parameter_gather"),
    ] {
        if let Some(overlaps) = fields.flag(path) {
            fields.set(key, &overlaps, path);
        }
    }
    missing(&mut fields, "InternEvo");
    fields.rest(KNOWN);
    fields.finish()
}

fn model(fields: &mut Fields<'_>) {
    let experts = "model.num_experts";
    let kind = fields.word("model_type").unwrap_or_default().to_ascii_lowercase();
    let count = fields.count(experts).unwrap_or(1);
    if count > 1 || kind.contains("moe") {
        let path = if fields.document.has(experts) { experts } else { "model_type" };
        for entry in &mut fields.document.entries {
            entry.taken |= entry.path.starts_with("model.");
        }
        return open_model(fields, path, "models with experts are not supported");
    }
    if !fields.document.has("model.num_layers") {
        // `model_type = "huggingface_..."`: the dimensions are in that model's configuration.
        let why = "the dimensions are in another file";
        return match kind.strip_prefix("huggingface_") {
            Some(name) if by_name(&name.replace('_', "-")).is_ok() => {
                fields.named_model("model_type", &name.replace('_', "-"));
            }
            _ => open_model(fields, "model_type", why),
        };
    }
    let keys = [
        ("model.num_layers", "model.layers", None),
        ("model.hidden_size", "model.hidden", None),
        ("model.num_attention_heads", "model.heads", None),
        ("model.num_kv_attention_heads", "model.kv_heads", None),
        ("model.vocab_size", "model.vocab", None),
    ];
    dimensions(fields, "InternEvo", &keys);
    // `internlm/model/modules/mlp.py`: the product, rounded up to a multiple.
    let path = "model.mlp_ratio";
    if let (Some(ratio), Some(hidden)) = (fields.number(path), fields.draft.spec().model.hidden) {
        let multiple = fields.count("model.multiple_of").unwrap_or(256).max(1);
        let ffn = ((hidden as f64 * ratio) as u64).div_ceil(multiple).saturating_mul(multiple);
        fields.set("model.ffn", &ffn, path);
    }
    fields.default("model.tied", &false, "InternEvo does not tie embeddings by default");
    let path = "model.no_bias";
    match fields.flag(path) {
        Some(none) => fields.set("model.biases", &!none, path),
        // The first InternLM has biases in its attention.
        None if kind == "internlm" => fields.default("model.qkv_bias", &true, "InternLM"),
        None => {}
    }
    let path = "model.norm_type";
    if fields.word(path).is_some_and(|norm| norm != "rmsnorm") {
        fields.remark(RemarkKind::NotModelled, path, "estimated with RMSNorm");
    }
}

/// `micro_num` micro-batches of an update on each rank.
fn batch(fields: &mut Fields<'_>) {
    let paths = ["data.gradient_accumulation", "data.micro_num"];
    let found = paths.iter().find_map(|path| Some((*path, fields.count(path)?)));
    let _ = fields.take("data.micro_num");
    match found {
        Some((path, count)) => fields.set("plan.micro_batches", &count, path),
        None => fields.default("plan.micro_batches", &1_u64, "InternEvo's default"),
    }
}

/// A degree: a number, or `size` of a dictionary.
fn degree(fields: &mut Fields<'_>, section: &str) -> Option<(i64, String)> {
    let size = format!("{section}.size");
    let path = if fields.document.has(&size) { size } else { section.to_owned() };
    let found = fields.document.get(&path).is_some_and(|entry| !matches!(entry.data, Data::Table(_)));
    Some((found.then(|| fields.integer(&path)).flatten()?, path))
}

fn parallel(fields: &mut Fields<'_>) {
    let weights = degree(fields, "parallel.weight").filter(|(ranks, _)| *ranks > 1);
    let path = "parallel.tensor.mode";
    let mode = fields.word(path).unwrap_or_else(|| "mtp".to_owned());
    let tensor = degree(fields, "parallel.tensor");
    let is_divided = weights.is_some() || tensor.as_ref().is_some_and(|(ranks, _)| *ranks > 1);
    if mode == "isp" && is_divided {
        let why = "weights are gathered inside groups, which has no equivalent";
        let (source, line) = fields.source(path);
        for key in ["plan.tensor_parallel", "plan.context_parallel", "plan.sharding"] {
            fields.draft.leave_open(key, &source, line, why);
        }
        fields.remark(RemarkKind::Unresolved, path, format!("{why}, so the parallelism stays unset"));
    } else if let Some((ranks, of)) = tensor {
        if let Ok(ranks) = u64::try_from(ranks) {
            fields.set("plan.tensor_parallel", &ranks.max(1), &of);
        }
        let shards = mode != "mtp" || fields.flag("parallel.sequence_parallel") == Some(true);
        if ranks > 1 {
            fields.default("plan.sequence_parallel", &shards, "the mode of tensor parallelism");
        }
    }
    if let Some((stages, path)) = degree(fields, "parallel.pipeline") {
        if let Ok(stages) = u64::try_from(stages) {
            fields.set("plan.pipeline_parallel", &stages.max(1), &path);
        }
        let path = "model.num_chunks";
        if let Some(chunks) = fields.count(path).filter(|&chunks| chunks > 1 && stages > 1) {
            fields.set("plan.virtual_stages", &chunks, path);
        }
    }
    experts(fields);
    if !fields.draft.is_open("plan.tensor_parallel") {
        fields.undivided("InternEvo");
    }
    let path = "parallel.zero1.fsdp";
    if fields.flag(path) == Some(true) {
        fields.set("plan.sharding", &sharding(3, None), path);
    }
    let Some((ranks, path)) = degree(fields, "parallel.zero1") else {
        return fields.default(
            "plan.sharding",
            &sharding(1, None),
            "InternEvo shards the optimizer by default",
        );
    };
    if fields.draft.value("plan.sharding").is_some() || fields.draft.is_open("plan.sharding") {
        return;
    }
    fields.set("plan.sharding", &sharding(u8::from(ranks != 1), None), &path);
    if ranks > 1 {
        let message = "the optimizer is sharded inside groups of this size: estimated over all replicas, a lower bound on memory";
        fields.remark(RemarkKind::NotModelled, &path, message);
    }
}

/// Ranks of experts: a size below one, also the default, is as many as replicas and experts allow
/// (`args_sanity_check`).
fn experts(fields: &mut Fields<'_>) {
    let found = degree(fields, "parallel.expert");
    if fields.count("model.num_experts").is_none_or(|experts| experts < 2) {
        return;
    }
    match found.as_ref().map(|(ranks, path)| (u64::try_from(*ranks).unwrap_or(0), path)) {
        Some((ranks, path)) if ranks > 0 => fields.set("plan.expert_parallel", &ranks, path),
        found => {
            let path = found.map_or("", |(_, path)| path.as_str());
            let why = "as many ranks as replicas and experts allow, which depends on the devices";
            let (source, line) = fields.source(path);
            fields.draft.leave_open("plan.expert_parallel", &source, line, why);
        }
    }
}

/// Gradients have the format of the model; the optimizer has a copy of the weights in 32 bits.
fn precision(fields: &mut Fields<'_>) {
    let path = "model.dtype";
    let word = fields.word(path);
    let (preset, narrow) = match word.as_deref().map(|word| word.trim_start_matches("torch.")) {
        Some("bfloat16") => (PrecisionPreset::Bf16, Some(DataType::Bf16)),
        Some("float16" | "half") | None => (PrecisionPreset::Fp16, Some(DataType::Fp16)),
        Some("float32" | "tf32") => (PrecisionPreset::Fp32, None),
        Some(other) => {
            let message = format!("expected a format such as `torch.bfloat16`, found `{other}`");
            return fields.problem(Problem::new(message), path);
        }
    };
    match word {
        Some(_) => fields.set("plan.precision.preset", &preset, path),
        None => fields.default("plan.precision.preset", &preset, "InternEvo computes in float16 by default"),
    }
    if let Some(format) = narrow {
        for key in ["gradients", "gradient_reduce"] {
            let why = "gradients have the format of the model";
            fields.default(&format!("plan.precision.{key}"), &format, why);
        }
    }
}

/// All layers, none, or a share of them.
fn recompute(fields: &mut Fields<'_>) {
    let path = "model.checkpoint";
    let share = fields.take(path).map(|entry| match entry.data {
        Data::Flag(all) => Some(f64::from(u8::from(all))),
        Data::Integer(n) => Some(n as f64),
        Data::Number(x) => Some(x),
        _ => None,
    });
    match share {
        Some(Some(1.0)) => fields.set("plan.recompute", &Recompute::Full { layers: None }, path),
        Some(Some(0.0)) => fields.set("plan.recompute", &Recompute::None, path),
        Some(_) => {
            let why = "a share of the layers of a stage: pass --recompute";
            let (source, line) = fields.source(path);
            fields.draft.leave_open("plan.recompute", &source, line, why);
            fields.remark(RemarkKind::Unresolved, path, why);
        }
        None => fields.default("plan.recompute", &Recompute::None, "InternEvo keeps activations by default"),
    }
}
