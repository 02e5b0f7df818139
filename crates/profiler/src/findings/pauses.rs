//! Hosts that pause at different steps.
//!
//! Responsible for: steps in which one rank's host delays its device far beyond the usual. Excludes hosts
//! that are always slow.

use super::context::EXPLAINED;
use super::words::{percent, time};
use super::{Context, Inference, Rule, host_work, idle};
use crate::causes::Cause;
use crate::profile::{Explained, Finding, Subject};
use crate::replay::lower_median;
use crate::waterfall::{Label, Parts, RankWaterfall};
use railwright_step::columns::Class;
use std::collections::{BTreeMap, BTreeSet};

/// Number of listed pauses.
const LISTED: usize = 4;

/// Advice for pauses that visit most ranks.
const COLLECT: &str = "call `gc.disable()`, and `gc.collect()` at the same step on all ranks (`--manual-gc`): then their pauses coincide; \
                       if it recurs, record with `with_stack=True`";

pub(super) struct HostPauses;

impl Rule for HostPauses {
    fn id(&self) -> &'static str {
        "host-pauses"
    }

    fn title(&self) -> &'static str {
        "Host pauses in some steps"
    }

    fn text(&self) -> &'static str {
        "Idle time before launches (or unexplained) in a step, at least 5% of a step longer than in the \
         median step of the rank. In a synchronous job all ranks wait. Cost: the longest pause of each step, \
         averaged over steps. The cause is reported if host frames show it for half of the paused time. \
         Garbage collection leaves no frame: it takes 0.1 to 0.5 s, in different steps on each rank.\n\n\
         Remedies: those of the cause; if none was recorded, `with_stack=True`, and `gc.disable()` with \
         `gc.collect()` at the same step on all ranks (`--manual-gc`)."
    }

    fn inference(&self) -> Inference {
        Inference::Advice(
            "check scheduling, sampling, tokenization and garbage collection of these hosts; record with `with_stack=True` if no frame shows the cause",
        )
    }

    fn find(&self, context: &Context<'_>) -> Vec<Finding> {
        let count = context.windows.steps.len();
        if count < 3 {
            return Vec::new();
        }
        // Before and after the recording of a rank, its device may have been busy.
        let idle = |rank: &RankWaterfall, step: usize, parts: &Parts| {
            let outside = rank.step_causes.get(step).map_or(0, |times| times[Cause::NotRecorded as usize]);
            parts.sum(Label::is_host_idle) - outside
        };
        let limit = 0.05 * context.step();
        let mut longest = vec![0.0f64; count];
        let mut worst: Vec<(f64, u32, usize)> = Vec::new();
        for rank in &context.waterfall.ranks {
            let held = || rank.steps.iter().enumerate().filter(|(at, _)| !rank.missing.contains(at));
            let mut usual: Vec<i64> = held().map(|(step, parts)| idle(rank, step, parts)).collect();
            let Some(median) = lower_median(&mut usual) else { continue };
            // Many short gaps are slow launching, and no pause.
            let gaps = |step: usize| rank.step_long_gaps.get(step).copied().unwrap_or(0);
            let usual_gaps =
                lower_median(&mut held().map(|(step, _)| gaps(step)).collect::<Vec<_>>()).unwrap_or(0);
            for (step, parts) in held().take(count) {
                let pause = (idle(rank, step, parts) - median).min(gaps(step) - usual_gaps) as f64;
                if pause > limit {
                    longest[step] = longest[step].max(pause);
                    worst.push((pause, rank.rank, step));
                }
            }
        }
        // Hosts that pause in the first recorded step alone warm up.
        if worst.iter().all(|pause| pause.2 == 0) {
            return Vec::new();
        }
        worst.sort_by(|a, b| b.0.total_cmp(&a.0).then((a.1, a.2).cmp(&(b.1, b.2))));
        let known = cause(context, &worst);
        // One rank after the other, each in a few steps: one cause for all of them.
        // Pauses of one cause are of similar length.
        let largest = worst.first().map_or(0.0, |pause| pause.0);
        let similar: Vec<(f64, u32, usize)> =
            worst.iter().copied().filter(|pause| 3.0 * pause.0 >= largest).collect();
        let ranks = paused(&similar);
        let in_turn = ranks.len() > 2
            && 2 * ranks.len() > context.waterfall.ranks.len()
            && 2 * worst.len() <= ranks.len() * count;
        let cost = longest.iter().sum::<f64>() / count as f64;
        // Evidence: the steps whose longest pause is listed.
        let listed: BTreeSet<usize> = worst.iter().take(LISTED).map(|pause| pause.2).collect();
        let explained = listed.iter().map(|&step| longest[step]).sum::<f64>() / count as f64;
        let others = longest.iter().filter(|pause| **pause > 0.0).count() - listed.len();
        let together = (explained < EXPLAINED * cost)
            .then(|| format!("{others} other steps: {} per step", time(cost - explained)));
        vec![Finding {
            id: self.id().to_owned(),
            message: format!(
                "hosts pause in {} of {count} steps ({})",
                longest.iter().filter(|p| **p > 0.0).count(),
                match known {
                    Some((cause, _)) => cause.name().to_owned(),
                    None if in_turn => format!(
                        "{} of {} ranks at different times, as in garbage collection",
                        ranks.len(),
                        context.waterfall.ranks.len()
                    ),
                    None => "cause not recorded".to_owned(),
                }
            ),
            cost: Some(cost),
            explained: Explained::Whole,
            subject: Subject::of_ranks(if in_turn { Vec::new() } else { ranks }, [Class::Host]),
            evidence: worst
                .iter()
                .take(LISTED)
                .map(|(pause, rank, step)| {
                    format!("rank {rank}, step {}: {} longer idle than in its median step", context.windows.name(*step), time(*pause))
                })
                .chain(together)
                .chain(known.map(|(cause, share)| format!("{}: {} of the paused time", cause.name(), percent(share))))
                .collect(),
            advice: known.and_then(|(cause, _)| of_cause(context, cause, &worst)).unwrap_or_else(|| {
                let unknown = "record with `with_stack=True` to find the cause; garbage collection, locks and \
                    other processes leave no frame";
                if in_turn { COLLECT } else { unknown }.to_owned()
            }),
            ..Finding::default()
        }]
    }
}

