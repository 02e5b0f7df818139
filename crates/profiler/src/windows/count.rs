//! Number of recorded steps, before clocks and phases are known.

use super::{collectives, repetition};
use crate::Job;
use crate::job::Member;
use crate::matching::Matching;
use crate::windows::marked::host_steps;
use crate::workers::Workers;

/// Number of steps on the rank with most of them, before clocks and phases are known. From host annotations,
/// repeated device kernels, or a collective of all ranks at equal intervals, in that order; otherwise 1.
pub(crate) fn recorded(job: &Job, matching: &Matching, workers: &impl Workers) -> u32 {
    let traces = || job.members.iter().map(|member| &member.trace);
    let marked = |_: usize, member: &Member| {
        host_steps(&member.trace).len().max(crate::serving::host_steps(&member.trace).len())
    };
    let annotated = workers.map(&job.members, marked).into_iter().max().unwrap_or(0);
    let count = match annotated {
        // There is one collective more than intervals between them.
        0 => traces()
            .next()
            .and_then(repetition::count)
            .or_else(|| collectives::periods(traces(), matching).map(|steps| steps.len() + 1))
            .unwrap_or(1),
        annotated => annotated,
    };
    u32::try_from(count).unwrap_or(u32::MAX)
}
