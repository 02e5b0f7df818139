//! Parts of a step's time: work, schedule, imbalance, messages, jitter and stalls.
//!
//! Responsible for: each part as the difference of two simulations of the same order of passes, and the time
//! that no simulation explains. Unexplained time is not distributed over the other parts.
//!
//! T = work + schedule + imbalance + messages + jitter + host + outside + unexplained

use crate::passes::{Pass, PassKind};
use crate::replay::{Replay, Runner};
use serde::Serialize;

/// The parts of a step, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Decomposition {
    /// Step time, in nanoseconds.
    #[serde(rename = "total_ns")]
    pub total: i64,
    /// Work of every rank if all were equal, in nanoseconds: m (mean forward + mean backward).
    #[serde(rename = "work_ns")]
    pub work: i64,
    /// Bubble of the schedule with balanced stages and free messages.
    #[serde(rename = "schedule_ns")]
    pub schedule: i64,
    /// Time added by unequal stages: each rank's own medians.
    #[serde(rename = "imbalance_ns")]
    pub imbalance: i64,
    /// Time added by messages and by the transitions between passes.
    #[serde(rename = "messages_ns")]
    pub messages: i64,
    /// Time added by passes that differ from their medians, mostly stalls. Negative if they were faster.
    #[serde(rename = "jitter_ns")]
    pub jitter: i64,
    /// Time of ranks between their passes on the host, in nanoseconds. 0 unless recorded messages show that
    /// they waited for no rank.
    #[serde(rename = "host_ns")]
    pub host: i64,
    /// Time before the first and after the last pass of the pipeline: gathers, reductions, the update.
    #[serde(rename = "outside_ns")]
    pub outside: i64,
    /// Measured minus simulated time.
    #[serde(rename = "unexplained_ns")]
    pub unexplained: i64,
}

impl Decomposition {
    /// Parts with their names, in nanoseconds.
    pub fn parts(&self) -> [(&'static str, i64); 8] {
        [
            ("work", self.work),
            ("schedule bubble", self.schedule),
            ("stage imbalance", self.imbalance),
            ("messages (P2P)", self.messages),
            ("jitter and stalls", self.jitter),
            ("host time between passes", self.host),
            ("outside the pipeline", self.outside),
            ("unexplained", self.unexplained),
        ]
    }

    /// Median of every part separately: their sum may differ slightly from the median total.
    pub(super) fn median(all: &[Self]) -> Self {
        let of = |part: fn(&Self) -> i64| median(all.iter().map(part));
        Self {
            total: of(|d| d.total),
            work: of(|d| d.work),
            schedule: of(|d| d.schedule),
            imbalance: of(|d| d.imbalance),
            messages: of(|d| d.messages),
            jitter: of(|d| d.jitter),
            host: of(|d| d.host),
            outside: of(|d| d.outside),
            unexplained: of(|d| d.unexplained),
        }
    }
}

/// Parts of a step.
pub(super) fn of_step(replay: &Replay<'_>, at: usize, runner: &mut Runner) -> Decomposition {
    let passes = replay.passes();
    let (of_step, origin, total) = replay.step_passes(at);
    let compute = || of_step.iter().filter(|p| p.kind.is_compute());
    let begin = compute().map(|p| p.start).min().unwrap_or(0);
    let end = compute().map(|p| p.end).max().unwrap_or(0);
    let window = end - begin;
    let mut ranks: Vec<u32> = compute().map(|p| p.rank).collect();
    ranks.sort_unstable();
    ranks.dedup();
    let work: i128 = compute().map(|p| i128::from(balanced(replay, p))).sum();
    let work = (work / ranks.len().max(1) as i128) as i64;
    let scheduled = expected(replay, at, runner);
    let normal = |p: usize| replay.normal().of_pass(&passes[p]).median;
    let kind = |p: usize| passes[p].kind;
    let arithmetic = |p: usize, time: i64| if kind(p).is_compute() { time } else { 0 };
    let pipeline = |p: usize, time: i64| {
        if kind(p).is_compute() || kind(p).is_message() { time } else { 0 }
    };
    let imbalanced = replay.compute_time(at, false, |p| arithmetic(p, normal(p)), runner);
    let lagging = replay.compute_time(at, true, |p| pipeline(p, normal(p)), runner);
    let real = replay.compute_time(at, true, |p| pipeline(p, replay.duration(p)), runner);
    let on_hosts = replay.host_time(at, |p| pipeline(p, replay.duration(p)), runner);
    // Time before the first pass is outside, whichever rank caused it.
    let host = on_hosts.map_or(0, |time| time - (begin - origin) - real);
    Decomposition {
        total,
        work,
        schedule: scheduled - work,
        imbalance: imbalanced - scheduled,
        messages: lagging - imbalanced,
        jitter: real - lagging,
        host,
        outside: total - window,
        unexplained: window - real - host,
    }
}

/// Duration of a pass with equal stages, in nanoseconds.
pub(super) fn balanced(replay: &Replay<'_>, pass: &Pass) -> i64 {
    let whole = |kind| replay.normal().balanced(kind).unwrap_or(0);
    match pass.kind {
        kind @ (PassKind::Forward
        | PassKind::Backward
        | PassKind::BackwardInput
        | PassKind::BackwardWeight) => whole(kind),
        _ => 0,
    }
}

/// Duration of the order of passes with balanced stages and without latency, in nanoseconds. The runner then
/// has the times of all passes.
pub(super) fn expected(replay: &Replay<'_>, at: usize, runner: &mut Runner) -> i64 {
    let passes = replay.passes();
    replay.compute_time(at, false, |p| balanced(replay, &passes[p]), runner)
}

pub(super) fn median(values: impl Iterator<Item = i64>) -> i64 {
    crate::replay::median(&mut values.collect::<Vec<_>>())
}
