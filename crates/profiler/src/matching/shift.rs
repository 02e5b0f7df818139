//! Shift between the lists of collectives of two ranks.
//!
//! Responsible for: testing shifts together with a line of the clocks' difference, robust against lost
//! kernels and clocks that are seconds apart. Excludes shifts with less than half of the shorter list to
//! compare.

use super::Part;
use super::line::{self, Line, Point, Slope};
use super::ties::CLOSE;
use railwright_spec::median;
use railwright_step::CollectiveKind;

/// Fit of two lists of one communicator.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Fit {
    /// The second list's item `k` belongs to the first list's item `k + shift`.
    pub shift: i32,
    /// Number of pairs whose operation or size differs.
    pub mismatches: u32,
    /// Number of pairs.
    pub pairs: u32,
    /// Difference of the clocks: the second one minus this is the first one.
    pub line: Line,
    /// Residual of the pairs from the line in nanoseconds, corrected for its two parameters, plus the
    /// contradiction to a known clock offset.
    weight: f64,
}

impl Fit {
    /// Tests whether operations and sizes fit one communicator.
    pub(super) fn agrees(&self) -> bool {
        self.mismatches * 5 <= self.pairs
    }

    /// Tests whether the two lists may belong to one communicator. `interval` is the usual time between
    /// collectives, in nanoseconds.
    pub(super) fn is_good(&self, interval: f64) -> bool {
        self.agrees() && self.line.scatter <= (interval / 4.0).max(20_000.0)
    }
}

/// Maximum offset of clocks that count as one clock, in nanoseconds, as for ranks of one host: a chance
/// agreement is rare.
const ONE_CLOCK: f64 = 20_000.0;

/// Minimum number of pairs for a shift that the list lengths do not suggest.
const FEWEST: usize = 8;

impl Fit {
    /// Tests whether another shift is clearly better: by a third, and by more than recorders' noise. The
    /// margin is large if the clocks agree with this shift, or if the list lengths do not suggest the
    /// other one: a regular job fits itself with a shift of one collective.
    fn is_worse_than(&self, other: &Self, natural: bool) -> bool {
        let (noise, share) = if !natural {
            (2_000.0, 0.25)
        } else if self.line.offset.abs() < ONE_CLOCK {
            (1_000.0, 0.25)
        } else {
            (200.0, 0.7)
        };
        other.weight + noise < self.weight * share
    }
}

/// Residual of pairs from a line, corrected for its two parameters.
fn weighed(line: &Line, pairs: usize) -> f64 {
    if pairs <= 2 { line.residual } else { line.residual * (pairs as f64 / (pairs - 2) as f64).sqrt() }
}

/// Tests whether two operations can be the two sides of one; an unknown operation fits any.
pub fn compatible(a: Option<CollectiveKind>, b: Option<CollectiveKind>) -> bool {
    let (Some(a), Some(b)) = (a, b) else { return true };
    let loose = |o: CollectiveKind| {
        matches!(o, CollectiveKind::SendReceive | CollectiveKind::AllToAll) || o.is_message()
    };
    a == b
        || (loose(a) && loose(b) && (a == CollectiveKind::SendReceive || b == CollectiveKind::SendReceive))
        || (a.is_message() && b.is_message())
}

/// Tests whether two parts can belong to one collective, by operation and size.
fn alike(a: &Part, b: &Part) -> bool {
    let sized = !matches!(a.operation, Some(CollectiveKind::AllToAll | CollectiveKind::SendReceive));
    compatible(a.operation, b.operation)
        && !(sized && a.bytes.zip(b.bytes).is_some_and(|(a, b)| a != b && a > 0 && b > 0))
}

/// The best of the few shifts suggested by the list lengths. `known` is the lead of the second clock in
/// nanoseconds, if known.
pub(super) fn near(
    first: &[&Part],
    second: &[&Part],
    known: Option<f64>,
    scratch: &mut Scratch,
) -> Option<Fit> {
    search(first, second, suggested(first, second), (None, known), scratch)
}

