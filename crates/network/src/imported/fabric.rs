//! A fabric from a file, with scale-up domains and numbered devices.
//!
//! Responsible for: the order of devices, the domains formed by their hosts, and links with capacities. Does
//! not compute routes ([`super::routes`]).
//!
//! Devices are numbered by host and name, digits by their value (`node2` before `node10`), or in the order of
//! the file if it has no hosts. A scale-up domain is a host. Hosts with an unusual number of devices are
//! excluded and listed.

use super::distances::Distances;
use super::drawing::{Drawing, DrawnNode, What, at};
use crate::topology::{Design, DesignSpec, Kind, Routing};
use railwright_spec::human::shorten;
use railwright_spec::problem::Problem;
use railwright_spec::quantity::{BytesPerSecond, Seconds};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// Maximum number of devices: every destination needs its distances.
const MOST_DEVICES: usize = 65_536;

/// Routing of messages.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RouteSetting {
    /// `ecmp` or `spray` over the shortest paths.
    pub routing: Routing,
    /// Seed of the hash.
    pub seed: u64,
    /// Paths of a connection with `ecmp`: NCCL has 2 channels per peer (`NCCL_NCHANNELS_PER_NET_PEER`), each
    /// with one queue pair.
    pub paths: u32,
}

/// Values for properties that a file does not contain.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Surroundings {
    /// Devices of a scale-up domain, if no node has a host.
    pub domain: u64,
    /// Bandwidth of a device into its domain, one direction.
    pub domain_bandwidth: BytesPerSecond,
    /// Latency of cables without one.
    pub latency: Seconds,
}

/// A directed link; the cable of link `n` has the numbers `n` and `n ^ 1`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Link {
    pub(super) from: u32,
    pub(super) to: u32,
    pub(super) capacity: f64,
    pub(super) latency: f64,
}

/// A fabric from a file.
#[derive(Clone, Debug)]
pub struct Imported {
    /// Name of the file.
    pub name: String,
    /// Names of devices by number.
    pub devices: Vec<String>,
    /// Devices of a scale-up domain.
    pub domain: u64,
    /// Hosts excluded because of an unusual number of devices.
    pub left_out: Vec<String>,
    /// Bandwidth of a device into the network, over all of its cables: that of the fastest device.
    pub nic_bandwidth: BytesPerSecond,
    /// Bandwidth of a device into its domain.
    pub domain_bandwidth: BytesPerSecond,
    /// Routing.
    pub setting: RouteSetting,
    /// Names of all nodes: devices, switches, domains.
    pub(super) names: Vec<String>,
    pub(super) links: Vec<Link>,
    /// Links that start at node `n` are `outgoing[starts[n]..starts[n + 1]]`.
    starts: Vec<u32>,
    outgoing: Vec<u32>,
    /// Switches are the nodes from the devices on up to here.
    pub(super) switches_end: u32,
    /// First link of the domains: device `n` has the links `first + 2 n` and `first + 2 n + 1`.
    pub(super) domain_links: Option<u32>,
    /// Independent of the hash seed.
    pub(super) known: Arc<Mutex<Distances>>,
}

