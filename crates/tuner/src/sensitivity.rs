//! Sensitivity of the step time: its elasticity to every hardware parameter and every software constant.
//!
//! Responsible for: one comparable number per parameter. The elasticity of the step time T to a figure x is
//! `d ln T / d ln x`, by central differences: `ln(T(1.01 x) / T(x / 1.01)) / (2 ln 1.01)`. Does not change
//! the plan: see the search for the best layout on other hardware.
//!
//! The sum rule: multiply every rate by k, and divide every latency, floor and launch time by k. The step
//! time is then divided by k. The elasticities of rates minus those of times therefore sum to -1, except for
//! a few constants without a parameter (the ramp-up of transfers).

mod knobs;

use crate::flows::OnTopology;
use crate::whatif::parts;
pub use knobs::Kind;
use knobs::{Knob, Setup, knobs};
use railwright_calculator::costing::Machine;
use railwright_calculator::estimate::{EstimateOptions, of_evaluation, plan_summary, tree};
use railwright_calculator::evaluate::{evaluate_with, on_stage};
use railwright_calculator::memory::Fit;
use railwright_calculator::schedule::Workspace;
use railwright_calculator::software;
use railwright_spec::Portable as _;
use railwright_spec::problem::Problem;
use railwright_spec::quantity::{Bytes, Seconds};
use railwright_spec::run::Run;
use serde::Serialize;
use std::sync::Arc;

/// The relative step of the differences.
pub const STEP: f64 = 0.01;
/// Relative change of a parameter in the tornado chart.
pub const SWING: f64 = 0.10;

/// The sensitivity of one run.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Sensitivity {
    /// The model's name.
    pub model: String,
    /// The accelerator's name.
    pub accelerator: String,
    /// Accelerators used.
    pub devices: u64,
    /// Devices by kind, as text.
    pub devices_by_kind: String,
    /// The plan in one line.
    pub plan: String,
    /// Step time of the unchanged run.
    pub step_time: Seconds,
    /// The relative step of the differences: [`STEP`].
    pub difference: f64,
    /// The change of `less` and `more`: [`SWING`].
    pub swing: f64,
    /// All parameters, the one with the largest effect first.
    pub figures: Vec<Figure>,
    /// Sums of the elasticities of rates and times.
    pub sum: SumRule,
    /// Memory, which has no elasticity.
    pub capacity: Capacity,
}

/// One parameter.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Figure {
    /// Stable identifier: the key of the run file if there is one.
    pub id: String,
    /// Title for display.
    pub title: String,
    /// Category of the parameter.
    pub kind: Kind,
    /// Its value, as text.
    pub now: String,
    /// True if a greater value is faster (a bandwidth), false if it is slower (a latency).
    pub greater_is_faster: bool,
    /// `d ln T / d ln x`.
    pub elasticity: f64,
    /// Change of the step with a 10% smaller value, as a share.
    pub less: f64,
    /// Change of the step with a 10% greater value, as a share.
    pub more: f64,
    /// Change of the step with an ideal value, as a share: an unlimited rate, a latency of zero.
    pub best: f64,
    /// The part of the step with the largest reduction in that case.
    pub through: Option<String>,
}

/// Sums of the elasticities of all rates and times.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SumRule {
    /// Sum over rates: peaks and bandwidths; below 0.
    pub rates: f64,
    /// Sum over times: latencies, floors, launches; above 0.
    pub times: f64,
    /// Difference to 1 of times minus rates: constants without a parameter, and kinks within the step of the
    /// difference.
    pub rest: f64,
}

/// Memory of the device and of the run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Capacity {
    /// Memory of a device.
    pub device: Bytes,
    /// Memory of the stage with the largest peak.
    pub peak: Bytes,
    /// Minimum device memory of the run. Below, running out of memory is the more likely outcome; above,
    /// capacity has no effect.
    pub least: Bytes,
    /// Verdict on the fit.
    pub fit: Fit,
}

/// Computes the sensitivity of a run.
pub fn sensitivity(run: &Run) -> Result<Sensitivity, Problem> {
    sensitivity_on(run, None)
}

