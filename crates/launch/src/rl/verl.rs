//! verl: the actor under FSDP or Megatron, in its YAML or in overrides of it.

use super::common::{adapters, devices, kernels, model, offload, overrides, sharing};
use super::generation::Generation;
use crate::RemarkKind;
use crate::accelerate::unpadded;
use crate::document::{Data, Entry, Spot};
use crate::features;
use crate::fields::{Fields, Known, Meaning};
use crate::narrow::pure;
use Meaning::{Ignored, Key, Read};
use railwright_spec::plan::{ContextKind, PrecisionPreset, Recompute, Sharding};
use railwright_spec::precision::DataType;
use railwright_spec::problem::Problem;
use std::path::Path;

pub(super) fn is_one(text: &str) -> bool {
    text.lines().any(|line| line.starts_with("actor_rollout_ref:"))
        || text.matches("actor_rollout_ref.actor.").count() + text.matches("actor_rollout_ref.model.").count()
            > 2
}

pub(super) const KNOWN: &[Known] = &[
    ("actor_rollout_ref.model.path", Read),
    ("actor_rollout_ref.model.enable_gradient_checkpointing", Read),
    ("actor_rollout_ref.model.lora_rank", Read),
    ("actor_rollout_ref.model.target_modules", Read),
    ("actor_rollout_ref.model.lora_alpha", Ignored),
    ("actor_rollout_ref.model.use_remove_padding", Ignored),
    ("actor_rollout_ref.model.use_fused_kernels", Read),
    ("algorithm.use_kl_in_reward", Read),
    ("actor_rollout_ref.hybrid_engine", Read),
    ("actor_rollout_ref.actor.strategy", Read),
    ("actor_rollout_ref.actor.ppo_mini_batch_size", Read),
    ("actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu", Read),
    ("actor_rollout_ref.actor.ppo_micro_batch_size", Read),
    ("actor_rollout_ref.actor.use_dynamic_bsz", Read),
    ("actor_rollout_ref.actor.ppo_max_token_len_per_gpu", Read),
    ("actor_rollout_ref.actor.ulysses_sequence_parallel_size", Read),
    ("actor_rollout_ref.actor.fsdp_config.param_offload", Read),
    ("actor_rollout_ref.actor.fsdp_config.optimizer_offload", Read),
    ("actor_rollout_ref.actor.fsdp_config.fsdp_size", Read),
    ("actor_rollout_ref.actor.fsdp_config.ulysses_sequence_parallel_size", Read),
    ("actor_rollout_ref.actor.fsdp_config.strategy", Read),
    ("actor_rollout_ref.actor.fsdp_config.model_dtype", Read),
    ("actor_rollout_ref.actor.megatron.tensor_model_parallel_size", Read),
    ("actor_rollout_ref.actor.megatron.pipeline_model_parallel_size", Read),
    ("actor_rollout_ref.actor.megatron.virtual_pipeline_model_parallel_size", Read),
    ("actor_rollout_ref.actor.megatron.context_parallel_size", Read),
    ("actor_rollout_ref.actor.megatron.expert_model_parallel_size", Read),
    ("actor_rollout_ref.actor.megatron.expert_tensor_parallel_size", Read),
    ("actor_rollout_ref.actor.megatron.sequence_parallel", Read),
    ("actor_rollout_ref.actor.megatron.use_distributed_optimizer", Read),
    ("actor_rollout_ref.actor.megatron.param_offload", Read),
    ("actor_rollout_ref.actor.megatron.optimizer_offload", Read),
    ("actor_rollout_ref.actor.megatron.grad_offload", Ignored),
    ("actor_rollout_ref.actor.mindspeed.strategy", Ignored),
    (
        "actor_rollout_ref.actor.mindspeed.mcore_kwargs.overlap_grad_reduce",
        Key("plan.overlap.gradient_reduce"),
    ),
    (
        "actor_rollout_ref.actor.mindspeed.mcore_kwargs.overlap_param_gather",
        Key("plan.overlap.parameter_gather"),
    ),
    ("actor_rollout_ref.actor.mindspeed.mcore_kwargs.seq_length", Ignored),
    ("actor_rollout_ref.actor.mindspeed.mcore_kwargs.micro_batch_size", Ignored),
    ("actor_rollout_ref.actor.use_kl_loss", Read),
    ("actor_rollout_ref.actor.use_torch_compile", Ignored),
    ("actor_rollout_ref.rollout.name", Read),
    ("actor_rollout_ref.rollout.n", Read),
    ("actor_rollout_ref.rollout.tensor_model_parallel_size", Read),
    ("actor_rollout_ref.rollout.gpu_memory_utilization", Read),
    ("actor_rollout_ref.rollout.free_cache_engine", Read),
    ("data.max_prompt_length", Read),
    ("data.max_response_length", Read),
    ("algorithm.adv_estimator", Read),
    ("trainer.nnodes", Read),
    ("trainer.n_gpus_per_node", Read),
    ("trainer.n_training_gpus_per_node", Read),
    ("rollout.nnodes", Read),
    ("rollout.n_gpus_per_node", Read),
    ("actor_rollout_ref.actor.fsdp_config.reshard_after_forward", Read),
    ("actor_rollout_ref.actor.fsdp_config.forward_prefetch", Ignored),
    ("actor_rollout_ref.actor.fsdp_config.seed", Ignored),
];

