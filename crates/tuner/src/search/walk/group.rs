//! Groups of strategies that are left out together.
//!
//! Responsible for: the least time of a place, and what comes closest to fitting where nothing of a group fits. Refuses to time.

use super::super::engine::Worker;
use super::super::placing::input;
use super::super::results::{Entry, Results};
use super::super::strategy::Strategy;
use super::{Piece, Place};
use railwright_calculator::memory::StageLayout;
use railwright_spec::plan::Schedule;

impl Piece<'_, '_> {
    /// The least time of a place's strategies, whatever their shape.
    pub(super) fn least(&self, place: &Place) -> f64 {
        let micro_batches = place.strategy.micro_batches(self.search.space.base.global_batch);
        let fuses = self.search.space.schedules.contains(&Schedule::DualPipe);
        place.beside.step(place.prefix.shared(self.degrees.pipeline, micro_batches, fuses))
    }

    /// Remembers what comes closest to fitting in a group of which nothing fits.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn miss(
        &self,
        place: &mut Place,
        policy: usize,
        strategy: Strategy,
        layout: &StageLayout,
        copies: usize,
        worker: &mut Worker,
        found: &mut Results,
    ) {
        // Only read where nothing fits at all.
        if worker.found_any() {
            return;
        }
        let Some(treated) = &mut place.policies[policy] else { return };
        for (index, &sharding) in self.shardings.iter().enumerate() {
            worker.plan.sharding = sharding;
            treated.parts.set_sharding(self.bytes[copies][index]);
            let peak = treated.parts.peak(&input(self.search, &worker.plan), layout);
            let strategy = Strategy { sharding, ..strategy };
            found.misses.offer(&Entry { strategy, time: f64::INFINITY, memory: peak.device.get() });
        }
    }
}
