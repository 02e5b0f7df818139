//! A network with several concurrent failures: disconnected devices, stranded devices, and remaining bandwidth.
//!
//! Responsible for: any set of failed NICs, links and switches of a folded Clos network, each by its number,
//! computed from shares of capacity. For one part the result is that of its class in [`super::classes`].
//! Excludes other families, and the time until routes are withdrawn.
//!
//! Numbers run from 0: NICs by device; links between NIC and leaf by device and then plane; switches and links above by plane, fabric,
//! and then from the first leaf on.

use super::{Recovery, headroom, neighbour_share};
use crate::topology::design::ClosNetwork;
use crate::topology::{Design, Fabric};
use railwright_spec::problem::Problem;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// A part by its class (as [`super::Class::part`]) and its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Part {
    /// The class.
    pub class: &'static str,
    /// The number.
    pub number: u64,
}

/// Devices from the first to the last, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Range {
    /// The first.
    pub first: u64,
    /// The last.
    pub last: u64,
}

/// Network with failed parts.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct State {
    /// Devices with a disconnected NIC.
    pub cut_off: Vec<Range>,
    /// Devices that their domain cannot help either: the step cannot finish.
    pub stranded: Vec<Range>,
    /// True if all domains reach each other.
    pub is_connected: bool,
    /// Share of bandwidth that the most affected device keeps on its own NIC (0 to 1).
    pub kept_alone: f64,
    /// Remaining share if one neighbour also carries its traffic.
    pub kept_neighbour: f64,
    /// Share that the most affected domain keeps over all of its NICs.
    pub kept_spread: f64,
}

impl State {
    /// Share of bandwidth that remains under a recovery method (0 to 1).
    pub const fn kept(&self, recovery: Recovery) -> f64 {
        match recovery {
            Recovery::Alone => self.kept_alone,
            Recovery::Neighbour => self.kept_neighbour,
            Recovery::Spread => self.kept_spread,
        }
    }

    /// Devices in ranges.
    pub fn devices(ranges: &[Range]) -> u64 {
        ranges.iter().map(|range| range.last - range.first + 1).sum()
    }
}

/// A network for state queries: the map of devices to leaves and back.
#[derive(Debug)]
pub struct States<'a> {
    design: &'a Design,
    network: &'a ClosNetwork,
    /// Fabric and leaf of every device.
    leaf_of: Vec<(u32, u32)>,
    /// Devices under each leaf of each fabric of a plane.
    under: BTreeMap<(u32, u32), Vec<u32>>,
    /// Domains with a device in each pod of each fabric.
    pods: BTreeMap<(u32, u32), BTreeSet<u32>>,
    /// One domain for each placement in pods: failures above leaves affect all domains of a placement equally.
    manners: BTreeMap<(u32, u32), BTreeSet<u32>>,
}

/// Planes and rails to which a domain is connected.
type LinkPaths = BTreeSet<(u64, u32)>;

/// Failures of one plane's fabrics, as shares.
#[derive(Default)]
struct Lost {
    nics: BTreeSet<u64>,
    /// Device and plane.
    access: BTreeSet<(u64, u64)>,
    /// Plane, fabric, leaf.
    leaves: BTreeSet<(u64, u32, u32)>,
    /// Lost links to working spines: plane, fabric, leaf to links by spine of the pod.
    leaf_links: BTreeMap<(u64, u32, u32), BTreeMap<u64, u64>>,
    /// Plane, fabric, pod to dead spines.
    spines: BTreeMap<(u64, u32, u32), BTreeSet<u64>>,
    /// Links lost above spines: plane, fabric, pod to links by spine.
    core_links: BTreeMap<(u64, u32, u32), BTreeMap<u64, u64>>,
    /// Lost cores: plane, fabric to cores by core group.
    cores: BTreeMap<(u64, u32), BTreeMap<u64, BTreeSet<u64>>>,
    /// Links lost above cores: plane, fabric, zone to links by core of the zone.
    top_links: BTreeMap<(u64, u32, u32), BTreeMap<u64, u64>>,
    /// Lost top switches: plane, fabric to top switches by their group.
    tops: BTreeMap<(u64, u32), BTreeMap<u64, BTreeSet<u64>>>,
}

