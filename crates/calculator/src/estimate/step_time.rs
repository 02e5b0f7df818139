//! The step time's interval, and the throughput that follows from it.

use crate::calibration::step_times;
use crate::costing::Costing;
use crate::intervals;
use railwright_spec::plan::Plan;
use railwright_spec::quantity::Seconds;
use railwright_spec::software::generation_of;
use serde::Serialize;

/// Bounds between which a measurement is expected.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Interval {
    /// Lower bound.
    pub low: Seconds,
    /// Upper bound.
    pub high: Seconds,
    /// Share of measurements that lie between them.
    pub coverage: f64,
    /// Measured runs that the width rests on.
    pub runs: usize,
    /// Whether they are of the same software generation, or one's own.
    pub calibrated: bool,
    /// Where the width comes from.
    pub source: String,
}

/// The interval around a step time: from one's own measured step times, else from the residuals of the software generation's measured runs.
pub(super) fn interval(costing: &Costing<'_>, step: Seconds) -> Interval {
    let own = step_times::interval(costing, step);
    let experts = costing.model.is_mixture_of_experts();
    let found = own.map_or_else(
        || intervals::interval(Some(&costing.plan.software), experts, step),
        |(interval, _)| interval,
    );
    // Errors are known of generations, not of features added to them.
    let software = generation_of(&costing.plan.software);
    let source = if let Some((_, layouts)) = own {
        let layouts = if layouts == 1 { "1 layout".to_owned() } else { format!("{layouts} layouts") };
        format!("your own step times of {layouts}, and how far other runs of one stack scatter around such")
    } else if found.calibrated {
        format!("errors of {} measured runs of `{software}`", found.runs)
    } else {
        format!("errors of {} measured runs of all software, because `{software}` has too few", found.runs)
    };
    Interval {
        low: found.low,
        high: found.high,
        coverage: found.coverage,
        runs: found.runs,
        calibrated: found.calibrated,
        source,
    }
}

/// The interval around a step time without a specified software: that of publications of any stack, since the run may not be of the
/// generation that was assumed. It holds that of the assumed generation: less knowledge is never a narrower interval.
pub fn of_any_software(is_mixture_of_experts: bool, step: Seconds, assumed: &Interval) -> Interval {
    let found = intervals::interval(None, is_mixture_of_experts, step);
    Interval {
        low: found.low.min(assumed.low),
        high: found.high.max(assumed.high),
        coverage: found.coverage,
        runs: found.runs,
        calibrated: found.calibrated,
        source: format!("errors of {} measured runs of all software, because none was specified", found.runs),
    }
}

/// What a step gets done.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Throughput {
    /// Sequences per step.
    pub sequences_per_step: u64,
    /// Micro batches per replica and step.
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
