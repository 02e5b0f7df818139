//! Simulations on built topologies compared with SimGrid, with formulas, with the definition of max-min, and
//! with simulations without symmetry.

mod agreement;
mod broken;
mod detours;
mod domains;
mod flowlets;
mod grouped;
mod parted;
mod policy;
mod published;
mod recovery;
mod uniform;
mod zones;

use super::{Class, ConcurrentTimes, Part, Wiring, class_time, exchange_time};
use crate::flow::program::{self, Phases, Ring};
use crate::flow::{Traffic, simulate};
use crate::topology::{Design, DesignSpec, Kind, Layer, Routing};
use crate::traffic::{Algorithm, Exchange, Groups, Numbering};
use railwright_spec::quantity::{Bytes, BytesPerSecond, Seconds};
use railwright_step::{CollectiveKind, Dimension, Phase};

fn spec(kind: Kind, devices: u64, domain: u64, radix: u64) -> DesignSpec {
    DesignSpec {
        kind: Some(kind),
        devices: Some(devices),
        domain: Some(domain),
        radix: Some(radix),
        ..DesignSpec::default()
    }
}

fn resolve(spec: &DesignSpec) -> Design {
    spec.resolve().unwrap_or_else(|p| panic!("{spec:?}: {p}"))
}

fn wiring(spec: &DesignSpec, failed: &[&str]) -> Wiring {
    let parts: Vec<Part> = failed.iter().map(|name| Part::parse(name).expect("a part")).collect();
    Wiring::new(&resolve(spec), &parts).unwrap_or_else(|p| panic!("{spec:?}: {p}"))
}

/// Communication of a test's groups.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Shape {
    Gather,
    Reduce,
    Everyone,
    /// Tokens to experts: five copies, three domains at most.
    Dispatch,
    /// Each to the next of its group.
    Next,
}

/// Communication of all groups of `n` ranks at a stride that tile a number of ranks.
pub(super) fn exchange(world: u64, shape: Shape, n: u64, stride: u64, bytes: f64) -> (Numbering, Exchange) {
    let numbering = Numbering::pipeline_outermost(1, world);
    let (kind, algorithm) = match shape {
        Shape::Gather => (CollectiveKind::AllGather, Algorithm::Ring),
        Shape::Reduce => (CollectiveKind::AllReduce, Algorithm::Ring),
        Shape::Everyone => (CollectiveKind::AllToAll, Algorithm::Direct),
        Shape::Dispatch => (CollectiveKind::AllToAll, Algorithm::Dispatch { copies: 5, most_domains: 3 }),
        Shape::Next => (CollectiveKind::Send, Algorithm::Ring),
    };
    let exchange = Exchange {
        dimension: Dimension::Data,
        purpose: "test",
        phase: Phase::Optimizer,
        kind,
        algorithm,
        bytes: Bytes::new(bytes),
        count: 1.0,
        groups: Groups::within(&numbering, vec![0], n, stride),
    };
    (numbering, exchange)
}

fn alone(wiring: &Wiring, (numbering, exchange): &(Numbering, Exchange)) -> ConcurrentTimes {
    exchange_time(wiring, numbering, std::slice::from_ref(exchange)).unwrap_or_else(|p| panic!("{p}"))
}

/// The groups of `n` ranks at a stride that tile all ranks.
fn tiles(world: u32, n: u32, stride: u32) -> Vec<Vec<u32>> {
    (0..world)
        .filter(|rank| (rank / stride).is_multiple_of(n))
        .map(|first| (0..n).map(|i| first + i * stride).collect())
        .collect()
}

#[track_caller]
fn near(here: f64, there: f64, tolerance: f64) {
    assert!((here / there - 1.0).abs() < tolerance, "{here} {there}");
}

