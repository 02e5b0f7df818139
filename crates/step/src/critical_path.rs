//! The critical path: the chain of spans that makes the step as long as it is.
//!
//! Responsible for: walking back from the last span, each time to the span that was waited for (the one before it on its
//! stream, or one that it depends on, whichever ended last), and adding up what the chain is made of. Refuses to guess
//! dependencies that the step does not have.

use crate::breakdown::Label;
use crate::{Activity, SpanRef, Step, Time};

/// The chain that makes the step as long as it is.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct CriticalPath {
    /// Its spans, first to last.
    pub spans: Vec<SpanRef>,
    /// What it is made of, most first; gaps between its spans are [`Label::Idle`]. Adds up to the step.
    pub parts: Vec<(Label, Time)>,
    /// Number of transitions between ranks.
    pub crossings: usize,
}

fn label(activity: Activity, phase: crate::Phase) -> Label {
    match activity {
        Activity::Compute => Label::Compute(phase),
        Activity::Communication(dimension) => Label::Exposed(dimension),
        Activity::Copy => Label::Copy,
        Activity::Host => Label::Host,
        Activity::Wait => Label::Waiting,
    }
}

/// Finds the critical path; empty for a step without spans.
pub fn critical_path(step: &Step) -> CriticalPath {
    let mut edges: Vec<(SpanRef, SpanRef)> = step.dependencies.iter().map(|d| (d.to, d.from)).collect();
    edges.sort_unstable();
    let mut at = last_span(step);
    let mut path = CriticalPath::default();
    let mut parts: Vec<(Label, Time)> = Vec::new();
    let mut add = |label: Label, time: Time| {
        if time > Time::ZERO {
            match parts.iter_mut().find(|(l, _)| *l == label) {
                Some(part) => part.1 += time,
                None => parts.push((label, time)),
            }
        }
    };
    let mut until = step.end;
    // No path is longer than all spans; more would be a circle.
    let most = span_count(step);
    while let Some(here) = at {
        let Some(span) = step.span(here) else { break };
        add(Label::Idle, until - span.end.min(until));
        // An overlap cannot be in a valid step; were there one, no moment would be counted twice.
        add(label(span.activity, span.phase), span.end.min(until) - span.start.min(until));
        until = until.min(span.start);
        path.spans.push(here);
        let before = here.span.checked_sub(1).map(|span| SpanRef { span, ..here });
        let first = edges.partition_point(|(to, _)| *to < here);
        let waited = edges[first..].iter().take_while(|(to, _)| *to == here).map(|(_, from)| *from);
        // What ended last was waited for. A predecessor must be earlier, so that the walk ends on any input.
        let earlier =
            |r: &SpanRef| step.span(*r).is_some_and(|s| (s.end, s.start) <= (span.start, span.start));
        let next =
            before.into_iter().chain(waited).filter(earlier).max_by_key(|r| step.span(*r).map(|s| s.end));
        path.crossings += usize::from(next.is_some_and(|n| n.rank != here.rank));
        at = next.filter(|_| path.spans.len() < most);
    }
    add(Label::Idle, until - step.start);
    parts.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
    path.parts = parts;
    path.spans.reverse();
    path
}

fn span_count(step: &Step) -> usize {
    step.ranks.iter().flat_map(|rank| &rank.streams).map(|stream| stream.spans.len()).sum()
}

fn last_span(step: &Step) -> Option<SpanRef> {
    let mut last: Option<(Time, SpanRef)> = None;
    for (r, rank) in step.ranks.iter().enumerate() {
        for (s, stream) in rank.streams.iter().enumerate() {
            if let Some(end) = stream.spans.last_end()
                && last.is_none_or(|(latest, _)| end > latest)
            {
                let span = stream.spans.len() as u32 - 1;
                last = Some((end, SpanRef { rank: r as u32, stream: s as u32, span }));
            }
        }
    }
    last.map(|(_, at)| at)
}
