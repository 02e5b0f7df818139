//! Hostile design files and price lists: cut, doubled and overwritten seeds are rejected or read, without a
//! panic.

use railwright_network::bill::{bill, prices::Prices};
use railwright_network::failures::classes;
use railwright_network::flow::listed;
use railwright_network::imported::{self, Imported, RouteSetting, Surroundings};
use railwright_network::topology::{self, DesignSpec, Detail, Routing, Topology, svg};
use railwright_spec::quantity::{BytesPerSecond, Seconds};

fn network_design(text: &str) {
    let Ok(sheet) = topology::parse(text, "network.toml") else { return };
    assert!(topology::parse(&sheet.spec.to_toml(), "again.toml").is_ok(), "{text}");
    let Ok(design) = sheet.spec.resolve() else { return };
    let counts = design.counts();
    assert!(counts.tiers.iter().all(|tier| tier.ports_used <= tier.ports), "{text}");
    assert!(svg::draw(&design).len() < 1 << 20);
    // Beyond, each takes a while by design: a device at a time.
    if design.devices < 10_000 && counts.links() < 100_000 {
        drop(classes(&design));
        drop(sheet.spec.summary());
        if let Ok(topology) = Topology::build(&design, Detail::Links) {
            assert!(topology.route(0, topology.graph.devices() - 1, 0).is_some(), "{text}");
        }
    }
}

fn network_prices(text: &str) {
    let Ok(own) = Prices::parse(text, "own.csv") else { return };
    let mut prices = Prices::catalogue().expect("well formed");
    prices.overlay(own);
    let design = DesignSpec::default().resolve().expect("a clos");
    if let Ok(bill) = bill(&design, &prices) {
        assert!(bill.total.get().is_finite() && bill.total.get() >= 0.0);
    }
}

fn fabric(text: &str) {
    let Ok(drawing) = imported::parse(text, "fabric") else { return };
    for routing in [Routing::Ecmp, Routing::Spray] {
        let surroundings = Surroundings {
            domain: 2,
            domain_bandwidth: BytesPerSecond::from_gb(450.0),
            latency: Seconds::from_micros(1.0),
        };
        let setting = RouteSetting { routing, seed: 1, paths: 2 };
        let Ok(fabric) = Imported::new(&drawing, "fabric", &surroundings, setting) else { return };
        let last = fabric.devices.len() as u32 - 1;
        if let Some(link_path) = fabric.link_path(0, last, 3) {
            assert!(link_path.links.iter().all(|(_, share)| *share > 0.0 && *share <= 1.0 + 1e-9), "{text}");
        }
        let flows = format!("source,destination,bytes\n0,{last},1e6\n{last},0,1e6\n");
        let flows = listed::parse(&flows, "flows", &|word| word.parse().ok()).expect("flows");
        if let Ok((intervals, _)) = listed::play(&fabric, &flows, 0) {
            assert!(intervals.iter().all(|interval| interval.end.get().is_finite()), "{text}");
        }
    }
}

fn flow_table(text: &str) {
    let device = |word: &str| word.parse().ok().filter(|number: &u32| *number < 16);
    let Ok(flows) = listed::parse(text, "flows", &device) else { return };
    assert!(flows.iter().all(|flow| flow.bytes.get() >= 0.0 && flow.start.get() >= 0.0), "{text}");
}

const DICTIONARY: [&str; 14] = [
    "0",
    "-1",
    "1e30",
    "nan",
    "inf",
    "18446744073709551615",
    "16777216",
    "4096",
    "[]",
    "{}",
    "\"",
    "\u{feff}",
    "=",
    "é",
];

/// SplitMix64: the same mutations on every machine.
fn next(state: &mut u64) -> usize {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (*state ^ (*state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    (z ^ (z >> 29)) as usize
}

fn mutated(seed: &str, state: &mut u64) -> String {
    let mut text: Vec<char> = seed.chars().collect();
    for _ in 0..=next(state) % 3 {
        let (at, to) = (next(state) % (text.len() + 1), next(state) % (text.len() + 1));
        let (at, to) = (at.min(to), at.max(to).min(at.min(to) + 12));
        let word: Vec<char> = match next(state) % 4 {
            0 => Vec::new(),
            1 => text[at..to].repeat(2),
            _ => DICTIONARY[next(state) % DICTIONARY.len()].chars().collect(),
        };
        text.splice(at..to, word);
    }
    text.into_iter().collect()
}

#[test]
fn nothing_panics() {
    let designs = [
        include_str!("../../../examples/networks/hpn-pod.toml"),
        include_str!("../../../examples/networks/tpu-v4-pod.toml"),
        "kind = \"dragonfly-plus\"\ngpus = 500\nradix = 16\nrouting = \"spray\"\n",
        "kind = \"rail-only\"\ngpus = 512\ndomain = 16\nradix = 8\nplanes = 2\nforwarding = \"after\"\n",
    ];
    let mut state = 1;
    for _ in 0..1500 {
        let seed = designs[next(&mut state) % designs.len()];
        // Comments take mutations without effect.
        let seed: String = seed.lines().filter(|l| !l.starts_with('#')).flat_map(|l| [l, "\n"]).collect();
        network_design(&mutated(&seed, &mut state));
        network_prices(&mutated(
            include_str!("../../../catalog/network/prices-rail-only-v5.csv"),
            &mut state,
        ));
    }
}

#[test]
fn fabrics_and_flow_tables_never_panic() {
    let fabrics = [
        "graph x {\n edge [bandwidth=400G, latency=\"1 us\"]\n node [type=switch]; s; t\n node [type=device] /* gpus */\n \
         a [host=h1]; b [host=h1]; c [host=h2]; d [host=h2]\n a -- s -- c; b -- t -- d [count=2]; s -> t\n}\n",
        "<graphml><key id='t' for='all' attr.name='type'><default>device</default></key>\n<key id='b' attr.name='bandwidth'/>\
         <graph><node id='a'/><node id='b'/><node id='s'><data key='t'>switch</data></node>\
         <edge source='a' target='s'><data key='b'>50 GB/s</data></edge>\
         <edge source='b' target='s'><data key='b'>50 GB/s</data></edge></graph></graphml>",
        "vendid=0x2c9\nSwitch\t65 \"S-01\"\t# \"leaf\" lid 1\n[1]\t\"H-0a\"[1](a)\t# \"n10 mlx5_0\" lid 5 4xNDR\n\
         [2]\t\"H-0b\"[1](b)\t# \"n9 mlx5_0\" lid 6 4xNDR\nCa\t1 \"H-0a\"\t# \"n10 mlx5_0\"\n\
         [1](a)\t\"S-01\"[1]\t# lid 5 4xNDR\nCa\t1 \"H-0b\"\t# \"n9 mlx5_0\"\n[1](b)\t\"S-01\"[2]\t# lid 6 4xNDR\n",
    ];
    let table = "source,destination,bytes,start,after,name\n0,1,4 MiB,20 us,,a\n1,2,1e9,0,a,b\n# comment\n2,3,7,,a b,c\n";
    let mut state = 5;
    for _ in 0..3000 {
        fabric(&mutated(fabrics[next(&mut state) % fabrics.len()], &mut state));
        flow_table(&mutated(table, &mut state));
    }
}
