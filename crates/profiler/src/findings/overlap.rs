//! Overlap that is not used.
//!
//! Responsible for: data-parallel communication with little overlap, although there is compute to overlap it
//! with. Excludes tensor-parallel communication: its results are needed at once.

use super::words::{percent, time};
use super::{Context, Inference, Rule};
use crate::certainty::Certainty;
use crate::profile::{Explained, Finding, Subject};
use crate::waterfall::{Label, Share};
use railwright_step::Dimension;
use std::collections::BTreeMap;

pub(super) struct Overlap;

impl Rule for Overlap {
    fn id(&self) -> &'static str {
        "unused-overlap"
    }

    fn title(&self) -> &'static str {
        "Communication is not overlapped with compute"
    }

    fn text(&self) -> &'static str {
        "Less than half of the data-parallel communication overlaps with backward and forward passes. \
         Reported if the exposed time is 2% of the step and compute takes longer. Cost: the saving if \
         half overlapped.\n\n\
         Remedies: `--overlap-grad-reduce`, `--overlap-param-gather`, FSDP prefetching (`forward_prefetch`, \
         `backward_prefetch`), a separate stream for communication."
    }

    fn inference(&self) -> Inference {
        Inference::Silent
    }

    fn find(&self, context: &Context<'_>) -> Vec<Finding> {
        let exposed =
            context.sum(|l| matches!(l, Label::Exposed(Dimension::Data, Share::Transfer | Share::Undivided)));
        let of_rank = |transfers: &BTreeMap<Dimension, i64>| transfers.get(&Dimension::Data).copied();
        let whole: i64 = context.waterfall.ranks.iter().filter_map(|r| of_rank(&r.transfers)).sum();
        let whole = whole as f64 / context.samples();
        let arithmetic =
            context.waterfall.ranks.iter().map(|r| r.totals.compute).sum::<i64>() as f64 / context.samples();
        if context.share(exposed) < 0.02 || exposed < 0.5 * whole || arithmetic < exposed {
            return Vec::new();
        }
        // Late ranks delay collectives past the compute that would overlap them: then missing overlap is not
        // the cause.
        let late =
            context.stragglers.map_or(0.0, |report| report.culprits.iter().map(|one| one.cost_s * 1e9).sum());
        if late >= 0.5 * exposed {
            return Vec::new();
        }
        let bounded = context.mean(Label::Exposed(Dimension::Data, Share::Undivided)) > 0.0;
        vec![Finding {
            id: self.id().to_owned(),
            message: format!(
                "only {} of data-parallel communication is overlapped, although enough compute is available",
                percent(1.0 - exposed / whole.max(exposed))
            ),
            cost: Some(0.5 * exposed),
            explained: Explained::Part(exposed.min(arithmetic)),
            subject: Subject::of_dimension(Dimension::Data),
            certainty: bounded.then_some(Certainty::AtMost),
            evidence: vec![format!(
                "{} exposed of {} per step, with {} of compute",
                time(exposed),
                time(whole),
                time(arithmetic)
            )],
            advice: "enable overlapped reduction and all-gather".to_owned(),
            ..Finding::default()
        }]
    }
}
