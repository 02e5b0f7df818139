//! A plan as written by the user: all fields are optional.
//!
//! Responsible for: the table of keys and their defaults. Excludes resolution of defaults, see `resolve`.

use super::names::Master;
use super::precision_preset::PrecisionPreset;
use super::{
    AttentionKernel, AutoSize, ContextKind, FrozenWeights, Lora, LoraTargets, Optimizer, RankOrder,
    Recompute, Schedule, Segment, Sharding, StageRecompute,
};
use crate::precision::DataType;
use crate::run::Amount;
use crate::run::section::section;

section! {
    /// The section `plan`: settings of the training plan.
    PlanSpec in "plan" {
        /// Tensor-parallel size (TP), or `auto`: ranks that shard each weight matrix.
        tensor_parallel: u64 = "tensor_parallel", "1, or chosen to fit if no parallel size is set";
        /// Shard norms, dropout and residuals along the sequence.
        sequence_parallel: bool = "sequence_parallel", "true if tensor_parallel > 1 and the software supports it";
        /// Pipeline-parallel size (PP), or `auto`: number of stages.
        pipeline_parallel: u64 = "pipeline_parallel", "1, or chosen to fit if no parallel size is set";
        /// Virtual pipeline stages (VPP): model chunks per stage, for interleaving.
        virtual_stages: u64 = "virtual_stages", "1, or 2 for zb-v";
        /// Context-parallel size (CP), or `auto`: ranks that shard each sequence.
        context_parallel: u64 = "context_parallel", "1";
        /// Context-parallel algorithm.
        context_kind: ContextKind = "context_kind", "ring if the software supports it, else its first supported kind";
        /// Data-parallel size (DP), sharded replicas included.
        data_parallel: u64 = "data_parallel", "devices / (tensor x context x pipeline)";
        /// Expert-parallel size (EP), or `auto`: ranks that share the routed experts.
        expert_parallel: u64 = "expert_parallel", "1, or chosen to fit if no parallel size is set";
        /// Expert tensor-parallel size (ETP): ranks that shard each expert matrix.
        expert_tensor_parallel: u64 = "expert_tensor_parallel", "tensor_parallel; 1 if expert_parallel > 1, except in Megatron-Core of 2024";
        /// Parallel sizes to choose in addition to those that are set: a list of `tp`, `pp`, `cp` and `ep`.
        auto: Vec<AutoSize> = "auto", "all, if no parallel size is set";
        /// Data-parallel sharding (ZeRO stage, FSDP or HSDP).
        sharding: Sharding = "sharding", "set by the software: zero1 in Megatron-Core if DP > 1, fsdp in torchtitan";
        /// GPUs used per scale-up domain, such as 64 of 72 in an NVL72 rack, or `whole`.
        segment: Segment = "segment", "whole domains if the GPU count is a multiple of them, else the largest such number of whole nodes";
        /// Order of parallel dimensions in the rank layout, innermost first.
        rank_order: RankOrder = "rank_order", "tp-cp-ep-dp-pp";
        /// Micro-batch size in sequences, per replica.
        micro_batch: u64 = "micro_batch", "1";
        /// Global batch size in sequences.
        global_batch: u64 = "global_batch", "published batch of Llama 3 405B and DeepSeek-V3; else 4 Mi tokens. Above 4,096 GPUs: one sequence per 8 GPUs, at most 16 Mi tokens";
        /// Micro-batches per replica and step (alternative to global_batch).
        micro_batches: u64 = "micro_batches", "computed from global_batch";
        /// Global batch size in tokens, rounded to whole micro-batches (alternative to global_batch).
        batch_tokens: Amount = "batch_tokens", "computed from global_batch";
        /// Sequence length in tokens.
        sequence_length: u64 = "sequence_length", "as published for Llama 3 405B and DeepSeek-V3; else the model's maximum, at most 8192";
        /// Precision preset: sets all number formats.
        precision: PrecisionPreset = "precision.preset", "bf16, or fp16 if the accelerator lacks bf16";
        /// Number format of GEMMs.
        precision_compute: DataType = "precision.compute", "set by the preset";
        /// Number format of parameters in the forward pass.
        precision_parameters: DataType = "precision.parameters", "set by the preset";
        /// Number format of gradient accumulation.
        precision_gradients: DataType = "precision.gradients", "set by the software: fp32 in Megatron-Core and torchtitan, fp16 for fp16";
        /// Number format of gradients during reduction.
        precision_gradient_reduce: DataType = "precision.gradient_reduce", "set by the software: fp32 in Megatron-Core and torchtitan, fp16 for fp16";
        /// Number format of master weights.
        precision_master: Master = "precision.master", "set by the preset";
        /// Number format of optimizer moments.
        precision_moments: DataType = "precision.moments", "set by the preset";
        /// Number format of activations between GEMMs.
        precision_activations: DataType = "precision.activations", "set by the preset";
        /// Run attention GEMMs in the narrow format too.
        precision_narrow_attention: bool = "precision.narrow_attention", "false";
        /// Optimizer.
        optimizer: Optimizer = "optimizer", "adam, or lora if its rank, its targets or the format of frozen weights is set";
        /// LoRA rank.
        lora_rank: u64 = "lora_rank", "16 if the optimizer is lora";
        /// LoRA target modules, by PEFT's or Megatron's names, such as `q_proj`, `linear_qkv` or `all-linear`.
        lora_targets: LoraTargets = "lora_targets", "all-linear if the optimizer is lora";
        /// Number format of the frozen weights under LoRA adapters: `parameters`, or `nf4` for matrices in four bits (QLoRA).
        frozen_weights: FrozenWeights = "frozen_weights", "parameters";
        /// Activation checkpointing policy.
        recompute: Recompute = "recompute", "none, or as much as the plan needs to fit";
        /// Activation checkpointing per stage: one entry each, such as `full:3 core_attention+mlp:4 offload:0.5`.
        stage_recompute: Vec<StageRecompute> = "stage_recompute", "`recompute` on all stages";
        /// Share of optimizer states offloaded to and updated on the host, 0 to 1.
        offload_optimizer: f64 = "offload.optimizer", "0";
        /// Share of activations offloaded to host memory, 0 to 1.
        offload_activations: f64 = "offload.activations", "0";
        /// Share of parameters offloaded to host memory, 0 to 1.
        offload_parameters: f64 = "offload.parameters", "0";
        /// Pipeline schedule.
        schedule: Schedule = "schedule", "1f1b";
        /// Layers per virtual stage, in pipeline order.
        layers_per_stage: Vec<u64> = "layers_per_stage", "even division";
        /// Allow uneven layers per stage, with fewer on the first and last stage.
        uneven_stages: bool = "uneven_stages", "false";
        /// Overlap gradient reduction with the backward pass.
        overlap_gradient_reduce: bool = "overlap.gradient_reduce", "set by the software: true in Megatron-Core and torchtitan";
        /// Overlap parameter all-gather with the forward pass.
        overlap_parameter_gather: bool = "overlap.parameter_gather", "set by the software: true in Megatron-Core and torchtitan";
        /// Overlap tensor-parallel communication with GEMMs.
        overlap_tensor: bool = "overlap.tensor", "set by the software: true in Megatron-Core with sequence parallelism, false in torchtitan";
        /// Overlap pipeline send and receive with compute.
        overlap_pipeline: bool = "overlap.pipeline", "set by the software: true in torchtitan, true in Megatron-Core with virtual stages";
        /// Overlap expert all-to-all with compute.
        overlap_expert: bool = "overlap.expert", "set by the software: true in Megatron-Core since mid 2026 with virtual stages, false in torchtitan";
        /// Attention kernel.
        attention_kernel: AttentionKernel = "attention_kernel", "auto";
        /// Framework version: an identifier from the catalogue.
        software: String = "software", "torchtitan-2025 for FSDP without TP and PP; else megatron-core-2026-06 on Blackwell and newer, megatron-core-2025 on older GPUs";
        /// Enable dropout.
        dropout: bool = "dropout", "set by the software: false since 2022";
        /// Load of the rank with the busiest experts, relative to the mean: 1 if a benchmark forces balance, 1.5 with an auxiliary loss.
        expert_imbalance: f64 = "expert_imbalance", "1.25 for mixtures of experts, 1.04 if a bias balances them; 1 for dense models and with expert_capacity";
        /// Expert capacity factor: maximum tokens per expert relative to the mean.
        expert_capacity: f64 = "expert_capacity", "no limit";
        /// Mean document length in packed sequences, in tokens.
        document_length: u64 = "document_length", "one document per sequence";
        /// Coefficient of variation of document lengths: standard deviation over mean.
        document_length_cv: f64 = "document_length_cv", "0 (equal lengths)";
        /// Pad the vocabulary to a multiple of this value times tensor_parallel.
        vocabulary_multiple: u64 = "vocabulary_multiple", "set by the software: 128 in Megatron-Core";
    }
}

impl PlanSpec {
    /// True if adapters are trained: LoRA is specified, or no optimizer is and a rank, targets or frozen
    /// weights are.
    pub fn trains_adapters(&self) -> bool {
        let is_implied = self.has_adapter_settings() || self.frozen_weights.is_some();
        self.optimizer.map_or(is_implied, |optimizer| optimizer == Optimizer::Lora)
    }

    fn has_adapter_settings(&self) -> bool {
        self.lora_rank.is_some() || self.lora_targets.is_some()
    }

    /// Adapters of a plan: always with LoRA, else only if specified, which [`super::warnings`] reports.
    pub(super) fn adapters(&self) -> Option<Lora> {
        let usual = Lora::default();
        (self.trains_adapters() || self.has_adapter_settings()).then(|| Lora {
            rank: self.lora_rank.unwrap_or(usual.rank),
            targets: self.lora_targets.clone().map_or(usual.targets, |LoraTargets(targets)| targets),
        })
    }
}

#[cfg(test)]
mod tests;
