//! Parallel sizes that a plan leaves open.

use super::part_counts::{expert_count, head_counts};
use super::{MOST_DEVICES, PlanSpec, validate};
use crate::cluster::Cluster;
use crate::greatest_common_divisor;
use crate::model::Model;
use crate::problem::{Problem, either};
use crate::run::{Section as _, Value};

/// Parallel sizes whose product is the world size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Degrees {
    pub(super) tensor: u64,
    pub(super) pipeline: u64,
    pub(super) context: u64,
    pub(super) data: u64,
    pub(super) expert: u64,
}

/// Resolves the parallel sizes: specified values, and a choice for the rest. Without any specified size, it
/// chooses the least tensor and pipeline parallelism with static memory of at most 55% of a device.
pub(super) fn resolve(spec: &PlanSpec, model: &Model, cluster: &Cluster) -> Result<Degrees, Problem> {
    let named = [
        ("plan.tensor_parallel", spec.tensor_parallel),
        ("plan.pipeline_parallel", spec.pipeline_parallel),
        ("plan.context_parallel", spec.context_parallel),
        ("plan.data_parallel", spec.data_parallel),
        ("plan.expert_parallel", spec.expert_parallel),
    ];
    for (key, value) in named {
        match value {
            Some(0) => return Err(Problem::new("a parallel size is at least 1, found 0").at_key(key)),
            Some(n) if n > MOST_DEVICES => {
                return Err(Problem::new(format!(
                    "{n} ranks exceed the largest supported number of devices"
                ))
                .at_key(key));
            }
            _ => {}
        }
    }
    let devices = cluster.devices;
    // A shard group of all ranks (FSDP) makes the model fit alone, so nothing is chosen.
    let is_open =
        named.iter().all(|(_, value)| value.is_none()) && spec.sharding.is_none_or(|s| s.zero_stage < 3);
    let chosen = if is_open { automatic(model, cluster) } else { None };
    let pick = |given: Option<u64>, index: usize| given.unwrap_or(chosen.map_or(1, |c: [u64; 3]| c[index]));
    let tensor = pick(spec.tensor_parallel, 0);
    let pipeline = pick(spec.pipeline_parallel, 1);
    let context = spec.context_parallel.unwrap_or(1);
    let expert = pick(spec.expert_parallel, 2);
    let inner = tensor.saturating_mul(pipeline).saturating_mul(context);
    let data = match spec.data_parallel {
        Some(data) => data,
        None if devices.is_multiple_of(inner) && devices >= inner => devices / inner,
        None => return Err(indivisible(spec, model, cluster, [tensor, pipeline, context])),
    };
    Ok(Degrees { tensor, pipeline, context, data, expert })
}

