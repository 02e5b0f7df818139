//! Families with LayerNorm and two-matrix MLPs: gpt2.

use super::common::{Common, Defaults, INTERMEDIATE, Source, decoder};
use crate::model::build::{FeedForwardShape, NormShape, assemble};
use crate::model::{Activation, Model, Position, bounds};
use crate::problem::Problem;

/// GPT-2 and GPT-3: learned positions, biases everywhere, tied.
pub(super) fn gpt2(source: &Source<'_>) -> Result<Model, Problem> {
    let defaults =
        Defaults { tied: true, activation: Activation::Gelu, max_positions: 1024, ..Defaults::LLAMA };
    let common = Common::read(source, &defaults)?;
    let width = source.fields.count(INTERMEDIATE, bounds::WIDTH)?.unwrap_or(4 * common.hidden);
    let mut attention = common.attention();
    (attention.qkv_bias, attention.output_bias) = (true, true);
    let mut block = decoder(attention, FeedForwardShape::Dense(common.plain(width)));
    block.norm = NormShape::LAYER;
    block.norms = &["ln_1", "ln_2"];
    let mut frame = common.frame(source);
    frame.position = Position::Learned;
    frame.position_rows = common.max_positions;
    frame.final_norm = NormShape::LAYER;
    assemble(frame, common.layers, |_| Ok(block.clone()))
}
