//! Qwen 2, 3, 3-next and 3.5, dense and with experts.

use super::common::{Common, Defaults, Source, decoder, intermediate};
use super::experts::{SparseLayers, gated_shared, routed};
use super::per_layer::{linear_layers, sliding_layers};
use crate::model::build::{
    AttentionShape, DeltaShape, FeedForwardShape, GateStyle, MixerShape, NormShape, QkNorm, assemble,
};
use crate::model::{Model, Span, bounds};
use crate::problem::Problem;

/// Qwen 2 has biases on queries, keys and values; qwen 3 has norms on queries and keys instead.
fn attention(source: &Source<'_>, common: &Common) -> Result<AttentionShape, Problem> {
    let mut attention = common.attention();
    if is_second(source) {
        attention.qkv_bias = source.fields.flag(&["qkv_bias", "attention_bias"])?.unwrap_or(true);
    } else {
        let bias = source.fields.flag(&["attention_bias"])?.unwrap_or(false);
        (attention.qkv_bias, attention.output_bias) = (bias, bias);
        attention.qk_norm = QkNorm::PerHead(NormShape::RMS);
    }
    Ok(attention)
}

/// True for qwen 2 and MiMo, which is qwen 2 with a prediction module.
fn is_second(source: &Source<'_>) -> bool {
    source.family.starts_with("qwen2") || source.family == "mimo"
}

/// Class defaults: the dense class of Qwen 3 has heads of 128 for any hidden width, the hybrid classes 256;
/// Qwen 2 divides the hidden width.
fn defaults(source: &Source<'_>) -> Defaults {
    let head_dim = match source.family {
        "qwen3" | "qwen3_vl" => Some(128),
        "qwen3_next" | "qwen3_5" | "qwen3_5_moe" => Some(256),
        _ => None,
    };
    Defaults { head_dim, ..Defaults::LLAMA }
}

pub(super) fn dense(source: &Source<'_>) -> Result<Model, Problem> {
    let fields = &source.fields;
    let common = Common::read(source, &defaults(source))?;
    let attention = attention(source, &common)?;
    let block = decoder(attention, FeedForwardShape::Dense(common.gated(intermediate(fields)?)));
    // A window on the layers from `max_window_layers` on, if `use_sliding_window` is set.
    let window = fields.count(&["sliding_window"], bounds::POSITIONS)?.filter(|&window| window > 0);
    let used = fields.flag(&["use_sliding_window"])?.unwrap_or(false);
    let first = fields.count(&["max_window_layers"], bounds::SMALL)?.unwrap_or(28);
    let sliding = sliding_layers(fields, common.layers, |index| used && index >= first)?;
    assemble(common.frame(source), common.layers, |index| {
        let span = window.filter(|_| sliding.at(index)).map_or(Span::Causal, Span::Window);
        Ok(block.clone().with_span(span))
    })
}

/// Qwen 2 with experts (and a shared one) and qwen 3 with experts (and none).
pub(super) fn moe(source: &Source<'_>) -> Result<Model, Problem> {
    let common = Common::read(source, &defaults(source))?;
    let attention = attention(source, &common)?;
    let feed_forwards = FeedForwards::read(source, &common, is_second(source))?;
    assemble(common.frame(source), common.layers, |index| {
        let mut block = decoder(attention.clone(), feed_forwards.at(index));
        block.name = if feed_forwards.sparse.has(index) { "moe" } else { "dense" };
        Ok(block)
    })
}

/// Experts on some layers, a dense MLP on the others.
struct FeedForwards {
    sparse: SparseLayers,
    experts: FeedForwardShape,
    dense: FeedForwardShape,
}

impl FeedForwards {
    fn read(source: &Source<'_>, common: &Common, with_shared: bool) -> Result<Self, Problem> {
        let fields = &source.fields;
        let sparse = SparseLayers::read(fields)?;
        let expert = common.gated(fields.required(&["moe_intermediate_size"], bounds::WIDTH)?);
        let shared = if with_shared { gated_shared(fields, common)? } else { None };
        let experts = FeedForwardShape::Experts(routed(fields, expert, shared)?);
        let dense = if (0..common.layers).all(|index| sparse.has(index)) {
            FeedForwardShape::None
        } else {
            FeedForwardShape::Dense(common.gated(intermediate(fields)?))
        };
        Ok(Self { sparse, experts, dense })
    }

    fn at(&self, index: u64) -> FeedForwardShape {
        if self.sparse.has(index) { self.experts.clone() } else { self.dense.clone() }
    }
}

/// Qwen 3 next and 3.5: three of four layers are gated delta nets, the fourth has gated attention output.
pub(super) fn hybrid(source: &Source<'_>) -> Result<Model, Problem> {
    let fields = &source.fields;
    let common = Common::read(source, &defaults(source))?;
    let mut attention = attention(source, &common)?;
    attention.output_gate = fields.flag(&["attn_output_gate"])?.unwrap_or(true);
    let delta = delta(source)?;
    let full_every = fields.count(&["full_attention_interval"], bounds::LAYERS)?.unwrap_or(4);
    let linear = linear_layers(fields, common.layers, |index| !(index + 1).is_multiple_of(full_every))?;
    let has_experts = source.family != "qwen3_5";
    let feed_forwards = if has_experts { Some(FeedForwards::read(source, &common, true)?) } else { None };
    let dense = match &feed_forwards {
        Some(_) => FeedForwardShape::None,
        None => FeedForwardShape::Dense(common.gated(intermediate(fields)?)),
    };
    assemble(common.frame(source), common.layers, |index| {
        let feed_forward = feed_forwards.as_ref().map_or_else(|| dense.clone(), |f| f.at(index));
        let mut block = decoder(attention.clone(), feed_forward);
        block.name = "full";
        if linear.at(index) {
            block.name = "linear";
            block.mixer = MixerShape::Delta(delta.clone());
        }
        Ok(block)
    })
}

fn delta(source: &Source<'_>) -> Result<DeltaShape, Problem> {
    let fields = &source.fields;
    let count = |name: &'static str, class: u64| {
        fields.count(&[name], bounds::HEADS).map(|value| value.unwrap_or(class))
    };
    let shape = DeltaShape {
        key_heads: count("linear_num_key_heads", 16)?,
        value_heads: count("linear_num_value_heads", 32)?,
        key_head_dim: count("linear_key_head_dim", 128)?,
        value_head_dim: count("linear_value_head_dim", 128)?,
        conv_kernel: count("linear_conv_kernel_dim", 4)?,
        gate: GateStyle::Scalar,
    };
    if !shape.value_heads.is_multiple_of(shape.key_heads) {
        let message =
            format!("{} key heads do not divide {} value heads", shape.key_heads, shape.value_heads);
        return Err(fields.locate(Problem::new(message), "linear_num_key_heads"));
    }
    Ok(shape)
}
