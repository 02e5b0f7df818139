//! lingua's YAML: PyTorch's FSDP 2, with the width of the MLP as a rule.
//!
//! Responsible for: the transformer of `apps/main` and its defaults (`lingua/transformer.py`,
//! `lingua/distributed.py`, November 2026). Other apps have layers of their own, so their models are open.

use super::common::{dimensions, has_key, has_sections, open_model, sharding};
use crate::accelerate::software;
use crate::document;
use crate::fields::{Fields, Known, Meaning};
use crate::missing::missing;
use crate::{Format, Launch, RemarkKind};
use Meaning::{Ignored, Key, Lost, Read};
use railwright_spec::plan::{Master, Optimizer, PrecisionPreset, Recompute, RecomputeModule};
use railwright_spec::precision::DataType;
use railwright_spec::problem::Problem;
use std::collections::BTreeSet;

pub(super) const WHY: &str = "YAML with the keys `model`, `data` and `distributed.fsdp_type`";

const KNOWN: &[Known] = &[
    ("data.batch_size", Key("plan.micro_batch")),
    ("data.seq_len", Key("plan.sequence_length")),
    ("grad_acc_steps", Key("plan.micro_batches")),
    ("distributed.tp_size", Key("plan.tensor_parallel")),
    ("distributed.fsdp_type", Read),
    ("distributed.dp_shard", Read),
    ("distributed.dp_replicate", Read),
    ("distributed.compile", Read),
    ("distributed.model_dtype", Read),
    ("distributed.float8_recipe", Read),
    ("distributed.float8_filter", Ignored),
    ("distributed.matmul_allow_tf32", Ignored),
    ("distributed.compile_cache_size_limit", Ignored),
    ("distributed.detect_anomaly", Lost(&["false"], "checks of every operation are not modelled")),
    ("distributed.selective_activation_checkpointing", Read),
    ("model.dim", Read),
    ("model.n_layers", Read),
    ("model.n_heads", Read),
    ("model.n_kv_heads", Read),
    ("model.head_dim", Read),
    ("model.ffn_dim_multiplier", Read),
    ("model.multiple_of", Read),
    ("model.vocab_size", Read),
    ("model.weight_tying", Read),
    (
        "model.sliding_window",
        Lost(&["null"], "the window of attention is not modelled: an upper bound on time"),
    ),
    ("model.rope_theta", Ignored),
    ("model.norm_eps", Ignored),
    ("model.max_seqlen", Ignored),
    ("model.init_base_std", Ignored),
    ("model.init_std_factor", Ignored),
    ("model.seed", Ignored),
    ("data.*", Ignored),
    ("optim.*", Ignored),
    ("profiling.*", Ignored),
    ("checkpoint.*", Ignored),
    ("logging.*", Ignored),
    ("eval.*", Ignored),
    ("env.*", Ignored),
    ("async_eval_gpus", Ignored),
    ("name", Ignored),
    ("dump_dir", Ignored),
    ("seed", Ignored),
    ("steps", Ignored),
    ("probe_freq", Ignored),
    ("gc_collect_freq", Ignored),
];

pub(super) fn is_one(text: &str) -> bool {
    has_sections(text, &["model", "data", "distributed"])
        && has_key(text, "fsdp_type")
        && has_key(text, "seq_len")
}

pub(super) fn read(text: &str, file: &str) -> Result<Launch, Vec<Problem>> {
    let document = document::yaml(text, file).map_err(|problem| vec![problem])?;
    let mut fields = Fields::new(Format::Pretrainer, file, text, document);
    fields.copy(KNOWN);
    model(&mut fields);
    fields.default("plan.micro_batch", &2_u64, "lingua's default");
    fields.default("plan.micro_batches", &1_u64, "lingua does not accumulate by default");
    fields.undivided("lingua");
    shards(&mut fields);
    precision(&mut fields);
    recompute(&mut fields);
    fields.default("plan.optimizer", &Optimizer::Adam, "lingua trains with AdamW");
    fields.default("plan.vocabulary_multiple", &1_u64, "lingua does not pad the vocabulary");
    match fields.flag("distributed.compile") {
        Some(true) => software(&mut fields, "torchtitan-2024-compile", "FSDP 2, compiled"),
        _ => software(&mut fields, "torchtitan-2024-eager", "FSDP 2, eager"),
    }
    missing(&mut fields, "lingua");
    fields.rest(KNOWN);
    fields.finish()
}

/// The MLP is `4 x dim x 2/3 x multiplier`, rounded up to a multiple (`lingua/transformer.py`,
/// `FeedForward`).
pub(super) fn width_of_mlp(dim: u64, multiplier: f64, multiple: u64) -> u64 {
    let rule = (dim.saturating_mul(8) / 3) as f64 * multiplier;
    (rule as u64).div_ceil(multiple.max(1)).saturating_mul(multiple.max(1))
}

