//! The tree of a range: rows, and in them classes and names, or spans as they nest.
//!
//! Responsible for: growing it, and leaving out what is too small to be drawn. Refuses to lose time: what is left out is one node.

use super::super::Class;
use serde::Serialize;
use std::collections::BTreeMap;

/// Children below this share of the range are one node.
const SMALLEST: f64 = 5e-4;
/// Nodes grown at most; what comes later counts for the node above.
const MOST_NODES: usize = 200_000;

/// A node of the tree.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Node {
    /// The name of the row, class or span.
    pub name: String,
    /// The class of its spans; none for a row.
    pub class: Option<Class>,
    /// Spans, without those below.
    pub count: u64,
    /// Time with all nodes below, in nanoseconds.
    pub total_ns: i64,
    /// `total_ns` over the length of the range times the number of stacks.
    pub share: f64,
    /// Nodes below, largest first.
    pub children: Vec<Node>,
}

/// A tree that grows.
pub(super) struct Grown<'a> {
    nodes: Vec<Growing<'a>>,
    at: BTreeMap<(usize, &'a str, Option<Class>), usize>,
}

struct Growing<'a> {
    name: &'a str,
    class: Option<Class>,
    count: u64,
    own: i64,
    children: Vec<usize>,
}

impl Default for Grown<'_> {
    fn default() -> Self {
        let root = Growing { name: "range", class: None, count: 0, own: 0, children: Vec::new() };
        Self { nodes: vec![root], at: BTreeMap::new() }
    }
}

impl<'a> Grown<'a> {
    pub(super) const ROOT: usize = 0;

    /// The child of a node; made if there is none.
    pub(super) fn child(&mut self, of: usize, name: &'a str, class: Option<Class>) -> usize {
        if let Some(at) = self.at.get(&(of, name, class)) {
            return *at;
        }
        if self.nodes.len() >= MOST_NODES {
            return of;
        }
        let at = self.nodes.len();
        self.nodes.push(Growing { name, class, count: 0, own: 0, children: Vec::new() });
        if let Some(parent) = self.nodes.get_mut(of) {
            parent.children.push(at);
        }
        self.at.insert((of, name, class), at);
        at
    }

    /// One more span in a node.
    pub(super) fn add(&mut self, at: usize, own: i64) {
        if let Some(node) = self.nodes.get_mut(at) {
            node.count += 1;
            node.own += own;
        }
    }

    /// The tree; `room` is what shares are of.
    pub(super) fn tree(&self, room: f64) -> Node {
        // A child comes after its parent, so totals are complete from the end.
        let mut totals: Vec<i64> = self.nodes.iter().map(|node| node.own).collect();
        let mut made: Vec<Option<Node>> = self.nodes.iter().map(|_| None).collect();
        for (at, node) in self.nodes.iter().enumerate().rev() {
            let mut children: Vec<Node> =
                node.children.iter().filter_map(|child| made.get_mut(*child)?.take()).collect();
            let total = totals.get(at).copied().unwrap_or_default()
                + children.iter().map(|child| child.total_ns).sum::<i64>();
            if let Some(own) = totals.get_mut(at) {
                *own = total;
            }
            children.sort_by(|a, b| b.total_ns.cmp(&a.total_ns).then_with(|| a.name.cmp(&b.name)));
            fold_small(&mut children);
            if let Some(place) = made.get_mut(at) {
                *place = Some(Node {
                    name: node.name.to_owned(),
                    class: node.class,
                    count: node.count,
                    total_ns: total,
                    share: total as f64 / room,
                    children,
                });
            }
        }
        made.into_iter().next().flatten().unwrap_or_default()
    }
}

/// What is too small to be drawn becomes one node.
fn fold_small(children: &mut Vec<Node>) {
    let first = children.partition_point(|child| child.share >= SMALLEST);
    if children.len() <= first + 1 {
        return;
    }
    let small = children.split_off(first);
    children.push(Node {
        name: format!("{} smaller", small.len()),
        class: None,
        count: small.iter().map(|node| node.count).sum(),
        total_ns: small.iter().map(|node| node.total_ns).sum(),
        share: small.iter().map(|node| node.share).sum(),
        children: Vec::new(),
    });
}
