//! What the verdict asks of the recorded steps.
//!
//! Responsible for: how many there are, which one a time lies in, how much they vary. Refuses to cut them: the job's windows are the steps of all analyses.

use crate::matching::line::median;
use crate::windows::{CutBy, StepWindow, Windows};

/// A last step that is shorter than this share of every other one is not whole.
const CUT: f64 = 0.9;

/// The steps that are whole. Where steps begin with arithmetic or at the end of a collective the recording ends before the last one does: what comes before the next step's
/// first arithmetic would be missing once, and every cost for a step be too low.
pub(super) fn whole(windows: &Windows) -> Windows {
    let durations: Vec<f64> = windows.steps.iter().map(StepWindow::duration).map(|d| d as f64).collect();
    let last = durations.last().copied().unwrap_or(0.0);
    let shortest = durations.iter().rev().skip(1).copied().fold(f64::INFINITY, f64::min);
    let mut whole = windows.clone();
    let open = windows.at_collective || windows.cut_by == CutBy::Launches;
    if open && durations.len() > 2 && last < CUT * shortest {
        whole.steps.pop();
    }
    whole
}

/// How many steps the windows are, at least 1.
pub(super) fn count(windows: &Windows) -> f64 {
    windows.steps.len().max(1) as f64
}

/// The number of the step of a time, if steps have numbers. The end of the last one is still its own.
pub(super) fn at(windows: &Windows, time: i64) -> Option<u32> {
    let at = windows.steps.partition_point(|step| step.end <= time);
    let step = windows.steps.get(at).or(windows.steps.last().filter(|last| last.end == time))?;
    u32::try_from(step.number.filter(|_| step.start <= time)?).ok()
}

/// The median absolute deviation of the steps' durations, in nanoseconds; none below four steps.
pub(super) fn noise(windows: &Windows) -> Option<f64> {
    if windows.steps.len() < 4 {
        return None;
    }
    let mut durations: Vec<f64> = windows.steps.iter().map(StepWindow::duration).map(|d| d as f64).collect();
    let middle = median(&mut durations);
    let mut off: Vec<f64> = durations.iter().map(|duration| (duration - middle).abs()).collect();
    Some(median(&mut off))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(durations: &[i64], cut_by: CutBy) -> usize {
        let mut at = 0;
        let step = |&duration: &i64| {
            at += duration;
            StepWindow { number: None, start: at - duration, end: at, without: Vec::new() }
        };
        let steps = durations.iter().map(step).collect();
        let windows = Windows {
            cut_by,
            common: (0, 0),
            steps,
            warm_up: Vec::new(),
            at_collective: false,
            spread: 0,
            warnings: Vec::new(),
        };
        whole(&windows).steps.len()
    }

    #[test]
    fn a_last_step_that_breaks_off_is_left_out_and_one_without_the_fault_of_others_is_not() {
        assert_eq!(of(&[83, 83, 82, 51], CutBy::Launches), 3);
        assert_eq!(of(&[83, 83, 82, 51], CutBy::HostAnnotations), 4);
        assert_eq!(of(&[83, 51, 82, 50], CutBy::Launches), 4);
        assert_eq!(of(&[83, 51], CutBy::Launches), 2);
    }
}
