//! Recorded steps, as the verdict uses them.
//!
//! Responsible for: the number of steps, the step of a time, the variation between steps. Does not detect steps: the job's windows are the
//! steps of all analyses.

use crate::occupancy::Occupancy;
use crate::windows::{CutBy, StepWindow, Windows};
use railwright_spec::{lower_median, median};

/// Number of steps in the windows, at least 1. If steps begin with compute or at the end of a collective, the recording ends before the
/// last step does: the part before the next step's first compute is missing. The last step then counts as its share of the shortest other
/// step. An `opening` of the first step, in nanoseconds, is missing from the last step. The missing time is limited to the time that other
/// steps need after as many kernels: a larger difference means that the others were delayed.
pub(super) fn count(windows: &Windows, opening: i64, occupancies: &[Occupancy]) -> f64 {
    let durations: Vec<f64> = windows.steps.iter().map(StepWindow::duration).map(|d| d as f64).collect();
    let shortest = durations.iter().rev().skip(1).copied().fold(f64::INFINITY, f64::min);
    let missing = match durations.last() {
        Some(last) if is_open(windows) && durations.len() > 2 && shortest > 0.0 => {
            let lacking = (shortest - last - opening as f64).max(0.0);
            lacking.min(rest(windows, occupancies).unwrap_or(f64::INFINITY)) / shortest
        }
        _ => 0.0,
    };
    (durations.len() as f64 - missing).max(1.0)
}

/// Missing time of the last step by its kernels, in nanoseconds: time that other steps take after as many kernels. Minimum over steps,
/// median over ranks. `None` without kernels.
fn rest(windows: &Windows, occupancies: &[Occupancy]) -> Option<f64> {
    let (last, others) = windows.steps.split_last()?;
    let of = |on: &Occupancy| {
        let count = on.started(last.start, i64::MAX);
        others.iter().filter_map(|step| on.behind(count, (step.start, step.end))).min()
    };
    let mut rests: Vec<f64> = occupancies.iter().filter_map(of).map(|rest| rest as f64).collect();
    (!rests.is_empty()).then(|| median(&mut rests))
}

/// Tests whether the last step lacks an opening of this length, in nanoseconds: at least half of it, relative to the shortest other step.
/// If no step lacks it, the time before the first step is something else, such as the end of a warm-up. Two steps are too few to decide.
pub(super) fn lack(windows: &Windows, opening: i64) -> bool {
    let durations: Vec<i64> = windows.steps.iter().map(StepWindow::duration).collect();
    match durations.split_last() {
        Some((last, others)) if others.len() >= 2 => {
            others.iter().min().is_none_or(|shortest| 2 * (shortest - last) >= opening)
        }
        _ => true,
    }
}

/// Tests whether the last step ends with the recording rather than at the start of a next one.
fn is_open(windows: &Windows) -> bool {
    windows.at_collective || windows.cut_by == CutBy::Launches
}

/// Start of the first and end of the last closed step: between two step starts all stages of a pipeline do the same work. Excludes the last
/// step if it ends with the recording.
pub(super) fn closed(windows: &Windows) -> (i64, i64) {
    let (from, to) = windows.span();
    let last = windows.steps.last().filter(|last| is_open(windows) && last.start > from);
    (from, last.map_or(to, |last| last.start))
}

/// Number of the step at a time; `None` if steps have no numbers. The end of the last one belongs to it.
pub(super) fn at(windows: &Windows, time: i64) -> Option<u32> {
    let at = windows.steps.partition_point(|step| step.end <= time);
    let step = windows.steps.get(at).or(windows.steps.last().filter(|last| last.end == time))?;
    u32::try_from(step.number.filter(|_| step.start <= time)?).ok()
}

/// Median absolute deviation of the durations of closed steps, in nanoseconds; `None` below four recorded steps. The lower median, so that
/// one delayed step of four is no natural variation.
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

    fn windows(durations: &[i64], cut_by: CutBy) -> Windows {
        let mut at = 0;
        let step = |&duration: &i64| {
            at += duration;
            StepWindow { number: None, start: at - duration, end: at, without: Vec::new() }
        };
        Windows {
            cut_by,
            common: (0, 0),
            steps: durations.iter().map(step).collect(),
            warm_up: Vec::new(),
            at_collective: false,
            spread: 0,
            warnings: Vec::new(),
        }
    }

    fn of_opened(durations: &[i64], cut_by: CutBy, opening: i64) -> f64 {
        count(&windows(durations, cut_by), opening, &[])
    }

    fn of(durations: &[i64], cut_by: CutBy) -> f64 {
        of_opened(durations, cut_by, 0)
    }

    #[test]
    fn an_opening_completes_the_last_step() {
        let near = |count: f64, expected: f64| assert!((count - expected).abs() < 1e-12, "{count}");
        near(of_opened(&[80, 90, 80, 60], CutBy::Launches, 20), 4.0);
        near(of_opened(&[80, 90, 80, 60], CutBy::Launches, 10), 3.875);
        near(of_opened(&[80, 80, 80, 90], CutBy::Launches, 20), 4.0);
    }

    #[test]
    fn an_opening_belongs_to_steps_whose_last_one_lacks_it() {
        let lacks = |durations: &[i64], opening: i64| lack(&windows(durations, CutBy::Launches), opening);
        assert!(lacks(&[80, 90, 80, 60], 20) && lacks(&[80, 82, 80, 69], 20));
        assert!(!lacks(&[390, 145, 144], 66) && !lacks(&[80, 80, 80], 20));
        assert!(lacks(&[80, 80], 20) && lacks(&[80], 20));
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

    #[test]
    fn delayed_steps_and_a_last_one_that_breaks_off_are_no_variation() {
        let noise = |durations: &[i64], cut_by: CutBy| noise(&windows(durations, cut_by));
        assert_eq!(noise(&[100, 100, 120, 150], CutBy::HostAnnotations), Some(0.0));
        assert_eq!(noise(&[100, 100, 150, 40], CutBy::Launches), Some(0.0));
        assert_eq!(noise(&[100, 110, 120, 130], CutBy::HostAnnotations), Some(10.0));
        assert_eq!(noise(&[100, 200, 300], CutBy::HostAnnotations), None);
    }

    #[test]
    fn a_last_step_lacks_what_others_do_after_as_many_kernels() {
        // Four steps with ten kernels each; the host is idle in all but the last one.
        let on = |last: i64| {
            let mut trace = crate::RankTrace::default();
            let name = trace.names.intern("sm90_gemm_nn");
            let kernels =
                (0..4_i64).flat_map(|step| (0..if step == 3 { last } else { 10 }).map(move |at| (step, at)));
            for (step, at) in kernels {
                let start = step * 1_000 + at * 10 + if step < 3 && at > 4 { 880 } else { 0 };
                let kind = crate::trace::GpuKind::Kernel;
                trace.gpu.push(crate::trace::GpuActivity {
                    start,
                    end: start + 10,
                    name,
                    kind,
                    ..Default::default()
                });
            }
            Occupancy::of(&trace, crate::communication::NameTable::shipped())
        };
        let of = |last: i64| count(&windows(&[1_000, 1_000, 1_000, 100], CutBy::Launches), 0, &[on(last)]);
        // The last step lacks the 20 ns between its last kernel and the next step, or one kernel more.
        let near = |count: f64, expected: f64| assert!((count - expected).abs() < 1e-9, "{count}");
        near(of(10), 3.98);
        near(of(9), 3.97);
        // Without kernels it is compared by duration.
        near(of(0), 3.1);
    }
}
