//! Lower bound on memory for any recompute and micro-batch: parameters and optimizer states under the minimum
//! over shardings.
//!
//! Responsible for: the parameters of a piece's pipelines, sized once, and ruling out whole pipelines whose
//! parameters alone exceed the memory. Excludes all other memory.

use railwright_calculator::memory::{
    MemoryInput, ParameterBytes, Peak, RankParameters, StageLayout, StageParameters,
};
use railwright_spec::model::Model;
use railwright_spec::plan::Plan;
use std::cell::OnceCell;

/// Parameters of the pipelines of a piece, computed on first use.
#[derive(Default)]
pub(super) struct Floor {
    held: Option<RankParameters>,
    /// Pipelines by micro-batch and shape.
    pipelines: Vec<Vec<OnceCell<Pipeline>>>,
}

/// A pipeline: its parameters by stage, true if they can fit, and a lower bound on the bytes reported by the
/// device with the largest need.
pub(super) struct Pipeline {
    pub(super) held: StageParameters,
    pub(super) fits: bool,
    pub(super) device: f64,
}

impl Floor {
    /// A floor for a piece's parallel sizes, with the number of shapes of each micro-batch.
    pub(super) fn new(model: &Model, plan: &Plan, shapes: impl Iterator<Item = usize>) -> Self {
        Self {
            held: Some(RankParameters::new(model, plan)),
            pipelines: shapes.map(|count| (0..count).map(|_| OnceCell::new()).collect()).collect(),
        }
    }

    /// The parameters of each part of the model.
    pub(super) fn parts(&self) -> Option<&RankParameters> {
        self.held.as_ref()
    }

    /// The pipeline of a shape, including the test of its parameters under the minimum over shardings.
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
