//! Broken parts: routes around them, their cost, and disconnected devices.

use super::agreement::designs;
use super::*;
use crate::simulate::{Script, Work};
use crate::topology::{Layer, LinkId, Node, NodeId};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// Tests whether unbroken links join two devices. The links lead through a common domain, or over the
/// devices' own NICs and switches alone. No other device forwards, except in a torus.
fn is_joined(wiring: &Wiring, from: u32, to: u32) -> bool {
    let topology = &wiring.topology;
    let graph = &topology.graph;
    let forwards = topology.design.kind == Kind::Torus;
    let size = topology.design.domain.size as u32;
    let is_one_domain = from / size == to / size;
    let passes = |node: NodeId| match graph.node(node) {
        Node::Device(device) => forwards || device == to,
        Node::Nic(device) => device == from || device == to,
        Node::Domain(_) => is_one_domain,
        Node::Switch(_) => true,
    };
    let mut reached = vec![NodeId(from)];
    let mut next = 0;
    while let Some(&node) = reached.get(next) {
        next += 1;
        for link in graph.outgoing(node).filter(|link| wiring.is_alive(*link)) {
            let further = graph.to(link);
            if passes(further) && !reached.contains(&further) {
                reached.push(further);
            }
        }
    }
    reached.contains(&NodeId(to))
}

/// The NIC of a link between device and NIC, if it lost ports.
fn lost_nic(wiring: &Wiring, link: LinkId) -> Option<NodeId> {
    let graph = &wiring.topology.graph;
    [graph.from(link), graph.to(link)].into_iter().find(|node| match graph.node(*node) {
        Node::Nic(device) => graph.class(link).layer == Layer::Host && wiring.lost().kept(device) < 1.0,
        _ => false,
    })
}

/// Checks conservation of flow over unbroken links: inflow of a node equals its outflow, the sender sends 1
/// and the receiver receives 1.
fn is_a_flow(wiring: &Wiring, from: u32, to: u32) -> Result<(), TestCaseError> {
    let Some(link_path) = wiring.link_path(from, to, 5) else {
        prop_assert!(!is_joined(wiring, from, to), "{from} {to} are joined, and no way is found");
        return Ok(());
    };
    let mut net: BTreeMap<NodeId, f64> = BTreeMap::new();
    for (link, share) in &link_path.links {
        let link = LinkId(*link);
        // If a NIC lost ports, its link to the device represents a limit (`recovery`): the flow is that
        // through its ports.
        if let Some(nic) = lost_nic(wiring, link) {
            let ports = link_path.links.iter().filter(|(port, _)| {
                let (port, graph) = (LinkId(*port), &wiring.topology.graph);
                let is_out = graph.to(link) == nic;
                graph.class(port).layer == Layer::Access
                    && (if is_out { graph.from(port) } else { graph.to(port) }) == nic
            });
            let passes: f64 = ports.map(|(_, share)| share).sum();
            prop_assert!(passes < 1e-9 || wiring.is_alive(link), "{from} {to} over a broken NIC");
            *net.entry(wiring.topology.graph.from(link)).or_default() -= passes;
            *net.entry(wiring.topology.graph.to(link)).or_default() += passes;
            continue;
        }
        prop_assert!(wiring.is_alive(link), "{from} {to} over a broken link");
        *net.entry(wiring.topology.graph.from(link)).or_default() -= share;
        *net.entry(wiring.topology.graph.to(link)).or_default() += share;
    }
    for (node, sum) in net {
        let expected = if node.0 == from { -1.0 } else { f64::from(u8::from(node.0 == to)) };
        prop_assert!((sum - expected).abs() < 1e-9, "{from} {to}: {node:?} keeps {sum}");
    }
    Ok(())
}

proptest! {
    #![proptest_config(railwright_cases::cases(96))]

    #[test]
    fn routes_around_broken_parts_are_whole(
        spec in designs(),
        parts in proptest::collection::vec((0_usize..10, 0_u32..20), 1..4),
    ) {
        let Ok(design) = spec.resolve() else { return Ok(()) };
        let topology = crate::topology::Topology::build(&design, crate::topology::Detail::Links).expect("small");
        let layers = [Layer::ScaleUp, Layer::Access, Layer::LeafSpine, Layer::Local, Layer::Global, Layer::Torus];
        let failed: Vec<Part> = parts
            .iter()
            .map(|&(kind, n)| match kind {
                0..=5 => Part::Link(layers[kind], n),
                6 => Part::Nic(n),
                tier => Part::Switch(tier as u8 - 6, n),
            })
            .filter(|part| part.cables(&topology).is_ok())
            .collect();
        let wiring = Wiring::of(topology, &failed).expect("parts are there");
        let stranded = wiring.stranded();
        for from in 0..wiring.devices() {
            for to in 0..wiring.devices() {
                if from != to {
                    is_a_flow(&wiring, from, to)?;
                    let apart = stranded.contains(&from) != stranded.contains(&to);
                    prop_assert!(!(apart && wiring.link_path(from, to, 0).is_some()), "{from} {to} are apart");
                }
            }
        }
    }
}

