//! Whether a plan is possible for a model on a number of devices.
//!
//! Responsible for: every rule that the frameworks themselves would enforce at start-up, told before anybody waits for a
//! machine: what is wrong, at which key, and the nearest value that works. Refuses to judge whether a plan is good, and
//! whether it fits in memory. One file per group of rules.

mod advice;
mod batch;
mod bounds;
mod devices;
mod framework;
mod lora;
mod pipeline;
mod stage_recompute;
mod tensor;
mod warn;

pub use warn::warnings;

use super::Plan;
use crate::cluster::Cluster;
use crate::model::Model;
use crate::problem::Problem;

/// Checks a plan against the model and the cluster: all problems, most fundamental first; empty when it is possible.
///
/// Numbers that cannot be true (zero ranks, 1e30 sequences, NaN) are told alone: no other rule means anything then.
pub fn validate(model: &Model, cluster: &Cluster, plan: &Plan) -> Vec<Problem> {
    let absurd = bounds::check(plan);
    if !absurd.is_empty() {
        return absurd;
    }
    let mut problems = Vec::new();
    devices::check(cluster, plan, &mut problems);
    tensor::check(model, plan, &mut problems);
    pipeline::check(model, plan, &mut problems);
    batch::check(model, plan, &mut problems);
    lora::check(model, plan, &mut problems);
    problems
}

#[cfg(test)]
mod tests;
