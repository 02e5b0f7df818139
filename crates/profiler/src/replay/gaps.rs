//! Unrecorded time between the end of one pass and the start of the next.
//!
//! Responsible for: the latency of messages between stages and the time between passes of a rank, both fitted
//! to recorded times. Also clock offsets between stages, from their messages. Does not fit recorded messages:
//! their times are known.

use super::dependency::{Dependency, lag};
use super::graph::StepGraph;
use crate::passes::{Pass, PassKind, Passes};
use serde::Serialize;
use std::collections::BTreeMap;

/// Fitted times between passes.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Gaps {
    /// Time from the end of a pass to the start of a pass on the next stage that waited for it, in
    /// nanoseconds. 0 if messages were recorded.
    #[serde(rename = "hop_ns")]
    pub hop: i64,
    /// Number of waits used for the fit.
    pub hops_seen: u64,
    /// Time from the end of a pass to the start of the next one of its rank, in nanoseconds: median over
    /// passes that waited for no other pass.
    #[serde(rename = "turn_ns")]
    pub turn: i64,
    #[serde(skip)]
    lags: [i64; lag::COUNT],
}

impl Default for Gaps {
    fn default() -> Self {
        Self { hop: 0, hops_seen: 0, turn: 0, lags: [0; lag::COUNT] }
    }
}

/// Clock offset of a stage to the first one, from messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StageClock {
    /// Stage.
    pub stage: u32,
    /// Offset subtracted from its times, in nanoseconds.
    #[serde(rename = "offset_ns")]
    pub offset: i64,
}

/// Median; the mean of the middle two of an even number, 0 without values.
pub(crate) fn median(values: &mut [i64]) -> i64 {
    let n = values.len();
    if n == 0 {
        return 0;
    }
    let middle = n / 2;
    let (lower, &mut upper, _) = values.select_nth_unstable(middle);
    if n % 2 == 1 {
        return upper;
    }
    let lower = lower.iter().copied().max().unwrap_or(upper);
    lower + (upper - lower) / 2
}

/// Lower median; `None` without values.
pub(crate) fn lower_median(values: &mut [i64]) -> Option<i64> {
    values.sort_unstable();
    values.get(values.len().saturating_sub(1) / 2).copied()
}

impl Gaps {
    /// Fits the gaps to recorded times: the start of a pass minus the end of an awaited pass, if it clearly
    /// waited for that pass only.
    pub(super) fn fit(passes: &[Pass], graphs: &[StepGraph]) -> Self {
        let mut lengths: Vec<i64> =
            passes.iter().filter(|p| p.kind.is_compute()).map(Pass::duration).collect();
        // If two passes end within a twentieth of a pass, it is unknown which one was awaited.
        let margin = median(&mut lengths) / 20;
        // By boundary (lower stage) and whether it is a gradient; by class of transition.
        let mut hops: BTreeMap<(u32, bool), Vec<i64>> = BTreeMap::new();
        let mut turns: Vec<Vec<i64>> = vec![Vec::new(); lag::COUNT];
        let recorded = graphs.iter().any(|g| (0..g.len()).any(|at| passes[g.first + at].kind.is_message()));
        for graph in graphs {
            for at in 0..graph.len() {
                let pass = &passes[graph.first + at];
                if !pass.kind.is_compute() {
                    continue;
                }
                let end = |d: &Dependency| passes[graph.first + d.from as usize].end;
                let Some(binding) = graph.dependencies(at).iter().max_by_key(|d| end(d)) else { continue };
                let clear = graph
                    .dependencies(at)
                    .iter()
                    .all(|d| d.from == binding.from || end(d) + margin < end(binding));
                let gap = pass.start - end(binding);
                if !clear {
                    continue;
                }
                if binding.lag == lag::HOP {
                    let other = passes[graph.first + binding.from as usize].stage;
                    let key = (other.min(pass.stage), pass.kind != PassKind::Forward);
                    hops.entry(key).or_default().push(gap);
                } else if binding.lag >= lag::TURN {
                    turns[binding.lag as usize].push(gap);
                }
            }
        }
        let mut gaps = Self { hops_seen: hops.values().map(|h| h.len() as u64).sum(), ..Self::default() };
        if recorded {
            // Messages have durations of their own, and any other time is each pass's own delay.
            gaps.hops_seen = 0;
            return gaps;
        }
        // A clock offset lengthens one direction and shortens the other by the same time: the mean of both is
        // free of it.
        let mut boundaries: BTreeMap<u32, Vec<i64>> = BTreeMap::new();
        for ((boundary, _), mut seen) in hops {
            boundaries.entry(boundary).or_default().push(median(&mut seen));
        }
        let mut means: Vec<i64> =
            boundaries.values().map(|both| both.iter().sum::<i64>() / both.len() as i64).collect();
        gaps.hop = median(&mut means).max(0);
        let mut all: Vec<i64> = turns.iter().flatten().copied().collect();
        gaps.turn = median(&mut all).max(0);
        gaps.lags[lag::HOP as usize] = gaps.hop;
        for (class, mut seen) in turns.into_iter().enumerate().skip(lag::TURN as usize) {
            // The median of a few samples does not represent the class.
            gaps.lags[class] = if seen.len() < 5 { gaps.turn } else { median(&mut seen).max(0) };
        }
        gaps
    }

