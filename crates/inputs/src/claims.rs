//! Settings that a training log prints about its own run.
//!
//! Responsible for: the arguments at the head of a log, and the batch of its last reports, as claims to
//! compare with a run. A setting that the log does not print is not a claim.

use railwright_calculator::calibration::{Claim, differences};
use railwright_profiler::log::TrainingLog;
use railwright_spec::run::Run;

/// Claims of a log, with the batch of its last reports, which may have grown since the start.
pub fn of(log: &TrainingLog, last_batch: Option<u64>, file: &str) -> Vec<Claim> {
    let mut claims: Vec<Claim> = Vec::new();
    if let Some(Ok(launch)) = railwright_launch::read(&log.head, file) {
        for origin in launch.origins.iter().filter(|origin| origin.line.is_some()) {
            if let Ok(value) = origin.value.parse::<f64>() {
                claims.push(Claim { key: origin.key.clone(), value });
            }
        }
    }
    if let Some(batch) = last_batch {
        claims.retain(|claim| claim.key != "plan.global_batch");
        claims.push(Claim { key: "plan.global_batch".to_owned(), value: batch as f64 });
    }
    claims
}

/// Settings that a log prints and that differ in a run, as text.
pub fn against(log: &TrainingLog, run: &Run, file: &str) -> Vec<String> {
    let last = log.reports.iter().rev().find(|report| report.seconds.is_finite());
    differences(&of(log, last.and_then(|report| report.batch), file), &run.model, &run.plan)
}
