//! Parallel sizes, sharding, pipelines and recompute of NeMo Automodel.

use crate::RemarkKind;
use crate::fields::Fields;
use railwright_spec::model::by_name;
use railwright_spec::plan::{Recompute, RecomputeModule, Schedule, Sharding};
use std::collections::BTreeSet;

const PIPELINE: &str = "distributed.pipeline";

pub(super) fn read(fields: &mut Fields<'_>) {
    let mut ranks = 1_u64;
    for (size, key) in [
        ("tp_size", "plan.tensor_parallel"),
        ("cp_size", "plan.context_parallel"),
        ("pp_size", "plan.pipeline_parallel"),
        ("ep_size", "plan.expert_parallel"),
    ] {
        let path = format!("distributed.{size}");
        let degree = sized(fields, &path);
        if size != "ep_size" {
            ranks = ranks.saturating_mul(degree.unwrap_or(1));
        }
        match degree {
            Some(degree) => fields.set(key, &degree, &path),
            None => fields.default(key, &1_u64, "NeMo Automodel uses 1 by default"),
        }
    }
    let path = "distributed.dp_size";
    if let Some(replicas) = sized(fields, path) {
        fields.set("cluster.devices", &replicas.saturating_mul(ranks), path);
    }
    let path = "distributed.sequence_parallel";
    if let Some(on) = fields.flag(path)
        && fields.draft.spec().plan.tensor_parallel.is_some_and(|tensor| tensor > 1)
    {
        fields.set("plan.sequence_parallel", &on, path);
    }
    sharding(fields);
    fields.default("plan.overlap.gradient_reduce", &true, "FSDP overlaps reduction with the backward pass");
    fields.default("plan.overlap.parameter_gather", &true, "FSDP prefetches parameters");
    let path = "distributed.enable_async_tensor_parallel";
    match fields.flag(path) {
        Some(on) => fields.set("plan.overlap.tensor", &on, path),
        None => fields.default("plan.overlap.tensor", &false, "async tensor parallelism is off by default"),
    }
    recompute(fields);
    pipeline(fields);
}

/// A size; none for `none`, `null` and 0, which leave it to the other sizes.
fn sized(fields: &mut Fields<'_>, path: &str) -> Option<u64> {
    let entry = fields.document.get(path)?;
    let shown = entry.data.plain();
    if matches!(shown.as_str(), "none" | "None" | "null" | "-1") {
        fields.take(path);
        return None;
    }
    fields.count(path).filter(|&n| n > 0)
}

fn sharding(fields: &mut Fields<'_>) {
    let path = if fields.document.get("distributed.strategy").is_some() {
        "distributed.strategy"
    } else {
        "distributed._target_"
    };
    let strategy = fields.word(path).unwrap_or_default().to_ascii_lowercase();
    let plan = &fields.draft.spec().plan;
    let (pipeline, experts) = (plan.pipeline_parallel.unwrap_or(1), plan.expert_parallel.unwrap_or(1));
    let context = plan.context_parallel.unwrap_or(1);
    let mut sharding = if strategy.contains("ddp") {
        Sharding { zero_stage: 0, group: None, reshard_after_forward: false }
    } else if strategy.contains("megatron") {
        let stage = fields.count("distributed.zero_dp_strategy").and_then(|stage| u8::try_from(stage).ok());
        let message = "Megatron's FSDP is estimated as FSDP 2";
        fields.remark(RemarkKind::NotModelled, path, message);
        Sharding::zero(stage.filter(|stage| *stage <= 3).unwrap_or(3))
    } else {
        // Stages of a pipeline keep gathered weights, and so does the parallelizer of experts
        // (`MoEParallelizerConfig`).
        let key = if experts > 1 {
            "distributed.moe.reshard_after_forward"
        } else {
            "distributed.reshard_after_forward"
        };
        let reshard = fields.flag(key).unwrap_or(pipeline == 1 && experts == 1);
        Sharding { zero_stage: 3, group: None, reshard_after_forward: reshard }
    };
    let copies_path = "distributed.dp_replicate_size";
    let copies = sized(fields, copies_path).filter(|&copies| copies > 1 && sharding.zero_stage > 0);
    if let Some(copies) = copies {
        match sized(fields, "distributed.dp_size") {
            Some(replicas) if replicas.is_multiple_of(copies) => {
                sharding.group = Some((replicas / copies).saturating_mul(context));
            }
            _ => {
                let message = "replicas of shards need the number of ranks: set it as in `--sharding hsdp:8`";
                fields.remark(RemarkKind::Unresolved, copies_path, message);
                return fields.draft.leave_open(
                    "plan.sharding",
                    copies_path,
                    None,
                    "depends on the number of ranks",
                );
            }
        }
    }
    if fields.document.get(path).is_some() {
        fields.set("plan.sharding", &sharding, path);
    } else {
        fields.default("plan.sharding", &sharding, "NeMo Automodel uses FSDP 2 by default");
    }
}

