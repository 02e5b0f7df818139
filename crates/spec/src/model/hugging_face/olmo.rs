//! OLMo 1 to 3 and OLMoE.

use super::common::{Common, Defaults, Source, decoder, intermediate};
use super::experts::routed;
use super::per_layer::sliding_layers;
use crate::model::build::{FeedForwardShape, NormShape, QkNorm, assemble};
use crate::model::{Model, Norm, Span, bounds};
use crate::problem::Problem;

/// OLMo 1: LayerNorm without parameters.
pub(super) fn olmo(source: &Source<'_>) -> Result<Model, Problem> {
    let fields = &source.fields;
    let common = Common::read(source, &Defaults::LLAMA)?;
    let mut block = decoder(common.attention(), FeedForwardShape::Dense(common.gated(intermediate(fields)?)));
    let bias = fields.flag(&["attention_bias"])?.unwrap_or(false);
    block.edit_attention(|attention| (attention.qkv_bias, attention.output_bias) = (bias, bias));
    block.norm = NormShape { kind: Norm::LayerNorm, scale: false, bias: false };
    let mut frame = common.frame(source);
    frame.final_norm = block.norm;
    assemble(frame, common.layers, |_| Ok(block.clone()))
}

/// OLMo 2 and 3: norms after attention and MLP, norms over whole queries and keys; OLMo 3 has a window on 3
/// of 4 layers.
pub(super) fn olmo2(source: &Source<'_>) -> Result<Model, Problem> {
    let fields = &source.fields;
    let common = Common::read(source, &Defaults::LLAMA)?;
    let mut attention = common.attention();
    attention.qk_norm = QkNorm::Full(NormShape::RMS);
    let mut block = decoder(attention, FeedForwardShape::Dense(common.gated(intermediate(fields)?)));
    block.norms = &["post_attention_layernorm", "post_feedforward_layernorm"];
    let third = source.family == "olmo3";
    let window = fields.count(&["sliding_window"], bounds::POSITIONS)?.unwrap_or(4096);
    let sliding = sliding_layers(fields, common.layers, |index| third && !(index + 1).is_multiple_of(4))?;
    assemble(common.frame(source), common.layers, |index| {
        let slides = sliding.at(index);
        Ok(block.clone().with_span(if slides { Span::Window(window) } else { Span::Causal }))
    })
}

/// OLMoE: `intermediate_size` is the expert's width.
pub(super) fn olmoe(source: &Source<'_>) -> Result<Model, Problem> {
    let fields = &source.fields;
    let common = Common::read(source, &Defaults::LLAMA)?;
    let mut attention = common.attention();
    attention.qk_norm = QkNorm::Full(NormShape::RMS);
    let expert = common.gated(intermediate(fields)?);
    let block = decoder(attention, FeedForwardShape::Experts(routed(fields, expert, None)?));
    assemble(common.frame(source), common.layers, |_| Ok(block.clone()))
}
