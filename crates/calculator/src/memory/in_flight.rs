//! How many micro batches wait for their backward pass, in closed form by schedule.
//!
//! Responsible for: counts at the peak of a stage. Refuses to order operations; the schedule does that, and a test there can
//! hold these counts against it.

use railwright_spec::plan::{Plan, Schedule};

/// Chunks that a stage holds: virtual stages, at least two where the schedule folds the pipeline.
pub(crate) fn chunks(plan: &Plan) -> usize {
    let virtual_stages = plan.virtual_stages.max(1) as usize;
    match plan.schedule {
        Schedule::ZbV | Schedule::DualPipe => 2,
        Schedule::ZbH1 | Schedule::ZbH2 => 1,
        Schedule::Gpipe | Schedule::OneForwardOneBackward => virtual_stages,
    }
}

/// Whether chunk 1 runs back through the stages (the last virtual stage lies on stage 0).
pub(crate) fn is_folded(plan: &Plan) -> bool {
    matches!(plan.schedule, Schedule::ZbV | Schedule::DualPipe)
}

/// Micro batches of chunk `chunk` alive on stage `stage` at its peak; p stages, m micro batches, v chunks.
///
/// 1F1B: min(p - s, m) (Narayanan 2021). Interleaved: 2(p - s - 1) + (v - 1)p + 1 chunks in all, at most mv, dealt p at a
/// time from chunk 0 (Megatron's warm-up). ZB-H1 and ZB-H2: p and 2p on every stage, the limits that the automatic schedules ZB-1p
/// and ZB-2p are given and fill (Qi 2023, section 3). ZB-V: 2p half chunks on every stage. DualPipe: p + 1 over both directions (DeepSeek-V3, table 2). GPipe: m.
pub fn in_flight(plan: &Plan, stage: usize, chunk: usize) -> f64 {
    let p = plan.pipeline_parallel.max(1) as f64;
    let s = stage as f64;
    let m = plan.micro_batches().max(1) as f64;
    let v = chunks(plan) as f64;
    match plan.schedule {
        Schedule::Gpipe => m,
        Schedule::ZbH1 => p.min(m),
        Schedule::ZbH2 => (2.0 * p).min(m),
        Schedule::ZbV => {
            if chunk == 0 {
                (2.0 * p - 1.0 - s).min(m)
            } else {
                (1.0 + s).min(m)
            }
        }
        Schedule::DualPipe => {
            // Chunk 0 is the one nearer to the embedding; each direction is a 1F1B of its own on half of the micro batches.
            let near = s.min(p - 1.0 - s);
            let alive = if chunk == 0 { p - near } else { near + 1.0 };
            alive.min((m / 2.0).ceil().max(1.0))
        }
        Schedule::OneForwardOneBackward if v < 2.0 => (p - s).min(m),
        Schedule::OneForwardOneBackward => {
            let total = (2.0 * (p - s - 1.0) + (v - 1.0) * p + 1.0).min(m * v);
            // Rounds of p micro batches go to chunks 0, 1, ..., v-1, 0, ...
            let round = p.min(m);
            let full_cycles = (total / (round * v)).floor();
            let rest = total - full_cycles * round * v;
            full_cycles * round + (rest - chunk as f64 * round).clamp(0.0, round)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::testing;

    fn count(schedule: Schedule, p: u64, v: u64, m: u64, stage: usize, chunk: usize) -> f64 {
        let mut plan = testing::plan();
        plan.schedule = schedule;
        plan.pipeline_parallel = p;
        plan.virtual_stages = v;
        plan.global_batch = m;
        in_flight(&plan, stage, chunk)
    }

    #[test]
    fn one_forward_one_backward_keeps_p_minus_s() {
        assert_eq!(count(Schedule::OneForwardOneBackward, 8, 1, 64, 0, 0), 8.0);
        assert_eq!(count(Schedule::OneForwardOneBackward, 8, 1, 64, 7, 0), 1.0);
        assert_eq!(count(Schedule::OneForwardOneBackward, 8, 1, 3, 0, 0), 3.0);
    }

    #[test]
    fn interleaving_multiplies_by_one_plus_p_minus_one_over_pv() {
        // Korthikanti 2022, equation 5: L (1 + (p-1)/(p v)) layers on the first stage.
        let (p, v) = (8, 3);
        let alive: f64 = (0..3).map(|c| count(Schedule::OneForwardOneBackward, p, v, 64, 0, c)).sum();
        assert_eq!(alive / (p * v) as f64, 1.0 + 7.0 / 24.0);
        assert_eq!(count(Schedule::OneForwardOneBackward, p, v, 64, 0, 0), 15.0);
        assert_eq!(count(Schedule::OneForwardOneBackward, p, v, 64, 0, 2), 8.0);
    }

    #[test]
    fn zero_bubble_counts_are_the_papers() {
        assert_eq!(count(Schedule::ZbH1, 8, 1, 64, 3, 0), 8.0);
        assert_eq!(count(Schedule::ZbH2, 8, 1, 64, 3, 0), 16.0);
        for stage in 0..8 {
            let both = count(Schedule::ZbV, 8, 2, 64, stage, 0) + count(Schedule::ZbV, 8, 2, 64, stage, 1);
            assert_eq!(both, 16.0, "half chunks on stage {stage}");
        }
        let both = |stage| [0, 1].map(|chunk| count(Schedule::DualPipe, 16, 1, 64, stage, chunk));
        assert_eq!(both(3), [13.0, 4.0]);
        assert_eq!(both(12), [13.0, 4.0]);
    }
}
