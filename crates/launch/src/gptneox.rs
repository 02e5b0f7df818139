//! GPT-NeoX's YAML, which is mostly written as JSON.
//!
//! Responsible for: its names for the model and the parallel sizes, and the DeepSpeed keys in the same file.
//! The vocabulary is that of a tokenizer with a known name, or open.

pub(crate) mod dump;
mod experts;

#[cfg(test)]
mod tests;

use crate::document::{self, Document, Entry};
use crate::fields::{Fields, Known, Meaning};
use crate::missing::missing;
use crate::{
    Context, Evidence, Format, Launch, Measured, Reader, RemarkKind, Strength, deepspeed, tokenizers,
};
use Meaning::{Ignored, Key, Lost, Read};
use railwright_spec::model::{Activation, NormKind, Position, Style};
use railwright_spec::plan::{PrecisionPreset, Recompute};
use railwright_spec::problem::Problem;

/// Reads GPT-NeoX's YAML.
#[derive(Clone, Copy, Debug)]
pub struct NeoxReader;

const KNOWN: &[Known] = &[
    ("num_layers", Key("model.layers")),
    ("hidden_size", Key("model.hidden")),
    ("num_attention_heads", Key("model.heads")),
    ("num_kv_heads", Key("model.kv_heads")),
    ("intermediate_size", Key("model.ffn")),
    ("mlp_multiple_of", Read),
    ("max_position_embeddings", Key("model.max_positions")),
    ("seq_length", Key("plan.sequence_length")),
    ("make_vocab_size_divisible_by", Key("plan.vocabulary_multiple")),
    ("pipe_parallel_size", Read),
    ("model_parallel_size", Read),
    ("sequence_parallel", Read),
    ("context_parallel_size", Read),
    ("norm", Read),
    ("pos_emb", Read),
    ("no_weight_tying", Read),
    ("activation", Read),
    ("mlp_type", Read),
    ("use_bias_in_attn_linear", Read),
    ("use_bias_in_mlp", Read),
    (
        "use_bnb_optimizer",
        Lost(&["false"], "moments are estimated in 32 bits instead of 8, an upper bound on memory"),
    ),
    ("checkpoint_activations", Read),
    ("checkpoint_num_layers", Lost(&["1"], "layers are assumed to be kept one by one")),
    ("hidden_dropout", Read),
    ("attention_dropout", Read),
    ("precision", Read),
    ("global_num_gpus", Key("cluster.devices")),
    ("gpt_j_residual", Lost(&["false"], "parallel attention and MLP are estimated as sequential")),
    (
        "attention_config",
        Lost(&[], "attention kinds by layer are not supported: estimated as full attention"),
    ),
    (
        "train_impl",
        Lost(
            &["normal"],
            "pairs of samples and reference models are not modelled: estimated as plain training, a lower bound",
        ),
    ),
    ("moe_num_experts", Read),
    ("num_experts", Read),
    ("moe_top_k", Read),
    ("topk", Read),
    ("moe_expert_interval", Read),
    ("expert_interval", Read),
    ("moe_expert_parallel_size", Read),
    ("expert_parallel_size", Read),
    ("enable_expert_tensor_parallelism", Read),
    ("moe_token_dropping", Read),
    ("moe_train_capacity_factor", Read),
    ("moe_use_residual", Read),
    ("moe_type", Ignored),
    ("moe_eval_capacity_factor", Ignored),
    ("moe_min_capacity", Ignored),
    ("moe_router_type", Ignored),
    ("moe_loss_coeff", Ignored),
    ("moe_aux_loss_coeff", Ignored),
    ("moe_z_loss_coeff", Ignored),
    ("moe_jitter_eps", Ignored),
    ("moe_lbl_in_fp32", Ignored),
    ("moe.*", Lost(&[], "an unknown setting of experts: estimated without it")),
    ("zero_optimization.*", Ignored),
    ("fp16.*", Ignored),
    ("bf16.*", Ignored),
    ("optimizer.*", Ignored),
    ("scheduler.*", Ignored),
];

