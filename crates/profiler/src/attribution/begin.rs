//! Recording state of a rank whose device is idle at the start of the steps.
//!
//! Responsible for: distinguishing a rank that began its first step late from a recording that began late.
//! Excludes recordings without the launches or communication before their first row: the rank may have been
//! busy.

use super::event::Chains;
use crate::joined::Joined;
use crate::launches::lacks_first;
use crate::trace::HostKind;
use crate::{Job, RankTrace};

/// By member: true if it was recorded when the steps began. Evidence is its host rows from then on, or other
/// ranks that entered its first collective and waited for it. `near` is the maximum delay of a recording's
/// start after that of the steps, in nanoseconds.
pub(super) fn recorded(job: &Job, joined: &Joined, chains: &Chains, near: i64) -> Vec<bool> {
    let member =
        |at: usize| host(&job.members[at].trace, chains.span.0, near) || waited_for(joined, chains, at, near);
    (0..job.members.len()).map(member).collect()
}

/// Tests whether host rows cover the time until the first device row: they begin with the steps, and every
/// launch has its device row.
fn host(trace: &RankTrace, begin: i64, near: i64) -> bool {
    let host = &trace.host;
    if host.starts().first().is_none_or(|&first| first > begin.saturating_add(near)) {
        return false;
    }
    let Some(first) = trace.gpu.iter().map(|row| row.start).min() else { return true };
    let until = host.starts().partition_point(|&start| start < first);
    // Without a call before it, what ran first was launched before the host's first row: what came before it
    // may be missing, too.
    host.kinds().iter().take(until).any(|kind| *kind == HostKind::Runtime) && !lacks_first(trace)
}

/// Tests whether the member was late: other ranks entered its first collective long before it, and no rank is
/// missing.
fn waited_for(joined: &Joined, chains: &Chains, member: usize, near: i64) -> bool {
    let matching = &joined.matching;
    for &number in &chains.order {
        let collective = &matching.collectives[number as usize];
        let communicator = matching.communicator(collective);
        if communicator.members.iter().all(|one| one.member as usize != member) {
            continue;
        }
        let parts = matching.members(collective);
        let Some(own) = parts.iter().find(|part| part.member as usize == member) else { return false };
        let late = matching.part(*own).start;
        // Messages have two ends, and the sender's end contains no information.
        let starts: Vec<i64> = parts
            .iter()
            .filter(|part| part.member as usize != member)
            .map(|&part| matching.part(part).start)
            .collect();
        return communicator.channel.is_none()
            && !starts.is_empty()
            && starts.iter().all(|&start| start >= chains.span.0 - near && late - start > near);
    }
    false
}
