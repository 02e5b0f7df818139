//! Lower bound on a pipeline's time, in a few additions per chunk, for searches that skip the timing.
//!
//! Responsible for: a lower bound on [`super::PipelineSummary::duration`], or of its `cycle` if steps follow
//! each other at that interval. It is never above the exact value, and is not an estimate.

use super::Pipeline;
use super::list::rules;
use railwright_spec::quantity::Seconds;

/// Lower bound on a pipeline's duration, or of its cycle under schedules that validate afterwards. Each
/// schedule's file has its formula.
pub fn lower_bound(pipeline: &Pipeline) -> Seconds {
    if pipeline.chunks.len() < pipeline.stages as usize {
        return Seconds::ZERO;
    }
    Seconds::new(rules(pipeline.schedule).lower_bound(pipeline))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::{ChunkCost, summarize};
    use proptest::prelude::*;
    use railwright_spec::plan::Schedule;

    proptest! {
        #[test]
        fn it_is_never_above_the_truth(
            which in 0..6_usize,
            stages in 1..9_u64,
            virtual_stages in 1..5_u64,
            micro_batches in 1..40_u64,
            transfer in 0.0..0.5_f64,
            overlap in any::<bool>(),
            seeds in prop::collection::vec((0.1..2.0_f64, 0.1..2.0_f64, 0.0..2.0_f64, 0.0..1.0_f64, 0.0..0.05_f64), 40),
        ) {
            let schedule = [
                Schedule::Gpipe, Schedule::OneForwardOneBackward, Schedule::ZbH1, Schedule::ZbH2, Schedule::ZbV,
                Schedule::DualPipe,
            ][which];
            let virtual_stages = match schedule {
                Schedule::ZbV => 2,
                Schedule::Gpipe | Schedule::OneForwardOneBackward => virtual_stages,
                _ => 1,
            };
            let chunks: Vec<ChunkCost> = (0..schedule.chunk_count(stages, virtual_stages) as usize)
                .map(|c| {
                    let (f, b, w, r, s) = seeds[c % seeds.len()];
                    let new = Seconds::new;
                    ChunkCost {
                        forward: new(f),
                        backward_input: new(b),
                        backward_weight: new(w),
                        recompute: new(r),
                        fused_saving: new(if schedule == Schedule::DualPipe { s } else { 0.0 }),
                    }
                })
                .collect();
            let pipeline = Pipeline {
                schedule,
                stages,
                virtual_stages,
                micro_batches,
                chunks: &chunks,
                transfer: Seconds::new(transfer),
                overlap_transfer: overlap,
            };
            if let Ok(summary) = summarize(&pipeline) {
                let truth = if schedule.validates_afterwards() { summary.cycle } else { summary.duration };
                let bound = lower_bound(&pipeline);
                prop_assert!(bound.get() <= truth.get() * (1.0 + 1e-9), "{bound:?} {truth:?}");
                // With one backward pass per micro-batch, stage 0 has the last one.
                if !schedule.validates_afterwards() && !schedule.has_two_directions() {
                    prop_assert!(bound.get() <= summary.last_backward_end[0].get() * (1.0 + 1e-9));
                }
            }
        }
    }

    #[test]
    fn it_is_the_published_time_of_equal_stages() {
        let new = Seconds::new;
        let chunk = ChunkCost {
            forward: new(1.0),
            backward_input: new(1.0),
            backward_weight: new(1.0),
            ..ChunkCost::default()
        };
        let of = |schedule: Schedule, virtual_stages: u64| {
            let chunks = vec![chunk; schedule.chunk_count(4, virtual_stages) as usize];
            lower_bound(&Pipeline {
                schedule,
                stages: 4,
                virtual_stages,
                micro_batches: 8,
                chunks: &chunks,
                transfer: Seconds::ZERO,
                overlap_transfer: true,
            })
            .get()
        };
        // (m + p - 1)(F + B + W), and with two chunks of the same size (2m + p - 1) of them.
        assert_eq!(of(Schedule::OneForwardOneBackward, 1), 11.0 * 3.0);
        assert_eq!(of(Schedule::OneForwardOneBackward, 2), 19.0 * 3.0);
        // ZB-H1 idles for (p - 1)(F + B - W), ZB-H2 not at all (Qi et al. 2023, table 1).
        assert_eq!(of(Schedule::ZbH1, 1), 8.0 * 3.0 + 3.0);
        assert_eq!(of(Schedule::ZbH2, 1), 8.0 * 3.0);
    }
}
