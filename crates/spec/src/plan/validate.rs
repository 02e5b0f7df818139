//! Validation of a plan for a model and a cluster.
//!
//! Responsible for: the rules that frameworks enforce at start-up, each with its problem, key and nearest
//! valid value. Excludes performance and memory. One file per group of rules.

mod advice;
#[cfg(test)]
mod applied;
mod batch;
mod bounds;
mod devices;
mod framework;
mod lora;
mod pipeline;
mod stage_recompute;
mod tensor;
mod warn;

pub(crate) use bounds::MOST_DEVICES;
pub use framework::is_offered;
pub use warn::warnings;

use super::Plan;
use crate::cluster::Cluster;
use crate::model::Model;
use crate::problem::Problem;

/// Checks a plan against the model and the cluster. Returns all problems, most fundamental first; empty if
/// the plan is possible.
///
/// Impossible numbers (zero ranks, 1e30 sequences, NaN) are reported alone, because other rules rely on them.
pub fn validate(model: &Model, cluster: &Cluster, plan: &Plan) -> Vec<Problem> {
    let absurd = bounds::check(plan);
    if !absurd.is_empty() {
        return absurd;
    }
    let mut problems = Vec::new();
    devices::check(model, cluster, plan, &mut problems);
    tensor::check(model, plan, &mut problems);
    pipeline::check(model, plan, &mut problems);
    batch::check(model, plan, &mut problems);
    lora::check(model, plan, &mut problems);
    problems
}

/// Tests whether the numbers of a plan are within the limits that arithmetic relies on. [`validate`] reports
/// the others. What is computed of a plan before its validation needs this test.
pub fn is_within_limits(plan: &Plan) -> bool {
    bounds::check(plan).is_empty()
}

#[cfg(test)]
mod tests;
