//! How a model is trained: parallel degrees, batch, precision, recompute, schedule, overlap.
//!
//! Responsible for: the choices, and whether they are possible ([`validate`]). Refuses to know how long anything takes.

mod batch;
mod degrees;
mod layout;
mod lora;
mod names;
mod precision_preset;
mod resolve;
mod schedule;
mod segment;
mod spec;
mod stage_recompute;
mod uneven;
mod validate;
mod written;
pub use batch::{default_batch, divided_batch, divisible_batch, is_divided, usual_batch};
pub(crate) use degrees::MOST_DEVICES;
pub use degrees::expert_count;
pub use layout::{Group, Layout};
pub use lora::{Adapter, Lora, LoraTarget, LoraTargets};
pub use names::Master;
pub use precision_preset::PrecisionPreset;
pub use schedule::{Chunks, Counts, Need, Placement, Refusal, Schedule, ScheduleFacts};
pub use segment::Segment;
pub use spec::PlanSpec;
pub use stage_recompute::StageRecompute;
pub use uneven::{StageSplit, balanced_layers, by_compute, light_head, uneven_layers};
pub use validate::{validate, warnings};

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
    /// Ranks that share each matrix.
    pub tensor_parallel: u64,
    /// Whether norms and dropouts between the cut matrices are cut along the sequence (Korthikanti 2022).
    pub sequence_parallel: bool,
    /// Pipeline stages.
    pub pipeline_parallel: u64,
    /// Model chunks per stage (interleaving), 1 for none.
    pub virtual_stages: u64,
    /// Ranks that share each sequence.
    pub context_parallel: u64,
    /// How they share it.
    pub context_kind: ContextKind,
    /// Replicas of the model (shards included).
    pub data_parallel: u64,
    /// Ranks among which routed experts are spread.
    pub expert_parallel: u64,
    /// Ranks that share each expert matrix.
    pub expert_tensor_parallel: u64,
    /// Tensors that data-parallel ranks shard.
    pub sharding: Sharding,
    /// Devices of each scale-up domain that the job uses; `None` uses all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub segment: Option<u64>,
    /// Which dimension lies innermost, in Megatron's notation.
    pub rank_order: RankOrder,
    /// Sequences per micro-batch and replica.
    pub micro_batch: u64,
    /// Sequences per step.
    pub global_batch: u64,
    /// Tokens per sequence.
    pub sequence_length: u64,
    /// Number formats.
    pub precision: Precision,
    /// The optimizer.
    pub optimizer: Optimizer,
    /// Rank and targets of LoRA's adapters; `None` where all weights are trained. [`Plan::adapters`] reads it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lora: Option<Lora>,
    /// What is recomputed in the backward pass.
    pub recompute: Recompute,
    /// What each pipeline stage (or each virtual stage, in pipeline order) recomputes and offloads, where they differ; `None` is
    /// [`Plan::recompute`] on all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stage_recompute: Option<Vec<StageRecompute>>,
    /// Tensors in host memory.
    pub offload: Offload,
    /// The pipeline schedule.
    pub schedule: Schedule,
    /// Layers per virtual stage in pipeline order; `None` divides evenly.
    pub layers_per_stage: Option<Vec<u64>>,
    /// Communication that overlaps with compute.
    pub overlap: Overlap,
    /// The attention kernel.
    pub attention_kernel: AttentionKernel,
    /// The software generation, an identifier of `catalog/software.toml`.
    pub software: String,
    /// Whether dropout is on (it adds masks to memory and passes to time).
    pub dropout: bool,
    /// Tokens that the busiest expert gets over the mean; 1 is balanced.
    pub expert_imbalance: f64,
    /// Tokens that an expert accepts at most, as a multiple of the mean; `None` is dropless.
    pub expert_capacity: Option<f64>,
    /// Sequences are packed from documents of this many tokens on average, so attention is cut at document ends; `None` attends
    /// over the whole sequence.
    pub document_length: Option<u64>,
    /// Multiple to which the vocabulary is padded, times tensor parallel (Megatron: 128); 1 is none.
    pub vocabulary_multiple: u64,
}

/// Sharding of a sequence over ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ContextKind {
    /// Keys and values travel around a ring, hidden behind attention; causal load balanced by pairing ends.
    Ring,
    /// Keys and values are gathered before attention.
    AllGather,
    /// All-to-all turns sequence shards into head shards (DeepSpeed Ulysses).
    Ulysses,
}

/// Tensors that data-parallel ranks shard.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Sharding {
    /// ZeRO stage: 0 nothing, 1 optimizer states, 2 and gradients, 3 and parameters (FSDP full shard).
    pub zero_stage: u8,
    /// Ranks that share one copy; `None` is all data-parallel ranks. Smaller is hybrid sharding: replicas between the groups.
    pub group: Option<u64>,
    /// With stage 3: whether parameters are dropped after the forward pass and gathered again.
    pub reshard_after_forward: bool,
}

impl Sharding {
    /// DeepSpeed's ZeRO of a stage, over all data-parallel ranks: stage 3 gathers parameters again in the backward pass.
    pub const fn zero(zero_stage: u8) -> Self {
        Self { zero_stage, group: None, reshard_after_forward: zero_stage == 3 }
    }
}

