//! Numbers of parts of a model that parallel sizes divide: experts and heads.

use crate::model::{FeedForward, Mixer, Model};

/// Largest number of routed experts per layer; `None` without experts.
pub fn expert_count(model: &Model) -> Option<u64> {
    let count = |feed_forward: &FeedForward| match feed_forward {
        FeedForward::MixtureOfExperts(moe) => Some(moe.experts),
        _ => None,
    };
    model.layer_kinds.iter().filter_map(|layer| count(&layer.feed_forward)).max()
}

/// Query heads and key-value heads of every kind of layer with heads.
pub(super) fn head_counts(model: &Model) -> Vec<(u64, u64)> {
    let count = |mixer: &Mixer| match mixer {
        Mixer::Attention(a) => Some((a.heads, a.kv_heads)),
        Mixer::Latent(a) => Some((a.heads, a.heads)),
        Mixer::Linear(a) => Some((a.value_heads, a.key_heads)),
        Mixer::StateSpace(s) => Some((s.heads, s.groups)),
        Mixer::Selective(s) => Some((s.inner, s.inner)),
        Mixer::Convolution(c) => Some((c.width, c.width)),
        Mixer::Several { .. } | Mixer::Unpriced { .. } | Mixer::None => None,
    };
    model.layer_kinds.iter().flat_map(|layer| layer.mixer.each()).filter_map(count).collect()
}
