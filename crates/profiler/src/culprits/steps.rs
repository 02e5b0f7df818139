//! What the verdict asks of the recorded steps.
//!
//! Responsible for: how many there are, which one a time lies in, how much they vary. Refuses to cut them: the job's windows are the steps of all analyses.

use crate::matching::line::median;
use crate::windows::{CutBy, StepWindow, Windows};

/// How many steps the windows are, at least 1. Where steps begin with arithmetic or at the end of a collective the recording ends before the last one does: what comes before
/// the next step's first arithmetic is missing once, so the last one counts for what it lasts of the shortest other one.
pub(super) fn count(windows: &Windows) -> f64 {
    let durations: Vec<f64> = windows.steps.iter().map(StepWindow::duration).map(|d| d as f64).collect();
    let shortest = durations.iter().rev().skip(1).copied().fold(f64::INFINITY, f64::min);
    let missing = match durations.last() {
        Some(last) if is_open(windows) && durations.len() > 2 && shortest > 0.0 => {
            (1.0 - last / shortest).max(0.0)
        }
        _ => 0.0,
    };
    (durations.len() as f64 - missing).max(1.0)
}

/// By how many steps delays are divided that fall into the given steps (one entry a window, in nanoseconds). Where a delay comes back in every step but the last one, which ends
/// with the recording, it lies between two steps: then it is divided by how often it was recorded, `sum(delays) / median(delays but the last)`.
pub(super) fn count_of(windows: &Windows, delays: &[i64]) -> f64 {
    let Some((last, others)) = delays.split_last().filter(|(_, others)| others.len() > 1) else {
        return count(windows);
    };
    let mut sorted = others.to_vec();
    sorted.sort_unstable();
    let usual = sorted[(sorted.len() - 1) / 2] as f64;
    let recurs = usual > 0.0 && others.iter().all(|delay| *delay as f64 >= 0.5 * usual);
    if is_open(windows) && recurs && (*last as f64) < 0.1 * usual {
        let recorded = delays.iter().sum::<i64>() as f64 / usual;
        recorded.clamp(others.len() as f64, delays.len() as f64)
    } else {
        count(windows)
    }
}

/// Whether the last step ends with the recording, not where a next one begins.
fn is_open(windows: &Windows) -> bool {
    windows.at_collective || windows.cut_by == CutBy::Launches
}

/// The steps from one beginning to another, in which all stages of a pipeline do as much: without the last one if it ends with the recording.
pub(super) fn closed(windows: &Windows) -> (i64, i64) {
    let (from, to) = windows.span();
    let last = windows.steps.last().filter(|last| is_open(windows) && last.start > from);
    (from, last.map_or(to, |last| last.start))
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

    fn windows(durations: &[i64], cut_by: CutBy) -> Windows {
        let mut at = 0;
        let step = |&duration: &i64| {
            at += duration;
            StepWindow { number: None, start: at - duration, end: at, without: Vec::new() }
        };
        let steps = durations.iter().map(step).collect();
        Windows {
            cut_by,
            common: (0, 0),
            steps,
            warm_up: Vec::new(),
            at_collective: false,
            spread: 0,
            warnings: Vec::new(),
        }
    }

    fn of(durations: &[i64], cut_by: CutBy) -> f64 {
        count(&windows(durations, cut_by))
    }

    #[test]
    fn delays_between_steps_count_as_often_as_they_were_recorded() {
        let steps = windows(&[80, 80, 80, 60], CutBy::Launches);
        // Behind each step but the last, which breaks off before its own; before the first step as well; in one step alone; within every step.
        for (delays, expected) in
            [([20, 20, 20, 0], 3.0), ([40, 20, 20, 0], 4.0), ([0, 60, 0, 0], 3.75), ([20, 20, 20, 20], 3.75)]
        {
            assert!((count_of(&steps, &delays) - expected).abs() < 1e-12, "{delays:?}");
        }
    }

    #[test]
    fn a_last_step_that_breaks_off_counts_for_what_it_lasts() {
        let near = |count: f64, expected: f64| assert!((count - expected).abs() < 1e-12, "{count}");
        near(of(&[80, 90, 80, 60], CutBy::Launches), 3.75);
        near(of(&[80, 80, 80, 80], CutBy::Launches), 4.0);
        near(of(&[80, 80, 80, 60], CutBy::HostAnnotations), 4.0);
        near(of(&[80, 40, 80, 40], CutBy::Launches), 4.0);
        near(of(&[80, 40], CutBy::Launches), 2.0);
        near(of(&[], CutBy::Launches), 1.0);
    }
}
