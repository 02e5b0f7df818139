//! NeMo-RL: the policy under DTensor (FSDP2) or Megatron.

use super::common::{devices, ends, model};
use super::generation::Generation;
use crate::RemarkKind;
use crate::accelerate::unpadded;
use crate::adapter;
use crate::document::Data;
use crate::features;
use crate::fields::{Fields, Known, Meaning};
use crate::megatron::Graphs;
use Meaning::{Ignored, Key, Lost, Read};
use railwright_spec::plan::{AttentionKernel, PrecisionPreset, Recompute, Sharding};
use railwright_spec::precision::DataType;

pub(super) fn is_one(text: &str) -> bool {
    let starts = |key: &str| text.lines().any(|line| line.starts_with(key));
    // A file may leave its whole policy to the defaults of another one.
    let has_defaults = text.lines().any(|line| line.starts_with("defaults:") && line.contains(".yaml"));
    let any = |keys: &[&str]| keys.iter().any(|key| starts(key));
    let shared = ["env:", "data:", "policy:", "checkpointing:", "logger:"];
    if has_defaults
        && ((starts("cluster:") && any(&shared))
            || (any(&["grpo:", "dpo:", "sft:", "rm:", "ppo:", "distillation:"])
                && (starts("cluster:") || any(&shared))))
    {
        return true;
    }
    text.lines().any(|line| line.starts_with("policy:"))
        && ["dtensor_cfg:", "megatron_cfg:", "train_micro_batch_size:", "max_total_sequence_length:"]
            .iter()
            .any(|key| text.contains(key))
}

pub(super) const KNOWN: &[Known] = &[
    ("policy.train_global_batch_size", Key("plan.global_batch")),
    ("policy.train_micro_batch_size", Key("plan.micro_batch")),
    ("policy.max_total_sequence_length", Key("plan.sequence_length")),
    ("policy.model_name", Read),
    ("policy.precision", Read),
    ("policy.dtensor_cfg.enabled", Read),
    ("policy.dtensor_cfg.tensor_parallel_size", Read),
    ("policy.dtensor_cfg.context_parallel_size", Read),
    ("policy.dtensor_cfg.expert_parallel_size", Read),
    ("policy.dtensor_cfg.sequence_parallel", Read),
    ("policy.dtensor_cfg.activation_checkpointing", Read),
    ("policy.dtensor_cfg.cpu_offload", Read),
    ("policy.dtensor_cfg.lora_cfg.enabled", Read),
    ("policy.dtensor_cfg.lora_cfg.dim", Read),
    ("policy.dtensor_cfg.lora_cfg.target_modules", Read),
    ("policy.dtensor_cfg._v2", Ignored),
    (
        "policy.dtensor_cfg.dp_replicate_size",
        Lost(&["1"], "replicas of the shards are not supported: estimated as sharded over all ranks"),
    ),
    ("policy.dtensor_cfg.lora_cfg.*", Ignored),
    ("policy.dtensor_cfg.automodel_kwargs.backend.enable_deepep", Read),
    ("policy.dtensor_cfg.automodel_kwargs.backend.*", Ignored),
    ("policy.megatron_cfg.attention_backend", Read),
    ("policy.megatron_cfg.moe_enable_deepep", Read),
    ("policy.megatron_cfg.cuda_graph_impl", Read),
    ("policy.megatron_cfg.cuda_graph_scope", Read),
    ("policy.megatron_cfg.cuda_graph_modules", Read),
    ("policy.megatron_cfg.cuda_graph_warmup_steps", Ignored),
    ("policy.megatron_cfg.fused_linear_logprobs_chunk_size", Ignored),
    ("policy.megatron_cfg.use_fused_linear_logprobs", Read),
    ("policy.megatron_cfg.peft.*", Ignored),
    ("policy.megatron_cfg.enabled", Read),
    ("policy.megatron_cfg.tensor_model_parallel_size", Read),
    ("policy.megatron_cfg.pipeline_model_parallel_size", Read),
    ("policy.megatron_cfg.context_parallel_size", Read),
    ("policy.megatron_cfg.expert_model_parallel_size", Read),
    ("policy.megatron_cfg.expert_tensor_parallel_size", Read),
    ("policy.megatron_cfg.num_layers_in_first_pipeline_stage", Read),
    ("policy.megatron_cfg.num_layers_in_last_pipeline_stage", Read),
    ("policy.megatron_cfg.recompute_granularity", Read),
    (
        "policy.megatron_cfg.mtp_num_layers",
        Lost(&["0"], "multi-token-prediction modules are estimated as in the model's config.json"),
    ),
    ("policy.megatron_cfg.fp8_cfg.enabled", Read),
    ("policy.megatron_cfg.fp8_cfg.fp8", Ignored),
    ("policy.megatron_cfg.fp8_cfg.fp8_recipe", Read),
    ("policy.megatron_cfg.fp8_cfg.fp8_param", Read),
    // The format of scales.
    ("policy.megatron_cfg.env_vars.NVTE_FP8_BLOCK_SCALING_FP32_SCALES", Ignored),
    ("policy.megatron_cfg.env_vars.*", Ignored),
    ("policy.megatron_cfg.freeze_moe_router", Ignored),
    ("policy.megatron_cfg.fp8_cfg.*", Ignored),
    ("policy.megatron_cfg.model_overrides", Ignored),
    ("policy.megatron_cfg.moe_grouped_gemm", Ignored),
    ("policy.megatron_cfg.moe_permute_fusion", Ignored),
    ("policy.megatron_cfg.moe_token_dispatcher_type", Ignored),
    ("policy.megatron_cfg.apply_rope_fusion", Ignored),
    ("policy.megatron_cfg.bias_activation_fusion", Ignored),
    ("policy.megatron_cfg.sequence_parallel", Read),
    ("policy.megatron_cfg.activation_checkpointing", Read),
    ("policy.megatron_cfg.optimizer.use_distributed_optimizer", Read),
    ("policy.megatron_cfg.distributed_data_parallel_config.overlap_grad_reduce", Read),
    ("policy.megatron_cfg.distributed_data_parallel_config.overlap_param_gather", Read),
    (REDUCE_IN_FP32, Read),
    ("policy.megatron_cfg.peft.enabled", Read),
    ("policy.megatron_cfg.peft.dim", Read),
    ("policy.megatron_cfg.peft.target_modules", Read),
    ("policy.megatron_cfg.empty_unused_memory_level", Ignored),
    ("policy.megatron_cfg.pipeline_dtype", Ignored),
    ("policy.dynamic_batching.enabled", Read),
    ("policy.dynamic_batching.train_mb_tokens", Read),
    ("policy.sequence_packing.enabled", Read),
    ("policy.sequence_packing.train_mb_tokens", Read),
    ("policy.generation.backend", Read),
    ("policy.generation.colocated.enabled", Read),
    ("policy.generation.colocated.resources.num_nodes", Read),
    ("policy.generation.colocated.resources.gpus_per_node", Read),
    ("policy.generation.vllm_cfg.tensor_parallel_size", Read),
    ("policy.generation.vllm_cfg.gpu_memory_utilization", Read),
    ("cluster.gpus_per_node", Read),
    ("cluster.num_nodes", Read),
    ("defaults", Read),
];

