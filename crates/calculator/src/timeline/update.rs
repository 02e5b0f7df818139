//! Part of the step after the pipeline: the reduction of gradients, the optimizer, the gathering of
//! parameters, and the step's fixed parts.

use super::groups::of_update;
use crate::costing::Costing;
use crate::evaluate::Evaluation;
use crate::exchanges::ProcessGroup;
use crate::partition::rank_stride;
use crate::schedule::{OperationKind, PipelineTimeline};
use crate::sharding::StageUpdate;
use crate::update::{self, PricedCollective, Purpose};
use railwright_spec::quantity::Seconds;
use railwright_step::{
    Activity, DependencyKind, Dimension, OperatorFamily, Phase, Span, SpanRef, Step, StreamKind, Time,
};

/// Writes all of it. Every rank waits for the slowest before the optimizer and before the end, as in the fast
/// path.
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
    // A step by itself is longer than the interval of steps that overlap.
    let beyond = evaluation.overlap_of_steps;
    let pipeline_end = evaluation.pipeline + (time.data_parallel - gather) + beyond;
    let stepped = pipeline_end + optimizer;
    let gathered = stepped + gather;
    let fixed = gathered + time.fixed;
    let end = time.total + beyond;

    let names = ["optimizer", "fixed per step", "jitter allowance"].map(|n| step.names.intern(n));
    for (rank, update) in updates.iter().enumerate() {
        let own = Own { costing, rank, update, priced: update::of_stage(costing, evaluation, rank) };
        // The last step's parameters arrive during the first forward passes.
        let hidden = update.parameter_gather - update.parameter_exposed;
        own.gathers(step, ", hidden", (Seconds::ZERO, hidden));

        let last = simulated.stages[rank]
            .iter()
            .rev()
            .find(|t| matches!(t.operation.kind, OperationKind::Backward | OperationKind::BackwardWeight))
            .map_or(simulated.duration, |t| t.end);
        let until = (last + update.gradient_exposed).min(pipeline_end - update.between_stages);
        let from = (until - update.gradient_reduce).max(hidden).min(until);
        own.reductions(step, (from, until));
        own.between_stages(step, (until, until + update.between_stages));
        let stepping = Span {
            name: names[0],
            operator: OperatorFamily::Optimizer,
            phase: Phase::Optimizer,
            ..Span::default()
        };
        // Dependencies from the last pass to the end of the step: each span depends on the previous one,
        // across streams. Reduction began before the end of the last pass, so it depends on none; if
        // it is exposed, the path has a gap.
        let mut before: Vec<SpanRef> = last_compute(step, rank).into_iter().collect();
        let mut then = |step: &mut Step, next: Option<SpanRef>| {
            if let Some(next) = next {
                for from in before.drain(..) {
                    step.depend(from, next, DependencyKind::Stream);
                }
                before.push(next);
            }
        };
        let next =
            push(step, rank, StreamKind::Compute, stepping, (pipeline_end, pipeline_end + update.optimizer));
        then(step, next);
        for next in own.gathers(step, "", (stepped, stepped + update.parameter_exposed)) {
            then(step, Some(next));
        }
        let host = Span { activity: Activity::Host, name: names[1], ..Span::default() };
        let next = push(step, rank, StreamKind::Host(0), host, (gathered, fixed));
        then(step, next);
        let noise = Span { activity: Activity::Wait, name: names[2], ..Span::default() };
        push(step, rank, StreamKind::Host(0), noise, (fixed, end));
    }
    step.end = Time::from_seconds(end);
}

/// The collectives of one rank's update.
struct Own<'a> {
    costing: &'a Costing<'a>,
    rank: usize,
    update: &'a StageUpdate,
    priced: Vec<PricedCollective>,
}

impl Own<'_> {
    /// Gathers of parameters over some time. The part that runs at another time has separate spans, so bytes
    /// are divided in the same proportion.
    fn gathers(&self, step: &mut Step, suffix: &str, window: (Seconds, Seconds)) -> Vec<SpanRef> {
        let all = self.update.parameter_gather;
        let own = |one: &&PricedCollective| one.collective.purpose == Purpose::Parameters;
        self.row(step, all, (window.1 - window.0) / all, window, own, |what| format!("gather {what}{suffix}"))
    }

    /// Reductions of gradients over some time.
    fn reductions(&self, step: &mut Step, window: (Seconds, Seconds)) -> Vec<SpanRef> {
        let own = |one: &&PricedCollective| one.collective.purpose == Purpose::Gradients;
        self.row(step, self.update.gradient_reduce, 1.0, window, own, |what| format!("reduce {what}"))
    }

    /// Reductions with another stage over some time.
    fn between_stages(&self, step: &mut Step, window: (Seconds, Seconds)) -> Vec<SpanRef> {
        let own = |one: &&PricedCollective| matches!(one.collective.process_group, ProcessGroup::Stages(_));
        self.row(step, self.update.between_stages, 1.0, window, own, |what| format!("reduce {what}"))
    }

    /// Some collectives in sequence, each with its share of the time of `all` of them; their spans have a
    /// `share` of their bytes.
    fn row(
        &self,
        step: &mut Step,
        all: Seconds,
        share: f64,
        (from, until): (Seconds, Seconds),
        own: impl Fn(&&PricedCollective) -> bool,
        name: impl Fn(&str) -> String,
    ) -> Vec<SpanRef> {
        let stream = StreamKind::Communication(Dimension::Data, 2);
        let base = self.rank as u64 * rank_stride(self.costing.plan);
        let mut spans = Vec::new();
        if until <= from {
            return spans;
        }
        let mut reached = Seconds::ZERO;
        let at = |reached: Seconds| from + (until - from) * (reached / all).min(1.0);
        for one in self.priced.iter().filter(own) {
            let window = (at(reached), at(reached + one.time));
            reached += one.time;
            let collective = &one.collective;
            let times =
                if collective.count > 1.0 { format!(" x{}", collective.count) } else { String::new() };
            let span = Span {
                name: step.names.intern(&name(&format!("{}{times}", collective.title()))),
                collective: of_update(step, self.costing, collective, base),
                bytes: (collective.bytes.get() * collective.count * share).round() as u64,
                activity: Activity::Communication(Dimension::Data),
                operator: OperatorFamily::Collective,
                phase: Phase::Optimizer,
                ..Span::default()
            };
            spans.extend(push(step, self.rank, stream, span, window));
        }
        spans
    }
}

/// Adds a span if its duration is positive.
fn push(
    step: &mut Step,
    rank: usize,
    stream: StreamKind,
    span: Span,
    (from, until): (Seconds, Seconds),
) -> Option<SpanRef> {
    let (start, end) = (Time::from_seconds(from), Time::from_seconds(until));
    if until > from { step.push(rank, stream, Span { start, end, ..span }) } else { None }
}

/// The last compute span of a rank so far.
fn last_compute(step: &Step, rank: usize) -> Option<SpanRef> {
    let streams = &step.ranks.get(rank)?.streams;
    let stream = streams.iter().position(|stream| stream.kind == StreamKind::Compute)?;
    let span = streams[stream].spans.len().checked_sub(1)?;
    Some(SpanRef { rank: rank as u32, stream: stream as u32, span: span as u32 })
}
