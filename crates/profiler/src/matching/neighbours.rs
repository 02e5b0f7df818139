//! Which ranks send each other messages where no trace says the other end.
//!
//! Responsible for: both ends of a message are left together, so two neighbouring stages of a pipeline share the moments at which their message kernels
//! end, whatever streams these run on; the distance from a rank to the next stage is the one at which most such moments are shared. Refuses
//! distances within groups that are known (their ranks run in step and end their messages together, too), and what is not clearly best.

use super::{PartRef, Tiling};
use crate::Job;
use std::collections::BTreeMap;

/// Ends of one message lie this near to each other, in nanoseconds.
const TOGETHER: i64 = 5_000;

/// Neighbours share this share of the moments of the one that has fewer: a stage in the middle has two neighbours.
const SHARED: f64 = 0.35;

/// A distance is clearly best when the next one shares this much less.
const CLEARLY: f64 = 0.75;

/// A pair needs so many messages to be compared, and so many of a rank's are looked at.
const MESSAGES: (usize, usize) = (6, 48);

/// So many pairs of a distance are looked at, spread over the world.
const SAMPLED: usize = 16;

/// Pipelines, and the messages of their neighbours.
pub(super) struct Neighbours {
    /// The pipelines.
    pub tiling: Tiling,
    /// For each pair of neighbours, by rank, the two parts of every message, in order.
    pub pairs: BTreeMap<(u32, u32), Vec<(PartRef, PartRef)>>,
}

/// One rank's message kernels by their ends.
pub(super) struct Ends {
    pub rank: u32,
    /// When, and which.
    pub ends: Vec<(i64, PartRef)>,
}

/// Finds the pipelines of a whole job. `known` are sets of ranks that are groups for other purposes; `said` are pipelines as the user says them.
pub(super) fn neighbours(
    job: &Job,
    ranks: &[Ends],
    known: &[Tiling],
    said: Option<Tiling>,
) -> Option<Neighbours> {
    let world = job.world_size;
    if ranks.len() != world as usize || world < 2 {
        return None;
    }
    let at: BTreeMap<u32, &Ends> = ranks.iter().map(|ends| (ends.rank, ends)).collect();
    let within = |stride: u32| known.iter().any(|tiling| tiling.first(0) == tiling.first(stride));
    let mut scores: Vec<(f64, u32)> = Vec::new();
    let possible = |stride: u32| match said {
        Some(said) => stride == said.stride,
        None => world.is_multiple_of(stride) && !within(stride),
    };
    for stride in (1..world).filter(|stride| possible(*stride)) {
        let lower: Vec<u32> = (0..world - stride).collect();
        let step = lower.len().div_ceil(SAMPLED).max(1);
        let sampled = lower.iter().step_by(step);
        let shared: Vec<f64> = sampled
            .filter_map(|&rank| Some(shared(at.get(&rank)?, at.get(&(rank + stride))?).map_or(0.0, |s| s.1)))
            .collect();
        scores.push((shared.iter().sum::<f64>() / shared.len().max(1) as f64, stride));
    }
    scores.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let &(best, stride) = scores.first()?;
    let next = scores.get(1).map_or(0.0, |score| score.0);
    if best < SHARED || next > CLEARLY * best {
        return None;
    }
    let mut pairs = BTreeMap::new();
    for rank in 0..world - stride {
        let (one, other) = (at.get(&rank)?, at.get(&(rank + stride))?);
        if let Some((offset, share)) = shared(one, other)
            && share >= SHARED
        {
            pairs.insert((rank, rank + stride), paired(one, other, offset));
        }
    }
    // The longest pipelines that every pair agrees with.
    let sizes = (2..=world / stride).rev().filter(|size| (world / stride).is_multiple_of(*size));
    let tiling = sizes.map(|size| Tiling { size, stride }).find(|tiling| {
        (0..world - stride).all(|rank| {
            let neighbours = tiling.first(rank) == tiling.first(rank + stride);
            pairs.contains_key(&(rank, rank + stride)) == neighbours
        })
    })?;
    Some(Neighbours { tiling, pairs })
}

/// By how much the second clock is ahead where most ends of two ranks fall together, and the share of the fewer that do.
fn shared(one: &Ends, other: &Ends) -> Option<(i64, f64)> {
    let fewer = one.ends.len().min(other.ends.len());
    if fewer < MESSAGES.0 {
        return None;
    }
    let step = one.ends.len().div_ceil(MESSAGES.1).max(1);
    let mut differences: Vec<i64> = Vec::new();
    let mut looked = 0;
    for (end, _) in one.ends.iter().step_by(step) {
        looked += 1;
        differences.extend(other.ends.iter().map(|(later, _)| later - end));
    }
    differences.sort_unstable();
    // The window that holds most; of equal ones the one where the clocks agree best.
    let (mut best, mut from) = ((0, i64::MAX, 0), 0);
    for to in 0..differences.len() {
        while differences[to] - differences[from] > TOGETHER {
            from += 1;
        }
        let middle = differences[from + (to - from) / 2];
        let count = to + 1 - from;
        if count > best.0 || (count == best.0 && middle.abs() < best.1) {
            best = (count, middle.abs(), middle);
        }
    }
    // Of those that were looked at as many can be shared as the other rank has.
    let most = (looked * fewer).div_ceil(one.ends.len().max(1)).max(1);
    Some((best.2, best.0 as f64 / most as f64))
}

/// The ends that fall together, each once.
fn paired(one: &Ends, other: &Ends, offset: i64) -> Vec<(PartRef, PartRef)> {
    let mut pairs = Vec::new();
    let mut next = 0;
    for &(end, part) in &one.ends {
        while other.ends.get(next).is_some_and(|(later, _)| later - end - offset < -TOGETHER) {
            next += 1;
        }
        if let Some(&(later, counterpart)) = other.ends.get(next)
            && later - end - offset <= TOGETHER
        {
            pairs.push((part, counterpart));
            next += 1;
        }
    }
    pairs
}
