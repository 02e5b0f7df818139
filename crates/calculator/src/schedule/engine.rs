//! Event engine: runs the orders of all stages against their dependencies and times every pass.
//!
//! Responsible for: the reference result for tests of the fast path, and the timeline that becomes a Step. A
//! schedule that cannot finish is a [`Problem`], never a hang. Runs every pass; a search uses
//! [`super::summarize`].
//!
//! Rules. A pass starts when its stage is free and its input has arrived. That is `transfer` after the end of
//! the pass that produces it (at once on the same stage). Transfers that are not overlapped block the sender
//! for `transfer` after the pass, and the receiver for `transfer` before it. A receiver that was sending at
//! the same time is not blocked. The two passes of a fused pair start together when both inputs have arrived,
//! and send both outputs at their end.

use super::list::rules;
use super::order::{Operation, OperationKind};
use super::slot::{Pass, Shape, Slot};
use super::{ChunkCost, Pipeline};
use railwright_spec::problem::Problem;
use railwright_spec::quantity::Seconds;

/// Times of all passes.
#[derive(Clone, Debug, PartialEq)]
pub struct PipelineTimeline {
    /// Per stage, the passes in the order of execution.
    pub stages: Vec<Vec<TimedOperation>>,
    /// Time from the first pass's start, which is 0, to the last stage's end.
    pub duration: Seconds,
}

/// A pass with its times.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimedOperation {
    /// The pass.
    pub operation: Operation,
    /// Start time.
    pub start: Seconds,
    /// End time.
    pub end: Seconds,
    /// Start of blocked receiving, which ends at `start`; equal to `start` without it.
    pub receive_start: Seconds,
    /// End of blocked sending, which starts at `end`; equal to `end` without it.
    pub send_end: Seconds,
    /// Time at which the output exists: `end`, or the end of the fused pair for its forward.
    pub output_end: Seconds,
    /// The stage that sends the input, if it is another one.
    pub source: Option<u32>,
    /// The stage that receives the output, if it is another one.
    pub target: Option<u32>,
}

/// The compute time of a pass that is not fused.
pub(super) fn duration(pass: Pass, cost: &ChunkCost) -> f64 {
    match pass {
        Pass::Forward | Pass::FusedForward => cost.forward.get(),
        Pass::Backward | Pass::FusedBackward => {
            cost.recompute.get() + cost.backward_input.get() + cost.backward_weight.get()
        }
        Pass::BackwardInput => cost.recompute.get() + cost.backward_input.get(),
        Pass::BackwardWeight => cost.backward_weight.get(),
    }
}

/// The compute time of a fused pair: the sum minus the communication hidden by each other.
pub(super) fn fused_duration(forward: &ChunkCost, backward: &ChunkCost) -> f64 {
    duration(Pass::Forward, forward) + duration(Pass::Backward, backward)
        - forward.fused_saving.get()
        - backward.fused_saving.get()
}

/// Arrival time of an input, and its stage if it is another one.
type Arrival = Option<(f64, u32)>;

struct Engine<'a> {
    pipeline: &'a Pipeline<'a>,
    shape: Shape,
    orders: Vec<Vec<Slot>>,
    next: Vec<usize>,
    /// By stage: end time of its last pass, and true if it sends its output.
    free: Vec<(f64, bool)>,
    /// By stage: the missing input for which it waits.
    waits: Vec<Option<(bool, usize)>>,
    /// Ends of forward and backward passes by chunk and micro-batch; NaN before their time is known.
    ends: [Vec<f64>; 2],
    timeline: Vec<Vec<TimedOperation>>,
}

/// Times every pass.
pub fn simulate(pipeline: &Pipeline) -> Result<PipelineTimeline, Problem> {
    pipeline.check()?;
    let shape = Shape::of(pipeline);
    let stages = pipeline.stages as usize;
    let passes = (shape.chunks() * pipeline.micro_batches) as usize;
    let orders: Vec<Vec<Slot>> =
        (0..pipeline.stages).map(|stage| rules(shape.schedule).order(&shape, stage)).collect();
    let mut engine = Engine {
        pipeline,
        shape,
        timeline: orders.iter().map(|order| Vec::with_capacity(order.len())).collect(),
        orders,
        next: vec![0; stages],
        free: vec![(0.0, false); stages],
        waits: vec![None; stages],
        ends: [vec![f64::NAN; passes], vec![f64::NAN; passes]],
    };
    let mut ready: Vec<usize> = (0..stages).rev().collect();
    while let Some(stage) = ready.pop() {
        engine.run(stage, &mut ready);
    }
    if let Some(stage) = (0..stages).find(|&s| engine.next[s] < engine.orders[s].len()) {
        return Err(Problem::new(format!("the schedule cannot finish: deadlock at stage {stage}")));
    }
    let last = engine.timeline.iter().flatten().map(|t| t.send_end).fold(Seconds::ZERO, Seconds::max);
    Ok(PipelineTimeline { stages: engine.timeline, duration: last })
}

