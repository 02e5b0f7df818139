//! What-if analysis: the job with some passes ideal and the rest as recorded, and the reverse.
//!
//! Responsible for: slowdown by stragglers, and shares of kinds, stages, replicas, ranks and steps in it.
//! Excludes launch delays: both sides of every comparison are without them.
//!
//! S = T / T_ideal; wasted = 1 - 1/S; recovered(x) = (T - T(x ideal)) / (T - T_ideal); alone(x) = T(rest
//! ideal) / T_ideal, all T means over steps.

use super::{Delays, Ideal, Replay, Runner, Subset};
use crate::certainty::Certainty;
use crate::passes::{Pass, PassKind};
use serde::Serialize;
use std::collections::BTreeMap;

/// Share of a subset of passes in a slowdown.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Share {
    /// The passes.
    pub subset: Subset,
    /// Saving per step if they were ideal, in nanoseconds.
    #[serde(rename = "saved_ns")]
    pub saved: i64,
    /// Share of the total possible saving.
    pub recovered: f64,
    /// Slowdown with only these passes as recorded and all others ideal.
    pub alone: f64,
    /// Upper bound on the saving in nanoseconds per step: excess of these passes over the ideal, summed over
    /// a step. No path through a step contains a pass twice, so the bound is valid without unrecorded
    /// passes, too.
    #[serde(rename = "at_most_ns")]
    pub at_most: i64,
    /// Certainty of the reported saving: `at_most` applies if some ranks were not recorded.
    pub certainty: Certainty,
}

/// Slowdown of a job by stragglers. Times are means over steps, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Slowdown {
    /// As recorded.
    #[serde(rename = "measured_ns")]
    pub measured: i64,
    /// By replay without delays.
    #[serde(rename = "replayed_ns")]
    pub replayed: i64,
    /// By replay with every pass ideal.
    #[serde(rename = "ideal_ns")]
    pub ideal: i64,
    /// Ratio of `replayed` to `ideal`.
    pub slowdown: f64,
    /// Share of the time lost to stragglers (0 to 1).
    pub wasted: f64,
}

/// Result of a what-if analysis.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WhatIf {
    /// Total slowdown.
    pub slowdown: Slowdown,
    /// By kind, the largest first.
    pub kinds: Vec<Share>,
    /// By stage, in order.
    pub stages: Vec<Share>,
    /// By replica, in order; empty with a single one.
    pub replicas: Vec<Share>,
    /// The worst 3% of ranks, by the smaller of the slowdowns that their replica and their stage cause
    /// alone.
    pub worst_ranks: Share,
    /// The last stage.
    pub last_stage: Share,
    /// Correlation of forward and backward times of the same micro-batch and rank, relative to the rank's
    /// normal. Near 1 if micro-batches differ in work (sequence lengths), which no rank causes.
    pub micro_batch_correlation: Option<f64>,
    /// Standard deviation of forward times over micro-batches, as a share of the normal duration.
    pub micro_batch_spread: f64,
}

/// State of a what-if analysis.
#[derive(Debug)]
struct Analysis<'a, 'b> {
    replay: &'b Replay<'a>,
    steps: Vec<usize>,
    ideal: Vec<i64>,
    slowdown: Slowdown,
    runner: Runner,
}

impl Replay<'_> {
    /// The slowdown and its shares, over all steps.
    pub fn what_if(&self) -> WhatIf {
        self.what_if_of(&(0..self.len()).collect::<Vec<_>>())
    }

    /// The slowdown of some steps (by index) and its shares.
    pub fn what_if_of(&self, steps: &[usize]) -> WhatIf {
        let mut analysis = Analysis::new(self, steps);
        let lists = |key: fn(&Pass) -> u32| {
            let mut values: Vec<u32> = self.passes.iter().map(key).collect();
            values.sort_unstable();
            values.dedup();
            values
        };
        let mut of_kinds: Vec<PassKind> = self.passes.iter().map(|p| p.kind).collect();
        of_kinds.sort_unstable();
        of_kinds.dedup();
        let kind = |k| Subset { kinds: vec![k], ..Subset::default() };
        let mut kinds: Vec<Share> = of_kinds.into_iter().map(|k| analysis.share(kind(k))).collect();
        kinds.sort_by(|a, b| b.alone.total_cmp(&a.alone).then(a.subset.kinds.cmp(&b.subset.kinds)));
        let stage = |s| Subset { stages: vec![s], ..Subset::default() };
        let stages: Vec<Share> = lists(|p| p.stage).into_iter().map(|s| analysis.share(stage(s))).collect();
        let of_replicas = lists(|p| p.replica);
        let replica = |r| Subset { replicas: vec![r], ..Subset::default() };
        let replicas: Vec<Share> = of_replicas.into_iter().map(|r| analysis.share(replica(r))).collect();
        let ranks = worst(self.passes, &stages, &replicas);
        let worst_ranks = analysis.share(Subset { ranks, ..Subset::default() });
        let last_stage = match stages.last() {
            Some(last) => last.clone(),
            None => analysis.share(Subset::default()),
        };
        let (micro_batch_correlation, micro_batch_spread) = self.micro_batches(steps);
        WhatIf {
            slowdown: analysis.slowdown,
            kinds,
            stages,
            replicas: if replicas.len() > 1 { replicas } else { Vec::new() },
            worst_ranks,
            last_stage,
            micro_batch_correlation,
            micro_batch_spread,
        }
    }

    /// Saving if some passes were ideal: a mean over some steps (by index).
    pub fn what_if_ideal(&self, subset: Subset, steps: &[usize]) -> (Slowdown, Share) {
        let mut analysis = Analysis::new(self, steps);
        let share = analysis.share(subset);
        (analysis.slowdown, share)
    }

    /// Correlation of the relative excess of forward and backward passes of the same micro-batch, and the
    /// spread of forward passes. Excludes outliers (stalls).
    fn micro_batches(&self, steps: &[usize]) -> (Option<f64>, f64) {
        type Key = (u32, u32, u32, u32);
        let mut pairs: BTreeMap<Key, [Option<f64>; 2]> = BTreeMap::new();
        for (at, pass) in self.places(steps).map(|at| (at, &self.passes[at])) {
            let side = match pass.kind {
                PassKind::Forward => 0,
                PassKind::Backward | PassKind::BackwardInput => 1,
                _ => continue,
            };
            let Some(batch) = pass.micro_batch else { continue };
            let normal = self.normal.of_pass(pass).median as f64;
            let relative = self.durations[at] as f64 / normal.max(1.0) - 1.0;
            if relative.abs() < 2.0 {
                pairs.entry((pass.step, pass.rank, pass.chunk, batch)).or_default()[side] = Some(relative);
            }
        }
        let both: Vec<(f64, f64)> = pairs.values().filter_map(|&[f, b]| Some((f?, b?))).collect();
        let n = both.len() as f64;
        let mean = |of: fn(&(f64, f64)) -> f64| both.iter().map(of).sum::<f64>() / n.max(1.0);
        let (mf, mb) = (mean(|p| p.0), mean(|p| p.1));
        let (mut cross, mut ff, mut bb) = (0.0, 0.0, 0.0);
        for (f, b) in &both {
            cross += (f - mf) * (b - mb);
            ff += (f - mf) * (f - mf);
            bb += (b - mb) * (b - mb);
        }
        let correlation = cross / (ff * bb).sqrt();
        ((both.len() >= 8 && correlation.is_finite()).then_some(correlation), (ff / n.max(1.0)).sqrt())
    }
}

