//! Attribution of every wait to its root.
//!
//! Responsible for: the ranks and intervals that made each collective late. These are the last rank's own
//! excess over its peers and, for the rest, the roots of the previous collective that held it. At most a few
//! roots per collective.

use super::event::Chains;
use super::peers::Stretches;
use crate::joined::Joined;
use std::collections::BTreeMap;

/// Maximum number of roots per collective.
const ROOTS: usize = 4;

/// Maximum number of steps back along a chain of waits.
const LONGEST_WAY: usize = 256;

/// A root: an interval of a member, and its share of the lateness.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Root {
    member: u32,
    /// Position of the interval; `None` for time before the recorded window.
    place: Option<u32>,
    share: f64,
}

/// Waits for one collective that one member caused.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CausedWaits {
    /// Index of the member in the job.
    pub member: u32,
    /// Time at which the last rank entered the collective, in nanoseconds.
    pub at: i64,
    /// The waits of all ranks, in nanoseconds.
    pub wait: f64,
}

/// Waits charged to ranks and intervals.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Charges {
    /// By member: waits of all ranks that it caused, in nanoseconds.
    pub waits: Vec<f64>,
    /// By member: share of `waits` in nanoseconds from before the window, or without an excess over the
    /// peers.
    pub unexplained: Vec<f64>,
    /// By member: total time between its entry as the last rank of collectives and the entry before it, in
    /// nanoseconds.
    pub lateness: Vec<i64>,
    /// By member: number of complete collectives that it entered last.
    pub last: Vec<u32>,
    /// By member and index of the interval: waits charged to it, in nanoseconds.
    pub stretches: BTreeMap<(u32, u32), f64>,
    /// Root of each wait, with the entry time of the last rank.
    pub list: Vec<CausedWaits>,
    /// Sum of all waits, in nanoseconds.
    pub total: f64,
}

/// Minimum share of all waits that one rank causes, for which it is an exception although others are late as
/// well.
const DOMINANT: f64 = 0.8;

impl Charges {
    /// Tests whether one rank causes most waits.
    pub(super) fn has_dominant(&self) -> bool {
        self.leading().is_some_and(|(_, share)| share >= DOMINANT)
    }

    /// The member with the most waits of others, and its share of all waits. `None` without waits.
    pub(super) fn leading(&self) -> Option<(usize, f64)> {
        let most = self.waits.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1))?;
        (*most.1 > 0.0 && self.total > 0.0).then(|| (most.0, most.1 / self.total))
    }
}

pub(super) fn charge(chains: &Chains, joined: &Joined, stretches: &Stretches) -> Charges {
    let matching = &joined.matching;
    let count = stretches.lists.len();
    let mut charges = Charges {
        waits: vec![0.0; count],
        unexplained: vec![0.0; count],
        lateness: vec![0; count],
        last: vec![0; count],
        ..Charges::default()
    };
    for &number in &chains.order {
        let collective = &matching.collectives[number as usize];
        let members = matching.members(collective);
        let late = chains.last_member[number as usize];
        let last = chains.last_start[number as usize];
        let mut starts: Vec<i64> = members
            .iter()
            .filter(|at| at.member != late)
            .map(|&at| chains.within(matching.part(at).start))
            .collect();
        let Some(second) = starts.iter().copied().max() else { continue };
        let middle = starts.len() / 2;
        let usual = *starts.select_nth_unstable(middle).1;
        if collective.complete {
            charges.last[late as usize] += 1;
            charges.lateness[late as usize] += last - second;
        }
        let roots = find(stretches, chains, joined, number, late, last - usual);
        let channel = matching.communicator(collective).channel;
        let waits: i64 = members
            .iter()
            .map(|&at| {
                let part = matching.part(at);
                // An early sender waits for no other rank.
                let waits = channel.is_none_or(|(_, to)| {
                    matching
                        .communicator(collective)
                        .members
                        .iter()
                        .any(|m| m.member == at.member && m.rank == to)
                });
                let start = chains.within(part.start);
                if waits { (last - start).clamp(0, part.duration().max(0)) } else { 0 }
            })
            .sum();
        charges.total += waits as f64;
        for root in &roots {
            let wait = waits as f64 * root.share;
            charges.waits[root.member as usize] += wait;
            if wait > 0.0 {
                charges.list.push(CausedWaits { member: root.member, at: last, wait });
            }
            match root.place {
                Some(place) => *charges.stretches.entry((root.member, place)).or_default() += wait,
                None => charges.unexplained[root.member as usize] += wait,
            }
        }
    }
    charges
}

/// Roots of a collective whose last member was late by `late_by` nanoseconds: excesses along the chain of
/// waits, back to the previous collective of the same communicator, which its ranks left together.
fn find(
    stretches: &Stretches,
    chains: &Chains,
    joined: &Joined,
    number: u32,
    late: u32,
    late_by: i64,
) -> Vec<Root> {
    let matching = &joined.matching;
    let communicator = matching.collectives[number as usize].communicator;
    let mut roots: Vec<Root> = Vec::new();
    let mut at = stretches.ends[number as usize].iter().copied().find(|end| end.0 == late);
    let mut left = late_by;
    let mut last = late;
    let mut latest = at;
    for _ in 0..LONGEST_WAY {
        let Some(here) = at else { break };
        let stretch = stretches.get(here);
        let excess = if stretch.peers == 0 { 0 } else { (stretch.own - stretch.usual).clamp(0, left.max(0)) };
        if excess > 0 {
            roots.push(Root { member: here.0, place: Some(here.1), share: excess as f64 });
            left -= excess;
        }
        last = here.0;
        latest = Some(here);
        let gate =
            stretch.gate.filter(|&gate| matching.collectives[gate as usize].communicator != communicator);
        if left <= 0 {
            break;
        }
        // The holder is the last member to enter the collective that the rank waited for.
        let Some(gate) = gate else { break };
        let holder = chains.last_member[gate as usize];
        let before = stretches.ends[gate as usize].iter().copied().find(|end| end.0 == holder);
        if before.is_some_and(|before| stretches.get(before).to > stretch.to) {
            break;
        }
        at = before;
    }
    let explained: f64 = roots.iter().map(|root| root.share).sum();
    if explained <= 0.0 {
        // Peers show no excess: it was before the recording, or all peers are equal and the position causes
        // the lateness.
        let place = latest.filter(|_| late_by <= 0).map(|latest| latest.1);
        return vec![Root { member: last, place, share: 1.0 }];
    }
    let rest = left.max(0) as f64;
    if rest > 0.1 * late_by as f64 {
        roots.push(Root { member: last, place: None, share: rest });
    }
    roots.sort_by(|a, b| b.share.total_cmp(&a.share).then((a.member, a.place).cmp(&(b.member, b.place))));
    roots.truncate(ROOTS);
    let kept: f64 = roots.iter().map(|root| root.share).sum();
    for root in &mut roots {
        root.share /= kept;
    }
    roots
}
