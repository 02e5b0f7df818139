//! Pipeline passes as tasks: compute as pauses, communication as flows, each started after its dependencies.
//!
//! Responsible for: the order of passes on every stage, overlapped and exposed communication of a pass, and
//! the messages between stages. The order of passes is that of the calculator's schedule.

use super::classes::{Classes, Dim, Part, When};
use super::staged::{Moved, Staged};
use railwright_calculator::costing::Costing;
use railwright_calculator::evaluate::{Evaluation, pipeline};
use railwright_calculator::schedule::{ChunkCost, OperationKind, TimedOperation, simulate};
use railwright_calculator::transfer;
use railwright_calculator::work::{self, Dimension};
use railwright_network::simulate::{Doing, Work};
use railwright_spec::problem::Problem;
use railwright_spec::quantity::Seconds;
use railwright_step::Phase;
use std::collections::{BTreeMap, BTreeSet};

const DIMENSIONS: [(Dimension, Dim); 4] = [
    (Dimension::Tensor, Dim::Tensor),
    (Dimension::Context, Dim::Context),
    (Dimension::Expert, Dim::Expert),
    (Dimension::Shard, Dim::Shard),
];

/// Starts and ends of the passes of a stage, as references for other tasks.
#[derive(Clone, Debug, Default)]
pub(super) struct StageEnds {
    /// The end of the last pass.
    pub(super) last: Option<u32>,
    /// Time of that end in closed form.
    pub(super) last_end: Seconds,
    /// Start of each pass in closed form, with its task.
    pub(super) begins: Vec<(Seconds, u32)>,
    /// The first forward pass of each chunk, in their order: its duration, and the start task of the next
    /// pass.
    pub(super) firsts: Vec<(Seconds, u32)>,
    /// Backward passes in their order.
    pub(super) backward: Vec<Backward>,
}

/// A pass that ends with gradients.
#[derive(Clone, Copy, Debug)]
pub(super) struct Backward {
    pub(super) begin: u32,
    /// Start time in closed form.
    pub(super) start: Seconds,
    pub(super) duration: Seconds,
    pub(super) layers: u64,
    /// True for the last one of its chunk.
    pub(super) is_last: bool,
}

/// One pass on a stage; recompute is joined with the next backward pass.
pub(super) struct Pass {
    pub(super) kind: OperationKind,
    pub(super) chunk: u32,
    pub(super) micro_batch: u32,
    /// Start time in closed form.
    start: Seconds,
    pub(super) duration: Seconds,
    /// The stage that sends the input, if it is another one.
    pub(super) source: Option<u32>,
    pub(super) target: Option<u32>,
    /// True for fused pairs: the output is sent at the end of the next pass.
    pub(super) hands_on_later: bool,
}

/// The exchanges of a dimension in a pass: time after the compute and time overlapped with it.
pub(super) struct Split {
    pub(super) dimension: Dim,
    kind: Dimension,
    pub(super) open: Seconds,
    pub(super) hidden: Seconds,
}

/// Key of a message: true for a gradient, and the chunk and micro-batch of its output.
type Key = (bool, u32, u32);

