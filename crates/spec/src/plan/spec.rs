//! A plan as a user writes it: every field optional, resolved to a [`Plan`] with the model and the cluster.

use super::degrees::{self, Degrees};
use super::names::Master;
use super::precision_preset::PrecisionPreset;
use super::validate::balanced_layers;
use super::{
    AttentionKernel, ContextKind, Offload, Optimizer, Overlap, Plan, Precision, RankOrder, Recompute,
    Schedule, Sharding, StageRecompute,
};
use crate::cluster::Cluster;
use crate::model::Model;
use crate::precision::DataType;
use crate::problem::Problem;
use crate::run::Amount;
use crate::run::section::section;

section! {
    /// The section `plan`: how the model is trained.
    PlanSpec in "plan" {
        /// Ranks that share each matrix.
        tensor_parallel: u64 = "tensor_parallel", "1; chosen so that the model fits when no degree at all is given";
        /// Whether what lies between the cut matrices is cut along the sequence.
        sequence_parallel: bool = "sequence_parallel", "true when tensor_parallel is above 1";
        /// Pipeline stages.
        pipeline_parallel: u64 = "pipeline_parallel", "1; chosen so that the model fits when no degree at all is given";
        /// Model chunks per pipeline stage (interleaving).
        virtual_stages: u64 = "virtual_stages", "1; 2 for zb-v";
        /// Ranks that share each sequence.
        context_parallel: u64 = "context_parallel", "1";
        /// How ranks share a sequence.
        context_kind: ContextKind = "context_kind", "ring";
        /// Replicas of the model, shards included.
        data_parallel: u64 = "data_parallel", "devices / (tensor x context x pipeline)";
        /// Ranks among which routed experts are spread.
        expert_parallel: u64 = "expert_parallel", "1; chosen so that the model fits when no degree at all is given";
        /// Ranks that share each expert matrix.
        expert_tensor_parallel: u64 = "expert_tensor_parallel", "1 when expert_parallel is above 1, else tensor_parallel";
        /// What data-parallel ranks shard, and among how many.
        sharding: Sharding = "sharding", "zero1 when there is more than one data-parallel rank";
        /// Which parallel dimension takes neighbouring ranks, innermost first.
        rank_order: RankOrder = "rank_order", "tp-cp-ep-dp-pp";
        /// Sequences per micro batch and replica.
        micro_batch: u64 = "micro_batch", "1";
        /// Sequences per step.
        global_batch: u64 = "global_batch", "the least that fills 4 Mi tokens and the pipeline";
        /// Micro batches per replica and step, instead of global_batch.
        micro_batches: u64 = "micro_batches", "follows from global_batch";
        /// Tokens per step, instead of global_batch; rounded to whole micro batches.
        batch_tokens: Amount = "batch_tokens", "follows from global_batch";
        /// Tokens per sequence.
        sequence_length: u64 = "sequence_length", "what the model declares, at most 8192";
        /// All number formats at once.
        precision: PrecisionPreset = "precision.preset", "bf16; fp16 where the accelerator has no bf16";
        /// Format of matrix products.
        precision_compute: DataType = "precision.compute", "as the preset";
        /// Format of parameters as the forward pass keeps them.
        precision_parameters: DataType = "precision.parameters", "as the preset";
        /// Format of gradient accumulation.
        precision_gradients: DataType = "precision.gradients", "as the preset";
        /// Format of gradients on the wire.
        precision_gradient_reduce: DataType = "precision.gradient_reduce", "as precision.gradients";
        /// Format of master weights.
        precision_master: Master = "precision.master", "as the preset";
        /// Format of each optimizer moment.
        precision_moments: DataType = "precision.moments", "as the preset";
        /// Format of activations between products.
        precision_activations: DataType = "precision.activations", "as the preset";
        /// Whether attention's products run in a narrow format too.
        precision_narrow_attention: bool = "precision.narrow_attention", "false";
        /// The optimizer.
        optimizer: Optimizer = "optimizer", "adam";
        /// What the backward pass computes again instead of keeping.
        recompute: Recompute = "recompute", "none";
        /// The same stage by stage, each an entry such as `full:3 core_attention+mlp:4 offload:0.5`: policies along its layers.
        stage_recompute: Vec<StageRecompute> = "stage_recompute", "recompute on every stage";
        /// Share of the optimizer states kept and stepped on the host, 0 to 1.
        offload_optimizer: f64 = "offload.optimizer", "0";
        /// Share of the activations kept in host memory, 0 to 1.
        offload_activations: f64 = "offload.activations", "0";
        /// Share of the parameters kept in host memory, 0 to 1.
        offload_parameters: f64 = "offload.parameters", "0";
        /// The pipeline schedule.
        schedule: Schedule = "schedule", "1f1b";
        /// Layers per virtual stage in pipeline order.
        layers_per_stage: Vec<u64> = "layers_per_stage", "even division";
        /// Whether layers that do not divide may be spread unevenly, the fewer at the two ends.
        uneven_stages: bool = "uneven_stages", "false";
        /// Whether gradients are reduced beside the backward pass.
        overlap_gradient_reduce: bool = "overlap.gradient_reduce", "true";
        /// Whether sharded parameters are gathered beside the forward pass.
        overlap_parameter_gather: bool = "overlap.parameter_gather", "true";
        /// Whether tensor-parallel communication runs beside matrix products.
        overlap_tensor: bool = "overlap.tensor", "false";
        /// Whether stage-to-stage transfers run beside compute.
        overlap_pipeline: bool = "overlap.pipeline", "true when interleaved";
        /// Whether the experts' all-to-all runs beside compute.
        overlap_expert: bool = "overlap.expert", "false";
        /// The kernel of softmax attention.
        attention_kernel: AttentionKernel = "attention_kernel", "auto";
        /// The software generation, an identifier of the catalogue.
        software: String = "software", "megatron-core-2025";
        /// Whether dropout is on.
        dropout: bool = "dropout", "false";
        /// Tokens that the busiest expert gets over the mean.
        expert_imbalance: f64 = "expert_imbalance", "1";
        /// Tokens that an expert accepts at most, as a multiple of the mean.
        expert_capacity: f64 = "expert_capacity", "no limit";
        /// Mean length of the documents that sequences are packed from.
        document_length: u64 = "document_length", "one document per sequence";
        /// Multiple to which the vocabulary is padded, times tensor_parallel.
        vocabulary_multiple: u64 = "vocabulary_multiple", "128";
    }
}

