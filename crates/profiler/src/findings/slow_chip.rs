//! Devices on which the same kernels take longer.
//!
//! Responsible for: ranks whose kernels of the same name take longer than on the median rank. Refuses single kernels; caches and contention move those.

use super::{Context, Rule, percent, time};
use crate::profile::Finding;
use crate::waterfall::{Label, RankWaterfall};
use railwright_spec::human;

pub(super) struct SlowChip;

impl Rule for SlowChip {
    fn id(&self) -> &'static str {
        "slow-chip"
    }

    fn title(&self) -> &'static str {
        "The same kernels take longer on some devices"
    }

    fn text(&self) -> &'static str {
        "Kernels of the same name are compared with the median rank. Reported when that costs 0.5 % of the step on average, or 2 % on one rank. The cost is the time \
         of the label `slower chip`, the mean over ranks; a synchronous step loses what the slowest rank loses, which `straggler` replays.\n\n\
         Reasons: thermal or power limits, a lower clock, a device with errors, another tenant."
    }

    fn find(&self, context: &Context<'_>) -> Vec<Finding> {
        let mean = context.mean(Label::SlowerChip);
        let steps = |rank: &RankWaterfall| (rank.steps.len() - rank.missing.len()).max(1) as f64;
        let worst = context
            .waterfall
            .ranks
            .iter()
            .map(|rank| rank.total.get(Label::SlowerChip) as f64 / steps(rank))
            .fold(0.0, f64::max);
        if context.waterfall.slower_chips.is_empty()
            || (context.share(mean) < 0.005 && context.share(worst) < 0.02)
        {
            return Vec::new();
        }
        let mut slow = context.waterfall.slower_chips.clone();
        slow.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        let mut ranks: Vec<u32> = slow.iter().map(|s| s.0).collect();
        ranks.sort_unstable();
        vec![Finding {
            id: self.id().to_owned(),
            message: format!("{} run slower on {} than on the others", context.work(), human::ranks(&ranks)),
            cost: Some(worst),
            evidence: slow
                .iter()
                .take(4)
                .map(|(rank, factor)| format!("rank {rank}: the same {} take {factor:.3} times as long", context.work()))
                .chain([format!("at most {} of the step ({}) on one rank", percent(context.share(worst)), time(worst))])
                .collect(),
            advice: if context.from_host() {
                "compare processors, their clocks, threads and other load of these hosts with the others"
            } else {
                "compare clocks, temperature and power of these devices with the others; move the job off them"
            }
            .to_owned(),
            ..Finding::default()
        }]
    }
}
