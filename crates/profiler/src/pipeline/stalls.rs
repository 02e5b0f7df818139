//! Stalls: passes far longer than normal, with their cost for the step.
//!
//! Responsible for: slow passes relative to each rank's own median, so that a slow stage is not a stall.
//! Passes with one cause are joined (`causes`), so that each cause counts once. Costs are computed by replay.
//! Excludes excesses below half a percent of a step: these are jitter.

mod causes;
mod found;

use super::{Certainty, StepRow};
use crate::passes::{Pass, PassKind};
use crate::replay::{Replay, Runner};
pub(super) use found::Found;
use found::excess;
use serde::Serialize;

/// Maximum number of listed stalls; the rest is counted.
const MOST: usize = 1000;

/// A pass far longer than normal, on one rank or on several ranks together. Times are those of the rank with
/// the longest pass.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Stall {
    /// Step.
    pub step: u32,
    /// Stage.
    pub stage: u32,
    /// Rank.
    pub rank: u32,
    /// Kind of the pass.
    pub kind: PassKind,
    /// Micro-batch.
    pub micro_batch: Option<u32>,
    /// Virtual stage of its rank.
    pub chunk: u32,
    /// Start in nanoseconds since the step began.
    #[serde(rename = "start_ns")]
    pub start: i64,
    /// Duration in nanoseconds; communication without waits.
    #[serde(rename = "duration_ns")]
    pub duration: i64,
    /// Normal duration.
    #[serde(rename = "normal_ns")]
    pub normal: i64,
    /// Excess over the normal duration.
    #[serde(rename = "excess_ns")]
    pub excess: i64,
    /// Cost for the step in nanoseconds, by replay with all of its passes at normal duration; 0 if slack
    /// absorbed it. An upper bound if ranks are missing.
    #[serde(rename = "cost_ns")]
    pub cost: i64,
    /// Certainty of the cost.
    pub certainty: Certainty,
    /// Affected ranks in order: all ranks of the same communication, or with the same slow pass at the same
    /// time.
    pub ranks: Vec<u32>,
    /// Number of affected passes.
    pub passes: usize,
}

/// Tests whether a pass is far longer than normal: by six robust deviations, by half of the normal duration
/// (a communication: by all of it), and by half a percent of the step.
pub(super) fn is_stall(replay: &Replay<'_>, pass: &Pass, duration: i64, step: i64) -> bool {
    let normal = replay.normal().of_pass(pass);
    // 1.4826 median absolute deviations equal a standard deviation of normal noise.
    let noise = (normal.deviation as f64 * 1.4826 * 6.0) as i64;
    let relative = if pass.kind.is_communication() { normal.median } else { normal.median / 2 };
    duration - normal.median > noise.max(relative).max(step / 200)
}

/// All stalls, in order of steps and of the ranks of their longest passes.
pub(super) fn find(replay: &Replay<'_>) -> Vec<Found> {
    let mut found = Vec::new();
    let mut first = 0;
    for at_step in 0..replay.len() {
        let (of_step, _, measured) = replay.step_passes(at_step);
        let usual = measured.min(replay.median_step());
        let slow: Vec<usize> = (first..first + of_step.len())
            .filter(|&at| is_stall(replay, &replay.passes()[at], replay.duration(at), usual))
            .collect();
        found.extend(causes::of_step(replay, at_step, &slow));
        first += of_step.len();
    }
    found
}

/// Joint cost of the stalls of each step, in nanoseconds; an upper bound with `bounds`.
pub(super) fn cost_by_step(
    replay: &Replay<'_>,
    found: &[Found],
    bounds: bool,
    runner: &mut Runner,
) -> Vec<i64> {
    let mut costs = vec![0; replay.len()];
    for of_step in found.chunk_by(|a, b| a.at_step == b.at_step) {
        let at = of_step[0].at_step;
        if bounds {
            costs[at] = of_step.iter().map(|cause| at_most(replay, cause)).fold(0, i64::saturating_add);
            continue;
        }
        let mut passes: Vec<usize> = of_step.iter().flat_map(|f| f.passes.iter().copied()).collect();
        passes.sort_unstable();
        costs[at] = replay.cost(at, |pass| passes.binary_search(&pass).is_ok(), runner);
    }
    costs
}

/// Upper bound on the cost of a cause in nanoseconds, regardless of unrecorded ranks. No path through a step
/// contains two passes that ran at the same time. For overlapping passes, the bound is the lesser of their
/// total excess and the time from the first start to the last end.
fn at_most(replay: &Replay<'_>, cause: &Found) -> i64 {
    let ran = |at: usize| (replay.passes()[at].end - replay.duration(at), replay.passes()[at].end);
    let mut passes: Vec<(i64, i64, i64)> =
        cause.passes.iter().map(|&at| (ran(at).0, ran(at).1, excess(replay, at))).collect();
    passes.sort_unstable();
    let mut most = 0_i64;
    // Start, end and excess of overlapping passes, in nanoseconds.
    let mut open: Option<(i64, i64, i64)> = None;
    for (from, until, excess) in passes {
        open = match open {
            Some(last) if from < last.1 => Some((last.0, last.1.max(until), last.2.saturating_add(excess))),
            before => {
                most = most.saturating_add(before.map_or(0, |b| b.2.min(b.1 - b.0)));
                Some((from, until, excess))
            }
        };
    }
    most.saturating_add(open.map_or(0, |last| last.2.min(last.1 - last.0)))
}

/// The stalls with their own costs, the costliest first, and their total number. With `bounds`, costs are
/// upper bounds.
pub(super) fn list(
    replay: &Replay<'_>,
    found: &[Found],
    steps: &[StepRow],
    bounds: bool,
    runner: &mut Runner,
) -> (Vec<Stall>, usize) {
    let mut longest: Vec<&Found> = found.iter().collect();
    longest.sort_by_key(|f| std::cmp::Reverse(excess(replay, f.pass)));
    longest.truncate(MOST);
    let mut list: Vec<Stall> = longest
        .into_iter()
        .map(|f| {
            let pass = &replay.passes()[f.pass];
            let (_, origin, _) = replay.step_passes(f.at_step);
            let cost = match steps.get(f.at_step) {
                _ if bounds => at_most(replay, f),
                // If all stalls together cost a step nothing, neither does one of them.
                Some(step) if step.stall_cost == 0 => 0,
                _ => replay.cost(f.at_step, |p| f.passes.binary_search(&p).is_ok(), runner),
            };
            let mut ranks: Vec<u32> = f.passes.iter().map(|&at| replay.passes()[at].rank).collect();
            ranks.sort_unstable();
            ranks.dedup();
            let excess = excess(replay, f.pass);
            Stall {
                step: pass.step,
                stage: pass.stage,
                rank: pass.rank,
                kind: pass.kind,
                micro_batch: pass.micro_batch,
                chunk: pass.chunk,
                start: pass.start - origin,
                duration: replay.duration(f.pass),
                normal: replay.duration(f.pass) - excess,
                excess,
                cost,
                certainty: Certainty::bounded(bounds),
                ranks,
                passes: f.passes.len(),
            }
        })
        .collect();
    list.sort_by_key(|s| (std::cmp::Reverse((s.cost, s.excess)), s.step, s.rank, s.start));
    (list, found.len())
}
