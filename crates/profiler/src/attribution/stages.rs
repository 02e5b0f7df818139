//! Pipeline stages that compute longer than the others.
//!
//! Responsible for: compute time of every stage, and stages so far above the median (of two, above the other) that they delay the others.
//! Does not compare ranks of one stage: see stragglers.

use super::steps;
use crate::joined::Joined;
use crate::occupancy::Occupancy;
use crate::windows::Windows;
use railwright_step::Dimension;
use std::collections::BTreeMap;

/// Minimum ratio of a slow stage to the median: first and last stages have an embedding or a head by design.
const MORE: f64 = 1.1;

/// A stage with longer compute than the others.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct SlowStage {
    pub stage: u32,
    pub members: Vec<usize>,
    /// Compute time of the stage, and of the median stage, in nanoseconds.
    pub compute: i64,
    pub peers: i64,
}

impl SlowStage {
    /// Factor that scales its own times to those of the others.
    pub(super) fn usual(&self) -> f64 {
        self.peers as f64 / self.compute.max(1) as f64
    }
}

pub(super) fn slow_stages(joined: &Joined, occupancies: &[Occupancy], windows: &Windows) -> Vec<SlowStage> {
    let (from, to) = steps::closed(windows);
    let mut stages: BTreeMap<u32, Vec<(i64, usize)>> = BTreeMap::new();
    for (member, clock) in joined.clocks.clocks.iter().enumerate() {
        let of = |group: &&crate::groups::Group| {
            group.dimension.dimension == Dimension::Pipeline
                && group.ranks.as_ref().is_some_and(|ranks| ranks.contains(clock.rank))
        };
        let group = joined.groups.groups.iter().find(of);
        let place =
            group.and_then(|group| group.ranks.as_ref()?.ranks().iter().position(|&rank| rank == clock.rank));
        let Some((stage, on)) = place.zip(occupancies.get(member)) else { continue };
        stages.entry(stage as u32).or_default().push((on.compute.within(from, to), member));
    }
    let typical: Vec<(u32, i64, Vec<usize>)> = stages
        .into_iter()
        .map(|(stage, mut ranks)| {
            ranks.sort_unstable();
            let middle = ranks[(ranks.len() - 1) / 2].0;
            (stage, middle, ranks.into_iter().map(|rank| rank.1).collect())
        })
        .collect();
    let mut times: Vec<i64> = typical.iter().map(|stage| stage.1).collect();
    times.sort_unstable();
    let Some(&peers) = times.get(times.len().saturating_sub(1) / 2) else { return Vec::new() };
    typical
        .into_iter()
        .filter(|stage| peers > 0 && stage.1 as f64 > MORE * peers as f64)
        .map(|(stage, compute, members)| SlowStage { stage, members, compute, peers })
        .collect()
}
