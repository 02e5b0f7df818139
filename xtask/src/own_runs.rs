//! Effect of a few measured step times of a stack on errors of its other runs, on publications excluded from
//! constants and prior.
//!
//! Responsible for: the prior of a calibration by step times, fitted to the residuals of left-out predictions
//! (maximum likelihood, whole publications left out); the errors that remain after some runs; the quantiles
//! of calibrated intervals. Does not predict.
//!
//! A stack is the scope of one calibration: runs of one publication, software generation, kind of model and
//! accelerator.

use crate::descent::{Steps, descend};
use crate::left_out::LeftOut;
use crate::residuals::weighted_quantile;
use railwright_calculator::calibration::posterior::{Observed, Prior, Stack};
use railwright_calculator::validation::cases;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Minimum number of runs of one stack: fewer do not determine the prediction of one by the others.
const FEWEST: usize = 4;
/// Measured runs of a stack that the table of errors has lines for.
pub(crate) const LOGS: [usize; 3] = [0, 1, 3];
/// Quantiles of a 90% interval: wider than it because tails of a few publications are heavier than they
/// appear.
const TAILS: (f64, f64) = (0.04, 0.96);
/// Quantiles of the range that half of the runs are in.
const HALF: (f64, f64) = (0.25, 0.75);
/// Bounds of the search for the prior: level, parts, share of the own runs, scatter, residual, freedom. No
/// rate of a whole stack is off by more than a factor of e in one standard deviation.
const BOUNDS: [(f64, f64); PLACES] = [
    (1e-4, 1.0),
    (1e-5, 1.0),
    (1e-5, 1.0),
    (1e-5, 1.0),
    (1e-5, 1.0),
    (0.01, 10.0),
    (0.001, 100.0),
    (0.001, 100.0),
    (0.001, 100.0),
    (0.001, 100.0),
    (0.005, 0.2),
    (0.5, 30.0),
];
const PLACES: usize = 12;

/// Publication, software generation, true for models with experts, and accelerator.
type Key<'r> = (&'r str, &'r str, bool, &'r str);

/// The runs of each stack.
pub(crate) type Stacks<'r> = BTreeMap<Key<'r>, Vec<Observed>>;

/// Accelerator of a run, and its group within the stack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Kind {
    /// The accelerator's identifier.
    pub(crate) accelerator: String,
    /// Model and format of GEMMs.
    pub(crate) group: String,
}

/// The kind of each run, by its identifier.
pub(crate) type Kinds = BTreeMap<String, Kind>;

/// The kind of each run of a table of measured runs.
pub(crate) fn kinds(runs: &str, name: &str) -> Result<Kinds, String> {
    let all = cases(runs, name).map_err(|problem| problem.to_string())?;
    let known = all.into_iter().filter_map(|(_, case)| case.ok()).map(|case| {
        // Distinguished as in a calibration.
        let parameters = case.model.parameters().total;
        let group = format!("{} {parameters} {}", case.model.name, case.plan.precision.compute.name());
        (case.id, Kind { accelerator: case.cluster.accelerator.id, group })
    });
    Ok(known.collect())
}

/// The runs of each stack; a run of unknown kind is an error.
pub(crate) fn stacks<'r>(rows: &'r [LeftOut], kinds: &'r Kinds) -> Result<Stacks<'r>, String> {
    let mut found = Stacks::new();
    let mut groups: BTreeMap<&str, usize> = BTreeMap::new();
    for row in rows {
        let kind = kinds.get(&row.id).ok_or_else(|| format!("{} is not a measured run", row.id))?;
        let next = groups.len();
        let group = *groups.entry(&kind.group).or_insert(next);
        let ratio = (row.measured_s / row.left_out_s).ln();
        let run = Observed { shares: row.shares(), ratio, group };
        let key: Key<'_> = (&row.publication, &row.generation, row.mixture_of_experts, &kind.accelerator);
        found.entry(key).or_default().push(run);
    }
    Ok(found)
}

fn vector(prior: &Prior) -> [f64; PLACES] {
    let ([a, b, c, d], [e, f, g, h]) = (prior.parts, prior.scatter);
    [prior.level, a, b, c, d, prior.own, e, f, g, h, prior.residual, prior.freedom]
}

