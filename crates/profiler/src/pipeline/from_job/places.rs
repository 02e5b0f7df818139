//! Position of a rank: its pipeline stage, its replica and its shard.
//!
//! Responsible for: the position of each rank, from the user's layout if it has the job's size, otherwise
//! from names, groups and messages. Ignores a layout of a different size; `join` warns about it.

use super::found::Found;
use crate::Job;
use crate::groups::{Groups, Layout};
use crate::joined::Joined;
use railwright_step::Dimension;
use std::collections::BTreeMap;

/// Stages of the ranks with passes, and the source of replicas and shards.
pub(super) struct Places<'a> {
    layout: Option<&'a Layout>,
    stages: BTreeMap<u32, u32>,
    shards: Shards,
    /// By stage: the lowest ranks of its replicas, and the number of shards seen of each.
    seen: BTreeMap<u32, Vec<(u32, u32)>>,
}

impl<'a> Places<'a> {
    /// Positions of the ranks with passes.
    pub(super) fn of(job: &Job, joined: &'a Joined, found: &[(u32, Vec<Found>)]) -> Self {
        let world = u64::from(job.world_size);
        // If the size of the job is unknown, ranks above the recorded ones may be missing.
        let fits =
            |layout: &&Layout| layout.world() == world || (!job.world_size_known && layout.world() > world);
        let layout = joined.layout.as_ref().filter(fits);
        let stages = match layout {
            Some(layout) => found.iter().map(|(rank, _)| (*rank, stage_in(layout, *rank))).collect(),
            None => stages(job, &joined.groups, found),
        };
        Self { layout, stages, shards: Shards::of(&joined.groups), seen: BTreeMap::new() }
    }

    /// Number of stages.
    pub(super) fn stages(&self) -> u32 {
        self.stages.values().max().map_or(0, |stage| stage + 1)
    }

    /// Tests whether the user specified the layout.
    pub(super) fn stated(&self) -> bool {
        self.layout.is_some()
    }

    /// Stage, replica and shard of the next rank, in order of ranks.
    pub(super) fn place(&mut self, rank: u32) -> (u32, u32, u32) {
        let stage = self.stages.get(&rank).copied().unwrap_or(0);
        let (replica, shard) = match self.layout {
            Some(layout) => (
                coordinate(layout, rank, &[Dimension::Expert, Dimension::Data]),
                coordinate(layout, rank, &[Dimension::Tensor, Dimension::Context]),
            ),
            None => self.shards.place(rank, self.seen.entry(stage).or_default()),
        };
        (stage, replica, shard)
    }
}

fn stage_in(layout: &Layout, rank: u32) -> u32 {
    coordinate(layout, rank, &[Dimension::Pipeline])
}

/// Position of a rank along several dimensions, the first one fastest: `sum((rank / stride_d % size_d) *
/// product of the sizes before d)`.
fn coordinate(layout: &Layout, rank: u32, dimensions: &[Dimension]) -> u32 {
    let (mut place, mut before) = (0_u32, 1_u32);
    for (size, stride) in dimensions.iter().filter_map(|&dimension| layout.place(dimension)) {
        place = place.saturating_add((rank / stride.max(1) % size).saturating_mul(before));
        before = before.saturating_mul(size);
    }
    place
}

/// Stage of every rank.
fn stages(job: &Job, groups: &Groups, found: &[(u32, Vec<Found>)]) -> BTreeMap<u32, u32> {
    let named = |passes: &[Found]| passes.iter().filter_map(|f| f.virtual_stage).min();
    let all: BTreeMap<u32, u32> = found.iter().filter_map(|(rank, p)| Some((*rank, named(p)?))).collect();
    if all.len() == found.len() {
        // A rank with several virtual stages is on its lowest one; numbers may have gaps if ranks are
        // missing.
        return all;
    }
    let placed: BTreeMap<u32, u32> =
        groups.stages().into_iter().map(|(rank, (_, stage))| (rank, stage)).collect();
    if found.iter().all(|(rank, _)| placed.contains_key(rank)) {
        return placed;
    }
    by_peers(job)
}

/// Stages by senders and receivers: ranks joined by messages, in order of rank, form a pipeline.
fn by_peers(job: &Job) -> BTreeMap<u32, u32> {
    let mut next: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for member in &job.members {
        for peer in member.trace.collectives.iter().filter_map(|c| c.peer) {
            let (low, high) = (member.rank.min(peer), member.rank.max(peer));
            let list = next.entry(low).or_default();
            if low != high && !list.contains(&high) {
                list.push(high);
            }
        }
    }
    let mut stages: BTreeMap<u32, u32> = job.members.iter().map(|m| (m.rank, 0)).collect();
    // In order of ranks, a rank is one stage after the nearest lower rank that it exchanges messages with.
    for (low, highs) in next {
        let behind = stages.get(&low).copied().unwrap_or(0) + 1;
        if let Some(nearest) = highs.into_iter().min() {
            stages.insert(nearest, behind);
        }
    }
    stages
}

/// Ranks that share a replica's stage: those joined by tensor and context-parallel groups.
struct Shards(BTreeMap<u32, u32>);

impl Shards {
    /// By rank: the lowest rank that it shares a stage with.
    fn of(groups: &Groups) -> Self {
        let mut lowest: BTreeMap<u32, u32> = BTreeMap::new();
        let joins = |group: &&crate::groups::Group| {
            matches!(group.dimension.dimension, Dimension::Tensor | Dimension::Context)
        };
        // Groups of two dimensions cross each other: a second round joins the remaining ones.
        for group in groups.groups.iter().filter(joins).chain(groups.groups.iter().filter(joins)) {
            let ranks = group.ranks.as_ref().map(crate::groups::RankSet::ranks).unwrap_or_default();
            let known = ranks.iter().map(|rank| lowest.get(rank).copied().unwrap_or(*rank)).min();
            for rank in ranks {
                lowest.insert(*rank, known.unwrap_or(*rank));
            }
        }
        Self(lowest)
    }

    /// Replica and shard of the next rank of a stage; `seen` are the lowest ranks of its replicas and the
    /// number of shards seen of each.
    fn place(&self, rank: u32, seen: &mut Vec<(u32, u32)>) -> (u32, u32) {
        let lowest = self.0.get(&rank).copied().unwrap_or(rank);
        let at = seen.iter().position(|(known, _)| *known == lowest).unwrap_or_else(|| {
            seen.push((lowest, 0));
            seen.len() - 1
        });
        let shard = seen[at].1;
        seen[at].1 += 1;
        (at as u32, shard)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_layout_gives_every_rank_a_place_of_its_own() {
        let layout = Layout::read("tp=2,cp=2,dp=3,pp=4").unwrap();
        let place = |rank| {
            (
                stage_in(&layout, rank),
                coordinate(&layout, rank, &[Dimension::Expert, Dimension::Data]),
                coordinate(&layout, rank, &[Dimension::Tensor, Dimension::Context]),
            )
        };
        let mut rank = 0;
        for stage in 0..4 {
            for replica in 0..3 {
                for shard in 0..4 {
                    assert_eq!(place(rank), (stage, replica, shard), "rank {rank}");
                    rank += 1;
                }
            }
        }
    }
}
