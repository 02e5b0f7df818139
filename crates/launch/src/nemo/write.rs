//! A run as a recipe of Megatron-Bridge: a function in Python that builds a configuration, like
//! Megatron-Bridge's own recipes.
//!
//! Responsible for: assigning Megatron-LM's flags to the fields of the configuration, so that both writers
//! have the same restrictions. Rejects models without a repository or a converter, 32-bit training and flags
//! without a field.

use super::BridgeReader;
use crate::lost::{Reasons, lost};
use crate::megatron::{FlagsWriter, generation};
use crate::{Format, Lost, Writer, Written, WrittenFile, adapter, annotation, hub};
use railwright_spec::plan::Optimizer;
use railwright_spec::precision::DataType;
use railwright_spec::run::Run;
use std::fmt::Write as _;

/// Writes recipes of Megatron-Bridge.
#[derive(Clone, Copy, Debug)]
pub struct BridgeWriter;

/// Families, as `model_type` names them, that Megatron-Bridge converts (`megatron/bridge/models`, 067f987d,
/// August 2026).
const FAMILIES: &[&str] = &[
    "llama",
    "mistral",
    "gemma",
    "gemma2",
    "gemma3_text",
    "qwen2",
    "qwen3",
    "qwen3_moe",
    "qwen3_next",
    "deepseek_v2",
    "deepseek_v3",
    "glm4_moe",
    "glm_moe_dsa",
    "gpt_oss",
    "minimax_m2",
    "nemotron",
    "nemotron_h",
    "olmoe",
];

/// Conversion of a flag to an assignment.
#[derive(Clone, Copy)]
enum Kind {
    /// The plain value: a number.
    Number,
    /// The value in quotes.
    Text,
    /// A list of words in quotes.
    Words,
    /// A number format of torch.
    Format,
    /// A switch that is set to this.
    Switch(bool),
}
use Kind::{Format as NumberFormat, Number, Switch, Text, Words};

