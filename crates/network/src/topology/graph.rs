//! A network as nodes and directed links, compact enough for 65,536 devices.
//!
//! Responsible for: nodes, links with capacity and latency, and iteration over links of a node. Independent
//! of the design (`Design`) and of routing ([`super::route`]).
//!
//! Every cable is two directed links with adjacent numbers, so that the reverse link differs in one bit.
//! Capacity and latency are stored in a few [`LinkClass`]es, not in every link.

use railwright_spec::quantity::{BytesPerSecond, Seconds};
use serde::Serialize;

/// A node of a [`Graph`]. Devices come first: node `i` is device `i`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct NodeId(pub u32);

/// A directed link of a [`Graph`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct LinkId(pub u32);

impl NodeId {
    /// Index into a slice.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl LinkId {
    /// Index into a slice.
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// The same cable in the other direction.
    #[must_use]
    pub const fn reverse(self) -> Self {
        Self(self.0 ^ 1)
    }
}

/// Kind of node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Node {
    /// An accelerator.
    Device(u32),
    /// The network interface of an accelerator; it may have a port in each of several planes.
    Nic(u32),
    /// The switches of a scale-up domain, modelled as one non-blocking switch.
    Domain(u32),
    /// A switch of the network, or all switches of a tier in one pod in a pooled graph.
    Switch(Switch),
}

/// A switch and its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Switch {
    /// The tier, 1 for leaves, 2 for spines, 3 for cores, 4 for top switches; 1 for routers of a dragonfly.
    pub tier: u8,
    /// The plane, from 0.
    pub plane: u16,
    /// The only rail that it serves; `None` if it serves several.
    pub rail: Option<u32>,
    /// The pod, or the group of a dragonfly; `None` for cores.
    pub pod: Option<u32>,
    /// The zone below top switches; `None` for top switches, and in networks without them.
    pub zone: Option<u32>,
    /// Its number among the switches of its tier in the whole network.
    pub index: u32,
}

/// Layer of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Layer {
    /// Between a device and its scale-up domain.
    ScaleUp,
    /// Between a device and its network interface.
    Host,
    /// Between a network interface and a leaf (or router).
    Access,
    /// Between leaf and spine.
    LeafSpine,
    /// Between spine and core.
    SpineCore,
    /// Between core and top switch.
    CoreTop,
    /// Within a group of a dragonfly.
    Local,
    /// Between groups of a dragonfly.
    Global,
    /// Between neighbours of a torus.
    Torus,
}

/// Common properties of links.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LinkClass {
    /// Layer of the network.
    pub layer: Layer,
    /// Bytes per second, decimal, in one direction.
    pub capacity: BytesPerSecond,
    /// Latency from entering the link to entering the next.
    pub latency: Seconds,
}

/// A directed link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Link {
    from: u32,
    to: u32,
    class: u16,
}

/// Nodes and directed links.
#[derive(Clone, Debug, PartialEq)]
pub struct Graph {
    devices: u32,
    nodes: Vec<Node>,
    links: Vec<Link>,
    classes: Vec<LinkClass>,
    /// Out-links of node `n` are `outgoing[starts[n]..starts[n + 1]]`.
    starts: Vec<u32>,
    outgoing: Vec<u32>,
}

/// A graph under construction.
#[derive(Clone, Debug)]
pub struct Builder {
    devices: u32,
    nodes: Vec<Node>,
    links: Vec<Link>,
    classes: Vec<LinkClass>,
}

impl Builder {
    /// With a number of devices and no links.
    pub fn new(devices: u32) -> Self {
        let nodes = (0..devices).map(Node::Device).collect();
        Self { devices, nodes, links: Vec::new(), classes: Vec::new() }
    }

    /// Adds a node.
    pub fn node(&mut self, node: Node) -> NodeId {
        self.nodes.push(node);
        NodeId(self.nodes.len() as u32 - 1)
    }

    /// Adds a class of links; an existing class is reused.
    pub fn class(&mut self, class: LinkClass) -> u16 {
        let place = self.classes.iter().position(|known| *known == class).unwrap_or_else(|| {
            self.classes.push(class);
            self.classes.len() - 1
        });
        place as u16
    }

    /// Joins two nodes by a cable of two links. Returns the link from the first to the second; the next
    /// number is its reverse.
    pub fn connect(&mut self, from: NodeId, to: NodeId, class: u16) -> LinkId {
        let link = LinkId(self.links.len() as u32);
        self.links.push(Link { from: from.0, to: to.0, class });
        self.links.push(Link { from: to.0, to: from.0, class });
        link
    }

    /// The number that the next link will have.
    pub fn next_link(&self) -> LinkId {
        LinkId(self.links.len() as u32)
    }

