//! Ranks of torchtune: one device, or a mesh with FSDP 2.
//!
//! Responsible for: the recipe started by the commands in the comments, sharding and replicas, and the
//! generation. Does not infer the number of devices from a command with several.

use crate::RemarkKind;
use crate::accelerate::software;
use crate::fields::Fields;
use railwright_spec::human::shorten;
use railwright_spec::plan::{ContextKind, Sharding};
use railwright_spec::problem::Problem;

/// Recipe that reads a file, as far as the file shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Start {
    /// A recipe for one device.
    One(usize),
    /// A recipe for several.
    Several(usize),
    /// No recipe, or both kinds.
    Open,
}

/// The commands of the comments: `tune run lora_finetune_single_device --config ...`. A file belongs to one
/// recipe.
fn start(text: &str) -> Start {
    let mut found: Option<(bool, usize)> = None;
    for (index, line) in text.lines().enumerate() {
        let Some((_, command)) = line.split_once("tune run").filter(|_| line.trim_start().starts_with('#'))
        else {
            continue;
        };
        let is_one = command.split_whitespace().any(|word| word.ends_with("_single_device"));
        let is_several = command.split_whitespace().any(|word| word.ends_with("_distributed"));
        if is_one == is_several || found.is_some_and(|(known, _)| known != is_one) {
            return Start::Open;
        }
        found.get_or_insert((is_one, index + 1));
    }
    match found {
        Some((true, line)) => Start::One(line),
        Some((false, line)) => Start::Several(line),
        None => Start::Open,
    }
}

pub(super) fn read(fields: &mut Fields<'_>, text: &str) {
    let start = start(text);
    let line = |line: usize| text.lines().nth(line.saturating_sub(1)).map(shorten).unwrap_or_default();
    match start {
        Start::One(at) => {
            let source = line(at);
            fields.draft.set("cluster.devices", &1_u64, &source, Some(at));
            let message = "a comment mentions the recipe for one device: 1 device is assumed";
            fields.draft.remark(RemarkKind::Assumed, &source, Some(at), message);
        }
        Start::Several(at) => {
            let message = "an example in a comment: the number of devices is unknown";
            fields.draft.remark(RemarkKind::Unresolved, &line(at), Some(at), message);
        }
        Start::Open => {}
    }
    mesh(fields, start);
    let path = "fsdp_cpu_offload";
    if fields.flag(path) == Some(true) {
        // With FSDP, offloaded states are also stepped on the host.
        fields.set("plan.offload.parameters", &1.0, path);
        fields.set("plan.offload.optimizer", &1.0, path);
    }
    fields.undivided("torchtune");
    let compiled = fields.flag("compile") == Some(true);
    let is_mesh = matches!(start, Start::Several(_)) || fields.draft.spec().cluster.devices.is_none();
    match (compiled, is_mesh) {
        (true, _) => software(fields, "torchtitan-2024-compile", "FSDP 2, compiled"),
        (false, true) => software(fields, "torchtitan-2024-eager", "FSDP 2, eager"),
        (false, false) => software(fields, "torchtune-2024", "torchtune on one device"),
    }
}

/// Sharding and the ranks of the mesh; -1 shards over all remaining ranks.
fn mesh(fields: &mut Fields<'_>, start: Start) {
    let at = "data_parallel_shard_dim";
    let shard = match fields.integer(at) {
        Some(-1) | None => None,
        Some(n) => match u64::try_from(n).ok().filter(|&n| n > 0) {
            Some(n) => Some(n),
            None => return fields.problem(Problem::new(format!("expected -1, or 1 or more, found {n}")), at),
        },
    };
    let replicate = fields.count("data_parallel_replicate_dim").filter(|&n| n > 0).unwrap_or(1);
    let plan = &fields.draft.spec().plan;
    let tensor = plan.tensor_parallel.unwrap_or(1);
    let context = plan.context_parallel.unwrap_or(1);
    let reshard = fields.flag("fsdp_reshard_after_forward").unwrap_or(true);
    let mut sharding = Sharding { zero_stage: 3, group: None, reshard_after_forward: reshard };
    if let Some(shard) = shard {
        let ranks = [replicate, shard, tensor, context].into_iter().fold(1, u64::saturating_mul);
        fields.set("cluster.devices", &ranks, at);
        if replicate > 1 {
            sharding.group = Some(shard.saturating_mul(context));
        }
    } else if replicate > 1 {
        let message = "several replicas, each over the remaining ranks: pass `--sharding hsdp:N` with the ranks per replica";
        fields.remark(RemarkKind::Unresolved, "data_parallel_replicate_dim", message);
    }
    if !matches!(start, Start::One(_)) {
        fields.default("plan.sharding", &sharding, "torchtune's distributed recipes shard with FSDP 2");
        fields.default("plan.overlap.parameter_gather", &true, "FSDP prefetches parameters");
        let why = "FSDP overlaps reduction with the backward pass";
        fields.default("plan.overlap.gradient_reduce", &true, why);
    }
    if tensor > 1 {
        let why = "torchtune's tensor-parallel plans shard norms along the sequence";
        fields.default("plan.sequence_parallel", &true, why);
    }
    let path = "context_parallel_rotate_method";
    let method = fields.word(path);
    if context > 1 {
        match method.as_deref() {
            Some("alltoall") => fields.set("plan.context_kind", &ContextKind::Ring, path),
            Some(_) => fields.set("plan.context_kind", &ContextKind::AllGather, path),
            None => fields.default(
                "plan.context_kind",
                &ContextKind::AllGather,
                "torchtune gathers keys and values",
            ),
        }
    }
}
