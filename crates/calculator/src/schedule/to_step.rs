//! Conversion of a timed pipeline to a [`Step`].
//!
//! Responsible for: a rank per stage, the parts of every pass on their streams, messages between stages at
//! both ends, and the allocation and release of activations. The parts are inputs from the code that prices
//! operators.

use super::engine::{PipelineTimeline, TimedOperation};
use super::{OperationKind, Pipeline};
use railwright_spec::problem::Problem;
use railwright_spec::quantity::{Bytes, MicroBatch, Rank, Stage};
use railwright_step::build::{MessageEnd, Part, TimedPass, write_message, write_pass};
use railwright_step::{Collective, CollectiveKind, MemoryKind, NameId, Phase, SpanRef, Step, Time};
use std::collections::BTreeMap;

/// Parts of the passes of one chunk. Without parts a pass is one span.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ChunkParts {
    /// Parts of a forward pass.
    pub forward: Vec<Part>,
    /// Parts of recompute.
    pub recompute: Vec<Part>,
    /// Parts of an undivided backward pass.
    pub backward: Vec<Part>,
    /// Parts of an input gradient.
    pub backward_input: Vec<Part>,
    /// Parts of a weight gradient.
    pub backward_weight: Vec<Part>,
    /// Activation memory of one micro-batch from its forward pass to its last gradient.
    pub activations: Bytes,
}

impl ChunkParts {
    fn of(&self, kind: OperationKind) -> (&[Part], Phase, &'static str) {
        match kind {
            OperationKind::Forward => (&self.forward, Phase::Forward, "forward"),
            OperationKind::Recompute => (&self.recompute, Phase::Recompute, "recompute"),
            OperationKind::Backward => (&self.backward, Phase::Backward, "backward"),
            OperationKind::BackwardInput => (&self.backward_input, Phase::BackwardInput, "input gradient"),
            OperationKind::BackwardWeight => {
                (&self.backward_weight, Phase::BackwardWeight, "weight gradient")
            }
        }
    }
}

/// Inputs in addition to the times of a pipeline.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Detail {
    /// Parts by chunk in pipeline order. If empty, every pass is one span.
    pub chunks: Vec<ChunkParts>,
    /// The rank shown for each stage. If empty, ranks are numbered from 0.
    pub ranks: Vec<Rank>,
    /// The size of a message between stages.
    pub message: Bytes,
}

/// Adds a timed pipeline to a step, with a new rank per stage and the times of the timeline. Returns the
/// index of each stage's rank.
pub fn write_step(
    step: &mut Step,
    pipeline: &Pipeline,
    timeline: &PipelineTimeline,
    detail: &Detail,
) -> Result<Vec<usize>, Problem> {
    let given = |have: usize, want: usize| have == 0 || have == want;
    if !given(detail.chunks.len(), pipeline.chunks.len()) || !given(detail.ranks.len(), timeline.stages.len())
    {
        return Err(Problem::new(format!(
            "parts for {} virtual stages and {} ranks do not match {} virtual stages and {} pipeline stages",
            detail.chunks.len(),
            detail.ranks.len(),
            pipeline.chunks.len(),
            timeline.stages.len()
        )));
    }
    let mut writer = Writer {
        names: ["send activation", "receive activation", "send gradient", "receive gradient"]
            .map(|name| step.names.intern(name)),
        step,
        pipeline,
        detail,
        made: BTreeMap::new(),
        plain: ChunkParts::default(),
    };
    let mut ranks = Vec::with_capacity(timeline.stages.len());
    for stage in 0..timeline.stages.len() {
        let rank = detail.ranks.get(stage).copied().unwrap_or(Rank(stage as u32));
        ranks.push(writer.step.add_rank(rank, Stage(stage as u32)));
    }
    let mut uses = Vec::new();
    for (passes, &rank) in timeline.stages.iter().zip(&ranks) {
        for pass in passes {
            if let Some(first) = writer.pass(pass, rank)
                && let Some(source) = pass.source
            {
                uses.push((*pass, rank, source, first));
            }
        }
    }
    // Sorted by time, so that each stream has its messages in order.
    uses.sort_by(|a, b| a.0.start.get().total_cmp(&b.0.start.get()).then(a.1.cmp(&b.1)));
    for (pass, rank, source, first) in uses {
        writer.message(&pass, (ranks[source as usize], rank), first);
    }
    for &rank in &ranks {
        writer.step.ranks[rank].memory.sort();
    }
    Ok(ranks)
}

