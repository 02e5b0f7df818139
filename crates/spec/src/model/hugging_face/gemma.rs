//! Gemma 1 to 4: gated GELU, tied embeddings, windows that alternate with full attention.

use super::common::{Common, Defaults, Source, decoder, intermediate};
use super::experts::routed;
use super::per_layer::sliding_layers;
use crate::model::build::{
    AttentionShape, Block, ExtraMatrix, FeedForwardShape, Frame, MixerShape, NormShape, QkNorm, SharedGate,
    SharedShape, assemble, matrix, vector,
};
use crate::model::{Activation, Cut, Model, Module, Span, Usage, Weight, bounds};
use crate::problem::Problem;

const GEMMA: Defaults =
    Defaults { tied: true, activation: Activation::Gelu, head_dim: Some(256), ..Defaults::LLAMA };

/// Four norms a layer: around attention and around the MLP.
const SANDWICH: &[&str] = &[
    "input_layernorm",
    "post_attention_layernorm",
    "pre_feedforward_layernorm",
    "post_feedforward_layernorm",
];

pub(super) fn gemma(source: &Source<'_>) -> Result<Model, Problem> {
    let common = Common::read(source, &GEMMA)?;
    let mlp = common.gated(intermediate(&source.fields)?);
    let block = decoder(common.attention(), FeedForwardShape::Dense(mlp));
    assemble(common.frame(source), common.layers, |_| Ok(block.clone()))
}

/// Gemma 2 has a window on every other layer; gemma 3 on five of six, with norms on queries and keys.
pub(super) fn gemma2(source: &Source<'_>) -> Result<Model, Problem> {
    let fields = &source.fields;
    let third = source.family == "gemma3";
    // Files of the multimodal sizes omit values equal to the class's defaults.
    let defaults = Defaults {
        nested: third.then_some((8, 4, 262_208)),
        max_positions: if third { 131_072 } else { 8192 },
        ..GEMMA
    };
    let common = Common::read(source, &defaults)?;
    let mut attention = common.attention();
    let bias = fields.flag(&["attention_bias"])?.unwrap_or(false);
    (attention.qkv_bias, attention.output_bias) = (bias, bias);
    if third {
        attention.qk_norm = QkNorm::PerHead(NormShape::RMS);
    }
    let mut block = decoder(attention, FeedForwardShape::Dense(common.gated(intermediate(fields)?)));
    block.norms = SANDWICH;
    let window = fields.count(&["sliding_window"], bounds::POSITIONS)?.unwrap_or(4096);
    let pattern = fields.count(&["sliding_window_pattern", "_sliding_window_pattern"], bounds::SMALL)?;
    let pattern = pattern.unwrap_or(if third { 6 } else { 2 }).max(1);
    let sliding = sliding_layers(fields, common.layers, |index| !(index + 1).is_multiple_of(pattern))?;
    assemble(common.frame(source), common.layers, |index| {
        let mut block = block.clone();
        if sliding.at(index) {
            block = block.with_span(Span::Window(window));
        }
        block.name = if sliding.at(index) { "sliding" } else { "full" };
        Ok(block)
    })
}

