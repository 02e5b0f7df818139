//! DeepSeek V2 and V3 and their kin (kimi K2, GLM 5): latent attention, dense layers first, then experts.

use super::common::{Common, Defaults, Source, decoder, intermediate};
use super::llama::experts;
use crate::model::build::{
    FeedForwardShape, IndexerShape, LatentShape, MixerShape, SharedGate, SharedShape, assemble,
};
use crate::model::fields::Fields;
use crate::model::{Model, bounds};
use crate::problem::Problem;

pub(super) fn read(source: &Source<'_>) -> Result<Model, Problem> {
    let fields = &source.fields;
    // Head widths are the latent ones; the common one is not used, so that hidden over heads need not be whole.
    let common = Common::read(source, &Defaults { head_dim: Some(128), ..Defaults::LLAMA })?;
    let mixer = MixerShape::Latent(latent(source, &common)?);
    let dense_layers = DenseFirst::read(fields)?;
    let mut dense = decoder(common.attention(), FeedForwardShape::None);
    dense.mixer = mixer;
    let mut sparse = dense.clone();
    if (0..common.layers).any(|index| !dense_layers.has(index)) {
        sparse.feed_forward = FeedForwardShape::Experts(experts_with_shared(fields, &common)?);
        sparse.name = "moe";
    }
    if (0..common.layers).any(|index| dense_layers.has(index)) {
        dense.feed_forward = FeedForwardShape::Dense(common.gated(intermediate(fields)?));
        dense.name = "dense";
    }
    assemble(common.frame(source), common.layers, |index| {
        Ok(if dense_layers.has(index) { dense.clone() } else { sparse.clone() })
    })
}

fn latent(source: &Source<'_>, common: &Common) -> Result<LatentShape, Problem> {
    let fields = &source.fields;
    let width = |name: &'static str| fields.required(&[name], bounds::HEAD_DIM);
    let sparse = matches!(source.family, "deepseek_v32" | "glm_moe_dsa");
    Ok(LatentShape {
        heads: common.heads,
        q_lora_rank: fields.count(&["q_lora_rank"], bounds::HIDDEN)?,
        kv_lora_rank: fields.required(&["kv_lora_rank"], bounds::HIDDEN)?,
        nope: width("qk_nope_head_dim")?,
        rope: width("qk_rope_head_dim")?,
        value: width("v_head_dim")?,
        bias: fields.flag(&["attention_bias"])?.unwrap_or(false),
        indexer: if sparse { Some(indexer(fields, source.family)?) } else { None },
    })
}

/// The index of sparse attention; what is absent takes the class's default.
fn indexer(fields: &Fields<'_>, family: &str) -> Result<IndexerShape, Problem> {
    let heads = if family == "glm_moe_dsa" { 32 } else { 64 };
    Ok(IndexerShape {
        heads: fields.count(&["index_n_heads"], bounds::HEADS)?.unwrap_or(heads),
        head_dim: fields.count(&["index_head_dim"], bounds::HEAD_DIM)?.unwrap_or(128),
        top_k: fields.count(&["index_topk"], bounds::POSITIONS)?.unwrap_or(2048),
    })
}

/// Which layers are dense: the first ones, and those between if `moe_layer_freq` skips some.
pub(super) struct DenseFirst {
    first: u64,
    every: u64,
}

impl DenseFirst {
    pub(super) fn read(fields: &Fields<'_>) -> Result<Self, Problem> {
        Ok(Self {
            first: fields.count(&["first_k_dense_replace"], bounds::SMALL)?.unwrap_or(0),
            every: fields.count(&["moe_layer_freq"], bounds::SMALL)?.unwrap_or(1).max(1),
        })
    }

    pub(super) fn has(&self, index: u64) -> bool {
        index < self.first || index % self.every != 0
    }
}

/// Routed experts beside shared ones whose widths add up.
pub(super) fn experts_with_shared(
    fields: &Fields<'_>,
    common: &Common,
) -> Result<crate::model::build::ExpertsShape, Problem> {
    let width = fields.required(&["moe_intermediate_size"], bounds::WIDTH)?;
    let shared = fields.count(&["n_shared_experts", "num_shared_experts"], bounds::SMALL)?.unwrap_or(0);
    let shared =
        (shared > 0).then(|| SharedShape { mlp: common.gated(shared * width), gate: SharedGate::None });
    experts(fields, common.gated(width), shared)
}
