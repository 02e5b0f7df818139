//! Pipeline bubbles.
//!
//! Responsible for: idle time of the pipeline. Does not divide it: see `railwright pipeline`, with costs by
//! replay.

use super::words::time;
use super::{Context, Inference, Rule};
use crate::profile::{Explained, Finding, Subject};
use crate::waterfall::{Bubble, Label};
use railwright_spec::human;
use railwright_step::Dimension;
use railwright_step::columns::Class;

pub(super) struct PipelineBubble;

impl Rule for PipelineBubble {
    fn id(&self) -> &'static str {
        "pipeline-bubble"
    }

    fn title(&self) -> &'static str {
        "Pipeline bubble"
    }

    fn text(&self) -> &'static str {
        "Time in which a stage has no pass to run. The bubble of an ideal schedule with m micro-batches, p \
         stages and v virtual stages is (p-1)/(v m + p-1). Threshold: 10% of the step. Cost: that \
         time.\n\n\
         Remedies: more micro-batches, virtual stages, zero-bubble schedules, fewer stages; balanced stages \
         that count embedding and head (`railwright balance`). `railwright pipeline` divides it into \
         schedule, imbalance, messages and stalls."
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
        let listed: Vec<(Bubble, f64)> = (parts.into_iter())
            .map(|part| (part, context.mean(Label::Bubble(part))))
            .filter(|(_, t)| context.share(*t) > 0.005)
            .collect();
        vec![Finding {
            id: self.id().to_owned(),
            message: "pipeline bubble".to_owned(),
            cost: Some(lost),
            explained: Explained::Part(listed.iter().map(|part| part.1).sum()),
            subject: Subject { dimension: Some(Dimension::Pipeline), ..Subject::of_spans([Class::Bubble]) },
            evidence: listed
                .into_iter()
                .map(|(part, t)| format!("{}: {} per step", human::part(&Label::Bubble(part).name()), time(t)))
                .collect(),
            advice: "use more micro-batches or virtual stages; `railwright pipeline` separates schedule and imbalance".to_owned(),
            ..Finding::default()
        }]
    }
}
