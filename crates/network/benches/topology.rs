//! Time to build designs: `cargo bench -p railwright-network --bench topology`.
//!
//! The yardstick: summary, counts and bill of 65,536 devices in at most 200 milliseconds.

use divan::{Bencher, black_box};
use railwright_network::bill::{bill, prices::Prices};
use railwright_network::topology::{DesignSpec, Detail, Kind, Routing, Topology, svg};

fn main() {
    divan::main();
}

const KINDS: [Kind; 6] =
    [Kind::Clos, Kind::RailOptimized, Kind::RailOnly, Kind::DualPlane, Kind::Dragonfly, Kind::Torus];

fn spec(kind: Kind) -> DesignSpec {
    let domain = if kind == Kind::Torus { 1 } else { 8 };
    DesignSpec { kind: Some(kind), devices: Some(65_536), domain: Some(domain), ..DesignSpec::default() }
}

/// Counts and a bill from a design's parameters.
#[divan::bench(args = KINDS)]
fn bill_of_65536(bencher: Bencher<'_, '_>, kind: Kind) {
    let prices = Prices::catalogue().expect("well formed");
    let spec = spec(kind);
    bencher.bench(|| bill(&black_box(&spec).resolve().expect("it is built"), &prices));
}

/// Work of `network show`: counts, the largest network with the same settings, classes of routes.
#[divan::bench(args = KINDS)]
fn summary_of_65536(bencher: Bencher<'_, '_>, kind: Kind) {
    let spec = spec(kind);
    bencher.bench(|| black_box(&spec).summary());
}

#[divan::bench(args = KINDS)]
fn picture_of_65536(bencher: Bencher<'_, '_>, kind: Kind) {
    let design = spec(kind).resolve().expect("it is built");
    bencher.bench(|| svg::draw(black_box(&design)));
}

/// Every node and link.
#[divan::bench(args = KINDS, sample_count = 5)]
fn graph_of_65536(bencher: Bencher<'_, '_>, kind: Kind) {
    let design = spec(kind).resolve().expect("it is built");
    bencher.bench(|| Topology::build(black_box(&design), Detail::Links));
}

/// A thousand routes between pods.
#[divan::bench(args = [Routing::Ecmp, Routing::Static, Routing::Spray], sample_count = 10)]
fn thousand_routes(bencher: Bencher<'_, '_>, routing: Routing) {
    let spec = DesignSpec { routing: Some(routing), ..spec(Kind::Clos) };
    let topology = Topology::build(&spec.resolve().expect("it is built"), Detail::Links).expect("small");
    bencher.bench(|| {
        for n in 0..1000_u32 {
            black_box(topology.route(n, 65_535 - n, 0));
        }
    });
}
