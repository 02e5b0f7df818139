//! Meaning of Megatron's arguments for a run.
//!
//! Responsible for: Megatron's own defaults (the meaning of an absent flag), the parallel sizes, the batch,
//! and calls of the parts for the model, the pipeline, formats and memory. Chooses no value that Megatron
//! would reject.

use super::arguments::Arguments;
use super::{generation, memory, model, pipeline, precision};
use crate::{Draft, RemarkKind};
use railwright_spec::plan::{AttentionKernel, ContextKind, Optimizer, RankOrder};
use railwright_spec::run::{Amount, Field};

/// Ranks of a run, and their source.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct World {
    /// Total number of ranks.
    pub(crate) ranks: Option<u64>,
    /// Ranks of a node.
    pub(crate) per_node: Option<u64>,
    /// The text.
    pub(crate) source: String,
    /// Place.
    pub(crate) line: Option<usize>,
}

/// Fills a draft from arguments.
pub(crate) struct Filler<'a> {
    pub(crate) arguments: &'a Arguments,
    pub(crate) draft: &'a mut Draft,
}

impl Filler<'_> {
    /// A whole number of a field.
    pub(crate) fn count(&mut self, name: &str) -> Option<u64> {
        self.arguments.count(name, self.draft)
    }

    /// Sets a key because of a field, given or not.
    pub(crate) fn set<T: Field>(&mut self, key: &str, value: &T, name: &str) {
        let (source, line) = self.arguments.origin(name);
        self.draft.set(key, value, &source, line);
    }

    /// Sets a key to the whole number of a field, if present.
    pub(crate) fn copy(&mut self, name: &str, key: &str) -> Option<u64> {
        let value = self.count(name)?;
        self.set(key, &value, name);
        Some(value)
    }

    /// Adds a remark on a field.
    pub(crate) fn remark(&mut self, kind: RemarkKind, name: &str, message: impl Into<String>) {
        let (source, line) = self.arguments.origin(name);
        self.draft.remark(kind, &source, line, message);
    }
}

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

/// The degrees that the rest depends on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Degrees {
    pub(crate) pipeline: u64,
    pub(crate) context: u64,
    pub(crate) data: Option<u64>,
}

fn degrees(f: &mut Filler<'_>, world: &World) -> Degrees {
    let mut degree = |name: &str, key: &str| {
        let value = f.count(name).unwrap_or(1);
        if value == 0 {
            f.remark(RemarkKind::Invalid, name, "a parallel size is 1 or more; estimated as 1");
        }
        let value = value.max(1);
        f.set(key, &value, name);
        value
    };
    let tensor = degree("tensor_model_parallel_size", "plan.tensor_parallel");
    let pipeline = degree("pipeline_model_parallel_size", "plan.pipeline_parallel");
    let context = degree("context_parallel_size", "plan.context_parallel");
    let field = if f.arguments.get("moe_expert_parallel_size").is_some() {
        "moe_expert_parallel_size"
    } else {
        "expert_model_parallel_size"
    };
    let has_experts = f.draft.spec().model.experts.is_some();
    if has_experts || f.count(field).is_some_and(|n| n > 1) {
        f.copy(field, "plan.expert_parallel").unwrap_or_else(|| {
            f.set("plan.expert_parallel", &1, field);
            1
        });
        // Without their own size experts are sharded like all other weights.
        let inner = f.count("expert_tensor_parallel_size").unwrap_or(tensor);
        f.set("plan.expert_tensor_parallel", &inner, "expert_tensor_parallel_size");
    }
    let sequence = tensor > 1 && f.arguments.is_on("sequence_parallel");
    f.set("plan.sequence_parallel", &sequence, "sequence_parallel");
    if tensor == 1 && f.arguments.is_on("sequence_parallel") {
        f.remark(
            RemarkKind::Ignored,
            "sequence_parallel",
            "Megatron turns it off without tensor parallelism",
        );
    }
    let rank_order = if f.arguments.is_on("use_tp_pp_dp_mapping") {
        RankOrder::TensorContextPipelineData
    } else {
        RankOrder::TensorContextDataPipeline
    };
    f.set("plan.rank_order", &rank_order, "use_tp_pp_dp_mapping");
    context_kind(f, context);
    let inner = tensor.saturating_mul(pipeline).saturating_mul(context);
    let source = f.count("world_size");
    let ranks = source
        .or(world.ranks)
        .or_else(|| f.count("data_parallel_size").map(|data| data.saturating_mul(inner)));
    if let Some(ranks) = ranks.filter(|ranks| *ranks > 0) {
        if source.is_some() {
            f.set("cluster.devices", &ranks, "world_size");
        } else if world.ranks.is_some() {
            f.draft.set("cluster.devices", &ranks, &world.source, world.line);
        } else {
            f.set("cluster.devices", &ranks, "data_parallel_size");
        }
    }
    if let Some(per_node) = world.per_node.filter(|n| *n > 0 && ranks.is_some_and(|ranks| ranks > *n)) {
        f.draft.set("cluster.devices_per_node", &per_node, &world.source, world.line);
    }
    let data = ranks.filter(|ranks| ranks.is_multiple_of(inner.max(1))).map(|ranks| ranks / inner.max(1));
    if let (Some(data), Some(given)) = (data, f.count("data_parallel_size"))
        && data != given
    {
        let message = format!("contradicts the other sizes, which leave {data}");
        f.remark(RemarkKind::Conflict, "data_parallel_size", message);
    }
    Degrees { pipeline, context, data }
}

fn context_kind(f: &mut Filler<'_>, context: u64) {
    let kind = match f.arguments.word("cp_comm_type").map(|word| word.trim_matches(['[', ']', '\'', '"'])) {
        Some("all_gather") => ContextKind::AllGather,
        Some("a2a") => ContextKind::Ulysses,
        Some("a2a+p2p") => {
            if context > 1 {
                let message = "two levels of context parallelism are estimated as one ring";
                f.remark(RemarkKind::NotModelled, "cp_comm_type", message);
            }
            ContextKind::Ring
        }
        _ => ContextKind::Ring,
    };
    f.set("plan.context_kind", &kind, "cp_comm_type");
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