/// Names of 2026, which moved into the engine's section.
const MOVED: [(&str, &str); 2] = [
    (
        "actor_rollout_ref.actor.fsdp_config.ulysses_sequence_parallel_size",
        "actor_rollout_ref.actor.ulysses_sequence_parallel_size",
    ),
    ("actor_rollout_ref.actor.fsdp_config.strategy", "actor_rollout_ref.actor.strategy"),
];

/// The engine of MindSpeed has the parallel sizes of Megatron's in a section of its own, and other arguments
/// of Megatron below `mcore_kwargs` (`verl/trainer/config/engine/mindspeed.yaml`, 2026).
fn mindspeed(fields: &mut Fields<'_>) {
    const SECTION: &str = "actor_rollout_ref.actor.mindspeed.";
    const RECOMPUTE: [&str; 3] = ["recompute_granularity", "recompute_method", "recompute_num_layers"];
    let strategy = fields.document.get(&format!("{SECTION}strategy"));
    if strategy.is_some_and(|entry| !entry.data.plain().contains("megatron")) {
        return;
    }
    for entry in &mut fields.document.entries {
        let Some(key) = entry.path.strip_prefix(SECTION) else { continue };
        let moved = match key.strip_prefix("mcore_kwargs.") {
            Some(key) if RECOMPUTE.contains(&key) => format!("override_transformer_config.{key}"),
            Some(_) => continue,
            None if key == "strategy" => continue,
            None => key.to_owned(),
        };
        entry.path = format!("actor_rollout_ref.actor.megatron.{moved}");
    }
}