/// Gemma 4: wider and fewer heads in the global layers, where keys may also be values; experts parallel to a
/// dense MLP.
pub(super) fn gemma4(source: &Source<'_>) -> Result<Model, Problem> {
    let fields = &source.fields;
    let common = Common::read(source, &GEMMA)?;
    let window = fields.count(&["sliding_window"], bounds::POSITIONS)?.unwrap_or(1024);
    let mut local = common.attention();
    local.qk_norm = QkNorm::PerHead(NormShape::RMS);
    local.span = Span::Window(window);
    let global = global_attention(source, &common, &local)?;
    let last = common.layers - 1;
    // Every sixth layer is global, and always the last one.
    let sliding =
        sliding_layers(fields, common.layers, |index| !(index + 1).is_multiple_of(6) && index != last)?;
    let dense = common.gated(intermediate(fields)?);
    let mut block = decoder(local.clone(), FeedForwardShape::Dense(dense));
    block.norms = SANDWICH;
    let enabled = fields.flag(&["enable_moe_block"])?.unwrap_or(true);
    if enabled && fields.count(&["num_experts"], bounds::EXPERTS)?.unwrap_or(0) > 0 {
        let width = fields.required(&["moe_intermediate_size", "expert_intermediate_size"], bounds::WIDTH)?;
        let beside = SharedShape { mlp: dense, gate: SharedGate::None };
        let mut experts = routed(fields, common.gated(width), Some(beside))?;
        experts.router_vectors =
            vec![("router.scale", common.hidden), ("router.per_expert_scale", experts.experts)];
        block.feed_forward = FeedForwardShape::Experts(experts);
        block.norms = &[
            "input_layernorm",
            "post_attention_layernorm",
            "pre_feedforward_layernorm",
            "pre_feedforward_layernorm_2",
            "post_feedforward_layernorm_1",
            "post_feedforward_layernorm_2",
            "post_feedforward_layernorm",
        ];
    }
    let mut frame = common.frame(source);
    per_layer_inputs(source, &common, &mut frame, &mut block)?;
    // The last layers may reuse keys and values of earlier ones, with a wider MLP instead.
    let shared = fields.count(&["num_kv_shared_layers"], bounds::SMALL)?.unwrap_or(0);
    let first_shared = common.layers.saturating_sub(shared);
    let double_wide = fields.flag(&["use_double_wide_mlp"])?.unwrap_or(false);
    assemble(frame, common.layers, |index| {
        let slides = sliding.at(index);
        let mut block = block.clone();
        let mut attention = if slides { local.clone() } else { global.clone() };
        attention.reuses_keys = index >= first_shared;
        if let (FeedForwardShape::Dense(mlp), true) =
            (&mut block.feed_forward, attention.reuses_keys && double_wide)
        {
            mlp.width *= 2;
        }
        block.mixer = MixerShape::Attention(attention);
        block.name = if slides { "sliding" } else { "full" };
        Ok(block)
    })
}

fn global_attention(
    source: &Source<'_>,
    common: &Common,
    local: &AttentionShape,
) -> Result<AttentionShape, Problem> {
    let fields = &source.fields;
    let mut global = local.clone();
    global.span = Span::Causal;
    global.head_dim = fields.count(&["global_head_dim"], bounds::HEAD_DIM)?.unwrap_or(512);
    global.keys_are_values = fields.flag(&["attention_k_eq_v"])?.unwrap_or(false);
    if global.keys_are_values {
        let heads = fields.count(&["num_global_key_value_heads"], bounds::HEADS)?;
        global.kv_heads = heads.unwrap_or(common.kv_heads);
        if !common.heads.is_multiple_of(global.kv_heads) {
            let message =
                format!("{} key-value heads do not divide {} query heads", global.kv_heads, common.heads);
            return Err(fields.locate(Problem::new(message), "num_global_key_value_heads"));
        }
    }
    Ok(global)
}

/// A second embedding that gives every layer an input of its own (the small gemma 4 models).
fn per_layer_inputs(
    source: &Source<'_>,
    common: &Common,
    frame: &mut Frame,
    block: &mut Block,
) -> Result<(), Problem> {
    let fields = &source.fields;
    let width = fields.count(&["hidden_size_per_layer_input"], bounds::WIDTH_OR_ZERO)?.unwrap_or(0);
    if width == 0 {
        return Ok(());
    }
    let hidden = common.hidden;
    let rows =
        fields.count(&["vocab_size_per_layer_input"], bounds::VOCABULARY)?.unwrap_or(common.vocabulary);
    let all = common.layers * width;
    let module = Module::Embedding;
    frame.extra.push(Weight {
        name: "embed_tokens_per_layer".to_owned(),
        module,
        rows,
        columns: all,
        copies: 1,
        cut: Cut::Vocabulary,
        usage: Usage::Table,
    });
    let label = "per_layer_model_projection";
    frame.extra.push(matrix(label, module, (all, hidden), Cut::Replicated, label));
    frame.extra.push(vector("per_layer_projection_norm", module, width, Cut::Replicated));
    let gate = "per_layer_input_gate";
    let projection = "per_layer_projection";
    block.extra_matrices = vec![
        ExtraMatrix { name: gate, label: gate, rows: width, columns: hidden },
        ExtraMatrix { name: projection, label: projection, rows: hidden, columns: width },
    ];
    block.extra_vectors = vec![("post_per_layer_input_norm", hidden)];
    Ok(())
}
