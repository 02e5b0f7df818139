//! Passes of a modelled or measured [`Step`], so that a prediction has the same view as a recording.
//!
//! Responsible for: joining the spans of one pass of one micro-batch. Excludes ranks without passes.

use crate::passes::{Pass, PassKind, PassShape, Passes, StepTime};
use railwright_step::{Activity, Dimension, Phase, RankTimeline, Step};

/// Converts a time of a step to nanoseconds.
fn nanoseconds(time: railwright_step::Time) -> i64 {
    (time.seconds().get() * 1e9).round() as i64
}

/// The passes of a step.
pub fn passes(step: &Step) -> Passes {
    let mut passes = Passes { label: step.name.clone(), ..Passes::default() };
    for rank in &step.ranks {
        passes.steps.push(StepTime {
            step: 0,
            rank: rank.rank.0,
            duration: nanoseconds(step.end) - nanoseconds(step.start),
            memory_bytes: None,
        });
        of_rank(rank, &mut passes.passes);
    }
    // Ranks of one stage are its replicas, in order.
    let mut seen: Vec<(u32, u32)> = Vec::new();
    for rank in &step.ranks {
        let nth = seen.iter().filter(|(stage, _)| *stage == rank.stage.0).count() as u32;
        seen.push((rank.stage.0, rank.rank.0));
        passes.passes.iter_mut().filter(|p| p.rank == rank.rank.0).for_each(|p| p.replica = nth);
    }
    passes.sort();
    let shape = PassShape::default().widened(&passes.passes);
    let batches = passes.passes.iter().filter_map(|p| p.micro_batch).max().map_or(0, |m| m.saturating_add(1));
    passes.shape = PassShape { micro_batches: batches, ..shape };
    passes
}

fn of_rank(rank: &RankTimeline, passes: &mut Vec<Pass>) {
    let first = passes.len();
    let spans = rank.streams.iter().flat_map(|s| s.spans.iter());
    let mut spans: Vec<_> = spans
        .filter(|s| s.phase.is_pass() && s.micro_batch.is_some())
        // Messages awaited by other ranks are in transit, not part of the pass.
        .filter(|s| {
            s.activity != Activity::Wait && s.activity != Activity::Communication(Dimension::Pipeline)
        })
        .collect();
    spans.sort_by_key(|s| (s.start, s.end));
    let mut chunks: Vec<u32> = spans.iter().filter_map(|s| s.chunk).collect();
    chunks.sort_unstable();
    chunks.dedup();
    for span in spans {
        let kind = match span.phase {
            Phase::Forward => PassKind::Forward,
            // Recompute is part of the backward pass that needs it.
            Phase::Recompute | Phase::Backward => PassKind::Backward,
            Phase::BackwardInput => PassKind::BackwardInput,
            _ => PassKind::BackwardWeight,
        };
        let chunk = span.chunk.and_then(|c| chunks.binary_search(&c).ok()).unwrap_or(0) as u32;
        let micro_batch = span.micro_batch.map(|m| m.0);
        let (start, end) = (nanoseconds(span.start), nanoseconds(span.end));
        let same = |p: &&mut Pass| (p.kind, p.micro_batch, p.chunk) == (kind, micro_batch, chunk);
        if let Some(pass) = passes[first..].iter_mut().rev().take(4).find(same) {
            pass.end = pass.end.max(end);
            continue;
        }
        passes.push(Pass {
            step: 0,
            rank: rank.rank.0,
            stage: rank.stage.0,
            replica: 0,
            shard: 0,
            kind,
            micro_batch,
            chunk,
            start,
            end,
        });
    }
    // Recompute makes a divided backward pass begin earlier; an undivided one has no input pass.
    let divided = passes[first..].iter().any(|p| p.kind == PassKind::BackwardInput);
    if divided {
        passes[first..]
            .iter_mut()
            .filter(|p| p.kind == PassKind::Backward)
            .for_each(|p| p.kind = PassKind::BackwardInput);
        let mut joined: Vec<Pass> = Vec::new();
        for pass in passes.drain(first..) {
            match joined
                .iter_mut()
                .rev()
                .take(4)
                .find(|p| (p.kind, p.micro_batch, p.chunk) == (pass.kind, pass.micro_batch, pass.chunk))
            {
                Some(before) => before.end = before.end.max(pass.end),
                None => joined.push(pass),
            }
        }
        passes.append(&mut joined);
    }
}
