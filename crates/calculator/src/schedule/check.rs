//! Validity of a pipeline, and placement of its chunks.
//!
//! Responsible for: errors as [`Problem`]s, and the placement of chunks. Does not order passes.

use super::Pipeline;
use railwright_spec::plan::Schedule;
use railwright_spec::problem::Problem;

/// More passes than this are refused: they would only eat memory.
const MOST_PASSES: u64 = 1 << 26;

/// Virtual stages along the whole pipeline, which is how many [`super::ChunkCost`]s a pipeline needs.
pub fn chunk_count(schedule: Schedule, stages: u64, virtual_stages: u64) -> u64 {
    match schedule {
        Schedule::Gpipe | Schedule::OneForwardOneBackward => stages.saturating_mul(virtual_stages.max(1)),
        Schedule::ZbV => stages.saturating_mul(2),
        Schedule::ZbH1 | Schedule::ZbH2 | Schedule::DualPipe => stages,
    }
}

/// The chunks that a stage holds, in ascending order. DualPipe's middle is no exception: every stage holds two.
pub fn local_chunks(schedule: Schedule, stages: u64, virtual_stages: u64, stage: u64) -> Vec<u64> {
    match schedule {
        Schedule::Gpipe | Schedule::OneForwardOneBackward => {
            (0..virtual_stages.max(1)).map(|v| v * stages + stage).collect()
        }
        Schedule::ZbV => vec![stage, 2 * stages - 1 - stage],
        Schedule::ZbH1 | Schedule::ZbH2 => vec![stage],
        Schedule::DualPipe if stages == 1 => vec![0],
        Schedule::DualPipe => {
            let mirror = stages - 1 - stage;
            vec![stage.min(mirror), stage.max(mirror)]
        }
    }
}

/// The stage that runs a chunk for a micro batch (only DualPipe looks at the micro batch).
pub fn stage_of(schedule: Schedule, stages: u64, micro_batches: u64, chunk: u64, micro_batch: u64) -> u64 {
    let stages = stages.max(1);
    match schedule {
        Schedule::Gpipe | Schedule::OneForwardOneBackward => chunk % stages,
        Schedule::ZbH1 | Schedule::ZbH2 => chunk,
        Schedule::ZbV => {
            if chunk < stages {
                chunk
            } else {
                2 * stages - 1 - chunk
            }
        }
        Schedule::DualPipe => {
            if micro_batch < micro_batches.div_ceil(2) {
                chunk
            } else {
                stages - 1 - chunk
            }
        }
    }
}

impl Pipeline<'_> {
    /// Refuses what no schedule can run.
    pub fn check(&self) -> Result<(), Problem> {
        if self.stages == 0 || self.virtual_stages == 0 || self.micro_batches == 0 {
            return Err(Problem::new(
                "a pipeline needs at least one stage, one virtual stage and one micro-batch",
            ));
        }
        let wanted = match self.schedule {
            Schedule::ZbV => Some(2),
            Schedule::ZbH1 | Schedule::ZbH2 | Schedule::DualPipe => Some(1),
            Schedule::Gpipe | Schedule::OneForwardOneBackward => None,
        };
        if let Some(wanted) = wanted
            && self.virtual_stages != wanted
        {
            return Err(Problem::new(format!(
                "this schedule has {wanted} virtual stage(s) per stage, not {}",
                self.virtual_stages
            ))
            .hint(format!("set virtual stages to {wanted}")));
        }
        if self.schedule == Schedule::DualPipe && self.stages > 1 && self.stages % 2 == 1 {
            return Err(Problem::new(format!(
                "DualPipe needs an even number of stages, not {}",
                self.stages
            ))
            .hint("its two directions meet between the middle stages"));
        }
        let chunks = chunk_count(self.schedule, self.stages, self.virtual_stages);
        if chunks.saturating_mul(self.micro_batches) > MOST_PASSES {
            return Err(Problem::new(format!(
                "{chunks} virtual stages x {} micro-batches exceed {MOST_PASSES} passes",
                self.micro_batches
            )));
        }
        if self.chunks.len() as u64 != chunks {
            return Err(Problem::new(format!(
                "the schedule has {chunks} virtual stages, but costs for {}",
                self.chunks.len()
            )));
        }
        let good = |seconds: railwright_spec::quantity::Seconds| seconds.is_finite() && seconds.get() >= 0.0;
        let bad_chunk = self.chunks.iter().position(|c| {
            ![c.forward, c.backward_input, c.backward_weight, c.recompute, c.fused_saving]
                .into_iter()
                .all(good)
                || c.fused_saving.get() > c.forward.min(c.backward_input + c.backward_weight).get()
        });
        if let Some(chunk) = bad_chunk {
            return Err(Problem::new(format!(
                "the costs of virtual stage {chunk} are not all finite, non-negative and at least their saving"
            )));
        }
        if !good(self.transfer) {
            return Err(Problem::new("the transfer time is not finite and non-negative"));
        }
        Ok(())
    }
}
