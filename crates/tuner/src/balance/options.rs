//! Options of the solver.

use railwright_calculator::memory::SURE_TO_FIT;

/// Options of the solver.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// Required probability of fitting for every stage.
    pub probability: f64,
    /// True to select the recompute of each stage as well.
    pub recompute: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { probability: SURE_TO_FIT, recompute: false }
    }
}
