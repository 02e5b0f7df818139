//! One counter in columns: each value holds until the next one.
//!
//! Responsible for: sums of changes, clipping to a window, and preserving extremes when points are thinned.
//! Excludes smoothing.

use super::{TrackHead, Window};
use serde::Serialize;

/// A counter next to the tracks of a group. Each value holds until the next one.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Counter {
    /// Group of tracks that it belongs to.
    pub group: String,
    /// Name.
    pub name: String,
    /// Unit of the values: `B`, `B/s`, `MHz`, `W`, `°C`, or empty for a number.
    pub unit: &'static str,
    /// Rank.
    pub rank: u32,
    /// Stage.
    pub stage: u32,
    /// Start of each value, in nanoseconds since the start of the step.
    pub at: Vec<i64>,
    /// Values.
    pub value: Vec<f64>,
}

impl Counter {
    /// Counter from changes (nanoseconds since the start of the step, and difference), with about `most`
    /// points: the last value and the extremes of each interval. `None` if nothing changes within the
    /// window.
    pub fn of(
        head: TrackHead,
        unit: &'static str,
        mut changes: Vec<(i64, f64)>,
        window: Window,
        most: usize,
    ) -> Option<Self> {
        changes.sort_by_key(|change| change.0);
        let mut points: Vec<(i64, f64)> = Vec::new();
        let mut sum = 0.0;
        for (at, by) in changes {
            sum += by;
            if at >= window.to {
                break;
            }
            let at = at.max(window.from);
            match points.last_mut() {
                Some(last) if last.0 == at => last.1 = sum,
                _ => points.push((at, sum)),
            }
        }
        if points.is_empty() {
            return None;
        }
        let points = thinned(points, most.max(3));
        let TrackHead { group, name, rank, stage } = head;
        let (at, value) = points.into_iter().unzip();
        Some(Self { group, name, unit, rank, stage, at, value })
    }
}

/// Lowest, highest and last point of each interval, in their order.
fn thinned(points: Vec<(i64, f64)>, most: usize) -> Vec<(i64, f64)> {
    if points.len() <= most {
        return points;
    }
    let stretch = points.len().div_ceil((most / 3).max(1));
    let mut kept = Vec::with_capacity(most);
    for part in points.chunks(stretch) {
        let by_value = |a: &usize, b: &usize| part[*a].1.total_cmp(&part[*b].1);
        let ends =
            [(0..part.len()).min_by(by_value), (0..part.len()).max_by(by_value), part.len().checked_sub(1)];
        let mut ends: Vec<usize> = ends.into_iter().flatten().collect();
        ends.sort_unstable();
        ends.dedup();
        kept.extend(ends.into_iter().map(|at| part[at]));
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    const WINDOW: Window = Window { from: 0, to: 10_000 };

    #[test]
    fn changes_add_up_and_moments_are_one_point() {
        let changes = vec![(0, 5.0), (10, 3.0), (10, -4.0), (30, -4.0), (10_000, 9.0)];
        let counter = Counter::of(TrackHead::default(), "B", changes, WINDOW, 100).expect("points");
        assert_eq!((counter.at, counter.value), (vec![0, 10, 30], vec![5.0, 4.0, 0.0]));
        assert!(Counter::of(TrackHead::default(), "B", Vec::new(), WINDOW, 100).is_none());
    }

    #[test]
    fn a_window_opens_with_the_value_that_holds_there() {
        let changes = vec![(0, 5.0), (10, 3.0), (30, -4.0)];
        let window = Window { from: 20, to: 40 };
        let counter = Counter::of(TrackHead::default(), "", changes, window, 100).expect("points");
        assert_eq!((counter.at, counter.value), (vec![20, 30], vec![8.0, 4.0]));
    }

    #[test]
    fn thinning_keeps_the_peak_and_the_last_value() {
        let mut changes: Vec<(i64, f64)> =
            (0..9_000).map(|at| (at, if at % 2 == 0 { 1.0 } else { -1.0 })).collect();
        changes.extend([(4_001, 70.0), (4_002, -70.0), (9_500, 2.0)]);
        let counter = Counter::of(TrackHead::default(), "", changes, WINDOW, 300).expect("points");
        assert!(counter.at.len() <= 300, "{}", counter.at.len());
        assert!(counter.value.contains(&70.0), "the peak is lost");
        assert_eq!(counter.value.last(), Some(&2.0));
        assert!(counter.at.windows(2).all(|pair| pair[0] < pair[1]));
    }
}