/// Which parallel dimension takes neighbouring ranks, innermost first.
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
    /// Matrix products.
    pub compute: DataType,
    /// Parameters as the forward pass keeps them.
    pub parameters: DataType,
    /// Gradient accumulation.
    pub gradients: DataType,
    /// Gradients on the wire.
    pub gradient_reduce: DataType,
    /// Master weights; `None` keeps none.
    pub master: Option<DataType>,
    /// Each optimizer moment.
    pub moments: DataType,
    /// Activations between products.
    pub activations: DataType,
    /// Whether attention's products run in the compute format too (rare).
    pub narrow_attention: bool,
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
    /// Low-rank adapters: the base weights are frozen, only adapters train, by Adam.
    Lora,
}

/// What the backward pass computes again instead of keeping.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", tag = "mode")]
pub enum Recompute {
    /// Nothing.
    None,
    /// Some modules of every layer (or of the first `layers` of each stage).
    Selective {
        /// Selection.
        modules: BTreeSet<RecomputeModule>,
        /// Layers per stage that do; `None` is all.
        layers: Option<u64>,
    },
    /// Whole layers (or the first `layers` of each stage): only a layer's input is kept.
    Full {
        /// Layers per stage that do; `None` is all.
        layers: Option<u64>,
    },
}

/// A part of a layer that can be recomputed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum RecomputeModule {
    /// Softmax attention itself: scores, softmax, dropout, and the product with values (Korthikanti's selective).
    CoreAttention,
    /// Norms.
    Norm,
    /// The activation between the MLP's matrices.
    Activation,
    /// The whole dense MLP.
    Mlp,
    /// The whole expert block.
    Moe,
    /// The up-projections of latent attention.
    LatentUpProjection,
    /// Every second matrix product and all that is cheap (torch's op-selective policy).
    Operators,
}

/// Tensors in host memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Offload {
    /// Share of the optimizer states, stepped on the CPU.
    pub optimizer: f64,
    /// Share of the activations of each layer.
    pub activations: f64,
    /// Share of the parameters.
    pub parameters: f64,
}

/// Communication that overlaps with compute.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Overlap {
    /// Gradient reduction with the backward pass.
    pub gradient_reduce: bool,
    /// Parameter gathering with the forward pass.
    pub parameter_gather: bool,
    /// Tensor-parallel communication with matrix products (async TP, userbuffers).
    pub tensor: bool,
    /// Stage-to-stage transfers with compute.
    pub pipeline: bool,
    /// Expert all-to-all with compute.
    pub expert: bool,
}

/// The kernel that runs softmax attention.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum AttentionKernel {
    /// What the software generation uses on the accelerator.
    Auto,
    /// Separate products and softmax, scores in memory.
    Unfused,
    /// FlashAttention 1.
    Flash1,
    /// FlashAttention 2.
    Flash2,
    /// FlashAttention 3 or cuDNN of that generation, or newer.
    Flash3,
}

impl AttentionKernel {
    /// The name in run files and in keys of the catalogue.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Unfused => "unfused",
            Self::Flash1 => "flash1",
            Self::Flash2 => "flash2",
            Self::Flash3 => "flash3",
        }
    }
}

impl Plan {
    /// How often a step reduces the gradients of each parameter, as far as sharding decides it.
    ///
    /// Sharded gradients (ZeRO-2) have no room for a whole copy to add up in, so every micro-batch reduces its own. With interleaved stages a
    /// chunk runs the backward passes of as many micro batches as there are stages one after another, so a whole copy of one chunk is enough
    /// and each such round is reduced once. Stages of one chunk alternate between micro batches: frameworks then keep whole gradients and
    /// reduce once, as ZeRO-1 does (PyTorch's pipelines switch gradient synchronisation off until the last micro batch).
    pub fn gradient_reductions(&self, micro_batches: u64) -> u64 {
        match (self.sharding.zero_stage, self.pipeline_parallel, self.virtual_stages) {
            (2, 0 | 1, _) => micro_batches,
            (2, stages, 2..) => micro_batches.div_ceil(stages),
            _ => 1,
        }
    }

    /// Whether gradients are held in shards between backward passes: see [`Self::gradient_reductions`].
    pub fn holds_gradient_shards(&self) -> bool {
        let is_one_chunk = self.pipeline_parallel > 1 && self.virtual_stages <= 1;
        self.sharding.zero_stage >= 3 || (self.sharding.zero_stage == 2 && !is_one_chunk)
    }

    /// The plan with the first value of each choice that places every rank equally: the kind of context parallelism on one context rank, and
    /// the order of ranks without stages or without replicas.
    #[must_use]
    pub fn placed_alike(mut self) -> Self {
        if self.context_parallel == 1 {
            self.context_kind = ContextKind::Ring;
        }
        if self.pipeline_parallel == 1 || self.data_parallel == 1 {
            self.rank_order = RankOrder::TensorContextDataPipeline;
        }
        self
    }

    /// Ranks in all.
    pub fn world_size(&self) -> u64 {
        self.tensor_parallel * self.context_parallel * self.pipeline_parallel * self.data_parallel
    }

    /// Micro batches per replica and step.
    pub fn micro_batches(&self) -> u64 {
        self.global_batch / (self.micro_batch * self.data_parallel).max(1)
    }

    /// Whether each stage's passes alternate over several chunks of it.
    pub fn is_interleaved(&self) -> bool {
        self.schedule.interleaves() && self.virtual_stages > 1
    }

    /// The counts that the schedule depends on.
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

    /// Ranks that share one copy of what is sharded (dense weights).
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
