//! Routes are walks from one device to the other, shortest, with shares that add up, under every kind and
//! routing.

use crate::topology::build::{Detail, Topology};
use crate::topology::graph::{Layer, LinkId, NodeId};
use crate::topology::kind::{Forwarding, Kind, Routing};
use crate::topology::route::Route;
use crate::topology::spec::DesignSpec;
use railwright_spec::quantity::BytesPerSecond;
use std::collections::{BTreeMap, BTreeSet};

fn build(spec: &DesignSpec, detail: Detail) -> Topology {
    let design = spec.resolve().unwrap_or_else(|p| panic!("{spec:?}: {p}"));
    Topology::build(&design, detail).expect("small")
}

/// Checks conservation of flow: inflow of a node equals its outflow, the sender sends 1 and the receiver
/// receives 1.
fn is_a_flow(topology: &Topology, route: &Route, from: u32, to: u32) {
    let mut net: BTreeMap<NodeId, f64> = BTreeMap::new();
    for hop in &route.hops {
        assert!(hop.share > 0.0 && hop.share <= 1.0 + 1e-12);
        *net.entry(topology.graph.from(hop.link)).or_default() -= hop.share;
        *net.entry(topology.graph.to(hop.link)).or_default() += hop.share;
    }
    for (node, amount) in net {
        let expected = if node == NodeId(from) { -1.0 } else { f64::from(u8::from(node == NodeId(to))) };
        assert!((amount - expected).abs() < 1e-9, "{from}->{to} node {node:?} keeps {amount}");
    }
}

/// Links from a device to all others, by breadth-first search without domains.
fn distances(topology: &Topology, from: u32) -> Vec<u32> {
    let mut distance = vec![u32::MAX; topology.graph.node_count()];
    distance[from as usize] = 0;
    let mut front = vec![NodeId(from)];
    while let Some(node) = front.first().copied() {
        let mut next = BTreeSet::new();
        let far = distance[node.index()];
        for node in front {
            for link in topology.graph.outgoing(node) {
                let to = topology.graph.to(link);
                if topology.graph.class(link).layer != Layer::ScaleUp && distance[to.index()] == u32::MAX {
                    distance[to.index()] = far + 1;
                    next.insert(to);
                }
            }
        }
        front = next.into_iter().collect();
    }
    distance
}

fn every_kind() -> Vec<DesignSpec> {
    let mut specs = vec![
        DesignSpec::of(Kind::Clos, 8, 4, 16),
        DesignSpec::of(Kind::Clos, 32, 4, 8),
        DesignSpec::of(Kind::Clos, 128, 4, 8),
        // Neither pods nor cores are full here.
        DesignSpec::of(Kind::Clos, 76, 4, 8),
        DesignSpec::of(Kind::RailOptimized, 128, 4, 8),
        DesignSpec::of(Kind::RailOptimized, 64, 16, 8),
        // Two rails share each leaf, then four.
        DesignSpec::of(Kind::RailOptimized, 32, 16, 8),
        DesignSpec::of(Kind::RailOptimized, 16, 16, 8),
        DesignSpec { share_switches: Some(false), ..DesignSpec::of(Kind::RailOptimized, 32, 8, 16) },
        DesignSpec::of(Kind::RailOnly, 128, 4, 8),
        DesignSpec::of(Kind::RailOnly, 32, 4, 8),
        DesignSpec::of(Kind::RailOnly, 256, 2, 8),
        DesignSpec::of(Kind::Trimmed, 128, 16, 8),
        DesignSpec::of(Kind::Trimmed, 32, 8, 8),
        DesignSpec::of(Kind::DualPlane, 64, 4, 8),
        DesignSpec::of(Kind::MultiPlane, 64, 4, 8),
        DesignSpec::of(Kind::Dragonfly, 70, 2, 7),
        DesignSpec::of(Kind::Dragonfly, 24, 1, 11),
        DesignSpec::of(Kind::DragonflyPlus, 60, 2, 6),
        DesignSpec::of(Kind::Torus, 60, 1, 8),
        DesignSpec::of(Kind::ScaleUp, 16, 16, 8),
    ];
    let symmetric = DesignSpec { pods: Some(4), ..DesignSpec::of(Kind::RailOptimized, 56, 4, 12) };
    specs.push(symmetric);
    // Four tiers: full, two zones at 2:1, unequal zones, and rails.
    let four =
        |kind, devices, radix| DesignSpec { tiers: Some(4), ..DesignSpec::of(kind, devices, 4, radix) };
    specs.push(four(Kind::Clos, 32, 4));
    let islands = DesignSpec {
        zones: Some(2),
        core_oversubscription: Some(2.0),
        ..DesignSpec::of(Kind::Clos, 128, 4, 8)
    };
    specs.push(islands);
    specs.push(DesignSpec { zones: Some(3), ..DesignSpec::of(Kind::Clos, 92, 4, 8) });
    specs.push(DesignSpec { zones: Some(2), ..DesignSpec::of(Kind::RailOptimized, 128, 4, 8) });
    specs.push(DesignSpec { zones: Some(2), ..DesignSpec::of(Kind::RailOnly, 128, 2, 8) });
    specs.push(DesignSpec { zones: Some(2), ..DesignSpec::of(Kind::DualPlane, 64, 4, 8) });
    specs.push(DesignSpec { dimensions: Some(vec![6, 1, 2]), ..DesignSpec::of(Kind::Torus, 12, 1, 8) });
    specs
}

