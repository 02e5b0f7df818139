//! Pipeline bubbles.
//!
//! Responsible for: idle time that the pipeline makes. Refuses to divide it; `railwright pipeline` does, with costs by replay.

use super::{Context, Inference, Rule, percent, time};
use crate::profile::Finding;
use crate::waterfall::{Bubble, Label};

pub(super) struct PipelineBubble;

impl Rule for PipelineBubble {
    fn id(&self) -> &'static str {
        "pipeline-bubble"
    }

    fn title(&self) -> &'static str {
        "Stages wait for their neighbours"
    }

    fn text(&self) -> &'static str {
        "Time in which a stage has no pass to run. An ideal schedule of m micro batches on p stages with v virtual ones wastes (p-1)/(v m + p-1). Reported from 10 % of the step on; the cost is that time.\n\n\
         What helps: more micro batches, virtual stages, zero-bubble schedules, fewer stages; an even division of layers with embedding and head counted (`railwright balance`). \
         `railwright pipeline` divides it into schedule, imbalance, messages and stalls."
    }

    fn inference(&self) -> Inference {
        Inference::Advice("use fewer pipeline stages, or more concurrent batches to fill them")
    }

    fn find(&self, context: &Context<'_>) -> Vec<Finding> {
        let lost = context.sum(|label| matches!(label, Label::Bubble(_)));
        if context.share(lost) < 0.10 {
            return Vec::new();
        }
        let parts = [Bubble::Schedule, Bubble::Imbalance, Bubble::Message, Bubble::Stall, Bubble::Undivided];
        vec![Finding {
            id: self.id().to_owned(),
            message: format!("stages wait for their neighbours {} of the step", percent(context.share(lost))),
            cost: Some(lost),
            evidence: parts
                .into_iter()
                .map(|part| (part, context.mean(Label::Bubble(part))))
                .filter(|(_, t)| context.share(*t) > 0.005)
                .map(|(part, t)| format!("{}: {} per step", Label::Bubble(part).name(), time(t)))
                .collect(),
            advice: "use more micro-batches or virtual stages; `railwright pipeline` separates schedule and imbalance".to_owned(),
            ..Finding::default()
        }]
    }
}
