//! Ranks whose compute is distributed differently, but is no longer than that of their peers.
//!
//! Responsible for: the check of slow chips and of more work by whole steps. Where collectives overlap
//! compute, kernels that one rank runs before a collective may run after it on another one: an interval with
//! more of them is not a delay of its own. Excludes ranks without peers, bounds, and causes other than
//! compute.

use super::cause::CauseClass;
use super::measured::Measured;
use super::verdict::{Kind, Named};
use crate::certainty::Certainty;
use railwright_spec::human;

/// Minimum share of the cost that the additional compute of a rank in whole steps must reach. A rank cannot
/// delay the others by more than its own excess; overlapped communication slows kernels on both sides, so
/// less than all of it is accepted.
const SUPPORTED: f64 = 0.4;

impl Measured<'_> {
    /// Reason against naming ranks because of their compute; `None` if whole steps support it.
    pub(super) fn shifted(&self, named: &Named) -> Option<String> {
        let by_compute =
            [CauseClass::SlowChip, CauseClass::MoreWork].iter().any(|class| named.cause == class.name());
        if named.kind != Kind::Rank || !by_compute || named.certainty != Certainty::Replayed {
            return None;
        }
        let members: Vec<usize> = named.ranks.iter().filter_map(|&rank| self.job.position(rank)).collect();
        let is_stage = |member: &usize| {
            self.mending
                .stages
                .iter()
                .any(|stage| stage.of_rank().is_some() && stage.members.contains(member))
        };
        if members.iter().any(is_stage) {
            return None;
        }
        let more: Option<Vec<f64>> =
            members.iter().map(|&member| self.additional_compute(member, &members)).collect();
        let more = more.filter(|more| !more.is_empty())?;
        let mean = more.iter().sum::<f64>() / more.len() as f64;
        let cost = named.cost_s * 1e9;
        (mean < SUPPORTED * cost).then(|| {
            format!(
                "the delays of {} ({} of the step) come from kernels at other positions in the step: over whole \
                steps, compute exceeds that of the peers by only {} of the step",
                human::ranks(&named.ranks),
                human::percent(self.share(cost)),
                human::percent(self.share(mean.max(0.0)))
            )
        })
    }

    /// Compute of a member beyond the upper median of its peers outside `named`, in nanoseconds per step;
    /// `None` without such a peer. Of two peers the longer one counts: the other may compute less because
    /// its kernels do not compete with communication.
    fn additional_compute(&self, member: usize, named: &[usize]) -> Option<f64> {
        let peers: Vec<usize> =
            self.stretches.peers_of(member).into_iter().filter(|peer| !named.contains(peer)).collect();
        let (mut sum, mut steps) = (0.0, 0_u32);
        for step in self.windows.steps.iter().filter(|step| step.holds(member)) {
            let of = |member: usize| {
                self.occupancies.get(member).map(|on| on.compute.within(step.start, step.end) as f64)
            };
            let mut others: Vec<f64> =
                peers.iter().filter(|&&peer| step.holds(peer)).filter_map(|&peer| of(peer)).collect();
            let Some(own) = of(member).filter(|_| !others.is_empty()) else { continue };
            others.sort_by(f64::total_cmp);
            sum += own - others.get(others.len() / 2).copied().unwrap_or(own);
            steps += 1;
        }
        (steps > 0).then(|| sum / f64::from(steps))
    }
}