/// Computes the sensitivity of a run with collectives simulated on a topology.
pub fn sensitivity_on(run: &Run, network: Option<Arc<OnTopology>>) -> Result<Sensitivity, Problem> {
    let machine = Machine::new(&run.cluster);
    let software =
        machine.software(software::by_id(&run.plan.software)?, &run.model, run.plan.precision.compute);
    let setup = Setup::new(run, software, network);
    let mut workspace = Workspace::default();
    let (step_time, capacity) = setup.with_costing(run, |costing| {
        let evaluation = evaluate_with(costing, &mut workspace)?;
        let estimate = of_evaluation(costing, &evaluation, &EstimateOptions::of(run))?;
        let memory = &estimate.memory;
        let capacity = Capacity {
            device: memory.device_memory,
            peak: memory.peak,
            least: memory.least,
            fit: memory.fit,
        };
        Ok((estimate.step_time, capacity))
    })?;
    let mut figures = Vec::new();
    let mut sum = SumRule { rates: 0.0, times: 0.0, rest: 0.0 };
    for knob in knobs(run, software) {
        let figure = figure(run, &setup, &knob, step_time, &mut workspace)?;
        if knob.is_time_scale {
            *(if figure.greater_is_faster { &mut sum.rates } else { &mut sum.times }) += figure.elasticity;
        }
        figures.push(figure);
    }
    sum.rest = 1.0 - (sum.times - sum.rates);
    let swing = |figure: &Figure| figure.less.abs().max(figure.more.abs());
    figures.sort_by(|a, b| swing(b).total_cmp(&swing(a)));
    Ok(Sensitivity {
        model: run.model.name.clone(),
        accelerator: run.cluster.accelerator.name.clone(),
        devices: run.cluster.devices,
        devices_by_kind: run.cluster.devices_by_kind(),
        plan: plan_summary(&run.plan),
        step_time,
        difference: STEP,
        swing: SWING,
        figures,
        sum,
        capacity,
    })
}

fn figure(
    run: &Run,
    setup: &Setup,
    knob: &Knob,
    step: Seconds,
    workspace: &mut Workspace,
) -> Result<Figure, Problem> {
    let mut time = |factor: f64| total(run, &setup.turned(knob, factor), workspace);
    let up = time(1.0 + STEP)?;
    let down = time(1.0 / (1.0 + STEP))?;
    let elasticity = (up / down).portable_ln() / (2.0 * (1.0 + STEP).portable_ln());
    let (less, more) = (time(1.0 - SWING)? / step - 1.0, time(1.0 + SWING)? / step - 1.0);
    let best = setup.turned(knob, knob.best());
    let ideal = total(run, &best, workspace)? / step - 1.0;
    Ok(Figure {
        id: knob.id.clone(),
        title: knob.title.clone(),
        kind: knob.kind,
        now: knob.now.clone(),
        greater_is_faster: knob.greater_is_faster,
        elasticity: tidy(elasticity),
        less: tidy(less),
        more: tidy(more),
        best: tidy(ideal),
        through: if tidy(ideal) < 0.0 { through(run, setup, &best, workspace)? } else { None },
    })
}

/// Replaces rounding of unchanged sums by zero.
fn tidy(x: f64) -> f64 {
    if x.abs() < 1e-12 { 0.0 } else { x }
}

fn total(run: &Run, setup: &Setup, workspace: &mut Workspace) -> Result<Seconds, Problem> {
    setup.with_costing(run, |costing| Ok(evaluate_with(costing, workspace)?.time.total))
}

/// The part with the largest reduction, on the critical stage of the unchanged run.
fn through(
    run: &Run,
    setup: &Setup,
    best: &Setup,
    workspace: &mut Workspace,
) -> Result<Option<String>, Problem> {
    let (stage, before) = setup.with_costing(run, |costing| {
        let evaluation = evaluate_with(costing, workspace)?;
        Ok((evaluation.critical_stage, parts(&tree(costing, &evaluation))))
    })?;
    let after = best.with_costing(run, |costing| {
        let evaluation = evaluate_with(costing, workspace)?;
        Ok(parts(&tree(costing, &on_stage(costing, &evaluation, stage))))
    })?;
    let mut most: Option<(Seconds, String)> = None;
    for part in before {
        let now = after.iter().find(|other| other.id == part.id).map_or(Seconds::ZERO, |other| other.time);
        let saved = part.time - now;
        if saved > Seconds::ZERO && most.as_ref().is_none_or(|(best, _)| saved > *best) {
            most = Some((saved, part.title));
        }
    }
    Ok(most.map(|(_, title)| title))
}

#[cfg(test)]
mod tests;
