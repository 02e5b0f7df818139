//! Causes of a step's bubbles.
//!
//! Responsible for: the work of another rank that a rank's next work depended on. A step without dependencies
//! has no causes.

use crate::span::Activity;
use crate::{SpanRef, Step, StreamKind, Time};

/// Dependencies of a step, to find the causes of bubbles.
pub(super) struct Waits {
    /// Dependent span and its predecessor, sorted.
    edges: Vec<(SpanRef, SpanRef)>,
}

impl Waits {
    pub(super) fn of(step: &Step) -> Self {
        let mut edges: Vec<(SpanRef, SpanRef)> = step.dependencies.iter().map(|d| (d.to, d.from)).collect();
        edges.sort_unstable();
        Self { edges }
    }

    /// Work of another rank that ended a bubble: from the next span of the rank, the latest predecessor,
    /// traced through messages. `None` if the predecessor is on the same rank.
    pub(super) fn awaited(&self, step: &Step, rank: usize, end: Time) -> Option<SpanRef> {
        let streams = step.ranks.get(rank)?.streams.iter().enumerate();
        let first =
            streams.filter(|(_, stream)| stream.kind == StreamKind::Compute).find_map(|(at, stream)| {
                let span = stream.spans.starts().partition_point(|start| *start < end);
                let is_there = span < stream.spans.len();
                is_there.then_some(SpanRef { rank: rank as u32, stream: at as u32, span: span as u32 })
            });
        let mut here = first?;
        // A message consists of a send and a receive; more hops are not a message.
        for _ in 0..8 {
            let from = self.edges.partition_point(|(to, _)| *to < here);
            let waited = self.edges[from..].iter().take_while(|(to, _)| *to == here).map(|(_, from)| *from);
            let Some(next) = waited.max_by_key(|at| step.span(*at).map(|span| span.end)) else {
                // A span on another stream of the sender: its last compute until then.
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

/// Last compute of the span's rank that ends no later than the span.
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