/// Format of the parameters in compute.
const PRECISION: &str = "policy.precision";

/// Preset of a name of NeMo-RL's formats; `None` for another name.
fn preset(word: &str) -> Option<PrecisionPreset> {
    match word {
        "bfloat16" | "bf16" => Some(PrecisionPreset::Bf16),
        "float16" | "fp16" => Some(PrecisionPreset::Fp16),
        "float32" | "fp32" => Some(PrecisionPreset::Fp32),
        _ => None,
    }
}

/// Format in which Megatron-Core keeps and reduces gradients.
const REDUCE_IN_FP32: &str = "policy.megatron_cfg.distributed_data_parallel_config.grad_reduce_in_fp32";

/// Reads the actor. `missing` is why the defaults of another file are not known.
pub(super) fn fill(fields: &mut Fields<'_>, missing: Option<&str>) {
    if fields.take("defaults").is_some()
        && let Some(why) = missing
    {
        let message = format!("is another file with defaults for this one, and {why}: they stay unset");
        fields.remark(RemarkKind::Unresolved, "defaults", message);
    }
    if fields.document.has("distillation") {
        let message = "the teacher's forward pass and memory are not modelled";
        fields.draft.remark(RemarkKind::NotModelled, "distillation", None, message);
    }
    if fields.document.has("dpo") {
        let message = "a sample is a pair, and a reference model is also in memory: estimated as one sequence each, \
             a lower bound";
        fields.draft.remark(RemarkKind::NotModelled, "dpo", None, message);
    }
    if fields.document.has("rm") {
        let message = "a sample is a pair, the chosen and the rejected text, and a head with one value replaces that of the \
             vocabulary: estimated as one sequence each with the vocabulary, a lower bound on time";
        fields.draft.remark(RemarkKind::NotModelled, "rm", None, message);
    }
    if fields.document.has("ppo") || fields.document.has("value") {
        let message = "a critic is also trained; it is not modelled";
        fields.draft.remark(RemarkKind::NotModelled, "ppo", None, message);
    }
    training_devices(fields);
    model(fields, "policy.model_name");
    if let Some(word) = fields.word(PRECISION) {
        match preset(&word) {
            Some(preset) => fields.set("plan.precision.preset", &preset, PRECISION),
            None => fields.remark(RemarkKind::Unresolved, PRECISION, "unknown format, so it stays unset"),
        }
    }
    let dtensor = fields.flag("policy.dtensor_cfg.enabled");
    let has_tensors = fields.document.has("policy.dtensor_cfg");
    let has_megatron = fields.document.has("policy.megatron_cfg");
    match (fields.flag("policy.megatron_cfg.enabled"), dtensor) {
        (Some(true), _) => megatron(fields),
        (_, Some(true)) => tensors(fields),
        (None, None) if has_tensors && !has_megatron => {
            tensors(fields);
            let message = "NeMo-RL's examples enable `dtensor_cfg` by default: it is assumed to be in use";
            fields.draft.remark(RemarkKind::Assumed, "policy.dtensor_cfg", None, message);
        }
        _ => {
            // Forks have further kinds of workers.
            let other = fields.document.entries.iter().find_map(|entry| {
                let section = entry.path.strip_prefix("policy.")?.strip_suffix(".enabled")?;
                (section.ends_with("_cfg") && entry.data == Data::Flag(true)).then(|| section.to_owned())
            });
            let why = match &other {
                Some(section) => format!("the file selects `{section}`, which NeMo-RL does not have"),
                None => "the file does not select `dtensor_cfg` or `megatron_cfg`".to_owned(),
            };
            let path =
                other.map_or_else(|| "policy".to_owned(), |section| format!("policy.{section}.enabled"));
            let (source, line) = fields.source(&path);
            for key in ["plan.tensor_parallel", "plan.pipeline_parallel"] {
                fields.draft.leave_open(key, &source, line, &why);
            }
            let message = format!("{why}: parallel sizes stay unset");
            fields.draft.remark(RemarkKind::Unresolved, &source, line, message);
        }
    }
    packing(fields);
    unpadded(fields);
    let at = |key: &str| format!("policy.generation.{key}");
    if fields.document.has("policy.generation") {
        let path = at("vllm_cfg.gpu_memory_utilization");
        let generation = Generation {
            backend: fields.word(&at("backend")).unwrap_or_else(|| "its engine".to_owned()),
            tensor: fields.count(&at("vllm_cfg.tensor_parallel_size")).unwrap_or(1),
            experts: fields.count(&at("vllm_cfg.expert_parallel_size")),
            share: fields.number(&path).filter(|share| (0.0..=1.0).contains(share)),
            is_colocated: fields.flag(&at("colocated.enabled")) != Some(false),
            frees: true,
            path: &path,
        };
        generation.remark(fields);
    }
}

