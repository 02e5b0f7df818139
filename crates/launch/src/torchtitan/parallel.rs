//! torchtitan's meshes and batches.
//!
//! Responsible for: replicas, shards and the rest; the rule that experts borrow ranks; sequences per rank,
//! per micro-batch and per step. Impossible meshes are errors.

use crate::RemarkKind;
use crate::fields::Fields;
use railwright_spec::plan::{ContextKind, Sharding};
use railwright_spec::problem::Problem;
use railwright_spec::software::by_id;

const SHARD: &str = "parallelism.data_parallel_shard_degree";
const REPLICATE: &str = "parallelism.data_parallel_replicate_degree";
const RESHARD: &str = "parallelism.fsdp_reshard_after_forward";

pub(super) fn read(fields: &mut Fields<'_>, is_whole: bool) {
    let world = world(fields);
    mesh(fields, is_whole, world);
    tensor(fields);
    experts(fields);
    context(fields, is_whole);
    batch(fields, is_whole);
}

/// Total ranks, if set by a launcher.
fn world(fields: &mut Fields<'_>) -> Option<u64> {
    if let Some(path) = ["nproc_per_node", "nnodes"].into_iter().find(|path| fields.is_auto(path)) {
        let (source, line) = fields.source(path);
        let why = "the number is known only at run time";
        fields.draft.leave_open("cluster.devices", &source, line, why);
        fields.remark(RemarkKind::Unresolved, path, "the number is known only at run time: pass --gpus");
        return None;
    }
    let per_node = fields.count("nproc_per_node")?;
    let nodes = fields.count("nnodes").unwrap_or(1);
    let world = per_node.checked_mul(nodes).filter(|&n| n > 0)?;
    fields.set("cluster.devices", &world, "nproc_per_node");
    Some(world)
}

/// A degree that was set, 1 otherwise.
fn degree(value: Option<u64>) -> u64 {
    value.unwrap_or(1).max(1)
}

fn mesh(fields: &mut Fields<'_>, is_whole: bool, world: Option<u64>) {
    let replicate = fields.count(REPLICATE);
    let shard = fields.integer(SHARD);
    let reshard = fields.word(RESHARD);
    if !is_whole && replicate.is_none() && shard.is_none() && reshard.is_none() {
        return;
    }
    let plan = &fields.draft.spec().plan;
    let (tensor, context) = (degree(plan.tensor_parallel), degree(plan.context_parallel));
    let pipeline = degree(plan.pipeline_parallel);
    let reshard = match reshard.as_deref() {
        None | Some("default") => {
            let generation = by_id(plan.software.as_deref().unwrap_or("torchtitan-2024-eager")).ok();
            generation.is_none_or(|software| software.reshards_by_default(pipeline))
        }
        Some("always") => true,
        Some("never") => false,
        Some(other) => {
            let problem = Problem::new(format!("expected `default`, `always` or `never`, found `{other}`"));
            return fields.problem(problem, RESHARD);
        }
    };
    let copies = degree(replicate);
    let model_ranks = tensor.saturating_mul(context).saturating_mul(pipeline).saturating_mul(copies);
    let shard = match shard.unwrap_or(-1) {
        -1 => match world {
            Some(world) if world.is_multiple_of(model_ranks) => Some(world / model_ranks),
            Some(world) => {
                let message = format!(
                    "{world} ranks cannot be divided: replicas {copies} x context {context} x tensor {tensor} x \
                     pipeline {pipeline} = {model_ranks}"
                );
                return fields.problem(Problem::new(message), SHARD);
            }
            None => None,
        },
        n if n > 0 => u64::try_from(n).ok(),
        n => {
            let problem =
                Problem::new(format!("expected -1 for the rest, or a number of 1 or more, found {n}"));
            return fields.problem(problem, SHARD);
        }
    };
    let Some(shard) = shard else {
        // All remaining ranks: the replicas depend on the number of devices, which is not in the file.
        let sharding = Sharding { zero_stage: 3, group: None, reshard_after_forward: reshard };
        if copies > 1 {
            fields.remark(
                RemarkKind::Unresolved,
                REPLICATE,
                "the shard group size depends on the number of devices, which is not set: estimated as full \
                 sharding; set it as in `--sharding hsdp:8`",
            );
        }
        return put(fields, sharding);
    };
    let data = copies.saturating_mul(shard);
    let ranks = data.saturating_mul(context).saturating_mul(tensor).saturating_mul(pipeline);
    if let Some(world) = world.filter(|&world| world != ranks) {
        let message = format!(
            "replicas {copies} x shards {shard} x context {context} x tensor {tensor} x pipeline {pipeline} = \
             {ranks} ranks, but the launcher starts {world}"
        );
        fields.problem(Problem::new(message).hint("set it to -1 for the remaining ranks"), SHARD);
        return;
    }
    let path = if fields.document.get(SHARD).is_some() { SHARD } else { REPLICATE };
    fields.set("plan.data_parallel", &data, path);
    if is_whole && world.is_none() {
        fields.set("cluster.devices", &ranks, path);
    }
    let group = shard.saturating_mul(context);
    let sharding = if group == 1 {
        Sharding { zero_stage: 0, group: None, reshard_after_forward: false }
    } else {
        Sharding { zero_stage: 3, group: (copies > 1).then_some(group), reshard_after_forward: reshard }
    };
    put(fields, sharding);
    let expert = degree(fields.draft.spec().plan.expert_parallel);
    let expert_tensor = match fields.document.get("parallelism.expert_tensor_parallel_degree") {
        Some(entry) if expert > 1 && entry.data.plain() == tensor.to_string() => tensor,
        _ => 1,
    };
    let expert_ranks = shard.saturating_mul(context).saturating_mul(tensor);
    let borrowed = expert.saturating_mul(expert_tensor);
    if !expert_ranks.is_multiple_of(borrowed) {
        let message = format!(
            "expert groups use the ranks of other dimensions: shards {shard} x context {context} x tensor \
             {tensor} = {expert_ranks} is not a multiple of {borrowed}"
        );
        fields.problem(Problem::new(message), "parallelism.expert_parallel_degree");
    }
}

