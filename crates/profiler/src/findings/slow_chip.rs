//! Devices with slower kernels.
//!
//! Responsible for: ranks whose kernels take longer than kernels of the same name on the median rank.
//! Excludes single kernels, which caches and contention affect, and ranks that the verdict names for more
//! work.

use super::words::{percent, time};
use super::{Context, Rule};
use crate::attribution::{CauseClass, Culprit, Kind, Named, StragglerReport, Verdict};
use crate::certainty::Certainty;
use crate::profile::{Explained, Finding, Subject};
use crate::waterfall::{Label, RankWaterfall};
use railwright_spec::human;

pub(super) struct SlowChip;

/// Ranks whose kernels are slower than those of the others, with the factor. Excludes ranks with more work.
pub(super) fn slow_chips(context: &Context<'_>) -> Vec<(u32, f64)> {
    // More work takes longer on any chip, and the verdict has compared the other kernels.
    let has_work = |report: &StragglerReport| report.culprits.iter().any(|one| one.work().is_some());
    if context.stragglers.is_some_and(has_work) {
        return Vec::new();
    }
    // A stage with more work, or an expert with more tokens, is not a slow chip.
    let has_more_work = |rank: u32| {
        context.stragglers.is_some_and(|report| {
            let more =
                |named: &&Named| named.kind == Kind::Stage || named.cause == CauseClass::MoreWork.name();
            report.culprits.iter().filter(more).any(|named| named.ranks.contains(&rank))
                || report.slow_stages.iter().any(|stage| stage.contains(&rank))
        })
    };
    let mut slow = context.waterfall.slower_chips.clone();
    slow.retain(|&(rank, _)| !has_more_work(rank));
    slow
}

impl Rule for SlowChip {
    fn id(&self) -> &'static str {
        "slow-chip"
    }

    fn title(&self) -> &'static str {
        "Slow devices"
    }

    fn text(&self) -> &'static str {
        "Kernels of the same name are compared with the median rank. Reported if the difference is 0.5% of \
         the step on average, or 2% on one rank. Cost: by replay with these ranks at the speed of their \
         peers. It is below the time of the label `slower chip` if slack absorbs a part; if it is below 0.5% of \
         the step, there is no finding. Without an accurate replay, that time is the upper bound.\n\n\
         Common causes: thermal or power limits, lower clocks, device errors, another tenant."
    }

    fn find(&self, context: &Context<'_>) -> Vec<Finding> {
        let mut slow = slow_chips(context);
        let lost = |rank: &RankWaterfall| {
            let steps = (rank.steps.len() - rank.missing.len()).max(1);
            rank.total.get(Label::SlowerChip) as f64 / steps as f64
        };
        let ranks = &context.waterfall.ranks;
        let of_slow: Vec<f64> =
            ranks.iter().filter(|rank| slow.iter().any(|one| one.0 == rank.rank)).map(lost).collect();
        let mean = of_slow.iter().sum::<f64>() / ranks.len().max(1) as f64;
        let worst = of_slow.iter().copied().fold(0.0, f64::max);
        if slow.is_empty() || (context.share(mean) < 0.005 && context.share(worst) < 0.02) {
            return Vec::new();
        }
        let (cost, certainty) = cost(context, &slow, worst);
        // A slow device with slack delays nobody.
        if certainty.is_none() && context.share(cost) < 0.005 {
            return Vec::new();
        }
        slow.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        let mut ranks: Vec<u32> = slow.iter().map(|s| s.0).collect();
        ranks.sort_unstable();
        vec![Finding {
            id: self.id().to_owned(),
            message: format!("{} run slower on {} than on the others", context.work(), human::ranks(&ranks)),
            cost: Some(cost),
            certainty,
            explained: Explained::Whole,
            subject: Subject::of_ranks(slow.iter().map(|one| one.0).collect::<Vec<_>>(), Subject::COMPUTE),
            evidence: slow
                .iter()
                .take(4)
                .map(|(rank, factor)| format!("rank {rank}: the same {} take {factor:.3} times as long", context.work()))
                .chain([format!("at most {} of the step ({}) on one rank", percent(context.share(worst)), time(worst))])
                .chain(context.health_of(ranks.iter().copied().take(4)))
                .collect(),
            advice: if context.from_host() {
                "compare CPU models, clocks, threads and other load of these hosts with the others"
            } else {
                "compare clocks, temperature and power of these devices with the others; move the job off them"
            }
            .to_owned(),
            ..Finding::default()
        }]
    }
}

/// Step time lost to slow devices in nanoseconds, by replay. An upper bound without an accurate replay, or if
/// slow ranks are late for another reason as well: the excess of the slowest one (`worst`).
fn cost(context: &Context<'_>, slow: &[(u32, f64)], worst: f64) -> (f64, Option<Certainty>) {
    let report = context.stragglers.filter(|report| report.verdict != Verdict::CannotTell);
    let Some(report) = report else { return (worst, Some(Certainty::AtMost)) };
    let is_slow = |rank: &u32| slow.iter().any(|one| one.0 == *rank);
    let is_chip = |culprit: &&Culprit| is_slow(&culprit.rank) && culprit.cause == CauseClass::SlowChip;
    let named: Vec<&Named> = (report.culprits.iter())
        .filter(|named| named.kind == Kind::Rank && named.ranks.iter().all(is_slow))
        .collect();
    let cost: f64 = named.iter().map(|named| named.cost_s * 1e9).sum();
    let alone = report.ranks.iter().filter(is_chip).map(|culprit| culprit.cost).fold(0.0, f64::max);
    let chip = |rank: &u32| report.ranks.iter().any(|one| one.rank == *rank && is_chip(&one));
    if named.iter().any(|named| !named.ranks.iter().all(chip)) {
        return (cost.min(worst), Some(Certainty::AtMost));
    }
    (cost.max(alone), report.bounds_only.as_ref().map(|_| Certainty::AtMost))
}
