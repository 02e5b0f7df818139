//! One kind of exchange of a step, with its stages.

use super::ProcessGroup;
use crate::collectives::Collective;
use railwright_spec::quantity::Bytes;
use railwright_step::{Dimension, Phase};

/// Exchanges of one kind.
#[derive(Clone, Debug, PartialEq)]
pub struct StageExchange {
    /// The stages whose ranks take part.
    pub stages: Vec<u32>,
    /// Parallel dimension.
    pub dimension: Dimension,
    /// Exchanged tensors: `activations`, `gradients`, ...
    pub purpose: &'static str,
    /// Part of the step.
    pub phase: Phase,
    /// Kind of collective.
    pub operation: Collective,
    /// Group of the stage.
    pub process_group: ProcessGroup,
    /// Bytes of one call, by nccl-tests' convention.
    pub bytes: Bytes,
    /// Calls of each group in a step; 0.5 is half of an exchange.
    pub count: f64,
}

impl StageExchange {
    pub(super) fn is_like(&self, other: &Self) -> bool {
        let key = |e: &Self| (e.dimension, e.purpose, e.phase, e.operation, e.process_group);
        key(self) == key(other) && self.bytes == other.bytes
    }
}
