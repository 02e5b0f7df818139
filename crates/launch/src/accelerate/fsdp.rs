//! FSDP as accelerate configures it, and its meshes.
//!
//! Responsible for: both versions of FSDP, hybrid sharding by nodes or by mesh, and meshes that must contain
//! all processes.

use super::software::software;
use crate::RemarkKind;
use crate::fields::Fields;
use railwright_spec::plan::{ContextKind, Recompute, Sharding};
use railwright_spec::problem::Problem;

pub(crate) fn read(fields: &mut Fields<'_>) {
    let at = |key: &str| format!("fsdp_config.fsdp_{key}");
    let version = fields.count(&at("version")).unwrap_or(1);
    if !matches!(version, 1 | 2) {
        let message = format!("expected 1 or 2, found {version}");
        return fields.problem(Problem::new(message), &at("version"));
    }
    let group = parallelism(fields);
    let (strategy_path, reshard_path) = (at("sharding_strategy"), at("reshard_after_forward"));
    let strategy = fields.word(&strategy_path);
    let source = if strategy.is_some() { &strategy_path } else { &reshard_path };
    let reshard = match fields.document.get(&reshard_path).map(|entry| entry.data.plain()) {
        // Older files name the strategy here.
        Some(word) if word.contains("SHARD") => {
            fields.word(&reshard_path).map(|word| !word.contains("GRAD_OP"))
        }
        _ => fields.flag(&reshard_path),
    };
    let full = |reshard_after_forward| Sharding { zero_stage: 3, group: None, reshard_after_forward };
    let none = Sharding { zero_stage: 0, group: None, reshard_after_forward: false };
    let mut sharding = if version == 2 {
        if strategy.is_some() && reshard.is_none() {
            fields.remark(RemarkKind::Conflict, &strategy_path, "has an effect only with `fsdp_version: 1`");
        }
        full(reshard.unwrap_or(true))
    } else {
        match strategy.as_deref().map(str::to_ascii_uppercase).as_deref() {
            None | Some("FULL_SHARD" | "1") => full(true),
            Some("SHARD_GRAD_OP" | "2") => full(false),
            Some("NO_SHARD" | "3") => none,
            Some("HYBRID_SHARD" | "4") => node(fields, full(true), &strategy_path),
            Some("HYBRID_SHARD_ZERO2" | "_HYBRID_SHARD_ZERO2" | "5") => {
                node(fields, full(false), &strategy_path)
            }
            Some(other) => {
                let names = "`FULL_SHARD`, `SHARD_GRAD_OP`, `NO_SHARD`, `HYBRID_SHARD`, `HYBRID_SHARD_ZERO2` or 1 to 5";
                let problem = Problem::new(format!("expected {names}, found `{other}`"));
                return fields.problem(problem, &strategy_path);
            }
        }
    };
    if let Some(group) = group {
        sharding.group = Some(group);
    }
    if fields.document.get(source).is_some() {
        fields.set("plan.sharding", &sharding, &source.clone());
    } else {
        fields.default("plan.sharding", &sharding, "FSDP shards over all ranks by default");
    }
    let path = at("offload_params");
    if fields.flag(&path) == Some(true) {
        // With FSDP, offloaded states are also stepped on the host.
        fields.set("plan.offload.parameters", &1.0, &path);
        fields.set("plan.offload.optimizer", &1.0, &path);
    }
    let path = at("activation_cpu_offload");
    if fields.flag(&path) == Some(true) {
        fields.set("plan.offload.activations", &1.0, &path);
    }
    let path = at("activation_checkpointing");
    match fields.flag(&path) {
        Some(true) => fields.set("plan.recompute", &Recompute::Full { layers: None }, &path),
        Some(false) if fields.document.get("gradient_checkpointing").is_none() => {
            fields.set("plan.recompute", &Recompute::None, &path);
        }
        _ => {}
    }
    let path = at("backward_prefetch");
    match fields.word(&path).map(|word| word.to_ascii_uppercase()).as_deref() {
        Some("NO_PREFETCH" | "NONE") => fields.set("plan.overlap.parameter_gather", &false, &path),
        _ => fields.default("plan.overlap.parameter_gather", &true, "FSDP prefetches parameters"),
    }
    fields.default("plan.overlap.gradient_reduce", &true, "FSDP overlaps reduction with the backward pass");
    fields.default(
        "plan.overlap.tensor",
        &false,
        "Hugging Face's tensor parallelism does not overlap \
        communication",
    );
    let path = "dynamo_config.dynamo_backend";
    let backend = fields.word(path).map(|word| word.to_ascii_lowercase());
    let compiled = backend.is_some_and(|backend| !matches!(backend.as_str(), "no" | "eager"));
    match (version, compiled) {
        (1, _) => software(fields, "fsdp1-2023", "FSDP 1"),
        (_, true) => software(fields, "torchtitan-2024-compile", "FSDP 2, compiled"),
        _ => software(fields, "torchtitan-2024-eager", "FSDP 2, eager"),
    }
}

