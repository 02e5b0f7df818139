//! Steps by repeated device activity.
//!
//! Responsible for: recordings without marks. Kernels that occur once per step (embedding, loss, updates) are
//! at equal distances in the order of the busiest stream. Every kernel of the recording occurs in every step.
//! Excludes repetition by layers: layers lack the kernels that occur once per step.

use super::cut::Boundary;
use super::meet::Cut;
use crate::trace::{GpuKind, NONE};
use crate::{NameId, RankTrace};
use std::collections::BTreeMap;

/// Minimum share of kernel names that occur in every step.
const IN_EVERY_STEP: f64 = 0.9;

/// Minimum share of rows with the same kernel one step later.
const SAME: f64 = 0.9;

/// Maximum deviation of the distance between marks from the usual one, as a share of rows and of time.
const EVEN: (f64, f64) = (0.02, 0.25);

/// Minimum number of kernels per step; shorter sequences repeat within operators.
const FEWEST_ROWS: usize = 8;

/// Repetition on one rank.
struct Repeated {
    /// A kernel that occurs once per step, or several times in sequence, with its positions in the order.
    mark: NameId,
    places: Vec<usize>,
    /// Number of rows per step.
    period: usize,
}

/// One rank's busiest stream.
struct Order {
    names: Vec<NameId>,
    spans: Vec<(i64, i64)>,
    /// By name: its positions.
    places: BTreeMap<NameId, Vec<usize>>,
    /// By name: first position of each sequence of rows with the name. An update of many tensors takes
    /// several successive launches.
    runs: BTreeMap<NameId, Vec<usize>>,
}

impl Order {
    fn of(trace: &RankTrace) -> Self {
        let kernels = || trace.gpu.iter().filter(|row| row.kind == GpuKind::Kernel);
        let mut rows: BTreeMap<u32, usize> = BTreeMap::new();
        kernels().for_each(|row| *rows.entry(row.stream).or_default() += 1);
        let busiest = rows.iter().max_by_key(|(stream, rows)| (**rows, std::cmp::Reverse(**stream)));
        let stream = busiest.map_or(NONE, |(stream, _)| *stream);
        let mut order =
            Self { names: Vec::new(), spans: Vec::new(), places: BTreeMap::new(), runs: BTreeMap::new() };
        for row in kernels().filter(|row| row.stream == stream) {
            order.places.entry(row.name).or_default().push(order.names.len());
            if order.names.last() != Some(&row.name) {
                order.runs.entry(row.name).or_default().push(order.names.len());
            }
            order.names.push(row.name);
            order.spans.push((row.start, row.end));
        }
        order
    }

    /// Distance between marks in rows. `None` unless they are at equal distances, in rows and in time,
    /// without space for another one before the first and after the last.
    fn period(&self, places: &[usize]) -> Option<usize> {
        let (&first, &last) = (places.first()?, places.last()?);
        let steps = places.len().checked_sub(1).filter(|steps| *steps > 0)?;
        let period = (last - first) / steps;
        let all = (last - first) as f64 / steps as f64;
        let time = (self.spans[last].0 - self.spans[first].0) as f64 / steps as f64;
        let even = places.windows(2).all(|pair| {
            let rows = (pair[1] - pair[0]) as f64;
            let lasts = (self.spans[pair[1]].0 - self.spans[pair[0]].0) as f64;
            (rows - all).abs() <= (EVEN.0 * all).max(1.0) && (lasts - time).abs() <= EVEN.1 * time
        });
        let room = |rows: usize| rows as f64 > all * (1.0 + EVEN.0) + 1.0;
        (even && period >= FEWEST_ROWS && !room(first) && !room(self.names.len() - last)).then_some(period)
    }

    /// Repetition with this number of marks; `None` if there is none.
    fn repeated(&self, count: usize) -> Option<Repeated> {
        let everywhere = self.places.values().filter(|places| places.len() + 1 >= count).count();
        if (everywhere as f64) < IN_EVERY_STEP * self.places.len() as f64 {
            return None;
        }
        let marks = self.runs.iter().filter(|(_, places)| places.len() == count);
        let found: Vec<Repeated> = marks
            .filter_map(|(&mark, places)| {
                Some(Repeated { mark, places: places.clone(), period: self.period(places)? })
            })
            .collect();
        // Several kernels occur once per step; a single one is no evidence.
        let first = found.into_iter().min_by_key(|found| found.places[0])?;
        let later = self.names.iter().zip(&self.names[first.period..]);
        let same = later.clone().filter(|(a, b)| a == b).count();
        (same as f64 >= SAME * later.count() as f64).then_some(first)
    }

