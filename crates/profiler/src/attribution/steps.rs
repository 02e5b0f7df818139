//! Recorded steps, as the verdict uses them.
//!
//! Responsible for: closed steps, the step of a time, the variation between steps. Does not detect steps or
//! count them: see [`crate::steps`].

use crate::windows::{StepWindow, Windows};
use railwright_spec::lower_median;

/// Start of the first and end of the last closed step: between two step starts all stages of a pipeline do
/// the same work. Excludes the last step if it ends with the recording.
pub(super) fn closed(windows: &Windows) -> (i64, i64) {
    let (from, to) = windows.span();
    let last = windows.steps.last().filter(|last| windows.is_open() && last.start > from);
    (from, last.map_or(to, |last| last.start))
}

/// Number of the step at a time; `None` if steps have no numbers. The end of the last one belongs to it.
pub(super) fn at(windows: &Windows, time: i64) -> Option<u32> {
    let at = windows.steps.partition_point(|step| step.end <= time);
    let step = windows.steps.get(at).or(windows.steps.last().filter(|last| last.end == time))?;
    u32::try_from(step.number.filter(|_| step.start <= time)?).ok()
}

/// Median absolute deviation of the durations of closed steps, in nanoseconds; `None` below four recorded
/// steps. The lower median, so that one delayed step of four is not natural variation.
pub(super) fn noise(windows: &Windows) -> Option<f64> {
    if windows.steps.len() < 4 {
        return None;
    }
    let (_, to) = closed(windows);
    let within = windows.steps.iter().filter(|step| step.start < to);
    let mut durations: Vec<f64> = within.map(StepWindow::duration).map(|d| d as f64).collect();
    let middle = lower_median(&mut durations);
    let mut off: Vec<f64> = durations.iter().map(|duration| (duration - middle).abs()).collect();
    Some(lower_median(&mut off))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::windows::CutBy;

    #[test]
    fn delayed_steps_and_a_last_one_that_breaks_off_are_no_variation() {
        let noise = |durations: &[i64], cut_by: CutBy| noise(&Windows::of_durations(durations, cut_by));
        assert_eq!(noise(&[100, 100, 120, 150], CutBy::HostAnnotations), Some(0.0));
        assert_eq!(noise(&[100, 100, 150, 40], CutBy::Launches), Some(0.0));
        assert_eq!(noise(&[100, 110, 120, 130], CutBy::HostAnnotations), Some(10.0));
        assert_eq!(noise(&[100, 200, 300], CutBy::HostAnnotations), None);
    }
}
