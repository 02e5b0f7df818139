//! The annotated steps of one rank of an inference server.
//!
//! Responsible for: one entry for each step, in order, even for servers that nest two annotations of it. Does
//! not match ranks.

use super::{StepMark, call, mark};
use crate::trace::{GpuKind, HostKind};
use crate::windows::step_number;
use crate::{NameId, RankTrace};

/// An annotated step: its mark, start and end in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Marked {
    pub(crate) mark: StepMark,
    pub(crate) start: i64,
    pub(crate) end: i64,
}

/// Steps from host annotations. Without any, from the functions that execute them, unless a trainer's steps
/// are annotated: a trainer may contain a server.
pub(crate) fn host_steps(trace: &RankTrace) -> Vec<Marked> {
    let annotated = apart(trace, rows(trace, HostKind::Annotation), mark);
    let trains = || trace.names.iter().any(|name| step_number(name).is_some());
    if annotated.is_empty() && !trains() {
        return apart(trace, rows(trace, HostKind::Python), call);
    }
    annotated
}

/// Name, start and end of the host rows of a kind.
fn rows(trace: &RankTrace, wanted: HostKind) -> impl Iterator<Item = (NameId, i64, i64)> {
    let kinds = trace.host.kinds().iter().enumerate();
    kinds.filter(move |(_, kind)| **kind == wanted).filter_map(|(at, _)| {
        let row = trace.host.get(at)?;
        Some((row.name, row.start, row.end))
    })
}

/// Steps from the device's copies of these annotations, from the first to the last kernel of each.
pub(crate) fn device_steps(trace: &RankTrace) -> Vec<Marked> {
    let annotated = trace.gpu.iter().filter(|row| row.kind == GpuKind::Annotation);
    apart(trace, annotated.map(|row| (row.name, row.start, row.end)), mark)
}

/// Marks of steps. Those within another one, or concurrent with it on a second stream, belong to the same
/// step.
fn apart(
    trace: &RankTrace,
    rows: impl Iterator<Item = (NameId, i64, i64)>,
    mark: fn(&str) -> Option<StepMark>,
) -> Vec<Marked> {
    let mut known: Vec<Option<Option<StepMark>>> = vec![None; trace.names.len()];
    let mut steps: Vec<Marked> = Vec::new();
    for (name, start, end) in rows {
        let Some(cell) = known.get_mut(name.0 as usize) else { continue };
        let Some(mark) = *cell.get_or_insert_with(|| mark(trace.names.get(name))) else { continue };
        match steps.last_mut().filter(|last| start < last.end) {
            Some(last) => last.mark = merged(last.mark, mark),
            None => steps.push(Marked { mark, start, end }),
        }
    }
    steps
}

/// Joins two annotations of one step: the outer one, with the additional data of the inner one.
fn merged(outer: StepMark, inner: StepMark) -> StepMark {
    StepMark {
        // The server's own annotation names it; the other form is for tools.
        server: inner.server,
        mode: outer.mode,
        context_requests: outer.context_requests.or(inner.context_requests),
        context_tokens: outer.context_tokens.or(inner.context_tokens),
        generation_requests: outer.generation_requests.or(inner.generation_requests),
        generation_tokens: outer.generation_tokens.or(inner.generation_tokens),
    }
}
