//! A run as accelerate's YAML, and arguments of TRL's trainer for settings without accelerate keys.
//!
//! Responsible for: FSDP 2 with its meshes, DeepSpeed for the stages that FSDP does not have, plain replicas.
//! Rejects pipeline stages and expert parallelism: accelerate starts Hugging Face models, which have neither.

use super::AccelerateReader;
use crate::lost::{Reasons, lost};
use crate::{Format, Lost, Writer, Written, WrittenFile, adapter, hub};
use railwright_spec::plan::{ContextKind, Optimizer, Plan, Recompute};
use railwright_spec::precision::DataType;
use railwright_spec::run::Run;
use std::fmt::Write as _;

/// Writes accelerate's YAML.
#[derive(Clone, Copy, Debug)]
pub struct AccelerateWriter;

pub(crate) const REASONS: Reasons = &[
    ("plan.recompute", "Hugging Face models recompute whole layers or nothing"),
    ("plan.sharding", "unsupported sharding"),
    ("plan.sequence_parallel", "Hugging Face's tensor parallelism does not shard norms"),
    ("plan.context_kind", "accelerate all-gathers keys and values, or passes them in a ring"),
    ("plan.software", "set by the framework"),
    ("plan.optimizer", "Hugging Face's trainer does not support it"),
    ("plan.lora_targets", adapter::LOST_TARGETS),
    ("plan.vocabulary_multiple", super::UNPADDED),
    ("plan.overlap.tensor", "Hugging Face's tensor parallelism does not overlap communication"),
    ("plan.overlap.gradient_reduce", "reduction overlaps with the backward pass"),
    ("plan.overlap.parameter_gather", "FSDP prefetches parameters; replicas have none to gather"),
    ("plan.precision.gradient_reduce", "FSDP reduces in the mixed format"),
    ("plan.precision.compute", "accelerate supports mixed precision with bf16, fp16 and fp8"),
    ("plan.offload.activations", "activations stay on the device"),
    ("plan.offload.optimizer", "FSDP offloads all parameters and states, or none"),
    ("plan.offload.parameters", "FSDP offloads all parameters and states, or none"),
    ("plan.dropout", "set by the model's config.json"),
    ("plan.attention_kernel", "set by the trainer's `attn_implementation`"),
    ("plan.rank_order", "the mesh has one order"),
];

/// Names of modules in YAML: `all-linear` as a word, modules as a list.
pub(crate) fn listed(names: &[&str]) -> String {
    match names {
        ["all-linear"] => "all-linear".to_owned(),
        names => format!("[{}]", names.join(", ")),
    }
}

/// Engine that shards the states.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Engine {
    Replicas,
    Fsdp,
    Deepspeed,
}

impl Engine {
    /// The engine of a plan: DeepSpeed for its software generations, and for the stages that FSDP lacks.
    pub(crate) fn of(plan: &Plan) -> Self {
        match plan.sharding.zero_stage {
            0 => Self::Replicas,
            3 if !plan.software.starts_with("deepspeed") => Self::Fsdp,
            _ => Self::Deepspeed,
        }
    }
}

/// Reason why trainers on Hugging Face's models cannot run a plan at all.
pub(crate) fn refusal(run: &Run, framework: &str) -> Option<Lost> {
    let plan = &run.plan;
    let cuts = plan.tensor_parallel > 1 || plan.context_parallel > 1;
    let lost =
        |key: &str, why: &str| Some(Lost { key: key.to_owned(), message: format!("{framework} {why}") });
    if plan.pipeline_parallel > 1 {
        return lost("plan.pipeline_parallel", "has no pipeline stages");
    }
    if plan.expert_parallel > 1 {
        return lost("plan.expert_parallel", "has no expert parallelism");
    }
    if cuts && Engine::of(plan) != Engine::Fsdp {
        return lost("plan.sharding", "has tensor and context parallelism only with FSDP 2");
    }
    None
}

/// Copies and shards of the mesh; `None` if the groups do not divide the ranks.
pub(crate) fn mesh(plan: &Plan) -> Option<(u64, u64)> {
    let (data, context) = (plan.data_parallel.max(1), plan.context_parallel.max(1));
    let group = plan.shard_group();
    (group.is_multiple_of(context) && data.is_multiple_of(group / context) && group >= context)
        .then(|| (data / (group / context), group / context))
}

impl Writer for AccelerateWriter {
    fn format(&self) -> Format {
        Format::Accelerate
    }

    fn name(&self) -> &'static str {
        "accelerate"
    }

    fn compose(&self, run: &Run) -> Written {
        if let Some(why) = refusal(run, "accelerate") {
            return Written::refused(why);
        }
        let (own, trainer) = (config(run), trainer(run));
        let file = "accelerate.yaml".to_owned();
        // A reader of both, as some keep them in one file.
        let mut not_expressed = lost(&AccelerateReader, &format!("{own}{trainer}"), &file, run, REASONS);
        if hub::repository(&run.model).is_none() {
            let message = format!("set to {} by the trainer's arguments", run.model.name);
            not_expressed.push(Lost { key: "model.name".to_owned(), message });
        }
        let files = vec![WrittenFile::new(&file, own), WrittenFile::new("trl_arguments.yaml", trainer)];
        Written { files, not_expressed, refused: Vec::new() }
    }
}

