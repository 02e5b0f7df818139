//! Steps that grow longer.
//!
//! Responsible for: the trend of step times. Excludes fewer than five steps.

use super::{Context, Inference, Rule, percent, time};
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
         a slow data loader."
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
