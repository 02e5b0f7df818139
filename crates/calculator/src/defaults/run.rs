//! A run file as the program runs it.
//!
//! Responsible for: a run with its default layout and default recompute, for libraries and commands. Has no
//! prices of its own.

use super::resolve_plan;
use railwright_spec::plan::PlanSpec;
use railwright_spec::problem::{Problem, Warning};
use railwright_spec::run::{Run, RunSpec};

/// Resolves everything of a run except its plan, which is a placeholder: a plan without a layout may not even
/// divide. `read` returns the text of the model's `config.json` and of a calibration by path.
pub fn resolve_but_plan(
    spec: &RunSpec,
    read: impl Fn(&str) -> Result<String, Problem>,
) -> Result<Run, Problem> {
    let mut quiet = spec.clone();
    quiet.plan = PlanSpec {
        tensor_parallel: Some(1),
        pipeline_parallel: Some(1),
        data_parallel: Some(1),
        ..Default::default()
    };
    let run = quiet.resolve(read)?;
    Ok(Run { software_origin: spec.software_origin(), open_settings: spec.plan.open_settings(), ..run })
}

/// Resolves and validates a run with the defaults of the program: without parallel sizes the fastest common
/// layout that fits, and recompute where a specified layout does not fit without. Returns all problems, or
/// the run with its warnings.
pub fn resolve_run(
    spec: &RunSpec,
    read: impl Fn(&str) -> Result<String, Problem>,
) -> Result<(Run, Vec<Warning>), Vec<Problem>> {
    let one = |problem| vec![spec.placed(problem)];
    let mut run = resolve_but_plan(spec, read).map_err(one)?;
    run.plan = resolve_plan(&spec.plan, &run.model, &run.cluster).map_err(one)?.0;
    spec.validated(run)
}
