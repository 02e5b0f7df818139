//! Hosts that pause at different steps.
//!
//! Responsible for: steps in which one rank's host holds its device up far beyond its usual. Refuses hosts that are always slow.

use super::{Context, Rule, percent, time};
use crate::profile::Finding;
use crate::waterfall::{Bubble, Label};

pub(super) struct HostPauses;

impl Rule for HostPauses {
    fn id(&self) -> &'static str {
        "host-pauses"
    }

    fn title(&self) -> &'static str {
        "A host pauses in some steps"
    }

    fn text(&self) -> &'static str {
        "Idle time of a device before launches (or unexplained) in one step, beyond the rank's median step by 5 % of a step at least. In a synchronous job everyone waits, so the cost is the sum over steps of \
         the longest pause, on average for a step. Garbage collection pauses 0.1 to 0.5 s and hits ranks at different steps.\n\n\
         What helps: `gc.disable()` and `gc.collect()` at the same step on all ranks (`--manual-gc`), checkpoints and logging beside the step."
    }

    fn find(&self, context: &Context<'_>) -> Vec<Finding> {
        let count = context.windows.steps.len();
        if count < 3 {
            return Vec::new();
        }
        let idle = |parts: &crate::waterfall::Parts| {
            parts.get(Label::Host) + parts.get(Label::Unexplained) + parts.get(Label::Bubble(Bubble::Stall))
        };
        let limit = 0.05 * context.step();
        let mut longest = vec![0.0f64; count];
        let mut worst: Vec<(f64, u32, usize)> = Vec::new();
        for rank in &context.waterfall.ranks {
            let held = || rank.steps.iter().enumerate().filter(|(at, _)| !rank.missing.contains(at));
            let mut usual: Vec<i64> = held().map(|(_, parts)| idle(parts)).collect();
            usual.sort_unstable();
            let Some(median) = usual.get((usual.len().max(1) - 1) / 2).copied() else { continue };
            for (step, parts) in held().take(count) {
                let pause = (idle(parts) - median) as f64;
                if pause > limit {
                    longest[step] = longest[step].max(pause);
                    worst.push((pause, rank.rank, step));
                }
            }
        }
        if worst.is_empty() {
            return Vec::new();
        }
        worst.sort_by(|a, b| b.0.total_cmp(&a.0).then((a.1, a.2).cmp(&(b.1, b.2))));
        let cost = longest.iter().sum::<f64>() / count as f64;
        vec![Finding {
            id: self.id().to_owned(),
            message: format!("hosts pause in {} of {count} steps, {} of the step on average", longest.iter().filter(|p| **p > 0.0).count(), percent(context.share(cost))),
            cost: Some(cost),
            evidence: worst
                .iter()
                .take(4)
                .map(|(pause, rank, step)| format!("rank {rank} pauses {} in step {}", time(*pause), context.windows.name(*step)))
                .collect(),
            advice: "collect garbage by hand at the same step on all ranks; keep checkpoints and logging out of the step".to_owned(),
            ..Finding::default()
        }]
    }
}
