//! Dividing the batch among replicas and micro batches.

use super::super::{Plan, Schedule};
use super::use_one_of;
use crate::model::Model;
use crate::problem::Problem;

/// More micro batches than this are a wrong digit, and would make a timeline of no use.
const MOST_MICRO_BATCHES: u64 = 1_000_000;

pub(super) fn check(_model: &Model, plan: &Plan, problems: &mut Vec<Problem>) {
    let unit = plan.micro_batch * plan.data_parallel;
    let batch = plan.global_batch;
    if !batch.is_multiple_of(unit) {
        let below = batch / unit * unit;
        let works: Vec<u64> = [below, below + unit].into_iter().filter(|n| *n > 0).collect();
        problems.push(
            Problem::new(format!(
                "{batch} sequences cannot be divided into micro-batches of {} on {} replicas",
                plan.micro_batch, plan.data_parallel
            ))
            .at_key("plan.global_batch")
            .hint(use_one_of(&works)),
        );
        return;
    }
    let count = plan.micro_batches();
    if count > MOST_MICRO_BATCHES {
        problems.push(
            Problem::new(format!("{count} micro-batches per step exceed the limit"))
                .at_key("plan.global_batch")
                .hint("lower it, or raise micro_batch"),
        );
    }
    let interleaved = plan.schedule == Schedule::OneForwardOneBackward && plan.virtual_stages > 1;
    if interleaved && count < plan.pipeline_parallel {
        problems.push(
            Problem::new(format!(
                "interleaving needs at least as many micro-batches as stages ({}), found {count}",
                plan.pipeline_parallel
            ))
            .at_key("plan.global_batch")
            .hint(format!("use {} or more", plan.pipeline_parallel * unit)),
        );
    }
}
