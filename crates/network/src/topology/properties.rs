//! Any parameters: a design is rejected with a reason, or it is counted, drawn, built and routed without
//! contradiction.

use super::{Counts, DesignSpec, Detail, Fabric, Forwarding, Kind, Layer, Routing, Topology, svg};
use crate::bill::{bill, prices::Prices};
use crate::failures::classes;
use proptest::prelude::*;
use railwright_spec::quantity::BytesPerSecond;

fn any_small() -> impl Strategy<Value = u64> {
    prop_oneof![1_u64..20, Just(32), Just(64), Just(100), Just(256)]
}

prop_compose! {
    fn shape()(
        kind in proptest::sample::select(Kind::ALL.to_vec()),
        domains in any_small(),
        domain in prop_oneof![Just(1_u64), Just(2), Just(3), Just(4), Just(8), Just(12)],
        radix in prop_oneof![2_u64..20, Just(32), Just(64), Just(128)],
        chassis in proptest::option::weighted(0.2, prop_oneof![2_u64..20, Just(288), Just(576)]),
        core in proptest::option::weighted(0.1, prop_oneof![2_u64..20, Just(576)]),
        tiers in proptest::option::weighted(0.2, 0_u64..5),
        planes in proptest::option::weighted(0.2, 1_u64..5),
        rails in proptest::option::weighted(0.2, 1_u64..9),
        pods in proptest::option::weighted(0.2, 0_u64..6),
        zones in proptest::option::weighted(0.1, 0_u64..6),
        hosts in proptest::option::weighted(0.2, 0_u64..20),
        backup in proptest::option::weighted(0.1, 0_u64..9),
        leaf in proptest::option::weighted(0.3, prop_oneof![Just(1.0), Just(1.125), Just(2.0), Just(3.0), Just(7.0), 0.01..40.0]),
        spine in proptest::option::weighted(0.2, prop_oneof![Just(1.0), Just(2.0), Just(15.0), 0.01..40.0]),
    ) -> DesignSpec {
        DesignSpec {
            kind: Some(kind),
            devices: Some(domains * domain),
            domain: (kind != Kind::ScaleUp).then_some(domain),
            radix: Some(radix),
            spine_radix: chassis.filter(|_| kind.takes("spine_radix")),
            core_radix: core.filter(|_| kind.takes("core_radix")),
            tiers: tiers.filter(|_| kind.takes("tiers")),
            planes: planes.filter(|_| kind.takes("planes")),
            rails: rails.filter(|_| kind.takes("rails")),
            pods: pods.filter(|_| kind.takes("pods")),
            zones: zones.filter(|_| kind.takes("zones")),
            hosts_per_leaf: hosts.filter(|_| kind.takes("hosts_per_leaf")),
            backup_ports: backup.filter(|_| kind.takes("backup_ports")),
            leaf_oversubscription: leaf.filter(|_| kind.takes("leaf_oversubscription")),
            spine_oversubscription: spine.filter(|_| kind.takes("spine_oversubscription")),
            ..DesignSpec::default()
        }
    }
}

prop_compose! {
    fn design()(
        spec in shape(),
        routing in prop_oneof![Just(Routing::Ecmp), Just(Routing::Spray), Just(Routing::Static)],
        forwarding in prop_oneof![Just(None), Just(Some(Forwarding::None)), Just(Some(Forwarding::After))],
        share in proptest::option::of(any::<bool>()),
        split in proptest::option::weighted(0.2, prop_oneof![Just(100.0), Just(200.0), Just(400.0), Just(800.0)]),
        groups in proptest::option::weighted(0.1, 0_u64..40),
        globals in proptest::option::weighted(0.1, 0_u64..6),
        spines in proptest::option::weighted(0.1, 0_u64..9),
        seed in 0_u64..5,
    ) -> DesignSpec {
        let kind = spec.kind.unwrap_or(Kind::Clos);
        DesignSpec {
            routing: Some(routing),
            forwarding,
            share_switches: share,
            port_speed: split.map(BytesPerSecond::from_gbit),
            groups: groups.filter(|_| kind.takes("groups")),
            globals_per_router: globals.filter(|_| kind.takes("globals_per_router")),
            spines_per_group: spines.filter(|_| kind.takes("spines_per_group")),
            seed: Some(seed),
            ..spec
        }
    }
}