pub(super) fn fill(fields: &mut Fields<'_>) {
    fields.document.rename(&MOVED);
    mindspeed(fields);
    let actor = |key: &str| format!("actor_rollout_ref.actor.{key}");
    usual(fields);
    ranks(fields);
    model(fields, "actor_rollout_ref.model.path");
    let strategy = fields.word(&actor("strategy")).map(|word| word.to_ascii_lowercase());
    let is_megatron = strategy.as_deref() == Some("megatron")
        || (strategy.is_none()
            && (fields.document.has("actor_rollout_ref.actor.megatron")
                || configuration(fields).is_some_and(|name| name == OWN[1])));
    let chosen = actor_of(fields.text()).filter(|name| !name.starts_with("dp_"));
    let is_megatron = is_megatron || chosen.as_deref() == Some("megatron_actor");
    let foreign = chosen.filter(|name| name != "megatron_actor");
    batch(fields, is_megatron);
    if let Some(name) = &foreign {
        let why = "an actor with an engine of its own, whose configuration is not read";
        for key in [
            "plan.sharding",
            "plan.tensor_parallel",
            "plan.pipeline_parallel",
            "plan.context_parallel",
            "plan.expert_parallel",
            "plan.recompute",
        ] {
            fields.draft.leave_open(key, name, None, why);
        }
        fields.draft.remark(RemarkKind::Unresolved, name, None, why);
    } else if fields.is_auto(&actor("strategy")) {
        let message = "determines how the actor is sharded: parallel sizes and sharding stay unset";
        fields.remark(RemarkKind::Unresolved, &actor("strategy"), message);
    } else if is_megatron {
        megatron(fields);
    } else {
        fields.draft.front_end("verl-fsdp");
        fsdp(fields, strategy.as_deref());
    }
    let path = "actor_rollout_ref.model.enable_gradient_checkpointing";
    match fields.flag(path) {
        Some(true) if !is_megatron => fields.set("plan.recompute", &Recompute::Full { layers: None }, path),
        Some(false) if !is_megatron => fields.set("plan.recompute", &Recompute::None, path),
        None if !fields.is_auto(path)
            && foreign.is_none()
            && is_own(fields)
            && !fields.document.has("actor_rollout_ref.actor.megatron.override_transformer_config") =>
        {
            let key = "plan.recompute";
            if is_megatron {
                fields.default(key, &Recompute::None, "verl's Megatron does not recompute by default");
            } else if is_older(fields) {
                let (source, line) = fields.source(OLDER_BATCH);
                let why = "versions of verl with this key have their own default, which was off in 2024 and on in 2025";
                fields.draft.leave_open(key, &source, line, why);
                fields.draft.remark(RemarkKind::Unresolved, path, None, why);
            } else {
                let why = "verl checkpoints every layer by default since 2025";
                fields.default(key, &Recompute::Full { layers: None }, why);
                let message =
                    "not set: verl checkpoints every layer by default since 2025, and did not before";
                fields.draft.remark(RemarkKind::Assumed, path, None, message);
            }
        }
        _ => {}
    }
    adapters(fields, "actor_rollout_ref.model.lora_rank", "actor_rollout_ref.model.target_modules");
    fields.default("plan.precision.preset", &PrecisionPreset::Bf16, "verl computes in bfloat16");
    unpadded(fields);
    generation(fields);
    features::switches(fields);
    for path in [&actor("use_kl_loss"), "algorithm.use_kl_in_reward"] {
        if fields.flag(path) == Some(true) {
            let message = "a reference model is also in memory; it is not modelled";
            fields.remark(RemarkKind::NotModelled, path, message);
        }
    }
    let path = "algorithm.adv_estimator";
    if fields.word(path).as_deref() == Some("gae") {
        fields.remark(RemarkKind::NotModelled, path, "a critic is also trained; it is not modelled");
    }
}

/// Devices of the actor. Without the hybrid engine those of generation are others: rllm's pipeline names the
/// actor's.
fn ranks(fields: &mut Fields<'_>) {
    let (all, own) = ("trainer.n_gpus_per_node", "trainer.n_training_gpus_per_node");
    if fields.document.get(own).is_some() {
        fields.take(all);
        return devices(fields, "trainer.nnodes", own);
    }
    devices(fields, "trainer.nnodes", all);
    if let Some(program) = placing(fields.text())
        && fields.draft.value("cluster.devices").is_some()
    {
        let (source, line) = fields.source(all);
        let why = "this program places the actor on a part of the devices: pass --gpus";
        fields.draft.leave_open("cluster.devices", &source, line, why);
        return fields.draft.remark(RemarkKind::Unresolved, &program, line, why);
    }
    // The asynchronous trainers count the devices of generation separately
    // (`verl/experimental/fully_async_policy`).
    let of_rollout = ["rollout.nnodes", "rollout.n_gpus_per_node"];
    if of_rollout.iter().all(|path| fields.document.get(path).is_some()) {
        let counts = of_rollout.map(|path| fields.count(path).unwrap_or_default());
        let message = format!("generates on {} other devices", counts[0].saturating_mul(counts[1]));
        return fields.remark(RemarkKind::Assumed, of_rollout[1], message);
    }
    if fields.flag("actor_rollout_ref.hybrid_engine") == Some(false)
        && fields.draft.value("cluster.devices").is_some()
    {
        let (source, line) = fields.source(all);
        let why = "without the hybrid engine, some of these devices run generation";
        fields.draft.leave_open("cluster.devices", &source, line, why);
        fields.remark(RemarkKind::Unresolved, all, why);
    }
}

