//! Groups of ranks as digits of a number, so that all groups of an exchange are a few numbers.
//!
//! Responsible for: the numbering of ranks, and the ranks of the n-th group. Independent of their traffic.
//!
//! Ranks are written in mixed radix as *places*: all ranks of stage 0, then all of stage 1, and so on; within
//! a stage in the order of tensor, context, data. A parallel dimension is a digit of the place: an [`Axis`]
//! of `extent` values with a distance of `stride` places.

use serde::Serialize;

/// Mapping of positions to ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Numbering {
    /// Pipeline stages.
    pub stages: u64,
    /// Ranks of a stage.
    pub stage_ranks: u64,
    /// Consecutive ranks of a stage before the next stage: all of them if the pipeline is outermost, tensor
    /// x context ranks if it is inside data parallelism.
    pub block: u64,
}

/// A digit of the place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Axis {
    /// Values that the digit has.
    pub extent: u64,
    /// Positions from one value to the next; negative if the next member comes before.
    pub stride: i64,
}

/// All groups of an exchange, as axes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Groups {
    /// The members of a group.
    pub members: Axis,
    /// Positions within a stage at which groups begin.
    pub positions: [Axis; 2],
    /// The stages in which groups begin; members of one group may be in several.
    pub stages: Vec<u32>,
    /// Ranks of a stage, to find the stages' beginnings.
    pub(super) stage_ranks: u64,
}

impl Numbering {
    /// Numbering of `stages` stages of `stage_ranks` ranks, the pipeline outermost.
    pub const fn pipeline_outermost(stages: u64, stage_ranks: u64) -> Self {
        Self { stages, stage_ranks, block: stage_ranks }
    }

    /// Total number of ranks.
    pub const fn ranks(&self) -> u64 {
        self.stages * self.stage_ranks
    }

    /// The rank at a place.
    pub const fn rank(&self, place: u64) -> u32 {
        let (stage, within) = (place / self.stage_ranks, place % self.stage_ranks);
        (within / self.block * self.block * self.stages + stage * self.block + within % self.block) as u32
    }

    /// The place of a rank.
    pub const fn place(&self, rank: u32) -> u64 {
        let rank = rank as u64;
        let (row, within) = (rank / (self.block * self.stages), rank % (self.block * self.stages));
        within / self.block * self.stage_ranks + row * self.block + within % self.block
    }

    /// The pipeline stage of a rank.
    pub const fn stage(&self, rank: u32) -> u64 {
        rank as u64 % (self.block * self.stages) / self.block
    }
}

const ONE: Axis = Axis { extent: 1, stride: 0 };

impl Groups {
    /// Groups within each of some stages: `extent` ranks with a distance of `stride` places. `extent x
    /// stride` must divide the stage's ranks.
    pub fn within(numbering: &Numbering, stages: Vec<u32>, extent: u64, stride: u64) -> Self {
        let (extent, stride) = (extent.max(1), stride.max(1));
        let whole = extent * stride;
        Self {
            members: Axis { extent, stride: stride.cast_signed() },
            positions: [
                Axis { extent: stride, stride: 1 },
                Axis { extent: (numbering.stage_ranks / whole).max(1), stride: whole.cast_signed() },
            ],
            stages,
            stage_ranks: numbering.stage_ranks,
        }
    }

    /// Pairs of ranks of the same place in each of some stages and in the stage `offset` later.
    pub fn between(numbering: &Numbering, stages: Vec<u32>, offset: i64) -> Self {
        Self {
            members: Axis { extent: 2, stride: offset * numbering.stage_ranks.cast_signed() },
            positions: [Axis { extent: numbering.stage_ranks, stride: 1 }, ONE],
            stages,
            stage_ranks: numbering.stage_ranks,
        }
    }

    /// All ranks as one group.
    pub fn all(numbering: &Numbering) -> Self {
        Self {
            members: Axis { extent: numbering.ranks(), stride: 1 },
            positions: [ONE, ONE],
            stages: vec![0],
            stage_ranks: numbering.stage_ranks,
        }
    }

    /// Groups in one stage.
    pub const fn per_stage(&self) -> u64 {
        self.positions[0].extent * self.positions[1].extent
    }

    /// Total number of groups.
    pub const fn count(&self) -> u64 {
        self.per_stage() * self.stages.len() as u64
    }

    /// The place of the first member of a group.
    pub fn first(&self, group: u64) -> u64 {
        let (stage, position) = (group / self.per_stage(), group % self.per_stage());
        let [inner, outer] = self.positions;
        let stage = self.stages.get(stage as usize).copied().unwrap_or(0);
        let within =
            position % inner.extent * inner.stride as u64 + position / inner.extent * outer.stride as u64;
        u64::from(stage) * self.stage_ranks + within
    }