fn holds_together(counts: &Counts) {
    for tier in &counts.tiers {
        assert!(tier.ports_used <= tier.ports, "{counts:?}");
    }
    for layer in &counts.layers {
        assert!(layer.cables > 0 && layer.transceivers <= 2 * layer.cables, "{counts:?}");
    }
}

/// Leaves of whole servers, with more uplinks than the oversubscription needs: devices and uplinks have a
/// port each.
#[test]
fn a_leaf_has_a_port_for_each_device_and_uplink() {
    let mut built = 0;
    for (kind, radix) in
        [Kind::Clos, Kind::MultiPlane].into_iter().flat_map(|kind| [40, 48, 64, 128, 144].map(|r| (kind, r)))
    {
        for (domain, over) in
            [2, 8, 16].into_iter().flat_map(|domain| [1.25, 1.5, 2.0, 3.0, 4.0].map(|o| (domain, o)))
        {
            for domains in [40, 161, 265, 289] {
                let spec = DesignSpec {
                    leaf_oversubscription: Some(over),
                    ..DesignSpec::of(kind, domains * domain, domain, radix)
                };
                let Ok(design) = spec.resolve() else { continue };
                holds_together(&design.counts());
                let Fabric::Clos(clos) = &design.fabric else { continue };
                let down = clos.clos.hosts_per_leaf.div_ceil(clos.hosts_per_port);
                assert!(
                    clos.clos.tiers == 1 || down + clos.clos.leaf_uplinks <= design.ports_per_switch,
                    "{spec:?}"
                );
                built += 1;
            }
        }
    }
    assert!(built > 400, "{built}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_design_is_refused_or_holds_together(spec in design(), from in 0_u32..4000, to in 0_u32..4000) {
        let design = match spec.resolve() {
            Ok(design) => design,
            Err(problem) => {
                let key = problem.place.as_ref().and_then(|place| place.key.clone()).unwrap_or_default();
                prop_assert!(key.starts_with("design."), "{problem}");
                return Ok(());
            }
        };
        let counts = design.counts();
        holds_together(&counts);
        let prices = Prices::catalogue().expect("well formed");
        if let Ok(bill) = bill(&design, &prices) {
            prop_assert!(bill.total.is_finite() && bill.total >= bill.fabric);
        }
        for class in classes(&design) {
            prop_assert!((0.0..=1.0).contains(&class.kept_spread) && class.kept_spread >= class.kept_alone - 1e-12, "{class:?}");
            prop_assert!(class.cut_off <= design.devices && class.stranded <= design.devices);
        }
        prop_assert!(svg::draw(&design).ends_with("</svg>\n"));
        let summary = spec.summary().expect("it resolved");
        prop_assert!(summary.room >= design.devices);
        let reached: u64 = summary.reach.iter().map(|reach| reach.devices).sum();
        prop_assert_eq!(reached, design.devices - 1, "{:?}", summary.reach);
        let Ok(topology) = Topology::build(&design, Detail::Links) else {
            prop_assert!(
                design.kind == Kind::SlimFly
                    || design.fabric_tiers() == 4 && design.routing == Routing::Static
            );
            return Ok(());
        };
        for layer in [Layer::Access, Layer::LeafSpine, Layer::SpineCore, Layer::CoreTop, Layer::Local, Layer::Global, Layer::Torus] {
            prop_assert_eq!(topology.graph.cables(layer) as u64, counts.links_in(layer), "{:?}", layer);
        }
        let devices = design.devices as u32;
        let (from, to) = (from % devices, to % devices);
        let route = topology.route(from, to, 7).expect("all devices are connected");
        let arriving: f64 = route
            .hops
            .iter()
            .filter(|hop| topology.graph.to(hop.link).0 == to)
            .map(|hop| hop.share)
            .sum();
        prop_assert!(from == to || (arriving - 1.0).abs() < 1e-9, "{arriving}");
        let mut at = vec![0.0; topology.graph.node_count()];
        for hop in &route.hops {
            at[topology.graph.from(hop.link).index()] -= hop.share;
            at[topology.graph.to(hop.link).index()] += hop.share;
        }
        for (node, amount) in at.iter().enumerate() {
            let expected = f64::from(u8::from(node as u32 == to)) - f64::from(u8::from(node as u32 == from));
            prop_assert!((amount - expected).abs() < 1e-9, "node {node}: {amount}");
        }
    }
}
