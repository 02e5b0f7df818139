//! Division of replicas, and parallel sizes.
//!
//! Responsible for: data parallelism with its copies, and tensor, context, pipeline and expert parallelism.
//! The number of copies depends on ranks and nodes unless the file sets the shards of a copy.

use super::values::{last, name};
use crate::RemarkKind;
use crate::fields::Fields;
use railwright_spec::plan::{ContextKind, Schedule, Sharding};

/// Sections with a degree, and the setting of a plan.
const DEGREES: [(&str, &str); 4] = [
    ("tp_config", "plan.tensor_parallel"),
    ("cp_config", "plan.context_parallel"),
    ("pp_config", "plan.pipeline_parallel"),
    ("ep_config", "plan.expert_parallel"),
];

pub(super) fn read(fields: &mut Fields<'_>) {
    for (section, key) in DEGREES {
        let section = format!("train_module.{section}");
        if fields.draft.is_open(key) {
            continue;
        }
        let path = format!("{section}.degree");
        match fields.document.has(&path).then(|| fields.integer(&path)).flatten() {
            Some(degree) if degree > 0 => fields.set(key, &degree.unsigned_abs(), &path),
            None if !fields.document.has(&format!("{section}._target_")) => {
                let _ = fields.take(&section);
                fields.default(key, &1_u64, "OLMo-core uses no parallelism without this section");
            }
            _ => open(fields, key, &path, "its size is not a number in this file"),
        }
    }
    context(fields);
    pipeline(fields);
    data(fields);
    let why = "FSDP overlaps reduction with the backward pass";
    fields.default("plan.overlap.gradient_reduce", &true, why);
    if fields.draft.spec().plan.tensor_parallel.is_some_and(|degree| degree > 1) {
        fields.default("plan.sequence_parallel", &true, "OLMo-core shards norms along the sequence");
    }
}

fn open(fields: &mut Fields<'_>, key: &str, path: &str, why: &str) {
    let (source, line) = fields.source(path);
    fields.draft.leave_open(key, &source, line, why);
    fields.remark(RemarkKind::Unresolved, path, format!("{why}, so it stays unset"));
}

/// How ranks share a sequence, by the constructor: `.llama3(...)` gathers, `.zig_zag(...)` passes in a ring.
fn context(fields: &mut Fields<'_>) {
    let target = "train_module.cp_config._target_";
    let balancer = name(fields, "train_module.cp_config.load_balancer");
    if fields.draft.spec().plan.context_parallel.is_none_or(|degree| degree < 2) {
        return;
    }
    let method = balancer.or_else(|| fields.word(target).map(|target| last(&target).to_owned()));
    let kind = match method.as_deref() {
        Some("llama3") => ContextKind::AllGather,
        Some("zig_zag") => ContextKind::Ring,
        Some("ulysses") => ContextKind::Ulysses,
        _ => return open(fields, "plan.context_kind", target, "its communication is unknown"),
    };
    fields.set("plan.context_kind", &kind, target);
}

fn pipeline(fields: &mut Fields<'_>) {
    let path = "train_module.pp_config.schedule";
    let schedule = name(fields, path);
    if fields.draft.spec().plan.pipeline_parallel.is_none_or(|degree| degree < 2) {
        return;
    }
    match schedule.as_deref() {
        Some("single_1F1B") => fields.set("plan.schedule", &Schedule::OneForwardOneBackward, path),
        Some("gpipe") => fields.set("plan.schedule", &Schedule::Gpipe, path),
        _ => open(fields, "plan.schedule", path, "its stages per rank are not in this file"),
    }
}

