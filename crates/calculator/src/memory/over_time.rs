//! A stage's memory over the step: allocations and releases of its passes.
//!
//! Responsible for: conversion of the order of passes to events, whose peak is the report's. Excludes timing:
//! see the schedule's engine.

use super::MemoryInput;
use super::sum::{Prepared, StageSum, edges, gives_head_back, overheads, prepare, stage_sum};
use crate::schedule::{OperationKind, TimedOperation};
use railwright_spec::quantity::Seconds;
use railwright_step::{MemoryEvents, MemoryKind, Time};

/// Maximum number of events of a stage with separate layers. Above it, a pass is one event.
const FINE_EVENTS: usize = 100_000;

/// Memory of a stage over its passes, up to the end of the step at `step_end`, in seconds. The optimizer step
/// fills the time after the last pass.
///
/// Forward passes allocate the saved tensors of each layer. Backward passes allocate their working set and
/// free layer by layer. Logits live from the head, at the end of a forward pass, to the start of its backward
/// pass. The driver's context and fragmentation are constant.
pub fn over_time(
    input: &MemoryInput<'_>,
    stage: usize,
    passes: &[TimedOperation],
    step_end: Seconds,
) -> MemoryEvents {
    let prepared = prepare(input);
    let mut log = Log::default();
    if stage >= prepared.stages.len() {
        return log.finish();
    }
    let sum = stage_sum(input, &prepared, stage);
    let begin = passes.first().map_or(Seconds::ZERO, |p| p.start);
    let end = passes.last().map_or(begin, |p| p.end);
    resident(input, &prepared, &sum, &mut log);
    let buffers = sum.gathered + sum.pipeline_buffers;
    log.take(begin, MemoryKind::Communication, buffers);
    let plan = input.plan;
    let local = plan.schedule.local_chunks(plan.pipeline_parallel, plan.virtual_stages, stage as u64);
    let chunks: Vec<ChunkEvents> =
        (0..local.len()).map(|c| ChunkEvents::new(input, &prepared, stage, c)).collect();
    let layers: usize = chunks.iter().map(|c| c.layers.len()).max().unwrap_or(0);
    let fine = layers.saturating_mul(passes.len()) <= FINE_EVENTS;
    let mut started = false;
    let last = passes.iter().rposition(|pass| {
        matches!(pass.operation.kind, OperationKind::Backward | OperationKind::BackwardInput)
    });
    for (at, pass) in passes.iter().enumerate() {
        let Some(index) = local.iter().position(|&c| c == u64::from(pass.operation.chunk)) else { continue };
        let Some(chunk) = chunks.get(index) else { continue };
        match pass.operation.kind {
            OperationKind::Forward => chunk.forward(pass, fine, &mut log),
            OperationKind::Recompute => {}
            OperationKind::Backward | OperationKind::BackwardInput => {
                let gradients = if started { 0.0 } else { sum.lazy_gradients };
                started = true;
                let gives_back = pass.operation.kind == OperationKind::Backward;
                if let (true, Some((saved, _))) = (chunk.gives_head_back, chunk.head) {
                    log.give(pass.start, MemoryKind::Logits, saved);
                }
                cast(pass, (sum.casts, sum.casts_again), last == Some(at), &mut log);
                log.take(pass.start, MemoryKind::Workspace, sum.working);
                log.take(pass.start, MemoryKind::Communication, sum.gradient_buffers);
                if gives_back {
                    chunk.give_back(pass, fine, &mut log);
                }
                log.take(pass.end, MemoryKind::Gradients, gradients);
                log.give(pass.end, MemoryKind::Workspace, sum.working);
                log.give(pass.end, MemoryKind::Communication, sum.gradient_buffers);
            }
            OperationKind::BackwardWeight => chunk.give_back(pass, fine, &mut log),
        }
    }
    if !started {
        log.take(end, MemoryKind::Gradients, sum.lazy_gradients);
    }
    log.give(end, MemoryKind::Communication, buffers);
    log.take(end, MemoryKind::Optimizer, sum.stepping);
    log.give(Seconds::new(step_end.get().max(end.get())), MemoryKind::Optimizer, sum.stepping);
    log.finish()
}

/// Logs the casts of fp32 weights in a backward pass: recomputed layers make them again, and those of the
/// last pass go with its layers, on average in its middle.
fn cast(pass: &TimedOperation, (all, again): (f64, f64), is_last: bool, log: &mut Log) {
    log.give(pass.start, MemoryKind::Parameters, again);
    if is_last {
        log.give(part(pass, 1, 2), MemoryKind::Parameters, all - again);
    } else {
        log.take(pass.end, MemoryKind::Parameters, again);
    }
}

