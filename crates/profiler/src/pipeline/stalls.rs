//! Stalls: passes that took far longer than the same pass normally does, and what each cost its step.
//!
//! Responsible for: finding them against each rank's own median, so that a slow stage is no stall, and pricing them by replay. Refuses small ones: what is less
//! than half a percent of a step is jitter.

use super::StepRow;
use crate::passes::{Pass, PassKind};
use crate::replay::{Replay, Runner};
use serde::Serialize;

/// No more stalls than this are listed; the rest is counted.
const MOST: usize = 1000;

/// A pass that took far longer than normal.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Stall {
    /// In which step.
    pub step: u32,
    /// On which stage.
    pub stage: u32,
    /// On which rank.
    pub rank: u32,
    /// What it did.
    pub kind: PassKind,
    /// For which micro batch.
    pub micro_batch: Option<u32>,
    /// On which virtual stage of its rank.
    pub chunk: u32,
    /// When it began, in nanoseconds since the step did.
    pub start: i64,
    /// How long it took, in nanoseconds; a communication without waiting for others.
    pub duration: i64,
    /// What is normal for it.
    pub normal: i64,
    /// How much longer than normal.
    pub excess: i64,
    /// What it cost the step, by replay: 0 when slack absorbed it.
    pub cost: i64,
}

/// A stall by its places: of its step and of its pass.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found {
    pub at_step: usize,
    pub pass: usize,
}

/// Whether a pass took far longer than normal: by six robust deviations, by half of what is normal (a communication: by all of it), and by half a percent of
/// the step.
pub(super) fn is_stall(replay: &Replay<'_>, pass: &Pass, duration: i64, step: i64) -> bool {
    let normal = replay.normal().of_pass(pass);
    // 1.4826 median absolute deviations are a standard deviation of normal noise.
    let noise = (normal.deviation as f64 * 1.4826 * 6.0) as i64;
    let relative = if pass.kind.is_communication() { normal.median } else { normal.median / 2 };
    duration - normal.median > noise.max(relative).max(step / 200)
}

/// All stalls, in order of steps and ranks.
pub(super) fn find(replay: &Replay<'_>) -> Vec<Found> {
    let mut found = Vec::new();
    let mut first = 0;
    for at_step in 0..replay.len() {
        let (of_step, _, measured) = replay.step_passes(at_step);
        let stalls = of_step.iter().enumerate().filter(|(n, pass)| {
            is_stall(replay, pass, replay.duration(first + n), measured.min(replay.median_step()))
        });
        found.extend(stalls.map(|(n, _)| Found { at_step, pass: first + n }));
        first += of_step.len();
    }
    found
}

/// What the stalls of each step cost together.
pub(super) fn cost_by_step(replay: &Replay<'_>, found: &[Found], runner: &mut Runner) -> Vec<i64> {
    let mut costs = vec![0; replay.len()];
    for of_step in found.chunk_by(|a, b| a.at_step == b.at_step) {
        let at = of_step[0].at_step;
        let chosen = |pass: usize| of_step.binary_search_by_key(&pass, |f| f.pass).is_ok();
        costs[at] = replay.cost(at, chosen, runner);
    }
    costs
}

/// The stalls with what each cost alone, the dearest first; and how many there are.
pub(super) fn list(
    replay: &Replay<'_>,
    found: &[Found],
    steps: &[StepRow],
    runner: &mut Runner,
) -> (Vec<Stall>, usize) {
    let excess = |f: &Found| {
        let pass = &replay.passes()[f.pass];
        replay.duration(f.pass) - replay.normal().of_pass(pass).median
    };
    let mut longest = found.to_vec();
    longest.sort_by_key(|f| std::cmp::Reverse(excess(f)));
    longest.truncate(MOST);
    let mut list: Vec<Stall> = longest
        .iter()
        .map(|f| {
            let pass = &replay.passes()[f.pass];
            let (_, origin, _) = replay.step_passes(f.at_step);
            // A step that lost nothing to all of its stalls lost nothing to one of them.
            let cost = match steps.get(f.at_step) {
                Some(step) if step.stall_cost == 0 => 0,
                _ => replay.cost(f.at_step, |p| p == f.pass, runner),
            };
            Stall {
                step: pass.step,
                stage: pass.stage,
                rank: pass.rank,
                kind: pass.kind,
                micro_batch: pass.micro_batch,
                chunk: pass.chunk,
                start: pass.start - origin,
                duration: replay.duration(f.pass),
                normal: replay.duration(f.pass) - excess(f),
                excess: excess(f),
                cost,
            }
        })
        .collect();
    list.sort_by_key(|s| (std::cmp::Reverse((s.cost, s.excess)), s.step, s.rank, s.start));
    (list, found.len())
}
