//! Peers whose hosts launch no faster than that of a late rank.
//!
//! Responsible for: the upper bound that launches of other ranks set on the saving of a rank with a late
//! host. Devices of ranks that wait for it show no idle time, even if their own hosts launch as slowly.
//! Excludes ranks without launches in the trace, and peers whose hosts wait for their devices meanwhile.

use super::cause::CauseClass;
use super::chain::What;
use super::measured::Measured;
use super::report::Culprit;
use super::verdict::Named;
use crate::causes::LATE_START;
use crate::launches::is_launch;
use crate::replay::lower_median;
use crate::windows::StepWindow;
use std::collections::BTreeMap;

/// Maximum number of peers whose launches are read, those with the least lead first.
const PEERS: usize = 8;

/// Minimum ratio of the launching time of a peer to that of the rank.
const ALIKE: f64 = 0.8;

/// Launches of one peer in a step, in nanoseconds.
#[derive(Clone, Debug, Default)]
struct Peer {
    /// First and last launch of the communications that it shares with the rank.
    calls: Option<(i64, i64)>,
    /// The same of the rank.
    of_rank: Option<(i64, i64)>,
    /// By communication that waits for the rank: time from the launch of the peer to the entry of the rank.
    leads: Vec<i64>,
}

/// Extends a range by a time.
fn extend(range: &mut Option<(i64, i64)>, time: i64) {
    let (first, last) = range.unwrap_or((time, time));
    *range = Some((first.min(time), last.max(time)));
}

impl Measured<'_> {
    /// Limits the costs of ranks with late hosts by the hosts of their peers. Removes those below `noise`, in
    /// nanoseconds per step.
    pub(super) fn limit(&self, culprits: &mut [Culprit], named: &mut Vec<Named>, noise: f64) {
        for culprit in culprits.iter_mut().filter(|one| one.cause == CauseClass::SlowHost) {
            let member = self.job.position(culprit.rank);
            let Some(most) = member.and_then(|member| self.ahead(member)) else { continue };
            let most = most as f64 / self.count;
            // Such a host is no slower than theirs: it began later.
            let is_alike = most < ALIKE * culprit.cost.max(culprit.at_most);
            culprit.cost = culprit.cost.min(most);
            culprit.at_most = culprit.at_most.min(most);
            culprit.share = self.share(culprit.cost);
            if is_alike {
                (culprit.cause, culprit.cause_name) = (CauseClass::Unknown, CauseClass::Unknown.name());
            }
            named.retain_mut(|one| {
                let is_own = one.ranks == [culprit.rank];
                one.cost_s = if is_own { one.cost_s.min(most / 1e9) } else { one.cost_s };
                one.cause = if is_own && is_alike { CauseClass::Unknown.name() } else { one.cause };
                !is_own || one.cost_s * 1e9 > noise
            });
        }
    }

    /// Upper bound in nanoseconds of all steps on the saving of a rank with a late host: in every step, the
    /// peer with the least lead among those that launch as slowly delays the job next. `None` without
    /// such a peer in a step.
    pub(super) fn ahead(&self, member: usize) -> Option<i64> {
        let steps = self.windows.steps.iter().filter(|step| step.holds(member));
        steps.map(|step| self.ahead_in(member, step)).sum()
    }

    fn ahead_in(&self, member: usize, step: &StepWindow) -> Option<i64> {
        let (chains, matching) = (self.chains, &self.joined.matching);
        let mut peers: BTreeMap<usize, Peer> = BTreeMap::new();
        let events = chains.events.get(member)?.iter();
        let within = |time: i64| time >= step.start && time < step.end;
        for event in events.filter(|event| event.what == What::Start && within(event.time)) {
            let part = event.part?;
            let own = matching.parts[member].get(part as usize)?;
            let called = chains.calls[member].get(part as usize).copied().flatten()?;
            let collective = matching.collectives.get(event.collective as usize)?;
            let is_last = chains.last_member.get(event.collective as usize) == Some(&(member as u32));
            for at in matching.members(collective).iter().filter(|at| at.member as usize != member) {
                let call = chains.calls[at.member as usize].get(at.part as usize).copied().flatten()?;
                let peer = peers.entry(at.member as usize).or_default();
                extend(&mut peer.calls, call);
                extend(&mut peer.of_rank, called);
                if is_last {
                    // The rank that enters last only transfers; recordings of one clock are compared.
                    peer.leads.push((matching.part(*at).end - own.duration() - call).max(0));
                }
            }
        }
        if peers.values().all(|peer| peer.leads.is_empty()) {
            return Some(0);
        }
        // The peer with the least lead among those alike decides.
        let lead = |(at, mut peer): (usize, Peer)| Some((lower_median(&mut peer.leads)?, at, peer));
        let mut leads: Vec<(i64, usize, Peer)> = peers.into_iter().filter_map(lead).collect();
        leads.sort_by_key(|(lead, at, _)| (*lead, *at));
        leads.into_iter().take(PEERS).find(|(_, at, peer)| self.is_alike(*at, peer)).map(|found| found.0)
    }

    /// Tests whether the host of a peer launches as long as that of the rank, without long pauses.
    fn is_alike(&self, member: usize, peer: &Peer) -> bool {
        let (Some((first, last)), Some(of_rank)) = (peer.calls, peer.of_rank) else { return false };
        let trace = &self.job.members[member].trace;
        let host = &trace.host;
        let launches: Vec<bool> = trace.names.iter().map(is_launch).collect();
        let mut previous = first;
        let mut pauses = 0;
        let mut at = host.starts().partition_point(|start| *start < first);
        while let Some(&start) = host.starts().get(at).filter(|start| **start <= last) {
            if launches.get(host.names()[at].0 as usize) == Some(&true) {
                pauses += if start - previous >= LATE_START { start - previous } else { 0 };
                previous = start;
            }
            at += 1;
        }
        pauses += if last - previous >= LATE_START { last - previous } else { 0 };
        let time = (last - first - pauses) as f64;
        time > 0.0 && time >= ALIKE * (of_rank.1 - of_rank.0) as f64
    }
}

#[cfg(test)]
mod tests {
    use crate::attribution::{StragglerReport, straggler_report};
    use crate::joined::JoinOptions;
    use crate::testing::Synthetic;

    fn report(launch: i64, slow: i64) -> StragglerReport {
        let plan = Synthetic { tensor: 1, data: 8, ..Synthetic::default() };
        let plan = Synthetic {
            slow_host: (0..8).map(|rank| (rank, if rank == 2 { slow } else { launch })).collect(),
            ..plan
        };
        straggler_report(&mut plan.job(), &JoinOptions::default())
    }

    /// If all hosts launch as slowly, the one that is last by a little costs a little: the next one is as
    /// slow.
    #[test]
    fn a_host_as_slow_as_all_others_costs_its_lead_alone() {
        let alone = report(5_000, 400_000);
        assert!(
            alone.culprits.iter().any(|one| one.ranks == [2] && one.cause == "slow host"),
            "{:?}",
            alone.culprits
        );
        let all = report(400_000, 404_000);
        let most = all.culprits.iter().map(|one| one.cost_s * 1e9).fold(0.0, f64::max);
        assert!(most < 0.05 * all.step_time, "{:?}", all.culprits);
    }
}
