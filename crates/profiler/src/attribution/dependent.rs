//! Delays that hide each other.
//!
//! Responsible for: joining ranks whose prices depend on each other into one set: without the first one,
//! which saves little alone, the second saves little, too. Does not search for such ranks: see `mending`.

use super::measured::Measured;
use super::mending::Delay;
use super::thin::LEAST_SHARE;

impl Measured<'_> {
    /// Joins delays in the order of their replays, with their savings in nanoseconds of all steps.
    pub(super) fn join_dependent(&self, mut found: Vec<(Vec<Delay>, i64)>) -> Vec<(Vec<Delay>, i64)> {
        let mut first = 0;
        while first < found.len() {
            match self.dependent(&found, first) {
                Some(second) => {
                    let (delays, saving) = found.remove(first);
                    let of_second = &mut found[second - 1];
                    of_second.0.splice(0..0, delays);
                    of_second.1 += saving;
                }
                None => first += 1,
            }
        }
        found
    }

    /// Index of the first later delay that saves less than half as much without this one.
    fn dependent(&self, found: &[(Vec<Delay>, i64)], first: usize) -> Option<usize> {
        let is_rank = |delays: &[Delay]| delays.iter().all(|delay| matches!(delay, Delay::Member(_)));
        let (delays, saving) = found.get(first)?;
        if !is_rank(delays) || self.share(*saving as f64 / self.count) >= LEAST_SHARE {
            return None;
        }
        ((first + 1)..found.len()).filter(|&second| is_rank(&found[second].0)).find(|&second| {
            let before = found[..second].iter().enumerate().filter(|(at, _)| *at != first);
            let mut others: Vec<Delay> = before.flat_map(|(_, found)| found.0.clone()).collect();
            let span = self.mending.span(&others);
            others.extend(&found[second].0);
            2 * (span - self.mending.span(&others)) < found[second].1
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::attribution::{Verdict, straggler_report};
    use crate::joined::JoinOptions;
    use crate::testing::Synthetic;

    /// The two ranks of a tensor-parallel group are almost equally slow.
    #[test]
    fn two_slow_ranks_that_hide_each_other_are_a_set() {
        let plan = Synthetic { data: 4, jitter: 2, ..Synthetic::default() };
        let of = |slow_chip: Vec<(u32, f64)>| {
            straggler_report(&mut Synthetic { slow_chip, ..plan.clone() }.job(), &JoinOptions::default())
        };
        let report = of(vec![(4, 1.10), (5, 1.108)]);
        assert_eq!(report.verdict, Verdict::Straggler, "{:?}", report.reasons);
        let [named] = report.culprits.as_slice() else { panic!("{:?}", report.culprits) };
        assert_eq!(named.ranks, [4, 5]);
        let truth = (report.step_time - of(Vec::new()).step_time) * 1e-9;
        assert!((named.cost_s / truth - 1.0).abs() < 0.1, "{} {truth}", named.cost_s);
    }
}
