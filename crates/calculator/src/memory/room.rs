//! Memory of a stage available to the activations of its layers.
//!
//! Responsible for: splitting a stage's sum into the memory of its layers and the rest, so that a solver can
//! try many choices without repeating the sum. Independent of the choices.

use super::moment::Moment;
use super::stages::{StageLayers, arrange};
use super::sum::{Prepared, StageSum, overheads, prepare, stage_sum};
use super::{MemoryInput, largest_fitting_need};
use railwright_spec::quantity::Bytes;

/// One stage without the activations and the working set of its layers.
#[derive(Clone, Debug)]
pub struct StageRoom {
    sum: StageSum,
    /// Its virtual stages.
    pub chunks: Vec<StageLayers>,
    /// Micro-batches in flight on each of them.
    pub alive: Vec<f64>,
}

impl StageRoom {
    /// Allocated bytes at the peak, given the activations of all micro-batches in flight and the largest
    /// working set of a layer.
    pub fn allocated(&self, activations: Bytes, working: Bytes) -> Bytes {
        let mut sum = self.sum;
        sum.activations += activations.get();
        sum.working += working.get();
        Bytes::new(sum.peak().0)
    }

    /// Maximum kept memory of the layers, given a working set, for a peak within `limit`; `None` if
    /// impossible.
    pub fn left(&self, working: Bytes, limit: Bytes) -> Option<Bytes> {
        let mut sum = self.sum;
        sum.working += working.get();
        let limit = limit.get();
        if sum.at(Moment::BackwardEnd) > limit || sum.at(Moment::OptimizerStep) > limit {
            return None;
        }
        let left = limit - sum.at(Moment::Loss).max(sum.at(Moment::Backward));
        (left >= 0.0).then_some(Bytes::new(left))
    }
}

/// Inputs common to all stages of a run.
pub(crate) struct Rooms<'a> {
    input: MemoryInput<'a>,
    prepared: Prepared,
}

impl<'a> Rooms<'a> {
    pub(crate) fn new(input: MemoryInput<'a>) -> Self {
        Self { input, prepared: prepare(&input) }
    }

    /// The available memory of every stage, for the layers of each virtual stage.
    pub(crate) fn of(&mut self, split: &[u64]) -> Vec<StageRoom> {
        let MemoryInput { model, plan, .. } = self.input;
        self.prepared.stages = arrange(model, plan, split);
        (0..self.prepared.stages.len()).map(|stage| self.stage(stage)).collect()
    }

    fn stage(&self, stage: usize) -> StageRoom {
        let chunks = self.prepared.stages[stage].clone();
        let alive: Vec<f64> = (0..chunks.len()).map(|c| self.input.alive(stage, c)).collect();
        let mut sum = stage_sum(&self.input, &self.prepared, stage);
        // Only memory outside the layers.
        sum.activations = 0.0;
        for (chunk, alive) in chunks.iter().zip(&alive) {
            let (embedding, output) = super::sum::edges(&self.input.saving(&self.prepared.sizes), chunk);
            sum.activations += (embedding + output) * alive;
        }
        sum.working = 0.0;
        StageRoom { sum, chunks, alive }
    }

    /// Maximum allocation for a probability of fitting: the inverse of the report's verdict.
    pub(crate) fn limit(&self, probability: f64) -> Bytes {
        let MemoryInput { cluster, plan, software, .. } = self.input;
        let least = largest_fitting_need(probability, cluster.accelerator.memory, software.sigma);
        let (reserved, _) = overheads(1.0, plan, software);
        let (_, outside) = overheads(0.0, plan, software);
        Bytes::new((least.get() - outside) / (1.0 + (reserved - 1.0) / 2.0))
    }

    /// Minimum device memory for this allocation, as [`super::MemoryReport::least`].
    pub(crate) fn least(&self, allocated: Bytes) -> Bytes {
        let (reserved, device) = overheads(allocated.get(), self.input.plan, self.input.software);
        Bytes::new(device - (reserved - allocated.get()) * 0.5)
    }

    /// Memory reported by the device for this allocation, as [`super::Peak::device`].
    pub(crate) fn device(&self, allocated: Bytes) -> Bytes {
        let (_, device) = overheads(allocated.get(), self.input.plan, self.input.software);
        Bytes::new(device)
    }
}
