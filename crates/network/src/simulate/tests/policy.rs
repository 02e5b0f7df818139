//! One policy of routes past failed parts: `network failures` and `network simulate` agree on all bundled
//! designs and classes of parts.

use super::*;
use crate::failures::state::{Part as Numbered, States};
use crate::failures::{Recovery, classes, parts};
use crate::simulate::Edge;
use crate::topology::published;
use railwright_spec::run::Sheet;

/// Devices of the largest design that is simulated link by link.
const MOST: u64 = 2_304;

/// Bundled folded Clos designs, once each: published ones, examples, and the standard ones of every kind.
pub(super) fn bundled() -> Vec<Design> {
    let mut specs: Vec<DesignSpec> = Vec::new();
    for row in published::rows().expect("well formed") {
        if !row.design.is_empty() {
            let sheet = Sheet::<DesignSpec>::parse(&row.design, "published").expect("valid");
            specs.push(DesignSpec { devices: Some(row.devices), ..sheet.spec });
        }
    }
    let hpn = include_str!("../../../../../examples/networks/hpn-pod.toml");
    let hpn = Sheet::<DesignSpec>::parse(hpn, "hpn-pod.toml").expect("valid").spec;
    // Two of its 15 segments have all of its parts.
    specs.push(DesignSpec { devices: Some(2048), pods: Some(1), ..hpn });
    for kind in
        [Kind::Clos, Kind::RailOptimized, Kind::RailOnly, Kind::Trimmed, Kind::DualPlane, Kind::MultiPlane]
    {
        for (devices, radix) in [(256, 16), (1000, 64), (1024, 32), (2048, 64), (4096, 64)] {
            specs.push(spec(kind, devices, 8, radix));
        }
    }
    for (zones, ratio) in [(2, 1.0), (2, 2.0), (4, 4.0)] {
        for kind in [Kind::Clos, Kind::RailOptimized] {
            specs.push(DesignSpec {
                zones: Some(zones),
                core_oversubscription: Some(ratio),
                ..spec(kind, 512, 4, 16)
            });
        }
    }
    for ratio in [2.0, 3.0] {
        specs.push(DesignSpec { leaf_oversubscription: Some(ratio), ..spec(Kind::Clos, 1024, 8, 32) });
    }
    let mut designs: Vec<Design> = Vec::new();
    for spec in specs {
        let Ok(design) = (DesignSpec { routing: Some(Routing::Spray), ..spec }).resolve() else { continue };
        let design = Design { name: String::new(), ..design };
        if design.kind.is_clos() && design.devices <= MOST && !designs.contains(&design) {
            designs.push(design);
        }
    }
    designs
}

/// Messages of every device to the next leaf of its pod, the next pod of its zone and the next zone: on its
/// own rail, and to other rails if the network carries these (true).
fn shifts(design: &Design) -> Vec<(Class, bool)> {
    let crate::topology::Fabric::Clos(network) = &design.fabric else { return Vec::new() };
    let clos = &network.clos;
    let place = |device: u64| {
        let leaf = design.leaf_of(network, device).1;
        let pod = clos.pod(leaf);
        [0, clos.zone(pod), pod, leaf]
    };
    let n = design.devices;
    let edge = |from: u64, to: u64| vec![Edge { from: from as u32, to: to as u32, bytes: 1e9 }];
    let shift = |level: usize, is_across: bool| {
        let mut edges = Vec::new();
        for rail in 0..if is_across { 1 } else { design.rails } {
            let is_meant = |device: &u64| is_across || design.rail(*device) == rail;
            let mut devices: Vec<u64> = (0..n).filter(is_meant).collect();
            devices.sort_by_key(|device| (place(*device), *device));
            for block in devices.chunk_by(|a, b| place(*a)[level] == place(*b)[level]) {
                let parts = block.chunk_by(|a, b| place(*a)[level + 1] == place(*b)[level + 1]);
                // Across rails also to another domain.
                let most = parts.map(<[u64]>::len).max().unwrap_or(0) + usize::from(is_across);
                let to = |n: usize| block[(n + most) % block.len()];
                let is_there = most < block.len();
                edges.extend(
                    block.iter().enumerate().filter(|_| is_there).map(|(n, from)| edge(*from, to(n))),
                );
            }
        }
        (Class::new("shift", edges, 1.0, design), is_across)
    };
    // To the next domain, often below the same leaf: losses of NICs alone.
    let next = (0..n).map(|from| edge(from, (from + design.domain.size) % n)).collect();
    let next = (Class::new("next", next, 1.0, design), false);
    let carries = design.joins_rails() && design.forwarding == crate::topology::Forwarding::None;
    let across =
        [2, 1, 0].into_iter().filter(|_| carries && design.rails > 1).map(|level| shift(level, true));
    let shifts = [2, 1, 0].into_iter().map(|level| shift(level, false)).chain(across).chain([next]);
    shifts.filter(|(class, _)| !class.members.is_empty()).collect()
}

