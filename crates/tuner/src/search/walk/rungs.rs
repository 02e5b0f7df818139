//! Memory of one shape under one recompute policy, on increasing numbers of layers.
//!
//! Responsible for: sizing each number of recomputed layers once, for all shardings of a node. Does not test
//! the fit.

use super::super::placing::{input, set_layers};
use crate::search::task::Search;
use railwright_calculator::memory::{
    ParameterBytes, Peak, PeakParts, StageLayout, StageParameters, UnshardedStages,
};
use railwright_spec::plan::Plan;

/// The rungs of a ladder.
pub(super) struct Rungs<'r> {
    layout: &'r StageLayout,
    held: &'r StageParameters,
    ladder: &'r [Option<u64>],
    known: Vec<Option<UnshardedStages>>,
    /// Lower bound on the step time by rung, in seconds, once it is computed.
    pub(super) bounds: Vec<Option<f64>>,
}

impl<'r> Rungs<'r> {
    pub(super) fn new(layout: &'r StageLayout, held: &'r StageParameters, ladder: &'r [Option<u64>]) -> Self {
        Self { layout, held, ladder, known: vec![None; ladder.len()], bounds: vec![None; ladder.len()] }
    }

    /// The peak on the last rung: the most recompute.
    pub(super) fn last(
        &mut self,
        bytes: ParameterBytes,
        on: (&Search<'_>, &mut PeakParts, &mut Plan),
    ) -> Option<Peak> {
        self.peak(self.ladder.len().checked_sub(1)?, bytes, on)
    }

    /// The peak on a rung under a sharding. Afterwards the plan contains the rung's number of layers.
    pub(super) fn peak(
        &mut self,
        rung: usize,
        bytes: ParameterBytes,
        (search, parts, plan): (&Search<'_>, &mut PeakParts, &mut Plan),
    ) -> Option<Peak> {
        set_layers(plan, *self.ladder.get(rung)?);
        let input = input(search, plan);
        let (layout, held) = (self.layout, self.held);
        let stages = self.known.get_mut(rung)?.get_or_insert_with(|| {
            parts.set_layers(input.plan);
            parts.unsharded(&input, layout, held)
        });
        Some(stages.peak(&input, bytes))
    }
}
