//! Parallel sizes, and the ranks that they leave for data parallelism.

use super::filler::Filler;
use super::world::World;
use crate::RemarkKind;
use railwright_spec::plan::{ContextKind, RankOrder};

/// The degrees that the rest depends on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Degrees {
    pub(crate) pipeline: u64,
    pub(crate) context: u64,
    pub(crate) data: Option<u64>,
}

pub(super) fn degrees(f: &mut Filler<'_>, world: &World) -> Degrees {
    let mut degree = |name: &str, key: &str| {
        let value = f.count(name).unwrap_or(1);
        if value == 0 {
            f.remark(RemarkKind::Invalid, name, "a parallel size is 1 or more; estimated as 1");
        }
        let value = value.max(1);
        f.set(key, &value, name);
        value
    };
    let tensor = degree("tensor_model_parallel_size", "plan.tensor_parallel");
    let pipeline = degree("pipeline_model_parallel_size", "plan.pipeline_parallel");
    let context = degree("context_parallel_size", "plan.context_parallel");
    let field = if f.arguments.get("moe_expert_parallel_size").is_some() {
        "moe_expert_parallel_size"
    } else {
        "expert_model_parallel_size"
    };
    let has_experts = f.draft.spec().model.experts.is_some();
    if has_experts || f.count(field).is_some_and(|n| n > 1) {
        f.copy(field, "plan.expert_parallel").unwrap_or_else(|| {
            f.set("plan.expert_parallel", &1, field);
            1
        });
        // Without their own size experts are sharded like all other weights.
        let inner = f.count("expert_tensor_parallel_size").unwrap_or(tensor);
        f.set("plan.expert_tensor_parallel", &inner, "expert_tensor_parallel_size");
    }
    let sequence = tensor > 1 && f.arguments.is_on("sequence_parallel");
    f.set("plan.sequence_parallel", &sequence, "sequence_parallel");
    if tensor == 1 && f.arguments.is_on("sequence_parallel") {
        f.remark(
            RemarkKind::Ignored,
            "sequence_parallel",
            "Megatron turns it off without tensor parallelism",
        );
    }
    let rank_order = if f.arguments.is_on("use_tp_pp_dp_mapping") {
        RankOrder::TensorContextPipelineData
    } else {
        RankOrder::TensorContextDataPipeline
    };
    f.set("plan.rank_order", &rank_order, "use_tp_pp_dp_mapping");
    context_kind(f, context);
    let inner = tensor.saturating_mul(pipeline).saturating_mul(context);
    let source = f.count("world_size");
    let ranks = source
        .or(world.ranks)
        .or_else(|| f.count("data_parallel_size").map(|data| data.saturating_mul(inner)));
    if let Some(ranks) = ranks.filter(|ranks| *ranks > 0) {
        if source.is_some() {
            f.set("cluster.devices", &ranks, "world_size");
        } else if world.ranks.is_some() {
            f.draft.set("cluster.devices", &ranks, &world.source, world.line);
        } else {
            f.set("cluster.devices", &ranks, "data_parallel_size");
        }
    }
    if let Some(per_node) = world.per_node.filter(|n| *n > 0 && ranks.is_some_and(|ranks| ranks > *n)) {
        f.draft.set("cluster.devices_per_node", &per_node, &world.source, world.line);
    }
    let data = ranks.filter(|ranks| ranks.is_multiple_of(inner.max(1))).map(|ranks| ranks / inner.max(1));
    if let (Some(data), Some(given)) = (data, f.count("data_parallel_size"))
        && data != given
    {
        let message = format!("contradicts the other sizes, which leave {data}");
        f.remark(RemarkKind::Conflict, "data_parallel_size", message);
    }
    Degrees { pipeline, context, data }
}

fn context_kind(f: &mut Filler<'_>, context: u64) {
    let kind = match f.arguments.word("cp_comm_type").map(|word| word.trim_matches(['[', ']', '\'', '"'])) {
        Some("all_gather") => ContextKind::AllGather,
        Some("a2a") => ContextKind::Ulysses,
        Some("a2a+p2p") => {
            if context > 1 {
                let message = "two levels of context parallelism are estimated as one ring";
                f.remark(RemarkKind::NotModelled, "cp_comm_type", message);
            }
            ContextKind::Ring
        }
        _ => ContextKind::Ring,
    };
    f.set("plan.context_kind", &kind, "cp_comm_type");
}
