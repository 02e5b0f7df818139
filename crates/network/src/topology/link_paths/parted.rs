//! Sprayed routes through a folded Clos whose switches are pooled by class.
//!
//! Responsible for: the links from leaf to leaf with their shares, without failures: each switch spreads its input evenly over its cables.
//! Does not avoid broken links; detours do.

use super::super::build::Topology;
use super::super::graph::{LinkId, Node, NodeId, Switch};
use super::super::route::Route;
use std::ops::Range;

/// Links of a layer with their shares, and the shares that arrive at the next nodes.
type Shares = Vec<(LinkId, f64)>;

pub(super) fn route(
    topology: &Topology,
    planes: Range<u64>,
    (from, to): (u64, u64),
    route: &mut Route,
) -> Option<()> {
    let graph = &topology.graph;
    let share = 1.0 / (planes.end - planes.start) as f64;
    let mut layers: [Shares; 4] = Default::default();
    for plane in planes {
        let first = graph.to(topology.access_link(from as u32, plane)?);
        let last = graph.to(topology.access_link(to as u32, plane)?);
        if first == last {
            continue;
        }
        let (here, there) = (switch(topology, first)?.pod, switch(topology, last)?.pod);
        let up = spread(topology, &[(first, share)], |node| node.tier == 2);
        let mut at = behind(topology, &up);
        layers[0].extend(up);
        if here != there {
            let climbing = spread(topology, &at, |node| node.tier == 3);
            at = behind(topology, &climbing);
            layers[1].extend(climbing);
            let falling = spread(topology, &at, |node| node.tier == 2 && node.pod == there);
            at = behind(topology, &falling);
            layers[2].extend(falling);
        }
        let leaf = switch(topology, last)?;
        layers[3].extend(spread(topology, &at, |node| node.tier == 1 && node.index == leaf.index));
    }
    for layer in layers.into_iter().filter(|layer| !layer.is_empty()) {
        route.side_by_side(layer);
    }
    Some(())
}

fn switch(topology: &Topology, node: NodeId) -> Option<Switch> {
    match topology.graph.node(node) {
        Node::Switch(switch) => Some(switch),
        _ => None,
    }
}

/// Distributes the amounts at some nodes over their links to nodes of one kind, in proportion to link capacity.
fn spread(topology: &Topology, at: &[(NodeId, f64)], is_meant: impl Fn(&Switch) -> bool) -> Shares {
    let graph = &topology.graph;
    let mut shares = Vec::new();
    for &(node, amount) in at {
        let first = shares.len();
        let mut sum = 0.0;
        for link in graph.outgoing(node) {
            if switch(topology, graph.to(link)).is_some_and(|switch| is_meant(&switch)) {
                let capacity = graph.capacity(link).get();
                sum += capacity;
                shares.push((link, amount * capacity));
            }
        }
        for (_, share) in &mut shares[first..] {
            *share /= sum;
        }
    }
    shares
}

/// Sums the amounts that arrive at each node.
fn behind(topology: &Topology, shares: &[(LinkId, f64)]) -> Vec<(NodeId, f64)> {
    let mut sums: Vec<(NodeId, f64)> = Vec::new();
    for &(link, share) in shares {
        let node = topology.graph.to(link);
        match sums.iter_mut().find(|known| known.0 == node) {
            Some(known) => known.1 += share,
            None => sums.push((node, share)),
        }
    }
    sums
}
