//! Training plans: parallel sizes, batch, precision, recompute, schedule, overlap.
//!
//! Responsible for: the settings, and their validation ([`validate`]). Independent of run times.

mod auto;
mod automatic;
mod batch;
mod degrees;
mod layout;
mod lora;
mod module_parts;
mod names;
mod open_settings;
mod part_counts;
mod placed;
mod precision_preset;
mod resolve;
mod schedule;
mod segment;
mod spec;
mod stage_recompute;
mod uneven;
mod validate;
mod written;
pub use auto::{AUTO, AutoSize};
pub use batch::{
    default_batch, divided_batch, divisible_batch, is_divided, published_batch, published_sequences,
    usual_batch,
};
pub use layout::{Group, Layout};
pub use lora::{Adapter, FrozenWeights, Lora, LoraTarget, LoraTargets, NF4_BYTES};
pub use module_parts::module_parts;
pub use names::Master;
pub use open_settings::{
    BIASED_IMBALANCE, FORCED_IMBALANCE, OpenSettings, USUAL_IMBALANCE, default_imbalance,
};
pub use part_counts::expert_count;
pub use placed::{HostPart, LayerTensor, Memory, Placed};
pub use precision_preset::PrecisionPreset;
pub use schedule::{Chunks, Counts, Need, Placement, Refusal, Schedule, ScheduleFacts};
pub use segment::Segment;
pub use spec::PlanSpec;
pub use stage_recompute::StageRecompute;
pub use uneven::{StageSplit, balanced_layers, by_compute, end_balanced_layers, uneven_layers};
pub(crate) use validate::MOST_DEVICES;
pub use validate::{is_offered, is_within_limits, validate, warnings};

use crate::precision::DataType;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// All settings of a run except the model and the cluster.
///
/// World size = tensor x context x pipeline x data. Expert parallelism uses the ranks of data x context x
/// tensor (Megatron's rule: `expert_tensor x expert x expert_data = tensor x context x data`).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Plan {
    /// Tensor-parallel size: ranks that shard each weight matrix.
    pub tensor_parallel: u64,
    /// True if norms and dropout between sharded GEMMs are sharded along the sequence (Korthikanti 2022).
    pub sequence_parallel: bool,
    /// Pipeline-parallel size: number of stages.
    pub pipeline_parallel: u64,
    /// Model chunks per stage (interleaving); 1 without interleaving.
    pub virtual_stages: u64,
    /// Context-parallel size: ranks that shard each sequence.
    pub context_parallel: u64,
    /// Context-parallel algorithm.
    pub context_kind: ContextKind,
    /// Data-parallel size, sharded replicas included.
    pub data_parallel: u64,
    /// Expert-parallel size: ranks that share the routed experts.
    pub expert_parallel: u64,
    /// Expert tensor-parallel size: ranks that shard each expert matrix.
    pub expert_tensor_parallel: u64,
    /// Data-parallel sharding (ZeRO stage, FSDP or HSDP).
    pub sharding: Sharding,
    /// Devices used per scale-up domain; `None`: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub segment: Option<u64>,
    /// Order of parallel dimensions in the rank layout.
    pub rank_order: RankOrder,
    /// Micro-batch size in sequences, per replica.
    pub micro_batch: u64,
    /// Global batch size in sequences.
    pub global_batch: u64,
    /// Sequence length in tokens.
    pub sequence_length: u64,
    /// Number formats.
    pub precision: Precision,
    /// Optimizer.
    pub optimizer: Optimizer,
    /// Rank and targets of LoRA adapters; `None` if all weights are trained. Read through
    /// [`Plan::adapters`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lora: Option<Lora>,
    /// Number format of the frozen weights under adapters.
    #[serde(default)]
    pub frozen_weights: FrozenWeights,
    /// Activation checkpointing policy.
    pub recompute: Recompute,
    /// Recompute and offload of each pipeline stage (or of each virtual stage, in pipeline order); `None`:
    /// [`Plan::recompute`] on all stages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stage_recompute: Option<Vec<StageRecompute>>,
    /// Tensors in host memory.
    pub offload: Offload,
    /// Pipeline schedule.
    pub schedule: Schedule,
    /// Layers per virtual stage in pipeline order; `None`: even division.
    pub layers_per_stage: Option<Vec<u64>>,
    /// Communication that overlaps with compute.
    pub overlap: Overlap,
    /// Attention kernel.
    pub attention_kernel: AttentionKernel,
    /// Software generation, an identifier of `catalog/software.toml`.
    pub software: String,
    /// True if dropout is on, which adds masks to memory and passes to time.
    pub dropout: bool,
    /// Load of the busiest expert relative to the mean; 1 is balanced.
    pub expert_imbalance: f64,
    /// Expert capacity factor: maximum tokens per expert relative to the mean; `None` is dropless.
    pub expert_capacity: Option<f64>,
    /// Mean length in tokens of the documents packed into a sequence; attention does not cross documents.
    /// `None`: one document per sequence.
    pub document_length: Option<u64>,
    /// Coefficient of variation of the lengths of these documents (standard deviation over mean).
    pub document_length_cv: f64,
    /// Multiple to which the vocabulary is padded, times the tensor-parallel size (Megatron: 128); 1: none.
    pub vocabulary_multiple: u64,
}