fn put(fields: &mut Fields<'_>, sharding: Sharding) {
    let source = [SHARD, RESHARD, REPLICATE].into_iter().find(|path| fields.document.get(path).is_some());
    match source {
        Some(path) => fields.set("plan.sharding", &sharding, path),
        None => fields.default("plan.sharding", &sharding, "torchtitan shards over all remaining ranks"),
    }
}

fn tensor(fields: &mut Fields<'_>) {
    let path = "parallelism.enable_async_tensor_parallel";
    if let Some(wanted) = fields.flag(path) {
        let compiled = fields.draft.spec().plan.software.as_deref() != Some("torchtitan-2024-eager");
        if wanted && !compiled {
            let message = "needs compiled layers, but `compile.enable` is off: torchtitan stops or ignores it, depending on its version; estimated without it";
            fields.remark(RemarkKind::Conflict, path, message);
        }
        fields.set("plan.overlap.tensor", &(wanted && compiled), path);
    }
}

fn experts(fields: &mut Fields<'_>) {
    let path = "parallelism.expert_tensor_parallel_degree";
    let plan = &fields.draft.spec().plan;
    let (expert, tensor) = (degree(plan.expert_parallel), degree(plan.tensor_parallel));
    let Some(expert_tensor) = fields.count(path) else { return };
    if expert == 1 {
        // Without expert parallelism the key has no effect: experts are sharded like all other weights.
        return;
    }
    if expert_tensor != 1 && expert_tensor != tensor {
        let message = format!("expected 1 or the tensor-parallel degree {tensor}, found {expert_tensor}");
        return fields.problem(Problem::new(message), path);
    }
    fields.set("plan.expert_tensor_parallel", &expert_tensor, path);
}

fn context(fields: &mut Fields<'_>, is_whole: bool) {
    let path = "parallelism.context_parallel_rotate_method";
    match fields.word(path).as_deref() {
        Some("allgather") => fields.set("plan.context_kind", &ContextKind::AllGather, path),
        Some("alltoall") => fields.set("plan.context_kind", &ContextKind::Ring, path),
        Some(other) => {
            let problem = Problem::new(format!("expected `allgather` or `alltoall`, found `{other}`"));
            fields.problem(problem, path);
        }
        None if is_whole && degree(fields.draft.spec().plan.context_parallel) > 1 => {
            let why = "torchtitan gathers keys and values by default";
            fields.default("plan.context_kind", &ContextKind::AllGather, why);
        }
        None => {}
    }
}

/// Tokens of a replica per forward pass, since 2026.
const MICRO_TOKENS: &str = "training.num_tokens_per_microbatch_per_dp_rank";

