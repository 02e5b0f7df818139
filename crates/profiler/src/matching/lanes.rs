//! Streams of different numbers that carry the same communication.
//!
//! Responsible for: joining, over ranks, streams without a recorded group whose numbers differ from rank to
//! rank. They are joined by their communication: the same operations about as often. A stream number that all
//! ranks have is kept.

use super::assign::{Assigned, Key};
use super::{Lane, Part};
use railwright_step::CollectiveKind;
use std::collections::{BTreeMap, BTreeSet};

/// Number of calls by operation.
type Carries = BTreeMap<Option<CollectiveKind>, usize>;

/// Maximum share of calls on only one of two streams that carry the same communication.
const DIFFERENT: f64 = 0.25;

/// Assigns one number to streams that carry the same communication: that of the rank with most of them.
pub(super) fn alike(assigned: Assigned, parts: &[Vec<Part>]) -> Assigned {
    let mut of: BTreeMap<u32, BTreeMap<Lane, Carries>> = BTreeMap::new();
    for (key, lists) in assigned.iter().filter(|(key, _)| key.is_unspecified()) {
        let Some(lane) = key.lane else { continue };
        for (member, list) in lists {
            let carries = of.entry(*member).or_default().entry(lane).or_default();
            for part in list {
                *carries.entry(parts[*member as usize][*part as usize].operation).or_default() += 1;
            }
        }
    }
    let Some((_, reference)) =
        of.iter().max_by_key(|(member, lanes)| (lanes.len(), std::cmp::Reverse(**member)))
    else {
        return assigned;
    };
    let everywhere = |lane: &Lane| of.values().all(|lanes| lanes.contains_key(lane));
    let mut renamed: BTreeMap<(u32, Lane), Lane> = BTreeMap::new();
    for (member, lanes) in &of {
        let mut free: BTreeSet<Lane> = reference.keys().copied().filter(|lane| !everywhere(lane)).collect();
        // A stream keeps its number if it carries the same; the rest is joined by similarity.
        let kept = |lane: &Lane, carries: &Carries| {
            reference.get(lane).is_some_and(|known| difference(known, carries) <= DIFFERENT)
        };
        for (lane, carries) in lanes {
            if kept(lane, carries) {
                free.remove(lane);
            }
        }
        for (lane, carries) in
            lanes.iter().filter(|(lane, carries)| !everywhere(lane) && !kept(lane, carries))
        {
            let nearest = free
                .iter()
                .map(|known| (difference(&reference[known], carries), *known))
                .filter(|(apart, _)| *apart <= DIFFERENT)
                .min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            if let Some((_, known)) = nearest {
                free.remove(&known);
                renamed.insert((*member, *lane), known);
            }
        }
    }
    let mut joined: Assigned = BTreeMap::new();
    for (key, lists) in assigned {
        for (member, list) in lists {
            let lane = key.lane.filter(|_| key.is_unspecified());
            let lane = lane.and_then(|lane| renamed.get(&(member, lane)).copied()).or(key.lane);
            joined.entry(Key { lane, ..key }).or_default().entry(member).or_default().extend(list);
        }
    }
    joined
}

/// Share of the calls (0 to 1) that only one of two streams has.
fn difference(one: &Carries, other: &Carries) -> f64 {
    let operations: BTreeSet<_> = one.keys().chain(other.keys()).collect();
    let count = |carries: &Carries, operation| carries.get(operation).copied().unwrap_or(0);
    let apart: usize = operations.iter().map(|o| count(one, o).abs_diff(count(other, o))).sum();
    let all: usize = one.values().chain(other.values()).sum();
    apart as f64 / all.max(1) as f64
}
