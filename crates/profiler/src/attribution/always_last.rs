//! Ranks that enter nearly all of their collectives last.
//!
//! Responsible for: an order that chance does not explain, as a reason against "no straggler". The order
//! alone names no rank: its delays may be shorter than the variation of its intervals, and their cost
//! uncertain.

use super::measured::Measured;
use super::report::Culprit;
use railwright_spec::human;
use railwright_spec::quantity::Seconds;

/// Minimum number of collectives entered last beyond half of all, in standard deviations of that number. Of
/// two equal ranks, each is last with probability 1/2: n collectives give n/2, with deviation sqrt(n)/2.
/// Chance exceeds three deviations for 1 of 740 ranks.
const DEVIATIONS: f64 = 3.0;

/// Tests whether a rank is last in too many collectives for chance.
fn is_systematic(last: u32, all: u32) -> bool {
    let beyond = f64::from(last) - f64::from(all) / 2.0;
    all > 0 && beyond >= DEVIATIONS * f64::from(all).sqrt() / 2.0
}

impl Measured<'_> {
    /// The costliest rank that enters nearly all collectives last and costs more than `noise` nanoseconds per
    /// step.
    pub(super) fn always_last(&self, culprits: &[Culprit], noise: f64) -> Option<String> {
        let matching = &self.joined.matching;
        let late = |culprit: &&Culprit| {
            let member = self.job.position(culprit.rank)?;
            let of = |number: &&u32| {
                let collective = &matching.collectives[**number as usize];
                let here = || matching.members(collective).iter().any(|part| part.member as usize == member);
                collective.complete && matching.communicator(collective).channel.is_none() && here()
            };
            let all = self.chains.order.iter().filter(of).count() as u32;
            is_systematic(culprit.last, all).then_some((culprit.cost, culprit.rank, culprit.last, all))
        };
        let candidates = culprits.iter().filter(|culprit| culprit.cost > noise);
        let found: Vec<_> = candidates.filter_map(|culprit| late(&culprit)).collect();
        let &(cost, rank, last, all) = found.iter().max_by(|a, b| a.0.total_cmp(&b.0))?;
        Some(format!(
            "rank {rank} enters {last} of {all} collectives last; if it were the cause, it would cost {} per step, but its delays vary too much to name it",
            human::seconds(Seconds::new(cost / 1e9))
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chance_explains_some_orders() {
        assert!(is_systematic(12, 12) && is_systematic(70, 100));
        assert!(!is_systematic(8, 8) && !is_systematic(60, 100) && !is_systematic(0, 0));
    }
}
