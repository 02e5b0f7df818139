//! Utilization of links.
//!
//! Responsible for: the load of each layer, and its busiest link.

use super::bundle::Bundle;
use super::links::{Links, Placed};
use crate::topology::{Detail, Graph, Layer, LinkClass, LinkId, Node, Topology};
use railwright_spec::quantity::{Bytes, BytesPerSecond, Seconds};
use serde::Serialize;
use std::collections::BTreeMap;

/// A layer's links over some time.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LayerLoad {
    /// Its name.
    pub layer: &'static str,
    /// Directed links.
    pub links: usize,
    /// Number of these links that carried bytes.
    pub used: usize,
    /// Capacity of one.
    pub capacity: BytesPerSecond,
    /// Mean utilization of the links (0 to 1).
    pub mean: f64,
    /// Utilization of the busiest link (0 to 1).
    pub busiest: f64,
    /// Place of the busiest link.
    pub link: String,
}

/// Loads by layer, from the devices outwards, of the units' traffic (`moved`, in seconds at ideal speed)
/// during a time.
pub fn layers(links: &dyn Links, bundle: &Bundle, moved: &[f64], time: Seconds) -> Vec<LayerLoad> {
    let capacities = links.capacities();
    let mut carried = vec![0.0; capacities.len()];
    for (unit, amount) in bundle.units.iter().zip(moved) {
        for &(link, load) in &unit.loads {
            carried[link as usize] += load * amount;
        }
    }
    of_links(links, &capacities, |link| carried[link], time)
}

/// Loads by layer from the bytes that each link carried in a time.
pub fn loads(links: &dyn Links, carried: &[Bytes], time: Seconds) -> Vec<LayerLoad> {
    let bytes = |link: usize| carried.get(link).map_or(0.0, |bytes| bytes.get());
    of_links(links, &links.capacities(), bytes, time)
}

/// Loads by layer of bytes on each link. A layer of several speeds has that of its fastest link as capacity.
fn of_links(
    links: &dyn Links,
    capacities: &[f64],
    carried: impl Fn(usize) -> f64,
    time: Seconds,
) -> Vec<LayerLoad> {
    if time <= Seconds::ZERO {
        return Vec::new();
    }
    let mut found: BTreeMap<u8, (LayerLoad, u32)> = BTreeMap::new();
    for (number, &capacity) in capacities.iter().enumerate() {
        // Broken links carry nothing.
        let Some(Placed { order, layer, cables }) = links.place(number as u32) else { continue };
        let busy = carried(number) / (capacity * time.get());
        let one = BytesPerSecond::new(capacity / cables as f64);
        let (layer, at) = found.entry(order).or_insert_with(|| {
            let none = LayerLoad {
                layer,
                links: 0,
                used: 0,
                capacity: one,
                mean: 0.0,
                busiest: 0.0,
                link: String::new(),
            };
            (none, number as u32)
        });
        if one > layer.capacity * (1.0 + 1e-9) {
            layer.capacity = one;
        }
        layer.links += cables;
        layer.used += cables * usize::from(busy > 0.0);
        layer.mean += busy * cables as f64;
        // Links that differ only by rounding are equal: the first is reported.
        if busy > layer.busiest * (1.0 + 1e-9) {
            layer.busiest = busy;
            *at = number as u32;
        }
    }
    found
        .into_values()
        .map(|(layer, at)| LayerLoad {
            mean: layer.mean / layer.links as f64,
            link: links.link_name(at),
            ..layer
        })
        .collect()
}

/// Name of a link's place; a bundle of cables is named by all of them.
pub(super) fn named(topology: &Topology, link: LinkId) -> String {
    if together(topology, topology.graph.class(link)) > 1 {
        between_pooled(topology, link)
    } else {
        between(&topology.graph, link)
    }
}

/// Number of cables of a link: several if links with the same state are pooled.
pub(super) fn together(topology: &Topology, class: &LinkClass) -> usize {
    let is_pooled = matches!(class.layer, Layer::LeafSpine | Layer::SpineCore | Layer::CoreTop);
    if topology.detail != Detail::Links && is_pooled {
        ((class.capacity / topology.design.port_bandwidth).round() as usize).max(1)
    } else {
        1
    }
}

/// `leaf 3 to all its spines`: all links of one pool are as busy.
fn between_pooled(topology: &Topology, link: LinkId) -> String {
    let graph = &topology.graph;
    // Past broken parts there are several classes of switches.
    let is_parted = topology.detail == Detail::Parted;
    let name = |id| match graph.node(id) {
        Node::Switch(switch) if switch.tier >= 2 && is_parted => {
            let word = ["spines", "cores", "top switches"][usize::from(switch.tier.clamp(2, 4)) - 2];
            format!("{word} equivalent to number {}", switch.index)
        }
        Node::Switch(switch) if switch.tier >= 4 => "all top switches".to_owned(),
        Node::Switch(switch) if switch.tier == 3 => match switch.zone {
            Some(zone) => format!("all cores of zone {zone}"),
            None => "all cores".to_owned(),
        },
        Node::Switch(switch) if switch.tier == 2 => {
            format!("all spines of pod {}", switch.pod.unwrap_or_default())
        }
        other => node(other),
    };
    format!("{} to {}", name(graph.from(link)), name(graph.to(link)))
}

/// `leaf 3 to spine 1`.
pub fn between(graph: &Graph, link: LinkId) -> String {
    format!("{} to {}", node(graph.node(graph.from(link))), node(graph.node(graph.to(link))))
}

fn node(node: Node) -> String {
    match node {
        Node::Device(n) => format!("device {n}"),
        Node::Nic(n) => format!("nic {n}"),
        Node::Domain(n) => format!("domain {n}"),
        Node::Switch(switch) => {
            let tier = match switch.tier {
                1 => "leaf",
                2 => "spine",
                3 => "core",
                _ => "top switch",
            };
            format!("{tier} {}", switch.index)
        }
    }
}