    /// Gaps by class, in nanoseconds.
    pub(super) fn lags(&self) -> &[i64; lag::COUNT] {
        &self.lags
    }
}

/// Corrects the clocks of stages if messages would arrive before they were sent: the smallest gaps of both
/// directions are made equal at every boundary. Returns the offset removed from each stage; empty if no clock
/// is wrong.
///
/// offset of the upper stage = (smallest forward gap - smallest backward gap) / 2, the median over steps
pub fn align_stages(passes: &mut Passes) -> Vec<StageClock> {
    // By step, direction, replica, shard, stage, chunk and micro-batch.
    type Spot = (u32, bool, u32, u32, u32, u32, u32);
    let mut ends: BTreeMap<Spot, (i64, i64)> = BTreeMap::new();
    let stages = passes.shape.widened(&passes.passes).pipeline_parallel;
    for p in &passes.passes {
        let (Some(batch), PassKind::Forward | PassKind::Backward | PassKind::BackwardInput) =
            (p.micro_batch, p.kind)
        else {
            continue;
        };
        let key = (p.step, p.kind != PassKind::Forward, p.replica, p.shard, p.chunk, batch, p.stage);
        ends.insert(key, (p.start, p.end));
    }
    // By step and lower stage: smallest gaps forward and backward.
    let mut smallest: BTreeMap<(u32, u32), (i64, i64)> = BTreeMap::new();
    for (&(step, back, replica, shard, chunk, batch, stage), &(start, end)) in &ends {
        let Some(&(next_start, next_end)) =
            stage.checked_add(1).and_then(|s| ends.get(&(step, back, replica, shard, chunk, batch, s)))
        else {
            continue;
        };
        let both = smallest.entry((stage, step)).or_insert((i64::MAX, i64::MAX));
        if back {
            both.1 = both.1.min(start - next_end);
        } else {
            both.0 = both.0.min(next_start - end);
        }
    }
    let mut offsets = vec![0_i64];
    let mut wrong = false;
    for stage in 1..stages.min(1 << 16) {
        let of_boundary = smallest.range((stage - 1, 0)..(stage, 0));
        let seen: Vec<(i64, i64)> =
            of_boundary.map(|(_, &both)| both).filter(|b| b.0 < i64::MAX && b.1 < i64::MAX).collect();
        let mut shifts: Vec<i64> = seen.iter().map(|(f, b)| (f - b) / 2).collect();
        let mut least: Vec<i64> = seen.iter().map(|(f, b)| *f.min(b)).collect();
        // A clock is wrong if messages are early in most steps, by more than the rounding of recorders.
        wrong |= median(&mut least) < -1_000_000;
        let before = offsets.last().copied().unwrap_or(0);
        offsets.push(before + median(&mut shifts));
    }
    if !wrong {
        return Vec::new();
    }
    for pass in &mut passes.passes {
        let offset = offsets.get(pass.stage as usize).copied().unwrap_or(0);
        pass.start -= offset;
        pass.end -= offset;
    }
    passes.sort();
    offsets.iter().zip(0..).map(|(&offset, stage)| StageClock { stage, offset }).collect()
}
