//! Detects a batch without any possible layout, and finds the nearest possible batches.
//!
//! Responsible for: distinguishing the batch from other reasons, by trial. Does not change the batch.

use crate::setting::Setting;
use railwright_spec::human;
use railwright_spec::plan::divided_batch;
use railwright_spec::problem::Problem;
use std::fmt::Write as _;

/// Number of divisors of the devices that are tried as the missing factor of the batch.
const FACTORS: usize = 8;

/// Tests whether the batch is the reason why nothing is possible, by a test of another batch; `None` if no
/// nearby batch helps.
pub(crate) fn by_batch(setting: &Setting, batch: u64, has_layout: impl Fn(u64) -> bool) -> Option<Problem> {
    let devices = setting.run.cluster.devices;
    let works = |batch: u64| batch > 0 && has_layout(batch);
    let most = batch.saturating_mul(16).min(devices).min(1 << 20);
    let factors = (2..=most).filter(|n| devices.is_multiple_of(*n) && !batch.is_multiple_of(*n));
    let near: Vec<u64> = factors.take(FACTORS).find_map(|factor| {
        let below = batch / factor * factor;
        let near: Vec<u64> =
            [below, below.saturating_add(factor)].into_iter().filter(|n| works(*n)).collect();
        (!near.is_empty()).then_some(near)
    })?;
    let whole = |n: &u64| human::whole(*n);
    let message = format!(
        "{} sequences per step are not divisible by any possible number of replicas on {} GPUs",
        human::whole(batch),
        human::whole(devices)
    );
    let near: Vec<String> = near.iter().map(whole).collect();
    let mut hint = format!("nearest valid batches: {}", near.join(" and "));
    // The nearest batch may leave only slow layouts.
    if let Some(free) = divided_batch(batch, &[devices]).map(human::whole).filter(|free| !near.contains(free))
    {
        // Writing to a String is infallible.
        let _ = write!(hint, "; {free} allows the most layouts");
    }
    Some(setting.spec.placed(Problem::new(message).at_key("plan.global_batch").hint(hint)))
}
