//! The YAML of OLMo's first trainer (2023 to 2025): PyTorch's FSDP 1 or DDP.
//!
//! Responsible for: its transformer and its defaults (`olmo/config.py`, `olmo/model.py` of version 0.6).
//! Excludes blocks that run attention and MLP in parallel, which are named as estimated one after the other,
//! and OLMo-core, which has a reader of its own.

use super::common::{dimensions, has_sections, sharding};
use crate::accelerate::software;
use crate::document;
use crate::fields::{Fields, Known, Meaning};
use crate::missing::missing;
use crate::{Format, Launch, RemarkKind};
use Meaning::{Ignored, Key, Lost, Read};
use railwright_spec::model::{NormKind, Position};
use railwright_spec::plan::{Optimizer, PrecisionPreset, Recompute};
use railwright_spec::precision::DataType;
use railwright_spec::problem::Problem;

pub(super) const WHY: &str =
    "YAML with the keys `model.mlp_ratio` or `model.d_model`, and `device_train_microbatch_size`";

const KNOWN: &[Known] = &[
    ("global_train_batch_size", Key("plan.global_batch")),
    ("device_train_microbatch_size", Key("plan.micro_batch")),
    ("model.max_sequence_length", Key("plan.sequence_length")),
    ("model.d_model", Read),
    ("model.n_layers", Read),
    ("model.n_heads", Read),
    ("model.n_kv_heads", Read),
    ("model.multi_query_attention", Read),
    ("model.mlp_ratio", Read),
    ("model.mlp_hidden_size", Read),
    ("model.activation_type", Read),
    ("model.vocab_size", Read),
    ("model.embedding_size", Read),
    ("model.weight_tying", Read),
    ("model.include_bias", Read),
    ("model.rope", Read),
    ("model.alibi", Read),
    ("model.layer_norm_type", Read),
    ("model.attention_layer_norm", Read),
    ("model.flash_attention", Ignored),
    ("model.block_type", Lost(&["sequential"], "attention and MLP are estimated one after the other")),
    ("model.attention_dropout", Read),
    ("model.residual_dropout", Read),
    ("model.embedding_dropout", Ignored),
    ("model.*", Ignored),
    ("distributed_strategy", Read),
    ("fsdp.sharding_strategy", Read),
    ("fsdp.precision", Read),
    ("fsdp.hybrid_sharding_num_model_replicas", Read),
    ("fsdp.wrapping_strategy", Ignored),
    ("fsdp.use_orig_params", Ignored),
    ("activation_checkpointing", Read),
    ("compile", Read),
    ("precision", Read),
    ("optimizer.name", Read),
    ("optimizer.*", Ignored),
    ("scheduler.*", Ignored),
    ("data.*", Ignored),
    ("evaluators", Ignored),
    ("tokenizer.*", Ignored),
    ("wandb.*", Ignored),
    ("speed_monitor.*", Ignored),
    ("ddp.*", Ignored),
    ("compile.*", Ignored),
    ("softmax_auxiliary_loss", Ignored),
    ("auxiliary_loss_multiplier", Ignored),
    ("fused_loss", Ignored),
];

/// Keys without effect on a step, by their beginning.
const HARMLESS: [&str; 22] = [
    "run_name",
    "seed",
    "dry_run",
    "save_",
    "load_",
    "eval_",
    "max_duration",
    "max_grad",
    "device_eval",
    "gen1_gc",
    "sharded_checkpointer",
    "try_load",
    "restore_",
    "no_pre_train",
    "reset_",
    "stop_",
    "remote_",
    "canceled",
    "console_",
    "extra_steps",
    "time_limit",
    "python_profiling",
];

pub(super) fn is_one(text: &str) -> bool {
    has_sections(text, &["model", "global_train_batch_size", "device_train_microbatch_size"])
        && super::common::has_key(text, "d_model")
        && (super::common::has_key(text, "mlp_ratio") || super::common::has_key(text, "mlp_hidden_size"))
}

