//! Tilings of the world, and what was inferred from them.

use super::Lane;
use super::assign::Lists;
use crate::groups::{Group, Layout, RankSet, described};
use railwright_step::Dimension;
use serde::Serialize;

/// Consecutive sets of ranks with one size and one stride.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Tiling {
    /// Number of ranks in a set.
    pub size: u32,
    /// Distance from one rank of a set to the next.
    pub stride: u32,
}

impl Tiling {
    /// The first rank of a rank's set.
    pub fn first(self, rank: u32) -> u32 {
        let block = self.size.saturating_mul(self.stride).max(1);
        rank / block * block + rank % self.stride.max(1)
    }

    /// Ranks of the set that begins with `first`.
    pub fn ranks(self, first: u32) -> RankSet {
        RankSet::new(&(0..self.size).map(|k| first + k * self.stride).collect::<Vec<u32>>())
    }

    /// Tiling of a group with known ranks; `None` for a pipeline's.
    pub(super) fn of(group: &Group) -> Option<Self> {
        let ranks = group.ranks.as_ref()?;
        let dimension = group.description.as_deref().and_then(described).flatten();
        let stride = ranks.stride().filter(|_| dimension != Some(Dimension::Pipeline))?;
        Some(Self { size: ranks.len(), stride })
    }

    /// Tiling of one dimension of a layout.
    pub(super) fn of_dimension(layout: &Layout, dimension: Dimension) -> Option<Self> {
        let (size, stride) = layout.place(dimension)?;
        Some(Self { size, stride })
    }

    /// All tilings of a world, small sets first.
    pub(super) fn all(world: u32) -> Vec<Self> {
        let divides = |n: u32| world.is_multiple_of(n);
        let sizes = (2..=world).filter(|&size| divides(size));
        sizes
            .flat_map(|size| {
                let strides = (1..=world / size).filter(move |&stride| (world / size).is_multiple_of(stride));
                strides.map(move |stride| Self { size, stride })
            })
            .collect()
    }

    /// Tilings allowed by the sizes of dimensions, including joined neighbouring dimensions.
    pub(super) fn of_layout(layout: &Layout) -> Vec<Self> {
        let sizes = layout.sizes();
        let mut tilings: Vec<Self> = Vec::new();
        let mut stride = 1_u32;
        for from in 0..sizes.len() {
            let mut size = 1_u32;
            for width in &sizes[from..] {
                size = size.saturating_mul(*width);
                if size > 1 {
                    tilings.push(Self { size, stride });
                }
            }
            stride = stride.saturating_mul(sizes[from]);
        }
        tilings.sort_unstable();
        tilings.dedup();
        tilings
    }
}

/// Sets of a lane, with the distance between the ends of its collectives.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Inferred {
    /// The lane.
    #[serde(skip)]
    pub lane: Lane,
    /// The sets.
    pub tiling: Tiling,
    /// Distance of ends within sets, in nanoseconds: median over ranks of the median over collectives,
    /// without clock offsets.
    #[serde(rename = "apart_ns")]
    pub apart: f64,
    /// The best rejected sets, with the same distance.
    pub next: Option<(Tiling, f64)>,
    /// The set of all ranks, if its ends are as close and the sets across smaller groups were selected.
    pub or: Option<(Tiling, f64)>,
}

/// Maximum ratio of the distances between ends in different sets to those within sets, if larger sets are one
/// group. From the second figure on they are not; in between, the answer is unknown.
pub(super) const ONE: f64 = 1.5;

pub(super) const NOT_ONE: f64 = 2.5;

/// Evidence of one stream's ends for all tilings, the best first.
pub(super) struct Scored<'a> {
    pub(super) lane: Lane,
    pub(super) lists: &'a Lists,
    pub(super) scores: Vec<Score>,
}

/// Ratio of two distances, with a floor for both.
pub(super) fn times(apart: f64, best: f64) -> f64 {
    (apart + ALIKE) / (best + ALIKE)
}

/// Constant added to both distances before a comparison, in nanoseconds: recorders round to a microsecond.
const ALIKE: f64 = 500.0;

/// Evidence of one stream's ends for a tiling.
#[derive(Clone, Debug)]
pub(super) struct Score {
    pub(super) tiling: Tiling,
    /// Median distance over pairs of ranks plus the contradiction to known clocks, in nanoseconds.
    pub(super) apart: f64,
    /// Contradiction to known clock offsets, in nanoseconds.
    pub(super) against: f64,
    /// Pairs of ranks with the distance of their ends, in nanoseconds.
    pub(super) pairs: Vec<(u32, u32, f64)>,
}
