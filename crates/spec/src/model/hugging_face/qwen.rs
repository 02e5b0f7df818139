//! Qwen 2 and 3, dense and with experts.

use super::common::{Common, Defaults, Source, decoder, intermediate, layer_types};
use super::llama::experts;
use crate::model::build::{
    AttentionShape, FeedForwardShape, NormShape, QkNorm, SharedGate, SharedShape, assemble,
};
use crate::model::fields::Fields;
use crate::model::{Model, Span, bounds};
use crate::problem::Problem;

/// Qwen 2 has biases on queries, keys and values; qwen 3 has norms on queries and keys instead.
pub(super) fn attention(source: &Source<'_>, common: &Common) -> Result<AttentionShape, Problem> {
    let mut attention = common.attention();
    if source.family.starts_with("qwen2") {
        attention.qkv_bias = source.fields.flag(&["qkv_bias"])?.unwrap_or(true);
    } else {
        let bias = source.fields.flag(&["attention_bias"])?.unwrap_or(false);
        (attention.qkv_bias, attention.output_bias) = (bias, bias);
        attention.qk_norm = QkNorm::PerHead(NormShape::RMS);
    }
    Ok(attention)
}

/// Qwen 3's class has heads of 128 whatever the hidden width; qwen 2 divides.
fn defaults(source: &Source<'_>) -> Defaults {
    Defaults { head_dim: (source.family == "qwen3").then_some(128), ..Defaults::LLAMA }
}

pub(super) fn dense(source: &Source<'_>) -> Result<Model, Problem> {
    let fields = &source.fields;
    let common = Common::read(source, &defaults(source))?;
    let attention = attention(source, &common)?;
    let block = decoder(attention, FeedForwardShape::Dense(common.gated(intermediate(fields)?)));
    let spans = Spans::read(fields, common.layers)?;
    assemble(common.frame(source), common.layers, |index| {
        let mut block = block.clone();
        block.set_span(spans.at(index));
        Ok(block)
    })
}

/// A window on the layers from `max_window_layers` on, where `use_sliding_window` asks for it, or by `layer_types`.
struct Spans {
    sliding: Vec<bool>,
    window: u64,
}

impl Spans {
    fn read(fields: &Fields<'_>, layers: u64) -> Result<Self, Problem> {
        let window = fields.count(&["sliding_window"], bounds::POSITIONS)?.unwrap_or(4096);
        let used = fields.flag(&["use_sliding_window"])?.unwrap_or(false) && window > 0;
        let sliding = if let Some(types) = layer_types(fields, layers)? {
            types.iter().map(|t| window > 0 && *t == "sliding_attention").collect()
        } else {
            let first = fields.count(&["max_window_layers"], bounds::LAYERS)?.unwrap_or(28);
            (0..layers).map(|index| used && index >= first).collect()
        };
        Ok(Self { sliding, window })
    }

    fn at(&self, index: u64) -> Span {
        let sliding = self.sliding.get(index as usize).copied().unwrap_or(false);
        if sliding { Span::Window(self.window) } else { Span::Causal }
    }
}

/// Which layers have experts: every `decoder_sparse_step`th that is not in `mlp_only_layers`.
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
        (index + 1) % self.step == 0 && !self.dense.contains(&index)
    }
}

pub(super) fn qwen2_moe(source: &Source<'_>) -> Result<Model, Problem> {
    sparse(source, true)
}

pub(super) fn qwen3_moe(source: &Source<'_>) -> Result<Model, Problem> {
    sparse(source, false)
}

fn sparse(source: &Source<'_>, with_shared: bool) -> Result<Model, Problem> {
    let fields = &source.fields;
    let common = Common::read(source, &defaults(source))?;
    let attention = attention(source, &common)?;
    let expert = common.gated(fields.required(&["moe_intermediate_size"], bounds::WIDTH)?);
    let shared = if with_shared { shared_expert(fields, &common)? } else { None };
    let sparse = decoder(attention.clone(), FeedForwardShape::Experts(experts(fields, expert, shared)?));
    let layers = SparseLayers::read(fields)?;
    let all_sparse = (0..common.layers).all(|index| layers.has(index));
    let width = if all_sparse { 1 } else { intermediate(fields)? };
    let dense = decoder(attention, FeedForwardShape::Dense(common.gated(width)));
    assemble(common.frame(source), common.layers, |index| {
        Ok(if layers.has(index) { sparse.clone() } else { dense.clone() })
    })
}

/// The shared expert with its sigmoid gate.
pub(super) fn shared_expert(fields: &Fields<'_>, common: &Common) -> Result<Option<SharedShape>, Problem> {
    let width = fields.count(&["shared_expert_intermediate_size"], bounds::WIDTH_OR_ZERO)?.unwrap_or(0);
    Ok((width > 0).then(|| SharedShape { mlp: common.gated(width), gate: SharedGate::Sigmoid }))
}