/// The software generation that holds without another.
pub const DEFAULT_SOFTWARE: &str = "megatron-core-2025";

impl Plan {
    /// A plan that should fit, for somebody who has not chosen anything yet. It is a start, not an optimum: the search
    /// finds that.
    pub fn default_for(model: &Model, cluster: &Cluster) -> Result<Self, Problem> {
        PlanSpec::default().resolve(model, cluster)
    }
}

impl PlanSpec {
    /// Fills in everything that is open. What contradicts itself is refused; whether the plan is possible at all is
    /// [`super::validate`]'s to say.
    pub fn resolve(&self, model: &Model, cluster: &Cluster) -> Result<Plan, Problem> {
        let Degrees { tensor, pipeline, context, data, expert } = degrees::resolve(self, model, cluster)?;
        let schedule = self.schedule.unwrap_or(Schedule::OneForwardOneBackward);
        let two_chunks = schedule == Schedule::ZbV;
        let virtual_stages = self.virtual_stages.unwrap_or(if two_chunks { 2 } else { 1 });
        let declared = if model.max_positions == 0 { 4096 } else { model.max_positions };
        let sequence_length = self.sequence_length.unwrap_or(declared.min(8192));
        let micro_batch = self.micro_batch.unwrap_or(1);
        let global_batch = self.global_batch(micro_batch, data, pipeline, virtual_stages, sequence_length)?;
        let plan = Plan {
            tensor_parallel: tensor,
            sequence_parallel: self.sequence_parallel.unwrap_or(tensor > 1),
            pipeline_parallel: pipeline,
            virtual_stages,
            context_parallel: context,
            context_kind: self.context_kind.unwrap_or(ContextKind::Ring),
            data_parallel: data,
            expert_parallel: expert,
            expert_tensor_parallel: self.expert_tensor_parallel.unwrap_or(if expert > 1 {
                1
            } else {
                tensor
            }),
            sharding: self.sharding.unwrap_or(Sharding {
                zero_stage: u8::from(data.saturating_mul(context) > 1),
                group: None,
                reshard_after_forward: false,
            }),
            rank_order: self.rank_order.unwrap_or(RankOrder::TensorContextDataPipeline),
            micro_batch,
            global_batch,
            sequence_length,
            precision: self.precision(cluster),
            optimizer: self.optimizer.unwrap_or(Optimizer::Adam),
            recompute: self.recompute.clone().unwrap_or(Recompute::None),
            stage_recompute: self.stage_recompute.clone(),
            offload: Offload {
                optimizer: self.offload_optimizer.unwrap_or(0.0),
                activations: self.offload_activations.unwrap_or(0.0),
                parameters: self.offload_parameters.unwrap_or(0.0),
            },
            schedule,
            layers_per_stage: self.layers_per_stage(model, pipeline.saturating_mul(virtual_stages)),
            overlap: Overlap {
                gradient_reduce: self.overlap_gradient_reduce.unwrap_or(true),
                parameter_gather: self.overlap_parameter_gather.unwrap_or(true),
                tensor: self.overlap_tensor.unwrap_or(false),
                pipeline: self.overlap_pipeline.unwrap_or(virtual_stages > 1),
                expert: self.overlap_expert.unwrap_or(false),
            },
            attention_kernel: self.attention_kernel.unwrap_or(AttentionKernel::Auto),
            software: self.software.clone().unwrap_or_else(|| DEFAULT_SOFTWARE.to_owned()),
            dropout: self.dropout.unwrap_or(false),
            expert_imbalance: self.expert_imbalance.unwrap_or(1.0),
            expert_capacity: self.expert_capacity,
            document_length: self.document_length,
            vocabulary_multiple: self.vocabulary_multiple.unwrap_or(128),
        };
        Ok(plan)
    }

