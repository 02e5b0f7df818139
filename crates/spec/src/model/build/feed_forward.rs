//! Weights of feed-forward modules: dense MLPs, routed experts, shared experts.

use super::{matrix, vector};
use crate::model::{Activation, Cut, FeedForward, MixtureOfExperts, Mlp, Module, Weight};

/// Module that transforms each token.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum FeedForwardShape {
    Dense(DenseShape),
    Experts(ExpertsShape),
    None,
}

/// One MLP.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct DenseShape {
    pub(crate) width: u64,
    pub(crate) gated: bool,
    pub(crate) activation: Activation,
    pub(crate) bias: bool,
}

/// Routed experts and their parallel modules.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ExpertsShape {
    pub(crate) experts: u64,
    pub(crate) top_k: u64,
    pub(crate) expert: DenseShape,
    pub(crate) router_bias: bool,
    /// Input width of the router; `None`: the hidden width.
    pub(crate) router_width: Option<u64>,
    /// Inner width of tokens for the experts, if tokens are projected down before dispatch; `None`: the
    /// hidden width.
    pub(crate) latent: Option<u64>,
    pub(crate) shared: Option<SharedShape>,
    pub(crate) routing_groups: u64,
    pub(crate) top_k_groups: u64,
    /// Small trainable vectors of the router: name and length.
    pub(crate) router_vectors: Vec<(&'static str, u64)>,
}

/// MLP of every token, parallel to its routed experts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SharedShape {
    pub(crate) mlp: DenseShape,
    pub(crate) gate: SharedGate,
}

/// Weighting of the shared expert's output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SharedGate {
    /// No weighting.
    None,
    /// Learned sigmoid of the token (qwen 2).
    Sigmoid,
}

impl DenseShape {
    fn mlp(self) -> Mlp {
        Mlp {
            intermediate_size: self.width,
            gated: self.gated,
            activation: self.activation,
            biases: self.bias,
        }
    }

    /// Weights of the matrices, with names under `prefix` and labels under `label`.
    fn weights(self, hidden: u64, module: Module, prefix: &str, label: &str, copies: u64) -> Vec<Weight> {
        let into = if self.gated { format!("{label}gate_up") } else { format!("{label}up") };
        let names: &[&str] = if self.gated { &["gate_proj", "up_proj"] } else { &["up_proj"] };
        let mut weights = Vec::new();
        for name in names {
            let shape = (self.width, hidden);
            weights.push(matrix(&format!("{prefix}{name}"), module, shape, Cut::Column, &into));
            if self.bias {
                weights.push(vector(&format!("{prefix}{name}.bias"), module, self.width, Cut::Column));
            }
        }
        let down = format!("{label}down");
        weights.push(matrix(&format!("{prefix}down_proj"), module, (hidden, self.width), Cut::Row, &down));
        if self.bias {
            weights.push(vector(&format!("{prefix}down_proj.bias"), module, hidden, Cut::Replicated));
        }
        for weight in &mut weights {
            weight.copies = copies;
        }
        weights
    }
}

impl FeedForwardShape {
    pub(super) fn feed_forward(&self) -> FeedForward {
        match self {
            Self::Dense(shape) => FeedForward::Dense(shape.mlp()),
            Self::Experts(shape) => FeedForward::MixtureOfExperts(MixtureOfExperts {
                experts: shape.experts,
                top_k: shape.top_k,
                expert: shape.expert.mlp(),
                shared_intermediate_size: shape.shared.map_or(0, |shared| shared.mlp.width),
                routing_groups: shape.routing_groups,
                top_k_groups: shape.top_k_groups,
            }),
            Self::None => FeedForward::None,
        }
    }

    pub(super) fn weights(&self, hidden: u64) -> Vec<Weight> {
        match self {
            Self::Dense(shape) => shape.weights(hidden, Module::Mlp, "", "", 1),
            Self::Experts(shape) => shape.weights(hidden),
            Self::None => Vec::new(),
        }
    }
}

impl ExpertsShape {
    fn weights(&self, hidden: u64) -> Vec<Weight> {
        let router = (self.experts, self.router_width.unwrap_or(hidden));
        let mut weights = vec![matrix("router", Module::Router, router, Cut::Replicated, "router")];
        if self.router_bias {
            weights.push(vector("router.bias", Module::Router, self.experts, Cut::Replicated));
        }
        for (name, length) in &self.router_vectors {
            weights.push(vector(name, Module::Router, *length, Cut::Replicated));
        }
        let inner = self.latent.unwrap_or(hidden);
        if let Some(latent) = self.latent {
            let module = Module::SharedExpert;
            weights.push(matrix("fc1_latent_proj", module, (latent, hidden), Cut::Replicated, "latent_down"));
            weights.push(matrix("fc2_latent_proj", module, (hidden, latent), Cut::Replicated, "latent_up"));
        }
        weights.extend(self.expert.weights(inner, Module::Experts, "experts.", "experts_", self.experts));
        if let Some(shared) = self.shared {
            let module = Module::SharedExpert;
            weights.extend(shared.mlp.weights(hidden, module, "shared_expert.", "shared_", 1));
            if shared.gate == SharedGate::Sigmoid {
                weights.push(matrix(
                    "shared_expert_gate",
                    module,
                    (1, hidden),
                    Cut::Replicated,
                    "shared_gate",
                ));
            }
        }
        weights
    }
}
