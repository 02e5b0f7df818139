//! The space of strategies: values of each dimension for a model on a cluster, before restrictions.
//!
//! Responsible for: useful full lists from the shapes of the model, the machine and the features of the
//! software generation; fixing settings of the plan. Layers are assigned to chunks in three ways ([`Split`]),
//! under every number of virtual stages that leaves each chunk work; expert tensor parallelism is 1 or equal
//! to tensor parallelism. Does not combine dimensions: see the pieces.

use super::counts::Counts;
use super::split::Split;
use railwright_calculator::defaults;
use railwright_calculator::software::{Offers, Software};
use railwright_spec::cluster::Cluster;
use railwright_spec::human;
use railwright_spec::model::Model;
use railwright_spec::plan::{
    ContextKind, Overlap, Plan, PlanSpec, RankOrder, Recompute, RecomputeModule, Schedule, Segment, Sharding,
    default_batch,
};
use railwright_spec::problem::Problem;
use railwright_spec::software::FrontEnd;
use std::collections::BTreeSet;

/// Recompute policy.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Policy {
    /// No recompute.
    None,
    /// These modules of every layer.
    Selective(BTreeSet<RecomputeModule>),
    /// Whole layers, of the required number of layers.
    Full,
}

/// Tensors that data-parallel ranks shard.
#[derive(Clone, Debug, PartialEq)]
pub enum Shardings {
    /// Every ZeRO stage of a list, over all ranks or over groups.
    Open {
        /// ZeRO stages.
        stages: Vec<u8>,
        /// Group sizes of hybrid sharding, in addition to all ranks.
        groups: Counts,
        /// Values to try for dropping parameters after the forward pass (stage 3 only).
        reshard: Vec<bool>,
    },
    /// Listed shardings.
    Listed(Vec<Sharding>),
}

/// Choices of every dimension, and the plan with the fixed settings.
#[derive(Clone, Debug)]
pub struct Space {
    /// Settings that are not searched: batch, sequence, precision, optimizer, software.
    pub base: Plan,
    /// The software of plans without expert parallelism, if it differs: they have no dispatch.
    pub software_without_experts: Option<String>,
    /// Settings of the user's plan.
    pub specified: PlanSpec,
    /// Tensor parallel.
    pub tensor: Counts,
    /// Pipeline stages.
    pub pipeline: Counts,
    /// Virtual stages.
    pub virtual_stages: Counts,
    /// Context parallel.
    pub context: Counts,
    /// Kinds of context parallelism.
    pub context_kinds: Vec<ContextKind>,
    /// Expert parallel.
    pub expert: Counts,
    /// Expert tensor parallel.
    pub expert_tensor: Counts,
    /// Data-parallel size; it follows from the other sizes and is only checked.
    pub data: Counts,
    /// Sequences per micro-batch.
    pub micro_batch: Counts,
    /// Values of sequence parallelism with tensor parallelism.
    pub sequence_parallel: Vec<bool>,
    /// Sharding choices.
    pub sharding: Shardings,
    /// Devices used of each scale-up domain: those listed, or whole domains in addition to the default of
    /// each layout.
    pub segments: Option<Vec<Segment>>,
    /// Placement of ranks.
    pub rank_orders: Vec<RankOrder>,
    /// Schedules.
    pub schedules: Vec<Schedule>,
    /// Assignments of layers to stages that do not divide them.
    pub splits: Vec<Split>,
    /// The split of [`Split::Given`].
    pub(super) given_layers: Option<Vec<u64>>,
    /// Recompute policies, the least first.
    pub policies: Vec<Policy>,
    /// Numbers of layers per stage under full recompute.
    pub recompute_layers: Counts,
    /// Values to try for the overlap of gradient reduction with compute.
    pub overlap_gradient_reduce: Vec<bool>,
    /// Values to try for the overlap of the parameter all-gather with compute.
    pub overlap_parameter_gather: Vec<bool>,
    /// Values to try for the overlap of tensor-parallel communication with compute.
    pub overlap_tensor: Vec<bool>,
    /// Values to try for the overlap of transfers between stages with compute.
    pub overlap_pipeline: Vec<bool>,
    /// Values to try for the overlap of the experts' exchange with compute.
    pub overlap_expert: Vec<bool>,
    /// Limits of the software generation. `None` without limits.
    pub offers: Option<Offers>,
    /// Description of the defaults.
    pub chosen: Vec<String>,
}