/// Hybrid sharding: among the processes of a machine.
fn node(fields: &mut Fields<'_>, sharding: Sharding, path: &str) -> Sharding {
    let cluster = &fields.draft.spec().cluster;
    let group = cluster.devices_per_node.or(cluster.devices);
    if group.is_none() {
        let message =
            "shards within a node, but its process count is not set: pass it as in `--sharding hsdp:8`";
        fields.remark(RemarkKind::Unresolved, path, message);
    }
    Sharding { group, ..sharding }
}

/// Reads the mesh. Returns the ranks that share one copy, if there are several copies.
pub(crate) fn parallelism(fields: &mut Fields<'_>) -> Option<u64> {
    if !fields.document.has("parallelism_config") {
        return None;
    }
    let at = |key: &str| format!("parallelism_config.parallelism_config_{key}");
    let mut degree = |key: &str| fields.count(&at(key)).filter(|&n| n > 0).unwrap_or(1);
    let (replicate, shard, tensor) =
        (degree("dp_replicate_size"), degree("dp_shard_size"), degree("tp_size"));
    let (context, turned) = (degree("cp_size"), degree("sp_size"));
    let ranks = [replicate, shard, tensor, context, turned].into_iter().fold(1, u64::saturating_mul);
    let shard_path = at("dp_shard_size");
    if let Some(processes) = fields.draft.spec().cluster.devices
        && processes != ranks
    {
        let message = format!(
            "replicas {replicate} x shards {shard} x tensor {tensor} x context {context} x sequence {turned} \
             = {ranks} ranks, but `num_processes` is {processes}"
        );
        fields.problem(Problem::new(message), &shard_path);
        return None;
    }
    fields.set("cluster.devices", &ranks, &shard_path);
    fields.set("plan.data_parallel", &replicate.saturating_mul(shard), &shard_path);
    if fields.document.get(&at("tp_size")).is_some() {
        fields.set("plan.tensor_parallel", &tensor, &at("tp_size"));
    } else {
        fields.default("plan.tensor_parallel", &tensor, "accelerate uses no tensor parallelism by default");
    }
    if tensor > 1 {
        fields.default(
            "plan.sequence_parallel",
            &false,
            "Hugging Face's tensor parallelism does not shard norms",
        );
    }
    let strategy_path = at("cp_comm_strategy");
    let strategy = fields.word(&strategy_path);
    if context > 1 && turned > 1 {
        let message = "combined with `cp_size`; estimated as one context-parallel dimension";
        fields.remark(RemarkKind::NotModelled, &at("sp_size"), message);
    }
    let key = if fields.document.get(&at("cp_size")).is_some() { "cp_size" } else { "sp_size" };
    let both = context.saturating_mul(turned);
    if fields.document.get(&at(key)).is_some() {
        fields.set("plan.context_parallel", &both, &at(key));
    } else {
        fields.default("plan.context_parallel", &both, "accelerate uses no context parallelism by default");
    }
    if turned > context {
        fields.set("plan.context_kind", &ContextKind::Ulysses, &at("sp_size"));
    } else if context > 1 {
        match strategy.as_deref() {
            Some("alltoall") => fields.set("plan.context_kind", &ContextKind::Ring, &strategy_path),
            Some(_) => fields.set("plan.context_kind", &ContextKind::AllGather, &strategy_path),
            None => fields.default(
                "plan.context_kind",
                &ContextKind::AllGather,
                "accelerate gathers keys and values",
            ),
        }
    }
    (replicate > 1).then(|| shard.saturating_mul(context).saturating_mul(turned))
}
