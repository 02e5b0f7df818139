//! Communicating ranks of messages without a recorded peer.
//!
//! Responsible for: the distance from a rank to the next stage. Both ends of a message are left together, so
//! neighbouring stages share the end times of their message kernels, on any streams. The distance with the
//! most shared end times wins. Excludes distances within known groups, whose ranks run in step and end their
//! messages together, too. Ambiguous distances stay unknown.

use super::ties::{CLOSE, Ties};
use super::{PartRef, Tiling};
use crate::Job;
use std::collections::{BTreeMap, BTreeSet};

/// Maximum distances between both ends of a message, in nanoseconds: the first with a clear result counts. A
/// receiver still copies for some microseconds after the sender has finished. Stages with nearly equal timing
/// also end unrelated messages within a few microseconds.
const TOGETHER: [i64; 3] = [2_000, 10_000, 50_000];

/// Minimum share of common end times between neighbours, relative to the rank with fewer: a stage in the
/// middle has two neighbours.
const SHARED: f64 = 0.35;

/// A distance is clearly best if the next one shares less than this factor of it.
const CLEARLY: f64 = 0.75;

/// Minimum number of messages for a comparison, and maximum number of examined messages per rank.
const MESSAGES: (usize, usize) = (6, 48);

/// Maximum number of examined pairs per distance, spread over the world.
const SAMPLED: usize = 16;

/// Pipelines, with the messages of their neighbours.
pub(super) struct Neighbours {
    /// The pipelines.
    pub tiling: Tiling,
    /// By pair of neighbouring ranks: both parts of every message, in order.
    pub pairs: BTreeMap<(u32, u32), Vec<(PartRef, PartRef)>>,
    /// By pair of neighbouring members: lead of the second clock over the first, in nanoseconds.
    pub clocks: Vec<(u32, u32, f64)>,
}

/// Ends of one rank's message kernels.
pub(super) struct Ends {
    pub rank: u32,
    /// The member of the job.
    pub member: u32,
    /// End times in nanoseconds, with their parts.
    pub moments: Vec<(i64, PartRef)>,
}

/// Finds the pipelines of a whole job. `known` are sets of ranks of groups for other purposes; `stated` are
/// pipelines set by the user.
pub(super) fn neighbours(
    job: &Job,
    ranks: &[Ends],
    known: &[Tiling],
    stated: Option<Tiling>,
    ties: &Ties,
) -> Option<Neighbours> {
    if ranks.iter().all(|rank| rank.moments.is_empty()) {
        return None;
    }
    TOGETHER.iter().find_map(|&together| within(job.world_size, ranks, known, stated, (together, ties)))
}

/// Finds pipelines with a given maximum distance between ends.
fn within(
    world: u32,
    ranks: &[Ends],
    known: &[Tiling],
    stated: Option<Tiling>,
    (together, ties): (i64, &Ties),
) -> Option<Neighbours> {
    if ranks.len() != world as usize || world < 2 {
        return None;
    }
    let at: BTreeMap<u32, &Ends> = ranks.iter().map(|ends| (ends.rank, ends)).collect();
    let inside = |stride: u32| known.iter().any(|tiling| tiling.first(0) == tiling.first(stride));
    let mut scores: Vec<(f64, u32)> = Vec::new();
    let possible = |stride: u32| match stated {
        Some(stated) => stride == stated.stride,
        None => world.is_multiple_of(stride) && !inside(stride),
    };
    for stride in (1..world).filter(|stride| possible(*stride)) {
        let lower: Vec<u32> = (0..world - stride).collect();
        let step = lower.len().div_ceil(SAMPLED).max(1);
        let sampled = lower.iter().step_by(step);
        let shared: Vec<f64> = sampled
            .filter_map(|&rank| {
                Some(shared(at.get(&rank)?, at.get(&(rank + stride))?, together, ties).map_or(0.0, |s| s.1))
            })
            .collect();
        scores.push((shared.iter().sum::<f64>() / shared.len().max(1) as f64, stride));
    }
    scores.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let &(best, stride) = scores.first()?;
    let next = scores.get(1).map_or(0.0, |score| score.0);
    if best < SHARED || next > CLEARLY * best {
        return None;
    }
    let mut linked = BTreeSet::new();
    let mut clocks = Vec::new();
    let mut candidates: Vec<Candidate> = Vec::new();
    for rank in 0..world - stride {
        let (one, other) = (at.get(&rank)?, at.get(&(rank + stride))?);
        if let Some((offset, share)) = shared(one, other, together, ties)
            && share >= SHARED
        {
            linked.insert(rank);
            clocks.push((one.member, other.member, offset as f64));
            candidates.extend(near(one, other, offset, together));
        }
    }
    // The longest pipelines that agree with every pair.
    let sizes = (2..=world / stride).rev().filter(|size| (world / stride).is_multiple_of(*size));
    let tiling = sizes.map(|size| Tiling { size, stride }).find(|tiling| {
        (0..world - stride).all(|rank| {
            let neighbours = tiling.first(rank) == tiling.first(rank + stride);
            linked.contains(&rank) == neighbours
        })
    })?;
    Some(Neighbours { tiling, pairs: paired(candidates), clocks })
}

