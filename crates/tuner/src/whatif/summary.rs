//! Figures of an estimate that what-if comparisons use, and the difference of two.

use railwright_calculator::estimate::{Estimate, Interval, Part};
use railwright_calculator::memory::Fit;
use railwright_calculator::model_flop::Convention;
use railwright_calculator::money::bill;
use railwright_spec::problem::{Problem, Warning};
use railwright_spec::quantity::{Bytes, Dollars, Seconds};
use railwright_spec::run::Run;
use serde::Serialize;

/// Main figures of one run.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Summary {
    /// The plan in one line.
    pub plan: String,
    /// The accelerator's name.
    pub accelerator: String,
    /// Accelerators used.
    pub devices: u64,
    /// Devices by kind, as text.
    pub devices_by_kind: String,
    /// Pipeline stages.
    pub stages: usize,
    /// Time of one step.
    pub step_time: Seconds,
    /// Interval in which a measurement of it is expected.
    pub interval: Interval,
    /// Tokens per step.
    pub tokens_per_step: u64,
    /// Tokens per second.
    pub tokens_per_second: f64,
    /// Tokens per second and device.
    pub tokens_per_second_per_device: f64,
    /// Model FLOP utilization as in every report: in the reported convention, of the peak of the compute
    /// format.
    pub model_flop_utilisation: f64,
    /// Memory on the stage with the largest need.
    pub memory: Bytes,
    /// Index of that stage.
    pub worst_stage: usize,
    /// Memory of a device.
    pub device_memory: Bytes,
    /// Verdict on the fit.
    pub fit: Fit,
    /// Probability of fitting, which determines the verdict: memory that the allocator can release does not
    /// count.
    pub probability_of_fitting: f64,
    /// Rent per million tokens. `None` without a price.
    pub dollars_per_million_tokens: Option<Dollars>,
    /// Rent of the whole token budget. `None` without a budget or price.
    pub rent: Option<Dollars>,
    /// Time on the calendar for the token budget. `None` without one.
    pub calendar: Option<Seconds>,
    /// Step breakdown; the parts sum to the step.
    pub parts: Vec<TimePart>,
}

/// A part of a step.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TimePart {
    /// Identifier documented by `railwright explain`, such as `compute.mlp`.
    pub id: String,
    /// Title for display.
    pub title: String,
    /// Duration.
    pub time: Seconds,
}

/// Change of a part of the step.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PartChange {
    /// Identifier documented by `railwright explain`.
    pub id: String,
    /// Title for display.
    pub title: String,
    /// Its time before.
    pub before: Seconds,
    /// Its time after, scaled to the number of tokens before.
    pub after: Seconds,
    /// Time after minus time before.
    pub change: Seconds,
    /// The change as a share of the whole step before.
    pub share: f64,
}

/// Difference of two runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Difference {
    /// True if the step has another number of tokens, so that times are scaled to the number before.
    pub rescaled: bool,
    /// Step time scaled to the number of tokens before, minus the step time before.
    pub step_time: Seconds,
    /// The same difference as a share of the step before; below 0 is faster.
    pub share: f64,
    /// Tokens per second after over before.
    pub speedup: f64,
    /// Change of the utilization. Runs of other compute formats have other peaks.
    pub model_flop_utilisation: f64,
    /// Change of the memory on the stage with the largest need.
    pub memory: Bytes,
    /// Change of the price per token, as a share. `None` without a price.
    pub price_of_tokens: Option<f64>,
    /// The stage of both breakdowns. `None` if each is of its own slowest stage.
    pub stage: Option<usize>,
    /// Change of each part of the step; they sum to the change of the step.
    pub parts: Vec<PartChange>,
}

/// Token budget for a run without one, to calculate the price per token.
const TRILLION: f64 = 1e12;

/// A run with all inputs of its what-if comparisons.
#[derive(Clone, Debug)]
pub(super) struct Priced {
    pub(super) summary: Summary,
    /// The parts of the step, by stage.
    pub(super) stages: Vec<Vec<TimePart>>,
    pub(super) critical_stage: usize,
    pub(super) warnings: Vec<Warning>,
    /// Places of slow members.
    pub(super) notes: Vec<String>,
}

