//! Nodes and links of dragonflies.
//!
//! Responsible for: their numbering, and a table of global links by group and port. Does not route.

use super::super::design::Design;
use super::super::dragonfly::{Dragonfly, DragonflyPlus};
use super::super::global::Wiring;
use super::super::graph::{Builder, Layer, LinkId, Node, NodeId, Switch};
use super::{class, nth};

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

/// The link that starts at each global port.
#[derive(Clone, Debug, PartialEq)]
struct Globals {
    wiring: Wiring,
    links: Vec<LinkId>,
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
        Self { wiring, links }
    }

    /// Global links from one group to another, with the ports at both ends.
    fn between(&self, from: u64, to: u64) -> Vec<(u64, LinkId, u64)> {
        let used = self.wiring.used();
        let ports = self.wiring.ports_to(from, to).into_iter();
        ports
            .map(|port| {
                let (_, back) = self.wiring.partner(from, port);
                (port, self.links[(from * used + port) as usize], back)
            })
            .collect()
    }
}

fn router(tier: u8, group: u64, index: u64) -> Node {
    Node::Switch(Switch { tier, plane: 0, rail: None, pod: Some(group as u32), index: index as u32 })
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
    /// The link between two routers of a group, by their indices in it; `None` for the same router.
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

    /// Global links between groups: the router at the near end, the link, the router at the far end.
    pub(crate) fn between(&self, dragonfly: &Dragonfly, from: u64, to: u64) -> Vec<(u64, LinkId, u64)> {
        let a = dragonfly.routers;
        self.globals
            .between(from, to)
            .into_iter()
            .map(|(near, link, far)| (near % a, link, far % a))
            .collect()
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

    /// Global links between groups: the spine at the near end, the link, the spine at the far end.
    pub(crate) fn between(&self, plus: &DragonflyPlus, from: u64, to: u64) -> Vec<(u64, LinkId, u64)> {
        let spines = plus.spines;
        let links = self.globals.between(from, to).into_iter();
        links.map(|(near, link, far)| (near % spines, link, far % spines)).collect()
    }
}
