//! The host stands in calls that wait for the device.
//!
//! Responsible for: idle time behind such calls, and which calls. Refuses calls that cost no idle time.

use super::{Context, Rule, percent, short, time, top};
use crate::profile::Finding;
use crate::trace::HostKind;
use crate::waterfall::Label;

pub(super) struct Synchronisation;

const CALLS: [&str; 6] = ["Synchronize", "cudaMemcpy", "hipMemcpy", "StreamWait", "EventQuery", "aten::item"];

/// The time that intervals cover, in nanoseconds.
fn covered(mut spans: Vec<(i64, i64)>) -> i64 {
    spans.sort_unstable();
    let (mut sum, mut until) = (0, i64::MIN);
    for (start, end) in spans {
        sum += (end - start.max(until)).max(0);
        until = until.max(end);
    }
    sum
}

impl Rule for Synchronisation {
    fn id(&self) -> &'static str {
        "synchronisation"
    }

    fn title(&self) -> &'static str {
        "The host waits for the device, then the device waits for the host"
    }

    fn text(&self) -> &'static str {
        "Idle time of the device while its host stood in a call that waits for it (`cudaStreamSynchronize`, `.item()`, a copy to pageable memory): until the call returns nothing new is \
         launched. Reported from 1 % of the step on, if such calls cover half of that time at least; the cost is that time.\n\n\
         What helps: no `.item()`, `.cpu()`, `nonzero` or printing of losses in every step; gradient norms and loss scales kept on the device; copies from pinned memory."
    }

    fn find(&self, context: &Context<'_>) -> Vec<Finding> {
        let lost = context.mean(Label::Sync);
        if context.share(lost) < 0.01 {
            return Vec::new();
        }
        let (from, to) = context.windows.whole();
        let mut waits: Vec<(&str, i64)> = Vec::new();
        let mut explained = 0;
        for view in context.views {
            let rows = view.trace.host.iter().filter(|row| row.start < to && row.end > from);
            let mut spans = Vec::new();
            for row in rows.filter(|row| matches!(row.kind, HostKind::Runtime | HostKind::Operator)) {
                let name = view.trace.names.get(row.name);
                if CALLS.iter().any(|call| name.contains(call)) && !name.ends_with("Async") {
                    waits.push((name, row.duration()));
                    spans.push((row.start.max(from), row.end.min(to)));
                }
            }
            explained += covered(spans);
        }
        let calls = top(waits.into_iter(), 3);
        vec![Finding {
            id: self.id().to_owned(),
            message: format!(
                "device synchronization and restart cost {} of the step",
                percent(context.share(lost))
            ),
            cost: Some(lost),
            evidence: calls
                .iter()
                .map(|(name, all)| {
                    format!(
                        "{}: the host spends {} of a step there",
                        short(name),
                        time(*all as f64 / context.samples())
                    )
                })
                .collect(),
            explained: Some(explained as f64 / context.samples()),
            advice: "take `.item()`, `.cpu()`, `nonzero` and synchronising copies out of the step".to_owned(),
            ..Finding::default()
        }]
    }
}