/// Context-parallel algorithm: sharding of a sequence over ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ContextKind {
    /// Keys and values are sent around a ring, overlapped with attention. Causal load is balanced by pairing
    /// both ends of the sequence.
    Ring,
    /// Keys and values are gathered before attention.
    AllGather,
    /// All-to-all turns sequence shards into head shards (DeepSpeed Ulysses).
    Ulysses,
}

/// Tensors sharded over data-parallel ranks.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Sharding {
    /// ZeRO stage. 0: nothing, 1: optimizer states, 2: also gradients, 3: also parameters (FSDP full shard).
    pub zero_stage: u8,
    /// Ranks that share one copy; `None`: all data-parallel ranks. Smaller groups are hybrid sharding, with
    /// a replica per group.
    pub group: Option<u64>,
    /// With stage 3: true if parameters are freed after the forward pass and gathered again.
    pub reshard_after_forward: bool,
}

impl Sharding {
    /// DeepSpeed's ZeRO of a stage over all data-parallel ranks. Stage 3 gathers parameters again in the
    /// backward pass.
    pub const fn zero(zero_stage: u8) -> Self {
        Self { zero_stage, group: None, reshard_after_forward: zero_stage == 3 }
    }
}

/// Order of parallel dimensions in the rank layout, innermost first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum RankOrder {
    /// Tensor, context, expert, data, pipeline: Megatron's default.
    #[serde(rename = "tp-cp-ep-dp-pp")]
    TensorContextDataPipeline,
    /// Tensor, context, pipeline, data: Megatron's `--use-tp-pp-dp-mapping`.
    #[serde(rename = "tp-cp-pp-ep-dp")]
    TensorContextPipelineData,
}

/// Number formats of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Precision {
    /// GEMMs.
    pub compute: DataType,
    /// Parameters in the forward pass.
    pub parameters: DataType,
    /// Gradient accumulation.
    pub gradients: DataType,
    /// Gradients during reduction.
    pub gradient_reduce: DataType,
    /// Master weights; `None`: none are kept.
    pub master: Option<DataType>,
    /// Optimizer moments.
    pub moments: DataType,
    /// Activations between GEMMs.
    pub activations: DataType,
    /// True if attention GEMMs run in the compute format too (rare).
    pub narrow_attention: bool,
}

impl Precision {
    /// Format of GEMMs that do not use the weights' narrow format: head, router and attention. Matrix units
    /// read 32-bit activations in the 32-bit format of the other GEMMs, such as TF32.
    pub fn wide_products(&self) -> DataType {
        let is_single = |format: DataType| format.bytes() > 2.0;
        if is_single(self.activations) && is_single(self.compute) { self.compute } else { self.activations }
    }
}

/// An optimizer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Optimizer {
    /// Adam or AdamW: two moments.
    Adam,
    /// Momentum SGD: one moment.
    Sgd,
    /// Lion: one moment.
    Lion,
    /// Muon on matrices: one moment, and Newton-Schulz iterations.
    Muon,
    /// Adafactor: factored second moment.
    Adafactor,
    /// Low-rank adapters: frozen base weights, adapters trained by Adam.
    Lora,
}

