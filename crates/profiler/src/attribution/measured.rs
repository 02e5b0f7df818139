//! Measurements of a job for the verdict.
//!
//! Responsible for: own times, waits and replays that the causes and names of stragglers are taken from; own
//! times like those of the peers. Does not judge them.

use super::blame::Charges;
use super::event::{Chains, Event};
use super::mending::Mending;
use super::peers::Stretches;
use super::stretch::Stretch;
use crate::Job;
use crate::communication::NameTable;
use crate::joined::Joined;
use crate::occupancy::Occupancy;
use crate::windows::Windows;

/// A joined job with the measurements of its steps.
pub(super) struct Measured<'a> {
    pub job: &'a Job,
    pub joined: &'a Joined,
    pub names: &'a NameTable,
    pub occupancies: &'a [Occupancy],
    /// The steps, and the steps with an opening of the first one.
    pub windows: &'a Windows,
    pub opened: &'a Windows,
    pub chains: &'a Chains,
    pub stretches: &'a Stretches,
    pub charges: &'a Charges,
    pub mending: &'a Mending<'a>,
    /// By member: sum of the excesses over its peers, in nanoseconds.
    pub excess: &'a [i64],
    /// Replayed time of all steps in nanoseconds, and their number.
    pub base: i64,
    pub count: f64,
}

impl Measured<'_> {
    /// The mean step in nanoseconds.
    pub(super) fn step_time(&self) -> f64 {
        self.base as f64 / self.count
    }

    /// A time as a share of the step (0 to 1).
    pub(super) fn share(&self, time: f64) -> f64 {
        if self.step_time() > 0.0 { time / self.step_time() } else { 0.0 }
    }

    /// Upper bound on the step time saved without a member's delays, in nanoseconds: the mean over the steps
    /// that it recorded.
    pub(super) fn at_most(&self, member: usize) -> f64 {
        let steps = &self.windows.steps;
        let held = steps.iter().filter(|step| step.holds(member)).count();
        let share = if steps.is_empty() { 1.0 } else { held as f64 / steps.len() as f64 };
        if share > 0.0 { self.excess[member] as f64 / (self.count * share) } else { 0.0 }
    }

    /// Start of the steps, in nanoseconds.
    pub(super) fn origin(&self) -> i64 {
        let first = self.chains.events.iter().filter_map(|events| events.first());
        first.map(|event| event.time).min().unwrap_or(0)
    }
}

/// Sum of a member's excesses over its peers in the steps that it recorded, in nanoseconds: the upper bound
/// on what any replay without them saves.
pub(super) fn at_most(stretches: &Stretches, member: usize, windows: &Windows) -> i64 {
    let steps = &windows.steps;
    let is_held = |stretch: &&Stretch| {
        let step = steps.partition_point(|step| step.end < stretch.to);
        steps.get(step).is_none_or(|step| step.holds(member))
    };
    let held = stretches.lists[member].iter().filter(is_held);
    held.map(|stretch| (stretch.own - stretch.usual).max(0)).sum()
}

/// Measured time from the first event to the last, in nanoseconds.
pub(super) fn real_span(chains: &Chains) -> i64 {
    let first = chains.events.iter().filter_map(|events| events.first()).map(|event| event.time).min();
    let last = chains.events.iter().filter_map(|events| events.last()).map(|event| event.time).max();
    last.unwrap_or(0) - first.unwrap_or(0)
}

/// By member and event: own time with which its interval is as long as its peers', in nanoseconds.
pub(super) fn usual_times(chains: &Chains, stretches: &[Vec<Stretch>]) -> Vec<Vec<i64>> {
    let own = |events: &Vec<Event>| events.iter().map(|event| event.own).collect::<Vec<i64>>();
    let mut times: Vec<Vec<i64>> = chains.events.iter().map(own).collect();
    for (member, list) in stretches.iter().enumerate() {
        for stretch in list.iter().filter(|stretch| stretch.own > 0 && stretch.own != stretch.usual) {
            let factor = stretch.usual as f64 / stretch.own as f64;
            let (first, last) = (stretch.events.0 as usize + 1, stretch.events.1 as usize);
            for time in &mut times[member][first..=last] {
                *time = (*time as f64 * factor).round() as i64;
            }
        }
    }
    times
}