fn config(run: &Run) -> String {
    let plan = &run.plan;
    let engine = Engine::of(plan);
    let world = plan.world_size();
    let machines = if world.is_multiple_of(run.cluster.devices_per_node) {
        world / run.cluster.devices_per_node
    } else {
        1
    };
    let mut out = "# Written by railwright. Start it as `accelerate launch --config_file accelerate.yaml`; batch, lengths and recompute are\n\
                   # arguments of the trainer, in trl_arguments.yaml.\n"
        .to_owned();
    let mut put = |line: String| {
        // Writing to a String cannot fail.
        let _ = writeln!(out, "{line}");
    };
    put("compute_environment: LOCAL_MACHINE".to_owned());
    let kind = match engine {
        Engine::Replicas if world == 1 => "'NO'",
        Engine::Replicas => "MULTI_GPU",
        Engine::Fsdp => "FSDP",
        Engine::Deepspeed => "DEEPSPEED",
    };
    put(format!("distributed_type: {kind}"));
    put(format!("mixed_precision: {}", mixed(run)));
    put(format!("num_machines: {}", machines.max(1)));
    put(format!("num_processes: {world}"));
    match engine {
        Engine::Replicas => {}
        Engine::Fsdp => {
            put("fsdp_config:\n  fsdp_version: 2".to_owned());
            put(format!("  fsdp_reshard_after_forward: {}", plan.sharding.reshard_after_forward));
            put("  fsdp_auto_wrap_policy: TRANSFORMER_BASED_WRAP".to_owned());
            put(format!("  fsdp_offload_params: {}", offloads(plan)));
            put("  fsdp_activation_checkpointing: false".to_owned());
            let (replicate, shard) = mesh(plan).unwrap_or((1, plan.data_parallel));
            if replicate > 1 || plan.tensor_parallel > 1 || plan.context_parallel > 1 {
                put("parallelism_config:".to_owned());
                put(format!("  parallelism_config_dp_replicate_size: {replicate}"));
                put(format!("  parallelism_config_dp_shard_size: {shard}"));
                put(format!("  parallelism_config_tp_size: {}", plan.tensor_parallel));
                put(format!("  parallelism_config_cp_size: {}", plan.context_parallel));
                if plan.context_parallel > 1 {
                    let turns = plan.context_kind == ContextKind::Ring;
                    let word = if turns { "alltoall" } else { "allgather" };
                    put(format!("  parallelism_config_cp_comm_strategy: {word}"));
                }
            }
        }
        Engine::Deepspeed => {
            put(format!("deepspeed_config:\n  zero_stage: {}", plan.sharding.zero_stage));
            put(format!("  gradient_accumulation_steps: {}", plan.micro_batches()));
            let device = |share: f64| if share > 0.0 { "cpu" } else { "none" };
            put(format!("  offload_optimizer_device: {}", device(plan.offload.optimizer)));
            let parameters = if plan.sharding.zero_stage == 3 { plan.offload.parameters } else { 0.0 };
            put(format!("  offload_param_device: {}", device(parameters)));
        }
    }
    out
}

/// Tests whether FSDP keeps optimizer states and parameters on the host.
pub(crate) fn offloads(plan: &Plan) -> bool {
    plan.offload.optimizer >= 1.0 && plan.offload.parameters >= 1.0
}

fn mixed(run: &Run) -> &'static str {
    let precision = run.plan.precision;
    match (precision.compute, precision.activations) {
        (DataType::Fp8, _) => "fp8",
        (_, DataType::Fp16) => "fp16",
        (_, DataType::Fp32 | DataType::Tf32) => "'no'",
        _ => "bf16",
    }
}

/// The word of Hugging Face's trainer for an optimizer.
pub(crate) fn optimizer(plan: &Plan) -> &'static str {
    match plan.optimizer {
        Optimizer::Sgd => "sgd",
        Optimizer::Lion => "lion_32bit",
        Optimizer::Adafactor => "adafactor",
        Optimizer::Adam | Optimizer::Muon | Optimizer::Lora => "adamw_torch",
    }
}

/// Arguments of TRL's trainer.
fn trainer(run: &Run) -> String {
    let plan = &run.plan;
    let mut out = "# Written by railwright: `trl sft --config trl_arguments.yaml --accelerate_config accelerate.yaml`. The data set and the learning\n\
                   # rate are yours to add.\n"
        .to_owned();
    let mut put = |line: String| {
        let _ = writeln!(out, "{line}");
    };
    if let Some(repository) = hub::repository(&run.model) {
        put(format!("model_name_or_path: {repository}"));
    }
    put(format!("per_device_train_batch_size: {}", plan.micro_batch));
    put(format!("gradient_accumulation_steps: {}", plan.micro_batches()));
    put(format!("max_length: {}", plan.sequence_length));
    put("packing: true".to_owned());
    put(format!("gradient_checkpointing: {}", matches!(plan.recompute, Recompute::Full { .. })));
    put(format!("optim: {}", optimizer(plan)));
    if let Some((rank, targets)) = adapter::written(plan, adapter::Names::Peft) {
        put(format!("use_peft: true\nlora_r: {rank}\nlora_target_modules: {}", listed(&targets)));
    }
    out
}
