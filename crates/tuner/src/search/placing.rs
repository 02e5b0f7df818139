//! What a strategy of a piece is laid on, whether it is possible at all, and whether anything like it is wanted.
//!
//! Responsible for: orders of ranks with the parts of domains worth comparing, layers recomputed, the rules of validity, and what is
//! strictly worse than what is known. Refuses to price.

use super::engine::{Search, Worker};
use super::families::Family;
use super::incumbent::Incumbent;
use super::results::Score;
use super::shapes::Shape;
use super::strategy::{Split, Strategy};
use crate::simplicity::Oddities;
use railwright_calculator::memory::MemoryInput;
use railwright_spec::plan::{Plan, RankOrder, Recompute, validate};

/// Orders of ranks, each on the parts of domains that are worth comparing for it.
pub(super) fn placements(search: &Search<'_>, plan: &mut Plan) -> Vec<(RankOrder, Option<u64>)> {
    let mut list = Vec::new();
    for &rank_order in &search.space.rank_orders {
        plan.rank_order = rank_order;
        match &search.space.segments {
            Some(asked) => list.extend(asked.iter().map(|segment| (rank_order, segment.on(search.cluster)))),
            None => list.extend(plan.segments(search.cluster).map(|segment| (rank_order, segment))),
        }
    }
    list
}

/// Sets how many layers are recomputed, where a policy recomputes layers.
pub(super) fn set_layers(plan: &mut Plan, rung: Option<u64>) {
    if let Recompute::Full { layers } | Recompute::Selective { layers, .. } = &mut plan.recompute {
        *layers = rung;
    }
}

/// Whether degrees, batch and sequence are possible, leaving the strategy in the plan with nothing sharded or recomputed.
pub(super) fn is_possible(search: &Search<'_>, plan: &mut Plan, strategy: &Strategy, shape: &Shape) -> bool {
    strategy.write(&search.space, search.model, plan);
    plan.recompute = Recompute::None;
    if shape.split != Split::Even && shape.split != Split::Given {
        plan.layers_per_stage = Some(shape.layers.clone());
    }
    validate(search.model, search.cluster, plan).is_empty()
}

impl Search<'_> {
    /// Whether anything of these families that takes at least so long, needs at least so much and has at least these oddities can still be
    /// wanted.
    pub(super) fn wants(
        &self,
        worker: &Worker,
        incumbent: &Incumbent,
        of: impl IntoIterator<Item = Family>,
        oddities: Oddities,
        (time, memory): (f64, f64),
    ) -> bool {
        if let Some(families) = &worker.families {
            return time <= families.limit(incumbent.cut(), of, oddities);
        }
        let known = incumbent.get();
        let ranks = match self.score() {
            Score::Time => time <= known,
            Score::Memory => memory <= known,
        };
        ranks || self.options.front && !worker.front.beats(time, memory)
    }
}

/// What the memory of a plan depends on.
pub(super) fn input<'i>(search: &'i Search<'_>, plan: &'i Plan) -> MemoryInput<'i> {
    MemoryInput {
        model: search.model,
        cluster: search.cluster,
        plan,
        software: search.memory,
        in_flight: None,
    }
}