/// Activation checkpointing policy: activations that the backward pass recomputes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", tag = "mode")]
pub enum Recompute {
    /// No recompute.
    None,
    /// Some modules of every layer (or of the first `layers` of each stage).
    Selective {
        /// Recomputed modules.
        modules: BTreeSet<RecomputeModule>,
        /// Layers per stage with recompute; `None`: all.
        layers: Option<u64>,
    },
    /// Whole layers (or the first `layers` of each stage). Only the input of a layer is kept.
    Full {
        /// Layers per stage with recompute; `None`: all.
        layers: Option<u64>,
    },
}

/// A module of a layer that can be recomputed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum RecomputeModule {
    /// Core attention: scores, softmax, dropout, and the product with values (Korthikanti's selective
    /// recompute).
    CoreAttention,
    /// Norms.
    Norm,
    /// Activation between the MLP's matrices.
    Activation,
    /// The whole dense MLP.
    Mlp,
    /// The whole expert block.
    Moe,
    /// The up-projections of latent attention.
    LatentUpProjection,
    /// Every second GEMM and all inexpensive operators (torch's op-selective policy).
    Operators,
}

/// Tensors offloaded to host memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Offload {
    /// Share of the optimizer states, 0 to 1, updated on the CPU.
    pub optimizer: f64,
    /// Share of the activations of each layer, 0 to 1.
    pub activations: f64,
    /// Share of the parameters, 0 to 1.
    pub parameters: f64,
}

/// Communication that overlaps with compute.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Overlap {
    /// Gradient reduction with the backward pass.
    pub gradient_reduce: bool,
    /// Parameter gathering with the forward pass.
    pub parameter_gather: bool,
    /// Tensor-parallel communication with GEMMs (async TP, userbuffers).
    pub tensor: bool,
    /// Pipeline send and receive with compute.
    pub pipeline: bool,
    /// Expert all-to-all with compute.
    pub expert: bool,
}

/// Kernel of softmax attention.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum AttentionKernel {
    /// Default of the software generation on the accelerator.
    Auto,
    /// Separate GEMMs and softmax, with scores in memory.
    Unfused,
    /// FlashAttention 1.
    Flash1,
    /// FlashAttention 2.
    Flash2,
    /// FlashAttention 3, cuDNN of the same generation, or newer.
    Flash3,
}

impl AttentionKernel {
    /// Name in run files and in keys of the catalogue.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Unfused => "unfused",
            Self::Flash1 => "flash1",
            Self::Flash2 => "flash2",
            Self::Flash3 => "flash3",
        }
    }

    /// Tests whether the kernel runs on an architecture. FlashAttention 2 requires Ampere or newer and
    /// FlashAttention 3 Hopper or newer (requirements in the README of the `flash-attn` package).
    /// Architectures of other vendors have kernels of their own.
    pub fn runs_on(self, architecture: &str) -> bool {
        let is_any = |names: &[&str]| names.contains(&architecture);
        match self {
            Self::Auto | Self::Unfused | Self::Flash1 => true,
            Self::Flash2 => !is_any(&["Pascal", "Volta", "Turing"]),
            Self::Flash3 => !is_any(&["Pascal", "Volta", "Turing", "Ampere", "Ada"]),
        }
    }
}

impl Plan {
    /// Tests whether recompute by operators repeats every product. PyTorch's list of operators that it keeps
    /// (`compute_intensive_ops`) has products in 16 and 8 bits, but not `torch.nn.functional.scaled_mm`,
    /// which torchao's NVFP4 layers call (`nvfp4_linear.py`).
    pub fn recomputes_products(&self) -> bool {
        self.precision.compute == DataType::Nvfp4
    }

    /// Load of the busiest rank of experts relative to the mean. Without expert parallelism each rank has all
    /// experts, so their imbalance makes no rank wait. A capacity drops what exceeds it.
    pub fn expert_load(&self) -> f64 {
        let imbalance = if self.expert_parallel > 1 { self.expert_imbalance } else { 1.0 };
        self.expert_capacity.map_or(imbalance, |capacity| imbalance.min(capacity))
    }

