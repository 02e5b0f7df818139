//! Classes compared with graphs, with states of single parts, and with published values.

use super::*;
use crate::topology::{DesignSpec, Detail, Kind, LinkId, Node, NodeId, Topology};

fn of(spec: &DesignSpec, part: &str) -> Class {
    let design = spec.resolve().expect("it is built");
    classes(&design).into_iter().find(|class| class.part == part).expect(part)
}

#[test]
fn hpn_loses_a_sixteenth_to_a_link_and_a_single_tor_halts() {
    // 10.1145/3651890.3672265: one NIC-ToR link of a dual-ToR host costs 6.25%; with a single ToR the job
    // halts.
    let dual = DesignSpec::of(Kind::DualPlane, 15_360, 8, 128);
    let link = of(&dual, "NIC-leaf link");
    assert!((1.0 - link.kept_spread - 0.0625).abs() < 1e-12);
    assert_eq!((link.cut_off, link.kept_alone), (0, 0.5));
    let single = of(&DesignSpec::of(Kind::Clos, 4096, 8, 64), "NIC-leaf link");
    assert_eq!((single.cut_off, single.kept_alone), (1, 0.0));
}

#[test]
fn a_leaf_takes_its_devices_with_it_unless_there_is_another_plane() {
    // 10.1145/3718958.3750503, Fig 3b: one ToR of rail-optimized or rail-only slows 4k devices by 46%, of HPN
    // by about 0%.
    for kind in [Kind::RailOptimized, Kind::RailOnly] {
        let leaf = of(&DesignSpec::of(kind, 4096, 8, 64), "leaf");
        assert_eq!((leaf.cut_off, leaf.stranded, leaf.kept_alone), (32, 0, 0.0), "{kind:?}");
        assert_eq!(leaf.kept_spread, 0.875);
        assert!(leaf.slowdown(1.0, Recovery::Spread).is_some_and(|s| (s - 8.0 / 7.0).abs() < 1e-12));
    }
    let dual = of(&DesignSpec::of(Kind::DualPlane, 4096, 8, 64), "leaf");
    assert_eq!((dual.cut_off, dual.kept_alone, dual.kept_spread), (0, 0.5, 0.9375));
    // Whole servers under one leaf have no neighbour as a detour.
    let clos = of(&DesignSpec::of(Kind::Clos, 4096, 8, 64), "leaf");
    assert_eq!(
        (clos.cut_off, clos.stranded, clos.kept_spread, clos.slowdown(0.1, Recovery::Spread)),
        (32, 32, 0.0, None)
    );
}

#[test]
fn a_rail_spine_takes_one_in_its_spines() {
    // Rail-only, section 8 of the notes: a two-tier rail keeps (s - 1) / s. The other rails are untouched,
    // but do not take over: the NICs of the rail work, and their domains do not know of losses behind
    // them.
    let spine = of(&DesignSpec::of(Kind::RailOnly, 16_384, 8, 128), "spine");
    assert_eq!((spine.count, spine.kept_alone), (128, 1.0 - 1.0 / 16.0));
    assert!((spine.kept_spread - spine.kept_alone).abs() < 1e-12);
    assert_eq!(spine.slowed, 2048);
}

/// Number of devices that the farthest peer of device 0 cannot reach over the network after the loss of some
/// links.
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
            let gone = |link: LinkId| topology.graph.from(link) == first || topology.graph.to(link) == first;
            assert_eq!(unreachable(&topology, gone, last), class.cut_off, "{spec:?} {part}");
        }
    }
}

/// Leaves and pods that are not full are classes of their own, and their parts are all of the network's.
#[test]
fn parts_that_are_filled_differently_are_distinguished() {
    let design = DesignSpec::of(Kind::Clos, 1000, 8, 64).resolve().expect("it is built");
    let list = classes(&design);
    let leaves: Vec<(u64, u64, u64)> =
        list.iter().filter(|c| c.part == "leaf").map(|c| (c.count, c.cut_off, c.stranded)).collect();
    // 31 leaves of 32 devices, and one of 8.
    assert_eq!(leaves, [(31, 32, 32), (1, 8, 8)]);
    let counts = design.counts();
    for (part, count) in parts(&list) {
        let expected = match part {
            "leaf" => counts.switches_in("leaf"),
            "spine" => counts.switches_in("spine"),
            "NIC" => 1000,
            _ => continue,
        };
        assert_eq!(count, expected, "{part}");
    }
    let cut: u64 = list.iter().filter(|c| c.part == "leaf").map(|c| c.count * c.cut_off).sum();
    assert_eq!(cut, 1000, "each device is below one leaf");
    // Pods of three tiers: two full ones of 16, and 4 devices in the last.
    let tiers = DesignSpec::of(Kind::Clos, 76, 4, 8).resolve().expect("it is built");
    let spines: Vec<u64> = classes(&tiers).iter().filter(|c| c.part == "spine").map(|c| c.slowed).collect();
    assert!(spines.len() > 1 && spines.windows(2).all(|pair| pair[0] > pair[1]), "{spines:?}");
}

#[test]
fn a_slim_fly_loses_links_between_routers_too() {
    let design = DesignSpec::of(Kind::SlimFly, 1000, 8, 64).resolve().expect("counted");
    let list = classes(&design);
    let link = list.iter().find(|class| class.part == "link").expect("routers are joined");
    let routers = design.counts().switches();
    // Every router has as many links to routers as the graph's degree; each joins two.
    assert!(link.count > routers && link.kept_alone == 0.5 && link.cut_off == 0, "{link:?}");
    assert!(link.remark.contains("detours"));
}
