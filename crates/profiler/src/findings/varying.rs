//! Steps of different length.
//!
//! Responsible for: steps beyond the typical one, and what they cost on average. Refuses to call a first step slow; it warms up.

use super::{Context, Inference, Rule, percent, time};
use crate::profile::Finding;

pub(super) struct VaryingSteps;

impl Rule for VaryingSteps {
    fn id(&self) -> &'static str {
        "varying-steps"
    }

    fn title(&self) -> &'static str {
        "Steps differ in length"
    }

    fn text(&self) -> &'static str {
        "The mean step against the median one. Reported from three steps on when the mean is 2 % longer; the cost is the difference. `railwright log` sees thousands of steps where a trace has a handful.\n\n\
         Reasons: checkpoints, evaluation, garbage collection, sequences of different lengths, a network that is shared."
    }

    fn inference(&self) -> Inference {
        Inference::Silent
    }

    fn find(&self, context: &Context<'_>) -> Vec<Finding> {
        let mut steps: Vec<i64> =
            context.windows.steps.iter().map(crate::windows::StepWindow::duration).collect();
        if steps.len() < 3 {
            return Vec::new();
        }
        steps.sort_unstable();
        // What does not repeat is no step: a mean over it says nothing.
        if !context.windows.repeat() {
            return Vec::new();
        }
        let median = steps[steps.len() / 2] as f64;
        let mean = steps.iter().sum::<i64>() as f64 / steps.len() as f64;
        if mean < median * 1.02 {
            return Vec::new();
        }
        vec![Finding {
            id: self.id().to_owned(),
            message: format!(
                "steps differ: on average they are {} longer than the typical one",
                percent(mean / median - 1.0)
            ),
            cost: Some(mean - median),
            evidence: vec![format!(
                "{} the shortest, {} the typical, {} the longest of {}",
                time(steps[0] as f64),
                time(median),
                time(steps[steps.len() - 1] as f64),
                steps.len()
            )],
            advice: "inspect the long steps: `railwright profile --step N`".to_owned(),
            ..Finding::default()
        }]
    }
}
