//! Interval of the step time, and the resulting throughput.

use super::{alternatives, versions};
use crate::calibration::step_times;
use crate::costing::Costing;
use crate::intervals;
use railwright_spec::human;
use railwright_spec::plan::{OpenSettings, Plan};
use railwright_spec::quantity::Seconds;
use railwright_spec::run::SoftwareOrigin;
use railwright_spec::software::generation_of;
use serde::Serialize;

/// Interval in which a measurement is expected.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Interval {
    /// Lower bound.
    pub low: Seconds,
    /// Upper bound.
    pub high: Seconds,
    /// Lower end of the range that is expected to contain at least half of the measurements.
    pub half_low: Seconds,
    /// Upper end of that range.
    pub half_high: Seconds,
    /// Share of measurements from `low` to `high`.
    pub coverage: f64,
    /// Number of measured runs that determine the width.
    pub runs: usize,
    /// True if these runs are of the same software generation, or the user's own.
    pub calibrated: bool,
    /// Origin of the width.
    pub source: String,
}

/// The interval around a step time. This is its only definition, for every command, the validation and the
/// web UI.
///
/// * With the user's own step times of this very layout: the scatter of repeated runs.
/// * With the user's own step times of the plan's software: the scatter of other runs of one stack around
///   such times.
/// * With a specified software generation: the residuals of its measured runs, or those of all runs if it has
///   too few.
/// * With an inferred one, whose framework is known and whose version is unknown: from the fastest of the
///   framework's versions to the slowest, with the residuals of all its runs. This requires enough runs and a
///   narrower result than the next.
/// * With one that was assumed from the plan, or of a framework without measured runs: the residuals of runs
///   of any stack.
///
/// The last two include the interval of the assumed generation: less knowledge never narrows an interval. The
/// user's own rates of operators and collectives do not determine the software.
///
/// Alternatives (`alternatives::all`, of which some are `open` settings) widen the interval of the assumed
/// generation, see `alternatives::widened`.
pub fn interval(
    costing: &Costing<'_>,
    step: Seconds,
    origin: SoftwareOrigin,
    open: OpenSettings,
) -> Interval {
    let as_shown = |found: intervals::Interval, source: String| {
        let intervals::Interval { low, high, half_low, half_high, coverage, runs, calibrated } = found;
        Interval { low, high, half_low, half_high, coverage, runs, calibrated, source }
    };
    if let Some((own, measured)) = step_times::measured_interval(costing, step) {
        let source = format!(
            "your own measurement of this layout, {}, and the spread of repeated runs",
            human::seconds(measured)
        );
        return as_shown(own, source);
    }
    if let Some((own, layouts)) = step_times::interval(costing, step) {
        let layouts = if layouts == 1 { "1 layout".to_owned() } else { format!("{layouts} layouts") };
        let source =
            format!("your own step times of {layouts}, and the spread of other runs of one software stack");
        return as_shown(own, source);
    }
    let experts = costing.model.is_mixture_of_experts();
    let others = alternatives::all(costing, step, open);
    let assumed = {
        let own = intervals::interval(Some(&costing.plan.software), experts, step);
        let ratios: Vec<f64> = others.iter().map(|other| other.total / step).collect();
        let wider = |low: Seconds, high: Seconds| {
            let (low, high) = alternatives::widened((low / step, high / step), &ratios);
            (step * low, step * high)
        };
        let (low, high) = wider(own.low, own.high);
        let (half_low, half_high) = wider(own.half_low, own.half_high);
        intervals::Interval { low, high, half_low, half_high, ..own }
    };
    let more: Vec<String> = others
        .iter()
        .map(|other| format!("; {} {}", human::seconds(other.total), other.assumption))
        .collect();
    let more = more.concat();
    let any = intervals::interval(None, experts, step);
    if origin == SoftwareOrigin::Inferred
        && let Some(versions::Versions { interval, source }) = versions::interval(costing, step)
        // Both cover nine of ten runs. If versions differ by a lot, the interval of all software is narrower.
        && interval.high / interval.low < any.high / any.low
    {
        return as_shown(interval.covering(&assumed), source + &more);
    }
    if origin.is_open() {
        let why = match origin {
            SoftwareOrigin::Inferred => format!("`{}` was inferred", costing.plan.software),
            _ => "no software was specified".to_owned(),
        };
        let source =
            format!("errors of {} measured runs of all software: {why}", human::whole(any.runs as u64));
        return as_shown(any.covering(&assumed), source + &more);
    }
    // Errors are known for generations, not for features added to them.
    let software = generation_of(&costing.plan.software);
    let source = if assumed.calibrated {
        format!("errors of {} measured runs of `{software}`", assumed.runs)
    } else {
        format!("errors of {} measured runs of all software, because `{software}` has too few", assumed.runs)
    };
    as_shown(assumed, source + &more)
}

/// Throughput of a step.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Throughput {
    /// Sequences per step.
    pub sequences_per_step: u64,
    /// Micro-batches per replica and step.
    pub micro_batches: u64,
    /// Tokens per step.
    pub tokens_per_step: u64,
    /// Tokens per second.
    pub tokens_per_second: f64,
    /// Tokens per second and accelerator.
    pub tokens_per_second_per_device: f64,
    /// Steps per day.
    pub steps_per_day: f64,
}

pub(super) fn throughput(plan: &Plan, step: Seconds) -> Throughput {
    let rate = plan.tokens_per_step() as f64 / step.get();
    Throughput {
        sequences_per_step: plan.global_batch,
        micro_batches: plan.micro_batches(),
        tokens_per_step: plan.tokens_per_step(),
        tokens_per_second: rate,
        tokens_per_second_per_device: rate / plan.world_size() as f64,
        steps_per_day: 86_400.0 / step.get(),
    }
}