pub(super) fn neighbours(devices: u64, domain: u64) -> (Numbering, Exchange) {
    exchange(devices, Shape::Gather, devices / domain, domain, 1e9)
}

pub(super) fn slowdown(spec: &DesignSpec, failed: &[&str], exchange: &(Numbering, Exchange)) -> f64 {
    alone(&wiring(spec, failed), exchange).exchanges[0].slowdown
}

/// The simulator and the arithmetic of `failures`: the domain keeps `1 - 1/K` of its NICs, a dual plane `1 -
/// 1/16` (10.1145/3651890.3672265: -6.25%), a leaf of a rail `1 - 1/K`, a spine of a sprayed tree `1 - 1/s`.
#[test]
fn failures_cost_equals_their_class() {
    let ring = neighbours(256, 8);
    // A leaf of 64 ports has two rails of 32 devices without a tier above it.
    for (kind, leaf) in [(Kind::RailOnly, 0.75), (Kind::RailOptimized, 0.875)] {
        let design = spec(kind, 256, 8, 64);
        let classes = crate::failures::classes(&resolve(&design));
        for (part, class, kept) in
            [("nic:3", "NIC", 0.875), ("link:access:3", "NIC-leaf link", 0.875), ("leaf:0", "leaf", leaf)]
        {
            let class = classes.iter().find(|known| known.part == class).expect(class);
            assert_eq!(class.kept_spread, kept);
            near(slowdown(&design, &[part], &ring), 1.0 / kept, 1e-9);
        }
    }
    let dual = DesignSpec { routing: Some(Routing::Spray), ..spec(Kind::DualPlane, 256, 8, 64) };
    // One port of a server's 16: its domain keeps 15 of them; a device without help keeps one of two.
    let port = crate::failures::classes(&resolve(&dual));
    let port = port.iter().find(|known| known.part == "NIC-leaf link").expect("a class");
    near(slowdown(&dual, &["link:access:3"], &ring), 1.0 / port.kept_spread, 1e-9);
    near(port.kept_spread, 15.0 / 16.0, 1e-12);
    let tree = DesignSpec { routing: Some(Routing::Spray), ..spec(Kind::Clos, 128, 1, 16) };
    let across = exchange(128, Shape::Gather, 16, 8, 1e9);
    near(slowdown(&tree, &[], &across), 1.0, 1e-9);
    near(slowdown(&tree, &["spine:0"], &across), 8.0 / 7.0, 1e-9);
    near(slowdown(&tree, &["link:leaf-spine:0"], &across), 8.0 / 7.0, 1e-9);
}

#[test]
fn disconnected_ranks_are_reported() {
    let ring = neighbours(64, 8);
    let problem = |spec: &DesignSpec, failed: &[&str]| {
        exchange_time(&wiring(spec, failed), &ring.0, std::slice::from_ref(&ring.1)).expect_err("cut off")
    };
    let clos = spec(Kind::Clos, 64, 8, 16);
    let outcome = problem(&clos, &["leaf:1"]);
    assert_eq!(outcome.message, "without `leaf:1`, 8 ranks (8-15) are disconnected: the step cannot finish");
    assert!(outcome.hint.is_some());
    // All rails of one domain.
    let nics: Vec<String> = (16..24).map(|n| format!("nic:{n}")).collect();
    let nics: Vec<&str> = nics.iter().map(String::as_str).collect();
    let outcome = problem(&spec(Kind::RailOnly, 64, 8, 16), &nics);
    assert!(outcome.message.contains("8 ranks (16-23) are disconnected"), "{}", outcome.message);
    let torus = DesignSpec { dimensions: Some(vec![4, 1, 1]), ..spec(Kind::Torus, 4, 1, 8) };
    let (numbering, ring) = exchange(4, Shape::Gather, 4, 1, 1e6);
    let outcome = exchange_time(&wiring(&torus, &["link:torus:0", "link:torus:3"]), &numbering, &[ring])
        .expect_err("cut off");
    assert!(outcome.message.contains("rank 0 is disconnected"), "{}", outcome.message);
    // More ranks than devices.
    let outcome = {
        let (numbering, ring) = neighbours(128, 8);
        exchange_time(&wiring(&clos, &[]), &numbering, &[ring]).expect_err("too many")
    };
    assert_eq!(outcome.message, "the run has 128 ranks, but the network 64 devices");
}