/// Keys of GPT-NeoX that DeepSpeed's files do not have, of which a part of a configuration has two.
const PARTS: &[&str] = &[
    "train_iters",
    "lr_decay_iters",
    "eval_iters",
    "lr_decay_style",
    "checkpoint_factor",
    "checkpoint_activations",
    "synchronize_each_layer",
    "override_lr_scheduler",
    "output_layer_init_method",
    "no_weight_tying",
    "make_vocab_size_divisible_by",
    "pos_emb",
];

/// Keys without effect on time and memory, by substring.
const HARMLESS: &[&str] = &[
    "path",
    "dir",
    "save",
    "load",
    "vocab_file",
    "merge_file",
    "lr",
    "decay",
    "warmup",
    "interval",
    "iters",
    "seed",
    "tokenizer",
    "data_impl",
    "split",
    "weights",
    "log",
    "wandb",
    "tensorboard",
    "steps_per_print",
    "wall_clock",
    "init_method",
    "fusion",
    "launcher",
    "distributed_backend",
    "eval",
    "rotary",
    "checkpoint_",
    "partition_activations",
    "synchronize",
    "gradient_clipping",
    "steps",
    "prefix",
    "num_workers",
    "comment",
    "hostfile",
    "master",
    "output_layer",
    "mup",
    "rms_norm_epsilon",
    "layernorm_epsilon",
    "finetune",
    "no_ssh_check",
    "te_layernorm_mlp",
    "te_mha",
    "te_columnparallel",
    "te_rowparallel",
    // Formats of FP8 concern `te_fp8_mha` alone (`megatron/model/transformer.py`).
    "te_fp8_format",
    "te_fp8_wgrad",
    "te_fp8_amax",
    "te_fp8_margin",
    "attention_softmax",
    "scaled_",
    "bias_",
    "rope",
    "deepspeed_",
    "train_batch_size",
    "scalenorm",
    "keep_last",
    "use_qk",
    "config_files",
];

/// Sets the vocabulary that the path of the tokenizer's file determines.
fn vocabulary(fields: &mut Fields<'_>) {
    let path = "vocab_file";
    if let Some(rows) = fields.word(path).and_then(|file| tokenizers::rows(&file)) {
        fields.set("model.vocab", &rows, path);
        let shown = railwright_spec::human::whole(rows);
        let message = format!("no vocabulary size is set; {shown} rows are inferred from the tokenizer");
        return fields.remark(RemarkKind::Assumed, path, message);
    }
    let message = "the vocabulary depends on the tokenizer, which is not in this file: pass --vocab";
    fields.draft.remark(RemarkKind::Unresolved, "vocabulary", None, message);
}

impl Reader for NeoxReader {
    fn format(&self) -> Format {
        Format::GptNeox
    }

    fn recognise(&self, text: &str) -> Option<Evidence> {
        let has = |key: &str| {
            let dashed = key.replace('_', "-");
            text.lines().any(|line| {
                let line = line.trim_start().trim_start_matches(['{', ' ']);
                let line = line.trim_start_matches(['"', '\'']);
                line.strip_prefix(key)
                    .or_else(|| line.strip_prefix(dashed.as_str()))
                    .is_some_and(|rest| rest.trim_start_matches(['"', '\'']).trim_start().starts_with(':'))
            })
        };
        let is_one = has("pipe_parallel_size") && (has("model_parallel_size") || has("num_layers"));
        if is_one {
            let why = "the keys `pipe_parallel_size` and `model_parallel_size`";
            return Some(Evidence::new(Strength::Certain, why));
        }
        // One of the several files of a configuration.
        let batch =
            ["train_micro_batch_size_per_gpu", "train_batch_size"].into_iter().find(|key| has(key))?;
        let own: Vec<&str> = PARTS.iter().copied().filter(|key| has(key)).take(2).collect();
        let [first, second] = own.as_slice() else { return None };
        Some(Evidence::new(Strength::Likely, format!("the keys `{batch}`, `{first}` and `{second}`")))
    }