impl Space {
    /// Everything that the software generation supports for the model on the cluster, except settings fixed
    /// by the plan.
    pub fn new(specified: &PlanSpec, model: &Model, cluster: &Cluster) -> Result<Self, Problem> {
        let software = specified.generation(cluster)?;
        Self::build(specified, model, cluster, software, Some(software.offers.clone()))
    }

    /// The space of a program that passes on only a part of the generation's choices.
    pub fn through(
        front: &FrontEnd,
        specified: &PlanSpec,
        model: &Model,
        cluster: &Cluster,
    ) -> Result<Self, Problem> {
        let software = specified.generation(cluster)?;
        Self::build(specified, model, cluster, software, Some(front.narrowed(&software.offers)))
    }

    /// The space with every choice that the calculator can price, including features missing in the software
    /// generation.
    pub fn unlimited(specified: &PlanSpec, model: &Model, cluster: &Cluster) -> Result<Self, Problem> {
        Self::build(specified, model, cluster, specified.generation(cluster)?, None)
    }

    fn build(
        specified: &PlanSpec,
        model: &Model,
        cluster: &Cluster,
        software: &Software,
        limits: Option<Offers>,
    ) -> Result<Self, Problem> {
        let offers = limits.clone().unwrap_or_else(Offers::everything);
        let fused = specified.fused_dispatch(model, cluster, software);
        let (base, mut chosen) = base(specified, model, cluster, fused.unwrap_or(software))?;
        if offers.pipeline && specified.schedule.is_none() {
            let is_left = |schedule: &Schedule| !offers.schedules.contains(schedule);
            let left: Vec<&str> = Schedule::ALL.into_iter().filter(is_left).map(Schedule::name).collect();
            if !left.is_empty() {
                chosen.push(format!("schedules excluded (not in {}): {}", software.id, left.join(", ")));
            }
        }
        let pinned = |value: Option<u64>, otherwise: Counts| value.map_or(otherwise, Counts::one);
        let yes_no = |can: bool| if can { vec![true, false] } else { vec![false] };
        let switch = |value: Option<bool>, can: bool| value.map_or_else(|| yes_no(can), |v| vec![v]);
        let only_one = |can: bool| if can { Counts::ANY } else { Counts::Between(1, 1) };
        let has_experts = model.is_mixture_of_experts();
        let space = Self {
            tensor: pinned(specified.tensor_parallel, only_one(offers.tensor)),
            pipeline: pinned(specified.pipeline_parallel, only_one(offers.pipeline)),
            virtual_stages: pinned(specified.virtual_stages, Counts::ANY),
            context: pinned(specified.context_parallel, only_one(!offers.context.is_empty())),
            context_kinds: specified.context_kind.map_or_else(
                || if offers.context.is_empty() { vec![base.context_kind] } else { offers.context.clone() },
                |kind| vec![kind],
            ),
            expert: pinned(
                specified.expert_parallel,
                if fused.is_some() {
                    Counts::Between(1, Software::most_dispatched_ranks(cluster))
                } else {
                    only_one(has_experts && offers.expert)
                },
            ),
            expert_tensor: pinned(specified.expert_tensor_parallel, Counts::ANY),
            data: pinned(specified.data_parallel, Counts::ANY),
            micro_batch: pinned(specified.micro_batch, Counts::ANY),
            sequence_parallel: specified.sequence_parallel.map_or_else(
                || if offers.sequence_parallel { vec![true, false] } else { vec![false] },
                |on| vec![on],
            ),
            sharding: specified.sharding.map_or_else(
                || Shardings::Open {
                    stages: offers.zero_stages.clone(),
                    groups: if offers.hybrid_sharding { Counts::ANY } else { Counts::Listed(Vec::new()) },
                    reshard: if offers.keeps_gathered { vec![false, true] } else { vec![true] },
                },
                |sharding| Shardings::Listed(vec![sharding]),
            ),
            segments: specified.segment.map(|segment| vec![segment]),
            rank_orders: specified.rank_order.map_or_else(|| offers.rank_orders.clone(), |order| vec![order]),
            schedules: specified.schedule.map_or_else(|| offers.schedules.clone(), |schedule| vec![schedule]),
            splits: if specified.layers_per_stage.is_some() {
                vec![Split::Given]
            } else if specified.uneven_stages == Some(false) || !offers.uneven_stages {
                vec![Split::Even]
            } else {
                vec![Split::Even, Split::ShortEnds, Split::LightHead]
            },
            given_layers: specified.layers_per_stage.clone(),
            policies: policies(specified.recompute.as_ref(), model, &base, software, cluster, &offers),
            recompute_layers: match &specified.recompute {
                Some(Recompute::Full { layers } | Recompute::Selective { layers, .. }) => {
                    layers.map_or(Counts::Listed(Vec::new()), Counts::one)
                }
                _ if !offers.recompute_layers => Counts::Listed(Vec::new()),
                _ => Counts::ANY,
            },
            overlap_gradient_reduce: switch(
                specified.overlap_gradient_reduce,
                offers.overlap.gradient_reduce,
            ),
            overlap_parameter_gather: switch(
                specified.overlap_parameter_gather,
                offers.overlap.parameter_gather,
            ),
            overlap_tensor: switch(specified.overlap_tensor, offers.overlap.tensor),
            overlap_pipeline: switch(specified.overlap_pipeline, offers.overlap.pipeline),
            overlap_expert: switch(specified.overlap_expert, has_experts && offers.overlap.expert),
            software_without_experts: fused.map(|_| software.id.clone()),
            offers: limits,
            base,
            chosen,
            specified: specified.clone(),
        };
        Ok(space)
    }

