//! Report of the stragglers of a job.
//!
//! Responsible for: the value that the `stragglers` command prints: cost of every rank per step by replay,
//! ranks above the noise, their causes and times. Excludes ranks whose effect is below the noise of the
//! steps.

use super::blame::CausedWaits;
use super::cause::{CauseClass, Evidence};
use super::links::SlowGroup;
use super::verdict::{LEADING, Lacking, MOST_OFF, Named, Verdict};
use crate::certainty::Certainty;
use crate::clocks::Clocks;
use crate::telemetry::Health;
use railwright_spec::human;
use railwright_spec::problem::Warning;
use railwright_step::CollectiveKind;
use serde::Serialize;

/// A straggler: a rank that delays others.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Culprit {
    /// The rank.
    pub rank: u32,
    /// Its host, if recorded.
    pub host: Option<String>,
    /// Step time saved if it ran like the median of its peers, in nanoseconds. Equals the upper bound
    /// `at_most` if ranks were not traced.
    #[serde(rename = "cost_ns")]
    pub cost: f64,
    /// Certainty of the cost.
    pub certainty: Certainty,
    /// Cost as a share of the step (0 to 1).
    pub share: f64,
    /// Upper bound, in nanoseconds: excess of its intervals over its peers, summed over a step. Valid for
    /// any behaviour of untraced ranks.
    #[serde(rename = "at_most_ns")]
    pub at_most: f64,
    /// True if the verdict names it.
    pub is_straggler: bool,
    /// Waits of all ranks caused by it, per step, in nanoseconds.
    #[serde(rename = "waits_ns")]
    pub waits: f64,
    /// Share of all waits (0 to 1).
    pub waits_share: f64,
    /// Time between its entry as the last rank of collectives and the entry before it, per step, in
    /// nanoseconds.
    #[serde(rename = "lateness_ns")]
    pub lateness: f64,
    /// Number of collectives that it entered last: for comparison only.
    pub last: u32,
    /// The class of the cause.
    pub cause: CauseClass,
    /// Name of the cause. That of a slow host is its activity in most of its longest delays, if recorded
    /// (`data loading`). A rank without a device has a slow processor, not a slow chip.
    pub cause_name: &'static str,
    /// Three numbers as evidence of the cause.
    pub evidence: Vec<Evidence>,
    /// Intervals with the largest waits, the worst first.
    pub moments: Vec<Moment>,
}

/// An interval of a rank that others waited for.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Moment {
    /// Step, if steps have numbers.
    pub step: Option<u32>,
    /// Start time, in nanoseconds since the steps began.
    #[serde(rename = "start_ns")]
    pub start: i64,
    /// Duration on the rank in nanoseconds.
    #[serde(rename = "own_ns")]
    pub own: i64,
    /// Excess over its peers, in nanoseconds.
    #[serde(rename = "excess_ns")]
    pub excess: i64,
    /// Waits charged to it, in nanoseconds.
    #[serde(rename = "waits_ns")]
    pub waits: f64,
    /// The late operation.
    pub before: Option<CollectiveKind>,
    /// The innermost annotation around at least half of the delay, at its end.
    pub annotation: Option<String>,
}