impl<'a> States<'a> {
    /// Prepares a folded Clos network.
    pub fn new(design: &'a Design) -> Result<Self, Problem> {
        let Fabric::Clos(network) = &design.fabric else {
            return Err(Problem::new(format!(
                "several failures of a {} cannot be combined",
                design.kind.name()
            ))
            .hint("omit --fail: single failures of each class are exact for every kind"));
        };
        let mut leaf_of = Vec::new();
        let mut under: BTreeMap<(u32, u32), Vec<u32>> = BTreeMap::new();
        let mut pods: BTreeMap<(u32, u32), BTreeSet<u32>> = BTreeMap::new();
        let mut manners: BTreeMap<(u32, u32), BTreeSet<u32>> = BTreeMap::new();
        let mut known: BTreeSet<Vec<(u32, u32)>> = BTreeSet::new();
        let mut manner = Vec::new();
        for device in 0..design.devices {
            let (fabric, leaf) = design.leaf_of(network, device);
            let (fabric, leaf) = (narrow(fabric), narrow(leaf));
            leaf_of.push((fabric, leaf));
            under.entry((fabric, leaf)).or_default().push(narrow(device));
            let pod = (fabric, narrow(network.clos.pod(u64::from(leaf))));
            let domain = narrow(device / design.domain.size);
            pods.entry(pod).or_default().insert(domain);
            manner.push(pod);
            if (device + 1).is_multiple_of(design.domain.size) {
                if !known.contains(&manner) {
                    for pod in &manner {
                        manners.entry(*pod).or_default().insert(domain);
                    }
                    known.insert(manner.clone());
                }
                manner.clear();
            }
        }
        Ok(Self { design, network, leaf_of, under, pods, manners })
    }

    /// Number of parts of a class.
    pub fn count(&self, class: &str) -> u64 {
        let (design, network) = (self.design, self.network);
        let fabrics = design.planes * network.fabrics_per_plane;
        let clos = &network.clos;
        match class {
            "NIC" => design.devices,
            "NIC-leaf link" => design.devices * design.planes,
            "leaf" => design.counts().switches_in("leaf"),
            "leaf-spine link" if network.kept_tiers >= 2 => fabrics * clos.leaf_spine_links(),
            "spine" if network.kept_tiers >= 2 => fabrics * clos.spines(),
            "spine-core link" if network.kept_tiers >= 3 => fabrics * clos.spine_core_links(),
            "core" if network.kept_tiers >= 3 => fabrics * clos.cores(),
            "core-top link" if network.kept_tiers >= 4 => fabrics * clos.core_top_links(),
            "top switch" if network.kept_tiers >= 4 => fabrics * clos.tops(),
            _ => 0,
        }
    }

    /// The state after these parts fail. Unknown numbers are ignored; [`Self::count`] is the number of parts.
    pub fn state(&self, failed: &[Part]) -> State {
        self.left(failed).0
    }

    /// The state, and the remaining connections of damaged domains: NIC ports in a plane, on a rail. Thousands of domains have the same
    /// few.
    fn left(&self, failed: &[Part]) -> (State, BTreeSet<LinkPaths>) {
        let mut lost = Lost::default();
        for part in failed.iter().filter(|part| part.number < self.count(part.class)) {
            self.fail(*part, &mut lost);
        }
        let touched = self.touched(&lost);
        let (planes, size) = (self.design.planes, self.design.domain.size);
        let mut state = State {
            cut_off: vec![],
            stranded: vec![],
            is_connected: true,
            kept_alone: 1.0,
            kept_neighbour: 1.0,
            kept_spread: 1.0,
        };
        let mut open = BTreeSet::new();
        for domain in touched {
            let (mut sum, mut link_paths) = (0.0, LinkPaths::new());
            let (mut lost_here, mut least) = (0, 1.0_f64);
            for device in domain * size..(domain + 1) * size {
                let mut kept = 0.0;
                for plane in 0..planes {
                    let share = self.share(&lost, device, plane);
                    kept += share;
                    if share > 0.0 {
                        let rail =
                            if self.design.separates_rails() { narrow(self.design.rail(device)) } else { 0 };
                        link_paths.insert((plane, rail));
                    }
                }
                let kept = kept / planes as f64;
                sum += kept;
                state.kept_alone = state.kept_alone.min(kept);
                if kept == 0.0 {
                    lost_here += 1;
                    extend(&mut state.cut_off, device, device);
                } else {
                    least = least.min(kept);
                }
            }
            let share = if lost_here > 0 { neighbour_share(size, lost_here) } else { 1.0 };
            state.kept_neighbour = state.kept_neighbour.min(least * share);
            state.kept_spread = state.kept_spread.min(sum / size as f64);
            if link_paths.is_empty() {
                extend(&mut state.stranded, domain * size, (domain + 1) * size - 1);
            } else {
                open.insert(link_paths);
            }
        }
        state.is_connected = all_meet(&open) && state.stranded.is_empty();
        (state, open)
    }