    fn read_with(&self, text: &str, file: &str, _: &Context<'_>) -> Result<Launch, Vec<Problem>> {
        let mut document = document::yaml(text, file).map_err(|problem| vec![problem])?;
        for entry in &mut document.entries {
            entry.path = entry.path.replace('-', "_");
        }
        read_document(document, text, file, None)
    }
}

/// Reads the settings of a configuration, or of the dump in a log with what the log measured.
pub(crate) fn read_document(
    document: Document,
    text: &str,
    file: &str,
    measured: Option<Measured>,
) -> Result<Launch, Vec<Problem>> {
    let mut fields = Fields::new(Format::GptNeox, file, text, document);
    fields.document.rename(&[("gas", "gradient_accumulation_steps")]);
    // `[[["flash"], "all"]]`: full attention in all layers, by kernels of one kind or another.
    let is_full = |entry: &Entry| {
        let shown = entry.data.shown();
        let mut words = shown.split(|c: char| !c.is_ascii_alphabetic()).filter(|word| !word.is_empty());
        words.all(|word| matches!(word, "flash" | "global" | "all"))
    };
    fields.document.entries.retain(|entry| !(entry.path == "attention_config" && is_full(entry)));
    recurrent(&mut fields);
    fields.copy(KNOWN);
    let is_part = !fields.document.has("pipe_parallel_size") && !fields.document.has("num_layers");
    degrees(&mut fields);
    model(&mut fields);
    experts::read(&mut fields);
    let why = "GPT-NeoX pads the vocabulary to a multiple of 128 by default";
    fields.default("plan.vocabulary_multiple", &128_u64, why);
    software(&mut fields);
    deepspeed::read(&mut fields, "");
    let path = "fp16.type";
    if fields.word(path).is_some_and(|word| matches!(word.as_str(), "bfloat16" | "bf16"))
        && fields.flag("fp16.enabled") == Some(true)
    {
        fields.set("plan.precision.preset", &PrecisionPreset::Bf16, path);
        let message = "the type overrides the section's name: computes in bf16";
        fields.remark(RemarkKind::Assumed, path, message);
    }
    // `set_batch_parameters` in `megatron/neox_arguments/arguments.py`: an unset value is one step.
    let plan = &fields.draft.spec().plan;
    if plan.micro_batch.is_some() && plan.global_batch.is_none() {
        fields.default("plan.micro_batches", &1_u64, "GPT-NeoX has 1 accumulation step by default");
    }
    let path = "checkpoint_activations";
    match fields.flag(path) {
        Some(true) => fields.set("plan.recompute", &Recompute::Full { layers: None }, path),
        Some(false) => fields.set("plan.recompute", &Recompute::None, path),
        None => {
            fields.default("plan.recompute", &Recompute::None, "GPT-NeoX does not recompute by default");
        }
    }
    let drops = ["hidden_dropout", "attention_dropout"].map(|path| fields.number(path).unwrap_or(0.0) > 0.0);
    fields.set("plan.dropout", &drops.contains(&true), "hidden_dropout");
    if is_part {
        part(&mut fields);
    } else {
        vocabulary(&mut fields);
    }
    missing(&mut fields, "GPT-NeoX");
    fields.document.entries.retain(|entry| {
        entry.taken
            || KNOWN.iter().any(|(name, _)| *name == entry.path)
            || !HARMLESS.iter().any(|part| entry.path.contains(part))
    });
    fields.rest(KNOWN);
    if let Some(mut measured) = measured {
        let plan = &fields.draft.spec().plan;
        let tokens = plan.global_batch.zip(plan.sequence_length);
        measured.tokens_per_step = tokens.map(|(batch, length)| batch as f64 * length as f64);
        fields.draft.measured(measured);
    }
    fields.finish()
}

