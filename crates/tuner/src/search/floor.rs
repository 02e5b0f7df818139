//! What no recompute and no micro batch can save: parameters and optimizer states under the least of every sharding.
//!
//! Responsible for: the parameters of a piece's pipelines, sized once, and ruling out whole pipelines that their parameters alone fill.
//! Refuses to price anything else.

use railwright_calculator::memory::{HeldParts, HeldStages, MemoryInput, ParameterBytes, Peak, StageLayout};
use railwright_spec::model::Model;
use railwright_spec::plan::Plan;
use std::cell::OnceCell;

/// Parameters of the pipelines of a piece, computed on first use.
#[derive(Default)]
pub(super) struct Floor {
    held: Option<HeldParts>,
    /// By micro-batch and shape.
    pipelines: Vec<Vec<OnceCell<Pipeline>>>,
}

/// A pipeline: its parameters by stage, whether they fit at all, and the bytes that the fullest device shows at least.
pub(super) struct Pipeline {
    pub(super) held: HeldStages,
    pub(super) fits: bool,
    pub(super) device: f64,
}

impl Floor {
    /// For a piece's degrees, with the number of shapes of each micro-batch.
    pub(super) fn new(model: &Model, plan: &Plan, shapes: impl Iterator<Item = usize>) -> Self {
        Self {
            held: Some(HeldParts::new(model, plan)),
            pipelines: shapes.map(|count| (0..count).map(|_| OnceCell::new()).collect()).collect(),
        }
    }

    /// The parameters of each part of the model.
    pub(super) fn parts(&self) -> Option<&HeldParts> {
        self.held.as_ref()
    }

    /// The pipeline of a shape, and whether its parameters fit under the least of every sharding.
    pub(super) fn pipeline(
        &self,
        (micro_batch, shape): (usize, usize),
        input: &MemoryInput<'_>,
        least: Option<ParameterBytes>,
        layout: &StageLayout,
        fits: impl FnOnce(Peak) -> bool,
    ) -> Option<&Pipeline> {
        let held = self.held.as_ref()?;
        let cell = self.pipelines.get(micro_batch)?.get(shape)?;
        Some(cell.get_or_init(|| {
            let held = held.on(input.model, input.software, layout);
            let peak = least.map(|least| held.step(input, least, layout));
            let device = peak.as_ref().map_or(0.0, |peak| peak.device.get());
            Pipeline { held, fits: peak.is_none_or(fits), device }
        }))
    }
}
