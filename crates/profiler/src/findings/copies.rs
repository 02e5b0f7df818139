//! Copies in the way of the step.
//!
//! Responsible for: copies with neither arithmetic nor communication beside them. Refuses copies that are hidden.

use super::{Context, Rule, percent, top};
use crate::profile::Finding;
use crate::waterfall::Label;

pub(super) struct Copies;

impl Rule for Copies {
    fn id(&self) -> &'static str {
        "memory-copies"
    }

    fn title(&self) -> &'static str {
        "Memory copies in the way of the step"
    }

    fn text(&self) -> &'static str {
        "Time in which the device does nothing but copy or fill memory. Reported from 1 % of the step on; the cost is that time. Copies from pageable host memory are named: \
         they go through a buffer and hold the host up.\n\n\
         What helps: pinned memory, copies on a stream of their own, no copies to the host within the step, offloading that overlaps."
    }

    fn find(&self, context: &Context<'_>) -> Vec<Finding> {
        let lost = context.mean(Label::Copy);
        if context.share(lost) < 0.01 {
            return Vec::new();
        }
        let kinds = top(context.times_under(|label| label == Label::Copy), 3);
        let pageable = kinds.iter().any(|(name, _)| name.contains("Pageable"));
        vec![Finding {
            id: self.id().to_owned(),
            message: format!("copies hold the device {} of the step", percent(context.share(lost))),
            cost: Some(lost),
            evidence: context.dearest(kinds, 3),
            advice: if pageable {
                "copy from pinned memory (`pin_memory=True`, `non_blocking=True`), on a stream of its own"
                    .to_owned()
            } else {
                "overlap the copy with compute on a separate stream, or remove it".to_owned()
            },
            ..Finding::default()
        }]
    }
}
