//! Number of the steps of a job.
//!
//! Responsible for: the share of the last step that was recorded.

use crate::occupancy::Occupancy;
use crate::windows::{StepWindow, Windows};
use railwright_spec::median;

/// Number of steps in the windows, at least 1. If steps begin with compute or at the end of a collective, the
/// recording ends before the last step does: the part before the next step's first compute is missing. The
/// last step then counts as its share of the shortest other step. An `opening` of the first step, in
/// nanoseconds, is missing from the last step. The missing time is limited to the time that other steps need
/// after as many kernels: a larger difference means that the others were delayed.
pub(crate) fn count(windows: &Windows, opening: i64, occupancies: &[Occupancy]) -> f64 {
    let durations: Vec<f64> = windows.steps.iter().map(StepWindow::duration).map(|d| d as f64).collect();
    let shortest = durations.iter().rev().skip(1).copied().fold(f64::INFINITY, f64::min);
    let missing = match durations.last() {
        Some(last) if windows.is_open() && durations.len() > 2 && shortest > 0.0 => {
            let lacking = (shortest - last - opening as f64).max(0.0);
            lacking.min(rest(windows, occupancies).unwrap_or(f64::INFINITY)) / shortest
        }
        _ => 0.0,
    };
    (durations.len() as f64 - missing).max(1.0)
}

/// Missing time of the last step by its kernels, in nanoseconds: time that other steps take after as many
/// kernels. Minimum over steps, median over ranks. `None` without kernels.
fn rest(windows: &Windows, occupancies: &[Occupancy]) -> Option<f64> {
    let (last, others) = windows.steps.split_last()?;
    let of = |on: &Occupancy| {
        let count = on.started(last.start, i64::MAX);
        others.iter().filter_map(|step| on.behind(count, (step.start, step.end))).min()
    };
    let mut rests: Vec<f64> = occupancies.iter().filter_map(of).map(|rest| rest as f64).collect();
    (!rests.is_empty()).then(|| median(&mut rests))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::windows::CutBy;

    fn of_opened(durations: &[i64], cut_by: CutBy, opening: i64) -> f64 {
        count(&Windows::of_durations(durations, cut_by), opening, &[])
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
        let of = |last: i64| {
            count(&Windows::of_durations(&[1_000, 1_000, 1_000, 100], CutBy::Launches), 0, &[on(last)])
        };
        // The last step lacks the 20 ns between its last kernel and the next step, or one kernel more.
        let near = |count: f64, expected: f64| assert!((count - expected).abs() < 1e-9, "{count}");
        near(of(10), 3.98);
        near(of(9), 3.97);
        // Without kernels it is compared by duration.
        near(of(0), 3.1);
    }
}