fn prior_of([level, a, b, c, d, own, e, f, g, h, residual, freedom]: [f64; PLACES]) -> Prior {
    Prior { level, parts: [a, b, c, d], own, scatter: [e, f, g, h], residual, freedom }
}

/// Start of the search for a prior: a tenth for the level, more for the host and collectives.
const START: Prior = Prior {
    level: 0.005,
    parts: [0.01, 0.02, 0.1, 0.1],
    own: 0.5,
    scatter: [1.0; 4],
    residual: 0.04,
    freedom: 2.0,
};

/// The prior under which the runs of all stacks of a kind but those of some publications are likeliest, from
/// a start.
pub(crate) fn prior(
    stacks: &Stacks<'_>,
    experts: bool,
    is_left_out: impl Fn(&str) -> bool,
    start: Prior,
) -> Prior {
    let known: Vec<Stack> = stacks
        .iter()
        .filter(|((publication, _, kind, _), _)| *kind == experts && !is_left_out(publication))
        .map(|(_, runs)| Stack::of(runs))
        .collect();
    let unlikelihood = |at: &[f64]| {
        let prior = at.try_into().map(prior_of)?;
        Ok::<_, std::array::TryFromSliceError>(-known.iter().map(|stack| prior.evidence(stack)).sum::<f64>())
    };
    let mut at = vector(&start);
    for (value, (least, most)) in at.iter_mut().zip(BOUNDS) {
        *value = value.clamp(least, most);
    }
    // Without some publications, the optimum is near that of all.
    let first = if start == START { 3.0 } else { 0.5 };
    let steps = Steps { first, finest: 0.1, gain: 0.01 };
    // The slices are those of the array, so that no length is wrong.
    let _ = descend(&mut at, &BOUNDS, steps, unlikelihood);
    prior_of(at)
}

/// One prediction after some runs of the stack were measured.
#[derive(Clone, Copy, Debug)]
pub(crate) struct After {
    /// Logarithm of measured over predicted time.
    pub(crate) error: f64,
    /// The same over the scale of the prediction.
    pub(crate) standard: f64,
    /// Share of its stack's weight.
    pub(crate) weight: f64,
}

/// Set of predicted runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Scope {
    /// Other runs of the same stack.
    Stack,
    /// Other runs of the same stack, model and format.
    Model,
    /// Runs of the same stack, of models and formats without a measured run.
    Other,
    /// Other runs of the same stack, of models with experts.
    Experts,
}

impl Scope {
    /// All of them, in the order of the table.
    const ALL: [Self; 4] = [Self::Stack, Self::Model, Self::Other, Self::Experts];
}

/// Parts that publications are distributed over: the prior for those of one part is fitted without any of
/// them.
const FOLDS: usize = 10;

/// Part of each publication, by the order of their names.
fn folds<'r>(stacks: &Stacks<'r>) -> BTreeMap<&'r str, usize> {
    let mut names: Vec<&str> = stacks.keys().map(|key| key.0).collect();
    names.dedup();
    names.into_iter().enumerate().map(|(at, name)| (name, at % FOLDS)).collect()
}

/// Priors of each kind of model, of all publications and without those of each part.
pub(crate) struct Priors<'r> {
    stacks: Stacks<'r>,
    folds: BTreeMap<&'r str, usize>,
    all: BTreeMap<bool, Prior>,
    without: BTreeMap<(usize, bool), Prior>,
}

impl<'r> Priors<'r> {
    pub(crate) fn new(stacks: Stacks<'r>) -> Self {
        let kinds = [false, true].into_iter().filter(|kind| stacks.keys().any(|key| key.2 == *kind));
        let folds = folds(&stacks);
        let all: BTreeMap<bool, Prior> =
            kinds.map(|kind| (kind, prior(&stacks, kind, |_| false, START))).collect();
        let wanted: Vec<(usize, bool, Prior)> =
            (0..FOLDS).flat_map(|fold| all.iter().map(move |(kind, start)| (fold, *kind, *start))).collect();
        let workers = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let each = wanted.len().div_ceil(workers).max(1);
        let without = std::thread::scope(|scope| {
            let (stacks, folds) = (&stacks, &folds);
            let fit = |part: &[(usize, bool, Prior)]| -> Vec<((usize, bool), Prior)> {
                let one = |(fold, kind, start): &(usize, bool, Prior)| {
                    let is_left_out = |publication: &str| folds.get(publication) == Some(fold);
                    ((*fold, *kind), prior(stacks, *kind, is_left_out, *start))
                };
                part.iter().map(one).collect()
            };
            let parts: Vec<_> = wanted.chunks(each).map(|part| scope.spawn(move || fit(part))).collect();
            parts.into_iter().flat_map(|part| part.join().unwrap_or_default()).collect()
        });
        Self { stacks, folds, all, without }
    }

