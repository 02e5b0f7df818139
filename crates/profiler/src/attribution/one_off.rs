//! Delays of the first recorded step alone.
//!
//! Responsible for: ranks whose saving lies in the first recorded step, and the steps without it. Warm-up,
//! the start of the profiler and caches delay that step on any rank, so they are a one-off cost and no fault
//! of the rank. Kernels that take longer are no warm-up. A delay of few ranks may be a pause that happened to
//! fall on that step: without it, "no straggler" has no evidence. Does not judge the other steps.

use super::cause::CauseClass;
use super::event::Event;
use super::measured::Measured;
use super::mending::{Delay, Mending};
use super::report::{Culprit, StragglerReport};
use super::verdict::Verdict;
use crate::windows::Windows;
use railwright_spec::human;
use railwright_spec::problem::Warning;
use railwright_spec::quantity::Seconds;

/// Maximum share of a saving in later steps: one pause in a later step is as long as one in the first.
const LATER: f64 = 0.25;

/// Minimum share of the delay in the recorded time that excludes the verdict "no straggler".
const NOTABLE: f64 = 0.05;

/// Minimum ratio of the excess of most ranks in the first step to the largest one, for a warm-up of all
/// ranks.
const COMPARABLE: f64 = 1.0 / 3.0;

/// Ranks that delay the first recorded step.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct OneOff {
    ranks: Vec<u32>,
    /// Time saved in the first step without these delays, in nanoseconds.
    cost: i64,
    /// True if it may be a pause: the delay is a notable share of the recorded time, and most ranks have
    /// none in that step.
    is_doubtful: bool,
}

impl OneOff {
    /// Tests whether the steps without the first one show the same delay: it crosses the border between them.
    pub(super) fn persists(&self, later: &StragglerReport) -> bool {
        let of_these =
            later.culprits.iter().filter(|named| named.ranks.iter().any(|rank| self.ranks.contains(rank)));
        let cost = of_these.map(|named| named.cost_s).sum::<f64>() * 1e9 * f64::from(later.steps);
        2.0 * cost >= self.cost as f64
    }

    /// The delay of the excluded `step`, and its effect on the report of the later steps: they are no
    /// evidence against a pause in that step.
    pub(super) fn note(&self, step: &str, later: &mut StragglerReport) -> Warning {
        let delay = format!(
            "{} delayed step {step}, the first recorded one, by {}, and hardly any later step",
            human::ranks(&self.ranks),
            human::seconds(Seconds::new(self.cost as f64 * 1e-9)),
        );
        if self.is_doubtful && later.verdict == Verdict::None {
            later.verdict = Verdict::CannotTell;
            later.reasons.push(format!(
                "{delay}: warm-up, or a pause that may recur; record more steps after a warm-up step"
            ));
        }
        Warning::new("steps-before-steady-state", format!("{delay}: it is excluded as warm-up"))
    }
}

impl Measured<'_> {
    /// The found ranks whose saving lies in the first step, among `found` delays with their savings. Savings
    /// of at most `least` nanoseconds do not count, nor do slow chips. `None` without such ranks, or
    /// without a later step.
    pub(super) fn one_off(
        &self,
        found: &[(Vec<Delay>, i64)],
        culprits: &[Culprit],
        least: i64,
    ) -> Option<OneOff> {
        let second = self.windows.steps.get(1)?.start;
        let usual: Vec<Vec<i64>> = (self.mending.usual.iter().zip(&self.chains.events))
            .map(|(usual, events)| {
                let later = |(usual, event): (&i64, &Event)| {
                    if event.time < second { event.own } else { *usual }
                };
                usual.iter().zip(events).map(later).collect()
            })
            .collect();
        let later = Mending { usual: &usual, ..*self.mending };
        let mut removed: Vec<Delay> = Vec::new();
        let mut span = self.base;
        let mut one_off = OneOff { ranks: Vec::new(), cost: 0, is_doubtful: false };
        let is_chip = |member: &usize| {
            let rank = self.job.members[*member].rank;
            culprits.iter().any(|one| one.rank == rank && one.cause == CauseClass::SlowChip)
        };
        for (delays, saving) in found {
            removed.extend(delays);
            let before = std::mem::replace(&mut span, later.span(&removed));
            let members: Vec<usize> = (delays.iter())
                .filter_map(|delay| if let Delay::Member(member) = delay { Some(*member) } else { None })
                .collect();
            let rest = (before - span).max(0);
            let may_warm_up = members.len() == delays.len() && !members.iter().any(is_chip);
            if may_warm_up && rest <= least.max((*saving as f64 * LATER) as i64) {
                one_off.ranks.extend(members.iter().map(|&member| self.job.members[member].rank));
                one_off.cost += saving - rest;
            }
        }
        one_off.ranks.sort_unstable();
        let is_notable = one_off.cost as f64 > NOTABLE * self.base as f64;
        one_off.is_doubtful = is_notable && !self.all_warm_up(second);
        (!one_off.ranks.is_empty()).then_some(one_off)
    }

    /// Tests whether most ranks have a comparable excess of own time in the steps before `second` over their
    /// later steps.
    fn all_warm_up(&self, second: i64) -> bool {
        let later = (self.windows.steps.len() as f64 - 1.0).max(1.0);
        let excess: Vec<f64> = (self.chains.events.iter())
            .map(|events| {
                let (first, rest) = events.split_at(events.partition_point(|event| event.time < second));
                let own = |events: &[Event]| events.iter().map(|event| event.own).sum::<i64>() as f64;
                own(first) - own(rest) / later
            })
            .collect();
        let most = excess.iter().copied().fold(0.0, f64::max);
        most > 0.0 && 2 * excess.iter().filter(|&&excess| excess >= COMPARABLE * most).count() > excess.len()
    }
}

