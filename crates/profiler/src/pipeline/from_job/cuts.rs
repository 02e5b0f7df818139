//! Passes without names: work between messages, distinguished by phase.
//!
//! Responsible for: intervals of forward or backward work without a message or a named pass between them. On
//! a device they consist of kernels, otherwise of host operators. Interruptions are detected in launch order,
//! which is the order of the program. On the device, a receive may begin long before the pass that needs it.
//! A send may begin during the next pass. Times are the device's; a pass whose host launches it late begins
//! when the device and its input were ready. Excludes intervals far shorter than the others: they belong to
//! no micro-batch.

use super::found::Found;
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
    /// A message or a named pass, with the arrival of a received message in nanoseconds.
    Cut(Option<i64>),
    /// Other work, and its end in nanoseconds. After an optimizer the next pass belongs to another step.
    Other(i64, bool),
}

/// Time since when a pass waits for its host alone, in launch order: the end of all work before it.
struct Free {
    busy: i64,
    /// True after a receive, and after a pass of the same step.
    known: bool,
    /// True if optimizers are recognised: otherwise the next pass may belong to another step.
    ends_steps: bool,
}

impl Free {
    fn pass(&mut self, mark: &Mark) {
        match *mark {
            Mark::Work(_, _, _, end) => {
                (self.busy, self.known) = (self.busy.max(end), self.ends_steps);
            }
            Mark::Cut(Some(end)) => (self.busy, self.known) = (self.busy.max(end), true),
            Mark::Other(end, ends_step) => {
                (self.busy, self.known) = (self.busy.max(end), self.known && !ends_step);
            }
            Mark::Cut(None) => {}
        }
    }

    /// Start of a pass: earlier than its first kernel if its host was late.
    fn start(&self, issued: i64, start: i64) -> i64 {
        if self.known && issued > self.busy { start.min(self.busy) } else { start }
    }
}

/// Tests whether a kernel carries messages between two ranks. NCCL's all-to-all has a kernel of the same
/// name: the recorded call decides.
pub(super) fn is_message(trace: &RankTrace, row: &GpuActivity) -> bool {
    let call = row.collective.and_then(|at| trace.collectives.get(at as usize));
    let of_two = |kind| matches!(kind, CollectiveKind::Send | CollectiveKind::Receive);
    row.kind == GpuKind::Kernel
        && trace.names.get(row.name).contains("SendRecv")
        && call.and_then(|call| call.kind).is_none_or(of_two)
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
        marks.extend(places.map(|at| (at, Mark::Cut(None))));
    }
    if !marks.iter().any(|m| matches!(m.1, Mark::Cut(_))) {
        return Vec::new();
    }
    marks.sort_by_key(|mark| mark.0);
    let mut found: Vec<Found> = Vec::new();
    let mut open = false;
    let ends_steps = marks.iter().any(|mark| matches!(mark.1, Mark::Other(_, true)));
    let mut free = Free { busy: i64::MIN, known: false, ends_steps };
    for (_, mark) in marks {
        match mark {
            Mark::Cut(_) => open = false,
            Mark::Other(..) => {}
            Mark::Work(kind, issued, start, end) => {
                let start = if by_launch { free.start(issued, start) } else { start };
                if let Some(last) = found.last_mut().filter(|f| open && f.kind == kind) {
                    (last.start, last.end) = (last.start.min(start), last.end.max(end));
                } else {
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
        free.pass(&mark);
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

/// Adds the marks of a device. Returns true if they are in launch order, which requires the launch of every
/// message; otherwise they are in order of start.
fn device(trace: &RankTrace, marks: &mut Vec<(i64, Mark)>) -> bool {
    let launched = launches(trace, &trace.gpu);
    let phases = phases(trace, &trace.gpu, &launched);
    let called = |launch: u32| {
        (launch != NONE).then(|| trace.host.get(launch as usize)).flatten().map(|call| call.start)
    };
    let mut messages = trace.gpu.iter().zip(&launched).filter(|(row, _)| is_message(trace, row));
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
        marks.push((
            at,
            if is_message(trace, &row) {
                let called = row.collective.and_then(|at| trace.collectives.get(at as usize));
                let sends = called.is_some_and(|called| called.kind == Some(CollectiveKind::Send));
                Mark::Cut((!sends).then_some(row.end))
            } else if let Some(kind) = pass_of(*phase).filter(|_| row.collective.is_none()) {
                Mark::Work(kind, call.unwrap_or(row.start), row.start, row.end)
            } else {
                Mark::Other(row.end, *phase == Phase::Optimizer)
            },
        ));
    }
    by_launch
}

fn host(trace: &RankTrace, marks: &mut Vec<(i64, Mark)>) {
    let phases = host_phases(trace);
    for (row, phase) in trace.host.iter().zip(phases) {
        if row.kind == HostKind::Collective {
            let call = row.collective.and_then(|at| trace.collectives.get(at as usize));
            if matches!(call.and_then(|c| c.kind), Some(CollectiveKind::Send | CollectiveKind::Receive)) {
                marks.push((row.start, Mark::Cut(None)));
            }
        } else if row.kind == HostKind::Operator
            && let Some(kind) = phase.and_then(pass_of)
        {
            marks.push((row.start, Mark::Work(kind, row.start, row.start, row.end)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_late_launch_after_a_receive_belongs_to_the_pass() {
        let free = |marks: &[Mark], ends_steps: bool| {
            let mut free = Free { busy: i64::MIN, known: false, ends_steps };
            for mark in marks {
                free.pass(mark);
            }
            free
        };
        let work = Mark::Work(PassKind::Forward, 0, 0, 100);
        // Launched 50 after the message arrived at 150; launched ahead of it; nothing known before.
        assert_eq!(free(&[work, Mark::Cut(Some(150))], false).start(200, 210), 150);
        assert_eq!(free(&[work, Mark::Cut(Some(150))], false).start(120, 150), 150);
        assert_eq!(free(&[Mark::Cut(None)], true).start(200, 210), 210);
        // A pass of the same step, and of a next or of an unknown one.
        assert_eq!(free(&[work, Mark::Cut(None)], true).start(200, 210), 100);
        assert_eq!(free(&[work, Mark::Other(120, true)], true).start(200, 210), 210);
        assert_eq!(free(&[work], false).start(200, 210), 210);
        // Other work of the pass before delays it.
        assert_eq!(free(&[work, Mark::Other(120, false)], true).start(200, 210), 120);
    }
}
