//! Number of micro-batches in flight on a stage.
//!
//! Responsible for: the peak count of pairs of micro-batch and chunk between their forward and their last
//! gradient. The count follows from the order alone. Excludes bytes: the memory model multiplies.

use super::Pipeline;
use super::list::rules;
use super::slot::{Pass, Shape, Slot};
use railwright_spec::problem::Problem;

/// Micro-batches in flight on one stage at its peak.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InFlight {
    /// Number of activations of one micro-batch on one chunk, summed over chunks.
    pub peak: u64,
    /// The same by chunk of the stage, in the order of `Schedule::local_chunks`.
    pub per_chunk: Vec<u64>,
    /// Number of these that only await their weight gradient, which needs less memory.
    pub awaiting_weight: u64,
}

/// Counts along an order. The result describes the first time of the peak.
pub(super) fn count(order: &[Slot], local: &[u64]) -> InFlight {
    let mut alive = vec![0u64; local.len()];
    let (mut total, mut awaiting) = (0u64, 0u64);
    let mut most = InFlight { per_chunk: alive.clone(), ..InFlight::default() };
    for slot in order {
        let Some(chunk) = local.iter().position(|&c| c == u64::from(slot.chunk)) else { continue };
        match slot.pass {
            Pass::Forward | Pass::FusedForward => {
                alive[chunk] += 1;
                total += 1;
                if total > most.peak {
                    most = InFlight { peak: total, per_chunk: alive.clone(), awaiting_weight: awaiting };
                }
            }
            Pass::BackwardInput => awaiting += 1,
            Pass::Backward | Pass::FusedBackward | Pass::BackwardWeight => {
                if slot.pass == Pass::BackwardWeight {
                    awaiting -= awaiting.min(1);
                }
                alive[chunk] -= alive[chunk].min(1);
                total -= total.min(1);
            }
        }
    }
    most
}

/// Micro-batches in flight on a stage at its peak. [`super::PipelineSummary::in_flight`] has them for all
/// stages.
pub fn in_flight(pipeline: &Pipeline, stage: u64) -> Result<InFlight, Problem> {
    pipeline.check()?;
    if stage >= pipeline.stages {
        return Err(Problem::new(format!("there is no stage {stage}; the last is {}", pipeline.stages - 1)));
    }
    let shape = Shape::of(pipeline);
    let local = shape.local_chunks(stage);
    Ok(count(&rules(shape.schedule).order(&shape, stage), &local))
}
