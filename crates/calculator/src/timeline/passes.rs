//! The passes of every stage, their operators and collectives, and the messages between stages.

use super::groups;
use crate::costing::Costing;
use crate::estimate::calls::{self, Call};
use crate::estimate::communication::operation;
use crate::evaluate::Evaluation;
use crate::schedule::{OperationKind, PipelineTimeline, TimedOperation};
use crate::transfer::{Gather, Transfer};
use crate::work::{Dimension as WorkDimension, Family, Work};
use railwright_spec::problem::{Problem, Wanted};
use railwright_spec::quantity::{MicroBatch, Seconds};
use railwright_step::build::{MessageEnd, Part, TimedPass, write_message, write_pass};
use railwright_step::{
    Activity, Dimension, NameId, OperatorFamily, Phase, Span, SpanRef, Step, StreamKind, Time,
};

const KINDS: [(OperationKind, Phase, &str); 5] = [
    (OperationKind::Forward, Phase::Forward, "forward"),
    (OperationKind::Recompute, Phase::Recompute, "recompute"),
    (OperationKind::Backward, Phase::Backward, "backward"),
    (OperationKind::BackwardInput, Phase::BackwardInput, "backward input"),
    (OperationKind::BackwardWeight, Phase::BackwardWeight, "backward weight"),
];

/// Passes between two questions whether the timeline is still wanted: some milliseconds.
const PASSES_AT_ONCE: usize = 1024;

fn kind_index(kind: OperationKind) -> usize {
    KINDS.iter().position(|k| k.0 == kind).unwrap_or(0)
}

/// The first and last span of a pass, by direction, chunk and micro batch.
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
    detailed: bool,
    wanted: Wanted<'_>,
) -> Result<(), Problem> {
    let chunks = evaluation.chunks.len();
    let micro_batches = costing.plan.micro_batches().max(1) as usize;
    let whole = KINDS.map(|(.., name)| step.names.intern(name));
    let parts: Vec<[Vec<Part>; 5]> = (0..chunks)
        .map(|c| if detailed { parts(step, costing, evaluation, c) } else { Default::default() })
        .collect();
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
            let written = write_pass(step, &pass, whole[kind], &parts[chunk][kind]);
            let back = operation.kind != OperationKind::Forward;
            if operation.kind != OperationKind::BackwardWeight
                && let (Some((first, last)), Some(slot)) =
                    (written, ends.slot(back, chunk, operation.micro_batch))
            {
                // Recompute receives the gradient for the backward pass that follows it.
                *slot = Some((slot.map_or(first, |s| s.0), last));
            }
        }
    }
    wanted()?;
    messages(step, costing, evaluation, simulated, &mut ends);
    Ok(())
}

/// Arrows and spans for what one stage sends another.
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
                write_gather(
                    step,
                    costing,
                    gather,
                    &end,
                    u64::from(target) * groups::rank_stride(costing.plan),
                );
            }
        }
    }
}

