//! Activations of one layer kept for one micro-batch between its forward and backward pass, operator by
//! operator.
//!
//! Responsible for: the tensors saved by automatic differentiation, their widths and shards, and the tensors
//! dropped by recompute. Excludes stages and schedules.
//!
//! Notation, per rank: T tokens of the micro-batch; Ts the same after sequence parallelism; h hidden width;
//! q, k, v, o widths of queries, keys, values and attention output; f inner width; a bytes of an activation;
//! i bytes of a GEMM's saved input. With 2-byte activations, dropout and unfused attention the sum is
//! Korthikanti's sbh(34 + 5as/h).

mod inputs;

use self::inputs::Inputs;
use super::software::MemorySoftware;
use crate::treatment::Treatment;
use railwright_spec::cluster::Cluster;
use railwright_spec::model::{
    Activation, Attention, FeedForward, Layer, Mixer, Mlp, Model, Module, Position, Span, Usage,
};
use railwright_spec::plan::{AttentionKernel, ContextKind, Optimizer, Plan, Recompute, RecomputeModule};
use railwright_spec::software::by_id;

/// Activation memory of one layer for one micro-batch, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct LayerBytes {
    /// Kept from forward to backward.
    pub saved: f64,
    /// Additional memory during the layer's backward pass: recomputed tensors and gradients of activations.
    pub working: f64,
}

/// A saved tensor: module, bytes, and true if the recompute policy keeps it.
pub(crate) type Emit<'a> = &'a mut dyn FnMut(Module, f64, bool);

/// Sizes common to all layers of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sizes {
    /// Tokens of a micro-batch on one rank.
    pub tokens: f64,
    /// Tokens of a micro-batch on one rank after sequence parallelism.
    pub cut_tokens: f64,
    /// Tensor-parallel degree.
    pub tp: f64,
    /// Hidden width.
    pub hidden: f64,
    /// Bytes of an activation.
    pub a: f64,
    /// Bytes of the saved input of a GEMM with a trained weight.
    pub input: f64,
    /// Bytes of the saved input of a gated activation function.
    pub inner: f64,
    /// Bytes per element of a dropout mask, 0 without dropout.
    pub mask: f64,
    /// Keys that a token can see.
    pub sequence: f64,
    /// Scale-up domains that a tensor-parallel group spans; 0 without one.
    pub tensor_domains: u64,
    /// True if attention keeps its probabilities.
    pub is_unfused: bool,
    /// Bytes per element of the residual stream that a layer's norms keep in addition.
    pub norm_extra: f64,
    /// Bytes per element of the inner width that an ungated activation keeps in addition.
    pub plain_inner_extra: f64,
    /// Load of the fullest rank of experts relative to the mean, averaged over the layers that it stores.
    pub stored_load: f64,
}

pub(crate) fn sizes(model: &Model, cluster: &Cluster, plan: &Plan, software: &MemorySoftware) -> Sizes {
    let tp = plan.tensor_parallel.max(1) as f64;
    let tokens = plan.micro_batch as f64 * plan.sequence_length as f64 / plan.context_parallel.max(1) as f64;
    let a = plan.precision.activations.bytes();
    let narrow = plan.precision.compute.is_narrow() && software.narrow_inputs;
    let input = if narrow { plan.precision.compute.bytes() } else { a };
    Sizes {
        tokens,
        cut_tokens: if plan.sequence_parallel { tokens / tp } else { tokens },
        tp,
        hidden: model.hidden_size as f64,
        a,
        input,
        inner: if narrow && software.narrow_inner { input } else { a },
        mask: if plan.dropout { 1.0 } else { 0.0 },
        sequence: plan.sequence_length as f64,
        tensor_domains: if plan.tensor_parallel > 1 {
            plan.tensor_parallel.div_ceil(plan.domain(cluster).max(1))
        } else {
            0
        },
        is_unfused: is_unfused(cluster, plan),
        norm_extra: norm_extra(model, plan, software),
        plain_inner_extra: of_gpt2(model, plan, software, software.composed_gelu_extra)
            .unwrap_or(software.inner_extra),
        stored_load: stored_load(model, plan),
    }
}

