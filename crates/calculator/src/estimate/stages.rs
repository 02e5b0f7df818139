//! Table of pipeline stages.

use super::breakdown::runs_per_chunk;
use super::memory::MemoryEstimate;
use crate::costing::Costing;
use crate::evaluate::{Evaluation, local_chunks, on_stage};
use railwright_spec::quantity::{Bytes, Seconds};
use serde::Serialize;

/// One stage.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StageRow {
    /// The stage, from 0.
    pub stage: usize,
    /// Layers on it.
    pub layers: u64,
    /// True if the word embedding is on it.
    pub embedding: bool,
    /// True if the head and the loss are on it.
    pub head: bool,
    /// Forward pass of one micro-batch through all its chunks by itself, host included.
    pub forward: Seconds,
    /// Backward pass of one micro-batch, recompute and host included.
    pub backward: Seconds,
    /// Recompute part of the backward pass.
    pub recompute: Seconds,
    /// Time in passes per step. Below the sum of individual passes with DualPipe, which fuses passes of its
    /// two directions.
    pub busy: Seconds,
    /// Exposed communication in this time.
    pub exposed: Seconds,
    /// Rest of the pipeline's duration: idle time and blocking transfers.
    pub bubble: Seconds,
    /// Exposed gradient reduction on this stage.
    pub gradient_exposed: Seconds,
    /// Memory at the stage's peak.
    pub memory: Bytes,
    /// True if the breakdown describes this stage.
    pub critical: bool,
}

pub(super) fn table(
    costing: &Costing<'_>,
    evaluation: &Evaluation,
    memory: &MemoryEstimate,
) -> Vec<StageRow> {
    let chunks = &evaluation.chunks;
    // A stage with two directions runs each chunk for half of the micro-batches.
    let per_micro_batch = runs_per_chunk(costing) / costing.plan.micro_batches().max(1) as f64;
    evaluation
        .busy
        .iter()
        .enumerate()
        .map(|(stage, &busy)| {
            let local = local_chunks(costing.plan, stage);
            let sum = |time: fn(&crate::schedule::ChunkCost) -> Seconds| -> Seconds {
                local.iter().map(|&i| time(&chunks[i].time)).sum::<Seconds>() * per_micro_batch
            };
            StageRow {
                stage,
                layers: local.iter().map(|&i| chunks[i].layers).sum(),
                embedding: local.contains(&0),
                head: local.contains(&(chunks.len() - 1)),
                forward: sum(|c| c.forward),
                backward: sum(|c| c.recompute + c.backward_input + c.backward_weight),
                recompute: sum(|c| c.recompute),
                busy,
                // As in the breakdown: fused passes of two directions hide each other's communication.
                exposed: on_stage(costing, evaluation, stage)
                    .time
                    .exposed
                    .iter()
                    .map(|&(_, time)| time)
                    .sum(),
                bubble: (evaluation.pipeline - busy).max(Seconds::ZERO),
                gradient_exposed: evaluation
                    .updates
                    .get(stage)
                    .map_or(Seconds::ZERO, |u| u.gradient_exposed + u.between_stages),
                memory: memory.stages.get(stage).map_or(Bytes::ZERO, |s| s.device),
                critical: stage == evaluation.critical_stage,
            }
        })
        .collect()
}
