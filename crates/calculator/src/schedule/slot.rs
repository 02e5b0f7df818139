//! Types of an order of passes: a pass of a micro-batch on a chunk, and the counts that determine an order.

use super::Pipeline;
use railwright_spec::plan::Schedule;

/// A pass as in the orders: recompute is part of a backward pass, and the parts of fused pairs are adjacent.
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

    /// Tests whether this pass sends an activation forward (as opposed to a gradient backward, or nothing).
    pub(super) fn is_forward(self) -> bool {
        matches!(self.pass, Pass::Forward | Pass::FusedForward)
    }

    /// Tests whether this pass sends a gradient backward.
    pub(super) fn hands_back(self) -> bool {
        matches!(self.pass, Pass::Backward | Pass::BackwardInput | Pass::FusedBackward)
    }
}

/// The counts that determine an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    pub(super) schedule: Schedule,
    pub(super) stages: u64,
    pub(super) virtual_stages: u64,
    pub(super) micro_batches: u64,
}

/// A shape as a lookup key.
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
        self.schedule.chunk_count(self.stages, self.virtual_stages)
    }

    /// The chunks of a stage.
    pub(super) fn local_chunks(&self, stage: u64) -> Vec<u64> {
        self.schedule.local_chunks(self.stages, self.virtual_stages, stage)
    }

    pub(super) fn stage_of(&self, chunk: u64, micro_batch: u64) -> u64 {
        self.schedule.stage_of(self.stages, self.micro_batches, chunk, micro_batch)
    }

    /// The stage and chunk of a slot's input. `None` if it is on the same stage.
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

    /// The stage that waits for a slot's output. `None` if it is the same stage.
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
}
