//! A network with several concurrent failures: disconnected devices, stranded devices, and remaining
//! bandwidth.
//!
//! Responsible for: any set of failed NICs, links and switches of a folded Clos network, each by its number,
//! computed from shares of capacity. For one part the result is that of its class in [`super::classes`].
//! Excludes other families, and the time until routes are withdrawn.
//!
//! Numbers run from 0: NICs by device; links between NIC and leaf by device and then plane; switches and
//! links above by plane, fabric, and then from the first leaf on.

use super::above::Above;
pub use super::class::Part;
use super::class::{Recovery, neighbour_share};
use super::domain;
use super::lost::{Lost, narrow};
use crate::topology::design::ClosNetwork;
use crate::topology::scale_up::{DomainPart, WithoutPart};
use crate::topology::{Design, Fabric};
use railwright_spec::problem::Problem;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

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
    /// Share of scale-up bandwidth that the most affected device keeps, in domains that are in service.
    pub kept_domain: f64,
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
    /// Bandwidth above leaves.
    above: Above<'a>,
    /// Domains with a device in each pod of each fabric.
    pods: BTreeMap<(u32, u32), BTreeSet<u32>>,
    /// One domain for each placement in pods: failures above leaves affect all domains of a placement
    /// equally.
    manners: BTreeMap<(u32, u32), BTreeSet<u32>>,
}

/// Planes and rails to which a domain is connected.
type LinkPaths = BTreeSet<(u64, u32)>;

impl<'a> States<'a> {
    /// Prepares a folded Clos network.
    pub fn new(design: &'a Design) -> Result<Self, Problem> {
        let Fabric::Clos(network) = &design.fabric else {
            return Err(Problem::new(format!(
                "combined failures of a {} are not supported",
                design.kind.name()
            ))
            .hint("omit --fail: single failures of each class are supported for every kind"));
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
        let above = Above::new(design, network);
        Ok(Self { design, network, leaf_of, under, above, pods, manners })
    }

    /// Number of parts of a class.
    pub fn count(&self, class: &str) -> u64 {
        let (design, network) = (self.design, self.network);
        let fabrics = design.planes * network.fabrics_per_plane;
        let clos = &network.clos;
        if let (Some(part), Some(parts)) = (DomainPart::named(class), &design.domain.parts) {
            return design.domains() * parts.count(part, design.domain.size);
        }
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

    /// The state, and the remaining connections of damaged domains: NIC ports in a plane, on a rail.
    /// Thousands of domains have the same few.
    fn left(&self, failed: &[Part]) -> (State, BTreeSet<LinkPaths>) {
        let mut lost = Lost::default();
        for part in failed.iter().filter(|part| part.number < self.count(part.class)) {
            lost.add(self.design, self.network, *part);
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
            kept_domain: 1.0,
        };
        let mut open = BTreeSet::new();
        // By plane, fabric and leaf: the devices of a domain often share one.
        let mut known: BTreeMap<(u64, u32, u32), f64> = BTreeMap::new();
        for domain in touched {
            let (mut sum, mut link_paths) = (0.0, LinkPaths::new());
            let (mut lost_here, mut least, mut narrowest) = (0, 1.0_f64, 1.0_f64);
            for device in domain * size..(domain + 1) * size {
                let (mut ports, mut own) = (0, 1.0_f64);
                for plane in 0..planes {
                    let share = self.share(&lost, device, plane, &mut known);
                    if share > 0.0 {
                        ports += 1;
                        own = own.min(share);
                        let rail =
                            if self.design.separates_rails() { narrow(self.design.rail(device)) } else { 0 };
                        link_paths.insert((plane, rail));
                    }
                }
                // Packets are spread evenly over the ports that lead on: the narrowest way behind them limits
                // all.
                let ports = f64::from(ports) / planes as f64;
                let kept = ports * own;
                sum += ports;
                state.kept_alone = state.kept_alone.min(kept);
                if kept == 0.0 {
                    lost_here += 1;
                    extend(&mut state.cut_off, device, device);
                } else {
                    least = least.min(kept);
                    narrowest = narrowest.min(own);
                }
            }
            let share = if lost_here > 0 { neighbour_share(size, lost_here) } else { 1.0 };
            state.kept_neighbour = state.kept_neighbour.min(least * share);
            // The domain shares ports; it does not know of losses behind them.
            state.kept_spread = state.kept_spread.min(sum / size as f64 * narrowest);
            if link_paths.is_empty() {
                extend(&mut state.stranded, domain * size, (domain + 1) * size - 1);
            } else {
                open.insert(link_paths);
            }
        }
        self.within_domains(failed, &mut state);
        state.is_connected = all_meet(&open) && state.stranded.is_empty();
        (state, open)
    }

    /// Failed parts of domains: devices out of service, or the share that is left to the slowest.
    fn within_domains(&self, failed: &[Part], state: &mut State) {
        let Some(parts) = &self.design.domain.parts else { return };
        let size = self.design.domain.size;
        let there = failed.iter().filter(|part| part.number < self.count(part.class));
        let there = there.filter_map(|part| Some((DomainPart::named(part.class)?, part.number)));
        let lost = domain::lost(self.design, parts, there);
        for ((domain, device), share) in &lost {
            match (parts.without_part, device) {
                (WithoutPart::Drain, None) => {
                    extend(&mut state.stranded, domain * size, (domain + 1) * size - 1);
                }
                (WithoutPart::Drain, Some(device)) if !lost.contains_key(&(*domain, None)) => {
                    extend(&mut state.stranded, *device, *device);
                }
                (WithoutPart::Drain, Some(_)) => {}
                (WithoutPart::RunOn, device) => {
                    let of_all = device.and_then(|_| lost.get(&(*domain, None))).copied().unwrap_or(0.0);
                    state.kept_domain = state.kept_domain.min((1.0 - share - of_all).max(0.0));
                }
            }
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
        for (plane, fabric, zone) in lost.cores.keys() {
            pods.extend((zone * per_zone..(zone + 1) * per_zone).map(|pod| (*plane, *fabric, pod)));
        }
        for (plane, fabric) in lost.tops.keys() {
            pods.extend(
                self.pods
                    .range((*fabric, 0)..=(*fabric, u32::MAX))
                    .map(|((_, pod), _)| (*plane, *fabric, *pod)),
            );
        }
        for (plane, fabric, pod) in pods {
            let leaf = narrow(u64::from(pod) * self.network.clos.leaves_per_pod);
            let above = self.above.share(lost, plane, fabric, leaf);
            let list = if above == 0.0 { &self.pods } else { &self.manners };
            domains.extend(list.get(&(fabric, pod)).into_iter().flatten().map(|domain| u64::from(*domain)));
        }
        domains
    }

    /// Share of one NIC port's bandwidth that is left: 0 without NIC, link or leaf, else limited above the
    /// leaf.
    fn share(&self, lost: &Lost, device: u64, plane: u64, known: &mut BTreeMap<(u64, u32, u32), f64>) -> f64 {
        let (fabric, leaf) = self.leaf_of[device as usize];
        if lost.nics.contains(&device)
            || lost.access.contains(&(device, plane))
            || lost.leaves.contains(&(plane, fabric, leaf))
        {
            return 0.0;
        }
        *known.entry((plane, fabric, leaf)).or_insert_with(|| self.above.share(lost, plane, fabric, leaf))
    }
}

/// Tests whether every two of these share a plane and rail. Of two without a shared one, at least one has at
/// most half of all.
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

#[cfg(test)]
mod tests;
