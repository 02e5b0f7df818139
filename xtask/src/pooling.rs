//! Partial pooling of constants over software generations: start value and penalty of the fit of a
//! generation.
//!
//! Responsible for: the information of each generation's runs on each constant; the similarity of two
//! generations; the resulting centre and penalty of a fit without one publication. Does not fit: see
//! [`crate::fit`].

use crate::fit::{self, Key};
use crate::left_out::publication;
use railwright_calculator::software::{Execution, Software};
use railwright_calculator::validation::{Case, Machines};
use std::collections::BTreeMap;

/// Standard deviation of the log error of the level of a publication, for any constants: the median error of
/// left-out publications, rounded up.
const RESIDUAL: f64 = 0.15;

/// Weight of a generation with another [`Execution`], for constants that depend on it: launches of eager and
/// of fused code are hardly related.
const OTHER_EXECUTION: f64 = 0.05;

/// Weight of another generation for constants that belong to the chip or the cluster.
const OTHER: f64 = 0.5;

/// Weight of the neutral value, that of fused code, for eager code.
const NEUTRAL_FOR_EAGER: f64 = 0.25;

/// Standard deviation between generations of the logarithm of a constant: rates of one chip differ by a
/// sixth, traffic of kernels and rates of clusters by a third, host costs by a factor.
pub(crate) fn spread(name: &str) -> f64 {
    match name.split('/').next().unwrap_or(name) {
        "matmul" | "attention_rate" => 0.15,
        "elementwise_passes" | "cast_passes" | "collective_rate" => 0.3,
        _ => 1.0,
    }
}

/// Tests whether a constant depends on the execution of kernels: eager or fused.
fn is_of_execution(name: &str) -> bool {
    name.starts_with("host_us") || name == "elementwise_passes"
}

/// A constant as in one generation.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Value {
    log: f64,
    weight: f64,
}

/// A generation, its publications, and the information of its runs on its constants.
pub(crate) struct Known<'c> {
    generation: &'c Software,
    publications: Vec<&'c str>,
    /// Variance of a constant's logarithm, by its name.
    variances: BTreeMap<String, f64>,
}

/// The publications of some runs, without duplicates.
pub(crate) fn publications<'c>(rows: &[&'c Case]) -> Vec<&'c str> {
    let mut found: Vec<&str> = rows.iter().map(|case| publication(&case.source)).collect();
    found.sort_unstable();
    found.dedup();
    found
}

