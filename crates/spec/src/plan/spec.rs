//! A plan as a user writes it: every field optional, resolved to a [`Plan`] with the model and the cluster.

use super::degrees::{self, Degrees};
use super::names::Master;
use super::{
    AttentionKernel, ContextKind, Offload, Optimizer, Overlap, Plan, Precision, RankOrder, Recompute,
    Schedule, Sharding,
};
use crate::cluster::Cluster;
use crate::model::Model;
use crate::precision::DataType;
use crate::problem::Problem;
use crate::run::Amount;
use crate::run::field::choice;
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

/// Number formats that belong together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PrecisionPreset {
    /// bf16 products and parameters, fp32 gradients, master weights and moments (Megatron's mixed precision).
    Bf16,
    /// fp16 products, parameters and gradients, fp32 master weights and moments.
    Fp16,
    /// fp8 products on bf16 parameters, the rest as bf16.
    Fp8,
    /// Products in block-scaled fp8, the rest as bf16.
    Mxfp8,
    /// Products in 4 bits, the rest as bf16.
    Nvfp4,
    /// 8-bit integer products, the rest as bf16.
    Int8,
    /// Products in tf32, everything else fp32.
    Tf32,
    /// Everything in fp32.
    Fp32,
}

choice!(PrecisionPreset {
    "bf16" | "bfloat16" => Self::Bf16,
    "fp16" | "float16" => Self::Fp16,
    "fp8" | "float8" => Self::Fp8,
    "mxfp8" => Self::Mxfp8,
    "nvfp4" => Self::Nvfp4,
    "int8" => Self::Int8,
    "tf32" => Self::Tf32,
    "fp32" | "float32" => Self::Fp32,
});