    fn fail(&self, part: Part, lost: &mut Lost) {
        let (network, clos) = (self.network, &self.network.clos);
        let planes = self.design.planes;
        let n = part.number;
        // Fabrics of a plane follow each other.
        let of_fabric = |each: u64| {
            let fabric = n / each.max(1);
            (fabric / network.fabrics_per_plane, narrow(fabric % network.fabrics_per_plane), n % each.max(1))
        };
        match part.class {
            "NIC" => {
                lost.nics.insert(n);
            }
            "NIC-leaf link" => {
                lost.access.insert((n / planes, n % planes));
            }
            "leaf" if clos.tiers == 1 => {
                // Fabrics that share one switch fail together.
                let switches = network.fabrics_per_plane.div_ceil(network.fabrics_per_switch);
                let (plane, switch) = (n / switches, n % switches);
                let first = switch * network.fabrics_per_switch;
                for fabric in first..(first + network.fabrics_per_switch).min(network.fabrics_per_plane) {
                    lost.leaves.insert((plane, narrow(fabric), 0));
                }
            }
            "leaf" => {
                let (plane, fabric, leaf) = of_fabric(clos.leaves());
                lost.leaves.insert((plane, fabric, narrow(leaf)));
            }
            "leaf-spine link" => {
                let (plane, fabric, link) = of_fabric(clos.leaf_spine_links());
                let (leaf, uplink) = (link / clos.leaf_uplinks, link % clos.leaf_uplinks);
                let spines = lost.leaf_links.entry((plane, fabric, narrow(leaf))).or_default();
                *spines.entry(uplink % clos.spines_per_pod).or_default() += 1;
            }
            "spine" => {
                let (plane, fabric, spine) = of_fabric(clos.spines());
                let pod = narrow(spine / clos.spines_per_pod);
                lost.spines.entry((plane, fabric, pod)).or_default().insert(spine % clos.spines_per_pod);
            }
            "spine-core link" => {
                let (plane, fabric, link) = of_fabric(clos.spine_core_links());
                let spine = link / clos.spine_uplinks;
                let spines =
                    lost.core_links.entry((plane, fabric, narrow(spine / clos.spines_per_pod))).or_default();
                *spines.entry(spine % clos.spines_per_pod).or_default() += 1;
            }
            "core" => {
                let (plane, fabric, core) = of_fabric(clos.cores());
                let groups = lost.cores.entry((plane, fabric)).or_default();
                groups.entry(core / clos.cores_per_group).or_default().insert(core % clos.cores_per_group);
            }
            "core-top link" => {
                let (plane, fabric, link) = of_fabric(clos.core_top_links());
                let core = link / clos.upper.map_or(1, |upper| upper.core_uplinks);
                let zone = narrow(core / clos.cores_per_zone());
                let cores = lost.top_links.entry((plane, fabric, zone)).or_default();
                *cores.entry(core % clos.cores_per_zone()).or_default() += 1;
            }
            "top switch" => {
                let (plane, fabric, top) = of_fabric(clos.tops());
                let each = clos.upper.map_or(1, |upper| upper.tops / upper.groups);
                let groups = lost.tops.entry((plane, fabric)).or_default();
                groups.entry(top / each).or_default().insert(top % each);
            }
            _ => {}
        }
    }

