//! Steps of different length.
//!
//! Responsible for: steps beyond the typical one, and their mean cost. Excludes the first step, which
//! includes warm-up.

use super::words::{percent, time};
use super::{Context, Inference, Rule};
use crate::profile::{Explained, Finding};

pub(super) struct VaryingSteps;

impl Rule for VaryingSteps {
    fn id(&self) -> &'static str {
        "varying-steps"
    }

    fn title(&self) -> &'static str {
        "Steps differ in length"
    }

    fn text(&self) -> &'static str {
        "Mean step time relative to the median. Reported for at least three steps if the mean is 2% longer. Cost: \
         the difference. `railwright log` covers thousands of steps, a trace only a few.\n\n\
         Common causes: checkpoints, evaluation, garbage collection, sequences of different lengths, a shared \
         network."
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
        let first = steps[0];
        let others = steps.iter().skip(1).sum::<i64>() as f64 / (steps.len() - 1) as f64;
        steps.sort_unstable();
        // Intervals that do not repeat are not steps: their mean is meaningless.
        if !context.windows.repeat() {
            return Vec::new();
        }
        let median = steps[steps.len() / 2] as f64;
        let mean = steps.iter().sum::<i64>() as f64 / steps.len() as f64;
        if mean < median * 1.02 {
            return Vec::new();
        }
        // Without the first step, they do not vary: it is a part of the warm-up, and no loss per day.
        let one_off = first == steps[steps.len() - 1] && others < median * 1.02;
        vec![Finding {
            id: self.id().to_owned(),
            message: format!("step times vary (mean {} above the median)", percent(mean / median - 1.0)),
            cost: Some(mean - median),
            explained: Explained::Whole,
            evidence: vec![format!(
                "{} shortest, {} median, {} longest of {}",
                time(steps[0] as f64),
                time(median),
                time(steps[steps.len() - 1] as f64),
                steps.len()
            )],
            advice: if one_off {
                "the first recorded step alone is longer: record after more warm-up steps".to_owned()
            } else {
                "inspect the long steps: `railwright profile --step N`".to_owned()
            },
            one_off,
            ..Finding::default()
        }]
    }
}