/// Two ends that may belong to one message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Candidate {
    /// Distance between their ends, in nanoseconds.
    apart: i64,
    end: i64,
    ranks: (u32, u32),
    parts: (PartRef, PartRef),
}

/// Pairs each end once, with the nearest remaining one.
fn paired(mut candidates: Vec<Candidate>) -> BTreeMap<(u32, u32), Vec<(PartRef, PartRef)>> {
    candidates.sort_unstable();
    let mut used: BTreeSet<PartRef> = BTreeSet::new();
    candidates.retain(|candidate| {
        let (one, other) = candidate.parts;
        let free = !used.contains(&one) && !used.contains(&other);
        if free {
            used.extend([one, other]);
        }
        free
    });
    candidates.sort_unstable_by_key(|candidate| (candidate.ranks, candidate.end, candidate.parts));
    let mut pairs: BTreeMap<(u32, u32), Vec<(PartRef, PartRef)>> = BTreeMap::new();
    for candidate in candidates {
        pairs.entry(candidate.ranks).or_default().push(candidate.parts);
    }
    pairs
}

/// Lead of the second clock at which most ends of two ranks coincide, in nanoseconds. The second value is the
/// share of coinciding ends, relative to the rank with fewer.
fn shared(one: &Ends, other: &Ends, together: i64, ties: &Ties) -> Option<(i64, f64)> {
    let fewer = one.moments.len().min(other.moments.len());
    if fewer < MESSAGES.0 {
        return None;
    }
    let step = one.moments.len().div_ceil(MESSAGES.1).max(1);
    let mut differences: Vec<i64> = Vec::new();
    let mut looked = 0;
    for (end, _) in one.moments.iter().step_by(step) {
        looked += 1;
        differences.extend(other.moments.iter().map(|(later, _)| later - end));
    }
    // If the clock offset is known, unrelated messages at equal distances do not count.
    if let Some(known) = ties.between(one.member, other.member) {
        differences.retain(|difference| (*difference as f64 - known).abs() <= CLOSE);
    }
    differences.sort_unstable();
    // The window with most ends; of equal ones the one with the best agreement of clocks.
    let (mut best, mut from) = ((0, i64::MAX, 0), 0);
    for to in 0..differences.len() {
        while differences[to] - differences[from] > together {
            from += 1;
        }
        let middle = differences[from + (to - from) / 2];
        let count = to + 1 - from;
        if count > best.0 || (count == best.0 && middle.abs() < best.1) {
            best = (count, middle.abs(), middle);
        }
    }
    // At most as many of the examined ends can be shared as the other rank has.
    let most = (looked * fewer).div_ceil(one.moments.len().max(1)).max(1);
    Some((best.2, best.0 as f64 / most as f64))
}

/// Ends that coincide.
fn near(one: &Ends, other: &Ends, offset: i64, together: i64) -> Vec<Candidate> {
    let mut candidates = Vec::new();
    for &(end, part) in &one.moments {
        let from = other.moments.partition_point(|(later, _)| later - end - offset < -together);
        let around = other.moments[from..].iter().take_while(|(later, _)| later - end - offset <= together);
        candidates.extend(around.map(|&(later, counterpart)| Candidate {
            apart: (later - end - offset).abs(),
            end,
            ranks: (one.rank, other.rank),
            parts: (part, counterpart),
        }));
    }
    candidates
}
