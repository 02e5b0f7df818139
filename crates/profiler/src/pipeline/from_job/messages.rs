//! Messages between stages, carried by the host itself.
//!
//! Responsible for: sends and receives of a host library (gloo, MPI) as messages of the pipeline. A send
//! belongs to the pass that began before it, a receive to the pass that begins after it. Excludes ranks of
//! several chunks, and counts that do not fit the passes of their stage: then there are no messages.

use super::found::Found;
use crate::passes::{Pass, PassKind};
use crate::trace::{GpuKind, HostKind, RankTrace};
use railwright_step::CollectiveKind;
use std::collections::BTreeMap;

/// Messages of a rank whose passes are in order of start; empty if a device carries them.
pub(super) fn of_rank(trace: &RankTrace, passes: &[Found]) -> Vec<Found> {
    let chunks = |f: &Found| (f.virtual_stage, f.chunk);
    let mut several = passes.iter().filter(|f| f.kind.is_compute() && f.virtual_stage.is_some());
    let first = several.next();
    if trace.gpu.kinds().contains(&GpuKind::Kernel)
        || first.is_some_and(|first| several.any(|f| chunks(f) != chunks(first)))
    {
        return Vec::new();
    }
    let compute: Vec<&Found> = passes.iter().filter(|f| f.kind.is_compute()).collect();
    let mut found = Vec::new();
    for row in trace.host.iter().filter(|row| row.kind == HostKind::Collective) {
        let call = row.collective.and_then(|at| trace.collectives.get(at as usize));
        let kind = match call.and_then(|call| call.kind) {
            Some(CollectiveKind::Send) => {
                let before = compute.partition_point(|f| f.start <= row.start).checked_sub(1);
                match before.map(|at| compute[at].kind) {
                    Some(PassKind::Forward) => PassKind::SendForward,
                    Some(_) => PassKind::SendBackward,
                    None => continue,
                }
            }
            Some(CollectiveKind::Receive) => {
                match compute.get(compute.partition_point(|f| f.start < row.end)).map(|f| f.kind) {
                    Some(PassKind::Forward) => PassKind::ReceiveForward,
                    Some(_) => PassKind::ReceiveBackward,
                    None => continue,
                }
            }
            _ => continue,
        };
        found.push(Found {
            kind,
            virtual_stage: None,
            micro_batch: None,
            chunk: None,
            issued: row.start,
            start: row.start,
            end: row.end,
        });
    }
    found
}

/// Moves the start of messages into their step. A rank that has finished the previous step requests the first
/// message early, without waiting for a rank of this step.
pub(super) fn from_the_step_on(passes: &mut [Pass]) {
    let mut begins: BTreeMap<u32, i64> = BTreeMap::new();
    for pass in passes.iter().filter(|p| !p.kind.is_message()) {
        let begin = begins.entry(pass.step).or_insert(pass.start);
        *begin = pass.start.min(*begin);
    }
    for pass in passes.iter_mut().filter(|p| p.kind.is_message()) {
        let begin = begins.get(&pass.step).copied().unwrap_or(pass.start);
        pass.start = pass.start.max(begin);
        pass.end = pass.end.max(pass.start);
    }
}

/// Tests whether every rank has, in every step, the number of messages that its stage exchanges for its
/// passes. Every forward pass has one to the next stage and one from the previous stage. Backward passes have
/// the reverse.
pub(super) fn fit(passes: &[Pass], stages: u32) -> bool {
    let mut counts: BTreeMap<(u32, u32, u32), BTreeMap<PassKind, usize>> = BTreeMap::new();
    for pass in passes {
        let of = counts.entry((pass.step, pass.rank, pass.stage)).or_default();
        *of.entry(pass.kind).or_default() += 1;
    }
    counts.iter().all(|((_, _, stage), of)| {
        let count = |kind| of.get(&kind).copied().unwrap_or(0);
        let forward = count(PassKind::Forward);
        let backward = count(PassKind::Backward) + count(PassKind::BackwardInput);
        let (first, last) = (*stage == 0, stage + 1 == stages);
        let wanted = [
            (PassKind::ReceiveForward, if first { 0 } else { forward }),
            (PassKind::SendForward, if last { 0 } else { forward }),
            (PassKind::ReceiveBackward, if last { 0 } else { backward }),
            (PassKind::SendBackward, if first { 0 } else { backward }),
        ];
        wanted.into_iter().all(|(kind, number)| count(kind) == number)
    })
}