/// The group of settings that a command chooses for the actor:
/// `actor@actor_rollout_ref.actor=megatron_actor`.
fn actor_of(text: &str) -> Option<String> {
    let (_, rest) = text.split_once("actor@actor_rollout_ref.actor=")?;
    let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
    rest.get(..end).filter(|name| !name.is_empty()).map(str::to_owned)
}

/// The program of a command that gives the roles separate devices by itself, as verl's example
/// `main_ppo_split.py`.
fn placing(text: &str) -> Option<String> {
    let words =
        text.split_whitespace().filter(|word| Path::new(word).extension().is_some_and(|end| end == "py"));
    let mut programs = words.map(|word| word.rsplit('/').next().unwrap_or_default());
    programs.find(|name| name.contains("split")).map(str::to_owned)
}

/// Values of verl's own configuration if a command sets none (`ppo_trainer.yaml` and its includes, 2024 to
/// 2026).
const USUAL: [(&str, i64); 6] = [
    ("trainer.nnodes", 1),
    ("trainer.n_gpus_per_node", 8),
    ("data.max_prompt_length", 512),
    ("data.max_response_length", 512),
    (TOKENS, 16_384),
    (ROLLOUT_TENSOR, 2),
];
const TOKENS: &str = "actor_rollout_ref.actor.ppo_max_token_len_per_gpu";
const DYNAMIC: &str = "actor_rollout_ref.actor.use_dynamic_bsz";
const ROLLOUT_TENSOR: &str = "actor_rollout_ref.rollout.tensor_model_parallel_size";

/// Fills in what verl's own configuration has. A file that has only one of two sizes shows a part of its run.
fn usual(fields: &mut Fields<'_>) {
    if !is_own(fields) || !fields.text().contains("main_ppo") {
        return;
    }
    for (path, value) in USUAL {
        let matters = match path {
            TOKENS => fields.document.get(DYNAMIC).is_some_and(|entry| entry.data == Data::Flag(true)),
            ROLLOUT_TENSOR => fields.document.has("actor_rollout_ref.rollout"),
            _ => true,
        };
        if matters && fields.document.get(path).is_none() && !fields.is_auto(path) {
            let entry = Entry::new(path.to_owned(), Data::Integer(value), Spot::default());
            fields.document.entries.push(entry);
            let message = format!("not set: verl's own configuration has {value}");
            fields.draft.remark(RemarkKind::Assumed, path, None, message);
        }
    }
}

/// verl's own configurations, which a command chooses by name: FSDP by default, and Megatron.
const OWN: [&str; 2] = ["ppo_trainer", "ppo_megatron_trainer"];

/// The configuration name of a command; `None` for verl's default.
fn configuration(fields: &Fields<'_>) -> Option<String> {
    let (_, rest) = fields.text().split_once("--config-name")?;
    let word = rest.trim_start_matches(['=', ' ']).split_whitespace().next().unwrap_or_default();
    let word = word.trim_matches(['"', '\'', '\\']);
    Some(word.trim_end_matches(".yaml").trim_end_matches(".yml").to_owned())
}

/// Tests whether the defaults are those of verl's own configuration, not of one with a different name.
fn is_own(fields: &Fields<'_>) -> bool {
    configuration(fields).is_none_or(|name| OWN.contains(&name.as_str()))
}