struct Writer<'a> {
    step: &'a mut Step,
    pipeline: &'a Pipeline<'a>,
    detail: &'a Detail,
    names: [NameId; 4],
    /// By direction (backward or not), chunk and micro-batch: the pass and its last span.
    made: BTreeMap<(bool, u32, u32), (TimedOperation, SpanRef)>,
    plain: ChunkParts,
}

impl Writer<'_> {
    /// Writes a pass and returns its first span.
    fn pass(&mut self, pass: &TimedOperation, rank: usize) -> Option<SpanRef> {
        let operation = pass.operation;
        let chunk = self.detail.chunks.get(operation.chunk as usize).unwrap_or(&self.plain);
        let (parts, phase, name) = chunk.of(operation.kind);
        let name = self.step.names.intern(name);
        let timed = TimedPass {
            rank,
            phase,
            micro_batch: Some(MicroBatch(operation.micro_batch)),
            chunk: Some(operation.chunk),
            start: Time::from_seconds(pass.start),
            end: Time::from_seconds(pass.end),
        };
        let (first, last) = write_pass(self.step, &timed, name, parts)?;
        let held = chunk.activations.get() as i64;
        if held > 0 {
            let memory = &mut self.step.ranks[rank].memory;
            match operation.kind {
                OperationKind::Forward => memory.push(timed.start, MemoryKind::Activations, held),
                OperationKind::Backward | OperationKind::BackwardWeight => {
                    memory.push(timed.end, MemoryKind::Activations, -held);
                }
                OperationKind::Recompute | OperationKind::BackwardInput => {}
            }
        }
        if pass.target.is_some() {
            let back = operation.kind != OperationKind::Forward;
            self.made.insert((back, operation.chunk, operation.micro_batch), (*pass, last));
        }
        Some(first)
    }

    /// Writes the message on which a pass waited.
    fn message(&mut self, pass: &TimedOperation, (source, rank): (usize, usize), first: SpanRef) {
        let operation = pass.operation;
        let back = operation.kind != OperationKind::Forward;
        let from = if back { operation.chunk + 1 } else { operation.chunk.wrapping_sub(1) };
        let Some(&(sender, last)) = self.made.get(&(back, from, operation.micro_batch)) else { return };
        let transfer = self.pipeline.transfer;
        // A fused pair sends its outputs at the pair's end, which is the start of the transfer.
        let sent = (sender.output_end, sender.output_end + transfer);
        let received = if self.pipeline.overlap_transfer || pass.receive_start == pass.start {
            sent
        } else {
            (pass.receive_start, pass.start)
        };
        let ranks = [self.step.ranks[source].rank, self.step.ranks[rank].rank];
        let group = self.step.group(&ranks);
        let bytes = self.detail.message;
        let mut end = |at: usize, span, (start, end), peer, kind, lane: u8| {
            let collective = Collective { kind, group, bytes, peer: Some(peer) };
            let collective = (transfer.get() > 0.0).then(|| self.step.add_collective(collective));
            MessageEnd {
                rank: at,
                pass: span,
                start: Time::from_seconds(start),
                end: Time::from_seconds(end),
                name: self.names[usize::from(lane)],
                lane,
                collective,
            }
        };
        let lane = if back { 2 } else { 0 };
        let send = end(source, last, sent, ranks[1], CollectiveKind::Send, lane);
        let receive = end(rank, first, received, ranks[0], CollectiveKind::Receive, lane + 1);
        write_message(self.step, &send, &receive, bytes.get() as u64);
    }
}
