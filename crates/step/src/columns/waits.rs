//! Causes of a step's bubbles.
//!
//! Responsible for: the work of another rank that a rank's next work depended on, and the last pass of the
//! pipeline, for which drained ranks wait. A step without dependencies has no other causes.

use crate::span::Activity;
use crate::{SpanRef, Step, StreamKind, Time};

/// Dependencies of a step, to find the causes of bubbles.
pub(super) struct Waits {
    /// Dependent span and its predecessor, sorted.
    edges: Vec<(SpanRef, SpanRef)>,
    /// End of the pipeline, with its last pass.
    last: Option<(Time, SpanRef)>,
}

impl Waits {
    pub(super) fn of(step: &Step, pipeline: Option<(Time, Time)>) -> Self {
        let mut edges: Vec<(SpanRef, SpanRef)> = step.dependencies.iter().map(|d| (d.to, d.from)).collect();
        edges.sort_unstable();
        Self { edges, last: pipeline.and_then(|(_, end)| Some((end, ending(step, end)?))) }
    }

    /// The last pass of the pipeline, if a bubble lasts until its end. `None` if that pass is on the same
    /// rank.
    pub(super) fn drained(&self, step: &Step, rank: usize, end: Time) -> Option<SpanRef> {
        let (until, last) = self.last?;
        let drains = end == until && last.rank as usize != rank && step.ranks.get(rank).is_some();
        drains.then_some(last)
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

/// A pass that ends at this time, on the first of several ranks.
fn ending(step: &Step, end: Time) -> Option<SpanRef> {
    (0_u32..).zip(&step.ranks).find_map(|(rank, of)| {
        let streams = (0_u32..).zip(&of.streams).filter(|(_, stream)| stream.kind == StreamKind::Compute);
        streams.into_iter().find_map(|(stream, of)| {
            let span = of.spans.ends().partition_point(|other| *other < end);
            let at = SpanRef { rank, stream, span: u32::try_from(span).ok()? };
            let found = step.span(at)?;
            (found.end == end && found.phase.is_pass() && found.activity == Activity::Compute).then_some(at)
        })
    })
}
