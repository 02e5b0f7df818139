//! Groups whose transfers are slow.
//!
//! Responsible for: comparing the transfers of groups of one dimension, by operation and size, and messages across one boundary of stages,
//! by size. Without replicas, boundaries of one pipeline with the same kind of link are compared. Excludes other groups without peers, and
//! messages of ranks with unknown stages.

mod in_steps;
mod placement;
#[cfg(test)]
mod tests;

use crate::Job;
use crate::collectives::LinkKind;
use crate::communication::Operation;
use crate::joined::Joined;
use crate::matching::{Collective, Lane, Matching};
use crate::windows::Windows;
use in_steps::{InSteps, Transfer, steps_of};
pub(super) use placement::Apart;
use placement::Placement;
use railwright_spec::{lower_median, median};
use railwright_step::Dimension;
use serde::Serialize;
use std::collections::BTreeMap;

/// Minimum ratio of a slow group's transfers to its peers'; with a single peer, [`THAN_ONE`] applies.
const SLOWER: f64 = 1.2;
const THAN_ONE: f64 = 1.5;

/// A group whose transfers take longer than those of its peers.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SlowGroup {
    /// Its dimension.
    pub label: String,
    /// Its ranks, as printed.
    pub ranks: String,
    /// The operation.
    pub operation: Option<Operation>,
    /// Bytes of one collective.
    pub bytes: u64,
    /// The median transfer of its collectives, in nanoseconds.
    #[serde(rename = "transfer_ns")]
    pub transfer: i64,
    /// Median transfer of the other groups, in nanoseconds.
    #[serde(rename = "peers_ns")]
    pub peers: i64,
    /// Step time saved if they were as fast as their peers, by replay, in nanoseconds. Includes all of its message sizes.
    #[serde(rename = "cost_ns")]
    pub cost: f64,
    /// Steps in which it is slow, by number (by index without numbers), if it is slow in some steps only.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<u64>,
}

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

/// By rank: index of its pipeline, and its stage there.
pub(super) fn stages(joined: &Joined) -> BTreeMap<u32, (usize, usize)> {
    let mut stages = BTreeMap::new();
    for (pipeline, group) in joined.groups.groups.iter().enumerate() {
        let ranks = group.ranks.as_ref().filter(|_| group.dimension.dimension == Dimension::Pipeline);
        for (stage, &rank) in ranks.iter().flat_map(|ranks| ranks.ranks()).enumerate() {
            stages.entry(rank).or_insert((pipeline, stage));
        }
    }
    stages
}

/// Transfers of one link with one size.
struct Typical {
    id: u32,
    label: String,
    /// Median, in nanoseconds.
    transfer: f64,
    count: f64,
}

impl Typical {
    fn of(id: u32, label: String, transfers: &[Transfer]) -> Self {
        let mut times: Vec<f64> = transfers.iter().map(|transfer| transfer.1).collect();
        Self { id, label, transfer: median(&mut times), count: times.len() as f64 }
    }

    fn exceeds(&self, slower: f64, usual: f64) -> bool {
        self.transfer > slower * usual + 2_000.0
    }

    fn apart(&self, usual: f64) -> Apart {
        Apart {
            label: self.label.clone(),
            factor: self.transfer / usual.max(1.0),
            excess: (self.transfer - usual) * self.count,
        }
    }
}

/// Usual transfer of links with one size, and the minimum ratio of a slow one.
fn usual(links: &[Typical]) -> (f64, f64) {
    let mut times: Vec<f64> = links.iter().map(|link| link.transfer).collect();
    match times.as_slice() {
        [one, other] => (one.min(*other), THAN_ONE),
        // The lower median of an even number: two slow groups of four do not make each other normal.
        _ => (lower_median(&mut times), SLOWER),
    }
}

/// Slow groups by size, and sums over all sizes of a link: its transfers, and those at the usual speed.
struct Found<'a> {
    matching: &'a Matching,
    slow: Vec<(u32, SlowGroup)>,
    sums: BTreeMap<u32, (f64, f64)>,
}

