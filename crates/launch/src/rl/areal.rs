//! AReaL's YAML: reinforcement learning and fine-tuning, on FSDP 2 or Megatron-Core.
//!
//! Responsible for: the trained part (`actor`, or `model` of older files), the layout in AReaL's notation
//! (`fsdp:d4t2`, `allocation_mode`), and samples of an update. Critics, references and generation are listed.
//! (Names and defaults: AReaL `areal/api/cli_args.py`, `alloc_mode.py`, `engine/fsdp_engine.py`, February and
//! May 2026.)

mod allocation;

use super::common::model;
use crate::fields::{Fields, Known, Meaning};
use crate::missing::missing;
use crate::narrow::pure;
use crate::{Format, Launch, RemarkKind, adapter, document};
use Meaning::{Ignored, Lost, Read};
use allocation::{Allocation, Engine};
use railwright_spec::plan::{ContextKind, Optimizer, PrecisionPreset, Recompute, Sharding};
use railwright_spec::precision::DataType;
use railwright_spec::problem::Problem;

/// Known keys of the trained part; other parts of the job are listed together.
const KNOWN: &[Known] = &[
    ("actor.path", Read),
    ("actor.backend", Read),
    ("allocation_mode", Read),
    ("actor.dtype", Read),
    ("actor.grad_reduce_dtype", Read),
    ("actor.gradient_checkpointing", Read),
    ("actor.optimizer.type", Read),
    ("actor.optimizer.offload", Read),
    ("actor.fsdp.offload_params", Read),
    ("actor.mb_spec.max_tokens_per_mb", Read),
    ("actor.mb_spec.n_mbs", Read),
    ("actor.ppo_n_minibatches", Read),
    ("actor.use_lora", Read),
    ("actor.lora_rank", Read),
    ("actor.target_modules", Read),
    ("actor.megatron.recompute_granularity", Read),
    ("actor.megatron.recompute_method", Read),
    ("actor.megatron.recompute_num_layers", Read),
    ("train_dataset.batch_size", Read),
    ("train_dataset.max_length", Read),
    ("train_dataset.type", Read),
    ("gconfig.n_samples", Read),
    ("gconfig.max_new_tokens", Read),
    ("cluster.n_gpus_per_node", Read),
    ("actor.optimizer.*", Ignored),
    ("actor.mb_spec.*", Ignored),
    ("actor.reward_norm.*", Ignored),
    ("actor.adv_norm.*", Ignored),
    ("actor.rejection_sampling.*", Ignored),
    ("actor.scheduling_spec", Ignored),
    ("actor.scheduling_spec.*", Ignored),
    ("actor.scheduling_strategy.*", Ignored),
    ("actor.experiment_name", Ignored),
    ("actor.trial_name", Ignored),
    ("actor.init_from_scratch", Ignored),
    (
        "actor.is_critic",
        Lost(&["false"], "a head with one output is estimated as a vocabulary head, an upper bound"),
    ),
    ("actor.disable_dropout", Ignored),
    ("actor.attn_impl", Ignored),
    ("actor.lora_alpha", Ignored),
    ("actor.peft_type", Ignored),
    ("actor.group_size", Ignored),
    ("actor.eps_clip", Ignored),
    ("actor.eps_clip_higher", Ignored),
    ("actor.c_clip", Ignored),
    ("actor.temperature", Ignored),
    ("actor.reward_scaling", Ignored),
    ("actor.reward_bias", Ignored),
    ("actor.reward_clip", Ignored),
    ("actor.overlong_reward_penalty", Ignored),
    ("actor.overlong_tokens", Ignored),
    ("actor.overlong_penalty_factor", Ignored),
    ("actor.kl_ctl", Ignored),
    ("actor.kl_estimator", Ignored),
    ("actor.discount", Ignored),
    ("actor.gae_lambda", Ignored),
    ("actor.recompute_logprob", Ignored),
    ("actor.use_decoupled_loss", Ignored),
    ("actor.behav_imp_weight_cap", Ignored),
    ("actor.dynamic_sampling", Ignored),
    ("actor.log_agent_stats", Ignored),
    ("actor.log_agent_stats_keys", Ignored),
    ("actor.max_new_tokens", Ignored),
    ("actor.weight_update_mode", Ignored),
    ("actor.beta", Ignored),
];

