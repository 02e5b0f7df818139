//! Steps that grow longer.
//!
//! Responsible for: the trend of step times. Excludes fewer than five steps.

use super::words::{percent, time};
use super::{Context, Inference, Rule};
use crate::profile::{Explained, Finding};

pub(super) struct Drift;

/// Maximum number of compared steps; of more, every second, third and so on.
const MOST: usize = 2000;

impl Rule for Drift {
    fn id(&self) -> &'static str {
        "step-time-drift"
    }

    fn title(&self) -> &'static str {
        "Steps grow longer"
    }

    fn text(&self) -> &'static str {
        "Median slope between all pairs of steps (Theil-Sen) over the recording (every n-th step above 2,000 \
         steps). Reported for at least five steps if the growth is 3% and 90% of the pairs agree. Cost: half of the \
         growth (its mean over the recording). Common causes: falling clocks, memory fragmentation, a cache that \
         fills, \
         a slow data loader.\n\n\
         If a constant before and another after one step fit better, steps are longer from that step on. Cost: the mean of that \
         excess. Common causes: another job on the network or the hosts, a device that lowers its clocks, a change of the data."
    }

    fn inference(&self) -> Inference {
        Inference::Silent
    }

    fn find(&self, context: &Context<'_>) -> Vec<Finding> {
        let steps: Vec<f64> = context.windows.steps.iter().map(|s| s.duration() as f64).collect();
        if steps.len() < 5 {
            return Vec::new();
        }
        // The number of pairs is quadratic in the number of steps.
        let stride = steps.len().div_ceil(MOST);
        let some: Vec<(usize, f64)> = steps.iter().copied().enumerate().step_by(stride).collect();
        let mut slopes = Vec::new();
        for (i, a) in &some {
            let later = some.iter().skip(i / stride + 1);
            slopes.extend(later.map(|(j, b)| (b - a) / (j - i) as f64));
        }
        slopes.sort_by(f64::total_cmp);
        let rising = slopes.iter().filter(|s| **s > 0.0).count();
        let growth = slopes[slopes.len() / 2] * (steps.len() - 1) as f64;
        let first = steps[0];
        if growth < 0.03 * first || rising * 10 < slopes.len() * 9 {
            return Vec::new();
        }
        if let Some((at, excess)) = shift(&steps) {
            let usual = lower_median(&steps);
            let later = steps.len() - at;
            return vec![Finding {
                id: self.id().to_owned(),
                message: format!(
                    "steps take {} ({}) longer from step {} on",
                    time(excess),
                    percent(excess / usual(0, at)),
                    context.windows.name(at)
                ),
                cost: Some(excess * later as f64 / steps.len() as f64),
                explained: Explained::Whole,
                evidence: vec![format!(
                    "median of the first {at} steps: {}; of the last {later}: {}",
                    time(usual(0, at)),
                    time(usual(at, steps.len()))
                )],
                advice: "find the change at that step: `railwright profile --step N` before and after it"
                    .to_owned(),
                ..Finding::default()
            }];
        }
        vec![Finding {
            id: self.id().to_owned(),
            message: format!("steps grow {} longer over the recording", percent(growth / first)),
            cost: Some(growth / 2.0),
            explained: Explained::Part((steps[steps.len() - 1] - first) / 2.0),
            evidence: vec![format!(
                "first of {} steps: {}; last: {}",
                steps.len(),
                time(first),
                time(steps[steps.len() - 1])
            )],
            advice:
                "check clocks, reserved memory and the data loader over a longer period (`railwright log`)"
                    .to_owned(),
            ..Finding::default()
        }]
    }
}

/// Minimum growth of steps, as a share.
const GROWTH: f64 = 0.03;

/// Maximum ratio of the deviations from two constants to those from a line, for a shift.
const BETTER: f64 = 0.5;

/// Minimum number of steps on either side of a shift.
const SIDE: usize = 2;

/// Lower median of a range of steps.
fn lower_median(steps: &[f64]) -> impl Fn(usize, usize) -> f64 + '_ {
    |from, to| {
        let mut some = steps.get(from..to).unwrap_or_default().to_vec();
        if some.is_empty() { 0.0 } else { railwright_spec::lower_median(&mut some) }
    }
}

/// The step from which all are longer, and by how much: `None` if a line fits about as well. Both fits
/// minimize absolute deviations: medians before and after, and the line from the first to the last step.
fn shift(steps: &[f64]) -> Option<(usize, f64)> {
    let median = lower_median(steps);
    let apart = |from: usize, to: usize| {
        let middle = median(from, to);
        steps.get(from..to).unwrap_or_default().iter().map(|step| (step - middle).abs()).sum::<f64>()
    };
    let last = steps.len().checked_sub(SIDE)?;
    let split = |at: usize| apart(0, at) + apart(at, steps.len());
    // Thousands of steps: every n-th is enough to find the place.
    let stride = steps.len().div_ceil(MOST).max(1);
    let (at, off) =
        (SIDE..=last).step_by(stride).map(|at| (at, split(at))).min_by(|a, b| a.1.total_cmp(&b.1))?;
    let excess = median(at, steps.len()) - median(0, at);
    let slope = {
        let (count, first) = (steps.len() as f64, steps.first()?);
        (steps.last()? - first) / (count - 1.0)
    };
    let without: Vec<f64> = steps.iter().enumerate().map(|(at, step)| step - slope * at as f64).collect();
    let middle = lower_median(&without)(0, without.len());
    let line: f64 = without.iter().map(|step| (step - middle).abs()).sum();
    (excess > GROWTH * median(0, at) && off < BETTER * line).then_some((at, excess))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_jump_is_no_growth() {
        let jump: Vec<f64> = [49.3, 49.4, 49.3, 65.0, 64.2, 65.1].to_vec();
        let (at, excess) = shift(&jump).expect("a jump");
        assert_eq!(at, 3);
        assert!((excess - 15.7).abs() < 0.1, "{excess}");
        let growth: Vec<f64> = (0..10).map(|step| 100.0 + 2.0 * f64::from(step)).collect();
        assert_eq!(shift(&growth), None);
        assert_eq!(shift(&[10.0; 6]), None);
    }
}
