//! Routes around broken parts.
//!
//! Responsible for: the route of a message whose usual route is broken. Excludes usual routes
//! (`topology::link_paths`).
//!
//! Equal routes first: every switch spreads sprayed packets evenly over its links that lead on, and hashes
//! choose among them with equal chances. No switch weighs its links by the bandwidth behind them, except with
//! adaptive routing in trees. `network failures` has the same policy (`failures::above`). Then other NICs of
//! both scale-up domains, evenly over all that work. Then the shortest route over switches
//! alone, as dragonflies and tori allow.

use super::wiring::Wiring;
use crate::flow::LinkPath;
use crate::topology::{Draw, Fabric, Hop, Layer, Node, NodeId, Route, Routing, Topology};
use std::collections::{BTreeMap, BTreeSet};

/// Draws of a port by hash before its equal routes count as gone: with one port in ten left, fewer than two
/// in a million miss it.
const DRAWS: u64 = 128;

pub(super) fn around(
    wiring: &Wiring,
    from: u32,
    to: u32,
    label: u64,
    usual: Option<&Route>,
) -> Option<LinkPath> {
    if let Some(usual) = usual {
        if let Some(route) = equal_path(wiring, from, to, label, usual) {
            return Some(route);
        }
        if let Some(link_path) = over_neighbours(wiring, from, to, label) {
            return Some(link_path);
        }
    }
    shortest(wiring, from, to, label)
}

/// Tests whether every route of a message shares a broken link: hashing and spraying cannot avoid it.
fn is_hopeless(wiring: &Wiring, usual: &Route) -> bool {
    let topology = &wiring.topology;
    usual.hops.iter().any(|hop| {
        let only = match topology.graph.class(hop.link).layer {
            Layer::ScaleUp | Layer::Host => true,
            Layer::Access => topology.design.planes == 1,
            _ => false,
        };
        only && !wiring.is_alive(hop.link)
    })
}

fn equal_path(wiring: &Wiring, from: u32, to: u32, label: u64, usual: &Route) -> Option<LinkPath> {
    if is_hopeless(wiring, usual) {
        return None;
    }
    if wiring.topology.design.routing == Routing::Valiant {
        let past = wiring.topology.route_past(from, to, label, &|link| wiring.is_alive(link))?;
        if wiring.is_whole(&past) {
            return Some(wiring.plain(&past));
        }
    }
    if wiring.topology.design.routing.is_spread() {
        return spread_anew(wiring, from, to, usual);
    }
    // Each route of the connection is hashed again where its switches lack a link; ports without an intact
    // route pass their share to the others.
    let hashed = wiring.hashed();
    let drawn = |draw: &Draw| {
        (0..=DRAWS).find_map(|again| {
            let draw = Draw { label: draw.label ^ (again << 32), ..*draw };
            let route = hashed.drawn(from, to, draw, &|link| wiring.is_alive(link))?;
            wiring.is_whole(&route).then_some(route)
        })
    };
    let routes: Vec<Route> = hashed.draws(label).iter().filter_map(drawn).collect();
    (!routes.is_empty()).then(|| wiring.plain(&Route::evenly(routes)))
}

/// The route of a message over the NICs of its endpoints, around failed parts beyond them.
pub(super) fn own_path(wiring: &Wiring, from: u32, to: u32, label: u64) -> Option<LinkPath> {
    let usual = wiring.topology.route(from, to, label)?;
    if wiring.is_whole(&usual) {
        Some(wiring.plain(&usual))
    } else {
        equal_path(wiring, from, to, label, &usual)
    }
}

/// Sprayed packets avoid broken links, and links after which all are broken: each switch spreads its input
/// over the rest. Adaptive routing in trees weighs the links to a switch by the bandwidth that leads on from
/// it, at most their own. Queues grow where less leads on, until packets avoid them.
fn spread_anew(wiring: &Wiring, from: u32, to: u32, usual: &Route) -> Option<LinkPath> {
    let graph = &wiring.topology.graph;
    let design = &wiring.topology.design;
    let is_weighed = design.routing == Routing::Adaptive && design.kind.is_clos();
    // Backwards: nodes from which an unbroken route continues, and the bandwidth of all kept links between
    // two nodes.
    let mut leads: BTreeSet<NodeId> = BTreeSet::from([NodeId(to)]);
    let mut between: BTreeMap<(NodeId, NodeId), f64> = BTreeMap::new();
    let mut kept: Vec<Hop> = Vec::with_capacity(usual.hops.len());
    for hop in usual.hops.iter().rev() {
        let ends = (graph.from(hop.link), graph.to(hop.link));
        if wiring.is_alive(hop.link) && leads.contains(&ends.1) {
            leads.insert(ends.0);
            *between.entry(ends).or_default() += graph.capacity(hop.link).get();
            kept.push(*hop);
        }
    }
    if !leads.contains(&NodeId(from)) {
        return None;
    }
    let mut behind: BTreeMap<NodeId, f64> = BTreeMap::from([(NodeId(to), f64::INFINITY)]);
    let mut leaving: BTreeMap<NodeId, f64> = BTreeMap::new();
    let weigh = |hop: Hop| {
        let (source, sink) = (graph.from(hop.link), graph.to(hop.link));
        if !matches!(graph.node(sink), Node::Switch(_)) {
            // A port of the receiver limits all routes equally.
            behind.insert(source, f64::INFINITY);
            *leaving.entry(source).or_default() += hop.share;
            return (hop, hop.share);
        }
        let all = between.get(&(source, sink)).copied().unwrap_or(f64::INFINITY);
        let onward = behind.get(&sink).copied().unwrap_or(0.0).min(all);
        let weight = graph.capacity(hop.link).get() / all * onward;
        *behind.entry(source).or_default() += weight;
        let weight = if is_weighed { weight } else { hop.share };
        *leaving.entry(source).or_default() += weight;
        (hop, weight)
    };
    let kept: Vec<(Hop, f64)> = kept.into_iter().map(weigh).collect();
    // Forwards: arrivals at a node leave it by the weights of its links.
    let mut arrived: BTreeMap<NodeId, f64> = BTreeMap::from([(NodeId(from), 1.0)]);
    let mut route = Route::default();
    for (hop, weight) in kept.iter().rev() {
        let (source, sink) = (graph.from(hop.link), graph.to(hop.link));
        let share = arrived.get(&source).copied().unwrap_or(0.0) * weight / leaving[&source];
        if share > 0.0 {
            *arrived.entry(sink).or_default() += share;
            route.hops.push(Hop { share, ..*hop });
        }
    }
    Some(wiring.plain(&route))
}