/// Remedy for the cause of these pauses: of long host calls, for the calls in the paused steps.
fn of_cause(context: &Context<'_>, cause: Cause, pauses: &[(f64, u32, usize)]) -> Option<String> {
    if cause != Cause::HostWork || context.from_host() {
        return idle::advice(context, cause);
    }
    let origin = context.windows.span().0;
    let paused: BTreeSet<(u32, usize)> = pauses.iter().map(|pause| (pause.1, pause.2)).collect();
    let steps = &context.windows.steps;
    let fits = |rank: u32, start: i64, _: i64| {
        let step = steps.partition_point(|step| step.end <= origin + start);
        paused.contains(&(rank, step))
    };
    let calls = host_work::host_calls(context, fits);
    calls.advice(context.serves).or_else(|| idle::advice(context, cause))
}

/// Ranks with pauses, the longest pause first.
fn paused(pauses: &[(f64, u32, usize)]) -> Vec<u32> {
    let mut seen = BTreeSet::new();
    pauses.iter().map(|pause| pause.1).filter(|rank| seen.insert(*rank)).collect()
}

/// The cause that explains most of the pauses, with its share of their time (0 to 1); `None` below half. The
/// time of a cause is its excess in the paused steps over the rank's median step.
fn cause(context: &Context<'_>, pauses: &[(f64, u32, usize)]) -> Option<(Cause, f64)> {
    let mut sums = [0i64; Cause::ALL.len()];
    // A large job has thousands of ranks and of pauses.
    let mut steps: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for &(_, rank, step) in pauses {
        steps.entry(rank).or_default().push(step);
    }
    for rank in &context.waterfall.ranks {
        let of = |step: usize| rank.step_causes.get(step).filter(|_| !rank.missing.contains(&step));
        let mut usual = [0i64; Cause::ALL.len()];
        for (at, usual) in usual.iter_mut().enumerate() {
            let mut times: Vec<i64> =
                (0..rank.step_causes.len()).filter_map(of).map(|times| times[at]).collect();
            times.sort_unstable();
            *usual = times.get(times.len().saturating_sub(1) / 2).copied().unwrap_or(0);
        }
        let paused = steps.get(&rank.rank).map_or(&[][..], Vec::as_slice);
        for times in paused.iter().filter_map(|&step| of(step)) {
            for (sum, (time, usual)) in sums.iter_mut().zip(times.iter().zip(usual)) {
                *sum += (time - usual).max(0);
            }
        }
    }
    let all: f64 = pauses.iter().map(|pause| pause.0).sum();
    let known = Cause::ALL.into_iter().filter(|cause| idle::is_informative(*cause));
    let (time, cause) = known
        .map(|cause| (sums[cause as usize], cause))
        .max_by_key(|&(time, cause)| (time, std::cmp::Reverse(cause)))?;
    let share = (time as f64 / all.max(1.0)).min(1.0);
    (share >= 0.5).then_some((cause, share))
}
