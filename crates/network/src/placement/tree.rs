//! Parts of a network that share switches: leaf groups and pods.
//!
//! Responsible for: the position of each device, hosts by the fragments of a scheduler, and the weight of a
//! byte above each level. A *leaf group* is the domains whose first device is below one leaf or router; a
//! *pod* is that of a Clos, or a group of a dragonfly. Networks without such levels (torus, one domain) have
//! none.

use super::{Host, Inventory};
use crate::topology::{Fabric, Node, Topology};
use railwright_spec::human;
use railwright_spec::problem::Problem;
use std::collections::BTreeMap;

/// Position of a device in the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Spot {
    /// The pod, or 0 if the network has only one.
    pub pod: u32,
    /// The leaf group.
    pub leaf: u32,
    /// The scale-up domain.
    pub domain: u32,
}

/// Leaf groups and pods of a network.
#[derive(Clone, Debug, PartialEq)]
pub struct Tree {
    /// Positions by domain.
    spots: Vec<Spot>,
    domain: u32,
    /// Bandwidth below a leaf, and below a spine, over that above.
    pub oversubscription: [f64; 2],
}

impl Tree {
    /// The tree of a network; `None` if devices share no switches that are parts of it.
    pub fn new(topology: &Topology) -> Option<Self> {
        let design = &topology.design;
        let size = u32::try_from(design.domain.size.max(1)).unwrap_or(u32::MAX);
        let devices = topology.graph.devices();
        let spots: Option<Vec<Spot>> = (0..devices.div_ceil(size))
            .map(|domain| {
                let access = topology.access_link(domain * size, 0)?;
                match topology.graph.node(topology.graph.to(access)) {
                    Node::Switch(leaf) => Some(Spot { pod: leaf.pod.unwrap_or(0), leaf: leaf.index, domain }),
                    _ => None,
                }
            })
            .collect();
        Some(Self { spots: spots?, domain: size, oversubscription: oversubscription(&design.fabric) })
    }

    /// Position of a device in the tree.
    pub fn spot(&self, device: u32) -> Spot {
        self.spots.get((device / self.domain) as usize).copied().unwrap_or(Spot {
            pod: 0,
            leaf: 0,
            domain: 0,
        })
    }

    /// Pods.
    pub fn pods(&self) -> usize {
        distinct(self.spots.iter().map(|spot| spot.pod))
    }

    /// The fewest parts with this number of domains.
    pub(super) fn fewest(&self, domains: u64, part: impl Fn(&Spot) -> u32) -> u64 {
        let mut sizes: BTreeMap<u32, u64> = BTreeMap::new();
        for spot in &self.spots {
            *sizes.entry(part(spot)).or_default() += 1;
        }
        let mut sizes: Vec<u64> = sizes.into_values().collect();
        sizes.sort_unstable_by(|a, b| b.cmp(a));
        let mut left = domains;
        let full = sizes.into_iter().take_while(|size| {
            let is_used = left > 0;
            left = left.saturating_sub(*size);
            is_used
        });
        full.count() as u64
    }

    /// Weight of a byte between two positions: 0 inside a domain, 1 for the links of its devices outside it,
    /// and the oversubscription of every level above.
    pub fn weight(&self, a: Spot, b: Spot) -> f64 {
        let [leaf, spine] = self.oversubscription;
        match (a.pod == b.pod, a.leaf == b.leaf) {
            (false, _) => 1.0 + leaf + spine,
            (true, false) => 1.0 + leaf,
            (true, true) => f64::from(u8::from(a.domain != b.domain)),
        }
    }

    /// The first hosts of each pod, as many as its entry in a list; of each leaf group if the network has one
    /// pod.
    pub fn fragments(&self, counts: &[u32], inventory: &Inventory) -> Result<Vec<Host>, Problem> {
        let by_pod = self.pods() > 1;
        let part = |place: u32| {
            let spot = self.spot(place * inventory.per_host);
            if by_pod { spot.pod } else { spot.leaf }
        };
        let mut parts: Vec<(u32, Vec<u32>)> = Vec::new();
        for place in 0..inventory.hosts() {
            match parts.iter_mut().find(|(number, _)| *number == part(place)) {
                Some((_, places)) => places.push(place),
                None => parts.push((part(place), vec![place])),
            }
        }
        let what = if by_pod { "pod" } else { "leaf group" };
        if counts.len() > parts.len() {
            let message = format!("{} fragments, but the network has {} {what}s", counts.len(), parts.len());
            return Err(Problem::new(message).hint(format!("list the hosts of each {what} in order")));
        }
        let mut hosts = Vec::new();
        for (number, (count, (_, places))) in counts.iter().zip(&parts).enumerate() {
            if *count as usize > places.len() {
                return Err(Problem::new(format!(
                    "{what} {number} has {} hosts, fewer than {count}",
                    human::whole(places.len() as u64)
                )));
            }
            for place in places.iter().take(*count as usize) {
                hosts.push(inventory.at(
                    *place,
                    format!("node{}", u64::from(*place) + u64::from(inventory.first)),
                    None,
                ));
            }
        }
        Ok(hosts)
    }
}

pub(super) fn distinct(numbers: impl Iterator<Item = u32>) -> usize {
    let mut numbers: Vec<u32> = numbers.collect();
    numbers.sort_unstable();
    numbers.dedup();
    numbers.len()
}

/// Links below over links above, of a leaf and of a spine; 1 if the network has no such tiers.
fn oversubscription(fabric: &Fabric) -> [f64; 2] {
    let Fabric::Clos(network) = fabric else { return [1.0, 1.0] };
    let clos = &network.clos;
    let ratio = |below: f64, above: u64| if above > 0 && below > 0.0 { below / above as f64 } else { 1.0 };
    let below_leaf = clos.hosts_per_leaf as f64 / network.hosts_per_port.max(1) as f64;
    let below_spine = (clos.leaves_per_pod * clos.leaf_uplinks) as f64 / clos.spines_per_pod.max(1) as f64;
    [ratio(below_leaf, clos.leaf_uplinks), ratio(below_spine, clos.spine_uplinks)]
}
