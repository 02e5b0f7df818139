//! Factors of the step's parts from measured step times of some layouts, and the interval of predictions
//! under them.
//!
//! Responsible for: shares of parts of a run, the fit over runs, the interval of a prediction with a fit, and
//! the run that narrows it most. Excludes the statistics: see [`super::posterior`].

use super::compared::StepLine;
use super::posterior::{Observed, Posterior, STEP};
use crate::costing::{Costing, Machine};
use crate::estimate::plan_summary;
use crate::evaluate::evaluate;
use crate::intervals;
use crate::software::{self, PARTS, Software};
use railwright_spec::Portable as _;
use railwright_spec::calibration::{Calibration, Evidence, MeasuredLayout, OwnRuns, StepTimes};
use railwright_spec::cluster::Cluster;
use railwright_spec::model::Model;
use railwright_spec::plan::Plan;
use railwright_spec::problem::Problem;
use railwright_spec::quantity::Seconds;
use serde::de::IgnoredAny;
use std::sync::Arc;

/// Rounds of linearization: each round determines shares at the factors of the previous one.
const ROUNDS: usize = 4;

/// A run with its measured step time.
#[derive(Clone, Copy, Debug)]
pub struct Timed<'a> {
    /// Trained parameters.
    pub model: &'a Model,
    /// Cluster of the run.
    pub cluster: &'a Cluster,
    /// Layout and training settings.
    pub plan: &'a Plan,
    /// The measured step.
    pub seconds: Seconds,
}

/// Growth of the logarithm of a run's step time with that of the time of each part, by central differences
/// over [`STEP`].
pub fn shares(costing: &Costing<'_>) -> Result<[f64; PARTS], Problem> {
    let mut shares = [0.0; PARTS];
    for (part, share) in shares.iter_mut().enumerate() {
        let at = |factor: f64| -> Result<f64, Problem> {
            let mut factors = [1.0; PARTS];
            factors[part] = factor;
            let scaled = costing.software.with_parts(factors);
            Ok(step(&reconsidered(costing, &scaled))?.portable_ln())
        };
        *share = (at(STEP)? - at(1.0 / STEP)?) / (2.0 * STEP.portable_ln());
    }
    Ok(shares)
}

/// The same run with other constants of its software.
fn reconsidered<'a>(costing: &Costing<'a>, software: &'a Software) -> Costing<'a> {
    let fresh =
        Costing::with_software(costing.model, costing.cluster, costing.plan, costing.machine, software);
    Costing { disturbance: costing.disturbance, ..fresh }
}

fn step(costing: &Costing<'_>) -> Result<f64, Problem> {
    let total = evaluate(costing)?.time.total.get();
    if total.is_finite() && total > 0.0 {
        return Ok(total);
    }
    Err(Problem::new("a measured run has no finite predicted step time, so no constant can be fitted"))
}

