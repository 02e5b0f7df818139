//! Checks of a pipeline before it runs.
//!
//! Responsible for: the reasons for rejection, as [`Problem`]s. Excludes the order of passes.

use super::Pipeline;
use railwright_spec::human;
use railwright_spec::plan::{Chunks, Counts, Need};
use railwright_spec::problem::Problem;

/// Maximum number of passes: more would only use memory.
const MOST_PASSES: u64 = 1 << 26;

impl Pipeline<'_> {
    /// Rejects pipelines that no schedule can run.
    pub fn check(&self) -> Result<(), Problem> {
        if self.stages == 0 || self.virtual_stages == 0 || self.micro_batches == 0 {
            return Err(Problem::new(
                "a pipeline needs at least one stage, one virtual stage and one micro-batch",
            ));
        }
        if let Chunks::Exactly(wanted) = self.schedule.facts().chunks
            && self.virtual_stages != wanted
        {
            return Err(Problem::new(format!(
                "this schedule has {} per stage, not {}",
                human::several(wanted, "virtual stage"),
                self.virtual_stages
            ))
            .hint(format!("set virtual stages to {wanted}")));
        }
        let counts = Counts {
            stages: self.stages,
            virtual_stages: self.virtual_stages,
            micro_batches: self.micro_batches,
        };
        // Orders skip the missing part of a round of micro-batches, so only the other counts matter here.
        for refusal in self.schedule.refusals(counts) {
            if let Need::Words(words) = refusal.need {
                return Err(Problem::new((refusal.message)(counts)).hint(words));
            }
        }
        let chunks = self.schedule.chunk_count(self.stages, self.virtual_stages);
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
                "virtual stage {chunk} has a cost that is negative, not finite, or less than its saving"
            )));
        }
        if !good(self.transfer) {
            return Err(Problem::new("the transfer time is negative or not finite"));
        }
        Ok(())
    }
}
