//! The host stands in calls that wait for the device.
//!
//! Responsible for: idle time behind such calls, and which calls. Refuses calls that cost no idle time.

use super::{Context, Rule, percent, short, time, top};
use crate::profile::Finding;
use crate::trace::HostKind;
use crate::waterfall::Label;

pub(super) struct Synchronisation;

const CALLS: [&str; 6] = ["Synchronize", "cudaMemcpy", "hipMemcpy", "StreamWait", "EventQuery", "aten::item"];

impl Rule for Synchronisation {
    fn id(&self) -> &'static str {
        "synchronisation"
    }

    fn title(&self) -> &'static str {
        "The host waits for the device, then the device waits for the host"
    }

    fn text(&self) -> &'static str {
        "Idle time of the device while its host stood in a call that waits for it (`cudaStreamSynchronize`, `.item()`, a copy to pageable memory): until the call returns nothing new is \
         launched. Told from 1 % of the step on; the cost is that time.\n\n\
         What helps: no `.item()`, `.cpu()`, `nonzero` or printing of losses in every step; gradient norms and loss scales kept on the device; copies from pinned memory."
    }

    fn find(&self, context: &Context<'_>) -> Vec<Finding> {
        let lost = context.mean(Label::Sync);
        if context.share(lost) < 0.01 {
            return Vec::new();
        }
        let (from, to) = context.windows.whole();
        let waits = context.views.iter().flat_map(|view| {
            view.trace
                .host
                .iter()
                .filter(move |row| row.start < to && row.end > from)
                .filter(|row| matches!(row.kind, HostKind::Runtime | HostKind::Operator))
                .map(|row| (view.trace.names.get(row.name), row.duration()))
                .filter(|(name, _)| CALLS.iter().any(|call| name.contains(call)) && !name.ends_with("Async"))
        });
        let calls = top(waits, 3);
        vec![Finding {
            id: self.id().to_owned(),
            message: format!(
                "waiting for the device and starting anew costs {} of the step",
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
            advice: "take `.item()`, `.cpu()`, `nonzero` and synchronising copies out of the step".to_owned(),
            ..Finding::default()
        }]
    }
}