impl<'c> Known<'c> {
    /// Variance of the logarithm of a constant: `residual^2 / sum of w s^2`.
    ///
    /// `s = ln(t(c e^spread) / t(c)) / spread` is the sensitivity of a run to a growth of the constant by its
    /// spread. The step is finite, because device-bound runs still bound the host's cost from above. A
    /// run weighs `w = 1 / sqrt(runs of its publication)`.
    pub(crate) fn new(
        generation: &'c Software,
        rows: &[&'c Case],
        names: &[String],
        machines: &mut Machines,
    ) -> Self {
        let mut runs: BTreeMap<&str, f64> = BTreeMap::new();
        for case in rows {
            *runs.entry(publication(&case.source)).or_default() += 1.0;
        }
        let weights: Vec<f64> =
            rows.iter().map(|c| runs.get(publication(&c.source)).map_or(0.0, |n| 1.0 / n.sqrt())).collect();
        let base = fit::log_errors(rows, machines, generation);
        let mut variance = |name: &String| {
            let now = fit::get(generation, name)?;
            let step = spread(name);
            let mut grown = generation.clone();
            fit::set(&mut grown, name, now.max(1e-9) * step.exp());
            let after = fit::log_errors(rows, machines, &grown);
            let information: f64 = weights
                .iter()
                .zip(base.iter().zip(&after))
                .map(|(weight, (before, after))| weight * ((after - before) / step).powi(2))
                .filter(|part| part.is_finite())
                .sum();
            Some((name.clone(), RESIDUAL * RESIDUAL / information.max(1e-12)))
        };
        let variances = names.iter().filter_map(&mut variance).collect();
        Self { generation, publications: publications(rows), variances }
    }

    /// Its value of a constant for another generation, unless it has runs of the held-out publication.
    /// Weight: `likeness / (spread^2 + variance)`, as in a random-effects mean (DerSimonian and Laird
    /// 1986, section 2).
    fn value(&self, name: &str, held_out: &str, own: &Software) -> Option<Value> {
        let is_other = self.generation.id != own.id
            && !self.publications.is_empty()
            && !self.publications.contains(&held_out);
        let likeness = match (self.generation.execution == own.execution, is_of_execution(name)) {
            (true, _) => 1.0,
            (false, true) => OTHER_EXECUTION,
            (false, false) => OTHER,
        };
        let variance = spread(name).powi(2) + self.variances.get(name)?;
        let log = fit::get(self.generation, name)?.max(1e-9).ln();
        is_other.then_some(Value { log, weight: likeness / variance })
    }
}

/// The median by weight, between the middles of the weights of neighbouring values.
fn weighted_median(mut values: Vec<Value>) -> f64 {
    values.sort_by(|a, b| a.log.total_cmp(&b.log));
    let half = values.iter().map(|v| v.weight).sum::<f64>() / 2.0;
    let (mut passed, mut before) = (0.0, None::<(f64, f64)>);
    for Value { log, weight } in values {
        let middle = passed + weight / 2.0;
        if middle >= half {
            return match before {
                Some((last, at)) if middle > at => last + (log - last) * (half - at) / (middle - at),
                _ => log,
            };
        }
        before = Some((log, middle));
        passed += weight;
    }
    before.map_or(0.0, |(log, _)| log)
}

/// Start value and penalty for the fit of a constant of `own`.
///
/// The centre is the [`weighted_median`] over the generations without the held-out publication and the
/// neutral value, which is that of fused code. The penalty on `ln(c / centre)^2`, added to a mean error, is
/// `residual / (2 publications spread^2)`: errors within a publication go together, so that each counts as
/// one observation.
pub(crate) fn key(
    name: String,
    (own, held_out): (&Software, &str),
    known: &[Known<'_>],
    neutral: f64,
    fitted_to: usize,
) -> Key {
    let spread = spread(&name);
    let likeness = match (is_of_execution(&name), own.execution) {
        (true, Execution::Eager) => NEUTRAL_FOR_EAGER,
        (true, _) => 1.0,
        (false, _) => OTHER,
    };
    let neutral = Value { log: neutral.max(1e-9).ln(), weight: likeness / (2.0 * spread * spread) };
    let values = known.iter().filter_map(|k| k.value(&name, held_out, own)).chain([neutral]).collect();
    let pull = RESIDUAL / (2.0 * fitted_to.max(1) as f64 * spread * spread);
    Key { start: weighted_median(values).exp(), name, pull }
}

#[cfg(test)]
mod tests {
    use super::*;
    use railwright_calculator::software::by_id;

    fn at(log: f64, weight: f64) -> Value {
        Value { log, weight }
    }

    #[test]
    fn a_value_without_weight_does_not_move_the_median() {
        assert!((weighted_median(vec![at(1.0, 1.0), at(2.0, 1.0), at(3.0, 1.0)]) - 2.0).abs() < 1e-12);
        let outlier = weighted_median(vec![at(1.0, 1.0), at(2.0, 1.0), at(3.0, 1.0), at(90.0, 1e-9)]);
        assert!((outlier - 2.0).abs() < 1e-6, "{outlier}");
        assert!((weighted_median(vec![at(1.0, 1.0), at(3.0, 1.0)]) - 2.0).abs() < 1e-12);
    }

    /// A generation with this cost of a launch, determined up to this variance.
    fn generation(id: &str, us: f64, variance: f64) -> (Software, BTreeMap<String, f64>) {
        let mut software = by_id(id).expect("bundled").clone();
        software.host_us_per_kernel = us;
        (software, BTreeMap::from([("host_us_per_kernel".to_owned(), variance)]))
    }

    fn start(own: &str, held_out: &str) -> f64 {
        let eager = generation("nanotron-2024", 80.0, 0.01);
        let vague = generation("torchtune-2024", 4.0, 100.0);
        let fused = generation("megatron-core-2026", 6.0, 0.01);
        let known: Vec<Known<'_>> = [(&eager, "a"), (&vague, "b"), (&fused, "c")]
            .into_iter()
            .map(|((generation, variances), publication)| Known {
                generation,
                publications: vec![publication],
                variances: variances.clone(),
            })
            .collect();
        let own = by_id(own).expect("bundled");
        key("host_us_per_kernel".to_owned(), (own, held_out), &known, 5.0, 3).start
    }

    #[test]
    fn launches_of_eager_code_are_pooled_with_eager_code_that_runs_determine() {
        let eager = start("megatron-deepspeed-2022", "none");
        let fused = start("megatron-core-2024", "none");
        assert!(eager > 40.0 && fused < 10.0, "{eager} {fused}");
        // No influence is left once its publication is held out.
        assert!(start("megatron-deepspeed-2022", "a") < 10.0);
    }

    #[test]
    fn a_constant_is_held_more_firmly_the_fewer_publications_fix_it() {
        let own = by_id("nanotron-2024").expect("bundled");
        let pull = |n, name: &str| key(name.to_owned(), (own, "none"), &[], 1.0, n).pull;
        assert!(pull(1, "collective_rate") > pull(4, "collective_rate") * 3.9);
        assert!(pull(1, "matmul/Hopper.bf16") > pull(1, "host_us_per_kernel") * 40.0);
    }
}
