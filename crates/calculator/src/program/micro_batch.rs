//! Sizes of a micro-batch on one rank, common to operations, exchanges and saved tensors.

use railwright_spec::plan::Plan;

/// A micro-batch on one rank.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct MicroBatch {
    /// Tokens: `micro_batch x sequence / context_parallel`.
    pub tokens: f64,
    /// Tokens after sequence parallelism: `/ tensor_parallel`.
    pub sequence_shard_tokens: f64,
    /// Bytes per activation element.
    pub activation_bytes: f64,
}

impl MicroBatch {
    /// Sizes for a plan.
    pub(crate) fn new(plan: &Plan) -> Self {
        let tokens =
            plan.micro_batch as f64 * plan.sequence_length as f64 / plan.context_parallel.max(1) as f64;
        let shard = if plan.sequence_parallel { plan.tensor_parallel.max(1) as f64 } else { 1.0 };
        Self {
            tokens,
            sequence_shard_tokens: tokens / shard,
            activation_bytes: plan.precision.activations.bytes(),
        }
    }
}
