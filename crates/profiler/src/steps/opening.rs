//! The opening of the first step: device activity before its first compute.
//!
//! Responsible for: extending the first step back to the median rank's first activity, if the recording
//! contains it. If steps begin with compute and weights are gathered first, each step's opening is in the
//! previous step. The first step has no previous one, so a rank late in every opening would be charged once
//! too little. Excludes first steps with recorded work before them, and openings that no later step has.

use crate::Job;
use crate::occupancy::Occupancy;
use crate::windows::{CutBy, StepWindow, Windows, host_steps};
use railwright_spec::median;

/// Time by which the first step begins earlier, in nanoseconds.
pub(crate) fn opening(job: &Job, occupancies: &[Occupancy], windows: &Windows) -> i64 {
    let Some(first) =
        windows.steps.first().filter(|_| windows.cut_by == CutBy::Launches && !windows.at_collective)
    else {
        return 0;
    };
    let mut begins: Vec<f64> = Vec::with_capacity(occupancies.len());
    for (member, on) in job.members.iter().zip(occupancies) {
        let steps = host_steps(&member.trace);
        let is_first =
            steps.first().is_some_and(|step| first.number == Some(step.0) && step.1 <= on.window.0);
        if on.host_alone || !is_first {
            return 0;
        }
        begins.push((on.window.0 - first.start) as f64);
    }
    let opening = (-median(&mut begins)).max(0.0) as i64;
    if lack(windows, opening) { opening } else { 0 }
}

/// The windows, with the opening added to their first step.
pub(crate) fn opened(windows: &Windows, opening: i64) -> Windows {
    let mut opened = windows.clone();
    if let Some(first) = opened.steps.first_mut() {
        first.start -= opening;
    }
    opened
}

/// Tests whether the last step lacks an opening of this length, in nanoseconds: at least half of it, relative
/// to the shortest other step. If no step lacks it, the time before the first step is something else, such as
/// the end of a warm-up. Two steps are too few to decide.
fn lack(windows: &Windows, opening: i64) -> bool {
    let durations: Vec<i64> = windows.steps.iter().map(StepWindow::duration).collect();
    match durations.split_last() {
        Some((last, others)) if others.len() >= 2 => {
            others.iter().min().is_none_or(|shortest| 2 * (shortest - last) >= opening)
        }
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attribution::{Verdict, straggler_report};
    use crate::joined::JoinOptions;
    use crate::testing::Synthetic;

    #[test]
    fn an_opening_belongs_to_steps_whose_last_one_lacks_it() {
        let lacks = |durations: &[i64], opening: i64| {
            lack(&Windows::of_durations(durations, CutBy::Launches), opening)
        };
        assert!(lacks(&[80, 90, 80, 60], 20) && lacks(&[80, 82, 80, 69], 20));
        assert!(!lacks(&[390, 145, 144], 66) && !lacks(&[80, 80, 80], 20));
        assert!(lacks(&[80, 80], 20) && lacks(&[80], 20));
    }

    /// A rank whose host is late before the gathers of every step, the first one included.
    #[test]
    fn a_rank_that_opens_every_step_late_is_charged_for_all_of_them() {
        let plan = Synthetic {
            tensor: 1,
            data: 4,
            layers: 4,
            gathered: true,
            overlapped: true,
            ..Synthetic::default()
        };
        let late = 3_000_000;
        let steps = (0..plan.steps).map(|step| (2, step, late)).collect();
        let found = straggler_report(&mut Synthetic { late: steps, ..plan }.job(), &JoinOptions::default());
        assert_eq!(found.verdict, Verdict::Straggler);
        assert_eq!(found.culprits[0].ranks, [2]);
        let share = found.joint() / late as f64;
        assert!((share - 1.0).abs() < 0.05, "{share}");
    }
}
