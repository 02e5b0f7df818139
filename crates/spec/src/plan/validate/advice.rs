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

/// Adds valid values of its key to a problem, as in `use 4 or 8`, and another way out. Without either there
/// is not a hint.
pub(super) fn with_values_or<T: ToString>(problem: Problem, values: &[T], other: &str) -> Problem {
    let key = problem.place.as_ref().and_then(|place| place.key.clone()).unwrap_or_default();
    let listed = values.iter().map(T::to_string).collect::<Vec<_>>().join(" or ");
    let hint = match (values.is_empty(), other.is_empty()) {
        (true, true) => return problem,
        (true, false) => other.to_owned(),
        (false, true) => format!("use {listed}"),
        (false, false) => format!("use {listed}, or {other}"),
    };
    values.iter().fold(problem.hint(hint), |problem, value| problem.remedy(key.as_str(), value.to_string()))
}

/// Adds valid values of its key to a problem, as in `use 4 or 8`.
pub(super) fn with_values<T: ToString>(problem: Problem, values: &[T]) -> Problem {
    with_values_or(problem, values, "")
}
