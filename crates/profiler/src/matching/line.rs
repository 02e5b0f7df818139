//! A robust line through differences of clocks.
//!
//! Responsible for: offset and drift that are robust against a third of outliers, in linear time. Ends of a
//! collective differ between ranks by a part of its duration, so short ones determine clocks best: if some
//! are much shorter than others, only those count. Excludes slopes that no clock has.

use railwright_spec::median;

/// Maximum drift between two clocks, in parts per million.
pub const STEEPEST: f64 = 500.0;

/// Minimum length of a recording with a visible drift, in nanoseconds; an apparent drift in a shorter one is
/// chance.
const SHORT: i64 = 500_000_000;

/// Maximum drift in short recordings, in nanoseconds per nanosecond.
const SHORT_STEEPEST: f64 = 100e-6;

/// Maximum error of a useful drift, in nanoseconds per nanosecond: clocks drift by up to twice that.
const STEADY: f64 = 25e-6;

/// Minimum number of points, however short the shortest are.
const FEWEST: usize = 8;

/// A difference of two clocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Point {
    /// Time in nanoseconds.
    pub time: i64,
    /// Difference of the clocks, in nanoseconds.
    pub difference: i64,
    /// Duration of the shortest part of the collective, in nanoseconds: an upper bound on the distance
    /// between its ends.
    pub within: i64,
}

/// Condition for fitting a drift.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slope {
    /// Always, to measure the distance of points from a line.
    Always,
    /// If the points determine it to 25 parts per million.
    WhenSteady,
}

/// Reused buffers of fits.
#[derive(Debug, Default)]
pub struct Scratch {
    sharp: Vec<Point>,
    values: Vec<f64>,
}

/// A line through differences: `offset + drift * (t - about)`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Line {
    /// The difference at [`Self::about`], in nanoseconds.
    pub offset: f64,
    /// Drift, in nanoseconds per nanosecond.
    pub drift: f64,
    /// Reference time, in nanoseconds.
    pub about: i64,
    /// Median distance of sharp points from the line, in nanoseconds.
    pub residual: f64,
    /// Median distance of all points from the line, in nanoseconds.
    pub scatter: f64,
    /// Time from the first point to the last, in nanoseconds.
    pub span: i64,
    /// Standard error of the drift, in nanoseconds per nanosecond.
    pub drift_error: f64,
}

impl Line {
    /// The difference at a time, in nanoseconds.
    pub fn at(&self, time: i64) -> f64 {
        self.offset + self.drift * (time - self.about) as f64
    }

    /// Tests whether the points determined the drift.
    pub fn is_steady(&self) -> bool {
        self.drift_error <= STEADY
    }

    /// Fits a line by Theil and Sen (median slope of pairs, median offset) to the sharp points, which are in
    /// order of time. The points of a pair are half the list apart, so there are half as many slopes as
    /// points.
    pub fn fit(points: &[Point], slope: Slope, scratch: &mut Scratch) -> Self {
        let Scratch { sharp, values } = scratch;
        keep_sharp(points, sharp, values);
        let half = sharp.len() / 2;
        let Some(&Point { time: about, difference: base, .. }) = sharp.get(half) else {
            return Self::default();
        };
        let mut drift = 0.0;
        if sharp.len() >= 4 {
            values.clear();
            let pairs = sharp.iter().zip(&sharp[half..]).filter(|(a, b)| b.time > a.time);
            values
                .extend(pairs.map(|(a, b)| (b.difference - a.difference) as f64 / (b.time - a.time) as f64));
            let span = points.last().map_or(0, |last| last.time) - points[0].time;
            let steepest = if span < SHORT { SHORT_STEEPEST } else { STEEPEST * 1e-6 };
            drift = median(values).clamp(-steepest, steepest);
        }
        let mut line = Self { about, ..Self::default() };
        line.span = points.last().map_or(0, |last| last.time) - points[0].time;
        line.through(sharp, drift, base, values);
        line.drift_error = error_of_drift(sharp, about, line.residual);
        if slope == Slope::WhenSteady && (!line.is_steady() || line.span < SHORT) {
            line.through(sharp, 0.0, base, values);
        }
        line.scatter = line.residual;
        if points.len() > sharp.len() {
            values.clear();
            values.extend(points.iter().map(|p| (p.difference as f64 - line.at(p.time)).abs()));
            line.scatter = median(values);
        }
        line
    }

