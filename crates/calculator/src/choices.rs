//! Costs for a solver that selects recompute per layer and layers per stage: each kind of layer under each
//! treatment, and the resulting time and memory of a virtual stage.
//!
//! Responsible for: the same seconds and bytes as [`crate::evaluate`] and [`crate::memory`], without a plan
//! for every trial. Does not choose.

use crate::costing::Costing;
use crate::layer::LayerCost;
use crate::memory::room::{Rooms, StageRoom};
use crate::memory::{self, MemoryInput, SoftwareCatalogue};
use crate::schedule::ChunkCost;
use crate::stage::{self, CORNER};
pub use crate::treatment::Treatment;
use railwright_spec::Portable as _;
use railwright_spec::plan::Recompute;
use railwright_spec::problem::Problem;
use railwright_spec::quantity::{Bytes, Seconds};

/// Some layers of one kind under one treatment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// Index of the layer kind in the model.
    pub kind: usize,
    /// Index of the treatment in the list passed to [`Choices::new`].
    pub treatment: usize,
    /// Number of layers.
    pub count: u64,
}

/// Device and host time of the passes of one micro-batch, before combination into pass times: linear in the
/// layers.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Load {
    /// Forward before and within its loops over experts, backward, recompute in the same two parts; device
    /// and host of each.
    pub passes: [[f64; 2]; 5],
}

impl Load {
    /// Adds `times` times another load.
    pub fn add(&mut self, other: &Self, times: f64) {
        for (own, other) in self.passes.iter_mut().flatten().zip(other.passes.iter().flatten()) {
            *own += other * times;
        }
    }

    /// Gradient of the time at this load, pass by pass. Time is `(device^p + host^p)^(1/p)`, a norm, so the
    /// gradient at any load, multiplied by another load, is at most the time of the other load.
    #[must_use]
    pub fn slope(&self) -> Self {
        let of = |[device, host]: [f64; 2]| {
            let time = stage::pace(Seconds::new(device), Seconds::new(host)).get();
            if time > 0.0 {
                [(device / time).portable_powf(CORNER - 1.0), (host / time).portable_powf(CORNER - 1.0)]
            } else {
                [1.0, 0.0]
            }
        };
        Self { passes: self.passes.map(of) }
    }

    /// Dot product over all components.
    pub fn dot(&self, other: &Self) -> f64 {
        self.passes.iter().flatten().zip(other.passes.iter().flatten()).map(|(a, b)| a * b).sum()
    }
}

/// Layers under treatments, priced once.
pub struct Choices<'a> {
    costing: &'a Costing<'a>,
    rooms: Rooms<'a>,
    treatments: Vec<Treatment>,
    /// By kind, then treatment.
    costs: Vec<Vec<LayerCost>>,
    kept: Vec<Vec<(Bytes, Bytes)>>,
}

impl<'a> Choices<'a> {
    /// Prices every kind of layer under every treatment. The costing's plan must not recompute or offload.
    pub fn new(costing: &'a Costing<'a>, treatments: Vec<Treatment>) -> Result<Self, Problem> {
        let (model, plan) = (costing.model, costing.plan);
        if plan.stage_recompute.is_some()
            || plan.recompute != Recompute::None
            || plan.offload.activations > 0.0
        {
            return Err(Problem::new("the plan already recomputes or offloads"));
        }
        let software = SoftwareCatalogue::shared()?.get(&plan.software);
        let input = MemoryInput { model, cluster: costing.cluster, plan, software, in_flight: None };
        let costs = model
            .layer_kinds
            .iter()
            .map(|layer| {
                let kept = LayerCost::kept(costing, layer);
                let of = |t: &Treatment| stage::treated_as(costing, &kept, layer, t);
                treatments.iter().map(of).collect()
            })
            .collect();
        let kept = model
            .layer_kinds
            .iter()
            .map(|layer| treatments.iter().map(|t| memory::layer_under(&input, layer, t)).collect())
            .collect();
        Ok(Self { costing, rooms: Rooms::new(input), treatments, costs, kept })
    }

