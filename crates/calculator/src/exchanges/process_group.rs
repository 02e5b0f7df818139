//! Ranks of a stage that take part in an exchange, by the name of the group.
//!
//! Responsible for: a group's size and stride in the layout, and its digit in a stage's own numbering
//! (tensor, context, data from the inside). Excludes the numbering of ranks of the whole run, which depends
//! on the rank order.

use railwright_spec::plan::{Group, Layout, Plan};

/// A group of a stage's ranks, or ranks with the same index in two stages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ProcessGroup {
    /// Tensor parallel.
    Tensor,
    /// Context parallel.
    Context,
    /// Data parallel with context.
    Data,
    /// The ranks that share one copy under sharding.
    Shard,
    /// Replicas of the shard groups.
    Replicate,
    /// Expert parallel.
    Expert,
    /// Expert tensor parallel.
    ExpertTensor,
    /// Replicas of an expert's weights.
    ExpertData,
    /// The ranks that share one copy of an expert under sharding.
    ExpertShard,
    /// Replicas of the expert shard groups.
    ExpertReplicate,
    /// Ranks with the same index in a stage and in a later stage.
    Stages(i64),
    /// All ranks of the run.
    All,
}

impl ProcessGroup {
    /// Group in a layout.
    pub fn group(self, layout: &Layout) -> Group {
        match self {
            Self::Tensor => layout.tensor,
            Self::Context => layout.context,
            Self::Data => layout.data,
            Self::Shard => layout.shard,
            Self::Replicate => layout.replicate,
            Self::Expert => layout.expert,
            Self::ExpertTensor => layout.expert_tensor,
            Self::ExpertData => layout.expert_data,
            Self::ExpertShard => layout.expert_shard,
            Self::ExpertReplicate => layout.expert_replicate,
            Self::Stages(_) | Self::All => layout.pipeline,
        }
    }

    /// Members among the ranks of a stage: their number, and their distance in the stage's own numbering.
    /// `None` if they are not all in one stage. Experts are distributed over tensor, context and data
    /// ranks in this order (Megatron's rule).
    pub fn axis(self, plan: &Plan, layout: &Layout) -> Option<(u64, u64)> {
        let tensor = plan.tensor_parallel;
        let expert_tensor = plan.expert_tensor_parallel.max(1);
        let experts = expert_tensor * plan.expert_parallel.max(1);
        let stride = match self {
            Self::Tensor | Self::ExpertTensor => 1,
            Self::Context | Self::Data | Self::Shard => tensor,
            Self::Replicate => tensor * layout.shard.ranks,
            Self::Expert => expert_tensor,
            Self::ExpertData | Self::ExpertShard => experts,
            Self::ExpertReplicate => experts * layout.expert_shard.ranks,
            Self::Stages(_) | Self::All => return None,
        };
        Some((self.group(layout).ranks, stride))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use railwright_spec::cluster;
    use railwright_spec::model::by_name;
    use railwright_spec::plan::RankOrder;

    /// With the pipeline outermost, a stage's numbering is that of the run, so both descriptions must agree.
    #[test]
    fn axes_are_the_strides_of_the_layout() {
        let model = by_name("mixtral-8x7b").expect("in the catalogue");
        let cluster = cluster::by_name("dgx-h100", 128).expect("a preset");
        let mut plan = Plan::default_for(&model, &cluster).expect("possible");
        plan.tensor_parallel = 2;
        plan.context_parallel = 2;
        plan.pipeline_parallel = 2;
        plan.data_parallel = 16;
        plan.expert_parallel = 4;
        plan.expert_tensor_parallel = 2;
        plan.sharding.zero_stage = 3;
        plan.sharding.group = Some(8);
        plan.rank_order = RankOrder::TensorContextDataPipeline;
        let layout = Layout::new(&plan, 8);
        for process_group in [
            ProcessGroup::Tensor,
            ProcessGroup::Context,
            ProcessGroup::Data,
            ProcessGroup::Shard,
            ProcessGroup::Replicate,
            ProcessGroup::Expert,
            ProcessGroup::ExpertTensor,
            ProcessGroup::ExpertData,
            ProcessGroup::ExpertShard,
            ProcessGroup::ExpertReplicate,
        ] {
            let group = process_group.group(&layout);
            assert_eq!(
                process_group.axis(&plan, &layout),
                Some((group.ranks, group.stride)),
                "{process_group:?}"
            );
            assert!(64_u64.is_multiple_of(group.ranks * group.stride), "{process_group:?} {group:?}");
        }
        assert_eq!(ProcessGroup::Stages(1).axis(&plan, &layout), None);
    }
}