/// Nodes times GPUs without those of a rollout engine that has its own: nodes of a larger job, GPUs of a
/// single node (`nemo_rl/algorithms/grpo.py`, `setup`).
fn training_devices(fields: &mut Fields<'_>) {
    let paths = ["cluster.num_nodes", "cluster.gpus_per_node"];
    let at = |key: &str| format!("policy.generation.colocated.{key}");
    let is_separate = fields.flag(&at("enabled")) == Some(false);
    let [nodes, per_node] = paths.map(|path| fields.count(path).filter(|&n| n > 0));
    let own = ["resources.num_nodes", "resources.gpus_per_node"].map(|key| fields.count(&at(key)));
    let (true, Some(nodes), Some(per_node)) = (is_separate, nodes, per_node) else {
        return devices(fields, paths[0], paths[1]);
    };
    let (source, line) = fields.source(&at("enabled"));
    let training = match own {
        [Some(rollout), _] if nodes > 1 && rollout < nodes => Some((nodes - rollout, per_node)),
        [_, Some(rollout)] if nodes == 1 && rollout < per_node => Some((1, per_node - rollout)),
        _ => None,
    };
    let Some((nodes, per_node)) = training else {
        let why = "generation uses separate GPUs, whose number is not set";
        fields.draft.leave_open("cluster.devices", &source, line, why);
        let message =
            "generation uses separate GPUs, whose number is not set: the number of training GPUs is unknown";
        return fields.draft.remark(RemarkKind::Unresolved, &source, line, message);
    };
    let source = if nodes > 1 { at("resources.num_nodes") } else { at("resources.gpus_per_node") };
    fields.set("cluster.devices", &nodes.saturating_mul(per_node), &source);
    if nodes > 1 {
        fields.set("cluster.devices_per_node", &per_node, paths[1]);
    }
}

