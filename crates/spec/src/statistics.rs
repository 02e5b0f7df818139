//! Order statistics.
//!
//! Responsible for: median and quantile in all reports, by one convention. Excludes weighted values and
//! confidence intervals.

/// Median: the mean of the two middle values if their number is even, 0 without values. Reorders the values.
///
/// ```
/// use railwright_spec::median;
/// assert_eq!(median(&mut [3.0, 1.0, 2.0]), 2.0);
/// assert_eq!(median(&mut [4.0, 1.0, 2.0, 3.0]), 2.5);
/// ```
pub fn median(values: &mut [f64]) -> f64 {
    if values.is_empty() {
        return 0.0;
    }
    let even = values.len().is_multiple_of(2);
    let (below, &mut upper, _) = values.select_nth_unstable_by(values.len() / 2, f64::total_cmp);
    if even { f64::midpoint(below.iter().copied().fold(f64::NEG_INFINITY, f64::max), upper) } else { upper }
}

/// Lower median: the lower of the two middle values, so that it is one of the values; 0 without values.
/// Reorders the values.
pub fn lower_median(values: &mut [f64]) -> f64 {
    if values.is_empty() {
        return 0.0;
    }
    *values.select_nth_unstable_by((values.len() - 1) / 2, f64::total_cmp).1
}

/// Quantile of a share between 0 and 1, linear between neighbours as in NumPy; `None` without values.
/// Reorders the values.
pub fn quantile(values: &mut [f64], share: f64) -> Option<f64> {
    quantiles(values, [share]).map(|[found]| found)
}

/// Quantiles of shares between 0 and 1, linear between neighbours as in NumPy; `None` without values.
/// Reorders the values.
///
/// For `n` ascending values and the position `h = share * (n - 1)`, it is `x[floor(h)] + (h - floor(h)) *
/// (x[ceil(h)] - x[floor(h)])` (Hyndman and Fan 1996, definition 7).
pub fn quantiles<const N: usize>(values: &mut [f64], shares: [f64; N]) -> Option<[f64; N]> {
    let last = values.len().checked_sub(1)?;
    values.sort_unstable_by(f64::total_cmp);
    Some(shares.map(|share| {
        let place = share.clamp(0.0, 1.0) * last as f64;
        let (below, above) = (place.floor() as usize, place.ceil() as usize);
        values[below] + (values[above] - values[below]) * (place - place.floor())
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_of_even_and_odd_numbers() {
        assert_eq!(median(&mut []), 0.0);
        assert_eq!(median(&mut [7.0]), 7.0);
        assert_eq!(median(&mut [9.0, 1.0, 4.0, 3.0]), 3.5);
        assert_eq!(lower_median(&mut []), 0.0);
        assert_eq!(lower_median(&mut [9.0, 1.0, 4.0, 3.0]), 3.0);
        assert_eq!(lower_median(&mut [9.0, 1.0, 4.0]), 4.0);
    }

    /// `numpy.quantile([3, 1, 4, 1, 5, 9, 2, 6], [0, 0.1, 0.5, 0.9, 1])`.
    #[test]
    fn quantiles_are_those_of_numpy() {
        let mut values = [3.0, 1.0, 4.0, 1.0, 5.0, 9.0, 2.0, 6.0];
        for (share, expected) in [(0.0, 1.0), (0.1, 1.0), (0.5, 3.5), (0.9, 6.9), (1.0, 9.0)] {
            let found = quantile(&mut values, share).expect("there are values");
            assert!((found - expected).abs() < 1e-12, "{share}: {found}");
        }
        assert_eq!(quantile(&mut values, 7.0), Some(9.0));
        assert_eq!(quantile(&mut [], 0.5), None);
    }
}
