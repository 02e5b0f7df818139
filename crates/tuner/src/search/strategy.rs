//! One point of the search: every searched choice in a few machine words, so that copies are cheap.
//!
//! Responsible for: conversion of choices to a plan and to a deterministic sort key. Does not evaluate.

use super::space::{Policy, Space};
use super::split::Split;
use railwright_spec::model::Model;
use railwright_spec::plan::{
    ContextKind, Overlap, Plan, RankOrder, Recompute, Schedule, Sharding, balanced_layers,
    end_balanced_layers,
};

/// Every searched choice.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Strategy {
    /// Tensor-parallel size.
    pub tensor: u64,
    /// Pipeline stages.
    pub pipeline: u64,
    /// Context-parallel size.
    pub context: u64,
    /// Expert-parallel size.
    pub expert: u64,
    /// Expert-tensor-parallel size.
    pub expert_tensor: u64,
    /// Data-parallel size.
    pub data: u64,
    /// Sequences per micro-batch.
    pub micro_batch: u64,
    /// True for sequence parallelism: norms between sharded matrices are sharded along the sequence.
    pub sequence_parallel: bool,
    /// Sharding of a sequence over ranks.
    pub context_kind: ContextKind,
    /// Devices used of each scale-up domain. `None` is all.
    pub segment: Option<u64>,
    /// Order of ranks: the dimensions with adjacent ranks.
    pub rank_order: RankOrder,
    /// Tensors that data-parallel ranks shard.
    pub sharding: Sharding,
    /// Overlapped communication.
    pub overlap: Overlap,
    /// The pipeline schedule.
    pub schedule: Schedule,
    /// Chunks per stage.
    pub virtual_stages: u64,
    /// Assignment of layers to chunks.
    pub split: Split,
    /// Index of the recompute policy in the space.
    pub policy: u16,
    /// Layers per stage that it covers. `None` is all.
    pub layers: Option<u64>,
}

/// Sort key of strategies; see [`Strategy::key`].
pub type Key = [u64; 23];

impl Strategy {
    /// Total order among strategies with equal time: simpler ones first (fewer communicating ranks, less
    /// recompute).
    pub fn key(&self) -> Key {
        let overlap = self.overlap;
        let off = |on: bool| u64::from(!on);
        [
            self.tensor,
            self.pipeline,
            self.context,
            self.expert,
            self.expert_tensor,
            self.virtual_stages,
            u64::from(self.policy),
            self.layers.unwrap_or(u64::MAX),
            self.schedule as u64,
            self.micro_batch,
            u64::from(self.sharding.zero_stage),
            self.sharding.group.unwrap_or(0),
            u64::from(self.sharding.reshard_after_forward),
            u64::from(!self.sequence_parallel),
            self.split as u64,
            self.segment.map_or(0, |segment| u64::MAX - segment),
            self.rank_order as u64,
            self.context_kind as u64,
            off(overlap.gradient_reduce),
            off(overlap.parameter_gather),
            off(overlap.tensor),
            off(overlap.pipeline),
            off(overlap.expert),
        ]
    }

    /// Identity of a layout for display. Other choices are details, of which only the best is shown.
    pub fn layout(&self) -> [u64; 10] {
        [
            self.tensor,
            self.pipeline,
            self.context,
            self.expert,
            self.expert_tensor,
            self.data,
            self.virtual_stages,
            self.schedule as u64,
            self.micro_batch,
            u64::from(self.sharding.zero_stage),
        ]
    }

    /// Micro-batches per replica and step.
    pub fn micro_batches(&self, global_batch: u64) -> u64 {
        global_batch / (self.micro_batch * self.data).max(1)
    }

    /// Writes the choices into a plan.
    pub fn write(&self, space: &Space, model: &Model, plan: &mut Plan) {
        self.write_degrees(plan);
        self.write_layers(space, model, plan);
        self.write_recompute(space, plan);
    }

    /// Writes the choices into a plan, with known layers of every virtual stage.
    pub(super) fn write_shaped(&self, space: &Space, layers: &[u64], plan: &mut Plan) {
        self.write_degrees(plan);
        plan.layers_per_stage = (self.split != Split::Even).then(|| layers.to_vec());
        self.write_recompute(space, plan);
    }

    fn write_degrees(&self, plan: &mut Plan) {
        plan.tensor_parallel = self.tensor;
        plan.pipeline_parallel = self.pipeline;
        plan.context_parallel = self.context;
        plan.expert_parallel = self.expert;
        plan.expert_tensor_parallel = self.expert_tensor;
        plan.data_parallel = self.data;
        plan.micro_batch = self.micro_batch;
        plan.sequence_parallel = self.sequence_parallel;
        plan.context_kind = self.context_kind;
        plan.segment = self.segment;
        plan.rank_order = self.rank_order;
        plan.sharding = self.sharding;
        plan.overlap = self.overlap;
        plan.schedule = self.schedule;
        plan.virtual_stages = self.virtual_stages;
    }

    /// Writes the split, given parallel sizes, schedule and virtual stages in the plan.
    pub(super) fn write_layers(&self, space: &Space, model: &Model, plan: &mut Plan) {
        let chunks = self.pipeline * self.virtual_stages;
        plan.layers_per_stage = match self.split {
            Split::Even => None,
            Split::ShortEnds => Some(balanced_layers(model.num_layers(), chunks)),
            Split::LightHead => {
                plan.layers_per_stage = None;
                Some(end_balanced_layers(model, chunks))
            }
            Split::Given => space.given_layers.clone(),
        };
    }

    pub(super) fn write_recompute(&self, space: &Space, plan: &mut Plan) {
        plan.recompute = match &space.policies[usize::from(self.policy)] {
            Policy::None => Recompute::None,
            Policy::Selective(modules) => {
                Recompute::Selective { modules: modules.clone(), layers: self.layers }
            }
            Policy::Full => Recompute::Full { layers: self.layers },
        };
    }

    /// The plan.
    pub fn plan(&self, space: &Space, model: &Model) -> Plan {
        let mut plan = space.base.clone();
        self.write(space, model, &mut plan);
        if let Some(software) = space.software_without_experts.as_ref().filter(|_| plan.expert_parallel == 1)
        {
            plan.software.clone_from(software);
        }
        plan
    }
}