/// Packed samples: a micro-batch is a number of tokens then, by default the longest sample times the
/// micro-batch.
fn packing(fields: &mut Fields<'_>) {
    for section in ["policy.dynamic_batching", "policy.sequence_packing"] {
        let (enabled, tokens) = (format!("{section}.enabled"), format!("{section}.train_mb_tokens"));
        let count =
            fields.document.get(&tokens).is_some_and(|entry| entry.data.plain().parse::<u64>().is_ok());
        let count = if count { fields.count(&tokens) } else { None };
        fields.take(&tokens);
        if fields.flag(&enabled) != Some(true) {
            continue;
        }
        let length = fields.draft.spec().plan.sequence_length.filter(|&length| length > 0);
        if let (Some(count), Some(length)) = (count, length) {
            let global = fields.draft.spec().plan.global_batch;
            fields.set("plan.micro_batch", &crate::packed::samples(count, length, global), &tokens);
        }
        let message =
            "samples are packed: all are assumed to have the maximum length, an upper bound on time";
        fields.remark(RemarkKind::Assumed, &enabled, message);
    }
}

fn degrees(fields: &mut Fields<'_>, section: &str, names: &[(&str, &str)]) {
    for (key, to) in names {
        let path = format!("policy.{section}.{key}");
        if let Some(n) = fields.count(&path).filter(|&n| n > 0) {
            fields.set(to, &n, &path);
        }
    }
    let path = format!("policy.{section}.sequence_parallel");
    if let Some(flag) = fields.flag(&path) {
        fields.set("plan.sequence_parallel", &flag, &path);
    }
    let path = format!("policy.{section}.activation_checkpointing");
    let granularity = format!("policy.{section}.recompute_granularity");
    let is_selective = fields.word(&granularity).as_deref() == Some("selective");
    match fields.flag(&path) {
        Some(true) if is_selective => {
            let message = "recompute of individual modules is not supported in this file: it stays unset";
            fields.remark(RemarkKind::Unresolved, &granularity, message);
        }
        Some(true) => fields.set("plan.recompute", &Recompute::Full { layers: None }, &path),
        Some(false) => fields.set("plan.recompute", &Recompute::None, &path),
        None => {}
    }
}

fn tensors(fields: &mut Fields<'_>) {
    fields.draft.front_end("nemo-rl-dtensor");
    let names = [
        ("tensor_parallel_size", "plan.tensor_parallel"),
        ("context_parallel_size", "plan.context_parallel"),
        ("expert_parallel_size", "plan.expert_parallel"),
    ];
    degrees(fields, "dtensor_cfg", &names);
    let sharding = Sharding { zero_stage: 3, group: None, reshard_after_forward: true };
    fields.set("plan.sharding", &sharding, "policy.dtensor_cfg.enabled");
    fields.default("plan.pipeline_parallel", &1_u64, "FSDP does not support pipeline parallelism");
    fields.default("plan.software", &"torchtitan-2024-eager".to_owned(), "FSDP 2 under NeMo-RL, eager");
    dispatch(fields, "policy.dtensor_cfg.automodel_kwargs.backend.enable_deepep");
    let path = "policy.dtensor_cfg.cpu_offload";
    if fields.flag(path) == Some(true) {
        fields.set("plan.offload.parameters", &1.0, path);
        fields.set("plan.offload.optimizer", &1.0, path);
    }
    adapters(fields, "policy.dtensor_cfg.lora_cfg");
}

