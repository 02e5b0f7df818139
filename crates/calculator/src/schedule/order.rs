//! The order of passes on each stage.
//!
//! Responsible for: GPipe, 1F1B and interleaved 1F1B (Megatron-LM's order), and the choice among all orders. Refuses to
//! time anything: an order depends on counts alone.

use super::{Pipeline, check, dual_pipe, zero_bubble};
use railwright_spec::plan::Schedule;
use railwright_spec::problem::Problem;

/// What a pass does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum OperationKind {
    /// The forward pass.
    Forward,
    /// Forward work done again for the backward pass.
    Recompute,
    /// Both gradients in one, where the schedule does not split them.
    Backward,
    /// The gradient of the input.
    BackwardInput,
    /// The gradient of the weights.
    BackwardWeight,
}

/// One pass of one micro batch through one chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Operation {
    /// What is done.
    pub kind: OperationKind,
    /// For which micro batch.
    pub micro_batch: u32,
    /// On which virtual stage, numbered along the pipeline.
    pub chunk: u32,
}

/// A pass of an order: recompute is part of a backward pass, and fused pairs are consecutive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pass {
    Forward,
    Backward,
    BackwardInput,
    BackwardWeight,
    /// First half of a fused pair; the next slot is its [`Pass::FusedBackward`].
    FusedForward,
    FusedBackward,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Slot {
    pub(super) pass: Pass,
    pub(super) micro_batch: u32,
    pub(super) chunk: u32,
}

impl Slot {
    pub(super) fn new(pass: Pass, micro_batch: u64, chunk: u64) -> Self {
        Self { pass, micro_batch: micro_batch as u32, chunk: chunk as u32 }
    }

    /// Whether this pass hands an activation onwards (as opposed to a gradient back, or nothing).
    pub(super) fn is_forward(self) -> bool {
        matches!(self.pass, Pass::Forward | Pass::FusedForward)
    }

    /// Whether this pass hands a gradient back.
    pub(super) fn hands_back(self) -> bool {
        matches!(self.pass, Pass::Backward | Pass::BackwardInput | Pass::FusedBackward)
    }
}

/// The counts that an order depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    pub(super) schedule: Schedule,
    pub(super) stages: u64,
    pub(super) virtual_stages: u64,
    pub(super) micro_batches: u64,
}

/// A shape to look up by.
pub(super) type Key = (u8, u64, u64, u64);

impl Shape {
    pub(super) fn key(&self) -> Key {
        (self.schedule as u8, self.stages, self.virtual_stages, self.micro_batches)
    }

    pub(super) fn of(pipeline: &Pipeline) -> Self {
        Self {
            schedule: pipeline.schedule,
            stages: pipeline.stages,
            virtual_stages: pipeline.virtual_stages,
            micro_batches: pipeline.micro_batches,
        }
    }

    pub(super) fn chunks(&self) -> u64 {
        check::chunk_count(self.schedule, self.stages, self.virtual_stages)
    }

    pub(super) fn stage_of(&self, chunk: u64, micro_batch: u64) -> u64 {
        check::stage_of(self.schedule, self.stages, self.micro_batches, chunk, micro_batch)
    }

    /// The stage from which a slot's input must come, if it is another one.
    pub(super) fn source(&self, slot: Slot) -> Option<(u64, u64)> {
        let (chunk, micro_batch) = (u64::from(slot.chunk), u64::from(slot.micro_batch));
        let from = if slot.is_forward() {
            chunk.checked_sub(1)?
        } else if slot.hands_back() && chunk + 1 < self.chunks() {
            chunk + 1
        } else {
            return None;
        };
        let stage = self.stage_of(from, micro_batch);
        (stage != self.stage_of(chunk, micro_batch)).then_some((stage, from))
    }

    /// The stage that waits for a slot's output, if it is another one.
    pub(super) fn target(&self, slot: Slot) -> Option<u64> {
        let (chunk, micro_batch) = (u64::from(slot.chunk), u64::from(slot.micro_batch));
        let to = if slot.is_forward() {
            (chunk + 1 < self.chunks()).then_some(chunk + 1)?
        } else if slot.hands_back() {
            chunk.checked_sub(1)?
        } else {
            return None;
        };
        let stage = self.stage_of(to, micro_batch);
        (stage != self.stage_of(chunk, micro_batch)).then_some(stage)
    }

    /// The order of passes on a stage.
    pub(super) fn order(&self, stage: u64) -> Vec<Slot> {
        let Self { stages, virtual_stages, micro_batches, .. } = *self;
        let behind = stages - 1 - stage;
        match self.schedule {
            Schedule::Gpipe => gpipe(stages, virtual_stages, micro_batches, stage),
            Schedule::OneForwardOneBackward if virtual_stages == 1 => {
                one_forward_one_backward(micro_batches, stage, behind, None)
            }
            Schedule::OneForwardOneBackward => interleaved(stages, virtual_stages, micro_batches, stage),
            Schedule::ZbH1 => one_forward_one_backward(micro_batches, stage, behind, Some(stage)),
            Schedule::ZbH2 => one_forward_one_backward(micro_batches, stage, 2 * behind, Some(2 * stage)),
            Schedule::ZbV => zero_bubble::v_shape(stages, micro_batches, stage),
            Schedule::DualPipe if stages == 1 => one_forward_one_backward(micro_batches, stage, 0, None),
            Schedule::DualPipe => dual_pipe::order(stages, micro_batches, stage),
        }
    }
}

