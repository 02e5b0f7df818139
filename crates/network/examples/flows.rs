//! The programs of `xtask/peers/simgrid/peer.cpp` in this crate, with the same arguments and the same line of
//! output, for ratios of CPU time: `flows all_to_all HOSTS BYTES UNDER_LEAF` or `flows ring HOSTS BYTES
//! UNDER_LEAF`.

use railwright_network::flow::program::{self, Phases, Ring};
use railwright_network::flow::{FatTree, Outcome, simulate};
use railwright_spec::problem::Problem;
use std::io::Write as _;

fn run(program: &str, hosts: u32, bytes: f64, under_leaf: u32) -> Result<Outcome, Problem> {
    let wires = FatTree::non_blocking(hosts, under_leaf);
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
