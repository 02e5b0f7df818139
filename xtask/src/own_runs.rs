//! What a few measured step times of a stack are worth for its other runs, by publications that neither constants nor prior have seen.
//!
//! Responsible for: the prior of a calibration by step times, fitted to the residuals of left-out predictions (maximum likelihood, whole
//! publications left out), the errors that remain after some runs, and the quantiles behind calibrated intervals. Refuses to predict.

use crate::left_out::LeftOut;
use crate::residuals::weighted_quantile;
use railwright_calculator::calibration::posterior::{Observed, Prior, Sums};
use std::collections::BTreeMap;

/// Fewer runs of one publication and generation than this say nothing about what one of them tells of the others.
const FEWEST: usize = 4;
/// Measured runs of a stack that the table of errors has lines for.
pub(crate) const LOGS: [usize; 3] = [0, 1, 3];
/// Quantiles behind a 90% interval: wider than it by as much as tails of a few publications are heavier than they show.
const TAILS: (f64, f64) = (0.04, 0.96);
/// Between what the prior is looked for; variances are in units of the residual's.
const BOUNDS: [(f64, f64); 7] =
    [(0.1, 100.0), (0.01, 100.0), (0.01, 100.0), (0.01, 400.0), (0.01, 400.0), (0.01, 0.2), (1.0, 30.0)];

/// Runs of one publication, generation and kind of model.
pub(crate) type Stacks<'r> = BTreeMap<(&'r str, &'r str, bool), Vec<Observed>>;

/// The runs of each stack.
pub(crate) fn stacks(rows: &[LeftOut]) -> Stacks<'_> {
    let mut found = Stacks::new();
    for row in rows {
        let run = Observed { shares: row.shares(), ratio: (row.measured_s / row.left_out_s).ln() };
        let key = (row.publication.as_str(), row.generation.as_str(), row.mixture_of_experts);
        found.entry(key).or_default().push(run);
    }
    found
}

fn vector(prior: &Prior) -> [f64; 7] {
    let [a, b, c, d] = prior.parts;
    [prior.level, a, b, c, d, prior.residual, prior.freedom]
}

fn prior_of([level, a, b, c, d, residual, freedom]: [f64; 7]) -> Prior {
    Prior { level, parts: [a, b, c, d], residual, freedom }
}

/// The prior under which the runs of all stacks of a kind but one publication's are likeliest.
pub(crate) fn prior(stacks: &Stacks<'_>, experts: bool, without: Option<&str>) -> Prior {
    let known: Vec<Sums> = stacks
        .iter()
        .filter(|((publication, _, kind), _)| *kind == experts && Some(*publication) != without)
        .map(|(_, runs)| Sums::of(runs))
        .collect();
    let likelihood = |at: &[f64; 7]| known.iter().map(|sums| prior_of(*at).evidence(sums)).sum::<f64>();
    let mut at = vector(&Prior { level: 4.0, parts: [1.0, 1.0, 4.0, 4.0], residual: 0.06, freedom: 3.0 });
    let mut best = likelihood(&at);
    let mut step = 1.0_f64;
    while step > 0.04 {
        let mut improved = false;
        for (place, (least, most)) in BOUNDS.into_iter().enumerate() {
            for factor in [1.0 + step, 1.0 / (1.0 + step)] {
                let mut tried = at;
                tried[place] = (at[place] * factor).clamp(least, most);
                let found = likelihood(&tried);
                if found > best + 1e-6 {
                    (best, at, improved) = (found, tried, true);
                    break;
                }
            }
        }
        if !improved {
            step /= 2.0;
        }
    }
    prior_of(at)
}

/// One prediction after some runs of the stack were measured.
#[derive(Clone, Copy, Debug)]
pub(crate) struct After {
    /// Logarithm of measured over predicted time.
    pub(crate) error: f64,
    /// The same over the scale of the prediction.
    pub(crate) standard: f64,
    /// Share of its publication's weight.
    pub(crate) weight: f64,
}