/// How closely both agree.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Filling {
    /// Exactly.
    Even,
    /// Leaves are not equally full, so no permutation fills all of them: `failures` has the bound for full
    /// ones.
    Uneven,
    /// Pods have different numbers of links to some cores, or zones to top switches. `failures` takes each
    /// pod to send as the damaged one.
    Irregular,
}

fn filling(design: &Design) -> Filling {
    let crate::topology::Fabric::Clos(network) = &design.fabric else { return Filling::Irregular };
    let mut under = std::collections::BTreeMap::new();
    for device in 0..design.devices {
        *under.entry(design.leaf_of(network, device)).or_insert(0) += 1;
    }
    let is_even = under.values().min() == under.values().max();
    match (network.clos.is_regular(), is_even) {
        (false, _) => Filling::Irregular,
        (true, true) => Filling::Even,
        (true, false) => Filling::Uneven,
    }
}

#[test]
fn failures_and_simulate_agree_on_all_bundled_designs() {
    let mut wrong = Vec::new();
    let mut compared = 0;
    for design in bundled() {
        let what = format!(
            "{:?} {} domain {} planes {} rails {}",
            design.kind, design.devices, design.domain.size, design.planes, design.rails
        );
        let states = States::new(&design).expect("a Clos");
        let shifts = shifts(&design);
        let time = |wiring: &Wiring, class: &Class| {
            class_time(wiring, std::slice::from_ref(class)).ok().map(|all| all.duration.get())
        };
        let usual = Wiring::new(&design, &[]).expect("whole");
        let usual: Vec<f64> = shifts.iter().map(|(class, _)| time(&usual, class).expect("joined")).collect();
        for (class, count) in parts(&classes(&design)) {
            for number in [0, count / 2, count - 1] {
                let part = Numbered { class, number };
                let state = states.state(&[part]);
                let broken = Wiring::new(&design, &[Part::of_failures(part, &design).expect("a Clos")])
                    .expect("there");
                for recovery in [Recovery::Alone, Recovery::Neighbour, Recovery::Spread] {
                    let broken = broken.clone().recovering(recovery);
                    // A domain shares its NICs for equal sends of all of its devices, as within rails.
                    let is_port = class.contains("NIC") || class == "leaf";
                    let kept = shifts
                        .iter()
                        .zip(&usual)
                        .filter(|((_, is_across), _)| !(*is_across && is_port))
                        .map(|((class, _), usual)| time(&broken, class).map_or(0.0, |time| usual / time));
                    let kept = kept.fold(1.0, f64::min);
                    compared += 1;
                    let there = state.kept(recovery);
                    let is_near = match filling(&design) {
                        Filling::Even => (kept - there).abs() < 1e-9,
                        Filling::Uneven => (-1e-9..0.05).contains(&(kept - there)),
                        Filling::Irregular => kept >= 0.6 * there && kept <= 1.12 * there,
                    };
                    if !is_near {
                        wrong.push(format!(
                            "{what}: {class} {number} {recovery:?}: simulated {kept:.5}, failures {:.5}",
                            state.kept(recovery)
                        ));
                    }
                    if !class.contains("NIC") && class != "leaf" {
                        break;
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {compared}\n{}", wrong.len(), wrong.join("\n"));
}

/// Hashed connections choose as sprayed packets spread: over many of them, each link past a failed part
/// carries the same share.
#[test]
fn hashes_past_failed_parts_are_even_at_every_switch() {
    let connection =
        |routing| DesignSpec { zones: Some(2), routing: Some(routing), ..spec(Kind::Clos, 128, 1, 8) };
    for parts in
        [["link:spine-core:0"].as_slice(), &["core:0", "link:leaf-spine:5"], &["top:3"], &["spine:1"]]
    {
        let failed: Vec<Part> = parts.iter().map(|part| Part::parse(part).expect("a part")).collect();
        let wired = |routing| {
            let whole = crate::topology::Topology::build(
                &resolve(&connection(routing)),
                crate::topology::Detail::Links,
            );
            Wiring::of(whole.expect("small"), &failed).expect("there")
        };
        let (hashed, sprayed) = (wired(Routing::Ecmp), wired(Routing::Spray));
        for (from, to) in [(0, 127), (0, 20), (64, 5)] {
            const MANY: u64 = 4_000;
            let mut shares = std::collections::BTreeMap::new();
            for label in 0..MANY {
                for (link, share) in hashed.link_path(from, to, label).expect("joined").links {
                    *shares.entry(link).or_insert(0.0) += share / MANY as f64;
                }
            }
            let even: std::collections::BTreeMap<u32, f64> =
                sprayed.link_path(from, to, 0).expect("joined").links.into_iter().collect();
            assert!(shares.keys().all(|link| even.contains_key(link)), "{parts:?}");
            for (link, share) in even {
                let here = shares.get(&link).copied().unwrap_or(0.0);
                // Five standard errors of two draws for each label.
                let error = 5.0 * (share * (1.0 - share) / (2 * MANY) as f64).sqrt() + 1e-9;
                assert!((here - share).abs() <= error, "{parts:?} {from} {to}: {here} {share}");
            }
        }
    }
}
