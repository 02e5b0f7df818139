//! nanoGPT's configurations: variables in Python that override the defaults of its `train.py`.
//!
//! Responsible for: GPT-2's layers, replicas, and a total of accumulated micro-batches that the ranks share
//! (karpathy/nanoGPT, `train.py` and `model.py`).

use super::common::{dimensions, open_model};
use crate::accelerate::software;
use crate::fields::{Fields, Known, Meaning};
use crate::missing::missing;
use crate::{Context, Format, Launch, RemarkKind, python};
use Meaning::{Ignored, Key, Read};
use railwright_spec::model::{Activation, NormKind, Position};
use railwright_spec::plan::{Master, Optimizer, PrecisionPreset, Recompute, Sharding};
use railwright_spec::precision::DataType;
use railwright_spec::problem::Problem;

pub(super) const WHY: &str = "variables `batch_size`, `max_iters`, and `block_size` or `init_from`";

/// Rows of GPT-2's vocabulary, rounded up to a multiple of 64.
const ROWS: u64 = 50_304;

const KNOWN: &[Known] = &[
    ("batch_size", Key("plan.micro_batch")),
    ("block_size", Key("plan.sequence_length")),
    ("gradient_accumulation_steps", Read),
    ("n_layer", Read),
    ("n_head", Read),
    ("n_embd", Read),
    ("bias", Read),
    ("dataset", Read),
    ("init_from", Read),
    ("dtype", Read),
    ("compile", Read),
    ("dropout", Ignored),
    ("device", Ignored),
    ("backend", Ignored),
    ("out_dir", Ignored),
    ("max_iters", Ignored),
    ("lr_decay_iters", Ignored),
    ("warmup_iters", Ignored),
    ("learning_rate", Ignored),
    ("min_lr", Ignored),
    ("decay_lr", Ignored),
    ("weight_decay", Ignored),
    ("beta1", Ignored),
    ("beta2", Ignored),
    ("grad_clip", Ignored),
    ("eval_interval", Ignored),
    ("eval_iters", Ignored),
    ("eval_only", Ignored),
    ("log_interval", Ignored),
    ("always_save_checkpoint", Ignored),
    ("wandb_log", Ignored),
    ("wandb_project", Ignored),
    ("wandb_run_name", Ignored),
];

pub(super) fn is_one(text: &str) -> bool {
    let has = |name: &str| {
        text.lines().any(|line| line.split_once('=').is_some_and(|(left, _)| left.trim_end() == name))
    };
    let is_program = text.lines().any(|line| {
        ["import ", "from ", "def ", "class ", "torchrun ", "python"]
            .iter()
            .any(|mark| line.starts_with(mark))
    });
    let is_plain = !is_program && !text.trim_start().starts_with(['{', '[']);
    is_plain && has("batch_size") && has("max_iters") && (has("block_size") || has("init_from"))
}

pub(super) fn read(text: &str, file: &str) -> Result<Launch, Vec<Problem>> {
    let recipe = python::variables(text, file, &Context::default()).map_err(|problem| vec![problem])?;
    let mut fields = Fields::new(Format::Pretrainer, file, text, recipe.document.clone());
    fields.copy(KNOWN);
    model(&mut fields);
    batch(&mut fields);
    fields.undivided("nanoGPT");
    let replicas = Sharding { zero_stage: 0, group: None, reshard_after_forward: false };
    fields.default("plan.sharding", &replicas, "nanoGPT trains replicas (DDP)");
    precision(&mut fields);
    fields.default("plan.recompute", &Recompute::None, "nanoGPT keeps all activations");
    fields.default("plan.optimizer", &Optimizer::Adam, "nanoGPT trains with AdamW");
    fields.default("plan.vocabulary_multiple", &1_u64, "nanoGPT's vocabulary is padded already");
    match fields.flag("compile") {
        Some(false) => software(&mut fields, "torchtitan-2024-eager", "PyTorch, eager"),
        _ => software(&mut fields, "torchtitan-2024-compile", "PyTorch, compiled"),
    }
    missing(&mut fields, "nanoGPT");
    fields.rest(KNOWN);
    fields.finish()
}