    /// The graph.
    pub fn build(self) -> Graph {
        let Self { devices, nodes, links, classes } = self;
        let mut starts = vec![0_u32; nodes.len() + 1];
        for link in &links {
            starts[link.from as usize + 1] += 1;
        }
        for n in 1..starts.len() {
            starts[n] += starts[n - 1];
        }
        let mut next = starts.clone();
        let mut outgoing = vec![0_u32; links.len()];
        for (id, link) in links.iter().enumerate() {
            let place = &mut next[link.from as usize];
            outgoing[*place as usize] = id as u32;
            *place += 1;
        }
        Graph { devices, nodes, links, classes, starts, outgoing }
    }
}

impl Graph {
    /// Accelerators; they are the nodes from 0.
    pub const fn devices(&self) -> u32 {
        self.devices
    }

    /// Nodes of every kind.
    pub fn node_count(&self) -> usize {
        self.nodes.len()
    }

    /// Directed links: two for each cable.
    pub fn link_count(&self) -> usize {
        self.links.len()
    }

    /// Kind of node.
    pub fn node(&self, node: NodeId) -> Node {
        self.nodes[node.index()]
    }

    /// All nodes with their numbers.
    pub fn nodes(&self) -> impl Iterator<Item = (NodeId, Node)> + '_ {
        self.nodes.iter().enumerate().map(|(n, node)| (NodeId(n as u32), *node))
    }

    /// Node at the start of a link.
    pub fn from(&self, link: LinkId) -> NodeId {
        NodeId(self.links[link.index()].from)
    }

    /// Node at the end of a link.
    pub fn to(&self, link: LinkId) -> NodeId {
        NodeId(self.links[link.index()].to)
    }

    /// Class of a link.
    pub fn class(&self, link: LinkId) -> &LinkClass {
        &self.classes[usize::from(self.links[link.index()].class)]
    }

    /// A link's capacity.
    pub fn capacity(&self, link: LinkId) -> BytesPerSecond {
        self.class(link).capacity
    }

    /// A link's latency.
    pub fn latency(&self, link: LinkId) -> Seconds {
        self.class(link).latency
    }

    /// Reduces a link's capacity to a share of it.
    pub(crate) fn slow(&mut self, link: LinkId, kept: f64) {
        let whole = *self.class(link);
        let class = LinkClass { capacity: whole.capacity * kept, ..whole };
        let place = self.classes.iter().position(|known| *known == class).unwrap_or_else(|| {
            self.classes.push(class);
            self.classes.len() - 1
        });
        self.links[link.index()].class = place as u16;
    }

    /// The links that start at a node.
    pub fn outgoing(&self, node: NodeId) -> impl ExactSizeIterator<Item = LinkId> + '_ {
        let range = self.starts[node.index()] as usize..self.starts[node.index() + 1] as usize;
        self.outgoing[range].iter().map(|link| LinkId(*link))
    }

    /// Cables in a layer.
    pub fn cables(&self, layer: Layer) -> usize {
        self.links.iter().step_by(2).filter(|l| self.classes[usize::from(l.class)].layer == layer).count()
    }
}

/// The `n`th cable after a first one.
pub(crate) const fn nth(first: LinkId, n: u64) -> LinkId {
    LinkId(first.0 + 2 * n as u32)
}

pub(super) fn class(builder: &mut Builder, layer: Layer, capacity: BytesPerSecond, latency: Seconds) -> u16 {
    builder.class(LinkClass { layer, capacity, latency })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_come_in_pairs_and_are_found_from_their_nodes() {
        let mut builder = Builder::new(2);
        let class = LinkClass {
            layer: Layer::Access,
            capacity: BytesPerSecond::from_gb(50.0),
            latency: Seconds::from_micros(1.0),
        };
        let class = (builder.class(class), builder.class(class));
        assert_eq!(class.0, class.1);
        let leaf = builder.node(Node::Switch(Switch {
            tier: 1,
            plane: 0,
            rail: None,
            pod: None,
            zone: None,
            index: 0,
        }));
        let first = builder.connect(NodeId(0), leaf, class.0);
        let second = builder.connect(NodeId(1), leaf, class.0);
        let graph = builder.build();
        assert_eq!((graph.node_count(), graph.link_count(), graph.cables(Layer::Access)), (3, 4, 2));
        assert_eq!(graph.to(first), leaf);
        assert_eq!(graph.from(first.reverse()), leaf);
        assert_eq!(graph.outgoing(leaf).collect::<Vec<_>>(), [first.reverse(), second.reverse()]);
        assert_eq!(graph.outgoing(NodeId(1)).collect::<Vec<_>>(), [second]);
        assert_eq!(graph.capacity(second).gb(), 50.0);
    }
}
