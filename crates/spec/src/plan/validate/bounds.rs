//! Limits on the numbers of a plan. All later rules, and all arithmetic in 64 bits, rely on them.

use super::super::Plan;
use crate::problem::Problem;

/// More devices than any cluster. It keeps every product of parallel sizes inside 64 bits.
pub(crate) const MOST_DEVICES: u64 = 10_000_000;

pub(super) fn check(plan: &Plan) -> Vec<Problem> {
    let mut problems = Vec::new();
    let counts = [
        ("plan.tensor_parallel", plan.tensor_parallel, MOST_DEVICES),
        ("plan.pipeline_parallel", plan.pipeline_parallel, MOST_DEVICES),
        ("plan.virtual_stages", plan.virtual_stages, 10_000),
        ("plan.context_parallel", plan.context_parallel, MOST_DEVICES),
        ("plan.data_parallel", plan.data_parallel, MOST_DEVICES),
        ("plan.expert_parallel", plan.expert_parallel, MOST_DEVICES),
        ("plan.expert_tensor_parallel", plan.expert_tensor_parallel, MOST_DEVICES),
        ("plan.micro_batch", plan.micro_batch, 1_000_000),
        ("plan.global_batch", plan.global_batch, 1_000_000_000),
        ("plan.sequence_length", plan.sequence_length, 1_000_000_000),
        ("plan.vocabulary_multiple", plan.vocabulary_multiple, 1_000_000),
        ("plan.sharding", plan.sharding.group.unwrap_or(1), MOST_DEVICES),
        ("plan.segment", plan.segment.unwrap_or(1), MOST_DEVICES),
        ("plan.lora_rank", plan.lora.as_ref().map_or(1, |lora| lora.rank), 65_536),
        ("plan.document_length", plan.document_length.unwrap_or(1), 1_000_000_000),
    ];
    for (key, n, most) in counts {
        if !(1..=most).contains(&n) {
            problems.push(outside(key, &n.to_string(), &format!("a whole number from 1 to {most}")));
        }
    }
    // The world size must stay countable, not only each of its factors.
    if problems.is_empty() {
        let world = [plan.tensor_parallel, plan.context_parallel, plan.pipeline_parallel, plan.data_parallel]
            .into_iter()
            .fold(1_u64, u64::saturating_mul);
        if world > MOST_DEVICES {
            let message = "the product of the parallel sizes exceeds the ranks of any cluster";
            problems
                .push(Problem::new(message).at_key("plan.data_parallel").hint("reduce the parallel sizes"));
        }
        if plan.pipeline_parallel.saturating_mul(plan.virtual_stages) > 100_000 {
            problems.push(outside(
                "plan.virtual_stages",
                &plan.virtual_stages.to_string(),
                "fewer than 100,000 stages in total",
            ));
        }
    }
    if plan.sharding.zero_stage > 3 {
        problems.push(outside(
            "plan.sharding",
            &plan.sharding.zero_stage.to_string(),
            "a ZeRO stage from 0 to 3",
        ));
    }
    let numbers = [
        ("plan.expert_imbalance", plan.expert_imbalance, 1.0, 1e4),
        ("plan.document_length_cv", plan.document_length_cv, 0.0, 100.0),
        ("plan.expert_capacity", plan.expert_capacity.unwrap_or(1.0), 1e-3, 1e4),
        ("plan.offload.optimizer", plan.offload.optimizer, 0.0, 1.0),
        ("plan.offload.activations", plan.offload.activations, 0.0, 1.0),
        ("plan.offload.parameters", plan.offload.parameters, 0.0, 1.0),
    ];
    for (key, x, least, most) in numbers {
        // False for NaN too.
        if !(least..=most).contains(&x) {
            problems.push(outside(key, &x.to_string(), &format!("a number from {least} to {most}")));
        }
    }
    if plan
        .layers_per_stage
        .as_ref()
        .is_some_and(|list| list.len() > 100_000 || list.iter().any(|n| *n > 1_000_000))
    {
        problems.push(outside("plan.layers_per_stage", "more", "at most 100000 stages of 1000000 layers"));
    }
    problems
}

fn outside(key: &str, found: &str, expected: &str) -> Problem {
    Problem::new(format!("expected {expected}, found {found}")).at_key(key)
}
