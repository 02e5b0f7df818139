//! The symmetric small network compared with the large one, flows in lock step with single messages, and
//! rates with the definition of max-min.

use super::*;
use crate::flow::testing::oracle;
use crate::flow::{Allocator, Flow, Wires};
use crate::simulate::Edge;
use crate::simulate::bundle::Bundle;
use crate::simulate::rows;
use crate::topology::Forwarding;
use proptest::prelude::*;

const KINDS: [Kind; 9] = [
    Kind::Clos,
    Kind::RailOptimized,
    Kind::RailOnly,
    Kind::Trimmed,
    Kind::DualPlane,
    Kind::MultiPlane,
    Kind::Dragonfly,
    Kind::DragonflyPlus,
    Kind::Torus,
];

prop_compose! {
    /// A design that can be built, of at most 64 devices.
    pub(super) fn designs()(
        kind in proptest::sample::select(KINDS.to_vec()),
        domains in 1_u64..9,
        domain in prop_oneof![Just(1_u64), Just(2), Just(4), Just(8)],
        radix in prop_oneof![Just(4_u64), Just(8), Just(12), Just(16)],
        routing in proptest::sample::select(vec![Routing::Ecmp, Routing::Spray, Routing::Static, Routing::Valiant]),
        after in any::<bool>(),
        leaf in prop_oneof![2 => Just(1.0), 1 => Just(2.0), 1 => Just(3.0)],
        seed in 0_u64..4,
        zones in proptest::option::weighted(0.2, (1_u64..4, prop_oneof![Just(1.0), Just(2.0), Just(4.0)])),
    ) -> DesignSpec {
        // Four tiers have no routes by destination.
        let zones = zones.filter(|_| kind.is_clos() && kind != Kind::Trimmed);
        let routing = if zones.is_some() && routing == Routing::Static { Routing::Ecmp } else { routing };
        let domain = if kind == Kind::Torus { 1 } else { domain };
        let routing = if kind.routings().contains(&routing) { routing } else { Routing::Spray };
        DesignSpec {
            routing: Some(routing),
            forwarding: (after && kind == Kind::RailOnly && domain > 1).then_some(Forwarding::After),
            leaf_oversubscription: (leaf > 1.0 && kind.is_clos()).then_some(leaf),
            seed: Some(seed),
            zones: zones.map(|(zones, _)| zones),
            core_oversubscription: zones.map(|(_, ratio)| ratio),
            domain_latency: Some(Seconds::ZERO),
            link_latency: Some(Seconds::ZERO),
            ..spec(kind, domains * domain, domain, radix)
        }
    }
}

/// Rates of flows between pairs, by solver and by definition.
fn rates(spec: &DesignSpec, failed: &[Part], pairs: &[(u32, u32)]) -> Option<(Vec<f64>, Vec<f64>)> {
    let wiring = Wiring::new(&spec.resolve().ok()?, failed).ok()?;
    let n = wiring.devices();
    let mut routes = Vec::new();
    for (from, to) in pairs.iter().map(|(from, to)| (from % n, to % n)).filter(|(from, to)| from != to) {
        let mut route = Vec::new();
        wiring.route(&Flow { from, to, bytes: 1.0, tag: 0 }, &mut route);
        routes.push(route);
    }
    let capacities = wiring.capacities();
    let mut allocator = Allocator::new(capacities.iter().copied());
    let slots: Vec<_> = routes.iter().map(|route| allocator.insert(route)).collect();
    allocator.solve(|_, _| {});
    Some((slots.iter().map(|slot| allocator.rate(*slot)).collect(), oracle(&capacities, &routes)))
}