/// A file without model and layout is one of several that GPT-NeoX reads together: what it lacks has no
/// default.
fn part(fields: &mut Fields<'_>) {
    let why = "it is one of several files of a GPT-NeoX configuration and contains neither model nor layout";
    fields.draft.partial(why);
    for (key, path) in [
        ("plan.tensor_parallel", "model_parallel_size"),
        ("plan.pipeline_parallel", "pipe_parallel_size"),
        ("plan.sequence_parallel", "sequence_parallel"),
        ("plan.sharding", "zero_optimization"),
        ("plan.recompute", "checkpoint_activations"),
        ("plan.micro_batches", "gradient_accumulation_steps"),
        ("plan.vocabulary_multiple", "make_vocab_size_divisible_by"),
        ("plan.dropout", "hidden_dropout"),
    ] {
        if !fields.document.has(path) {
            fields.draft.leave_open(key, "", None, why);
        }
    }
}

/// Megatron's model code under DeepSpeed, with tensor and pipeline parallelism; FlashAttention is a choice
/// for each layer.
fn software(fields: &mut Fields<'_>) {
    let path = "attention_config";
    let is_flash = fields.document.get(path).is_some_and(|entry| entry.data.plain().contains("flash"));
    let (id, why) = if is_flash {
        ("flash-attention-2023", "GPT-NeoX with FlashAttention")
    } else {
        ("megatron-deepspeed-2022", "GPT-NeoX, Megatron's model code under DeepSpeed")
    };
    crate::accelerate::software(fields, id, why);
}

/// Refuses layers without attention: recurrent ones and gated MLPs (`megatron/model/gpt2_model.py`).
fn recurrent(fields: &mut Fields<'_>) {
    let path = "attention_config";
    let kind = fields.document.get(path).and_then(|entry| {
        let shown = entry.data.shown().to_ascii_lowercase();
        let mut words = shown.split(|c: char| !c.is_ascii_alphanumeric());
        words.find(|word| matches!(*word, "mamba" | "rwkv" | "gmlp" | "amlp")).map(str::to_owned)
    });
    if let Some(kind) = kind {
        let problem = Problem::new(format!("layers of kind `{kind}` are not supported under GPT-NeoX"));
        fields.problem(
            problem.hint("pass the model's config.json, as in `railwright estimate config.json`"),
            path,
        );
    }
}

fn degrees(fields: &mut Fields<'_>) {
    // 0 and 1 stages are both no pipeline.
    for (path, key) in
        [("pipe_parallel_size", "plan.pipeline_parallel"), ("model_parallel_size", "plan.tensor_parallel")]
    {
        match fields.count(path) {
            Some(n) => fields.set(key, &n.max(1), path),
            None => fields.default(key, &1_u64, "GPT-NeoX does not shard by default"),
        }
    }
    let path = "sequence_parallel";
    match fields.flag(path) {
        Some(flag) => fields.set("plan.sequence_parallel", &flag, path),
        None => {
            fields.default("plan.sequence_parallel", &false, "GPT-NeoX does not shard norms by default");
        }
    }
    let path = "context_parallel_size";
    if let Some(n) = fields.count(path).filter(|&n| n > 0) {
        fields.set("plan.context_parallel", &n, path);
    }
}

