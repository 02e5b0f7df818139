//! Imbalance of compute between ranks and stages.
//!
//! Responsible for: compute time by phase across ranks, its maximum, and the excess over the mean. Excludes waits, which are a consequence
//! of unequal compute times.

use crate::intervals::{Intervals, computes};
use crate::{Phase, Step, Time};
use railwright_spec::quantity::Rank;
use serde::Serialize;

/// One phase across ranks.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Imbalance {
    /// Phase; `None` for all compute.
    pub phase: Option<Phase>,
    /// Compute time by rank, in the order of the step.
    pub ranks: Vec<(Rank, Time)>,
    /// Mean of the ranks.
    pub mean: Time,
    /// Maximum of the ranks.
    pub most: Time,
    /// First rank with the maximum.
    pub slowest: Rank,
    /// Maximum over mean, less 1; 0 is balanced.
    pub excess: f64,
}

/// Imbalance of all compute, then of each phase in the step.
pub fn imbalance(step: &Step) -> Vec<Imbalance> {
    let phases = std::iter::once(None).chain(Phase::ALL.into_iter().map(Some));
    phases.filter_map(|phase| across(step, phase)).collect()
}

fn across(step: &Step, phase: Option<Phase>) -> Option<Imbalance> {
    let window = (step.start, step.end);
    let ranks: Vec<(Rank, Time)> = step
        .ranks
        .iter()
        .map(|rank| {
            let wanted = Intervals::of(rank, window, |span| {
                computes(span) && phase.is_none_or(|phase| span.phase == phase)
            });
            (rank.rank, wanted.length())
        })
        .collect();
    let most = ranks.iter().map(|(_, time)| *time).max().filter(|most| *most > Time::ZERO)?;
    let slowest = ranks.iter().find(|(_, time)| *time == most)?.0;
    let sum: i128 = ranks.iter().map(|(_, time)| i128::from(time.0)).sum();
    let mean = Time(i64::try_from(sum / ranks.len() as i128).unwrap_or(i64::MAX));
    Some(Imbalance { phase, ranks, mean, most, slowest, excess: most.share_of(mean) - 1.0 })
}
