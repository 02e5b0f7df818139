//! Kinds of device of a job, and of each pipeline stage.
//!
//! Responsible for: the context of every kind, and the rule of synchronous execution. The ranks of a stage
//! reduce and gather together, and replicas have equally many micro-batches, so a stage is as fast as its
//! slowest kind. Stages on different kinds have different times, which `layers_per_stage` can even out. A
//! collective of several kinds has the time of the kind with the slowest links, because every member of a
//! ring waits for the slowest link. Excludes replicas with unequal micro-batches.

use super::Costing;
use crate::partition::rank_stride;
use crate::software;
use railwright_spec::cluster::Cluster;
use railwright_spec::plan::Plan;
use std::ops::Range;

/// Tests whether a stage has ranks in a range.
fn has_ranks(plan: &Plan, stage: usize, ranks: &Range<u64>) -> bool {
    if ranks.is_empty() {
        return false;
    }
    let (stride, stages) = (rank_stride(plan).max(1), plan.pipeline_parallel.max(1));
    let (first, last) = (ranks.start / stride, (ranks.end - 1) / stride);
    last - first + 1 >= stages || (first..=last).any(|block| block % stages == stage as u64)
}

/// Kinds of device on a stage, the main kind first.
pub(crate) fn clusters_of_stage<'c>(
    cluster: &'c Cluster,
    plan: &Plan,
    stage: usize,
) -> impl Iterator<Item = &'c Cluster> {
    let main = has_ranks(plan, stage, &(0..cluster.main_devices())).then_some(cluster);
    let on_stage = move |pool: &&railwright_spec::cluster::Pool| has_ranks(plan, stage, &pool.ranks());
    main.into_iter().chain(cluster.pools.iter().filter(on_stage).map(|pool| pool.cluster.as_ref()))
}

impl<'a> Costing<'a> {
    /// True if devices are of several kinds.
    pub fn is_mixed(&self) -> bool {
        !self.machine.pools.is_empty()
    }

    /// The context of every kind of device, with its ranks; the main kind first.
    pub fn kinds(&self) -> Vec<Kind<'a>> {
        let of_pool = |pool: &'a crate::machine::PoolMachine| {
            let found = software::by_id(&self.plan.software).unwrap_or(self.software);
            let software = pool.machine.software(found, self.model, self.plan.precision.compute);
            let costing =
                Costing::with_software(self.model, &pool.cluster, self.plan, &pool.machine, software);
            Kind { ranks: pool.ranks.clone(), costing }
        };
        std::iter::once(Kind { ranks: 0..self.cluster.main_devices(), costing: self.clone() })
            .chain(self.machine.pools.iter().map(of_pool))
            .collect()
    }
}

/// One kind of device.
#[derive(Clone, Debug)]
pub struct Kind<'a> {
    ranks: Range<u64>,
    /// Its context.
    pub costing: Costing<'a>,
}

impl Kind<'_> {
    /// Tests whether any of the stages has ranks of this kind.
    pub fn is_on_any(&self, plan: &Plan, stages: &[usize]) -> bool {
        stages.iter().any(|&stage| has_ranks(plan, stage, &self.ranks))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::testing;
    use railwright_spec::plan::RankOrder;

    #[test]
    fn stages_follow_the_ranks_in_both_orders() {
        let mut plan = testing::plan();
        (plan.tensor_parallel, plan.data_parallel, plan.pipeline_parallel) = (2, 4, 4);
        let stages = |plan: &Plan, ranks| (0..4).filter(|&s| has_ranks(plan, s, &ranks)).collect::<Vec<_>>();
        // Ranks 0 to 7 are stage 0, 8 to 15 stage 1, and so on.
        assert_eq!(stages(&plan, 0..16), [0, 1]);
        assert_eq!(stages(&plan, 16..32), [2, 3]);
        assert_eq!(stages(&plan, 12..20), [1, 2]);
        // With replicas outermost, eight ranks have all stages.
        plan.rank_order = RankOrder::TensorContextPipelineData;
        assert_eq!(stages(&plan, 24..32), [0, 1, 2, 3]);
        assert_eq!(stages(&plan, 28..32), [2, 3]);
        assert!(stages(&plan, 30..30).is_empty());
    }
}
