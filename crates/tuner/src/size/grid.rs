//! Cluster sizes to try.
//!
//! Responsible for: a first grid, and its extension if a goal may still be met. Also refines between a
//! number that meets the goal and its neighbour that does not. Does not price.

use super::{Goal, Machine, Row};
use railwright_calculator::model_flop::{Convention, of_spec};
use railwright_calculator::money::devices_for_deadline;
use railwright_spec::cluster::Cluster;
use railwright_spec::model::Model;
use railwright_spec::plan::PlanSpec;
use railwright_spec::quantity::FlopPerSecond;
use railwright_spec::run::Training;

/// Range of cluster sizes of the first grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reach {
    /// Minimum.
    pub from: u64,
    /// Maximum of the first grid.
    pub to: u64,
    /// Overall maximum.
    pub most: u64,
}

/// Assumed MFU before any evaluation; only the middle of the first grid depends on it.
const GUESSED_MFU: f64 = 0.4;
/// Minimum bytes per parameter over all devices: 16-bit weights, and gradient, master and two moments in 32
/// bits.
const BYTES_PER_PARAMETER: f64 = 16.0;
/// Maximum cluster size; there are no measurements near it.
const LARGEST: u64 = 262_144;

/// Range of numbers: around the requirement of a deadline, at least enough for the model, at most one replica
/// per sequence. The batch has `sequences` of `sequence_length` tokens, packed as specified.
pub fn reach(
    model: &Model,
    cluster: &Cluster,
    training: &Training,
    goal: &Goal,
    (specified, sequences, sequence_length): (&PlanSpec, u64, u64),
    peak: FlopPerSecond,
) -> Reach {
    let unit = cluster.devices_per_node.max(1);
    let up = |n: u64| n.div_ceil(unit).max(1).saturating_mul(unit);
    let adapters = 0.6;
    let held =
        model.parameters().total as f64 * BYTES_PER_PARAMETER / (cluster.accelerator.memory.get() * 0.9);
    // Offload, low-precision states and adapters need less. This is only the start; the search determines the
    // fit.
    let fewest = up((held * adapters).ceil().max(1.0) as u64);
    let most = up(fewest.max(unit).saturating_mul(sequences.max(1)).min(LARGEST));
    let per_second = peak * GUESSED_MFU;
    let one = of_spec(model, specified, sequence_length, Convention::REPORTED);
    let rate = per_second.get() / one.get();
    let wanted = goal
        .deadline
        .zip(training.tokens)
        .and_then(|(deadline, tokens)| devices_for_deadline(tokens, rate, deadline, training));
    match wanted {
        Some(wanted) => {
            let middle = wanted.clamp(fewest, most);
            let from = up(middle / 4).max(fewest);
            Reach { from, to: up(middle.saturating_mul(4)).clamp(from, most), most }
        }
        None => Reach { from: fewest, to: most.min(fewest.saturating_mul(256)), most },
    }
}

/// Multiples of a machine between two bounds: powers of two of it, and with `dense` also one and a half times
/// those.
pub fn numbers(unit: u64, from: u64, to: u64, dense: bool) -> Vec<u64> {
    let unit = unit.max(1);
    let powers = (0..40).map_while(|p| unit.checked_mul(1 << p)).take_while(|n| *n <= to);
    let mut list: Vec<u64> = powers
        .flat_map(|n| {
            let half_more = (dense && (n / unit).is_multiple_of(2)).then_some(n / 2 * 3);
            [Some(n), half_more]
        })
        .flatten()
        .filter(|n| (from..=to).contains(n))
        .collect();
    list.sort_unstable();
    list.dedup();
    list
}

/// The next number above the largest, if the goal requires it: the deadline is not met, or the budget is not
/// used up, and the last doubling was still useful.
pub(super) fn larger(machine: &Machine, rows: &[&Row], goal: &Goal) -> Option<u64> {
    let last = rows.last()?;
    let needs_more = match (goal.deadline, goal.budget) {
        (Some(_), _) => !rows.iter().any(|row| row.in_time),
        (None, Some(_)) => last.in_budget,
        (None, None) => false,
    };
    if !needs_more {
        return None;
    }
    let before = rows.iter().rev().find(|row| row.devices.saturating_mul(2) <= last.devices);
    let helps = before.is_none_or(|before| last.tokens_per_second > before.tokens_per_second * 1.05);
    let next = last.devices.checked_mul(2)?;
    (helps && next <= machine.most).then_some(next)
}

/// Number of parts of the gap between meeting and missing a goal.
const PARTS: u64 = 8;

/// A number between neighbours of which one meets the goal and the other does not, halving the gap, while the
/// gap is large enough.
pub(super) fn between(
    machine: &Machine,
    rows: &[&Row],
    goal: &Goal,
    is_known: impl Fn(u64) -> bool,
) -> Option<u64> {
    if goal.deadline.is_none() && goal.budget.is_none() {
        return None;
    }
    rows.windows(2).filter(|pair| pair[0].meets() != pair[1].meets()).find_map(|pair| {
        let (low, high) = (pair[0].devices, pair[1].devices);
        let middle = low + (high - low) / 2;
        let enough = (high / (2 * PARTS)).max(machine.devices);
        if high - low <= enough {
            return None;
        }
        // Only numbers with small factors: others cannot be divided into ranks.
        let unit = machine.devices.max(1);
        (low / unit + 1..high.div_ceil(unit))
            .map(|n| n * unit)
            .filter(|n| is_smooth(*n) && !is_known(*n) && *n > low && *n < high)
            .min_by_key(|n| n.abs_diff(middle))
    })
}

/// Tests whether 2, 3, 5 and 7 are the only prime factors.
fn is_smooth(mut n: u64) -> bool {
    for prime in [2, 3, 5, 7] {
        while n > 0 && n.is_multiple_of(prime) {
            n /= prime;
        }
    }
    n == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grid_of_machines() {
        assert_eq!(numbers(8, 8, 64, false), [8, 16, 32, 64]);
        assert_eq!(numbers(8, 16, 100, true), [16, 24, 32, 48, 64, 96]);
        assert!(numbers(4, 6, 6, true).is_empty());
        assert_eq!(numbers(0, 1, 4, false), [1, 2, 4]);
    }

    #[test]
    fn smooth_numbers_divide() {
        assert!(is_smooth(8 * 105) && is_smooth(1) && !is_smooth(8 * 11) && !is_smooth(0));
    }
}
