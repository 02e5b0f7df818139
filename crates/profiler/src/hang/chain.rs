//! From ranks that a collective lacks to ranks that wait for no other.
//!
//! Responsible for: following each missing rank to its own stuck collective, until a rank without one, or
//! around a cycle. If a rank is stuck in several collectives, the first by its own clock counts: clocks of
//! different ranks are not compared.

use super::progress::{State, Stuck};
use crate::flight::{Entry, FlightRecord, Frame};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// Reason why the search ends at a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum RootCause {
    /// It is outside any collective: its host is busy elsewhere or idle.
    OutsideOfCollectives,
    /// It called a different collective from the others.
    DifferentCall,
    /// Its dump is missing: it may be dead and block the others, in a group whose ranks are listed or may
    /// include it.
    NoDump,
    /// The group does not list its ranks and too few are known: the missing rank is unknown. The ranks are
    /// those outside all collectives.
    MembersUnknown,
    /// It waits for itself through other ranks.
    Circle,
    /// All ranks entered and none finished: a link, a device or a kernel is at fault, or the dump was taken
    /// during normal operation.
    Transfer,
}

/// A rank at which the search ends.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Root {
    /// The rank; the first one of a cycle or of a group with a stuck transfer.
    pub rank: u32,
    /// Reason why the search ends here.
    pub cause: RootCause,
    /// All ranks of the cycle or of the stuck transfer.
    pub ranks: Vec<u32>,
    /// Index of the stuck collective that it did not enter.
    pub stuck: usize,
    /// Ranks that wait for it, directly or through others.
    pub victims: Vec<u32>,
    /// Last entered collective.
    pub last_operation: Option<String>,
    /// Group of the last collective that it entered.
    pub last_group: Option<String>,
    /// Time of that call, in nanoseconds since the epoch.
    #[serde(rename = "last_time_ns")]
    pub last_time: Option<i64>,
    /// Stack of that call, innermost first.
    pub last_frames: Vec<Frame>,
}

/// Index of the first stuck collective in which a rank waits.
fn waits_at(all: &[Stuck], rank: u32) -> Option<usize> {
    all.iter().position(|s| s.waiting.contains(&rank))
}

fn last(records: &[(u32, &FlightRecord)], rank: u32) -> Option<Entry> {
    let (_, record) = records.iter().find(|(r, _)| *r == rank)?;
    record.entries.iter().max_by_key(|e| e.record).cloned()
}

/// Ranks that block a collective, and the reason why the search may end there. `idle` are the ranks known to
/// be outside all collectives.
fn blamed(stuck: &Stuck, idle: &[u32]) -> (Vec<u32>, Option<RootCause>) {
    match stuck.state {
        // A single rank is not a group: the other ranks are unknown.
        State::PartlyFinished | State::NoneFinished if !stuck.listed && stuck.group.ranks.len() < 2 => {
            (idle.to_vec(), Some(RootCause::MembersUnknown))
        }
        // A rank without a dump may be a missing member, so the group may be incomplete.
        State::PartlyFinished | State::NoneFinished if !stuck.unknown.is_empty() => {
            (stuck.unknown.clone(), Some(RootCause::NoDump))
        }
        State::Mismatched => {
            // Blames the ranks with the rarest call; with two camps of equal size, all. Ranks with an unknown
            // call may belong to any camp.
            let mut camps: BTreeMap<&str, usize> = BTreeMap::new();
            for (_, call) in &stuck.calls {
                *camps.entry(call).or_default() += 1;
            }
            let can_be_fewest = |call: &str| {
                let own = camps.get(call).copied().unwrap_or_default();
                camps.values().map(|&other| own.saturating_sub(other)).sum::<usize>() <= stuck.unknown.len()
            };
            let few = stuck.calls.iter().filter(|(_, call)| can_be_fewest(call)).map(|&(rank, _)| rank);
            (few.collect(), Some(RootCause::DifferentCall))
        }
        State::NotEntered if stuck.missing.is_empty() => (stuck.unknown.clone(), Some(RootCause::NoDump)),
        State::NotEntered => (stuck.missing.clone(), None),
        State::PartlyFinished | State::NoneFinished => (stuck.waiting.clone(), Some(RootCause::Transfer)),
    }
}

/// The roots, those with most waiting ranks first.
pub(super) fn roots(all: &[Stuck], records: &[(u32, &FlightRecord)]) -> Vec<Root> {
    let mut roots: Vec<Root> = Vec::new();
    let mut add =
        |rank: u32, cause: RootCause, mut ranks: Vec<u32>, stuck: usize, victims: &BTreeSet<u32>| {
            ranks.sort_unstable();
            let victims: Vec<u32> = victims.iter().filter(|v| !ranks.contains(v)).copied().collect();
            if let Some(known) = roots.iter_mut().find(|r| r.ranks == ranks && r.cause == cause) {
                known.victims.extend(victims);
                known.victims.sort_unstable();
                known.victims.dedup();
                return;
            }
            let entry = last(records, rank);
            roots.push(Root {
                rank,
                cause,
                ranks,
                stuck,
                victims,
                last_operation: entry.as_ref().map(|e| e.operation.clone()),
                last_group: entry.as_ref().map(|e| {
                    if e.group_description.is_empty() {
                        e.group_name.clone()
                    } else {
                        e.group_description.clone()
                    }
                }),
                last_time: entry.as_ref().map(|e| e.created),
                last_frames: entry.map(|e| e.frames).unwrap_or_default(),
            });
        };
    // A damaged dump may have lost the collective in which its rank waits.
    let whole = records.iter().filter(|(_, record)| record.is_whole());
    let idle: Vec<u32> = whole.map(|&(rank, _)| rank).filter(|&rank| waits_at(all, rank).is_none()).collect();
    for (place, begun) in all.iter().enumerate() {
        let mut victims: BTreeSet<u32> = begun.waiting.iter().copied().collect();
        let mut open: Vec<(usize, Vec<u32>)> = vec![(place, Vec::new())];
        let mut seen: BTreeSet<usize> = BTreeSet::new();
        while let Some((at, path)) = open.pop() {
            let stuck = &all[at];
            victims.extend(&stuck.waiting);
            let (ranks, end) = blamed(stuck, &idle);
            match end {
                Some(
                    cause @ (RootCause::Transfer
                    | RootCause::DifferentCall
                    | RootCause::NoDump
                    | RootCause::MembersUnknown),
                ) => {
                    let first = ranks.first().or(stuck.waiting.first()).copied().unwrap_or_default();
                    add(first, cause, ranks, at, &victims);
                }
                _ => {
                    for rank in ranks {
                        let Some(next) = waits_at(all, rank) else {
                            add(rank, RootCause::OutsideOfCollectives, vec![rank], at, &victims);
                            continue;
                        };
                        let mut path = path.clone();
                        if next == place {
                            path.push(rank);
                            add(path[0], RootCause::Circle, path, at, &victims);
                        } else if seen.insert(next) {
                            path.push(rank);
                            open.push((next, path));
                        }
                    }
                }
            }
        }
    }
    roots.sort_by_key(|r| (std::cmp::Reverse(r.victims.len()), r.stuck, r.rank));
    roots
}