/// Straggler report.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StragglerReport {
    /// Readings of device and network-card counters per rank, if recorded with the traces.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub health: Option<Health>,
    /// Kind of the delay, none, or inconclusive.
    pub verdict: Verdict,
    /// Reasons for an inconclusive verdict.
    pub reasons: Vec<String>,
    /// Missing input, if inconclusive.
    #[serde(skip)]
    pub lacking: Lacking,
    /// True if many ranks delay each other in turn, so that no rank is an exception.
    pub in_turn: bool,
    /// Stragglers, largest cost first; empty if inconclusive.
    pub culprits: Vec<Named>,
    /// Ranks that were traced.
    pub ranks_traced: u32,
    /// Ranks of the job.
    pub world_size: u32,
    /// True if the world size is recorded. Otherwise it is a lower bound.
    pub world_size_known: bool,
    /// Number of analysed steps; 1 without step marks.
    pub steps: u32,
    /// The analysed steps, such as `steps 10-12`; `the whole recording` without steps.
    pub steps_covered: String,
    /// The mean step by replay, in nanoseconds: that of the other reports, except for the replay error.
    #[serde(rename = "step_time_ns")]
    pub step_time: f64,
    /// Step time with all ranks at the median speed of their peers, and slow links and stages at that of the
    /// others.
    #[serde(rename = "step_time_without_ns")]
    pub step_time_without: f64,
    /// Minimum reported cost, in nanoseconds per step. The largest of: the variation between steps (at most
    /// 5% of a step), 0.5% of a step, and the replay error.
    #[serde(rename = "noise_ns")]
    pub noise: f64,
    /// Replay error as a share of the steps.
    pub replay_error: f64,
    /// Step time that evident delays beyond the named ones cost, in nanoseconds: ranks that delay each other
    /// in turn, or stages that are somewhat longer than the others. 0 below the noise, and without a
    /// verdict.
    #[serde(rename = "unexplained_ns")]
    pub unexplained: f64,
    /// Reason why costs are upper bounds ("at most"): untraced ranks may have absorbed them. `None` if all
    /// were traced.
    pub bounds_only: Option<String>,
    /// Waits of all ranks per step, in nanoseconds, summed over ranks.
    #[serde(rename = "waits_ns")]
    pub waits: f64,
    /// Idle share of a device during a typical step (0 to 1), mean over the ranks.
    pub idle: f64,
    /// True if no rank has a device. Host compute then replaces device compute, and time outside operators
    /// counts as idle time.
    pub from_host: bool,
    /// True if hosts, not ranks, limit the job: every device is idle longer than it computes, excluding
    /// waits for other ranks.
    pub host_bound: bool,
    /// Ranks by cost. Those named by the verdict are stragglers; there may be none.
    pub ranks: Vec<Culprit>,
    /// Start of the steps, in nanoseconds: the origin of all moments.
    #[serde(skip)]
    pub origin: i64,
    /// Every wait and its root, in order of time.
    #[serde(skip)]
    pub charged: Vec<CausedWaits>,
    /// Groups with slow transfers.
    pub slow_groups: Vec<SlowGroup>,
    /// Ranks of every stage with longer compute than the others, even if it may be so by design, for any
    /// verdict.
    #[serde(skip)]
    pub slow_stages: Vec<Vec<u32>>,
    /// Clock alignment.
    pub clocks: Clocks,
    /// Warnings.
    pub warnings: Vec<Warning>,
}

impl StragglerReport {
    /// Ranks that the verdict names.
    pub fn stragglers(&self) -> impl Iterator<Item = &Culprit> {
        self.ranks.iter().filter(|culprit| culprit.is_straggler)
    }

    /// The rank that causes most waits of an inconclusive report, whatever they cost. `None` if ranks are
    /// late in turn, or if the recording does not show which one is.
    pub fn leading(&self) -> Option<&Culprit> {
        let is_known = self.verdict == Verdict::CannotTell
            && !self.in_turn
            && self.lacking == Lacking::Steps
            && self.bounds_only.is_none()
            && self.replay_error.abs() <= MOST_OFF;
        let most = self.ranks.iter().max_by(|a, b| a.waits.total_cmp(&b.waits).then(b.rank.cmp(&a.rank)));
        most.filter(|rank| is_known && rank.waits_share >= LEADING)
    }

    /// Headline of an inconclusive report.
    pub fn inconclusive(&self) -> String {
        match self.leading() {
            Some(one) => {
                let share = human::percent(one.waits_share);
                format!("inconclusive: rank {} causes {share} of the waits", one.rank)
            }
            None => "inconclusive: the delaying rank is unknown".to_owned(),
        }
    }

    /// Time per step, in nanoseconds, of delays that are neither named nor evident, if they exceed the
    /// reporting threshold together.
    pub fn below_threshold(&self) -> Option<f64> {
        let rest = self.step_time - self.step_time_without - self.joint() - self.unexplained;
        let is_known = self.bounds_only.is_none() && self.verdict != Verdict::CannotTell;
        (is_known && rest > self.noise).then_some(rest)
    }

    /// Step time saved without all named delays, in nanoseconds.
    pub fn joint(&self) -> f64 {
        self.culprits.iter().map(|named| named.cost_s * 1e9).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attribution::straggler_report;
    use crate::joined::JoinOptions;
    use crate::testing::Synthetic;

    #[test]
    fn the_rank_with_most_waits_is_known_although_its_cost_is_not() {
        let plan = Synthetic::default();
        let mut report = straggler_report(&mut plan.job(), &JoinOptions::default());
        (report.verdict, report.lacking, report.in_turn) = (Verdict::CannotTell, Lacking::Steps, false);
        report.ranks.iter_mut().for_each(|one| (one.waits, one.waits_share) = (1e6, 0.05));
        (report.ranks[1].waits, report.ranks[1].waits_share) = (9e6, 0.8);
        let rank = report.ranks[1].rank;
        let leading = |report: &StragglerReport| report.leading().map(|one| one.rank);
        assert_eq!(leading(&report), Some(rank));
        for of in [
            StragglerReport { in_turn: true, ..report.clone() },
            StragglerReport { lacking: Lacking::Groups, ..report.clone() },
            StragglerReport { replay_error: 0.1, ..report.clone() },
            StragglerReport { verdict: Verdict::None, ..report.clone() },
        ] {
            assert_eq!(leading(&of), None, "{of:?}");
        }
        report.ranks[1].waits_share = 0.5;
        assert_eq!(leading(&report), None);
    }
}
