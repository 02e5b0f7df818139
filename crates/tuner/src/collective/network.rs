//! Networks for collectives: generated designs, and fabrics from files.

use crate::flows::{self, is_torus_law, torus_ratio};
use railwright_calculator::collectives::{Collective, Fabric};
use railwright_network::imported::{Imported, shared_time};
use railwright_network::simulate::{Class, Edge, LayerLoad, Links, Wiring, class_time, too_few_devices};
use railwright_network::topology::{Design, Routing};
use railwright_network::traffic::{Exchange, RankPlacement};
use railwright_spec::cluster::Cluster;
use railwright_spec::human;
use railwright_spec::plan::Group;
use railwright_spec::problem::Problem;

/// Maximum number of routes summed pair by pair, over all seeds: about a minute.
pub(super) const MOST_PAIRS: u64 = 1 << 26;

/// A network.
#[derive(Clone, Copy, Debug)]
pub enum Network<'a> {
    /// A design, with its failed parts.
    Design(&'a Wiring),
    /// A fabric from a file.
    Imported(&'a Imported),
}

impl<'a> Network<'a> {
    /// Devices.
    pub fn devices(self) -> u32 {
        match self {
            Self::Design(wiring) => wiring.devices(),
            Self::Imported(fabric) => fabric.devices.len() as u32,
        }
    }

    /// Routing.
    pub fn routing(self) -> Routing {
        match self {
            Self::Design(wiring) => wiring.topology.design.routing,
            Self::Imported(fabric) => fabric.setting.routing,
        }
    }

    /// Tests whether another hash seed changes routes: hashed routing, or static routing around failed parts.
    pub fn is_hashed(self) -> bool {
        let reroutes = self.routing() == Routing::Static && !self.failed().is_empty();
        self.routing().is_hashed() || reroutes
    }

    /// Tests whether an all-to-all sums the routes of its pairs one by one. The only exception are the pooled
    /// links of a whole sprayed tree.
    pub(super) fn lists_pairs(self) -> bool {
        match self {
            Self::Design(wiring) => {
                let design = &wiring.topology.design;
                !(design.pools_links() && wiring.failed.is_empty())
            }
            Self::Imported(_) => true,
        }
    }

    pub(super) fn domain(self) -> u64 {
        match self {
            Self::Design(wiring) => wiring.topology.design.domain.size,
            Self::Imported(fabric) => fabric.domain,
        }
    }

    /// Devices that the closed form treats as one scale-up domain. On a torus, whose links are those of the
    /// domain, all of a pod.
    pub(super) fn closed_domain(self, cluster: &Cluster) -> u64 {
        match self {
            Self::Design(wiring) if is_torus_law(cluster, wiring) => cluster.scale_up.domain_size,
            _ => self.domain(),
        }
    }

    /// Its name.
    pub fn name(self) -> String {
        match self {
            Self::Design(wiring) => wiring.topology.design.name.clone(),
            Self::Imported(fabric) => fabric.name.clone(),
        }
    }

    pub(crate) fn failed(self) -> Vec<String> {
        match self {
            Self::Design(wiring) => wiring.failed.iter().map(|part| part.name()).collect(),
            Self::Imported(_) => Vec::new(),
        }
    }

    /// Its links and routes.
    pub(crate) fn links(self) -> &'a dyn Links {
        match self {
            Self::Design(wiring) => wiring,
            Self::Imported(fabric) => fabric,
        }
    }

    /// The design, or what is known of one: the devices of a fabric from a file with their domains and ports.
    pub(crate) fn frame(self) -> Result<Design, Problem> {
        match self {
            Self::Design(wiring) => Ok(wiring.topology.design.clone()),
            Self::Imported(fabric) => fabric.frame(),
        }
    }

    /// Tests whether collectives on the network of a cluster have the law of a torus.
    pub(crate) fn is_torus_law(self, cluster: &Cluster) -> bool {
        matches!(self, Self::Design(wiring) if is_torus_law(cluster, wiring))
    }

    /// Returns an error if ranks have no device, or a device that is cut off.
    pub(crate) fn check_placement(self, ranks: u64, seats: Option<&RankPlacement>) -> Result<(), Problem> {
        let ranks = u32::try_from(ranks).unwrap_or(u32::MAX);
        let fabric = match self {
            Self::Design(wiring) => return wiring.check_placement(ranks, seats),
            Self::Imported(fabric) => fabric,
        };
        let ranks = seats.map_or(ranks, |seats| ranks.max(seats.last() + 1));
        let devices = fabric.devices.len() as u32;
        if ranks <= devices {
            return Ok(());
        }
        let more = match fabric.left_out.len() as u64 {
            0 => String::new(),
            hosts => {
                let hosts = human::several(hosts, "host");
                format!("; {hosts} without exactly {} devices are ignored", fabric.domain)
            }
        };
        Err(too_few_devices(ranks, devices, "fabric")
            .in_file(fabric.name.clone())
            .hint(format!("use at most {devices} devices{more}")))
    }

    /// The same with its hash seed increased by a number, on which `then` continues.
    pub(crate) fn redrawn<T>(
        self,
        draw: u32,
        then: impl FnOnce(Network<'_>) -> Result<T, Problem>,
    ) -> Result<T, Problem> {
        match self {
            _ if draw == 0 => then(self),
            Self::Design(wiring) => then(Network::Design(&wiring.redrawn(draw))),
            Self::Imported(fabric) => then(Network::Imported(&fabric.redrawn(draw))),
        }
    }

    pub(super) fn stranded(self) -> Vec<u32> {
        match self {
            Self::Design(wiring) => wiring.stranded(),
            Self::Imported(_) => Vec::new(),
        }
    }

    /// The cluster with the ports of this network and without oversubscription.
    pub(crate) fn unblocked(self, cluster: &Cluster) -> Result<Cluster, Problem> {
        let fabric = match self {
            Self::Design(wiring) => return Ok(flows::unblocked(cluster, wiring)),
            Self::Imported(fabric) => fabric,
        };
        let own = cluster.scale_up.domain_size;
        if fabric.domain != own {
            return Err(Problem::new(format!(
                "hosts of the fabric have {} devices, but scale-up domains of the cluster {own}",
                fabric.domain
            ))
            .in_file("--cluster")
            .hint("choose a cluster with such domains, or a cluster file with `scale_up.domain`"));
        }
        let mut free = cluster.clone();
        for tier in &mut free.network.tiers {
            tier.oversubscription = 1.0;
        }
        free.network.bandwidth = fabric.nic_bandwidth;
        Ok(free)
    }

    /// Bandwidth time of concurrent groups relative to that at their own ports, and the load of links.
    pub(super) fn slowdown(
        self,
        exchange: &Exchange,
        groups: &[Vec<u32>],
        draw: u32,
    ) -> Result<(f64, Vec<LayerLoad>), Problem> {
        let fabric = match self {
            Self::Design(wiring) => return on_design(wiring, exchange, groups, draw),
            Self::Imported(fabric) => fabric,
        };
        let edges: Vec<Vec<Edge>> =
            groups.iter().map(|group| edges(exchange, group, fabric.domain)).collect();
        let shared = shared_time(fabric, &edges, draw)?;
        Ok((shared.slowdown, shared.layers))
    }

    /// Ports of a torus relative to those in its closed form; 1 for other networks.
    pub(super) fn beyond_ports(
        self,
        cluster: &Cluster,
        plain: &Fabric,
        (operation, exchange): (Collective, &Exchange),
        (group, groups): (&Group, &[Vec<u32>]),
    ) -> f64 {
        match self {
            Self::Design(wiring) if is_torus_law(cluster, wiring) => {
                let class = Class::of_groups(exchange, groups.iter().cloned(), &wiring.topology.design);
                torus_ratio(plain, operation, group, (exchange.bytes, class.ideal))
            }
            _ => 1.0,
        }
    }
}

fn edges(exchange: &Exchange, group: &[u32], domain: u64) -> Vec<Edge> {
    let mut edges = Vec::new();
    exchange.flows(group, domain, &mut |from, to, bytes| edges.push(Edge { from, to, bytes }));
    edges
}

fn on_design(
    wiring: &Wiring,
    exchange: &Exchange,
    groups: &[Vec<u32>],
    draw: u32,
) -> Result<(f64, Vec<LayerLoad>), Problem> {
    let redrawn = if draw > 0 { Some(wiring.redrawn(draw)) } else { None };
    let wiring = redrawn.as_ref().unwrap_or(wiring);
    let class = Class::of_groups(exchange, groups.iter().cloned(), &wiring.topology.design);
    let together = class_time(wiring, std::slice::from_ref(&class))?;
    let slowdown = together.exchanges.first().map_or(1.0, |exchange| exchange.slowdown);
    Ok((slowdown, together.layers))
}
