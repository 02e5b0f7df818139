//! Parameter counts in every convention that cards and papers use.

use super::{FeedForward, Layer, Model, Usage, Weight};
use serde::Serialize;

/// Parameter counts of a model, in all conventions of model cards.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ParameterCount {
    /// All parameters, including towers, a tied embedding counted once, without multi-token prediction.
    pub total: u64,
    /// Word embedding.
    pub word_embedding: u64,
    /// Matrix of the head; 0 if tied.
    pub head: u64,
    /// All routed experts of all layers.
    pub routed_experts: u64,
    /// Parameters active per token, input embedding included.
    pub active: u64,
    /// Parameters active per token, without the input embedding unless it is also the head.
    pub active_without_embedding: u64,
    /// Further stacks (an encoder, a vision tower), part of `total`.
    #[serde(skip_serializing_if = "is_zero")]
    pub towers: u64,
    /// Multi-token-prediction modules, not included in `total`.
    pub multi_token_prediction: u64,
}

/// Omits fields that most models lack.
#[allow(clippy::trivially_copy_pass_by_ref)] // serde asks for a reference
fn is_zero(n: &u64) -> bool {
    *n == 0
}

fn sum<'a>(weights: impl IntoIterator<Item = &'a Weight>) -> u64 {
    weights.into_iter().map(Weight::parameters).sum()
}

impl Layer {
    /// Parameters of the layer.
    pub fn parameters(&self) -> u64 {
        sum(&self.weights)
    }

    /// Parameters of its routed experts.
    pub fn routed_parameters(&self) -> u64 {
        sum(self.weights.iter().filter(|w| w.is_routed()))
    }

    /// Width of tokens dispatched to routed experts: the hidden width, or the narrower inner width of the
    /// experts. `None` without experts.
    pub fn expert_input_width(&self) -> Option<u64> {
        self.weights.iter().find(|weight| weight.is_routed()).map(|weight| weight.columns)
    }

    /// Parameters of the layer active per token: `top_k` of `experts` routed experts, and without tables,
    /// such as the weights of the prompt's positions in a diffusion transformer.
    pub fn active_parameters(&self) -> u64 {
        let held = sum(self.weights.iter().filter(|w| w.usage == Usage::Table));
        let routed = self.routed_parameters();
        match &self.feed_forward {
            FeedForward::MixtureOfExperts(moe) if moe.experts > 0 => {
                self.parameters() - held - routed + routed / moe.experts * moe.top_k
            }
            _ => self.parameters() - held,
        }
    }
}

impl Model {
    /// Counts the parameters.
    pub fn parameters(&self) -> ParameterCount {
        let layers: Vec<&Layer> = self.layers.iter().map(|&kind| &self.layer_kinds[kind]).collect();
        let outside = sum(&self.embedding) + sum(&self.final_norm) + sum(&self.head);
        let word_embedding = sum(self.embedding.iter().filter(|w| w.name == "embed_tokens"));
        let stacks: Vec<ParameterCount> = self.towers.iter().map(|tower| tower.stack.parameters()).collect();
        let towers: u64 = stacks.iter().map(|count| count.total).sum();
        let active = outside
            + layers.iter().map(|l| l.active_parameters()).sum::<u64>()
            + stacks.iter().map(|count| count.active).sum::<u64>();
        ParameterCount {
            total: outside + layers.iter().map(|l| l.parameters()).sum::<u64>() + towers,
            towers,
            word_embedding,
            head: sum(self.head.iter().filter(|w| w.name == "lm_head")),
            routed_experts: layers.iter().map(|l| l.routed_parameters()).sum(),
            active,
            active_without_embedding: if self.tied_embeddings { active } else { active - word_embedding },
            multi_token_prediction: self.multi_token_prediction.as_ref().map_or(0, |mtp| {
                mtp.depth * (sum(&mtp.weights) + self.layer_kinds[mtp.layer_kind].parameters())
            }),
        }
    }
}
