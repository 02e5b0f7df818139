//! Llama and what follows its layer closely: mistral, mixtral.

use super::common::{Common, Defaults, EXPERTS, Source, TOP_K, decoder, intermediate};
use crate::model::build::{DenseShape, ExpertsShape, FeedForwardShape, SharedShape, assemble};
use crate::model::fields::Fields;
use crate::model::{Model, Span, bounds};
use crate::problem::Problem;

pub(super) fn llama(source: &Source<'_>) -> Result<Model, Problem> {
    let fields = &source.fields;
    let common = Common::read(source, &Defaults::LLAMA)?;
    let bias = fields.flag(&["attention_bias"])?.unwrap_or(false);
    let mut mlp = common.gated(intermediate(fields)?);
    mlp.bias = fields.flag(&["mlp_bias"])?.unwrap_or(false);
    let mut attention = common.attention();
    (attention.qkv_bias, attention.output_bias) = (bias, bias);
    let block = decoder(attention, FeedForwardShape::Dense(mlp));
    assemble(common.frame(source), common.layers, |_| Ok(block.clone()))
}

pub(super) fn mistral(source: &Source<'_>) -> Result<Model, Problem> {
    let fields = &source.fields;
    let common = Common::read(source, &Defaults::LLAMA)?;
    let mut attention = common.attention();
    attention.span = window(fields)?;
    let block = decoder(attention, FeedForwardShape::Dense(common.gated(intermediate(fields)?)));
    assemble(common.frame(source), common.layers, |_| Ok(block.clone()))
}

pub(super) fn mixtral(source: &Source<'_>) -> Result<Model, Problem> {
    let fields = &source.fields;
    let common = Common::read(source, &Defaults::LLAMA)?;
    let mut attention = common.attention();
    attention.span = window(fields)?;
    let expert = common.gated(intermediate(fields)?);
    let block = decoder(attention, FeedForwardShape::Experts(experts(fields, expert, None)?));
    assemble(common.frame(source), common.layers, |_| Ok(block.clone()))
}

/// The file's `sliding_window` as the span of every layer.
pub(super) fn window(fields: &Fields<'_>) -> Result<Span, Problem> {
    let window = fields.count(&["sliding_window"], bounds::POSITIONS)?;
    Ok(window.filter(|&w| w > 0).map_or(Span::Causal, Span::Window))
}

/// Routed experts by the usual names, with a check that a token can visit so many.
pub(super) fn experts(
    fields: &Fields<'_>,
    expert: DenseShape,
    shared: Option<SharedShape>,
) -> Result<ExpertsShape, Problem> {
    let experts = fields.required(EXPERTS, bounds::EXPERTS)?;
    let top_k = fields.required(TOP_K, bounds::SMALL)?;
    if top_k == 0 || top_k > experts {
        let problem = Problem::new(format!("a token cannot visit {top_k} of {experts} experts"));
        return Err(fields.locate(problem, "num_experts_per_tok"));
    }
    let routing_groups = fields.count(&["n_group"], bounds::SMALL)?.unwrap_or(1).max(1);
    let top_k_groups = fields.count(&["topk_group"], bounds::SMALL)?.unwrap_or(1).max(1);
    if top_k_groups > routing_groups {
        let problem =
            Problem::new(format!("a token cannot visit {top_k_groups} of {routing_groups} expert groups"));
        return Err(fields.locate(problem, "topk_group"));
    }
    Ok(ExpertsShape {
        experts,
        top_k,
        expert,
        router_bias: false,
        shared,
        routing_groups,
        top_k_groups,
        router_vectors: Vec::new(),
    })
}
