//! Placement of a strategy of a piece, its validity, and its pruning.
//!
//! Responsible for: rank orders with the relevant parts of domains, recomputed layers, the rules of validity,
//! and pruning of strictly worse strategies. Does not price.

use super::entry::Score;
use super::families::Family;
use super::incumbent::Incumbent;
use super::shapes::Shape;
use super::split::Split;
use super::strategy::Strategy;
use super::task::{Search, Worker};
use crate::simplicity::UnusualFeatures;
use railwright_calculator::memory::MemoryInput;
use railwright_spec::plan::{Plan, RankOrder, Recompute, validate};

/// Rank orders, each with the parts of domains to compare for it.
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

/// Sets the number of recomputed layers, for policies of whole layers.
pub(super) fn set_layers(plan: &mut Plan, rung: Option<u64>) {
    if let Recompute::Full { layers } | Recompute::Selective { layers, .. } = &mut plan.recompute {
        *layers = rung;
    }
}

/// Tests whether parallel sizes, batch and sequence are valid, and leaves the strategy in the plan without
/// sharding and recompute.
pub(super) fn is_possible(search: &Search<'_>, plan: &mut Plan, strategy: &Strategy, shape: &Shape) -> bool {
    strategy.write(&search.space, search.model, plan);
    plan.recompute = Recompute::None;
    if shape.split != Split::Even && shape.split != Split::Given {
        plan.layers_per_stage = Some(shape.layers.clone());
    }
    validate(search.model, search.cluster, plan).is_empty()
}

impl Search<'_> {
    /// Tests whether a strategy of these families with at least this time, memory and oddities can still
    /// change the result.
    pub(super) fn wants(
        &self,
        worker: &Worker,
        incumbent: &Incumbent,
        of: impl IntoIterator<Item = Family>,
        oddities: UnusualFeatures,
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

/// Inputs of the memory model for a plan.
pub(super) fn input<'i>(search: &'i Search<'_>, plan: &'i Plan) -> MemoryInput<'i> {
    MemoryInput {
        model: search.model,
        cluster: search.cluster,
        plan,
        software: search.memory,
        in_flight: None,
    }
}