    /// The prior for a stack, fitted without its publication.
    fn of(&self, publication: &str, experts: bool) -> Option<&Prior> {
        self.without.get(&(*self.folds.get(publication)?, experts))
    }

    /// Predictions of each stack's runs after `logs` other runs of it (the next ones in the order of the
    /// table, starting at each run in turn).
    pub(crate) fn after(&self, logs: usize, scope: Scope) -> Vec<((&'r str, bool), After)> {
        let mut found = Vec::new();
        for ((publication, _, experts, _), all) in &self.stacks {
            let Some(prior) = self.of(publication, *experts) else { continue };
            if scope == Scope::Experts && !experts {
                continue;
            }
            let mut parts: BTreeMap<usize, Vec<Observed>> = BTreeMap::new();
            for run in all {
                let part = if scope == Scope::Model { run.group } else { 0 };
                parts.entry(part).or_default().push(*run);
            }
            for runs in parts.values().filter(|runs| runs.len() >= FEWEST) {
                let predicted = predictions(prior, runs, logs, scope == Scope::Other);
                found.extend(predicted.into_iter().map(|after| ((*publication, *experts), after)));
            }
        }
        found
    }
}

/// Predictions of runs after each of some starts in the list; with `others`, only those of models and formats
/// that are neither measured nor that of the start.
fn predictions(prior: &Prior, runs: &[Observed], logs: usize, others: bool) -> Vec<After> {
    let n = runs.len();
    // Thirty starts are enough of a large table.
    let starts = (0..n).step_by(n.div_ceil(30));
    let mut found: Vec<Vec<After>> = Vec::new();
    for start in starts {
        let is_log = |at: usize| (at + n - start) % n < logs;
        let measured: Vec<Observed> = (0..n).filter(|at| is_log(*at)).map(|at| runs[at]).collect();
        let is_measured = |group: usize| measured.iter().any(|log| log.group == group);
        let is_left = |run: &Observed| !others || !(is_measured(run.group) || run.group == runs[start].group);
        let mut known = BTreeMap::new();
        let of_start = (0..n).filter(|at| !is_log(*at)).map(|at| runs[at]).filter(is_left).map(|run| {
            let group = Some(run.group).filter(|group| is_measured(*group));
            let posterior = known.entry(group).or_insert_with(|| prior.update(&measured, group));
            let predicted = posterior.predict(run.shares);
            let error = run.ratio - predicted.centre;
            After { error, standard: error / predicted.scale, weight: 1.0 }
        });
        found.push(of_start.collect());
    }
    // Each start with predictions has the same weight; together they weigh 1.
    found.retain(|of_start| !of_start.is_empty());
    let starts = found.len() as f64;
    let weighted = |of_start: Vec<After>| {
        let weight = 1.0 / (starts * of_start.len() as f64);
        of_start.into_iter().map(move |after| After { weight, ..after })
    };
    found.into_iter().flat_map(weighted).collect()
}

/// Errors that remain after some runs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Remaining {
    /// Set of predicted runs.
    pub(crate) scope: Scope,
    /// Runs that were measured before.
    pub(crate) logs: usize,
    /// Stacks, or models and formats of them, that were tested; all have equal weight.
    pub(crate) parts: usize,
    /// Median absolute error.
    pub(crate) median: f64,
    /// 90th percentile.
    pub(crate) ninth: f64,
    /// Share of the measured times inside intervals that were made without their publication.
    pub(crate) inside: f64,
    /// Median of the interval's upper over its lower end.
    pub(crate) width: f64,
}

/// The table of errors that remain, from the root of the repository.
pub(crate) const TABLE: &str = "catalog/evidence/after_logs.csv";

