//! Verdicts of a pipeline report as sentences with figures, most expensive first.
//!
//! Responsible for: stalls, a slow worker, a slow stage, unequal micro-batches and messages that cost a step
//! more than the variation between steps. Without such a cost, a verdict reports that. Excludes stragglers
//! below the noise, and the effect of unrecorded stages.

use super::decomposition::median;
use super::judgement::Verdict;
use super::units::{percent, time};
use super::{Certainty, PipelinePage, Stall, StragglerVerdict};
use crate::attribution::MOST_OFF;
use crate::replay::Share;
use railwright_spec::human;
use std::collections::BTreeSet;

/// Reasons for a last stage that computes longer.
pub(super) const LAST_STAGE: &str = " (the last stage: output layer and loss, or more layers)";

/// Median absolute deviation of steps from the median, in nanoseconds; meaningless for a few steps.
fn noise(page: &PipelinePage) -> i64 {
    median(page.steps.iter().map(|s| s.excess.abs()))
}

/// Verdicts of a report.
pub(super) fn verdicts(page: &PipelinePage) -> Vec<Verdict> {
    let steps = page.steps.len().max(1) as i64;
    // A verdict must cost more than 1% of a step, the variation between steps and the replay error.
    let noise = if steps >= 5 { noise(page) } else { 0 };
    // A bound is not a difference of replays.
    let off = if page.bounds_only.is_some() { 0 } else { page.replay_error };
    if let Some(inconclusive) = inconclusive(page) {
        let named = page.judgement.iter().filter(|judged| !judged.culprits.is_empty());
        return std::iter::once(inconclusive).chain(named.flat_map(|judged| judged.verdicts(page))).collect();
    }
    let threshold = (page.median_step / 100).max(noise).max(off);
    let is_notable = |v: &Verdict| v.cost > threshold || v.certainty == Certainty::Unknown;
    // A bound on a stage needs no replay of the whole job.
    let judgement =
        page.judgement.as_ref().filter(|judged| page.bounds_only.is_none() || !judged.culprits.is_empty());
    let mut found: Vec<Verdict> = match judgement {
        Some(judgement) => judgement.verdicts(page),
        None => [worker(page), stage(page)].into_iter().flatten().filter(is_notable).collect(),
    };
    let has_lengths = judgement.is_some_and(StragglerVerdict::names_work);
    let lengths = lengths(page).filter(|_| !has_lengths);
    found.extend([lengths, messages(page)].into_iter().flatten().filter(is_notable));
    // Stalls are rated by their cost in the steps that they affect.
    found.extend(stalls(page));
    found.sort_by_key(|v| std::cmp::Reverse(v.cost));
    let is_open = found.iter().any(|v| v.id == "pipeline-inconclusive");
    if found.iter().all(|v| v.cost == 0) && page.bounds_only.is_none() && !is_open {
        let message = format!("no straggler: no cost per step above {}", time(threshold));
        found.insert(
            0,
            Verdict { id: "pipeline-no-straggler", message, cost: 0, certainty: Certainty::Replayed },
        );
    }
    found
}

/// The only verdict if the replay does not reproduce the measured steps: then its differences are not costs.
fn inconclusive(page: &PipelinePage) -> Option<Verdict> {
    page.is_inconclusive().then(|| {
        let off = page.replay_error as f64 / (page.median_step as f64).max(1.0);
        let message = format!(
            "inconclusive: the median replay error is {} of a step (limit: {:.0}%); `railwright stragglers` names \
             ranks, stages and links",
            percent(off),
            MOST_OFF * 100.0
        );
        Verdict { id: "pipeline-inconclusive", message, cost: 0, certainty: Certainty::Unknown }
    })
}