impl Found<'_> {
    fn add(&mut self, link: &Typical, usual: f64, operation: Option<Operation>, bytes: u64) {
        let sum = self.sums.entry(link.id).or_insert((0.0, 0.0));
        sum.0 += link.transfer * link.count;
        sum.1 += usual * link.count;
        let group = self.group(link, usual, operation, bytes);
        self.slow.push((link.id, group));
    }

    fn group(&self, link: &Typical, usual: f64, operation: Option<Operation>, bytes: u64) -> SlowGroup {
        let members = &self.matching.communicators[link.id as usize].members;
        let ranks = members.iter().map(|m| m.rank).collect::<Vec<_>>();
        SlowGroup {
            label: link.label.clone(),
            ranks: crate::groups::RankSet::new(&ranks).to_string(),
            operation,
            bytes,
            transfer: link.transfer as i64,
            peers: usual as i64,
            cost: 0.0,
            steps: Vec::new(),
        }
    }
}

/// Label of the stage boundary that a channel's messages cross, the same for both directions. `None` if a rank's stage is unknown.
fn boundary(stages: &BTreeMap<u32, (usize, usize)>, (from, to): (u32, u32)) -> Option<String> {
    let ((own, from), (other, to)) = (*stages.get(&from)?, *stages.get(&to)?);
    (own == other).then(|| format!("messages of stages {} and {}", from.min(to), from.max(to)))
}

/// Messages of a pipeline's boundaries by communicator: label and transfers.
type Boundaries = BTreeMap<u32, (String, Vec<Transfer>)>;

/// Groups of one dimension, or channels across one boundary of stages, whose transfers of one size are 20% above the median. Returns them
/// with their first communicators, and joined by group over all sizes; and boundaries that are apart for a reason that may be their link.
/// Groups that are not slow in general may be so in some of the steps.
pub(super) fn slow_groups(
    job: &Job,
    joined: &Joined,
    windows: &Windows,
) -> (Vec<(u32, SlowGroup)>, Vec<SlowLink>, Vec<Apart>) {
    let matching = &joined.matching;
    let stages = stages(joined);
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
    let mut directions: BTreeMap<u32, Vec<u32>> =
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
    // Without replicas the messages across one boundary have no peers but those across others.
    let mut alone: BTreeMap<(u64, Option<LinkKind>), Boundaries> = BTreeMap::new();
    for ((label, operation, bytes), by_link) in transfers {
        if by_link.len() > 1 {
            let links: Vec<Typical> =
                by_link.iter().map(|(&id, times)| Typical::of(id, label.clone(), times)).collect();
            in_steps.compare(&links, &by_link, operation, bytes);
            let (usual, slower) = usual(&links);
            links.iter().filter(|link| link.exceeds(slower, usual)).for_each(|link| {
                found.add(link, usual, operation, bytes);
            });
            continue;
        }
        for (id, times) in by_link {
            let link = matching.communicators[id as usize].channel.map(|ends| placement.link(job, ends));
            if let Some(link) = link {
                alone.entry((bytes, link)).or_default().insert(id, (label.clone(), times));
            }
        }
    }
    let mut apart = Vec::new();
    for ((bytes, _), boundaries) in alone.into_iter().filter(|of| of.1.len() > 1) {
        let links: Vec<Typical> =
            boundaries.into_iter().map(|(id, (label, times))| Typical::of(id, label, &times)).collect();
        let usual = usual(&links).0;
        for link in links.iter().filter(|link| link.exceeds(THAN_ONE, usual)) {
            if placement.explains(link.transfer, bytes) {
                apart.push(link.apart(usual));
            } else {
                found.add(link, usual, Some(Operation::Send), bytes);
            }
        }
    }
    let in_steps = in_steps.slow(&found);
    let Found { mut slow, sums, .. } = found;
    slow.extend(in_steps.iter().flat_map(|link| link.groups.clone()));
    slow.sort_by_key(|(_, group)| std::cmp::Reverse(group.transfer - group.peers));
    let mut of = |link: u32, (transfer, peers): (f64, f64), steps: Vec<(i64, i64)>| SlowLink {
        communicators: directions.remove(&link).unwrap_or_else(|| vec![link]),
        transfer,
        peers,
        steps,
    };
    let mut links: Vec<SlowLink> = sums.into_iter().map(|(link, sum)| of(link, sum, Vec::new())).collect();
    for link in in_steps {
        links.push(of(link.id, link.sum, steps_of(windows, &link.steps)));
    }
    (slow, links, apart)
}
