//! Settings that the plan's framework does not support.
//!
//! Responsible for: comparison of a plan with the features of its software generation. It warns and never
//! rejects: the estimate assumes support.

use super::super::{Plan, Recompute, RecomputeModule};
use crate::model::Model;
use crate::problem::Warning;
use crate::software::{self, Offers};
use std::collections::BTreeSet;

/// Warning with all unsupported settings; none for an unknown generation.
pub(super) fn check(model: &Model, plan: &Plan) -> Option<Warning> {
    let generation = software::by_id(&plan.software).ok()?;
    let missing = missing(model, plan, &generation.offers);
    (!missing.is_empty()).then(|| {
        Warning::new(
            "not-offered",
            format!(
                "{} does not support {}; the estimate assumes that it does",
                generation.id,
                missing.join(", ")
            ),
        )
    })
}

/// Tests whether the plan's framework supports all of its settings; true for an unknown generation.
pub fn is_offered(model: &Model, plan: &Plan) -> bool {
    software::by_id(&plan.software)
        .map_or(true, |generation| missing(model, plan, &generation.offers).is_empty())
}

/// Settings of the plan without support in the generation, as text.
fn missing(model: &Model, plan: &Plan, offers: &Offers) -> Vec<String> {
    let (pp, tp) = (plan.pipeline_parallel, plan.tensor_parallel);
    let stage = plan.sharding.zero_stage;
    let zero = offers.zero_stages.contains(&stage)
        && (pp == 1 || offers.zero_stages_with_pipeline.contains(&stage))
        && (tp == 1 || offers.zero_stages_with_tensor.contains(&stage));
    let together = match (pp > 1, tp > 1) {
        (true, true) => " with tensor and pipeline parallelism",
        (true, false) => " with pipeline parallelism",
        (false, true) => " with tensor parallelism",
        (false, false) => "",
    };
    let is_interleaved = plan.is_interleaved();
    let mut list: Vec<String> = [
        (tp > 1 && !offers.tensor, "tensor parallelism"),
        (tp > 1 && plan.sequence_parallel && !offers.sequence_parallel, "sequence parallelism"),
        (pp > 1 && !offers.pipeline, "pipeline parallelism"),
        (pp > 1 && is_interleaved && !offers.interleaving, "interleaved stages"),
        (plan.context_parallel > 1 && offers.context.is_empty(), "context parallelism"),
        (plan.expert_parallel > 1 && !offers.expert, "expert parallelism"),
        (
            stage == 3 && !plan.sharding.reshard_after_forward && !offers.keeps_gathered,
            "FSDP without resharding after the forward pass",
        ),
        (plan.sharding.group.is_some() && !offers.hybrid_sharding, "sharding over a subset of the replicas"),
    ]
    .into_iter()
    .filter(|(is_missing, _)| *is_missing)
    .map(|(_, name)| name.to_owned())
    .collect();
    if pp > 1 && offers.pipeline && !offers.schedules.contains(&plan.schedule) {
        list.push(format!("the schedule `{}`", name(&plan.schedule)));
    }
    if plan.context_parallel > 1 && !offers.context.is_empty() && !offers.context.contains(&plan.context_kind)
    {
        list.push(format!("context parallelism with {}", name(&plan.context_kind)));
    }
    // Without peers, no stage shards anything.
    let has_peers = plan.data_parallel.saturating_mul(plan.context_parallel) > 1;
    if has_peers && !zero {
        list.push(format!("ZeRO stage {stage}{together}"));
    }
    let of_stages = plan.stage_recompute.iter().flatten().flat_map(|stage| &stage.segments);
    let modules: BTreeSet<RecomputeModule> = std::iter::once(&plan.recompute)
        .filter(|_| plan.stage_recompute.is_none())
        .chain(of_stages)
        .filter_map(|policy| match policy {
            Recompute::Selective { modules, .. } => Some(modules),
            _ => None,
        })
        .flatten()
        .copied()
        .collect();
    let is_missing = |module: &&RecomputeModule| !offers.recomputes(**module, model);
    let other: Vec<String> = modules.iter().filter(is_missing).map(|m| m.name()).collect();
    if !other.is_empty() {
        list.push(format!("recompute of {}", other.join(", ")));
    }
    list.extend(hidden(plan, offers).into_iter().map(|what| format!("overlap of {what}")));
    list
}

/// Communication overlapped by the plan without support in the generation.
fn hidden(plan: &Plan, offers: &Offers) -> Vec<&'static str> {
    let (overlap, offered) = (plan.overlap, offers.overlap);
    let transfers = offers.overlaps_transfers(plan.schedule, plan.virtual_stages);
    let experts = offers.overlaps_experts(plan.pipeline_parallel, plan.virtual_stages);
    [
        (plan.tensor_parallel > 1 && overlap.tensor && !offered.tensor, "tensor-parallel communication"),
        (plan.expert_parallel > 1 && overlap.expert && !experts, "expert-parallel communication"),
        (plan.pipeline_parallel > 1 && overlap.pipeline && !transfers, "transfers between stages"),
    ]
    .into_iter()
    .filter(|(is_missing, _)| *is_missing)
    .map(|(_, what)| what)
    .collect()
}

fn name(value: &impl crate::run::Field) -> String {
    value.write().to_plain()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{PlanSpec, Schedule};
    use crate::{cluster, model};

    #[test]
    fn what_a_framework_lacks_is_named() {
        let model = model::by_name("llama-3-8b").expect("known");
        let cluster = cluster::by_name("dgx-h100", 64).expect("known");
        let message_of = |spec: &PlanSpec| {
            check(&model, &spec.resolve(&model, &cluster).expect("possible")).map(|w| w.message)
        };
        let pipelined =
            PlanSpec { tensor_parallel: Some(2), pipeline_parallel: Some(4), ..PlanSpec::default() };
        assert_eq!(message_of(&pipelined), None);
        let composer = PlanSpec { software: Some("fsdp1-2023".into()), ..pipelined.clone() };
        let message = message_of(&composer).expect("no pipeline there");
        assert!(
            message.contains("tensor parallelism, ") && message.contains("pipeline parallelism"),
            "{message}"
        );
        let zero_bubble = PlanSpec { schedule: Some(Schedule::ZbH2), ..pipelined };
        assert!(message_of(&zero_bubble).expect("not in Megatron").contains("the schedule `zb-h2`"));
    }
}