fn stalls(page: &PipelinePage) -> Option<Verdict> {
    let counted = |step: u32| page.start.is_none_or(|start| step > start);
    let stalls: Vec<_> = page.stalls.iter().filter(|s| counted(s.step)).collect();
    let steps: Vec<_> = page.steps.iter().filter(|s| counted(s.step) && s.stalls > 0).collect();
    let number: usize = steps.iter().map(|s| s.stalls).sum();
    if number == 0 {
        return None;
    }
    let total: i64 = steps.iter().map(|s| s.stall_cost).sum();
    let count =
        |n: usize, word: &str| format!("{} {word}{}", human::whole(n as u64), if n == 1 { "" } else { "s" });
    // The table also lists stalls of warm-up, which are excluded from the sum.
    let first: Vec<_> = page.steps.iter().filter(|s| !counted(s.step) && s.stalls > 0).collect();
    let excluded = first.last().map_or_else(String::new, |last| {
        let stalls = count(first.iter().map(|s| s.stalls).sum(), "stall");
        match first.len() {
            1 => format!(" (without {stalls} in step {}, the first)", last.step),
            _ => format!(" (without {stalls} in the first steps up to {})", last.step),
        }
    });
    if let Some(reason) = &page.bounds_only {
        let longest = stalls.iter().max_by_key(|s| s.excess).map_or_else(String::new, |s| {
            let name = s.kind.name();
            format!(
                "; the longest is a {name} on {} in step {}: {} above its median",
                place(s),
                s.step,
                time(s.excess)
            )
        });
        let message = format!(
            "{} in {}{longest}{excluded}; their cost is unknown: {reason}",
            count(number, "stall"),
            count(steps.len(), "step")
        );
        return Some(Verdict { id: "pipeline-stalls", message, cost: 0, certainty: Certainty::Unknown });
    }
    let free = stalls.iter().filter(|s| s.cost == 0).count();
    let hit = steps.len();
    let costliest = stalls.first().map_or_else(String::new, |s| {
        let batch = s.micro_batch.map_or_else(String::new, |m| format!(" of micro-batch {m}"));
        format!(
            ". Most expensive: {}{batch} on {} in step {}, {} above its median, cost {}",
            s.kind.name(),
            place(s),
            s.step,
            time(s.excess),
            time(s.cost)
        )
    });
    let costliest = format!("{costliest}{}", in_turn(&stalls).unwrap_or_default());
    let message = if total == 0 {
        format!(
            "{} in {} cost nothing: slack absorbed them{excluded}",
            count(number, "stall"),
            count(hit, "step")
        )
    } else {
        let of = if free == 0 {
            String::new()
        } else {
            format!("{} of ", human::whole(number.saturating_sub(free) as u64))
        };
        format!(
            "{of}{} cost {} in total in {}{excluded}{costliest}",
            count(number, "stall"),
            time(total),
            count(hit, "step")
        )
    };
    let cost = total / page.steps.len().max(1) as i64;
    Some(Verdict { id: "pipeline-stalls", message, cost, certainty: Certainty::Replayed })
}

/// Minimum number of stalls, on as many ranks and in as many steps, that suggest one cause on all hosts.
const VISITS: usize = 3;

/// Minimum ratio of the shortest to the longest excess of stalls with one cause.
const ALIKE: f64 = 0.5;

/// Remark on stalls of similar length that visit ranks in different steps: hosts pause in turn.
fn in_turn(stalls: &[&Stall]) -> Option<String> {
    let ranks: BTreeSet<u32> = stalls.iter().map(|stall| stall.rank).collect();
    let steps: BTreeSet<u32> = stalls.iter().map(|stall| stall.step).collect();
    let least = stalls.iter().map(|stall| stall.excess).min()?;
    let most = stalls.iter().map(|stall| stall.excess).max()?;
    let is_one_cause = ranks.len() >= VISITS
        && ranks.len().min(steps.len()) == stalls.len()
        && least as f64 >= ALIKE * most as f64;
    let ranks: Vec<u32> = ranks.into_iter().collect();
    is_one_cause.then(|| {
        format!(
            ". They occur on {} in different steps for {} to {}: hosts that pause in turn, as for garbage collection (not recorded)",
            human::ranks(&ranks),
            time(least),
            time(most)
        )
    })
}

/// Place of a stall: its stage, or its ranks if it affects several.
fn place(stall: &Stall) -> String {
    match stall.ranks.len() {
        0 | 1 => format!("stage {}", stall.stage),
        _ => format!("ranks {}", human::ranges(&stall.ranks)),
    }
}

fn worker(page: &PipelinePage) -> Option<Verdict> {
    let worst = &page.what_if.worst_ranks;
    // If a whole stage is slow, the stage is the cause. A single replica has none to compare with.
    if page.what_if.replicas.is_empty() || worst.recovered < 0.5 {
        return None;
    }
    // Cost of stalls is reported as stalls.
    let of_them = page.stalls.iter().filter(|s| worst.subset.ranks.contains(&s.rank));
    if of_them.map(|s| s.cost).sum::<i64>() / page.steps.len().max(1) as i64 > worst.saved / 2 {
        return None;
    }
    let ranks: Vec<String> = worst.subset.ranks.iter().map(u32::to_string).collect();
    let one = ranks.len() == 1;
    let (s, is) = if one { ("", "is") } else { ("s", "are") };
    let who = format!("rank{s} {} {is} slow", ranks.join(", "));
    let (message, cost, certainty) = if let Some(reason) = &page.bounds_only {
        let text = format!("{who}: at most {} per step ({reason})", time(worst.at_most));
        (text, worst.at_most, Certainty::AtMost)
    } else {
        let text = format!(
            "{who}: {} per step, {} of the cost of all stragglers",
            time(worst.saved),
            percent(worst.recovered.min(1.0))
        );
        (text, worst.saved, Certainty::Replayed)
    };
    Some(Verdict { id: "pipeline-slow-worker", message, cost, certainty })
}

