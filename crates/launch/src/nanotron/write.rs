//! A run as nanotron's YAML.
//!
//! Responsible for: every key that the reader understands, and what else nanotron refuses to start without. Refuses to hide what
//! nanotron cannot do: see [`crate::Written`].

use super::NanotronReader;
use crate::lost::{Reasons, lost};
use crate::{Format, Lost, Reader, Writer, Written, WrittenFile};
use railwright_spec::model::{FeedForward, Mixer, Model, Span};
use railwright_spec::plan::{Optimizer, Recompute, RecomputeModule, Schedule};
use railwright_spec::precision::DataType;
use railwright_spec::problem::Problem;
use railwright_spec::run::Run;
use std::fmt::Write as _;

/// Writes nanotron's YAML.
#[derive(Clone, Copy, Debug)]
pub struct NanotronWriter;

const REASONS: Reasons = &[
    ("plan.virtual_stages", "nanotron does not interleave"),
    ("plan.schedule", "nanotron has 1f1b and afab"),
    ("plan.sharding", "nanotron shards the optimizer states of all replicas, or nothing"),
    ("plan.layers_per_stage", "nanotron divides the layers by their work"),
    ("plan.rank_order", "nanotron orders ranks by whether the model has experts"),
    ("plan.software", "this is another framework"),
    ("plan.context_kind", "nanotron passes keys and values around"),
    ("plan.dropout", "nanotron's models have no dropout"),
    ("plan.overlap.gradient_reduce", "nanotron reduces gradients behind the backward pass"),
    ("plan.overlap.parameter_gather", "nanotron gathers parameters behind the update"),
    ("plan.recompute", "nanotron recomputes whole layers, the experts' or nothing"),
    (
        "plan.precision.gradients",
        "gradients, master weights and moments follow one key, `accumulate_grad_in_fp32`",
    ),
];

impl Writer for NanotronWriter {
    fn format(&self) -> Format {
        Format::Nanotron
    }

    fn name(&self) -> &'static str {
        "nanotron"
    }

    fn write(&self, run: &Run) -> Written {
        let file = "nanotron.yaml".to_owned();
        let whole = text(run, true);
        let is_said = says_the_model(&whole, &file, &run.model);
        // Dimensions of another model are worse than none.
        let text = if is_said { whole } else { text(run, false) };
        let mut not_expressed = lost(&NanotronReader, &text, &file, run, REASONS);
        if !is_said {
            let message = format!(
                "nanotron's models are llamas, qwens and starcoders; {} differs, so `model_config` is left out",
                run.model.name
            );
            not_expressed.push(Lost { key: "model".to_owned(), message });
        }
        Written { files: vec![WrittenFile { name: file, text }], not_expressed }
    }
}

/// Whether the dimensions that were written make the same model.
fn says_the_model(text: &str, file: &str, model: &Model) -> bool {
    let Ok(launch) = NanotronReader.read(text, file) else { return false };
    let Ok(back) = launch.spec.model.resolve(|_| Err(Problem::new("no file"))) else { return false };
    let shapes = |model: &Model| {
        (0..model.layers.len())
            .map(|index| {
                let layer = model.layer(index);
                let mut shapes: Vec<_> =
                    layer.weights.iter().map(|w| (w.rows, w.columns, w.copies)).collect();
                shapes.sort_unstable();
                shapes
            })
            .collect::<Vec<_>>()
    };
    back.parameters() == model.parameters() && shapes(&back) == shapes(model)
}