/// The fat tree of the published simulations as a design: 50 GB/s, 1 us a link, no scale-up domain, the
/// destination chooses.
fn fat_tree(hosts: u64, under_leaf: u64, oversubscription: f64) -> DesignSpec {
    DesignSpec {
        tiers: Some(2),
        hosts_per_leaf: Some(under_leaf),
        leaf_oversubscription: Some(oversubscription),
        routing: Some(Routing::Static),
        ..spec(Kind::Clos, hosts, 1, 2 * under_leaf)
    }
}

fn milliseconds(spec: &DesignSpec, mut traffic: impl Traffic) -> f64 {
    simulate(&wiring(spec, &[]), &mut traffic).expect("it ends").duration.get() * 1e3
}

/// SimGrid 3.32, CM02 without TCP corrections (`docs/concepts/flow-model.md`), each row on a built topology.
#[test]
fn messages_match_simgrid() {
    let all = |n: u32| (0..n).collect::<Vec<u32>>();
    for (hosts, there) in [(64, 1.262), (128, 2.542), (256, 5.102)] {
        let flows = program::all_to_all(&all(hosts), 1e6);
        near(milliseconds(&fat_tree(u64::from(hosts), 16, 1.0), Phases::new([flows])), there, 1e-6);
    }
    let flows = program::all_to_all(&all(64), 1e6);
    near(milliseconds(&fat_tree(64, 8, 4.0), Phases::new([flows])), 4.484, 1e-6);
    let shifted = all(64);
    let phases = Phases::new(program::shifted_all_to_all(&shifted, 1e6));
    near(milliseconds(&fat_tree(64, 8, 1.0), phases), 1.512, 1e-6);
    let shifted = all(1024);
    let phases = Phases::new(program::shifted_all_to_all(&shifted, 1e5));
    near(milliseconds(&fat_tree(1024, 32, 1.0), phases), 6.138, 1e-6);
    near(milliseconds(&fat_tree(256, 16, 1.0), Ring::all_reduce(all(256), 1e9)), 41.88375, 1e-6);
    near(milliseconds(&fat_tree(1024, 32, 1.0), Ring::all_reduce(all(1024), 1e9)), 48.144_917, 1e-6);
    let ranks = all(1024);
    let halving = program::halving_doubling(&ranks, 1e9).expect("a power of two");
    near(milliseconds(&fat_tree(1024, 32, 1.0), Phases::new(halving)), 40.020_937_5, 1e-6);
}

/// SimGrid's two rail-only rows: reduce-scatter in domains, all-reduce on rails, all-gather in domains.
#[test]
fn a_hierarchical_all_reduce_match_simgrid() {
    for (devices, domain, inside, across) in [(64, 8, 1.944_444_444, 4.375), (512, 64, 2.1875, 0.546_875)] {
        let spec = DesignSpec {
            domain_latency: Some(Seconds::ZERO),
            link_latency: Some(Seconds::ZERO),
            ..spec(Kind::RailOnly, devices, domain, 64)
        };
        let domains = tiles(devices as u32, domain as u32, 1);
        let rails = tiles(devices as u32, (devices / domain) as u32, domain as u32);
        near(milliseconds(&spec, Phases::new([program::direct(&domains, 1e9)])), inside, 1e-6);
        let share = 1e9 / domain as f64;
        let both = || program::direct(&rails, share);
        near(milliseconds(&spec, Phases::new([both(), both()])), across, 1e-6);
        // Flows in lock step take the same time, with one flow for each kind of group.
        let wiring = wiring(&spec, &[]);
        let there = alone(&wiring, &exchange(devices, Shape::Gather, domain, 1, 1e9));
        near(there.duration.get() * 1e3, inside, 1e-6);
        let there = alone(&wiring, &exchange(devices, Shape::Reduce, devices / domain, domain, share));
        near(there.duration.get() * 1e3, across, 1e-6);
        assert_eq!(there.flows, 1);
    }
}