/// Shifts suggested by the lengths, and three more on both sides.
fn suggested(first: &[&Part], second: &[&Part]) -> std::ops::RangeInclusive<i32> {
    let difference = length(first) - length(second);
    difference.min(0) - 3..=difference.max(0) + 3
}

fn length(parts: &[&Part]) -> i32 {
    i32::try_from(parts.len()).unwrap_or(i32::MAX)
}

/// The best shift: the fewest mismatches first, then the smallest residual, then the smallest shift.
pub(super) fn best(first: &[&Part], second: &[&Part], known: Option<f64>, scratch: &mut Scratch) -> Fit {
    let (low, high) = suggested(first, second).into_inner();
    let Some(near) = near(first, second, known, scratch) else {
        return Fit { shift: 0, mismatches: 0, pairs: 0, line: Line::default(), weight: 0.0 };
    };
    // A poor fit may have more lost kernels than the counts show: the search is extended.
    let interval = usual_interval(first, scratch);
    if near.is_good(interval / 2.0) && near.mismatches == 0 {
        return near;
    }
    let far = (length(first).min(length(second)) / 4).min(64);
    let wider = search(first, second, low - far..=low - 1, (Some(near), known), scratch).unwrap_or(near);
    search(first, second, high + 1..=high + far, (Some(wider), known), scratch).unwrap_or(wider)
}

/// Reused buffers of searches.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    points: Vec<Point>,
    fit: line::Scratch,
    values: Vec<f64>,
}

fn search(
    first: &[&Part],
    second: &[&Part],
    shifts: std::ops::RangeInclusive<i32>,
    (so_far, known): (Option<Fit>, Option<f64>),
    scratch: &mut Scratch,
) -> Option<Fit> {
    let mut best = so_far;
    let difference = length(first) - length(second);
    let natural = difference.min(0)..=difference.max(0);
    let mut order: Vec<i32> = shifts.collect();
    order.sort_by_key(|shift| (shift.abs(), *shift < 0));
    let enough = (first.len().min(second.len())).div_ceil(2);
    for shift in order {
        let from = usize::try_from(-shift).unwrap_or(0);
        let to = usize::try_from(shift).unwrap_or(0);
        let pairs = first.iter().skip(to).zip(second.iter().skip(from));
        scratch.points.clear();
        let mut mismatches = 0;
        for (a, b) in pairs {
            mismatches += u32::from(!alike(a, b));
            let within = a.duration().min(b.duration());
            scratch.points.push(Point { time: b.end, difference: b.end - a.end, within });
        }
        if scratch.points.len() < enough || scratch.points.is_empty() {
            continue;
        }
        if best.is_some_and(|best| mismatches > best.mismatches) {
            continue;
        }
        let line = Line::fit(&scratch.points, Slope::Always, &mut scratch.fit);
        let pairs = scratch.points.len();
        let contradicts = known.map_or(0.0, |known| {
            scratch.values.clear();
            scratch.values.extend(scratch.points.iter().map(|point| point.difference as f64 - known));
            (median(&mut scratch.values).abs() - CLOSE).max(0.0)
        });
        let weight = weighed(&line, pairs) + contradicts;
        let fit = Fit { shift, mismatches, pairs: pairs as u32, line, weight };
        let suggested = natural.contains(&shift) || known.is_some();
        let better = best.is_none_or(|best| {
            (fit.mismatches < best.mismatches && (suggested || pairs >= FEWEST))
                || (fit.mismatches == best.mismatches
                    && (suggested || pairs >= FEWEST)
                    && best.is_worse_than(&fit, suggested))
        });
        if better {
            best = Some(fit);
        }
    }
    best
}

/// Median time between the ends of neighbours, in nanoseconds.
pub(super) fn usual_interval(parts: &[&Part], scratch: &mut Scratch) -> f64 {
    scratch.values.clear();
    scratch.values.extend(parts.windows(2).map(|pair| (pair[1].end - pair[0].end).abs() as f64));
    median(&mut scratch.values)
}