    fn layers_per_stage(&self, model: &Model, chunks: u64) -> Option<Vec<u64>> {
        let is_uneven = || {
            let layers = model.num_layers();
            // More chunks than twice the layers are a mistake, and validation says so.
            let sane = (1..=layers.saturating_mul(2)).contains(&chunks);
            (self.uneven_stages == Some(true) && sane && !layers.is_multiple_of(chunks))
                .then(|| balanced_layers(layers, chunks))
        };
        self.layers_per_stage.clone().or_else(is_uneven)
    }

    fn precision(&self, cluster: &Cluster) -> Precision {
        let has = |data_type| cluster.accelerator.peak.contains_key(&data_type);
        let otherwise = if has(DataType::Bf16) || !has(DataType::Fp16) {
            PrecisionPreset::Bf16
        } else {
            PrecisionPreset::Fp16
        };
        let preset = self.precision.unwrap_or(otherwise).precision();
        let gradients = self.precision_gradients.unwrap_or(preset.gradients);
        Precision {
            compute: self.precision_compute.unwrap_or(preset.compute),
            parameters: self.precision_parameters.unwrap_or(preset.parameters),
            gradients,
            gradient_reduce: self.precision_gradient_reduce.unwrap_or(gradients),
            master: self.precision_master.map_or(preset.master, |master| master.0),
            moments: self.precision_moments.unwrap_or(preset.moments),
            activations: self.precision_activations.unwrap_or(preset.activations),
            narrow_attention: self.precision_narrow_attention.unwrap_or(preset.narrow_attention),
        }
    }

    /// Sequences per step, from whichever of the three ways was used to say it.
    fn global_batch(
        &self,
        micro_batch: u64,
        data: u64,
        pipeline: u64,
        virtual_stages: u64,
        sequence_length: u64,
    ) -> Result<u64, Problem> {
        let given = [
            self.global_batch.map(|_| "plan.global_batch"),
            self.micro_batches.map(|_| "plan.micro_batches"),
            self.batch_tokens.map(|_| "plan.batch_tokens"),
        ];
        let given: Vec<&str> = given.into_iter().flatten().collect();
        if let [first, second, ..] = given.as_slice() {
            return Err(Problem::new(format!("`{first}` and `{second}` both set the batch"))
                .at_key(*second)
                .hint("keep one"));
        }
        if let Some(batch) = self.global_batch {
            return Ok(batch);
        }
        let unit = micro_batch.saturating_mul(data).max(1);
        if let Some(count) = self.micro_batches {
            return Ok(count.saturating_mul(unit));
        }
        let tokens = self.batch_tokens.map_or(4.0 * 1_048_576.0, |amount| amount.0);
        let per_unit = (unit as f64) * (sequence_length.max(1) as f64);
        let count = (tokens / per_unit).round().max(1.0) as u64;
        if self.batch_tokens.is_some() {
            return Ok(count.saturating_mul(unit));
        }
        // The default also fills the pipeline, in whole rounds where stages are interleaved (Megatron's rule).
        let count = count.max(pipeline.saturating_mul(2));
        let round = if virtual_stages > 1 { pipeline.max(1) } else { 1 };
        Ok(count.div_ceil(round).saturating_mul(round).saturating_mul(unit))
    }
}

#[cfg(test)]
mod tests;