    /// Gradient reductions of each parameter per step, as set by sharding.
    ///
    /// Sharded gradients (ZeRO-2) leave no room to accumulate a whole copy, so every micro-batch reduces its
    /// own. With interleaved stages, a chunk runs the backward passes of as many consecutive
    /// micro-batches as there are stages. One whole copy of a chunk is then enough, and each such round
    /// is reduced once. Stages of one chunk alternate between micro-batches. Frameworks then keep whole
    /// gradients and reduce once, as with ZeRO-1 (PyTorch's pipelines disable gradient synchronization
    /// until the last micro-batch).
    pub fn gradient_reductions(&self, micro_batches: u64) -> u64 {
        match (self.sharding.zero_stage, self.pipeline_parallel, self.virtual_stages) {
            (2, 0 | 1, _) => micro_batches,
            (2, stages, 2..) => micro_batches.div_ceil(stages),
            _ => 1,
        }
    }

    /// True if gradients are stored as shards between backward passes, see [`Self::gradient_reductions`].
    pub fn holds_gradient_shards(&self) -> bool {
        let is_one_chunk = self.pipeline_parallel > 1 && self.virtual_stages <= 1;
        let is_fully_sharded = self.sharding.zero_stage >= 3 && !self.gathers_once();
        is_fully_sharded || (self.sharding.zero_stage == 2 && !is_one_chunk)
    }

    /// True if a pipeline stage gathers its parameters once a step, in its first micro-batch, and reduces its
    /// gradients once, in its last: full sharding without resharding. PyTorch's pipelines set
    /// `set_reshard_after_backward(False)` and `set_requires_gradient_sync(False)` until the last backward
    /// pass (torch, distributed/pipelining/stage.py).
    pub fn gathers_once(&self) -> bool {
        let Sharding { zero_stage, reshard_after_forward, .. } = self.sharding;
        self.pipeline_parallel > 1 && zero_stage >= 3 && !reshard_after_forward
    }

    /// Canonical form among plans with equal placement: the first context-parallel algorithm on one context
    /// rank, the first rank order without pipeline stages or without replicas, and no overlap of an exchange
    /// that does not exist.
    #[must_use]
    pub fn placed_alike(mut self) -> Self {
        if self.context_parallel == 1 {
            self.context_kind = ContextKind::Ring;
        }
        if self.pipeline_parallel == 1 || self.data_parallel == 1 {
            self.rank_order = RankOrder::TensorContextDataPipeline;
        }
        self.overlap.expert &= self.expert_parallel > 1;
        self
    }

    /// World size: number of ranks.
    pub fn world_size(&self) -> u64 {
        self.tensor_parallel * self.context_parallel * self.pipeline_parallel * self.data_parallel
    }

    /// Micro-batches per replica and step.
    pub fn micro_batches(&self) -> u64 {
        self.global_batch / (self.micro_batch * self.data_parallel).max(1)
    }

    /// True if the passes of a stage alternate over several chunks.
    pub fn is_interleaved(&self) -> bool {
        self.schedule.interleaves() && self.virtual_stages > 1
    }

    /// Counts that the schedule depends on.
    pub fn counts(&self) -> Counts {
        Counts {
            stages: self.pipeline_parallel,
            virtual_stages: self.virtual_stages,
            micro_batches: self.micro_batches(),
        }
    }

    /// Tokens per step.
    pub fn tokens_per_step(&self) -> u64 {
        self.global_batch * self.sequence_length
    }

    /// Ranks that share one copy of sharded dense weights.
    pub fn shard_group(&self) -> u64 {
        let all = self.data_parallel * self.context_parallel;
        if self.sharding.zero_stage == 0 { 1 } else { self.sharding.group.unwrap_or(all).min(all).max(1) }
    }

    /// Replicas of each expert's weights.
    pub fn expert_data_parallel(&self) -> u64 {
        let ranks = self.tensor_parallel * self.context_parallel * self.data_parallel;
        (ranks / (self.expert_parallel * self.expert_tensor_parallel).max(1)).max(1)
    }
}

impl Recompute {
    /// Selective recompute of core attention in every layer, as Megatron's `--recompute-activations`.
    pub fn core_attention() -> Self {
        Self::Selective { modules: BTreeSet::from([RecomputeModule::CoreAttention]), layers: None }
    }
}
