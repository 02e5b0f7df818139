//! Forward work done again.
//!
//! Responsible for: arithmetic within recomputation. Refuses to judge whether memory needs it; `railwright recompute` does.

use super::{Context, Inference, Rule, percent, time};
use crate::profile::Finding;
use crate::waterfall::Label;

pub(super) struct Recompute;

impl Rule for Recompute {
    fn id(&self) -> &'static str {
        "recompute"
    }

    fn title(&self) -> &'static str {
        "Forward work done again"
    }

    fn text(&self) -> &'static str {
        "Arithmetic that the backward pass repeats because activations were not kept. Reported from 5 % of the step on; the cost is that time.\n\n\
         What helps: recompute only what is cheap and large (attention's core, activation functions, norms), fewer layers, or on fewer stages; `railwright recompute` solves it for a run, \
         `railwright memory` says what is left."
    }

    fn inference(&self) -> Inference {
        Inference::Silent
    }

    fn find(&self, context: &Context<'_>) -> Vec<Finding> {
        let lost = context.mean(Label::Recompute);
        if context.share(lost) < 0.05 {
            return Vec::new();
        }
        vec![Finding {
            id: self.id().to_owned(),
            message: format!("recomputing takes {} of the step", percent(context.share(lost))),
            cost: Some(lost),
            evidence: vec![format!("{} of a step of forward work within backward passes", time(lost))],
            advice: "recompute selectively: `railwright recompute` finds which modules of how many layers"
                .to_owned(),
            ..Finding::default()
        }]
    }
}