/// Writes all passes. Returns the ends of those of each stage.
pub(super) fn write(
    staged: &mut Staged,
    costing: &Costing<'_>,
    evaluation: &Evaluation,
    classes: &Classes,
) -> Result<Vec<StageEnds>, Problem> {
    let plan = costing.plan;
    let times: Vec<ChunkCost> = evaluation.chunks.iter().map(|chunk| chunk.time).collect();
    let timeline = simulate(&pipeline(plan, &times, evaluation.transfer))?;
    let transfer = Transfer::new(costing, evaluation);
    let mut sent: BTreeMap<Key, u32> = BTreeMap::new();
    let mut waiting: Vec<(Key, u32)> = Vec::new();
    let mut ends = Vec::with_capacity(timeline.stages.len());
    for (stage, operations) in timeline.stages.iter().enumerate() {
        let passes = joined(operations);
        let mut own = StageEnds::default();
        let back = |kind| matches!(kind, OperationKind::Backward | OperationKind::BackwardWeight);
        let last: BTreeMap<u32, usize> = passes
            .iter()
            .enumerate()
            .filter(|(_, pass)| back(pass.kind))
            .map(|(number, pass)| (pass.chunk, number))
            .collect();
        let mut gathered: BTreeSet<u32> = BTreeSet::new();
        let mut behind: Option<Seconds> = None;
        // Dependencies of the next pass, and true if the stage has just sent.
        let mut before: Vec<u32> = Vec::new();
        let mut has_sent = false;
        let mut to_send: Vec<(Key, u32)> = Vec::new();
        for (number, pass) in passes.iter().enumerate() {
            if !plan.overlap.pipeline
                && pass.source.is_some()
                && !has_sent
                && transfer.whole() > Seconds::ZERO
            {
                // A receive that is not posted together with a send blocks for at least the time of a
                // transfer.
                let doing = Dim::Pipeline.doing(stage as u32);
                let block = staged.pause(transfer.whole(), doing, before.drain(..));
                before.push(block);
            }
            let begin = staged.script.add(Work::Pause(Seconds::ZERO), before.drain(..));
            own.begins.push((pass.start, begin));
            if let Some(first) = behind.take() {
                own.firsts.push((first, begin));
            }
            if pass.kind == OperationKind::Forward && gathered.insert(pass.chunk) {
                behind = Some(pass.duration);
            }
            if pass.source.is_some() {
                let back = pass.kind != OperationKind::Forward;
                let from = if back { pass.chunk + 1 } else { pass.chunk.wrapping_sub(1) };
                waiting.push(((back, from, pass.micro_batch), begin));
            }
            let end = work(staged, evaluation, classes, stage as u32, pass, begin);
            before.push(end);
            if back(pass.kind) {
                own.backward.push(Backward {
                    begin,
                    start: pass.start,
                    duration: pass.duration,
                    layers: evaluation.chunks.get(pass.chunk as usize).map_or(1, |chunk| chunk.layers),
                    is_last: last.get(&pass.chunk) == Some(&number),
                });
            }
            if let Some(target) = pass.target {
                let back = pass.kind != OperationKind::Forward;
                to_send.push(((back, pass.chunk, pass.micro_batch), target));
            }
            has_sent = false;
            if !pass.hands_on_later {
                for (key, target) in to_send.drain(..) {
                    let message = transfer.send(staged, classes, (stage as u32, target), end);
                    sent.insert(key, message);
                    has_sent = true;
                    if !plan.overlap.pipeline {
                        before.push(message);
                    }
                }
            }
            own.last = Some(end);
            own.last_end = pass.start + pass.duration;
        }
        ends.push(own);
    }
    for (key, begin) in waiting {
        let Some(&message) = sent.get(&key) else {
            return Err(Problem::new("a pass waits for a message without a sender"));
        };
        staged.script.follow(message, begin);
    }
    Ok(ends)
}

/// Recompute joined with the backward pass that follows it.
pub(super) fn joined(operations: &[TimedOperation]) -> Vec<Pass> {
    let mut passes: Vec<Pass> = Vec::with_capacity(operations.len());
    let mut recompute: Option<&TimedOperation> = None;
    for timed in operations {
        if timed.operation.kind == OperationKind::Recompute {
            recompute = Some(timed);
            continue;
        }
        let first = recompute.take().unwrap_or(timed);
        passes.push(Pass {
            kind: timed.operation.kind,
            chunk: timed.operation.chunk,
            micro_batch: timed.operation.micro_batch,
            start: first.start,
            duration: timed.end - first.start,
            source: first.source,
            target: timed.target,
            hands_on_later: timed.output_end > timed.end,
        });
    }
    passes
}

/// The work of a pass, with its phases of the step.
pub(super) fn works<'a>(evaluation: &'a Evaluation, pass: &Pass) -> Vec<(Phase, &'a work::Work)> {
    let Some(chunk) = evaluation.chunks.get(pass.chunk as usize) else { return Vec::new() };
    let cost = &chunk.cost;
    let recompute = (Phase::Recompute, &cost.recompute);
    let input = (Phase::BackwardInput, &cost.backward_input);
    let weight = (Phase::BackwardWeight, &cost.backward_weight);
    match pass.kind {
        OperationKind::Forward => vec![(Phase::Forward, &cost.forward)],
        OperationKind::Recompute => vec![recompute],
        OperationKind::Backward => vec![recompute, input, weight],
        OperationKind::BackwardInput => vec![recompute, input],
        OperationKind::BackwardWeight => vec![weight],
    }
}

/// The exchanges of a pass by dimension, without those of no duration. A fused pass is shorter than its
/// parts: it hides exposed exchanges first.
pub(super) fn split(pass: &Pass, works: &[(Phase, &work::Work)]) -> Vec<Split> {
    let nominal: Seconds = works.iter().map(|(_, work)| work.time()).sum();
    let saved = (nominal - pass.duration).max(Seconds::ZERO);
    let exposed: Seconds = works
        .iter()
        .map(|(_, work)| {
            DIMENSIONS.iter().map(|(dimension, _)| work.exposed[*dimension as usize]).sum::<Seconds>()
        })
        .sum();
    let keep = if exposed > Seconds::ZERO { ((exposed - saved) / exposed).clamp(0.0, 1.0) } else { 0.0 };
    let mut behind = Seconds::ZERO;
    let mut splits = Vec::new();
    for (kind, dimension) in DIMENSIONS {
        let of = |times: fn(&work::Work) -> &[Seconds]| -> Seconds {
            works.iter().map(|(_, work)| times(work)[kind as usize]).sum()
        };
        let (all, open) = (of(|work| &work.communication), of(|work| &work.exposed) * keep);
        if all > Seconds::ZERO {
            let open = open.min(all).min(pass.duration - behind);
            behind += open;
            splits.push(Split { dimension, kind, open, hidden: all - open });
        }
    }
    splits
}

