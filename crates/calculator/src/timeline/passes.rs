//! The passes of every stage and the messages between stages.
//!
//! Responsible for: placing passes and messages at their times. Excludes the parts of a pass (see
//! [`super::parts`]).

use super::detail::Depth;
use super::groups;
use super::parts::Parts;
use crate::costing::Costing;
use crate::evaluate::Evaluation;
use crate::partition::rank_stride;
use crate::schedule::{OperationKind, PipelineTimeline, TimedOperation};
use crate::transfer::{Gather, Transfer};
use railwright_spec::problem::{Problem, Wanted};
use railwright_spec::quantity::MicroBatch;
use railwright_step::build::{MessageEnd, TimedPass, write_message, write_pass};
use railwright_step::{Activity, Dimension, OperatorFamily, Phase, Span, SpanRef, Step, StreamKind, Time};

const KINDS: [(OperationKind, Phase, &str); 5] = [
    (OperationKind::Forward, Phase::Forward, "forward"),
    (OperationKind::Recompute, Phase::Recompute, "recompute"),
    (OperationKind::Backward, Phase::Backward, "backward"),
    (OperationKind::BackwardInput, Phase::BackwardInput, "backward input"),
    (OperationKind::BackwardWeight, Phase::BackwardWeight, "backward weight"),
];

/// Number of passes between two checks for cancellation: some milliseconds.
const PASSES_AT_ONCE: usize = 1024;

fn kind_index(kind: OperationKind) -> usize {
    KINDS.iter().position(|k| k.0 == kind).unwrap_or(0)
}

/// The first and last span of a pass, by direction, chunk and micro-batch.
struct Ends {
    micro_batches: usize,
    spans: [Vec<Option<(SpanRef, SpanRef)>>; 2],
}

impl Ends {
    fn slot(
        &mut self,
        back: bool,
        chunk: usize,
        micro_batch: u32,
    ) -> Option<&mut Option<(SpanRef, SpanRef)>> {
        self.spans[usize::from(back)].get_mut(chunk * self.micro_batches + micro_batch as usize)
    }
}

/// Writes passes and messages.
pub(super) fn write(
    step: &mut Step,
    costing: &Costing<'_>,
    evaluation: &Evaluation,
    simulated: &PipelineTimeline,
    depth: Depth,
    wanted: Wanted<'_>,
) -> Result<(), Problem> {
    let chunks = evaluation.chunks.len();
    let micro_batches = costing.plan.micro_batches().max(1) as usize;
    let whole = KINDS.map(|(.., name)| step.names.intern(name));
    let parts = Parts::new(step, costing, evaluation, depth, simulated, wanted)?;
    let empty = || vec![None; chunks * micro_batches];
    let mut ends = Ends { micro_batches, spans: [empty(), empty()] };
    for (rank, operations) in simulated.stages.iter().enumerate() {
        for (at, timed) in operations.iter().enumerate() {
            if at % PASSES_AT_ONCE == 0 {
                wanted()?;
            }
            let operation = timed.operation;
            let kind = kind_index(operation.kind);
            let chunk = operation.chunk as usize;
            let pass = TimedPass {
                rank,
                phase: KINDS[kind].1,
                micro_batch: Some(MicroBatch(operation.micro_batch)),
                chunk: Some(operation.chunk),
                start: Time::from_seconds(timed.start),
                end: Time::from_seconds(timed.end),
            };
            let written = write_pass(step, &pass, whole[kind], parts.of(chunk, operation.kind));
            let back = operation.kind != OperationKind::Forward;
            if operation.kind != OperationKind::BackwardWeight
                && let (Some((first, last)), Some(slot)) =
                    (written, ends.slot(back, chunk, operation.micro_batch))
            {
                // The gradient for the next backward pass arrives before recompute.
                *slot = Some((slot.map_or(first, |s| s.0), last));
            }
        }
    }
    wanted()?;
    messages(step, costing, evaluation, simulated, &mut ends);
    Ok(())
}

