//! All-to-all of a large group on a tree with pooled links, without a loop over pairs.
//!
//! Responsible for: the sums on links over the routes of all pairs, from the numbers of members below each
//! leaf and in each pod. Excludes routes that differ between pairs (hashes, broken parts, rails of several
//! positions): those are summed pair by pair.
//!
//! A message between pods passes `NIC, leaf, pod, core, pod, leaf, NIC`, and between zones also top switches.
//! The load of each of these depends only on the number of members beyond it. O(members), while pairs are
//! members squared.

use super::class::Block;
use super::wiring::Wiring;
use crate::topology::design::ClosNetwork;
use crate::topology::{Design, Detail, Fabric, Forwarding, LinkId, NodeId, Topology};
use std::collections::BTreeMap;

/// Attachment of a NIC in one plane: its leaf and its pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Port {
    /// Leaf of the fabric, so that separate rails never share one.
    leaf: (u64, u64),
    pod: (u64, u64),
    zone: (u64, u64),
}

struct Tree<'a> {
    topology: &'a Topology,
    design: &'a Design,
    network: &'a ClosNetwork,
    size: u64,
    forwards: bool,
}

fn tree(wiring: &Wiring) -> Option<Tree<'_>> {
    let topology = &wiring.topology;
    let design = &topology.design;
    let Fabric::Clos(network) = &design.fabric else { return None };
    let forwards = design.rails > 1 && (design.separates_rails() || design.forwarding != Forwarding::None);
    // Devices of one rail then have one position.
    let is_plain = !forwards || design.rails == design.domain.size;
    (wiring.failed.is_empty() && topology.detail == Detail::Pooled && is_plain).then_some(Tree {
        topology,
        design,
        network,
        size: design.domain.size,
        forwards,
    })
}

/// Adds the load of a block to links by `add(link, bytes)`. Adds nothing and returns false if routes do not
/// follow from counting.
pub(super) fn loads(wiring: &Wiring, block: &Block, add: &mut impl FnMut(LinkId, f64)) -> bool {
    let Some(tree) = tree(wiring) else { return false };
    let members = &block.members;
    let all = members.len() as f64;
    let mut of_domain: BTreeMap<u64, f64> = BTreeMap::new();
    let mut of_place: BTreeMap<u64, f64> = BTreeMap::new();
    for member in members {
        *of_domain.entry(u64::from(*member) / tree.size).or_default() += 1.0;
        *of_place.entry(u64::from(*member) % tree.size).or_default() += 1.0;
    }
    let by_domain = |device: u64| of_domain.get(&(device / tree.size)).copied().unwrap_or(0.0);
    let mut domain = |device: u64, up: f64, down: f64| {
        if let Some(link) = tree.topology.domain_link(device as u32) {
            add(link, up * block.bytes);
            add(link.reverse(), down * block.bytes);
        }
    };
    // Loads of each device's NIC as (device, out, in), with the weight of each message.
    if !tree.forwards {
        for member in members.iter().map(|member| u64::from(*member)) {
            let inside = by_domain(member) - 1.0;
            domain(member, inside, inside);
        }
        tree.direct(members, block.bytes, add);
        return true;
    }
    let before = tree.design.forwarding != Forwarding::After;
    let is_member = |device: u64| members.binary_search(&(device as u32)).is_ok();
    // Devices of each domain at all used positions.
    for (&number, &here) in &of_domain {
        for (&place, &there) in &of_place {
            let device = number * tree.size + place;
            let own = f64::from(u8::from(is_member(device)));
            // Own messages to other positions use the domain on one side, and so do those of others that this
            // device forwards.
            let (inside, others) = (own * (here - 1.0), own * (all - here - (there - own)));
            let handed = (here - own) * (there - own);
            let (up, down) =
                if before { (inside + others, inside + handed) } else { (inside + handed, inside + others) };
            if up > 0.0 || down > 0.0 {
                domain(device, up, down);
            }
        }
    }
    for &place in of_place.keys() {
        tree.rail(place, members, &of_domain, before, block.bytes, add);
    }
    true
}

