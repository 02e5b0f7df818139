//! Operators of a step put together to passes.
//!
//! Responsible for: rows of what follows each other for one micro batch and phase. Refuses to fill gaps: a row ends with its last operator.

use super::from_step::nanos;
use super::{Class, Row};
use crate::span::Activity;
use crate::{Names, OperatorFamily, RankTimeline, Step, StreamKind};

/// Whole passes, where the compute stream shows their operators: what follows each other for one micro-batch and phase is one row, exposed communication
/// included. None where the stream shows passes itself or knows no micro batches.
pub(super) fn pass_rows(names: &mut Names, step: &Step, rank: &RankTimeline) -> Vec<Row> {
    let spans = || {
        let compute = rank.streams.iter().filter(|stream| stream.kind == StreamKind::Compute);
        let spans = compute.flat_map(|stream| stream.spans.iter());
        spans.filter(|span| span.activity == Activity::Compute && span.micro_batch.is_some())
    };
    if spans().all(|span| span.operator == OperatorFamily::Pass) {
        return Vec::new();
    }
    let mut rows: Vec<Row> = Vec::new();
    for span in spans() {
        let row = Row {
            start: nanos(step, span.start),
            end: nanos(step, span.end),
            name: names.intern(&span.phase.name().replace('_', " ")).0,
            class: Class::of_phase(span.phase),
            micro_batch: span.micro_batch.map(|m| m.0),
            chunk: span.chunk,
            ..Row::default()
        };
        let key = |row: &Row| (row.class, row.micro_batch, row.chunk);
        match rows.last_mut() {
            Some(last) if key(last) == key(&row) => last.end = last.end.max(row.end),
            _ => rows.push(row),
        }
    }
    rows
}