/// Writes arrows and spans of messages from one stage to another.
fn messages(
    step: &mut Step,
    costing: &Costing<'_>,
    evaluation: &Evaluation,
    simulated: &PipelineTimeline,
    ends: &mut Ends,
) {
    let Some(transfer) = Transfer::new(costing) else { return };
    let names = ["send activations", "send gradients", "receive activations", "receive gradients"];
    let names = names.map(|n| step.names.intern(n));
    let gather = Time::from_seconds(transfer.gather_time());
    let gathers = ["gather activations", "gather gradients"].map(|n| step.names.intern(n));
    let mut receives: Vec<(Time, Time)> = vec![(Time::ZERO, Time::ZERO); ends.spans[0].len() * 2];
    let place = |back: bool, chunk: usize, micro_batch: u32, m: usize| {
        2 * (chunk * m + micro_batch as usize) + usize::from(back)
    };
    let m = ends.micro_batches;
    for timed in simulated.stages.iter().flatten().filter(|t| t.source.is_some()) {
        let back = timed.operation.kind != OperationKind::Forward;
        receives[place(back, timed.operation.chunk as usize, timed.operation.micro_batch, m)] =
            (Time::from_seconds(timed.receive_start), Time::from_seconds(timed.start));
    }
    let mut messages = groups::Messages::new(transfer.message);
    for (rank, operations) in simulated.stages.iter().enumerate() {
        for timed in operations {
            let Some(target) = timed.target else { continue };
            let TimedOperation { operation, .. } = *timed;
            let back = operation.kind != OperationKind::Forward;
            let chunk = operation.chunk as usize;
            let Some(next) = (if back { chunk.checked_sub(1) } else { Some(chunk + 1) }) else { continue };
            let from = ends.slot(back, chunk, operation.micro_batch).and_then(|s| *s);
            let to = ends.slot(back, next, operation.micro_batch).and_then(|s| *s);
            let (Some((_, last)), Some((first, _))) = (from, to) else { continue };
            let end = Time::from_seconds(timed.end);
            let until = Time::from_seconds(timed.end + evaluation.transfer);
            let lane = u8::from(back);
            let (send, receive) = messages.between(step, rank, target as usize);
            let sender = MessageEnd {
                rank,
                pass: last,
                start: end,
                end: until,
                name: names[usize::from(back)],
                lane,
                collective: send,
            };
            let (start, arrived) =
                receives.get(place(back, next, operation.micro_batch, m)).copied().unwrap_or_default();
            let receiver = MessageEnd {
                rank: target as usize,
                pass: first,
                start,
                end: (arrived - gather).max(start),
                name: names[2 + usize::from(back)],
                lane: 2 + lane,
                collective: receive,
            };
            write_message(step, &sender, &receiver, transfer.message.get() as u64);
            if let Some(gather) = &transfer.gather {
                let end = MessageEnd {
                    start: receiver.end,
                    end: arrived,
                    name: gathers[usize::from(back)],
                    ..receiver
                };
                write_gather(step, costing, gather, &end, u64::from(target) * rank_stride(costing.plan));
            }
        }
    }
}

/// Gather of a message that arrived in parts, by the tensor ranks of the receiving stage, after the message
/// on its stream.
fn write_gather(step: &mut Step, costing: &Costing<'_>, gather: &Gather, end: &MessageEnd, base: u64) {
    let stream = StreamKind::Communication(Dimension::Pipeline, end.lane);
    let free = step.stream_end(end.rank, stream).unwrap_or(end.start);
    let what = (Gather::OPERATION, Gather::PROCESS_GROUP, gather.bytes);
    let Some(pass) = step.span(end.pass) else { return };
    let span = Span {
        start: end.start.max(free),
        end: end.end.max(free),
        activity: Activity::Communication(Dimension::Pipeline),
        operator: OperatorFamily::Collective,
        name: end.name,
        collective: groups::collective(step, costing, what, base),
        bytes: gather.bytes.get() as u64,
        phase: pass.phase,
        micro_batch: pass.micro_batch,
        chunk: pass.chunk,
        layer: None,
    };
    step.push(end.rank, stream, span);
}
