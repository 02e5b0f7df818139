//! Summary of a design: its parts, its maximum size, and the routes between its devices.
//!
//! Responsible for: the value of `network show`, by arithmetic and without a graph. Excludes prices.

use super::design::{ClosNetwork, Design, Fabric};
use super::kind::Forwarding;
use super::{Counts, DesignSpec, MOST_DEVICES};
use railwright_spec::problem::Problem;
use railwright_spec::quantity::Seconds;
use serde::Serialize;

/// Devices that the first device reaches in the same manner.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Reach {
    /// Manner.
    pub how: &'static str,
    /// Number of devices.
    pub devices: u64,
    /// Links of the route, NICs included; the maximum if routes differ.
    pub links: u64,
    /// Latency of the route; the maximum if routes differ.
    pub latency: Seconds,
    /// Number of equally short routes.
    pub link_paths: u64,
}

/// A design at a glance.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Summary {
    /// Resolved parameters.
    pub design: Design,
    /// Components.
    pub counts: Counts,
    /// Bandwidth below over bandwidth above, tier by tier from the leaves; empty without tiers.
    pub oversubscription: Vec<f64>,
    /// Maximum number of devices with the same parameters.
    pub room: u64,
    /// Routes of the first device to the others.
    pub reach: Vec<Reach>,
}

impl DesignSpec {
    /// The design at a glance.
    pub fn summary(&self) -> Result<Summary, Problem> {
        let design = self.resolve()?;
        Ok(Summary {
            counts: design.counts(),
            oversubscription: design.oversubscription(),
            room: self.room(&design),
            reach: design.reach(),
            design,
        })
    }

    /// Maximum number of devices with otherwise equal settings. Found by bisection, because a setting that
    /// reaches a number also reaches smaller ones.
    fn room(&self, design: &Design) -> u64 {
        let step = design.domain.size;
        let fits = |domains: u64| {
            let devices = Some(domains * step);
            // Settings of one size are removed with the size.
            let spec = Self { devices, groups: None, dimensions: None, ..self.clone() };
            let spec = if self.domain.is_none() && design.kind != super::Kind::ScaleUp {
                Self { domain: Some(step), ..spec }
            } else {
                spec
            };
            spec.resolve().is_ok()
        };
        if matches!(design.fabric, Fabric::None | Fabric::Torus(_)) {
            return design.devices;
        }
        let (mut fitting, mut too_many) = (design.domains(), MOST_DEVICES / step + 1);
        while too_many - fitting > 1 {
            let middle = fitting.midpoint(too_many);
            if fits(middle) { fitting = middle } else { too_many = middle }
        }
        fitting * step
    }
}

impl Design {
    /// `hosts x NIC port / (uplinks x port)` at a leaf, `links down / links up` at a spine; counts connected
    /// links, with full leaves.
    pub fn oversubscription(&self) -> Vec<f64> {
        let Fabric::Clos(network) = &self.fabric else { return Vec::new() };
        let clos = &network.clos;
        let mut list = Vec::new();
        if network.kept_tiers >= 2 {
            let hosts = self.nic_port_bandwidth() * clos.hosts_per_leaf as f64;
            list.push(hosts / (self.port_bandwidth * clos.leaf_uplinks as f64));
        }
        if network.kept_tiers >= 3 {
            let down = clos.leaves_per_pod * clos.trunk();
            list.push(down as f64 / clos.spine_uplinks as f64);
        }
        if let Some(upper) = clos.upper.filter(|_| network.kept_tiers >= 4) {
            let down = clos.spine_core_links().div_ceil(clos.cores().max(1));
            list.push(down as f64 / upper.core_uplinks as f64);
        }
        list
    }

