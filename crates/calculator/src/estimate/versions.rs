//! Effect of the framework version on the step time, if a launch file leaves it open.
//!
//! Responsible for: the step time of a plan under each version of its framework, and the interval over all
//! versions. It includes the errors of the framework's measured runs. Does not choose a version.

use crate::costing::Costing;
use crate::evaluate::evaluate;
use crate::intervals;
use railwright_spec::human;
use railwright_spec::quantity::Seconds;
use railwright_spec::software::{Software, by_id, features_of, generations_of};

/// The interval of a framework whose version is unknown.
pub(super) struct Versions {
    /// From the lower bound on the fastest version to the upper bound on the slowest one.
    pub(super) interval: intervals::Interval,
    /// Origin of the interval, as text.
    pub(super) source: String,
}

/// The interval over all versions of the plan's framework. `None` if too few runs of the framework were
/// measured.
///
/// With `t_v` the step time by the constants of version `v`, and `[a, b]` the range of measured over
/// predicted time of the framework's runs: `[a min t_v, b max t_v]`. Each run is predicted by constants of
/// its own version without its publication. One version of the framework is the true one, so this covers at
/// least the share of runs that `[a, b]` covers.
pub(super) fn interval(costing: &Costing<'_>, step: Seconds) -> Option<Versions> {
    let framework = costing.software.framework.as_str();
    let experts = costing.model.is_mixture_of_experts();
    let known = intervals::of_framework(framework, experts, step)?;
    let times: Vec<Seconds> =
        generations_of(framework).filter_map(|version| step_time(costing, version)).collect();
    let least = times.iter().copied().fold(step, Seconds::min);
    let most = times.iter().copied().fold(step, Seconds::max);
    let (fastest, slowest) = (least / step, most / step);
    let versions = match times.len() {
        0 | 1 => String::new(),
        n => format!(
            ", whose {n} versions have step times of {} to {} in this run",
            human::seconds(least),
            human::seconds(most)
        ),
    };
    let source = format!(
        "errors of {} measured runs of `{framework}`{versions}: `{}` was inferred",
        known.runs, costing.plan.software
    );
    let interval = intervals::Interval {
        low: known.low * fastest,
        high: known.high * slowest,
        half_low: known.half_low * fastest,
        half_high: known.half_high * slowest,
        ..known
    };
    Some(Versions { interval, source })
}

/// The step time by the constants of a different version with the features of the plan. `None` if the version
/// lacks one.
fn step_time(costing: &Costing<'_>, version: &Software) -> Option<Seconds> {
    let id = std::iter::once(version.id.as_str())
        .chain(features_of(&costing.plan.software))
        .collect::<Vec<_>>()
        .join("+");
    let software = costing.machine.software(by_id(&id).ok()?, costing.model, costing.plan.precision.compute);
    let other =
        Costing::with_software(costing.model, costing.cluster, costing.plan, costing.machine, software);
    let total = evaluate(&other).ok()?.time.total;
    (total.is_finite() && total > Seconds::ZERO).then_some(total)
}
