//! Groups slow passes by cause.
//!
//! Responsible for: the slow passes of a step that have one cause.
//!
//! * The two ends of a message and the members of a collective share its transfer.
//! * The parts of one pass on several ranks are one pass.
//! * A tensor-parallel partner may wait for a stalled rank in its next pass.
//! * The same communication or update may be slow on several ranks at the same time.
//! * The same collective of a step may be slow by similar excesses in several groups, although stages enter
//!   it at different times.
//! * A communication with one recorded rank may last during another pass's stall, because it waited for that
//!   pass.
//!
//! Does not join successive passes of one rank, or compute of several stages or replicas: each may have a
//! cause of its own.

use super::Found;
use super::found::excess;
use crate::passes::{Pass, PassKind};
use crate::replay::Replay;
use std::collections::BTreeMap;

/// Key of passes that may be slow together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Sort {
    /// One pass on the ranks that share it: kind, chunk, stage, replica, micro-batch.
    Shared(PassKind, u32, u32, u32, Option<u32>),
    /// The same kind and chunk on any rank; a message by its receiving end.
    AtOnce(PassKind, u32),
}

fn sort(pass: &Pass) -> Sort {
    let kind = match pass.kind {
        PassKind::SendForward => PassKind::ReceiveForward,
        PassKind::SendBackward => PassKind::ReceiveBackward,
        kind => kind,
    };
    if kind.is_compute() {
        Sort::Shared(kind, pass.chunk, pass.stage, pass.replica, pass.micro_batch)
    } else {
        Sort::AtOnce(kind, pass.chunk)
    }
}

/// By pass of a step: its number among the passes of its kind and chunk on its rank.
fn numbers(of_step: &[Pass]) -> Vec<u32> {
    let mut counts: BTreeMap<(u32, PassKind, u32), u32> = BTreeMap::new();
    let number = |pass: &Pass| {
        let count = counts.entry((pass.rank, pass.kind, pass.chunk)).or_insert(0);
        *count += 1;
        *count - 1
    };
    of_step.iter().map(number).collect()
}

/// Slow passes with one cause, and the time range of the longest one.
struct Cluster {
    passes: Vec<usize>,
    from: i64,
    until: i64,
}

impl Cluster {
    /// Tests whether at least half of the shorter one ran during the other.
    fn at_once(&self, from: i64, until: i64) -> bool {
        let both = self.until.min(until) - self.from.max(from);
        both > 0 && both.saturating_mul(2) >= (self.until - self.from).min(until - from)
    }

    fn take(&mut self, other: Self) {
        if other.until - other.from > self.until - self.from {
            (self.from, self.until) = (other.from, other.until);
        }
        self.passes.extend(other.passes);
    }
}

/// Causes of a step's slow passes, which are indices in order.
pub(super) fn of_step(replay: &Replay<'_>, at_step: usize, slow: &[usize]) -> Vec<Found> {
    if slow.is_empty() {
        return Vec::new();
    }
    let first = replay.first_of(at_step);
    let pass = |at: usize| &replay.passes()[at];
    let meetings = replay.latest_of_meetings(at_step);
    let mut met = vec![0_u32; meetings.len()];
    for &latest in &meetings {
        met[latest as usize] += 1;
    }
    // All participants of a communication share its transfer.
    let mut by_meeting: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for &at in slow {
        by_meeting.entry(meetings[at - first]).or_default().push(at);
    }
    let mut sorts: BTreeMap<Sort, Vec<Cluster>> = BTreeMap::new();
    let mut lone: Vec<Cluster> = Vec::new();
    for (latest, passes) in by_meeting {
        let longest = passes.iter().copied().max_by_key(|&at| (replay.duration(at), std::cmp::Reverse(at)));
        let Some(longest) = longest else { continue };
        let until = pass(longest).end;
        let cluster = Cluster { from: until - replay.duration(longest), until, passes };
        if met[latest as usize] < 2 && pass(longest).kind.is_communication() {
            lone.push(cluster);
        } else {
            sorts.entry(sort(pass(longest))).or_default().push(cluster);
        }
    }
    let numbers = numbers(replay.step_passes(at_step).0);
    let join = |clusters: Vec<Cluster>| siblings(replay, together(clusters), |at| numbers[at - first]);
    let clusters: Vec<Cluster> = sorts.into_values().flat_map(join).collect();
    let mut clusters = with_partners(clusters, pass);
    // The duration of a communication without counterpart includes its wait: a stall of another pass at that
    // time is the cause.
    let mut left: BTreeMap<Sort, Vec<Cluster>> = BTreeMap::new();
    for one in lone {
        let ranks =
            |cluster: &Cluster| cluster.passes.iter().any(|&at| pass(at).rank == pass(one.passes[0]).rank);
        let slow_from = one.until - excess(replay, one.passes[0]);
        let waited_for = clusters
            .iter_mut()
            .filter(|cluster| !ranks(cluster))
            .map(|cluster| (cluster.until.min(one.until) - cluster.from.max(slow_from), cluster))
            .filter(|(both, _)| both.saturating_mul(2) >= one.until - slow_from)
            .max_by_key(|(both, cluster)| (*both, std::cmp::Reverse(cluster.from)));
        match waited_for {
            Some((_, cluster)) => cluster.passes.extend(one.passes),
            None => left.entry(sort(pass(one.passes[0]))).or_default().push(one),
        }
    }
    clusters.extend(left.into_values().flat_map(join));
    let mut found: Vec<Found> = clusters
        .into_iter()
        .filter_map(|cluster| {
            let mut passes = cluster.passes;
            // A pass that only waited is not the cause.
            let caused =
                |at: usize| met[meetings[at - first] as usize] > 1 || !pass(at).kind.is_communication();
            let longest = passes
                .iter()
                .copied()
                .max_by_key(|&at| (caused(at), excess(replay, at), std::cmp::Reverse(at)))?;
            passes.sort_unstable();
            Some(Found { at_step, pass: longest, passes })
        })
        .collect();
    found.sort_by_key(|cause| cause.pass);
    found
}

