//! The times of a step at which a stage's memory can peak.

use serde::Serialize;

/// Time of the peak.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Moment {
    /// At the loss, between forward and backward.
    Loss,
    /// In the backward pass, with the most micro-batches in flight.
    Backward,
    /// At the end of the backward pass, when all gradients exist and the activations are freed.
    BackwardEnd,
    /// During the optimizer step.
    OptimizerStep,
}
