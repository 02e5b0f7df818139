//! Rules on ranks: parallel sizes that match the cluster, and formats supported by its accelerator.

use super::super::expert_count;
use super::super::{Plan, Sharding};
use super::advice::{nearest_divisors, nearest_where, with_values};
use crate::cluster::{Accelerator, Cluster};
use crate::model::Model;
use crate::precision::DataType;
use crate::problem::Problem;
use crate::run::Field as _;

pub(super) fn check(model: &Model, cluster: &Cluster, plan: &Plan, problems: &mut Vec<Problem>) {
    world(cluster, plan, problems);
    if let Some(experts) = expert_count(model) {
        expert_ranks(experts, plan, problems);
    }
    shard_group(plan, problems);
    segment(cluster, plan, problems);
    formats(cluster, plan, problems);
}

/// tensor x context x pipeline x data = devices.
fn world(cluster: &Cluster, plan: &Plan, problems: &mut Vec<Problem>) {
    let (world, devices) = (plan.world_size(), cluster.devices);
    if world == devices {
        return;
    }
    let inner = plan.tensor_parallel * plan.context_parallel * plan.pipeline_parallel;
    let problem = Problem::new(format!(
        "tensor {} x context {} x pipeline {} x data {} = {world} ranks, but the cluster has {devices} devices",
        plan.tensor_parallel, plan.context_parallel, plan.pipeline_parallel, plan.data_parallel
    ))
    .at_key("plan.data_parallel");
    let problem = if devices % inner == 0 {
        let data = devices / inner;
        problem
            .hint(format!("use data_parallel {data}, or omit it; or set cluster.devices to {world}"))
            .remedy("plan.data_parallel", data)
    } else {
        problem.hint(format!("set cluster.devices to {world}, or change a parallel size"))
    };
    problems.push(problem.remedy("cluster.devices", world));
}

/// Megatron's rule: expert_tensor x expert x expert_data = tensor x context x data.
fn expert_ranks(experts: u64, plan: &Plan, problems: &mut Vec<Problem>) {
    if plan.expert_parallel == 1 {
        return;
    }
    let ranks = plan.tensor_parallel * plan.context_parallel * plan.data_parallel;
    let wanted = plan.expert_parallel.saturating_mul(plan.expert_tensor_parallel);
    if !ranks.is_multiple_of(wanted) {
        let works = |n: u64| ranks.is_multiple_of(n.saturating_mul(plan.expert_tensor_parallel));
        problems.push(
            with_values(Problem::new(format!(
                "{} expert-parallel x {} expert-tensor-parallel ranks do not divide the {ranks} ranks of a pipeline stage (tensor x context x data)",
                plan.expert_parallel, plan.expert_tensor_parallel
            ))
            .at_key("plan.expert_parallel"), &nearest_where(experts, plan.expert_parallel, works)),
        );
    }
}

/// Groups of ranks that share one copy divide the ranks that hold the same weights.
fn shard_group(plan: &Plan, problems: &mut Vec<Problem>) {
    let Sharding { zero_stage, group: Some(group), .. } = plan.sharding else { return };
    let ranks = plan.data_parallel * plan.context_parallel;
    if zero_stage > 0 && !ranks.is_multiple_of(group) {
        let of_size = |size: u64| Sharding { group: Some(size), ..plan.sharding }.write().to_plain();
        let sizes: Vec<String> = nearest_divisors(ranks, group).into_iter().map(of_size).collect();
        problems.push(with_values(
            Problem::new(format!(
                "the group size {group} does not divide the {ranks} ranks (data x context) of sharding"
            ))
            .at_key("plan.sharding"),
            &sizes,
        ));
    }
}

/// A segment is a part of a scale-up domain.
fn segment(cluster: &Cluster, plan: &Plan, problems: &mut Vec<Problem>) {
    let whole = cluster.scale_up.domain_size;
    let Some(segment) = plan.segment.filter(|segment| *segment > whole) else { return };
    problems.push(
        Problem::new(format!("a segment of {segment} devices exceeds the scale-up domain of {whole}"))
            .at_key("plan.segment")
            .hint(format!("use at most {whole}, or `whole`"))
            .remedy("plan.segment", whole)
            .remedy("plan.segment", "whole"),
    );
}

/// Every kind of accelerator multiplies in the format of the plan.
fn formats(cluster: &Cluster, plan: &Plan, problems: &mut Vec<Problem>) {
    let compute = plan.precision.compute;
    let lacks = |kind: &&Accelerator| !kind.peak.contains_key(&compute);
    let Some(accelerator) = cluster.kinds().map(|(kind, _)| &kind.accelerator).find(lacks) else { return };
    let peak = &accelerator.peak;
    let known: Vec<&str> =
        DataType::ALL.into_iter().filter(|t| peak.contains_key(t)).map(DataType::name).collect();
    let because = match compute {
        DataType::Mxfp8 if peak.contains_key(&DataType::Fp8) => " (its fp8 has no block scales in hardware)",
        _ => "",
    };
    problems.push(
        Problem::new(format!("{} does not support GEMMs in {compute}{because}", accelerator.name))
            .at_key("plan.precision.preset")
            .hint(format!("supported: {}", known.join(", "))),
    );
}
