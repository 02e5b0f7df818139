//! Static memory of pipeline stages: parameters, gradients and optimizer states.
//!
//! Responsible for: the parameters of every part of the model on one rank, sized once for many stages. Refuses to know activations.

use super::parameters::{self, Held};
use railwright_spec::model::Model;
use railwright_spec::plan::Plan;

/// Parameters of every part of a model on one rank. Degrees of parallelism decide.
#[derive(Clone, Debug)]
pub struct HeldParts {
    pub(super) kinds: Vec<Held>,
    pub(super) embedding: Held,
    /// Away from the embedding, and on its stage, whose word embedding a tied head shares.
    pub(super) head: [Held; 2],
}

impl HeldParts {
    /// Of a plan's degrees.
    pub fn new(model: &Model, plan: &Plan) -> Self {
        Self {
            kinds: model.layer_kinds.iter().map(|kind| parameters::layer(kind, model, plan)).collect(),
            embedding: parameters::embedding(model, plan),
            head: [false, true].map(|with_embedding| parameters::head(model, plan, with_embedding)),
        }
    }
}
