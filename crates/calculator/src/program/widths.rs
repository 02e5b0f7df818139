//! Widths of softmax attention on one rank.
//!
//! Responsible for: the heads of a tensor-parallel rank, for kernels, exchanges and saved tensors.
//! Excludes mixers that keep a state.

use railwright_spec::model::Mixer;

/// Heads on one tensor-parallel rank, and their widths.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Widths {
    pub heads: f64,
    /// At least one: ranks beyond the number of key-value heads hold copies.
    pub kv_heads: f64,
    /// Width of a query or key.
    pub key: f64,
    /// Width of a value, or of a head's output.
    pub value: f64,
    /// Width of a value that is not a part of its key.
    pub separate_value: f64,
}

impl Widths {
    /// Widths of a mixer; `None` if it is no softmax attention. Latents are projected up to keys and values
    /// of every head. With a learned index, the latent and the rotated key are the one key of all heads, and
    /// the latent is its value: the up-projection is applied to queries and outputs instead (DeepSeek-V3.2,
    /// section 2.1).
    pub(crate) fn of(mixer: &Mixer, tensor_parallel: f64) -> Option<Self> {
        let (heads, kv_heads, key, value) = match mixer {
            Mixer::Attention(a) => (a.heads, a.kv_heads, a.head_dim, a.value_dim),
            Mixer::Latent(a) if is_indexed(mixer) => {
                (a.heads, 1, a.kv_lora_rank + a.qk_rope_head_dim, a.kv_lora_rank)
            }
            Mixer::Latent(a) => (a.heads, a.heads, a.qk_nope_head_dim + a.qk_rope_head_dim, a.v_head_dim),
            _ => return None,
        };
        Some(Self {
            heads: heads as f64 / tensor_parallel,
            kv_heads: (kv_heads as f64 / tensor_parallel).max(1.0),
            key: key as f64,
            value: value as f64,
            separate_value: if is_indexed(mixer) { 0.0 } else { value as f64 },
        })
    }

    /// Elements of the queries of a token.
    pub(crate) fn queries(&self) -> f64 {
        self.heads * self.key
    }

    /// Elements of the keys of a token.
    pub(crate) fn keys(&self) -> f64 {
        self.kv_heads * self.key
    }

    /// Elements of the values of a token.
    pub(crate) fn values(&self) -> f64 {
        self.kv_heads * self.separate_value
    }

    /// Elements of attention's output of a token.
    pub(crate) fn outputs(&self) -> f64 {
        self.heads * self.value
    }
}

/// True for latent attention with a learned index.
pub(crate) fn is_indexed(mixer: &Mixer) -> bool {
    matches!(mixer, Mixer::Latent(latent) if latent.sparse_top_k.is_some())
}