/// Tests whether a text is AReaL's: its data, a trained part and a layout in its notation.
pub(super) fn is_one(text: &str) -> bool {
    let has = |key: &str| text.lines().any(|line| line.starts_with(key));
    let layout = text.lines().filter_map(|line| line.trim_start().split_once(':')).any(|(key, value)| {
        matches!(key, "backend" | "allocation_mode")
            && Allocation::of(value.split('#').next().unwrap_or_default()).is_some()
    });
    has("train_dataset:") && (has("actor:") || has("model:")) && layout
}

/// Reads a configuration.
pub(super) fn read(text: &str, file: &str) -> Result<Launch, Vec<Problem>> {
    let mut document = document::yaml(text, file).map_err(|problem| vec![problem])?;
    let open = document::interpolate(&mut document);
    // Until 2026 the trained part of fine-tuning was `model`.
    if !document.has("actor") {
        for entry in &mut document.entries {
            if let Some(rest) = entry.path.strip_prefix("model.") {
                entry.path = format!("actor.{rest}");
            }
        }
    }
    let mut fields = Fields::new(Format::Rl, file, text, document);
    for (path, value, spot, why) in open {
        if KNOWN.iter().any(|(name, meaning)| *name == path && *meaning == Read) {
            let message = format!("cannot be resolved, so it stays unset: {why}");
            fields.draft.remark(RemarkKind::Unresolved, &format!("{path}: {value}"), spot.line(), message);
        }
    }
    model(&mut fields, "actor.path");
    let engine = layout(&mut fields);
    let is_rl = fields.document.has("gconfig") || fields.document.has("rollout");
    batch(&mut fields, is_rl);
    match engine {
        Some(Engine::Fsdp) => fsdp(&mut fields),
        Some(Engine::Megatron) => megatron(&mut fields),
        _ => {}
    }
    adapters(&mut fields);
    others(&mut fields, is_rl);
    missing(&mut fields, "AReaL");
    fields.document.entries.retain(|entry| entry.taken || entry.path.starts_with("actor."));
    fields.rest(KNOWN);
    fields.finish()
}

/// Parallel sizes and devices; `None` for a layout that is not understood.
fn layout(fields: &mut Fields<'_>) -> Option<Engine> {
    let (backend, mode) = ("actor.backend", "allocation_mode");
    let words = [backend, mode].map(|path| (path, fields.word(path)));
    let (path, allocation) =
        words.iter().find_map(|(path, word)| Some((*path, Allocation::of(word.as_deref()?)?)))?;
    let Some(part) = allocation.trained() else {
        let why = "several parts are trained, or the notation is unknown";
        let (source, line) = fields.source(path);
        for key in
            ["cluster.devices", "plan.tensor_parallel", "plan.pipeline_parallel", "plan.context_parallel"]
        {
            fields.draft.leave_open(key, &source, line, why);
        }
        fields.remark(RemarkKind::Unresolved, path, why);
        return None;
    };
    for (key, ranks) in [
        ("cluster.devices", part.devices()),
        ("plan.tensor_parallel", part.tensor),
        ("plan.pipeline_parallel", part.pipeline),
        ("plan.context_parallel", part.context),
        ("plan.expert_parallel", part.expert),
    ] {
        fields.set(key, &ranks, path);
    }
    if let Some(tensor) = part.expert_tensor {
        fields.set("plan.expert_tensor_parallel", &tensor, path);
    }
    let each = "cluster.n_gpus_per_node";
    if let Some(each) = fields.count(each).filter(|&n| n > 0 && part.devices() > n) {
        fields.set("cluster.devices_per_node", &each, "cluster.n_gpus_per_node");
    }
    if part.context > 1 && part.engine == Engine::Fsdp {
        fields.set("plan.context_kind", &ContextKind::Ulysses, path);
    }
    if part.engine == Engine::Other {
        let message = "this engine is not supported: sharding, formats and recompute stay unset";
        fields.remark(RemarkKind::Unresolved, path, message);
    }
    Some(part.engine)
}