    /// Tests whether any plan of the space sends uniformly to all peers: tokens to experts, or heads to the
    /// ranks that share a sequence.
    pub fn sends_to_all(&self, model: &Model) -> bool {
        let is_shared = match &self.context {
            Counts::Between(_, most) => *most > 1,
            Counts::Listed(list) => list.iter().any(|degree| *degree > 1),
        };
        model.is_mixture_of_experts() || (is_shared && self.context_kinds.contains(&ContextKind::Ulysses))
    }

    /// Checks that all choices of a plan are in the space. The error is the first that is not.
    pub fn contains(&self, plan: &Plan) -> Result<(), &'static str> {
        let counts = [
            ("tensor_parallel", &self.tensor, plan.tensor_parallel),
            ("pipeline_parallel", &self.pipeline, plan.pipeline_parallel),
            ("virtual_stages", &self.virtual_stages, plan.virtual_stages),
            ("context_parallel", &self.context, plan.context_parallel),
            ("expert_parallel", &self.expert, plan.expert_parallel),
            ("data_parallel", &self.data, plan.data_parallel),
            ("micro_batch", &self.micro_batch, plan.micro_batch),
        ];
        if let Some((key, ..)) = counts.iter().find(|(_, counts, value)| !counts.allows(*value)) {
            return Err(key);
        }
        if plan.pipeline_parallel > 1 && !self.schedules.contains(&plan.schedule) {
            return Err("schedule");
        }
        if plan.tensor_parallel > 1 && !self.sequence_parallel.contains(&plan.sequence_parallel) {
            return Err("sequence_parallel");
        }
        if plan.context_parallel > 1 && !self.context_kinds.contains(&plan.context_kind) {
            return Err("context_kind");
        }
        let sharded = match &self.sharding {
            Shardings::Open { stages, groups, .. } => {
                stages.contains(&plan.sharding.zero_stage)
                    && plan.sharding.group.is_none_or(|group| groups.allows(group))
            }
            Shardings::Listed(list) => list.contains(&plan.sharding),
        };
        if !sharded {
            return Err("sharding");
        }
        let policy = match &plan.recompute {
            Recompute::None => Policy::None,
            Recompute::Selective { modules, .. } => Policy::Selective(modules.clone()),
            Recompute::Full { .. } => Policy::Full,
        };
        if !self.policies.contains(&policy) {
            return Err("recompute");
        }
        Ok(())
    }
}