/// Priors of each kind of model without each publication.
pub(crate) struct Priors<'r> {
    stacks: Stacks<'r>,
    known: BTreeMap<(&'r str, bool), Prior>,
}

impl<'r> Priors<'r> {
    pub(crate) fn new(rows: &'r [LeftOut]) -> Self {
        let stacks = stacks(rows);
        let mut known = BTreeMap::new();
        for ((publication, _, experts), runs) in &stacks {
            if runs.len() >= FEWEST {
                known
                    .entry((*publication, *experts))
                    .or_insert_with(|| prior(&stacks, *experts, Some(*publication)));
            }
        }
        Self { stacks, known }
    }

    /// Predictions of each stack's runs after `logs` others of it (the next ones in the order of the table, starting at each run in turn).
    pub(crate) fn after(&self, logs: usize) -> Vec<((&'r str, bool), After)> {
        let mut found = Vec::new();
        for ((publication, _, experts), runs) in self.stacks.iter().filter(|(_, runs)| runs.len() >= FEWEST) {
            let Some(prior) = self.known.get(&(*publication, *experts)) else { continue };
            let n = runs.len();
            // A hundred starts are enough of a large table.
            let starts: Vec<usize> = (0..n).step_by(n.div_ceil(100)).collect();
            let weight = 1.0 / (starts.len() * (n - logs)) as f64;
            for start in starts {
                let is_log = |at: usize| (at + n - start) % n < logs;
                let measured: Vec<Observed> = (0..n).filter(|at| is_log(*at)).map(|at| runs[at]).collect();
                let posterior = prior.update(&measured);
                for run in (0..n).filter(|at| !is_log(*at)).map(|at| runs[at]) {
                    let predicted = posterior.predict(run.shares);
                    let error = run.ratio - predicted.centre;
                    let after = After { error, standard: error / predicted.scale, weight };
                    found.push(((*publication, *experts), after));
                }
            }
        }
        found
    }
}

/// Errors that remain after some runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Remaining {
    /// Median absolute error.
    pub(crate) median: f64,
    /// 90th percentile.
    pub(crate) ninth: f64,
    /// Share of the measured times inside intervals that were made without their publication.
    pub(crate) inside: f64,
    /// Median of the interval's upper over its lower end.
    pub(crate) width: f64,
}

/// Quantiles of standardised errors after one and three runs, of a kind of model and all publications but one.
fn quantiles(after: &[((&str, bool), After)], experts: bool, without: Option<&str>) -> Option<(f64, f64)> {
    let mut values: Vec<(f64, f64)> = after
        .iter()
        .filter(|((publication, kind), _)| *kind == experts && Some(*publication) != without)
        .map(|(_, after)| (after.standard, after.weight))
        .collect();
    Some((weighted_quantile(&mut values, TAILS.0)?, weighted_quantile(&mut values, TAILS.1)?))
}

/// Errors after each number of [`LOGS`]: publications weigh alike.
pub(crate) fn remaining(rows: &[LeftOut]) -> Vec<(usize, Remaining)> {
    let priors = Priors::new(rows);
    let measured: Vec<((&str, bool), After)> =
        LOGS.into_iter().filter(|logs| *logs > 0).flat_map(|logs| priors.after(logs)).collect();
    let mut ranges: BTreeMap<(&str, bool), Option<(f64, f64)>> = BTreeMap::new();
    let mut found = Vec::new();
    for logs in LOGS {
        let after = priors.after(logs);
        let mut errors: Vec<(f64, f64)> =
            after.iter().map(|(_, a)| (((-a.error).exp() - 1.0).abs(), a.weight)).collect();
        let (mut inside, mut all) = (0.0, 0.0);
        let mut widths = Vec::new();
        for (key, a) in &after {
            let range = ranges.entry(*key).or_insert_with(|| quantiles(&measured, key.1, Some(key.0)));
            let Some((low, high)) = range else { continue };
            inside += a.weight * f64::from(u8::from((*low..=*high).contains(&a.standard)));
            all += a.weight;
            let scale = if a.standard == 0.0 { 0.0 } else { a.error / a.standard };
            widths.push((((*high - *low) * scale).exp(), a.weight));
        }
        let of = |values: &mut [(f64, f64)], share| weighted_quantile(values, share);
        if let (Some(median), Some(ninth), Some(width)) =
            (of(&mut errors, 0.5), of(&mut errors, 0.9), of(&mut widths, 0.5))
        {
            found.push((logs, Remaining { median, ninth, inside: inside / all, width }));
        }
    }
    found
}