    /// Domains to check: all with a lost NIC, link or leaf; and one per placement in pods of those with
    /// losses above their leaves only, unless a pod is disconnected.
    fn touched(&self, lost: &Lost) -> BTreeSet<u64> {
        let size = self.design.domain.size;
        let mut domains: BTreeSet<u64> = lost.nics.iter().map(|device| device / size).collect();
        domains.extend(lost.access.iter().map(|(device, _)| device / size));
        for (_, fabric, leaf) in lost.leaves.iter().chain(lost.leaf_links.keys()) {
            let under = self.under.get(&(*fabric, *leaf)).into_iter().flatten();
            domains.extend(under.map(|device| u64::from(*device) / size));
        }
        let mut pods: BTreeSet<(u64, u32, u32)> =
            lost.spines.keys().chain(lost.core_links.keys()).copied().collect();
        let per_zone = narrow(self.network.clos.pods_per_zone());
        for (plane, fabric, zone) in lost.top_links.keys() {
            pods.extend((zone * per_zone..(zone + 1) * per_zone).map(|pod| (*plane, *fabric, pod)));
        }
        for (plane, fabric) in lost.cores.keys().chain(lost.tops.keys()) {
            pods.extend(
                self.pods
                    .range((*fabric, 0)..=(*fabric, u32::MAX))
                    .map(|((_, pod), _)| (*plane, *fabric, *pod)),
            );
        }
        for (plane, fabric, pod) in pods {
            let leaf = narrow(u64::from(pod) * self.network.clos.leaves_per_pod);
            let above = self.above(lost, plane, fabric, leaf);
            let list = if above == 0.0 { &self.pods } else { &self.manners };
            domains.extend(list.get(&(fabric, pod)).into_iter().flatten().map(|domain| u64::from(*domain)));
        }
        domains
    }

    /// Share of one NIC port's bandwidth that is left: 0 without NIC, link or leaf, else limited by leaf and pod above.
    fn share(&self, lost: &Lost, device: u64, plane: u64) -> f64 {
        let (fabric, leaf) = self.leaf_of[device as usize];
        if lost.nics.contains(&device)
            || lost.access.contains(&(device, plane))
            || lost.leaves.contains(&(plane, fabric, leaf))
        {
            return 0.0;
        }
        self.above(lost, plane, fabric, leaf)
    }

    /// Share that is left above a leaf: of its tier with the largest loss.
    fn above(&self, lost: &Lost, plane: u64, fabric: u32, leaf: u32) -> f64 {
        let pod = self.above_pod(lost, plane, fabric, leaf);
        self.above_leaf(lost, plane, fabric, leaf).min(pod).min(self.above_zone(lost, plane, fabric, leaf))
    }

    /// Working uplinks of a leaf to working spines over all, plus the surplus over the hosts' need; at most 1.
    fn above_leaf(&self, lost: &Lost, plane: u64, fabric: u32, leaf: u32) -> f64 {
        let clos = &self.network.clos;
        if self.network.kept_tiers < 2 {
            return 1.0;
        }
        let pod = narrow(clos.pod(u64::from(leaf)));
        let dead = lost.spines.get(&(plane, fabric, pod));
        let links = lost.leaf_links.get(&(plane, fabric, leaf));
        if dead.is_none() && links.is_none() {
            return 1.0;
        }
        let mut gone = dead.map_or(0, |dead| dead.len() as u64 * clos.trunk());
        for (spine, links) in links.into_iter().flatten() {
            if !dead.is_some_and(|dead| dead.contains(spine)) {
                gone += links;
            }
        }
        let left = 1.0 - gone.min(clos.leaf_uplinks) as f64 / clos.leaf_uplinks as f64;
        (headroom(self.design, self.network) * left).min(1.0)
    }

