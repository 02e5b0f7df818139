//! What each bubble of a step waited for.
//!
//! Responsible for: the work of another rank that a rank's next work depended on. Refuses to guess: a step without dependencies has none.

use crate::span::Activity;
use crate::{SpanRef, Step, StreamKind, Time};

/// What ends the bubbles of a step.
pub(super) struct Waits {
    /// What waits, and for what, sorted.
    edges: Vec<(SpanRef, SpanRef)>,
}

impl Waits {
    pub(super) fn of(step: &Step) -> Self {
        let mut edges: Vec<(SpanRef, SpanRef)> = step.dependencies.iter().map(|d| (d.to, d.from)).collect();
        edges.sort_unstable();
        Self { edges }
    }

    /// The work of another rank that the work after a bubble waited for: of what each span depends on, what ended last, through messages on
    /// their way. `None` where the rank waited for itself.
    pub(super) fn awaited(&self, step: &Step, rank: usize, end: Time) -> Option<SpanRef> {
        let streams = step.ranks.get(rank)?.streams.iter().enumerate();
        let first =
            streams.filter(|(_, stream)| stream.kind == StreamKind::Compute).find_map(|(at, stream)| {
                let span = stream.spans.starts().partition_point(|start| *start < end);
                let is_there = span < stream.spans.len();
                is_there.then_some(SpanRef { rank: rank as u32, stream: at as u32, span: span as u32 })
            });
        let mut here = first?;
        // A message passes a send and a receive; more hops than this are no message.
        for _ in 0..8 {
            let from = self.edges.partition_point(|(to, _)| *to < here);
            let waited = self.edges[from..].iter().take_while(|(to, _)| *to == here).map(|(_, from)| *from);
            let Some(next) = waited.max_by_key(|at| step.span(*at).map(|span| span.end)) else {
                // A mark on another stream of the sender: what the sender computed until then.
                return if here.rank as usize == rank { None } else { work_before(step, here) };
            };
            here = next;
            if step.span(here)?.activity == Activity::Compute {
                return (here.rank as usize != rank).then_some(here);
            }
        }
        None
    }
}

/// The last work of a span's rank that has ended when the span ends.
fn work_before(step: &Step, at: SpanRef) -> Option<SpanRef> {
    let end = step.span(at)?.end;
    let streams = step.ranks.get(at.rank as usize)?.streams.iter().enumerate();
    let computing = streams.filter(|(_, stream)| stream.kind == StreamKind::Compute);
    let last = computing.filter_map(|(place, stream)| {
        let span = stream.spans.ends().partition_point(|other| *other <= end).checked_sub(1)?;
        Some((stream.spans.ends()[span], SpanRef { stream: place as u32, span: span as u32, ..at }))
    });
    last.max_by_key(|(end, _)| *end).map(|(_, at)| at)
}
