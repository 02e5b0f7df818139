//! Definition of a schedule: the order of passes, its repeating part, and a lower bound on the pipeline's
//! time.

use super::slot::{Shape, Slot};
use super::{ChunkCost, Pipeline};

/// The order of a schedule. Names, placement, live activations and reasons for rejection are
/// [`railwright_spec::plan::ScheduleFacts`].
pub(super) trait Rules: Sync {
    /// The order of passes on a stage.
    fn order(&self, shape: &Shape, stage: u64) -> Vec<Slot>;

    /// Number of micro-batches after which the steady state repeats.
    fn period(&self, _: &Shape) -> u64 {
        1
    }

    /// Number of micro-batches that certainly suffices for warmup, two periods of steady state and cooldown.
    fn enough(&self, shape: &Shape) -> u64;

    /// Tests whether the order has a repeating steady state.
    fn repeats(&self, _: &Shape) -> bool {
        true
    }

    /// Tests whether forward passes repeat separately from backward passes, with every micro-batch in flight
    /// in between.
    fn repeats_apart(&self) -> bool {
        false
    }

    /// Lower bound on a pipeline with at least one chunk per stage, in s: its duration, or its cycle if the
    /// schedule validates afterwards.
    fn lower_bound(&self, pipeline: &Pipeline) -> f64;
}

/// Total cost of a micro-batch on a chunk, in s.
pub(super) fn total(chunk: &ChunkCost) -> f64 {
    chunk.total().get()
}

/// Lower bound on orders with one backward pass: stage s is idle before the first micro-batch has passed the
/// chunks before it, and its last gradient passes them again: `max over s of m sum(own T) + sum over c < s of
/// (T_c + 2 t)`, with `m` micro-batches, `T` a chunk's total and `t` a transfer.
pub(super) fn bound_of_whole_backward(pipeline: &Pipeline) -> f64 {
    let (m, p) = (pipeline.micro_batches as f64, pipeline.stages as usize);
    let (mut most, mut before) = (0.0_f64, 0.0);
    for stage in 0..p {
        let own: f64 = pipeline.chunks[stage..].iter().step_by(p).map(total).sum();
        most = most.max(m * own + before);
        before += total(&pipeline.chunks[stage]) + 2.0 * pipeline.transfer.get();
    }
    most
}

/// Lower bound on one chunk per stage with a divided backward pass. From a stage's first forward to its first
/// backward the micro-batch runs to the end and back. Meanwhile the stage runs its warm-up forwards, `depth
/// (p - 1 - s)` of them: `max over s of m T_s + max(0, sum over c > s of (F + R + B_c + 2 t) - warm-up F_s)`.
pub(super) fn bound_of_divided_backward(pipeline: &Pipeline, depth: f64) -> f64 {
    let (m, p) = (pipeline.micro_batches as f64, pipeline.stages as usize);
    let (mut most, mut behind) = (0.0_f64, 0.0);
    for stage in (0..p).rev() {
        let chunk = &pipeline.chunks[stage];
        let forward = chunk.forward.get();
        let warmup = (depth * (p - 1 - stage) as f64).min(m - 1.0);
        most = most.max(m * total(chunk) + (behind - warmup * forward).max(0.0));
        behind +=
            forward + chunk.recompute.get() + chunk.backward_input.get() + 2.0 * pipeline.transfer.get();
    }
    most
}
