//! Waits for other ranks without a single cause.
//!
//! Responsible for: exposed waits if the straggler report has no straggler or is inconclusive. Excludes costs
//! of reported stragglers, and single ranks, which do not show the late rank.

use super::words::{percent, time};
use super::{Context, Inference, Rule};
use crate::attribution::{Culprit, Lacking, Named, StragglerReport, Verdict, Work};
use crate::profile::{Explained, Finding, Subject};
use crate::waterfall::{Label, Share};
use railwright_step::Dimension;
use railwright_step::columns::Class;

pub(super) struct Waiting;

impl Rule for Waiting {
    fn id(&self) -> &'static str {
        "waiting"
    }

    fn title(&self) -> &'static str {
        "Ranks wait for each other without a single cause"
    }

    fn text(&self) -> &'static str {
        "Waiting inside collectives without overlapped compute, if no rank, link or stage is identified as \
         the cause. Threshold: 5% of the step. Cost: that time. If the replay is inaccurate or a rank \
         cannot be matched, the ranks with the most waits are listed and the cause is unknown. Otherwise a \
         different rank is late each time. Common causes: hosts that pause at different times (garbage collection), \
         sequences of different lengths, experts of different load. Sequences are visible in attention kernels, \
         experts in grouped GEMMs: the cost is by replay with equal kernels, if it is at least 3% of the step."
    }

    fn inference(&self) -> Inference {
        Inference::Advice(
            "record all ranks in the same steps; check that the scheduler gives ranks equal batches, and what their hosts do between steps",
        )
    }

    fn find(&self, context: &Context<'_>) -> Vec<Finding> {
        if let Some((report, named, work)) = context
            .stragglers
            .and_then(|report| report.culprits.iter().find_map(|named| Some((report, named, named.work()?))))
        {
            return vec![uneven(report, named, work)];
        }
        let lost = context.sum(|label| matches!(label, Label::Exposed(_, Share::Wait)));
        // One rank alone does not show which rank is late.
        let Some(report) = context.stragglers.filter(|_| context.share(lost) >= 0.05) else {
            return Vec::new();
        };
        let by = Dimension::ALL.into_iter().map(|d| (d, context.mean(Label::Exposed(d, Share::Wait))));
        let groups = by.filter(|(_, wait)| context.share(*wait) > 0.005).map(|(d, wait)| {
            let of = if d == Dimension::Other {
                "unknown groups".to_owned()
            } else {
                format!("{} parallel groups", d.name())
            };
            format!("waits in {of}: {} per step", time(wait))
        });
        let mut ranks: Vec<&Culprit> = report.ranks.iter().collect();
        ranks.sort_by(|a, b| b.waits.total_cmp(&a.waits).then(a.rank.cmp(&b.rank)));
        let most = ranks.iter().take(3).filter(|rank| rank.waits_share > 0.0);
        let most = most.map(|rank| {
            format!("rank {}: {} of all waits are attributed to it", rank.rank, percent(rank.waits_share))
        });
        let rank = match report.verdict {
            Verdict::None => ranks.first().filter(|rank| rank.waits_share > 0.5).map(|rank| rank.rank),
            _ => report.leading().map(|rank| rank.rank),
        };
        let (message, evidence, advice): (String, Vec<String>, String) = match report.verdict {
            Verdict::Straggler | Verdict::SlowLink | Verdict::Imbalance => return Vec::new(),
            Verdict::CannotTell if report.in_turn => (
                "ranks wait for each other; the late rank changes from step to step".to_owned(),
                report.reasons.iter().cloned().chain(most).chain(groups).collect(),
                "collect garbage on all ranks at the same step; compare the data loading of the ranks"
                    .to_owned(),
            ),
            Verdict::CannotTell => (
                match rank {
                    // The rank is known, its reason is not.
                    Some(rank) => {
                        format!("ranks wait for each other, mostly for rank {rank}, for an unknown reason")
                    }
                    None => "ranks wait for each other; the cause is unknown".to_owned(),
                },
                report
                    .reasons
                    .iter()
                    .map(|reason| format!("because {reason}"))
                    .chain(most)
                    .chain(groups)
                    .collect(),
                missing(report, &ranks),
            ),
            // A rank that causes most of the waits at no cost of its own: its peers do not delay each other
            // in turn.
            Verdict::None if rank.is_some() => (
                format!("ranks wait for each other, mostly for rank {}", ranks[0].rank),
                most.chain(groups).collect(),
                "record this rank and its neighbours with stacks to find the cause".to_owned(),
            ),
            Verdict::None => (
                "ranks wait for each other; no single rank, link or stage causes it".to_owned(),
                most.chain(groups).collect(),
                "collect garbage on all ranks at the same step, balance sequence lengths and experts"
                    .to_owned(),
            ),
        };
        vec![Finding {
            id: self.id().to_owned(),
            message,
            // Not by replay, and ranks cannot all be equal: a bound.
            cost: Some(lost),
            subject: Subject::of_ranks(Vec::from_iter(rank), [Class::Waiting]),
            evidence,
            advice,
            ..Finding::default()
        }]
    }
}

/// Action that may determine the cause, by the missing input; `ranks` by their waits.
fn missing(report: &StragglerReport, ranks: &[&Culprit]) -> String {
    let most = ranks.first().filter(|rank| rank.waits_share > 0.5);
    match (report.lacking, most) {
        (Lacking::Steps, Some(rank)) => {
            format!(
                "record more steps, with stacks: rank {} causes most of the waits, but not consistently",
                rank.rank
            )
        }
        (lacking, _) => lacking.action().to_owned(),
    }
}

/// Unequal work, with the cost by replay.
fn uneven(report: &StragglerReport, named: &Named, work: Work) -> Finding {
    let cost = named.cost_s * 1e9;
    let kernels = match work {
        Work::Lengths | Work::Chunks => "attention kernels",
        Work::Experts => "grouped GEMMs",
    };
    Finding {
        id: Waiting.id().to_owned(),
        message: match work {
            Work::Chunks => named.unequal_work(),
            _ => format!("ranks take turns waiting for each other ({})", work.cause()),
        },
        cost: Some(cost),
        explained: Explained::Whole,
        subject: Subject::of_ranks(named.ranks.clone(), [Class::Waiting]),
        certainty: report.bounds_only.as_ref().map(|_| named.certainty),
        evidence: vec![
            format!("{} per step by replay with {kernels} of the same duration on all ranks", time(cost)),
            match work {
                Work::Chunks => "the same positions of all context-parallel groups have more attention".to_owned(),
                _ => format!("{kernels} differ between ranks, other GEMMs do not"),
            },
        ],
        advice: match work {
            Work::Lengths => "distribute sequences over ranks by the time of their attention, or pack them to equal lengths",
            Work::Chunks => {
                "under a causal mask, later chunks have more attention work: split each sequence into two chunks per \
                 rank, one from each end (zigzag context parallelism)"
            }
            Work::Experts => "balance the router (load-balancing loss or bias), limit the capacity of experts, or use larger micro-batches",
        }
        .to_owned(),
        ..Finding::default()
    }
}
