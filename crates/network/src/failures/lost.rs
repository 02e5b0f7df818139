//! Failed parts of folded Clos fabrics by their places.
//!
//! Responsible for: the place of a numbered part. Numbers are those of [`super::state`].

use super::class::Part;
use crate::topology::Design;
use crate::topology::design::ClosNetwork;
use std::collections::{BTreeMap, BTreeSet};

/// Failed parts.
#[derive(Default)]
pub(super) struct Lost {
    pub(super) nics: BTreeSet<u64>,
    /// Device and plane.
    pub(super) access: BTreeSet<(u64, u64)>,
    /// Plane, fabric, leaf.
    pub(super) leaves: BTreeSet<(u64, u32, u32)>,
    /// Plane, fabric, leaf to lost links by spine of the pod.
    pub(super) leaf_links: BTreeMap<(u64, u32, u32), BTreeMap<u64, u64>>,
    /// Plane, fabric, pod to dead spines.
    pub(super) spines: BTreeMap<(u64, u32, u32), BTreeSet<u64>>,
    /// Plane, fabric, pod to lost uplinks of spines: spine and uplink.
    pub(super) core_links: BTreeMap<(u64, u32, u32), BTreeSet<(u64, u64)>>,
    /// Plane, fabric, zone to dead cores of the zone.
    pub(super) cores: BTreeMap<(u64, u32, u32), BTreeSet<u64>>,
    /// Plane, fabric, zone to lost uplinks of cores: core of the zone and uplink.
    pub(super) top_links: BTreeMap<(u64, u32, u32), BTreeSet<(u64, u64)>>,
    /// Plane, fabric to dead top switches.
    pub(super) tops: BTreeMap<(u64, u32), BTreeSet<u64>>,
}

impl Lost {
    /// Adds a part of a network.
    pub(super) fn add(&mut self, design: &Design, network: &ClosNetwork, part: Part) {
        let (clos, planes, n) = (&network.clos, design.planes, part.number);
        // Fabrics of a plane follow each other.
        let of_fabric = |each: u64| {
            let (fabric, rest) = (n / each.max(1), n % each.max(1));
            (fabric / network.fabrics_per_plane, narrow(fabric % network.fabrics_per_plane), rest)
        };
        match part.class {
            "NIC" => {
                self.nics.insert(n);
            }
            "NIC-leaf link" => {
                self.access.insert((n / planes, n % planes));
            }
            "leaf" if clos.tiers == 1 => {
                // Fabrics that share one switch fail together.
                let switches = network.fabrics_per_plane.div_ceil(network.fabrics_per_switch);
                let (plane, switch) = (n / switches, n % switches);
                let first = switch * network.fabrics_per_switch;
                for fabric in first..(first + network.fabrics_per_switch).min(network.fabrics_per_plane) {
                    self.leaves.insert((plane, narrow(fabric), 0));
                }
            }
            "leaf" => {
                let (plane, fabric, leaf) = of_fabric(clos.leaves());
                self.leaves.insert((plane, fabric, narrow(leaf)));
            }
            "leaf-spine link" => {
                let (plane, fabric, link) = of_fabric(clos.leaf_spine_links());
                let (leaf, uplink) = (link / clos.leaf_uplinks, link % clos.leaf_uplinks);
                let spines = self.leaf_links.entry((plane, fabric, narrow(leaf))).or_default();
                *spines.entry(uplink % clos.spines_per_pod).or_default() += 1;
            }
            "spine" => {
                let (plane, fabric, spine) = of_fabric(clos.spines());
                let pod = narrow(spine / clos.spines_per_pod);
                self.spines.entry((plane, fabric, pod)).or_default().insert(spine % clos.spines_per_pod);
            }
            "spine-core link" => {
                let (plane, fabric, link) = of_fabric(clos.spine_core_links());
                let (spine, uplink) = (link / clos.spine_uplinks, link % clos.spine_uplinks);
                let pod = narrow(spine / clos.spines_per_pod);
                let links = self.core_links.entry((plane, fabric, pod)).or_default();
                links.insert((spine % clos.spines_per_pod, uplink));
            }
            "core" => {
                let (plane, fabric, core) = of_fabric(clos.cores());
                let zone = narrow(core / clos.cores_per_zone());
                self.cores.entry((plane, fabric, zone)).or_default().insert(core % clos.cores_per_zone());
            }
            "core-top link" => {
                let (plane, fabric, link) = of_fabric(clos.core_top_links());
                let uplinks = clos.upper.map_or(1, |upper| upper.core_uplinks);
                let (core, uplink) = (link / uplinks, link % uplinks);
                let zone = narrow(core / clos.cores_per_zone());
                let links = self.top_links.entry((plane, fabric, zone)).or_default();
                links.insert((core % clos.cores_per_zone(), uplink));
            }
            "top switch" => {
                let (plane, fabric, top) = of_fabric(clos.tops());
                self.tops.entry((plane, fabric)).or_default().insert(top);
            }
            _ => {}
        }
    }
}

/// Numbers of devices and switches are far below 2^32: [`crate::topology::MOST_DEVICES`] bounds them.
pub(super) fn narrow(n: u64) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}
