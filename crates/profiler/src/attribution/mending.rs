//! Delays whose removal makes the steps shorter.
//!
//! Responsible for: ranks, groups and stages without whose delay the step is shorter, each by replay with the
//! previous ones fixed; and ranks that delay the job only together.

use super::event::Chains;
use super::links::SlowLink;
use super::replay::{Unrecorded, replay_with};
use super::stages::SlowStage;
use crate::joined::Joined;
use std::collections::BTreeSet;

/// Maximum number of reported stragglers.
const NAMED: usize = 8;

/// Ranks that delay the job only together are searched for if equal ranks would save at least this share of
/// the step.
const TOGETHER: f64 = 0.01;

/// Minimum ratio of a rank's own delays to the median rank for such a set.
const OUTSTANDING: i64 = 4;

/// Minimum ranks of a node: fewer outliers do not indicate a node.
const NODE: usize = 4;

/// A delay that a replay can remove: a member, a link or a stage.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Delay {
    Member(usize),
    Link(usize),
    Stage(usize),
}

/// Input of replays.
pub(super) struct Mending<'a> {
    pub chains: &'a Chains,
    pub joined: &'a Joined,
    /// By member and event: own time of its peers, in nanoseconds.
    pub usual: &'a [Vec<i64>],
    pub links: &'a [SlowLink],
    pub stages: &'a [SlowStage],
    /// By member: excess over its peers that is not jitter, in nanoseconds.
    pub evident: &'a [i64],
    pub unrecorded: Unrecorded,
    /// Collectives of further micro-batches: without them, their ranks do not transfer anything.
    pub extra: &'a BTreeSet<u32>,
}

