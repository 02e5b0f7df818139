//! Pipeline schedules: order of passes per stage, duration of the step's pipeline, and micro-batches in
//! flight.
//!
//! Responsible for: the order of passes on every stage ([`operations`]); an event engine that times each pass
//! ([`simulate`]); a fast evaluation for search that agrees with it ([`summarize`]); the published closed
//! forms ([`closed_form`]); the peak of live activations ([`in_flight`]). Pass and transfer times are inputs,
//! in seconds. Each schedule's order, bound and closed form are in a file of its name, behind one trait and
//! one list; [`railwright_spec::plan::Schedule`] defines the placement of its chunks and the plans that it
//! rejects.
//!
//! Virtual stages (*chunks*) are numbered along the pipeline, 0 holding the embedding and the last one the
//! head:
//!
//! | schedule | chunks | chunk `c` runs on stage |
//! | --- | --- | --- |
//! | GPipe, 1F1B (interleaved when `virtual_stages` > 1) | `stages * virtual_stages` | `c % stages` |
//! | ZB-H1, ZB-H2 | `stages` | `c` |
//! | ZB-V | `2 * stages` | `c` going down, `2 * stages - 1 - c` coming back |
//! | DualPipe | `stages` | `c` for the first half of the micro batches, `stages - 1 - c` for the second |

mod bound;
mod check;
pub mod closed_form;
mod dual_pipe;
mod engine;
mod gpipe;
mod in_flight;
mod list;
mod one_forward_one_backward;
mod order;
mod program;
mod recurrence;
mod reduced;
mod rules;
mod slot;
mod stage_cost;
mod summary;
mod to_step;
mod zb_h1;
mod zb_h2;
mod zb_v;

pub use bound::lower_bound;
pub use engine::{PipelineTimeline, TimedOperation, simulate};
pub use in_flight::{InFlight, in_flight};
pub use order::{Operation, OperationKind, operations};
pub use reduced::{GradientEnds, Reduced};
pub use summary::{PipelineSummary, Workspace, summarize};
pub use to_step::{ChunkParts, Detail, write_step};

use railwright_spec::plan::Schedule;
use railwright_spec::quantity::Seconds;

/// Cost of one micro-batch on one virtual stage.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ChunkCost {
    /// The forward pass.
    pub forward: Seconds,
    /// Gradients of the chunk's input.
    pub backward_input: Seconds,
    /// Gradients of the chunk's weights. Schedules that do not split the backward pass run it together with
    /// the former.
    pub backward_weight: Seconds,
    /// Recomputed forward work, directly before `backward_input` and after the arrival of the gradient.
    pub recompute: Seconds,
    /// DualPipe only: time saved by one pass of this chunk when it runs fused with a pass of the other
    /// direction. Its communication then overlaps with the other's compute. A fused pair takes the sum
    /// of both minus both savings.
    pub fused_saving: Seconds,
}

impl ChunkCost {
    /// Total cost of one micro-batch on this chunk, without fused passes.
    pub fn total(&self) -> Seconds {
        self.forward + self.recompute + self.backward_input + self.backward_weight
    }
}

/// Pipeline of one step.
#[derive(Clone, Copy, Debug)]
pub struct Pipeline<'a> {
    /// The order of passes.
    pub schedule: Schedule,
    /// Pipeline stages.
    pub stages: u64,
    /// Chunks per stage: any for GPipe and 1F1B, 2 for ZB-V, 1 for the others.
    pub virtual_stages: u64,
    /// Micro-batches per step.
    pub micro_batches: u64,
    /// Costs in pipeline order; see the module's table for their number and stages.
    pub chunks: &'a [ChunkCost],
    /// Time of one activation (or gradient) from one stage to the next.
    pub transfer: Seconds,
    /// Overlapped: a transfer only delays its receiver. Not overlapped: it also blocks the sender after the
    /// pass, and the receiver before its pass. A receiver that sends at the same time is not blocked
    /// (one exchange, as Megatron's batched `send_forward_recv_backward`).
    pub overlap_transfer: bool,
}

#[cfg(test)]
mod tests;
