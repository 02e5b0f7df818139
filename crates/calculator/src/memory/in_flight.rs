//! Number of micro-batches between forward and backward pass, in closed form by schedule.
//!
//! Responsible for: counts at the peak of a stage, from each schedule's file in `railwright_spec::plan`.
//! Excludes the order of operations: see the schedule, whose tests can compare it with these counts.

use railwright_spec::plan::{Counts, Plan};

/// Micro-batches of chunk `chunk` in flight on stage `stage` at its peak.
pub fn in_flight(plan: &Plan, stage: usize, chunk: usize) -> f64 {
    let counts = Counts {
        stages: plan.pipeline_parallel.max(1),
        virtual_stages: plan.schedule.chunks_per_stage(plan.virtual_stages),
        micro_batches: plan.micro_batches().max(1),
    };
    (plan.schedule.facts().in_flight)(counts, stage as u64, chunk as u64)
}
