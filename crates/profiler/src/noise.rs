//! Significance of the difference between two sets of step times.
//!
//! Responsible for: the typical step with its spread and confidence interval, and the shift between two sets
//! with an interval. None of them assumes a distribution. Too few steps give no interval. The caller excludes
//! unrepresentative steps (warm-up).

use serde::Serialize;

/// Steps of one side.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Spread {
    /// Number of steps.
    pub steps: usize,
    /// The median step, in the unit of the steps.
    pub median: f64,
    /// Fastest and slowest step.
    pub range: (f64, f64),
}

/// The shift from one set of steps to another.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Shift {
    /// The first set.
    pub first: Spread,
    /// The second.
    pub second: Spread,
    /// Estimate of Hodges and Lehmann: the median of all differences between a step of the second set and
    /// one of the first.
    pub shift: f64,
    /// 95% confidence interval of the shift; `None` for too few steps.
    pub interval: Option<(f64, f64)>,
}

/// Standard deviations of a normal distribution that contain 95%.
const CONFIDENCE: f64 = 1.959_964;
/// Maximum number of compared steps per side; of more, evenly spaced ones. All pairs of a long log would
/// exceed the memory.
const MOST: usize = 2000;

/// The median; 0 without values.
pub fn median(values: &[f64]) -> f64 {
    railwright_spec::median(&mut values.to_vec())
}

fn spread(values: &[f64]) -> Spread {
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    Spread { steps: values.len(), median: median(values), range: (low, high) }
}

fn thinned(values: &[f64]) -> Vec<f64> {
    let stride = values.len().div_ceil(MOST).max(1);
    values.iter().copied().step_by(stride).collect()
}

/// 95% confidence interval of the median: from the `k`-th step to the `k`-th from the end. `k` is the largest
/// number with `2·P(B < k) <= 5%`, where `B` is binomial with one trial per step and probability 1/2. It is
/// the inverted sign test. `None` for fewer than six steps. Hollander and Wolfe, Nonparametric Statistical
/// Methods, section 3.6.
pub fn median_interval(values: &[f64]) -> Option<(f64, f64)> {
    let mut sorted = thinned(values);
    sorted.sort_by(f64::total_cmp);
    let n = sorted.len();
    let place = if n > 200 {
        (n as f64 / 2.0 - CONFIDENCE * (n as f64).sqrt() / 2.0).floor() as usize
    } else {
        let mut chance = 0.5_f64.powi(n as i32);
        let (mut below, mut place) = (chance, 0);
        while below <= 0.025 && place < n {
            place += 1;
            chance *= (n + 1 - place) as f64 / place as f64;
            below += chance;
        }
        place
    };
    (place >= 1 && 2 * place <= n).then(|| (sorted[place - 1], sorted[n - place]))
}

/// Quantile of the steps, such as 0.1 and 0.9 for the middle 80%; 0 without steps.
pub fn quantile(values: &[f64], share: f64) -> f64 {
    railwright_spec::quantile(&mut values.to_vec(), share).unwrap_or_default()
}

/// Shift from the first set to the second; `None` if one is empty.
///
/// The interval is the inverted rank test of Mann and Whitney. Of the `n·m` ordered differences, it has those
/// from place `k` to place `n·m + 1 - k`. `k` is `floor(n·m/2 - z·sqrt(n·m·(n + m + 1)/12))`. If it is 0, no
/// interval of these differences has the confidence: three steps against three are too few, four against four
/// are enough. Hollander and Wolfe, Nonparametric Statistical Methods, section 4.3.
pub fn shift(first: &[f64], second: &[f64]) -> Option<Shift> {
    if first.is_empty() || second.is_empty() {
        return None;
    }
    let (a, b) = (thinned(first), thinned(second));
    let mut differences: Vec<f64> = a.iter().flat_map(|a| b.iter().map(move |b| b - a)).collect();
    differences.sort_by(f64::total_cmp);
    let (n, m) = (a.len() as f64, b.len() as f64);
    let place = (n * m / 2.0 - CONFIDENCE * (n * m * (n + m + 1.0) / 12.0).sqrt()).floor();
    let interval = (place >= 1.0).then(|| {
        let place = place as usize;
        (differences[place - 1], differences[differences.len() - place])
    });
    Some(Shift {
        first: spread(first),
        second: spread(second),
        shift: railwright_spec::median(&mut differences),
        interval,
    })
}

