//! Errors of predicted *differences*: common errors of two layouts of one sweep cancel in their comparison.
//!
//! Responsible for: the distribution of ln(predicted ratio) - ln(measured ratio) over pairs of one sweep, by
//! software generation, for `catalog/differences.toml` (see [`crate::intervals::differences`]). Excludes
//! pairs that no search compares: both layouts must be predicted within [`NEAR`] of their sweep's fastest.

use super::super::report::Validation;
use super::{FEWEST_LAYOUTS, Sweep, layouts};
use crate::intervals::differences::Difference;
use railwright_spec::Portable as _;
use std::collections::BTreeMap;

/// Maximum predicted slowdown of the alternatives that a search shows with its best layout.
pub const NEAR: f64 = 0.5;

/// Errors of differences by software generation, and of all (`any`): one value per pair, weighted so that a
/// layout counts once, regardless of the size of its sweep.
pub fn differences(validation: &Validation) -> Vec<Difference> {
    let mut groups: BTreeMap<&Sweep, Vec<_>> = BTreeMap::new();
    for row in validation.rows.iter().filter(|r| !r.measured_out_of_memory) {
        groups.entry(&row.choice).or_default().push(row);
    }
    let mut classes: BTreeMap<String, Class> = BTreeMap::new();
    for rows in groups.values() {
        let all = layouts(rows);
        let Some(fastest) = all.first().map(|l| l.predicted) else { continue };
        let near: Vec<(f64, &str)> = all
            .iter()
            .filter(|l| l.predicted <= fastest * (1.0 + NEAR))
            .filter_map(|l| Some(((l.predicted / l.measured?).portable_ln(), l.software.as_str())))
            .collect();
        if near.len() < FEWEST_LAYOUTS {
            continue;
        }
        for name in [near[0].1, "any"] {
            let class = classes.entry(name.to_owned()).or_default();
            class.sweeps += 1;
            for (i, a) in near.iter().enumerate() {
                for b in &near[..i] {
                    class.errors.push(((a.0 - b.0).abs(), 1.0 / (near.len() - 1) as f64));
                }
            }
        }
    }
    classes
        .into_iter()
        .map(|(software, class)| Difference {
            software,
            sweeps: class.sweeps,
            pairs: class.errors.len(),
            half: weighted_quantile(&class.errors, 0.5),
            two_thirds: weighted_quantile(&class.errors, 0.68),
            nine_tenths: weighted_quantile(&class.errors, 0.9),
        })
        .collect()
}

#[derive(Default)]
struct Class {
    sweeps: usize,
    /// Size of each error and its weight.
    errors: Vec<(f64, f64)>,
}

/// The smallest value with at least this share of the weight at or below it; 0 without values.
fn weighted_quantile(values: &[(f64, f64)], share: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
    let wanted = share * sorted.iter().map(|v| v.1).sum::<f64>();
    let mut passed = 0.0;
    for (value, weight) in &sorted {
        passed += weight;
        if passed >= wanted - 1e-9 {
            return *value;
        }
    }
    sorted.last().map_or(0.0, |v| v.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_weighted_quantile_counts_weight_not_values() {
        let values = [(3.0, 1.0), (1.0, 1.0), (2.0, 8.0)];
        assert_eq!(weighted_quantile(&values, 0.1), 1.0);
        assert_eq!(weighted_quantile(&values, 0.5), 2.0);
        assert_eq!(weighted_quantile(&values, 0.95), 3.0);
        assert_eq!(weighted_quantile(&[], 0.5), 0.0);
    }
}
