//! Stage boundaries as peers of each other.
//!
//! Responsible for: boundaries all of whose messages take longer than messages of the same size at other
//! boundaries with the same kind of link. The links of one boundary are one delay: without replicas it has
//! one link, and a switch or a rail slows all of them equally.

use super::placement::{Apart, Placement, Reference};
use super::typical::{Found, THAN_ONE, Transfer, Typical, usual};
use crate::collectives::LinkKind;
use railwright_step::CollectiveKind;
use std::collections::{BTreeMap, BTreeSet};

/// Transfers of one boundary and size, by link.
type ByLink = BTreeMap<u32, Vec<Transfer>>;

/// A boundary of stages whose links are all slow.
#[derive(Default)]
pub(super) struct SlowBoundary {
    /// Its links.
    pub(super) links: BTreeSet<u32>,
    /// Measured time of its transfers, and their time at the speed of other boundaries, both in nanoseconds.
    pub(super) sum: (f64, f64),
}

/// Messages of stage boundaries by size and kind of link, then by boundary.
#[derive(Default)]
pub(super) struct Boundaries(BTreeMap<(u64, Option<LinkKind>), BTreeMap<String, ByLink>>);

impl Boundaries {
    pub(super) fn add(
        &mut self,
        label: &str,
        link: Option<LinkKind>,
        bytes: u64,
        id: u32,
        times: Vec<Transfer>,
    ) {
        self.0.entry((bytes, link)).or_default().entry(label.to_owned()).or_default().insert(id, times);
    }

    /// Slow boundaries by label, added to `found` by size; and those that another kind of link may explain.
    pub(super) fn compare(
        self,
        placement: &Placement,
        found: &mut Found<'_>,
    ) -> (BTreeMap<String, SlowBoundary>, Vec<Apart>) {
        let mut slow: BTreeMap<String, SlowBoundary> = BTreeMap::new();
        let mut apart = Vec::new();
        for ((bytes, link), boundaries) in self.0 {
            let pooled: Vec<(Typical, ByLink)> = boundaries
                .into_iter()
                .filter_map(|(label, links)| {
                    let all: Vec<Transfer> = links.values().flatten().copied().collect();
                    Some((Typical::of(*links.keys().next()?, label, &all), links))
                })
                .collect();
            if let [(only, _)] = pooled.as_slice() {
                let full = placement.exceeds_network(link, only.transfer, bytes);
                apart.extend(full.map(|time| only.apart(time, Reference::FullRate)));
                continue;
            }
            let usual = usual(pooled.iter().map(|one| &one.0)).0;
            for (typical, links) in &pooled {
                // One slow link of many is a matter of its replicas.
                let exceeds = |link: &Typical| link.exceeds(THAN_ONE, usual);
                let of = |(&id, times): (&u32, &Vec<Transfer>)| Typical::of(id, String::new(), times);
                if !exceeds(typical) || !links.iter().map(of).all(|link| exceeds(&link)) {
                    continue;
                }
                if placement.explains(typical.transfer, bytes) {
                    apart.push(typical.apart(usual, Reference::Boundaries));
                    continue;
                }
                let ids: Vec<u32> = links.keys().copied().collect();
                let group = found.group(typical, &ids, usual, Some(CollectiveKind::Send), bytes);
                found.slow.push((typical.id, group));
                let boundary = slow.entry(typical.label.clone()).or_default();
                boundary.links.extend(ids);
                boundary.sum.0 += typical.transfer * typical.count;
                boundary.sum.1 += usual * typical.count;
            }
        }
        (slow, apart)
    }
}
