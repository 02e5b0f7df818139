//! Error statistics: relative errors, their median and tails, and the accuracy of the order within sweeps.

use serde::Serialize;

/// Prediction errors over a set of rows.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ErrorSummary {
    /// Number of compared rows.
    pub n: usize,
    /// Median of |predicted / measured - 1|.
    pub median_absolute: f64,
    /// Mean of the same values.
    pub mean_absolute: f64,
    /// 90th percentile of the same values.
    pub p90_absolute: f64,
    /// Median of predicted / measured - 1: positive is too slow or too large.
    pub bias: f64,
}

/// Summarizes relative errors (predicted / measured - 1). `None` for no rows.
pub fn summarize(errors: &[f64]) -> Option<ErrorSummary> {
    if errors.is_empty() {
        return None;
    }
    let absolute: Vec<f64> = errors.iter().map(|e| e.abs()).collect();
    Some(ErrorSummary {
        n: errors.len(),
        median_absolute: quantile(&absolute, 0.5),
        mean_absolute: absolute.iter().sum::<f64>() / absolute.len() as f64,
        p90_absolute: quantile(&absolute, 0.9),
        bias: quantile(errors, 0.5),
    })
}

/// A quantile by linear interpolation between order statistics; 0 for no values.
pub fn quantile(values: &[f64], q: f64) -> f64 {
    railwright_spec::quantile(&mut values.to_vec(), q).unwrap_or_default()
}

/// Spearman's rank correlation, with the mean rank for ties. `None` for fewer than three pairs or no
/// variation.
pub fn rank_correlation(pairs: &[(f64, f64)]) -> Option<f64> {
    if pairs.len() < 3 {
        return None;
    }
    let a = ranks(pairs.iter().map(|p| p.0));
    let b = ranks(pairs.iter().map(|p| p.1));
    let mean = (pairs.len() as f64 - 1.0) / 2.0;
    let (mut ab, mut aa, mut bb) = (0.0, 0.0, 0.0);
    for (x, y) in a.iter().zip(&b) {
        ab += (x - mean) * (y - mean);
        aa += (x - mean) * (x - mean);
        bb += (y - mean) * (y - mean);
    }
    (aa > 0.0 && bb > 0.0).then(|| ab / (aa * bb).sqrt())
}

fn ranks(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let values: Vec<f64> = values.collect();
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&i, &j| values[i].total_cmp(&values[j]));
    let mut ranks = vec![0.0; values.len()];
    let mut start = 0;
    while start < order.len() {
        let mut end = start;
        while end + 1 < order.len() && values[order[end + 1]] == values[order[start]] {
            end += 1;
        }
        for &index in &order[start..=end] {
            ranks[index] = (start + end) as f64 / 2.0;
        }
        start = end + 1;
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_interpolate() {
        assert_eq!(quantile(&[3.0, 1.0, 2.0], 0.5), 2.0);
        assert_eq!(quantile(&[0.0, 10.0], 0.9), 9.0);
        assert_eq!(quantile(&[], 0.9), 0.0);
    }

    #[test]
    fn summary_of_known_errors() {
        let summary = summarize(&[0.1, -0.2, 0.3]).expect("rows");
        assert_eq!((summary.n, summary.median_absolute, summary.bias), (3, 0.2, 0.1));
        assert!((summary.mean_absolute - 0.2).abs() < 1e-12);
    }

    #[test]
    fn rank_correlation_of_an_order_and_its_reverse() {
        let up: Vec<(f64, f64)> = (0..5).map(|i| (f64::from(i), f64::from(i * i))).collect();
        let down: Vec<(f64, f64)> = up.iter().map(|&(a, b)| (a, -b)).collect();
        assert_eq!(rank_correlation(&up), Some(1.0));
        assert_eq!(rank_correlation(&down), Some(-1.0));
        assert_eq!(rank_correlation(&[(1.0, 1.0), (1.0, 2.0), (1.0, 3.0)]), None);
    }
}
