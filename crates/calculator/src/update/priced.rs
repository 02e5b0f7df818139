//! Collectives of a stage's update in an evaluated step: the total and exposed time of each.
//!
//! Responsible for: dividing the exposed time among them. Excludes their list.

use super::{Purpose, UpdateCollective, around_optimizer, between_stages};
use crate::collectives::CollectiveCost;
use crate::costing::Costing;
use crate::disturbance;
use crate::evaluate::{Evaluation, stage_parameters};
use crate::stage::ByKind;
use railwright_spec::quantity::Seconds;

/// A collective of a stage's update with its figures from the evaluated step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PricedCollective {
    /// The collective.
    pub collective: UpdateCollective,
    /// Cost of a bucket.
    pub cost: CollectiveCost,
    /// Time of one collective.
    pub time_each: Seconds,
    /// Total time in a step, hidden and exposed.
    pub time: Seconds,
    /// Time for which compute waits or by which it is slowed.
    pub exposed: Seconds,
}

/// The update of a stage, collective by collective, on its own links. Their total and exposed times sum to
/// [`crate::sharding::StageUpdate`]. Reductions, and gathers, divide their exposed time in proportion to
/// their times, in seconds: `exposed = exposed of all x time / time of all`, because buckets of all kinds
/// become ready at the ends of layers. Reductions between stages follow them, and are exposed.
pub fn of_stage(costing: &Costing<'_>, evaluation: &Evaluation, stage: usize) -> Vec<PricedCollective> {
    let local = stage_parameters(costing, &evaluation.chunks);
    let (Some(update), Some(local)) = (evaluation.updates.get(stage), local.get(stage)) else {
        return Vec::new();
    };
    let slow = disturbance::update_costing(costing, stage);
    let by_kind = ByKind::new(costing);
    let costing = slow.as_ref().or_else(|| by_kind.as_ref()?.slowest(stage)).unwrap_or(costing);
    let around = around_optimizer(costing, *local, costing.plan.micro_batches().max(1));
    around
        .chain(between_stages(costing, *local, stage, evaluation.chunks.len()))
        .map(|collective| {
            let time_each = collective.time(costing);
            let time = time_each * collective.count;
            let (all, exposed) = match collective.purpose {
                Purpose::Parameters => (update.parameter_gather, update.parameter_exposed),
                Purpose::Gradients => (update.gradient_reduce, update.gradient_exposed),
                _ => (time, time),
            };
            let exposed = if all > Seconds::ZERO { exposed * (time / all) } else { Seconds::ZERO };
            let cost = collective.bucket_cost(costing);
            PricedCollective { collective, cost, time_each, time, exposed }
        })
        .collect()
}
