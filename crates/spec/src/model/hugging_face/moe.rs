//! Families of experts with ordinary attention: mixtral, gpt-oss, llama 4, GLM 4.5, minimax M2, dbrx.

use super::common::{Common, Defaults, LAYERS, Source, decoder, intermediate};
use super::experts::{DenseFirst, routed, with_shared};
use super::per_layer::{sliding_layers, window};
use crate::model::build::{Block, FeedForwardShape, NormShape, QkNorm, SharedGate, SharedShape, assemble};
use crate::model::fields::missing;
use crate::model::{Activation, Model, Span, bounds};
use crate::problem::Problem;

pub(super) fn mixtral(source: &Source<'_>) -> Result<Model, Problem> {
    let fields = &source.fields;
    let common = Common::read(source, &Defaults::LLAMA)?;
    let mut attention = common.attention();
    attention.span = window(fields)?;
    let expert = common.gated(intermediate(fields)?);
    let block = decoder(attention, FeedForwardShape::Experts(routed(fields, expert, None)?));
    assemble(common.frame(source), common.layers, |_| Ok(block.clone()))
}

/// gpt-oss: biases on everything, the experts and the router included; the activation of experts is a clamped
/// quick GELU; one sink per head; a window on every other layer.
pub(super) fn gpt_oss(source: &Source<'_>) -> Result<Model, Problem> {
    let fields = &source.fields;
    let common = Common::read(source, &Defaults { head_dim: Some(64), ..Defaults::LLAMA })?;
    let bias = fields.flag(&["attention_bias"])?.unwrap_or(true);
    let mut attention = common.attention();
    (attention.qkv_bias, attention.output_bias, attention.sinks) = (bias, bias, true);
    let mut expert = common.gated(intermediate(fields)?);
    (expert.bias, expert.activation) = (true, Activation::ClampedQuickGelu);
    let mut experts = routed(fields, expert, None)?;
    experts.router_bias = true;
    let block = decoder(attention, FeedForwardShape::Experts(experts));
    let window = fields.count(&["sliding_window"], bounds::POSITIONS)?.unwrap_or(128);
    let sliding = sliding_layers(fields, common.layers, |index| index.is_multiple_of(2))?;
    assemble(common.frame(source), common.layers, |index| {
        Ok(if sliding.at(index) { block.clone().with_span(Span::Window(window)) } else { block.clone() })
    })
}

/// Llama 4: chunked attention except on every fourth layer; experts and a shared expert on all or on every
/// second layer.
pub(super) fn llama4(source: &Source<'_>) -> Result<Model, Problem> {
    let fields = &source.fields;
    let common = Common::read(source, &Defaults { head_dim: Some(128), ..Defaults::LLAMA })?;
    let bias = fields.flag(&["attention_bias"])?.unwrap_or(false);
    let mut attention = common.attention();
    (attention.qkv_bias, attention.output_bias) = (bias, bias);
    if fields.flag(&["use_qk_norm"])?.unwrap_or(true) {
        attention.qk_norm = QkNorm::Unweighted;
    }
    let width = intermediate(fields)?;
    let shared = SharedShape { mlp: common.gated(width), gate: SharedGate::None };
    let experts = FeedForwardShape::Experts(routed(fields, common.gated(width), Some(shared))?);
    let dense_width = fields.count(&["intermediate_size_mlp"], bounds::WIDTH)?.unwrap_or(16_384);
    let dense = FeedForwardShape::Dense(common.gated(dense_width));
    let step = fields.count(&["interleave_moe_layer_step"], bounds::SMALL)?.unwrap_or(1).max(1);
    let listed = fields.counts("moe_layers", bounds::SMALL)?;
    let has_experts = |index: u64| match &listed {
        Some(list) => list.contains(&index),
        None => (index + 1).is_multiple_of(step),
    };
    let chunk = fields.count(&["attention_chunk_size"], bounds::POSITIONS)?.filter(|&chunk| chunk > 0);
    // 1 for layers with rotary positions, which are exactly the chunked layers.
    let rotated = fields.counts("no_rope_layers", bounds::SMALL)?.filter(|list| !list.is_empty());
    let interval = fields.count(&["no_rope_layer_interval"], bounds::SMALL)?.unwrap_or(4).max(1);
    let chunked = sliding_layers(fields, common.layers, |index| match &rotated {
        Some(list) => list.get(index as usize).is_none_or(|&flag| flag != 0),
        None => !(index + 1).is_multiple_of(interval),
    })?;
    assemble(common.frame(source), common.layers, |index| {
        let sparse = has_experts(index);
        let mut block = decoder(attention.clone(), if sparse { experts.clone() } else { dense.clone() });
        block.name = if sparse { "moe" } else { "dense" };
        if let Some(chunk) = chunk.filter(|_| chunked.at(index)) {
            block = block.with_span(Span::Chunk(chunk));
        }
        Ok(block)
    })
}

