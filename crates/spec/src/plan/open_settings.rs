//! Unspecified settings of a plan whose alternatives are likely: they widen the interval of a step time.
//!
//! Responsible for: which settings are open, and the alternatives of a plan. Excludes prices. The default of
//! each setting is in [`super::PlanSpec::resolve`].

use super::{Overlap, Plan, PlanSpec};
use crate::model::{Model, Weight, published_training};
use crate::software::Software;

/// Open settings of a plan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OpenSettings {
    /// True for each unspecified overlap. Recipes set what the plan assumes; the framework's arguments may
    /// leave it off.
    pub overlap: Overlap,
    /// True if the imbalance of the experts is unspecified. The plan assumes the middle of forced and
    /// natural routing.
    pub expert_imbalance: bool,
}

/// Tokens of the busiest expert relative to the mean under an auxiliary loss: 1.52 and 1.72 at the end of
/// training of models with 3 and 1 billion parameters (Wang et al. 2024, arXiv 2408.15664, table 2: maximum
/// violation of 0.52 and 0.72).
pub const USUAL_IMBALANCE: f64 = 1.5;
/// The same of a router with a bias for each expert, in the same table.
pub const BIASED_IMBALANCE: f64 = 1.04;
/// The same of routing that a benchmark forces.
pub const FORCED_IMBALANCE: f64 = 1.0;
/// Middle of forced and natural routing, for a run that specifies neither. Published runs are of both kinds,
/// and either alternative is part of the interval.
const UNKNOWN_IMBALANCE: f64 = 0.5 * (FORCED_IMBALANCE + USUAL_IMBALANCE);

/// Tests whether the published training of a model balances its experts by a bias for each, without an
/// auxiliary loss.
fn balances_by_bias(model: &Model) -> bool {
    let is_correction = |weight: &Weight| weight.name.ends_with("e_score_correction_bias");
    published_training(model).is_some_and(|training| training.balances_experts_by_bias)
        || model.layer_kinds.iter().any(|layer| layer.weights.iter().any(is_correction))
}

/// Default of `expert_imbalance`. An expert with a capacity drops what exceeds it.
pub fn default_imbalance(model: &Model, capacity: Option<f64>) -> f64 {
    if !model.is_mixture_of_experts() || capacity.is_some() {
        FORCED_IMBALANCE
    } else if balances_by_bias(model) {
        BIASED_IMBALANCE
    } else {
        UNKNOWN_IMBALANCE
    }
}

impl PlanSpec {
    /// Open settings of the plan.
    pub const fn open_settings(&self) -> OpenSettings {
        OpenSettings {
            overlap: Overlap {
                gradient_reduce: self.overlap_gradient_reduce.is_none(),
                parameter_gather: self.overlap_parameter_gather.is_none(),
                tensor: self.overlap_tensor.is_none(),
                pipeline: self.overlap_pipeline.is_none(),
                expert: self.overlap_expert.is_none(),
            },
            expert_imbalance: self.expert_imbalance.is_none(),
        }
    }
}

impl OpenSettings {
    /// The plan with the slower alternative of each open setting: overlap by the framework's arguments, and
    /// natural routing to experts on several ranks. `None` if the plan has no such alternative.
    pub fn slower(&self, plan: &Plan, software: &Software) -> Option<Plan> {
        let overlap = software.overlap_by_arguments(plan.overlap, self.overlap);
        let imbalance = self.imbalances(plan).map(|(_, natural)| natural);
        (overlap.is_some() || imbalance.is_some()).then(|| Plan {
            overlap: overlap.unwrap_or(plan.overlap),
            expert_imbalance: imbalance.unwrap_or(plan.expert_imbalance),
            ..plan.clone()
        })
    }

    /// The plan with the faster alternative of each open setting: forced routing. `None` if the plan has no
    /// such alternative.
    pub fn faster(&self, plan: &Plan) -> Option<Plan> {
        let (forced, _) = self.imbalances(plan)?;
        Some(Plan { expert_imbalance: forced, ..plan.clone() })
    }

    /// Imbalance of forced and of natural routing, where the plan assumes their middle.
    pub fn imbalances(&self, plan: &Plan) -> Option<(f64, f64)> {
        let is_middle = self.expert_imbalance && plan.expert_load() == UNKNOWN_IMBALANCE;
        is_middle.then_some((FORCED_IMBALANCE, USUAL_IMBALANCE))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster;
    use crate::model;

    /// Unspecified routing is the middle of forced and natural routing. A router with a bias and a capacity
    /// leave it closed, and experts of one rank wait for none.
    #[test]
    fn unspecified_routing_is_between_its_alternatives() {
        let cluster = cluster::by_name("dgx-h100", 64).expect("known");
        let load = |name: &str, experts: u64, capacity: Option<f64>| {
            let model = model::by_name(name).expect("known");
            let spec = PlanSpec {
                tensor_parallel: Some(1),
                expert_parallel: Some(experts),
                expert_capacity: capacity,
                ..PlanSpec::default()
            };
            let plan = spec.resolve(&model, &cluster).expect("resolves");
            (plan.expert_load(), spec.open_settings().imbalances(&plan))
        };
        assert_eq!(load("mixtral-8x7b", 8, None), (1.25, Some((1.0, 1.5))));
        assert_eq!(load("mixtral-8x7b", 1, None), (1.0, None));
        assert_eq!(load("mixtral-8x7b", 8, Some(1.0)), (1.0, None));
        assert_eq!(load("deepseek-v3", 8, None), (1.04, None));
        assert_eq!(load("llama-3-8b", 1, None), (1.0, None));
    }
}
