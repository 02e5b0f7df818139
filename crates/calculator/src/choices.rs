//! What a solver needs to choose, layer by layer and stage by stage, what is recomputed and where layers lie: each kind of layer
//! under each treatment, and what a virtual stage of them takes and keeps.
//!
//! Responsible for: the same seconds and bytes that [`crate::evaluate`] and [`crate::memory`] come to, without a plan for every trial.
//! Refuses to choose.

use crate::costing::Costing;
use crate::layer::LayerCost;
use crate::memory::room::{Rooms, StageRoom};
use crate::memory::{self, MemoryInput, SoftwareCatalogue};
use crate::schedule::ChunkCost;
use crate::stage::{self, CORNER};
pub use crate::treatment::Treatment;
use railwright_spec::plan::Recompute;
use railwright_spec::problem::Problem;
use railwright_spec::quantity::{Bytes, Seconds};

/// Some layers of one kind under one treatment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// The kind of layer, as the model numbers them.
    pub kind: usize,
    /// The treatment, as [`Choices::new`] was given them.
    pub treatment: usize,
    /// Number.
    pub count: u64,
}

/// Device and host time of the passes of one micro-batch, before the slower of them sets the pace: linear in the layers.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Load {
    /// Forward, backward, recompute; device and host of each.
    pub passes: [[f64; 2]; 3],
}

impl Load {
    /// The load of `times` of it more.
    pub fn add(&mut self, other: &Self, times: f64) {
        for (own, other) in self.passes.iter_mut().flatten().zip(other.passes.iter().flatten()) {
            *own += other * times;
        }
    }

    /// The slope of the time at this load, pass by pass: time is `(device^p + host^p)^(1/p)`, a norm, so the slope at any load times
    /// another load is at most the other's time.
    #[must_use]
    pub fn slope(&self) -> Self {
        let of = |[device, host]: [f64; 2]| {
            let time = stage::pace(Seconds::new(device), Seconds::new(host)).get();
            if time > 0.0 {
                [(device / time).powf(CORNER - 1.0), (host / time).powf(CORNER - 1.0)]
            } else {
                [1.0, 0.0]
            }
        };
        Self { passes: self.passes.map(of) }
    }

    /// The sum over all components of the products.
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
    /// Prices every kind of layer under every treatment. The costing's plan recomputes and offloads nothing of its own.
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
                let of =
                    |t: &Treatment| stage::finished(costing, kept.recomputing(&t.recompute, layer), layer, t);
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

    /// The treatments, as they were given.
    pub fn treatments(&self) -> &[Treatment] {
        &self.treatments
    }

    /// What one layer keeps of one micro-batch.
    pub fn saved(&self, kind: usize, treatment: usize) -> Bytes {
        self.kept[kind][treatment].0
    }

    /// Additional memory of its backward pass.
    pub fn working(&self, kind: usize, treatment: usize) -> Bytes {
        self.kept[kind][treatment].1
    }

    /// What multi-token prediction adds to the working set of the last virtual stage under a treatment.
    pub fn working_beside(&self, treatment: usize) -> Bytes {
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
        Load {
            passes: [
                [cost.forward.time().get(), (host(&cost.forward) + fixed).get()],
                [backward.get(), (backward_host + fixed).get()],
                [cost.recompute.time().get(), host(&cost.recompute).get()],
            ],
        }
    }

    fn cost(&self, chunk: usize, chunks: usize, parts: &[Part], beside: usize) -> LayerCost {
        let mut cost = LayerCost::default();
        for part in parts.iter().filter(|part| part.count > 0) {
            cost.add(&self.costs[part.kind][part.treatment], part.count as f64);
        }
        let layer = self.costing.model.multi_token_prediction.as_ref();
        let layer = layer.map_or_else(LayerCost::default, |mtp| self.costs[mtp.layer_kind][beside]);
        stage::ends(self.costing, chunk, chunks - 1, &layer, &mut cost);
        cost
    }

    /// Times of a virtual stage of such layers, embedding and head included where it is the first or the last of `chunks`; `beside` is
    /// the treatment of multi-token prediction.
    pub fn time(&self, chunk: usize, chunks: usize, parts: &[Part], beside: usize) -> ChunkCost {
        stage::chunk_time(self.costing, &self.cost(chunk, chunks, parts, beside))
    }

    /// Device and host time of the same.
    pub fn chunk_load(&self, chunk: usize, chunks: usize, parts: &[Part], beside: usize) -> Load {
        let fixed = Seconds::from_micros(self.costing.software.host_us_per_micro_batch / 2.0);
        self.load_of(&self.cost(chunk, chunks, parts, beside), fixed)
    }

    /// Memory of each stage left to its layers, for a number of layers on each virtual stage.
    pub fn rooms(&mut self, split: &[u64]) -> Vec<StageRoom> {
        self.rooms.of(split)
    }

    /// The most that may be allocated for a probability of fitting.
    pub fn limit(&self, probability: f64) -> Bytes {
        self.rooms.limit(probability)
    }

    /// The least device memory that runs with so much allocated.
    pub fn least(&self, allocated: Bytes) -> Bytes {
        self.rooms.least(allocated)
    }

    /// What the device shows when so much is allocated.
    pub fn device(&self, allocated: Bytes) -> Bytes {
        self.rooms.device(allocated)
    }
}

#[cfg(test)]
mod tests;