fn model(fields: &mut Fields<'_>) {
    if fields.document.get("num_layers").is_none() {
        return;
    }
    fields.default("model.style", &Style::Gpt, "GPT-NeoX");
    let path = "norm";
    match fields.word(path).map(|word| word.to_ascii_lowercase()).as_deref() {
        Some(name) if name.ends_with("rmsnorm") => fields.set("model.norm", &NormKind::RmsNorm, path),
        Some(name) if name.ends_with("layernorm") => fields.set("model.norm", &NormKind::LayerNorm, path),
        Some(_) => fields.remark(RemarkKind::NotModelled, path, "estimated as LayerNorm"),
        None => fields.default("model.norm", &NormKind::LayerNorm, "GPT-NeoX uses LayerNorm by default"),
    }
    let path = "pos_emb";
    match fields.word(path).map(|word| word.to_ascii_lowercase()).as_deref() {
        Some("rotary") => fields.set("model.position", &Position::Rotary, path),
        Some("alibi") => fields.set("model.position", &Position::Alibi, path),
        Some("none") => fields.set("model.position", &Position::None, path),
        Some("learned") => fields.set("model.position", &Position::Learned, path),
        Some(_) => fields.remark(RemarkKind::NotModelled, path, "estimated as learned positions"),
        None => fields.default(
            "model.position",
            &Position::Learned,
            "GPT-NeoX uses learned positions by \
            default",
        ),
    }
    let path = "no_weight_tying";
    match fields.flag(path) {
        Some(untied) => fields.set("model.tied", &!untied, path),
        None => fields.default("model.tied", &true, "GPT-NeoX ties its embeddings by default"),
    }
    let gated = fields.word("mlp_type").is_some_and(|word| word == "llama");
    let activation = fields.word("activation").map(|word| word.to_ascii_lowercase());
    let is_glu = activation.as_deref().is_some_and(|word| word.ends_with("glu") && word != "gelu");
    if gated || is_glu {
        fields.set("model.gated_mlp", &true, if gated { "mlp_type" } else { "activation" });
        if is_glu && !gated {
            gated_width(fields);
        } else if let (None, Some(hidden)) = (fields.draft.spec().model.ffn, fields.draft.spec().model.hidden)
        {
            fields.default("model.ffn", &llama_width(hidden), "GPT-NeoX's `mlp_type: llama`");
        }
    } else {
        fields.default("model.gated_mlp", &false, "GPT-NeoX's MLPs have two matrices by default");
    }
    match activation.as_deref() {
        Some("swiglu" | "silu" | "swish") => fields.set("model.activation", &Activation::Silu, "activation"),
        Some("relu") => fields.set("model.activation", &Activation::Relu, "activation"),
        Some("gelu" | "geglu") => fields.set("model.activation", &Activation::Gelu, "activation"),
        Some(_) => fields.remark(RemarkKind::NotModelled, "activation", "estimated as gelu"),
        None => {
            fields.default("model.activation", &Activation::Gelu, "GPT-NeoX uses GELU by default");
        }
    }
    let biases = ["use_bias_in_attn_linear", "use_bias_in_mlp"].map(|path| fields.flag(path));
    match biases {
        [Some(false), Some(false)] => fields.set("model.biases", &false, "use_bias_in_mlp"),
        [Some(false), None] if gated => fields.set("model.biases", &false, "use_bias_in_attn_linear"),
        [Some(false), _] | [_, Some(false)] => {
            fields.remark(
                RemarkKind::NotModelled,
                "use_bias_in_attn_linear",
                "biases are estimated in all matrices",
            );
        }
        _ => fields.default("model.biases", &true, "GPT-NeoX has biases by default"),
    }
}

/// The width of `mlp_type: llama`, which GPT-NeoX had from May 2023 to September 2024:
/// `256 ceil(floor(8/3 hidden) / 256)` (`LLaMAParallelMLP` in `megatron/model/transformer.py`).
fn llama_width(hidden: u64) -> u64 {
    (hidden.saturating_mul(8) / 3).div_ceil(256).saturating_mul(256)
}

/// The width of a gated MLP. GPT-NeoX takes two thirds of the width that is set, or of four times the
/// model's, for both input matrices together, and rounds up: `ceil(floor(2/3 width) / 2 / multiple) multiple`
/// (`ParallelMLP` in `megatron/model/transformer.py`).
fn gated_width(fields: &mut Fields<'_>) {
    let (path, multiple) =
        ("intermediate_size", fields.count("mlp_multiple_of").filter(|&n| n > 0).unwrap_or(256));
    let set = fields.draft.spec().model.ffn;
    let Some(width) = set.or_else(|| fields.draft.spec().model.hidden.map(|hidden| hidden.saturating_mul(4)))
    else {
        return;
    };
    let gated = (width.saturating_mul(2) / 3 / 2).div_ceil(multiple).saturating_mul(multiple);
    if set.is_some() {
        fields.set("model.ffn", &gated, path);
    } else {
        fields.default("model.ffn", &gated, "GPT-NeoX's gated MLPs have two thirds of four times the width");
    }
}