/// The error for tensor, pipeline and context sizes whose product does not divide the devices. Its remedies
/// are the nearest values of the largest size and the nearest numbers of whole nodes, each only if the whole
/// plan is valid with it.
fn indivisible(spec: &PlanSpec, model: &Model, cluster: &Cluster, sizes: [u64; 3]) -> Problem {
    let [tensor, pipeline, context] = sizes;
    let devices = cluster.devices;
    let inner = tensor.saturating_mul(pipeline).saturating_mul(context);
    let (key, size) = if tensor >= pipeline && tensor >= context {
        ("tensor_parallel", tensor)
    } else if pipeline >= context {
        ("pipeline_parallel", pipeline)
    } else {
        ("context_parallel", context)
    };
    let is_valid = |spec: &PlanSpec, cluster: &Cluster| {
        spec.resolve(model, cluster).is_ok_and(|plan| validate(model, cluster, &plan).is_empty())
    };
    // Only sizes and numbers that divide, so that their resolution does not come here again.
    let others = inner / size.max(1);
    let works_with = |value: &u64| {
        let mut changed = spec.clone();
        let is_set =
            i64::try_from(*value).is_ok_and(|n| matches!(changed.set(key, &Value::Integer(n)), Some(Ok(()))));
        is_set && is_valid(&changed, cluster)
    };
    let divides = |value: &u64| devices.is_multiple_of(others.saturating_mul(*value));
    let below = (1..size.min(devices + 1)).rev().filter(divides).find(works_with);
    let above = (size + 1..=devices / others.max(1)).filter(divides).find(works_with);
    let values: Vec<u64> = below.into_iter().chain(above).collect();
    let node = cluster.devices_per_node.max(1);
    let unit = (inner / greatest_common_divisor(inner, node)).saturating_mul(node);
    let is_buildable = |count: &u64| {
        (1..=MOST_DEVICES).contains(count) && is_valid(spec, &Cluster { devices: *count, ..cluster.clone() })
    };
    let down = devices / unit.max(1) * unit;
    let counts: Vec<u64> = [down, down.saturating_add(unit)].into_iter().filter(is_buildable).collect();

    let names = |list: &[u64]| either(&list.iter().map(u64::to_string).collect::<Vec<_>>());
    let hint = match (values.as_slice(), counts.as_slice()) {
        ([], []) if devices < inner => {
            format!("one replica needs {inner} devices: reduce a parallel size, or set cluster.devices")
        }
        ([], []) => "change a parallel size, or set cluster.devices".to_owned(),
        (values, []) => format!("use {}", names(values)),
        ([], counts) => format!("use {} devices, or change a parallel size", names(counts)),
        (values, counts) => format!("use a size of {}, or {} devices", names(values), names(counts)),
    };
    let problem = Problem::new(format!(
        "{devices} devices cannot be divided into replicas of {inner} (tensor {tensor} x pipeline {pipeline} x context \
         {context})"
    ))
    .at_key(format!("plan.{key}"))
    .hint(hint);
    let problem = values.iter().fold(problem, |problem, value| problem.remedy(format!("plan.{key}"), value));
    counts.iter().fold(problem, |problem, count| problem.remedy("cluster.devices", count))
}

/// Tensor, pipeline and expert-parallel sizes for a model without a layout; `None` if no sizes divide.
///
/// Static bytes per rank, mixed precision with ZeRO-1: 6 B per parameter of the rank (2 weights, 4 gradients)
/// and 12 B sharded over the data-parallel ranks.
fn automatic(model: &Model, cluster: &Cluster) -> Option<[u64; 3]> {
    let parameters = model.parameters();
    let routed = parameters.routed_experts as f64;
    let dense = parameters.total as f64 - routed;
    let room = cluster.accelerator.memory.get() * 0.55;
    let layers = model.num_layers();
    let heads = head_counts(model);
    let experts = expert_count(model);
    let mut candidates = Vec::new();
    for tensor in [1, 2, 4, 8] {
        let divides = heads
            .iter()
            .all(|(heads, kv)| heads % tensor == 0 && (*kv == 0 || kv % tensor == 0 || tensor % kv == 0));
        if tensor > cluster.scale_up.domain_size || !divides {
            continue;
        }
        for pipeline in (1..=layers.clamp(1, 64)).filter(|p| layers.is_multiple_of(*p)) {
            let inner = tensor * pipeline;
            if cluster.devices < inner || !cluster.devices.is_multiple_of(inner) {
                continue;
            }
            let ranks = cluster.devices / pipeline;
            let mut expert = 1;
            for e in 1..=experts.unwrap_or(1).min(ranks).min(cluster.scale_up.domain_size.max(8)) {
                if experts.is_some_and(|n| n % e == 0)
                    && ranks.is_multiple_of(e)
                    && (cluster.devices / inner).is_multiple_of(e)
                {
                    expert = e;
                }
            }
            let held_dense = dense / inner as f64;
            let held_routed = routed / (pipeline * expert) as f64;
            let data = (cluster.devices / inner) as f64;
            let expert_data = (ranks / expert) as f64;
            let bytes = held_dense * (6.0 + 12.0 / data) + held_routed * (6.0 + 12.0 / expert_data);
            candidates.push((bytes > room, inner, pipeline, bytes, [tensor, pipeline, expert]));
        }
    }
    let least_bytes = candidates.iter().all(|c| c.0);
    candidates
        .into_iter()
        .min_by(|a, b| if least_bytes { a.3.total_cmp(&b.3) } else { (a.0, a.1, a.2).cmp(&(b.0, b.1, b.2)) })
        .map(|candidate| candidate.4)
}
