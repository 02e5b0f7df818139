//! Exposed memory copies.
//!
//! Responsible for: copies without overlapped compute or communication. Excludes overlapped copies.

use super::{Context, Rule, percent, top};
use crate::profile::{Explained, Finding, Subject};
use crate::waterfall::Label;
use railwright_step::columns::Class;

pub(super) struct Copies;

impl Rule for Copies {
    fn id(&self) -> &'static str {
        "memory-copies"
    }

    fn title(&self) -> &'static str {
        "Memory copies delay the step"
    }

    fn text(&self) -> &'static str {
        "Time in which the device only copies or fills memory. Threshold: 1% of the step. Cost: that \
         time. Copies from pageable host memory are listed separately: they use a staging buffer and block \
         the host.\n\n\
         Remedies: pinned memory, copies on a separate stream, no copies to the host within the step, \
         offloading that overlaps."
    }

    fn find(&self, context: &Context<'_>) -> Vec<Finding> {
        let lost = context.mean(Label::Copy);
        if context.share(lost) < 0.01 {
            return Vec::new();
        }
        let kinds = top(context.times_under(|label| label == Label::Copy), 3);
        // The advice addresses the largest cost: reading one number back is no reason to pin memory if device copies take the time.
        let costliest = kinds.first().map_or("", |(name, _)| name);
        let is_pageable = costliest.contains("Pageable");
        let is_local = costliest.contains("DtoD") || costliest.contains("Memset");
        vec![Finding {
            id: self.id().to_owned(),
            message: format!("copies occupy the device for {} of the step", percent(context.share(lost))),
            cost: Some(lost),
            explained: Explained::Whole,
            subject: Subject {
                kernels: kinds.iter().map(|(name, _)| (*name).to_owned()).collect(),
                ..Subject::of_spans([Class::Copy])
            },
            evidence: context.costliest(context.times_under(|label| label == Label::Copy), 3),
            advice: if is_pageable {
                "copy from pinned memory (`pin_memory=True`, `non_blocking=True`), on a separate stream"
                    .to_owned()
            } else if is_local {
                "find the operator that copies or clears memory on the device, and write in place".to_owned()
            } else {
                "overlap the copy with compute on a separate stream, or remove it".to_owned()
            },
            ..Finding::default()
        }]
    }
}