#[test]
fn tasks_start_when_what_they_wait_for_has_ended() {
    let wiring = wiring(&spec(Kind::RailOnly, 16, 8, 16), &[]);
    let send = |from, to| {
        let edge = crate::simulate::Edge { from, to, bytes: 50e9 };
        Class::new("send", vec![vec![edge]], 1.0, &wiring.topology.design)
    };
    let bundle =
        crate::simulate::Bundle::new(&wiring, &[send(0, 8), send(0, 8), send(1, 9)], 1).expect("joined");
    let mut script = Script::default();
    let one = Seconds::new(1.0);
    let pause = script.add(Work::Pause(one), []);
    let first = script.add(Work::Move { class: 0, amount: one }, [pause]);
    // The second joins halfway through the first, on the same NIC; the third has its own.
    let half = script.add(Work::Pause(one * 0.5), [pause]);
    let second = script.add(Work::Move { class: 1, amount: one }, [half]);
    let third = script.add(Work::Move { class: 2, amount: one }, [half]);
    let last = script.add(Work::Pause(one), [first, second, third]);
    let played = script.play(&bundle).expect("it ends");
    let end = |task: u32| played.ends[task as usize].get();
    for (task, expected) in [(pause, 1.0), (first, 2.5), (second, 3.0), (third, 2.5), (last, 4.0)] {
        assert!((end(task) - expected).abs() < 1e-9, "{task}: {} {expected}", end(task));
    }
    // A neighbour's job with an uncapped rate halves the rate of the first; capped to a fifth it takes a
    // fifth.
    for (cap, expected) in [(1.0, 2.0), (0.2, 1.25)] {
        let mut bundle = bundle.clone();
        bundle.cap(1, cap);
        let mut script = Script::default();
        script.add(Work::Endless { class: 1 }, []);
        let own = script.add(Work::Move { class: 0, amount: one }, []);
        let played = script.play(&bundle).expect("it ends");
        assert!((played.ends[own as usize].get() - expected).abs() < 1e-9, "{:?}", played.ends);
    }
    let mut circle = Script::default();
    let a = circle.add(Work::Pause(one), []);
    let b = circle.add(Work::Pause(one), [a]);
    circle.follow(b, a);
    assert!(circle.play(&bundle).is_err());
}

/// Four leaves of eight devices and two spines with four cables to each leaf. Three of the cables from the
/// first spine to the second leaf are lost. Sprayed packets to that leaf still take both spines evenly, so
/// that one cable carries half of all eight messages. Adaptive ones take them in proportion to the cables
/// that are left, 1 to 4.
#[test]
fn adaptive_packets_in_a_tree_avoid_links_with_little_behind_them() {
    let tree = |routing| DesignSpec {
        routing: Some(routing),
        domain_latency: Some(Seconds::ZERO),
        link_latency: Some(Seconds::ZERO),
        ..spec(Kind::Clos, 32, 1, 16)
    };
    let across = |wiring: &Wiring| {
        let edges = (0..8).map(|from| crate::simulate::Edge { from, to: from + 8, bytes: 1e6 }).collect();
        let class = Class::new("across", vec![edges], 1.0, &wiring.topology.design);
        class_time(wiring, &[class]).expect("joined").exchanges[0].slowdown
    };
    let design = resolve(&tree(Routing::Ecmp));
    let whole = crate::topology::Topology::build(&design, crate::topology::Detail::Links).expect("small");
    let graph = &whole.graph;
    let is_switch = |node: NodeId, tier: u8, number: u32| match graph.node(node) {
        Node::Switch(switch) => switch.tier == tier && switch.index == number,
        _ => false,
    };
    let cables: Vec<LinkId> = (0..graph.link_count() as u32)
        .map(LinkId)
        .filter(|link| link.0.is_multiple_of(2) && graph.class(*link).layer == Layer::LeafSpine)
        .collect();
    assert_eq!(cables.len(), 32);
    let joins = |link: &LinkId, leaf, spine| {
        let ends = [graph.from(*link), graph.to(*link)];
        ends.iter().any(|end| is_switch(*end, 1, leaf)) && ends.iter().any(|end| is_switch(*end, 2, spine))
    };
    let cables: Vec<String> = cables
        .iter()
        .enumerate()
        .filter(|(_, link)| joins(link, 1, 0))
        .map(|(place, _)| format!("link:leaf-spine:{place}"))
        .take(3)
        .collect();
    assert_eq!(cables.len(), 3);
    let lost: Vec<&str> = cables.iter().map(String::as_str).collect();
    for (routing, whole, broken) in [(Routing::Spray, 1.0, 4.0), (Routing::Adaptive, 1.0, 1.6)] {
        near(across(&wiring(&tree(routing), &[])), whole, 1e-9);
        near(across(&wiring(&tree(routing), &lost)), broken, 1e-9);
    }
}