impl PrecisionPreset {
    /// The formats. Static memory per parameter with Adam: 18 bytes (2 + 4 + 4 + 8) for all but fp16 (16) and fp32 (16).
    pub fn precision(self) -> Precision {
        let mixed = |compute| Precision {
            compute,
            parameters: DataType::Bf16,
            gradients: DataType::Fp32,
            gradient_reduce: DataType::Fp32,
            master: Some(DataType::Fp32),
            moments: DataType::Fp32,
            activations: DataType::Bf16,
            narrow_attention: false,
        };
        let single = |compute| Precision {
            parameters: DataType::Fp32,
            master: None,
            activations: DataType::Fp32,
            ..mixed(compute)
        };
        match self {
            Self::Bf16 => mixed(DataType::Bf16),
            Self::Fp16 => Precision {
                parameters: DataType::Fp16,
                gradients: DataType::Fp16,
                gradient_reduce: DataType::Fp16,
                activations: DataType::Fp16,
                ..mixed(DataType::Fp16)
            },
            Self::Fp8 => mixed(DataType::Fp8),
            Self::Mxfp8 => mixed(DataType::Mxfp8),
            Self::Nvfp4 => mixed(DataType::Nvfp4),
            Self::Int8 => mixed(DataType::Int8),
            Self::Tf32 => single(DataType::Tf32),
            Self::Fp32 => single(DataType::Fp32),
        }
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
            offload: Offload {
                optimizer: self.offload_optimizer.unwrap_or(0.0),
                activations: self.offload_activations.unwrap_or(0.0),
                parameters: self.offload_parameters.unwrap_or(0.0),
            },
            schedule,
            layers_per_stage: self.layers_per_stage.clone(),
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

    /// The specification that resolves to exactly this plan, whatever the model and the cluster: to write down a plan that was
    /// found.
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
            recompute: Some(plan.recompute.clone()),
            offload_optimizer: Some(plan.offload.optimizer),
            offload_activations: Some(plan.offload.activations),
            offload_parameters: Some(plan.offload.parameters),
            schedule: Some(plan.schedule),
            layers_per_stage: plan.layers_per_stage.clone(),
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
mod tests {
    use super::*;
    use crate::cluster::by_name;
    use crate::model;
    use crate::plan::validate;

    fn resolved(model: &str, cluster: &str, devices: u64, spec: &PlanSpec) -> Plan {
        let (model, cluster) =
            (model::by_name(model).expect("model"), by_name(cluster, devices).expect("cluster"));
        spec.resolve(&model, &cluster).expect("plan")
    }

    #[test]
    fn a_plan_becomes_a_specification_of_itself() {
        let spec = PlanSpec {
            precision: Some(PrecisionPreset::Fp16),
            sharding: Some(Sharding { zero_stage: 3, group: Some(8), reshard_after_forward: true }),
            recompute: Some(Recompute::Full { layers: Some(2) }),
            expert_capacity: Some(1.25),
            ..PlanSpec::default()
        };
        let plan = resolved("llama-3-8b", "dgx-h100", 64, &spec);
        assert_eq!(resolved("llama-3-8b", "dgx-h100", 64, &PlanSpec::from_plan(&plan)), plan);
    }

    #[test]
    fn defaults_are_what_people_start_with() {
        // 8B: 6 x 8.03e9 B leave too little of 79 GiB for activations, so it is halved; 141 GB take it whole.
        let plan = resolved("llama-3-8b", "dgx-h100", 64, &PlanSpec::default());
        assert_eq!((plan.tensor_parallel, plan.pipeline_parallel, plan.data_parallel), (2, 1, 32));
        assert_eq!(resolved("llama-3-8b", "dgx-h200", 64, &PlanSpec::default()).tensor_parallel, 1);
        assert_eq!((plan.sequence_length, plan.global_batch), (8192, 512));
        assert_eq!((plan.sharding.zero_stage, plan.software.as_str()), (1, DEFAULT_SOFTWARE));
        // 70B: 6 x 70.6e9 B alone need at least ten devices' room.
        let plan = resolved("llama-3-70b", "dgx-h100", 256, &PlanSpec::default());
        assert!(plan.tensor_parallel * plan.pipeline_parallel >= 8, "{plan:?}");
        assert!(plan.sequence_parallel);
        // V100 has no bf16.
        let plan = resolved("gpt2", "dgx-v100", 8, &PlanSpec::default());
        assert_eq!(plan.precision, PrecisionPreset::Fp16.precision());
        // Experts are spread before matrices are cut.
        let plan = resolved("mixtral-8x7b", "dgx-h100", 64, &PlanSpec::default());
        assert_eq!((plan.expert_parallel, plan.expert_tensor_parallel), (8, 1), "{plan:?}");
    }

    #[test]
    fn a_batch_can_be_said_in_three_ways_but_only_once() {
        let base = PlanSpec { tensor_parallel: Some(8), ..PlanSpec::default() };
        let batch = |spec: &PlanSpec| resolved("llama-3-8b", "dgx-h100", 64, spec).global_batch;
        assert_eq!(batch(&PlanSpec { global_batch: Some(48), ..base.clone() }), 48);
        assert_eq!(batch(&PlanSpec { micro_batches: Some(4), ..base.clone() }), 32);
        assert_eq!(batch(&PlanSpec { batch_tokens: Some(Amount(1e6)), ..base.clone() }), 120);
        let twice = PlanSpec { global_batch: Some(48), micro_batches: Some(4), ..base };
        let (model, cluster) =
            (model::by_name("llama-3-8b").expect("model"), by_name("dgx-h100", 64).expect("cluster"));
        let problem = twice.resolve(&model, &cluster).expect_err("twice");
        assert_eq!(problem.message, "`plan.global_batch` and `plan.micro_batches` both set the batch");
    }

    #[test]
    fn presets_keep_megatrons_bytes() {
        // 2 + 4 + 4 + 8 bytes per parameter; ZeRO-1 divides the last 12 (Megatron's distributed optimizer: 6 + 12/d).
        for preset in
            [PrecisionPreset::Bf16, PrecisionPreset::Fp8, PrecisionPreset::Mxfp8, PrecisionPreset::Nvfp4]
        {
            let p = preset.precision();
            let master = p.master.map_or(0.0, DataType::bytes);
            assert_eq!(
                (p.parameters.bytes() + p.gradients.bytes(), master + 2.0 * p.moments.bytes()),
                (6.0, 12.0)
            );
        }
    }

    #[test]
    fn degrees_that_do_not_divide_are_told() {
        let (model, cluster) =
            (model::by_name("llama-3-8b").expect("model"), by_name("dgx-h100", 60).expect("cluster"));
        let refused = |spec: PlanSpec| {
            let problem = spec.resolve(&model, &cluster).expect_err("60 devices");
            let key = problem.place.as_ref().and_then(|p| p.key.clone()).unwrap_or_default();
            format!("{key}: {}; {}", problem.message, problem.hint.unwrap_or_default())
        };
        assert_eq!(
            refused(PlanSpec { tensor_parallel: Some(8), ..PlanSpec::default() }),
            "plan.tensor_parallel: 60 devices cannot be divided into replicas of 8 (tensor 8 x pipeline 1 x context 1); use \
             56 or 64 devices, or lower a degree"
        );
        assert!(
            refused(PlanSpec { pipeline_parallel: Some(128), ..PlanSpec::default() })
                .ends_with("one replica alone needs 128 devices: lower a degree, or set cluster.devices")
        );
        assert!(
            refused(PlanSpec { data_parallel: Some(0), ..PlanSpec::default() })
                .contains("at least 1, found 0")
        );
        let far = PlanSpec { tensor_parallel: Some(u64::MAX), ..PlanSpec::default() };
        assert!(refused(far).contains("more than any cluster has"));
        let sound = PlanSpec { tensor_parallel: Some(4), ..PlanSpec::default() }
            .resolve(&model, &cluster)
            .expect("15 x 4");
        assert_eq!(validate(&model, &cluster, &sound), []);
    }
}