/// Flags of Megatron-LM and their equivalent fields.
const FIELDS: &[(&str, Kind, &[&str])] = &[
    ("--tensor-model-parallel-size", Number, &["model.tensor_model_parallel_size"]),
    ("--sequence-parallel", Switch(true), &["model.sequence_parallel"]),
    ("--pipeline-model-parallel-size", Number, &["model.pipeline_model_parallel_size"]),
    ("--pipeline-model-parallel-layout", Text, &["model.pipeline_model_parallel_layout"]),
    ("--num-virtual-stages-per-pipeline-rank", Number, &["model.virtual_pipeline_model_parallel_size"]),
    ("--context-parallel-size", Number, &["model.context_parallel_size"]),
    ("--cp-comm-type", Text, &["model.cp_comm_type"]),
    ("--use-tp-pp-dp-mapping", Switch(true), &["dist.use_tp_pp_dp_mapping"]),
    ("--expert-model-parallel-size", Number, &["model.expert_model_parallel_size"]),
    ("--expert-tensor-parallel-size", Number, &["model.expert_tensor_parallel_size"]),
    ("--moe-grouped-gemm", Switch(true), &["model.moe_grouped_gemm"]),
    ("--moe-expert-capacity-factor", Number, &["model.moe_expert_capacity_factor"]),
    ("--micro-batch-size", Number, &["train.micro_batch_size"]),
    ("--global-batch-size", Number, &["train.global_batch_size"]),
    ("--train-iters", Number, &["train.train_iters"]),
    ("--seq-length", Number, &["model.seq_length", "dataset.seq_length"]),
    ("--optimizer", Text, &["optimizer.optimizer"]),
    ("--attention-dropout", Number, &["model.attention_dropout"]),
    ("--hidden-dropout", Number, &["model.hidden_dropout"]),
    ("--make-vocab-size-divisible-by", Number, &["model.make_vocab_size_divisible_by"]),
    ("--attention-backend", Text, &["model.attention_backend"]),
    ("--use-precision-aware-optimizer", Switch(true), &["optimizer.use_precision_aware_optimizer"]),
    ("--main-params-dtype", NumberFormat, &["optimizer.main_params_dtype"]),
    ("--exp-avg-dtype", NumberFormat, &["optimizer.exp_avg_dtype"]),
    ("--exp-avg-sq-dtype", NumberFormat, &["optimizer.exp_avg_sq_dtype"]),
    (
        "--use-distributed-optimizer",
        Switch(true),
        &["ddp.use_distributed_optimizer", "optimizer.use_distributed_optimizer"],
    ),
    ("--use-megatron-fsdp", Switch(true), &["ddp.use_megatron_fsdp", "dist.use_megatron_fsdp"]),
    ("--data-parallel-sharding-strategy", Text, &["ddp.data_parallel_sharding_strategy"]),
    ("--ckpt-format", Text, &["checkpoint.ckpt_format"]),
    ("--num-distributed-optimizer-instances", Number, &["ddp.num_distributed_optimizer_instances"]),
    ("--recompute-granularity", Text, &["model.recompute_granularity"]),
    ("--recompute-method", Text, &["model.recompute_method"]),
    ("--recompute-num-layers", Number, &["model.recompute_num_layers"]),
    ("--recompute-modules", Words, &["model.recompute_modules"]),
    ("--optimizer-cpu-offload", Switch(true), &["optimizer.optimizer_cpu_offload"]),
    ("--optimizer-offload-fraction", Number, &["optimizer.optimizer_offload_fraction"]),
    ("--cpu-offloading-num-layers", Number, &["model.cpu_offloading_num_layers"]),
    ("--cross-entropy-loss-fusion", Switch(true), &["model.cross_entropy_loss_fusion"]),
    ("--cross-entropy-fusion-impl", Text, &["model.cross_entropy_fusion_impl"]),
    ("--moe-permute-fusion", Switch(true), &["model.moe_permute_fusion"]),
    ("--moe-router-fusion", Switch(true), &["model.moe_router_fusion"]),
    ("--moe-router-dtype", Text, &["model.moe_router_dtype"]),
    ("--moe-token-dispatcher-type", Text, &["model.moe_token_dispatcher_type"]),
    ("--moe-flex-dispatcher-backend", Text, &["model.moe_flex_dispatcher_backend"]),
    ("--moe-expert-rank-capacity-factor", Number, &["model.moe_expert_rank_capacity_factor"]),
    ("--moe-paged-stash", Switch(true), &["model.moe_paged_stash"]),
    ("--use-transformer-engine-op-fuser", Switch(true), &["model.use_transformer_engine_op_fuser"]),
    ("--cuda-graph-impl", Text, &["model.cuda_graph_impl"]),
    ("--cuda-graph-modules", Words, &["model.cuda_graph_modules"]),
    (
        "--no-check-for-nan-in-loss-and-grad",
        Switch(false),
        &["ddp.check_for_nan_in_grad", "rerun_state_machine.check_for_nan_in_loss"],
    ),
];

/// Fields that a recipe may have set, and that a plan without the flag turns off.
const OFF: &[(&str, &str)] = &[
    ("--sequence-parallel", "model.sequence_parallel = False"),
    ("--num-virtual-stages-per-pipeline-rank", "model.virtual_pipeline_model_parallel_size = None"),
    ("--use-distributed-optimizer", "ddp.use_distributed_optimizer = False"),
    ("--use-distributed-optimizer", "optimizer.use_distributed_optimizer = False"),
];

/// Flags written in a different form: number formats and overlap as separate objects.
const OBJECTS: &[&str] = &[
    "--bf16",
    "--fp16",
    "--fp8-format",
    "--fp8-recipe",
    "--fp4-format",
    "--fp8-param-gather",
    "--accumulate-allreduce-grads-in-fp32",
    "--grad-reduce-in-bf16",
    "--overlap-grad-reduce",
    "--overlap-param-gather",
    "--tp-comm-overlap",
    "--no-overlap-p2p-communication",
    "--overlap-moe-expert-parallel-comm",
];

const REASONS: Reasons = &[
    ("plan.schedule", "Megatron-Bridge runs 1F1B, plain or interleaved"),
    ("plan.sharding", "Megatron-FSDP gathers parameters again in the backward pass"),
    ("plan.recompute", "Megatron-Core recomputes some modules of all layers, or whole layers"),
    ("plan.stage_recompute", "Megatron-Core recomputes the same on every stage"),
    ("plan.software", generation::NATIVE),
    ("plan.lora_targets", adapter::LOST_TARGETS),
];