/// GLM 4.5 to 4.7, and Ling (the same tensors): grouped-query attention, dense layers first, a shared expert.
pub(super) fn glm4(source: &Source<'_>) -> Result<Model, Problem> {
    let fields = &source.fields;
    let common = Common::read(source, &Defaults::LLAMA)?;
    let ling = source.family.starts_with("bailing");
    let mut attention = common.attention();
    attention.qkv_bias = fields.flag(&["attention_bias", "use_qkv_bias"])?.unwrap_or(false);
    if fields.flag(&["use_qk_norm"])?.unwrap_or(ling) {
        attention.qk_norm = QkNorm::PerHead(NormShape::RMS);
    }
    let dense_first = DenseFirst::read(fields, 1)?;
    let experts = FeedForwardShape::Experts(with_shared(fields, &common)?);
    let has_dense = (0..common.layers).any(|index| dense_first.has(index));
    let dense = FeedForwardShape::Dense(common.gated(if has_dense { intermediate(fields)? } else { 1 }));
    assemble(common.frame(source), common.layers, |index| {
        let is_dense = dense_first.has(index);
        let mut block = decoder(attention.clone(), if is_dense { dense.clone() } else { experts.clone() });
        block.name = if is_dense { "dense" } else { "moe" };
        Ok(block)
    })
}

/// MiniMax M2: norms over whole queries and keys; `intermediate_size` is the expert's width.
pub(super) fn minimax_m2(source: &Source<'_>) -> Result<Model, Problem> {
    let fields = &source.fields;
    let mut common = Common::read(source, &Defaults::LLAMA)?;
    // Modules have several layers each; only the number of modules is known.
    if let Some(modules) = fields.count(&["num_mtp_modules"], bounds::SMALL)? {
        let each = fields.count(&["mtp_transformer_layers"], bounds::SMALL)?.unwrap_or(1);
        let used = fields.flag(&["use_mtp"])?.unwrap_or(true);
        common.prediction_depth = if used { modules * each } else { 0 };
    }
    let mut attention = common.attention();
    if fields.flag(&["use_qk_norm"])?.unwrap_or(true) {
        attention.qk_norm = QkNorm::Full(NormShape::RMS);
    }
    let expert = common.gated(intermediate(fields)?);
    let shared = fields.count(&["shared_intermediate_size"], bounds::WIDTH_OR_ZERO)?.unwrap_or(0);
    let shared = (shared > 0).then(|| SharedShape { mlp: common.gated(shared), gate: SharedGate::None });
    let block = decoder(attention, FeedForwardShape::Experts(routed(fields, expert, shared)?));
    assemble(common.frame(source), common.layers, |_| Ok(block.clone()))
}

/// DBRX: LayerNorm without biases, dimensions nested by module.
pub(super) fn dbrx(source: &Source<'_>) -> Result<Model, Problem> {
    let fields = &source.fields;
    fields.required(LAYERS, bounds::LAYERS)?;
    let mut common = Common::read(source, &Defaults { max_positions: 2048, ..Defaults::LLAMA })?;
    if let Some(attention) = fields.object("attn_config")? {
        common.kv_heads = attention.count(&["kv_n_heads"], bounds::HEADS)?.unwrap_or(1);
        common.check_kv_heads(&attention)?;
    }
    let experts = fields.object("ffn_config")?.ok_or_else(|| missing(&["ffn_config"]))?;
    let width = experts.required(&["ffn_hidden_size"], bounds::WIDTH)?;
    let routed = routed(&experts, common.gated(width), None)?;
    let mut block: Block = decoder(common.attention(), FeedForwardShape::Experts(routed));
    block.norm = NormShape { bias: false, ..NormShape::LAYER };
    block.norms = &["norm_1", "norm_2"];
    let mut frame = common.frame(source);
    frame.final_norm = block.norm;
    assemble(frame, common.layers, |_| Ok(block.clone()))
}
