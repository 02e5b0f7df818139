//! A run as a configuration of torchtitan since February 2026: a function in Python that changes one of
//! torchtitan's own.
//!
//! Responsible for: the names of that generation (checked against b5bcd76c, August 2026). Excludes flavours
//! that are not in its code.

use super::pipeline;
use railwright_spec::plan::{Recompute, Schedule, module_parts};
use railwright_spec::precision::DataType;
use railwright_spec::run::Run;
use std::fmt::Write as _;

/// Name and flavour, and the configuration of the registry that has the same vocabulary and the nearest size.
const BASES: &[(&str, &str, &str)] = &[
    ("llama3", "1B", "llama3_8b"),
    ("llama3", "3B", "llama3_8b"),
    ("llama3", "8B", "llama3_8b"),
    ("llama3", "70B", "llama3_70b"),
    ("llama3", "405B", "llama3_405b"),
    ("deepseek_v3", "16B", "deepseek_v3_16b"),
    ("deepseek_v3", "236B", "deepseek_v3_16b"),
    ("deepseek_v3", "671B", "deepseek_v3_671b"),
    ("qwen3", "0.6B", "qwen3_0_6b"),
    ("qwen3", "1.7B", "qwen3_1_7b"),
    ("qwen3", "4B", "qwen3_1_7b"),
    ("qwen3", "8B", "qwen3_14b"),
    ("qwen3", "14B", "qwen3_14b"),
    ("qwen3", "32B", "qwen3_32b"),
    ("qwen3", "30B-A3B", "qwen3_30b_a3b"),
    ("qwen3", "235B-A22B", "qwen3_30b_a3b"),
    ("gpt_oss", "20b", "gpt_oss_20b"),
    ("gpt_oss", "120b", "gpt_oss_120b"),
];

