//! The programs of `xtask/peers/simgrid/peer.cpp` in this crate, with the same arguments and the same line of output, for ratios of CPU
//! time: `flows all_to_all HOSTS BYTES UNDER_LEAF` or `flows ring HOSTS BYTES UNDER_LEAF`.

use railwright_network::flow::program::{self, Phases, Ring};
use railwright_network::flow::{Flow, Outcome, Wires, simulate};
use railwright_spec::problem::Problem;
use std::io::Write as _;

/// A two-tier fat tree at 50 GB/s and 1 us a link, as many spines as hosts under a leaf; the destination chooses the spine.
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

fn run(program: &str, hosts: u32, bytes: f64, under_leaf: u32) -> Result<Outcome, Problem> {
    let wires = FatTree { hosts, under_leaf };
    let ranks: Vec<u32> = (0..hosts).collect();
    match program {
        "ring" => simulate(&wires, &mut Ring::all_reduce(ranks, bytes)),
        "all_to_all" => simulate(&wires, &mut Phases::new([program::all_to_all(&ranks, bytes)])),
        other => Err(Problem::new(format!("no program `{other}`")).hint("all_to_all or ring")),
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, program, hosts, bytes, under_leaf] = arguments.as_slice() else {
        return Err("usage: flows all_to_all|ring HOSTS BYTES UNDER_LEAF".into());
    };
    let outcome = run(program, hosts.parse()?, bytes.parse()?, under_leaf.parse()?)
        .map_err(|problem| problem.message.clone())?;
    writeln!(std::io::stdout(), "{:.9}", outcome.duration.get())?;
    Ok(())
}
