//! Dependencies between passes of a step, and members of its communications.
//!
//! Responsible for: messages between neighbouring stages to their passes, and data-parallel communication to
//! the passes before and after it. If messages were not recorded, dependencies join passes directly. A pass
//! without counterpart has no dependency: none is guessed.

use super::dependency::{Dependency, lag, turn};
use crate::passes::{Pass, PassKind, PassShape};
use std::collections::BTreeMap;

/// Maximum distance between recorded ends and starts that coincide, in nanoseconds: recorders round.
const CLOSE: i64 = 50_000;

/// Edges (dependent pass, dependency) and members of communications.
pub(super) struct Links {
    pub edges: Vec<(u32, Dependency)>,
    pub groups: Vec<Vec<u32>>,
}

/// Position of a pass in the pipeline: replica, shard, virtual stage, micro-batch.
type Spot = (u32, u32, u32, u32);

/// Order of stages and chunks along the model.
struct Layout {
    stages: u32,
    /// True if odd chunks go from the last stage back to the first.
    zigzag: bool,
}

impl Layout {
    fn virtual_stage(&self, pass: &Pass) -> u32 {
        let stage = if self.zigzag && pass.chunk % 2 == 1 {
            self.stages.saturating_sub(1 + pass.stage)
        } else {
            pass.stage
        };
        pass.chunk.saturating_mul(self.stages).saturating_add(stage)
    }
}

/// Passes of the pipeline by position, for search.
struct Index(Vec<(Spot, u32)>);

impl Index {
    fn new(mut spots: Vec<(Spot, u32)>) -> Self {
        spots.sort_unstable();
        Self(spots)
    }

    fn find(&self, spot: Spot) -> Option<u32> {
        self.0.binary_search_by_key(&spot, |&(s, _)| s).ok().map(|at| self.0[at].1)
    }
}

/// Tests whether a pass sends gradients to the previous stage.
fn is_backward(kind: PassKind) -> bool {
    matches!(kind, PassKind::Backward | PassKind::BackwardInput)
}

/// Links the passes of a step, which are in order of rank and start. With `host_order`, the program order of
/// each rank determines the dependencies of messages.
pub(super) fn link(passes: &[Pass], shape: &PassShape, host_order: bool) -> Links {
    let layout = Layout { stages: shape.pipeline_parallel.max(1), zigzag: zigzag(passes) };
    let batches = micro_batches(passes);
    let spot = |at: usize| {
        let pass = &passes[at];
        (pass.replica, pass.shard, layout.virtual_stage(pass), batches[at])
    };
    let of = |keep: fn(PassKind) -> bool| {
        Index::new(
            (0..passes.len()).filter(|&at| keep(passes[at].kind)).map(|at| (spot(at), at as u32)).collect(),
        )
    };
    let forward = of(|kind| kind == PassKind::Forward);
    let backward = of(is_backward);
    let mut links = Links { edges: Vec::with_capacity(passes.len() * 3), groups: Vec::new() };
    let mut start = 0;
    let mut messages = Messages { host_order, ..Messages::default() };
    while start < passes.len() {
        let rank = passes[start].rank;
        let end = start + passes[start..].partition_point(|p| p.rank == rank);
        links.rank(passes, start..end, layout.stages, host_order);
        if host_order {
            links.program(passes, start..end);
        }
        messages.take(passes, start..end, &batches, &layout, &mut links);
        start = end;
    }
    let recorded = messages.join(&mut links);
    for (at, pass) in passes.iter().enumerate() {
        let (replica, shard, stage, batch) = spot(at);
        let kind = pass.kind;
        let to = at as u32;
        let mut depend = |from: Option<u32>, lag| {
            if let Some(from) = from.filter(|&from| from != to) {
                links.edges.push((to, Dependency { from, lag }));
            }
        };
        if kind == PassKind::Forward && !recorded.forward {
            depend(stage.checked_sub(1).and_then(|s| forward.find((replica, shard, s, batch))), lag::HOP);
        }
        if is_backward(kind) {
            // The last stage reverses the direction: its forward pass may be on the same rank, even in a
            // zigzag layout.
            let next = stage.checked_add(1).and_then(|s| backward.find((replica, shard, s, batch)));
            if next.is_none() {
                depend(forward.find((replica, shard, stage, batch)), lag::NONE);
            } else if !recorded.backward {
                depend(next, lag::HOP);
            }
        }
        if kind == PassKind::BackwardWeight {
            depend(backward.find((replica, shard, stage, batch)), lag::NONE);
        }
    }
    links.meetings(passes, layout.stages);
    links
}

