//! Sums of HTA's tables, with its rounding.

use serde::Serialize;

/// Rounds to two digits, halves to even, as Python does.
pub(super) fn two_digits(value: f64) -> f64 {
    rounded(value, 100.0)
}

/// Rounds to one digit.
pub(super) fn one_digit(value: f64) -> f64 {
    rounded(value, 10.0)
}

fn rounded(value: f64, scale: f64) -> f64 {
    if value.is_finite() { (value * scale).round_ties_even() / scale } else { value }
}

/// Sum, extremes, mean and sample deviation of durations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Summary {
    /// The sum.
    #[cfg_attr(feature = "schema", schemars(extend("x-unit" = "us")))]
    pub sum: i64,
    /// The largest.
    #[cfg_attr(feature = "schema", schemars(extend("x-unit" = "us")))]
    pub max: i64,
    /// The smallest.
    #[cfg_attr(feature = "schema", schemars(extend("x-unit" = "us")))]
    pub min: i64,
    /// The mean.
    #[cfg_attr(feature = "schema", schemars(extend("x-unit" = "us")))]
    pub mean: f64,
    /// Sample standard deviation; 0 for a single value.
    #[cfg_attr(feature = "schema", schemars(extend("x-unit" = "us")))]
    pub deviation: f64,
}

impl Summary {
    /// Statistics of some values.
    pub(super) fn of(values: &[i64]) -> Self {
        let count = values.len() as f64;
        let sum: i64 = values.iter().sum();
        let mean = if values.is_empty() { 0.0 } else { sum as f64 / count };
        let squares: f64 = values.iter().map(|&v| (v as f64 - mean).powi(2)).sum();
        let deviation = if values.len() > 1 { (squares / (count - 1.0)).sqrt() } else { 0.0 };
        Self {
            sum,
            max: values.iter().copied().max().unwrap_or_default(),
            min: values.iter().copied().min().unwrap_or_default(),
            mean,
            deviation,
        }
    }
}