/// Joins slow compute of one stage and replica on different ranks at the same time: a rank that pauses after
/// the last tensor-parallel collective of a pass holds its partners in their next pass. Alone, neither of the
/// two passes makes the step shorter.
fn with_partners<'a>(clusters: Vec<Cluster>, pass: impl Fn(usize) -> &'a Pass) -> Vec<Cluster> {
    let place = |cluster: &Cluster| {
        let first = pass(*cluster.passes.first()?);
        first.kind.is_compute().then_some((first.replica, first.stage))
    };
    let ranks = |cluster: &Cluster| cluster.passes.iter().map(|&at| pass(at).rank).collect::<Vec<u32>>();
    let mut joined: Vec<Cluster> = Vec::new();
    for cluster in clusters {
        let (own, held) = (place(&cluster), ranks(&cluster));
        let partner = joined.iter_mut().find(|other| {
            own.is_some()
                && place(other) == own
                && other.at_once(cluster.from, cluster.until)
                && ranks(other).iter().all(|rank| !held.contains(rank))
        });
        match partner {
            Some(other) => other.take(cluster),
            None => joined.push(cluster),
        }
    }
    joined
}

/// Joins clusters of one kind that ran at the same time.
fn together(mut clusters: Vec<Cluster>) -> Vec<Cluster> {
    clusters.sort_by_key(|cluster| (cluster.from, cluster.until, cluster.passes[0]));
    let mut joined: Vec<Cluster> = Vec::new();
    for cluster in clusters {
        match joined.last_mut().filter(|last| last.at_once(cluster.from, cluster.until)) {
            Some(last) => last.take(cluster),
            None => joined.push(cluster),
        }
    }
    joined
}

/// Joins clusters that are the same collective of a step in several groups, slow by similar excesses (within
/// a quarter of the largest). Stages enter it in turn, as far apart as their last passes, so a slow network
/// slows each in turn.
fn siblings(replay: &Replay<'_>, clusters: Vec<Cluster>, number: impl Fn(usize) -> u32) -> Vec<Cluster> {
    let collective = |at: usize| {
        let kind = replay.passes()[at].kind;
        kind.is_communication() && !kind.is_message()
    };
    let most = |cluster: &Cluster| cluster.passes.iter().map(|&at| excess(replay, at)).max().unwrap_or(0);
    let mut keyed: Vec<((Option<u32>, i64), Cluster)> = clusters
        .into_iter()
        .map(|cluster| {
            let which = cluster.passes.first().copied().filter(|&at| collective(at)).map(&number);
            ((which, most(&cluster)), cluster)
        })
        .collect();
    keyed.sort_by_key(|&((which, most), ref cluster)| (which, std::cmp::Reverse(most), cluster.passes[0]));
    let mut joined: Vec<((Option<u32>, i64), Cluster)> = Vec::new();
    for ((which, most), cluster) in keyed {
        let alike = |last: &&mut ((Option<u32>, i64), Cluster)| {
            which.is_some() && last.0.0 == which && most.saturating_mul(4) >= last.0.1.saturating_mul(3)
        };
        match joined.last_mut().filter(alike) {
            Some(last) => last.1.take(cluster),
            None => joined.push(((which, most), cluster)),
        }
    }
    joined.into_iter().map(|(_, cluster)| cluster).collect()
}