/// Tests whether the second chunk begins on the last stage.
fn zigzag(passes: &[Pass]) -> bool {
    let first = |stage: u32| {
        let of = passes.iter().filter(|p| p.kind == PassKind::Forward && p.chunk == 1 && p.stage == stage);
        of.map(|p| p.start).min()
    };
    let last = passes.iter().filter(|p| p.chunk == 1).map(|p| p.stage).max().unwrap_or(0);
    matches!((first(0), first(last)), (Some(a), Some(b)) if last > 0 && b < a)
}

/// Micro-batches as recorded, otherwise numbered on each rank by kind and chunk.
fn micro_batches(passes: &[Pass]) -> Vec<u32> {
    let mut counts: BTreeMap<(u32, u32, PassKind), u32> = BTreeMap::new();
    let counted = passes.iter().map(|pass| {
        let count = counts.entry((pass.rank, pass.chunk, pass.kind)).or_insert(0);
        let here = *count;
        *count += 1;
        pass.micro_batch.unwrap_or(here)
    });
    counted.collect()
}

impl Links {
    fn depend(&mut self, to: usize, from: usize, lag: u8) {
        self.edges.push((to as u32, Dependency { from: from as u32, lag }));
    }

    /// Links a rank's own order: compute, each direction of messages, data-parallel communication, and passes
    /// after the last compute.
    fn rank(&mut self, passes: &[Pass], range: std::ops::Range<usize>, stages: u32, host_order: bool) {
        use PassKind as K;
        let compute: Vec<usize> = range.clone().filter(|&at| passes[at].kind.is_compute()).collect();
        for pair in compute.windows(2) {
            self.depend(pair[1], pair[0], turn(&passes[pair[0]], &passes[pair[1]], stages));
        }
        let chain = |links: &mut Self, keep: &dyn Fn(usize) -> bool, after: Option<usize>| {
            let mut before = after;
            for at in range.clone().filter(|&at| keep(at)) {
                if let Some(before) = before {
                    links.depend(at, before, lag::NONE);
                }
                before = Some(at);
            }
        };
        let directions = [K::SendForward, K::ReceiveForward, K::SendBackward, K::ReceiveBackward];
        for kind in directions.into_iter().filter(|_| !host_order) {
            chain(self, &|at| passes[at].kind == kind, None);
        }
        let data_parallel = |kind| matches!(kind, K::ParameterGather | K::GradientReduce);
        chain(self, &|at| data_parallel(passes[at].kind), None);
        let rest = |at: usize| !passes[at].kind.is_compute() && !passes[at].kind.is_message();
        let Some(&last) = compute.iter().max_by_key(|&&at| passes[at].end) else {
            chain(self, &rest, None);
            return;
        };
        // Starts and ends of neighbours may overlap by the resolution of the recorder.
        let after = |at: usize| passes[at].start >= passes[last].start + passes[last].duration() / 2;
        chain(self, &|at| rest(at) && after(at), Some(last));
        for at in range.clone().filter(|&at| rest(at) && !after(at)) {
            let pass = &passes[at];
            let of_chunk = compute.iter().filter(|&&c| passes[c].chunk == pass.chunk);
            match pass.kind {
                K::ParameterGather => {
                    let fed = of_chunk.copied().find(|&c| passes[c].kind == K::Forward);
                    let later = range.clone().any(|o| {
                        o > at && passes[o].kind == K::ParameterGather && passes[o].chunk == pass.chunk
                    });
                    if let Some(fed) = fed.filter(|&fed| !later && passes[fed].end >= pass.end) {
                        self.depend(fed, at, lag::NONE);
                    }
                }
                K::GradientReduce => {
                    let before = of_chunk
                        .copied()
                        .rfind(|&c| passes[c].end <= pass.end && passes[c].kind != K::Forward);
                    if let Some(before) = before {
                        self.depend(at, before, lag::NONE);
                    }
                }
                _ => {
                    // It ran between passes: the next one waited for it if they did not overlap.
                    let before = compute.iter().copied().rfind(|&c| passes[c].end <= pass.start);
                    let next = compute.iter().copied().find(|&c| passes[c].start >= pass.end);
                    if let Some(before) = before {
                        self.depend(at, before, lag::NONE);
                    }
                    if let Some(next) = next {
                        self.depend(next, at, lag::NONE);
                    }
                }
            }
        }
    }

