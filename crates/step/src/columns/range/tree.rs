//! Tree of a range: rows, then classes and names, or nested spans.
//!
//! Responsible for: building the tree, and merging nodes too small to draw into one, so that no time is lost.

use super::super::Class;
use serde::Serialize;
use std::collections::BTreeMap;

/// Share of the range below which children are merged into one node.
const SMALLEST: f64 = 5e-4;
/// Maximum number of nodes. Later spans count for the node above.
const MOST_NODES: usize = 200_000;

/// A node of the tree.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Node {
    /// Name of the row, class or span.
    pub name: String,
    /// Class of its spans; `None` for a row.
    pub class: Option<Class>,
    /// Number of spans, without those of children.
    pub count: u64,
    /// Time with all children, in nanoseconds.
    pub total_ns: i64,
    /// `total_ns` over the length of the range times the number of stacks, 0 to 1.
    pub share: f64,
    /// Children, largest first.
    pub children: Vec<Node>,
}

/// A tree under construction.
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

    /// Index of a node's child; created if missing.
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

    /// Adds one span to a node.
    pub(super) fn add(&mut self, at: usize, own: i64) {
        if let Some(node) = self.nodes.get_mut(at) {
            node.count += 1;
            node.own += own;
        }
    }

    /// Finished tree; `room` is the denominator of shares.
    pub(super) fn tree(&self, room: f64) -> Node {
        // Children follow their parent, so totals are complete from the end.
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

/// Merges nodes too small to draw.
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