/// Reads the table of errors that remain.
pub(crate) fn read(text: &str) -> Result<Vec<Remaining>, String> {
    let rows = csv::Reader::from_reader(text.as_bytes()).deserialize().collect::<Result<_, _>>();
    rows.map_err(|e| format!("{TABLE}: {e}; make it with `xtask logs`"))
}

/// `xtask logs`: the table of errors that remain.
pub(crate) fn logs(rows: &[LeftOut], kinds: &Kinds) -> Result<(), String> {
    let found = remaining(&Priors::new(stacks(rows, kinds)?));
    let mut writer = csv::Writer::from_writer(std::io::stdout().lock());
    for row in found {
        let three = |value: f64| (value * 1e4).round() / 1e4;
        let (median, ninth) = (three(row.median), three(row.ninth));
        let (inside, width) = (three(row.inside), three(row.width));
        writer.serialize(Remaining { median, ninth, inside, width, ..row }).map_err(|e| e.to_string())?;
    }
    writer.flush().map_err(|e| e.to_string())
}

/// Quantiles of standardized errors after one and three runs, of a kind of model and all publications but
/// one.
fn quantiles(
    after: &[((&str, bool), After)],
    experts: bool,
    without: Option<&str>,
    tails: (f64, f64),
) -> Option<(f64, f64)> {
    let mut values: Vec<(f64, f64)> = after
        .iter()
        .filter(|((publication, kind), _)| *kind == experts && Some(*publication) != without)
        .map(|(_, after)| (after.standard, after.weight))
        .collect();
    Some((weighted_quantile(&mut values, tails.0)?, weighted_quantile(&mut values, tails.1)?))
}

