//! How fast flows are simulated: the programs whose SimGrid times stand in `docs/concepts/flow-model.md`.
//!
//! `xtask/peers/simgrid/run.sh` runs SimGrid itself on the same programs, for ratios on one machine.

use divan::counter::ItemsCount;
use railwright_network::flow::program::{self, Phases, Ring};
use railwright_network::flow::{Flow, Wires, simulate};

/// A two-tier fat tree at 50 GB/s and 1 us a link; the destination chooses the spine.
struct FatTree {
    hosts: u32,
    under_leaf: u32,
}

impl Wires for FatTree {
    fn capacities(&self) -> Vec<f64> {
        vec![50e9; 4 * self.hosts as usize]
    }

    fn route(&self, flow: &Flow, route: &mut Vec<(u32, f64)>) -> f64 {
        let (source, sink) = (flow.from / self.under_leaf, flow.to / self.under_leaf);
        let spine = flow.to % self.under_leaf;
        route.push((flow.from, 1.0));
        if source != sink {
            route.push((2 * self.hosts + source * self.under_leaf + spine, 1.0));
            route.push((3 * self.hosts + sink * self.under_leaf + spine, 1.0));
        }
        route.push((self.hosts + flow.to, 1.0));
        1e-6 * route.len() as f64
    }
}

fn main() {
    divan::main();
}

/// All pairs at once.
#[divan::bench(args = [64, 128, 256], sample_count = 10)]
fn all_to_all(bencher: divan::Bencher, hosts: u32) {
    let ranks: Vec<u32> = (0..hosts).collect();
    let wires = FatTree { hosts, under_leaf: 16 };
    bencher.counter(ItemsCount::new(hosts * (hosts - 1))).bench_local(|| {
        let flows = program::all_to_all(&ranks, 1e6);
        simulate(&wires, &mut Phases::new([flows])).map(|outcome| outcome.duration)
    });
}

/// A million messages in 1,023 phases.
#[divan::bench(sample_count = 3)]
fn shifted_all_to_all_of_1024(bencher: divan::Bencher) {
    let ranks: Vec<u32> = (0..1024).collect();
    let wires = FatTree { hosts: 1024, under_leaf: 32 };
    bencher.counter(ItemsCount::new(1023_u32 * 1024)).bench_local(|| {
        simulate(&wires, &mut Phases::new(program::shifted_all_to_all(&ranks, 1e5))).map(|o| o.duration)
    });
}

/// A ring all-reduce.
#[divan::bench(args = [256, 1024], sample_count = 10)]
fn ring(bencher: divan::Bencher, hosts: u32) {
    let wires = FatTree { hosts, under_leaf: if hosts == 256 { 16 } else { 32 } };
    bencher.counter(ItemsCount::new(2 * (hosts - 1) * hosts)).bench_local(|| {
        simulate(&wires, &mut Ring::all_reduce((0..hosts).collect(), 1e9)).map(|o| o.duration)
    });
}