impl Imported {
    /// Builds a fabric from a drawing.
    pub fn new(
        drawing: &Drawing,
        file: &str,
        surroundings: &Surroundings,
        setting: RouteSetting,
    ) -> Result<Self, Problem> {
        if !matches!(setting.routing, Routing::Ecmp | Routing::Spray) {
            return Err(Problem::new(format!(
                "a fabric from a file has no {} routing",
                setting.routing.name()
            ))
            .in_file("--routing")
            .hint("use `ecmp` or `spray`"));
        }
        if let Some(node) = drawing.nodes.iter().find(|node| node.what.is_none()) {
            let problem = Problem::new(format!("the node `{}` has no type", shorten(&node.name)));
            return Err(at(file, node.line, problem.hint("set `type` to `device` or `switch`")));
        }
        let (order, domain, left_out) = order(drawing, file, surroundings.domain)?;
        if order.is_empty() || order.len() > MOST_DEVICES {
            let problem =
                Problem::new(format!("{} devices, but a fabric has 1 to {MOST_DEVICES}", order.len()));
            return Err(problem.in_file(file));
        }
        let mut number: Vec<Option<u32>> = vec![None; drawing.nodes.len()];
        let mut names = Vec::new();
        let of_type = |what| {
            (0..drawing.nodes.len())
                .filter(move |n| drawing.nodes.get(*n).is_some_and(|node| node.what == Some(what)))
        };
        let devices = order.len() as u32;
        for node in order.into_iter().chain(of_type(What::Switch)) {
            if let (Some(number), Some(drawn)) = (number.get_mut(node), drawing.nodes.get(node)) {
                *number = Some(names.len() as u32);
                names.push(drawn.name.clone());
            }
        }
        let switches_end = names.len() as u32;
        let mut links = Vec::new();
        for cable in &drawing.cables {
            let end =
                |n: usize| cable.ends.get(n).and_then(|end| number.get(*end as usize).copied().flatten());
            let (Some(a), Some(b)) = (end(0), end(1)) else { continue };
            let Some(bandwidth) = cable.bandwidth else {
                let problem = Problem::new("a cable has no bandwidth");
                return Err(at(file, cable.line, problem.hint("set `bandwidth`, such as `400 Gbit/s`")));
            };
            let latency = cable.latency.unwrap_or(surroundings.latency).get();
            let link = Link { from: a, to: b, capacity: bandwidth.get(), latency };
            links.extend([link, Link { from: b, to: a, ..link }]);
        }
        let mut of_device = vec![0.0; devices as usize];
        for link in &links {
            if let Some(sum) = of_device.get_mut(link.from as usize) {
                *sum += link.capacity;
            }
        }
        if let Some(alone) =
            of_device.iter().position(|sum| *sum <= 0.0).filter(|_| domain < u64::from(devices))
        {
            let name = names.get(alone).map(|name| shorten(name)).unwrap_or_default();
            return Err(Problem::new(format!("the device `{name}` has no cable")).in_file(file));
        }
        let nic = of_device.into_iter().fold(0.0, f64::max);
        let domain_links = (domain > 1).then_some(links.len() as u32);
        if domain > 1 {
            for device in 0..devices {
                let node = switches_end + device / domain as u32;
                let capacity = surroundings.domain_bandwidth.get();
                let link = Link { from: device, to: node, capacity, latency: 0.0 };
                links.extend([link, Link { from: node, to: device, ..link }]);
            }
            let domains = u64::from(devices).div_ceil(domain);
            names.extend((0..domains).map(|domain| format!("domain {domain}")));
        }
        let (starts, outgoing) = index(names.len(), &links);
        Ok(Self {
            name: file.rsplit(['/', '\\']).next().unwrap_or(file).to_owned(),
            devices: names.iter().take(devices as usize).cloned().collect(),
            domain,
            left_out,
            nic_bandwidth: BytesPerSecond::new(nic),
            domain_bandwidth: surroundings.domain_bandwidth,
            setting,
            names,
            links,
            starts,
            outgoing,
            switches_end,
            domain_links,
            known: Arc::default(),
        })
    }

    /// The same with its hash seed increased by a number.
    #[must_use]
    pub fn redrawn(&self, draw: u32) -> Self {
        let seed = self.setting.seed.wrapping_add(u64::from(draw));
        Self { setting: RouteSetting { seed, ..self.setting }, ..self.clone() }
    }

    /// The devices, their domains and their ports as a design of which only these are known: it has no
    /// switches and no routes.
    pub fn frame(&self) -> Result<Design, Problem> {
        let spec = DesignSpec {
            name: Some(self.name.clone()),
            kind: Some(Kind::ScaleUp),
            devices: Some(self.devices.len() as u64),
            domain_bandwidth: Some(self.domain_bandwidth),
            ..DesignSpec::default()
        };
        let mut design = spec.resolve()?;
        design.domain.size = self.domain.max(1);
        design.nic_bandwidth = self.nic_bandwidth;
        design.routing = self.setting.routing;
        design.seed = self.setting.seed;
        Ok(design)
    }