    /// The treatments, in the order passed to [`Choices::new`].
    pub fn treatments(&self) -> &[Treatment] {
        &self.treatments
    }

    /// Memory that one layer keeps for one micro-batch.
    pub fn saved(&self, kind: usize, treatment: usize) -> Bytes {
        self.kept[kind][treatment].0
    }

    /// Additional memory of its backward pass.
    pub fn working(&self, kind: usize, treatment: usize) -> Bytes {
        self.kept[kind][treatment].1
    }

    /// Additional working memory of multi-token prediction on the last virtual stage under a treatment.
    pub fn prediction_working_memory(&self, treatment: usize) -> Bytes {
        let mtp = self.costing.model.multi_token_prediction.as_ref();
        mtp.map_or(Bytes::ZERO, |mtp| self.saved(mtp.layer_kind, treatment) * mtp.depth as f64)
    }

    /// Device and host time of one layer.
    pub fn load(&self, kind: usize, treatment: usize) -> Load {
        self.load_of(&self.costs[kind][treatment], Seconds::ZERO)
    }

    fn load_of(&self, cost: &LayerCost, fixed: Seconds) -> Load {
        let host = stage::host_time(self.costing);
        let backward = cost.backward_input.time() + cost.backward_weight.time();
        let backward_host = host(&cost.backward_input) + host(&cost.backward_weight);
        let [forward, forward_loops] = stage::segments(&cost.forward, host(&cost.forward) + fixed);
        let [recompute, recompute_loops] = stage::segments(&cost.recompute, host(&cost.recompute));
        let passes = [forward, forward_loops, [backward, backward_host + fixed], recompute, recompute_loops];
        Load { passes: passes.map(|pass| pass.map(Seconds::get)) }
    }

    fn cost(&self, chunk: usize, chunks: usize, parts: &[Part], treatment: usize) -> LayerCost {
        let mut cost = LayerCost::default();
        for part in parts.iter().filter(|part| part.count > 0) {
            cost.add(&self.costs[part.kind][part.treatment], part.count as f64);
        }
        let layer = self.costing.model.multi_token_prediction.as_ref();
        let layer = layer.map_or_else(LayerCost::default, |mtp| self.costs[mtp.layer_kind][treatment]);
        stage::ends(self.costing, chunk, chunks - 1, &layer, &mut cost);
        cost
    }

    /// Times of a virtual stage of these layers, including embedding and head on the first and last of
    /// `chunks`. `treatment` is that of multi-token prediction.
    pub fn time(&self, chunk: usize, chunks: usize, parts: &[Part], treatment: usize) -> ChunkCost {
        stage::chunk_time(self.costing, &self.cost(chunk, chunks, parts, treatment))
    }

    /// Device and host time of the same virtual stage.
    pub fn chunk_load(&self, chunk: usize, chunks: usize, parts: &[Part], treatment: usize) -> Load {
        let fixed = Seconds::from_micros(self.costing.software.host_us_per_micro_batch / 2.0);
        self.load_of(&self.cost(chunk, chunks, parts, treatment), fixed)
    }

    /// Memory of each stage available for its layers, for a number of layers on each virtual stage.
    pub fn rooms(&mut self, split: &[u64]) -> Vec<StageRoom> {
        self.rooms.of(split)
    }

    /// Maximum allocation for a probability of fitting.
    pub fn limit(&self, probability: f64) -> Bytes {
        self.rooms.limit(probability)
    }

    /// Minimum device memory for this allocation.
    pub fn least(&self, allocated: Bytes) -> Bytes {
        self.rooms.least(allocated)
    }

    /// Memory reported by the device for this allocation.
    pub fn device(&self, allocated: Bytes) -> Bytes {
        self.rooms.device(allocated)
    }
}

#[cfg(test)]
mod tests;
