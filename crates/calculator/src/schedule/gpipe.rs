//! Order of GPipe: all forward passes, then all backward passes (Huang et al. 2019).

use super::Pipeline;
use super::rules::{Rules, bound_of_whole_backward};
use super::slot::{Pass, Shape, Slot};

/// GPipe.
pub(super) struct Order;

impl Rules for Order {
    /// With virtual stages, chunk by chunk (breadth first).
    fn order(&self, shape: &Shape, stage: u64) -> Vec<Slot> {
        let Shape { stages, virtual_stages, micro_batches, .. } = *shape;
        let mut slots = Vec::with_capacity((2 * virtual_stages * micro_batches) as usize);
        for chunk in 0..virtual_stages {
            slots.extend((0..micro_batches).map(|m| Slot::new(Pass::Forward, m, chunk * stages + stage)));
        }
        for chunk in (0..virtual_stages).rev() {
            slots.extend((0..micro_batches).map(|m| Slot::new(Pass::Backward, m, chunk * stages + stage)));
        }
        slots
    }

    fn enough(&self, shape: &Shape) -> u64 {
        4 * shape.stages + 4
    }

    /// False for breadth-first chunks: their dependency distance grows with the micro-batches.
    fn repeats(&self, shape: &Shape) -> bool {
        shape.virtual_stages == 1
    }

    fn repeats_apart(&self) -> bool {
        true
    }

    fn lower_bound(&self, pipeline: &Pipeline) -> f64 {
        bound_of_whole_backward(pipeline)
    }
}
