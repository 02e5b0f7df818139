//! Waiting for other ranks without one rank to blame.
//!
//! Responsible for: exposed waits where the straggler report names nobody. Refuses to repeat a named straggler's cost.

use super::{Context, Rule, percent, time};
use crate::profile::Finding;
use crate::waterfall::{Label, Share};
use railwright_step::Dimension;

pub(super) struct Waiting;

impl Rule for Waiting {
    fn id(&self) -> &'static str {
        "waiting"
    }

    fn title(&self) -> &'static str {
        "Ranks wait for each other, and no one rank is to blame"
    }

    fn text(&self) -> &'static str {
        "Waiting inside collectives without arithmetic beside it, where no rank is a straggler: ranks are late by turns. Told from 5 % of the step on; the cost is \
         that time. Usual reasons: hosts that pause at different times (garbage collection), sequences of different lengths, experts of different load."
    }

    fn find(&self, context: &Context<'_>) -> Vec<Finding> {
        let lost = context.sum(|label| matches!(label, Label::Exposed(_, Share::Wait)));
        let named = context.stragglers.is_some_and(|report| report.stragglers().next().is_some());
        if named || context.share(lost) < 0.05 {
            return Vec::new();
        }
        let by = Dimension::ALL.into_iter().map(|d| (d, context.mean(Label::Exposed(d, Share::Wait))));
        vec![Finding {
            id: self.id().to_owned(),
            message: format!(
                "ranks wait for each other {} of the step, by turns",
                percent(context.share(lost))
            ),
            cost: Some(lost),
            evidence: by
                .filter(|(_, wait)| context.share(*wait) > 0.005)
                .map(|(d, wait)| format!("{} of a step in {} parallel groups", time(wait), d.name()))
                .collect(),
            advice: "collect garbage on all ranks at the same step, balance sequence lengths and experts"
                .to_owned(),
            ..Finding::default()
        }]
    }
}
