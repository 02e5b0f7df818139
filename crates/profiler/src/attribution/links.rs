//! Groups whose transfers are slow.
//!
//! Responsible for: comparing the transfers of groups of one dimension, by operation and size. Refuses groups that have no peers, and messages.

use crate::communication::Operation;
use crate::joined::Joined;
use serde::Serialize;
use std::collections::BTreeMap;

/// Transfers of a group are slow from this much above its peers' on; where there is one peer alone, from [`THAN_ONE`] on.
const SLOWER: f64 = 1.2;
const THAN_ONE: f64 = 1.5;

/// A group whose transfers take longer than those of its peers.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SlowGroup {
    /// Its dimension.
    pub label: String,
    /// Its ranks, as they are written.
    pub ranks: String,
    /// The operation.
    pub operation: Option<Operation>,
    /// Bytes of one collective.
    pub bytes: u64,
    /// The median transfer of its collectives, in nanoseconds.
    #[serde(rename = "transfer_ns")]
    pub transfer: i64,
    /// The median of the other groups.
    #[serde(rename = "peers_ns")]
    pub peers: i64,
    /// What a step would be shorter by were they as fast, by replay, in nanoseconds; of all its sizes together.
    #[serde(rename = "cost_ns")]
    pub cost: f64,
}

/// A communicator with slow transfers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct SlowLink {
    pub communicator: u32,
    /// The time of its transfers, and what they would take at the speed of its peers, in nanoseconds.
    pub transfer: f64,
    pub peers: f64,
}

impl SlowLink {
    /// What its transfers are multiplied with to be like its peers'.
    pub(super) fn usual(&self) -> f64 {
        self.peers / self.transfer.max(1.0)
    }
}

/// What transfers are compared by: dimension, operation, size.
type Kind = (String, Option<Operation>, u64);

/// Groups of one dimension whose transfers of one size are a fifth above the median of all groups of it, with their communicators; and by communicator, over all sizes.
pub(super) fn slow_groups(joined: &Joined) -> (Vec<(u32, SlowGroup)>, Vec<SlowLink>) {
    let matching = &joined.matching;
    let mut transfers: BTreeMap<Kind, BTreeMap<u32, Vec<f64>>> = BTreeMap::new();
    for collective in matching.collectives.iter().filter(|collective| collective.complete) {
        let communicator = matching.communicator(collective);
        let group = communicator.group.and_then(|id| joined.groups.get(id));
        let (Some(group), Some(bytes), None) = (group, collective.bytes, communicator.channel) else {
            continue;
        };
        let shortest = matching.members(collective).iter().map(|&at| matching.part(at).duration()).min();
        let kind = (group.dimension.label.clone(), collective.operation, bytes);
        let by_communicator = transfers.entry(kind).or_default();
        by_communicator.entry(collective.communicator).or_default().push(shortest.unwrap_or(0) as f64);
    }
    let mut slow = Vec::new();
    let mut sums: BTreeMap<u32, (f64, f64)> = BTreeMap::new();
    for ((label, operation, bytes), by_communicator) in transfers {
        if by_communicator.len() < 2 {
            continue;
        }
        let typical: Vec<(u32, f64, usize)> = by_communicator
            .into_iter()
            .map(|(id, mut times)| (id, middle(&mut times), times.len()))
            .collect();
        let mut times: Vec<f64> = typical.iter().map(|entry| entry.1).collect();
        let (usual, slower) = match times.as_slice() {
            [one, other] => (one.min(*other), THAN_ONE),
            // The lower one of an even number: two slow groups of four do not make each other usual.
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
    let links = sums.into_iter();
    let links = links.map(|(communicator, (transfer, peers))| SlowLink { communicator, transfer, peers });
    (slow, links.collect())
}

fn lower_median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len().saturating_sub(1) / 2).copied().unwrap_or(0.0)
}

fn middle(values: &mut [f64]) -> f64 {
    crate::matching::line::median(values)
}