    fn reach(&self) -> Vec<Reach> {
        let mut list = Vec::new();
        let size = self.domain.size;
        if size > 1 {
            add(&mut list, "in the scale-up domain", size - 1, 2, self.domain.latency, 1);
        }
        match &self.fabric {
            Fabric::Clos(network) => self.reach_clos(network, &mut list),
            Fabric::Dragonfly(d) => {
                let beyond = |lower: u64| lower.min(self.devices);
                let (router, group) = (beyond(d.hosts), beyond(d.hosts * d.routers));
                let between = (d.wiring().used() / (d.groups - 1).max(1)).max(1);
                let outside = |count: u64| count.saturating_sub(size.max(1));
                self.add_network(&mut list, "at the same router", outside(router), 2, 1);
                self.add_network(&mut list, "in the same group", group - router.max(size).min(group), 3, 1);
                self.add_network(&mut list, "in other groups", self.devices - group.max(size), 5, between);
            }
            Fabric::DragonflyPlus(d) => {
                let beyond = |lower: u64| lower.min(self.devices);
                let (leaf, group) = (beyond(d.hosts), beyond(d.hosts * d.leaves));
                let between = (d.wiring().used() / (d.groups - 1).max(1)).max(1);
                let outside = |count: u64| count.saturating_sub(size.max(1));
                self.add_network(&mut list, "at the same leaf", outside(leaf), 2, 1);
                self.add_network(
                    &mut list,
                    "in the same group",
                    group - leaf.max(size).min(group),
                    4,
                    d.spines,
                );
                self.add_network(&mut list, "in other groups", self.devices - group.max(size), 5, between);
            }
            Fabric::SlimFly(s) => {
                let router = s.hosts.min(self.devices);
                self.add_network(&mut list, "at the same router", router.saturating_sub(size.max(1)), 2, 1);
                self.add_network(&mut list, "at other routers", self.devices - router.max(size), 4, 1);
            }
            Fabric::Torus(torus) => {
                let links: u64 = torus.dimensions.iter().map(|n| n / 2).sum();
                let used = torus.dimensions.iter().filter(|n| **n > 1).count() as u64;
                let latency = self.link_latency * links as f64;
                let link_paths = (1..=used).product();
                add(&mut list, "over neighbouring devices", self.devices - size, links, latency, link_paths);
            }
            Fabric::None => {}
        }
        list
    }

    /// Adds network routes: a number of links between switches and NICs, and one to the NIC at each end.
    fn add_network(
        &self,
        list: &mut Vec<Reach>,
        how: &'static str,
        devices: u64,
        links: u64,
        link_paths: u64,
    ) {
        let latency = self.link_latency * links as f64;
        add(list, how, devices, links + 2, latency, link_paths * self.planes);
    }

    fn reach_clos(&self, network: &ClosNetwork, list: &mut Vec<Reach>) {
        let clos = &network.clos;
        let size = self.domain.size;
        let (fabric, leaf) = self.leaf_of(network, 0);
        let (mut near, mut pod, mut far, mut beyond, mut forwarded) = (0, 0, 0, 0, 0);
        // Zones have equal numbers of pods.
        let zone = |leaf: u64| clos.pod(leaf) / (clos.pods / clos.zones()).max(1);
        for device in size..self.devices {
            let (other_fabric, other_leaf) = self.leaf_of(network, device);
            if self.forwarding != Forwarding::None && self.rail(device) != 0 {
                forwarded += 1;
            } else if (fabric, leaf) == (other_fabric, other_leaf) {
                near += 1;
            } else if clos.pod(leaf) == clos.pod(other_leaf) {
                pod += 1;
            } else if zone(leaf) == zone(other_leaf) {
                far += 1;
            } else {
                beyond += 1;
            }
        }
        self.add_network(list, "under the same leaf", near, 2, 1);
        self.add_network(list, "over a spine", pod, 4, clos.leaf_uplinks * clos.trunk());
        // Up over any spine and uplink; down over the core's links into the other pod.
        let down = clos.pod_links().checked_div(clos.cores_per_group).unwrap_or(0).max(1);
        let link_paths = clos.leaf_uplinks * clos.spine_uplinks * down * clos.trunk();
        self.add_network(list, "over a core", far, 6, link_paths);
        let core_uplinks = clos.upper.map_or(1, |upper| upper.core_uplinks);
        self.add_network(list, "over a top switch", beyond, 8, link_paths * core_uplinks);
        if forwarded > 0 {
            let links = match clos.tiers.min(network.kept_tiers) {
                1 => 2,
                2 => 4,
                3 => 6,
                _ => 8,
            };
            let latency = self.link_latency * links as f64 + self.domain.latency;
            let most = list.iter().map(|reach| reach.link_paths).max().unwrap_or(1);
            add(list, "on other rails, forwarded through a domain", forwarded, links + 4, latency, most);
        }
    }
}

