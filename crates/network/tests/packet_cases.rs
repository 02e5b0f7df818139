//! Flows against a packet simulation (`packet-cases/README.md`): collectives and incasts within 15%, and flows beside a congested receiver
//! within their bounds.

use railwright_network::flow::listed::{Listed, held, play};
use railwright_network::simulate::Wiring;
use railwright_network::topology::{DesignSpec, Kind, Routing};
use railwright_spec::quantity::{Bytes, BytesPerSecond, Seconds};
use std::collections::BTreeMap;
use std::path::Path;

/// Hash seeds of the flows.
const DRAWS: u32 = 3;

fn rows(file: &str) -> Vec<Vec<String>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/packet-cases").join(file);
    let text = std::fs::read_to_string(path).expect("a file of the repository");
    text.lines().skip(1).map(|line| line.split(',').map(str::to_owned).collect()).collect()
}

fn micros(cells: &[String]) -> Vec<f64> {
    cells.iter().map(|cell| cell.parse().expect("microseconds")).collect()
}

fn wiring() -> Wiring {
    let spec = DesignSpec {
        kind: Some(Kind::Clos),
        devices: Some(64),
        domain: Some(1),
        radix: Some(16),
        hosts_per_leaf: Some(8),
        speed: Some(BytesPerSecond::from_gbit(400.0)),
        routing: Some(Routing::Ecmp),
        channels: Some(1),
        ..DesignSpec::default()
    };
    Wiring::new(&spec.resolve().expect("a design"), &[]).expect("a network")
}

fn flow(number: usize, from: u32, to: u32, bytes: f64) -> Listed {
    let (bytes, start) = (Bytes::new(bytes), Seconds::ZERO);
    Listed { name: number.to_string(), from, to, bytes, start, after: Vec::new() }
}

fn median(mut list: Vec<f64>) -> f64 {
    list.sort_by(f64::total_cmp);
    let half = list.len() / 2;
    if list.len().is_multiple_of(2) { f64::midpoint(list[half - 1], list[half]) } else { list[half] }
}

#[test]
fn collectives_and_incasts_take_as_long_as_in_packets() {
    let network = wiring();
    let mut compared = 0;
    for row in rows("makespans.csv") {
        let name = row[0].as_str();
        let flows: Vec<Listed> = if let Some(words) = name.strip_prefix("incast_") {
            let (senders, bytes) = words.split_once('_').expect("two numbers");
            let (senders, bytes) = (senders.parse().expect("a count"), bytes.parse().expect("bytes"));
            (0..senders).map(|n| flow(n as usize, 8 + n, 0, bytes)).collect()
        } else if let Some(by) = name.strip_prefix("shift") {
            let by: u32 = by.parse().expect("a number");
            (0..64).map(|n| flow(n as usize, n, (n + by) % 64, 4e6)).collect()
        } else if name == "a2a" {
            let pairs = (0..64).flat_map(|from| (0..64).map(move |to| (from, to)));
            let pairs = pairs.filter(|(from, to)| from != to).enumerate();
            pairs.map(|(n, (from, to))| flow(n, from, to, 2e5)).collect()
        } else {
            continue;
        };
        let packets = median(micros(&row[2..]));
        let ends: Vec<f64> = (0..DRAWS)
            .map(|draw| play(&network, &flows, draw).expect("it ends").1.duration.get() * 1e6)
            .collect();
        let error = median(ends) / packets - 1.0;
        assert!(error.abs() < 0.15, "{name}: {error:+.3} of {packets} us");
        compared += 1;
    }
    assert_eq!(compared, 8);
}

#[test]
fn flows_beside_an_incast_end_within_their_bounds() {
    let network = wiring();
    let mut cases: BTreeMap<String, Vec<(Listed, Vec<f64>)>> = BTreeMap::new();
    for row in rows("victims.csv") {
        let number = |n: usize| row[n].parse::<u32>().expect("a number");
        let own = cases.entry(row[0].clone()).or_default();
        let one = flow(own.len(), number(1), number(2), f64::from(number(3)));
        own.push((one, micros(&row[4..])));
    }
    let (mut all, mut beyond, mut idle, mut slowest) = (0, 0, 0, Vec::new());
    for (name, case) in &cases {
        let flows: Vec<Listed> = case.iter().map(|(flow, _)| flow.clone()).collect();
        let mut low = vec![f64::INFINITY; flows.len()];
        let mut high = vec![0.0_f64; flows.len()];
        let mut last = 0.0_f64;
        for draw in 0..DRAWS {
            let (intervals, _) = play(&network, &flows, draw).expect("it ends");
            let latest = held(&network, &flows, draw, &intervals);
            for (n, (interval, latest)) in intervals.iter().zip(latest).enumerate() {
                low[n] = low[n].min(interval.end.get() * 1e6);
                high[n] = high[n].max(latest.unwrap_or(interval.end).get() * 1e6);
                if flows[n].to != 0 {
                    last = last.max(latest.unwrap_or(interval.end).get() * 1e6);
                }
                idle += usize::from(flows[n].to != 0 && latest.is_none());
            }
        }
        let mut measured: f64 = 0.0;
        for (n, (flow, ends)) in case.iter().enumerate().filter(|(_, (flow, _))| flow.to != 0) {
            for end in ends {
                all += 1;
                measured = measured.max(*end);
                // The lower bound is without queues; single hashes of packets may be worse than those of eight draws.
                if *end < 0.95 * low[n] || *end > 1.15 * high[n] {
                    beyond += 1;
                    eprintln!("{name} {}-{}: {end} not in {} to {}", flow.from, flow.to, low[n], high[n]);
                }
            }
        }
        slowest.push((last / measured, name));
    }
    assert!(all > 450 && beyond * 50 <= all, "{beyond} of {all} flows beyond their bounds");
    // The bound is of use: the slowest flow of a case comes near it, and flows that share no paused link have none.
    slowest.sort_by(|a, b| a.0.total_cmp(&b.0));
    let middle = slowest[slowest.len() / 2].0;
    assert!(middle < 2.0, "the latest end is {middle} times the measured one");
    assert!(idle > 0, "every flow is said to be held up");
}
