//! Verdict on the memory of a run, for every answer.

use railwright_calculator::memory::{Fit, MemoryInput, MemoryReport, SoftwareCatalogue, report};
use railwright_spec::problem::Problem;
use railwright_spec::run::Run;

/// Memory of every stage of a run, with the verdict.
pub fn memory_report(run: &Run) -> Result<MemoryReport, Problem> {
    let software = SoftwareCatalogue::shared()?.get(&run.plan.software);
    let (model, cluster, plan) = (&run.model, &run.cluster, &run.plan);
    Ok(report(&MemoryInput { model, cluster, plan, software, in_flight: None }))
}

/// Verdict on a run.
pub(crate) fn fit(run: &Run) -> Result<Fit, Problem> {
    memory_report(run).map(|report| report.fit)
}
