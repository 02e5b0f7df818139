//! A collective on a fabric from a file.
//!
//! Responsible for: the time of groups that start together, each as one flow with the loads of all its pairs
//! (as in [`crate::simulate`]), and the places of links in reports. Independent of the operation: pairs are
//! the input.

use super::fabric::Imported;
use crate::flow::program::Phases;
use crate::flow::{Flow, LinkPath, Wires, simulate};
use crate::simulate::{Edge, LayerLoad, Links, Placed, Ports, ideal, loads};
use railwright_spec::problem::Problem;

/// Groups that start together.
#[derive(Clone, Debug, PartialEq)]
pub struct Shared {
    /// Time until the slowest group ends over the time at the devices' own ports.
    pub slowdown: f64,
    /// Load of links.
    pub layers: Vec<LayerLoad>,
}

/// Groups as flows: bytes per second on each link at the rate of the devices' own ports.
struct Groups {
    capacities: Vec<f64>,
    loads: Vec<Vec<(u32, f64)>>,
}

impl Wires for Groups {
    fn capacities(&self) -> Vec<f64> {
        self.capacities.clone()
    }

    fn route(&self, flow: &Flow, route: &mut Vec<(u32, f64)>) -> f64 {
        route.extend_from_slice(self.loads.get(flow.from as usize).map_or(&[][..], Vec::as_slice));
        0.0
    }
}

/// Time of groups of pairs that start together, with the hashes of a draw. Fails if a pair is disconnected.
pub fn shared_time(fabric: &Imported, groups: &[Vec<Edge>], draw: u32) -> Result<Shared, Problem> {
    let ports = Ports {
        domain: u32::try_from(fabric.domain).unwrap_or(u32::MAX),
        inside: fabric.domain_bandwidth.get(),
        across: fabric.nic_bandwidth.get(),
    };
    let least = groups.iter().map(|edges| ideal(edges, &ports)).fold(0.0, f64::max);
    if least <= 0.0 {
        return Ok(Shared { slowdown: 1.0, layers: Vec::new() });
    }
    let capacities = Links::capacities(fabric);
    let mut routes = Vec::with_capacity(groups.len());
    for edges in groups {
        let mut sums = vec![0.0; capacities.len()];
        // Pairs of one destination are consecutive, so that its distances are computed once.
        let mut edges = edges.clone();
        edges.sort_by_key(|edge| (edge.to, edge.from));
        for edge in edges {
            let link_path = fabric
                .link_path(edge.from, edge.to, u64::from(draw))
                .ok_or_else(|| fabric.apart(edge.from, edge.to))?;
            for (link, share) in link_path.links {
                if let Some(sum) = sums.get_mut(link as usize) {
                    *sum += edge.bytes / least * share;
                }
            }
        }
        let loaded = sums.into_iter().enumerate().filter(|(_, load)| *load > 0.0);
        routes.push(loaded.map(|(link, load)| (link as u32, load)).collect());
    }
    let own = Groups { capacities, loads: routes };
    let flows = (0..groups.len() as u32).map(|n| Flow { from: n, to: n, bytes: least, tag: u64::from(n) });
    let outcome = simulate(&own, &mut Phases::new([flows.collect()]))?;
    Ok(Shared {
        slowdown: outcome.duration.get() / least,
        layers: loads(fabric, &outcome.carried, outcome.duration),
    })
}

impl Imported {
    /// The error for two disconnected devices.
    pub(super) fn apart(&self, from: u32, to: u32) -> Problem {
        let name = |device: u32| self.devices.get(device as usize).map_or("", String::as_str);
        Problem::new(format!(
            "ranks {from} (`{}`) and {to} (`{}`) have no route between them",
            railwright_spec::human::shorten(name(from)),
            railwright_spec::human::shorten(name(to))
        ))
        .in_file(self.name.clone())
    }
}

impl Links for Imported {
    fn capacities(&self) -> Vec<f64> {
        self.links.iter().map(|link| link.capacity).collect()
    }

    fn link_path(&self, from: u32, to: u32) -> Option<LinkPath> {
        Self::link_path(self, from, to, 0)
    }

    fn apart(&self, from: u32, to: u32) -> Problem {
        Self::apart(self, from, to)
    }

    fn place(&self, link: u32) -> Option<Placed> {
        let link = self.links.get(link as usize)?;
        let is_device = |node: u32| (node as usize) < self.devices.len();
        let (order, layer) =
            match (link.from.max(link.to) >= self.switches_end, is_device(link.from) || is_device(link.to)) {
                (true, _) => (0, "scale-up"),
                (false, true) => (1, "access"),
                (false, false) => (2, "switch to switch"),
            };
        Some(Placed { order, layer, cables: 1 })
    }

    fn link_name(&self, link: u32) -> String {
        let name = |node: u32| self.names.get(node as usize).map_or("", String::as_str);
        self.links
            .get(link as usize)
            .map_or_else(String::new, |link| format!("{} to {}", name(link.from), name(link.to)))
    }
}