pub(super) fn read(text: &str, file: &str) -> Result<Launch, Vec<Problem>> {
    let mut document = document::yaml(text, file).map_err(|problem| vec![problem])?;
    document.entries.retain(|entry| !HARMLESS.iter().any(|start| entry.path.starts_with(start)));
    let mut fields = Fields::new(Format::Pretrainer, file, text, document);
    fields.copy(KNOWN);
    model(&mut fields);
    fields.undivided("OLMo");
    shards(&mut fields);
    precision(&mut fields);
    recompute(&mut fields);
    let path = "optimizer.name";
    let optimizer = fields.word(path).map(|name| name.to_ascii_lowercase());
    match optimizer.as_deref() {
        Some("lionw") => fields.set("plan.optimizer", &Optimizer::Lion, path),
        Some(_) => fields.set("plan.optimizer", &Optimizer::Adam, path),
        None => fields.default("plan.optimizer", &Optimizer::Lion, "OLMo trains with LionW by default"),
    }
    let drops = ["model.attention_dropout", "model.residual_dropout"]
        .map(|path| fields.number(path).unwrap_or(0.1) > 0.0);
    fields.default("plan.dropout", &drops.contains(&true), "OLMo's dropout is 0.1 by default");
    fields.default("plan.vocabulary_multiple", &1_u64, "the rows of the embedding are in the file");
    software(&mut fields, "fsdp1-2023", "FSDP 1");
    if fields.document.has("compile")
        && fields.document.get("compile").is_none_or(|entry| entry.data != document::Data::Null)
    {
        fields.remark(
            RemarkKind::NotModelled,
            "compile",
            "compilation is estimated as eager, an upper bound on time",
        );
    }
    missing(&mut fields, "OLMo");
    fields.rest(KNOWN);
    fields.finish()
}

/// A gated activation halves the width: `mlp_hidden_size`, or `mlp_ratio` times the model's width, is that of
/// both input matrices together.
fn model(fields: &mut Fields<'_>) {
    let keys = [
        ("model.n_layers", "model.layers", Some(12)),
        ("model.d_model", "model.hidden", Some(768)),
        ("model.n_heads", "model.heads", Some(12)),
        ("model.n_kv_heads", "model.kv_heads", None),
    ];
    dimensions(fields, "OLMo", &keys);
    if fields.flag("model.multi_query_attention") == Some(true) {
        fields.set("model.kv_heads", &1_u64, "model.multi_query_attention");
    }
    let hidden = fields.draft.spec().model.hidden.unwrap_or(768);
    let activation = fields.word("model.activation_type").map(|word| word.to_ascii_lowercase());
    let is_gated = activation.as_deref().is_none_or(|word| word.ends_with("glu"));
    match activation {
        Some(_) => fields.set("model.gated_mlp", &is_gated, "model.activation_type"),
        None => fields.default("model.gated_mlp", &true, "OLMo uses SwiGLU by default"),
    }
    let share = if is_gated { 2 } else { 1 };
    let path = "model.mlp_hidden_size";
    if let Some(width) = fields.count(path) {
        fields.set("model.ffn", &(width / share), path);
    } else {
        let ratio = fields.count("model.mlp_ratio").unwrap_or(4);
        let width = hidden.saturating_mul(ratio) / share;
        if fields.document.has("model.mlp_ratio") {
            fields.set("model.ffn", &width, "model.mlp_ratio");
        } else {
            fields.default(
                "model.ffn",
                &width,
                "4 times the width by default, divided between two matrices of SwiGLU",
            );
        }
    }
    // The embedding has rows beyond the tokens.
    match fields.first_count(["model.embedding_size", "model.vocab_size"]) {
        Some((path, rows)) => fields.set("model.vocab", &rows, path),
        None => fields.default("model.vocab", &50_304_u64, "the default of OLMo"),
    }
    let switch =
        |fields: &mut Fields<'_>, path: &str, key: &str, usual: bool, why: &str| match fields.flag(path) {
            Some(flag) => fields.set(key, &flag, path),
            None => fields.default(key, &usual, why),
        };
    switch(fields, "model.weight_tying", "model.tied", true, "OLMo ties embeddings by default");
    switch(fields, "model.include_bias", "model.biases", true, "OLMo has biases by default");
    if fields.flag("model.attention_layer_norm") == Some(true) {
        fields.set("model.qk_norm", &true, "model.attention_layer_norm");
    }
    let path = "model.layer_norm_type";
    let norm = match fields.word(path).as_deref() {
        Some("rms" | "amd_compatible") => NormKind::RmsNorm,
        _ => NormKind::LayerNorm,
    };
    fields.set("model.norm", &norm, path);
    let [rope, alibi] = ["model.rope", "model.alibi"].map(|path| fields.flag(path) == Some(true));
    let (position, path) = match (rope, alibi) {
        (true, _) => (Position::Rotary, "model.rope"),
        (_, true) => (Position::Alibi, "model.alibi"),
        _ => (Position::Learned, "model.rope"),
    };
    fields.set("model.position", &position, path);
}

