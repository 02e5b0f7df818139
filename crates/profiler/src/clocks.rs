//! Alignment of rank clocks.
//!
//! Responsible for: offset and drift of every rank's clock, bounds from causality, residuals, and shifting
//! traces to one clock. Uses matched collectives that no rank can leave before all have entered. Short
//! collectives have the largest weight: their ends are close together. Ignores drifts below the usual drift
//! of clocks, and does not shift clocks that already agree.

mod bounds;
mod clock;
mod solve;

use crate::matching::{Matching, Part};
use crate::{Job, RankTrace};
pub use clock::RankClock;
use railwright_spec::human;
use railwright_spec::problem::Warning;
use serde::Serialize;
use std::collections::BTreeSet;

/// Maximum difference of clocks that may share a host's clock, in nanoseconds: device clocks of processes on
/// one host differed by up to 71 microseconds.
pub const ONE_HOST: i64 = 100_000;

/// Minimum offset between hosts that is not scatter of the ends of collectives, as a multiple of that
/// scatter.
const SIGNIFICANT: i64 = 4;

/// Resolution of recorded times, in nanoseconds: many recorders write microseconds.
const RESOLUTION: i64 = 1_000;

/// Treatment of the ranks' clocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ClockPolicy {
    /// Leave them if they agree within [`ONE_HOST`] and within a tenth of a collective's duration; otherwise
    /// align them. Clocks of several hosts must agree within the scatter of the ends of collectives.
    #[default]
    Auto,
    /// Align them always.
    Align,
    /// Keep them as recorded.
    Recorded,
}

/// The clocks of a job.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Clocks {
    /// Clock of each member, in order.
    pub clocks: Vec<RankClock>,
    /// True if times were shifted.
    pub applied: bool,
    /// Reason for the decision, as a sentence.
    pub reason: String,
    /// Largest offset between two ranks with a common time, in nanoseconds.
    #[serde(rename = "spread_ns")]
    pub spread: i64,
}

impl Clocks {
    /// Estimates the clocks of a job and decides by a policy whether to shift them.
    pub fn of(job: &Job, matching: &Matching, policy: ClockPolicy) -> Self {
        let clocks = solve::solve(job, matching);
        let spread = spread(clocks.iter());
        let mut found = Self { clocks, applied: false, reason: String::new(), spread };
        (found.applied, found.reason) = found.decide(matching, policy, on_several_hosts(job));
        found
    }

    fn decide(&self, matching: &Matching, policy: ClockPolicy, several_hosts: bool) -> (bool, String) {
        let spread = micro(self.spread);
        let tied = self.clocks.iter().filter(|clock| clock.collectives > 0).count();
        if tied < 2 {
            return (false, "no two ranks share a collective: clocks are not aligned".to_owned());
        }
        // Time shift by drift over the observed span, in nanoseconds.
        let moves = |clock: &RankClock| {
            if clock.drift_ppm.abs() < 20.0 { 0.0 } else { clock.drift_ppm.abs() * 1e-6 * clock.span as f64 }
        };
        let drift = self.clocks.iter().map(moves).fold(0.0, f64::max);
        match policy {
            ClockPolicy::Recorded => {
                (false, format!("clocks differ by up to {spread}; recorded times are used"))
            }
            ClockPolicy::Align => (true, format!("clocks differed by up to {spread} and were aligned")),
            ClockPolicy::Auto => {
                let usual = usual_duration(matching);
                // Hosts have clocks of their own: any offset that the ends of collectives show is one.
                let scatter = self.clocks.iter().map(|clock| clock.residual).max().unwrap_or(0);
                let most = if several_hosts { SIGNIFICANT * scatter.max(RESOLUTION) } else { ONE_HOST };
                if self.spread <= most.min(usual / 10) && drift <= ONE_HOST as f64 {
                    (false, self.agreement_text())
                } else {
                    (true, format!("clocks differed by up to {spread} and were aligned"))
                }
            }
        }
    }

    /// Clocks that violate causality with any offset.
    fn acausal(&self) -> impl Iterator<Item = &RankClock> {
        self.clocks.iter().filter(|clock| clock.is_acausal())
    }