/// Samples of an update, their length, and the samples of a micro-batch.
fn batch(fields: &mut Fields<'_>, is_rl: bool) {
    let length = "train_dataset.max_length";
    let (prompt, answer) = (fields.count(length), fields.count("gconfig.max_new_tokens"));
    match (is_rl, prompt, answer) {
        (false, Some(longest), _) => fields.set("plan.sequence_length", &longest, length),
        (true, Some(prompt), Some(answer)) => {
            fields.set("plan.sequence_length", &prompt.saturating_add(answer), "gconfig.max_new_tokens");
        }
        _ => {}
    }
    if fields.draft.value("plan.sequence_length").is_some() {
        let message = "all samples are assumed to have the maximum length, an upper bound on time and memory";
        fields.draft.remark(RemarkKind::Assumed, "plan.sequence_length", None, message);
    }
    let kind = "train_dataset.type";
    let path = "train_dataset.batch_size";
    let pairs = fields.word(kind).filter(|word| matches!(word.as_str(), "rw" | "dpo"));
    if let Some(word) = &pairs {
        let message = format!(
            "`{word}` trains on pairs: the batch size stays unset, and the reward head and reference models are not modelled"
        );
        fields.remark(RemarkKind::NotModelled, kind, message);
        let (source, line) = fields.source(path);
        fields.draft.leave_open("plan.global_batch", &source, line, "counts pairs");
        fields.take(path);
    }
    let samples = if is_rl { fields.count("gconfig.n_samples").unwrap_or(1) } else { 1 };
    let updates_path = "actor.ppo_n_minibatches";
    let updates = if is_rl { fields.count(updates_path) } else { Some(1) };
    if let Some(prompts) = fields.count(path).filter(|_| pairs.is_none()) {
        let all = prompts.saturating_mul(samples);
        if let Some(updates) = updates.filter(|&n| n > 0 && all.is_multiple_of(n)) {
            fields.set("plan.global_batch", &(all / updates), path);
        } else {
            let message = "the updates of a batch (`ppo_n_minibatches`) are not set, or do not divide it: the batch stays unset";
            fields.remark(RemarkKind::Unresolved, path, message);
        }
    }
    let (tokens_path, count_path) = ("actor.mb_spec.max_tokens_per_mb", "actor.mb_spec.n_mbs");
    let pieces = fields.count(count_path).filter(|&n| n > 0);
    match (fields.count(tokens_path), fields.draft.spec().plan.sequence_length) {
        (Some(tokens), Some(length)) => {
            let plan = &fields.draft.spec().plan;
            let ranks = [plan.tensor_parallel, plan.pipeline_parallel, plan.context_parallel]
                .into_iter()
                .flatten()
                .fold(1, u64::saturating_mul);
            let share = crate::packed::share(fields.draft.spec(), ranks);
            fields.set("plan.micro_batch", &crate::packed::samples(tokens, length, share), tokens_path);
            let message = "samples are packed up to this number of tokens: estimated with as many samples of maximum length as fit";
            fields.remark(RemarkKind::Assumed, tokens_path, message);
        }
        (Some(_), None) => {
            let message = "samples are packed up to a number of tokens, so the micro-batch stays unset";
            fields.remark(RemarkKind::Unresolved, tokens_path, message);
        }
        (None, _) => {
            if let Some(pieces) = pieces {
                fields.set("plan.micro_batches", &pieces, count_path);
            }
        }
    }
}

/// The format of the parameters, which is bfloat16 by default.
fn format(fields: &mut Fields<'_>) -> Option<DataType> {
    let path = "actor.dtype";
    let (format, preset) = match fields.word(path).as_deref() {
        None if fields.document.get(path).is_none() => (DataType::Bf16, PrecisionPreset::Bf16),
        Some("bfloat16") => (DataType::Bf16, PrecisionPreset::Bf16),
        Some("float16") => (DataType::Fp16, PrecisionPreset::Fp16),
        Some("float32") => (DataType::Fp32, PrecisionPreset::Fp32),
        _ => {
            fields.remark(RemarkKind::Unresolved, path, "unknown format, so it stays unset");
            return None;
        }
    };
    if fields.document.get(path).is_some() {
        fields.set("plan.precision.preset", &preset, path);
    } else {
        fields.default("plan.precision.preset", &preset, "AReaL trains in bfloat16 by default");
    }
    Some(format)
}

