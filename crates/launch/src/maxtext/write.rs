//! A run as MaxText's YAML, on top of its base file.
//!
//! Responsible for: the axes of the mesh, divided between the links inside a node and the network, and
//! MaxText's checks of pipelines. Rejects models without a file in MaxText, and unequal stages.

use super::{MaxTextReader, model};
use crate::lost::{Reasons, lost};
use crate::{Format, Lost, Writer, Written, WrittenFile};
use railwright_spec::greatest_common_divisor;
use railwright_spec::plan::{
    AttentionKernel, ContextKind, Optimizer, Placed, Plan, Recompute, RecomputeModule,
};
use railwright_spec::precision::DataType;
use railwright_spec::run::Run;
use std::fmt::Write as _;

/// Writes MaxText's YAML.
#[derive(Clone, Copy, Debug)]
pub struct MaxTextWriter;

const REASONS: Reasons = &[
    ("plan.schedule", "MaxText's pipeline runs all forward passes first"),
    ("plan.sharding", "MaxText shards everything over `fsdp`, optimizer states over `data`, or nothing"),
    ("plan.sequence_parallel", "MaxText shards the residual stream over every tensor axis"),
    ("plan.recompute", "MaxText keeps GEMM outputs of all layers, or only layer inputs"),
    ("plan.software", "set by the framework"),
    ("plan.vocabulary_multiple", "MaxText does not pad the vocabulary"),
    ("plan.rank_order", "the order of axes in the mesh is fixed"),
    ("plan.overlap.gradient_reduce", "the compiler schedules communication"),
    ("plan.overlap.parameter_gather", "the compiler schedules communication"),
    ("plan.overlap.tensor", "the compiler schedules communication"),
    ("plan.overlap.pipeline", "the compiler schedules communication"),
    ("plan.overlap.expert", "the compiler schedules communication"),
    ("plan.expert_capacity", "expert capacity drops tokens by a different rule in MaxText"),
    ("plan.expert_tensor_parallel", "experts are sharded like the other layers"),
    ("plan.precision.compute", "MaxText has bf16, fp32 and fp8"),
    ("plan.optimizer", "MaxText has AdamW, SGD and Muon"),
    ("plan.offload.activations", "offloaded by name in `remat_policy: custom`"),
    ("plan.offload.optimizer", "MaxText offloads all states or none"),
    ("plan.offload.parameters", "MaxText offloads all parameters or none"),
    ("plan.attention_kernel", "set by `attention`"),
    ("plan.dropout", "MaxText's model files turn dropout off"),
];

impl Writer for MaxTextWriter {
    fn format(&self) -> Format {
        Format::MaxText
    }

    fn name(&self) -> &'static str {
        "maxtext"
    }

    fn compose(&self, run: &Run) -> Written {
        let refused = |key: &str, message: String| Written::refused(Lost { key: key.to_owned(), message });
        let Some(name) = model::name(&run.model) else {
            return refused("model", format!("MaxText has no file for {}", run.model.name));
        };
        if let Some((key, why)) = refusal(run) {
            return refused(key, format!("MaxText {why}"));
        }
        let Some(axes) = axes(run) else {
            let message = format!(
                "the parallel sizes cannot be split between the {} devices of a node and the network",
                run.cluster.devices_per_node
            );
            return refused("plan", message);
        };
        let text = text(run, name, &axes);
        let file = "maxtext.yml".to_owned();
        let not_expressed = lost(&MaxTextReader, &text, &file, run, REASONS);
        Written { files: vec![WrittenFile::new(&file, text)], not_expressed, refused: Vec::new() }
    }
}

fn is_tpu(run: &Run) -> bool {
    run.cluster.accelerator.id.contains("tpu")
}

/// Families, as `model_type` names them, that MaxText trains with Muon.
const MUON: &[&str] = &["llama", "qwen3", "gemma3_text", "deepseek_v2", "deepseek_v3", "deepseek_v4"];

/// Reason why MaxText's checks fail for a run (`configs/types.py`, e591f30c, August 2026).
fn refusal(run: &Run) -> Option<(&'static str, &'static str)> {
    let plan = &run.plan;
    let (stages, chunks) = (plan.pipeline_parallel, plan.virtual_stages);
    let layers = run.model.num_layers();
    if plan.context_parallel > 1 && plan.context_kind == ContextKind::Ulysses && !is_tpu(run) {
        return Some((
            "plan.context_kind",
            "converts sequence shards into head shards (Ulysses) only on TPUs",
        ));
    }
    if stages > 1 && run.model.layer_kinds.len() > 1 {
        return Some((
            "plan.pipeline_parallel",
            "has pipeline stages only for models with one kind of layer",
        ));
    }
    if plan.optimizer == Optimizer::Muon && !MUON.contains(&run.model.family.as_str()) {
        return Some(("plan.optimizer", "has Muon only for other model families"));
    }
    if plan.precision.compute == DataType::Fp8 && stages == 1 && plan.micro_batches() > 1 {
        return Some(("plan.precision.compute", "has no fp8 with gradient accumulation"));
    }
    if stages > 1 && (plan.layers_per_stage.is_some() || !layers.is_multiple_of((stages * chunks).max(1))) {
        return Some(("plan.layers_per_stage", "divides layers evenly among stages and repeats"));
    }
    if stages > 1 && !plan.micro_batches().is_multiple_of(stages) {
        return Some((
            "plan.micro_batch",
            "needs a number of micro-batches that is a multiple of the stages",
        ));
    }
    if plan.expert_parallel > 1 && !plan.data_parallel.is_multiple_of(plan.expert_parallel) {
        return Some((
            "plan.expert_parallel",
            "has a separate axis for experts, which must divide the replicas",
        ));
    }
    None
}

