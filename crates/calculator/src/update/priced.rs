//! The collectives of a stage's update in an evaluated step: the time of each, and what of it is exposed.
//!
//! Responsible for: sharing what is exposed of all among them. Refuses to list them.

use super::{Purpose, UpdateCollective, around_optimizer};
use crate::collectives::CollectiveCost;
use crate::costing::Costing;
use crate::disturbance;
use crate::evaluate::{Evaluation, stage_parameters};
use railwright_spec::quantity::Seconds;

/// A collective of a stage's update with its figures from the evaluated step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PricedCollective {
    /// Selection.
    pub collective: UpdateCollective,
    /// What a bucket costs.
    pub cost: CollectiveCost,
    /// Time of one.
    pub time_each: Seconds,
    /// Time of all in a step, hidden or not.
    pub time: Seconds,
    /// What compute waits for or is slowed by.
    pub exposed: Seconds,
}

/// The update of a stage, collective by collective, on its own links. Their times and what of them is exposed add up to
/// [`crate::sharding::StageUpdate`]. Reductions, and gathers, share by their times what is exposed of all of them, in seconds:
/// `exposed = exposed of all x time / time of all`, because buckets of all kinds are made as layers end.
pub fn of_stage(costing: &Costing<'_>, evaluation: &Evaluation, stage: usize) -> Vec<PricedCollective> {
    let local = stage_parameters(costing, &evaluation.chunks);
    let (Some(update), Some(local)) = (evaluation.updates.get(stage), local.get(stage)) else {
        return Vec::new();
    };
    let slow = disturbance::update_costing(costing, stage);
    let costing = slow.as_ref().unwrap_or(costing);
    around_optimizer(costing, *local, costing.plan.micro_batches().max(1))
        .map(|collective| {
            let time_each = collective.time(costing);
            let time = time_each * collective.count;
            let (all, exposed) = match collective.purpose {
                Purpose::Parameters => (update.parameter_gather, update.parameter_exposed),
                _ => (update.gradient_reduce, update.gradient_exposed),
            };
            let exposed = if all > Seconds::ZERO { exposed * (time / all) } else { Seconds::ZERO };
            let cost = collective.bucket_cost(costing);
            PricedCollective { collective, cost, time_each, time, exposed }
        })
        .collect()
}
