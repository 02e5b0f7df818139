//! Static memory of pipeline stages: parameters, gradients and optimizer states.
//!
//! Responsible for: the parameters of every part of the model on one rank, calculated once for many stages.
//! Excludes activations.

use super::parameters::{self, Held};
use railwright_spec::model::Model;
use railwright_spec::plan::Plan;

/// Parameters of every part of a model on one rank, for given parallel sizes.
#[derive(Clone, Debug)]
pub struct RankParameters {
    pub(super) kinds: Vec<Held>,
    pub(super) embedding: Held,
    /// Index 0: without the embedding. Index 1: on its stage, whose word embedding a tied head shares.
    pub(super) head: [Held; 2],
}

impl RankParameters {
    /// Parts for a plan's parallel sizes.
    pub fn new(model: &Model, plan: &Plan) -> Self {
        Self {
            kinds: model.layer_kinds.iter().map(|kind| parameters::layer(kind, model, plan)).collect(),
            embedding: parameters::embedding(model, plan),
            head: [false, true].map(|with_embedding| parameters::head(model, plan, with_embedding)),
        }
    }
}