/// An axis of the mesh: devices inside a node and between nodes.
struct Axis {
    name: &'static str,
    inside: u64,
    between: u64,
}

/// The axes, those with most communication inside; `None` if a node would be divided.
fn axes(run: &Run) -> Option<Vec<Axis>> {
    let plan = &run.plan;
    let (tensor, cut) =
        if plan.sequence_parallel { (1, plan.tensor_parallel) } else { (plan.tensor_parallel, 1) };
    let replicas = plan.data_parallel / plan.expert_parallel.max(1);
    let shards = if plan.sharding.zero_stage == 3 { fsdp(plan, replicas) } else { 1 };
    let degrees = [
        ("tensor", tensor),
        ("tensor_sequence", cut),
        ("context", plan.context_parallel),
        ("expert", plan.expert_parallel),
        ("fsdp", shards),
        ("data", replicas / shards.max(1)),
        ("pipeline", plan.pipeline_parallel),
    ];
    let mut room = run.cluster.devices_per_node.max(1);
    let world = plan.world_size();
    if world < room {
        room = world;
    }
    let mut axes = Vec::new();
    for (name, degree) in degrees {
        let inside = greatest_common_divisor(degree, room).max(1);
        room /= inside;
        axes.push(Axis { name, inside, between: degree / inside });
    }
    (room == 1).then_some(axes)
}

/// Shards among the replicas that are not on the experts' axis.
fn fsdp(plan: &Plan, replicas: u64) -> u64 {
    // A group has the ranks of all axes that divide weights: those of experts and of the sequence are axes of
    // their own.
    let others = plan.context_parallel.max(1).saturating_mul(plan.expert_parallel.max(1));
    let group = plan.sharding.group.map_or(replicas, |group| group / others);
    (1..=group.clamp(1, replicas.max(1))).rev().find(|shards| replicas.is_multiple_of(*shards)).unwrap_or(1)
}

fn text(run: &Run, name: &str, axes: &[Axis]) -> String {
    let plan = &run.plan;
    let mut out = "# Written by railwright, on top of MaxText's base file. Start it as `python3 -m \
                   maxtext.trainers.pre_train.train maxtext.yml`.\n\
                   # Add data, checkpoints and learning rate.\n"
        .to_owned();
    let mut put = |key: &str, value: String| {
        // Writing to a String cannot fail.
        let _ = writeln!(out, "{key}: {value}");
    };
    put("base_config", "base.yml".to_owned());
    put("run_name", "railwright".to_owned());
    put("hardware", if is_tpu(run) { "tpu" } else { "gpu" }.to_owned());
    put("model_name", name.to_owned());
    put("dataset_type", "synthetic".to_owned());
    put("enable_checkpointing", "false".to_owned());
    for axis in axes {
        put(&format!("ici_{}_parallelism", axis.name), axis.inside.to_string());
        put(&format!("dcn_{}_parallelism", axis.name), axis.between.to_string());
    }
    if plan.context_parallel > 1 {
        let strategy = match plan.context_kind {
            ContextKind::Ring => "ring",
            ContextKind::AllGather => "all_gather",
            ContextKind::Ulysses => "ulysses",
        };
        put("context_parallel_strategy", strategy.to_owned());
    }
    if plan.sharding.zero_stage < 3 {
        put("shard_optimizer_over_data", (plan.sharding.zero_stage > 0).to_string());
    }
    put("max_target_length", plan.sequence_length.to_string());
    let rounds = plan.micro_batches();
    let pass = plan.micro_batch * plan.data_parallel * if plan.pipeline_parallel > 1 { rounds } else { 1 };
    put("per_device_batch_size", format!("{}", pass as f64 / plan.world_size() as f64));
    if plan.pipeline_parallel > 1 {
        put("num_pipeline_microbatches", rounds.to_string());
        put("num_pipeline_repeats", plan.virtual_stages.to_string());
        let chunks = (plan.pipeline_parallel * plan.virtual_stages).max(1);
        put("num_layers_per_pipeline_stage", (run.model.num_layers() / chunks).to_string());
    } else {
        put("gradient_accumulation_steps", rounds.to_string());
    }
    if let Some(tokens) = run.training.tokens {
        put("steps", format!("{:.0}", (tokens / plan.tokens_per_step().max(1) as f64).round().max(1.0)));
    }
    put("remat_policy", remat(&plan.recompute).to_owned());
    let single = matches!(plan.precision.activations, DataType::Fp32 | DataType::Tf32);
    if plan.attention_kernel == AttentionKernel::Unfused {
        put("attention", "dot_product".to_owned());
    }
    put("dtype", if single { "float32" } else { "bfloat16" }.to_owned());
    if plan.precision.compute == DataType::Fp8 {
        put("quantization", "fp8".to_owned());
    }
    let optimizer = match plan.optimizer {
        Optimizer::Sgd => "sgd",
        Optimizer::Muon => "muon",
        _ => "adamw",
    };
    put("opt_type", optimizer.to_owned());
    put("optimizer_memory_host_offload", (plan.offload.optimizer >= 1.0).to_string());
    put("parameter_memory_host_offload", (plan.offload.parameters >= 1.0).to_string());
    out
}

/// The policy that keeps the same tensors as the plan, or the nearest one.
fn remat(recompute: &Recompute) -> &'static str {
    match recompute {
        Recompute::None => "none",
        Recompute::Full { .. } => "full",
        Recompute::Selective { modules, .. } if modules.contains(&RecomputeModule::Operators) => {
            "save_qkv_proj"
        }
        Recompute::Selective { .. } => Placed::name_of(recompute).unwrap_or("minimal"),
    }
}
