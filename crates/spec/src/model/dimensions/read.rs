//! From dimensions to a model: defaults, checks, and the assignment of modules to layers.

use super::{Dimensions, NormKind, Style};
use crate::model::build::{
    AttentionShape, Block, DenseShape, ExpertsShape, FeedForwardShape, Frame, LatentShape, MixerShape,
    NormShape, QkNorm, SharedGate, SharedShape, assemble,
};
use crate::model::{Activation, Model, Position, Span, bounds};
use crate::problem::Problem;

/// Builds a model from dimensions.
pub fn from_dimensions(dimensions: Dimensions) -> Result<Model, Problem> {
    let d = &dimensions;
    let gpt = d.style() == Style::Gpt;
    bounds::LAYERS.check("layers", d.layers)?;
    bounds::HIDDEN.check("hidden", d.hidden)?;
    bounds::HEADS.check("heads", d.heads)?;
    let vocabulary =
        bounded("vocab", d.vocab, bounds::VOCABULARY)?.unwrap_or(if gpt { 50_257 } else { 32_000 });
    let max_positions = bounded("max_positions", d.max_positions, bounds::POSITIONS)?.unwrap_or(2048);
    let position = d.position.unwrap_or(if gpt { Position::Learned } else { Position::Rotary });
    let norm = match d.norm {
        Some(NormKind::LayerNorm) => NormShape::LAYER,
        None if gpt => NormShape::LAYER,
        Some(NormKind::RmsNorm) | None => NormShape::RMS,
    };
    let feed_forward = FeedForwards::read(d, gpt)?;
    let spans = Spans::read(d)?;
    let template = Block {
        name: "decoder",
        mixer: mixer(d, norm, gpt)?,
        feed_forward: FeedForwardShape::None,
        norm,
        norms: &["input_layernorm", "post_attention_layernorm"],
        parallel_residual: false,
        extra_vectors: Vec::new(),
        extra_matrices: Vec::new(),
        again: false,
        weights: Vec::new(),
    };
    let mut notes = Vec::new();
    if d.vocab.is_none() {
        notes.push(format!("`vocab` is not set: {vocabulary}"));
    }
    if d.ffn.is_none() && (feed_forward.sparse.is_none() || d.moe_ffn.is_none()) {
        notes.push(format!("`ffn` is not set: {}", feed_forward.dense.width));
    }
    let layers = d.layers;
    let frame = Frame {
        family: "custom".to_owned(),
        hidden: d.hidden,
        vocabulary,
        max_positions,
        tied: d.tied.unwrap_or(gpt),
        position,
        position_rows: if position == Position::Learned { max_positions } else { 0 },
        embedding_width: None,
        embedding_norm: false,
        final_norm: norm,
        head_bias: false,
        extra: Vec::new(),
        head_extra: Vec::new(),
        prediction_depth: bounded("mtp", d.mtp, bounds::SMALL)?.unwrap_or(0),
        notes,
        // Moved last, because this ends the borrow.
        name: if d.name.is_empty() { "custom".to_owned() } else { dimensions.name },
    };
    assemble(frame, layers, |index| {
        let mut block = template.clone();
        (block.name, block.feed_forward) = feed_forward.at(index);
        Ok(block.with_span(spans.at(index)))
    })
}

fn bounded(key: &str, value: Option<u64>, bound: bounds::Bound) -> Result<Option<u64>, Problem> {
    value.map(|value| bound.check(key, value)).transpose()
}

