//! Whether a plan is possible for a model on a number of devices.

use super::Plan;
use crate::cluster::Cluster;
use crate::model::Model;
use crate::problem::Problem;

/// Checks a plan against the model and the cluster: all problems, most fundamental first; empty when it is possible.
pub fn validate(_model: &Model, _cluster: &Cluster, _plan: &Plan) -> Vec<Problem> {
    Vec::new()
}