fn stage(page: &PipelinePage) -> Option<Verdict> {
    let slowest = page.stages.iter().max_by_key(|s| s.forward + s.backward)?;
    let all: i64 = page.stages.iter().map(|s| s.forward + s.backward).sum();
    let mean = all / page.stages.len().max(1) as i64;
    let own = slowest.forward + slowest.backward;
    if page.typical.imbalance <= 0 || own <= mean {
        return None;
    }
    // Slow ranks and links make stages unequal, too: the stage is the cause only of the time that its own
    // replay recovers.
    let imbalance = page.typical.imbalance;
    let recovers = |share: &Share| 2 * share.saved >= imbalance;
    if page.bounds_only.is_none() {
        let share = page.what_if.stages.iter().find(|share| share.subset.stages == [slowest.stage]);
        if !share.is_some_and(recovers) {
            return if worker(page).is_some() { None } else { Some(undivided(imbalance)) };
        }
    }
    let replica =
        page.what_if.replicas.iter().find(|share| recovers(share) && share.subset.replicas.len() == 1);
    let of_replica =
        replica.map_or_else(String::new, |share| format!(" of replica {}", share.subset.replicas[0]));
    let last = page.stages.last().is_some_and(|s| s.stage == slowest.stage);
    // Kernels of the output layer would be on every replica.
    let is_usual = last && replica.is_none();
    let why = if is_usual { LAST_STAGE } else { "" };
    let more = percent(own as f64 / (mean as f64).max(1.0) - 1.0);
    let of_step = |cost: i64| percent(cost as f64 / (page.median_step as f64).max(1.0));
    let (message, cost, certainty) = if let Some(reason) = &page.bounds_only {
        // No path through a step contains a pass of the stage twice, regardless of the other stages: at most
        // = micro-batches (own - mean).
        let cost = (own - mean).saturating_mul(i64::from(page.shape.micro_batches.max(1)));
        let text = format!(
            "stage {} computes {more} longer than the mean of the recorded stages{why}: this costs at most {} per step, {} of it ({reason})",
            slowest.stage,
            time(cost),
            of_step(cost)
        );
        (text, cost, Certainty::AtMost)
    } else {
        let cost = page.typical.imbalance;
        let text = format!(
            "stage {}{of_replica} computes {more} longer than the mean stage{why}: imbalance costs {} per step, {} of it",
            slowest.stage,
            time(cost),
            of_step(cost)
        );
        (text, cost, Certainty::Replayed)
    };
    let id = if is_usual { "pipeline-last-stage" } else { "pipeline-slow-stage" };
    Some(Verdict { id, message, cost, certainty })
}

/// Passes differ, and no single stage causes half of the cost.
fn undivided(cost: i64) -> Verdict {
    let message = format!(
        "ranks differ in pass times: {} per step, and no single stage causes half of that cost; `railwright stragglers` separates \
         ranks and links",
        time(cost)
    );
    Verdict { id: "pipeline-imbalance", message, cost, certainty: Certainty::Replayed }
}

fn lengths(page: &PipelinePage) -> Option<Verdict> {
    let correlation = page.what_if.micro_batch_correlation?;
    if correlation < 0.8 || page.what_if.micro_batch_spread < 0.03 {
        return None;
    }
    let message = format!(
        "micro-batches differ in work: forward passes vary by {}, backward passes correlate (r = \
         {correlation:.2}), as with sequences of different lengths; {}",
        percent(page.what_if.micro_batch_spread),
        match &page.bounds_only {
            None => format!("{} of a step", time(page.typical.jitter)),
            Some(reason) => format!("the cost is unknown: {reason}"),
        }
    );
    let (cost, certainty) = match page.bounds_only {
        None => (page.typical.jitter, Certainty::Replayed),
        Some(_) => (0, Certainty::Unknown),
    };
    Some(Verdict { id: "pipeline-sequence-lengths", message, cost, certainty })
}

fn messages(page: &PipelinePage) -> Option<Verdict> {
    // Compute of an unrecorded stage would appear as messages.
    if page.bounds_only.is_some() {
        return None;
    }
    let cost = page.typical.messages;
    let share = cost as f64 / (page.median_step as f64).max(1.0);
    let hop = if page.gaps.hop > 0 {
        format!(" ({} from stage to stage)", time(page.gaps.hop))
    } else {
        String::new()
    };
    let message =
        format!("messages between stages{hop} cost {} per step, {} of it", time(cost), percent(share));
    let certainty = Certainty::Replayed;
    (share > 0.02).then_some(Verdict { id: "pipeline-messages", message, cost, certainty })
}
