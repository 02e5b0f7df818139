//! Families with LayerNorm and two-matrix MLPs: gpt2, gpt_neox, opt, bloom, falcon, phi, mpt, nemotron.

use super::common::{Common, Defaults, INTERMEDIATE, Source, decoder, intermediate};
use crate::model::build::{Block, FeedForwardShape, Frame, NormShape, QkNorm, assemble};
use crate::model::{Activation, Model, Position, bounds};
use crate::problem::Problem;

const GPT: Defaults = Defaults { tied: true, activation: Activation::Gelu, ..Defaults::LLAMA };

/// A layer with biases everywhere, and the frame around it.
fn biased(
    source: &Source<'_>,
    common: &Common,
    width: u64,
    norms: &'static [&'static str],
) -> (Frame, Block) {
    let mut attention = common.attention();
    (attention.qkv_bias, attention.output_bias) = (true, true);
    let mut block = decoder(attention, FeedForwardShape::Dense(common.plain(width)));
    (block.norm, block.norms) = (NormShape::LAYER, norms);
    let mut frame = common.frame(source);
    frame.final_norm = NormShape::LAYER;
    (frame, block)
}

/// The MLP width; four times hidden by default.
fn width(source: &Source<'_>, common: &Common) -> Result<u64, Problem> {
    Ok(source.fields.count(INTERMEDIATE, bounds::WIDTH)?.unwrap_or(4 * common.hidden))
}

/// GPT-2 and GPT-3: learned positions, biases everywhere, tied.
pub(super) fn gpt2(source: &Source<'_>) -> Result<Model, Problem> {
    let common = Common::read(source, &Defaults { max_positions: 1024, ..GPT })?;
    let (mut frame, block) = biased(source, &common, width(source, &common)?, &["ln_1", "ln_2"]);
    (frame.position, frame.position_rows) = (Position::Learned, common.max_positions);
    assemble(frame, common.layers, |_| Ok(block.clone()))
}

/// GPT-NeoX and Pythia: rotary positions, parallel attention and MLP, an untied head.
pub(super) fn gpt_neox(source: &Source<'_>) -> Result<Model, Problem> {
    let common = Common::read(source, &Defaults { tied: false, max_positions: 2048, ..GPT })?;
    let norms = &["input_layernorm", "post_attention_layernorm"];
    let (frame, mut block) = biased(source, &common, intermediate(&source.fields)?, norms);
    let bias = source.fields.flag(&["attention_bias"])?.unwrap_or(true);
    block.edit_attention(|attention| (attention.qkv_bias, attention.output_bias) = (bias, bias));
    block.parallel_residual = source.fields.flag(&["use_parallel_residual"])?.unwrap_or(true);
    assemble(frame, common.layers, |_| Ok(block.clone()))
}

/// OPT: learned positions with two extra rows, and a word embedding that may be narrower.
pub(super) fn opt(source: &Source<'_>) -> Result<Model, Problem> {
    let fields = &source.fields;
    let common =
        Common::read(source, &Defaults { activation: Activation::Relu, max_positions: 2048, ..GPT })?;
    let norms = &["self_attn_layer_norm", "final_layer_norm"];
    let (mut frame, block) = biased(source, &common, intermediate(fields)?, norms);
    (frame.position, frame.position_rows) = (Position::Learned, common.max_positions + 2);
    frame.embedding_width =
        fields.count(&["word_embed_proj_dim"], bounds::HIDDEN)?.filter(|&width| width != common.hidden);
    if fields.flag(&["do_layer_norm_before"])? == Some(false) {
        frame.final_norm = NormShape { scale: false, bias: false, ..NormShape::LAYER };
    }
    assemble(frame, common.layers, |_| Ok(block.clone()))
}

/// BLOOM: ALiBi, a norm after the embedding.
pub(super) fn bloom(source: &Source<'_>) -> Result<Model, Problem> {
    let common = Common::read(source, &GPT)?;
    let norms = &["input_layernorm", "post_attention_layernorm"];
    let (mut frame, block) = biased(source, &common, 4 * common.hidden, norms);
    frame.position = Position::Alibi;
    frame.embedding_norm = true;
    assemble(frame, common.layers, |_| Ok(block.clone()))
}