    /// Links a host's own order: each pass and message depends on the last one that ended before it. No rank
    /// waits for the end of a send.
    fn program(&mut self, passes: &[Pass], range: std::ops::Range<usize>) {
        use PassKind as K;
        let mut by_end: Vec<usize> = range
            .clone()
            .filter(|&at| !matches!(passes[at].kind, K::SendForward | K::SendBackward))
            .collect();
        by_end.sort_by_key(|&at| (passes[at].end, at));
        for at in range {
            let ended = by_end.partition_point(|&before| passes[before].end <= passes[at].start);
            // A pass of zero duration ends at its start.
            if let Some(&before) = by_end[..ended].iter().rev().find(|&&before| before < at) {
                self.depend(at, before, lag::NONE);
            }
        }
    }

    /// Joins the members of collectives: replicas, the first and the last stage over the embedding, shards
    /// over norms, all ranks for clipping.
    fn meetings(&mut self, passes: &[Pass], stages: u32) {
        // By kind, step, stage, replica, shard and number.
        type Meeting = (PassKind, u32, u32, u32, u32, u32);
        let mut counts: BTreeMap<(u32, PassKind, u32), u32> = BTreeMap::new();
        let mut meetings: BTreeMap<Meeting, Vec<u32>> = BTreeMap::new();
        for (at, pass) in passes.iter().enumerate() {
            use PassKind as K;
            let all = u32::MAX;
            let (stage, replica, shard) = match pass.kind {
                K::ParameterGather | K::GradientReduce | K::RemainderReduce => (pass.stage, all, pass.shard),
                K::EmbeddingReduce if pass.stage == 0 || pass.stage + 1 == stages => {
                    (all, pass.replica, pass.shard)
                }
                K::NormReduce => (pass.stage, pass.replica, all),
                K::GradientClip => (all, all, all),
                _ => continue,
            };
            let count = counts.entry((pass.rank, pass.kind, pass.chunk)).or_insert(0);
            let key = (pass.kind, *count, pass.chunk, stage, replica, shard);
            *count += 1;
            meetings.entry(key).or_default().push(at as u32);
        }
        self.groups.extend(meetings.into_values().filter(|members| members.len() > 1));
    }
}

/// Compute passes of a rank, in order of their ends.
struct Arithmetic(Vec<usize>);

impl Arithmetic {
    fn of(passes: &[Pass], range: std::ops::Range<usize>) -> Self {
        let mut by_end: Vec<usize> = range.filter(|&at| passes[at].kind.is_compute()).collect();
        by_end.sort_by_key(|&at| (passes[at].end, at));
        Self(by_end)
    }

    /// The pass whose end allowed a receive to begin, for either direction: the last one that ended before
    /// it. A rank posts its next receive after finishing its previous work, so a late pass delays all
    /// later receives.
    fn just_before(&self, passes: &[Pass], receive: usize) -> Option<usize> {
        let ended = self
            .0
            .partition_point(|&before| passes[before].end <= passes[receive].start.saturating_add(CLOSE));
        ended.checked_sub(1).map(|last| self.0[last])
    }
}

/// Messages by the pass that sends them: both ends are joined.
#[derive(Default)]
struct Messages {
    /// Both ends of a message, by direction (true for backward) and position of the receiving pass.
    ends: BTreeMap<(bool, Spot), Vec<u32>>,
    /// True if the dependencies of messages on their own rank are known.
    host_order: bool,
}

/// Recorded directions of messages.
struct Recorded {
    forward: bool,
    backward: bool,
}