fn recompute(fields: &mut Fields<'_>) {
    let path = "distributed.activation_checkpointing";
    let word = fields.word(path).map(|word| word.to_ascii_lowercase());
    let full = Recompute::Full { layers: None };
    match word.as_deref() {
        Some("true" | "full") => fields.set("plan.recompute", &full, path),
        Some("selective") => {
            let modules = BTreeSet::from([RecomputeModule::Operators]);
            fields.set("plan.recompute", &Recompute::Selective { modules, layers: None }, path);
        }
        Some("false") => fields.set("plan.recompute", &Recompute::None, path),
        Some(_) => fields.remark(RemarkKind::Unresolved, path, "unknown, so recompute stays unset"),
        None => fields.default(
            "plan.recompute",
            &Recompute::None,
            "NeMo Automodel does not checkpoint by default",
        ),
    }
}

/// Micro-batches: a local batch on its own, or divided within a pipeline.
fn pipeline(fields: &mut Fields<'_>) {
    let local_path = "step_scheduler.local_batch_size";
    let local = fields.count(local_path).filter(|&n| n > 0);
    let stages = fields.draft.spec().plan.pipeline_parallel.unwrap_or(1);
    let micro_path = format!("{PIPELINE}.pp_microbatch_size");
    let micro = fields.count(&micro_path).filter(|&n| n > 0);
    let schedule_path = format!("{PIPELINE}.pp_schedule");
    let schedule = fields.word(&schedule_path).map(|word| word.to_ascii_lowercase());
    let per_stage_path = format!("{PIPELINE}.layers_per_stage");
    let per_stage = fields.count(&per_stage_path).filter(|&n| n > 0);
    if stages == 1 {
        if let Some(local) = local {
            fields.set("plan.micro_batch", &local, local_path);
        }
        return;
    }
    fields.set("plan.micro_batch", &micro.unwrap_or(1), &micro_path);
    if let Some(local) = local
        && let Some(global) = fields.draft.spec().plan.global_batch
        && global > local
    {
        let message = "the pipeline drains after each local batch; estimated as one pipeline of all micro-batches of a step, a lower bound on its bubble";
        fields.remark(RemarkKind::NotModelled, local_path, message);
    }
    let known = match schedule.as_deref() {
        Some("1f1b") | None => Some((Schedule::OneForwardOneBackward, false)),
        Some("interleaved1f1b") => Some((Schedule::OneForwardOneBackward, true)),
        Some("gpipe") => Some((Schedule::Gpipe, false)),
        Some("loopedbfs") => Some((Schedule::Gpipe, true)),
        Some("zbvzerobubble") => Some((Schedule::ZbV, false)),
        Some(_) => None,
    };
    let Some((schedule, several)) = known else {
        let message = "this schedule is not modelled, so it stays unset";
        fields.draft.leave_open("plan.schedule", &schedule_path, None, "not modelled");
        return fields.remark(RemarkKind::NotModelled, &schedule_path, message);
    };
    fields.set("plan.schedule", &schedule, &schedule_path);
    let name = fields.draft.spec().model.name.clone();
    let layers = name.and_then(|name| by_name(&name).ok()).map(|model| model.num_layers());
    match (several, per_stage, layers) {
        (true, Some(each), Some(layers)) => {
            let chunks = layers.div_ceil(each).div_ceil(stages).max(1);
            fields.set("plan.virtual_stages", &chunks, &per_stage_path);
            if !layers.is_multiple_of(chunks.saturating_mul(stages)) {
                fields.default("plan.uneven_stages", &true, "layers that the stages cannot share evenly");
            }
        }
        (true, ..) => {
            let message = "the stages of a rank depend on the model's layers, so their number is unknown";
            fields.remark(RemarkKind::Unresolved, &per_stage_path, message);
            fields.draft.leave_open("plan.virtual_stages", &per_stage_path, None, "depends on the layers");
        }
        (false, ..) => {}
    }
}
