//! Whether a plan is possible for a model on a number of devices.
//!
//! Responsible for: the rules that frameworks enforce at start-up, each with the problem, its key and the
//! nearest valid value. Does not judge performance or memory. One file per group of rules.

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
/// Impossible numbers (zero ranks, 1e30 sequences, NaN) are reported alone, because no other rule applies
/// then.
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