/// The plan with the fixed settings, and its defaults.
fn base(
    specified: &PlanSpec,
    model: &Model,
    cluster: &Cluster,
    software: &Software,
) -> Result<(Plan, Vec<String>), Problem> {
    if specified.micro_batches.is_some() {
        return Err(Problem::new(
            "a search compares layouts at one global batch, but with micro_batches the batch depends on the \
             layout",
        )
        .at_key("plan.micro_batches")
        .hint("set plan.global_batch or plan.batch_tokens instead"));
    }
    if specified.stage_recompute.is_some() {
        return Err(Problem::new("stage_recompute applies to one layout, but a search tries many")
            .at_key("plan.stage_recompute")
            .hint("omit it; `railwright recompute` refines the layout found by the search"));
    }
    let mut chosen = Vec::new();
    let mut spec = PlanSpec {
        // Any layout: it is overwritten, and fixed settings are stored separately.
        tensor_parallel: Some(1),
        pipeline_parallel: Some(1),
        context_parallel: Some(1),
        expert_parallel: Some(1),
        expert_tensor_parallel: Some(1),
        data_parallel: Some(1),
        micro_batch: Some(1),
        virtual_stages: Some(1),
        layers_per_stage: None,
        schedule: Some(Schedule::default()),
        ..specified.clone()
    };
    let length = spec.tokens_per_sequence(model);
    if spec.sequence_length.is_none() {
        chosen.push(format!("sequences of {} tokens", human::whole(length)));
    }
    if spec.global_batch.is_none() && spec.batch_tokens.is_none() {
        let sequences = default_batch(spec.published_training(model), length, cluster.devices);
        spec.global_batch = Some(sequences);
        chosen.push(format!("global batch {sequences}"));
    }
    // Inferred from the specification, not from its placeholder layout.
    spec.software = Some(software.id.clone());
    let plan = spec.resolve(model, cluster)?;
    chosen.push(format!("software {}", plan.software));
    Ok((plan, chosen))
}

/// Recompute policies that free memory, the least recompute first.
fn policies(
    specified: Option<&Recompute>,
    model: &Model,
    base: &Plan,
    software: &Software,
    cluster: &Cluster,
    offers: &Offers,
) -> Vec<Policy> {
    if let Some(specified) = specified {
        return vec![match specified {
            Recompute::None => Policy::None,
            Recompute::Selective { modules, .. } => Policy::Selective(modules.clone()),
            Recompute::Full { .. } => Policy::Full,
        }];
    }
    let modules = defaults::recompute::modules(model, base, software, cluster, offers);
    let mut sets: Vec<BTreeSet<RecomputeModule>> = Vec::new();
    for bits in 1_u32..1 << modules.len().min(7) {
        let set: BTreeSet<RecomputeModule> =
            modules.iter().enumerate().filter(|(i, _)| bits & (1 << i) != 0).map(|(_, m)| *m).collect();
        let has = |m| set.contains(&m);
        let block = has(RecomputeModule::Mlp) || has(RecomputeModule::Moe);
        // A whole block includes its activation; the operator policy includes almost everything.
        let repeats = block && has(RecomputeModule::Activation);
        if !repeats && (set.len() == 1 || !has(RecomputeModule::Operators)) {
            sets.push(set);
        }
    }
    sets.sort_by_key(BTreeSet::len);
    let mut list = vec![Policy::None];
    list.extend(sets.into_iter().map(Policy::Selective));
    if offers.full_recompute {
        list.push(Policy::Full);
    }
    list
}

/// Communication that a generation can overlap.
pub(super) fn overlap(space: &Space) -> Overlap {
    let any = |list: &[bool]| list.contains(&true);
    Overlap {
        gradient_reduce: any(&space.overlap_gradient_reduce),
        parameter_gather: any(&space.overlap_parameter_gather),
        tensor: any(&space.overlap_tensor),
        pipeline: any(&space.overlap_pipeline),
        expert: any(&space.overlap_expert),
    }
}