    /// Clocks that agree, except those that violate causality.
    fn agreement_text(&self) -> String {
        let out: Vec<u32> = self.acausal().map(|clock| clock.rank).collect();
        let whose = if out.len() == 1 { "whose clock is" } else { "whose clocks are" };
        let out_of_keeping = format!("{}, {whose} inconsistent with causality", human::ranks(&out));
        let causal = || self.clocks.iter().filter(|clock| !clock.is_acausal());
        let within = micro(spread(causal()));
        match (out.len(), causal().count()) {
            (0, _) => format!("clocks agree within {within}; recorded times are used"),
            (_, 0 | 1) => {
                format!("clock offsets of {out_of_keeping} are unknown; recorded times are used")
            }
            _ => format!("clocks agree within {within}, except on {out_of_keeping}; recorded times are used"),
        }
    }

    /// Shifts a member's trace to the common time.
    pub fn align_trace(&self, member: usize, trace: &mut RankTrace) {
        let Some(clock) = self.clocks.get(member).copied().filter(|_| self.applied) else { return };
        trace.gpu.map_times(|time| clock.common(time));
        trace.host.map_times(|time| clock.common(time));
    }

    /// Shifts a member's parts to the common time.
    pub fn align_parts(&self, member: usize, parts: &mut [Part]) {
        let Some(clock) = self.clocks.get(member).copied().filter(|_| self.applied) else { return };
        for part in parts {
            (part.start, part.end) = (clock.common(part.start), clock.common(part.end));
        }
    }

    /// Warnings about the clocks.
    pub fn warnings(&self) -> Vec<Warning> {
        let mut warnings = Vec::new();
        let first = self.clocks.first().map_or(0, |clock| clock.against);
        let apart: Vec<u32> =
            self.clocks.iter().filter(|clock| clock.against != first).map(|clock| clock.rank).collect();
        if !apart.is_empty() {
            let message = format!(
                "{} of {} ranks (first: {}) without a collective in common with rank {first}: their clock offsets are \
                 unknown",
                apart.len(),
                self.clocks.len(),
                apart[0]
            );
            warnings.push(Warning::new("clocks-not-tied", message));
        }
        let out: Vec<u32> = self.acausal().map(|clock| clock.rank).collect();
        if !out.is_empty() {
            let message = format!(
                "clocks of {} are inconsistent with causality: a collective ends before another rank enters \
                 it; matches near it may be wrong",
                human::ranks(&out)
            );
            warnings.push(Warning::new("clock-causality", message));
        }
        warnings
    }
}

impl Job {
    /// Shifts all traces to one clock, if required.
    pub fn align(&mut self, clocks: &Clocks) {
        for (at, member) in self.members.iter_mut().enumerate() {
            clocks.align_trace(at, &mut member.trace);
        }
    }
}

/// Tests whether the ranks may be on several hosts: two of them have different recorded hosts, or devices of
/// one number. Processes of one host that see one device each are included: to align them changes nothing but
/// errors of their device clocks.
fn on_several_hosts(job: &Job) -> bool {
    let identities = || job.members.iter().map(|member| &member.trace.identity);
    let hosts: BTreeSet<&str> = identities().filter_map(|identity| identity.host.as_deref()).collect();
    let devices: Vec<u32> = identities().filter_map(|identity| identity.device).collect();
    let different: BTreeSet<u32> = devices.iter().copied().collect();
    hosts.len() > 1 || different.len() < devices.len()
}

/// Largest offset between clocks, in nanoseconds.
fn spread<'c>(clocks: impl Iterator<Item = &'c RankClock> + Clone) -> i64 {
    let first = clocks.clone().next();
    let widest = |clock: &RankClock| {
        let tied = first.filter(|first| first.against == clock.against);
        let apart = tied.map_or(0, |first| (clock.offset - first.offset).abs());
        clock.offset.abs().max(apart)
    };
    clocks.map(widest).max().unwrap_or(0)
}

/// Mean duration of a matched part, in nanoseconds.
fn usual_duration(matching: &Matching) -> i64 {
    let (mut sum, mut count) = (0_i64, 0_i64);
    for collective in &matching.collectives {
        for &at in matching.members(collective) {
            sum = sum.saturating_add(matching.part(at).duration());
            count += 1;
        }
    }
    if count == 0 { 0 } else { sum / count }
}

/// Formats nanoseconds.
pub(crate) fn micro(time: i64) -> String {
    railwright_spec::human::seconds(railwright_spec::quantity::Seconds::new(time as f64 * 1e-9))
}

#[cfg(test)]
mod tests;