/// A constant of GPT-2's operators, under autocast or in 16 bits alone: LayerNorm, and the GELU that
/// Transformers composes for models with learned positions (`gelu_new`).
///
/// Autocast computes `pow` and LayerNorm in fp32 (PyTorch, autocast op reference). `0.5 x (1 + tanh(c (x +
/// 0.044715 x^3)))` then keeps, in bytes per element: `x` for the power 4, the result of `tanh` 4, `0.5 x` 2
/// and `1 + tanh` 4 for their product, and the next GEMM's input 2; in 16 bits each of them 2. LayerNorm
/// keeps its input, which is the residual stream in fp32: 2 more than its 16-bit copy, for each of two norms.
fn of_gpt2(model: &Model, plan: &Plan, software: &MemorySoftware, constant: Option<[f64; 2]>) -> Option<f64> {
    let [autocast, sixteen] = constant.filter(|_| model.position == Position::Learned)?;
    Some(if is_autocast(plan, software) { autocast } else { sixteen })
}

/// Tests whether autocast casts the operands of every GEMM. Sharded stacks (FSDP's mixed precision,
/// DeepSpeed) compute with 16-bit weights, and frozen weights have 16 bits: the residual stream then has 16
/// bits as well, and nothing is cast.
fn is_autocast(plan: &Plan, software: &MemorySoftware) -> bool {
    let stage = plan.sharding.zero_stage;
    let is_wide = plan.precision.master.is_some() && (stage == 0 || stage < 3 && plan.shard_group() <= 1);
    software.casts_weights && is_wide && plan.optimizer != Optimizer::Lora
}

/// Bytes per element of the residual stream that the norms of a layer keep beyond its 16-bit copy and the
/// input of the next GEMMs.
///
/// Transformers' RMSNorm computes in fp32 and multiplies the result, in the format of its input, by the
/// weight. In 16 bits a norm keeps the fp32 copy of its input, 4, and the normalized value, 2. Under autocast
/// the residual stream has 32 bits: the input takes 4 instead of 2, the normalized value 4, and each GEMM
/// behind the norm casts its own 16-bit copy, three of queries, keys and values and two of gate and up.
fn norm_extra(model: &Model, plan: &Plan, software: &MemorySoftware) -> f64 {
    let of_rms = || software.autocast_hidden_extra.filter(|_| is_autocast(plan, software));
    of_gpt2(model, plan, software, software.layer_norm_extra).or_else(of_rms).unwrap_or(software.hidden_extra)
}

/// Tests whether attention keeps its probabilities: with the kernel that its time has.
fn is_unfused(cluster: &Cluster, plan: &Plan) -> bool {
    by_id(&plan.software).map_or(plan.attention_kernel, |software| {
        software.asked_kernel(plan, cluster.accelerator.device_architecture())
    }) == AttentionKernel::Unfused
}

/// Recompute of a layer: nothing, all of it, or some modules.
#[derive(Clone, Copy)]
enum Policy<'a> {
    Keep,
    Full,
    Some(&'a std::collections::BTreeSet<RecomputeModule>),
    /// By operator, and no GEMM output is kept.
    Attention(&'a std::collections::BTreeSet<RecomputeModule>),
}

impl Policy<'_> {
    fn keeps(self, module: RecomputeModule) -> bool {
        match self {
            Self::Keep => true,
            Self::Full => false,
            Self::Some(modules) | Self::Attention(modules) => !modules.contains(&module),
        }
    }

    /// Tests whether tensors outside the named modules are kept.
    fn keeps_rest(self) -> bool {
        match self {
            Self::Keep => true,
            Self::Full | Self::Attention(_) => false,
            Self::Some(_) => !self.is_by_operator(),
        }
    }

    /// Tests whether outputs are kept that the operator policy saves.
    fn keeps_operator(self) -> bool {
        !matches!(self, Self::Full)
    }

    /// Tests whether products are kept that the operator policy saves.
    fn keeps_product(self) -> bool {
        !matches!(self, Self::Full | Self::Attention(_))
    }

    /// Tests whether each operator is kept or recomputed by its kind: torchtitan's selective checkpointing
    /// keeps attention, collectives and every second GEMM, but no grouped GEMM (torch,
    /// `_functorch/partitioners.py`, `compute_intensive_ops`).
    fn is_by_operator(self) -> bool {
        matches!(self, Self::Some(modules) | Self::Attention(modules) if modules.contains(&RecomputeModule::Operators))
    }
}