/// All forwards, then all backwards; with virtual stages chunk by chunk (breadth first).
fn gpipe(stages: u64, virtual_stages: u64, micro_batches: u64, stage: u64) -> Vec<Slot> {
    let mut slots = Vec::with_capacity((2 * virtual_stages * micro_batches) as usize);
    for chunk in 0..virtual_stages {
        slots.extend((0..micro_batches).map(|m| Slot::new(Pass::Forward, m, chunk * stages + stage)));
    }
    for chunk in (0..virtual_stages).rev() {
        slots.extend((0..micro_batches).map(|m| Slot::new(Pass::Backward, m, chunk * stages + stage)));
    }
    slots
}

/// `warmup` forwards, then one forward and one backward in turn, then the backwards that are left.
///
/// With `weight_delay` the backward pass is split and a weight gradient follows each input gradient but the first
/// `weight_delay` ones, which leaves that many for the very end. ZB-H1 is warmup `p-1-s`, delay `s`; ZB-H2 doubles both,
/// which makes the trapezoid of 1F1B a parallelogram (Qi et al. 2023, figures 2 and 3).
fn one_forward_one_backward(
    micro_batches: u64,
    chunk: u64,
    warmup: u64,
    weight_delay: Option<u64>,
) -> Vec<Slot> {
    let warmup = warmup.min(micro_batches);
    let mut slots = Vec::with_capacity(3 * micro_batches as usize);
    let mut weights = 0;
    for turn in 0..warmup + micro_batches {
        if turn < micro_batches {
            slots.push(Slot::new(Pass::Forward, turn, chunk));
        }
        let Some(backward) = turn.checked_sub(warmup) else { continue };
        let Some(delay) = weight_delay else {
            slots.push(Slot::new(Pass::Backward, backward, chunk));
            continue;
        };
        slots.push(Slot::new(Pass::BackwardInput, backward, chunk));
        if backward >= delay {
            slots.push(Slot::new(Pass::BackwardWeight, weights, chunk));
            weights += 1;
        }
    }
    if weight_delay.is_some() {
        slots.extend((weights..micro_batches).map(|m| Slot::new(Pass::BackwardWeight, m, chunk)));
    }
    slots
}

/// Interleaved 1F1B: micro batches go in groups of `stages`, each group through all local chunks in turn. Warmup is
/// `2(p-1-s) + (v-1)p` passes (Narayanan et al. 2021, section 2.2; Megatron-LM).
///
/// Megatron-LM refuses a last group smaller than `stages`, as its order would wait for ever. Here the order of a whole last
/// group is taken and the missing micro batches are left out, which costs what its place would.
fn interleaved(stages: u64, virtual_stages: u64, micro_batches: u64, stage: u64) -> Vec<Slot> {
    let whole = micro_batches.next_multiple_of(stages);
    let mut table = Vec::with_capacity((virtual_stages * whole) as usize);
    for first in (0..whole).step_by(stages as usize) {
        for chunk in 0..virtual_stages {
            table.extend((first..first + stages).map(|m| (m, chunk)));
        }
    }
    let warmup = (2 * (stages - 1 - stage) + (virtual_stages - 1) * stages).min(table.len() as u64) as usize;
    let mut slots = Vec::with_capacity(2 * table.len());
    for turn in 0..table.len() + warmup {
        if let Some(&(m, chunk)) = table.get(turn) {
            slots.push(Slot::new(Pass::Forward, m, chunk * stages + stage));
        }
        if let Some(&(m, chunk)) = turn.checked_sub(warmup).and_then(|turn| table.get(turn)) {
            slots.push(Slot::new(Pass::Backward, m, (virtual_stages - 1 - chunk) * stages + stage));
        }
    }
    slots.retain(|slot| u64::from(slot.micro_batch) < micro_batches);
    slots
}

/// The order of passes on a stage, recompute written out before the backward pass that needs it. A fused pair is its
/// forward followed by its backward.
pub fn operations(pipeline: &Pipeline, stage: u64) -> Result<Vec<Operation>, Problem> {
    pipeline.check()?;
    if stage >= pipeline.stages {
        return Err(Problem::new(format!("there is no stage {stage}, the last is {}", pipeline.stages - 1)));
    }
    let mut operations = Vec::new();
    for slot in Shape::of(pipeline).order(stage) {
        let operation = |kind| Operation { kind, micro_batch: slot.micro_batch, chunk: slot.chunk };
        if slot.hands_back() && pipeline.chunks[slot.chunk as usize].recompute.get() > 0.0 {
            operations.push(operation(OperationKind::Recompute));
        }
        operations.push(operation(match slot.pass {
            Pass::Forward | Pass::FusedForward => OperationKind::Forward,
            Pass::Backward | Pass::FusedBackward => OperationKind::Backward,
            Pass::BackwardInput => OperationKind::BackwardInput,
            Pass::BackwardWeight => OperationKind::BackwardWeight,
        }));
    }
    Ok(operations)
}