/// Predictions of all stacks after one and three runs: the input of the quantiles.
fn measured<'r>(priors: &Priors<'r>) -> Vec<((&'r str, bool), After)> {
    let some = LOGS.into_iter().filter(|logs| *logs > 0);
    some.flat_map(|logs| priors.after(logs, Scope::Stack)).collect()
}

/// Errors after each number of [`LOGS`].
pub(crate) fn remaining(priors: &Priors<'_>) -> Vec<Remaining> {
    let measured = measured(priors);
    let mut ranges: BTreeMap<(&str, bool), Option<(f64, f64)>> = BTreeMap::new();
    let mut found = Vec::new();
    for (scope, logs) in Scope::ALL.into_iter().flat_map(|s| LOGS.map(|logs| (s, logs))) {
        let after = priors.after(logs, scope);
        let mut errors: Vec<(f64, f64)> =
            after.iter().map(|(_, a)| (((-a.error).exp() - 1.0).abs(), a.weight)).collect();
        let (mut inside, mut all) = (0.0, 0.0);
        let mut widths = Vec::new();
        for (key, a) in &after {
            let range = ranges.entry(*key).or_insert_with(|| quantiles(&measured, key.1, Some(key.0), TAILS));
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
            let parts = all.round() as usize;
            found.push(Remaining { scope, logs, parts, median, ninth, inside: inside / all, width });
        }
    }
    found
}

/// The tables of calibrated intervals, for catalog/intervals.toml.
pub(crate) fn tables(rows: &[LeftOut], kinds: &Kinds) -> Result<String, String> {
    use std::fmt::Write as _;
    let priors = Priors::new(stacks(rows, kinds)?);
    let measured = measured(&priors);
    let mut out = String::from(
        "\n# Calibration by step times: errors after one and three runs of a stack over the scale of their prediction, and the prior of parts\n\
         # (variances of logarithms; the order of parts is GEMMs and attention, memory-bound kernels, host, collectives).\n",
    );
    for (experts, p) in &priors.all {
        let of = |tails| quantiles(&measured, *experts, None, tails);
        let (Some((low, high)), Some((half_low, half_high))) = (of(TAILS), of(HALF)) else { continue };
        let list = |values: [f64; 4]| values.map(|value| format!("{value:.4}")).join(", ");
        let _ = write!(
            out,
            "\n[[steps]]\nmixture_of_experts = {experts}\nlow = {low:.3}\nhigh = {high:.3}\n\
             half_low = {half_low:.3}\nhalf_high = {half_high:.3}\n\
             prior = {{ level = {:.4}, parts = [{}], own = {:.3}, scatter = [{}], residual = {:.4}, freedom = {:.3} }}\n",
            p.level,
            list(p.parts),
            p.own,
            list(p.scatter),
            p.residual,
            p.freedom
        );
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Publications whose runs have these ratios and shares of communication.
    fn found(run: impl Fn(i32, i32) -> (f64, f64)) -> Vec<Remaining> {
        let names: Vec<String> = (0..12).map(|p| format!("p{p}")).collect();
        let stacks: Stacks<'_> = (0..12)
            .map(|p| {
                let runs = (0..8).map(|at| {
                    let (ratio, network) = run(p, at);
                    Observed { shares: [0.9 - network, 0.1, 0.0, network], ratio, group: 0 }
                });
                ((names[p as usize].as_str(), "g", false, "a"), runs.collect())
            })
            .collect();
        remaining(&Priors::new(stacks))
    }

    fn of(found: &[Remaining], logs: usize) -> Remaining {
        *found.iter().find(|f| f.logs == logs && f.scope == Scope::Stack).expect("found")
    }

    /// Publications whose level differs by tens of percent and whose runs do not scatter: one run determines
    /// nearly everything.
    #[test]
    fn one_run_determines_the_level() {
        let found = found(|p, at| {
            let level = 1.0 + 0.3 * (f64::from(p * 5 % 12) / 6.0 - 1.0);
            let noise = 1.0 + 0.01 * f64::from((at * 7 + p * 3) % 5) / 5.0;
            ((level * noise).ln(), 0.05)
        });
        let (none, one, three) = (of(&found, 0), of(&found, 1), of(&found, 3));
        assert!(none.median > 0.1 && one.median < 0.03, "{found:?}");
        assert!(one.ninth < 0.06 && three.ninth <= one.ninth + 0.01, "{found:?}");
        assert!(one.width < none.width && one.inside > 0.7, "{found:?}");
    }

    /// A slow network of each publication: a run with and one without communication distinguish it from slow
    /// GEMMs.
    #[test]
    fn parts_are_distinguished() {
        let found = found(|p, at| {
            let network = 0.5 * (f64::from(p * 5 % 12) / 6.0 - 1.0);
            let share = if at % 2 == 0 { 0.02 } else { 0.5 };
            (network * share, share)
        });
        assert!(of(&found, 3).ninth < 0.3 * of(&found, 0).ninth, "{found:?}");
    }

    /// Errors of the shipped table are smaller with measured runs than without, and intervals cover nine of
    /// ten: of the measured models, of others, and of mixtures of experts.
    #[test]
    fn measured_runs_make_no_prediction_worse_on_the_whole() {
        let rows = read(include_str!("../../catalog/evidence/after_logs.csv")).expect("reads");
        for scope in Scope::ALL {
            let of = |logs| *rows.iter().find(|r| (r.scope, r.logs) == (scope, logs)).expect("a row");
            for logs in [1, 3] {
                assert!(of(logs).ninth < of(0).ninth && of(logs).median < of(0).median, "{scope:?} {logs}");
                assert!((0.87..0.95).contains(&of(logs).inside), "{scope:?} {logs}");
            }
        }
    }

    /// Runs of models without a measured run are predicted with the spread between models: publications whose
    /// models differ by tens of percent, and whose runs of one model agree.
    #[test]
    fn another_model_keeps_the_spread_between_models() {
        let names: Vec<String> = (0..12).map(|p| format!("p{p}")).collect();
        let run = |p: usize, at: usize| {
            let model = 0.25 * ((p * 7 + at / 4 * 5) % 12) as f64 / 6.0 - 0.25;
            let noise = 0.005 * ((at * 7 + p * 3) % 5) as f64;
            Observed { shares: [0.85, 0.1, 0.0, 0.05], ratio: model + noise, group: at / 4 }
        };
        let stacks: Stacks<'_> = (0..12)
            .map(|p| ((names[p].as_str(), "g", false, "a"), (0..12).map(|at| run(p, at)).collect()))
            .collect();
        let found = remaining(&Priors::new(stacks));
        let of = |scope| *found.iter().find(|f| f.logs == 1 && f.scope == scope).expect("found");
        let (own, other) = (of(Scope::Model), of(Scope::Other));
        assert!(other.width > 1.3 && other.width > 1.2 * own.width, "{own:?} {other:?}");
        assert!(other.inside > 0.8 && own.median < 0.5 * other.median, "{own:?} {other:?}");
    }
}
