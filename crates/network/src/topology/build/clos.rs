//! Nodes and links of folded Clos fabrics.
//!
//! Responsible for: their numbering. In each plane and fabric: uplinks leaf by leaf (uplink `j` of a leaf
//! leads to spine `j mod spines` of its pod), then uplinks spine by spine (link `n` of a pod into a core
//! group leads to core `n mod cores`). Below top switches, pods and cores are those of a zone, and links of
//! zones into groups of top switches follow the same rule.

use super::super::clos::Clos;
use super::super::design::{ClosNetwork, Design};
use super::super::graph::{Builder, Layer, LinkId, Node, NodeId, Switch};
use super::Detail;
use crate::topology::graph::class;

/// First links of each fabric, ordered by plane, then by fabric.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ClosLayout {
    pub(crate) fabrics: Vec<FabricLinks>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct FabricLinks {
    pub(crate) leaf_spine: LinkId,
    pub(crate) spine_core: LinkId,
    pub(crate) core_top: LinkId,
}

/// Next switch number of each tier, counted through the whole network.
#[derive(Default)]
struct Numbers([u32; 5]);

/// Position of a switch in its plane.
#[derive(Clone, Copy, Default)]
struct At {
    rail: Option<u64>,
    pod: Option<u64>,
    zone: Option<u64>,
}

impl At {
    /// In a pod of a fabric, and in its zone if there are zones.
    fn pod(clos: &Clos, rail: Option<u64>, pod: u64) -> Self {
        Self { rail, pod: Some(pod), zone: clos.upper.map(|_| clos.zone(pod)) }
    }
}

impl Numbers {
    fn switch(&mut self, tier: u8, plane: u64, At { rail, pod, zone }: At) -> Node {
        let number = &mut self.0[usize::from(tier)];
        *number += 1;
        Node::Switch(Switch {
            tier,
            plane: plane as u16,
            rail: rail.map(|rail| rail as u32),
            pod: pod.map(|pod| pod as u32),
            zone: zone.map(|zone| zone as u32),
            index: *number - 1,
        })
    }
}

pub(super) fn join(
    design: &Design,
    network: &ClosNetwork,
    detail: Detail,
    nics: &[NodeId],
    builder: &mut Builder,
) -> ClosLayout {
    let clos = &network.clos;
    let mut numbers = Numbers::default();
    let separate = network.fabrics_per_plane > 1;
    // Leaves first, plane by plane, so that access links can be numbered by device.
    let mut leaves: Vec<Vec<NodeId>> = Vec::new();
    for plane in 0..design.planes {
        let mut shared: Option<NodeId> = None;
        for fabric in 0..network.fabrics_per_plane {
            let rail = (separate && network.fabrics_per_switch == 1).then_some(fabric);
            if clos.tiers == 1 {
                if fabric % network.fabrics_per_switch == 0 {
                    shared =
                        Some(builder.node(numbers.switch(1, plane, At { rail, pod: Some(0), zone: None })));
                }
                leaves.push(shared.into_iter().collect());
                continue;
            }
            let of = |leaf: u64| rail.or_else(|| rail_of(network, leaf));
            leaves.push(
                (0..clos.leaves())
                    .map(|leaf| {
                        builder.node(numbers.switch(1, plane, At::pod(clos, of(leaf), clos.pod(leaf))))
                    })
                    .collect(),
            );
        }
    }
    let access = class(builder, Layer::Access, design.nic_port_bandwidth(), design.link_latency);
    for plane in 0..design.planes {
        for device in 0..design.devices {
            let (fabric, leaf) = design.leaf_of(network, device);
            let leaves = &leaves[(plane * network.fabrics_per_plane + fabric) as usize];
            builder.connect(nics[device as usize], leaves[leaf as usize], access);
        }
    }
    let mut fabrics = Vec::with_capacity(leaves.len());
    for (n, leaves) in leaves.iter().enumerate() {
        let n = n as u64;
        let (plane, fabric) = (n / network.fabrics_per_plane, n % network.fabrics_per_plane);
        let rail = separate.then_some(fabric);
        let joiner = Joiner { design, network, plane, rail };
        fabrics.push(match detail {
            Detail::Links | Detail::Parted => joiner.join(leaves, &mut numbers, builder),
            Detail::Pooled => joiner.join_pooled(leaves, &mut numbers, builder),
        });
    }
    ClosLayout { fabrics }
}

/// The rail of a leaf that serves one of several.
fn rail_of(network: &ClosNetwork, leaf: u64) -> Option<u64> {
    let clos = &network.clos;
    (clos.groups > 1 && network.rails_per_group == 1)
        .then(|| if clos.by_group { leaf / clos.leaves_per_group } else { leaf % clos.groups })
}