    /// Links that start at a node.
    pub(super) fn outgoing(&self, node: u32) -> impl Iterator<Item = (u32, Link)> + '_ {
        let range = self.starts.get(node as usize).zip(self.starts.get(node as usize + 1));
        let own =
            range.and_then(|(from, to)| self.outgoing.get(*from as usize..*to as usize)).unwrap_or_default();
        own.iter().filter_map(|link| self.links.get(*link as usize).map(|found| (*link, *found)))
    }

    /// Tests whether a node is a switch.
    pub(super) fn is_switch(&self, node: u32) -> bool {
        (self.devices.len() as u32..self.switches_end).contains(&node)
    }
}

/// Links by the node at which they start.
fn index(nodes: usize, links: &[Link]) -> (Vec<u32>, Vec<u32>) {
    let mut by_node: Vec<(u32, u32)> =
        links.iter().enumerate().map(|(n, link)| (link.from, n as u32)).collect();
    by_node.sort_unstable();
    let starts = (0..=nodes as u32).map(|node| by_node.partition_point(|(from, _)| *from < node) as u32);
    (starts.collect(), by_node.iter().map(|(_, link)| *link).collect())
}

/// Devices in order, those of a domain, and the hosts that are left out.
type Order = (Vec<usize>, u64, Vec<String>);

fn order(drawing: &Drawing, file: &str, domain: u64) -> Result<Order, Problem> {
    let is_device = |node: &DrawnNode| node.what == Some(What::Device);
    let devices: Vec<usize> =
        (0..drawing.nodes.len()).filter(|n| drawing.nodes.get(*n).is_some_and(is_device)).collect();
    let mut hosts: BTreeMap<Vec<Piece<'_>>, Vec<(Vec<Piece<'_>>, usize)>> = BTreeMap::new();
    let mut without = None;
    for &device in &devices {
        let Some(node) = drawing.nodes.get(device) else { continue };
        match &node.host {
            Some(host) => hosts.entry(natural(host)).or_default().push((natural(&node.name), device)),
            None => without = Some(node),
        }
    }
    if hosts.is_empty() {
        return Ok((devices, domain.max(1), Vec::new()));
    }
    if let Some(node) = without {
        let problem =
            Problem::new(format!("the device `{}` has no host, but others do", shorten(&node.name)));
        return Err(at(file, node.line, problem));
    }
    let mut sizes: BTreeMap<usize, usize> = BTreeMap::new();
    for own in hosts.values() {
        *sizes.entry(own.len()).or_default() += 1;
    }
    let usual = sizes.iter().max_by_key(|(size, hosts)| (**hosts, **size)).map_or(1, |(size, _)| *size);
    let (mut order, mut left_out) = (Vec::new(), Vec::new());
    for own in hosts.values_mut() {
        if own.len() == usual {
            own.sort();
            order.extend(own.iter().map(|(_, device)| *device));
        } else if let Some((_, device)) = own.first() {
            left_out.extend(drawing.nodes.get(*device).and_then(|node| node.host.clone()));
        }
    }
    Ok((order, usual as u64, left_out))
}

/// A part of a name: numbers compare by value.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Piece<'a> {
    Number(u128, &'a str),
    Text(&'a str),
}

fn natural(name: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut rest = name;
    while let Some(first) = rest.chars().next() {
        let is_number = first.is_ascii_digit();
        let end = rest.find(|c: char| c.is_ascii_digit() != is_number).unwrap_or(rest.len());
        let (piece, after) = rest.split_at(end);
        pieces.push(match piece.parse() {
            Ok(number) if is_number => Piece::Number(number, piece),
            _ => Piece::Text(piece),
        });
        rest = after;
    }
    pieces
}
