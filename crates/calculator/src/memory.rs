//! Memory of each pipeline stage, item by item, and its fit.
//!
//! Responsible for: bytes of parameters, gradients, optimizer states, activations, buffers, logits and
//! overheads at the time of the peak, for every stage. Excludes durations. Differences between frameworks are
//! a few physical constants per software generation ([`MemorySoftware`]).
//!
//! Start reading at [`report`]. The search uses [`peak`], which sums the same numbers without names.

mod activations;
mod fit;
mod head;
mod held;
mod in_flight;
#[cfg(test)]
mod measured;
mod moment;
mod over_time;
mod parameters;
mod prepared;
#[cfg(test)]
mod properties;
mod report;
pub(crate) mod room;
mod software;
mod stages;
mod sum;
#[cfg(test)]
pub(crate) mod testing;

pub use fit::{
    EVEN_CHANCE, Fit, SURE_NOT_TO_FIT, SURE_TO_FIT, chance, largest_fitting_need, probability_of_fitting,
    retry_slowdown, unless_it_fits,
};
pub use held::RankParameters;
pub use in_flight::in_flight;
pub use moment::Moment;
pub use over_time::over_time;
pub(crate) use parameters::moment_bytes;
pub use prepared::{ParameterBytes, PeakParts, StageLayout, StageParameters, UnshardedStages};
pub use report::{Item, Kind, MemoryReport, StageReport, report};
pub use room::StageRoom;
pub use software::{
    FUSED_LOSS, MemorySoftware, Published, SoftwareCatalogue, StageSplit, UNSHARDED_ACCUMULATION,
};
pub use stages::{StageLayers, layers_per_chunk};
pub use sum::{Peak, peak, published_peak};

use crate::costing::clusters_of_stage;
use crate::program::saved::{SavedSizes, Saving};
use crate::treatment::Treatment;
use railwright_spec::cluster::Cluster;
use railwright_spec::model::{Layer, Model};
use railwright_spec::plan::{Plan, Recompute};
use railwright_spec::quantity::Bytes;

/// Micro-batch chunks in flight at the peak, by stage and chunk: chunk `c` of stage `s`, both from 0.
pub type InFlight<'a> = &'a dyn Fn(usize, usize) -> f64;

/// Inputs of the memory model.
#[derive(Clone, Copy)]
pub struct MemoryInput<'a> {
    /// Trained model.
    pub model: &'a Model,
    /// Cluster of the run.
    pub cluster: &'a Cluster,
    /// Layout and training settings.
    pub plan: &'a Plan,
    /// Memory constants of the software generation.
    pub software: &'a MemorySoftware,
    /// Micro-batches in flight per stage and chunk. `None` selects the closed forms of [`in_flight`].
    pub in_flight: Option<InFlight<'a>>,
}

impl<'a> MemoryInput<'a> {
    /// Sizes of the program's saved tensors.
    pub(crate) fn sizes(&self) -> SavedSizes {
        SavedSizes::new(self.model, self.cluster, self.plan, self.software)
    }

    /// The run as far as saved tensors depend on it.
    pub(crate) fn saving(&self, sizes: &'a SavedSizes) -> Saving<'a> {
        Saving { plan: self.plan, software: self.software, sizes }
    }

    /// Device memory of a stage: that of its smallest kind of device.
    pub(crate) fn available(&self, stage: usize) -> Bytes {
        let main = self.cluster.accelerator.memory;
        if self.cluster.pools.is_empty() {
            return main;
        }
        clusters_of_stage(self.cluster, self.plan, stage)
            .map(|kind| kind.accelerator.memory)
            .reduce(Bytes::min)
            .unwrap_or(main)
    }

    /// Need of a stage relative to its device memory, in bytes of the main kind of device: stages compare by
    /// it.
    pub(crate) fn weighted(&self, stage: usize, bytes: f64) -> f64 {
        if self.cluster.pools.is_empty() {
            return bytes;
        }
        bytes * (self.cluster.accelerator.memory / self.available(stage))
    }

    /// Micro-batches of a chunk that are in flight at the stage's peak.
    pub(crate) fn alive(&self, stage: usize, chunk: usize) -> f64 {
        self.in_flight.map_or_else(|| in_flight(self.plan, stage, chunk), |count| count(stage, chunk))
    }
}

/// Memory of a layer for one micro-batch on the device, and the additional memory of its backward pass, for a
/// recompute policy.
pub(crate) fn layer_under(input: &MemoryInput<'_>, layer: &Layer, treatment: &Treatment) -> (Bytes, Bytes) {
    let sizes = input.sizes();
    let bytes = activations::treated_bytes(&input.saving(&sizes), layer, treatment);
    (Bytes::new(bytes.saved), Bytes::new(bytes.working))
}

/// Memory that a layer keeps for one micro-batch until its backward pass, on the device or the host: the
/// traffic of activation offload.
pub fn kept_by_layer(
    model: &Model,
    cluster: &Cluster,
    layer: &Layer,
    plan: &Plan,
    recompute: &Recompute,
    software: &MemorySoftware,
) -> Bytes {
    let sizes = SavedSizes::new(model, cluster, plan, software);
    let treatment = Treatment { recompute: recompute.clone(), offload: 0.0 };
    let saving = Saving { plan, software, sizes: &sizes };
    Bytes::new(activations::treated_bytes(&saving, layer, &treatment).saved)
}
