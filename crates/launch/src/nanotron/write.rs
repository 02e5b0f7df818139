//! A run as nanotron's YAML.
//!
//! Responsible for: every key that the reader supports, and further keys that nanotron requires to start.
//! Lists settings that nanotron cannot express: see [`crate::Written`].

use super::NanotronReader;
use crate::lost::{Reasons, lost};
use crate::{Format, Lost, Reader, Writer, Written, WrittenFile};
use railwright_spec::model::{FeedForward, Mixer, Model, Span};
use railwright_spec::plan::{Optimizer, Recompute, Schedule};
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
    ("plan.layers_per_stage", "nanotron balances layers by work"),
    ("plan.rank_order", "the rank order of nanotron depends on whether the model has experts"),
    ("plan.software", "set by the framework"),
    ("plan.context_kind", "nanotron passes keys and values in a ring"),
    ("plan.dropout", "nanotron's models have no dropout"),
    ("plan.overlap.gradient_reduce", "nanotron reduces gradients after the backward pass"),
    ("plan.overlap.parameter_gather", "nanotron gathers parameters after the update"),
    ("plan.recompute", "nanotron recomputes whole layers or nothing"),
    ("plan.optimizer", "nanotron has AdamW and SGD"),
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

    fn compose(&self, run: &Run) -> Written {
        let file = "nanotron.yaml".to_owned();
        let refused = |message: String| Written::refused(Lost { key: "model".to_owned(), message });
        let text = text(run);
        if !names_the_model(&text, &file, &run.model) {
            return refused(format!(
                "nanotron supports llama, qwen and starcoder models, but not {}",
                run.model.name
            ));
        }
        if run.plan.expert_parallel > 1 {
            return refused(
                "nanotron multiplies the expert size with all others (world = ep x pp x dp x cp x tp), so \
                 expert groups of data-parallel ranks are not expressible"
                    .to_owned(),
            );
        }
        let not_expressed = lost(&NanotronReader, &text, &file, run, REASONS);
        Written { files: vec![WrittenFile::new(&file, text)], not_expressed, refused: Vec::new() }
    }
}

/// Tests whether the written dimensions describe the same model.
fn names_the_model(text: &str, file: &str, model: &Model) -> bool {
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

fn text(run: &Run) -> String {
    let plan = &run.plan;
    let mut out = "# Written by railwright. Set data, tokenizer and learning rate.\n".to_owned();
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
    put(format!("  pp_engine: {}", if plan.schedule == Schedule::Gpipe { "afab" } else { "1f1b" }));
    put(format!("  tp_mode: {}", if plan.sequence_parallel { "REDUCE_SCATTER" } else { "ALL_REDUCE" }));
    put(format!("  tp_linear_async_communication: {}", plan.overlap.tensor));
    put(format!("  recompute_layer: {}", matches!(plan.recompute, Recompute::Full { .. })));
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
    // Without it there are no master weights in 32 bits either.
    let is_wide = plan.precision.gradients == DataType::Fp32 || plan.precision.master.is_some();
    put(format!("  accumulate_grad_in_fp32: {is_wide}"));
    put("  optimizer_factory:".to_owned());
    if plan.optimizer == Optimizer::Sgd {
        put("    name: sgd".to_owned());
    } else {
        put("    name: adamW\n    adam_beta1: 0.9\n    adam_beta2: 0.95\n    adam_eps: 1.0e-8\n    torch_adam_is_fused: true".to_owned());
    }
    put("  weight_decay: 0.1\n  clip_grad: 1.0".to_owned());
    put("  learning_rate_scheduler:\n    learning_rate: 3.0e-4\n    lr_warmup_steps: 500\n    \
         lr_warmup_style: linear"
        .to_owned());
    put("model:".to_owned());
    // No option for GEMMs in 8 bits.
    let format = match plan.precision.parameters {
        DataType::Fp16 => "float16",
        DataType::Fp32 => "float32",
        _ => "bfloat16",
    };
    put(format!("  dtype: {format}"));
    put(format!("  make_vocab_size_divisible_by: {}", plan.vocabulary_multiple));
    put("  init_method:\n    std: 0.02".to_owned());
    put("  model_config:".to_owned());
    for line in model(&run.model) {
        put(format!("    {line}"));
    }
    out
}

/// The dimensions under Hugging Face's names, as far as nanotron's families support them.
fn model(model: &Model) -> Vec<String> {
    let mut out = Vec::new();
    let attention = model.layer_kinds.iter().find_map(|layer| match &layer.mixer {
        Mixer::Attention(attention) => Some(attention),
        _ => None,
    });
    let biased = model.layer_kinds.iter().any(|l| l.weights.iter().any(|w| w.name == "q_proj.bias"));
    // Its llamas have neither windows nor experts.
    let windowed = attention.is_some_and(|attention| matches!(attention.span, Span::Window(_)));
    let is_qwen = model.is_mixture_of_experts() || biased || windowed;
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
        // nanotron compares indices, so a word for all layers would match none.
        out.push(format!("  layers: [{}]", layers.join(", ")));
    }
    out
}
