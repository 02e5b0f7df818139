//! Dividing the batch among replicas and micro batches.

use super::super::Plan;
use super::advice::with_values;
use crate::model::Model;
use crate::problem::Problem;

/// Upper limit of micro-batches. More are a typing error, and their timeline would be unreadable.
const MOST_MICRO_BATCHES: u64 = 1_000_000;

pub(super) fn check(_model: &Model, plan: &Plan, problems: &mut Vec<Problem>) {
    let unit = plan.micro_batch * plan.data_parallel;
    let batch = plan.global_batch;
    if !batch.is_multiple_of(unit) {
        let below = batch / unit * unit;
        let works: Vec<u64> = [below, below + unit].into_iter().filter(|n| *n > 0).collect();
        problems.push(with_values(
            Problem::new(format!(
                "{batch} sequences cannot be divided into micro-batches of {} on {} replicas",
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