/// Summarizes the estimate of a run.
///
/// # Errors
///
/// Contradictory checkpoint settings of the run.
pub fn summarize(run: &Run, estimate: &Estimate) -> Result<Summary, Problem> {
    let mut budget = run.clone();
    budget.training.tokens = Some(run.training.tokens.unwrap_or(TRILLION));
    let bill = bill(&budget, estimate.step_time)?;
    let trained = bill.as_ref().map_or(TRILLION, |bill| bill.steps * run.plan.tokens_per_step() as f64);
    let rent = bill.as_ref().and_then(|bill| bill.rent);
    let utilisation = estimate.efficiency.mfu(Convention::REPORTED).unwrap_or_default();
    Ok(Summary {
        plan: estimate.plan_summary.clone(),
        accelerator: estimate.cluster.accelerator_name.clone(),
        devices: estimate.cluster.devices,
        devices_by_kind: estimate.cluster.devices_by_kind(),
        stages: estimate.stages.len(),
        step_time: estimate.step_time,
        interval: estimate.step_time_interval.clone(),
        tokens_per_step: estimate.throughput.tokens_per_step,
        tokens_per_second: estimate.throughput.tokens_per_second,
        tokens_per_second_per_device: estimate.throughput.tokens_per_second_per_device,
        model_flop_utilisation: utilisation,
        memory: estimate.memory.peak,
        worst_stage: estimate.memory.worst,
        device_memory: estimate.memory.device_memory,
        fit: estimate.memory.fit,
        probability_of_fitting: estimate.memory.probability_of_fitting,
        dollars_per_million_tokens: rent.map(|rent| rent * (1e6 / trained)),
        rent: rent.filter(|_| run.training.tokens.is_some()),
        calendar: bill.map(|bill| bill.calendar).filter(|_| run.training.tokens.is_some()),
        parts: parts(&estimate.time),
    })
}

/// Families of compute and dimensions of exposed communication individually, other parts unchanged.
pub(crate) fn parts(step: &Part) -> Vec<TimePart> {
    let one = |part: &Part| TimePart { id: part.id.clone(), title: part.title.clone(), time: part.time };
    let mut list = Vec::new();
    for part in &step.children {
        if part.children.is_empty() {
            list.push(one(part));
            continue;
        }
        for child in &part.children {
            let title =
                if part.id == "exposed" { format!("exposed: {}", child.title) } else { child.title.clone() };
            list.push(TimePart { title, ..one(child) });
        }
    }
    list
}

/// Difference of the run after from the one before.
///
/// Both breakdowns are of one stage, the critical stage of the slower run. Runs with different numbers of
/// stages have breakdowns of their own slowest stages.
pub(super) fn difference(before: &Priced, after: &Priced) -> Difference {
    let (old, new) = (&before.summary, &after.summary);
    let scale = old.tokens_per_step as f64 / new.tokens_per_step.max(1) as f64;
    let step = new.step_time * scale;
    let change = step - old.step_time;
    let price = old.dollars_per_million_tokens.zip(new.dollars_per_million_tokens);
    let stage = (old.stages == new.stages)
        .then(|| if change > Seconds::ZERO { after.critical_stage } else { before.critical_stage });
    let seen = |priced: &Priced| {
        stage.and_then(|stage| priced.stages.get(stage)).unwrap_or(&priced.summary.parts).clone()
    };
    Difference {
        rescaled: old.tokens_per_step != new.tokens_per_step,
        step_time: change,
        share: change / old.step_time,
        speedup: new.tokens_per_second / old.tokens_per_second,
        model_flop_utilisation: new.model_flop_utilisation - old.model_flop_utilisation,
        memory: new.memory - old.memory,
        price_of_tokens: price.filter(|(old, _)| old.get() > 0.0).map(|(old, new)| new / old - 1.0),
        stage,
        parts: part_changes(&seen(before), &seen(after), scale, old.step_time),
    }
}

fn part_changes(before: &[TimePart], after: &[TimePart], scale: f64, step: Seconds) -> Vec<PartChange> {
    let time = |list: &[TimePart], id: &str| {
        list.iter().find(|part| part.id == id).map_or(Seconds::ZERO, |part| part.time)
    };
    let mut changes: Vec<PartChange> = Vec::new();
    for part in before.iter().chain(after) {
        if changes.iter().any(|known| known.id == part.id) {
            continue;
        }
        let (old, new) = (time(before, &part.id), time(after, &part.id) * scale);
        changes.push(PartChange {
            id: part.id.clone(),
            title: part.title.clone(),
            before: old,
            after: new,
            change: new - old,
            share: (new - old) / step,
        });
    }
    changes
}