fn batch(fields: &mut Fields<'_>, is_whole: bool) {
    let local_path = "training.local_batch_size";
    let global_path = "training.global_batch_size";
    let micro_path = "parallelism.pipeline_parallel_microbatch_size";
    let sequence = fields.draft.spec().plan.sequence_length;
    let pipeline = degree(fields.draft.spec().plan.pipeline_parallel);
    let data = fields.draft.spec().plan.data_parallel;
    let pieces = fields.count("parallelism.num_pp_microbatches");
    let mut local_source = local_path;
    let mut local = fields.count(local_path);
    if let Some(tokens) = fields.count(MICRO_TOKENS)
        && local.is_none()
    {
        // The tokens of one forward pass, not those of all passes of a pipeline.
        let passes = if pipeline > 1 { pieces.unwrap_or(1).max(1) } else { 1 };
        local_source = MICRO_TOKENS;
        local = in_sequences(fields, local_source, tokens, sequence)
            .map(|sequences| sequences.saturating_mul(passes));
    }
    let local = match local {
        Some(0) => {
            return fields.problem(Problem::new("expected a number of 1 or more, found 0"), local_source);
        }
        Some(local) => Some(local),
        None if is_whole => Some(8),
        None => None,
    };
    let micro = fields.count(micro_path);
    let source =
        |fields: &Fields<'_>, path: &'static str| fields.document.get(path).is_some().then_some(path);
    let default = "torchtitan's local batch is 8";
    let put = |fields: &mut Fields<'_>, key: &str, value: u64, path: Option<&str>| match path {
        Some(path) => fields.set(key, &value, path),
        None => fields.default(key, &value, default),
    };
    let mut per_pass = None;
    if pipeline > 1 {
        let pieces = if local_source == MICRO_TOKENS { pieces.or(Some(1)) } else { pieces };
        let size = match (micro, pieces, local) {
            (Some(micro), _, _) => Some((micro, micro_path)),
            (None, Some(pieces), Some(local)) if pieces > 0 && local.is_multiple_of(pieces) => {
                let is_of_tokens = local_source == MICRO_TOKENS;
                let path = if is_of_tokens { MICRO_TOKENS } else { "parallelism.num_pp_microbatches" };
                Some((local / pieces, path))
            }
            (None, Some(pieces), Some(local)) => {
                let message = format!("{local} sequences cannot be divided into {pieces} micro-batches");
                return fields.problem(Problem::new(message), "parallelism.num_pp_microbatches");
            }
            (None, _, _) if is_whole => Some((1, "")),
            _ => None,
        };
        if let Some((size, path)) = size {
            if let Some(local) = local.filter(|&local| size == 0 || !local.is_multiple_of(size)) {
                let message =
                    format!("{local} sequences of a rank cannot be divided into micro-batches of {size}");
                let path = if path.is_empty() { local_source } else { path };
                return fields.problem(Problem::new(message), path);
            }
            match path {
                "" => {
                    fields.default(
                        "plan.micro_batch",
                        &size,
                        "torchtitan's pipeline has one sequence per \
                        micro-batch",
                    );
                }
                path => fields.set("plan.micro_batch", &size, path),
            }
            per_pass = local.map(|local| local / size);
        }
    } else if let Some(local) = local {
        let path = source(fields, local_path).or((local_source != local_path).then_some(local_source));
        put(fields, "plan.micro_batch", local, path);
        per_pass = Some(1);
    }
    let global = fields.integer(global_path);
    let tokens = fields.count("training.num_tokens_per_train_step");
    if let Some(global) = global.and_then(|n| u64::try_from(n).ok()).filter(|&n| n > 0) {
        passes(fields, global_path, local.filter(|_| pipeline > 1), data, global);
        if let (Some(local), Some(data)) = (local, data) {
            let unit = local.saturating_mul(data);
            if !global.is_multiple_of(unit) {
                let message = format!(
                    "a global batch of {global} sequences is not a multiple of {local} sequences on {data} \
                     data-parallel ranks"
                );
                return fields.problem(Problem::new(message), global_path);
            }
        }
        fields.set("plan.global_batch", &global, global_path);
    } else if let Some(tokens) = tokens {
        let path = "training.num_tokens_per_train_step";
        if let Some(global) = in_sequences(fields, path, tokens, sequence) {
            passes(fields, path, local.filter(|_| pipeline > 1), data, global);
            fields.set("plan.global_batch", &global, path);
        }
    } else if let (Some(steps), Some(count)) =
        (fields.count("training.gradient_accumulation_steps").filter(|&steps| steps > 0), per_pass)
    {
        let path = "training.gradient_accumulation_steps";
        fields.set("plan.micro_batches", &count.saturating_mul(steps), path);
    } else if let Some(count) = per_pass.filter(|_| is_whole || global.is_some()) {
        let why = "one local batch per rank and step, as no global batch is set";
        fields.default("plan.micro_batches", &count, why);
    }
}

/// Reports a pipeline that drains several times per step: once per local batch. `local` is that of a
/// pipeline.
fn passes(fields: &mut Fields<'_>, path: &str, local: Option<u64>, data: Option<u64>, global: u64) {
    let Some(local) = local.filter(|&local| local > 0 && local < global) else { return };
    let message = match data.map(|data| global / local.saturating_mul(data).max(1)) {
        Some(0 | 1) => return,
        Some(times) => {
            format!("the pipeline drains {times} times per step; estimated as one pass of all micro-batches")
        }
        None => format!(
            "the pipeline drains after every {local} sequences of a rank, several times per step on fewer \
             than {} data-parallel ranks; estimated as one pass of all micro-batches",
            global.div_ceil(local)
        ),
    };
    fields.remark(RemarkKind::NotModelled, path, message);
}

/// Sequences of a number of tokens.
fn in_sequences(fields: &mut Fields<'_>, path: &str, tokens: u64, sequence: Option<u64>) -> Option<u64> {
    let sequence = sequence.filter(|&sequence| sequence > 0)?;
    if tokens == 0 || !tokens.is_multiple_of(sequence) {
        let message = format!("{tokens} tokens are not a multiple of the sequence length {sequence}");
        fields.problem(Problem::new(message), path);
        return None;
    }
    Some(tokens / sequence)
}
