//! Passes that one cause delayed, and their excess.

use crate::replay::Replay;

/// Passes that one cause delayed, by index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    /// Index of the step.
    pub at_step: usize,
    /// The pass with the largest excess.
    pub pass: usize,
    /// All passes, in order.
    pub passes: Vec<usize>,
}

/// Excess of a pass over its normal duration, in nanoseconds.
pub(super) fn excess(replay: &Replay<'_>, at: usize) -> i64 {
    replay.duration(at) - replay.normal().of_pass(&replay.passes()[at]).median
}