impl Writer for BridgeWriter {
    fn format(&self) -> Format {
        Format::MegatronBridge
    }

    fn name(&self) -> &'static str {
        "megatron-bridge"
    }

    fn compose(&self, run: &Run) -> Written {
        let refused = |key: &str, message: String| Written::refused(Lost { key: key.to_owned(), message });
        if !FAMILIES.contains(&run.model.family.as_str()) {
            return refused("model", format!("Megatron-Bridge does not convert {}", run.model.name));
        }
        let Some(repository) = hub::repository(&run.model) else {
            return Written::refused(hub::unknown("Megatron-Bridge", &run.model));
        };
        if matches!(run.plan.precision.activations, DataType::Fp32 | DataType::Tf32) {
            return refused(
                "plan.precision.compute",
                "Megatron-Bridge supports number formats of at most 16 bits".to_owned(),
            );
        }
        let (planned, run) = (run, &generation::native(run));
        let (flags, mut not_expressed) = match FlagsWriter::flags_of(run) {
            Ok(found) => found,
            Err(why) => return Written::refused(why),
        };
        let text = match recipe(run, repository, &flags) {
            Ok(text) => text,
            Err(flag) => {
                let message =
                    format!("Megatron-Bridge has no field for Megatron-LM's `{flag}`, which this plan needs");
                return refused("plan", message);
            }
        };
        let file = "railwright_recipe.py".to_owned();
        let mut found = lost(&BridgeReader, &text, &file, planned, REASONS);
        found.append(&mut not_expressed);
        Written { files: vec![WrittenFile::new(&file, text)], not_expressed: found, refused: Vec::new() }
    }
}

