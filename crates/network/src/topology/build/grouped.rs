//! Nodes and links of dragonflies.
//!
//! Responsible for: their numbering, and a table of global links by group and port. Does not route.

use super::super::design::Design;
use super::super::dragonfly::{Dragonfly, DragonflyPlus};
use super::super::global::Wiring;
use super::super::graph::{Builder, Layer, LinkId, Node, NodeId, Switch};
use crate::topology::graph::{class, nth};

/// Links of a dragonfly.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct DragonflyLayout {
    local: LinkId,
    globals: Globals,
}

/// Links of a dragonfly+.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct DragonflyPlusLayout {
    local: LinkId,
    globals: Globals,
}

/// A global link from one group to another: the switch at the near end, the link, the switch at the far end.
pub(crate) type Crossing = (u64, LinkId, u64);

/// Global links by pair of groups: those from group `a` to `b` are in `crossings[starts[a g + b]..starts[a g
/// + b + 1]]`.
#[derive(Clone, Debug, PartialEq)]
struct Globals {
    groups: u64,
    starts: Vec<u32>,
    crossings: Vec<Crossing>,
}

impl Globals {
    /// Joins the groups: port `t` of a group belongs to its switch `t mod switches`.
    fn join(wiring: Wiring, groups: u64, switches: &[NodeId], class: u16, builder: &mut Builder) -> Self {
        let (used, each) = (wiring.used(), switches.len() as u64 / groups);
        let unset = LinkId(u32::MAX);
        let mut links = vec![unset; (groups * used) as usize];
        let switch = |group: u64, port: u64| switches[(group * each + port % each) as usize];
        for group in 0..groups {
            for port in 0..used {
                let here = (group * used + port) as usize;
                if links[here] == unset {
                    let (other, back) = wiring.partner(group, port);
                    let link = builder.connect(switch(group, port), switch(other, back), class);
                    links[here] = link;
                    links[(other * used + back) as usize] = link.reverse();
                }
            }
        }
        let (mut starts, mut crossings) = (vec![0], Vec::with_capacity(links.len()));
        for from in 0..groups {
            for to in 0..groups {
                let ports = if from == to { Vec::new() } else { wiring.ports_to(from, to) };
                crossings.extend(ports.into_iter().map(|port| {
                    let (_, back) = wiring.partner(from, port);
                    (port % each, links[(from * used + port) as usize], back % each)
                }));
                starts.push(crossings.len() as u32);
            }
        }
        Self { groups, starts, crossings }
    }

    /// Global links from one group to another.
    fn between(&self, from: u64, to: u64) -> &[Crossing] {
        let pair = (from * self.groups + to) as usize;
        &self.crossings[self.starts[pair] as usize..self.starts[pair + 1] as usize]
    }
}

fn router(tier: u8, group: u64, index: u64) -> Node {
    Node::Switch(Switch {
        tier,
        plane: 0,
        rail: None,
        pod: Some(group as u32),
        zone: None,
        index: index as u32,
    })
}

pub(super) fn join(
    design: &Design,
    dragonfly: &Dragonfly,
    nics: &[NodeId],
    builder: &mut Builder,
) -> DragonflyLayout {
    let (port, latency) = (design.port_bandwidth, design.link_latency);
    let routers: Vec<NodeId> =
        (0..dragonfly.switches()).map(|n| builder.node(router(1, n / dragonfly.routers, n))).collect();
    let access = class(builder, Layer::Access, design.nic_port_bandwidth(), latency);
    for (device, nic) in nics.iter().enumerate() {
        builder.connect(*nic, routers[device / dragonfly.hosts as usize], access);
    }
    let local = builder.next_link();
    let within = class(builder, Layer::Local, port, latency);
    for group in routers.chunks(dragonfly.routers as usize) {
        for (n, from) in group.iter().enumerate() {
            for to in &group[n + 1..] {
                builder.connect(*from, *to, within);
            }
        }
    }
    let between = class(builder, Layer::Global, port, latency);
    let globals = Globals::join(dragonfly.wiring(), dragonfly.groups, &routers, between, builder);
    DragonflyLayout { local, globals }
}

impl DragonflyLayout {
    /// The link between two routers of a group, by index in the group; `None` for the same router.
    pub(crate) fn local(&self, dragonfly: &Dragonfly, group: u64, from: u64, to: u64) -> Option<LinkId> {
        let a = dragonfly.routers;
        let (low, high) = (from.min(to), from.max(to));
        if low == high {
            return None;
        }
        // Pairs row by row: rows of a-1, a-2, ... links.
        let pair = low * a - low * (low + 1) / 2 + (high - low - 1);
        let link = nth(self.local, group * (a * (a - 1) / 2) + pair);
        Some(if from < to { link } else { link.reverse() })
    }

    /// Global links from one group to another.
    pub(crate) fn between(&self, from: u64, to: u64) -> &[Crossing] {
        self.globals.between(from, to)
    }
}

pub(super) fn join_plus(
    design: &Design,
    plus: &DragonflyPlus,
    nics: &[NodeId],
    builder: &mut Builder,
) -> DragonflyPlusLayout {
    let (port, latency) = (design.port_bandwidth, design.link_latency);
    let leaves: Vec<NodeId> =
        (0..plus.groups * plus.leaves).map(|n| builder.node(router(1, n / plus.leaves, n))).collect();
    let spines: Vec<NodeId> =
        (0..plus.groups * plus.spines).map(|n| builder.node(router(2, n / plus.spines, n))).collect();
    let access = class(builder, Layer::Access, design.nic_port_bandwidth(), latency);
    for (device, nic) in nics.iter().enumerate() {
        builder.connect(*nic, leaves[device / plus.hosts as usize], access);
    }
    let local = builder.next_link();
    let within = class(builder, Layer::Local, port, latency);
    for (n, leaf) in leaves.iter().enumerate() {
        let group = n / plus.leaves as usize * plus.spines as usize;
        for spine in &spines[group..group + plus.spines as usize] {
            builder.connect(*leaf, *spine, within);
        }
    }
    let between = class(builder, Layer::Global, port, latency);
    let globals = Globals::join(plus.wiring(), plus.groups, &spines, between, builder);
    DragonflyPlusLayout { local, globals }
}

impl DragonflyPlusLayout {
    /// The link from a leaf, by its number in the network, to a spine of its group.
    pub(crate) fn local(&self, plus: &DragonflyPlus, leaf: u64, spine: u64) -> LinkId {
        nth(self.local, leaf * plus.spines + spine)
    }

    /// Global links from one group to another.
    pub(crate) fn between(&self, from: u64, to: u64) -> &[Crossing] {
        self.globals.between(from, to)
    }
}