fn megatron(fields: &mut Fields<'_>) {
    let names = [
        ("tensor_model_parallel_size", "plan.tensor_parallel"),
        ("pipeline_model_parallel_size", "plan.pipeline_parallel"),
        ("context_parallel_size", "plan.context_parallel"),
        ("expert_model_parallel_size", "plan.expert_parallel"),
        ("expert_tensor_parallel_size", "plan.expert_tensor_parallel"),
    ];
    degrees(fields, "megatron_cfg", &names);
    let at = |end: &str| format!("policy.megatron_cfg.num_layers_in_{end}_pipeline_stage");
    ends(fields, &at("first"), &at("last"));
    let path = "policy.megatron_cfg.fp8_cfg.enabled";
    if fields.flag(path) == Some(true) {
        fields.set("plan.precision.preset", &PrecisionPreset::Fp8, path);
        let recipe = "policy.megatron_cfg.fp8_cfg.fp8_recipe";
        if fields.word(recipe).as_deref() == Some("mxfp8") {
            fields.set("plan.precision.compute", &DataType::Mxfp8, recipe);
        }
        let parameters = "policy.megatron_cfg.fp8_cfg.fp8_param";
        if fields.flag(parameters) == Some(true) {
            fields.set("plan.precision.parameters", &DataType::Fp8, parameters);
        }
    }
    let path = "policy.megatron_cfg.optimizer.use_distributed_optimizer";
    if let Some(shards) = fields.flag(path) {
        let sharding = Sharding { zero_stage: u8::from(shards), group: None, reshard_after_forward: false };
        fields.set("plan.sharding", &sharding, path);
    }
    let overlaps = [
        ("overlap_grad_reduce", "plan.overlap.gradient_reduce"),
        ("overlap_param_gather", "plan.overlap.parameter_gather"),
    ];
    for (key, to) in overlaps {
        let path = format!("policy.megatron_cfg.distributed_data_parallel_config.{key}");
        if let Some(flag) = fields.flag(&path) {
            fields.set(to, &flag, &path);
        }
    }
    let path = "policy.megatron_cfg.attention_backend";
    let kernel = match fields.word(path).as_deref() {
        Some("flash") => Some(AttentionKernel::Flash2),
        Some("fused") => Some(AttentionKernel::Flash3),
        Some("unfused" | "local") => Some(AttentionKernel::Unfused),
        _ => None,
    };
    if let Some(kernel) = kernel {
        fields.set("plan.attention_kernel", &kernel, path);
    }
    gradients(fields);
    fields.default("plan.software", &"megatron-core-2025".to_owned(), "Megatron-Core under NeMo-RL");
    dispatch(fields, "policy.megatron_cfg.moe_enable_deepep");
    graphs(fields);
    features::switches(fields);
    adapters(fields, "policy.megatron_cfg.peft");
}

/// Gradients in fp32, or in the format of the parameters (Megatron-Core, `param_and_grad_buffer.py`).
fn gradients(fields: &mut Fields<'_>) {
    let narrow =
        fields.word(PRECISION).and_then(|word| preset(&word)).map(|preset| preset.precision().parameters);
    let Some(is_wide) = fields.flag(REDUCE_IN_FP32) else { return };
    let Some(format) = is_wide.then_some(DataType::Fp32).or(narrow) else {
        let message = "gradients have the format of the parameters, which is unknown: they stay unset";
        return fields.remark(RemarkKind::Unresolved, REDUCE_IN_FP32, message);
    };
    fields.set("plan.precision.gradients", &format, REDUCE_IN_FP32);
    fields.set("plan.precision.gradient_reduce", &format, REDUCE_IN_FP32);
}

/// Share of a step in CUDA graphs, by the arguments of Megatron-Core.
fn graphs(fields: &mut Fields<'_>) {
    let path = "policy.megatron_cfg.cuda_graph_impl";
    let scope: Vec<String> = ["cuda_graph_scope", "cuda_graph_modules"]
        .into_iter()
        .filter_map(|key| fields.take(&format!("policy.megatron_cfg.{key}")))
        .flat_map(|entry| entry.data.names().iter().map(ToString::to_string).collect::<Vec<_>>())
        .collect();
    let Some(kind) = fields.word(path) else { return };
    let graphs = Graphs::of(&kind, &scope);
    if graphs != Graphs::None {
        features::add(fields, graphs.feature(), path);
    }
}

/// Fused kernels of the dispatch, in a model whose experts are on several ranks.
fn dispatch(fields: &mut Fields<'_>, path: &str) {
    let is_on = fields.flag(path) == Some(true);
    if is_on && fields.draft.spec().plan.expert_parallel.is_some_and(|degree| degree > 1) {
        features::add(fields, features::FUSED_DISPATCH, path);
    }
}

/// Adapters of a section with `enabled`, `dim` and `target_modules`; an empty list of modules means all
/// linear layers.
fn adapters(fields: &mut Fields<'_>, section: &str) {
    let own = |key: &str| format!("{section}.{key}");
    let path = own("enabled");
    if fields.flag(&path) == Some(true) {
        let (source, line) = fields.source(&path);
        adapter::lora(&mut fields.draft, &source, line);
    }
    let usual = adapter::Usual { of: "NeMo-RL", ..adapter::ALL_OF_RANK_8 };
    adapter::read(fields, &[&own("dim")], &[&own("target_modules")], usual);
}
