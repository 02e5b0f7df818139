//! Resolves a specification, a model and a cluster to a plan, as the user would launch it.
//!
//! Responsible for: the one order in which a plan is filled in: specified values, then defaults of the
//! software generation, then general defaults. All commands, the web UI, launch files, validation and search
//! use it. Never overrides specified values, and does not validate the plan: see [`super::validate`].

use super::degrees::{self, Degrees};
use super::open_settings::default_imbalance;
use super::precision_preset::PrecisionPreset;
use super::{
    AttentionKernel, ContextKind, Offload, Optimizer, Overlap, Plan, PlanSpec, Precision, RankOrder,
    Recompute, Schedule, Sharding, default_batch, uneven_layers,
};
use crate::cluster::Cluster;
use crate::model::{Model, PublishedTraining, published_training};
use crate::precision::DataType;
use crate::problem::Problem;
use crate::software::{self, Software};

impl Plan {
    /// Default plan without a layout, chosen to fit. It is not optimal: use the search for that.
    pub fn default_for(model: &Model, cluster: &Cluster) -> Result<Self, Problem> {
        PlanSpec::default().resolve(model, cluster)
    }
}

impl PlanSpec {
    /// Software generation: specified, or assumed from the plan and the accelerator.
    pub fn generation(&self, cluster: &Cluster) -> Result<&'static Software, Problem> {
        match &self.software {
            Some(id) => software::by_id(software::on(id, &cluster.accelerator.architecture)),
            None => software::by_id(software::inferred(self, &cluster.accelerator.architecture)),
        }
    }

    /// The stack with fused token dispatch, if the plan leaves it open: no software is specified, and tokens
    /// are sent to experts on other ranks. It is hardly ever slower: a property test of the calculator
    /// bounds the difference. A plan that leaves the layout open, one that specifies it and a search
    /// assume the same, so a chosen layout has the same time when it is written out.
    pub fn fused_dispatch(
        &self,
        model: &Model,
        cluster: &Cluster,
        generation: &Software,
    ) -> Option<&'static Software> {
        let may_spread = model.is_mixture_of_experts() && self.expert_parallel != Some(1);
        let is_open = self.software.is_none() && may_spread;
        is_open.then(|| generation.with_fused_dispatch(&cluster.accelerator.architecture)).flatten()
    }

    /// Published pre-training of a model, whose sequence length and batch are defaults. `None` without one,
    /// and for adapters: their runs are smaller by orders of magnitude.
    pub fn published_training(&self, model: &Model) -> Option<&'static PublishedTraining> {
        published_training(model).filter(|_| !self.trains_adapters())
    }

    /// Sequence length in tokens: specified, else that of the published training, else the model's maximum,
    /// at most 8192.
    pub fn tokens_per_sequence(&self, model: &Model) -> u64 {
        let declared = if model.max_positions == 0 { 4096 } else { model.max_positions };
        let usual = || self.published_training(model).map_or(declared.min(8192), |t| t.sequence_length);
        self.sequence_length.unwrap_or_else(usual)
    }

    /// Fills in all open settings. Rejects contradictions.
    pub fn resolve(&self, model: &Model, cluster: &Cluster) -> Result<Plan, Problem> {
        let software = self.generation(cluster)?;
        // Full sharding makes a model fit without any other parallelism, so the choice of parallel sizes
        // depends on it.
        let fully_sharded = Sharding { zero_stage: 3, group: None, reshard_after_forward: true };
        let sharding = self.sharding.or((software.zero_stage == 3).then_some(fully_sharded));
        let Degrees { tensor, pipeline, context, data, expert } =
            degrees::resolve(&Self { sharding, ..self.clone() }, model, cluster)?;
        let is_dispatched = expert > 1 && expert <= Software::most_dispatched_ranks(cluster);
        let fused = is_dispatched.then(|| self.fused_dispatch(model, cluster, software)).flatten();
        let software = fused.unwrap_or(software);
        let schedule = self.schedule.unwrap_or_default();
        let virtual_stages = self.virtual_stages.unwrap_or_else(|| schedule.chunks_per_stage(1));
        let sequence_length = self.tokens_per_sequence(model);
        let micro_batch = self.micro_batch.unwrap_or(1);
        let unit = micro_batch.saturating_mul(data).max(1);
        let round = if virtual_stages > 1 { pipeline.max(1) } else { 1 };
        let sequence_parallel =
            self.sequence_parallel.unwrap_or(tensor > 1 && software.offers.sequence_parallel);
        let mut plan = Plan {
            tensor_parallel: tensor,
            sequence_parallel,
            pipeline_parallel: pipeline,
            virtual_stages,
            context_parallel: context,
            context_kind: self.context_kind.unwrap_or_else(|| context_kind(software)),
            data_parallel: data,
            expert_parallel: expert,
            expert_tensor_parallel: self
                .expert_tensor_parallel
                .unwrap_or_else(|| expert_tensor(software, model, [tensor, context, data, expert])),
            sharding: self.sharding.unwrap_or_else(|| {
                let reshard_after_forward = software.reshards_by_default(pipeline);
                sharding.map_or_else(
                    || usual_sharding(software, data.saturating_mul(context)),
                    |full| Sharding { reshard_after_forward, ..full },
                )
            }),
            segment: None,
            rank_order: self.rank_order.unwrap_or(RankOrder::TensorContextDataPipeline),
            micro_batch,
            global_batch: self.batch(model, cluster, unit, round)?,
            sequence_length,
            precision: self.formats(software, cluster),
            optimizer: self.optimizer.unwrap_or(if self.trains_adapters() {
                Optimizer::Lora
            } else {
                Optimizer::Adam
            }),
            lora: self.adapters(),
            frozen_weights: self.frozen_weights.unwrap_or_default(),
            recompute: self.recompute.clone().unwrap_or(Recompute::None),
            stage_recompute: self.stage_recompute.clone(),
            offload: Offload {
                optimizer: self.offload_optimizer.unwrap_or(0.0),
                activations: self.offload_activations.unwrap_or(0.0),
                parameters: self.offload_parameters.unwrap_or(0.0),
            },
            schedule,
            layers_per_stage: self.layers(software, model, pipeline.saturating_mul(virtual_stages)),
            overlap: self.overlap(software, sequence_parallel, schedule, (pipeline, virtual_stages)),
            attention_kernel: self.attention_kernel.unwrap_or(AttentionKernel::Auto),
            software: software.id.clone(),
            dropout: self.dropout.unwrap_or(software.dropout),
            expert_imbalance: self
                .expert_imbalance
                .unwrap_or_else(|| default_imbalance(model, self.expert_capacity)),
            expert_capacity: self.expert_capacity,
            document_length: self.document_length,
            document_length_cv: self.document_length_cv.unwrap_or(0.0),
            vocabulary_multiple: self.vocabulary_multiple.unwrap_or(software.vocabulary_multiple),
        };
        plan.segment = match self.segment {
            Some(segment) => segment.on(cluster),
            None => plan.usual_segment(cluster),
        };
        Ok(plan)
    }

    fn overlap(
        &self,
        software: &Software,
        sequence_parallel: bool,
        schedule: Schedule,
        (pipeline, virtual_stages): (u64, u64),
    ) -> Overlap {
        let usual = software.overlap;
        let transfers = usual.pipeline && software.offers.overlaps_transfers(schedule, virtual_stages);
        let experts = usual.expert && software.offers.overlaps_experts(pipeline, virtual_stages);
        Overlap {
            gradient_reduce: self.overlap_gradient_reduce.unwrap_or(usual.gradient_reduce),
            parameter_gather: self.overlap_parameter_gather.unwrap_or(usual.parameter_gather),
            // Userbuffers need the sequence-parallel form of the collectives.
            tensor: self.overlap_tensor.unwrap_or(usual.tensor && sequence_parallel),
            pipeline: self.overlap_pipeline.unwrap_or(transfers),
            expert: self.overlap_expert.unwrap_or(experts),
        }
    }

    fn layers(&self, software: &Software, model: &Model, chunks: u64) -> Option<Vec<u64>> {
        let is_uneven = || {
            let layers = model.num_layers();
            // More chunks than twice the layers are invalid; validation reports them.
            let sane = (1..=layers.saturating_mul(2)).contains(&chunks);
            (self.uneven_stages == Some(true) && sane && !layers.is_multiple_of(chunks))
                .then(|| uneven_layers(model, chunks, software.stage_split))
        };
        self.layers_per_stage.clone().or_else(is_uneven)
    }

    fn formats(&self, software: &Software, cluster: &Cluster) -> Precision {
        let has = |data_type| cluster.kinds().all(|(kind, _)| kind.accelerator.peak.contains_key(&data_type));
        let otherwise = if has(DataType::Bf16) || !has(DataType::Fp16) {
            PrecisionPreset::Bf16
        } else {
            PrecisionPreset::Fp16
        };
        let preset = self.precision.unwrap_or(otherwise).precision();
        let parameters = self.precision_parameters.unwrap_or(preset.parameters);
        // `bf16` in the catalogue stands for the run's 16-bit format; pure fp32 has nothing narrower.
        let of_run = |format: Option<DataType>| {
            let format = format.filter(|_| parameters != DataType::Fp32)?;
            let is_sixteen = format == DataType::Bf16 && parameters == DataType::Fp16;
            Some(if is_sixteen { DataType::Fp16 } else { format })
        };
        let gradients =
            self.precision_gradients.or_else(|| of_run(software.gradients)).unwrap_or(preset.gradients);
        let usual_reduce = of_run(software.gradient_reduce).or(self.precision_gradients);
        Precision {
            compute: self.precision_compute.unwrap_or(preset.compute),
            parameters,
            gradients,
            gradient_reduce: self
                .precision_gradient_reduce
                .or(usual_reduce)
                .unwrap_or(preset.gradient_reduce),
            master: self.precision_master.map_or(preset.master, |master| master.0),
            moments: self.precision_moments.unwrap_or(preset.moments),
            activations: self.precision_activations.unwrap_or(preset.activations),
            narrow_attention: self.precision_narrow_attention.unwrap_or(preset.narrow_attention),
        }
    }

    /// Sequences per step, from whichever of the three keys is set. Otherwise the default batch in multiples
    /// of `unit` sequences (a micro-batch on each replica). With interleaved stages it has whole rounds
    /// of `round` micro-batches (Megatron's rule).
    fn batch(&self, model: &Model, cluster: &Cluster, unit: u64, round: u64) -> Result<u64, Problem> {
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
        if let Some(count) = self.micro_batches {
            return Ok(count.saturating_mul(unit));
        }
        let sequence_length = self.tokens_per_sequence(model);
        let units = |sequences: f64| (sequences / unit as f64).round().max(1.0) as u64;
        if let Some(tokens) = self.batch_tokens {
            return Ok(units(tokens.0 / sequence_length.max(1) as f64).saturating_mul(unit));
        }
        let usual = default_batch(self.published_training(model), sequence_length, cluster.devices);
        let count = units(usual as f64);
        Ok(count.div_ceil(round).saturating_mul(round).saturating_mul(unit))
    }
}

/// Default context-parallel algorithm: ring if the generation supports it, else the first that it supports.
fn context_kind(software: &Software) -> ContextKind {
    let offered = &software.offers.context;
    match offered.first() {
        Some(first) if !offered.contains(&ContextKind::Ring) => *first,
        _ => ContextKind::Ring,
    }
}

/// Default sharding of a generation over a number of peers.
fn usual_sharding(software: &Software, peers: u64) -> Sharding {
    let zero_stage = if peers > 1 { software.zero_stage.min(2) } else { 0 };
    Sharding { zero_stage, group: None, reshard_after_forward: false }
}

/// Default expert tensor-parallel size.
fn expert_tensor(software: &Software, model: &Model, [tensor, context, data, expert]: [u64; 4]) -> u64 {
    let ranks = tensor.saturating_mul(context).saturating_mul(data);
    let follows = software.expert_tensor_follows_tensor && model.is_mixture_of_experts();
    if expert <= 1 || follows && ranks.is_multiple_of(expert.saturating_mul(tensor).max(1)) {
        tensor
    } else {
        1
    }
}
