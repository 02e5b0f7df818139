//! A folded Clos with broken cables, with equivalent switches pooled.
//!
//! Responsible for: classes of spines and cores that are equivalent for every leaf and failed part; the graph
//! with one node per class. The intact cables between two classes are one link, and failed ones are separate.
//! Does not choose routes.
//!
//! Classes are the coarsest equitable partition that keeps leaves apart (colour refinement). Sprayed packets
//! are distributed evenly over the switches of a class for any failures: each switch reaches the same leaves
//! over equally many intact cables to the same classes. So loads are those of the full graph, on some three
//! links for each leaf instead of one for each spine.

use super::super::graph::{Builder, LinkClass, LinkId, Node, NodeId};
use super::super::hash::mix;
use super::{Detail, Topology};
use std::collections::BTreeMap;

/// Upper bound on rounds: a tree settles in as many rounds as it has tiers.
const MOST_ROUNDS: usize = 16;

impl Topology {
    /// The same network, pooled, with some broken cables (by link number over two), and the broken ones among
    /// the pooled links.
    pub(crate) fn parted(&self, broken: &[bool]) -> (Self, Vec<bool>) {
        let graph = &self.graph;
        let colours = self.colours(broken);
        let is_pooled = |node: NodeId| matches!(graph.node(node), Node::Switch(switch) if switch.tier >= 2);
        // Devices, domains, NICs and leaves come first, and so do the links among them.
        let mut builder = Builder::new(graph.devices());
        let mut new = vec![NodeId(0); graph.node_count()];
        let mut classes: BTreeMap<u64, NodeId> = BTreeMap::new();
        for (id, node) in graph.nodes() {
            new[id.index()] = if id.0 < graph.devices() {
                id
            } else if is_pooled(id) {
                *classes.entry(colours[id.index()]).or_insert_with(|| builder.node(node))
            } else {
                builder.node(node)
            };
        }
        let cables = || (0..graph.link_count() as u32).step_by(2).map(LinkId);
        let mut left = Vec::new();
        let mut sums: BTreeMap<(NodeId, NodeId, bool), (u32, LinkClass)> = BTreeMap::new();
        for link in cables() {
            let is_broken = broken[link.index() / 2];
            let (from, to) = (graph.from(link), graph.to(link));
            let ends = (new[from.index()], new[to.index()]);
            if is_pooled(from) || is_pooled(to) {
                sums.entry((ends.0, ends.1, is_broken)).or_insert((0, *graph.class(link))).0 += 1;
            } else {
                let class = builder.class(*graph.class(link));
                builder.connect(ends.0, ends.1, class);
                left.push(is_broken);
            }
        }
        for ((from, to, is_broken), (count, class)) in sums {
            let capacity = class.capacity * f64::from(count);
            let class = builder.class(LinkClass { capacity, ..class });
            builder.connect(from, to, class);
            left.push(is_broken);
        }
        let parted = Self {
            design: self.design.clone(),
            graph: builder.build(),
            detail: Detail::Parted,
            layout: self.layout.clone(),
        };
        (parted, left)
    }

    /// Colours of spines and cores; those of one colour are equivalent.
    fn colours(&self, broken: &[bool]) -> Vec<u64> {
        let graph = &self.graph;
        let tier = |node: NodeId| match graph.node(node) {
            Node::Switch(switch) => switch.tier,
            _ => 0,
        };
        let mut colours: Vec<u64> = graph
            .nodes()
            .map(|(id, node)| match node {
                Node::Switch(switch) if switch.tier >= 2 => {
                    let rail = switch.rail.map_or(u64::MAX, u64::from);
                    mix(mix(mix(u64::from(switch.tier)) ^ u64::from(switch.plane)) ^ rail)
                }
                // Leaves are distinct; nothing else connects to spines.
                _ => mix(u64::from(id.0)),
            })
            .collect();
        let upper: Vec<NodeId> = graph.nodes().map(|(id, _)| id).filter(|id| tier(*id) >= 2).collect();
        let mut count = 0;
        for _ in 0..MOST_ROUNDS {
            let mut next = colours.clone();
            for &node in &upper {
                let met = graph.outgoing(node).fold(0_u64, |sum, link| {
                    let state = u64::from(broken[link.index() / 2]);
                    sum.wrapping_add(mix(colours[graph.to(link).index()] ^ state))
                });
                next[node.index()] = mix(colours[node.index()].wrapping_add(met));
            }
            colours = next;
            let mut distinct: Vec<u64> = upper.iter().map(|node| colours[node.index()]).collect();
            distinct.sort_unstable();
            distinct.dedup();
            if distinct.len() == count {
                break;
            }
            count = distinct.len();
        }
        colours
    }
}
