//! Order of ZB-H1, and its published closed form.

use super::Pipeline;
use super::one_forward_one_backward::alternate;
use super::rules::{Rules, bound_of_divided_backward};
use super::slot::{Shape, Slot};
use super::stage_cost::StageCost;
use railwright_spec::quantity::Seconds;

/// ZB-H1.
pub(super) struct Order;

impl Rules for Order {
    /// Warmup `p-1-s`, and weight gradients delayed by `s` (Qi et al. 2023, figure 2).
    fn order(&self, shape: &Shape, stage: u64) -> Vec<Slot> {
        alternate(shape.micro_batches, stage, shape.stages - 1 - stage, Some(stage))
    }

    fn enough(&self, shape: &Shape) -> u64 {
        5 * shape.stages + 4
    }

    fn lower_bound(&self, pipeline: &Pipeline) -> f64 {
        bound_of_divided_backward(pipeline, 1.0)
    }
}

/// Idle time of ZB-H1 in s: `(p-1)(F+B-W)`. Qi et al. 2023, table 1.
pub fn bubble(stages: u64, cost: &StageCost) -> Seconds {
    (cost.forward + cost.backward_input - cost.backward_weight) * (stages.saturating_sub(1)) as f64
}
