//! Ranks that are late too rarely for a verdict.
//!
//! Responsible for: delays that cost little and lie in fewer intervals than there are steps: they may be
//! chance, and need not recur. Keeps delays of every step, however short, and long ones, however rare. Ranks
//! that compute no longer than their peers are removed as well ([`super::shifted`]).

use super::measured::Measured;
use super::mending::Delay;
use super::stages::SlowStage;
use super::verdict::{Kind, Named};
use crate::certainty::Certainty;
use railwright_spec::human;

/// Minimum share of a step for a delay that does not recur in every step.
pub(super) const LEAST_SHARE: f64 = 0.01;

/// Share of the cost that the counted intervals cover.
const MOST: f64 = 0.75;

impl Measured<'_> {
    /// Removes ranks with thin evidence, and returns the reasons. Prices of the others are those without the
    /// removed ones.
    pub(super) fn take_thin(&self, named: &mut Vec<Named>) -> Vec<String> {
        let mut reasons = Vec::new();
        let count = named.len();
        named.retain(|one| match self.thin(one).or_else(|| self.shifted(one)) {
            Some(reason) => {
                reasons.push(reason);
                false
            }
            None => true,
        });
        if named.len() < count {
            self.price(named);
        }
        reasons
    }

    /// Prices ranks again by replay in their order, if only ranks are named. Bounds do not depend on the
    /// order.
    fn price(&self, named: &mut [Named]) {
        let is_replayed = |one: &Named| one.kind == Kind::Rank && one.certainty == Certainty::Replayed;
        if !named.iter().all(is_replayed) {
            return;
        }
        let mut removed: Vec<Delay> = Vec::new();
        let mut span = self.base;
        for one in named {
            let members: Vec<usize> = one.ranks.iter().filter_map(|&rank| self.job.position(rank)).collect();
            let stages = self.mending.stages.iter().enumerate();
            let of_rank =
                |(_, stage): &(usize, &SlowStage)| stage.of_rank().is_some() && stage.members == members;
            // A rank without peers is named by its stage.
            let stage = stages.filter(of_rank).map(|(at, _)| Delay::Stage(at)).next();
            removed.extend(members.into_iter().map(Delay::Member).chain(stage));
            let before = std::mem::replace(&mut span, self.mending.span(&removed));
            one.cost_s = (before - span).max(0) as f64 / self.count / 1e9;
        }
    }

    /// Reason against naming a rank; `None` with sufficient evidence, and for causes other than a rank.
    fn thin(&self, named: &Named) -> Option<String> {
        let cost = named.cost_s * 1e9;
        let [rank] = *named.ranks.as_slice() else { return None };
        if named.kind != Kind::Rank || self.share(cost) >= LEAST_SHARE {
            return None;
        }
        let list = self.stretches.lists.get(self.job.position(rank)?)?;
        let mut excess: Vec<i64> = list.iter().map(|stretch| stretch.own - stretch.usual).collect();
        excess.sort_unstable_by_key(|&excess| std::cmp::Reverse(excess));
        let mut left = MOST * cost * self.count;
        let mut count = 0_u32;
        for excess in excess.into_iter().take_while(|&excess| excess > 0) {
            if left <= 0.0 {
                break;
            }
            left -= excess as f64;
            count += 1;
        }
        // A rank that is named by its stage has no such intervals.
        (left <= 0.0 && f64::from(count) < MOST * self.count.round()).then(|| {
            format!(
                "the delays of rank {rank} cost {} of the step, mostly in {count} intervals of {:.0} steps: too few for a straggler",
                human::percent(self.share(cost)),
                self.count
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::attribution::{Verdict, straggler_report};
    use crate::joined::JoinOptions;
    use crate::testing::Synthetic;

    #[test]
    fn rare_delays_below_one_percent_name_no_rank() {
        let of = |stalls: Vec<(u32, u32, i64)>| {
            let plan = Synthetic { data: 4, steps: 6, jitter: 5, stalls, ..Synthetic::default() };
            straggler_report(&mut plan.job(), &JoinOptions::default())
        };
        // Two of six steps, together 0.8% of the steps.
        let rare = of(vec![(3, 2, 280_000), (3, 4, 280_000)]);
        assert_eq!(rare.verdict, Verdict::CannotTell, "{:?}", rare.culprits);
        assert!(rare.reasons.iter().any(|reason| reason.contains("too few")), "{:?}", rare.reasons);
        // As much in total, but in every step; and rare, but long.
        for stalls in
            [(1..6).map(|step| (3, step, 95_000)).chain([(3, 0, 95_000)]).collect(), vec![(3, 2, 2_000_000)]]
        {
            let report = of(stalls);
            let ranks: Vec<&[u32]> = report.culprits.iter().map(|one| one.ranks.as_slice()).collect();
            assert_eq!(
                (report.verdict, ranks),
                (Verdict::Straggler, vec![&[3_u32][..]]),
                "{:?}",
                report.reasons
            );
        }
    }
}
