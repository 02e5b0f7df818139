//! Routed and shared experts by their usual keys.

use super::common::{Common, EXPERTS, TOP_K};
use crate::model::bounds;
use crate::model::build::{DenseShape, ExpertsShape, SharedGate, SharedShape};
use crate::model::fields::Fields;
use crate::problem::Problem;

/// Routed experts by the usual names, with a check of the number per token.
pub(super) fn routed(
    fields: &Fields<'_>,
    expert: DenseShape,
    shared: Option<SharedShape>,
) -> Result<ExpertsShape, Problem> {
    let experts = fields.required(EXPERTS, bounds::EXPERTS)?;
    let top_k = fields.required(TOP_K, bounds::SMALL)?;
    if top_k == 0 || top_k > experts {
        let problem =
            Problem::new(format!("{top_k} active experts per token are not possible with {experts} experts"));
        return Err(fields.locate_first(problem, TOP_K));
    }
    let routing_groups = fields.count(&["n_group"], bounds::SMALL)?.unwrap_or(1).max(1);
    let top_k_groups = fields.count(&["topk_group"], bounds::SMALL)?.unwrap_or(1).max(1);
    if top_k_groups > routing_groups {
        let problem = Problem::new(format!(
            "{top_k_groups} active expert groups per token are not possible with {routing_groups} groups"
        ));
        return Err(fields.locate(problem, "topk_group"));
    }
    Ok(ExpertsShape {
        experts,
        top_k,
        expert,
        router_bias: false,
        router_width: None,
        latent: None,
        shared,
        routing_groups,
        top_k_groups,
        router_vectors: Vec::new(),
    })
}

/// Routed and shared experts, with summed widths of the shared ones (names of DeepSeek).
pub(super) fn with_shared(fields: &Fields<'_>, common: &Common) -> Result<ExpertsShape, Problem> {
    let width = fields.required(&["moe_intermediate_size"], bounds::WIDTH)?;
    let shared = fields.count(&["n_shared_experts", "num_shared_experts"], bounds::SMALL)?.unwrap_or(0);
    let shared =
        (shared > 0).then(|| SharedShape { mlp: common.gated(shared * width), gate: SharedGate::None });
    routed(fields, common.gated(width), shared)
}

/// The shared expert with its sigmoid gate (qwen's names).
pub(super) fn gated_shared(fields: &Fields<'_>, common: &Common) -> Result<Option<SharedShape>, Problem> {
    let width = fields.count(&["shared_expert_intermediate_size"], bounds::WIDTH_OR_ZERO)?.unwrap_or(0);
    Ok((width > 0).then(|| SharedShape { mlp: common.gated(width), gate: SharedGate::Sigmoid }))
}

/// Dense layers: the first ones, and those skipped by `moe_layer_freq`.
#[derive(Clone, Copy)]
pub(super) struct DenseFirst {
    first: u64,
    every: u64,
}

impl DenseFirst {
    /// `first` is the class's default.
    pub(super) fn read(fields: &Fields<'_>, first: u64) -> Result<Self, Problem> {
        Ok(Self {
            first: fields.count(&["first_k_dense_replace"], bounds::SMALL)?.unwrap_or(first),
            every: fields.count(&["moe_layer_freq"], bounds::SMALL)?.unwrap_or(1).max(1),
        })
    }

    pub(super) fn has(self, index: u64) -> bool {
        index < self.first || !index.is_multiple_of(self.every)
    }
}

/// Layers with experts (keys of qwen): every `decoder_sparse_step`th outside `mlp_only_layers`.
pub(super) struct SparseLayers {
    step: u64,
    dense: Vec<u64>,
}

impl SparseLayers {
    pub(super) fn read(fields: &Fields<'_>) -> Result<Self, Problem> {
        Ok(Self {
            step: fields.count(&["decoder_sparse_step"], bounds::SMALL)?.unwrap_or(1).max(1),
            dense: fields.counts("mlp_only_layers", bounds::SMALL)?.unwrap_or_default(),
        })
    }

    pub(super) fn has(&self, index: u64) -> bool {
        (index + 1).is_multiple_of(self.step) && !self.dense.contains(&index)
    }
}
