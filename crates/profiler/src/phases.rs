//! Phase of each device activity: forward, backward, recompute, optimizer.
//!
//! Responsible for: assigning a row to its launch, and to the operators and annotations around it on the same
//! thread. Without a recorded call, the phase comes from other rows of the same kernel and from neighbours on
//! the stream. Does not guess: unclear rows are [`Phase::Other`], and [`Phases::by`] counts rows by method.

mod apart;
mod found_by;
mod marks;
mod neighbours;

use crate::RankTrace;
use crate::communication::NameTable;
use crate::trace::{GpuActivities, GpuKind, HostKind, NONE};
pub use found_by::FoundBy;
use marks::{Mark, mark};
use railwright_step::Phase;

/// Phases of a rank's rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Phases {
    /// By device row.
    pub gpu: Vec<Phase>,
    /// Number of rows by method.
    pub by: FoundBy,
}

/// Finds the phases of device rows; `launches` is the result of [`crate::launches::launches`].
pub fn phases(trace: &RankTrace, gpu: &GpuActivities, launches: &[u32]) -> Phases {
    let host = host_phases(trace);
    let mut found: Vec<Option<Phase>> = vec![None; gpu.len()];
    let mut by = FoundBy::default();
    let work = |at: usize| matches!(gpu.kinds()[at], GpuKind::Kernel | GpuKind::Copy | GpuKind::Set);
    for (at, &launch) in launches.iter().enumerate() {
        if work(at) && launch != NONE {
            found[at] = host.get(launch as usize).copied().flatten();
            by.launch += u64::from(found[at].is_some());
        }
    }
    annotated(trace, gpu, &mut found, &mut by);
    by_name(trace, gpu, &mut found, &mut by);
    same_kernel(trace, gpu, &mut found, &mut by);
    neighbours::fill(trace, gpu, launches, &mut found, &mut by);
    apart::forward(trace, gpu, &mut found, &mut by);
    by.unknown = (0..gpu.len()).filter(|&at| work(at) && found[at].is_none()).count() as u64;
    Phases { gpu: found.into_iter().map(Option::unwrap_or_default).collect(), by }
}

/// Tests whether the name of an operator or an annotation has a phase.
pub(crate) fn says(name: &str) -> bool {
    mark(name) != Mark::None
}

/// The phase of every name of a trace, computed once per name.
struct Marks<'a> {
    trace: &'a RankTrace,
    known: Vec<Option<Mark>>,
}

impl<'a> Marks<'a> {
    fn new(trace: &'a RankTrace) -> Self {
        Self { trace, known: vec![None; trace.names.len()] }
    }

    fn of(&mut self, name: crate::NameId) -> Mark {
        let Some(cell) = self.known.get_mut(name.0 as usize) else { return Mark::None };
        *cell.get_or_insert_with(|| mark(self.trace.names.get(name)))
    }
}

/// State of one thread during the iteration over its rows.
#[derive(Clone, Default)]
struct Thread {
    /// Open rows: end, phase within, and whether an operator is among them.
    open: Vec<(i64, Option<Phase>, bool)>,
}

/// Phase at every host row. Work launched by an operator outside every mark is forward work, if the trace
/// contains a backward pass.
pub(crate) fn host_phases(trace: &RankTrace) -> Vec<Option<Phase>> {
    let host = &trace.host;
    let mut marks = Marks::new(trace);
    let mut threads: Vec<Thread> = Vec::new();
    let mut phases: Vec<Option<Phase>> = Vec::with_capacity(host.len());
    let mut unmarked: Vec<u32> = Vec::new();
    let mut backward = false;
    for (at, row) in host.iter().enumerate() {
        // Of Python functions, only the hook of a checkpoint marks a phase.
        let is_python = row.kind == HostKind::Python && marks.of(row.name) != Mark::Checkpoint;
        if row.kind == HostKind::Overhead || is_python {
            phases.push(None);
            continue;
        }
        let place = row.thread as usize;
        if place >= threads.len() {
            // Threads are numbered as they appear, so the list grows by one.
            threads.resize(place.min(host.len()) + 1, Thread::default());
        }
        let Some(thread) = threads.get_mut(place) else {
            phases.push(None);
            continue;
        };
        while thread.open.last().is_some_and(|(end, ..)| *end <= row.start) {
            thread.open.pop();
        }
        let (around, operator) =
            thread.open.last().map_or((None, false), |(_, phase, operator)| (*phase, *operator));
        if row.kind == HostKind::Runtime {
            if around.is_none() && operator {
                unmarked.push(at as u32);
            }
            phases.push(around);
            continue;
        }
        let within = match marks.of(row.name) {
            Mark::None => around,
            Mark::Phase(phase) => Some(narrowed(around, phase)),
            Mark::Lists => around.or(Some(Phase::Optimizer)),
            Mark::Checkpoint => Some(Phase::Recompute),
        };
        backward |= within == Some(Phase::Backward);
        if within.is_none() && row.kind == HostKind::Operator {
            unmarked.push(at as u32);
        }
        phases.push(within);
        thread.open.push((row.end, within, operator || row.kind == HostKind::Operator));
    }
    if backward {
        for at in unmarked {
            phases[at as usize] = Some(Phase::Forward);
        }
    }
    phases
}

