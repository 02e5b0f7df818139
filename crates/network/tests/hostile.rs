//! Hostile design files and price lists: cut, doubled and overwritten seeds are refused or understood, never panicked over.

use railwright_network::bill::{bill, prices::Prices};
use railwright_network::failures::classes;
use railwright_network::topology::{self, DesignSpec, Detail, Topology, svg};

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