fn shards(fields: &mut Fields<'_>) {
    if fields.word("distributed_strategy").is_some_and(|word| word != "fsdp") {
        return fields.set("plan.sharding", &sharding(0, None), "distributed_strategy");
    }
    let path = "fsdp.sharding_strategy";
    let replicas = fields.count("fsdp.hybrid_sharding_num_model_replicas");
    match fields.word(path).as_deref() {
        Some("FULL_SHARD") => fields.set("plan.sharding", &sharding(3, None), path),
        None => fields.default("plan.sharding", &sharding(3, None), "OLMo shards over all ranks by default"),
        Some("NO_SHARD") => fields.set("plan.sharding", &sharding(0, None), path),
        Some("SHARD_GRAD_OP") => fields.set("plan.sharding", &sharding(2, None), path),
        Some(_) => {
            let why = match replicas {
                Some(replicas) => {
                    format!("{replicas} replicas: the group depends on the devices, pass `--sharding hsdp:N`")
                }
                None => {
                    "shards within a node and replicates across them: pass `--sharding hsdp:N`".to_owned()
                }
            };
            let (source, line) = fields.source(path);
            fields.draft.leave_open("plan.sharding", &source, line, &why);
            fields.remark(RemarkKind::Unresolved, path, why);
        }
    }
}

/// FSDP casts parameters in 32 bits to the format of autocast; `mixed` reduces in 32 bits, `pure` in that
/// format.
fn precision(fields: &mut Fields<'_>) {
    let path = "precision";
    let preset = match fields.word(path).as_deref() {
        Some("amp_bf16") => Some(PrecisionPreset::Bf16),
        Some("amp_fp16") => Some(PrecisionPreset::Fp16),
        Some("fp32") => Some(PrecisionPreset::Fp32),
        _ => None,
    };
    let Some(preset) = preset else { return };
    fields.set("plan.precision.preset", &preset, path);
    let path = "fsdp.precision";
    let reduce = match (fields.word(path).as_deref(), preset) {
        (Some("mixed"), _) | (_, PrecisionPreset::Fp32) => DataType::Fp32,
        (_, PrecisionPreset::Fp16) => DataType::Fp16,
        _ => DataType::Bf16,
    };
    if fields.document.has(path) {
        fields.set("plan.precision.gradient_reduce", &reduce, path);
    } else {
        fields.default(
            "plan.precision.gradient_reduce",
            &reduce,
            "OLMo reduces in the format of autocast by default",
        );
    }
}

/// A block in some number is recomputed as a whole (`should_checkpoint_block` in `olmo/model.py`, blocks
/// counted from 0).
fn recompute(fields: &mut Fields<'_>) {
    let path = "activation_checkpointing";
    let layers = fields.draft.spec().model.layers.unwrap_or(12);
    let recompute = match fields.word(path).as_deref() {
        None | Some("null") => {
            return fields.default("plan.recompute", &Recompute::None, "OLMo recomputes nothing by default");
        }
        Some("whole_layer") => Recompute::Full { layers: None },
        Some("one_in_two") => Recompute::Full { layers: Some(layers.div_ceil(2)) },
        Some("one_in_three") => Recompute::Full { layers: Some(layers.div_ceil(3)) },
        Some("one_in_four") => Recompute::Full { layers: Some(layers.div_ceil(4)) },
        Some("one_in_eight") => Recompute::Full { layers: Some(layers.div_ceil(8)) },
        Some("two_in_three") => Recompute::Full { layers: Some(layers - layers.div_ceil(3)) },
        Some("three_in_four") => Recompute::Full { layers: Some(layers - layers.div_ceil(4)) },
        Some(_) => {
            let why = "parts of a block are recomputed: recompute stays unset";
            let (source, line) = fields.source(path);
            fields.draft.leave_open("plan.recompute", &source, line, why);
            return fields.remark(RemarkKind::Unresolved, path, why);
        }
    };
    fields.set("plan.recompute", &recompute, path);
}
