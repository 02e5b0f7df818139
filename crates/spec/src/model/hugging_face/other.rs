//! Further dense families, each a variation on one layer: cohere, GLM 4, seed-oss, starcoder 2; and phi's
//! experts.

use super::common::{Common, Defaults, Source, decoder, intermediate};
use super::experts::routed;
use super::per_layer::window;
use crate::model::build::{FeedForwardShape, NormShape, QkNorm, assemble};
use crate::model::{Activation, Model};
use crate::problem::Problem;

/// Command R: parallel attention and MLP after one LayerNorm without bias, tied.
pub(super) fn cohere(source: &Source<'_>) -> Result<Model, Problem> {
    let fields = &source.fields;
    let common = Common::read(source, &Defaults { tied: true, ..Defaults::LLAMA })?;
    let norm = NormShape { bias: false, ..NormShape::LAYER };
    let mut attention = common.attention();
    let bias = fields.flag(&["attention_bias"])?.unwrap_or(false);
    (attention.qkv_bias, attention.output_bias) = (bias, bias);
    if fields.flag(&["use_qk_norm"])?.unwrap_or(false) {
        // One scale per head.
        attention.qk_norm = QkNorm::Full(norm);
    }
    let mut block = decoder(attention, FeedForwardShape::Dense(common.gated(intermediate(fields)?)));
    (block.norm, block.norms, block.parallel_residual) = (norm, &["input_layernorm"], true);
    let mut frame = common.frame(source);
    frame.final_norm = norm;
    assemble(frame, common.layers, |_| Ok(block.clone()))
}

/// GLM 4 (dense): biases on queries, keys and values; the later generation also has norms after attention and
/// MLP.
pub(super) fn glm(source: &Source<'_>) -> Result<Model, Problem> {
    let fields = &source.fields;
    let common = Common::read(source, &Defaults { head_dim: Some(128), ..Defaults::LLAMA })?;
    let mut attention = common.attention();
    attention.qkv_bias = fields.flag(&["attention_bias"])?.unwrap_or(false);
    let mut block = decoder(attention, FeedForwardShape::Dense(common.gated(intermediate(fields)?)));
    if source.family == "glm4" {
        block.norms = &[
            "input_layernorm",
            "post_self_attn_layernorm",
            "post_attention_layernorm",
            "post_mlp_layernorm",
        ];
    }
    assemble(common.frame(source), common.layers, |_| Ok(block.clone()))
}

/// Seed-OSS: biases on queries, keys and values by default.
pub(super) fn seed_oss(source: &Source<'_>) -> Result<Model, Problem> {
    let fields = &source.fields;
    let common = Common::read(source, &Defaults { head_dim: Some(128), ..Defaults::LLAMA })?;
    let mut attention = common.attention();
    attention.qkv_bias = fields.flag(&["attention_bias"])?.unwrap_or(true);
    attention.output_bias = fields.flag(&["attention_out_bias"])?.unwrap_or(false);
    let mut mlp = common.gated(intermediate(fields)?);
    mlp.bias = fields.flag(&["mlp_bias"])?.unwrap_or(false);
    let block = decoder(attention, FeedForwardShape::Dense(mlp));
    assemble(common.frame(source), common.layers, |_| Ok(block.clone()))
}

/// StarCoder 2: LayerNorm and biases as in GPT, with rotary positions, grouped queries and a window.
pub(super) fn starcoder2(source: &Source<'_>) -> Result<Model, Problem> {
    let fields = &source.fields;
    let defaults = Defaults { tied: true, activation: Activation::Gelu, ..Defaults::LLAMA };
    let common = Common::read(source, &defaults)?;
    let bias = fields.flag(&["use_bias"])?.unwrap_or(true);
    let mut attention = common.attention();
    (attention.qkv_bias, attention.output_bias, attention.span) = (bias, bias, window(fields)?);
    let mut mlp = common.plain(intermediate(fields)?);
    mlp.bias = bias;
    let mut block = decoder(attention, FeedForwardShape::Dense(mlp));
    block.norm = NormShape::LAYER;
    let mut frame = common.frame(source);
    frame.final_norm = NormShape::LAYER;
    assemble(frame, common.layers, |_| Ok(block.clone()))
}

/// Phi 3.5 with experts: LayerNorm, biases on attention and on the head.
pub(super) fn phimoe(source: &Source<'_>) -> Result<Model, Problem> {
    let fields = &source.fields;
    let common = Common::read(source, &Defaults::LLAMA)?;
    let mut attention = common.attention();
    let bias = fields.flag(&["attention_bias"])?.unwrap_or(false);
    (attention.qkv_bias, attention.output_bias, attention.span) = (bias, bias, window(fields)?);
    let expert = common.gated(intermediate(fields)?);
    let mut block = decoder(attention, FeedForwardShape::Experts(routed(fields, expert, None)?));
    block.norm = NormShape::LAYER;
    let mut frame = common.frame(source);
    frame.final_norm = NormShape::LAYER;
    frame.head_bias = fields.flag(&["lm_head_bias"])?.unwrap_or(false);
    assemble(frame, common.layers, |_| Ok(block.clone()))
}
