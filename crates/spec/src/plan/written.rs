//! A plan as a complete specification.

use super::{LoraTargets, Master, Plan, PlanSpec, Segment};

impl PlanSpec {
    /// The specification that resolves to exactly this plan for any model and cluster, for writing a found
    /// plan.
    pub fn from_plan(plan: &Plan) -> Self {
        Self {
            tensor_parallel: Some(plan.tensor_parallel),
            sequence_parallel: Some(plan.sequence_parallel),
            pipeline_parallel: Some(plan.pipeline_parallel),
            virtual_stages: Some(plan.virtual_stages),
            context_parallel: Some(plan.context_parallel),
            context_kind: Some(plan.context_kind),
            data_parallel: Some(plan.data_parallel),
            expert_parallel: Some(plan.expert_parallel),
            expert_tensor_parallel: Some(plan.expert_tensor_parallel),
            sharding: Some(plan.sharding),
            segment: Some(plan.segment.map_or(Segment::Whole, Segment::Devices)),
            rank_order: Some(plan.rank_order),
            micro_batch: Some(plan.micro_batch),
            global_batch: Some(plan.global_batch),
            micro_batches: None,
            batch_tokens: None,
            sequence_length: Some(plan.sequence_length),
            precision: None,
            precision_compute: Some(plan.precision.compute),
            precision_parameters: Some(plan.precision.parameters),
            precision_gradients: Some(plan.precision.gradients),
            precision_gradient_reduce: Some(plan.precision.gradient_reduce),
            precision_master: Some(Master(plan.precision.master)),
            precision_moments: Some(plan.precision.moments),
            precision_activations: Some(plan.precision.activations),
            precision_narrow_attention: Some(plan.precision.narrow_attention),
            optimizer: Some(plan.optimizer),
            lora_rank: plan.adapters().map(|lora| lora.rank),
            lora_targets: plan.adapters().map(|lora| LoraTargets(lora.targets)),
            recompute: Some(plan.recompute.clone()),
            stage_recompute: plan.stage_recompute.clone(),
            offload_optimizer: Some(plan.offload.optimizer),
            offload_activations: Some(plan.offload.activations),
            offload_parameters: Some(plan.offload.parameters),
            schedule: Some(plan.schedule),
            layers_per_stage: plan.layers_per_stage.clone(),
            uneven_stages: None,
            overlap_gradient_reduce: Some(plan.overlap.gradient_reduce),
            overlap_parameter_gather: Some(plan.overlap.parameter_gather),
            overlap_tensor: Some(plan.overlap.tensor),
            overlap_pipeline: Some(plan.overlap.pipeline),
            overlap_expert: Some(plan.overlap.expert),
            attention_kernel: Some(plan.attention_kernel),
            software: Some(plan.software.clone()),
            dropout: Some(plan.dropout),
            expert_imbalance: Some(plan.expert_imbalance),
            expert_capacity: plan.expert_capacity,
            document_length: plan.document_length,
            vocabulary_multiple: Some(plan.vocabulary_multiple),
        }
    }
}