fn text(run: &Run, with_model: bool) -> String {
    let plan = &run.plan;
    let mut out = "# Written by railwright. Data, tokenizer and learning rate are yours to set.\n".to_owned();
    let mut put = |line: String| {
        let _ = writeln!(out, "{line}");
    };
    put("general:\n  project: railwright\n  run: plan\n  seed: 42".to_owned());
    put("checkpoints:\n  checkpoints_path: checkpoints\n  checkpoint_interval: 1000".to_owned());
    put("parallelism:".to_owned());
    put(format!("  dp: {}", plan.data_parallel));
    put(format!("  pp: {}", plan.pipeline_parallel));
    put(format!("  tp: {}", plan.tensor_parallel));
    put(format!("  context_parallel_size: {}", plan.context_parallel));
    put(format!("  expert_parallel_size: {}", plan.expert_parallel));
    let ranks = plan.tensor_parallel * plan.context_parallel * plan.data_parallel;
    if run.model.is_mixture_of_experts() {
        put(format!("  expert_tensor_parallel_size: {}", plan.expert_tensor_parallel));
        let held = plan.expert_parallel * plan.expert_tensor_parallel;
        put(format!("  expert_data_parallel_size: {}", ranks / held.max(1)));
        // Without it nanotron leaves every expert on every tensor-parallel group, whatever the degrees say.
        put("  enabled_moe: true".to_owned());
    }
    put(format!("  pp_engine: {}", if plan.schedule == Schedule::Gpipe { "afab" } else { "1f1b" }));
    put(format!("  tp_mode: {}", if plan.sequence_parallel { "REDUCE_SCATTER" } else { "ALL_REDUCE" }));
    put(format!("  tp_linear_async_communication: {}", plan.overlap.tensor));
    let experts_alone = match &plan.recompute {
        Recompute::Selective { modules, .. } => modules.contains(&RecomputeModule::Moe),
        _ => false,
    };
    put(format!("  recompute_layer: {}", matches!(plan.recompute, Recompute::Full { .. })));
    put(format!("  moe_layer_recompute: {experts_alone}"));
    put("tokens:".to_owned());
    put(format!("  sequence_length: {}", plan.sequence_length));
    put(format!("  micro_batch_size: {}", plan.micro_batch));
    put(format!("  batch_accumulation_per_replica: {}", plan.micro_batches()));
    let steps =
        run.training.tokens.map(|tokens| (tokens / plan.tokens_per_step().max(1) as f64).round().max(1.0));
    put(format!("  train_steps: {:.0}", steps.unwrap_or(1000.0)));
    put("  val_check_interval: -1".to_owned());
    put("optimizer:".to_owned());
    put(format!("  zero_stage: {}", plan.sharding.zero_stage.min(1)));
    put(format!("  accumulate_grad_in_fp32: {}", plan.precision.gradients == DataType::Fp32));
    let name = match plan.optimizer {
        Optimizer::Sgd => "sgd",
        Optimizer::Muon => "muon",
        _ => "adamW",
    };
    put(format!("  optimizer_factory:\n    name: {name}"));
    put("  weight_decay: 0.1\n  clip_grad: 1.0".to_owned());
    put("  learning_rate_scheduler:\n    learning_rate: 3.0e-4\n    lr_warmup_steps: 500".to_owned());
    put("model:".to_owned());
    let format = match (plan.precision.compute, plan.precision.parameters) {
        (DataType::Fp8, _) => "fp8",
        (_, DataType::Fp16) => "float16",
        (_, DataType::Fp32) => "float32",
        _ => "bfloat16",
    };
    put(format!("  dtype: {format}"));
    put(format!("  make_vocab_size_divisible_by: {}", plan.vocabulary_multiple));
    put("  init_method:\n    std: 0.02".to_owned());
    if with_model {
        put("  model_config:".to_owned());
        for line in model(&run.model) {
            put(format!("    {line}"));
        }
    } else {
        put(format!(
            "  # nanotron has no words for {}: `model_config` is yours to add.",
            one_line(&run.model.name)
        ));
    }
    out
}

/// A name that cannot end a comment.
fn one_line(name: &str) -> String {
    name.chars().filter(|c| !c.is_control()).collect()
}

/// The dimensions under Hugging Face's names, as far as nanotron's families have them.
fn model(model: &Model) -> Vec<String> {
    let mut out = Vec::new();
    let attention = model.layer_kinds.iter().find_map(|layer| match &layer.mixer {
        Mixer::Attention(attention) => Some(attention),
        _ => None,
    });
    let biased = model.layer_kinds.iter().any(|l| l.weights.iter().any(|w| w.name == "q_proj.bias"));
    let is_qwen = model.is_mixture_of_experts() || biased;
    out.push(if is_qwen { "is_qwen2_config: true" } else { "is_llama_config: true" }.to_owned());
    out.push(format!("num_hidden_layers: {}", model.num_layers()));
    out.push(format!("hidden_size: {}", model.hidden_size));
    out.push(format!("num_attention_heads: {}", attention.map_or(1, |a| a.heads)));
    out.push(format!("num_key_value_heads: {}", attention.map_or(1, |a| a.kv_heads)));
    if let Some(Span::Window(window)) = attention.map(|a| a.span) {
        out.push(format!("sliding_window_size: {window}"));
    }
    let dense = model.layer_kinds.iter().find_map(|layer| match &layer.feed_forward {
        FeedForward::Dense(dense) => Some(dense.intermediate_size),
        _ => None,
    });
    let experts = model.layer_kinds.iter().find_map(|layer| match &layer.feed_forward {
        FeedForward::MixtureOfExperts(moe) => Some(moe),
        _ => None,
    });
    let width = dense.or(experts.map(|moe| moe.expert.intermediate_size)).unwrap_or(4 * model.hidden_size);
    out.push(format!("intermediate_size: {width}"));
    out.push(format!("vocab_size: {}", model.vocabulary));
    out.push(format!("max_position_embeddings: {}", model.max_positions.max(1)));
    out.push(format!("tie_word_embeddings: {}", model.tied_embeddings));
    out.push(format!("attention_bias: {biased}"));
    if let Some(moe) = experts {
        out.push("moe_config:".to_owned());
        out.push(format!("  num_experts: {}", moe.experts));
        out.push(format!("  top_k: {}", moe.top_k));
        out.push(format!("  moe_intermediate_size: {}", moe.expert.intermediate_size));
        if moe.shared_intermediate_size > 0 {
            out.push("  enable_shared_expert: true".to_owned());
            out.push(format!("  shared_expert_intermediate_size: {}", moe.shared_intermediate_size));
        }
        let layers: Vec<String> = (0..model.layers.len())
            .filter(|index| matches!(model.layer(*index).feed_forward, FeedForward::MixtureOfExperts(_)))
            .map(|index| index.to_string())
            .collect();
        let all = layers.len() as u64 == model.num_layers();
        out.push(format!("  layers: [{}]", if all { "-1".to_owned() } else { layers.join(", ") }));
    }
    out
}
