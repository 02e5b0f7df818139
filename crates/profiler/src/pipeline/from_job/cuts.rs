//! Passes without names: work between messages, distinguished by phase.
//!
//! Responsible for: intervals of forward or backward work without a message or a named pass between them. On a device they consist of
//! kernels, otherwise of host operators. Interruptions are detected in launch order, which is the order of the program. On the device, a
//! receive may begin long before the pass that needs it. A send may begin during the next pass. Times are the device's. Excludes intervals
//! far shorter than the others: they belong to no micro-batch.

use super::Found;
use crate::launches::launches;
use crate::passes::PassKind;
use crate::phases::{host_phases, phases};
use crate::replay::median;
use crate::trace::{GpuActivity, GpuKind, HostKind, NONE, RankTrace};
use indexmap::IndexMap;
use railwright_step::{CollectiveKind, Phase};
use rustc_hash::FxBuildHasher;

/// An event on a rank's time.
#[derive(Clone, Copy)]
enum Mark {
    /// Work of a phase: issue time, start and end, in nanoseconds.
    Work(PassKind, i64, i64, i64),
    /// A message or a named pass.
    Cut,
}

/// Tests whether a kernel carries messages.
pub(super) fn is_message_kernel(name: &str) -> bool {
    name.contains("SendRecv")
}

/// Passes that names do not provide: backward passes if only forward passes are named, the reverse, or both.
pub(super) fn cut(trace: &RankTrace, named: &[Found]) -> Vec<Found> {
    let lacks = |forward: bool| {
        !named.iter().any(|f| f.kind.is_compute() && (f.kind == PassKind::Forward) == forward)
    };
    let wanted = |kind: PassKind| lacks(kind == PassKind::Forward);
    // Each with its position: a time for the order.
    let mut marks: Vec<(i64, Mark)> = Vec::new();
    let by_launch = if trace.gpu.kinds().contains(&GpuKind::Kernel) {
        device(trace, &mut marks)
    } else {
        host(trace, &mut marks);
        false
    };
    for pass in named.iter().filter(|f| f.kind.is_compute()) {
        let places = if by_launch { [pass.issued; 2] } else { [pass.start, pass.end] };
        marks.extend(places.map(|at| (at, Mark::Cut)));
    }
    if !marks.iter().any(|m| matches!(m.1, Mark::Cut)) {
        return Vec::new();
    }
    marks.sort_by_key(|mark| mark.0);
    let mut found: Vec<Found> = Vec::new();
    let mut open = false;
    for (_, mark) in marks {
        match mark {
            Mark::Cut => open = false,
            Mark::Work(kind, issued, start, end) => {
                if let Some(last) = found.last_mut().filter(|f| open && f.kind == kind) {
                    (last.start, last.end) = (last.start.min(start), last.end.max(end));
                    continue;
                }
                open = true;
                found.push(Found {
                    kind,
                    virtual_stage: None,
                    micro_batch: None,
                    chunk: None,
                    issued,
                    start,
                    end,
                });
            }
        }
    }
    found.retain(|f| wanted(f.kind));
    for kind in [PassKind::Forward, PassKind::Backward] {
        let mut lengths: Vec<i64> =
            found.iter().filter(|f| f.kind == kind).map(|f| f.end - f.start).collect();
        let usual = median(&mut lengths);
        found.retain(|f| f.kind != kind || (f.end - f.start) > usual / 8);
    }
    found
}

fn pass_of(phase: Phase) -> Option<PassKind> {
    match phase {
        Phase::Forward => Some(PassKind::Forward),
        // Recompute belongs to the backward pass that needs it.
        Phase::Recompute | Phase::Backward | Phase::BackwardInput | Phase::BackwardWeight => {
            Some(PassKind::Backward)
        }
        Phase::Optimizer | Phase::Other => None,
    }
}

/// Adds the marks of a device. Returns true if they are in launch order, which requires the launch of every message; otherwise they are in
/// order of start.
fn device(trace: &RankTrace, marks: &mut Vec<(i64, Mark)>) -> bool {
    let launched = launches(trace, &trace.gpu);
    let phases = phases(trace, &trace.gpu, &launched);
    let called = |launch: u32| {
        (launch != NONE).then(|| trace.host.get(launch as usize)).flatten().map(|call| call.start)
    };
    let is_message =
        |row: &GpuActivity| row.kind == GpuKind::Kernel && is_message_kernel(trace.names.get(row.name));
    let mut messages = trace.gpu.iter().zip(&launched).filter(|(row, _)| is_message(row));
    let by_launch = messages.all(|(_, launch)| called(*launch).is_some());
    // Work without a launch follows the previous work on its stream.
    let mut streams: IndexMap<u32, i64, FxBuildHasher> = IndexMap::default();
    for ((row, phase), launch) in trace.gpu.iter().zip(&phases.gpu).zip(&launched) {
        if row.kind != GpuKind::Kernel {
            continue;
        }
        let call = called(*launch);
        let before = streams.entry(row.stream).or_insert(i64::MIN);
        *before = call.unwrap_or(*before);
        let at = if by_launch { *before } else { row.start };
        if is_message(&row) {
            marks.push((at, Mark::Cut));
        } else if let Some(kind) = pass_of(*phase).filter(|_| row.collective.is_none()) {
            marks.push((at, Mark::Work(kind, call.unwrap_or(row.start), row.start, row.end)));
        }
    }
    by_launch
}

fn host(trace: &RankTrace, marks: &mut Vec<(i64, Mark)>) {
    let phases = host_phases(trace);
    for (row, phase) in trace.host.iter().zip(phases) {
        if row.kind == HostKind::Collective {
            let call = row.collective.and_then(|at| trace.collectives.get(at as usize));
            if matches!(call.and_then(|c| c.kind), Some(CollectiveKind::Send | CollectiveKind::Receive)) {
                marks.push((row.start, Mark::Cut));
            }
        } else if row.kind == HostKind::Operator
            && let Some(kind) = phase.and_then(pass_of)
        {
            marks.push((row.start, Mark::Work(kind, row.start, row.start, row.end)));
        }
    }
}
