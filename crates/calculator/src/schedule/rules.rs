//! What the file of a schedule defines: the order of passes, what of it repeats, and the least that a pipeline takes.

use super::slot::{Shape, Slot};
use super::{ChunkCost, Pipeline};

/// The order of a schedule. Names, placement, live activations and refusals are [`railwright_spec::plan::ScheduleFacts`].
pub(super) trait Rules: Sync {
    /// The order of passes on a stage.
    fn order(&self, shape: &Shape, stage: u64) -> Vec<Slot>;

    /// Micro batches after which the steady state repeats.
    fn period(&self, _: &Shape) -> u64 {
        1
    }

    /// As many micro-batches as are surely enough for warmup, two periods of steady state and cooldown.
    fn enough(&self, shape: &Shape) -> u64;

    /// Whether anything repeats.
    fn repeats(&self, _: &Shape) -> bool {
        true
    }

    /// Whether forward passes repeat apart from backward passes, and every micro-batch is alive in between.
    fn repeats_apart(&self) -> bool {
        false
    }

    /// The least that a pipeline with a chunk for each stage at least can take in s: its duration, or its cycle where the schedule
    /// validates afterwards.
    fn lower_bound(&self, pipeline: &Pipeline) -> f64;
}

/// Everything of a micro-batch on a chunk, in s.
pub(super) fn total(chunk: &ChunkCost) -> f64 {
    chunk.total().get()
}

/// The least of orders with one backward pass: stage s does nothing before the first micro-batch has passed the chunks before it, and its
/// last gradient passes them again: `max over s of m sum(own T) + sum over c < s of (T_c + 2 t)`, with `m` micro batches, `T` a chunk's
/// total and `t` a transfer.
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

/// The least of one chunk a stage with a divided backward pass: from a stage's first forward to its first backward the micro-batch runs
/// down and back, while the stage has its warm-up's forwards to do, `depth (p - 1 - s)` of them:
/// `max over s of m T_s + max(0, sum over c > s of (F + R + B_c + 2 t) - warm-up F_s)`.
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
