//! Tests of files for other simulators: routes, capacities and flows are those of the simulation here.

use super::*;
use crate::flow::listed::{Listed, Routes, parse};
use crate::imported::{Imported, RouteSetting, Surroundings};
use crate::simulate::Wiring;
use crate::topology::{DesignSpec, Kind, Routing};
use railwright_spec::quantity::{BytesPerSecond, Seconds};
use std::collections::BTreeMap;

fn wiring(routing: Routing) -> Wiring {
    let spec = DesignSpec {
        kind: Some(Kind::RailOptimized),
        devices: Some(32),
        domain: Some(4),
        radix: Some(8),
        speed: Some(BytesPerSecond::from_gbit(400.0)),
        routing: Some(routing),
        ..DesignSpec::default()
    };
    Wiring::new(&spec.resolve().expect("a design"), &[]).expect("a network")
}

/// The platform, read by an XML parser: every pair has the links, the capacities and the latency of the
/// simulation.
#[test]
fn platforms_have_the_routes_of_the_simulation() {
    let wiring = wiring(Routing::Static);
    let text = platform(&wiring).expect("single paths");
    let options = roxmltree::ParsingOptions { allow_dtd: true, ..roxmltree::ParsingOptions::default() };
    let document = roxmltree::Document::parse_with_options(&text, options).expect("XML");
    let named = |name: &'static str| document.descendants().filter(move |node| node.has_tag_name(name));
    let links: BTreeMap<&str, (f64, f64)> = named("link")
        .map(|link| {
            let number = |name: &str, unit: &str| {
                let text = link.attribute(name).and_then(|text| text.strip_suffix(unit)).expect("a unit");
                text.parse::<f64>().expect("a number")
            };
            (link.attribute("id").expect("a name"), (number("bandwidth", "Bps"), number("latency", "s")))
        })
        .collect();
    assert_eq!(named("host").count(), 32);
    let capacities = Routes::capacities(&wiring);
    let mut compared = 0;
    for route in named("route") {
        let end = |name: &str| {
            route
                .attribute(name)
                .and_then(|name| name.strip_prefix('d'))
                .and_then(|n| n.parse().ok())
                .expect("a host")
        };
        let link_path = wiring.link_path(end("src"), end("dst"), 0).expect("joined");
        let own: Vec<&str> = route.children().filter_map(|link| link.attribute("id")).collect();
        let names: Vec<String> = link_path.links.iter().map(|(link, _)| format!("l{link}")).collect();
        assert_eq!(own, names);
        let latency: f64 = own.iter().map(|name| links[name].1).sum();
        assert!((latency - link_path.latency).abs() < 1e-15);
        for ((link, _), name) in link_path.links.iter().zip(&own) {
            assert_eq!(links[name].0, capacities[*link as usize]);
        }
        compared += 1;
    }
    assert_eq!(compared, 32 * 31);
    let problem = platform(&self::wiring(Routing::Spray)).expect_err("several paths");
    assert!(problem.message.contains("single paths"), "{problem:?}");
}

/// Source, destination, bytes, start and awaited triggers.
type Connection = (u32, u32, f64, Option<f64>, Vec<u32>);

/// Reads a matrix by the rules of htsim: connections with a start or a trigger, triggers with the connections
/// that start them.
fn read_matrix(text: &str) -> (usize, Vec<Connection>) {
    let mut words = text.lines().map(|line| line.split(' ').collect::<Vec<_>>());
    let mut head = |name: &str| -> usize {
        let line = words.next().expect("a line");
        assert_eq!(line[0], name);
        line[1].parse().expect("a count")
    };
    let (nodes, connections, triggers) = (head("Nodes"), head("Connections"), head("Triggers"));
    let (mut flows, mut waits, mut counts) = (Vec::new(), Vec::new(), BTreeMap::new());
    let mut starts: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for line in words {
        if line[0] == "trigger" {
            let count = if line[3] == "barrier" { line[5].parse().expect("a count") } else { 1 };
            counts.insert(line[2].parse::<u32>().expect("a number"), count);
            continue;
        }
        let (from, to) = line[0].split_once("->").expect("two hosts");
        let of = |word: &str| {
            line.iter().position(|w| *w == word).map(|at| line[at + 1].parse::<f64>().expect("a number"))
        };
        let id = of("id").expect("a number") as u32;
        assert_eq!(id as usize, flows.len() + 1);
        for word in ["send_done_trigger", "recv_done_trigger"] {
            if let Some(trigger) = of(word) {
                starts.entry(trigger as u32).or_default().push(id - 1);
            }
        }
        waits.push(of("trigger").map(|trigger| trigger as u32));
        flows.push((
            from.parse().expect("a host"),
            to.parse().expect("a host"),
            of("size").expect("bytes"),
            of("start"),
            Vec::new(),
        ));
    }
    assert_eq!((flows.len(), counts.len()), (connections, triggers));
    for (flow, wait) in flows.iter_mut().zip(waits) {
        assert!(flow.3.is_some() != wait.is_some());
        if let Some(trigger) = wait {
            flow.4.clone_from(&starts[&trigger]);
            assert_eq!(flow.4.len(), counts[&trigger]);
        }
    }
    (nodes, flows)
}

