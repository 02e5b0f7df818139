//! What one failed part takes away, for each class of parts that are alike.
//!
//! Responsible for: devices cut off and bandwidth kept after a link, NIC or switch fails and routes have been withdrawn around it.
//! Every member of a class stands in the same place, so one failure of each class is exact for all of them. Refuses failures that
//! hang together, the time until routes are withdrawn (a flapping link stops whoever waits for it), and rates of failure.
//!
//! Two figures of kept bandwidth: *alone*, when a device goes on with its own NIC, and *spread*, when the devices of a scale-up domain
//! share all NICs that the domain has left (forwarding through the domain, in either order).

use crate::topology::clos::Clos;
use crate::topology::design::ClosNetwork;
use crate::topology::{Design, Fabric, Routing};
use serde::Serialize;

/// Parts that are alike, and what the failure of one of them does.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Class {
    /// The part: `NIC`, `leaf`, `leaf-spine link`, ...
    pub part: &'static str,
    /// How many there are.
    pub count: u64,
    /// Devices whose own NIC reaches nobody any more.
    pub cut_off: u64,
    /// Devices that nobody reaches any more, not even through their domain: the step cannot finish.
    pub stranded: u64,
    /// Devices that keep a part of their bandwidth.
    pub slowed: u64,
    /// Share of bandwidth that the most affected device keeps on its own NIC.
    pub kept_alone: f64,
    /// Share that the most affected domain keeps over all of its NICs.
    pub kept_spread: f64,
    /// What the figures assume, where that is not plain.
    pub remark: &'static str,
}

impl Class {
    /// How much longer a step takes of which a share is exposed network time: `1 + share (1 / kept - 1)`; none if nothing is kept.
    pub fn slowdown(&self, exposed_share: f64) -> Option<f64> {
        (self.kept_spread > 0.0).then(|| 1.0 + exposed_share * (1.0 / self.kept_spread - 1.0))
    }
}

/// What fails of a design, class by class, from the devices outwards.
pub fn classes(design: &Design) -> Vec<Class> {
    let mut list = Vec::new();
    match &design.fabric {
        Fabric::None => {}
        Fabric::Torus(torus) => {
            let ring = torus.dimensions.iter().copied().max().unwrap_or(1);
            list.push(Class {
                part: "link",
                count: torus.all_links(),
                cut_off: 0,
                stranded: 0,
                slowed: ring,
                kept_alone: 0.5,
                kept_spread: 0.5,
                remark: "a ring that turns into a line carries half; other dimensions are whole",
            });
        }
        Fabric::Clos(network) => {
            nics(design, &mut list);
            clos(design, network, &mut list);
        }
        Fabric::Dragonfly(d) => {
            nics(design, &mut list);
            switch(design, "router", d.switches(), d.hosts, &mut list);
            let between = d.wiring().used() / (d.groups - 1).max(1);
            detour(design, "link within a group", d.local_links(), 2 * d.hosts, 1, &mut list);
            let both = 2 * d.hosts * d.routers;
            detour(design, "global link", d.global_links(), both, between, &mut list);
        }
        Fabric::DragonflyPlus(d) => {
            nics(design, &mut list);
            switch(design, "leaf", d.groups * d.leaves, d.hosts, &mut list);
            let within = d.hosts * d.leaves;
            list.push(shared(design, "spine", d.groups * d.spines, within, 1.0 / d.spines as f64, 1));
            list.push(shared(design, "leaf-spine link", d.local_links(), d.hosts, 1.0 / d.spines as f64, 1));
            let between = d.wiring().used() / (d.groups - 1).max(1);
            detour(design, "global link", d.global_links(), 2 * within, between, &mut list);
        }
        Fabric::SlimFly(s) => {
            nics(design, &mut list);
            switch(design, "router", s.switches(), s.hosts, &mut list);
        }
    }
    list
}

/// Ports of a domain: `devices x planes`; one of them is `1 / (K P)`. HPN loses 6.25% to one NIC-ToR link of 16 in a host
/// (10.1145/3651890.3672265).
fn nics(design: &Design, list: &mut Vec<Class>) {
    let (k, planes) = (design.domain.size as f64, design.planes as f64);
    let alone = u64::from(design.domain.size == 1);
    list.push(Class {
        part: "NIC",
        count: design.devices,
        cut_off: 1,
        stranded: alone,
        slowed: 0,
        kept_alone: 0.0,
        kept_spread: 1.0 - 1.0 / k,
        remark: "",
    });
    let is_only = u64::from(design.planes == 1);
    list.push(Class {
        part: "NIC-leaf link",
        count: design.devices * design.planes,
        cut_off: is_only,
        stranded: alone * is_only,
        slowed: 1 - is_only,
        kept_alone: 1.0 - 1.0 / planes,
        kept_spread: 1.0 - 1.0 / (k * planes),
        remark: "",
    });
}

/// A switch whose devices are whole domains in their order, as far as they go.
fn switch(design: &Design, part: &'static str, count: u64, hosts: u64, list: &mut Vec<Class>) {
    list.push(first_switch(design, part, count, hosts.min(design.devices), hosts.min(design.domain.size)));
}

