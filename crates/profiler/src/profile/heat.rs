//! Every rank in every step, for a heat map.
//!
//! Responsible for: each rank's own time in a step, its waits for others, and the others' waits for it.
//! `None`, not zero, for steps in which a rank was not recorded. Excludes verdicts.

use crate::Job;
use crate::attribution::StragglerReport;
use crate::waterfall::{Share, Waterfall};
use crate::windows::Windows;
use serde::Serialize;

/// Ranks by steps; times in nanoseconds, `None` if the rank was not recorded in the step.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RankSteps {
    /// Names of steps.
    pub steps: Vec<String>,
    /// Duration of the steps in nanoseconds, equal for all ranks.
    #[serde(rename = "step_time_ns")]
    pub step_time: Vec<i64>,
    /// Ranks of the rows.
    pub ranks: Vec<u32>,
    /// By rank and step: the step without waits for other ranks in communication, in nanoseconds. The rank
    /// with the largest value delays the others.
    #[serde(rename = "own_time_ns")]
    pub own_time: Vec<Vec<Option<i64>>>,
    /// Compute time, in nanoseconds.
    #[serde(rename = "compute_ns")]
    pub compute: Vec<Vec<Option<i64>>>,
    /// Waits for other ranks in exposed communication, in nanoseconds.
    #[serde(rename = "waiting_ns")]
    pub waiting: Vec<Vec<Option<i64>>>,
    /// Waits caused by this rank, exposed or not, summed over all ranks, in nanoseconds.
    #[serde(rename = "waiting_caused_ns")]
    pub waiting_caused: Vec<Vec<Option<i64>>>,
}

pub(super) fn rank_steps(
    job: &Job,
    windows: &Windows,
    waterfall: &Waterfall,
    stragglers: Option<&StragglerReport>,
) -> RankSteps {
    let holds = |rank: u32, at: usize| {
        job.position(rank).is_some_and(|member| windows.steps.get(at).is_some_and(|step| step.holds(member)))
    };
    let by = |of: &dyn Fn(&crate::waterfall::Parts) -> i64| -> Vec<Vec<Option<i64>>> {
        let row = |rank: &crate::waterfall::RankWaterfall| {
            let steps = rank.steps.iter().enumerate();
            steps.map(|(at, parts)| holds(rank.rank, at).then(|| of(parts))).collect()
        };
        waterfall.ranks.iter().map(row).collect()
    };
    let mut caused = vec![vec![0.0; windows.steps.len()]; job.members.len()];
    for charged in stragglers.iter().flat_map(|report| &report.charged) {
        // Steps are consecutive.
        let at = windows.steps.partition_point(|step| step.end <= charged.at);
        if windows.steps.get(at).is_some_and(|step| step.start <= charged.at)
            && let Some(cell) = caused.get_mut(charged.member as usize).and_then(|row| row.get_mut(at))
        {
            *cell += charged.wait;
        }
    }
    let of_rank = |rank: u32| job.position(rank).and_then(|at| caused.get(at)).cloned().unwrap_or_default();
    RankSteps {
        steps: (0..windows.steps.len()).map(|at| windows.name(at)).collect(),
        step_time: windows.steps.iter().map(crate::windows::StepWindow::duration).collect(),
        ranks: waterfall.ranks.iter().map(|rank| rank.rank).collect(),
        own_time: by(&|parts| parts.total() - parts.sum(|label| label.is_exposed(Share::Wait))),
        compute: by(&|parts| parts.sum(crate::waterfall::Label::is_compute)),
        waiting: by(&|parts| parts.sum(|label| label.is_exposed(Share::Wait))),
        waiting_caused: waterfall
            .ranks
            .iter()
            .map(|rank| {
                let waits = of_rank(rank.rank).into_iter().enumerate();
                waits.map(|(at, wait)| holds(rank.rank, at).then(|| wait.round() as i64)).collect()
            })
            .collect(),
    }
}
