//! Memory of each rank along the step, from [`crate::memory::over_time`] on the timed passes.

use crate::costing::Costing;
use crate::memory::{MemoryInput, SoftwareCatalogue, over_time};
use crate::schedule::PipelineTimeline;
use railwright_spec::problem::Problem;
use railwright_spec::quantity::Seconds;
use railwright_step::Step;

/// Writes the events of allocation and release.
pub(super) fn write(
    step: &mut Step,
    costing: &Costing<'_>,
    simulated: &PipelineTimeline,
    end: Seconds,
) -> Result<(), Problem> {
    let catalogue = SoftwareCatalogue::shared()?;
    let input = MemoryInput {
        model: costing.model,
        cluster: costing.cluster,
        plan: costing.plan,
        software: catalogue.get(&costing.plan.software),
        in_flight: None,
    };
    for (stage, (rank, passes)) in step.ranks.iter_mut().zip(&simulated.stages).enumerate() {
        rank.memory = over_time(&input, stage, passes, end);
    }
    Ok(())
}