/// A switch next to NICs: so many devices in all, so many of one domain. With several planes the others go on.
fn first_switch(design: &Design, part: &'static str, count: u64, devices: u64, of_domain: u64) -> Class {
    let planes = design.planes as f64;
    let size = design.domain.size;
    let is_only = design.planes == 1;
    let lost = of_domain as f64 / (size as f64 * planes);
    Class {
        part,
        count,
        cut_off: if is_only { devices } else { 0 },
        stranded: if is_only && of_domain == size { devices / size * size } else { 0 },
        slowed: if is_only { 0 } else { devices },
        kept_alone: 1.0 - 1.0 / planes,
        kept_spread: 1.0 - lost,
        remark: "",
    }
}

/// A part that others stand in for: a share of the way up is lost, in one of the planes, for some of a domain's rails.
fn shared(
    design: &Design,
    part: &'static str,
    count: u64,
    slowed: u64,
    lost: f64,
    rails_apart: u64,
) -> Class {
    let planes = design.planes as f64;
    let lost = lost / planes;
    Class {
        part,
        count,
        cut_off: 0,
        stranded: 0,
        slowed: slowed.min(design.devices),
        kept_alone: 1.0 - lost,
        kept_spread: 1.0 - lost / rails_apart as f64,
        remark: "",
    }
}

/// A link between routers with so many beside it; without any, messages take a detour.
fn detour(design: &Design, part: &'static str, count: u64, slowed: u64, beside: u64, list: &mut Vec<Class>) {
    if count == 0 {
        return;
    }
    let mut class = shared(design, part, count, slowed, 1.0 / beside.max(1) as f64, 1);
    if beside < 2 {
        // A detour over a third router or group takes two links where one was, on links that others use as well.
        (class.kept_alone, class.kept_spread) = (0.5, 0.5);
        class.remark = "the only direct link of its pair: detours take two links each";
    }
    list.push(class);
}

/// Devices under the first leaf of the first plane: in all, and of the first domain.
fn under_first_leaf(design: &Design, network: &ClosNetwork) -> (u64, u64) {
    let first = design.leaf_of(network, 0);
    let together = |device: &u64| {
        let (fabric, leaf) = design.leaf_of(network, *device);
        (fabric / network.fabrics_per_switch, leaf) == (first.0 / network.fabrics_per_switch, first.1)
    };
    let of_domain = (0..design.domain.size).filter(together).count() as u64;
    ((0..design.devices).filter(together).count() as u64, of_domain)
}

fn clos(design: &Design, network: &ClosNetwork, list: &mut Vec<Class>) {
    let clos = &network.clos;
    let counts = design.counts();
    let (devices, of_domain) = under_first_leaf(design, network);
    list.push(first_switch(design, "leaf", counts.switches_in("leaf"), devices, of_domain));
    let fabrics = design.planes * network.fabrics_per_plane;
    // Where rails are apart, the other rails of a domain are untouched, and can take over.
    let apart = if network.fabrics_per_plane > 1 { design.rails } else { 1 };
    let in_pod = pod_devices(design, clos, network);
    if network.kept_tiers >= 2 {
        let link = 1.0 / clos.leaf_uplinks as f64;
        let links = fabrics * clos.leaf_spine_links();
        // A rail has a leaf of its own in each plane: its neighbours' leaves are whole.
        let beside = (design.domain.size / of_domain.max(1)).max(1);
        list.push(shared(design, "leaf-spine link", links, devices, link, beside));
        let spine = 1.0 / clos.spines_per_pod as f64;
        list.push(shared(design, "spine", fabrics * clos.spines(), in_pod, spine, apart));
    }
    if network.kept_tiers >= 3 {
        let all = design.devices / network.fabrics_per_plane;
        // Who hashes onto a spine does not know that it has fewer cores left; sprayed packets share the loss.
        let is_even = design.routing == Routing::Spray;
        let (spines, cores) = (clos.spines_per_pod as f64, clos.core_groups as f64);
        let link = 1.0 / (clos.spine_uplinks as f64 * if is_even { spines } else { 1.0 });
        list.push(shared(design, "spine-core link", fabrics * clos.spine_core_links(), in_pod, link, apart));
        let core = 1.0 / (clos.cores_per_group as f64 * if is_even { cores } else { 1.0 });
        list.push(shared(design, "core", fabrics * clos.cores(), all, core, apart));
    }
    if let Some(class) = list.iter_mut().find(|class| class.part == "spine" && clos.spines_per_pod == 1) {
        class.remark = "the only spine: leaves reach nobody else through this plane";
    }
}