    /// Share of uplink capacity that the spines of a pod keep. With hashing it is that of the worst spine, because hashes ignore losses.
    /// With sprayed packets it is that of all spines together.
    fn above_pod(&self, lost: &Lost, plane: u64, fabric: u32, leaf: u32) -> f64 {
        let clos = &self.network.clos;
        if self.network.kept_tiers < 3 {
            return 1.0;
        }
        let pod = narrow(clos.pod(u64::from(leaf)));
        let links = lost.core_links.get(&(plane, fabric, pod));
        let cores = lost.cores.get(&(plane, fabric));
        if links.is_none() && cores.is_none() {
            return 1.0;
        }
        let zone = clos.zone(u64::from(pod));
        let dead = lost.spines.get(&(plane, fabric, pod));
        let (mut worst, mut sum) = (1.0_f64, 0.0);
        for spine in 0..clos.spines_per_pod {
            if dead.is_some_and(|dead| dead.contains(&spine)) {
                continue;
            }
            let cut = links.and_then(|links| links.get(&spine)).copied().unwrap_or(0);
            let group = zone * clos.core_groups + spine / clos.spines_per_core_group().max(1);
            let gone = cores.and_then(|cores| cores.get(&group)).map_or(0, BTreeSet::len) as f64;
            let left =
                (1.0 - cut as f64 / clos.spine_uplinks as f64) * (1.0 - gone / clos.cores_per_group as f64);
            sum += left;
            if left > 0.0 {
                worst = worst.min(left);
            }
        }
        self.even_or_worst(sum / clos.spines_per_pod as f64, worst)
    }

    /// Share of uplink capacity that the cores of a zone keep, as [`Self::above_pod`] that of spines.
    fn above_zone(&self, lost: &Lost, plane: u64, fabric: u32, leaf: u32) -> f64 {
        let clos = &self.network.clos;
        let Some(upper) = clos.upper.filter(|_| self.network.kept_tiers >= 4) else { return 1.0 };
        let zone = clos.zone(clos.pod(u64::from(leaf)));
        let links = lost.top_links.get(&(plane, fabric, narrow(zone)));
        let tops = lost.tops.get(&(plane, fabric));
        if links.is_none() && tops.is_none() {
            return 1.0;
        }
        let dead = lost.cores.get(&(plane, fabric));
        let (cores, each) = (clos.cores_per_zone(), upper.tops / upper.groups);
        let (mut worst, mut sum) = (1.0_f64, 0.0);
        for core in 0..cores {
            let (group, within) = (core / clos.cores_per_group, core % clos.cores_per_group);
            let group = zone * clos.core_groups + group;
            if dead.and_then(|dead| dead.get(&group)).is_some_and(|dead| dead.contains(&within)) {
                continue;
            }
            let cut = links.and_then(|links| links.get(&core)).copied().unwrap_or(0);
            let top_group = core / (cores / upper.groups).max(1);
            let gone = tops.and_then(|tops| tops.get(&top_group)).map_or(0, BTreeSet::len) as f64;
            let left = (1.0 - cut as f64 / upper.core_uplinks as f64) * (1.0 - gone / each as f64);
            sum += left;
            if left > 0.0 {
                worst = worst.min(left);
            }
        }
        self.even_or_worst(sum / cores as f64, worst)
    }

    /// Sprayed packets use what all switches of a tier keep, hashed ones what the worst keeps.
    fn even_or_worst(&self, all: f64, worst: f64) -> f64 {
        if self.design.routing.is_spread() || all == 0.0 { all } else { worst.min(1.0) }
    }
}

/// Tests whether every two of these share a plane and rail. Of two without a shared one, at least one has at most half of all.
fn all_meet(open: &BTreeSet<LinkPaths>) -> bool {
    let all = open.iter().flatten().collect::<BTreeSet<_>>().len();
    let mut few = open.iter().filter(|link_paths| link_paths.len() * 2 <= all);
    few.all(|one| open.iter().all(|other| !one.is_disjoint(other)))
}

/// Adds devices that follow the last range, or begin a new one.
fn extend(ranges: &mut Vec<Range>, first: u64, last: u64) {
    match ranges.last_mut() {
        Some(range) if range.last + 1 == first => range.last = last,
        _ => ranges.push(Range { first, last }),
    }
}

/// Numbers of devices and switches are far below 2^32: [`crate::topology::MOST_DEVICES`] bounds them.
fn narrow(n: u64) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests;