/// Logs the memory that exists from the start of the step.
fn resident(input: &MemoryInput<'_>, prepared: &Prepared, sum: &StageSum, log: &mut Log) {
    let (dense, routed) = (&prepared.per.dense, &prepared.per.routed);
    let of = |dense: f64, routed: f64| sum.held.dense * dense + sum.held.routed * routed;
    let parameters = prepared.per.parameters(sum.held) + sum.held.matmul * prepared.per.narrow;
    log.take(Seconds::ZERO, MemoryKind::Parameters, parameters);
    log.take(
        Seconds::ZERO,
        MemoryKind::Gradients,
        of(dense.gradients, routed.gradients) - sum.lazy_gradients,
    );
    let optimizer = of(dense.master + dense.moments, routed.master + routed.moments);
    log.take(Seconds::ZERO, MemoryKind::Optimizer, optimizer);
    log.take(Seconds::ZERO, MemoryKind::Communication, of(dense.bucket, routed.bucket));
    log.take(Seconds::ZERO, MemoryKind::Workspace, sum.workspace);
    let allocated = sum.peak().0;
    let (_, device) = overheads(allocated, input.plan, input.software);
    log.take(Seconds::ZERO, MemoryKind::Overhead, device - allocated);
}

/// Memory of one micro-batch on one chunk, in bytes.
struct ChunkEvents {
    /// Saved by each layer, in order.
    layers: Vec<f64>,
    /// Saved outside the layers.
    edge: f64,
    /// Saved by the head, and additional during the loss.
    head: Option<(f64, f64)>,
    /// True if the head frees that before the layers' backward pass begins.
    gives_head_back: bool,
}

impl ChunkEvents {
    fn new(input: &MemoryInput<'_>, prepared: &Prepared, stage: usize, index: usize) -> Self {
        let chunks = &prepared.stages[stage];
        let Some(chunk) = chunks.get(index) else {
            return Self { layers: Vec::new(), edge: 0.0, head: None, gives_head_back: false };
        };
        let kinds = &input.model.layers[chunk.start..chunk.start + chunk.count];
        let saved = |(i, &kind): (usize, &usize)| prepared.layer(kind, chunk, i).saved;
        let (embedding, output) = edges(&input.saving(&prepared.sizes), chunk);
        let head = &prepared.head;
        Self {
            layers: kinds.iter().enumerate().map(saved).collect(),
            edge: embedding + output,
            head: chunk.head.then_some((head.saved, head.peak - head.saved)),
            gives_head_back: gives_head_back(input.plan.schedule),
        }
    }

    fn all(&self) -> f64 {
        self.layers.iter().sum()
    }

    fn forward(&self, pass: &TimedOperation, fine: bool, log: &mut Log) {
        log.take(pass.start, MemoryKind::Activations, self.edge);
        // The head is the last of equal parts, so that what the loss needs in addition lasts.
        let parts = self.layers.len() + usize::from(self.head.is_some());
        if fine {
            for (i, &bytes) in self.layers.iter().enumerate() {
                log.take(part(pass, i, parts), MemoryKind::Activations, bytes);
            }
        } else {
            log.take(pass.start, MemoryKind::Activations, self.all());
        }
        if let Some((saved, loss)) = self.head {
            log.take(part(pass, self.layers.len(), parts), MemoryKind::Logits, saved + loss);
            log.give(pass.end, MemoryKind::Logits, loss);
        }
    }

    fn give_back(&self, pass: &TimedOperation, fine: bool, log: &mut Log) {
        if fine {
            for (i, &bytes) in self.layers.iter().rev().enumerate() {
                log.give(part(pass, i + 1, self.layers.len()), MemoryKind::Activations, bytes);
            }
        } else {
            log.give(pass.end, MemoryKind::Activations, self.all());
        }
        log.give(pass.end, MemoryKind::Activations, self.edge);
        if let (false, Some((saved, _))) = (self.gives_head_back, self.head) {
            log.give(pass.end, MemoryKind::Logits, saved);
        }
    }
}

/// Time at which `i` of `n` layers of a pass are complete.
fn part(pass: &TimedOperation, i: usize, n: usize) -> Seconds {
    let (start, end) = (pass.start.get(), pass.end.get());
    Seconds::new(start + (end - start) * i as f64 / n.max(1) as f64)
}

/// Events by time. Simultaneous events keep the order of their creation.
#[derive(Default)]
struct Log(Vec<(Time, MemoryKind, i64)>);

impl Log {
    fn take(&mut self, at: Seconds, kind: MemoryKind, bytes: f64) {
        if bytes >= 1.0 {
            self.0.push((Time::from_seconds(at), kind, bytes.round() as i64));
        }
    }

    fn give(&mut self, at: Seconds, kind: MemoryKind, bytes: f64) {
        if bytes >= 1.0 {
            self.0.push((Time::from_seconds(at), kind, -(bytes.round() as i64)));
        }
    }

    fn finish(mut self) -> MemoryEvents {
        // A stable sort keeps the order of creation.
        self.0.sort_by_key(|event| event.0);
        let mut events = MemoryEvents::default();
        for (time, kind, bytes) in self.0 {
            events.push(time, kind, bytes);
        }
        events
    }
}

#[cfg(test)]
mod tests;
