//! A robust line through differences of clocks.
//!
//! Responsible for: offset and drift that a third of wild points does not move, in linear time. Refuses slopes that no clock has.

/// No pair of clocks drifts apart faster, in parts per million.
pub const STEEPEST: f64 = 500.0;

/// A line through differences: `offset + drift * (t - about)`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Line {
    /// The difference at [`Self::about`], in nanoseconds.
    pub offset: f64,
    /// How it grows, in nanoseconds for a nanosecond.
    pub drift: f64,
    /// When, in nanoseconds.
    pub about: i64,
    /// The median distance of a point from the line, in nanoseconds.
    pub residual: f64,
    /// From the first point to the last, in nanoseconds.
    pub span: i64,
}

impl Line {
    /// The difference at a time.
    pub fn at(&self, time: i64) -> f64 {
        self.offset + self.drift * (time - self.about) as f64
    }

    /// Theil and Sen's line (the median slope of pairs, the median offset), with the pairs of which the second is half the points later:
    /// as many slopes as half the points. With `sloped` false only the offset is fitted. Points are (time, difference) by time.
    pub fn fit(points: &[(i64, i64)], sloped: bool, scratch: &mut Vec<f64>) -> Self {
        let Some(&(about, _)) = points.get(points.len() / 2) else { return Self::default() };
        let base = points[points.len() / 2].1;
        let half = points.len() / 2;
        let mut drift = 0.0;
        if sloped && points.len() >= 4 {
            scratch.clear();
            scratch.extend(
                points
                    .iter()
                    .zip(&points[half..])
                    .filter(|(a, b)| b.0 > a.0)
                    .map(|(a, b)| (b.1 - a.1) as f64 / (b.0 - a.0) as f64),
            );
            let steepest = STEEPEST * 1e-6;
            drift = median(scratch).clamp(-steepest, steepest);
        }
        let along = |&(t, d): &(i64, i64)| (d - base) as f64 - drift * (t - about) as f64;
        scratch.clear();
        scratch.extend(points.iter().map(along));
        let offset = median(scratch);
        scratch.clear();
        scratch.extend(points.iter().map(|point| (along(point) - offset).abs()));
        let residual = median(scratch);
        let span = points.last().map_or(0, |last| last.0) - points[0].0;
        Self { offset: offset + base as f64, drift, about, residual, span }
    }
}

/// The median; the mean of the two middle ones of an even number, 0 of none.
pub fn median(values: &mut [f64]) -> f64 {
    let half = values.len() / 2;
    if values.is_empty() {
        return 0.0;
    }
    let even = values.len().is_multiple_of(2);
    let (below, &mut upper, _) = values.select_nth_unstable_by(half, f64::total_cmp);
    if even {
        let lower = below.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        f64::midpoint(lower, upper)
    } else {
        upper
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fifth_of_wild_points_does_not_move_the_line() {
        let epoch = 1_700_000_000_000_000_000;
        let points: Vec<(i64, i64)> = (0..200)
            .map(|k| {
                let t = epoch + k * 50_000_000;
                let wild = if k % 5 == 0 { 3_000_000 } else { (k * 37 % 11 - 5) * 100 };
                (t, 7_000_000_000 + (k as f64 * 50_000_000.0 * 40e-6) as i64 + wild)
            })
            .collect();
        let line = Line::fit(&points, true, &mut Vec::new());
        assert!((line.drift - 40e-6).abs() < 1e-7, "{line:?}");
        assert!((line.at(epoch) - 7e9).abs() < 2_000.0, "{line:?}");
        assert!(line.residual < 1_000.0);
        assert_eq!(median(&mut [3.0, 1.0, 2.0, 10.0]), 2.5);
    }
}
