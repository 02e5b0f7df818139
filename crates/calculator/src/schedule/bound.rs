//! What no pipeline takes less than, in a few additions per chunk: for searches that would rather not time it.
//!
//! Responsible for: a lower bound of [`super::PipelineSummary::duration`], or of its `cycle` where steps follow each other at that pace.
//! Refuses to estimate: it is never above the truth.

use super::{ChunkCost, Pipeline};
use railwright_spec::plan::Schedule;
use railwright_spec::quantity::Seconds;

/// The least that a pipeline can take: its duration, or its cycle under schedules that validate afterwards.
///
/// With `m` micro batches, `T` a chunk's total and `t` a transfer:
///
/// * One backward pass (GPipe, 1F1B): stage s does nothing before the first micro batch has passed the chunks before it, and its last
///   gradient passes them again: `max over s of m sum(own T) + sum over c < s of (T_c + 2 t)`.
/// * Split backward pass (ZB-H1, ZB-H2): from a stage's first forward to its first backward the micro batch runs down and back, while the
///   stage has its warm-up's forwards to do: `max over s of m T_s + max(0, sum over c > s of (F + R + B_c + 2 t) - warm-up F_s)`.
/// * Two chunks that share a stage (ZB-V, DualPipe): the busiest stage; DualPipe's fused pairs save twice a chunk's saving at most.
pub fn lower_bound(pipeline: &Pipeline) -> Seconds {
    let m = pipeline.micro_batches as f64;
    let p = pipeline.stages as usize;
    let t = pipeline.transfer.get();
    let chunks = pipeline.chunks;
    if chunks.len() < p {
        return Seconds::ZERO;
    }
    let total = |chunk: &ChunkCost| chunk.total().get();
    let mut most = 0.0_f64;
    match pipeline.schedule {
        Schedule::Gpipe | Schedule::OneForwardOneBackward => {
            let mut before = 0.0;
            for stage in 0..p {
                let own: f64 = chunks[stage..].iter().step_by(p).map(total).sum();
                most = most.max(m * own + before);
                before += total(&chunks[stage]) + 2.0 * t;
            }
        }
        Schedule::ZbH1 | Schedule::ZbH2 => {
            let deep = if pipeline.schedule == Schedule::ZbH2 { 2.0 } else { 1.0 };
            let mut behind = 0.0;
            for stage in (0..p).rev() {
                let chunk = &chunks[stage];
                let forward = chunk.forward.get();
                let warmup = (deep * (p - 1 - stage) as f64).min(m - 1.0);
                most = most.max(m * total(chunk) + (behind - warmup * forward).max(0.0));
                behind += forward + chunk.recompute.get() + chunk.backward_input.get() + 2.0 * t;
            }
        }
        Schedule::ZbV => {
            for stage in 0..p.min(chunks.len() / 2) {
                most = most.max(m * (total(&chunks[stage]) + total(&chunks[2 * p - 1 - stage])));
            }
        }
        Schedule::DualPipe => {
            let least = |chunk: &ChunkCost| (total(chunk) - 2.0 * chunk.fused_saving.get()).max(0.0);
            let half = (pipeline.micro_batches / 2) as f64;
            for stage in 0..p.div_ceil(2) {
                let mirror = p - 1 - stage;
                let pair = if mirror == stage { 0.0 } else { least(&chunks[mirror]) };
                most = most.max(half * (least(&chunks[stage]) + pair));
            }
        }
    }
    Seconds::new(most)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::{chunk_count, summarize};
    use proptest::prelude::*;

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
            let chunks: Vec<ChunkCost> = (0..chunk_count(schedule, stages, virtual_stages) as usize)
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
                // Where one backward pass is the rule, stage 0 has the last one.
                if !schedule.validates_afterwards() && schedule != Schedule::DualPipe {
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
        let of = |schedule, virtual_stages: u64| {
            let chunks = vec![chunk; chunk_count(schedule, 4, virtual_stages) as usize];
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