/// Fits factors of parts to measured step times, in addition to those in `known`. `None` without runs.
///
/// Runs of one layout count once, by the geometric mean of their times: their unexplained residual is the
/// same.
pub fn fit(runs: &[Timed<'_>], known: &Calibration, from: &str) -> Result<Option<StepTimes>, Problem> {
    let Some(first) = runs.first() else { return Ok(None) };
    let mut layouts: Vec<(Timed<'_>, f64, f64)> = Vec::new();
    for run in runs {
        if run.seconds <= Seconds::ZERO || !run.seconds.is_finite() {
            return Err(Problem::new("a measured step time is not a positive number of seconds"));
        }
        let is_same = |l: &&mut (Timed<'_>, f64, f64)| {
            l.0.plan == run.plan && l.0.model == run.model && l.0.cluster == run.cluster
        };
        match layouts.iter_mut().find(is_same) {
            Some((_, sum, count)) => (*sum, *count) = (*sum + run.seconds.get().portable_ln(), *count + 1.0),
            None => layouts.push((*run, run.seconds.get().portable_ln(), 1.0)),
        }
    }
    if let Some(other) = runs.iter().find(|run| run.plan.software != first.plan.software) {
        return Err(Problem::new(format!(
            "measured runs have two software generations, `{}` and `{}`",
            first.plan.software, other.plan.software
        ))
        .hint("calibrate each separately"));
    }
    let prior = intervals::steps(first.model.is_mixture_of_experts()).prior;
    let known = Arc::new(Calibration { steps: None, ..known.clone() });
    let clusters: Vec<Cluster> = layouts
        .iter()
        .map(|(run, ..)| Cluster { calibration: Some(Arc::clone(&known)), ..run.cluster.clone() })
        .collect();
    let machines: Vec<Machine> = clusters.iter().map(Machine::new).collect();
    // Runs of one model and format form a group.
    let mut kinds: Vec<&Timed<'_>> = Vec::new();
    let mut groups = Vec::with_capacity(layouts.len());
    for (run, ..) in &layouts {
        let is_same = |kind: &&Timed<'_>| {
            OwnRuns::kind(kind.model, kind.plan.precision.compute)
                == OwnRuns::kind(run.model, run.plan.precision.compute)
        };
        groups.push(kinds.iter().position(is_same).unwrap_or_else(|| {
            kinds.push(run);
            kinds.len() - 1
        }));
    }
    let scaled = |run: &Timed<'_>, machine: &Machine, factors| -> Result<Software, Problem> {
        Ok(machine.software_of_others(software::by_id(&run.plan.software)?).with_parts(factors))
    };
    let mut all = vec![[1.0; PARTS]; kinds.len()];
    let mut observed: Vec<Observed> = Vec::new();
    let mut before = 0.0;
    for round in 0..ROUNDS {
        let mut seen = Vec::with_capacity(layouts.len());
        for ((((run, sum, count), cluster), machine), &group) in
            layouts.iter().zip(&clusters).zip(&machines).zip(&groups)
        {
            let factors = all[group];
            let base = scaled(run, machine, factors)?;
            let costing = Costing::with_software(run.model, cluster, run.plan, machine, &base);
            let shares = shares(&costing)?;
            let ratio = sum / count - step(&costing)?.portable_ln();
            if round == 0 {
                before += ratio.abs() / layouts.len() as f64;
            }
            let moved: f64 =
                shares.iter().zip(&factors).map(|(share, factor)| share * factor.portable_ln()).sum();
            seen.push(Observed { shares, ratio: ratio + moved, group });
        }
        observed = seen;
        for (group, factors) in all.iter_mut().enumerate() {
            *factors = bounded(&prior.update(&observed, Some(group)));
        }
    }
    let mut after = 0.0;
    for ((((run, sum, count), cluster), machine), &group) in
        layouts.iter().zip(&clusters).zip(&machines).zip(&groups)
    {
        let base = scaled(run, machine, all[group])?;
        let costing = Costing::with_software(run.model, cluster, run.plan, machine, &base);
        after += (sum / count - step(&costing)?.portable_ln()).abs() / layouts.len() as f64;
    }
    let written = |posterior: &Posterior| {
        (
            bounded(posterior).map(super::figures::rounded),
            posterior.covariance.map(|row| row.map(super::figures::significant)),
        )
    };
    let own = kinds.iter().enumerate().map(|(group, run)| {
        let (factors, covariance) = written(&prior.update(&observed, Some(group)));
        let (model, parameters) = (run.model.name.clone(), run.model.parameters().total);
        OwnRuns { model, parameters, format: run.plan.precision.compute, factors, covariance }
    });
    let others = prior.update(&observed, None);
    let (factors, covariance) = written(&others);
    Ok(Some(StepTimes {
        factors,
        covariance,
        residual: super::figures::significant(others.residual),
        freedom: IgnoredAny,
        layouts: layouts.len() as u64,
        evidence: Evidence {
            from: from.to_owned(),
            samples: runs.len() as u64,
            error_before: super::figures::rounded(before),
            error_after: super::figures::rounded(after),
            ..Evidence::default()
        },
        own: own.collect(),
        measured: layouts
            .iter()
            .map(|(run, sum, count)| {
                let step = Seconds::new(super::figures::significant((sum / count).portable_exp()));
                MeasuredLayout::new(run.model, run.cluster, run.plan, step, *count as u64)
            })
            .collect(),
    }))
}

/// Factors limited to a physically possible range.
fn bounded(posterior: &Posterior) -> [f64; PARTS] {
    posterior.factors().map(|factor| factor.clamp(0.05, 20.0))
}

/// Compares each run's step with its measurement, without and with a calibration.
pub fn lines(runs: &[Timed<'_>], calibration: &Calibration) -> Result<Vec<StepLine>, Problem> {
    let calibration = Arc::new(calibration.clone());
    runs.iter()
        .map(|run| {
            let bare = Cluster { calibration: None, ..run.cluster.clone() };
            let with = Cluster { calibration: Some(Arc::clone(&calibration)), ..bare.clone() };
            let time = |cluster: &Cluster| -> Result<Seconds, Problem> {
                let machine = Machine::new(cluster);
                step(&Costing::new(run.model, cluster, run.plan, &machine)?).map(Seconds::new)
            };
            Ok(StepLine {
                name: "step".to_owned(),
                title: plan_summary(run.plan),
                measured: run.seconds,
                before: time(&bare)?,
                after: time(&with)?,
            })
        })
        .collect()
}

/// Step-time calibration of a run with its posterior. `None` unless the calibration is for the run's software
/// generation.
fn known<'c>(costing: &'c Costing<'_>) -> Option<(&'c StepTimes, Posterior)> {
    let calibration = costing.machine.calibration.as_deref()?;
    let steps = calibration.steps.as_ref().filter(|_| calibration.software == costing.software.id)?;
    let posterior = Posterior {
        // The fitted constants already include the factors.
        mean: [0.0; PARTS],
        covariance: *steps.of(costing.model, costing.plan.precision.compute).1,
        residual: steps.residual,
        scatter: intervals::steps(costing.model.is_mixture_of_experts()).prior.scatter,
    };
    Some((steps, posterior))
}