/// The tables behind calibrated intervals, for catalog/intervals.toml.
pub(crate) fn tables(rows: &[LeftOut]) -> String {
    use std::fmt::Write as _;
    let priors = Priors::new(rows);
    let measured: Vec<((&str, bool), After)> =
        LOGS.into_iter().filter(|logs| *logs > 0).flat_map(|logs| priors.after(logs)).collect();
    let mut out = String::from(
        "\n# Calibration by step times: errors after one and three runs of a stack over the scale of their prediction, and the prior of parts\n\
         # (variances over the residual's; the order of parts is GEMMs and attention, memory-bound kernels, host, collectives).\n",
    );
    for experts in [false, true] {
        let Some((low, high)) = quantiles(&measured, experts, None) else { continue };
        let p = prior(&priors.stacks, experts, None);
        let [a, b, c, d] = p.parts;
        let _ = write!(
            out,
            "\n[[steps]]\nmixture_of_experts = {experts}\nlow = {low:.3}\nhigh = {high:.3}\nprior = {{ level = {:.3}, parts = [{a:.3}, {b:.3}, {c:.3}, {d:.3}], residual = {:.4}, freedom = {:.3} }}\n",
            p.level, p.residual, p.freedom
        );
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(publication: &str, at: usize, measured_s: f64, communication: f64) -> LeftOut {
        LeftOut {
            id: format!("{publication}-{at}"),
            publication: publication.to_owned(),
            generation: "g".to_owned(),
            mixture_of_experts: false,
            fitted_to: 1,
            measured_s,
            fitted_s: 1.0,
            left_out_s: 1.0,
            products: 0.9 - communication,
            streams: 0.1,
            host: 0.0,
            communication,
        }
    }

    /// Publications whose level differs by tens of percent and whose runs do not scatter: one run tells nearly all.
    #[test]
    fn one_run_tells_the_level() {
        let rows: Vec<LeftOut> = (0..12)
            .flat_map(|p| {
                let level = 1.0 + 0.3 * ((p * 5 % 12) as f64 / 6.0 - 1.0);
                (0..6).map(move |at| {
                    let noise = 1.0 + 0.01 * ((at * 7 + p * 3) % 5) as f64 / 5.0;
                    row(&format!("p{p}"), at, level * noise, 0.05)
                })
            })
            .collect();
        let found = remaining(&rows);
        let of = |logs| found.iter().find(|f| f.0 == logs).expect("found").1;
        assert!(of(0).median > 0.1 && of(1).median < 0.03, "{found:?}");
        assert!(of(1).ninth < 0.06 && of(3).ninth <= of(1).ninth + 0.01, "{found:?}");
        assert!(of(1).width < of(0).width && of(1).inside > 0.7, "{found:?}");
    }

    /// A slow network of each publication's own: a run that communicates and one that does not tell it from slow products.
    #[test]
    fn parts_are_told_apart() {
        let rows: Vec<LeftOut> = (0..12)
            .flat_map(|p| {
                let network = 0.5 * (f64::from(p * 5 % 12) / 6.0 - 1.0);
                (0..8).map(move |at| {
                    let share = if at % 2 == 0 { 0.02 } else { 0.5 };
                    row(&format!("p{p}"), at, (network * share).exp(), share)
                })
            })
            .collect();
        let prior = prior(&stacks(&rows), false, None);
        assert!(prior.parts[3] > 5.0 * prior.parts[0], "{prior:?}");
        let found = remaining(&rows);
        let of = |logs| found.iter().find(|f| f.0 == logs).expect("found").1;
        assert!(of(3).ninth < 0.3 * of(0).ninth, "{found:?}");
    }
}
