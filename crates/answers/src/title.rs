//! Titles of answers: a run in one line.

use railwright_spec::human;
use railwright_spec::model::Model;
use railwright_spec::run::Run;

/// Name and parameters of a model: `llama-3.1-405b, 405.9B parameters`.
pub fn describe(model: &Model) -> String {
    format!("{}, {} parameters", model.name, human::count(model.parameters().total as f64))
}

/// Model, devices and plan of a run.
pub fn title(run: &Run) -> String {
    format!(
        "{} on {}, {}",
        describe(&run.model),
        run.cluster.devices_by_kind(),
        railwright_calculator::estimate::plan_summary(&run.plan)
    )
}
