//! Whether a plan is possible for a model on a number of devices.
//!
//! Responsible for: the rules that frameworks enforce at start-up, each with the problem, its key and the
//! nearest valid value. Does not judge performance or memory. One file per group of rules.

mod batch;
mod bounds;
mod devices;
mod framework;
mod lora;
mod pipeline;
mod stage_recompute;
mod tensor;
mod warn;

pub use pipeline::balanced_layers;
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

/// The divisors of `n` next to `wanted`: the largest below and the smallest above.
fn nearest_divisors(n: u64, wanted: u64) -> Vec<u64> {
    // Divisors come in pairs around the root, so the search is short; `n` is bounded by the checks before.
    let root = (n as f64).sqrt() as u64 + 1;
    let mut below = None;
    let mut above = None;
    let pairs = (1..=root.min(n)).filter(|d| n.is_multiple_of(*d)).flat_map(|d| [d, n / d]);
    for divisor in pairs {
        if divisor < wanted {
            below = below.max(Some(divisor));
        } else if divisor > wanted && above.is_none_or(|a| divisor < a) {
            above = Some(divisor);
        }
    }
    below.into_iter().chain(above).collect()
}

/// Advice that names the values which work: `use 4 or 8`.
fn use_one_of(values: &[u64]) -> String {
    match values {
        [] => "use 1".to_owned(),
        values => format!("use {}", values.iter().map(u64::to_string).collect::<Vec<_>>().join(" or ")),
    }
}

fn greatest_common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}

#[cfg(test)]
mod tests;
