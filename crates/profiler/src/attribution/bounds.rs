//! Reasons why costs are upper bounds.
//!
//! Responsible for: ranks that were not traced, or not in all steps. Does not compute the bounds.

use crate::Job;
use crate::windows::Windows;

/// Reason why costs are bounds: some ranks were not traced.
pub(super) fn not_traced(job: &Job) -> Option<String> {
    let missing = (job.world_size as usize).saturating_sub(job.members.len());
    let were = if missing == 1 { "was" } else { "were" };
    (missing > 0).then(|| format!("{missing} of {} ranks {were} not traced", job.world_size))
}

/// Reason why costs are bounds although all ranks were traced: some ranks were not recorded in all steps, so
/// their work there is unknown.
pub(super) fn partly_recorded(job: &Job, windows: &Windows) -> Option<String> {
    let lacking = |member: usize| windows.steps.iter().filter(|step| !step.holds(member)).count();
    let short: Vec<usize> = (0..job.members.len()).filter(|&member| lacking(member) > 0).collect();
    let of = windows.steps.len();
    match *short.as_slice() {
        [] => None,
        [one] => {
            Some(format!("rank {} was not recorded in {} of {of} steps", job.members[one].rank, lacking(one)))
        }
        _ => Some(format!("{} ranks were not recorded in all of {of} steps", short.len())),
    }
}

#[cfg(test)]
mod tests {
    use crate::attribution::straggler_report;
    use crate::job::Job;
    use crate::joined::JoinOptions;
    use crate::testing::Synthetic;
    use crate::trace::{DamageKind, GpuActivities};

    /// Ends a rank's file within its last step.
    fn truncate(job: &mut Job, member: usize) {
        let trace = &mut job.members[member].trace;
        let mut kept = GpuActivities::default();
        let count = trace.gpu.len();
        trace.gpu.iter().take(count * 9 / 10).for_each(|row| kept.push(row));
        trace.gpu = kept;
        trace.report.note(DamageKind::Truncated, 0, String::new);
    }

    /// A slow rank whose file ends within the last step: its missing work is not a pause, and the bound holds
    /// for the recorded steps.
    #[test]
    fn a_truncated_rank_is_compared_in_the_steps_that_it_recorded() {
        let plan =
            Synthetic { data: 4, jitter: 5, slow_chip: vec![(5, 1.05)], steps: 5, ..Synthetic::default() };
        let report = |mut job: Job| straggler_report(&mut job, &JoinOptions::default());
        let whole = report(plan.job());
        let [named] = whole.culprits.as_slice() else { panic!("{:?}", whole.culprits) };
        let mut job = plan.job();
        truncate(&mut job, 5);
        let report = report(job);
        assert_eq!(report.bounds_only.as_deref(), Some("rank 5 was not recorded in 1 of 5 steps"));
        let [bound] = report.culprits.as_slice() else {
            panic!("{:?} {:?}", report.culprits, report.reasons)
        };
        assert_eq!(bound.ranks, [5]);
        assert!(bound.cost_s >= named.cost_s && bound.cost_s < 1.3 * named.cost_s, "{bound:?} {named:?}");
    }

    /// Where every rank's file ends within the last step, no rank lacks what another has.
    #[test]
    fn a_step_that_every_rank_lacks_is_held_by_all() {
        let mut job = Synthetic { data: 4, steps: 5, ..Synthetic::default() }.job();
        (0..job.members.len()).for_each(|member| truncate(&mut job, member));
        let report = straggler_report(&mut job, &JoinOptions::default());
        assert_eq!(report.bounds_only, None);
    }
}