/// Logarithm of the largest deviation of nine of ten measurements of a layout from their geometric mean: 86
/// measured runs of `catalog/evidence/measured_runs.csv` in 26 sets whose published settings are all equal.
/// Half of them deviate by 1.5% or less.
pub const REPEATED: f64 = 0.10;

/// The same of half of these measurements.
const REPEATED_HALF: f64 = 0.015;

/// The interval of a run whose own layout was measured: around both the measurement and the prediction, by
/// the scatter of repeated runs ([`REPEATED`]). `None` if other layouts were measured.
pub fn measured_interval(costing: &Costing<'_>, total: Seconds) -> Option<(intervals::Interval, Seconds)> {
    let (steps, _) = known(costing)?;
    let calibration = costing.machine.calibration.as_deref()?;
    let layout = calibration.measured(costing.model, costing.cluster, costing.plan)?;
    let measured = Seconds::new(layout.step_time_s);
    let interval = intervals::Interval {
        low: measured.min(total) * (-REPEATED).portable_exp(),
        high: measured.max(total) * REPEATED.portable_exp(),
        half_low: measured.min(total) * (-REPEATED_HALF).portable_exp(),
        half_high: measured.max(total) * REPEATED_HALF.portable_exp(),
        coverage: 0.9,
        runs: steps.evidence.samples as usize,
        calibrated: true,
    };
    Some((interval, measured))
}

/// The interval of a calibrated prediction. `None` if no measured step times apply to the run.
pub fn interval(costing: &Costing<'_>, total: Seconds) -> Option<(intervals::Interval, u64)> {
    let (steps, posterior) = known(costing)?;
    let scale = posterior.predict(shares(costing).ok()?).scale;
    let quantiles = intervals::steps(costing.model.is_mixture_of_experts());
    let at = |quantile: f64| total * (quantile * scale).portable_exp();
    let interval = intervals::Interval {
        low: at(quantiles.low),
        high: at(quantiles.high),
        half_low: at(quantiles.half_low),
        half_high: at(quantiles.half_high),
        coverage: 0.9,
        runs: steps.evidence.samples as usize,
        calibrated: true,
    };
    Some((interval, steps.layouts))
}

/// A run to measure, with the resulting intervals of all runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeasurementValue {
    /// Index of the run.
    pub index: usize,
    /// Upper over lower end of the 90% interval after measuring this run and those before it, geometric mean
    /// over the runs.
    pub width: f64,
}

/// Runs in the order in which their measurement would narrow the intervals of all runs most. A further run
/// must narrow them by at least 2%.
pub fn worth_measuring(runs: &[Costing<'_>], most: usize) -> Result<Vec<MeasurementValue>, Problem> {
    const LITTLE: f64 = 0.98;
    let Some(first) = runs.first() else { return Ok(Vec::new()) };
    let table = intervals::steps(first.model.is_mixture_of_experts());
    let all: Vec<[f64; PARTS]> = runs.iter().map(shares).collect::<Result<_, _>>()?;
    let mut now = known(first).map_or_else(|| table.prior.update(&[], None), |(_, posterior)| posterior);
    let width = |posterior: &Posterior| {
        let scales: f64 = all.iter().map(|shares| posterior.predict(*shares).scale).sum();
        ((table.high - table.low) * scales / all.len() as f64).portable_exp()
    };
    let mut found: Vec<MeasurementValue> = Vec::new();
    for _ in 0..most.min(runs.len()) {
        let free = (0..runs.len()).filter(|index| found.iter().all(|known| known.index != *index));
        let tried = free.map(|index| (index, width(&now.observing(all[index]))));
        let Some((index, after)) = tried.min_by(|a, b| a.1.total_cmp(&b.1)) else { break };
        if after.portable_ln() > width(&now).portable_ln() * LITTLE {
            break;
        }
        now = now.observing(all[index]);
        found.push(MeasurementValue { index, width: after });
    }
    Ok(found)
}
