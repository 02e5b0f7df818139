//! Places: the settings that determine layers' prices, and their recompute policies.
//!
//! Responsible for: parts of a place that are computed on first use. Does not bound or size.

use super::super::bound::{Prefix, StepTerms};
use super::super::strategy::Strategy;
use crate::search::task::Search;
use crate::simplicity::UnusualFeatures;
use railwright_calculator::memory::PeakParts;
use railwright_calculator::prepared::{Priced, Setting};
use railwright_spec::plan::Plan;

/// Settings that determine layers' prices: parallel sizes, micro-batch, sequence, context and placement.
pub(super) struct Place {
    pub(super) strategy: Strategy,
    /// Number of possible settings of the switches.
    pub(super) ways: u64,
    /// Number of equivalent placements.
    pub(super) copies: u64,
    /// Unusual features of parallel sizes, micro-batch and placement.
    pub(super) oddities: UnusualFeatures,
    pub(super) setting: Setting,
    pub(super) prefix: Prefix,
    pub(super) terms: StepTerms,
    /// Index of the list of shapes for its micro-batch.
    pub(super) shapes: usize,
    /// Lower bound on the memory of its layers over all policies, once it is needed.
    pub(super) least: Option<Box<PeakParts>>,
    /// Empty until its first use: most places are too slow under any policy.
    pub(super) policies: Vec<Option<Box<Treated>>>,
}

/// A place under a recompute policy.
pub(super) struct Treated {
    /// Calculated once a shape is fast enough.
    pub(super) parts: Option<PeakParts>,
    pub(super) recompute: Vec<f64>,
    /// Prices by sharding; those below stage 3 share the first.
    pub(super) priced: Vec<Option<Box<Priced>>>,
}

/// Calculates the inputs of the bounds by layer for places.
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
