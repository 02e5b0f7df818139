//! Digits, spread and sources of measured figures.

use railwright_spec::Portable as _;
use railwright_spec::calibration::Samples;
use railwright_spec::quantity::Seconds;

/// Rounds to four digits: sufficient for a share or a rate in a file.
pub(super) fn rounded(value: f64) -> f64 {
    (value * 1e4).round() / 1e4
}

/// Rounds to five significant digits.
pub(super) fn significant(value: f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return value;
    }
    let scale = 10f64.powi(4 - value.abs().portable_log10().floor() as i32);
    (value * scale).round() / scale
}

/// The median of times; zero if there are none.
pub(super) fn median(times: &[Seconds]) -> f64 {
    railwright_spec::median(&mut times.iter().map(|t| t.get()).collect::<Vec<_>>())
}

/// (p90 - p10) / median; zero for fewer than three times.
pub(super) fn spread(times: &[Seconds]) -> f64 {
    if times.len() < 3 {
        return 0.0;
    }
    let mut sorted: Vec<f64> = times.iter().map(|t| t.get()).collect();
    sorted.sort_by(f64::total_cmp);
    let at = |share: f64| sorted[((sorted.len() - 1) as f64 * share).round() as usize];
    (at(0.9) - at(0.1)) / at(0.5).max(1e-12)
}

/// Half of the 95% interval of a median, relative to it: between the order statistics n/2 -+ 0.98 sqrt(n)
/// (the normal approximation of the binomial). Result is 1 for too few measurements, and 0 for a single one.
pub(super) fn uncertainty(paces: impl Iterator<Item = f64>) -> f64 {
    let mut sorted: Vec<f64> = paces.filter(|pace| pace.is_finite()).collect();
    sorted.sort_by(f64::total_cmp);
    let n = sorted.len();
    if n < 2 {
        return 0.0;
    }
    let (middle, reach) = (n as f64 / 2.0, 0.98 * (n as f64).sqrt());
    let low = (middle - reach).floor().max(0.0) as usize;
    let high = ((middle + reach).ceil() as usize).min(n - 1);
    rounded(((sorted[high] - sorted[low]) / 2.0 / sorted[n / 2].max(1e-12)).min(1.0))
}

/// Sources of the measurements that pass a test, as text.
pub(super) fn from<'s>(samples: &'s [Samples], has: impl Fn(&'s Samples) -> bool) -> String {
    let names: Vec<&str> = samples.iter().filter(|s| has(s)).map(|s| s.from.as_str()).collect();
    names.join(", ")
}
