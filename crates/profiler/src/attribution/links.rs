//! Groups whose transfers are slow.
//!
//! Responsible for: comparing the transfers of groups of one dimension, by operation and size, and messages
//! across one boundary of stages, by size. Boundaries of a pipeline with the same kind of link are also
//! compared with each other. Excludes other groups without peers, and messages of ranks with unknown stages.

mod boundaries;
mod in_steps;
mod placement;
mod rare;
mod rates;
#[cfg(test)]
mod tests;
mod typical;

use crate::Job;
use crate::joined::Joined;
use crate::matching::{Collective, Lane, Matching};
use crate::windows::Windows;
use boundaries::Boundaries;
use in_steps::{InSteps, steps_of};
pub(super) use placement::Apart;
use placement::Placement;
use railwright_step::CollectiveKind;
use rare::Rare;
pub(super) use rare::doubt as long_transfers;
pub(super) use rates::LowRates;
use std::collections::BTreeMap;
pub use typical::SlowGroup;
use typical::{Found, Transfer, Typical, usual};

/// Communicators of the same ranks with slow transfers: one, or both directions of messages.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct SlowLink {
    pub communicators: Vec<u32>,
    /// Measured time of its transfers, and their time at the speed of its peers (`peers`), both in
    /// nanoseconds.
    pub transfer: f64,
    pub peers: f64,
    /// Steps in which it is slow, as (start, end) in nanoseconds; empty if it is slow in all of them.
    pub steps: Vec<(i64, i64)>,
    /// Its long transfers among usual ones: by collective, the usual time in nanoseconds.
    pub long: BTreeMap<u32, i64>,
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

    /// Time of a transfer of a collective that starts at `start` without the delay, in nanoseconds.
    pub(super) fn mended(&self, collective: u32, start: i64, transfer: i64) -> i64 {
        if let Some(&usual) = self.long.get(&collective) {
            return transfer.min(usual);
        }
        let factor = if self.is_slow_at(start) { self.usual() } else { 1.0 };
        if factor < 1.0 { (transfer as f64 * factor).round() as i64 } else { transfer }
    }

    /// All links with these long transfers.
    fn of_long(matching: &Matching, long: BTreeMap<u32, i64>) -> Self {
        let communicators = (0..matching.communicators.len() as u32).collect();
        Self { communicators, transfer: 1.0, peers: 1.0, steps: Vec::new(), long }
    }
}

/// Links of a job by their speed.
pub(super) struct Links {
    /// Slow groups with their first communicators, the most costly first.
    pub groups: Vec<(u32, SlowGroup)>,
    /// The same joined by group over all sizes.
    pub slow: Vec<SlowLink>,
    /// Boundaries that stand out for a reason that may be their link.
    pub apart: Vec<Apart>,
    /// Long transfers of all links, as one delay.
    pub long: SlowLink,
}

/// Key for the comparison of transfers: dimension or stage boundary, operation, size in bytes.
type Kind = (String, Option<CollectiveKind>, u64);

/// Label of the stage boundary that a channel's messages cross, the same for both directions. `None` if a
/// rank's stage is unknown.
fn boundary(stages: &BTreeMap<u32, (usize, u32)>, (from, to): (u32, u32)) -> Option<String> {
    let ((own, from), (other, to)) = (*stages.get(&from)?, *stages.get(&to)?);
    (own == other).then(|| format!("messages of stages {} and {}", from.min(to), from.max(to)))
}

/// Groups of one dimension, or channels across one boundary of stages, whose transfers of one size are 20%
/// above the median. Groups that are not slow in general may be so in some of the steps, or in some
/// transfers.
pub(super) fn slow_groups(job: &Job, joined: &Joined, windows: &Windows) -> Links {
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
    let mut collectives: BTreeMap<Kind, BTreeMap<u32, Vec<u32>>> = BTreeMap::new();
    // A transfer of a group with unrecorded ranks may be a wait for one of them.
    let is_known = |collective: &&Collective| collective.complete && !joined.misses_ranks(collective);
    for (at, collective) in matching.collectives.iter().enumerate().filter(|(_, one)| is_known(one)) {
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
        let operation = if is_message { Some(CollectiveKind::Send) } else { collective.operation };
        let kind = (label.clone(), operation, bytes);
        let of_kind = collectives.entry(kind.clone()).or_default();
        of_kind.entry(*link).or_default().push(at as u32);
        let by_link = transfers.entry(kind).or_default();
        by_link.entry(*link).or_default().push((start, shortest.unwrap_or(0) as f64));
    }
    let mut found = Found { matching, slow: Vec::new(), sums: BTreeMap::new() };
    let mut in_steps = InSteps::new(windows);
    let mut rare = Rare::new(windows);
    let placement = Placement::of(job);
    let mut boundaries = Boundaries::default();
    for ((kind, by_link), collectives) in transfers.into_iter().zip(collectives.into_values()) {
        let (label, operation, bytes) = kind;
        let links: Vec<Typical> =
            by_link.iter().map(|(&id, times)| Typical::of(id, label.clone(), times)).collect();
        let (usual, slower) = usual(&links);
        rare.add(&links, usual, (operation, bytes), &by_link, &collectives);
        if by_link.len() > 1 {
            in_steps.compare(&links, &by_link, operation, bytes);
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
    let long = SlowLink::of_long(matching, rare.all());
    let mut by_link: BTreeMap<u32, (SlowGroup, BTreeMap<u32, i64>)> =
        rare.slow(&found, windows).into_iter().map(|(id, group, long)| (id, (group, long))).collect();
    let Found { slow: mut groups, sums, .. } = found;
    groups.extend(in_steps.iter().flat_map(|link| link.groups.clone()));
    let is_listed = |id: u32, groups: &[(u32, SlowGroup)]| groups.iter().any(|group| group.0 == id);
    let rarely: Vec<(u32, SlowGroup)> = (by_link.iter())
        .filter(|(id, _)| !is_listed(**id, &groups))
        .map(|(&id, (group, _))| (id, group.clone()))
        .collect();
    groups.extend(rarely);
    groups.sort_by_key(|(_, group)| std::cmp::Reverse(group.transfer - group.peers));
    let is_apart = |id: &u32| sums.contains_key(id) || in_steps.iter().any(|link| link.id == *id);
    let rarely: Vec<u32> = by_link.keys().copied().filter(|id| !is_apart(id)).collect();
    let mut of = |links: Vec<u32>, (transfer, peers): (f64, f64), steps: Vec<(i64, i64)>| {
        let both = |link: u32| directions.get(&link).cloned().unwrap_or_else(|| vec![link]);
        let long = match links.as_slice() {
            [link] => by_link.remove(link).map(|found| found.1).unwrap_or_default(),
            _ => BTreeMap::new(),
        };
        SlowLink { communicators: links.into_iter().flat_map(both).collect(), transfer, peers, steps, long }
    };
    // The links of a boundary are one delay: a step gets no shorter while one of them is slow.
    let mut slow: Vec<SlowLink> = (whole.into_values())
        .map(|boundary| of(boundary.links.into_iter().collect(), boundary.sum, Vec::new()))
        .collect();
    slow.extend(sums.into_iter().map(|(link, sum)| of(vec![link], sum, Vec::new())));
    slow.extend(in_steps.into_iter().map(|link| of(vec![link.id], link.sum, steps_of(windows, &link.steps))));
    slow.extend(rarely.into_iter().map(|link| of(vec![link], (1.0, 1.0), Vec::new())));
    Links { groups, slow, apart, long }
}
