//! Typical transfers of links, and groups that exceed those of their peers.
//!
//! Responsible for: the comparison of links with one size of message. Excludes the collection of transfers
//! and their steps.

use super::placement::{Apart, Reference};
use crate::matching::Matching;
use railwright_spec::{lower_median, median};
use railwright_step::CollectiveKind;
use serde::Serialize;
use std::collections::BTreeMap;

/// A transfer: its start in nanoseconds, and its duration.
pub(super) type Transfer = (i64, f64);

/// Minimum ratio of a slow group's transfers to its peers'; with a single peer, [`THAN_ONE`] applies.
const SLOWER: f64 = 1.2;
/// Minimum ratio with a single peer.
pub(super) const THAN_ONE: f64 = 1.5;

/// A group whose transfers take longer than those of its peers.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SlowGroup {
    /// Its dimension.
    pub label: String,
    /// Its ranks, as printed.
    pub ranks: String,
    /// The operation.
    pub operation: Option<CollectiveKind>,
    /// Bytes of one collective.
    pub bytes: u64,
    /// The median transfer of its collectives, in nanoseconds.
    #[serde(rename = "transfer_ns")]
    pub transfer: i64,
    /// Median transfer of the other groups, in nanoseconds.
    #[serde(rename = "peers_ns")]
    pub peers: i64,
    /// Step time saved if they were as fast as their peers, by replay, in nanoseconds. Includes all of its
    /// message sizes.
    #[serde(rename = "cost_ns")]
    pub cost: f64,
    /// Steps in which it is slow, by number (by index without numbers), if it is slow in some steps only.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<u64>,
}

/// Transfers of one link with one size.
pub(super) struct Typical {
    pub(super) id: u32,
    pub(super) label: String,
    /// Median, in nanoseconds.
    pub(super) transfer: f64,
    pub(super) count: f64,
}

impl Typical {
    pub(super) fn of(id: u32, label: String, transfers: &[Transfer]) -> Self {
        let mut times: Vec<f64> = transfers.iter().map(|transfer| transfer.1).collect();
        Self { id, label, transfer: median(&mut times), count: times.len() as f64 }
    }

    pub(super) fn exceeds(&self, slower: f64, usual: f64) -> bool {
        self.transfer > slower * usual + 2_000.0
    }

    pub(super) fn apart(&self, usual: f64, reference: Reference) -> Apart {
        Apart {
            label: self.label.clone(),
            reference,
            factor: self.transfer / usual.max(1.0),
            excess: (self.transfer - usual) * self.count,
        }
    }
}

/// Usual transfer of links with one size, and the minimum ratio of a slow one.
pub(super) fn usual<'a>(links: impl IntoIterator<Item = &'a Typical>) -> (f64, f64) {
    let mut times: Vec<f64> = links.into_iter().map(|link| link.transfer).collect();
    match times.as_slice() {
        [one, other] => (one.min(*other), THAN_ONE),
        // The lower median of an even number: two slow groups of four do not make each other normal.
        _ => (lower_median(&mut times), SLOWER),
    }
}

/// Slow groups by size, and sums over all sizes of a link: its transfers, and those at the usual speed.
pub(super) struct Found<'a> {
    pub(super) matching: &'a Matching,
    pub(super) slow: Vec<(u32, SlowGroup)>,
    pub(super) sums: BTreeMap<u32, (f64, f64)>,
}

impl Found<'_> {
    pub(super) fn add(&mut self, link: &Typical, usual: f64, operation: Option<CollectiveKind>, bytes: u64) {
        let sum = self.sums.entry(link.id).or_insert((0.0, 0.0));
        sum.0 += link.transfer * link.count;
        sum.1 += usual * link.count;
        let group = self.group(link, &[link.id], usual, operation, bytes);
        self.slow.push((link.id, group));
    }

    pub(super) fn group(
        &self,
        link: &Typical,
        ids: &[u32],
        usual: f64,
        operation: Option<CollectiveKind>,
        bytes: u64,
    ) -> SlowGroup {
        let members = ids.iter().flat_map(|&id| &self.matching.communicators[id as usize].members);
        let mut ranks = members.map(|m| m.rank).collect::<Vec<_>>();
        ranks.sort_unstable();
        ranks.dedup();
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
