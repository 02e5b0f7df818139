//! Experts of GPT-NeoX.
//!
//! Responsible for: number, choices per token, interval and capacity of its experts, by the names of 2023 to
//! 2026. Excludes residual experts, whose dense part is named as missing.

use crate::RemarkKind;
use crate::fields::Fields;

/// Names of the number of experts: those of 2024 to 2026, and DeepSpeed's of 2023.
const COUNTS: [&str; 2] = ["moe_num_experts", "num_experts"];

/// The rank size of the experts, by the same versions.
const SIZES: [&str; 2] = ["moe_expert_parallel_size", "expert_parallel_size"];

/// Reads the experts (`NeoXArgsMoE` in `megatron/neox_arguments/neox_args.py`: one choice per token, experts
/// in every layer, no expert parallelism by default).
pub(super) fn read(fields: &mut Fields<'_>) {
    let found = fields.first_count(COUNTS);
    let Some((path, experts)) = found.filter(|(_, experts)| *experts > 1) else { return };
    fields.set("model.experts", &experts, path);
    // Sinkhorn routing has one choice (`router.py`).
    match fields.first_count(["moe_top_k", "topk"]) {
        Some((path, choices)) => fields.set("model.top_k", &choices.max(1), path),
        None => fields.default("model.top_k", &1_u64, "GPT-NeoX routes a token to 1 expert by default"),
    }
    match fields.first_count(["moe_expert_interval", "expert_interval"]) {
        Some((path, every)) => fields.set("model.moe_every", &every.max(1), path),
        None => fields.default("model.moe_every", &1_u64, "GPT-NeoX has experts in every layer by default"),
    }
    match fields.first_count(SIZES) {
        Some((path, ranks)) => fields.set("plan.expert_parallel", &ranks.max(1), path),
        None => fields.default(
            "plan.expert_parallel",
            &1_u64,
            "GPT-NeoX holds all experts on each rank by default",
        ),
    }
    let tensor = fields.draft.spec().plan.tensor_parallel.unwrap_or(1);
    let path = "enable_expert_tensor_parallelism";
    match fields.flag(path) {
        Some(is_cut) => fields.set("plan.expert_tensor_parallel", &(if is_cut { tensor } else { 1 }), path),
        None => {
            fields.default(
                "plan.expert_tensor_parallel",
                &1_u64,
                "GPT-NeoX does not shard experts by default",
            );
        }
    }
    let path = "moe_train_capacity_factor";
    if fields.flag("moe_token_dropping") == Some(true)
        && let Some(capacity) = fields.number(path).filter(|capacity| *capacity > 0.0)
    {
        fields.set("plan.expert_capacity", &capacity, path);
    }
    let path = "moe_use_residual";
    if fields.flag(path) == Some(true) {
        let message = "a dense MLP in parallel to the experts is not modelled: a lower bound";
        fields.remark(RemarkKind::NotModelled, path, message);
    }
}