impl Messages {
    /// Links the messages of a rank with the passes that send or need them.
    fn take(
        &mut self,
        passes: &[Pass],
        range: std::ops::Range<usize>,
        batches: &[u32],
        layout: &Layout,
        links: &mut Links,
    ) {
        use PassKind as K;
        let highest = passes.iter().filter(|p| p.kind == K::Forward).map(|p| layout.virtual_stage(p)).max();
        let highest = highest.unwrap_or(0);
        let compute = Arithmetic::of(passes, range.clone());
        for kind in [K::SendForward, K::ReceiveForward, K::SendBackward, K::ReceiveBackward] {
            let back = matches!(kind, K::SendBackward | K::ReceiveBackward);
            let send = matches!(kind, K::SendForward | K::SendBackward);
            let own = |k: PassKind| if back { is_backward(k) } else { k == K::Forward };
            let served: Vec<usize> = range.clone().filter(|&at| own(passes[at].kind)).collect();
            let found: Vec<usize> = range.clone().filter(|&at| passes[at].kind == kind).collect();
            if found.is_empty() || served.is_empty() {
                continue;
            }
            // The first stage receives no activations and the last one sends none; gradients are the reverse.
            let edge = if back == send { 0 } else { highest };
            let eligible: Vec<usize> =
                served.iter().copied().filter(|&at| layout.virtual_stage(&passes[at]) != edge).collect();
            let found = real(passes, found, &served, send);
            // Some recorders record messages for every pass, including those at the ends of the model.
            let partners = if found.len() > eligible.len() { &served } else { &eligible };
            let by_number = found.iter().all(|&at| passes[at].micro_batch.is_some());
            let number = |at: usize| (passes[at].chunk, batches[at]);
            let mut numbers: Vec<((u32, u32), usize)> = eligible.iter().map(|&c| (number(c), c)).collect();
            numbers.sort_unstable();
            for (nth, &at) in found.iter().enumerate() {
                let numbered = || {
                    let place = numbers.partition_point(|&(n, _)| n < number(at));
                    numbers.get(place).filter(|(n, _)| *n == number(at)).map(|&(_, c)| c)
                };
                let partner = if by_number && eligible.len() <= found.len() { numbered() } else { None };
                let Some(partner) = partner.or_else(|| partners.get(nth).copied()) else { continue };
                let stage = layout.virtual_stage(&passes[partner]);
                if stage == edge {
                    continue;
                }
                let receiving = match (back, send) {
                    (_, false) => stage,
                    (false, true) => stage + 1,
                    (true, true) => stage - 1,
                };
                let pass = &passes[partner];
                let spot = (pass.replica, pass.shard, receiving, batches[partner]);
                self.ends.entry((back, spot)).or_default().push(at as u32);
                let order = served.binary_search(&partner).unwrap_or(0);
                if send {
                    links.depend(at, partner, lag::NONE);
                } else {
                    links.depend(partner, at, lag::NONE);
                    if self.host_order {
                        continue;
                    }
                    if let Some(before) = order.checked_sub(1) {
                        links.depend(at, served[before], lag::NONE);
                    }
                    if let Some(before) = compute.just_before(passes, at).filter(|&before| before < partner) {
                        links.depend(at, before, lag::ASKED);
                    }
                }
                if order == 0 && back {
                    // The first gradients are requested one forward pass before the first backward pass.
                    let compute: Vec<usize> =
                        range.clone().filter(|&c| passes[c].kind.is_compute() && c < served[0]).collect();
                    if let Some(&before) = compute.len().checked_sub(2).and_then(|n| compute.get(n)) {
                        links.depend(at, before, lag::NONE);
                    }
                }
            }
        }
    }

    /// Joins both ends of every message. A message with a missing end is complete when its own end is.
    fn join(self, links: &mut Links) -> Recorded {
        let mut recorded = Recorded { forward: false, backward: false };
        for ((back, _), ends) in self.ends {
            if ends.len() == 2 {
                *(if back { &mut recorded.backward } else { &mut recorded.forward }) = true;
                links.groups.push(ends);
            }
        }
        recorded
    }
}

/// Excludes recorded messages without a transfer: receives after the last pass that could need them, and
/// sends before the first that could produce them.
fn real(passes: &[Pass], found: Vec<usize>, served: &[usize], send: bool) -> Vec<usize> {
    let first_end = served.iter().map(|&at| passes[at].end).min().unwrap_or(i64::MIN);
    let last_start = served.iter().map(|&at| passes[at].start).max().unwrap_or(i64::MAX);
    let keep = |&at: &usize| {
        if send { passes[at].end >= first_end - CLOSE } else { passes[at].start <= last_start + CLOSE }
    };
    found.into_iter().filter(keep).collect()
}
