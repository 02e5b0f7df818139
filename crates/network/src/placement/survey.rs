//! Positions of the ranks of an allocation, and distances of their traffic.
//!
//! Responsible for: ranks by leaf group, leaf groups and pods compared with the minimum for the run, and
//! bytes by level and rail.

use super::tree::distinct;
use super::{Allocation, Spot, Tree};
use crate::traffic::{Matrix, PairClass, Place};
use railwright_spec::quantity::Bytes;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// Placement of an allocation.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Survey {
    /// Hosts with ranks.
    pub hosts: u64,
    /// Number of leaf groups of the hosts: domains whose first device shares a leaf.
    pub leaf_groups: u64,
    /// Minimum number of leaf groups with the same number of domains.
    pub least_leaf_groups: u64,
    /// Pods of a Clos, or groups of a dragonfly.
    pub pods: u64,
    /// Minimum number of pods with the same number of domains.
    pub least_pods: u64,
    /// Each leaf group with ranks, in the order of the network.
    pub rows: Vec<LeafGroupRow>,
}

/// Ranks below one leaf group.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LeafGroupRow {
    /// The pod.
    pub pod: u32,
    /// The number of its first leaf.
    pub leaf: u32,
    /// Hosts.
    pub hosts: u64,
    /// First and last rank of each sequence of consecutive ranks.
    pub ranks: Vec<(u32, u32)>,
}

/// Bytes of a step by the highest level that they pass, and those that change the rail.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ByLevel {
    /// Inside scale-up domains.
    pub same_domain: Bytes,
    /// Between domains of one leaf group.
    pub same_leaf_group: Bytes,
    /// Between leaf groups of one pod.
    pub same_pod: Bytes,
    /// Between pods.
    pub other_pod: Bytes,
    /// Between domains, from one rail to another.
    pub other_rail: Bytes,
}

impl ByLevel {
    /// Bytes of a step's traffic with ranks at a placement. O(pairs with traffic).
    pub fn new(matrix: &Matrix, place: &Place, tree: Option<&Tree>) -> Self {
        let mut sums = Self::default();
        matrix.for_each(|from, to, bytes| {
            let bytes = Bytes::new(bytes);
            let class = place.class(from, to);
            if class == PairClass::OtherRail {
                sums.other_rail += bytes;
            }
            let spots = tree.map(|tree| (tree.spot(place.device(from)), tree.spot(place.device(to))));
            *match (class, spots) {
                (PairClass::SameDomain, _) => &mut sums.same_domain,
                (_, Some((a, b))) if a.pod != b.pod => &mut sums.other_pod,
                (_, Some((a, b))) if a.leaf != b.leaf => &mut sums.same_pod,
                _ => &mut sums.same_leaf_group,
            } += bytes;
        });
        sums
    }

    /// Bytes that leave domains.
    pub fn across(&self) -> Bytes {
        self.same_leaf_group + self.same_pod + self.other_pod
    }
}

/// Counts the ranks of an allocation by leaf group.
pub fn survey(allocation: &Allocation, tree: &Tree) -> Survey {
    let mut rows: BTreeMap<(u32, u32), LeafGroupRow> = BTreeMap::new();
    let mut spots: Vec<Spot> = Vec::new();
    let mut names: BTreeSet<&str> = BTreeSet::new();
    let mut rank = 0;
    for host in &allocation.hosts {
        let Some(first) = host.devices.first() else { continue };
        let (spot, last) = (tree.spot(*first), rank + host.devices.len() as u32 - 1);
        spots.push(spot);
        let row = rows.entry((spot.pod, spot.leaf)).or_insert_with(|| LeafGroupRow {
            pod: spot.pod,
            leaf: spot.leaf,
            hosts: 0,
            ranks: Vec::new(),
        });
        row.hosts += u64::from(names.insert(&host.name));
        match row.ranks.last_mut() {
            Some(run) if run.1 + 1 == rank => run.1 = last,
            _ => row.ranks.push((rank, last)),
        }
        rank = last + 1;
    }
    let domains = distinct(spots.iter().map(|spot| spot.domain)) as u64;
    Survey {
        hosts: names.len() as u64,
        leaf_groups: rows.len() as u64,
        least_leaf_groups: tree.fewest(domains, |spot| spot.leaf),
        pods: distinct(spots.iter().map(|spot| spot.pod)) as u64,
        least_pods: tree.fewest(domains, |spot| spot.pod),
        rows: rows.into_values().collect(),
    }
}
