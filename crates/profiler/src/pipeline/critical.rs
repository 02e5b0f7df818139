//! The critical path of a recorded step of the pipeline: the chain of passes that determines its duration.
//!
//! Responsible for: walking back from the pass that ended last, and the composition of the chain by rank.
//! Each step leads to the last awaited pass: the previous one on its rank, the other end of the message, or
//! the latest rank of a communication. If the rank was busy meanwhile, it leads to that pass. Excludes
//! possible savings: see replay.

use super::bubbles::Walker;
use super::units::time;
use crate::passes::{Pass, PassKind};
use serde::Serialize;
use std::collections::BTreeMap;

/// A pass on the critical path. Times are nanoseconds since the step began.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CriticalPass {
    /// Rank.
    pub rank: u32,
    /// Stage.
    pub stage: u32,
    /// Kind.
    pub kind: PassKind,
    /// Micro-batch.
    pub micro_batch: Option<u32>,
    /// Virtual stage of its rank.
    pub chunk: u32,
    /// Start of its part on the path.
    #[serde(rename = "start_ns")]
    pub start: i64,
    /// End of its part on the path.
    #[serde(rename = "end_ns")]
    pub end: i64,
    /// True if its rank is displayed.
    pub shown: bool,
}

/// Time of the critical path on a rank, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CriticalRank {
    /// Rank.
    pub rank: u32,
    /// Its stage.
    pub stage: u32,
    /// True if it is displayed: of each stage of one replica, one rank is.
    pub shown: bool,
    /// Time in passes, in nanoseconds.
    #[serde(rename = "compute_ns")]
    pub compute: i64,
    /// Time in messages to it and in other communication, in nanoseconds.
    #[serde(rename = "communication_ns")]
    pub communication: i64,
    /// Time between the end of an awaited pass and the next pass, in nanoseconds: launches, and time without
    /// a pass.
    #[serde(rename = "waiting_ns")]
    pub waiting: i64,
}

impl CriticalRank {
    fn total(&self) -> i64 {
        self.compute + self.communication + self.waiting
    }
}

/// The critical path.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CriticalPath {
    /// Passes from first to last.
    pub passes: Vec<CriticalPass>,
    /// Time by rank, largest first.
    pub ranks: Vec<CriticalRank>,
    /// Time before the first pass and after the last, in nanoseconds.
    #[serde(rename = "outside_ns")]
    pub outside: i64,
    /// Number of transitions between ranks.
    pub crossings: usize,
    /// Summary as a sentence.
    pub words: String,
}

/// The critical path of the walker's step, over all ranks; `shown` are the displayed ranks.
pub(super) fn path(walker: &Walker<'_, '_>, shown: &[u32]) -> CriticalPath {
    let mut path = CriticalPath::default();
    let Some(last) = walker.last else { return path };
    let mut ranks: BTreeMap<u32, CriticalRank> = BTreeMap::new();
    let mut until = walker.end;
    path.outside = (until - walker.of_step[last].end).max(0);
    until = until.min(walker.of_step[last].end);
    let mut node = walker.latest(last);
    let computed = computed(walker.of_step);
    // No path is longer than all passes; a longer one would be a cycle.
    for _ in 0..walker.of_step.len() {
        let pass = &walker.of_step[node];
        let of = ranks.entry(pass.rank).or_insert(CriticalRank {
            rank: pass.rank,
            stage: pass.stage,
            shown: shown.contains(&pass.rank),
            ..CriticalRank::default()
        });
        // Only the transfer of a communication counts: earlier time is waiting for the last rank.
        let start = (pass.end - walker.replay.duration(walker.first + node)).min(until);
        let spent = until.min(pass.end) - start;
        if pass.kind.is_compute() {
            of.compute += spent;
        } else {
            of.communication += spent;
        }
        of.waiting += (until - pass.end).max(0);
        path.crossings += usize::from(path.passes.last().is_some_and(|after| after.rank != pass.rank));
        path.passes.push(CriticalPass {
            rank: pass.rank,
            stage: pass.stage,
            kind: pass.kind,
            micro_batch: pass.micro_batch,
            chunk: pass.chunk,
            start: start - walker.origin,
            end: until.min(pass.end) - walker.origin,
            shown: of.shown,
        });
        until = start;
        let Some((from, lag)) = walker.replay.binding(walker.at, node) else { break };
        let before = walker.of_step[from].end.min(until);
        let own = walker.of_step[from].rank == pass.rank;
        let hop = if own { 0 } else { lag.clamp(0, until - before) };
        // A pass without dependent message may still occupy its rank: a receive does not wait for the
        // previous pass.
        if let Some(busy) = busy(&computed, walker.of_step, pass.rank, (before + hop, until)) {
            node = busy;
            continue;
        }
        // An unrecorded message takes the fitted hop; the rest is the rank's own delay.
        of.communication += hop;
        of.waiting += until - before - hop;
        until = before;
        node = walker.latest(from);
    }
    path.outside += until - walker.origin;
    path.passes.reverse();
    path.ranks = ranks.into_values().collect();
    path.ranks.sort_by_key(|rank| (std::cmp::Reverse(rank.total()), rank.rank));
    path.words = words(&path, walker.end - walker.origin);
    path
}

/// Compute passes of every rank, in order of time.
fn computed(of_step: &[Pass]) -> BTreeMap<u32, Vec<usize>> {
    let mut ranks: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for (at, _) in of_step.iter().enumerate().filter(|(_, pass)| pass.kind.is_compute()) {
        ranks.entry(of_step[at].rank).or_default().push(at);
    }
    for places in ranks.values_mut() {
        places.sort_by_key(|&at| (of_step[at].start, of_step[at].end));
    }
    ranks
}

/// The last compute pass of a rank in a time range. It began before the end of the range, so the walk makes
/// progress.
fn busy(
    computed: &BTreeMap<u32, Vec<usize>>,
    of_step: &[Pass],
    rank: u32,
    (from, until): (i64, i64),
) -> Option<usize> {
    let places = computed.get(&rank)?;
    let after = places.partition_point(|&at| of_step[at].start < until);
    let at = places[after.checked_sub(1)?];
    (of_step[at].end > from && from < until).then_some(at)
}

fn words(path: &CriticalPath, step: i64) -> String {
    const MOST: usize = 4;
    let share = |part: i64| format!("{:.0}%", part as f64 / step.max(1) as f64 * 100.0);
    let of = |rank: &CriticalRank| {
        format!(
            "rank {}{} {} (passes {}, communication {}, waiting {})",
            rank.rank,
            if rank.shown { "" } else { ", not shown," },
            share(rank.total()),
            share(rank.compute),
            share(rank.communication),
            share(rank.waiting)
        )
    };
    let mut all: Vec<String> = path.ranks.iter().take(MOST).map(of).collect();
    let rest: i64 = path.ranks.iter().skip(MOST).map(CriticalRank::total).sum();
    if rest > 0 {
        all.push(match path.ranks.len() - MOST {
            1 => format!("1 other {}", share(rest)),
            more => format!("{more} others {}", share(rest)),
        });
    }
    if path.outside * 200 >= step {
        all.push(format!("outside the pipeline {}", share(path.outside)));
    }
    format!("of {}: {}", time(step), all.join(", "))
}
