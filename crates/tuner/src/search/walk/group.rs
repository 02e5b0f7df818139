//! Groups of strategies that are pruned together.
//!
//! Responsible for: the lower bound on a place's time, and the nearest misses if nothing of a group fits.
//! Does not time.

use super::super::choices::{splits_shapes, suits};
use super::super::placing::input;
use super::super::results::Results;
use super::super::shapes::{Shape, Shaped};
use super::super::strategy::Strategy;
use super::piece::Piece;
use super::place::Place;
use super::rungs::Rungs;
use crate::search::entry::Entry;
use crate::search::task::Worker;
use railwright_calculator::memory::{PeakParts, RankParameters};
use railwright_spec::plan::{Recompute, Schedule, Sharding};

/// The sharding of lower bounds on memory: it gathers no parameters.
pub(super) const LEAST: Sharding = Sharding { zero_stage: 1, group: None, reshard_after_forward: true };

/// Influences on bytes per parameter other than sharding: micro-batches that enter a pipeline at both ends,
/// and chunks per stage (one, or several: then sharded gradients need not be whole between backward passes).
pub(super) const SLOTS: [(bool, u64); 4] = [(false, 1), (false, 2), (true, 1), (true, 2)];

/// Index of a shape's bytes in [`SLOTS`].
pub(super) fn slot(shape: &Shape, stages: u64) -> usize {
    2 * usize::from(shape.schedule.copies(stages) > 1) + usize::from(shape.virtual_stages > 1)
}

impl Piece<'_, '_> {
    /// Lower bound on the time of a place's strategies, for any shape.
    pub(super) fn least(&self, place: &Place) -> f64 {
        let micro_batches = place.strategy.micro_batches(self.search.space.base.global_batch);
        let fuses = self.search.space.schedules.contains(&Schedule::DualPipe);
        place.terms.step(place.prefix.shared(self.degrees.pipeline, micro_batches, fuses))
    }

    /// Number of strategies of a place that differ only in shape and recompute.
    pub(super) fn rungs(&self, place: &Place, shaped: &Shaped) -> u64 {
        let (space, strategy) = (&self.search.space, &place.strategy);
        if !splits_shapes(space, strategy) {
            return shaped.rungs;
        }
        shaped.shapes.iter().filter(|shape| suits(space, strategy, shape)).map(Shape::rungs).sum()
    }

    /// Parts of a place for a lower bound on its memory under any policy and sharding, and the plan of that
    /// bound: with full recompute and the sharding of [`Piece::node`].
    pub(super) fn least_parts<'p>(
        &self,
        place: &'p mut Place,
        held: &RankParameters,
        worker: &mut Worker,
    ) -> &'p PeakParts {
        let search = self.search;
        let parts = place.least.get_or_insert_with(|| {
            worker.plan.recompute = Recompute::None;
            let mut parts = PeakParts::new(&input(search, &worker.plan), held);
            for policy in 0..search.space.policies.len() {
                let strategy = Strategy { policy: policy as u16, layers: None, ..place.strategy };
                strategy.write_recompute(&search.space, &mut worker.plan);
                parts.lower(&input(search, &worker.plan));
            }
            Box::new(parts)
        });
        worker.plan.recompute = Recompute::Full { layers: None };
        worker.plan.sharding = LEAST;
        parts
    }

    /// Keeps the nearest misses of a group of which nothing fits.
    pub(super) fn miss(
        &self,
        place: &mut Place,
        policy: usize,
        strategy: Strategy,
        (rungs, slot): (&mut Rungs<'_>, usize),
        worker: &mut Worker,
        found: &mut Results,
    ) {
        // Only used if nothing fits at all.
        if worker.found_any() {
            return;
        }
        let treated = place.policies[policy].as_mut();
        let Some(parts) = treated.and_then(|treated| treated.parts.as_mut()) else { return };
        for (index, &sharding) in self.shardings.iter().enumerate() {
            worker.plan.sharding = sharding;
            let bytes = self.bytes[slot][index];
            let Some(peak) = rungs.last(bytes, (self.search, &mut *parts, &mut worker.plan)) else {
                return;
            };
            let strategy = Strategy { sharding, ..strategy };
            let miss = Entry { strategy, time: f64::INFINITY, memory: peak.device.get() };
            found.misses.offer(&miss);
            worker.misses.offer(&miss);
        }
    }
}
