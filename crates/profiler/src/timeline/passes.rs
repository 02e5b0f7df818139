//! Passes of a measured pipeline as rows, with the bubbles between them.
//!
//! Responsible for: the passes of one rank within the step. Does not detect passes: see
//! [`crate::pipeline::from_job`].

use super::rank::Inputs;
use super::rows::{Drawn, Name, Named, Of, Shows};
use crate::passes::{PassKind, Passes};
use railwright_step::columns::{BubbleRow, Class, Part, Row};

/// Colour class of a pass.
pub(crate) const fn class(kind: PassKind) -> Class {
    match kind {
        PassKind::Forward => Class::Forward,
        PassKind::Backward | PassKind::BackwardInput => Class::Backward,
        PassKind::BackwardWeight => Class::WeightGradient,
        PassKind::SendForward
        | PassKind::ReceiveForward
        | PassKind::SendBackward
        | PassKind::ReceiveBackward => Class::Pipeline,
        PassKind::ParameterGather
        | PassKind::GradientReduce
        | PassKind::RemainderReduce
        | PassKind::NormReduce
        | PassKind::EmbeddingReduce => Class::Data,
        PassKind::GradientClip | PassKind::Optimizer => Class::Optimizer,
        PassKind::DataLoading => Class::Host,
        PassKind::Other => Class::Other,
    }
}

/// Minimum length of a bubble in nanoseconds: launching the next pass takes as long.
const SHORTEST: i64 = 2_000;

/// Track of a rank's passes; empty without passes in the step.
pub(super) fn of_rank(passes: &Passes, rank: u32, inputs: &Inputs) -> Vec<Drawn> {
    let mut own: Vec<_> = passes
        .passes
        .iter()
        .filter(|pass| pass.rank == rank && pass.kind.is_compute())
        .filter(|pass| pass.end > inputs.start && pass.start < inputs.end)
        .collect();
    if own.is_empty() {
        return Vec::new();
    }
    own.sort_by_key(|pass| (pass.start, pass.end));
    let mut rows = Vec::new();
    let mut until: Option<i64> = None;
    for pass in own {
        let start = pass.start - inputs.start;
        if let Some(until) = until.filter(|until| start - until >= SHORTEST) {
            let row = Row { start: until, end: start, class: Class::Bubble, ..Row::default() };
            rows.push(Named { row, name: Name::Known("bubble"), of: Of::Bubble });
        }
        let end = pass.end - inputs.start;
        until = Some(until.map_or(end, |until| until.max(end)));
        let row = Row {
            start,
            end,
            class: class(pass.kind),
            micro_batch: pass.micro_batch,
            chunk: Some(pass.chunk),
            ..Row::default()
        };
        rows.push(Named { row, name: Name::Known(pass.kind.name()), of: Of::Pass });
    }
    vec![Drawn::of("passes", rows).showing(Shows::Passes)]
}

/// Bubbles of a rank; `None` without passes.
pub(super) fn bubbles(drawn: &[Drawn], rank: u32, stage: u32) -> Option<BubbleRow> {
    let passes = drawn.first().filter(|first| first.name == "passes")?;
    let (first, last) = (passes.rows.first()?, passes.rows.last()?);
    let time_ns = passes.time(Class::Bubble);
    let parts = vec![Part { name: "between passes".to_owned(), time_ns }];
    let share = time_ns as f64 / (last.end - first.start).max(1) as f64;
    Some(BubbleRow { rank, stage, parts, share, ..BubbleRow::default() })
}