/// What the tensor ranks of a receiving stage gather of a message that came in parts, behind the message on its stream.
fn write_gather(step: &mut Step, costing: &Costing<'_>, gather: &Gather, end: &MessageEnd, base: u64) {
    let stream = StreamKind::Communication(Dimension::Pipeline, end.lane);
    let free = step.stream_end(end.rank, stream).unwrap_or(end.start);
    let what = (Gather::OPERATION, Gather::AMONG, gather.bytes);
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

/// The step's dimension for a dimension of work.
pub(super) const fn dimension(dimension: WorkDimension) -> Dimension {
    match dimension {
        WorkDimension::Tensor => Dimension::Tensor,
        WorkDimension::Context => Dimension::Context,
        WorkDimension::Expert => Dimension::Expert,
        WorkDimension::Shard => Dimension::Data,
        WorkDimension::Host => Dimension::Other,
    }
}

const fn operator(family: Family) -> OperatorFamily {
    match family {
        Family::Embedding => OperatorFamily::Embedding,
        Family::Norm => OperatorFamily::Norm,
        Family::AttentionCore => OperatorFamily::Attention,
        Family::AttentionInput | Family::AttentionOutput | Family::Mlp | Family::Experts | Family::Head => {
            OperatorFamily::MatrixProduct
        }
        Family::Activation | Family::Residual => OperatorFamily::Elementwise,
        Family::Router => OperatorFamily::Routing,
        Family::Loss => OperatorFamily::Loss,
    }
}

/// The parts of each kind of pass of a virtual stage, in the order of [`KINDS`].
fn parts(step: &mut Step, costing: &Costing<'_>, evaluation: &Evaluation, chunk: usize) -> [Vec<Part>; 5] {
    let calls = calls::of_chunk(costing, &evaluation.chunks, chunk);
    let base = groups::first_rank(costing.plan, chunk);
    let cost = &evaluation.chunks[chunk].cost;
    let time = &evaluation.chunks[chunk].time;
    let mut both = cost.backward_input;
    both += &cost.backward_weight;
    let mut make = |work: &Work, passes: &[Phase], whole: Seconds, reverse: bool| {
        work_parts(step, costing, work, &calls, passes, (whole, base), reverse)
    };
    let (input, weight) = (time.backward_input, time.backward_weight);
    [
        make(&cost.forward, &[Phase::Forward], time.forward, false),
        make(&cost.recompute, &[Phase::Recompute], time.recompute, false),
        make(&both, &[Phase::BackwardInput, Phase::BackwardWeight], input + weight, true),
        make(&cost.backward_input, &[Phase::BackwardInput], input, true),
        make(&cost.backward_weight, &[Phase::BackwardWeight], weight, true),
    ]
}

fn work_parts(
    step: &mut Step,
    costing: &Costing<'_>,
    work: &Work,
    calls: &[Call],
    passes: &[Phase],
    (whole, base): (Seconds, u64),
    reverse: bool,
) -> Vec<Part> {
    let mut list = Vec::new();
    let mut exposed = Vec::new();
    for d in WorkDimension::ALL {
        let all = work.communication[d as usize];
        if all <= Seconds::ZERO {
            continue;
        }
        let waited = work.exposed[d as usize];
        let own: Vec<&Call> =
            calls.iter().filter(|c| c.dimension == d && passes.contains(&c.phase)).collect();
        let sum: Seconds = own.iter().map(|c| c.time(costing)).sum();
        for call in own {
            let share = call.time(costing) / sum;
            let name = step.names.intern(&name(call));
            let collective = groups::of_call(step, costing, call, base);
            if waited > Seconds::ZERO {
                let part = Part::communication(name, dimension(d), waited * share, false, collective);
                exposed.push(Part { bytes: (call.bytes.get() * call.count) as u64, ..part });
            }
        }
        if d == WorkDimension::Host && waited > Seconds::ZERO {
            let name = step.names.intern("host offload");
            exposed.push(Part::communication(name, dimension(d), waited, false, None));
        }
        // What hides runs beside the pass, and is not shown longer than the pass itself.
        let hidden = (all - waited).min(whole);
        if hidden > Seconds::ZERO {
            let name = step.names.intern(&format!("{} communication, hidden", dimension(d).name()));
            let part = Part::communication(name, dimension(d), hidden, true, None);
            list.push(Part { stream: StreamKind::Communication(dimension(d), 1), ..part });
        }
    }
    let mut families = Family::ALL;
    if reverse {
        families.reverse();
    }
    for family in families {
        let time = work.compute[family as usize];
        if time > Seconds::ZERO {
            list.push(Part::compute(step.names.intern(family.label()), operator(family), time));
        }
    }
    list.extend(exposed);
    let host = whole - work.time();
    if host.get() > 1e-9 * whole.get() {
        let name = step.names.intern("waiting for the host");
        list.push(Part {
            activity: Activity::Host,
            stream: StreamKind::Host(0),
            ..Part::compute(name, OperatorFamily::Other, host)
        });
    }
    list
}

fn name(call: &Call) -> String {
    let (operation, _) = operation(call.operation, call.group.ranks);
    format!("{} x{}", operation.replace('_', " "), call.count)
}

/// A name for a part that is the same in every step.
pub(super) fn intern(step: &mut Step, name: &str) -> NameId {
    step.names.intern(name)
}