/// verl multiplies the mini batch of prompts with the responses to each.
fn batch(fields: &mut Fields<'_>, is_megatron: bool) {
    let path = "actor_rollout_ref.actor.ppo_mini_batch_size";
    let n = "actor_rollout_ref.rollout.n";
    // verl's default is one response; a configuration of a different name has its own.
    let is_default = is_own(fields);
    let responses = fields.count(n).or((is_default && fields.document.get(n).is_none()).then_some(1));
    if let (Some(prompts), Some(responses)) = (fields.count(path), responses)
        && prompts > 0
        && responses > 0
    {
        fields.set("plan.global_batch", &prompts.saturating_mul(responses), path);
    } else if let (None, true, Some(responses)) =
        (fields.document.get(path), is_default, responses.filter(|&n| n > 0))
    {
        let why = "verl updates on 256 prompts by default (`actor/actor.yaml`)";
        fields.default("plan.global_batch", &256_u64.saturating_mul(responses), why);
    }
    let lengths = ["data.max_prompt_length", "data.max_response_length"];
    if let (Some(prompt), Some(response)) = (fields.count(lengths[0]), fields.count(lengths[1])) {
        fields.set("plan.sequence_length", &prompt.saturating_add(response), lengths[1]);
        let message = "all samples are assumed to have the maximum length, an upper bound on time and memory";
        fields.remark(RemarkKind::Assumed, lengths[1], message);
    }
    let micro = "actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu";
    let count = fields.count(micro).filter(|&n| n > 0);
    let tokens_count = fields.count(TOKENS);
    if fields.flag(DYNAMIC) == Some(true) {
        match (tokens_count, fields.draft.spec().plan.sequence_length) {
            (Some(tokens_count), Some(length)) if length > 0 => {
                // Ranks that share a sequence each take this many tokens.
                let tokens_count = shared(fields).saturating_mul(tokens_count);
                let ranks = shared(fields).saturating_mul(layered(fields));
                let share = crate::packed::share(fields.draft.spec(), ranks);
                let micro_batch = crate::packed::samples(tokens_count, length, share);
                fields.set("plan.micro_batch", &micro_batch, TOKENS);
                let message = "samples are packed up to this number of tokens: estimated with as many samples of maximum length as fit";
                fields.remark(RemarkKind::Assumed, TOKENS, message);
            }
            _ => {
                let message = "samples are packed up to a number of tokens, so the micro-batch stays unset";
                fields.remark(RemarkKind::Unresolved, DYNAMIC, message);
                let (source, line) = fields.source(DYNAMIC);
                fields.draft.leave_open(
                    "plan.micro_batch",
                    &source,
                    line,
                    "samples are packed up to a number of tokens",
                );
            }
        }
    } else if let Some(count) = count {
        fields.set("plan.micro_batch", &count, micro);
    } else if fields.document.get(micro).is_none_or(|entry| entry.data == Data::Null) {
        older_micro_batch(fields, is_megatron);
    }
}

/// The key of versions before the samples of a device had one.
const OLDER_BATCH: &str = "actor_rollout_ref.actor.ppo_micro_batch_size";

/// Tests whether a file has the older key and not the newer one.
fn is_older(fields: &Fields<'_>) -> bool {
    let newer = format!("{OLDER_BATCH}_per_gpu");
    let is_set =
        |path: &str| fields.document.get(path).is_some_and(|entry| !matches!(entry.data, Data::Null));
    is_set(OLDER_BATCH) && !is_set(&newer)
}

