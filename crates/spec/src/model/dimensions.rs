//! A model from plain dimensions, for runs without a configuration file.
//!
//! Responsible for: defaults by family (GPT-3 or llama), and the same checks as in the file reader. Rejects
//! contradictory dimensions.

mod read;

pub use read::from_dimensions;

use super::{Activation, Position};
use serde::{Deserialize, Serialize};

/// Dimensions of a model. Only `layers`, `hidden` and `heads` are required.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Dimensions {
    /// Label.
    #[serde(default)]
    pub name: String,
    /// Family with the defaults of missing fields; inferred from the other fields if not set (see
    /// [`Style`]).
    #[serde(default)]
    pub style: Option<Style>,
    /// Number of layers.
    pub layers: u64,
    /// Width of the residual stream.
    pub hidden: u64,
    /// Query heads.
    pub heads: u64,
    /// Number of key-value heads; default: same as query heads.
    #[serde(default)]
    pub kv_heads: Option<u64>,
    /// Width of a head; default: hidden over heads.
    #[serde(default)]
    pub head_dim: Option<u64>,
    /// Inner width of the dense MLP; default: 4 times hidden, or 8/3 of it rounded up to a multiple of 256
    /// if gated.
    #[serde(default)]
    pub ffn: Option<u64>,
    /// Rows of the word embedding; default: 50,257 (gpt) or 32,000 (llama).
    #[serde(default)]
    pub vocab: Option<u64>,
    /// True for three-matrix MLPs; default: yes for llama style.
    #[serde(default)]
    pub gated_mlp: Option<bool>,
    /// True if the head reuses the word embedding; default: yes for gpt style.
    #[serde(default)]
    pub tied: Option<bool>,
    /// Number of routed experts; 0 or absent: none.
    #[serde(default)]
    pub experts: Option<u64>,
    /// Experts per token; default: 2, or 1 if there is only one.
    #[serde(default)]
    pub top_k: Option<u64>,
    /// Inner width of one expert; default: `ffn`.
    #[serde(default)]
    pub moe_ffn: Option<u64>,
    /// Inner width of all shared experts together; default: none.
    #[serde(default)]
    pub shared_ffn: Option<u64>,
    /// Dense layers in front of the first layer with experts.
    #[serde(default)]
    pub first_dense_layers: Option<u64>,
    /// After those, interval of layers with experts; default: all layers.
    #[serde(default)]
    pub moe_every: Option<u64>,
    /// Layers with experts, counted from 0, if they are irregular. Replaces the previous two fields.
    #[serde(default)]
    pub moe_layers: Option<Vec<u64>>,
    /// True if a scalar gate scales the shared experts; default: no.
    #[serde(default)]
    pub shared_gate: Option<bool>,
    /// Groups of experts for group-limited routing; default: 1.
    #[serde(default)]
    pub routing_groups: Option<u64>,
    /// Maximum groups per token; default: all.
    #[serde(default)]
    pub top_k_groups: Option<u64>,
    /// Position encoding; default: learned (gpt) or rotary (llama).
    #[serde(default)]
    pub position: Option<Position>,
    /// Longest sequence; default: 2,048. With learned positions it sets the table's rows.
    #[serde(default)]
    pub max_positions: Option<u64>,
    /// The norm; default: by style.
    #[serde(default)]
    pub norm: Option<NormKind>,
    /// True for biases on all projections; default: yes for gpt style.
    #[serde(default)]
    pub biases: Option<bool>,
    /// True for biases on queries, keys and values; default: same as `biases`.
    #[serde(default)]
    pub qkv_bias: Option<bool>,
    /// True for norms on queries and keys; default: no.
    #[serde(default)]
    pub qk_norm: Option<bool>,
    /// Rank of the query latent (latent attention).
    #[serde(default)]
    pub q_lora_rank: Option<u64>,
    /// Rank of the key-value latent. Enables latent attention.
    #[serde(default)]
    pub kv_lora_rank: Option<u64>,
    /// Latent attention: width of a head's part without rotation; default: 128.
    #[serde(default)]
    pub qk_nope_head_dim: Option<u64>,
    /// Latent attention: width of a head's rotated part; default: 64.
    #[serde(default)]
    pub qk_rope_head_dim: Option<u64>,
    /// Latent attention: width of a value head; default: 128.
    #[serde(default)]
    pub v_head_dim: Option<u64>,
    /// The activation; default: gelu (gpt) or silu (llama).
    #[serde(default)]
    pub activation: Option<Activation>,
    /// Window of attention in tokens; default: all earlier tokens.
    #[serde(default)]
    pub window: Option<u64>,
    /// Interval of layers with global attention, if there is a window; default: none.
    #[serde(default)]
    pub full_attention_every: Option<u64>,
    /// True for bidirectional attention (encoders); default: no.
    #[serde(default)]
    pub bidirectional: bool,
    /// Number of multi-token-prediction modules; default: none.
    #[serde(default)]
    pub mtp: Option<u64>,
}

/// Family that provides missing dimensions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Style {
    /// GPT-2 and 3: LayerNorm, learned positions, biases, two-matrix GELU MLPs, tied embeddings.
    Gpt,
    /// Llama: RMS norm, rotary positions, no biases, gated SiLU MLPs, a head of its own.
    Llama,
}

/// A norm by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum NormKind {
    /// Mean and variance, with a bias.
    LayerNorm,
    /// Root mean square.
    RmsNorm,
}

impl Dimensions {
    /// Specified style, or inferred: gpt for an ungated MLP, learned positions or LayerNorm; else llama.
    fn style(&self) -> Style {
        let gpt = self.gated_mlp == Some(false)
            || (self.gated_mlp.is_none()
                && (self.norm == Some(NormKind::LayerNorm) || self.position == Some(Position::Learned)));
        self.style.unwrap_or(if gpt { Style::Gpt } else { Style::Llama })
    }
}
