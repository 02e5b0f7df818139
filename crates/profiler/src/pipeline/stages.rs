//! The stages of a pipeline report.
//!
//! Responsible for: pass times, bubbles and memory of every stage over its ranks and steps.

use crate::passes::{PassKind, Passes};
use crate::replay::Replay;
use serde::Serialize;
use std::collections::BTreeMap;

/// A row of the table of stages, over its ranks and steps.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StageRow {
    /// Stage.
    pub stage: u32,
    /// Number of recorded ranks.
    pub ranks: usize,
    /// Forward time of a micro-batch through all chunks of the stage, in nanoseconds: sum of each chunk's
    /// median.
    #[serde(rename = "forward_ns")]
    pub forward: i64,
    /// Backward time of a micro-batch through all chunks of the stage, including its recompute and weight
    /// gradients, in nanoseconds.
    #[serde(rename = "backward_ns")]
    pub backward: i64,
    /// Share of the ranks' own recorded steps without a pass (0 to 1), without warm-up. A rank's own step
    /// may be shorter than that of the job.
    pub bubble: f64,
    /// Share of the job's steps without a pass (0 to 1), without warm-up: comparable with the ideal bubble.
    pub bubble_of_step: f64,
    /// The same on the rank with the smallest one (0 to 1).
    pub least_of_step: f64,
    /// The same on the rank with the largest one (0 to 1).
    pub most_of_step: f64,
    /// Median of the share over steps and ranks (0 to 1).
    pub bubble_median: f64,
    /// Share on the rank with the smallest one (0 to 1).
    pub least: f64,
    /// Share on the rank with the largest one (0 to 1).
    pub most: f64,
    /// Largest memory of its ranks in bytes, if recorded.
    pub memory_bytes: Option<u64>,
}

fn median(values: impl Iterator<Item = i64>) -> i64 {
    crate::replay::median(&mut values.collect::<Vec<_>>())
}

/// Rows of the table of stages.
pub(super) fn rows(replay: &Replay<'_>, passes: &Passes) -> Vec<StageRow> {
    let mut busy: BTreeMap<(u32, u32, u32), i64> = BTreeMap::new();
    // By chunk and kind: a single median over chunks would hide a chunk with more work.
    let mut lengths: BTreeMap<(u32, bool, u32, PassKind), Vec<i64>> = BTreeMap::new();
    for p in passes.passes.iter().filter(|p| p.kind.is_compute()) {
        *busy.entry((p.stage, p.rank, p.step)).or_default() += p.duration();
        let back = p.kind != PassKind::Forward;
        lengths.entry((p.stage, back, p.chunk, p.kind)).or_default().push(p.duration());
    }
    // Recorded step time of a rank, otherwise the common step time.
    let mut own: BTreeMap<(u32, u32), i64> =
        passes.steps.iter().map(|s| ((s.step, s.rank), s.duration)).collect();
    let mut common: BTreeMap<u32, i64> = BTreeMap::new();
    for at in 0..replay.len() {
        let (of_step, _, measured) = replay.step_passes(at);
        for p in of_step {
            common.insert(p.step, measured);
            let time = own.entry((p.step, p.rank)).or_insert(measured);
            // A host that runs ahead of its device has steps that are shorter than the passes of the device.
            if busy.get(&(p.stage, p.rank, p.step)).is_some_and(|busy| busy > time) {
                *time = measured;
            }
        }
    }
    let start = replay.settled().first().copied().unwrap_or(0);
    let first = replay.steps().nth(start).unwrap_or(0);
    // By stage and rank: busy time and duration of its steps, and of the job's.
    let mut times: BTreeMap<u32, BTreeMap<u32, Vec<(i64, i64)>>> = BTreeMap::new();
    let mut of_job: BTreeMap<(u32, u32), Vec<(i64, i64)>> = BTreeMap::new();
    for (&(stage, rank, step), &busy) in busy.iter().filter(|((_, _, step), _)| *step >= first) {
        let total = own.get(&(step, rank)).copied().unwrap_or(0).max(1);
        times.entry(stage).or_default().entry(rank).or_default().push((busy, total));
        let total = common.get(&step).copied().unwrap_or(total).max(1);
        of_job.entry((stage, rank)).or_default().push((busy, total));
    }
    let share = |times: &[(i64, i64)]| {
        let busy: i128 = times.iter().map(|t| i128::from(t.0)).sum();
        let total: i128 = times.iter().map(|t| i128::from(t.1)).sum();
        1.0 - busy as f64 / total.max(1) as f64
    };
    times
        .into_iter()
        .map(|(stage, ranks)| {
            let all: Vec<(i64, i64)> = ranks.values().flatten().copied().collect();
            let each: Vec<f64> = ranks.values().map(|v| share(v)).collect();
            let of_job: Vec<&Vec<(i64, i64)>> =
                of_job.range((stage, 0)..=(stage, u32::MAX)).map(|rank| rank.1).collect();
            let each_of_job: Vec<f64> = of_job.iter().map(|v| share(v)).collect();
            let all_of_job: Vec<(i64, i64)> = of_job.into_iter().flatten().copied().collect();
            let of = |back: bool| -> i64 {
                let own = lengths.iter().filter(|((at, b, ..), _)| (*at, *b) == (stage, back));
                own.map(|(_, times)| median(times.iter().copied())).sum()
            };
            let memory = passes.steps.iter().filter(|s| ranks.contains_key(&s.rank));
            let single = |t: &(i64, i64)| ((1.0 - t.0 as f64 / t.1 as f64) * 1e9) as i64;
            StageRow {
                stage,
                ranks: ranks.len(),
                forward: of(false),
                backward: of(true),
                bubble: share(&all),
                bubble_of_step: share(&all_of_job),
                least_of_step: each_of_job.iter().copied().fold(1.0, f64::min),
                most_of_step: each_of_job.iter().copied().fold(0.0, f64::max),
                bubble_median: median(all.iter().map(single)) as f64 / 1e9,
                least: each.iter().copied().fold(1.0, f64::min),
                most: each.iter().copied().fold(0.0, f64::max),
                memory_bytes: memory.filter_map(|s| s.memory_bytes).max(),
            }
        })
        .collect()
}