/// GPT-2: learned positions, norms and MLPs of LayerNorm and GELU, a tied head.
fn model(fields: &mut Fields<'_>) {
    let path = "init_from";
    match fields.word(path).as_deref() {
        Some(name) if name.starts_with("gpt2") => {
            fields.named_model(path, name);
            return fields.default("plan.sequence_length", &1024_u64, "the default of nanoGPT");
        }
        Some("scratch") | None => {}
        Some(_) => return open_model(fields, path, "the dimensions are in a checkpoint"),
    }
    let keys = [
        ("n_layer", "model.layers", Some(12)),
        ("n_embd", "model.hidden", Some(768)),
        ("n_head", "model.heads", Some(12)),
    ];
    dimensions(fields, "nanoGPT", &keys);
    fields.default("plan.sequence_length", &1024_u64, "the default of nanoGPT");
    let why = "nanoGPT's models are those of GPT-2";
    let hidden = fields.draft.spec().model.hidden.unwrap_or(768);
    fields.default("model.ffn", &hidden.saturating_mul(4), why);
    fields.default("model.position", &Position::Learned, why);
    let length = fields.draft.spec().plan.sequence_length.unwrap_or(1024);
    fields.default("model.max_positions", &length, why);
    fields.default("model.norm", &NormKind::LayerNorm, why);
    fields.default("model.activation", &Activation::Gelu, why);
    fields.default("model.gated_mlp", &false, why);
    fields.default("model.tied", &true, why);
    match fields.flag("bias") {
        Some(biases) => fields.set("model.biases", &biases, "bias"),
        None => fields.default("model.biases", &false, "the default of nanoGPT"),
    }
    let path = "dataset";
    if fields.word(path).is_some_and(|name| name.contains("char")) {
        let (source, line) = fields.source(path);
        let why = "the data set has a vocabulary of characters, which is not in this file";
        return fields.draft.leave_open("model.vocab", &source, line, why);
    }
    fields.default("model.vocab", &ROWS, "GPT-2's vocabulary, the default of nanoGPT");
}

/// `train.py` divides the accumulated micro-batches by the number of ranks, so their total is the global
/// batch.
fn batch(fields: &mut Fields<'_>) {
    fields.default("plan.micro_batch", &12_u64, "the default of nanoGPT");
    let path = "gradient_accumulation_steps";
    let micro = fields.draft.spec().plan.micro_batch.unwrap_or(12);
    if let Some(steps) = fields.count(path) {
        fields.set("plan.global_batch", &micro.saturating_mul(steps), path);
    } else {
        let why = "40 micro-batches of all ranks, the default of nanoGPT";
        fields.default("plan.global_batch", &micro.saturating_mul(40), why);
    }
}

/// Products in 16 bits under autocast, on parameters and gradients of 32.
fn precision(fields: &mut Fields<'_>) {
    let path = "dtype";
    let preset = match fields.word(path).as_deref() {
        Some("float16") => PrecisionPreset::Fp16,
        Some("float32") => PrecisionPreset::Fp32,
        Some("bfloat16") | None => PrecisionPreset::Bf16,
        Some(_) => return fields.remark(RemarkKind::Unresolved, path, "not a format of nanoGPT"),
    };
    if fields.document.has(path) {
        fields.set("plan.precision.preset", &preset, path);
    } else {
        fields.default("plan.precision.preset", &preset, "nanoGPT computes in bfloat16 by default");
    }
    let why = "nanoGPT keeps parameters and gradients in 32 bits";
    fields.default("plan.precision.gradients", &DataType::Fp32, why);
    fields.default("plan.precision.gradient_reduce", &DataType::Fp32, why);
    if preset != PrecisionPreset::Fp32 {
        fields.default("plan.precision.master", &Master(Some(DataType::Fp32)), why);
    }
}