fn optimizer(fields: &mut Fields<'_>) {
    let path = "actor.optimizer.type";
    match fields.word(path).as_deref() {
        None | Some("adam") => {
            fields.default("plan.optimizer", &Optimizer::Adam, "AReaL trains with Adam by default");
        }
        Some("sgd") => fields.set("plan.optimizer", &Optimizer::Sgd, path),
        Some("adam_bf16") => {
            fields.set("plan.optimizer", &Optimizer::Adam, path);
            let message = "its compensation buffer is not modelled: a lower bound on memory";
            fields.remark(RemarkKind::NotModelled, path, message);
        }
        Some(_) => fields.remark(RemarkKind::Unresolved, path, "unknown optimizer, so it stays unset"),
    }
    let path = "actor.optimizer.offload";
    if fields.flag(path) == Some(true) {
        let message = "states are estimated on the device, an upper bound on memory";
        fields.remark(RemarkKind::NotModelled, path, message);
    }
}

fn fsdp(fields: &mut Fields<'_>) {
    let why = "AReaL shards over all ranks with FSDP 2";
    fields.default("plan.sharding", &Sharding::zero(3), why);
    fields.default("plan.software", &"torchtitan-2024-eager".to_owned(), "FSDP 2 under AReaL, eager");
    optimizer(fields);
    // The optimizer steps the parameters in their own format, without 32-bit copies.
    if let Some(format) = format(fields).filter(|format| *format != DataType::Fp32) {
        let path = "actor.grad_reduce_dtype";
        let reduce = match fields.word(path).as_deref() {
            Some("bfloat16") => DataType::Bf16,
            _ => DataType::Fp32,
        };
        pure(fields, "actor.dtype", format, reduce);
    }
    let path = "actor.gradient_checkpointing";
    match fields.flag(path) {
        Some(true) => fields.set("plan.recompute", &Recompute::Full { layers: None }, path),
        Some(false) => fields.set("plan.recompute", &Recompute::None, path),
        None => fields.default("plan.recompute", &Recompute::None, "AReaL does not checkpoint by default"),
    }
    let path = "actor.fsdp.offload_params";
    if fields.flag(path) == Some(true) {
        fields.set("plan.offload.parameters", &1.0, path);
        fields.set("plan.offload.optimizer", &1.0, path);
    }
}

fn megatron(fields: &mut Fields<'_>) {
    fields.default("plan.sharding", &Sharding::zero(1), "AReaL uses Megatron's distributed optimizer");
    fields.default("plan.software", &"megatron-core-2025".to_owned(), "Megatron-Core under AReaL");
    optimizer(fields);
    format(fields);
    let path = "actor.gradient_checkpointing";
    let granularity = fields.word("actor.megatron.recompute_granularity");
    let method = fields.word("actor.megatron.recompute_method");
    let layers = fields.count("actor.megatron.recompute_num_layers");
    match (fields.flag(path), granularity.as_deref(), method.as_deref()) {
        (Some(false) | None, ..) => {
            fields.default(
                "plan.recompute",
                &Recompute::None,
                "without `gradient_checkpointing`, AReaL does not recompute",
            );
        }
        (Some(true), None | Some("full"), None | Some("uniform")) => {
            fields.set("plan.recompute", &Recompute::Full { layers: None }, path);
        }
        (Some(true), Some("full"), Some("block")) if layers.is_some() => {
            fields.set("plan.recompute", &Recompute::Full { layers }, path);
        }
        _ => {
            fields.remark(
                RemarkKind::Unresolved,
                path,
                "recompute of individual modules is not supported: it stays unset",
            );
        }
    }
}

fn adapters(fields: &mut Fields<'_>) {
    let path = "actor.use_lora";
    if fields.flag(path) == Some(true) {
        let (source, line) = fields.source(path);
        adapter::lora(&mut fields.draft, &source, line);
    }
    let usual = adapter::Usual { of: "AReaL", rank: 32, targets: adapter::PEFT.targets };
    adapter::read(fields, &["actor.lora_rank"], &["actor.target_modules"], usual);
}

/// Other parts of the job.
fn others(fields: &mut Fields<'_>, is_rl: bool) {
    if !is_rl {
        return;
    }
    let message = "a step is one actor update: generation, rewards and log-probabilities are excluded";
    fields.draft.remark(RemarkKind::Assumed, "the run", None, message);
    for section in ["ref", "critic", "teacher"] {
        if fields.document.has(section) {
            let message = "this model of the job is not modelled: its memory and time are excluded";
            fields.draft.remark(RemarkKind::NotModelled, section, None, message);
        }
    }
}
