//! Groups whose transfers are slow.
//!
//! Responsible for: comparing the transfers of groups of one dimension, by operation and size, and messages across one boundary of stages,
//! by size. Excludes groups without peers, and messages of ranks with unknown stages: links within a node and between nodes differ.

use crate::communication::Operation;
use crate::joined::Joined;
use crate::matching::{Collective, Lane};
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
}

/// Communicators of the same ranks with slow transfers: one, or both directions of messages.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct SlowLink {
    pub communicators: Vec<u32>,
    /// Measured time of its transfers, and their time at the speed of its peers (`peers`), both in nanoseconds.
    pub transfer: f64,
    pub peers: f64,
}

impl SlowLink {
    /// Factor from its transfer time to that of its peers.
    pub(super) fn usual(&self) -> f64 {
        self.peers / self.transfer.max(1.0)
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

/// Label of the stage boundary that a channel's messages cross, the same for both directions. `None` if a rank's stage is unknown.
fn boundary(stages: &BTreeMap<u32, (usize, usize)>, (from, to): (u32, u32)) -> Option<String> {
    let ((own, from), (other, to)) = (*stages.get(&from)?, *stages.get(&to)?);
    (own == other).then(|| format!("messages of stages {} and {}", from.min(to), from.max(to)))
}

/// Groups of one dimension, or channels across one boundary of stages, whose transfers of one size are 20% above the median. Returns them
/// with their first communicators, and joined by group over all sizes.
pub(super) fn slow_groups(joined: &Joined) -> (Vec<(u32, SlowGroup)>, Vec<SlowLink>) {
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
    let mut transfers: BTreeMap<Kind, BTreeMap<u32, Vec<f64>>> = BTreeMap::new();
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
        let shortest = matching.members(collective).iter().map(|&at| matching.part(at).duration()).min();
        let operation = if is_message { Some(Operation::Send) } else { collective.operation };
        let kind = (label.clone(), operation, bytes);
        let by_link = transfers.entry(kind).or_default();
        by_link.entry(*link).or_default().push(shortest.unwrap_or(0) as f64);
    }
    let mut slow = Vec::new();
    let mut sums: BTreeMap<u32, (f64, f64)> = BTreeMap::new();
    for ((label, operation, bytes), by_link) in transfers {
        if by_link.len() < 2 {
            continue;
        }
        let typical: Vec<(u32, f64, usize)> =
            by_link.into_iter().map(|(id, mut times)| (id, median(&mut times), times.len())).collect();
        let mut times: Vec<f64> = typical.iter().map(|entry| entry.1).collect();
        let (usual, slower) = match times.as_slice() {
            [one, other] => (one.min(*other), THAN_ONE),
            // The lower median of an even number: two slow groups of four do not make each other normal.
            _ => (lower_median(&mut times), SLOWER),
        };
        for (id, transfer, count) in typical.into_iter().filter(|entry| entry.1 > slower * usual + 2_000.0) {
            let sum = sums.entry(id).or_insert((0.0, 0.0));
            sum.0 += transfer * count as f64;
            sum.1 += usual * count as f64;
            let ranks =
                matching.communicators[id as usize].members.iter().map(|m| m.rank).collect::<Vec<_>>();
            let group = SlowGroup {
                label: label.clone(),
                ranks: crate::groups::RankSet::new(&ranks).to_string(),
                operation,
                bytes,
                transfer: transfer as i64,
                peers: usual as i64,
                cost: 0.0,
            };
            slow.push((id, group));
        }
    }
    slow.sort_by_key(|(_, group)| std::cmp::Reverse(group.transfer - group.peers));
    let links = sums.into_iter().map(|(link, (transfer, peers))| SlowLink {
        communicators: directions.remove(&link).unwrap_or_else(|| vec![link]),
        transfer,
        peers,
    });
    (slow, links.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Job;
    use crate::joined::{JoinOptions, join};
    use crate::trace::{CollectiveCall, GpuActivity, GpuKind, RankGroup, RankTrace};
    use railwright_step::CollectiveKind;

    const REPLICAS: u32 = 3;
    const TRANSFER: i64 = 200_000;

    /// Two stages of three replicas; the messages of one replica take longer, in both directions.
    fn job(slow: Option<u32>) -> Job {
        let traces = (0..2 * REPLICAS).map(|rank| {
            let (stage, replica) = (rank / REPLICAS, rank % REPLICAS);
            let mut trace = RankTrace::default();
            trace.identity.rank = Some(rank);
            trace.identity.world_size = Some(2 * REPLICAS);
            trace.groups = vec![RankGroup {
                name: (replica + 1).to_string(),
                description: Some("PIPELINE_MODEL_PARALLEL_GROUP".to_owned()),
                size: Some(2),
                ranks: Some(vec![replica, replica + REPLICAS]),
            }];
            let name = trace.names.intern("ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)");
            let transfer = if slow == Some(replica) { 4 * TRANSFER } else { TRANSFER };
            for message in 0..12_u32 {
                let start = 1_000_000 + i64::from(message) * 3_000_000;
                // Stage 0 sends every even message, stage 1 every odd one.
                let sends = message % 2 == stage;
                trace.collectives.push(CollectiveCall {
                    kind: Some(if sends { CollectiveKind::Send } else { CollectiveKind::Receive }),
                    label: if sends { "send" } else { "recv" }.to_owned(),
                    elements_in: Some(1 << 20),
                    elements_out: Some(1 << 20),
                    element: Some("BFloat16".to_owned()),
                    element_bytes: Some(2),
                    group: Some(0),
                    sequence: None,
                    peer: Some((1 - stage) * REPLICAS + replica),
                });
                trace.gpu.push(GpuActivity {
                    start,
                    end: start + transfer + i64::from(rank) * 100,
                    name,
                    kind: GpuKind::Kernel,
                    stream: 30,
                    collective: Some(message),
                    ..GpuActivity::default()
                });
            }
            trace
        });
        Job::new(traces.collect())
    }

    #[test]
    fn messages_are_compared_with_those_of_other_replicas() {
        let slow = |slow: Option<u32>| slow_groups(&join(&mut job(slow), &JoinOptions::default()));
        assert_eq!(slow(None), (Vec::new(), Vec::new()));
        let (groups, links) = slow(Some(1));
        let [(_, group)] = groups.as_slice() else { panic!("{groups:?}") };
        assert_eq!((group.label.as_str(), group.ranks.as_str()), ("messages of stages 0 and 1", "1,4"));
        let [link] = links.as_slice() else { panic!("{links:?}") };
        assert_eq!(link.communicators.len(), 2);
        assert!((link.usual() - 0.25).abs() < 0.01, "{link:?}");
    }
}