impl Engine<'_> {
    fn index(&self, chunk: u64, micro_batch: u32) -> usize {
        chunk as usize * self.pipeline.micro_batches as usize + micro_batch as usize
    }

    /// Arrival of a slot's input from another stage: `Ok(None)` if it needs none, `Err` if it does not exist
    /// yet.
    fn arrival(&self, slot: Slot) -> Result<Arrival, (bool, usize)> {
        let Some((stage, chunk)) = self.shape.source(slot) else { return Ok(None) };
        let back = !slot.is_forward();
        let index = self.index(chunk, slot.micro_batch);
        let end = self.ends[usize::from(back)][index];
        if end.is_nan() {
            return Err((back, index));
        }
        Ok(Some((end + self.pipeline.transfer.get(), stage as u32)))
    }

    /// Runs a stage until an input is missing.
    fn run(&mut self, stage: usize, ready: &mut Vec<usize>) {
        self.waits[stage] = None;
        while let Some(&slot) = self.orders[stage].get(self.next[stage]) {
            let pair = match slot.pass {
                Pass::FusedForward => self.orders[stage].get(self.next[stage] + 1).copied(),
                _ => None,
            };
            let arrivals =
                self.arrival(slot).and_then(|a| Ok((a, pair.map_or(Ok(None), |p| self.arrival(p))?)));
            let (first, second) = match arrivals {
                Ok(both) => both,
                Err(missing) => {
                    self.waits[stage] = Some(missing);
                    return;
                }
            };
            self.next[stage] += 1 + usize::from(pair.is_some());
            self.execute(stage, slot, pair, first, second);
            for done in [Some(slot), pair].into_iter().flatten() {
                let Some(target) = self.shape.target(done) else { continue };
                let made = (!done.is_forward(), self.index(u64::from(done.chunk), done.micro_batch));
                if self.waits[target as usize] == Some(made) {
                    ready.push(target as usize);
                }
            }
        }
    }

    fn execute(&mut self, stage: usize, slot: Slot, pair: Option<Slot>, first: Arrival, second: Arrival) {
        let block = if self.pipeline.overlap_transfer { 0.0 } else { self.pipeline.transfer.get() };
        let (free, sent) = self.free[stage];
        let receives = first.is_some() || second.is_some();
        let ready = if sent || receives { free + block } else { free };
        let start = [first, second].into_iter().flatten().fold(ready, |t, (arrival, _)| t.max(arrival));
        let receive_start = if receives && !sent { start - block } else { start };

        let cost = &self.pipeline.chunks[slot.chunk as usize];
        let whole = match pair {
            Some(back) => fused_duration(cost, &self.pipeline.chunks[back.chunk as usize]),
            None => duration(slot.pass, cost),
        };
        let end = start + whole;
        let sends = self.shape.target(slot).is_some() || pair.is_some_and(|p| self.shape.target(p).is_some());
        let send_end = if sends { end + block } else { end };
        for done in [Some(slot), pair].into_iter().flatten() {
            if done.is_forward() || done.hands_back() {
                let index = self.index(u64::from(done.chunk), done.micro_batch);
                self.ends[usize::from(!done.is_forward())][index] = end;
            }
        }
        self.free[stage] = (end, sends);
        self.record(
            stage,
            [Some((slot, first)), pair.map(|p| (p, second))],
            [receive_start, start, end, send_end],
        );
    }

    /// Writes the parts of one slot, or of a fused pair, in sequence; parts of a pair are shortened equally.
    fn record(&mut self, stage: usize, slots: [Option<(Slot, Arrival)>; 2], times: [f64; 4]) {
        let [receive_start, start, end, send_end] = times;
        let mut parts: Vec<(OperationKind, f64, Slot, Option<u32>)> = Vec::with_capacity(4);
        for (slot, arrival) in slots.into_iter().flatten() {
            let cost = &self.pipeline.chunks[slot.chunk as usize];
            let source = arrival.map(|(_, stage)| stage);
            let (kind, mut time) = match slot.pass {
                Pass::Forward | Pass::FusedForward => (OperationKind::Forward, cost.forward.get()),
                Pass::Backward | Pass::FusedBackward => {
                    (OperationKind::Backward, duration(Pass::Backward, cost))
                }
                Pass::BackwardInput => (OperationKind::BackwardInput, duration(Pass::BackwardInput, cost)),
                Pass::BackwardWeight => (OperationKind::BackwardWeight, cost.backward_weight.get()),
            };
            let again = cost.recompute.get();
            if slot.hands_back() && again > 0.0 {
                time -= again;
                parts.push((OperationKind::Recompute, again, slot, source));
                parts.push((kind, time, slot, None));
            } else {
                parts.push((kind, time, slot, source));
            }
        }
        let sum: f64 = parts.iter().map(|p| p.1).sum();
        let scale = if sum > 0.0 { (end - start) / sum } else { 0.0 };
        let (last, mut at) = (parts.len() - 1, start);
        for (n, (kind, time, slot, source)) in parts.into_iter().enumerate() {
            // The last part ends exactly at the end of the slot, regardless of rounding.
            let until = if n == last { end } else { (at + time * scale).min(end) };
            let hands_on = kind != OperationKind::Recompute;
            self.timeline[stage].push(TimedOperation {
                operation: Operation { kind, micro_batch: slot.micro_batch, chunk: slot.chunk },
                start: Seconds::new(at),
                end: Seconds::new(until),
                receive_start: Seconds::new(if n == 0 { receive_start } else { at }),
                send_end: Seconds::new(if n == last { send_end } else { until }),
                output_end: Seconds::new(end),
                source,
                target: if hands_on { self.shape.target(slot).map(|t| t as u32) } else { None },
            });
            at = until;
        }
    }
}