/// Routings of a design: all of its kind, without routes by destination on four tiers.
fn routings(spec: &DesignSpec) -> Vec<Routing> {
    let is_four = spec.zones.is_some() || spec.tiers == Some(4);
    let all = spec.kind.expect("given").routings().iter().copied();
    all.filter(|routing| !is_four || *routing != Routing::Static).collect()
}

#[test]
fn routes_are_flows_from_end_to_end() {
    for spec in every_kind() {
        for routing in routings(&spec) {
            for forwarding in [None, Some(Forwarding::Before), Some(Forwarding::After)] {
                let spec = DesignSpec { routing: Some(routing), forwarding, ..spec.clone() };
                let mut details = vec![Detail::Links];
                if routing == Routing::Spray {
                    details.push(Detail::Pooled);
                }
                for detail in details {
                    let topology = build(&spec, detail);
                    let devices = topology.graph.devices();
                    for from in 0..devices {
                        for to in 0..devices {
                            let route = topology.route(from, to, 3).expect("joined");
                            if from == to {
                                assert!(route.hops.is_empty());
                            } else {
                                is_a_flow(&topology, &route, from, to);
                            }
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn direct_routes_are_shortest_and_rails_are_kept_apart() {
    for spec in every_kind() {
        let topology = build(&spec, Detail::Links);
        let design = &topology.design;
        for from in (0..topology.graph.devices()).step_by(7) {
            let distance = distances(&topology, from);
            for to in 0..topology.graph.devices() {
                let (a, b) = (u64::from(from), u64::from(to));
                let apart = a / design.domain.size != b / design.domain.size;
                if !apart {
                    continue;
                }
                let far = distance[to as usize];
                let reached = topology.forwarder(from, to).is_none();
                if reached {
                    let length = topology.route(from, to, 1).expect("joined").length() as u32;
                    // A dragonfly's minimal route has at most one link more than the shortest, by chance of
                    // wiring.
                    let slack = u32::from(spec.kind == Some(Kind::Dragonfly)) * 2;
                    assert!(length >= far && length <= far + slack, "{spec:?} {from}->{to}: {length} {far}");
                } else {
                    assert_ne!(design.rail(a), design.rail(b));
                }
                if design.kind == Kind::RailOnly
                    && design.rail(a) != design.rail(b)
                    && design.fabric_tiers() > 1
                {
                    assert_eq!(far, u32::MAX, "rails must not be joined");
                }
            }
        }
    }
}

#[test]
fn graphs_have_the_links_that_were_counted() {
    for spec in every_kind() {
        let topology = build(&spec, Detail::Links);
        let counts = topology.design.counts();
        for layer in [
            Layer::Access,
            Layer::LeafSpine,
            Layer::SpineCore,
            Layer::CoreTop,
            Layer::Local,
            Layer::Global,
            Layer::Torus,
        ] {
            assert_eq!(topology.graph.cables(layer) as u64, counts.links_in(layer), "{spec:?} {layer:?}");
        }
        let switches = topology
            .graph
            .nodes()
            .filter(|(_, node)| matches!(node, crate::topology::Node::Switch(_)))
            .count();
        assert_eq!(switches as u64, counts.switches(), "{spec:?}");
        // A port of half the speed takes half a port.
        let most = topology.design.nic_bandwidth * topology.design.radix as f64;
        for (id, node) in topology.graph.nodes() {
            if matches!(node, crate::topology::Node::Switch(_)) {
                let used: BytesPerSecond =
                    topology.graph.outgoing(id).map(|link| topology.graph.capacity(link)).sum();
                assert!(used <= most, "{spec:?} {node:?}");
            }
        }
    }
}

/// The most messages on one link when each device sends to the one `shift` further, over all shifts.
fn worst_shift(devices: u32, radix: u64) -> (u32, Topology) {
    let spec = DesignSpec {
        routing: Some(Routing::Static),
        ..DesignSpec::of(Kind::Clos, u64::from(devices), 1, radix)
    };
    let topology = build(&spec, Detail::Links);
    let mut worst = 0;
    for shift in 1..devices {
        let mut load = vec![0_u32; topology.graph.link_count()];
        for from in 0..devices {
            for hop in topology.route(from, (from + shift) % devices, 0).expect("joined").hops {
                load[hop.link.index()] += 1;
            }
        }
        worst = worst.max(load.into_iter().max().unwrap_or(0));
    }
    (worst, topology)
}

#[test]
fn static_routes_of_a_shift_do_not_collide() {
    // D-mod-k: when each device sends to the one `shift` further, no link carries two messages (E. Zahavi,
    // 2010). Full trees, and trees with a part of their pods where cores divide a pod's links.
    let mut colliding = Vec::new();
    let trees = [(8, &[32_u32, 64, 128][..]), (12, &[72, 108, 144, 216]), (16, &[128, 256])];
    for (radix, devices) in trees.into_iter().flat_map(|(radix, all)| all.iter().map(move |n| (radix, *n))) {
        let (worst, _) = worst_shift(devices, radix);
        if worst > 1 {
            colliding.push((devices, radix, worst));
        }
    }
    assert_eq!(colliding, [], "devices, ports, messages on one link");
}

/// Links of each pod to each core, by counting cables.
fn links_to_cores(topology: &Topology) -> BTreeMap<u32, BTreeMap<u32, u32>> {
    let mut links: BTreeMap<u32, BTreeMap<u32, u32>> = BTreeMap::new();
    for (id, node) in topology.graph.nodes() {
        let crate::topology::Node::Switch(spine) = node else { continue };
        let Some(pod) = spine.pod.filter(|_| spine.tier == 2) else { continue };
        for link in topology.graph.outgoing(id) {
            if let crate::topology::Node::Switch(core) = topology.graph.node(topology.graph.to(link))
                && core.tier == 3
            {
                *links.entry(pod).or_default().entry(core.index).or_default() += 1;
            }
        }
    }
    links
}

/// If cores do not divide a pod's links, two pods have different numbers of links to some cores. When all of
/// a full pod sends to all of another, a core receives from one at most its number of links to the other.
/// That is less than all, so messages share links under any routing with one route each. Here two do; three
/// in one tree of eight ports.
#[test]
fn where_cores_do_not_divide_a_pods_links_routes_collide_and_hardly_more() {
    for (devices, radix, expected) in [(48, 8, 2), (80, 8, 3), (96, 8, 2), (112, 8, 2), (192, 16, 2)] {
        let (worst, topology) = worst_shift(devices, radix);
        let links = links_to_cores(&topology);
        let room = |a: u32, b: u32| -> u32 {
            links[&a].iter().map(|(core, n)| *n.min(links[&b].get(core).unwrap_or(&0))).sum()
        };
        let all: u32 = links[&0].values().sum();
        let pods = links.len() as u32;
        assert!(
            (1..pods).any(|other| room(0, other) < all),
            "{devices}: some rule could do without collisions"
        );
        assert_eq!(worst, expected, "{devices} devices, {radix} ports");
    }
}

#[test]
fn hashed_routes_spread_over_labels() {
    let one = DesignSpec {
        channels: Some(1),
        routing: Some(Routing::Ecmp),
        ..DesignSpec::of(Kind::Clos, 128, 1, 8)
    };
    let topology = build(&one, Detail::Links);
    let link_paths: BTreeSet<Vec<u32>> = (0..2000)
        .map(|label| {
            let route = topology.route(0, 127, label).expect("joined");
            route.hops.iter().map(|hop| hop.link.0).collect()
        })
        .collect();
    // Between pods of a k-ary tree there are k^2/4 routes.
    assert_eq!(link_paths.len(), 16);
}

/// NCCL's defaults: two channels of one queue pair, each with another hashed route. With several ports, a
/// route on each, with the same share.
#[test]
fn a_connection_has_routes_for_channels_queue_pairs_and_ports() {
    let counts = |spec: &DesignSpec| {
        let topology = build(spec, Detail::Links);
        let route = topology.route(0, 127, 1).expect("joined");
        let on =
            |layer| route.hops.iter().filter(|hop| topology.graph.class(hop.link).layer == layer).count();
        let access = route.hops.iter().filter(|hop| topology.graph.class(hop.link).layer == Layer::Access);
        let shares: BTreeSet<String> = access.map(|hop| format!("{:.4}", hop.share)).collect();
        (topology.draws(1).len(), on(Layer::Access), shares.into_iter().collect::<Vec<_>>().join(" "))
    };
    let clos = DesignSpec { routing: Some(Routing::Ecmp), ..DesignSpec::of(Kind::MultiPlane, 128, 1, 8) };
    let planes = |n, striped| DesignSpec { planes: Some(n), plane_striping: Some(striped), ..clos.clone() };
    assert_eq!(counts(&planes(1, true)), (2, 2, "1.0000".to_owned()));
    // Four ports at both ends, each with a quarter; also with routing by destination.
    assert_eq!(counts(&planes(4, true)), (8, 8, "0.2500".to_owned()));
    let fixed = DesignSpec { routing: Some(Routing::Static), ..planes(4, true) };
    assert_eq!(counts(&fixed), (4, 8, "0.2500".to_owned()));
    let many = DesignSpec { channels: Some(4), queue_pairs: Some(3), ..planes(2, true) };
    assert_eq!(counts(&many), (24, 4, "0.5000".to_owned()));
    let flowlets = DesignSpec { flowlets: Some(8), ..planes(2, true) };
    assert_eq!(counts(&flowlets), (32, 4, "0.5000".to_owned()));
    let sprayed = DesignSpec { routing: Some(Routing::Spray), ..flowlets };
    let problem = sprayed.resolve().expect_err("packets need no flowlets");
    assert_eq!(problem.message, "`spray` routing has no flowlets");
    // Bonded ports: each queue pair takes the port that a hash gives it.
    let bonded = DesignSpec { channels: Some(1), ..planes(4, false) };
    assert_eq!(counts(&bonded), (1, 2, "1.0000".to_owned()));
    let problem =
        DesignSpec { channels: Some(64), queue_pairs: Some(64), ..clos }.resolve().expect_err("too many");
    assert!(problem.message.contains("more than 1024"), "{}", problem.message);
}

/// The example of Kim et al. (ISCA 2008): p = h = 4, a = 8, so 33 groups of 32 devices, one link between any
/// two groups.
fn kims_dragonfly(routing: Routing) -> Topology {
    let spec = DesignSpec { routing: Some(routing), ..DesignSpec::of(Kind::Dragonfly, 1056, 1, 15) };
    build(&spec, Detail::Links)
}

/// Messages on the busiest global link, and on the busiest link, when each device sends one to its
/// counterpart `shift` groups further.
fn crowd(topology: &Topology, shift: u32) -> (f64, f64) {
    let mut load = vec![0.0; topology.graph.link_count()];
    let devices = topology.graph.devices();
    for from in 0..devices {
        for hop in topology.route(from, (from + 32 * shift) % devices, 0).expect("joined").hops {
            load[hop.link.index()] += hop.share;
        }
    }
    let most = |is_meant: &dyn Fn(Layer) -> bool| {
        let links = load.iter().enumerate();
        links
            .filter(|(link, _)| is_meant(topology.graph.class(LinkId(*link as u32)).layer))
            .map(|(_, load)| *load)
            .fold(0.0, f64::max)
    };
    (most(&|layer| layer == Layer::Global), most(&|_| true))
}

/// Kim et al., section 4.2 with figure 8(b): every group sends to one other. Minimal routing reaches 1/(a h)
/// of the bandwidth, "the single channel" between the two. Valiant's routing reaches somewhat under a half.
/// In closed form: 32 messages on one link; or, over 31 third groups and each link once as the first and once
/// as the second half of a detour, 2 * 32 / 31.
#[test]
fn a_group_that_sends_to_one_other_gets_one_link_or_half_of_all() {
    let (minimal, valiant) = (kims_dragonfly(Routing::Spray), kims_dragonfly(Routing::Valiant));
    let mut best = f64::INFINITY;
    for shift in 1..33 {
        assert_eq!(crowd(&minimal, shift), (32.0, 32.0), "1/(a h) = 1/32, shift {shift}");
        let (global, all) = crowd(&valiant, shift);
        assert!(
            (global - 64.0 / 31.0).abs() < 1e-9,
            "shift {shift}: {global}, 31/64 = 0.484 of the bandwidth"
        );
        // Within third groups some shifts crowd links between two routers, which detours through one more
        // router would relieve.
        assert!(all < 32.0 / 5.0, "shift {shift}: {all}");
        best = all.min(best);
    }
    assert!((best - 64.0 / 31.0).abs() < 1e-9, "some shift is limited by global links alone: {best}");
    // All-to-all suits minimal routes: detours load global links twice.
    let twice = |topology: &Topology| {
        let mut sum = 0.0;
        for to in (32..1056).step_by(7) {
            let hops = topology.route(0, to, 0).expect("joined").hops;
            let is_global = |link| topology.graph.class(link).layer == Layer::Global;
            sum += hops.iter().filter(|hop| is_global(hop.link)).map(|hop| hop.share).sum::<f64>();
        }
        sum
    };
    assert!((twice(&valiant) / twice(&minimal) - 2.0).abs() < 1e-9);
}

#[test]
fn detours_are_for_dragonflies() {
    let spec = DesignSpec { routing: Some(Routing::Valiant), ..DesignSpec::of(Kind::Clos, 64, 8, 16) };
    let problem = spec.resolve().expect_err("no groups");
    assert_eq!(problem.message, "`valiant` routing requires intermediate groups, but a clos has none");
    assert_eq!(
        problem.hint.as_deref(),
        Some("choose one of ecmp, spray, static, adaptive; `valiant` is for dragonflies")
    );
}