    fn steps(&self) -> Option<Repeated> {
        let mut counts: Vec<usize> = self.runs.values().map(Vec::len).filter(|count| *count > 1).collect();
        counts.sort_unstable();
        counts.dedup();
        // The rarest kernels occur once per step.
        counts.into_iter().take(3).find_map(|count| self.repeated(count))
    }
}

/// Tests whether nearly all kernels of a rank occur at least this many times; true for a rank without
/// kernels.
pub(super) fn in_every_step(trace: &RankTrace, steps: usize) -> bool {
    let mut counts: BTreeMap<NameId, usize> = BTreeMap::new();
    for row in trace.gpu.iter().filter(|row| row.kind == GpuKind::Kernel) {
        *counts.entry(row.name).or_default() += 1;
    }
    let enough = counts.values().filter(|count| **count >= steps).count();
    enough as f64 >= IN_EVERY_STEP * counts.len() as f64
}

/// Number of steps in a rank's order; `None` if unknown.
pub(super) fn count(trace: &RankTrace) -> Option<usize> {
    Order::of(trace).steps().map(|found| found.places.len())
}

/// Starts of steps on all ranks; `None` unless every rank has the same number of them.
pub(super) fn cuts(ranks: &[(usize, &RankTrace, (i64, i64))]) -> Option<Vec<Cut>> {
    let orders: Vec<Order> = ranks.iter().map(|(_, trace, _)| Order::of(trace)).collect();
    let found: Vec<Repeated> = orders.iter().map(Order::steps).collect::<Option<_>>()?;
    let count = found.first()?.places.len();
    if found.iter().any(|found| found.places.len() != count) {
        return None;
    }
    let whole = |order: &Order, found: &Repeated| {
        // The recording begins and ends with a whole step.
        let rows = found.period * count;
        rows.abs_diff(order.names.len()) as f64 <= (EVEN.0 * found.period as f64).max(1.0) * count as f64
    };
    let whole = orders.iter().zip(&found).all(|(order, found)| whole(order, found));
    // If the recording begins within a step, the longest pause is taken for the end of a step. Its position
    // in the first rank's steps applies to all ranks.
    let before: Vec<usize> = if whole {
        found.iter().map(|found| found.places[0]).collect()
    } else {
        let back = longest_pause(&orders[0], &found[0]);
        let mark = |at: usize| ranks[at].1.names.get(found[at].mark);
        if (1..found.len()).any(|at| mark(at) != mark(0)) {
            return None;
        }
        vec![back; found.len()]
    };
    let mut cuts = Vec::with_capacity(ranks.len());
    for (((&(member, _, extent), order), found), before) in ranks.iter().zip(&orders).zip(&found).zip(before)
    {
        let starts = found.places.iter().filter_map(|place| place.checked_sub(before));
        let mut boundaries: Vec<Boundary> =
            starts.map(|place| Boundary { number: None, time: order.spans[place].0 }).collect();
        if whole && let Some(end) = order.spans.iter().map(|span| span.1).max() {
            boundaries.push(Boundary { number: None, time: end });
        }
        cuts.push(Cut { member, extent, boundaries, is_open: false });
    }
    cuts.iter().all(|cut| cut.boundaries.len() > 1).then_some(cuts)
}

/// Number of rows between the longest pause of a step and the mark, over all steps.
fn longest_pause(order: &Order, found: &Repeated) -> usize {
    let pause = |place: usize| match place.checked_sub(1) {
        Some(before) => order.spans[place].0 - order.spans[before].1,
        None => 0,
    };
    let sum =
        |back: usize| found.places.iter().filter_map(|place| place.checked_sub(back)).map(pause).sum::<i64>();
    (0..found.period).max_by_key(|&back| (sum(back), std::cmp::Reverse(back))).unwrap_or(0)
}