/// Falcon: parallel attention and MLP without biases; the 7B model has one norm per layer, the larger two.
pub(super) fn falcon(source: &Source<'_>) -> Result<Model, Problem> {
    let fields = &source.fields;
    let flag = |name, default| fields.flag(&[name]).map(|flag| flag.unwrap_or(default));
    let grouped = flag("new_decoder_architecture", false)?;
    let parallel = flag("parallel_attn", true)?;
    let bias = flag("bias", false)?;
    let mut common = Common::read(source, &Defaults { max_positions: 2048, ..GPT })?;
    // Files of the older architecture have a `num_kv_heads` without effect.
    if !grouped {
        common.kv_heads = if flag("multi_query", true)? { 1 } else { common.heads };
    }
    let one_norm = !grouped || fields.count(&["num_ln_in_parallel_attn"], bounds::SMALL)? == Some(1);
    let norms: &[&str] = match (grouped, parallel) {
        (_, false) => &["input_layernorm", "post_attention_layernorm"],
        (true, true) if !one_norm => &["ln_attn", "ln_mlp"],
        _ => &["input_layernorm"],
    };
    let (mut frame, mut block) = biased(source, &common, width(source, &common)?, norms);
    block.edit_attention(|attention| (attention.qkv_bias, attention.output_bias) = (bias, bias));
    if let FeedForwardShape::Dense(mlp) = &mut block.feed_forward {
        mlp.bias = bias;
    }
    block.parallel_residual = parallel || grouped;
    if flag("alibi", false)? {
        frame.position = Position::Alibi;
    }
    assemble(frame, common.layers, |_| Ok(block.clone()))
}

/// Phi-1 and 2: one norm per layer, parallel attention and MLP, a bias on the head.
pub(super) fn phi(source: &Source<'_>) -> Result<Model, Problem> {
    let common = Common::read(source, &Defaults { tied: false, max_positions: 2048, ..GPT })?;
    let (mut frame, mut block) = biased(source, &common, width(source, &common)?, &["input_layernorm"]);
    block.parallel_residual = true;
    if source.fields.flag(&["qk_layernorm"])? == Some(true) {
        block.edit_attention(|attention| attention.qk_norm = QkNorm::PerHead(NormShape::LAYER));
    }
    frame.head_bias = true;
    assemble(frame, common.layers, |_| Ok(block.clone()))
}

/// MPT: ALiBi, no biases anywhere, tied.
pub(super) fn mpt(source: &Source<'_>) -> Result<Model, Problem> {
    let fields = &source.fields;
    let common = Common::read(source, &Defaults { max_positions: 2048, ..GPT })?;
    let ratio = fields.count(&["expansion_ratio"], bounds::SMALL)?.unwrap_or(4).max(1);
    let (mut frame, mut block) = biased(source, &common, ratio * common.hidden, &["norm_1", "norm_2"]);
    without_biases(&mut block, fields.flag(&["no_bias"])?.unwrap_or(true));
    frame.final_norm = block.norm;
    frame.position = Position::Alibi;
    if let Some(attention) = fields.object("attn_config")?
        && attention.flag(&["alibi"])? == Some(false)
    {
        (frame.position, frame.position_rows) = (Position::Learned, common.max_positions);
    }
    assemble(frame, common.layers, |_| Ok(block.clone()))
}

/// Removes every bias from projections and norms.
fn without_biases(block: &mut Block, no_bias: bool) {
    if !no_bias {
        return;
    }
    block.norm.bias = false;
    block.edit_attention(|attention| (attention.qkv_bias, attention.output_bias) = (false, false));
    if let FeedForwardShape::Dense(mlp) = &mut block.feed_forward {
        mlp.bias = false;
    }
}

/// Nemotron 3 and 4 (dense): squared ReLU, rotary positions, norms with biases, projections without.
pub(super) fn nemotron(source: &Source<'_>) -> Result<Model, Problem> {
    let fields = &source.fields;
    let defaults = Defaults { tied: false, activation: Activation::SquaredRelu, max_positions: 4096, ..GPT };
    let common = Common::read(source, &defaults)?;
    let norms = &["input_layernorm", "post_attention_layernorm"];
    let (frame, mut block) = biased(source, &common, intermediate(fields)?, norms);
    without_biases(&mut block, true);
    block.norm.bias = true;
    let bias = fields.flag(&["attention_bias"])?.unwrap_or(false);
    block.edit_attention(|attention| (attention.qkv_bias, attention.output_bias) = (bias, bias));
    if let FeedForwardShape::Dense(mlp) = &mut block.feed_forward {
        mlp.bias = fields.flag(&["mlp_bias"])?.unwrap_or(false);
    }
    assemble(frame, common.layers, |_| Ok(block.clone()))
}
