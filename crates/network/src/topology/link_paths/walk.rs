//! Routes through a folded Clos found by walking its graph from switch to switch.
//!
//! Responsible for: the links from leaf to leaf, sprayed (each switch spreads its input over its cables) or
//! by hash, where a link's number does not follow from arithmetic: switches pooled by class, and the tiers
//! below top switches; and hashed routes past broken links.

use super::super::build::Topology;
use super::super::graph::{LinkId, Node, NodeId, Switch};
use super::super::hash::Choices;
use super::super::route::Route;
use std::ops::Range;

/// Links of a layer with their shares, and the shares that arrive at the next nodes.
type Shares = Vec<(LinkId, f64)>;

/// The switches that continue a route.
#[derive(Clone, Copy)]
struct Next {
    tier: u8,
    /// On the way down, those of the receiver.
    below: Option<Switch>,
}

impl Next {
    fn is_met_by(self, switch: &Switch) -> bool {
        let is_on_way = self.below.is_none_or(|leaf| match self.tier {
            1 => switch.index == leaf.index,
            2 => switch.pod == leaf.pod,
            _ => switch.zone == leaf.zone,
        });
        switch.tier == self.tier && is_on_way
    }
}

/// Up to the lowest tier that joins two leaves, and down to the second.
fn steps(first: Switch, last: Switch) -> Vec<Next> {
    let turn = match (first.pod == last.pod, first.zone == last.zone) {
        (true, _) => 2,
        (false, true) => 3,
        (false, false) => 4,
    };
    let up = (2..=turn).map(|tier| Next { tier, below: None });
    let down = (1..turn).rev().map(|tier| Next { tier, below: Some(last) });
    up.chain(down).collect()
}

/// The leaves of both ends in a plane, and the steps between them; no step if they share one.
fn between(topology: &Topology, plane: u64, (from, to): (u64, u64)) -> Option<(NodeId, Vec<Next>)> {
    let first = topology.graph.to(topology.access_link(from as u32, plane)?);
    let last = topology.graph.to(topology.access_link(to as u32, plane)?);
    let steps =
        if first == last { Vec::new() } else { steps(switch(topology, first)?, switch(topology, last)?) };
    Some((first, steps))
}

/// Sprayed packets over all planes.
pub(super) fn sprayed(
    topology: &Topology,
    planes: Range<u64>,
    ends: (u64, u64),
    route: &mut Route,
) -> Option<()> {
    let share = 1.0 / (planes.end - planes.start) as f64;
    let mut layers: Vec<Shares> = Vec::new();
    for plane in planes {
        let (leaf, steps) = between(topology, plane, ends)?;
        let mut at = vec![(leaf, share)];
        layers.resize_with(layers.len().max(steps.len()), Vec::new);
        for (layer, next) in layers.iter_mut().zip(steps) {
            let shares = spread(topology, &at, |switch| next.is_met_by(switch));
            at = behind(topology, &shares);
            layer.extend(shares);
        }
    }
    for layer in layers {
        route.side_by_side(layer);
    }
    Some(())
}

/// One route by hash: every switch draws one of its links onwards.
pub(super) fn drawn(
    topology: &Topology,
    plane: u64,
    ends: (u64, u64),
    choices: &mut Choices,
    route: &mut Route,
) -> Option<()> {
    let (mut node, steps) = between(topology, plane, ends)?;
    for next in steps {
        let graph = &topology.graph;
        let onwards = || {
            graph.outgoing(node).filter(|link| {
                switch(topology, graph.to(*link)).is_some_and(|switch| next.is_met_by(&switch))
            })
        };
        let link = onwards().nth(choices.below(onwards().count() as u64) as usize)?;
        route.push(link);
        node = graph.to(link);
    }
    Some(())
}

/// A hashed route past broken links, in the plane and between the devices of `message`: every switch keeps
/// its link of the usual route if that leads on, and else draws one of those that do, with equal chances.
pub(super) fn redrawn(
    topology: &Topology,
    (plane, from, to): (u64, u64, u64),
    usual: &[LinkId],
    is_alive: &dyn Fn(LinkId) -> bool,
    choices: &mut Choices,
    route: &mut Route,
) -> Option<()> {
    let (leaf, steps) = between(topology, plane, (from, to))?;
    let mut links = Vec::with_capacity(steps.len());
    let mut onwards = Onwards { topology, usual, is_alive, choices };
    if !onwards.from(leaf, &steps, &mut links) {
        return None;
    }
    links.into_iter().rev().for_each(|link| route.push(link));
    Some(())
}

struct Onwards<'a> {
    topology: &'a Topology,
    usual: &'a [LinkId],
    is_alive: &'a dyn Fn(LinkId) -> bool,
    choices: &'a mut Choices,
}

impl Onwards<'_> {
    /// Adds the links from a node to the last step, last first; false if no link leads there.
    fn from(&mut self, node: NodeId, steps: &[Next], links: &mut Vec<LinkId>) -> bool {
        let Some((next, further)) = steps.split_first() else { return true };
        let graph = &self.topology.graph;
        let leads = |link: &LinkId| {
            (self.is_alive)(*link)
                && switch(self.topology, graph.to(*link)).is_some_and(|switch| next.is_met_by(&switch))
        };
        let mut left: Vec<LinkId> = graph.outgoing(node).filter(leads).collect();
        let usual = left.iter().position(|link| self.usual.contains(link));
        let mut at = usual.unwrap_or_else(|| self.choices.below(left.len() as u64) as usize);
        while at < left.len() {
            let link = left.swap_remove(at);
            if self.from(graph.to(link), further, links) {
                links.push(link);
                return true;
            }
            at = self.choices.below(left.len() as u64) as usize;
        }
        false
    }
}

fn switch(topology: &Topology, node: NodeId) -> Option<Switch> {
    match topology.graph.node(node) {
        Node::Switch(switch) => Some(switch),
        _ => None,
    }
}

/// Distributes the amounts at some nodes over their links to nodes of one kind, in proportion to link
/// capacity.
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
