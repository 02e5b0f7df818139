//! Launches of communications.
//!
//! Responsible for: launch times and earliest starts of a rank's communications, the kernels that members
//! start while they run, and communications with unrecorded ranks.

use crate::joined::Joined;
use crate::matching::{Lane, Part};
use crate::occupancy::{Launched, Occupancy};
use std::collections::BTreeMap;

/// Launch of a communication in the program of its rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Launch {
    /// Launch time on the host, in nanoseconds.
    pub time: i64,
    /// Number of the step that contains the launch.
    pub step: u64,
}

/// Communications of a member with unrecorded ranks only, as indices among its parts, each with the shortest
/// duration of its kind and size (within a factor of two) in nanoseconds. Empty if all ranks of the job were
/// recorded.
pub(super) fn with_unrecorded(joined: &Joined, member: usize) -> Vec<(usize, i64)> {
    let (parts, of) = (&joined.matching.parts[member], &joined.matching.of[member]);
    let alone = (0..parts.len()).filter(|&at| is_alone(joined, &parts[at], of[at])).collect::<Vec<_>>();
    let kind = |at: usize| {
        let size = parts[at].bytes.and_then(u64::checked_ilog2);
        (parts[at].group, parts[at].operation, size, parts[at].peer)
    };
    let mut shortest: BTreeMap<_, i64> = BTreeMap::new();
    for &at in &alone {
        let least = shortest.entry(kind(at)).or_insert(i64::MAX);
        *least = parts[at].duration().clamp(0, *least);
    }
    alone.into_iter().map(|at| (at, shortest.get(&kind(at)).copied().unwrap_or(0))).collect()
}

/// Tests whether a communication has unrecorded ranks only besides its own.
pub(super) fn is_alone(joined: &Joined, part: &Part, of: Option<u32>) -> bool {
    let has_others = || part.group.and_then(|id| joined.groups.get(id)).is_none_or(|group| group.size > 1);
    joined.ranks_missing && of.is_none() && has_others()
}

/// By collective: largest number of compute kernels that a member starts between issuing it and its end.
pub(super) fn most_concurrent(
    joined: &Joined,
    occupancies: &[Occupancy],
    issued: &[Vec<Option<i64>>],
    held: &[bool],
) -> Vec<usize> {
    let matching = &joined.matching;
    let mut most = vec![0; matching.collectives.len()];
    for (member, on) in occupancies.iter().enumerate() {
        let parts = matching.parts[member].iter().zip(&matching.of[member]).zip(&issued[member]);
        for ((part, collective), &issue) in parts {
            let Some((collective, issue)) = collective.filter(|&at| held[at as usize]).zip(issue) else {
                continue;
            };
            let most = &mut most[collective as usize];
            *most = on.started(issue, part.end).max(*most);
        }
    }
    most
}

/// Launch time of a communication, in nanoseconds; `None` if the trace lacks it.
pub(super) fn called(part: &Part, launched: &Launched<'_>) -> Option<i64> {
    matches!(part.lane, Lane::Stream(_)).then(|| launched.at(part.row as usize))?
}

/// Launches of a member's parts, with the member's own steps.
pub(super) fn launches(
    joined: &Joined,
    member: usize,
    launched: &Launched<'_>,
    steps: &[(u64, i64, i64)],
) -> Option<Vec<Launch>> {
    let unknown = Launch { time: i64::MIN, step: 0 };
    let launch = |(part, of): (&Part, &Option<u32>)| {
        let known = || {
            let time = called(part, launched)?;
            let step = steps.get(steps.partition_point(|step| step.1 <= time).checked_sub(1)?)?;
            (time <= step.2).then_some(Launch { time, step: step.0 })
        };
        if of.is_none() && !is_alone(joined, part, *of) {
            return Some(unknown);
        }
        known()
    };
    joined.matching.parts[member].iter().zip(&joined.matching.of[member]).map(launch).collect()
}

/// Earliest start of each communication on a free stream, in nanoseconds: after earlier-launched compute, but
/// not before its own launch. `None` if the trace lacks the launch.
pub(super) fn issues(parts: &[Part], launched: &Launched<'_>) -> Vec<Option<i64>> {
    let issue = |part: &Part| {
        let ready =
            matches!(part.lane, Lane::Stream(_)).then(|| launched.ready(part.row as usize)).flatten()?;
        Some(ready.min(part.start))
    };
    parts.iter().map(issue).collect()
}
