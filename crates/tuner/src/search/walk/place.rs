//! Places: what layers' prices depend on, and their recompute policies.
//!
//! Responsible for: parts of a place that are computed on first use. Does not bound or size.

use super::super::bound::{Beside, Prefix};
use super::super::engine::Search;
use super::super::strategy::Strategy;
use crate::simplicity::Oddities;
use railwright_calculator::memory::PeakParts;
use railwright_calculator::prepared::{Priced, Setting};
use railwright_spec::plan::Plan;

/// Degrees, micro-batch, sequence, context and placement: what layers' prices depend on.
pub(super) struct Place {
    pub(super) strategy: Strategy,
    /// In how many ways the switches could be set.
    pub(super) ways: u64,
    /// Placements that come to the same.
    pub(super) copies: u64,
    /// What experts object to in degrees, micro-batch and placement.
    pub(super) oddities: Oddities,
    pub(super) setting: Setting,
    pub(super) prefix: Prefix,
    pub(super) beside: Beside,
    /// Which list of shapes belongs to its micro-batch.
    pub(super) shapes: usize,
    /// Empty until one of them is looked at: most places are too slow under any.
    pub(super) policies: Vec<Option<Box<Treated>>>,
}

/// A place under a recompute policy.
pub(super) struct Treated {
    /// Sized once a shape is fast enough.
    pub(super) parts: Option<PeakParts>,
    pub(super) recompute: Vec<f64>,
    /// By sharding; those below stage 3 share the first.
    pub(super) priced: Vec<Option<Box<Priced>>>,
}

/// Works out what bounds by layer need of places.
pub(super) fn expand(search: &Search<'_>, places: &mut [Place]) {
    for place in places {
        place.prefix.expand(search.model, &place.setting);
    }
}

/// Prices the recompute of a place under a policy, once.
pub(super) fn treat(search: &Search<'_>, place: &mut Place, policy: usize, plan: &Plan, shardings: usize) {
    if place.policies[policy].is_some() {
        return;
    }
    let recompute = Prefix::recompute(search.model, &place.setting, &plan.recompute);
    let priced = (0..=shardings).map(|_| None).collect();
    place.policies[policy] = Some(Box::new(Treated { parts: None, recompute, priced }));
}
