//! A run as DeepSpeed's JSON.
//!
//! Responsible for: every key that the reader supports. Lists model and sequence, which such a file cannot
//! express.

use super::DeepspeedReader;
use crate::lost::{Reasons, lost};
use crate::{Format, Lost, Writer, Written, WrittenFile};
use railwright_spec::plan::{ContextKind, Optimizer, Plan, Recompute, validate};
use railwright_spec::precision::DataType;
use railwright_spec::run::Run;
use serde_json::{Map, Value, json};

/// Writes DeepSpeed's JSON.
#[derive(Clone, Copy, Debug)]
pub struct DeepspeedWriter;

const REASONS: Reasons = &[
    ("plan.sequence_length", "set by the script's arguments"),
    ("plan.recompute", "the code of the model selects checkpointed modules"),
    ("plan.expert_parallel", "the model's code sets the expert placement"),
    ("plan.expert_tensor_parallel", "the model's code sets the expert sharding"),
    ("plan.virtual_stages", "DeepSpeed's pipeline does not interleave"),
    ("plan.schedule", "DeepSpeed's pipeline runs 1F1B"),
    ("plan.layers_per_stage", "the pipeline module in the code of the model assigns layers"),
    ("plan.sequence_parallel", "DeepSpeed's tensor parallelism does not shard norms"),
    ("plan.context_kind", "DeepSpeed converts sequence shards into head shards (Ulysses)"),
    ("plan.sharding", "only stage 3 shards in groups (MiCS), with two all-gathers"),
    ("plan.software", "set by the framework"),
    ("plan.overlap.parameter_gather", "set by the stage"),
    ("plan.vocabulary_multiple", "DeepSpeed does not pad the vocabulary"),
    ("plan.precision.compute", "DeepSpeed computes in 16 or 32 bits"),
    ("plan.precision.parameters", "DeepSpeed keeps parameters in 16 or 32 bits"),
    ("plan.optimizer", "DeepSpeed does not support it"),
];

impl Writer for DeepspeedWriter {
    fn format(&self) -> Format {
        Format::Deepspeed
    }

    fn name(&self) -> &'static str {
        "deepspeed"
    }

    fn compose(&self, run: &Run) -> Written {
        if let Some(why) = indivisible(run) {
            return Written::refused(why);
        }
        let mut text = serde_json::to_string_pretty(&config(run)).unwrap_or_default();
        text.push('\n');
        let file = "ds_config.json".to_owned();
        let mut not_expressed = lost(&DeepspeedReader, &text, &file, run, REASONS);
        let message = format!("set to {} by the script's arguments", run.model.name);
        not_expressed.push(Lost { key: "model.name".to_owned(), message });
        Written { files: vec![WrittenFile::new(&file, text)], not_expressed, refused: Vec::new() }
    }
}

/// The reason why DeepSpeed's sequence parallelism, which divides heads, cannot run.
fn indivisible(run: &Run) -> Option<Lost> {
    if run.plan.context_parallel <= 1 {
        return None;
    }
    let plan = Plan { context_kind: ContextKind::Ulysses, ..run.plan.clone() };
    let problem = validate(&run.model, &run.cluster, &plan).into_iter().next()?;
    let message = format!("DeepSpeed converts sequence shards into head shards: {}", problem.message);
    Some(Lost { key: "plan.context_parallel".to_owned(), message })
}

fn config(run: &Run) -> Value {
    let plan = &run.plan;
    let mut out = Map::new();
    let mut put = |key: &str, value: Value| {
        out.insert(key.to_owned(), value);
    };
    put("train_batch_size", json!(plan.global_batch));
    put("train_micro_batch_size_per_gpu", json!(plan.micro_batch));
    put("gradient_accumulation_steps", json!(plan.micro_batches()));
    // Without either switch DeepSpeed runs in 32 bits; formats narrower than 16 bits run in bf16.
    let single = matches!(plan.precision.activations, DataType::Fp32 | DataType::Tf32);
    let half = plan.precision.activations == DataType::Fp16;
    put("bf16", json!({"enabled": !single && !half}));
    put("fp16", json!({"enabled": half}));
    put("data_types", json!({"grad_accum_dtype": plan.precision.gradients.name()}));
    put("communication_data_type", json!(plan.precision.gradient_reduce.name()));
    let optimizer = match plan.optimizer {
        Optimizer::Sgd => "SGD",
        Optimizer::Lion => "Lion",
        Optimizer::Muon => "Muon",
        Optimizer::Adafactor => "Adafactor",
        // Adapters never reach a writer without them.
        Optimizer::Adam | Optimizer::Lora => "AdamW",
    };
    put("optimizer", json!({"type": optimizer, "params": {"lr": "auto"}}));
    put("zero_optimization", zero(run));
    if plan.tensor_parallel > 1 {
        put("tensor_parallel", json!({"autotp_size": plan.tensor_parallel}));
    }
    if plan.context_parallel > 1 {
        put("sequence_parallel_size", json!(plan.context_parallel));
    }
    if plan.pipeline_parallel > 1 {
        let interval = u64::from(matches!(plan.recompute, Recompute::Full { .. }));
        let stages = plan.pipeline_parallel;
        put("pipeline", json!({"stages": stages, "activation_checkpoint_interval": interval}));
    }
    if plan.offload.activations >= 1.0 {
        put("activation_checkpointing", json!({"cpu_checkpointing": true}));
    }
    Value::Object(out)
}

/// The section `zero_optimization`.
pub(crate) fn zero(run: &Run) -> Value {
    let plan = &run.plan;
    let stage = plan.sharding.zero_stage;
    let mut zero = Map::new();
    zero.insert("stage".to_owned(), json!(stage));
    zero.insert("overlap_comm".to_owned(), json!(plan.overlap.gradient_reduce));
    if stage == 3 {
        if let Some(group) = plan.sharding.group {
            zero.insert("mics_shard_size".to_owned(), json!(group));
        }
        let bucket = if plan.overlap.parameter_gather { 50_000_000 } else { 0 };
        zero.insert("stage3_prefetch_bucket_size".to_owned(), json!(bucket));
    }
    if plan.offload.optimizer > 0.0 {
        let mut device = json!({"device": "cpu", "pin_memory": true});
        if plan.offload.optimizer < 1.0 {
            device["ratio"] = json!(plan.offload.optimizer);
        }
        zero.insert("offload_optimizer".to_owned(), device);
    }
    if plan.offload.parameters >= 1.0 {
        zero.insert("offload_param".to_owned(), json!({"device": "cpu", "pin_memory": true}));
    }
    Value::Object(zero)
}
