//! A run as YAML of LLaMA-Factory and of Axolotl.
//!
//! Responsible for: full fine-tuning and adapters with their rank and targets, packed samples, and the file
//! of DeepSpeed that a configuration names. Rejects pipeline stages and distributed experts, and for
//! LLaMA-Factory every other sharding of a model.

use super::TrainersReader;
use crate::accelerate::write::{Engine, REASONS, listed, mesh, offloads, optimizer, refusal};
use crate::lost::lost;
use crate::{Format, Lost, Writer, Written, WrittenFile, adapter, deepspeed, hub};
use railwright_spec::plan::{FrozenWeights, Recompute};
use railwright_spec::precision::DataType;
use railwright_spec::run::Run;
use serde_json::json;
use std::fmt::Write as _;

/// Writes LLaMA-Factory's YAML.
#[derive(Clone, Copy, Debug)]
pub struct LlamaFactoryWriter;

/// Writes Axolotl's YAML.
#[derive(Clone, Copy, Debug)]
pub struct AxolotlWriter;

impl Writer for LlamaFactoryWriter {
    fn format(&self) -> Format {
        Format::HfTrainer
    }

    fn name(&self) -> &'static str {
        "llama-factory"
    }

    fn compose(&self, run: &Run) -> Written {
        let plan = &run.plan;
        if plan.tensor_parallel > 1 || plan.context_parallel > 1 {
            let key = if plan.tensor_parallel > 1 { "plan.tensor_parallel" } else { "plan.context_parallel" };
            let message = "LLaMA-Factory has replicas and DeepSpeed's shards only".to_owned();
            return Written::refused(Lost { key: key.to_owned(), message });
        }
        written(run, "LLaMA-Factory", "llama_factory.yaml", llama_factory)
    }
}

impl Writer for AxolotlWriter {
    fn format(&self) -> Format {
        Format::HfTrainer
    }

    fn name(&self) -> &'static str {
        "axolotl"
    }

    fn compose(&self, run: &Run) -> Written {
        let plan = &run.plan;
        if plan.context_parallel > 1 && plan.micro_batch > 1 {
            let message =
                "Axolotl packs samples with context parallelism only at a micro-batch of 1".to_owned();
            return Written::refused(Lost { key: "plan.micro_batch".to_owned(), message });
        }
        written(run, "Axolotl", "axolotl.yaml", axolotl)
    }
}

/// The files of a trainer, including DeepSpeed's.
fn written(run: &Run, framework: &str, file: &str, text: fn(&Run, &str, &str) -> String) -> Written {
    if let Some(why) = refusal(run, framework) {
        return Written::refused(why);
    }
    let Some(repository) = hub::repository(&run.model) else {
        return Written::refused(hub::unknown(framework, &run.model));
    };
    if !matches!(run.plan.precision.compute, DataType::Bf16 | DataType::Fp16) {
        let message = format!("the trainer of {framework} uses 16 bits");
        return Written::refused(Lost { key: "plan.precision.compute".to_owned(), message });
    }
    let companion = format!("ds_z{}{}.json", run.plan.sharding.zero_stage, offloaded(run));
    let text = text(run, repository, &companion);
    let not_expressed = lost(&TrainersReader, &text, file, run, REASONS);
    let mut files = vec![WrittenFile::new(file, text)];
    if is_deepspeed(run, framework) {
        files.push(WrittenFile::new(&companion, engine(run)));
    }
    Written { files, not_expressed, refused: Vec::new() }
}

/// LLaMA-Factory's key for sharding is DeepSpeed's file; Axolotl also has FSDP.
fn is_deepspeed(run: &Run, framework: &str) -> bool {
    match Engine::of(&run.plan) {
        Engine::Replicas => false,
        Engine::Fsdp => framework == "LLaMA-Factory",
        Engine::Deepspeed => true,
    }
}

/// Offload from the name of DeepSpeed's file.
fn offloaded(run: &Run) -> &'static str {
    let offload = run.plan.offload;
    match (offload.optimizer > 0.0, offload.parameters > 0.0 && run.plan.sharding.zero_stage == 3) {
        (false, false) => "",
        (_, true) => "_offload",
        (true, false) => "_cpuoffload_optimizer",
    }
}

/// DeepSpeed's file: values set by the trainer are `auto`.
fn engine(run: &Run) -> String {
    let mut config = json!({
        "train_batch_size": "auto",
        "train_micro_batch_size_per_gpu": "auto",
        "gradient_accumulation_steps": "auto",
        "gradient_clipping": "auto",
        "bf16": {"enabled": "auto"},
        "fp16": {"enabled": "auto"},
    });
    config["zero_optimization"] = deepspeed::zero(run);
    let mut text = serde_json::to_string_pretty(&config).unwrap_or_default();
    text.push('\n');
    text
}

