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

/// Reason why costs are bounds although all ranks were traced: some ranks were not recorded in all steps, so their work there is unknown.
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
