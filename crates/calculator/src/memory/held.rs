//! Static memory of pipeline stages: parameters, gradients and optimizer states.
//!
//! Responsible for: the parameters of every part of the model on one rank, computed once for many stages, and
//! the minimum memory of a stage without activations. Excludes activations.

use super::parameters::{self, Extent, Held, PerParameter};
use super::prepared::{ParameterBytes, StageLayout};
use super::report::Moment;
use super::stages::StageLayers;
use super::sum::{StageSum, finish};
use super::{MemoryInput, Peak};
use railwright_spec::model::Model;
use railwright_spec::plan::Plan;

/// Parameters of every part of a model on one rank. Degrees of parallelism decide.
#[derive(Clone, Debug)]
pub struct HeldParts {
    kinds: Vec<Held>,
    embedding: Held,
    /// Away from the embedding, and on its stage, whose word embedding a tied head shares.
    head: [Held; 2],
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

    /// What the fullest stage needs while its optimizer steps: a lower bound of [`Peak`] under any recompute and micro batch.
    pub fn step(&self, input: &MemoryInput<'_>, bytes: ParameterBytes, layout: &StageLayout) -> Peak {
        let mut worst = (0, (0.0, Moment::OptimizerStep));
        for (stage, chunks) in layout.stages() {
            let mut sum = StageSum::empty(input.software);
            sum.hold(self, input.model, chunks);
            sum.states(bytes.per());
            let need = sum.at(Moment::OptimizerStep);
            if need > worst.1.0 {
                worst = (stage, (need, Moment::OptimizerStep));
            }
        }
        finish(input, worst)
    }
}

impl StageSum {
    /// Takes over the parameters of a stage that holds these chunks.
    pub(super) fn hold(&mut self, parts: &HeldParts, model: &Model, chunks: &[StageLayers]) {
        let with_embedding = chunks.iter().any(|chunk| chunk.embedding);
        let (mut all, mut trained) = (Extent::default(), Extent::default());
        for chunk in chunks {
            for &kind in &model.layers[chunk.start..chunk.start + chunk.count] {
                let held = parts.kinds[kind];
                self.held.add(held, 1.0);
                for (extent, parameters) in [(&mut all, held.total()), (&mut trained, held.trained())] {
                    extent.layers += parameters;
                    extent.largest = extent.largest.max(parameters);
                }
            }
            let embedding = chunk.embedding.then_some(parts.embedding);
            let head = chunk.head.then_some(parts.head[usize::from(with_embedding)]);
            for end in embedding.into_iter().chain(head) {
                self.held.add(end, 1.0);
                all.ends += end.total();
                trained.ends += end.trained();
            }
        }
        (self.all, self.trained) = (all, trained);
    }

    /// What the states of the parameters held take through the step, and while the optimizer steps.
    pub(super) fn states(&mut self, per: &PerParameter) {
        let held = self.held;
        let cost = |dense, routed| held.dense * dense + held.routed * routed;
        let frozen = held.frozen_dense * per.dense.frozen + held.frozen_routed * per.routed.frozen;
        self.resident = cost(per.dense.resident(), per.routed.resident())
            + frozen
            + held.matmul * (per.narrow - per.narrower);
        self.stepping = cost(per.dense.stepping, per.routed.stepping);
    }
}
