//! Order of ZB-H2, and its published closed form.

use super::Pipeline;
use super::one_forward_one_backward::alternate;
use super::rules::{Rules, bound_of_divided_backward};
use super::slot::{Shape, Slot};
use super::stage_cost::StageCost;
use railwright_spec::quantity::Seconds;

/// ZB-H2.
pub(super) struct Order;

impl Rules for Order {
    /// Twice the warmup and the delay of ZB-H1, which changes the trapezoid of 1F1B to a parallelogram (Qi et
    /// al. 2023, figure 3).
    fn order(&self, shape: &Shape, stage: u64) -> Vec<Slot> {
        alternate(shape.micro_batches, stage, 2 * (shape.stages - 1 - stage), Some(2 * stage))
    }

    fn enough(&self, shape: &Shape) -> u64 {
        8 * shape.stages + 4
    }

    fn lower_bound(&self, pipeline: &Pipeline) -> f64 {
        bound_of_divided_backward(pipeline, 2.0)
    }
}

/// Idle time of ZB-H2 in s: `(p-1)(F+B-2W)`, within a stage's own step (not from the first stage's start). Qi
/// et al. 2023, table 1.
pub fn bubble(stages: u64, cost: &StageCost) -> Seconds {
    let idle = cost.forward + cost.backward_input - 2.0 * cost.backward_weight;
    (idle * (stages.saturating_sub(1)) as f64).max(Seconds::ZERO)
}
