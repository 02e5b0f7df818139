//! Hints for settings that do not divide: valid values nearby.

use super::super::Plan;
use crate::problem::Problem;

/// The divisors of `n` next to `wanted`: the largest below and the smallest above.
pub(super) fn nearest_divisors(n: u64, wanted: u64) -> Vec<u64> {
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

/// Divisors of `n` nearest to `wanted` that pass a test.
pub(super) fn nearest_where(n: u64, wanted: u64, test: impl Fn(u64) -> bool) -> Vec<u64> {
    let fits = |d: &u64| *d > 0 && n.is_multiple_of(*d) && test(*d);
    let below = (1..wanted.min(n + 1)).rev().find(fits);
    let above = (wanted + 1..=n.max(wanted)).find(fits);
    below.into_iter().chain(above).collect()
}

/// True if the ranks of the job divide into model replicas of these degrees.
pub(super) fn divides_ranks(plan: &Plan, degrees: [u64; 3]) -> bool {
    let replica = degrees.into_iter().fold(1, |all: u64, degree| all.saturating_mul(degree.max(1)));
    plan.world_size().is_multiple_of(replica)
}

/// Hint with valid values: `use 4 or 8`.
pub(super) fn use_one_of(values: &[u64]) -> String {
    match values {
        [] => "use 1".to_owned(),
        values => format!("use {}", values.iter().map(u64::to_string).collect::<Vec<_>>().join(" or ")),
    }
}

/// Adds valid values of its key to a problem.
pub(super) fn with_values(problem: Problem, values: &[u64]) -> Problem {
    let key = problem.place.as_ref().and_then(|place| place.key.clone()).unwrap_or_default();
    let values = if values.is_empty() { &[1][..] } else { values };
    let advised = problem.hint(use_one_of(values));
    values.iter().fold(advised, |problem, value| problem.remedy(key.as_str(), value))
}

pub(super) fn greatest_common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}