/// Devices whose leaf is in the first pod of the first fabric.
fn pod_devices(design: &Design, clos: &Clos, network: &ClosNetwork) -> u64 {
    let together = |device: &u64| {
        let (fabric, leaf) = design.leaf_of(network, *device);
        fabric == 0 && clos.pod(leaf) == 0
    };
    (0..design.devices).filter(together).count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::{DesignSpec, Detail, Kind, LinkId, Node, NodeId, Topology};

    fn of(spec: &DesignSpec, part: &str) -> Class {
        let design = spec.resolve().expect("it is built");
        classes(&design).into_iter().find(|class| class.part == part).expect(part)
    }

    #[test]
    fn hpn_loses_a_sixteenth_to_a_link_and_a_single_tor_halts() {
        // 10.1145/3651890.3672265: one NIC-ToR link of a dual-ToR host costs 6.25%; with a single ToR the job halts.
        let dual = DesignSpec::of(Kind::DualPlane, 15_360, 8, 128);
        let link = of(&dual, "NIC-leaf link");
        assert!((1.0 - link.kept_spread - 0.0625).abs() < 1e-12);
        assert_eq!((link.cut_off, link.kept_alone), (0, 0.5));
        let single = of(&DesignSpec::of(Kind::Clos, 4096, 8, 64), "NIC-leaf link");
        assert_eq!((single.cut_off, single.kept_alone), (1, 0.0));
    }

    #[test]
    fn a_leaf_takes_its_devices_with_it_unless_there_is_another_plane() {
        // 10.1145/3718958.3750503, Fig 3b: one ToR of rail-optimized or rail-only slows 4k devices by 46%, of HPN by about nothing.
        for kind in [Kind::RailOptimized, Kind::RailOnly] {
            let leaf = of(&DesignSpec::of(kind, 4096, 8, 64), "leaf");
            assert_eq!((leaf.cut_off, leaf.stranded, leaf.kept_alone), (32, 0, 0.0), "{kind:?}");
            assert_eq!(leaf.kept_spread, 0.875);
            assert!(leaf.slowdown(1.0).is_some_and(|s| (s - 8.0 / 7.0).abs() < 1e-12));
        }
        let dual = of(&DesignSpec::of(Kind::DualPlane, 4096, 8, 64), "leaf");
        assert_eq!((dual.cut_off, dual.kept_alone, dual.kept_spread), (0, 0.5, 0.9375));
        // Whole servers under one leaf have no neighbour to go through.
        let clos = of(&DesignSpec::of(Kind::Clos, 4096, 8, 64), "leaf");
        assert_eq!((clos.cut_off, clos.stranded, clos.kept_spread, clos.slowdown(0.1)), (32, 32, 0.0, None));
    }

    #[test]
    fn a_rail_spine_takes_one_in_its_spines() {
        // Rail-only, section 8 of the notes: a two-tier rail keeps (s - 1) / s; the other rails are untouched.
        let spine = of(&DesignSpec::of(Kind::RailOnly, 16_384, 8, 128), "spine");
        assert_eq!((spine.count, spine.kept_alone), (128, 1.0 - 1.0 / 16.0));
        assert!((spine.kept_spread - (1.0 - 1.0 / 128.0)).abs() < 1e-12);
        assert_eq!(spine.slowed, 2048);
    }

    /// Devices that device 0's farthest fellow cannot reach over the network when some links are gone.
    fn unreachable(topology: &Topology, gone: impl Fn(LinkId) -> bool, start: u32) -> u64 {
        let mut seen = vec![false; topology.graph.node_count()];
        let mut stack = vec![NodeId(start)];
        seen[start as usize] = true;
        while let Some(node) = stack.pop() {
            for link in topology.graph.outgoing(node) {
                let to = topology.graph.to(link);
                let is_scale_up = matches!(topology.graph.node(to), Node::Domain(_));
                if !is_scale_up && !gone(link) && !seen[to.index()] {
                    seen[to.index()] = true;
                    stack.push(to);
                }
            }
        }
        seen[..topology.graph.devices() as usize].iter().filter(|seen| !**seen).count() as u64
    }

    #[test]
    fn devices_cut_off_agree_with_graphs() {
        for spec in [
            DesignSpec::of(Kind::Clos, 128, 4, 8),
            DesignSpec::of(Kind::RailOptimized, 128, 4, 8),
            DesignSpec::of(Kind::DualPlane, 64, 4, 8),
            DesignSpec::of(Kind::Dragonfly, 72, 2, 7),
            DesignSpec::of(Kind::DragonflyPlus, 63, 3, 6),
        ] {
            let design = spec.resolve().expect("it is built");
            let topology = Topology::build(&design, Detail::Links).expect("small");
            let last = topology.graph.devices() - 1;
            let classes = classes(&design);
            for (part, tier) in [("leaf", 1), ("router", 1), ("spine", 2), ("core", 3)] {
                let Some(class) = classes.iter().find(|class| class.part == part) else { continue };
                let switches: Vec<NodeId> = topology
                    .graph
                    .nodes()
                    .filter(|(_, node)| matches!(node, Node::Switch(s) if s.tier == tier))
                    .map(|(id, _)| id)
                    .collect();
                assert_eq!(switches.len() as u64, class.count, "{spec:?} {part}");
                let first = switches[0];
                let gone =
                    |link: LinkId| topology.graph.from(link) == first || topology.graph.to(link) == first;
                assert_eq!(unreachable(&topology, gone, last), class.cut_off, "{spec:?} {part}");
            }
        }
    }
}
