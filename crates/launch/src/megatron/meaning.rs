//! Meaning of Megatron's arguments for a run.
//!
//! Responsible for: Megatron's own defaults (the meaning of an absent flag), the parallel sizes, the batch,
//! and calls of the parts for the model, the pipeline, formats and memory. Chooses no value that Megatron
//! would reject.

use super::arguments::Arguments;
use super::degrees::{Degrees, degrees};
use super::filler::Filler;
use super::world::World;
use super::{generation, memory, model, pipeline, precision};
use crate::{Draft, RemarkKind};
use railwright_spec::plan::{AttentionKernel, Optimizer};
use railwright_spec::run::Amount;

/// Reads all arguments into a draft.
pub(crate) fn fill(arguments: &Arguments, world: &World, draft: &mut Draft) {
    let mut filler = Filler { arguments, draft };
    let layers = model::read(&mut filler);
    let degrees = degrees(&mut filler, world);
    pipeline::read(&mut filler, layers, degrees.pipeline);
    batch(&mut filler, &degrees);
    precision::read(&mut filler);
    memory::read(&mut filler, layers, &degrees);
    overlap(&mut filler);
    kernels(&mut filler);
    generation::read(&mut filler);
    arguments.remark_on_the_rest(draft);
}

fn batch(f: &mut Filler<'_>, degrees: &Degrees) {
    let micro = f.copy("micro_batch_size", "plan.micro_batch");
    let global = f.copy("global_batch_size", "plan.global_batch").or_else(|| {
        let product = micro?.checked_mul(degrees.data?)?;
        f.set("plan.global_batch", &product, "global_batch_size");
        Some(product)
    });
    let field = if f.arguments.get("seq_length").is_some() { "seq_length" } else { "encoder_seq_length" };
    let sequence = f.copy(field, "plan.sequence_length");
    let tokens = |samples: u64| sequence.map(|length| samples as f64 * length as f64);
    let total = [
        ("train_tokens", f.count("train_tokens").map(|tokens| tokens as f64)),
        ("train_samples", f.count("train_samples").and_then(tokens)),
        (
            "train_iters",
            f.count("train_iters").zip(global).and_then(|(n, batch)| Some(tokens(batch)? * n as f64)),
        ),
    ];
    if let Some((name, total)) = total.into_iter().find_map(|(name, total)| Some((name, total?)))
        && total >= 1.0
    {
        f.set("training.tokens", &Amount(total), name);
    }
}

fn overlap(f: &mut Filler<'_>) {
    for (name, key) in [
        ("overlap_grad_reduce", "plan.overlap.gradient_reduce"),
        ("overlap_param_gather", "plan.overlap.parameter_gather"),
        ("tp_comm_overlap", "plan.overlap.tensor"),
        ("overlap_moe_expert_parallel_comm", "plan.overlap.expert"),
    ] {
        let is_on = f.arguments.is_on(name);
        f.set(key, &is_on, name);
    }
    // PyTorch's wrapper reduces buckets during the backward pass of the last micro-batch (until 2022; `local`
    // waits for its end).
    if f.arguments.word("DDP_impl") == Some("torch") {
        f.set("plan.overlap.gradient_reduce", &true, "DDP_impl");
    }
    // Sharding by FSDP always overlaps; its switches have no flags of their own.
    let is_sharded = ["use_torch_fsdp2", "use_megatron_fsdp", "use_custom_fsdp"]
        .into_iter()
        .find(|n| f.arguments.is_on(n));
    if let Some(name) = is_sharded {
        f.set("plan.overlap.gradient_reduce", &true, name);
        f.set("plan.overlap.parameter_gather", &true, name);
    }
    let chunks = f.draft.spec().plan.virtual_stages.unwrap_or(1);
    let pipeline = chunks > 1 && f.arguments.switch("overlap_p2p_comm").unwrap_or(true);
    f.set("plan.overlap.pipeline", &pipeline, "overlap_p2p_comm");
}

fn kernels(f: &mut Filler<'_>) {
    // Megatron's default dropout.
    const USUAL: f64 = 0.1;
    let optimizer = match f.arguments.word("optimizer").unwrap_or("adam").to_ascii_lowercase().as_str() {
        "sgd" => Some(Optimizer::Sgd),
        "lion" => Some(Optimizer::Lion),
        "muon" | "dist_muon" | "adaptive_muon" => Some(Optimizer::Muon),
        "adam" | "adamw" => Some(Optimizer::Adam),
        _ => None,
    };
    match optimizer {
        Some(optimizer) => f.set("plan.optimizer", &optimizer, "optimizer"),
        None => f.remark(RemarkKind::NotModelled, "optimizer", "estimated as adam, with two moments"),
    }
    let (kernel, field) = match (f.arguments.word("attention_backend"), f.arguments.word("transformer_impl"))
    {
        (Some(word), _) if !word.ends_with("auto") => match word.rsplit('.').next().unwrap_or(word) {
            "flash" => (AttentionKernel::Flash2, "attention_backend"),
            "fused" => (AttentionKernel::Flash3, "attention_backend"),
            "unfused" | "local" => (AttentionKernel::Unfused, "attention_backend"),
            _ => (AttentionKernel::Auto, "attention_backend"),
        },
        _ if f.arguments.is_on("use_flash_attn") => (AttentionKernel::Flash2, "use_flash_attn"),
        _ if f.arguments.is_on("use_flash_attn_v2") => (AttentionKernel::Flash2, "use_flash_attn_v2"),
        (None, Some("local")) => (AttentionKernel::Unfused, "transformer_impl"),
        _ => (AttentionKernel::Auto, "attention_backend"),
    };
    f.set("plan.attention_kernel", &kernel, field);
    let rates = ["hidden_dropout", "attention_dropout"]
        .map(|name| (name, f.arguments.number(name, f.draft).unwrap_or(USUAL)));
    let (field, _) = rates.iter().find(|(_, rate)| *rate > 0.0).unwrap_or(&rates[0]);
    let is_on = rates.iter().any(|(_, rate)| *rate > 0.0);
    f.set("plan.dropout", &is_on, field);
    if is_on && f.arguments.get(field).is_none() {
        f.remark(RemarkKind::Assumed, field, "dropout keeps Megatron's default of 0.1");
    }
    if f.arguments.is_on("fp8_dot_product_attention") || f.arguments.is_on("fp8_multi_head_attention") {
        f.set("plan.precision.narrow_attention", &true, "fp8_dot_product_attention");
    }
}
