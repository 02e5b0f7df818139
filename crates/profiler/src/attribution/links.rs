//! Groups whose transfers are slow.
//!
//! Responsible for: comparing the transfers of groups of one dimension, by operation and size, and messages across one boundary of stages,
//! by size. Boundaries of a pipeline with the same kind of link are also compared with each other. Excludes other groups without peers, and
//! messages of ranks with unknown stages.

mod boundaries;
mod in_steps;
mod placement;
#[cfg(test)]
mod tests;
mod typical;

use crate::Job;
use crate::communication::Operation;
use crate::joined::Joined;
use crate::matching::{Collective, Lane};
use crate::windows::Windows;
use boundaries::Boundaries;
use in_steps::{InSteps, steps_of};
pub(super) use placement::Apart;
use placement::Placement;
use std::collections::BTreeMap;
pub use typical::SlowGroup;
use typical::{Found, Transfer, Typical, usual};

/// Communicators of the same ranks with slow transfers: one, or both directions of messages.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct SlowLink {
    pub communicators: Vec<u32>,
    /// Measured time of its transfers, and their time at the speed of its peers (`peers`), both in nanoseconds.
    pub transfer: f64,
    pub peers: f64,
    /// Steps in which it is slow, as (start, end) in nanoseconds; empty if it is slow in all of them.
    pub steps: Vec<(i64, i64)>,
}

impl SlowLink {
    /// Factor from its transfer time to that of its peers.
    pub(super) fn usual(&self) -> f64 {
        self.peers / self.transfer.max(1.0)
    }

    /// Tests whether it is slow at a time.
    pub(super) fn is_slow_at(&self, time: i64) -> bool {
        let within = |&(from, to): &(i64, i64)| from <= time && time < to;
        self.steps.is_empty() || self.steps.iter().any(within)
    }
}

/// Key for the comparison of transfers: dimension or stage boundary, operation, size in bytes.
type Kind = (String, Option<Operation>, u64);

/// Label of the stage boundary that a channel's messages cross, the same for both directions. `None` if a rank's stage is unknown.
fn boundary(stages: &BTreeMap<u32, (usize, u32)>, (from, to): (u32, u32)) -> Option<String> {
    let ((own, from), (other, to)) = (*stages.get(&from)?, *stages.get(&to)?);
    (own == other).then(|| format!("messages of stages {} and {}", from.min(to), from.max(to)))
}

/// Groups of one dimension, or channels across one boundary of stages, whose transfers of one size are 20% above the median. Returns them
/// with their first communicators, and joined by group over all sizes; and boundaries that are apart for a reason that may be their link.
/// Groups that are not slow in general may be so in some of the steps.
pub(super) fn slow_groups(
    job: &Job,
    joined: &Joined,
    windows: &Windows,
) -> (Vec<(u32, SlowGroup)>, Vec<SlowLink>, Vec<Apart>) {
    let matching = &joined.matching;
    let stages = joined.groups.stages();
    // Both directions of messages between two ranks are one link: communicators by pair of ranks.
    let mut pairs: BTreeMap<(u32, u32), Vec<u32>> = BTreeMap::new();
    let mut labels: Vec<Option<(String, u32)>> = Vec::with_capacity(matching.communicators.len());
    for (at, communicator) in matching.communicators.iter().enumerate() {
        let at = at as u32;
        labels.push(match communicator.channel {
            None => communicator
                .group
                .and_then(|id| joined.groups.get(id))
                .map(|group| (group.dimension.label.clone(), at)),
            Some((from, to)) => boundary(&stages, (from, to)).map(|label| {
                let both = pairs.entry((from.min(to), from.max(to))).or_default();
                both.push(at);
                (label, both.first().copied().unwrap_or(at))
            }),
        });
    }
    let directions: BTreeMap<u32, Vec<u32>> =
        pairs.into_values().filter_map(|both| Some((*both.first()?, both))).collect();
    let mut transfers: BTreeMap<Kind, BTreeMap<u32, Vec<Transfer>>> = BTreeMap::new();
    // A transfer of a group with unrecorded ranks may be a wait for one of them.
    let is_known = |collective: &&Collective| collective.complete && !joined.misses_ranks(collective);
    for collective in matching.collectives.iter().filter(is_known) {
        let known = labels.get(collective.communicator as usize).and_then(Option::as_ref);
        let (Some((label, link)), Some(bytes)) = (known, collective.bytes) else { continue };
        let is_message = matching.communicator(collective).channel.is_some();
        // A host call ends when its thread resumes, not when the message has arrived.
        let on_streams = || {
            let mut parts = matching.members(collective).iter().map(|&at| matching.part(at));
            parts.all(|part| matches!(part.lane, Lane::Stream(_)))
        };
        if is_message && !on_streams() {
            continue;
        }
        let parts = || matching.members(collective).iter().map(|&at| matching.part(at));
        let shortest = parts().map(crate::matching::Part::duration).min();
        // Its transfer begins with the last start.
        let start = parts().map(|part| part.start).max().unwrap_or(0);
        let operation = if is_message { Some(Operation::Send) } else { collective.operation };
        let kind = (label.clone(), operation, bytes);
        let by_link = transfers.entry(kind).or_default();
        by_link.entry(*link).or_default().push((start, shortest.unwrap_or(0) as f64));
    }
    let mut found = Found { matching, slow: Vec::new(), sums: BTreeMap::new() };
    let mut in_steps = InSteps::new(windows);
    let placement = Placement::of(job);
    let mut boundaries = Boundaries::default();
    for ((label, operation, bytes), by_link) in transfers {
        if by_link.len() > 1 {
            let links: Vec<Typical> =
                by_link.iter().map(|(&id, times)| Typical::of(id, label.clone(), times)).collect();
            in_steps.compare(&links, &by_link, operation, bytes);
            let (usual, slower) = usual(&links);
            links.iter().filter(|link| link.exceeds(slower, usual)).for_each(|link| {
                found.add(link, usual, operation, bytes);
            });
        }
        for (id, times) in by_link {
            if let Some(ends) = matching.communicators[id as usize].channel {
                boundaries.add(&label, placement.link(job, ends), bytes, id, times);
            }
        }
    }
    let (whole, apart) = boundaries.compare(&placement, &mut found);
    let in_steps = in_steps.slow(&found);
    let Found { mut slow, sums, .. } = found;
    slow.extend(in_steps.iter().flat_map(|link| link.groups.clone()));
    slow.sort_by_key(|(_, group)| std::cmp::Reverse(group.transfer - group.peers));
    let of = |links: Vec<u32>, (transfer, peers): (f64, f64), steps: Vec<(i64, i64)>| {
        let both = |link: u32| directions.get(&link).cloned().unwrap_or_else(|| vec![link]);
        SlowLink { communicators: links.into_iter().flat_map(both).collect(), transfer, peers, steps }
    };
    // The links of a boundary are one delay: a step gets no shorter while one of them is slow.
    let mut links: Vec<SlowLink> = (whole.into_values())
        .map(|boundary| of(boundary.links.into_iter().collect(), boundary.sum, Vec::new()))
        .collect();
    links.extend(sums.into_iter().map(|(link, sum)| of(vec![link], sum, Vec::new())));
    links
        .extend(in_steps.into_iter().map(|link| of(vec![link.id], link.sum, steps_of(windows, &link.steps))));
    (slow, links, apart)
}