/// Sharding: over all ranks, over the ranks of a copy, or copies alone.
fn data(fields: &mut Fields<'_>) {
    let key = "plan.sharding";
    let section = "train_module.dp_config";
    if fields.draft.is_open(key) {
        return;
    }
    let path = format!("{section}.name");
    let kind = name(fields, &path);
    let number = |fields: &mut Fields<'_>, field: &str| {
        let path = format!("{section}.{field}");
        let n = fields.document.has(&path).then(|| fields.count(&path)).flatten();
        n.map(|n| (n, path))
    };
    let shard = number(fields, "shard_degree");
    let copies = number(fields, "num_replicas");
    let full = Sharding { zero_stage: 3, group: None, reshard_after_forward: true };
    match (kind.as_deref(), shard, copies) {
        (Some("fsdp"), ..) => fields.set(key, &full, &path),
        (Some("ddp"), ..) => fields.set(key, &Sharding::zero(0), &path),
        // One rank per copy shards nothing over replicas; ranks of a sequence still share parameters.
        (Some("hsdp"), Some((ranks, at)), _) if ranks > 0 => {
            let context = fields.draft.spec().plan.context_parallel;
            match context {
                Some(context) => {
                    let group = Some(ranks.saturating_mul(context));
                    fields.set(key, &Sharding { group, ..full }, &at);
                }
                None => open(fields, key, &at, "replicas depend on context parallelism"),
            }
        }
        (Some("hsdp"), _, Some((1, at))) => fields.set(key, &full, &at),
        (Some("hsdp"), _, Some((copies, at))) => {
            match (divided(fields, copies), fields.draft.spec().cluster.devices) {
                (Some(group), _) => fields.set(key, &Sharding { group: Some(group), ..full }, &at),
                (None, Some(_)) => open(fields, key, &at, "its replicas do not divide the ranks"),
                (None, None) => {
                    open(
                        fields,
                        key,
                        &at,
                        "ranks / replicas: pass `--sharding hsdp:N` with the ranks of a replica",
                    );
                }
            }
        }
        (Some("hsdp"), ..) => match nodes(fields).and_then(|nodes| divided(fields, nodes)) {
            Some(group) => fields.set(key, &Sharding { group: Some(group), ..full }, &path),
            None => {
                open(
                    fields,
                    key,
                    &path,
                    "one replica per node: pass `--sharding hsdp:N` with the ranks of a node",
                );
            }
        },
        (None, ..) if !fields.document.has(&format!("{section}._target_")) => {
            fields.default(key, &Sharding::zero(0), "OLMo-core does not shard without `dp_config`");
        }
        _ => open(fields, key, &path, "this kind of data parallelism is not known"),
    }
}

/// The number of nodes.
fn nodes(fields: &Fields<'_>) -> Option<u64> {
    let cluster = &fields.draft.spec().cluster;
    let per_node = cluster.devices_per_node.filter(|&n| n > 0)?;
    cluster.devices?.is_multiple_of(per_node).then(|| cluster.devices.map(|all| all / per_node))?
}

/// Ranks that share one of several copies: the ranks of a sequence count, those of tensor parallelism and of
/// stages do not. `DataParallelConfig.get_replicate_and_shard_degree` of OLMo-core.
fn divided(fields: &Fields<'_>, copies: u64) -> Option<u64> {
    let spec = fields.draft.spec();
    let parts = spec.plan.tensor_parallel?.checked_mul(spec.plan.pipeline_parallel?)?;
    let all = parts.checked_mul(copies).filter(|&all| all > 0)?;
    let devices = spec.cluster.devices?;
    devices.is_multiple_of(all).then(|| devices / all)
}

/// The devices of `launch`, a job of `num_nodes` nodes. Beaker's nodes have 8 GPUs unless `num_gpus` has
/// another number.
pub(super) fn devices(fields: &mut Fields<'_>) {
    let path = "launch.num_nodes";
    let Some(nodes) = fields.document.has(path).then(|| fields.count(path)).flatten().filter(|&n| n > 0)
    else {
        return;
    };
    let gpus = "launch.num_gpus";
    let given = fields.document.has(gpus).then(|| fields.count(gpus)).flatten().filter(|&n| n > 0);
    if given.is_none() {
        fields.remark(RemarkKind::Assumed, path, "OLMo-core's launcher takes 8 GPUs per node by default");
    }
    let per_node = given.unwrap_or(8);
    fields.set("cluster.devices", &nodes.saturating_mul(per_node), path);
    fields.set("cluster.devices_per_node", &per_node, path);
}
