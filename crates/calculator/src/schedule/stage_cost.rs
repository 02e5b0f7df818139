//! Times of one micro-batch on one stage, the inputs of the published closed forms.

use railwright_spec::quantity::Seconds;

/// The times of one micro-batch on one *stage* (all its chunks together).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StageCost {
    /// Forward.
    pub forward: Seconds,
    /// Gradient of the input, recompute included.
    pub backward_input: Seconds,
    /// Gradient of the weights.
    pub backward_weight: Seconds,
}

impl StageCost {
    /// Sum of all times.
    pub(super) fn sum(&self) -> Seconds {
        self.forward + self.backward_input + self.backward_weight
    }
}