impl Mending<'_> {
    /// Time of the steps without the given delays, in nanoseconds.
    pub(super) fn span(&self, without: &[Delay]) -> i64 {
        let mut mended = vec![false; self.chains.events.len()];
        let mut factor = vec![1.0_f64; self.chains.events.len()];
        let mut replaced: Vec<Option<&[i64]>> = vec![None; self.chains.events.len()];
        let mut faster: Vec<Option<&SlowLink>> = vec![None; self.joined.matching.communicators.len()];
        for &delay in without {
            match delay {
                Delay::Member(member) => mended[member] = true,
                Delay::Link(at) => {
                    let link = &self.links[at];
                    link.communicators.iter().for_each(|&id| faster[id as usize] = Some(link));
                }
                Delay::Stage(at) => {
                    let stage = &self.stages[at];
                    for (at, &member) in stage.members.iter().enumerate() {
                        match stage.own.get(at) {
                            Some(own) => replaced[member] = Some(own),
                            None => factor[member] = stage.usual(),
                        }
                    }
                }
            }
        }
        let own = |member: usize, place: usize| {
            let measured = self.chains.events[member][place].own;
            let own = if mended[member] { self.usual[member][place] } else { measured };
            let own = replaced[member].and_then(|list| list.get(place)).map_or(own, |&other| own.min(other));
            if factor[member] < 1.0 { (own as f64 * factor[member]).round() as i64 } else { own }
        };
        let transfer = |member: usize, place: usize| {
            let event = &self.chains.events[member][place];
            if mended[member] && self.extra.contains(&event.collective) {
                return 0;
            }
            let collective = self.joined.matching.collectives.get(event.collective as usize);
            let link = collective.and_then(|collective| faster[collective.communicator as usize]);
            let start =
                || self.chains.last_start.get(event.collective as usize).copied().unwrap_or(event.time);
            link.map_or(event.transfer, |link| link.mended(event.collective, start(), event.transfer))
        };
        replay_with(self.chains, self.joined, &own, &transfer, self.unrecorded).span
    }

    /// Delays that slow the job down, each with its saving in nanoseconds of all steps once the previous ones
    /// are removed. Savings of at most `least` do not count.
    pub(super) fn name(&self, candidates: &[Delay], least: i64) -> Vec<(Vec<Delay>, i64)> {
        let mut named: Vec<(Vec<Delay>, i64)> = Vec::new();
        let mut mended: Vec<Delay> = Vec::new();
        let mut span = self.span(&[]);
        while named.len() < NAMED {
            let with = |&delay: &Delay| {
                let mut all = mended.clone();
                all.push(delay);
                (self.span(&all), delay)
            };
            let open = candidates
                .iter()
                .filter(|delay| !self.is_mended(**delay, &mended) && self.is_evident(**delay, least));
            let Some((next, delay)) = open.map(with).min_by_key(|found| found.0) else { break };
            if span - next <= least {
                break;
            }
            named.push((vec![delay], span - next));
            mended.push(delay);
            span = next;
        }
        named
    }

    /// Tests whether a delay, or that of the same rank as the only one of its stage, is among the given ones.
    fn is_mended(&self, delay: Delay, mended: &[Delay]) -> bool {
        let of_stage = |one: &Delay| match (*one, delay) {
            (Delay::Stage(at), Delay::Member(member)) | (Delay::Member(member), Delay::Stage(at)) => {
                self.stages[at].of_rank().is_some() && self.stages[at].members == [member]
            }
            _ => false,
        };
        mended.contains(&delay) || mended.iter().any(of_stage)
    }

    /// Tests whether a delay is not jitter of a rank.
    fn is_evident(&self, delay: Delay, least: i64) -> bool {
        match delay {
            Delay::Member(member) => self.evident.get(member).is_none_or(|&evident| evident > least),
            Delay::Link(_) | Delay::Stage(_) => true,
        }
    }

    /// Ranks with a clear excess that are numbered like those of one node: consecutive, from a multiple of
    /// their number, at most half of all.
    fn node(&self, excess: &[i64], least: i64) -> Option<Vec<usize>> {
        let mut order: Vec<usize> = (0..excess.len()).collect();
        order.sort_by_key(|&member| (std::cmp::Reverse(excess[member]), member));
        let count = (NODE..=order.len() / 2).find(|&count| {
            let (inside, outside) = (excess[order[count - 1]], excess[order[count]]);
            inside > least && inside > OUTSTANDING * outside
        })?;
        order.truncate(count);
        let mut ranks: Vec<u32> =
            order.iter().filter_map(|&member| Some(self.joined.clocks.clocks.get(member)?.rank)).collect();
        ranks.sort_unstable();
        let (first, last) = (*ranks.first()?, *ranks.last()?);
        let is_node = (last - first) as usize + 1 == count && (first as usize).is_multiple_of(count);
        is_node.then_some(order)
    }

    /// The named delays, with members that delay the job only together. A node that contains all named
    /// members is one delay instead of them: of its ranks, only the slowest one saves anything alone, and
    /// no more than its difference from the next one.
    pub(super) fn joined(
        &self,
        named: Vec<(Vec<Delay>, i64)>,
        excess: &[i64],
        least: i64,
    ) -> Vec<(Vec<Delay>, i64)> {
        let is_member = |delay: &Delay| matches!(delay, Delay::Member(_));
        let (of_members, others): (Vec<_>, Vec<_>) =
            named.iter().cloned().partition(|found| found.0.iter().all(is_member));
        let node = self.node(excess, least).filter(|node| {
            let mut members = of_members.iter().flat_map(|found| &found.0);
            !of_members.is_empty()
                && members.all(|delay| matches!(delay, Delay::Member(member) if node.contains(member)))
        });
        // A node is one delay if its ranks save more together than the named ones do.
        let saved: i64 = of_members.iter().map(|found| found.1).sum();
        let whole = node.and_then(|_| self.together(&others, excess, least)).filter(|whole| whole.1 > saved);
        let mut found = if whole.is_some() { others } else { named };
        let whole = whole.or_else(|| self.together(&found, excess, least));
        found.extend(whole);
        found
    }

    /// A few members that delay the job only together, after the named ones: alone, none of them saves
    /// anything.
    fn together(&self, named: &[(Vec<Delay>, i64)], excess: &[i64], least: i64) -> Option<(Vec<Delay>, i64)> {
        let mended: Vec<Delay> = named.iter().flat_map(|found| found.0.clone()).collect();
        let span = self.span(&mended);
        let everyone: Vec<Delay> =
            (0..excess.len()).map(Delay::Member).chain(mended.iter().copied()).collect();
        let least = least.max((span as f64 * TOGETHER) as i64);
        if span - self.span(&everyone) <= least {
            return None;
        }
        let mut sorted = excess.to_vec();
        sorted.sort_unstable();
        let usual = sorted.get(sorted.len() / 2).copied().unwrap_or(0);
        let mut order: Vec<usize> = (0..excess.len())
            .filter(|&member| !mended.contains(&Delay::Member(member)))
            .filter(|&member| excess[member] > OUTSTANDING * usual && excess[member] > least)
            .filter(|&member| self.is_evident(Delay::Member(member), least))
            .collect();
        order.sort_by_key(|&member| (std::cmp::Reverse(excess[member]), member));
        // With many outliers none is reported, except ranks of one node.
        if order.len() < 2 || order.len() * 4 > excess.len() || order.len() > NAMED {
            let free = mended.iter().all(|delay| !matches!(delay, Delay::Member(_)));
            order = self.node(excess, least).filter(|_| free)?;
        }
        let with = |members: &[usize]| {
            let mut all = mended.clone();
            all.extend(members.iter().copied().map(Delay::Member));
            self.span(&all)
        };
        let all = with(&order);
        if span - all <= least {
            return None;
        }
        // Ranks whose removal leaves the saving unchanged are excluded.
        let mut kept = order.clone();
        for member in order.into_iter().rev() {
            let less: Vec<usize> = kept.iter().copied().filter(|&other| other != member).collect();
            if with(&less) - all <= (span - all) / 20 {
                kept = less;
            }
        }
        (kept.len() > 1).then(|| (kept.into_iter().map(Delay::Member).collect(), span - all))
    }
}

#[cfg(test)]
mod tests {
    use crate::attribution::{Verdict, straggler_report};
    use crate::joined::JoinOptions;
    use crate::testing::Synthetic;

    /// The hosts of one node load data for 10 ms before every step, one of them for somewhat longer: alone,
    /// it saves its difference only.
    #[test]
    fn a_node_replaces_its_slowest_rank() {
        let plan = Synthetic { data: 16, steps: 5, ..Synthetic::default() };
        let longer = |rank: u32| if rank == 12 { 700_000 } else { i64::from(rank % 4) * 50_000 };
        let stalls = (8..16)
            .flat_map(|rank| (0..5).map(move |step| (rank, step, 10_000_000 + longer(rank))))
            .collect();
        let of = |plan: &Synthetic| straggler_report(&mut plan.job(), &JoinOptions::default());
        let (quiet, found) = (of(&plan), of(&Synthetic { stalls, ..plan }));
        assert_eq!(found.verdict, Verdict::Straggler, "{:?}", found.reasons);
        let [named] = found.culprits.as_slice() else { panic!("{:?}", found.culprits) };
        assert_eq!(named.ranks, (8..16).collect::<Vec<u32>>());
        let truth = (found.step_time - quiet.step_time) * 1e-9;
        assert!((named.cost_s / truth - 1.0).abs() < 0.15, "{} {truth}", named.cost_s);
    }
}
