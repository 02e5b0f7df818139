//! How ranks share a model: the engine, its copies and shards, sequences, and formats of numbers.

use crate::RemarkKind;
use crate::accelerate::software;
use crate::deepspeed;
use crate::fields::Fields;
use crate::narrow::pure;
use railwright_spec::plan::{ContextKind, Optimizer, PrecisionPreset, Sharding};
use railwright_spec::precision::DataType;

pub(super) fn sharding(fields: &mut Fields<'_>) {
    let path = "dist_config.name";
    let key = "plan.sharding";
    let reshards = fields.flag("dist_config.reshard_after_forward") != Some(false);
    let copies = fields.count("mp_replicate_size").filter(|&n| n > 1);
    let ranks = fields.count("mp_shard_size").filter(|&n| n > 0);
    let _ = fields.take("dp_size");
    if let Some(ranks) = ranks {
        let all = ranks.saturating_mul(copies.unwrap_or(1));
        fields.set("cluster.devices", &all, "mp_shard_size");
    }
    let (source, line) = fields.source(path);
    let name = fields.word(path);
    match name.as_deref() {
        Some("fsdp2" | "fsdpturbo") => {
            let full = Sharding { zero_stage: 3, group: None, reshard_after_forward: reshards };
            match (copies, ranks) {
                (None, _) => fields.set(key, &full, path),
                (Some(_), Some(_)) => fields.set(key, &Sharding { group: ranks, ..full }, "mp_shard_size"),
                (Some(_), None) => {
                    let why = "the ranks of a replica depend on the number of devices";
                    fields.draft.leave_open(key, &source, line, why);
                    fields.remark(RemarkKind::Unresolved, "mp_replicate_size", why);
                }
            }
            let experts = "dist_config.ep_size";
            if let Some(n) = fields.document.has(experts).then(|| fields.count(experts)).flatten() {
                fields.set("plan.expert_parallel", &n.max(1), experts);
            }
            let offload = "dist_config.offload_params";
            if fields.flag(offload) == Some(true) {
                fields.set("plan.offload.parameters", &1.0, offload);
                fields.set("plan.offload.optimizer", &1.0, offload);
            }
            fields.default(
                "plan.overlap.gradient_reduce",
                &true,
                "FSDP overlaps reduction with the backward pass",
            );
            fields.default("plan.overlap.parameter_gather", &true, "FSDP prefetches parameters");
            software(fields, "torchtitan-2024-eager", "FSDP 2, eager");
        }
        Some("deepspeed") => {
            if fields.document.has("deepspeed_file") {
                deepspeed::shards(fields, "deepspeed_file.");
            } else {
                let why = "the stage is in DeepSpeed's file, which is not here";
                fields.draft.leave_open(key, &source, line, why);
                fields.remark(RemarkKind::Unresolved, path, format!("{why}: `{key}` stays unset"));
            }
            let _ = fields.take("deepspeed");
            software(fields, "deepspeed-2024", "DeepSpeed");
        }
        Some(_) => {
            let why = "this kind of distribution is not known";
            fields.draft.leave_open(key, &source, line, why);
            fields.remark(RemarkKind::Unresolved, path, format!("{why}: `{key}` stays unset"));
        }
        None => {
            fields.default(key, &Sharding::zero(0), "replicas, as no `dist_config` is given");
            software(fields, "transformers-2026", "Hugging Face's models, eager");
        }
    }
}

pub(super) fn context(fields: &mut Fields<'_>) {
    let path = "cp_mode";
    let mode = fields.word(path);
    if fields.draft.spec().plan.context_parallel.is_none_or(|ranks| ranks < 2) {
        return;
    }
    match mode.as_deref() {
        Some("ulysses") => fields.set("plan.context_kind", &ContextKind::Ulysses, path),
        None => fields.default(
            "plan.context_kind",
            &ContextKind::Ulysses,
            "LLaMA-Factory divides heads by default",
        ),
        Some(_) => {
            let (source, line) = fields.source(path);
            let why = "its communication is unknown";
            fields.draft.leave_open("plan.context_kind", &source, line, why);
            fields.remark(RemarkKind::Unresolved, path, format!("{why}: `plan.context_kind` stays unset"));
        }
    }
}

/// Products in bfloat16 unless `bf16` is off; weights as in the checkpoint.
pub(super) fn precision(fields: &mut Fields<'_>) {
    let path = "bf16";
    match fields.flag(path) {
        Some(false) => return fields.set("plan.precision.preset", &PrecisionPreset::Fp32, path),
        Some(true) => fields.set("plan.precision.preset", &PrecisionPreset::Bf16, path),
        None => {
            let why = "LLaMA-Factory computes in bfloat16 by default";
            fields.default("plan.precision.preset", &PrecisionPreset::Bf16, why);
        }
    }
    // DeepSpeed keeps 32-bit copies of what it trains.
    let is_deepspeed =
        fields.draft.spec().plan.software.as_deref().is_some_and(|id| id.starts_with("deepspeed"));
    if is_deepspeed || fields.draft.spec().plan.optimizer == Some(Optimizer::Lora) {
        return;
    }
    pure(fields, "model", DataType::Bf16, DataType::Fp32);
    let message = "weights have the format of the checkpoint: bfloat16 is assumed, without 32-bit copies";
    fields.remark(RemarkKind::Assumed, "model", message);
}
