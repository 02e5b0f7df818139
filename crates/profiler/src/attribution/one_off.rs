//! Delays of the first recorded step alone.
//!
//! Responsible for: ranks whose saving lies in the first recorded step, and the steps without it. Warm-up, the start of the profiler and
//! caches delay that step on any rank, so they are a one-off cost and no fault of the rank. Does not judge the other steps.

use super::measured::Measured;
use super::mending::{Delay, Mending};
use super::report::StragglerReport;
use crate::windows::Windows;
use railwright_spec::human;
use railwright_spec::problem::Warning;
use railwright_spec::quantity::Seconds;

/// Maximum share of a saving in later steps: one pause in a later step is as long as one in the first.
const LATER: f64 = 0.25;

/// Ranks that delay the first recorded step.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct OneOff {
    ranks: Vec<u32>,
    /// Time saved in the first step without these delays, in nanoseconds.
    cost: i64,
}

impl OneOff {
    /// Tests whether the steps without the first one show the same delay: it crosses the border between them.
    pub(super) fn persists(&self, later: &StragglerReport) -> bool {
        let of_these =
            later.culprits.iter().filter(|named| named.ranks.iter().any(|rank| self.ranks.contains(rank)));
        let cost = of_these.map(|named| named.cost_s).sum::<f64>() * 1e9 * f64::from(later.steps);
        2.0 * cost >= self.cost as f64
    }

    pub(super) fn warning(&self, step: &str) -> Warning {
        Warning::new(
            "steps-before-steady-state",
            format!(
                "{} caused a delay of {} in step {step}, the first recorded one, and hardly any later: step {step} is excluded as \
                 warm-up (one-off cost)",
                human::ranks(&self.ranks),
                human::seconds(Seconds::new(self.cost as f64 * 1e-9)),
            ),
        )
    }
}

impl Measured<'_> {
    /// The found ranks whose saving lies in the first step, among `found` delays with their savings. Savings of at most `least` nanoseconds
    /// do not count. `None` without such ranks, or without a later step.
    pub(super) fn one_off(&self, found: &[(Vec<Delay>, i64)], least: i64) -> Option<OneOff> {
        let second = self.windows.steps.get(1)?.start;
        let usual: Vec<Vec<i64>> = (self.mending.usual.iter().zip(&self.chains.events))
            .map(|(usual, events)| {
                let later = |(usual, event): (&i64, &super::chain::Event)| {
                    if event.time < second { event.own } else { *usual }
                };
                usual.iter().zip(events).map(later).collect()
            })
            .collect();
        let later = Mending { usual: &usual, ..*self.mending };
        let mut removed: Vec<Delay> = Vec::new();
        let mut span = self.base;
        let mut one_off = OneOff { ranks: Vec::new(), cost: 0 };
        for (delays, saving) in found {
            removed.extend(delays);
            let before = std::mem::replace(&mut span, later.span(&removed));
            let members: Vec<usize> = (delays.iter())
                .filter_map(|delay| if let Delay::Member(member) = delay { Some(*member) } else { None })
                .collect();
            let rest = (before - span).max(0);
            if members.len() == delays.len() && rest <= least.max((*saving as f64 * LATER) as i64) {
                one_off.ranks.extend(members.iter().map(|&member| self.job.members[member].rank));
                one_off.cost += saving - rest;
            }
        }
        one_off.ranks.sort_unstable();
        (!one_off.ranks.is_empty()).then_some(one_off)
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
        let plan = Synthetic { data: 4, steps: 6, ..plan };
        straggler_report(&mut plan.job(), &JoinOptions::default())
    }

    /// Different delays of several ranks, from a fifth of the step to several steps.
    #[test]
    fn delays_of_the_first_step_are_nobodys_fault() {
        for scale in [2, 10, 100] {
            let stalls: Vec<(u32, u32, i64)> =
                [(1, 3), (4, 5), (6, 4)].map(|(rank, time)| (rank, 0, time * scale * 200_000)).to_vec();
            let report = report(Synthetic { stalls, ..Synthetic::default() });
            assert_eq!(report.verdict, Verdict::None, "{scale}: {:?}", report.culprits);
            let warned = report.warnings.iter().any(|warning| warning.message.contains("one-off cost"));
            assert!(warned, "{scale}: {:?}", report.warnings);
        }
    }

    #[test]
    fn a_slow_rank_is_named_at_its_cost_in_later_steps() {
        let slow = Synthetic { slow_chip: vec![(5, 1.2)], ..Synthetic::default() };
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