fn model(fields: &mut Fields<'_>) {
    let foreign = fields.document.entries.iter().find(|entry| {
        let is_other =
            entry.path.starts_with("model.") && !KNOWN.iter().any(|(known, _)| *known == entry.path);
        is_other || entry.path == "model_type"
    });
    if let Some(path) = foreign.map(|entry| entry.path.clone()) {
        let own: Vec<String> = fields.document.entries.iter().map(|entry| entry.path.clone()).collect();
        for path in own.iter().filter(|path| path.starts_with("model.") || *path == "model_type") {
            let _ = fields.take(path);
        }
        return open_model(fields, &path, "this app has its own layers");
    }
    let keys = [
        ("model.n_layers", "model.layers", Some(8)),
        ("model.dim", "model.hidden", Some(512)),
        ("model.n_kv_heads", "model.kv_heads", None),
        ("model.head_dim", "model.head_dim", None),
        ("model.n_heads", "model.heads", None),
    ];
    dimensions(fields, "lingua", &keys);
    let spec = &fields.draft.spec().model;
    let (dim, head) = (spec.hidden.unwrap_or(512), spec.head_dim);
    if let (None, Some(head)) = (spec.heads, head.filter(|&head| head > 0)) {
        fields.set("model.heads", &(dim / head), "model.head_dim");
    }
    let multiplier = fields.number("model.ffn_dim_multiplier").unwrap_or(1.0);
    let multiple = fields.count("model.multiple_of").unwrap_or(256);
    let ffn = width_of_mlp(dim, multiplier, multiple);
    let path =
        ["model.ffn_dim_multiplier", "model.multiple_of"].into_iter().find(|path| fields.document.has(path));
    match path {
        Some(path) => fields.set("model.ffn", &ffn, path),
        None => fields.default("model.ffn", &ffn, "8/3 of the width, rounded up to a multiple of 256"),
    }
    let path = "model.vocab_size";
    match fields.integer(path).and_then(|n| u64::try_from(n).ok()) {
        Some(rows) => fields.set("model.vocab", &rows, path),
        None => super::common::vocabulary(fields, "data.tokenizer.path"),
    }
    let path = "model.weight_tying";
    match fields.flag(path) {
        Some(tied) => fields.set("model.tied", &tied, path),
        None => fields.default("model.tied", &false, "lingua does not tie embeddings by default"),
    }
}

/// `full_shard` over all ranks, or in groups of `dp_shard` if it is above 1.
fn shards(fields: &mut Fields<'_>) {
    let path = "distributed.fsdp_type";
    let kind = fields.word(path);
    let group = fields.count("distributed.dp_shard").filter(|&ranks| ranks > 1);
    let _ = fields.take("distributed.dp_replicate");
    match (kind.as_deref(), group) {
        (Some("full_shard"), Some(_)) => {
            fields.set("plan.sharding", &sharding(3, group), "distributed.dp_shard");
        }
        (Some("full_shard"), None) => fields.set("plan.sharding", &sharding(3, None), path),
        (Some("no_shard") | None, _) => fields.set("plan.sharding", &sharding(0, None), path),
        (Some(other), _) => {
            let message = format!("expected `full_shard` or `no_shard`, found `{other}`");
            fields.problem(Problem::new(message), path);
        }
    }
}

/// FSDP casts parameters, which are in 32 bits, and reduces in 32 bits.
fn precision(fields: &mut Fields<'_>) {
    let path = "distributed.model_dtype";
    let word = fields.word(path);
    let preset = match word.as_deref() {
        Some("bf16") | None => PrecisionPreset::Bf16,
        Some("fp16") => PrecisionPreset::Fp16,
        Some("fp32") => PrecisionPreset::Fp32,
        Some(other) => {
            let message = format!("expected `bf16`, `fp16` or `fp32`, found `{other}`");
            return fields.problem(Problem::new(message), path);
        }
    };
    match word {
        Some(_) => fields.set("plan.precision.preset", &preset, path),
        None => fields.default("plan.precision.preset", &preset, "lingua computes in bfloat16 by default"),
    }
    fields.default("plan.precision.gradient_reduce", &DataType::Fp32, "lingua reduces gradients in float32");
    if preset != PrecisionPreset::Fp32 {
        let why = "lingua keeps parameters in 32 bits";
        fields.default("plan.precision.master", &Master(Some(DataType::Fp32)), why);
    }
    let path = "distributed.float8_recipe";
    if fields.word(path).is_some() {
        fields.set("plan.precision.compute", &DataType::Fp8, path);
    }
}

/// Products and attention are kept, all else is recomputed.
fn recompute(fields: &mut Fields<'_>) {
    let path = "distributed.selective_activation_checkpointing";
    match fields.flag(path) {
        Some(true) => {
            let modules = BTreeSet::from([RecomputeModule::Norm, RecomputeModule::Activation]);
            fields.set("plan.recompute", &Recompute::Selective { modules, layers: None }, path);
            fields.remark(
                RemarkKind::Assumed,
                path,
                "outputs of GEMMs are kept, norms and activations recomputed",
            );
        }
        Some(false) => fields.set("plan.recompute", &Recompute::None, path),
        None => fields.default("plan.recompute", &Recompute::None, "lingua keeps all activations by default"),
    }
}
