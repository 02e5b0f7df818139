//! One search as its pieces see it, and the buffers of a thread.

use super::families::{Families, Tie};
use super::options::Options;
use super::pieces::Degrees;
use super::results::{Front, ShortList};
use super::shapes::Shapes;
use super::space::Space;
use super::strategy::Strategy;
use railwright_calculator::costing::Machine;
use railwright_calculator::memory::MemorySoftware;
use railwright_calculator::operators::ProductMemo;
use railwright_calculator::prepared::{Buffers, LayerMemo};
use railwright_calculator::schedule::ChunkCost;
use railwright_calculator::software::Software;
use railwright_spec::cluster::Cluster;
use railwright_spec::model::Model;
use railwright_spec::plan::Plan;
use std::sync::Arc;

/// One model, one cluster, one space.
#[derive(Clone, Debug)]
pub struct Search<'a> {
    /// Trained model.
    pub model: &'a Model,
    /// Cluster of the run.
    pub cluster: &'a Cluster,
    /// Searched strategies.
    pub space: Space,
    /// Options of the search.
    pub options: Options,
    pub(super) machine: Machine,
    /// Machine for the final prices of candidates, if it differs from the search's.
    pub(super) pricing: Option<Machine>,
    pub(super) software: &'static Software,
    pub(super) memory: &'static MemorySoftware,
    pub(super) pieces: Vec<Degrees>,
    pub(super) refused: u64,
    /// The tie, and the number of rows of families to return. `None` if no rows are requested.
    pub(super) families: Option<(Tie, usize)>,
    /// Lower bound on the time of any strategy of each piece, if known.
    pub(super) least: Vec<f64>,
    /// Cached layers, shared by all threads and by the search for rows of families.
    pub(super) layers: Arc<LayerMemo>,
}

/// Buffers of one thread.
#[derive(Debug)]
pub struct Worker {
    pub(super) plan: Plan,
    pub(super) buffers: Buffers,
    pub(super) scratch: Vec<ChunkCost>,
    /// The strategy timed last, except for sharding, if its passes are those of every sharding below stage
    /// 3.
    pub(super) timed: Option<Strategy>,
    /// The best entries of the thread in all its pieces, used as bounds.
    pub(super) best: ShortList,
    pub(super) front: Front,
    /// The nearest misses of the thread in all its pieces, used as bounds.
    pub(super) misses: ShortList,
    /// Cached shapes.
    pub(super) shaped: Shapes,
    /// Cached prices of GEMMs.
    pub(super) products: Arc<ProductMemo>,
    /// The thread's rows of families, if requested.
    pub(super) families: Option<Families>,
}

impl Worker {
    /// The worker with the buffers of an earlier one: compiled schedules are valid for any search.
    #[must_use]
    pub fn reusing(self, buffers: Buffers) -> Self {
        Self { buffers, ..self }
    }

    /// The buffers, for a later worker.
    pub fn into_buffers(self) -> Buffers {
        self.buffers
    }

    /// Tests whether the thread has found anything that fits.
    pub(super) fn found_any(&self) -> bool {
        self.best.threshold().is_finite() || !self.best.entries().is_empty()
    }
}
