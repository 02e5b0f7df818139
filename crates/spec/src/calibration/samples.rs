//! Measurements as plain values: the interface between readers (traces, logs, tables) and fits.
//!
//! Responsible for: their types. Independent of the position of a measurement in a file.

use crate::Collective;
use crate::precision::DataType;
use crate::quantity::Seconds;
use serde::{Deserialize, Serialize};

/// GEMM of a linear layer, by pass.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ProductPass {
    /// Y = X W, or a GEMM whose pass is unknown.
    #[default]
    Forward,
    /// dX = dY W'.
    DataGradient,
    /// dW = X' dY.
    WeightGradient,
}

/// A GEMM of `m` x `k` by `k` x `n` with all its measurements.
#[derive(Clone, Debug, PartialEq)]
pub struct ProductSample {
    /// Number format of the inputs.
    pub format: DataType,
    /// Batch size: independent GEMMs in one call; 1 for a plain GEMM.
    pub batch: u64,
    /// Rows of the output.
    pub m: u64,
    /// Columns of the output.
    pub n: u64,
    /// The contracted dimension.
    pub k: u64,
    /// Pass of the GEMM.
    pub pass: ProductPass,
    /// Times on the device, one per measurement.
    pub times: Vec<Seconds>,
}

/// A fused attention operator with all its measurements.
#[derive(Clone, Debug, PartialEq)]
pub struct AttentionSample {
    /// Number of sequences.
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
    /// True for a backward pass.
    pub backward: bool,
    /// Times on the device, one per measurement.
    pub times: Vec<Seconds>,
}

/// A collective of one size with all its measurements. Bytes by nccl-tests' convention: the gathered buffer
/// of an all-gather, the input of a reduce-scatter, else one rank's buffer.
#[derive(Clone, Debug, PartialEq)]
pub struct CollectiveSample {
    /// Measured operation.
    pub operation: Collective,
    /// Number of ranks.
    pub ranks: u64,
    /// Number of hosts of these ranks; `None` if not recorded.
    pub hosts: Option<u64>,
    /// Message size in bytes.
    pub bytes: f64,
    /// True if measured alone (nccl-tests), false within a run.
    pub alone: bool,
    /// True if times include waits for ranks without a trace, so that they are upper bounds.
    pub is_bound: bool,
    /// Times from the start of the last rank to the end.
    pub times: Vec<Seconds>,
}

/// Breakdown of one rank's step, mean over the steps of a trace.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StepSample {
    /// Rank.
    pub rank: u32,
    /// Number of steps in the mean.
    pub steps: u64,
    /// Step time.
    pub step: Seconds,
    /// GEMMs of forward and backward passes.
    pub products: Seconds,
    /// Fused attention.
    pub attention: Seconds,
    /// Memory-bound kernels of the passes (norms, activations, embedding, routing).
    pub elementwise: Seconds,
    /// Softmax and cross entropy of the loss.
    pub loss: Seconds,
    /// All compute in the optimizer's phase.
    pub optimizer: Seconds,
    /// Compute of no kind above.
    pub other: Seconds,
    /// Exposed communication, waits for other ranks excluded.
    pub exposed_communication: Seconds,
    /// Waits for other ranks within exposed communication.
    pub waiting: Seconds,
    /// Idle time of the device while the host works.
    pub idle: Seconds,
    /// Number of kernel launches.
    pub kernels: f64,
}

/// All measurements of one source.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Samples {
    /// Measured files, as text for readers.
    pub from: String,
    /// Device name as in the source.
    pub device: Option<String>,
    /// True if operators were measured alone, false within a run.
    pub alone: bool,
    /// GEMMs.
    pub products: Vec<ProductSample>,
    /// Attention.
    pub attention: Vec<AttentionSample>,
    /// Collectives.
    pub collectives: Vec<CollectiveSample>,
    /// Step breakdowns, one per rank.
    pub steps: Vec<StepSample>,
    /// Omitted measurements with the reason, as text for readers.
    pub remarks: Vec<String>,
}
