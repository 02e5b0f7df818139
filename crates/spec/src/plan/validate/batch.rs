//! Dividing the batch among replicas and micro batches.

use super::super::{Counts, Need, Plan};
use super::advice::with_values;
use crate::model::Model;
use crate::problem::Problem;

/// Upper limit of micro-batches. More are a typing error, and their timeline would be unreadable.
const MOST_MICRO_BATCHES: u64 = 1_000_000;

pub(super) fn check(_model: &Model, plan: &Plan, problems: &mut Vec<Problem>) {
    let unit = plan.micro_batch * plan.data_parallel;
    let batch = plan.global_batch;
    if !batch.is_multiple_of(unit) {
        let below = batch / unit;
        let works: Vec<u64> = nearest_counts(plan, below).into_iter().map(|count| count * unit).collect();
        problems.push(with_values(
            Problem::new(format!(
                "{batch} sequences are not divisible into micro-batches of {} on {} replicas",
                plan.micro_batch, plan.data_parallel
            ))
            .at_key("plan.global_batch"),
            &works,
        ));
        return;
    }
    let count = plan.micro_batches();
    if count > MOST_MICRO_BATCHES {
        problems.push(
            Problem::new(format!("{count} micro-batches per step exceed the limit"))
                .at_key("plan.global_batch")
                .hint("reduce it, or increase micro_batch"),
        );
    }
}

/// Numbers of micro-batches that the schedule accepts: the nearest up to `below`, and the nearest above it.
fn nearest_counts(plan: &Plan, below: u64) -> impl IntoIterator<Item = u64> {
    let accepts = |count: &u64| fewest(plan, *count).is_none();
    // Schedules accept every second number of micro-batches at least, from some number on.
    let from = fewest(plan, below + 1).map_or(below + 1, |least| least.max(below + 1));
    let lower = (below.saturating_sub(1).max(1)..=below).rev().find(accepts);
    lower.into_iter().chain((from..=from + 1).find(accepts))
}

/// The number of micro-batches that the schedule needs; `None` if `count` are enough.
fn fewest(plan: &Plan, count: u64) -> Option<u64> {
    let counts = Counts { micro_batches: count, ..plan.counts() };
    plan.schedule.refusals(counts).find_map(|refusal| match refusal.need {
        Need::MicroBatches(least) => Some(least),
        Need::Words(_) => None,
    })
}
