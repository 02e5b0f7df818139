//! Operators of a step combined into passes.
//!
//! Responsible for: rows of consecutive operators of one micro-batch and phase. A row ends with its last
//! operator, so gaps stay.

use super::track::nanos;
use super::{Class, Row};
use crate::span::Activity;
use crate::{Names, OperatorFamily, RankTimeline, Step, StreamKind};

/// Whole passes, if the compute stream contains their operators: consecutive operators of one micro-batch and
/// phase are one row, exposed communication included. Empty if the stream contains passes itself or has no
/// micro-batches.
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
