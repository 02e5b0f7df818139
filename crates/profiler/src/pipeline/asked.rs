//! Costs of the passes that a question names.
//!
//! Responsible for: the saving if they were ideal, and the cost of their excess. Excludes the choice of
//! passes: see [`Subset`].

use super::Certainty;
use crate::replay::{Replay, Share, Subset};
use railwright_spec::problem::Problem;
use serde::Serialize;

/// Cost of requested passes.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Asked {
    /// Description of the passes.
    pub passes: String,
    /// Number of passes.
    pub count: usize,
    /// Saving per step if they were ideal: like the mean of their kind over the job.
    pub ideal: Share,
    /// Cost of their excess over their own median, in nanoseconds of all steps.
    #[serde(rename = "excess_cost_ns")]
    pub excess_cost: i64,
    /// The step with the largest cost, and that cost in nanoseconds.
    pub most: (u32, i64),
    /// Certainty of the costs of excess: unknown if parts of the job were not recorded.
    pub certainty: Certainty,
}

/// Cost of a subset of passes.
pub(super) fn ask(replay: &Replay<'_>, subset: &Subset, settled: &[usize]) -> Result<Asked, Problem> {
    let count = replay.passes().iter().filter(|p| subset.holds(p)).count();
    let passes = subset.describe();
    if count == 0 {
        return Err(Problem::new(format!("no such passes: {passes}"))
            .in_file("--what-if")
            .hint("the tables of stages, steps and kinds list the recorded passes"));
    }
    let costs = replay.cost_of_excess(subset);
    let (_, ideal) = replay.what_if_ideal(subset.clone(), settled);
    let excess_cost = costs.iter().map(|c| c.1).sum();
    let most = costs.into_iter().rev().max_by_key(|c| c.1).unwrap_or_default();
    Ok(Asked { passes, count, ideal, excess_cost, most, certainty: Certainty::Replayed })
}
