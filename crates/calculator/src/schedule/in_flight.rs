//! How many activations are alive on a stage.
//!
//! Responsible for: the peak count of micro batch and chunk pairs whose forward has run and whose last gradient has not. The
//! count follows from the order alone. Refuses to know bytes: the memory model multiplies.

use super::Pipeline;
use super::list::rules;
use super::slot::{Pass, Shape, Slot};
use railwright_spec::problem::Problem;

/// The activations alive on one stage at its fullest.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InFlight {
    /// Activations of one micro-batch on one chunk, all chunks together.
    pub peak: u64,
    /// How those are spread over the stage's chunks, as `Schedule::local_chunks` orders them.
    pub per_chunk: Vec<u64>,
    /// How many of them have their input gradient done and wait for their weight gradient only, which needs less.
    pub awaiting_weight: u64,
}

/// Counts along an order. The first moment that reaches the peak is the one described.
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

/// The activations alive on a stage at its fullest. [`super::PipelineSummary::in_flight`] has them for all stages.
pub fn in_flight(pipeline: &Pipeline, stage: u64) -> Result<InFlight, Problem> {
    pipeline.check()?;
    if stage >= pipeline.stages {
        return Err(Problem::new(format!("there is no stage {stage}, the last is {}", pipeline.stages - 1)));
    }
    let shape = Shape::of(pipeline);
    let local = shape.local_chunks(stage);
    Ok(count(&rules(shape.schedule).order(&shape, stage), &local))
}