impl Tree<'_> {
    fn port(&self, device: u64) -> Port {
        let (fabric, leaf) = self.design.leaf_of(self.network, device);
        let pod = self.network.clos.pod(leaf);
        Port { leaf: (fabric, leaf), pod: (fabric, pod), zone: (fabric, self.network.clos.zone(pod)) }
    }

    fn node(&self, device: u64, plane: u64) -> Option<NodeId> {
        self.topology.access_link(device as u32, plane).map(|link| self.topology.graph.to(link))
    }

    /// All pairs of different domains, each on its own NICs.
    fn direct(&self, members: &[u32], bytes: f64, add: &mut impl FnMut(LinkId, f64)) {
        let ports: Vec<(u64, Port)> =
            members.iter().map(|member| (u64::from(*member), self.port(u64::from(*member)))).collect();
        let mut counts = Counts::default();
        for (device, port) in &ports {
            counts.add(device / self.size, *port, 1.0);
        }
        for (device, port) in &ports {
            let beyond = counts.beyond(device / self.size, *port);
            self.on_links(*device, beyond, beyond, bytes, add);
        }
    }

    /// Messages along the rail of a position: from its device in each domain, as many as the domain has
    /// members, to each of its members in other domains. The reverse if messages are forwarded after the
    /// network.
    fn rail(
        &self,
        place: u64,
        members: &[u32],
        of_domain: &BTreeMap<u64, f64>,
        before: bool,
        bytes: f64,
        add: &mut impl FnMut(LinkId, f64),
    ) {
        let (mut gates, mut own) = (Counts::default(), Counts::default());
        for (&number, &count) in of_domain {
            gates.add(number, self.port(number * self.size + place), count);
        }
        let on_place =
            members.iter().map(|member| u64::from(*member)).filter(|member| member % self.size == place);
        for member in on_place.clone() {
            own.add(member / self.size, self.port(member), 1.0);
        }
        for (&number, &count) in of_domain {
            let device = number * self.size + place;
            let port = self.port(device);
            let sent = own.beyond(number, port).map(|n| n * count);
            let is_member = members.binary_search(&(device as u32)).is_ok();
            let received = if is_member { gates.beyond(number, port) } else { [0.0; 4] };
            let (out, into) = if before { (sent, received) } else { (received, sent) };
            self.on_links(device, out, into, bytes, add);
        }
    }

    /// Messages that leave and reach a device's NIC: in all, beyond its leaf, beyond its pod, beyond its
    /// zone.
    fn on_links(
        &self,
        device: u64,
        out: [f64; 4],
        into: [f64; 4],
        bytes: f64,
        add: &mut impl FnMut(LinkId, f64),
    ) {
        if out[0] <= 0.0 && into[0] <= 0.0 {
            return;
        }
        let Some(host) = self.topology.host_link(device as u32) else { return };
        add(host, out[0] * bytes);
        add(host.reverse(), into[0] * bytes);
        let share = bytes / self.design.planes as f64;
        for plane in 0..self.design.planes {
            let Some(access) = self.topology.access_link(device as u32, plane) else { continue };
            add(access, out[0] * share);
            add(access.reverse(), into[0] * share);
            let Some(mut node) = self.node(device, plane) else { continue };
            for (out, into) in out.iter().zip(into).skip(1) {
                let Some(up) = self.above(node) else { break };
                add(up, out * share);
                add(up.reverse(), into * share);
                node = self.topology.graph.to(up);
            }
        }
    }

    /// The pooled link upwards: cables are laid upwards, so its number is even.
    fn above(&self, node: NodeId) -> Option<LinkId> {
        use crate::topology::Layer::{CoreTop, LeafSpine, SpineCore};
        let graph = &self.topology.graph;
        graph.outgoing(node).find(|link| {
            link.0.is_multiple_of(2) && matches!(graph.class(*link).layer, LeafSpine | SpineCore | CoreTop)
        })
    }
}

/// Weights of ports: total, by domain, leaf, pod and zone.
#[derive(Default)]
struct Counts {
    all: BTreeMap<u64, f64>,
    domains: BTreeMap<u64, f64>,
    leaves: BTreeMap<(u64, u64), f64>,
    pods: BTreeMap<(u64, u64), f64>,
    zones: BTreeMap<(u64, u64), f64>,
    of_leaf: BTreeMap<((u64, u64), u64), f64>,
    of_pod: BTreeMap<((u64, u64), u64), f64>,
    of_zone: BTreeMap<((u64, u64), u64), f64>,
}

impl Counts {
    fn add(&mut self, domain: u64, port: Port, weight: f64) {
        *self.all.entry(0).or_default() += weight;
        *self.domains.entry(domain).or_default() += weight;
        *self.leaves.entry(port.leaf).or_default() += weight;
        *self.pods.entry(port.pod).or_default() += weight;
        *self.zones.entry(port.zone).or_default() += weight;
        *self.of_zone.entry((port.zone, domain)).or_default() += weight;
        *self.of_leaf.entry((port.leaf, domain)).or_default() += weight;
        *self.of_pod.entry((port.pod, domain)).or_default() += weight;
    }

    /// Weight in other domains: in all, below other leaves, in other pods, in other zones.
    fn beyond(&self, domain: u64, port: Port) -> [f64; 4] {
        let get = |known: Option<&f64>| known.copied().unwrap_or(0.0);
        let away = get(self.all.get(&0)) - get(self.domains.get(&domain));
        let same_leaf = get(self.leaves.get(&port.leaf)) - get(self.of_leaf.get(&(port.leaf, domain)));
        let same_pod = get(self.pods.get(&port.pod)) - get(self.of_pod.get(&(port.pod, domain)));
        let same_zone = get(self.zones.get(&port.zone)) - get(self.of_zone.get(&(port.zone, domain)));
        [away, away - same_leaf, away - same_pod, away - same_zone]
    }
}