/// A mark within another one. Halves of a backward pass, recompute and the optimizer are more specific than
/// the pass, so they stay. A module's `forward` within them is not a forward pass.
fn narrowed(around: Option<Phase>, inner: Phase) -> Phase {
    match (around, inner) {
        (Some(outer @ (Phase::BackwardInput | Phase::BackwardWeight)), Phase::Backward)
        | (Some(outer @ (Phase::Recompute | Phase::Optimizer)), Phase::Forward) => outer,
        (Some(Phase::Backward), Phase::Forward) => Phase::Recompute,
        (_, inner) => inner,
    }
}

/// Sets the phase of rows under a device annotation on their own stream.
fn annotated(trace: &RankTrace, gpu: &GpuActivities, found: &mut [Option<Phase>], by: &mut FoundBy) {
    if !gpu.kinds().contains(&GpuKind::Annotation) {
        return;
    }
    let mut marks = Marks::new(trace);
    // Stream, end, phase; few are open at once.
    let mut open: Vec<(u32, i64, Phase)> = Vec::new();
    for (at, row) in gpu.iter().enumerate() {
        open.retain(|(_, end, _)| *end > row.start);
        if row.kind == GpuKind::Annotation {
            if let Mark::Phase(phase) = marks.of(row.name) {
                open.push((row.stream, row.end, phase));
            }
        } else if row.kind != GpuKind::Sync
            && found[at].is_none()
            && let Some((.., phase)) = open.iter().rev().find(|(stream, ..)| *stream == row.stream)
        {
            found[at] = Some(*phase);
            by.annotation += 1;
        }
    }
}

/// Sets the phase of rows with a phase in their own name.
fn by_name(trace: &RankTrace, gpu: &GpuActivities, found: &mut [Option<Phase>], by: &mut FoundBy) {
    let mut known: Vec<Option<Option<Phase>>> = vec![None; trace.names.len()];
    for (at, (name, kind)) in gpu.names().iter().zip(gpu.kinds()).enumerate() {
        if found[at].is_none()
            && *kind == GpuKind::Kernel
            && let Some(cell) = known.get_mut(name.0 as usize)
        {
            found[at] = *cell.get_or_insert_with(|| marks::kernel(trace.names.get(*name)));
            by.name += u64::from(found[at].is_some());
        }
    }
}

/// Sets the phase of rows whose kernel runs in only one phase, wherever known. Excludes communication: one
/// kernel of a library transfers activations and gradients.
fn same_kernel(trace: &RankTrace, gpu: &GpuActivities, found: &mut [Option<Phase>], by: &mut FoundBy) {
    if found.iter().all(Option::is_some) {
        return;
    }
    let classes = NameTable::shipped().classes(&trace.names);
    let mut of: Vec<Option<Result<Phase, ()>>> = vec![None; trace.names.len()];
    for (name, phase) in gpu.names().iter().zip(found.iter()) {
        if let (Some(cell), Some(phase)) = (of.get_mut(name.0 as usize), phase) {
            *cell = Some(match cell {
                None => Ok(*phase),
                Some(Ok(known)) if *known == *phase => Ok(*phase),
                Some(_) => Err(()),
            });
        }
    }
    for (at, (name, kind)) in gpu.names().iter().zip(gpu.kinds()).enumerate() {
        if found[at].is_none()
            && *kind == GpuKind::Kernel
            && let Some(Some(Ok(phase))) = of.get(name.0 as usize)
            && classes.get(*name).is_none()
        {
            found[at] = Some(*phase);
            by.same_kernel += 1;
        }
    }
}

#[cfg(test)]
mod tests;
