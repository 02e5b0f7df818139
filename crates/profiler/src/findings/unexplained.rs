//! Idle time of unknown cause.
//!
//! Responsible for: its amount.

use super::context::EXPLAINED;
use super::idle::outside;
use super::remedies::recorded_by_pytorch;
use super::words::time;
use super::{Context, Rule};
use crate::occupancy::Intervals;
use crate::profile::{Explained, Finding, Subject};
use crate::trace::HostKind;
use crate::view::{Role, View};
use crate::waterfall::Label;
use railwright_step::columns::Class;

pub(super) struct Unexplained;

impl Rule for Unexplained {
    fn id(&self) -> &'static str {
        "unexplained"
    }

    fn title(&self) -> &'static str {
        "Idle time without a recorded cause"
    }

    fn text(&self) -> &'static str {
        "The device was idle for an unknown reason: launches were not recorded, or the host activity was \
         invisible to the recorder (a sleep, a blocked thread). Threshold: 5% of the step."
    }

    fn find(&self, context: &Context<'_>) -> Vec<Finding> {
        let lost = context.mean(Label::Unexplained) - outside(context);
        // Time before the first and after the last device work of a rank is no gap: other ranks or the host
        // determine the ends of the steps.
        if context.share(lost) < 0.05 || between(context) < EXPLAINED * lost {
            return Vec::new();
        }
        vec![Finding {
            id: self.id().to_owned(),
            message: "the device is idle without a recorded cause".to_owned(),
            cost: Some(lost),
            explained: Explained::Whole,
            subject: Subject::of_spans([Class::Host]),
            evidence: vec![format!("{} per step", time(lost))],
            advice: if has_host(context) {
                "no recorded launch ends this idle time: check for dropped events and filters, and record a few more steps with the host's \
                 functions"
            } else if recorded_by_pytorch(context.views) {
                "record with the host's activities (`ProfilerActivity.CPU`) and stacks"
            } else {
                "record the host's calls as well, for example with `nsys profile --trace=cuda,nvtx,osrt`"
            }
            .to_owned(),
            ..Finding::default()
        }]
    }
}

/// Idle time between the first and the last device work of each rank within the steps, per rank and step, in
/// nanoseconds.
fn between(context: &Context<'_>) -> f64 {
    let span = context.windows.span();
    let of = |view: &&View<'_>| {
        let rows = view.gpu.iter().zip(&view.role).filter(|(_, role)| **role != Role::None);
        let busy = Intervals::union(rows.map(|(row, _)| (row.start, row.end)).collect()).clipped(span);
        let edges = busy.next(i64::MIN).zip(busy.last_end(i64::MAX));
        edges.map_or(0, |(first, last)| last - first.0 - busy.total())
    };
    context.views.iter().map(of).sum::<i64>() as f64 / context.samples()
}

/// Tests whether operators or calls of the host were recorded.
fn has_host(context: &Context<'_>) -> bool {
    let kinds = |view: &&View<'_>| {
        view.trace.host.kinds().iter().any(|kind| matches!(kind, HostKind::Operator | HostKind::Runtime))
    };
    context.views.iter().any(kinds)
}
