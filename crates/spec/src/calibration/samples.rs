//! Measurements as plain values: the interface between readers (traces, logs, tables) and fits.
//!
//! Responsible for: their types. Independent of the position of a measurement in a file.

use crate::precision::DataType;
use crate::quantity::Seconds;
use serde::{Deserialize, Serialize};

/// Which of a linear layer's products one is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ProductPass {
    /// Y = X W, or any product that nothing more is known of.
    #[default]
    Forward,
    /// dX = dY W'.
    DataGradient,
    /// dW = X' dY.
    WeightGradient,
}

/// A matrix product of `m` x `k` by `k` x `n`, as often as it was measured.
#[derive(Clone, Debug, PartialEq)]
pub struct ProductSample {
    /// Number format of its inputs.
    pub format: DataType,
    /// Independent products in one call; 1 for a plain one.
    pub batch: u64,
    /// Rows of the output.
    pub m: u64,
    /// Columns of the output.
    pub n: u64,
    /// The contracted dimension.
    pub k: u64,
    /// Which product of a layer it is.
    pub pass: ProductPass,
    /// Times on the device.
    pub times: Vec<Seconds>,
}

/// A fused attention operator, as often as it was measured.
#[derive(Clone, Debug, PartialEq)]
pub struct AttentionSample {
    /// Sequences.
    pub batch: u64,
    /// Queries per sequence.
    pub queries: u64,
    /// Keys per sequence.
    pub keys: u64,
    /// Query heads.
    pub heads: u64,
    /// Key-value heads.
    pub kv_heads: u64,
    /// Width of a head.
    pub head_dim: u64,
    /// Whether it is a backward pass.
    pub backward: bool,
    /// Times on the device.
    pub times: Vec<Seconds>,
}

/// What a group does together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CollectiveKind {
    /// Every rank ends with the sum.
    AllReduce,
    /// Every rank ends with all shards.
    AllGather,
    /// Every rank ends with one shard of the sum.
    ReduceScatter,
    /// Every rank sends a part to each.
    AllToAll,
    /// One rank's buffer reaches all.
    Broadcast,
    /// One rank sends to its neighbour.
    SendReceive,
}

impl CollectiveKind {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::AllReduce,
        Self::AllGather,
        Self::ReduceScatter,
        Self::AllToAll,
        Self::Broadcast,
        Self::SendReceive,
    ];

    /// Its name in files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::AllReduce => "all_reduce",
            Self::AllGather => "all_gather",
            Self::ReduceScatter => "reduce_scatter",
            Self::AllToAll => "all_to_all",
            Self::Broadcast => "broadcast",
            Self::SendReceive => "send_receive",
        }
    }
}

/// A collective of one size, as often as it was measured. Bytes by nccl-tests' convention: the gathered buffer of an all-gather, the
/// input of a reduce-scatter, else one rank's buffer.
#[derive(Clone, Debug, PartialEq)]
pub struct CollectiveSample {
    /// Kind.
    pub operation: CollectiveKind,
    /// Among how many ranks.
    pub ranks: u64,
    /// Over how many hosts these lie, where it is known.
    pub hosts: Option<u64>,
    /// Bytes.
    pub bytes: f64,
    /// Whether it was measured alone (nccl-tests) and not within a run.
    pub alone: bool,
    /// Whether times hold waits for ranks that were not traced, so that they are bounds from above.
    pub is_bound: bool,
    /// Times from the last rank's start to the end.
    pub times: Vec<Seconds>,
}

/// What a rank's step is made of, mean over the steps of a trace.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StepSample {
    /// The rank.
    pub rank: u32,
    /// Steps it is a mean of.
    pub steps: u64,
    /// The whole step.
    pub step: Seconds,
    /// Matrix products of forward and backward passes.
    pub products: Seconds,
    /// Fused attention.
    pub attention: Seconds,
    /// Memory-bound kernels of the passes (norms, activations, embedding, routing).
    pub elementwise: Seconds,
    /// Softmax and cross entropy.
    pub loss: Seconds,
    /// Everything that the optimizer's phase computes.
    pub optimizer: Seconds,
    /// Arithmetic that fits nowhere above.
    pub other: Seconds,
    /// Communication that no compute hides, waits for other ranks left out.
    pub exposed_communication: Seconds,
    /// Waiting for other ranks in communication that no compute hides.
    pub waiting: Seconds,
    /// The device idle while the host works.
    pub idle: Seconds,
    /// Kernels launched.
    pub kernels: f64,
}

/// All measurements of one source.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Samples {
    /// What they were read from, in words.
    pub from: String,
    /// The device's name as the source writes it.
    pub device: Option<String>,
    /// Whether operators were measured alone and not within a run.
    pub alone: bool,
    /// Products.
    pub products: Vec<ProductSample>,
    /// Attention.
    pub attention: Vec<AttentionSample>,
    /// Collectives.
    pub collectives: Vec<CollectiveSample>,
    /// Steps.
    pub steps: Vec<StepSample>,
    /// What was left out and why, in words.
    pub remarks: Vec<String>,
}
