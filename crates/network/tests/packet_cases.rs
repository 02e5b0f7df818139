//! Flows compared with a packet simulation (`packet-cases/README.md`): collectives and incasts within 15%,
//! and flows next to a congested receiver within their bounds and 15%.

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
        // Collisions depend on the hash: every makespan in packets is that of some draw.
        let draws = if flows.len() > 1000 { DRAWS } else { 8 };
        let ends: Vec<f64> = (0..draws)
            .map(|draw| play(&network, &flows, draw).expect("it ends").1.duration.get() * 1e6)
            .collect();
        for packets in micros(&row[2..]) {
            let error = |end: &f64| (end / packets - 1.0).abs();
            let least = ends.iter().map(error).fold(f64::INFINITY, f64::min);
            assert!(least < 0.15, "{name}: {packets} us in packets, {ends:?} here");
        }
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
    let (mut all, mut idle, mut slowest) = (0, 0, Vec::new());
    for (name, case) in &cases {
        let flows: Vec<Listed> = case.iter().map(|(flow, _)| flow.clone()).collect();
        let mut bound = 0.0_f64;
        for draw in 0..DRAWS {
            let (intervals, _) = play(&network, &flows, draw).expect("it ends");
            let latest = held(&network, &flows, draw, &intervals);
            for ((flow, interval), latest) in flows.iter().zip(&intervals).zip(latest) {
                if flow.to != 0 {
                    bound = bound.max(latest.unwrap_or(interval.end).get() * 1e6);
                    idle += usize::from(latest.is_none());
                }
            }
        }
        let mut measured: f64 = 0.0;
        for (flow, ends) in case.iter().filter(|(flow, _)| flow.to != 0) {
            // Alone on 50 GB/s, after four links of 1 us.
            let alone = flow.bytes.get() / 50e9 * 1e6 + 4.0;
            for end in ends {
                all += 1;
                measured = measured.max(*end);
                assert!(*end > 0.95 * alone, "{name}: {end} of {alone} us");
                assert!(*end < 1.15 * bound, "{name}: {end} us, at most {bound} us here");
            }
        }
        slowest.push(bound / measured);
    }
    assert_eq!(all, 483, "flows of the table in three seeds");
    // The bound is useful: the slowest flow of a case is close to it, and flows that share no paused link
    // have none.
    slowest.sort_by(f64::total_cmp);
    let middle = slowest[slowest.len() / 2];
    assert!(middle < 2.0, "the latest end is {middle} times the measured one");
    assert!(idle > 0, "every flow is said to be held up");
}
