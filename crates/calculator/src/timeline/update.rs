//! What follows the pipeline: the reduction of gradients, the optimizer, the gathering of parameters, and the step's fixed parts.

use super::groups::{collective, rank_stride};
use super::passes::intern;
use crate::costing::Costing;
use crate::evaluate::Evaluation;
use crate::schedule::{OperationKind, PipelineTimeline};
use railwright_spec::quantity::{Bytes, Seconds};
use railwright_step::{
    Activity, CollectiveKind, DependencyKind, Dimension, OperatorFamily, Phase, Span, SpanRef, Step,
    StreamKind, Time,
};

/// Writes all of it. Every rank waits for the slowest before the optimizer and before the end, as the fast path has it.
pub(super) fn write(
    step: &mut Step,
    costing: &Costing<'_>,
    evaluation: &Evaluation,
    simulated: &PipelineTimeline,
) {
    let time = &evaluation.time;
    let updates = &evaluation.updates;
    let optimizer = updates.iter().map(|u| u.optimizer).fold(Seconds::ZERO, Seconds::max);
    let gather = updates.iter().map(|u| u.parameter_exposed).fold(Seconds::ZERO, Seconds::max);
    // Where steps run into each other, the pipeline alone is longer than the cycle.
    let beyond = simulated.duration - evaluation.pipeline;
    let pipeline_end = simulated.duration + (time.data_parallel - gather);
    let stepped = pipeline_end + optimizer;
    let gathered = stepped + gather;
    let fixed = gathered + time.fixed;
    let end = time.total + beyond;

    let names = [
        "reduce gradients",
        "optimizer",
        "gather parameters",
        "fixed per step",
        "unequal devices and noise",
        "gather parameters, hidden",
    ]
    .map(|n| intern(step, n));
    let sharded = costing.plan.sharding.zero_stage >= 1;
    let kind = if sharded { CollectiveKind::ReduceScatter } else { CollectiveKind::AllReduce };
    let data = StreamKind::Communication(Dimension::Data, 2);
    let parameters = crate::evaluate::stage_parameters(costing, &evaluation.chunks);
    for (rank, update) in updates.iter().enumerate() {
        let base = rank as u64 * rank_stride(costing.plan);
        let local = parameters.get(rank).map_or(0.0, |p| p.total());
        let push = |step: &mut Step, stream, span: Span, from: Seconds, until: Seconds| {
            if until > from {
                let (start, end) = (Time::from_seconds(from), Time::from_seconds(until));
                step.push(rank, stream, Span { start, end, ..span })
            } else {
                None
            }
        };
        let communication = Span {
            activity: Activity::Communication(Dimension::Data),
            operator: OperatorFamily::Collective,
            phase: Phase::Optimizer,
            ..Span::default()
        };
        let weights = Bytes::new(local * costing.plan.precision.parameters.bytes());
        let hidden = update.parameter_gather - update.parameter_exposed;
        let group = costing.layout.data;
        let all_gather = (update.parameter_gather > Seconds::ZERO)
            .then(|| collective(step, CollectiveKind::AllGather, &group, weights, base))
            .flatten();
        let gathering =
            Span { name: names[2], collective: all_gather, bytes: weights.get() as u64, ..communication };
        // The last step's parameters still arrive beside the first forward passes.
        push(step, data, Span { name: names[5], ..gathering }, Seconds::ZERO, hidden);

        let last = simulated.stages[rank]
            .iter()
            .rev()
            .find(|t| matches!(t.operation.kind, OperationKind::Backward | OperationKind::BackwardWeight))
            .map_or(simulated.duration, |t| t.end);
        let until = (last + update.gradient_exposed).min(pipeline_end);
        let from = (until - update.gradient_reduce).max(hidden).min(until);
        let gradients = Bytes::new(local * costing.plan.precision.gradient_reduce.bytes());
        let reduce = (update.gradient_reduce > Seconds::ZERO)
            .then(|| collective(step, kind, &group, gradients, base))
            .flatten();
        let reducing =
            Span { name: names[0], collective: reduce, bytes: gradients.get() as u64, ..communication };
        if update.gradient_reduce > Seconds::ZERO {
            push(step, data, reducing, from, until);
        }
        let stepping = Span {
            name: names[1],
            operator: OperatorFamily::Optimizer,
            phase: Phase::Optimizer,
            ..Span::default()
        };
        // What waits for what from the last pass to the end of the step: each for the one before it, across streams.
        // Reducing began before the last pass ended, so it hangs on none; where it is exposed, the path has a gap.
        let mut before: Vec<SpanRef> = last_compute(step, rank).into_iter().collect();
        let mut then = |step: &mut Step, next: Option<SpanRef>| {
            if let Some(next) = next {
                for from in before.drain(..) {
                    step.depend(from, next, DependencyKind::Stream);
                }
                before.push(next);
            }
        };
        let next = push(step, StreamKind::Compute, stepping, pipeline_end, pipeline_end + update.optimizer);
        then(step, next);
        let next = push(step, data, gathering, stepped, stepped + update.parameter_exposed);
        then(step, next);
        let host = Span { activity: Activity::Host, name: names[3], ..Span::default() };
        let next = push(step, StreamKind::Host(0), host, gathered, fixed);
        then(step, next);
        let noise = Span { activity: Activity::Wait, name: names[4], ..Span::default() };
        push(step, StreamKind::Host(0), noise, fixed, end);
    }
    step.end = Time::from_seconds(end);
}

/// The span that a rank's arithmetic ends with so far.
fn last_compute(step: &Step, rank: usize) -> Option<SpanRef> {
    let streams = &step.ranks.get(rank)?.streams;
    let stream = streams.iter().position(|stream| stream.kind == StreamKind::Compute)?;
    let span = streams[stream].spans.len().checked_sub(1)?;
    Some(SpanRef { rank: rank as u32, stream: stream as u32, span: span as u32 })
}