    /// Writes the ranks of a group in the order of its members.
    pub fn members(&self, numbering: &Numbering, group: u64, ranks: &mut Vec<u32>) {
        let first = self.first(group).cast_signed();
        ranks.clear();
        ranks.extend(
            (0..self.members.extent)
                .map(|n| numbering.rank((first + n.cast_signed() * self.members.stride) as u64)),
        );
    }

    /// The groups that a rank belongs to, each with the rank's position in it. A rank may send in one group
    /// and receive in another.
    pub fn find(&self, numbering: &Numbering, rank: u32) -> impl Iterator<Item = (u64, u64)> + '_ {
        let place = numbering.place(rank).cast_signed();
        let Axis { extent, stride } = self.members;
        // Within a stage the digit determines it; across stages any member is valid.
        let is_digit = stride.unsigned_abs() < self.stage_ranks;
        let digit = if is_digit { place as u64 / stride.unsigned_abs().max(1) % extent } else { 0 };
        let candidates = if is_digit { digit..digit + 1 } else { 0..extent };
        candidates.filter_map(move |member| {
            let first = u64::try_from(place - member.cast_signed() * stride).ok()?;
            let (stage, within) = (first / self.stage_ranks, first % self.stage_ranks);
            let stage = self.stages.iter().position(|s| u64::from(*s) == stage)? as u64;
            let digit = |axis: Axis| within.checked_div(axis.stride as u64).map_or(0, |n| n % axis.extent);
            let [inner, outer] = self.positions;
            Some((stage * self.per_stage() + digit(outer) * inner.extent + digit(inner), member))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn groups_are_those_that_frameworks_make() {
        // Megatron's documentation of `initialize_model_parallel`: 16 ranks, tensor 2, pipeline 4.
        let numbering = Numbering::pipeline_outermost(4, 4);
        let list = |groups: &Groups| {
            let mut ranks = Vec::new();
            (0..groups.count())
                .map(|n| {
                    groups.members(&numbering, n, &mut ranks);
                    ranks.clone()
                })
                .collect::<Vec<_>>()
        };
        let tensor = list(&Groups::within(&numbering, vec![0, 1, 2, 3], 2, 1));
        assert_eq!((&tensor[0], &tensor[1], &tensor[7]), (&vec![0, 1], &vec![2, 3], &vec![14, 15]));
        let data = list(&Groups::within(&numbering, vec![0, 1, 2, 3], 2, 2));
        assert_eq!(data[..4], [vec![0, 2], vec![1, 3], vec![4, 6], vec![5, 7]]);
        assert_eq!(list(&Groups::between(&numbering, vec![0, 1], 1))[1], [1, 5]);
        assert_eq!(list(&Groups::between(&numbering, vec![3], -3))[3], [15, 3]);
        assert_eq!(list(&Groups::all(&numbering)), [(0..16).collect::<Vec<u32>>()]);
    }

    #[test]
    fn a_pipeline_inside_data_parallelism_is_renumbered() {
        // Tensor 2, pipeline 4, data 2, in this order: stage 0 has ranks 0, 1, 8, 9.
        let numbering = Numbering { stages: 4, stage_ranks: 4, block: 2 };
        let mut ranks = Vec::new();
        Groups::within(&numbering, vec![0, 1], 4, 1).members(&numbering, 1, &mut ranks);
        assert_eq!(ranks, [2, 3, 10, 11]);
        assert_eq!((numbering.stage(11), numbering.stage(8)), (1, 0));
    }

    proptest! {
        #[test]
        fn every_rank_finds_its_group(
            stages in 1_u64..5, data in 1_u64..7, inner in 1_u64..5, is_outer in any::<bool>(), at in 0_usize..3,
        ) {
            let stage_ranks = data * inner;
            let numbering = Numbering { stages, stage_ranks, block: if is_outer { stage_ranks } else { inner } };
            let all: Vec<u32> = (0..stages as u32).collect();
            let groups = match at {
                0 => Groups::within(&numbering, all, inner, 1),
                1 => Groups::within(&numbering, all, data, inner),
                _ => Groups::between(&numbering, all[..stages as usize - 1].to_vec(), 1),
            };
            let mut ranks = Vec::new();
            let mut seen = vec![0; numbering.ranks() as usize];
            for group in 0..groups.count() {
                groups.members(&numbering, group, &mut ranks);
                for (n, rank) in ranks.iter().enumerate() {
                    prop_assert_eq!(numbering.rank(numbering.place(*rank)), *rank);
                    prop_assert!(groups.find(&numbering, *rank).any(|found| found == (group, n as u64)));
                    seen[*rank as usize] += 1;
                }
            }
            for rank in 0..numbering.ranks() as u32 {
                prop_assert_eq!(groups.find(&numbering, rank).count(), seen[rank as usize]);
            }
            if at < 2 {
                prop_assert!(seen.iter().all(|times| *times == 1));
            }
        }
    }
}
