//! Passes without names: what runs between messages, told apart by phase.
//!
//! Responsible for: stretches of forward or backward work that neither a message nor a named pass interrupts. On a device they are made of kernels, without one of the
//! operators of the host. Refuses stretches far shorter than the others, which belong to no micro batch.

use super::Found;
use crate::launches::launches;
use crate::passes::PassKind;
use crate::phases::{host_phases, phases};
use crate::replay::median;
use crate::trace::{GpuKind, HostKind, NONE, RankTrace};
use railwright_step::{CollectiveKind, Phase};

/// One thing on a rank's time.
#[derive(Clone, Copy)]
enum Mark {
    /// Work of a phase: when it was issued, from when to when it ran.
    Work(PassKind, i64, i64, i64),
    /// A message or a named pass begins.
    Cut(i64),
}

impl Mark {
    fn at(&self) -> i64 {
        match *self {
            Self::Work(_, _, start, _) => start,
            Self::Cut(at) => at,
        }
    }
}

/// Whether a kernel carries messages.
pub(super) fn is_message_kernel(name: &str) -> bool {
    name.contains("SendRecv")
}

/// The passes that names do not give: backward passes if only forward passes are named, and the other way round, else both.
pub(super) fn cut(trace: &RankTrace, named: &[Found]) -> Vec<Found> {
    let lacks = |forward: bool| {
        !named.iter().any(|f| f.kind.is_compute() && (f.kind == PassKind::Forward) == forward)
    };
    let wanted = |kind: PassKind| lacks(kind == PassKind::Forward);
    let mut marks: Vec<Mark> = Vec::new();
    if trace.gpu.kinds().contains(&GpuKind::Kernel) {
        device(trace, &mut marks);
    } else {
        host(trace, &mut marks);
    }
    marks.extend(
        named.iter().filter(|f| f.kind.is_compute()).flat_map(|f| [Mark::Cut(f.start), Mark::Cut(f.end)]),
    );
    if !marks.iter().any(|m| matches!(m, Mark::Cut(_))) {
        return Vec::new();
    }
    marks.sort_by_key(Mark::at);
    let mut found: Vec<Found> = Vec::new();
    let mut open = false;
    for mark in marks {
        match mark {
            Mark::Cut(_) => open = false,
            Mark::Work(kind, issued, start, end) => {
                if let Some(last) = found.last_mut().filter(|f| open && f.kind == kind) {
                    last.end = last.end.max(end);
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
        // What is computed again belongs to the backward pass that needs it.
        Phase::Recompute | Phase::Backward | Phase::BackwardInput | Phase::BackwardWeight => {
            Some(PassKind::Backward)
        }
        Phase::Optimizer | Phase::Other => None,
    }
}

fn device(trace: &RankTrace, marks: &mut Vec<Mark>) {
    let launched = launches(trace, &trace.gpu);
    let phases = phases(trace, &trace.gpu, &launched);
    for ((row, phase), launch) in trace.gpu.iter().zip(&phases.gpu).zip(&launched) {
        if row.kind != GpuKind::Kernel {
            continue;
        }
        if is_message_kernel(trace.names.get(row.name)) {
            marks.push(Mark::Cut(row.start));
        } else if let Some(kind) = pass_of(*phase).filter(|_| row.collective.is_none()) {
            let call = (*launch != NONE).then(|| trace.host.get(*launch as usize)).flatten();
            marks.push(Mark::Work(kind, call.map_or(row.start, |c| c.start), row.start, row.end));
        }
    }
}

fn host(trace: &RankTrace, marks: &mut Vec<Mark>) {
    let phases = host_phases(trace);
    for (row, phase) in trace.host.iter().zip(phases) {
        if row.kind == HostKind::Collective {
            let call = row.collective.and_then(|at| trace.collectives.get(at as usize));
            if matches!(call.and_then(|c| c.kind), Some(CollectiveKind::Send | CollectiveKind::Receive)) {
                marks.push(Mark::Cut(row.start));
            }
        } else if row.kind == HostKind::Operator
            && let Some(kind) = phase.and_then(pass_of)
        {
            marks.push(Mark::Work(kind, row.start, row.start, row.end));
        }
    }
}