fn add(
    list: &mut Vec<Reach>,
    how: &'static str,
    devices: u64,
    links: u64,
    latency: Seconds,
    link_paths: u64,
) {
    if devices > 0 {
        list.push(Reach { how, devices, links, latency, link_paths });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::{Detail, Kind, Topology};
    use std::collections::BTreeMap;

    #[test]
    fn reach_agrees_with_the_routes_of_a_graph() {
        for spec in [
            DesignSpec::of(Kind::Clos, 128, 4, 8),
            DesignSpec::of(Kind::RailOptimized, 128, 4, 8),
            DesignSpec::of(Kind::RailOnly, 128, 4, 8),
            DesignSpec::of(Kind::RailOnly, 512, 16, 8),
            DesignSpec::of(Kind::Dragonfly, 72, 1, 7),
            DesignSpec::of(Kind::DragonflyPlus, 60, 3, 6),
        ] {
            let summary = spec.summary().expect("it is built");
            let topology = Topology::build(&summary.design, Detail::Links).expect("small");
            let mut lengths: BTreeMap<usize, u64> = BTreeMap::new();
            for device in 1..topology.graph.devices() {
                *lengths.entry(topology.route(0, device, 0).expect("joined").length()).or_default() += 1;
            }
            let total: u64 = summary.reach.iter().map(|reach| reach.devices).sum();
            assert_eq!(total, summary.design.devices - 1, "{spec:?}");
            let most = *lengths.keys().max().expect("some") as u64;
            assert_eq!(summary.reach.iter().map(|reach| reach.links).max(), Some(most), "{spec:?}");
            if summary.design.kind != Kind::Dragonfly && summary.design.kind != Kind::DragonflyPlus {
                for reach in &summary.reach {
                    let of_length: u64 =
                        summary.reach.iter().filter(|r| r.links == reach.links).map(|r| r.devices).sum();
                    if reach.how.contains("forwarded") {
                        continue;
                    }
                    assert!(
                        lengths.get(&(reach.links as usize)).is_some_and(|n| *n >= of_length),
                        "{spec:?} {reach:?} {lengths:?}"
                    );
                }
            }
        }
    }

    #[test]
    fn room_is_where_the_next_domain_does_not_fit() {
        assert_eq!(DesignSpec::of(Kind::Clos, 1024, 8, 64).summary().expect("built").room, 65_536);
        // 8 rails of a full three-tier tree each.
        assert_eq!(DesignSpec::of(Kind::RailOnly, 1024, 8, 64).summary().expect("built").room, 8 * 65_536);
        assert_eq!(DesignSpec::of(Kind::Dragonfly, 1024, 8, 64).summary().expect("built").room, 513 * 512);
        let two = DesignSpec { tiers: Some(2), ..DesignSpec::of(Kind::Clos, 1024, 8, 64) };
        assert_eq!(two.summary().expect("built").room, 2048);
    }

    #[test]
    fn routes_of_a_k_ary_tree() {
        // k^2 / 4 routes between pods, k / 2 within (Al-Fares et al.).
        let reach = DesignSpec::of(Kind::Clos, 65_536, 1, 64).summary().expect("built").reach;
        let link_paths: Vec<(u64, u64)> = reach.iter().map(|r| (r.devices, r.link_paths)).collect();
        assert_eq!(link_paths, [(31, 1), (1024 - 32, 32), (65_536 - 1024, 1024)]);
        assert_eq!(reach[2].latency.micros().round(), 6.0);
    }
}
