//! Replays of a judged job for other analyses.
//!
//! Responsible for: step time saved without some of the ranks' own time, and the intervals in which a rank
//! delays others, with those of its peers. Requires an accurate replay of all ranks.

use super::event::Chains;
use super::peers::Stretches;
use super::replay::replay;
use crate::joined::Joined;
use crate::occupancy::Intervals;

/// Maximum number of blamed intervals of a rank, and of peers of each.
const BLAMED: usize = 64;
const PEERS: usize = 16;

/// Minimum share of removed time within the events of its ranks.
const REPLAYED: f64 = 0.9;

/// A job's events and intervals.
#[derive(Clone, Debug)]
pub struct Replays {
    pub(super) chains: Chains,
    pub(super) stretches: Stretches,
    /// Time of the steps in nanoseconds, and their number.
    pub(super) base: i64,
    pub(super) count: f64,
    /// True if the replay reproduces the steps, and every rank was recorded and matched.
    pub(super) is_accurate: bool,
}

/// Parts of an interval in which its rank did not wait: (start, end), in nanoseconds.
pub(crate) type Parts = Vec<(i64, i64)>;

/// An interval in which a rank took longer than its peers.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Blamed {
    /// Its parts.
    pub own: Parts,
    /// The same interval of peers: index of the member, with its parts.
    pub peers: Vec<(usize, Parts)>,
}

impl Replays {
    /// Step time saved without the given times of each member, in nanoseconds. `None` without an accurate
    /// replay of these times: the events of a rank may begin after them, and end before.
    pub(crate) fn saved(&self, joined: &Joined, without: &[Intervals]) -> Option<f64> {
        if !self.is_accurate || without.len() != self.chains.events.len() {
            return None;
        }
        let (mut all, mut replayed) = (0, 0);
        for (events, without) in self.chains.events.iter().zip(without) {
            let edges = events.first().zip(events.last());
            all += without.total();
            replayed += edges
                .map_or(0, |(first, last)| without.within(first.time - first.own - first.unknown, last.time));
        }
        if (replayed as f64) < REPLAYED * all as f64 {
            return None;
        }
        let own: Vec<Vec<i64>> = (self.chains.events.iter().zip(without))
            .map(|(events, without)| {
                let mut since = events.first().map_or(0, |first| first.time - first.own - first.unknown);
                let left = events.iter().map(|event| {
                    let from = std::mem::replace(&mut since, event.time);
                    event.own - without.within(from, from + event.own + event.unknown).min(event.own)
                });
                left.collect()
            })
            .collect();
        let transfer = |member: usize, place: usize| self.chains.events[member][place].transfer;
        let span = replay(&self.chains, joined, &|member, place| own[member][place], &transfer).span;
        Some(((self.base - span) as f64 / self.count).max(0.0))
    }

    /// Intervals of a member with the largest excesses over its peers.
    pub(crate) fn blamed(&self, member: usize) -> Vec<Blamed> {
        let list = self.stretches.lists.get(member).into_iter().flatten();
        let mut longer: Vec<_> = list.filter(|stretch| stretch.own > stretch.usual).collect();
        longer.sort_by_key(|stretch| std::cmp::Reverse(stretch.own - stretch.usual));
        let blamed = longer.into_iter().take(BLAMED).map(|stretch| Blamed {
            own: stretch.parts(&self.chains),
            peers: (self.stretches.others(stretch, PEERS))
                .map(|peer| (peer.member as usize, peer.parts(&self.chains)))
                .collect(),
        });
        blamed.collect()
    }
}