/// The word for the format.
fn half(run: &Run) -> &'static str {
    if run.plan.precision.activations == DataType::Fp16 { "fp16" } else { "bf16" }
}

fn llama_factory(run: &Run, repository: &str, companion: &str) -> String {
    let plan = &run.plan;
    let mut out = "# Written by railwright: `llamafactory-cli train llama_factory.yaml`. The data set, its template and the learning rate are yours\n\
                   # to set.\n"
        .to_owned();
    let mut put = |key: &str, value: String| {
        // Writing to a String cannot fail.
        let _ = writeln!(out, "{key}: {value}");
    };
    put("model_name_or_path", repository.to_owned());
    put("stage", "sft".to_owned());
    put("do_train", "true".to_owned());
    if let Some((rank, targets)) = adapter::written(plan, adapter::Names::Peft) {
        put("finetuning_type", "lora".to_owned());
        if plan.frozen_weights == FrozenWeights::Nf4 {
            put("quantization_bit", "4".to_owned());
        }
        put("lora_rank", rank.to_string());
        let is_all = targets == ["all-linear"];
        put("lora_target", if is_all { "all".to_owned() } else { targets.join(",") });
    } else {
        put("finetuning_type", "full".to_owned());
    }
    put("dataset", "identity".to_owned());
    put("template", "default".to_owned());
    put("cutoff_len", plan.sequence_length.to_string());
    put("packing", "true".to_owned());
    put("per_device_train_batch_size", plan.micro_batch.to_string());
    put("gradient_accumulation_steps", plan.micro_batches().to_string());
    put("disable_gradient_checkpointing", (!matches!(plan.recompute, Recompute::Full { .. })).to_string());
    put("optim", optimizer(plan).to_owned());
    put(half(run), "true".to_owned());
    if is_deepspeed(run, "LLaMA-Factory") {
        put("deepspeed", companion.to_owned());
    }
    put("output_dir", "saves/railwright".to_owned());
    out
}

fn axolotl(run: &Run, repository: &str, companion: &str) -> String {
    let plan = &run.plan;
    let mut out =
        "# Written by railwright: `axolotl train axolotl.yaml`. Set the data set and the learning rate.\n"
            .to_owned();
    let mut put = |key: &str, value: String| {
        // Writing to a String cannot fail.
        let _ = writeln!(out, "{key}: {value}");
    };
    put("base_model", repository.to_owned());
    put("datasets", "\n  - path: mhenrichsen/alpaca_2k_test\n    type: alpaca".to_owned());
    put("output_dir", "outputs/railwright".to_owned());
    put("sequence_len", plan.sequence_length.to_string());
    put("sample_packing", "true".to_owned());
    put("micro_batch_size", plan.micro_batch.to_string());
    put("gradient_accumulation_steps", plan.micro_batches().to_string());
    put("num_epochs", "1".to_owned());
    // Axolotl requires it for ranks that share sequences, and uses it for packing.
    put("attn_implementation", "flash_attention_2".to_owned());
    put("learning_rate", "0.0001".to_owned());
    put("optimizer", optimizer(plan).to_owned());
    if let Some((rank, targets)) = adapter::written(plan, adapter::Names::Peft) {
        let is_in_nf4 = plan.frozen_weights == FrozenWeights::Nf4;
        put("adapter", if is_in_nf4 { "qlora" } else { "lora" }.to_owned());
        if is_in_nf4 {
            put("load_in_4bit", "true".to_owned());
        }
        put("lora_r", rank.to_string());
        put("lora_alpha", rank.saturating_mul(2).to_string());
        match targets.as_slice() {
            ["all-linear"] => put("lora_target_linear", "true".to_owned()),
            names => put("lora_target_modules", listed(names)),
        }
    }
    put(half(run), "true".to_owned());
    put("gradient_checkpointing", matches!(plan.recompute, Recompute::Full { .. }).to_string());
    if is_deepspeed(run, "Axolotl") {
        put("deepspeed", companion.to_owned());
    } else if Engine::of(plan) == Engine::Fsdp {
        put("fsdp_version", "2".to_owned());
        let reshard = plan.sharding.reshard_after_forward;
        put(
            "fsdp_config",
            format!(
                "\n  reshard_after_forward: {reshard}\n  offload_params: {}\n  auto_wrap_policy: TRANSFORMER_BASED_WRAP",
                offloads(plan)
            ),
        );
        let (replicate, shard) = mesh(plan).unwrap_or((1, plan.data_parallel));
        if replicate > 1 || plan.tensor_parallel > 1 || plan.context_parallel > 1 {
            put("dp_replicate_size", replicate.to_string());
            put("dp_shard_size", shard.to_string());
            put("tensor_parallel_size", plan.tensor_parallel.to_string());
            put("context_parallel_size", plan.context_parallel.to_string());
        }
    }
    out
}