proptest! {
    #![proptest_config(railwright_cases::cases(128))]

    #[test]
    fn rates_on_random_designs_are_those_of_the_definition(
        spec in designs(),
        pairs in proptest::collection::vec((0_u32..64, 0_u32..64), 1..40),
    ) {
        if let Some((here, there)) = rates(&spec, &[], &pairs) {
            for (a, b) in here.iter().zip(&there) {
                prop_assert!((a - b).abs() <= 1e-9 * b, "{a} {b}");
            }
        }
    }

    /// One flow for all equivalent ones: the same end for every group as with separate flows.
    #[test]
    fn symmetry_loses_nothing(
        spec in designs(),
        kinds in proptest::collection::vec((0_usize..4, prop_oneof![Just(2_u64), Just(4), Just(8)], prop_oneof![Just(1_u64), Just(2), Just(4), Just(8)], 1e6_f64..1e9), 1..4),
        link in proptest::option::of(0_u32..40),
        others in proptest::option::of(1e6_f64..1e9),
    ) {
        let Ok(design) = spec.resolve() else { return Ok(()) };
        let world = design.devices;
        let failed: Vec<Part> = link
            .map(|n| Part::Link(if design.kind == Kind::Torus { crate::topology::Layer::Torus } else { crate::topology::Layer::LeafSpine }, n))
            .into_iter()
            .collect();
        let Ok(wiring) = Wiring::new(&design, &failed) else { return Ok(()) };
        let mut classes: Vec<Class> = kinds
            .iter()
            .filter(|(_, n, stride, _)| world.is_multiple_of(n * stride))
            .map(|&(kind, n, stride, bytes)| {
                let shape = [Shape::Gather, Shape::Everyone, Shape::Next, Shape::Dispatch][kind];
                let (numbering, exchange) = exchange(world, shape, n, stride, bytes);
                Class::of(&exchange, &numbering, None, &design)
            })
            .collect();
        // Other jobs: each device to the one half of them away, no two of them waiting for each other.
        if let Some(bytes) = others.filter(|_| world > 1) {
            let devices = world as u32;
            let to = |from: u32| (from + devices / 2) % devices;
            let pairs = (0..devices).filter(|from| to(*from) != *from);
            let pairs = pairs.map(|from| vec![Edge { from, to: to(from), bytes }]).collect();
            classes.push(Class { apart: true, ..Class::new("other jobs", pairs, 1.0, &design) });
        }
        let Ok(few) = class_time(&wiring, &classes) else { return Ok(()) };
        // Every group for itself, at the pace of its kind: the slowest group is the exchange.
        let single: Vec<Class> = classes
            .iter()
            .flat_map(|class| class.members.iter().map(|group| Class { members: vec![group.clone()], ..class.clone() }))
            .collect();
        let bundle = Bundle::new(&wiring, &single, usize::MAX).expect("joined");
        let mut script = super::super::Script::default();
        for (number, class) in single.iter().enumerate() {
            script.add(super::super::Work::Move { class: number as u32, amount: Seconds::new(class.ideal) }, []);
        }
        let full = script.play(&bundle).expect("it ends");
        let mut at = 0;
        for (class, time) in classes.iter().zip(&few.exchanges) {
            let slowest = full.ends[at..at + class.members.len()].iter().map(|end| end.get()).fold(0.0, f64::max);
            prop_assert!((time.time.get() - slowest).abs() <= 1e-9 * slowest, "{} {slowest}", time.time.get());
            at += class.members.len();
        }
    }

    /// Omitted rows are never the limit: rates on few rows are those on all links.
    #[test]
    fn links_left_out_limit_no_flow(
        spec in designs(),
        pairs in proptest::collection::vec((0_u32..64, 0_u32..64), 1..30),
    ) {
        let Ok(design) = spec.resolve() else { return Ok(()) };
        let Ok(wiring) = Wiring::new(&design, &[]) else { return Ok(()) };
        let n = wiring.devices();
        let mut loads = Vec::new();
        for (from, to) in pairs.iter().map(|(from, to)| (from % n, to % n)).filter(|(from, to)| from != to) {
            loads.push(wiring.link_path(from, to, 0).expect("joined").links);
        }
        let all = &wiring.capacities()[..wiring.topology.graph.link_count()];
        let slices: Vec<rows::Load<'_>> = loads.iter().map(Vec::as_slice).collect();
        let (few, routes) = rows::few(&slices, all, rows::EXACT);
        prop_assert!(few.len() <= all.len());
        let there = oracle(all, &loads);
        for (a, b) in oracle(&few, &routes).iter().zip(&there) {
            prop_assert!((a - b).abs() <= 1e-9 * b, "{a} {b}");
        }
        // Fewer links by a tolerance: no load exceeds the capacity by more.
        let tolerance = 0.2;
        let (fewer, routes) = rows::few(&slices, all, tolerance);
        prop_assert!(fewer.len() <= few.len());
        let rates = oracle(&fewer, &routes);
        let mut carried = vec![0.0; all.len()];
        for (rate, own) in rates.iter().zip(&loads) {
            for (link, share) in own {
                carried[*link as usize] += rate * share;
            }
        }
        for (carried, capacity) in carried.iter().zip(all) {
            prop_assert!(carried * (1.0 - tolerance) * (1.0 - tolerance) <= capacity * (1.0 + 1e-9), "{carried} {capacity}");
        }
    }
}

/// Rings as flows in lock step compared with rings of messages, all groups concurrently, on symmetric
/// networks. (On a torus collectives are not rings: `simulate::lattice`.)
#[test]
fn flows_that_keep_step_take_as_long_as_their_messages() {
    let no_latency = |spec: DesignSpec| DesignSpec {
        domain_latency: Some(Seconds::ZERO),
        link_latency: Some(Seconds::ZERO),
        ..spec
    };
    let designs = [
        no_latency(spec(Kind::RailOnly, 64, 4, 16)),
        no_latency(DesignSpec { routing: Some(Routing::Spray), ..spec(Kind::RailOptimized, 64, 4, 16) }),
        no_latency(DesignSpec {
            routing: Some(Routing::Spray),
            leaf_oversubscription: Some(3.0),
            ..spec(Kind::Clos, 64, 1, 16)
        }),
    ];
    for spec in designs {
        let wiring = wiring(&spec, &[]);
        for (n, stride) in [(4, 1), (16, 4), (8, 8)] {
            let groups = tiles(64, n, stride);
            let bytes = 1e8;
            let here = alone(&wiring, &exchange(64, Shape::Gather, u64::from(n), u64::from(stride), bytes));
            let mut rings = Rings(groups.into_iter().map(|group| Ring::half(group, bytes)).collect());
            let there = simulate(&wiring, &mut rings).expect("it ends");
            near(here.duration.get(), there.duration.get(), 1e-9);
        }
    }
}

/// Several concurrent rings.
struct Rings(Vec<Ring>);

const SHIFT: u32 = 48;

impl Rings {
    fn tagged(&mut self, ring: usize, start: &mut Vec<Flow>, act: impl FnOnce(&mut Ring, &mut Vec<Flow>)) {
        let mut own = Vec::new();
        act(&mut self.0[ring], &mut own);
        start.extend(own.into_iter().map(|flow| Flow { tag: flow.tag | (ring as u64) << SHIFT, ..flow }));
    }
}

impl Traffic for Rings {
    fn begin(&mut self, start: &mut Vec<Flow>) {
        for ring in 0..self.0.len() {
            self.tagged(ring, start, Ring::begin);
        }
    }

    fn arrived(&mut self, tag: u64, start: &mut Vec<Flow>) {
        let own = tag & ((1 << SHIFT) - 1);
        self.tagged((tag >> SHIFT) as usize, start, |ring, flows| ring.arrived(own, flows));
    }
}
