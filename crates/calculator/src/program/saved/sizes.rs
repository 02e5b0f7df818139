//! Sizes common to the saved tensors of all layers of a run: elements and bytes per element.

use crate::memory::MemorySoftware;
use crate::program::MicroBatch;
use railwright_spec::cluster::Cluster;
use railwright_spec::model::{Model, Position};
use railwright_spec::plan::{AttentionKernel, Optimizer, Plan};
use railwright_spec::software::{Software, by_id};

/// Sizes of a run's saved tensors.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SavedSizes {
    pub micro: MicroBatch,
    /// Tensor-parallel degree.
    pub tp: f64,
    /// Hidden width.
    pub hidden: f64,
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
    /// True if recompute by operator keeps what the all-to-alls of experts deliver.
    pub keeps_exchange: bool,
    /// Bytes per element of the residual stream that a layer's norms keep in addition.
    pub norm_extra: f64,
    /// Bytes per element of the inner width that an ungated activation keeps in addition.
    pub plain_inner_extra: f64,
    /// Load of the fullest rank of experts relative to the mean, averaged over the layers that it stores.
    pub stored_load: f64,
}

impl SavedSizes {
    /// Sizes for a plan under the constants of a generation.
    pub(crate) fn new(model: &Model, cluster: &Cluster, plan: &Plan, software: &MemorySoftware) -> Self {
        let micro = MicroBatch::new(plan);
        let timed = by_id(&plan.software).ok();
        let narrow = plan.precision.compute.is_narrow() && software.narrow_inputs;
        let input = if narrow { plan.precision.compute.bytes() } else { micro.activation_bytes };
        Self {
            micro,
            tp: plan.tensor_parallel.max(1) as f64,
            hidden: model.hidden_size as f64,
            input,
            inner: if narrow && software.narrow_inner { input } else { micro.activation_bytes },
            mask: if plan.dropout { 1.0 } else { 0.0 },
            sequence: plan.sequence_length as f64,
            tensor_domains: if plan.tensor_parallel > 1 {
                plan.tensor_parallel.div_ceil(plan.domain(cluster).max(1))
            } else {
                0
            },
            is_unfused: is_unfused(cluster, plan, timed),
            keeps_exchange: !timed.is_some_and(|software| software.recomputes_exchange),
            norm_extra: norm_extra(model, plan, software),
            // PyTorch's GELU is one operator: the next GEMM keeps its output as an input.
            plain_inner_extra: of_gpt2(model, plan, software, software.composed_gelu_extra).unwrap_or(0.0),
            stored_load: stored_load(model, plan),
        }
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
fn is_unfused(cluster: &Cluster, plan: &Plan, software: Option<&Software>) -> bool {
    software.map_or(plan.attention_kernel, |software| {
        software.asked_kernel(plan, cluster.accelerator.device_architecture())
    }) == AttentionKernel::Unfused
}

/// Load of a rank averaged over its layers: `1 + (load - 1) / sqrt(layers)`. Layers route independently, so a
/// rank with the busiest experts of one layer has an average load in others, and the deviation of a mean of
/// `n` independent loads is `1 / sqrt(n)` of one.
fn stored_load(model: &Model, plan: &Plan) -> f64 {
    let layers = (model.num_layers() / plan.pipeline_parallel.max(1)).max(1) as f64;
    1.0 + (plan.expert_load() - 1.0) / layers.sqrt()
}
