//! Llama and dense families that follow its layer closely: mistral, phi 3, smollm 3, granite.

use super::common::{Common, Defaults, Source, decoder, intermediate};
use super::per_layer::window;
use crate::model::Model;
use crate::model::build::{FeedForwardShape, assemble};
use crate::problem::Problem;

pub(super) fn llama(source: &Source<'_>) -> Result<Model, Problem> {
    read(source, &Defaults::LLAMA)
}

/// The same layer, with a tied head by default.
pub(super) fn llama_tied(source: &Source<'_>) -> Result<Model, Problem> {
    read(source, &Defaults { tied: true, ..Defaults::LLAMA })
}

fn read(source: &Source<'_>, defaults: &Defaults) -> Result<Model, Problem> {
    let fields = &source.fields;
    let common = Common::read(source, defaults)?;
    let bias = fields.flag(&["attention_bias"])?.unwrap_or(false);
    let mut mlp = common.gated(intermediate(fields)?);
    mlp.bias = fields.flag(&["mlp_bias"])?.unwrap_or(false);
    let mut attention = common.attention();
    (attention.qkv_bias, attention.output_bias) = (bias, bias);
    let block = decoder(attention, FeedForwardShape::Dense(mlp));
    assemble(common.frame(source), common.layers, |_| Ok(block.clone()))
}

/// Mistral and phi 3: the file's window on every layer, no biases.
pub(super) fn mistral(source: &Source<'_>) -> Result<Model, Problem> {
    let fields = &source.fields;
    let common = Common::read(source, &Defaults::LLAMA)?;
    let mut attention = common.attention();
    attention.span = window(fields)?;
    let block = decoder(attention, FeedForwardShape::Dense(common.gated(intermediate(fields)?)));
    assemble(common.frame(source), common.layers, |_| Ok(block.clone()))
}