/// The text, or the flag without a field.
fn recipe(run: &Run, repository: &str, flags: &[String]) -> Result<String, String> {
    let plan = &run.plan;
    let has = |option: &str| flags.iter().any(|flag| flag.split(' ').next() == Some(option));
    let is_lora = plan.optimizer == Optimizer::Lora;
    let (module, class, names) = adapter::bridge_class(plan, &run.model);
    let (base, start) = if is_lora { ("_peft_common", "finetune") } else { ("_pretrain_common", "pretrain") };
    let mut out = String::from(
        "# Written by railwright for Megatron-Bridge of August 2026. Start it as `torchrun --nproc_per_node N \
         railwright_recipe.py`.\n\
         # Set data, checkpoints, tokenizer and learning rate.\n",
    );
    out.push_str(&annotation::write(plan, &run.model, &run.cluster));
    let mut put = |line: &str| {
        // Writing to a String cannot fail.
        let _ = writeln!(out, "{line}");
    };
    put("import torch\n");
    put("from megatron.bridge import AutoBridge");
    if is_lora {
        put(&format!("from megatron.bridge.peft.{module} import {class}"));
    }
    put(&format!("from megatron.bridge.recipes.common import {base}"));
    put("from megatron.bridge.training.comm_overlap import CommOverlapConfig");
    put(&format!("from megatron.bridge.training.{start} import {start}"));
    put("from megatron.bridge.training.gpt_step import forward_step");
    let formats = formats(run);
    put(&format!("from megatron.bridge.training.mixed_precision import {formats}"));
    put(&format!("\n\ndef plan():\n    cfg = {base}()"));
    put(&format!(
        "    cfg.model = AutoBridge.from_hf_pretrained(\"{repository}\").to_megatron_provider(load_weights=False)"
    ));
    put(&format!("    cfg.tokenizer.tokenizer_model = \"{repository}\""));
    if let Some((rank, targets)) = adapter::written(plan, names) {
        let names: Vec<String> = targets.iter().map(|name| format!("\"{name}\"")).collect();
        put(&format!("    cfg.peft = {class}(dim={rank}, target_modules=[{}])", names.join(", ")));
    }
    for (option, off) in OFF.iter().filter(|(option, _)| !has(option)) {
        let _ = option;
        put(&format!("    cfg.{off}"));
    }
    for flag in flags {
        let (option, value) = flag.split_once(' ').unwrap_or((flag, ""));
        if OBJECTS.contains(&option) {
            continue;
        }
        let Some((_, kind, fields)) = FIELDS.iter().find(|(known, ..)| *known == option) else {
            return Err(option.to_owned());
        };
        let value = shown(*kind, value.trim_matches('\''));
        for field in *fields {
            put(&format!("    cfg.{field} = {value}"));
        }
        if option == "--cpu-offloading-num-layers" {
            put("    cfg.model.cpu_offloading = True");
        }
    }
    if plan.pipeline_parallel > 1 {
        let format = if has("--fp16") { "float16" } else { "bfloat16" };
        put(&format!("    cfg.model.pipeline_dtype = torch.{format}"));
    }
    put(&format!("    cfg.mixed_precision = {formats}()"));
    let wide = if has("--grad-reduce-in-bf16") { "False" } else { "True" };
    put(&format!("    cfg.mixed_precision.grad_reduce_in_fp32 = {wide}"));
    put(&format!("    cfg.ddp.grad_reduce_in_fp32 = {wide}"));
    if has("--fp8-format") {
        let gathers = if has("--fp8-param-gather") { "True" } else { "False" };
        put(&format!("    cfg.mixed_precision.fp8_param_gather = {gathers}"));
        put("    cfg.mixed_precision.first_last_layers_bf16 = False");
    }
    let word = |on: bool| if on { "True" } else { "False" };
    let (reduces, gathers) = (word(has("--overlap-grad-reduce")), word(has("--overlap-param-gather")));
    put(&format!(
        "    cfg.ddp.overlap_grad_reduce = {reduces}\n    cfg.ddp.overlap_param_gather = {gathers}"
    ));
    put(&format!(
        "    cfg.comm_overlap = CommOverlapConfig(\n        tp_comm_overlap={},",
        word(has("--tp-comm-overlap"))
    ));
    put(&format!("        overlap_grad_reduce={reduces},\n        overlap_param_gather={gathers},"));
    if plan.virtual_stages > 1 {
        let waits = has("--no-overlap-p2p-communication");
        put(&format!("        overlap_p2p_comm={},\n        batch_p2p_comm={},", word(!waits), word(waits)));
    }
    let spreads = word(has("--overlap-moe-expert-parallel-comm"));
    put(&format!("        overlap_moe_expert_parallel_comm={spreads},\n    )"));
    put("    return cfg");
    put(&format!("\n\nif __name__ == \"__main__\":\n    {start}(plan(), forward_step)"));
    Ok(out)
}

/// The value of a field.
fn shown(kind: Kind, value: &str) -> String {
    match kind {
        Number => value.to_owned(),
        Text => format!("\"{value}\""),
        Words => {
            let words: Vec<String> = value.split_whitespace().map(|word| format!("\"{word}\"")).collect();
            format!("[{}]", words.join(", "))
        }
        NumberFormat => {
            let name = match value {
                "fp16" => "float16",
                "bf16" => "bfloat16",
                "fp8" => "uint8",
                _ => "float32",
            };
            format!("torch.{name}")
        }
        Switch(on) => if on { "True" } else { "False" }.to_owned(),
    }
}

/// The function of Megatron-Bridge that has the number formats.
fn formats(run: &Run) -> &'static str {
    let precision = run.plan.precision;
    let narrow = FlagsWriter::scaling(run);
    match (precision.activations == DataType::Fp16, precision.compute) {
        (false, DataType::Fp8) if narrow == "delayed" => "bf16_with_fp8_delayed_scaling_mixed",
        (true, DataType::Fp8) if narrow == "delayed" => "fp16_with_fp8_delayed_scaling_mixed",
        (false, DataType::Fp8) => "bf16_with_fp8_current_scaling_mixed",
        (true, DataType::Fp8) => "fp16_with_fp8_current_scaling_mixed",
        (false, DataType::Mxfp8) => "bf16_with_mxfp8_mixed",
        (true, DataType::Mxfp8) => "fp16_with_mxfp8_mixed",
        (_, DataType::Nvfp4) => "bf16_with_nvfp4_mixed",
        (true, _) => "fp16_mixed",
        (false, _) => "bf16_mixed",
    }
}
