//! Simulates a program of flows from a text file and compares the end of each with the times in the file:
//! `flow_case FILE`.
//!
//! Prints the case, its flows, the makespan, the largest relative distance of an end, and seconds of solving.

#[path = "../tests/support/case.rs"]
mod case;

use case::{Case, Failure};
use railwright_network::flow::listed::play;
use std::io::Write as _;

fn main() -> Result<(), Failure> {
    let path = std::env::args().nth(1).ok_or("usage: flow_case FILE")?;
    let case = Case::read(&std::fs::read_to_string(path)?)?;
    let began = std::time::Instant::now();
    let (intervals, outcome) = play(&case, &case.flows, 0).map_err(|problem| problem.message)?;
    let took = began.elapsed().as_secs_f64();
    let worst = case.worst(intervals.iter().map(|interval| interval.end.get()));
    let (name, flows, end) = (&case.name, case.flows.len(), outcome.duration.get());
    writeln!(std::io::stdout(), "{name} flows {flows} end {end:.9} worst {worst:.2e} took {took:.3}")?;
    Ok(())
}
