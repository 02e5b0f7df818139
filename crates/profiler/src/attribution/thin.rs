//! Ranks that are late too rarely for a verdict.
//!
//! Responsible for: delays that cost little and lie in fewer intervals than there are steps: they may be chance, and need not recur. Keeps
//! delays of every step, however short, and long ones, however rare.

use super::measured::Measured;
use super::verdict::{Kind, Named};
use railwright_spec::human;

/// Minimum share of a step for a delay that does not recur in every step.
const LEAST_SHARE: f64 = 0.01;

/// Share of the cost that the counted intervals cover.
const MOST: f64 = 0.75;

impl Measured<'_> {
    /// Removes ranks with thin evidence, and returns the reasons.
    pub(super) fn take_thin(&self, named: &mut Vec<Named>) -> Vec<String> {
        let mut reasons = Vec::new();
        named.retain(|one| match self.thin(one) {
            Some(reason) => {
                reasons.push(reason);
                false
            }
            None => true,
        });
        reasons
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
                "rank {rank} costs {} of the step, but most of it lies in {count} of its intervals in {:.0} steps: too few to name it",
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
