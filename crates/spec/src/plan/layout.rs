//! Where the ranks of each parallel group lie: how many neighbours of a group share a scale-up domain.

use super::{Plan, RankOrder};
use serde::Serialize;

/// A process group seen from the hardware: `ranks` ranks, of which `per_domain` lie in one scale-up domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Group {
    /// Ranks in the group.
    pub ranks: u64,
    /// How many of them share one scale-up domain (at least 1, at most `ranks`).
    pub per_domain: u64,
    /// Distance between neighbouring ranks of the group, in ranks.
    pub stride: u64,
}

impl Group {
    /// A group of `ranks` at a stride, on domains of `domain` ranks.
    pub fn new(ranks: u64, stride: u64, domain: u64) -> Self {
        let per_domain = (domain / stride.max(1)).clamp(1, ranks.max(1));
        Self { ranks: ranks.max(1), per_domain, stride: stride.max(1) }
    }

    /// Domains that the group touches.
    pub fn domains(&self) -> u64 {
        self.ranks.div_ceil(self.per_domain)
    }

    /// Whether all of it lies in one domain.
    pub fn is_inside_domain(&self) -> bool {
        self.per_domain >= self.ranks
    }
}

/// Every process group of a plan on domains of a given size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Layout {
    /// Tensor parallel.
    pub tensor: Group,
    /// Context parallel.
    pub context: Group,
    /// Data parallel with context (gradients of dense weights are reduced here).
    pub data: Group,
    /// The ranks that share one copy under sharding.
    pub shard: Group,
    /// Replicas of the shard group (hybrid sharding); one rank when all is sharded.
    pub replicate: Group,
    /// Expert parallel.
    pub expert: Group,
    /// Expert tensor parallel.
    pub expert_tensor: Group,
    /// Replicas of an expert's weights.
    pub expert_data: Group,
    /// The ranks that share one copy of an expert under sharding.
    pub expert_shard: Group,
    /// Replicas of that group.
    pub expert_replicate: Group,
    /// Neighbouring pipeline stages.
    pub pipeline: Group,
}

impl Layout {
    /// Lays a plan out on scale-up domains of `domain` ranks.
    pub fn new(plan: &Plan, domain: u64) -> Self {
        let tp = plan.tensor_parallel;
        let cp = plan.context_parallel;
        let pp = plan.pipeline_parallel;
        let (data_stride, pipeline_stride) = match plan.rank_order {
            RankOrder::TensorContextDataPipeline => (tp * cp, tp * cp * plan.data_parallel),
            RankOrder::TensorContextPipelineData => (tp * cp * pp, tp * cp),
        };
        let group = |ranks, stride| Group::new(ranks, stride, domain);
        // Context ranks are neighbours of data ranks in the gradient reduction; with pipeline between, they are not, but
        // the pair (context, data) still counts from the tensor stride.
        let data = match plan.rank_order {
            RankOrder::TensorContextDataPipeline => group(plan.data_parallel * cp, tp),
            RankOrder::TensorContextPipelineData if cp == 1 => group(plan.data_parallel, data_stride),
            RankOrder::TensorContextPipelineData => {
                let inner = Group::new(cp, tp, domain).per_domain;
                let outer = Group::new(plan.data_parallel, data_stride, domain).per_domain;
                Group { ranks: plan.data_parallel * cp, per_domain: inner * outer, stride: tp }
            }
        };
        let shard_ranks = plan.shard_group();
        let shard =
            Group { ranks: shard_ranks, per_domain: data.per_domain.min(shard_ranks), stride: data.stride };
        let replicas = (data.ranks / shard_ranks).max(1);
        let etp = plan.expert_tensor_parallel.max(1);
        let ep = plan.expert_parallel.max(1);
        // Experts are spread over tensor ranks first, then over context and data ranks, wherever these lie.
        let beyond_tensor = (etp * ep).div_ceil(tp.max(1));
        let (expert, expert_data) = match plan.rank_order {
            RankOrder::TensorContextPipelineData if ep > 1 && beyond_tensor > cp => {
                let inside = (tp * cp / etp).clamp(1, ep);
                let near = Group::new(inside, etp, domain).per_domain;
                let far = Group::new(ep.div_ceil(inside), data_stride, domain).per_domain;
                let expert = Group { ranks: ep, per_domain: (near * far).min(ep), stride: etp };
                let beyond = data_stride * beyond_tensor.div_ceil(cp.max(1));
                (expert, group(plan.expert_data_parallel(), beyond))
            }
            _ => (group(ep, etp), group(plan.expert_data_parallel(), etp * ep)),
        };
        // Hybrid sharding keeps as many copies of an expert as of everything else.
        let expert_shard_ranks =
            if plan.sharding.zero_stage == 0 { 1 } else { (expert_data.ranks / replicas).max(1) };
        let expert_shard = Group {
            ranks: expert_shard_ranks,
            per_domain: expert_data.per_domain.min(expert_shard_ranks),
            ..expert_data
        };
        let expert_copies = (expert_data.ranks / expert_shard_ranks).max(1);
        let expert_replicate = group(expert_copies, expert_data.stride * expert_shard_ranks);
        Self {
            tensor: group(tp, 1),
            context: group(cp, tp),
            data,
            shard,
            replicate: group(replicas, data.stride * shard_ranks),
            expert,
            expert_tensor: group(etp, 1),
            expert_data,
            expert_shard,
            expert_replicate,
            pipeline: group(pp, pipeline_stride),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_counts_its_neighbours_in_a_domain() {
        assert_eq!(Group::new(8, 1, 8).per_domain, 8);
        assert_eq!(Group::new(16, 4, 8).per_domain, 2);
        assert_eq!(Group::new(16, 8, 8).per_domain, 1);
        assert_eq!(Group::new(16, 8, 72).per_domain, 9);
        assert!(Group::new(4, 2, 8).is_inside_domain());
    }
}