fn mixer(d: &Dimensions, norm: NormShape, gpt: bool) -> Result<MixerShape, Problem> {
    let biases = d.biases.unwrap_or(gpt);
    // Some tools write an absent rank as 0.
    let given = |rank: Option<u64>| rank.filter(|&rank| rank > 0);
    if let Some(kv_lora_rank) = bounded("kv_lora_rank", given(d.kv_lora_rank), bounds::HIDDEN)? {
        return Ok(MixerShape::Latent(LatentShape {
            heads: d.heads,
            q_lora_rank: bounded("q_lora_rank", given(d.q_lora_rank), bounds::HIDDEN)?,
            kv_lora_rank,
            nope: bounded("qk_nope_head_dim", d.qk_nope_head_dim, bounds::HEAD_DIM)?.unwrap_or(128),
            rope: bounded("qk_rope_head_dim", d.qk_rope_head_dim, bounds::HEAD_DIM)?.unwrap_or(64),
            value: bounded("v_head_dim", d.v_head_dim, bounds::HEAD_DIM)?.unwrap_or(128),
            bias: biases,
            indexer: None,
        }));
    }
    if let Some(key) = [("q_lora_rank", given(d.q_lora_rank)), ("qk_nope_head_dim", d.qk_nope_head_dim)]
        .into_iter()
        .chain([("qk_rope_head_dim", d.qk_rope_head_dim), ("v_head_dim", d.v_head_dim)])
        .find_map(|(key, value)| value.map(|_| key))
    {
        return Err(
            Problem::new("applies to latent attention only, but `kv_lora_rank` is missing").at_key(key)
        );
    }
    let kv_heads = bounded("kv_heads", d.kv_heads, bounds::HEADS)?.unwrap_or(d.heads);
    if !d.heads.is_multiple_of(kv_heads) {
        return Err(Problem::new(format!(
            "{kv_heads} key-value heads do not divide {} query heads",
            d.heads
        ))
        .at_key("kv_heads"));
    }
    let head_dim = match bounded("head_dim", d.head_dim, bounds::HEAD_DIM)? {
        Some(head_dim) => head_dim,
        None if d.hidden.is_multiple_of(d.heads) => d.hidden / d.heads,
        None => {
            let message = format!(
                "hidden size {} is not a multiple of {} heads, and `head_dim` is missing",
                d.hidden, d.heads
            );
            return Err(Problem::new(message)
                .hint("add `head_dim`, or correct one of the two")
                .at_key("heads"));
        }
    };
    Ok(MixerShape::Attention(AttentionShape {
        heads: d.heads,
        kv_heads,
        head_dim,
        value_dim: None,
        span: Span::Causal,
        key_bias: true,
        qkv_bias: d.qkv_bias.unwrap_or(biases),
        output_bias: biases,
        qk_norm: if d.qk_norm == Some(true) { QkNorm::PerHead(norm) } else { QkNorm::None },
        sinks: false,
        output_gate: false,
        keys_are_values: false,
        reuses_keys: false,
        sparse_top_k: None,
        input_width: None,
        memory_width: None,
    }))
}

/// Feed-forwards by layer: the dense MLP, the experts, and the layers of each.
struct FeedForwards {
    dense: DenseShape,
    sparse: Option<ExpertsShape>,
    first_dense: u64,
    every: u64,
    listed: Option<Vec<u64>>,
}