    /// Sets a drift with its medians.
    fn through(&mut self, sharp: &[Point], drift: f64, base: i64, values: &mut Vec<f64>) {
        let along = |p: &Point| (p.difference - base) as f64 - drift * (p.time - self.about) as f64;
        values.clear();
        values.extend(sharp.iter().map(along));
        let offset = median(values);
        values.clear();
        values.extend(sharp.iter().map(|point| (along(point) - offset).abs()));
        (self.offset, self.drift, self.residual) = (offset + base as f64, drift, median(values));
    }
}

/// Keeps points of collectives with at most four times the duration of the lower quartile plus one
/// microsecond; at least [`FEWEST`].
fn keep_sharp(points: &[Point], sharp: &mut Vec<Point>, values: &mut Vec<f64>) {
    sharp.clear();
    if points.len() <= FEWEST {
        sharp.extend_from_slice(points);
        return;
    }
    values.clear();
    values.extend(points.iter().map(|point| point.within as f64));
    let nth = |values: &mut Vec<f64>, n: usize| *values.select_nth_unstable_by(n, f64::total_cmp).1;
    let quarter = nth(values, points.len() / 4);
    let most = (4.0 * quarter + 1_000.0).max(nth(values, FEWEST - 1));
    sharp.extend(points.iter().filter(|point| point.within as f64 <= most));
}

/// Standard error of a median slope: 1.25 times that of least squares, with a scale of 1.48 times the median
/// distance. The scale is at least half a microsecond, the rounding of recorders.
fn error_of_drift(sharp: &[Point], about: i64, residual: f64) -> f64 {
    let count = sharp.len() as f64;
    let sum = |of: &dyn Fn(f64) -> f64| sharp.iter().map(|p| of((p.time - about) as f64)).sum::<f64>();
    let mean = sum(&|t| t) / count;
    let variance = sum(&|t| (t - mean) * (t - mean));
    if sharp.len() < 6 || variance <= 0.0 {
        return f64::INFINITY;
    }
    1.25 * 1.48 * residual.max(500.0) / variance.sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(count: i64, of: impl Fn(i64) -> (i64, i64)) -> Vec<Point> {
        let epoch = 1_700_000_000_000_000_000;
        let point = |k: i64| {
            let (difference, within) = of(k);
            let drift = (k as f64 * 50_000_000.0 * 40e-6) as i64;
            Point { time: epoch + k * 50_000_000, difference: 7_000_000_000 + drift + difference, within }
        };
        (0..count).map(point).collect()
    }

    #[test]
    fn a_fifth_of_wild_points_does_not_move_the_line() {
        let points = points(200, |k| (if k % 5 == 0 { 3_000_000 } else { (k * 37 % 11 - 5) * 100 }, 20_000));
        let line = Line::fit(&points, Slope::WhenSteady, &mut Scratch::default());
        assert!((line.drift - 40e-6).abs() < 1e-7, "{line:?}");
        assert!((line.at(points[0].time) - 7e9).abs() < 2_000.0, "{line:?}");
        assert!(line.residual < 1_000.0 && line.is_steady());
        assert_eq!(median(&mut [3.0, 1.0, 2.0, 10.0]), 2.5);
    }

    #[test]
    fn short_collectives_are_better_evidence_than_long_ones() {
        // Two thirds take milliseconds, and their ends are off by a few hundred microseconds in one
        // direction.
        let points =
            points(
                30,
                |k| if k % 3 == 0 { (k % 4 * 500, 20_000) } else { (-200_000 + k * 7_000, 9_000_000) },
            );
        let line = Line::fit(&points, Slope::WhenSteady, &mut Scratch::default());
        assert!(line.is_steady() && (line.drift - 40e-6).abs() < 2e-6, "{line:?}");
        assert!((line.at(points[0].time) - 7e9).abs() < 3_000.0, "{line:?}");
    }

    #[test]
    fn a_drift_without_evidence_is_none() {
        let wild = [0, 90_000, 30_000, -75_000, 10_000, -60_000, 45_000];
        let points = points(7, |k| (wild[k as usize], 20_000));
        let line = Line::fit(&points, Slope::WhenSteady, &mut Scratch::default());
        assert!(!line.is_steady() && line.drift == 0.0, "{line:?}");
    }
}
