//! The bill of an estimate, from [`crate::money`].

use super::EstimateOptions;
use crate::money::{Bill, bill};
use railwright_spec::cluster::Cluster;
use railwright_spec::model::Model;
use railwright_spec::plan::Plan;
use railwright_spec::problem::Problem;
use railwright_spec::quantity::Seconds;
use railwright_spec::run::Run;

/// Time and cost of the token budget. `None` without a budget.
pub(super) fn money(
    model: &Model,
    cluster: &Cluster,
    plan: &Plan,
    options: &EstimateOptions,
    step: Seconds,
) -> Result<Option<Bill>, Problem> {
    if options.training.tokens.is_none() {
        return Ok(None);
    }
    let run = Run {
        model: model.clone(),
        cluster: cluster.clone(),
        plan: plan.clone(),
        training: options.training,
        cost: options.cost,
        software_origin: options.software_origin,
        open_settings: options.open_settings,
    };
    bill(&run, step)
}
