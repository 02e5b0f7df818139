//! Runs a program of messages from a text file and compares when each ends with the times in the file: `flow_case FILE`.
//!
//! Lines: `case ID NAME`, `share 0`, `links N` and for each `bytes/s latency`, `hosts N`, `routes R` and for each
//! `from to latency k (link share) x k`, `flows M` and for each `from to bytes delay end k dependency x k`. A message starts `delay` and
//! the latency of its route after its last dependency has ended. Prints the case, messages, the end, the largest relative distance of an
//! end, and CPU seconds.

use railwright_network::flow::{Flow, Start, Traffic, Wires, simulate};
use std::collections::BTreeMap;
use std::io::Write as _;

/// Latency and links of a route, with the share of the message on each.
type Way = (f64, Vec<(u32, f64)>);

struct Case {
    capacities: Vec<f64>,
    routes: BTreeMap<(u32, u32), Way>,
    flows: Vec<(Flow, f64)>,
    ends: Vec<f64>,
    followers: Vec<Vec<u32>>,
    waits: Vec<u32>,
}

impl Wires for Case {
    fn capacities(&self) -> Vec<f64> {
        self.capacities.clone()
    }

    fn route(&self, flow: &Flow, route: &mut Vec<(u32, f64)>) -> f64 {
        let delay = self.flows.get(flow.tag as usize).map_or(0.0, |flow| flow.1);
        let Some((latency, links)) = self.routes.get(&(flow.from, flow.to)) else { return delay };
        route.extend_from_slice(links);
        latency + delay
    }
}

struct Program<'a> {
    case: &'a Case,
    waits: Vec<u32>,
    now: f64,
    worst: f64,
}

impl Program<'_> {
    fn start(&self, n: u32, start: &mut Start) {
        start.extend(self.case.flows.get(n as usize).map(|flow| flow.0));
    }
}

impl Traffic for Program<'_> {
    fn begin(&mut self, start: &mut Start) {
        for n in (0..self.waits.len()).filter(|n| self.waits[*n] == 0) {
            self.start(n as u32, start);
        }
    }

    fn clock(&mut self, now: f64) {
        self.now = now;
    }

    fn arrived(&mut self, tag: u64, start: &mut Start) {
        let n = tag as usize;
        let expected = self.case.ends[n];
        self.worst = self.worst.max((self.now - expected).abs() / expected.max(1e-12));
        for &next in &self.case.followers[n] {
            self.waits[next as usize] -= 1;
            if self.waits[next as usize] == 0 {
                self.start(next, start);
            }
        }
    }
}

type Failure = Box<dyn std::error::Error>;

fn read(text: &str) -> Result<(String, Case), Failure> {
    let mut lines = text.lines();
    let mut next = || lines.next().ok_or("the file ends too early");
    let name = next()?.to_owned();
    next()?;
    let count = |line: &str| line.split(' ').nth(1).and_then(|n| n.parse::<usize>().ok()).ok_or("a count");
    let mut capacities = Vec::new();
    for _ in 0..count(next()?)? {
        capacities.push(next()?.split(' ').next().unwrap_or_default().parse()?);
    }
    next()?;
    let mut routes = BTreeMap::new();
    for _ in 0..count(next()?)? {
        let cells: Vec<&str> = next()?.split_whitespace().collect();
        let [from, to, latency, _, links @ ..] = cells.as_slice() else { return Err("a route".into()) };
        let mut route = Vec::new();
        for link in links.chunks_exact(2) {
            route.push((link[0].parse()?, link[1].parse()?));
        }
        routes.insert((from.parse()?, to.parse()?), (latency.parse()?, route));
    }
    let mut case = Case {
        capacities,
        routes,
        flows: Vec::new(),
        ends: Vec::new(),
        followers: Vec::new(),
        waits: Vec::new(),
    };
    let flows = count(next()?)?;
    case.followers.resize(flows, Vec::new());
    for n in 0..flows {
        let cells: Vec<&str> = next()?.split_whitespace().collect();
        let [from, to, bytes, delay, end, _, before @ ..] = cells.as_slice() else {
            return Err("a flow".into());
        };
        let flow = Flow { from: from.parse()?, to: to.parse()?, bytes: bytes.parse()?, tag: n as u64 };
        case.flows.push((flow, delay.parse()?));
        case.ends.push(end.parse()?);
        case.waits.push(before.len() as u32);
        for before in before {
            case.followers.get_mut(before.parse::<usize>()?).ok_or("a dependency")?.push(n as u32);
        }
    }
    Ok((name, case))
}

fn main() -> Result<(), Failure> {
    let path = std::env::args().nth(1).ok_or("usage: flow_case FILE")?;
    let (name, case) = read(&std::fs::read_to_string(path)?)?;
    let mut program = Program { case: &case, waits: case.waits.clone(), now: 0.0, worst: 0.0 };
    let began = std::time::Instant::now();
    let outcome = simulate(&case, &mut program).map_err(|problem| problem.message)?;
    let (flows, end, worst) = (case.flows.len(), outcome.duration.get(), program.worst);
    let took = began.elapsed().as_secs_f64();
    writeln!(std::io::stdout(), "{name} flows {flows} end {end:.9} worst {worst:.2e} took {took:.3}")?;
    Ok(())
}