/// The older key has the samples of all replicas together (`verl/workers/fsdp_workers.py`,
/// `megatron_workers.py`): ranks that share a sequence or its layers are one replica.
fn older_micro_batch(fields: &mut Fields<'_>, is_megatron: bool) {
    let path = OLDER_BATCH;
    let Some(all) = fields.count(path).filter(|&all| all > 0) else { return };
    let shared = if is_megatron {
        let tensor = "actor_rollout_ref.actor.megatron.tensor_model_parallel_size";
        if fields.count(tensor).is_none() {
            let (source, line) = fields.source(path);
            let why =
                "counts the samples of all replicas, whose number depends on parallel sizes set elsewhere";
            return fields.draft.leave_open("plan.micro_batch", &source, line, why);
        }
        layered(fields).saturating_mul(shared(fields)).max(1)
    } else {
        shared(fields).max(1)
    };
    let Some(replicas) = fields.draft.spec().cluster.devices.map(|devices| devices / shared) else { return };
    if replicas > 0 && all >= replicas {
        fields.set("plan.micro_batch", &(all / replicas), path);
        let message = format!("counts the samples of all {replicas} replicas in older versions of verl");
        fields.remark(RemarkKind::Assumed, path, message);
    }
}

/// Ranks among which the layers of a replica are divided.
fn layered(fields: &mut Fields<'_>) -> u64 {
    let at = |key: &str| format!("actor_rollout_ref.actor.megatron.{key}_model_parallel_size");
    let paths = [at("tensor"), at("pipeline")];
    sharing(fields, &[&paths[0], &paths[1]])
}

/// Ranks that share one sequence.
fn shared(fields: &mut Fields<'_>) -> u64 {
    let paths = [
        "actor_rollout_ref.actor.ulysses_sequence_parallel_size",
        "actor_rollout_ref.actor.megatron.context_parallel_size",
    ];
    sharing(fields, &paths)
}

/// Megatron's settings. The configurations of early 2025 (`verl/trainer/config/ppo_megatron_trainer.yaml`)
/// have four tensor-parallel ranks, later ones none.
fn megatron(fields: &mut Fields<'_>) {
    let at = |key: &str| format!("actor_rollout_ref.actor.megatron.{key}");
    let is_older = is_older(fields);
    for (key, to) in [
        ("tensor_model_parallel_size", "plan.tensor_parallel"),
        ("pipeline_model_parallel_size", "plan.pipeline_parallel"),
        ("virtual_pipeline_model_parallel_size", "plan.virtual_stages"),
        ("context_parallel_size", "plan.context_parallel"),
        ("expert_model_parallel_size", "plan.expert_parallel"),
        ("expert_tensor_parallel_size", "plan.expert_tensor_parallel"),
    ] {
        match fields.count(&at(key)).filter(|&n| n > 0) {
            Some(n) => fields.set(to, &n, &at(key)),
            None if matches!(key, "virtual_pipeline_model_parallel_size" | "expert_tensor_parallel_size") => {
            }
            None if fields.document.get(&at(key)).is_none() && is_older => {
                let (source, line) = fields.source(OLDER_BATCH);
                let why = "versions of verl with this key have parallel sizes in their own configuration";
                fields.draft.leave_open(to, &source, line, why);
            }
            None if fields.document.get(&at(key)).is_none() => {
                fields.default(to, &1_u64, "verl uses no parallelism by default");
            }
            None => {}
        }
    }
    let path = at("sequence_parallel");
    if let Some(flag) = fields.flag(&path) {
        fields.set("plan.sequence_parallel", &flag, &path);
    } else if fields.document.get(&path).is_none() && fields.draft.spec().plan.tensor_parallel.is_some() {
        let is_cut = fields.draft.spec().plan.tensor_parallel.is_some_and(|tensor| tensor > 1);
        fields.default("plan.sequence_parallel", &is_cut, "verl shards norms with tensor parallelism");
    }
    let path = at("use_distributed_optimizer");
    let shards = fields.flag(&path);
    let sharding =
        Sharding { zero_stage: u8::from(shards != Some(false)), group: None, reshard_after_forward: false };
    if shards.is_some() {
        fields.set("plan.sharding", &sharding, &path);
    } else if fields.document.get(&path).is_none() {
        fields.default("plan.sharding", &sharding, "verl's Megatron shards the optimizer by default");
    }
    overrides(fields, "actor_rollout_ref.actor.megatron", "actor_rollout_ref.actor.optim");
    offload(fields, &at("param_offload"), &at("optimizer_offload"));
    fields.default("plan.software", &"megatron-core-2025".to_owned(), "Megatron-Core under verl");
    kernels(fields, "actor_rollout_ref.actor.megatron");
}

