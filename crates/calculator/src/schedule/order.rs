//! Order of passes on each stage.
//!
//! Responsible for: the passes of the schedules' orders, with separate recompute. Excludes times: an order
//! depends on counts alone.

use super::Pipeline;
use super::list::rules;
use super::slot::{Pass, Shape};
use railwright_spec::problem::Problem;

/// Kind of pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum OperationKind {
    /// The forward pass.
    Forward,
    /// Recomputed forward work before the backward pass.
    Recompute,
    /// Both gradients in one pass, if the schedule does not split them.
    Backward,
    /// The gradient of the input.
    BackwardInput,
    /// The gradient of the weights.
    BackwardWeight,
}

/// One pass of one micro-batch through one chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Operation {
    /// Kind of pass.
    pub kind: OperationKind,
    /// Micro-batch.
    pub micro_batch: u32,
    /// Virtual stage, numbered along the pipeline.
    pub chunk: u32,
}

/// The order of passes on a stage, with recompute as a separate pass before its backward pass. A fused pair
/// is its forward followed by its backward.
pub fn operations(pipeline: &Pipeline, stage: u64) -> Result<Vec<Operation>, Problem> {
    pipeline.check()?;
    if stage >= pipeline.stages {
        return Err(Problem::new(format!("there is no stage {stage}; the last is {}", pipeline.stages - 1)));
    }
    let mut operations = Vec::new();
    let shape = Shape::of(pipeline);
    for slot in rules(shape.schedule).order(&shape, stage) {
        let operation = |kind| Operation { kind, micro_batch: slot.micro_batch, chunk: slot.chunk };
        if slot.hands_back() && pipeline.chunks[slot.chunk as usize].recompute.get() > 0.0 {
            operations.push(operation(OperationKind::Recompute));
        }
        operations.push(operation(match slot.pass {
            Pass::Forward | Pass::FusedForward => OperationKind::Forward,
            Pass::Backward | Pass::FusedBackward => OperationKind::Backward,
            Pass::BackwardInput => OperationKind::BackwardInput,
            Pass::BackwardWeight => OperationKind::BackwardWeight,
        }));
    }
    Ok(operations)
}
