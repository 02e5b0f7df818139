//! Unspecified settings of a plan whose alternatives are likely: they widen the interval of a step time.
//!
//! Responsible for: which settings are open, and the alternatives of a plan. Excludes prices. The default of each setting is in
//! [`super::PlanSpec::resolve`].

use super::{Overlap, Plan, PlanSpec};
use crate::model::Model;
use crate::software::Software;

/// Open settings of a plan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OpenSettings {
    /// True for each unspecified overlap. Recipes set what the plan assumes; the framework's arguments may have it off.
    pub overlap: Overlap,
    /// True if the imbalance of the experts is unspecified. The plan assumes a perfect balance, as benchmarks force it.
    pub expert_imbalance: bool,
}

/// Tokens of the busiest expert relative to the mean under an auxiliary loss: 1.52 and 1.72 at the end of training of models with 3 and 1
/// billion parameters (Wang et al. 2024, arXiv 2408.15664, table 2: maximum violation of 0.52 and 0.72). A router with a bias for each
/// expert stays at 1.04.
const USUAL_IMBALANCE: f64 = 1.5;

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
    /// The plan with the slower alternative of each open setting: overlap by the framework's arguments, and the usual imbalance of experts on
    /// several ranks. `None` if the plan has no such alternative.
    pub fn slower(&self, plan: &Plan, model: &Model, software: &Software) -> Option<Plan> {
        let overlap = software.overlap_by_arguments(plan.overlap, self.overlap);
        let imbalance = self.usual_imbalance(plan, model);
        (overlap.is_some() || imbalance.is_some()).then(|| Plan {
            overlap: overlap.unwrap_or(plan.overlap),
            expert_imbalance: imbalance.unwrap_or(plan.expert_imbalance),
            ..plan.clone()
        })
    }

    /// The usual imbalance, where the assumed balance is open and experts on several ranks may lack it.
    pub fn usual_imbalance(&self, plan: &Plan, model: &Model) -> Option<f64> {
        let is_capped = plan.expert_capacity.is_some_and(|capacity| capacity <= plan.expert_imbalance);
        let routes = model.is_mixture_of_experts() && plan.expert_parallel > 1 && !is_capped;
        (self.expert_imbalance && routes && plan.expert_imbalance < USUAL_IMBALANCE)
            .then_some(USUAL_IMBALANCE)
    }
}
