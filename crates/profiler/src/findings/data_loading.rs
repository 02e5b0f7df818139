//! The device waits for data.
//!
//! Responsible for: idle time while the host loads data. Refuses data loading that work hides.

use super::{Context, Rule, percent, time};
use crate::profile::Finding;
use crate::waterfall::Label;

pub(super) struct DataLoading;

impl Rule for DataLoading {
    fn id(&self) -> &'static str {
        "data-loading"
    }

    fn title(&self) -> &'static str {
        "The device waits for data"
    }

    fn text(&self) -> &'static str {
        "Idle time of the device while its host was in a data loader. Reported from 1 % of the step on; the cost is that time.\n\n\
         What helps: more workers, prefetching, pinned memory, data on local disks, tokenising beforehand."
    }

    fn find(&self, context: &Context<'_>) -> Vec<Finding> {
        let lost = context.mean(Label::DataLoading);
        if context.share(lost) < 0.01 {
            return Vec::new();
        }
        vec![Finding {
            id: self.id().to_owned(),
            message: format!("the device waits for data {} of the step", percent(context.share(lost))),
            cost: Some(lost),
            evidence: vec![format!("{} of a step idle while the host loads data", time(lost))],
            advice:
                "load ahead: more workers, a longer queue, pinned memory, data that is tokenised and near"
                    .to_owned(),
            ..Finding::default()
        }]
    }
}
