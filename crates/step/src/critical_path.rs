//! The critical path: the chain of spans that determines the step time.
//!
//! Responsible for: tracing back from the last span, each time to the predecessor that ended last (the
//! previous span on its stream, or a dependency), and the time by label on the chain. Follows only recorded
//! dependencies.

use crate::breakdown::Label;
use crate::{Activity, Dimension, SpanRef, Step, Time};

/// Chain of spans that determines the step time.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct CriticalPath {
    /// Spans from first to last.
    pub spans: Vec<SpanRef>,
    /// Time by label, largest first. Gaps between spans are communication of the rank on other streams, else
    /// [`Label::Idle`]. Adds up to the step.
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
    // The rank whose next span begins at `until`.
    let mut waiting = at.map_or(0, |last| last.rank);
    // No path is longer than all spans; a longer one would be a cycle.
    let most = span_count(step);
    while let Some(here) = at {
        let Some(span) = step.span(here) else { break };
        fill(step, waiting, (span.end, until), &mut add);
        waiting = here.rank;
        // Overlap is impossible in a valid step; with an invalid one, no moment counts twice.
        add(label(span.activity, span.phase), span.end.min(until) - span.start.min(until));
        until = until.min(span.start);
        path.spans.push(here);
        let before = here.span.checked_sub(1).map(|span| SpanRef { span, ..here });
        let first = edges.partition_point(|(to, _)| *to < here);
        let waited = edges[first..].iter().take_while(|(to, _)| *to == here).map(|(_, from)| *from);
        // The predecessor is the span that ended last. It must be earlier, so that the loop ends on any
        // input.
        let earlier =
            |r: &SpanRef| step.span(*r).is_some_and(|s| (s.end, s.start) <= (span.start, span.start));
        let next =
            before.into_iter().chain(waited).filter(earlier).max_by_key(|r| step.span(*r).map(|s| s.end));
        path.crossings += usize::from(next.is_some_and(|n| n.rank != here.rank));
        at = next.filter(|_| path.spans.len() < most);
    }
    fill(step, waiting, (step.start, until), &mut add);
    parts.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
    path.parts = parts;
    path.spans.reverse();
    path
}

/// Adds a gap of the chain on a rank: communication on its other streams, which delays the chain without
/// being a recorded dependency, and idle time.
fn fill(step: &Step, rank: u32, (from, until): (Time, Time), add: &mut impl FnMut(Label, Time)) {
    let mut exposed: Vec<(Time, Time, Dimension)> = Vec::new();
    for stream in step.ranks.get(rank as usize).map_or(&[][..], |rank| &rank.streams) {
        let first = stream.spans.ends().partition_point(|end| *end <= from);
        let spans = (first..).map_while(|at| stream.spans.get(at)).take_while(|span| span.start < until);
        for span in spans {
            if let Activity::Communication(dimension) = span.activity {
                exposed.push((span.start.max(from), span.end.min(until), dimension));
            }
        }
    }
    exposed.sort_unstable();
    let mut here = from;
    for (start, end, dimension) in exposed {
        add(Label::Idle, start - here.min(start));
        add(Label::Exposed(dimension), end - start.max(here).min(end));
        here = here.max(end);
    }
    add(Label::Idle, until - here.min(until));
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