/// The policy of a layer, depending on the plan's recompute covering it.
pub(crate) fn covered(plan: &Plan, recomputed: bool) -> &Recompute {
    if recomputed { &plan.recompute } else { &Recompute::None }
}

/// Emits every tensor that a layer saves under a recompute policy that covers it.
pub(crate) fn emit(
    layer: &Layer,
    plan: &Plan,
    software: &MemorySoftware,
    sizes: &Sizes,
    recompute: &Recompute,
    sink: Emit<'_>,
) {
    let policy = match recompute {
        Recompute::None => Policy::Keep,
        Recompute::Full { .. } => Policy::Full,
        Recompute::Selective { modules, .. }
            if modules.contains(&RecomputeModule::Operators) && plan.recomputes_products() =>
        {
            Policy::Attention(modules)
        }
        Recompute::Selective { modules, .. } => Policy::Some(modules),
    };
    let Sizes { cut_tokens, hidden: h, a, .. } = *sizes;
    // The layer's input: the first norm's input, and all that full recompute keeps.
    sink(Module::Norm, a * h * cut_tokens, true);
    let inner_norms = (layer.norms as f64 - 1.0).max(0.0);
    sink(Module::Norm, a * h * cut_tokens * inner_norms, policy.keeps_rest());
    sink(Module::Norm, sizes.norm_extra * h * cut_tokens, policy.keeps_rest());
    sink(Module::Norm, software.hidden_replicated * h * sizes.tokens, policy.keeps_rest());
    let inputs = Inputs::new(layer, plan, [sizes.input, sizes.a]);
    mixer(layer, plan, software, (sizes, &inputs), policy, sink);
    feed_forward(layer, plan, software, (sizes, &inputs), policy, sink);
}

/// Bytes of the input of a column-parallel GEMM, once for all GEMMs that share it, at `bytes` per element.
fn shared_input(software: &MemorySoftware, sizes: &Sizes, bytes: f64) -> f64 {
    let tokens = if software.gathered_inputs { sizes.tokens } else { sizes.cut_tokens };
    bytes * sizes.hidden * tokens
}