/// Compute with hidden exchanges, then exposed ones in sequence. Returns the task that ends the pass.
fn work(
    staged: &mut Staged,
    evaluation: &Evaluation,
    classes: &Classes,
    stage: u32,
    pass: &Pass,
    begin: u32,
) -> u32 {
    let works = works(evaluation, pass);
    let splits = split(pass, &works);
    let mut behind = Seconds::ZERO;
    let mut exchanges: Vec<(Dim, Vec<Part>, Seconds, Seconds)> = Vec::new();
    for Split { dimension, kind, open, hidden } in splits {
        let times = works
            .iter()
            .map(|&(phase, work)| (When::Pass(pass.chunk, phase), work.communication[kind as usize]));
        let parts = classes.of_works(dimension, stage, times);
        if !parts.is_empty() {
            behind += open;
            exchanges.push((dimension, parts, open, hidden));
        }
    }
    let mut ends = Vec::new();
    for (dim, parts, _, hidden) in &exchanges {
        if *hidden > Seconds::ZERO {
            // Overlapped communication fits into the pass without contention.
            let hidden = (*hidden).min(pass.duration - behind);
            ends.extend(exchange(staged, parts, (*dim, stage), hidden, begin));
        }
    }
    let mut end = staged.pause(pass.duration - behind, Doing::Compute(stage), [begin]);
    for (dim, parts, open, _) in &exchanges {
        end = exchange(staged, parts, (*dim, stage), *open, end).unwrap_or(end);
    }
    if ends.is_empty() {
        return end;
    }
    ends.push(end);
    staged.script.add(Work::Pause(Seconds::ZERO), ends)
}

/// An exchange of a stage's dimension with this time in closed form. Its kinds of groups are in sequence, as
/// in the closed form, each with its latency and then its bytes. Nothing for a time of zero.
pub(super) fn exchange(
    staged: &mut Staged,
    parts: &[Part],
    (dimension, stage): (Dim, u32),
    time: Seconds,
    after: u32,
) -> Option<u32> {
    let mut end = None;
    for part in parts {
        let own = time * part.share;
        if own > Seconds::ZERO {
            let latency = own * part.latency;
            let (class, amount) = (part.class, own - latency);
            let moves = Moved { task: 0, class, dimension, stage, latency, amount };
            end = Some(moved(staged, moves, end.unwrap_or(after)));
        }
    }
    end
}

fn moved(staged: &mut Staged, moved: Moved, after: u32) -> u32 {
    let doing = moved.dimension.doing(moved.stage);
    let start =
        if moved.latency > Seconds::ZERO { staged.pause(moved.latency, doing, [after]) } else { after };
    let task = staged.script.add(Work::Move { class: moved.class, amount: moved.amount }, [start]);
    staged.works.push((task, doing));
    staged.moves.push(Moved { task, ..moved });
    task
}

/// Parts of one transfer between stages.
struct Transfer {
    /// Time independent of bytes, and gathers among tensor ranks.
    fixed: Seconds,
    growing: Seconds,
}

impl Transfer {
    fn new(costing: &Costing<'_>, evaluation: &Evaluation) -> Self {
        let growing = transfer::Transfer::new(costing).map_or(Seconds::ZERO, |transfer| {
            let cost = transfer.message_cost;
            ((cost.time - cost.latency) / costing.software.collective_rate).min(evaluation.transfer)
        });
        Self { fixed: evaluation.transfer - growing, growing }
    }

    fn whole(&self) -> Seconds {
        self.fixed + self.growing
    }

    fn send(&self, staged: &mut Staged, classes: &Classes, (from, to): (u32, u32), after: u32) -> u32 {
        match classes.link_path(from, to) {
            Some(class) => moved(
                staged,
                Moved {
                    task: 0,
                    class,
                    dimension: Dim::Pipeline,
                    stage: from,
                    latency: self.fixed,
                    amount: self.growing,
                },
                after,
            ),
            None => staged.pause(self.whole(), Dim::Pipeline.doing(from), [after]),
        }
    }
}