/// Over NICs of other devices in the sender's domain, and in the receiver's if rails are separate or its own
/// NIC is lost: the same share over each working pair.
fn over_neighbours(wiring: &Wiring, from: u32, to: u32, label: u64) -> Option<LinkPath> {
    let topology = &wiring.topology;
    let size = topology.design.domain.size as u32;
    let (here, there) = (from / size, to / size);
    if here == there || size < 2 {
        return None;
    }
    let works = |device: u32| nic_works(wiring, device);
    let own = |device: u32| topology.domain_link(device).is_some_and(|link| wiring.is_alive(link));
    let mut link_paths: Vec<LinkPath> = Vec::new();
    for place in 0..size {
        let near = here * size + place;
        let last = there * size + place;
        let far = if topology.design.joins_rails() && works(to) { to } else { last };
        if !works(near) || !works(far) || (near != from && !(own(near) && own(from))) {
            continue;
        }
        if far != to && !(own(far) && own(to)) {
            continue;
        }
        let Some(mut link_path) = own_path(wiring, near, far, label) else { continue };
        for (a, b) in [(from, near), (far, to)] {
            if a != b {
                through_domain(topology, a, b, &mut link_path);
            }
        }
        link_paths.push(link_path);
    }
    merged(&link_paths)
}

fn nic_works(wiring: &Wiring, device: u32) -> bool {
    let topology = &wiring.topology;
    let planes = 0..topology.design.planes;
    topology.host_link(device).is_some_and(|link| wiring.is_alive(link))
        && planes
            .into_iter()
            .any(|plane| topology.access_link(device, plane).is_some_and(|link| wiring.is_alive(link)))
}

pub(super) fn through_domain(topology: &Topology, from: u32, to: u32, link_path: &mut LinkPath) {
    if let (Some(up), Some(down)) = (topology.domain_link(from), topology.domain_link(to)) {
        link_path.links.extend([(up.0, 1.0), (down.reverse().0, 1.0)]);
        link_path.latency += (topology.graph.latency(up) + topology.graph.latency(down)).get();
    }
}

/// Several routes, each for the same share of the message.
fn merged(link_paths: &[LinkPath]) -> Option<LinkPath> {
    let share = 1.0 / link_paths.len() as f64;
    weighed(link_paths.iter().map(|link_path| (link_path, share)))
}

/// Several routes, each for its share of the message.
pub(super) fn weighed<'a>(link_paths: impl Iterator<Item = (&'a LinkPath, f64)>) -> Option<LinkPath> {
    let mut links: BTreeMap<u32, f64> = BTreeMap::new();
    let (mut latency, mut count) = (0.0_f64, 0);
    for (link_path, share) in link_paths {
        count += 1;
        latency = latency.max(link_path.latency);
        for (link, part) in &link_path.links {
            *links.entry(*link).or_default() += part * share;
        }
    }
    (count > 0).then(|| LinkPath { links: links.into_iter().collect(), latency })
}

/// The shortest route over switches (over devices in a torus), chosen among equals by hash.
fn shortest(wiring: &Wiring, from: u32, to: u32, label: u64) -> Option<LinkPath> {
    let graph = &wiring.topology.graph;
    let is_torus = matches!(wiring.topology.design.fabric, Fabric::Torus(_));
    let passes = |node: NodeId| match graph.node(node) {
        Node::Device(device) => is_torus || device == from || device == to,
        Node::Nic(device) => device == from || device == to,
        Node::Domain(_) => false,
        Node::Switch(_) => true,
    };
    if from >= graph.devices() || to >= graph.devices() {
        return None;
    }
    let mut distance = vec![u32::MAX; graph.node_count()];
    distance[to as usize] = 0;
    let mut queue = vec![NodeId(to)];
    let mut next = 0;
    while let Some(&node) = queue.get(next) {
        next += 1;
        for link in graph.outgoing(node).filter(|link| wiring.is_alive(*link)) {
            let before = graph.to(link);
            if distance[before.index()] == u32::MAX && passes(before) {
                distance[before.index()] = distance[node.index()] + 1;
                queue.push(before);
            }
        }
    }
    let mut at = NodeId(from);
    let mut link_path = LinkPath::default();
    let mut draw = crate::topology::choices(wiring.topology.design.seed, from, to, label);
    while at != NodeId(to) {
        let left = distance[at.index()];
        if left == u32::MAX {
            return None;
        }
        let closer: Vec<_> = graph
            .outgoing(at)
            .filter(|link| {
                wiring.is_alive(*link) && distance[graph.to(*link).index()].wrapping_add(1) == left
            })
            .collect();
        let link = *closer.get(draw.below(closer.len() as u64) as usize)?;
        link_path.links.push((link.0, 1.0));
        link_path.latency += graph.latency(link).get();
        at = graph.to(link);
    }
    Some(link_path)
}
