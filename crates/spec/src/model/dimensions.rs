//! A model from plain numbers, for runs that report dimensions and no file.
//!
//! Responsible for: defaults that follow the style of the family (what GPT-3 has, what llama has), and the same checks
//! as the file reader's. Refuses dimensions that contradict each other.

mod read;

pub use read::from_dimensions;

use super::{Activation, Position};
use serde::{Deserialize, Serialize};

/// A model's dimensions. Only `layers`, `hidden` and `heads` have to be there.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Dimensions {
    /// Label.
    #[serde(default)]
    pub name: String,
    /// Family with the defaults of missing fields; inferred from the other fields if not set (see [`Style`]).
    #[serde(default)]
    pub style: Option<Style>,
    /// Layers.
    pub layers: u64,
    /// Width of the residual stream.
    pub hidden: u64,
    /// Query heads.
    pub heads: u64,
    /// Key-value heads; default: as many as query heads.
    #[serde(default)]
    pub kv_heads: Option<u64>,
    /// Width of a head; default: hidden over heads.
    #[serde(default)]
    pub head_dim: Option<u64>,
    /// Inner width of the dense MLP; default: 4 times hidden, or 8/3 of it rounded up to a multiple of 256 if gated.
    #[serde(default)]
    pub ffn: Option<u64>,
    /// Rows of the word embedding; default: 50,257 (gpt) or 32,000 (llama).
    #[serde(default)]
    pub vocab: Option<u64>,
    /// Three-matrix MLPs; default: yes for llama style.
    #[serde(default)]
    pub gated_mlp: Option<bool>,
    /// The head reuses the embedding; default: yes for gpt style.
    #[serde(default)]
    pub tied: Option<bool>,
    /// Routed experts; 0 or absent means none.
    #[serde(default)]
    pub experts: Option<u64>,
    /// Experts that a token visits; default: 2, or 1 where there is one.
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
    /// The layers with experts, counted from 0, if they are irregular; replaces the previous two fields.
    #[serde(default)]
    pub moe_layers: Option<Vec<u64>>,
    /// Whether a scalar gate weighs the shared experts; default: no.
    #[serde(default)]
    pub shared_gate: Option<bool>,
    /// Groups of experts for group-limited routing; default: 1.
    #[serde(default)]
    pub routing_groups: Option<u64>,
    /// Groups that one token may visit; default: all.
    #[serde(default)]
    pub top_k_groups: Option<u64>,
    /// How positions enter; default: learned (gpt) or rotary (llama).
    #[serde(default)]
    pub position: Option<Position>,
    /// Longest sequence; default: 2,048. With learned positions it sets the table's rows.
    #[serde(default)]
    pub max_positions: Option<u64>,
    /// The norm; default: by style.
    #[serde(default)]
    pub norm: Option<NormKind>,
    /// Biases on all projections; default: yes for gpt style.
    #[serde(default)]
    pub biases: Option<bool>,
    /// Biases on queries, keys and values; default: as `biases`.
    #[serde(default)]
    pub qkv_bias: Option<bool>,
    /// Norms on queries and keys; default: no.
    #[serde(default)]
    pub qk_norm: Option<bool>,
    /// Rank of the query latent (latent attention).
    #[serde(default)]
    pub q_lora_rank: Option<u64>,
    /// Rank of the key-value latent; its presence makes attention latent.
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
    /// Tokens that a query sees; default: all earlier ones.
    #[serde(default)]
    pub window: Option<u64>,
    /// With a window: interval of layers with global attention; default: none.
    #[serde(default)]
    pub full_attention_every: Option<u64>,
    /// Queries see later tokens too (encoders); default: no.
    #[serde(default)]
    pub bidirectional: bool,
    /// Multi-token-prediction modules; default: none.
    #[serde(default)]
    pub mtp: Option<u64>,
}

/// The family that fills the gaps.
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
    /// The given style, or the one inferred from an ungated MLP, learned positions or LayerNorm; llama
    /// otherwise.
    fn style(&self) -> Style {
        let gpt = self.gated_mlp == Some(false)
            || (self.gated_mlp.is_none()
                && (self.norm == Some(NormKind::LayerNorm) || self.position == Some(Position::Learned)));
        self.style.unwrap_or(if gpt { Style::Gpt } else { Style::Llama })
    }
}