/// Oversubscription slows traffic above the leaves: all-to-all by the ratio, rings of neighbours not at all.
#[test]
fn oversubscription_costs_what_climbs() {
    let design = |ratio| DesignSpec {
        routing: Some(Routing::Spray),
        leaf_oversubscription: Some(ratio),
        hosts_per_leaf: Some(8),
        tiers: Some(2),
        ..spec(Kind::Clos, 64, 1, 64)
    };
    let slow = |ratio, shape, n, stride| {
        alone(&wiring(&design(ratio), &[]), &exchange(64, shape, n, stride, 1e9)).exchanges[0].slowdown
    };
    for ratio in [1.0, 2.0, 4.0] {
        // Of 63 messages 56 climb, through 1/ratio of the bandwidth.
        near(slow(ratio, Shape::Everyone, 64, 1), (ratio * 56.0 / 63.0).max(1.0), 1e-9);
        near(slow(ratio, Shape::Reduce, 64, 1), 1.0, 1e-9);
        near(slow(ratio, Shape::Reduce, 8, 8), ratio, 1e-9);
    }
}

#[test]
fn pooled_links_are_reported_as_cables() {
    let exchange = exchange(128, Shape::Everyone, 128, 1, 1e9);
    let sprayed = DesignSpec { routing: Some(Routing::Spray), ..spec(Kind::Clos, 128, 1, 8) };
    let pooled = alone(&wiring(&sprayed, &[]), &exchange).layers;
    let counts = resolve(&sprayed).counts();
    for (name, layer) in [("leaf-spine", Layer::LeafSpine), ("spine-core", Layer::SpineCore)] {
        let row = pooled.iter().find(|row| row.layer == name).expect("a layer");
        // Two directions of each cable, each of a port's bandwidth.
        assert_eq!(row.links as u64, 2 * counts.links_in(layer), "{name}");
        assert_eq!(row.used, row.links, "{name}");
        near(row.capacity.gb(), 50.0, 1e-12);
        assert!(row.link.contains("all "), "{}", row.link);
    }
}

/// Separate rails cost forwarding through the domain, which is fast enough not to show in an
/// all-to-all.
#[test]
fn rails_carry_what_they_should() {
    let rail_only = wiring(&spec(Kind::RailOnly, 64, 8, 64), &[]);
    let all = alone(&rail_only, &exchange(64, Shape::Everyone, 64, 1, 1e9));
    near(all.exchanges[0].slowdown, 1.0, 1e-9);
    let scale_up = all.layers.iter().find(|layer| layer.layer == "scale-up").expect("a layer");
    // Out of each device 7/64 stay in the domain and 49/64 are forwarded, at 450 GB/s while 56/64 leave at 50
    // GB/s.
    near(scale_up.busiest, (7.0 + 49.0) / 450.0 / (56.0 / 50.0), 1e-9);
    let slow = DesignSpec {
        domain_bandwidth: Some(BytesPerSecond::from_gb(25.0)),
        ..spec(Kind::RailOnly, 64, 8, 64)
    };
    let slow = wiring(&slow, &[]);
    let edge = crate::simulate::Edge { from: 0, to: 9, bytes: 1e9 };
    let forwarded = Class::new("forwarded", vec![vec![edge]], 1.0, &slow.topology.design);
    near(class_time(&slow, &[forwarded]).expect("joined").exchanges[0].slowdown, 2.0, 1e-9);
}

/// Communication without dependents does not have the rate of its slowest member, even with few colours.
#[test]
fn other_jobs_are_never_merged() {
    let spec = DesignSpec { routing: Some(Routing::Ecmp), ..spec(Kind::RailOptimized, 256, 8, 32) };
    let wiring = wiring(&spec, &[]);
    let members =
        (0..256).map(|from| vec![crate::simulate::Edge { from, to: (from + 128) % 256, bytes: 1.0 }]);
    let class = Class::new("other jobs", members.collect(), 1.0, &wiring.topology.design);
    let units =
        |class: Class| crate::simulate::Bundle::new(&wiring, &[class], 1).expect("joined").units.len();
    assert_eq!(units(class.clone()), 1);
    assert!(units(Class { apart: true, ..class }) > 1);
}