/// The configuration as Python; `None` if torchtitan's code has no such flavour.
pub(super) fn write(run: &Run, name: &str, flavour: &str, mesh: &Mesh) -> Option<String> {
    let (_, _, base) = BASES.iter().find(|(known, size, _)| *known == name && *size == flavour)?;
    let plan = &run.plan;
    let compiles = plan.software != "torchtitan-2024-eager";
    let converter = match plan.precision.compute {
        DataType::Fp8 => Some("Float8LinearConverter"),
        DataType::Mxfp8 => Some("MXFP8LinearConverter"),
        _ => None,
    };
    let recompute = match plan.recompute {
        Recompute::None => None,
        Recompute::Full { .. } => Some("FullAC"),
        Recompute::Selective { .. } => Some("SelectiveAC"),
    };
    let mut out = String::from(
        "# Written by railwright for torchtitan since February 2026, whose configurations are Python.\n\
         # Start it as `--module railwright_plan --config plan`, with this folder on PYTHONPATH.\n\
         # The data, the checkpoints and the learning rate are those of the configuration that it changes.\n",
    );
    let mut put = |line: String| {
        // Writing to a String cannot fail.
        let _ = writeln!(out, "{line}");
    };
    if let Some(converter) = converter {
        put(format!("from torchtitan.components.quantization import {converter}"));
    }
    if let Some(class) = recompute {
        put(format!("from torchtitan.distributed.activation_checkpoint import {class}"));
    }
    put(format!("from torchtitan.models.{name} import model_registry"));
    put(format!("from torchtitan.models.{name}.config_registry import {base}"));
    put(format!("\n\ndef plan():\n    config = {base}()"));
    let converters = converter.map_or_else(String::new, |class| {
        let compiled = if compiles { "True" } else { "False" };
        format!(", converters=[{class}.Config(model_compile_enabled={compiled})]")
    });
    put(format!("    config.model_spec = model_registry(\"{flavour}\"{converters})"));
    let mut set = |path: &str, value: String| put(format!("    config.{path} = {value}"));
    let flag = |on: bool| if on { "True" } else { "False" }.to_owned();
    set("training.max_context_length", plan.sequence_length.to_string());
    set(
        "training.num_tokens_per_microbatch_per_dp_rank",
        format!("{} * {}", plan.micro_batch, plan.sequence_length),
    );
    set("training.num_tokens_per_train_step", format!("{} * {}", plan.global_batch, plan.sequence_length));
    if let Some(tokens) = run.training.tokens {
        let steps = (tokens / plan.tokens_per_step().max(1) as f64).round().max(1.0);
        set("training.steps", format!("{steps:.0}"));
    }
    let single = matches!(plan.precision.compute, DataType::Fp32 | DataType::Tf32);
    let word = |wide: bool| if wide { "\"float32\"" } else { "\"bfloat16\"" }.to_owned();
    set("training.dtype", word(single || plan.precision.master.is_some()));
    set("training.mixed_precision_param", word(single));
    set("training.mixed_precision_reduce", word(true));
    let offloads = plan.offload.optimizer >= 1.0 && plan.offload.parameters >= 1.0;
    set("training.enable_cpu_offload", flag(offloads));
    // Its graphs include neither pipelines nor experts whose token counts the host must read.
    let has_graphs = plan.software.split('+').any(|feature| feature == "cuda-graphs")
        && plan.pipeline_parallel == 1
        && plan.expert_parallel == 1;
    set("training.disable_cuda_graphs", flag(!has_graphs));
    set("parallelism.data_parallel_replicate_degree", mesh.replicate.to_string());
    set("parallelism.data_parallel_shard_degree", mesh.shard.to_string());
    let reshard = if plan.sharding.reshard_after_forward { "\"always\"" } else { "\"never\"" };
    set("parallelism.fsdp_reshard_after_forward", reshard.to_owned());
    set("parallelism.tensor_parallel_degree", plan.tensor_parallel.to_string());
    set("parallelism.enable_sequence_parallel", flag(plan.sequence_parallel || plan.tensor_parallel == 1));
    set("parallelism.context_parallel_degree", plan.context_parallel.to_string());
    set("parallelism.expert_parallel_degree", plan.expert_parallel.to_string());
    set("parallelism.pipeline_parallel_degree", plan.pipeline_parallel.to_string());
    if plan.pipeline_parallel > 1 {
        let schedule = pipeline::name_of(plan.schedule, plan.virtual_stages);
        set("parallelism.pipeline_parallel_schedule", format!("\"{schedule}\""));
        set("parallelism.num_pp_microbatches", plan.micro_batches().to_string());
        stages(run, &mut set);
    }
    set(
        "activation_checkpoint",
        recompute.map_or_else(|| "None".to_owned(), |class| format!("{class}.Config()")),
    );
    set("compile.enable", flag(compiles));
    if compiles && plan.overlap.tensor {
        set("compile.components", "[\"model\", \"loss\"]".to_owned());
    }
    set("compile.enable_async_tensor_parallel", flag(compiles && plan.overlap.tensor));
    put("    return config".to_owned());
    Some(out)
}

/// Division of replicas into copies and shards.
pub(super) struct Mesh {
    pub(super) replicate: u64,
    pub(super) shard: u64,
}

fn stages(run: &Run, set: &mut impl FnMut(&str, String)) {
    let plan = &run.plan;
    if let Some(counts) = &plan.layers_per_stage {
        return set("parallelism.module_fqns_per_model_part", module_parts(counts, "lm_head"));
    }
    // Two chunks per rank for a V schedule; other schedules divide evenly.
    let chunks =
        plan.pipeline_parallel * plan.virtual_stages.max(u64::from(plan.schedule == Schedule::ZbV) + 1);
    set(
        "parallelism.pipeline_parallel_layers_per_stage",
        run.model.num_layers().div_ceil(chunks.max(1)).to_string(),
    );
    set("parallelism.pipeline_parallel_first_stage_less_layers", "0".to_owned());
    set("parallelism.pipeline_parallel_last_stage_less_layers", "0".to_owned());
}
