//! What no recompute and no micro batch can save: parameters and optimizer states under the least of every sharding.
//!
//! Responsible for: ruling out whole pipelines of a piece that their parameters alone fill. Refuses to price anything else.

use railwright_calculator::memory::{HeldParts, MemoryInput, ParameterBytes, Peak, StageLayout};
use railwright_spec::model::Model;
use railwright_spec::plan::Plan;
use std::cell::Cell;

/// Minimum memory of the pipelines of a piece, computed on first use.
#[derive(Default)]
pub(super) struct Floor {
    held: Option<HeldParts>,
    /// By micro batch and shape.
    fits: Vec<Vec<Cell<Option<bool>>>>,
}

impl Floor {
    /// For a piece's degrees, with the number of shapes of each micro batch.
    pub(super) fn new(model: &Model, plan: &Plan, shapes: impl Iterator<Item = usize>) -> Self {
        Self {
            held: Some(HeldParts::new(model, plan)),
            fits: shapes.map(|count| vec![Cell::new(None); count]).collect(),
        }
    }

    /// Whether the parameters of a shape fit at all, under the least of every sharding.
    pub(super) fn fits(
        &self,
        (micro_batch, shape): (usize, usize),
        input: &MemoryInput<'_>,
        least: Option<ParameterBytes>,
        layout: &StageLayout,
        fits: impl FnOnce(Peak) -> bool,
    ) -> bool {
        let known = self.fits.get(micro_batch).and_then(|shapes| shapes.get(shape));
        if let Some(answer) = known.and_then(Cell::get) {
            return answer;
        }
        let (Some(held), Some(least)) = (&self.held, least) else { return true };
        let answer = fits(held.step(input, least, layout));
        if let Some(known) = known {
            known.set(Some(answer));
        }
        answer
    }
}
