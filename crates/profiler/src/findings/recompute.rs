//! Recompute of forward work.
//!
//! Responsible for: compute within recomputation. Does not decide whether memory requires it: see `railwright
//! recompute`.

use super::words::time;
use super::{Context, Inference, Rule};
use crate::profile::{Explained, Finding, Subject};
use crate::waterfall::Label;
use railwright_step::Phase;

pub(super) struct Recompute;

impl Rule for Recompute {
    fn id(&self) -> &'static str {
        "recompute"
    }

    fn title(&self) -> &'static str {
        "Recompute"
    }

    fn text(&self) -> &'static str {
        "Forward compute repeated in the backward pass, because activations were not kept. Threshold: 5% \
         of the step. Cost: that time.\n\n\
         Remedies: recompute only cheap modules with large outputs (core attention, activation functions, \
         norms), fewer layers, or fewer stages; `railwright recompute` finds the best choice, `railwright \
         memory` shows the free memory."
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
            message: "activations are recomputed".to_owned(),
            cost: Some(lost),
            explained: Explained::Whole,
            subject: Subject::of_phase(Phase::Recompute),
            evidence: vec![format!("{} per step of forward compute within backward passes", time(lost))],
            advice: "recompute selectively: `railwright recompute` finds modules and layers".to_owned(),
            ..Finding::default()
        }]
    }
}
