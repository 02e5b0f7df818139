//! Builds a step from passes and their parts.
//!
//! Responsible for: placement of the parts of a pass on their streams, within its time. The calculator's
//! schedule orders and times passes.

use crate::{
    Activity, CollectiveId, DependencyKind, Dimension, NameId, OperatorFamily, Phase, Span, SpanRef, Step,
    StreamKind, Time,
};
use railwright_spec::quantity::{LayerIndex, MicroBatch, Seconds};

/// A part of a pass: an operator, or a communication.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Part {
    /// Name.
    pub name: NameId,
    /// Activity.
    pub activity: Activity,
    /// Kind of operator.
    pub operator: OperatorFamily,
    /// Duration. Sequential parts are scaled by the same factor to fill the pass.
    pub duration: Seconds,
    /// Stream.
    pub stream: StreamKind,
    /// True if the next part starts at the same time instead of after it.
    pub overlapped: bool,
    /// Layer; `None` for parts outside layers.
    pub layer: Option<LayerIndex>,
    /// Bytes moved; 0 if unknown.
    pub bytes: u64,
    /// Collective; `None` for compute.
    pub collective: Option<CollectiveId>,
}

impl Part {
    /// Sequential compute.
    pub fn compute(name: NameId, operator: OperatorFamily, duration: Seconds) -> Self {
        Self {
            name,
            activity: Activity::Compute,
            operator,
            duration,
            stream: StreamKind::Compute,
            overlapped: false,
            layer: None,
            bytes: 0,
            collective: None,
        }
    }

    /// Communication of a dimension, sequential unless `overlapped`.
    pub fn communication(
        name: NameId,
        dimension: Dimension,
        duration: Seconds,
        overlapped: bool,
        collective: Option<CollectiveId>,
    ) -> Self {
        Self {
            activity: Activity::Communication(dimension),
            operator: OperatorFamily::Collective,
            stream: StreamKind::Communication(dimension, 0),
            overlapped,
            collective,
            ..Self::compute(name, OperatorFamily::Collective, duration)
        }
    }
}

/// A pass with its times.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimedPass {
    /// Index of the rank.
    pub rank: usize,
    /// Phase of all its parts.
    pub phase: Phase,
    /// Micro-batch; `None` outside the pipeline.
    pub micro_batch: Option<MicroBatch>,
    /// Virtual stage.
    pub chunk: Option<u32>,
    /// Start time.
    pub start: Time,
    /// End time.
    pub end: Time,
}

/// Writes a pass into a step. Returns its first and last span.
///
/// Sequential parts fill the pass from start to end without a gap. An overlapped part starts at the current
/// position of the sequence, or when its stream is free. It keeps its own duration and may outlast the pass.
/// Without sequential parts, the pass is one span named `whole`.
pub fn write_pass(
    step: &mut Step,
    pass: &TimedPass,
    whole: NameId,
    parts: &[Part],
) -> Option<(SpanRef, SpanRef)> {
    let span = |start: Time, end: Time| Span {
        start,
        end,
        phase: pass.phase,
        micro_batch: pass.micro_batch,
        chunk: pass.chunk,
        ..Span::default()
    };
    let sequence: f64 = parts.iter().filter(|p| !p.overlapped).map(|p| p.duration.get()).sum();
    let length = (pass.end - pass.start).0 as f64;
    let (mut first, mut last) = (None, None);
    if sequence <= 0.0 {
        let operator = OperatorFamily::Pass;
        let one = Span { name: whole, operator, ..span(pass.start, pass.end) };
        first = step.push(pass.rank, StreamKind::Compute, one);
        last = first;
    }
    let mut reached = 0.0;
    let mut at = pass.start;
    for part in parts {
        let (start, end) = if part.overlapped {
            let free = step.stream_end(pass.rank, part.stream).unwrap_or(at);
            let start = at.max(free);
            (start, start + Time::from_seconds(part.duration))
        } else {
            reached += part.duration.get();
            // Each end is rounded relative to the start of the pass, so that the last part ends with the
            // pass.
            let end = (pass.start + Time((length * reached / sequence).round() as i64)).min(pass.end).max(at);
            (std::mem::replace(&mut at, end), end)
        };
        let row = Span {
            activity: part.activity,
            operator: part.operator,
            name: part.name,
            layer: part.layer,
            bytes: part.bytes,
            collective: part.collective,
            ..span(start, end)
        };
        let pushed = step.push(pass.rank, part.stream, row);
        if !part.overlapped {
            // A part on another stream depends on the part before it.
            if let (Some(before), Some(next)) = (last, pushed)
                && before.stream != next.stream
            {
                depend(step, before, next, DependencyKind::Stream);
            }
            first = first.or(pushed);
            last = pushed;
        }
    }
    first.zip(last)
}

/// One end of a message: the rank, the pass that produces or consumes the data, and the time of the transfer
/// at this end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MessageEnd {
    /// Index of the rank.
    pub rank: usize,
    /// Pass at this end.
    pub pass: SpanRef,
    /// Start time.
    pub start: Time,
    /// End time.
    pub end: Time,
    /// Name of the span.
    pub name: NameId,
    /// Number of the rank's pipeline stream.
    pub lane: u8,
    /// Collective; `None` if not described.
    pub collective: Option<CollectiveId>,
}

/// Writes a message from one stage to another: a span at each end, and the dependencies. A message that would
/// overlap the previous one on its stream starts at that one's end. A message without duration is only a
/// dependency.
pub fn write_message(step: &mut Step, from: &MessageEnd, to: &MessageEnd, bytes: u64) {
    let (send, receive) = (write_end(step, from, bytes), write_end(step, to, bytes));
    if let Some(send) = send {
        depend(step, from.pass, send, DependencyKind::Stream);
    }
    match receive {
        Some(receive) => {
            depend(step, from.pass, receive, DependencyKind::Message);
            depend(step, receive, to.pass, DependencyKind::Stream);
        }
        None => depend(step, from.pass, to.pass, DependencyKind::Message),
    }
}

fn write_end(step: &mut Step, end: &MessageEnd, bytes: u64) -> Option<SpanRef> {
    if end.start >= end.end {
        return None;
    }
    let stream = StreamKind::Communication(Dimension::Pipeline, end.lane);
    let free = step.stream_end(end.rank, stream).unwrap_or(end.start);
    let pass = step.span(end.pass)?;
    let span = Span {
        start: end.start.max(free),
        end: end.end.max(free),
        activity: Activity::Communication(Dimension::Pipeline),
        operator: OperatorFamily::Collective,
        name: end.name,
        collective: end.collective,
        bytes,
        phase: pass.phase,
        micro_batch: pass.micro_batch,
        chunk: pass.chunk,
        layer: None,
    };
    step.push(end.rank, stream, span)
}

/// Adds a dependency, unless a later display time of a message contradicts it.
fn depend(step: &mut Step, from: SpanRef, to: SpanRef, kind: DependencyKind) {
    if step.span(from).zip(step.span(to)).is_some_and(|(from, to)| from.end <= to.start) {
        step.depend(from, to, kind);
    }
}