fn fsdp(fields: &mut Fields<'_>, strategy: Option<&str>) {
    let at = |key: &str| format!("actor_rollout_ref.actor.fsdp_config.{key}");
    let path = "actor_rollout_ref.actor.strategy";
    if strategy.is_some_and(|strategy| !matches!(strategy, "fsdp" | "fsdp2")) {
        let problem = Problem::new("expected `fsdp`, `fsdp2` or `megatron`");
        return fields.problem(problem, path);
    }
    let mut sharding = Sharding { zero_stage: 3, group: None, reshard_after_forward: true };
    // Only FSDP 2 has the choice (`verl/workers/fsdp_workers.py`).
    let reshard = at("reshard_after_forward");
    if fields.flag(&reshard) == Some(false) && strategy == Some("fsdp2") {
        sharding.reshard_after_forward = false;
    }
    let size = at("fsdp_size");
    if let Some(group) = fields.integer(&size) {
        // -1 stands for all ranks.
        sharding.group = u64::try_from(group).ok().filter(|&group| group > 0);
        fields.set("plan.sharding", &sharding, &size);
    } else if fields.is_auto(&size) {
        fields.remark(RemarkKind::Unresolved, &size, "determines the shard group size: sharding is unset");
    } else if strategy.is_some() {
        fields.set("plan.sharding", &sharding, path);
    } else {
        fields.default("plan.sharding", &sharding, "verl uses full sharding by default");
    }
    fields.default("plan.tensor_parallel", &1_u64, "FSDP does not shard layers");
    fields.default("plan.pipeline_parallel", &1_u64, "FSDP does not support pipeline parallelism");
    let path = "actor_rollout_ref.actor.ulysses_sequence_parallel_size";
    if let Some(context) = fields.count(path).filter(|&n| n > 0) {
        fields.set("plan.context_parallel", &context, path);
        if context > 1 {
            fields.set("plan.context_kind", &ContextKind::Ulysses, path);
        }
    }
    offload(fields, &at("param_offload"), &at("optimizer_offload"));
    // FSDP reduces gradients in 32 bits under verl, including those of narrow weights.
    match fields.word(&at("model_dtype")).as_deref() {
        Some("bf16" | "bfloat16") => pure(fields, &at("model_dtype"), DataType::Bf16, DataType::Fp32),
        Some("fp16" | "float16") => pure(fields, &at("model_dtype"), DataType::Fp16, DataType::Fp32),
        _ => {}
    }
    let id = if strategy == Some("fsdp2") { "torchtitan-2024-eager" } else { "fsdp1-2023" };
    fields.default("plan.software", &id.to_owned(), "PyTorch's FSDP under verl, eager");
}

fn generation(fields: &mut Fields<'_>) {
    let at = |key: &str| format!("actor_rollout_ref.rollout.{key}");
    if !fields.document.has("actor_rollout_ref.rollout") {
        return;
    }
    let backend = fields.word(&at("name")).unwrap_or_else(|| "its engine".to_owned());
    let tensor = fields.count(&at("tensor_model_parallel_size")).unwrap_or(1);
    let experts = fields.count(&at("expert_parallel_size"));
    let share_path = at("gpu_memory_utilization");
    let share = fields.number(&share_path).filter(|share| (0.0..=1.0).contains(share));
    let share = share.or((is_own(fields) && fields.document.get(&share_path).is_none()).then_some(0.5));
    let frees = fields.flag(&at("free_cache_engine")) != Some(false);
    let is_colocated = fields.flag("actor_rollout_ref.hybrid_engine") != Some(false);
    Generation { backend, path: &share_path, tensor, experts, share, is_colocated, frees }.remark(fields);
}