fn mixer(
    layer: &Layer,
    plan: &Plan,
    software: &MemorySoftware,
    sizes: (&Sizes, &Inputs<'_>),
    policy: Policy<'_>,
    sink: Emit<'_>,
) {
    let (Sizes { a, tokens, .. }, inputs) = sizes;
    for module in [Module::AttentionInput, Module::AttentionCore, Module::AttentionOutput] {
        sink(module, a * inputs.ranks(module) * tokens, policy.keeps_rest());
    }
    for (index, mixer) in layer.mixer.each().iter().enumerate() {
        // Parallel mixers share one input. Sequential ones have separate norms, and so separate inputs.
        let shares = index > 0 && layer.norms <= 2;
        one_mixer(layer, mixer, plan, software, sizes, policy, &mut |module, bytes, kept| {
            if !(shares && module == Module::AttentionInput) {
                sink(module, bytes, kept);
            }
        });
    }
}

/// Widths of a mixer with a state or a convolution: output of its input projection and input of its output
/// projection.
fn recurrent_widths(layer: &Layer, mixer: &Mixer) -> (f64, f64) {
    let product = |module| {
        let weights = layer.weights.iter().filter(move |w| w.module == module);
        weights.filter(|w| matches!(w.usage, Usage::Matmul { .. }))
    };
    let (wide, out) = match mixer {
        _ if layer.mixer.each().len() == 1 => {
            let wide = product(Module::AttentionInput).map(|w| w.rows).sum::<u64>();
            return (wide as f64, product(Module::AttentionOutput).map(|w| w.columns).sum::<u64>() as f64);
        }
        Mixer::Linear(a) => {
            let value = a.value_heads * a.value_head_dim;
            (2 * a.key_heads * a.key_head_dim + 2 * value, value)
        }
        Mixer::StateSpace(s) => {
            let inner = s.heads * s.head_dim;
            (2 * inner + 2 * s.groups * s.state_size + s.heads, inner)
        }
        Mixer::Selective(s) => (2 * s.inner + 2 * s.state_size, s.inner),
        Mixer::Convolution(c) => (3 * c.width, c.width),
        _ => (0, 0),
    };
    (wide as f64, out as f64)
}

/// Keys and values of a micro-batch on one rank: its own tokens, or those of another stack.
fn key_tokens(mixer: &Mixer, plan: &Plan, tokens: f64) -> f64 {
    match mixer {
        Mixer::Attention(Attention { span: Span::Memory(keys @ 1..), .. }) => {
            (plan.micro_batch * keys) as f64
        }
        _ => tokens,
    }
}

fn one_mixer(
    layer: &Layer,
    mixer: &Mixer,
    plan: &Plan,
    software: &MemorySoftware,
    (sizes, inputs): (&Sizes, &Inputs<'_>),
    policy: Policy<'_>,
    sink: Emit<'_>,
) {
    let Sizes { tokens, tp, a, mask, hidden, cut_tokens, .. } = *sizes;
    let (input, output) = (inputs.attention(), inputs.of(Module::AttentionOutput));
    let rest = policy.keeps_rest();
    let normed = rest && policy.keeps(RecomputeModule::Norm);
    let up_projection = policy.keeps(RecomputeModule::LatentUpProjection);
    let (heads, q, k, v, o) = match mixer {
        Mixer::Attention(at) => {
            let kv = (at.kv_heads as f64 / tp).max(1.0);
            let heads = at.heads as f64 / tp;
            if at.qk_norm {
                let width = heads * at.head_dim as f64 + kv * at.head_dim as f64;
                sink(Module::AttentionCore, (a + software.query_norm_extra) * width * tokens, rest);
            }
            let (query, key) = (heads * at.head_dim as f64, kv * at.head_dim as f64);
            (heads, query, key, kv * at.value_dim as f64, heads * at.value_dim as f64)
        }
        Mixer::Latent(la) => {
            let heads = la.heads as f64 / tp;
            let width = (la.qk_nope_head_dim + la.qk_rope_head_dim) as f64;
            // Latents and the rotated key, replicated over tensor-parallel ranks. The normed latents are the
            // up-projections' inputs and are recomputed with them.
            let latent = (la.q_lora_rank.unwrap_or(0) + la.kv_lora_rank) as f64;
            sink(Module::AttentionInput, a * (latent + la.qk_rope_head_dim as f64) * cut_tokens, rest);
            let up = inputs.latent();
            sink(Module::AttentionInput, up * latent * cut_tokens, normed && up_projection);
            let value = heads * la.v_head_dim as f64;
            (heads, heads * width, heads * width, value, value)
        }
        Mixer::Linear(_) | Mixer::StateSpace(_) | Mixer::Selective(_) | Mixer::Convolution(_) => {
            // The projections before the short convolution, and the scan's output. The state-space kernel
            // fuses convolution and scan and recomputes the convolved projections; linear
            // attention keeps them.
            let (wide, out) = recurrent_widths(layer, mixer);
            let (wide, out) = (wide / tp, out / tp);
            let convolved = match mixer {
                Mixer::StateSpace(_) | Mixer::Selective(_) => 0.0,
                // The gated and the convolved value, of three input widths.
                Mixer::Convolution(_) => 2.0 / 3.0,
                _ => 1.0,
            };
            sink(Module::AttentionInput, shared_input(software, sizes, input), normed);
            sink(Module::AttentionCore, a * (1.0 + convolved) * wide * tokens, rest);
            sink(Module::AttentionCore, a * out * tokens, rest);
            sink(Module::AttentionOutput, output * out * tokens, rest);
            return;
        }
        Mixer::Several { .. } | Mixer::Unpriced { .. } | Mixer::None => return,
    };
    sink(Module::AttentionInput, shared_input(software, sizes, input), normed);
    let latent = matches!(mixer, Mixer::Latent(_));
    let latent_kept = !latent || up_projection;
    // Rotation copies up-projected keys and values: no fused buffer survives as a view.
    let qkv_extra = if latent { 0.0 } else { software.qkv_extra };
    // The operator policy keeps queries and values: every second product of q, k, v, out, gate, up, down.
    let keys = key_tokens(mixer, plan, tokens);
    let (k, v) = (k * keys, v * keys);
    sink(Module::AttentionCore, a * (q * tokens + v), policy.keeps_product() && latent_kept);
    sink(Module::AttentionCore, a * k, rest && latent_kept);
    sink(Module::AttentionCore, qkv_extra * (q * tokens + k + v), rest && latent_kept);
    let core = policy.keeps(RecomputeModule::CoreAttention);
    if sizes.is_unfused {
        let per_score = a + if plan.dropout { mask + a } else { 0.0 } + software.score_extra;
        let keys = match mixer {
            Mixer::Attention(at) => match at.span {
                Span::Chunk(n) => sizes.sequence.min(n as f64),
                Span::Memory(n) if n > 0 => n as f64,
                _ => sizes.sequence,
            },
            _ => sizes.sequence,
        };
        sink(Module::AttentionCore, per_score * heads * keys * tokens, rest && core);
        sink(Module::AttentionOutput, output * o * tokens, rest);
    } else {
        sink(Module::AttentionCore, a * o * tokens, policy.keeps_operator());
        sink(Module::AttentionCore, 4.0 * heads * tokens, policy.keeps_operator() && core);
        if output < a && software.narrow_attention_output {
            sink(Module::AttentionOutput, output * o * tokens, rest);
        }
    }
    if plan.context_parallel > 1 && plan.context_kind == ContextKind::Ulysses {
        // Copies made by the all-to-all.
        sink(Module::AttentionCore, a * (q * tokens + k + v), rest);
    }
    sink(Module::AttentionOutput, mask * hidden * cut_tokens, rest);
}

/// Emits gate and up (or the one inner GEMM's output), and the input of the down projection.
fn mlp(
    mlp: &Mlp,
    width: f64,
    tokens: f64,
    software: &MemorySoftware,
    (sizes, down): (&Sizes, f64),
) -> (f64, f64) {
    let products = if mlp.gated { 2.0 } else { 1.0 };
    // Only the gated kernel keeps gate and up in the narrow format.
    let inner = if mlp.gated { sizes.inner } else { sizes.a };
    let before = inner * products * width * tokens;
    let plain = mlp.activation == Activation::Gelu && !mlp.gated;
    let extra = if plain { sizes.plain_inner_extra } else { software.inner_extra };
    let after = (down + extra) * width * tokens;
    (before, after)
}

/// Emits the tensors of a dense MLP. The operator policy keeps one of gate and up, and the down projection's
/// output.
fn by_operator(
    module: Module,
    is_gated: bool,
    (before, after): (f64, f64),
    (sizes, policy): (&Sizes, Policy<'_>),
    whole: bool,
    sink: Emit<'_>,
) {
    let rest = policy.keeps_rest();
    let one = if is_gated { before / 2.0 } else { 0.0 };
    sink(module, before - one, policy.keeps_product() && whole);
    sink(module, one, rest && whole);
    sink(module, after, rest && policy.keeps(RecomputeModule::Activation) && whole);
    if policy.is_by_operator() && policy.keeps_product() {
        sink(module, sizes.a * sizes.hidden * sizes.cut_tokens, true);
    }
}

fn feed_forward(
    layer: &Layer,
    plan: &Plan,
    software: &MemorySoftware,
    (sizes, inputs): (&Sizes, &Inputs<'_>),
    policy: Policy<'_>,
    sink: Emit<'_>,
) {
    let Sizes { tokens, tp, mask, hidden, cut_tokens, a, .. } = *sizes;
    let rest = policy.keeps_rest();
    let activation = rest && policy.keeps(RecomputeModule::Activation);
    match &layer.feed_forward {
        FeedForward::Dense(dense) => {
            let whole = policy.keeps(RecomputeModule::Mlp);
            let [input, down] = inputs.mlp(Module::Mlp);
            sink(Module::Mlp, a * inputs.ranks(Module::Mlp) * tokens, rest && whole);
            if !layer.parallel_residual {
                let kept = rest && whole && policy.keeps(RecomputeModule::Norm);
                sink(Module::Mlp, shared_input(software, sizes, input), kept);
            }
            let width = dense.intermediate_size as f64 / tp;
            let products = mlp(dense, width, tokens, software, (sizes, down));
            by_operator(Module::Mlp, dense.gated, products, (sizes, policy), whole, sink);
            sink(Module::Mlp, mask * hidden * cut_tokens, rest);
        }
        FeedForward::MixtureOfExperts(moe) => {
            let whole = policy.keeps(RecomputeModule::Moe);
            let kept = rest && whole;
            // Scores and probabilities in fp32, and the routing mask.
            sink(Module::Router, 9.0 * moe.experts as f64 * cut_tokens, kept);
            let [input, down] = inputs.mlp(Module::Experts);
            let [shared_in, shared_down] = inputs.mlp(Module::SharedExpert);
            // The router's GEMM is not in a narrow format, and shared experts read the same tensor.
            let router_input = if inputs.of(Module::Router).max(shared_in) > 0.0 { a } else { 0.0 };
            sink(
                Module::Router,
                router_input * hidden * cut_tokens,
                rest && whole && policy.keeps(RecomputeModule::Norm),
            );
            let routed = routed_tokens(moe.top_k as f64, plan, sizes, sizes.stored_load);
            let width = moe.expert.intermediate_size as f64 / plan.expert_tensor_parallel.max(1) as f64;
            sink(Module::Experts, input * hidden * routed, kept);
            let (before, after) = mlp(&moe.expert, width, routed, software, (sizes, down));
            sink(Module::Experts, a * inputs.ranks(Module::Experts) * routed, kept);
            sink(Module::Experts, before, kept);
            sink(Module::Experts, after, activation && whole);
            if policy.is_by_operator() && plan.expert_parallel > 1 {
                // Tokens as the all-to-alls of dispatch and combine deliver them.
                sink(Module::Experts, 2.0 * a * hidden * routed, true);
            }
            // The experts' outputs are kept until they are weighted and added.
            sink(Module::Experts, software.expert_output * hidden * routed, kept);
            if moe.shared_intermediate_size > 0 {
                let shared = Mlp { intermediate_size: moe.shared_intermediate_size, ..moe.expert.clone() };
                let width = shared.intermediate_size as f64 / tp;
                let products = mlp(&shared, width, tokens, software, (sizes, shared_down));
                sink(Module::SharedExpert, a * inputs.ranks(Module::SharedExpert) * tokens, kept);
                by_operator(Module::SharedExpert, shared.gated, products, (sizes, policy), whole, sink);
            }
        }
        FeedForward::None => {}
    }
}

/// Tokens processed by the experts of one rank: every token visits `top_k` experts, distributed evenly except
/// for the load `load` relative to the mean.
fn routed_tokens(top_k: f64, plan: &Plan, sizes: &Sizes, load: f64) -> f64 {
    let tokens = sizes.tokens / sizes.tp * plan.expert_tensor_parallel.max(1) as f64;
    // A capacity reserves its buffers, however few tokens arrive.
    let load = plan.expert_capacity.map_or_else(|| load.max(1.0), |capacity| capacity.max(0.0));
    tokens * top_k * load
}

/// Load of a rank averaged over its layers: `1 + (load - 1) / sqrt(layers)`. Layers route independently, so a
/// rank with the busiest experts of one layer has an average load in others, and the deviation of a mean of
/// `n` independent loads is `1 / sqrt(n)` of one.
fn stored_load(model: &Model, plan: &Plan) -> f64 {
    let layers = (model.num_layers() / plan.pipeline_parallel.max(1)).max(1) as f64;
    1.0 + (plan.expert_load() - 1.0) / layers.sqrt()
}

/// Memory of a layer, depending on the plan's recompute covering it.
pub(crate) fn layer_bytes(
    model: &Model,
    layer: &Layer,
    plan: &Plan,
    software: &MemorySoftware,
    sizes: &Sizes,
    recomputed: bool,
) -> LayerBytes {
    let recompute = covered(plan, recomputed).clone();
    let offload = plan.offload.activations.clamp(0.0, 1.0);
    treated_bytes(model, layer, plan, software, sizes, &Treatment { recompute, offload })
}

/// Sums the memory of a layer: kept, and additional during its backward pass.
pub(crate) fn treated_bytes(
    model: &Model,
    layer: &Layer,
    plan: &Plan,
    software: &MemorySoftware,
    sizes: &Sizes,
    treatment: &Treatment,
) -> LayerBytes {
    let (mut saved, mut dropped) = (0.0, 0.0);
    emit(layer, plan, software, sizes, &treatment.recompute, &mut |_, bytes, kept| {
        if kept { saved += bytes } else { dropped += bytes }
    });
    let share = 1.0 - treatment.offload;
    let working = dropped + (1.0 - share) * saved + gradients(model, layer, plan, software, sizes);
    LayerBytes { saved: saved * share, working }
}

/// Activation gradients alive at once in the backward pass of a layer: of the residual stream (twice), of the
/// inner width, and of scores if they are in memory. Scores have the format of their softmax (gradients of
/// its result and its input). With sequence parallelism also the gathered input and its gradient.
fn gradients(model: &Model, layer: &Layer, plan: &Plan, software: &MemorySoftware, sizes: &Sizes) -> f64 {
    let Sizes { tokens, cut_tokens, tp, a, .. } = *sizes;
    let h = model.hidden_size as f64;
    let gathered = if plan.sequence_parallel && tp > 1.0 { 2.0 * a * h * tokens } else { 0.0 };
    let inner = match &layer.feed_forward {
        FeedForward::Dense(dense) => {
            let products = if dense.gated { 3.0 } else { 2.0 };
            a * products * dense.intermediate_size as f64 / tp * tokens
        }
        FeedForward::MixtureOfExperts(moe) => {
            let routed = routed_tokens(moe.top_k as f64, plan, sizes, plan.expert_load());
            let products = if moe.expert.gated { 3.0 } else { 2.0 };
            let width = moe.expert.intermediate_size as f64 / plan.expert_tensor_parallel.max(1) as f64;
            // Dispatched and combined tokens and their gradients: the all-to-all's buffers.
            a * routed * (products * width + 2.0 * h)
        }
        FeedForward::None => 0.0,
    };
    let scores = match &layer.mixer {
        Mixer::Attention(at) if sizes.is_unfused => {
            2.0 * a.max(software.score_extra) * at.heads as f64 / tp * sizes.sequence * tokens
        }
        _ => 0.0,
    };
    2.0 * a * h * cut_tokens + gathered + inner.max(scores)
}

#[cfg(test)]
mod tests;