#[test]
fn matrices_start_flows_when_the_table_does() {
    // Two steps of a ring: each message waits for the one before of its sender and of its sender's neighbour.
    let table = "source,destination,bytes,start,after,name\n\
        0,1,1 MB,,,a0\n1,2,1 MB,,,a1\n2,0,1 MB,2 us,,a2\n\
        0,1,1 MB,,a0 a2,b0\n1,2,1 MB,,a1 a0,b1\n2,0,1 MB,,a2 a1,b2\n";
    let device = |word: &str| word.parse::<u32>().ok();
    let flows = parse(table, "t.csv", &device).expect("a table");
    let (nodes, read) = read_matrix(&connection_matrix(&flows, 4).expect("two triggers"));
    assert_eq!((nodes, read.len()), (4, 6));
    for (flow, (from, to, bytes, start, after)) in flows.iter().zip(&read) {
        let mut before = flow.after.clone();
        before.sort_unstable();
        assert_eq!((flow.from, flow.to, flow.bytes.get(), &before), (*from, *to, *bytes, after));
        if before.is_empty() {
            assert_eq!(*start, Some(flow.start.get() * 1e12));
        }
    }
    let fails = |flow: Listed| connection_matrix(&[flow], 4).expect_err("refused").message;
    let to_itself = Listed { to: flows[0].from, ..flows[0].clone() };
    assert!(fails(to_itself).contains("to itself"));
    let large = Listed { bytes: railwright_spec::quantity::Bytes::new(3e9), ..flows[0].clone() };
    assert!(fails(large).contains("exceed"));
}

/// A network for ASTRA-sim, read back: messages in a domain and between domains have the bandwidth and the
/// latency of the design.
#[test]
fn networks_of_astra_sim_have_the_speeds_of_the_design() {
    let wiring = wiring(Routing::Static);
    let (text, _) = network(&wiring.topology.design);
    let surroundings =
        Surroundings { domain: 8, domain_bandwidth: BytesPerSecond::new(1.0), latency: Seconds::new(1.0) };
    let setting = RouteSetting { routing: Routing::Spray, seed: 0, paths: 1 };
    let drawing = crate::imported::parse(&text, "network.yml").expect("a network");
    let read = Imported::new(&drawing, "network.yml", &surroundings, setting).expect("a fabric");
    assert_eq!((read.devices.len(), read.domain), (32, 1));
    // Devices of one domain, of one rail on one leaf, and of one rail on two leaves.
    for (from, to) in [(0, 1), (0, 31 - 3)] {
        let [own, theirs] =
            [wiring.link_path(from, to, 0).expect("joined"), read.link_path(from, to, 0).expect("joined")];
        assert!((own.latency / theirs.latency - 1.0).abs() < 1e-9, "{from} {to}: {own:?} {theirs:?}");
        let slowest = |capacities: &[f64], links: &[(u32, f64)]| {
            links.iter().map(|(link, share)| capacities[*link as usize] / share).fold(f64::INFINITY, f64::min)
        };
        let own = slowest(&Routes::capacities(&wiring), &own.links);
        let theirs = slowest(&Routes::capacities(&read), &theirs.links);
        assert!((own / theirs - 1.0).abs() < 1e-9, "{from} {to}: {own} {theirs}");
    }
}

/// Groups over domains whose members have several places in them get the bandwidth of a domain in ASTRA-sim,
/// except rings of all ranks.
#[test]
fn groups_with_the_wrong_dimension_are_counted() {
    let design = wiring(Routing::Spray).topology.design;
    let all: Vec<u32> = (0..32).collect();
    let groups = BTreeMap::from([
        (1, &[0_u32, 1, 2, 3][..]),
        (2, &[0, 4, 8][..]),
        (3, &[0, 1, 4, 5][..]),
        (4, all.as_slice()),
    ]);
    let of = |direct: &[u32]| crossing(&design, &groups, &direct.iter().copied().collect());
    assert!(of(&[]).is_some_and(|text| text.contains("of 1 process groups")), "{:?}", of(&[]));
    assert!(of(&[4]).is_some_and(|text| text.contains("of 2 process groups")), "{:?}", of(&[4]));
    assert_eq!(
        crossing(&design, &BTreeMap::from([(1, &[0, 4][..])]), &std::collections::BTreeSet::new()),
        None
    );
}

#[test]
fn networks_of_astra_sim_have_the_domain_and_the_network() {
    let (text, lost) = network(&wiring(Routing::Spray).topology.design);
    assert!(text.contains("npus_count: [ 4, 8 ]"), "{text}");
    assert!(text.contains("topology: [ Switch, Switch ]") && text.contains("bandwidth: [ "), "{text}");
    // 400 Gbit/s in units of 2^30 bytes.
    assert!(text.contains(", 46.566128730773926 ]  # GB/s of 2^30 bytes"), "{text}");
    assert_eq!(lost.len(), 1, "{lost:?}");
    let system: serde_json::Value = serde_json::from_str(&system(
        &wiring(Routing::Spray).topology.design,
        BytesPerSecond::from_gb(3350.0),
    ))
    .expect("JSON");
    assert_eq!(system["all-reduce-implementation"].as_array().map(Vec::len), Some(2));
    assert_eq!(system["local-mem-bw"], 3350.0);
    let groups = BTreeMap::from([(1, &[0_u32, 1][..]), (2, &[2, 3])]);
    let read = read_comm_groups(&comm_groups(&groups), "g.json").expect("groups");
    assert_eq!(read["2"], [2, 3]);
    assert!(read_comm_groups("[1]", "g.json").is_err());
}
