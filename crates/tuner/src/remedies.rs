//! Remedies for a run that does not fit.
//!
//! Responsible for: candidate changes, least intrusive first. Does not evaluate them: the caller repeats the
//! search with each.

use railwright_spec::plan::{PlanSpec, Sharding};
use railwright_spec::software::Software;
use serde::Serialize;

/// A change that may make a training fit.
#[derive(Clone, Debug, PartialEq)]
pub struct Remedy {
    /// Changed setting.
    pub change: Change,
    /// The changed plan.
    pub specified: PlanSpec,
    /// Factor of the number of devices.
    pub times: u64,
}

/// Changed setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// Frees the parallel sizes for the search.
    FreeDegrees,
    /// Frees the micro-batch for the search.
    FreeMicroBatch,
    /// Frees recompute for the search.
    FreeRecompute,
    /// A loss that never holds all logits.
    FusedLoss,
    /// Shards parameters, gradients and optimizer states over all replicas.
    ShardEverything,
    /// Offloads optimizer states and their step to the host.
    OffloadOptimizer,
    /// Offloads activations to host memory.
    OffloadActivations,
    /// Offloads both.
    OffloadBoth,
    /// More devices.
    MoreDevices,
}

/// Every change that the settings do not include yet. `fused_loss`: the stack of the run with a fused loss,
/// if it may have one.
pub fn remedies(specified: &PlanSpec, fused_loss: Option<&Software>) -> Vec<Remedy> {
    let mut list = Vec::new();
    let mut add = |change, specified: PlanSpec, times| list.push(Remedy { change, specified, times });
    let has_degrees = specified.tensor_parallel.is_some()
        || specified.pipeline_parallel.is_some()
        || specified.context_parallel.is_some()
        || specified.data_parallel.is_some()
        || specified.expert_parallel.is_some();
    let freed = PlanSpec {
        tensor_parallel: None,
        pipeline_parallel: None,
        context_parallel: None,
        data_parallel: None,
        expert_parallel: None,
        expert_tensor_parallel: None,
        virtual_stages: None,
        layers_per_stage: None,
        ..specified.clone()
    };
    if specified.recompute.is_some() {
        add(Change::FreeRecompute, PlanSpec { recompute: None, ..specified.clone() }, 1);
    }
    if specified.micro_batch.is_some_and(|n| n > 1) {
        add(Change::FreeMicroBatch, PlanSpec { micro_batch: None, ..specified.clone() }, 1);
    }
    if has_degrees {
        add(Change::FreeDegrees, freed, 1);
    }
    if let Some(software) = fused_loss {
        let fused = PlanSpec { software: Some(software.id.clone()), ..specified.clone() };
        add(Change::FusedLoss, fused, 1);
    }
    if specified.sharding.is_none_or(|sharding| sharding.zero_stage < 3 || sharding.group.is_some()) {
        let all = Sharding { zero_stage: 3, group: None, reshard_after_forward: true };
        add(Change::ShardEverything, PlanSpec { sharding: Some(all), ..specified.clone() }, 1);
    }
    let (optimizer, activations) =
        (specified.offload_optimizer.is_none(), specified.offload_activations.is_none());
    if optimizer {
        add(Change::OffloadOptimizer, PlanSpec { offload_optimizer: Some(1.0), ..specified.clone() }, 1);
    }
    if activations {
        add(Change::OffloadActivations, PlanSpec { offload_activations: Some(1.0), ..specified.clone() }, 1);
    }
    if optimizer && activations {
        let both =
            PlanSpec { offload_optimizer: Some(1.0), offload_activations: Some(1.0), ..specified.clone() };
        add(Change::OffloadBoth, both, 1);
    }
    for times in [2, 4, 8, 16, 32, 64] {
        // A fixed number of replicas fixes the number of devices.
        add(Change::MoreDevices, PlanSpec { data_parallel: None, ..specified.clone() }, times);
    }
    list
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_levers_that_are_not_pulled_are_tried() {
        let changes =
            |specified: &PlanSpec| remedies(specified, None).iter().map(|r| r.change).collect::<Vec<_>>();
        let open = changes(&PlanSpec::default());
        assert!(open.contains(&Change::OffloadBoth) && open.contains(&Change::ShardEverything));
        assert!(!open.contains(&Change::FreeDegrees) && !open.contains(&Change::FreeRecompute));
        let pinned = PlanSpec {
            tensor_parallel: Some(8),
            recompute: Some(railwright_spec::plan::Recompute::None),
            offload_optimizer: Some(0.0),
            ..PlanSpec::default()
        };
        let changes = changes(&pinned);
        assert!(changes.contains(&Change::FreeDegrees) && changes.contains(&Change::FreeRecompute));
        assert!(!changes.contains(&Change::FusedLoss));
        assert!(!changes.contains(&Change::OffloadOptimizer) && !changes.contains(&Change::OffloadBoth));
    }

    #[test]
    fn a_fused_loss_keeps_the_rest_of_the_stack() {
        let stack = railwright_spec::software::by_id("torchtitan-2025").expect("known");
        let fused = stack.with_feature("fused-loss", "Hopper").expect("offered");
        let all = remedies(&PlanSpec::default(), Some(fused));
        let remedy = all.iter().find(|remedy| remedy.change == Change::FusedLoss).expect("tried");
        assert_eq!(remedy.specified.software.as_deref(), Some("torchtitan-2025+fused-loss"));
        assert!(fused.with_feature("fused-loss", "Hopper").is_none(), "it has one");
    }
}