impl FeedForwards {
    fn read(d: &Dimensions, gpt: bool) -> Result<Self, Problem> {
        let gated = d.gated_mlp.unwrap_or(!gpt);
        let default = if gated { (8 * d.hidden).div_ceil(3).next_multiple_of(256) } else { 4 * d.hidden };
        let width = bounded("ffn", d.ffn, bounds::WIDTH)?.unwrap_or(default);
        let activation =
            d.activation.unwrap_or(if gpt && !gated { Activation::Gelu } else { Activation::Silu });
        let dense = DenseShape { width, gated, activation, bias: d.biases.unwrap_or(gpt) };
        let experts = bounded("experts", d.experts, bounds::EXPERTS)?.unwrap_or(0);
        let moe_width = bounded("moe_ffn", d.moe_ffn, bounds::WIDTH)?;
        let shared = bounded("shared_ffn", d.shared_ffn, bounds::WIDTH_OR_ZERO)?.unwrap_or(0);
        let first_dense = bounded("first_dense_layers", d.first_dense_layers, bounds::SMALL)?.unwrap_or(0);
        let every = bounded("moe_every", d.moe_every, bounds::SMALL)?.unwrap_or(1).max(1);
        let top_k = bounded("top_k", d.top_k, bounds::SMALL)?;
        if experts == 0 {
            return match (top_k, moe_width, shared) {
                (Some(1..), ..) | (_, Some(_), _) | (.., 1..) => Err(Problem::new(
                    "`top_k`, `moe_ffn` and `shared_ffn` apply to experts, but the model has none",
                )
                .at_key("experts")),
                _ => Ok(Self { dense, sparse: None, first_dense, every, listed: None }),
            };
        }
        if let Some(listed) = &d.moe_layers {
            if d.first_dense_layers.is_some() || d.moe_every.is_some() {
                return Err(Problem::new(
                    "`first_dense_layers` and `moe_every` cannot be combined with a list of layers",
                )
                .at_key("moe_layers"));
            }
            if let Some(beyond) = listed.iter().find(|&&layer| layer >= d.layers) {
                let message = format!("layers are numbered from 0 to {}, found {beyond}", d.layers - 1);
                return Err(Problem::new(message).at_key("moe_layers"));
            }
            if listed.is_empty() {
                return Err(Problem::new(format!("no layer has the {experts} experts")).at_key("moe_layers"));
            }
        } else if first_dense + every > d.layers {
            let message = format!("none of the {} layers has the {experts} experts", d.layers);
            return Err(Problem::new(message).at_key("first_dense_layers"));
        }
        let top_k = top_k.unwrap_or(experts.min(2));
        if top_k == 0 || top_k > experts {
            return Err(Problem::new(format!(
                "{top_k} active experts per token are not possible with {experts} experts"
            ))
            .at_key("top_k"));
        }
        let with_width = |width| DenseShape { width, ..dense };
        let gate = if d.shared_gate == Some(true) { SharedGate::Sigmoid } else { SharedGate::None };
        let shared = (shared > 0).then(|| SharedShape { mlp: with_width(shared), gate });
        let routing_groups =
            bounded("routing_groups", d.routing_groups, bounds::EXPERTS)?.unwrap_or(1).max(1);
        let top_k_groups =
            bounded("top_k_groups", d.top_k_groups, bounds::EXPERTS)?.unwrap_or(routing_groups);
        if top_k_groups == 0 || top_k_groups > routing_groups {
            let message = format!(
                "{top_k_groups} active groups per token are not possible with {routing_groups} groups"
            );
            return Err(Problem::new(message).at_key("top_k_groups"));
        }
        let sparse = ExpertsShape {
            experts,
            top_k,
            expert: with_width(moe_width.unwrap_or(width)),
            router_bias: false,
            router_width: None,
            latent: None,
            shared,
            routing_groups,
            top_k_groups,
            router_vectors: Vec::new(),
        };
        let mut listed = d.moe_layers.clone();
        if let Some(listed) = &mut listed {
            listed.sort_unstable();
        }
        Ok(Self { dense, sparse: Some(sparse), first_dense, every, listed })
    }

    fn has_experts(&self, index: u64) -> bool {
        match &self.listed {
            Some(listed) => listed.binary_search(&index).is_ok(),
            // The last layer of each group has the experts, as in qwen and llama 4.
            None => index >= self.first_dense && (index - self.first_dense + 1).is_multiple_of(self.every),
        }
    }

    fn at(&self, index: u64) -> (&'static str, FeedForwardShape) {
        match &self.sparse {
            Some(sparse) if self.has_experts(index) => ("moe", FeedForwardShape::Experts(sparse.clone())),
            Some(_) => ("dense", FeedForwardShape::Dense(self.dense)),
            None => ("decoder", FeedForwardShape::Dense(self.dense)),
        }
    }
}

/// Attention span of each layer.
struct Spans {
    local: Span,
    global: Span,
    every: Option<u64>,
}

impl Spans {
    fn read(d: &Dimensions) -> Result<Self, Problem> {
        let global = if d.bidirectional { Span::Bidirectional } else { Span::Causal };
        let window = bounded("window", d.window, bounds::POSITIONS)?.filter(|&w| w > 0);
        let every = bounded("full_attention_every", d.full_attention_every, bounds::LAYERS)?;
        Ok(Self { local: window.map_or(global, Span::Window), global, every })
    }

    fn at(&self, index: u64) -> Span {
        if self.every.is_some_and(|every| (index + 1).is_multiple_of(every)) {
            self.global
        } else {
            self.local
        }
    }
}
