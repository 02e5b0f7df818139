//! A case of calibration: the measured machine, its software and its runs.

use super::step_times::Timed;
use railwright_spec::cluster::Cluster;
use railwright_spec::model::Model;
use railwright_spec::plan::Plan;

/// Measured hardware, software and run.
#[derive(Clone, Copy, Debug)]
pub struct Case<'a> {
    /// Measured cluster. A calibration that it already contains is ignored.
    pub cluster: &'a Cluster,
    /// The software generation.
    pub software: &'a str,
    /// Model and plan of the measured run. `None` if steps are not fitted.
    pub run: Option<(&'a Model, &'a Plan)>,
    /// True if attention of unknown mask is causal.
    pub is_causal: bool,
    /// Whole steps of this run or of others of the same software and accelerator.
    pub timed: &'a [Timed<'a>],
}
