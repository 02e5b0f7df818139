//! Speed of flow simulation, for the programs with SimGrid times in `docs/concepts/flow-model.md`.
//!
//! `xtask/peers/simgrid/run.sh` runs SimGrid itself on the same programs, for ratios on one machine.

use divan::counter::ItemsCount;
use railwright_network::flow::program::{self, Phases, Ring};
use railwright_network::flow::{FatTree, simulate};

fn main() {
    divan::main();
}

/// Concurrent messages between all pairs.
#[divan::bench(args = [64, 128, 256], sample_count = 10)]
fn all_to_all(bencher: divan::Bencher, hosts: u32) {
    let ranks: Vec<u32> = (0..hosts).collect();
    let wires = FatTree::non_blocking(hosts, 16);
    bencher.counter(ItemsCount::new(hosts * (hosts - 1))).bench_local(|| {
        let flows = program::all_to_all(&ranks, 1e6);
        simulate(&wires, &mut Phases::new([flows])).map(|outcome| outcome.duration)
    });
}

/// A million messages in 1,023 phases.
#[divan::bench(sample_count = 3)]
fn shifted_all_to_all_of_1024(bencher: divan::Bencher) {
    let ranks: Vec<u32> = (0..1024).collect();
    let wires = FatTree::non_blocking(1024, 32);
    bencher.counter(ItemsCount::new(1023_u32 * 1024)).bench_local(|| {
        simulate(&wires, &mut Phases::new(program::shifted_all_to_all(&ranks, 1e5))).map(|o| o.duration)
    });
}

/// A ring all-reduce.
#[divan::bench(args = [256, 1024], sample_count = 10)]
fn ring(bencher: divan::Bencher, hosts: u32) {
    let wires = FatTree::non_blocking(hosts, if hosts == 256 { 16 } else { 32 });
    bencher.counter(ItemsCount::new(2 * (hosts - 1) * hosts)).bench_local(|| {
        simulate(&wires, &mut Ring::all_reduce((0..hosts).collect(), 1e9)).map(|o| o.duration)
    });
}
