//! Names of the delays that the verdict reports.
//!
//! Responsible for: delays that slow the job down, as ranks, groups and stages with cause and cost; and
//! unequal work instead of ranks that are late in turn. Excludes ranks without an excess of their own.

use super::cause::CauseClass;
use super::lengths;
use super::lengths::Work;
use super::measured::Measured;
use super::mending::{Delay, Mending};
use super::replay::Unrecorded;
use super::report::Culprit;
use super::uneven;
use super::verdict::{Kind, Named};
use crate::certainty::Certainty;
use crate::replay::lower_median;
use crate::workers::Workers;
use std::collections::BTreeSet;

/// Minimum ratio of a rank's excess in a typical step to that of the typical rank, for a rank with more work
/// of its own.
const FAR: i64 = 2;

/// Delays, and their saving in nanoseconds of all steps once the previous ones are removed.
pub(super) type Found = (Vec<Delay>, i64);

impl Measured<'_> {
    /// Delays with savings above `least` nanoseconds, among these members, all links and all stages.
    pub(super) fn found(&self, order: &[usize], least: i64) -> Vec<Found> {
        let mending = self.mending;
        let delays: Vec<Delay> = (order.iter().copied().map(Delay::Member))
            .chain((0..mending.links.len()).map(Delay::Link))
            .chain((0..mending.stages.len()).map(Delay::Stage))
            .collect();
        let mut found = mending.joined(mending.name(&delays, least), self.excess, least);
        if found.is_empty() && self.joined.ranks_missing {
            found = without_waits_for_unrecorded(mending, self.base, &delays, least);
        }
        found
    }

    /// Delays as ranks, groups and stages. With `bounded`, costs are upper bounds.
    pub(super) fn named(&self, found: &[Found], culprits: &[Culprit], bounded: bool) -> Vec<Named> {
        found.iter().map(|(delays, cost)| self.name(delays, *cost, culprits, bounded)).collect()
    }

    fn name(&self, delays: &[Delay], cost: i64, culprits: &[Culprit], bounded: bool) -> Named {
        let per_step = |cost: i64| cost as f64 / self.count / 1e9;
        let members: Vec<usize> = (delays.iter())
            .filter_map(|delay| if let Delay::Member(member) = delay { Some(*member) } else { None })
            .collect();
        let mut cost_s = per_step(cost);
        if bounded {
            // Upper bounds are valid for any behaviour of untraced ranks.
            cost_s = cost_s.max(members.iter().map(|&member| self.at_most(member) / 1e9).sum());
        }
        let certainty = Certainty::bounded(bounded);
        let of = |kind: Kind, ranks: Vec<u32>, cause: &'static str| Named {
            kind,
            ranks,
            stage: None,
            cause,
            cost_s,
            certainty,
        };
        match *delays {
            [Delay::Link(at)] => {
                let matching = &self.joined.matching;
                let communicators = self.mending.links[at].communicators.iter();
                let members = communicators.flat_map(|&id| &matching.communicators[id as usize].members);
                let members: BTreeSet<usize> = members.map(|m| m.member as usize).collect();
                of(Kind::Group, self.ranks_of(members), CauseClass::SlowLink.name())
            }
            [Delay::Stage(at)] => {
                let stage = &self.mending.stages[at];
                let ranks = self.ranks_of(stage.members.iter().copied());
                if stage.of_rank().is_some() {
                    of(Kind::Rank, ranks, stage.cause)
                } else if stage.is_of_hosts() {
                    Named { stage: Some(stage.stage), ..of(Kind::Rank, ranks, stage.cause) }
                } else {
                    Named { stage: Some(stage.stage), ..of(Kind::Stage, ranks, stage.cause) }
                }
            }
            _ => {
                let ranks = self.ranks_of(members);
                let first = culprits.iter().find(|one| ranks.contains(&one.rank));
                of(Kind::Rank, ranks, first.map_or(CauseClass::Unknown.name(), |one| one.cause_name))
            }
        }
    }

    /// Unequal work of all ranks instead of ranks with more of it. `without` is the time of the steps with
    /// all ranks like their peers.
    pub(super) fn of_work(
        &self,
        named: &[Named],
        without: i64,
        bounded: bool,
        workers: &impl Workers,
    ) -> Option<Named> {
        let (job, names) = (self.job, self.names);
        let members = |one: &Named| -> Vec<usize> {
            one.ranks
                .iter()
                .filter_map(|rank| job.members.iter().position(|member| member.rank == *rank))
                .collect()
        };
        let is_more = |one: &Named| {
            one.kind == Kind::Rank
                && [CauseClass::SlowChip, CauseClass::MoreWork].iter().any(|class| one.cause == class.name())
        };
        // A rank with longer attention only has longer sequences. One that has them in most steps, like an
        // expert with more tokens, is an exception: its share of the data is.
        let is_of = |work: Work, one: &Named| {
            members(one)
                .into_iter()
                .all(|member| uneven::is_of(work, job, names, member, self.stretches) && !self.recurs(member))
        };
        // The variation between steps is not a threshold here: unequal work causes it.
        if self.base <= without || !named.iter().all(is_more) {
            return None;
        }
        Work::ALL.into_iter().filter(|work| named.iter().all(|one| is_of(*work, one))).find_map(|work| {
            let cost = lengths::cost(work, job, names, (self.chains, self.joined), self.base, workers)?;
            let chunks = (work == Work::Lengths)
                .then(|| lengths::longer_chunks(job, names, (self.chains, self.joined), workers))
                .flatten();
            let (work, members) = match chunks {
                Some(longer) => (Work::Chunks, longer),
                None => (work, (0..job.members.len()).collect()),
            };
            Some(Named {
                kind: Kind::Group,
                ranks: self.ranks_of(members),
                stage: None,
                cause: work.cause(),
                cost_s: cost as f64 / self.count / 1e9,
                certainty: Certainty::bounded(bounded),
            })
        })
    }

    /// Tests whether a member exceeds its peers in most steps by at least half of its largest excess in a
    /// step, and the typical rank far less: where loads move, every rank has more work than its peers
    /// somewhere in each step.
    fn recurs(&self, member: usize) -> bool {
        let mut own = self.excess_by_step(member);
        let most = own.iter().copied().max().unwrap_or(0);
        if 2 * own.iter().filter(|&&excess| 2 * excess >= most).count() <= own.len() {
            return false;
        }
        let typical = |excess: &mut Vec<i64>| lower_median(excess).unwrap_or(0);
        let others = (0..self.job.members.len()).filter(|&other| other != member);
        let mut usual: Vec<i64> = others.map(|other| typical(&mut self.excess_by_step(other))).collect();
        typical(&mut own) > FAR * typical(&mut usual)
    }

    /// Excess of a member over its peers by step, in nanoseconds.
    fn excess_by_step(&self, member: usize) -> Vec<i64> {
        let steps = &self.opened.steps;
        let mut excess = vec![0_i64; steps.len()];
        for stretch in self.stretches.lists.get(member).into_iter().flatten() {
            let step = steps.partition_point(|step| step.end < stretch.to);
            if let Some(sum) = excess.get_mut(step) {
                *sum += (stretch.own - stretch.usual).max(0);
            }
        }
        excess
    }

    fn ranks_of(&self, members: impl IntoIterator<Item = usize>) -> Vec<u32> {
        let mut ranks: Vec<u32> = members.into_iter().map(|at| self.job.members[at].rank).collect();
        ranks.sort_unstable();
        ranks
    }
}

/// Removes ranks without an excess over their peers: they are late because of another named one. No
/// accusation without evidence.
pub(super) fn keep_evident(named: &mut Vec<Named>) {
    let mut first = true;
    named.retain(|one| {
        std::mem::take(&mut first) || one.kind != Kind::Rank || one.cause != CauseClass::Unknown.name()
    });
}

/// Delays named if unrecorded ranks are never late. Measured waits for unrecorded ranks stay in a replay,
/// although they may be waits for the same late rank. If all waits for unrecorded ranks are longer than a
/// delay, an unrecorded rank may be the cause: that delay is not named.
fn without_waits_for_unrecorded(
    mending: &Mending<'_>,
    base: i64,
    delays: &[Delay],
    least: i64,
) -> Vec<(Vec<Delay>, i64)> {
    let prompt = Mending { unrecorded: Unrecorded::Prompt, ..*mending };
    let waits = base - prompt.span(&[]);
    prompt.name(delays, least.max(waits))
}
