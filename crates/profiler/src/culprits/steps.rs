//! What the verdict asks of the recorded steps.
//!
//! Responsible for: how many there are, which one a time lies in, how much they vary. Refuses to cut them: the job's windows are the steps of all analyses.

use crate::matching::line::median;
use crate::windows::{StepWindow, Windows};

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