struct Joiner<'a> {
    design: &'a Design,
    network: &'a ClosNetwork,
    plane: u64,
    rail: Option<u64>,
}

impl Joiner<'_> {
    fn join(&self, leaves: &[NodeId], numbers: &mut Numbers, builder: &mut Builder) -> FabricLinks {
        let clos = &self.network.clos;
        let (port, latency) = (self.design.port_bandwidth, self.design.link_latency);
        let leaf_spine = builder.next_link();
        let mut links = FabricLinks { leaf_spine, spine_core: leaf_spine, core_top: leaf_spine };
        if self.network.kept_tiers < 2 {
            return links;
        }
        let spines: Vec<NodeId> = (0..clos.spines())
            .map(|s| {
                builder.node(numbers.switch(2, self.plane, At::pod(clos, self.rail, s / clos.spines_per_pod)))
            })
            .collect();
        let up = class(builder, Layer::LeafSpine, port, latency);
        for (leaf, node) in leaves.iter().enumerate() {
            let first = clos.pod(leaf as u64) * clos.spines_per_pod;
            for uplink in 0..clos.leaf_uplinks {
                builder.connect(*node, spines[(first + uplink % clos.spines_per_pod) as usize], up);
            }
        }
        links.spine_core = builder.next_link();
        if self.network.kept_tiers < 3 {
            return links;
        }
        let zone = |core: u64| clos.upper.map(|_| core / clos.cores_per_zone());
        let cores: Vec<NodeId> = (0..clos.cores())
            .map(|core| {
                let at = At { rail: self.rail, pod: None, zone: zone(core) };
                builder.node(numbers.switch(3, self.plane, at))
            })
            .collect();
        let up = class(builder, Layer::SpineCore, port, latency);
        for (spine, node) in spines.iter().enumerate() {
            let (pod, within) = (spine as u64 / clos.spines_per_pod, spine as u64 % clos.spines_per_pod);
            for uplink in 0..clos.spine_uplinks {
                builder.connect(*node, cores[clos.core_of(pod, within, uplink) as usize], up);
            }
        }
        links.core_top = builder.next_link();
        let Some(upper) = clos.upper.filter(|_| self.network.kept_tiers >= 4) else { return links };
        let at = At { rail: self.rail, ..At::default() };
        let tops: Vec<NodeId> =
            (0..upper.tops).map(|_| builder.node(numbers.switch(4, self.plane, at))).collect();
        let up = class(builder, Layer::CoreTop, port, latency);
        for (core, node) in cores.iter().enumerate() {
            for uplink in 0..upper.core_uplinks {
                builder.connect(*node, tops[clos.top_of(&upper, core as u64, uplink) as usize], up);
            }
        }
        links
    }

    fn join_pooled(&self, leaves: &[NodeId], numbers: &mut Numbers, builder: &mut Builder) -> FabricLinks {
        let clos = &self.network.clos;
        let (port, latency) = (self.design.port_bandwidth, self.design.link_latency);
        let leaf_spine = builder.next_link();
        let mut links = FabricLinks { leaf_spine, spine_core: leaf_spine, core_top: leaf_spine };
        if self.network.kept_tiers < 2 {
            return links;
        }
        let pods: Vec<NodeId> = (0..clos.pods)
            .map(|pod| builder.node(numbers.switch(2, self.plane, At::pod(clos, self.rail, pod))))
            .collect();
        let up = class(builder, Layer::LeafSpine, port * clos.leaf_uplinks as f64, latency);
        for (leaf, node) in leaves.iter().enumerate() {
            builder.connect(*node, pods[clos.pod(leaf as u64) as usize], up);
        }
        links.spine_core = builder.next_link();
        if self.network.kept_tiers < 3 {
            return links;
        }
        let cores: Vec<NodeId> = (0..clos.zones())
            .map(|zone| {
                let at = At { rail: self.rail, pod: None, zone: clos.upper.map(|_| zone) };
                builder.node(numbers.switch(3, self.plane, at))
            })
            .collect();
        let sum = port * (clos.spines_per_pod * clos.spine_uplinks) as f64;
        let up = class(builder, Layer::SpineCore, sum, latency);
        for (pod, node) in pods.into_iter().enumerate() {
            builder.connect(node, cores[clos.zone(pod as u64) as usize], up);
        }
        links.core_top = builder.next_link();
        let Some(upper) = clos.upper.filter(|_| self.network.kept_tiers >= 4) else { return links };
        let top = builder.node(numbers.switch(4, self.plane, At { rail: self.rail, ..At::default() }));
        let sum = port * (clos.cores_per_zone() * upper.core_uplinks) as f64;
        let up = class(builder, Layer::CoreTop, sum, latency);
        for zone in cores {
            builder.connect(zone, top, up);
        }
        links
    }
}
