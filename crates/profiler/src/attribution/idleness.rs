//! Idle share of the devices during the steps.
//!
//! Responsible for: the share of a typical step, and whether a device is idle longer than it computes. Waits
//! for other ranks and copies do not count as idle.

use crate::occupancy::Occupancy;
use crate::windows::Windows;
use railwright_spec::median;

/// Idle share of a device during a step (0 to 1), and whether it is idle for longer than it computes. Medians
/// over the steps, so a long first step has no effect.
pub(super) fn of(on: &Occupancy, windows: &Windows) -> (f64, bool) {
    let mut spans: Vec<(i64, i64)> = windows
        .steps
        .iter()
        .map(|step| (step.start.max(on.window.0), step.end.min(on.window.1)))
        .filter(|(from, to)| to > from)
        .collect();
    if spans.is_empty() {
        spans.push(on.window);
    }
    let (mut shares, mut beyond): (Vec<f64>, Vec<f64>) = spans
        .into_iter()
        .map(|(from, to)| {
            let compute = on.compute.within(from, to);
            let idle = (to - from - on.busy.within(from, to)).max(0);
            (idle as f64 / (to - from).max(1) as f64, (idle - compute) as f64)
        })
        .unzip();
    (median(&mut shares), median(&mut beyond) > 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::occupancy::Intervals;
    use crate::windows::{CutBy, StepWindow};

    #[test]
    fn one_long_idle_step_does_not_make_a_job_host_bound() {
        let step = |start: i64, end: i64| StepWindow { number: None, start, end, without: Vec::new() };
        let windows = Windows {
            cut_by: CutBy::Launches,
            common: (0, 0),
            steps: vec![step(0, 1000), step(1000, 1100), step(1100, 1200)],
            warm_up: Vec::new(),
            at_collective: false,
            spread: 0,
            added: 0,
            warnings: Vec::new(),
        };
        // Each step has 80 ns of compute.
        let compute = Intervals::union(vec![(0, 80), (1000, 1080), (1100, 1180)]);
        let mut on = Occupancy::default();
        on.busy.clone_from(&compute);
        (on.compute, on.window) = (compute, (0, 1200));
        let (share, is_bound) = of(&on, &windows);
        assert!((share - 0.2).abs() < 1e-9 && !is_bound, "{share}");
        let alone = Windows { steps: Vec::new(), ..windows };
        assert_eq!(of(&on, &alone), (0.8, true));
        // Copies are work of the device.
        on.busy = Intervals::union(vec![(0, 1150)]);
        let (share, is_bound) = of(&on, &alone);
        assert!((share - 50.0 / 1200.0).abs() < 1e-9 && !is_bound, "{share}");
    }
}
