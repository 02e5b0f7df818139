//! Steps that are longer than the typical one.
//!
//! Responsible for: the reason against the verdict "no straggler" if some steps are much longer, and neither more compute on the ranks nor a
//! mended delay explains it. Excludes the first step, which may warm up.

use super::steps;
use crate::occupancy::Occupancy;
use crate::windows::{StepWindow, Windows};
use railwright_spec::{human, lower_median};

/// Minimum ratio of a longer step to the typical one.
const LONGER: f64 = 1.1;

/// Minimum unexplained time of the longer steps, as a share of all steps.
const NOTABLE: f64 = 0.05;

/// Minimum number of steps for a typical one.
const FEWEST: usize = 4;

/// Reason against the verdict "no straggler". `saved` is the time that mended delays save, in nanoseconds of all steps.
pub(super) fn unexplained(windows: &Windows, occupancies: &[Occupancy], saved: i64) -> Option<String> {
    let (_, to) = steps::closed(windows);
    let closed: Vec<&StepWindow> = windows.steps.iter().filter(|step| step.start < to).collect();
    if closed.len() < FEWEST {
        return None;
    }
    let durations: Vec<f64> = closed.iter().map(|step| step.duration() as f64).collect();
    let typical = lower_median(&mut durations.clone());
    // More work of all ranks is no delay: compute of the median rank.
    let compute: Vec<f64> = (closed.iter())
        .map(|step| {
            let of = |on: &Occupancy| on.compute.within(step.start, step.end) as f64;
            lower_median(&mut occupancies.iter().map(of).collect::<Vec<_>>())
        })
        .collect();
    let usual = lower_median(&mut compute.clone());
    let excess = |at: usize| durations[at] - typical - (compute[at] - usual).max(0.0);
    let longer: Vec<usize> = (1..closed.len()).filter(|&at| durations[at] > LONGER * typical).collect();
    let left = longer.iter().map(|&at| excess(at).max(0.0)).sum::<f64>() - saved as f64;
    let all: f64 = durations.iter().sum();
    if longer.is_empty() || left <= NOTABLE * all {
        return None;
    }
    let numbers: Vec<u64> = longer.iter().map(|&at| closed[at].number.unwrap_or(at as u64)).collect();
    let times = longer.iter().map(|&at| durations[at]).sum::<f64>() / longer.len() as f64 / typical;
    let verb = if longer.len() == 1 { "takes" } else { "take" };
    Some(format!(
        "{} {verb} {times:.1} times as long as the typical step, and no compute, rank, link or stage explains {} of the recorded time",
        human::steps(&numbers),
        human::percent(left / all)
    ))
}

#[cfg(test)]
mod tests {
    use crate::attribution::{Verdict, straggler_report};
    use crate::joined::JoinOptions;
    use crate::testing::Synthetic;

    /// Every host pauses at once: equal ranks save nothing, but the steps differ.
    #[test]
    fn longer_steps_without_an_explanation_exclude_no_straggler() {
        let plan = Synthetic { data: 4, steps: 6, ..Synthetic::default() };
        let of = |steps: &[u32]| {
            let stalls: Vec<(u32, u32, i64)> =
                steps.iter().flat_map(|&step| (0..8).map(move |rank| (rank, step, 8_000_000))).collect();
            straggler_report(&mut Synthetic { stalls, ..plan.clone() }.job(), &JoinOptions::default())
        };
        assert_eq!(of(&[]).verdict, Verdict::None);
        let report = of(&[2, 3]);
        assert_eq!(report.verdict, Verdict::CannotTell, "{:?}", report.culprits);
        assert!(report.reasons.iter().any(|reason| reason.contains("typical step")), "{:?}", report.reasons);
    }
}