/// The worst 3% of ranks, by the smaller of the slowdowns that their replica and their stage cause alone.
fn worst(passes: &[Pass], stages: &[Share], replicas: &[Share]) -> Vec<u32> {
    let alone = |list: &[Share], of: fn(&Subset) -> &[u32], value: u32| {
        list.iter().find(|s| of(&s.subset).contains(&value)).map_or(1.0, |s| s.alone)
    };
    let mut places: Vec<(u32, u32, u32)> = passes.iter().map(|p| (p.rank, p.stage, p.replica)).collect();
    places.sort_unstable();
    places.dedup();
    let mut scored: Vec<(f64, u32)> = places
        .into_iter()
        .map(|(rank, stage, replica)| {
            let by_stage = alone(stages, |s| &s.stages, stage);
            (alone(replicas, |s| &s.replicas, replica).min(by_stage), rank)
        })
        .collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    scored.truncate((scored.len() * 3).div_ceil(100));
    scored.into_iter().map(|(_, rank)| rank).collect()
}

impl<'a, 'b> Analysis<'a, 'b> {
    fn new(replay: &'b Replay<'a>, steps: &[usize]) -> Self {
        let ideal_of =
            Ideal::of(replay.places(steps).map(|at| (replay.passes[at].kind, replay.durations[at])));
        let ideal: Vec<i64> = replay.passes.iter().map(|p| ideal_of.duration(p)).collect();
        let mut runner = Runner::default();
        let mut mean = |duration: &dyn Fn(usize) -> i64| {
            let sum: i128 = steps
                .iter()
                .map(|&s| i128::from(replay.time(s, Delays::Dropped, duration, &mut runner)))
                .sum();
            (sum / steps.len().max(1) as i128) as i64
        };
        let replayed = mean(&|p| replay.durations[p]);
        let best = mean(&|p| ideal[p]);
        let measured: i128 =
            steps.iter().filter_map(|&s| replay.graphs.get(s)).map(|g| i128::from(g.measured)).sum();
        let ratio = replayed as f64 / (best as f64).max(1.0);
        let slowdown = Slowdown {
            measured: (measured / steps.len().max(1) as i128) as i64,
            replayed,
            ideal: best,
            slowdown: ratio,
            wasted: 1.0 - 1.0 / ratio.max(f64::MIN_POSITIVE),
        };
        Self { replay, steps: steps.to_vec(), ideal, slowdown, runner }
    }

    fn mean(&mut self, holds: &[bool], ideal_where: bool) -> i64 {
        let (replay, ideal) = (self.replay, &self.ideal);
        let duration = |p: usize| if holds[p] == ideal_where { ideal[p] } else { replay.durations[p] };
        let steps = self.steps.iter();
        let sum: i128 =
            steps.map(|&s| i128::from(replay.time(s, Delays::Dropped, duration, &mut self.runner))).sum();
        (sum / self.steps.len().max(1) as i128) as i64
    }

    fn share(&mut self, subset: Subset) -> Share {
        let holds: Vec<bool> = self.replay.passes.iter().map(|p| subset.holds(p)).collect();
        let removed = self.mean(&holds, true);
        let alone = self.mean(&holds, false);
        let all = self.slowdown.replayed - self.slowdown.ideal;
        let saved = self.slowdown.replayed - removed;
        // at most = sum of max(0, duration - ideal) / steps
        let beyond = |at: usize| (self.replay.durations[at] - self.ideal[at]).max(0);
        let held = self.replay.places(&self.steps).filter(|&at| holds[at]);
        let beyond: i128 = held.map(|at| i128::from(beyond(at))).sum();
        let at_most = (beyond / self.steps.len().max(1) as i128) as i64;
        Share {
            subset,
            saved,
            recovered: if all == 0 { 0.0 } else { saved as f64 / all as f64 },
            alone: alone as f64 / (self.slowdown.ideal as f64).max(1.0),
            at_most,
            certainty: Certainty::Replayed,
        }
    }
}