/// The windows without their first step, which becomes warm-up.
pub(super) fn without_first(windows: &Windows) -> Windows {
    let mut later = windows.clone();
    later.warm_up.extend(later.steps.drain(..1));
    later
}

#[cfg(test)]
mod tests {
    use crate::attribution::{StragglerReport, Verdict, straggler_report};
    use crate::joined::JoinOptions;
    use crate::testing::Synthetic;

    fn report(plan: Synthetic) -> StragglerReport {
        straggler_report(&mut Synthetic { data: 4, ..plan }.job(), &JoinOptions::default())
    }

    /// Different delays of several ranks, from a fifth of the step to several steps. Those of few ranks that
    /// cost a notable part of the recorded time may be pauses.
    #[test]
    fn delays_of_the_first_step_are_nobodys_fault() {
        let few = [(1, 3), (4, 5), (6, 4)].as_slice();
        let most: Vec<(u32, i64)> = (0..8).map(|rank| (rank, if rank == 4 { 23 } else { 10 })).collect();
        // A first step far above the others is excluded before.
        for (ranks, scale, verdict) in [
            (few, 1, Verdict::None),
            (few, 4, Verdict::CannotTell),
            (few, 100, Verdict::None),
            (most.as_slice(), 1, Verdict::None),
        ] {
            let stalls = ranks.iter().map(|&(rank, time)| (rank, 0, time * scale * 200_000)).collect();
            let report = report(Synthetic { stalls, ..Synthetic::default() });
            assert!(report.culprits.is_empty(), "{scale}: {:?}", report.culprits);
            assert_eq!(report.verdict, verdict, "{scale}: {:?}", report.reasons);
            assert_eq!(
                report.reasons.iter().any(|reason| reason.contains("may recur")),
                verdict != Verdict::None
            );
            let warned = report.warnings.iter().any(|warning| warning.message.contains("as warm-up"));
            assert!(warned || ranks.len() > few.len(), "{scale}: {:?}", report.warnings);
        }
    }

    /// Kernels of the first step take longer on one rank: no warm-up.
    #[test]
    fn kernels_that_are_long_in_the_first_step_are_no_warm_up() {
        let report =
            report(Synthetic { slow_chip: vec![(5, 1.5)], slow_chip_steps: vec![0], ..Synthetic::default() });
        assert_eq!(report.verdict, Verdict::Straggler, "{:?}", report.reasons);
        assert_eq!(report.culprits[0].ranks, [5], "{:?}", report.culprits);
    }

    #[test]
    fn a_slow_rank_is_named_at_its_cost_in_later_steps() {
        let slow = Synthetic { slow_chip: vec![(5, 1.2)], steps: 6, ..Synthetic::default() };
        let cost = |plan: Synthetic| {
            let report = report(plan);
            let [named] = report.culprits.as_slice() else { panic!("{:?}", report.culprits) };
            assert_eq!(named.ranks, [5]);
            named.cost_s
        };
        let steady = cost(slow.clone());
        let warm = cost(Synthetic { stalls: vec![(2, 0, 4_000_000)], ..slow });
        assert!((warm / steady - 1.0).abs() < 0.1, "{warm} {steady}");
    }
}