impl Shift {
    /// Tests whether the sets differ: the interval excludes zero. `None` for too few steps.
    pub fn is_significant(&self) -> Option<bool> {
        self.interval.map(|(low, high)| low > 0.0 || high < 0.0)
    }

    /// The shift with its interval widened by `by`, the rounding error of times in a log.
    #[must_use]
    pub fn widened(self, by: f64) -> Self {
        Self { interval: self.interval.map(|(low, high)| (low - by, high + by)), ..self }
    }

    /// The shift as a share of the first set's median.
    pub fn relative(&self) -> f64 {
        self.shift / self.first.median
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_is_the_published_one() {
        // Hollander and Wolfe, table 4.1 and example 4.3: permeability of the human chorioamnion, 10 and 5
        // pregnancies. The shift from the first to the second is -0.305. Their exact table takes the
        // 9th difference from each end, -0.76 to 0.15. The formula takes the 8th, so it is a little
        // wider.
        let first = [0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46];
        let second = [1.15, 0.88, 0.90, 0.74, 1.21];
        let found = shift(&first, &second).expect("a shift");
        assert!((found.shift - -0.305).abs() < 1e-9, "{found:?}");
        let (low, high) = found.interval.expect("an interval");
        assert!((low - -0.76).abs() < 1e-9 && (high - 0.17).abs() < 1e-9, "{found:?}");
        assert_eq!(found.is_significant(), Some(false));
    }

    #[test]
    fn the_interval_of_a_median_is_that_of_the_sign_test() {
        // Table A.2 of Hollander and Wolfe: 2·P(B <= 1 of 9) = 3.9%. The interval has the 2nd and the 8th of
        // nine steps, and the first and the last of six (3.1%).
        let values: Vec<f64> = (1..=9).map(f64::from).collect();
        assert_eq!(median_interval(&values), Some((2.0, 8.0)));
        assert_eq!(median_interval(&values[..6]), Some((1.0, 6.0)));
        assert_eq!(median_interval(&values[..5]), None);
        // 2·P(B <= 39 of 100) = 3.5%, and 5.7% with 40.
        let hundred: Vec<f64> = (1..=100).map(f64::from).collect();
        assert_eq!(median_interval(&hundred), Some((40.0, 61.0)));
        let many: Vec<f64> = (1..=1000).map(f64::from).collect();
        assert_eq!(median_interval(&many), Some((469.0, 532.0)));
        assert!((quantile(&values, 0.9) - 8.2).abs() < 1e-12);
        assert_eq!(quantile(&[], 0.5), 0.0);
        let near = shift(&[1.0, 1.1, 1.2, 1.3], &[2.0, 2.1, 2.2, 2.3]).expect("a shift");
        assert_eq!(near.widened(5.0).is_significant(), Some(false));
    }

    #[test]
    fn few_steps_show_no_change_and_a_clear_shift_is_reported() {
        assert_eq!(shift(&[1.0, 2.0, 3.0], &[4.0, 5.0, 6.0]).and_then(|s| s.interval), None);
        let found = shift(&[1.00, 1.01, 1.02, 1.03], &[1.10, 1.11, 1.12, 1.13]).expect("a shift");
        assert_eq!(found.is_significant(), Some(true));
        assert!((found.relative() - 0.1 / 1.015).abs() < 1e-9);
        assert_eq!(shift(&[], &[1.0]), None);
        // A hundred steps with the same variation in a different order: no shift.
        let wave = |phase: usize| {
            (0..100).map(|n| 1.0 + ((n * 37 + phase) % 100) as f64 / 1000.0).collect::<Vec<_>>()
        };
        assert_eq!(shift(&wave(0), &wave(11)).and_then(|s| s.is_significant()), Some(false));
    }
}
