//! States of failed parts: one part agrees with its class, several add up.

use super::super::classes;
use super::*;
use crate::topology::{DesignSpec, Kind, Routing};

fn design(kind: Kind, devices: u64, domain: u64, radix: u64, routing: Routing) -> Design {
    let spec = DesignSpec {
        kind: Some(kind),
        devices: Some(devices),
        domain: Some(domain),
        radix: Some(radix),
        routing: Some(routing),
        ..DesignSpec::default()
    };
    spec.resolve().expect("it is built")
}

/// Two zones of four pods, 2:1 between them.
fn zoned(routing: Routing) -> Design {
    let spec = DesignSpec {
        zones: Some(2),
        core_oversubscription: Some(2.0),
        routing: Some(routing),
        ..DesignSpec::of(Kind::Clos, 128, 4, 8)
    };
    spec.resolve().expect("it is built")
}

#[test]
fn one_part_equals_its_class() {
    for routing in [Routing::Ecmp, Routing::Spray] {
        for design in [
            design(Kind::Clos, 128, 4, 8, routing),
            design(Kind::Clos, 32, 4, 8, routing),
            design(Kind::RailOptimized, 128, 4, 8, routing),
            design(Kind::RailOnly, 128, 4, 8, routing),
            design(Kind::RailOnly, 32, 8, 8, routing),
            design(Kind::DualPlane, 64, 4, 8, routing),
            design(Kind::MultiPlane, 256, 8, 16, routing),
            zoned(routing),
        ] {
            let states = States::new(&design).expect("a Clos");
            for class in classes(&design) {
                assert_eq!(states.count(class.part), class.count, "{} {}", design.name, class.part);
                for number in [0, class.count / 2, class.count - 1] {
                    let state = states.state(&[Part { class: class.part, number }]);
                    let what = format!("{} {} {number} {routing:?}", design.name, class.part);
                    assert_eq!(State::devices(&state.cut_off), class.cut_off, "{what}");
                    assert_eq!(State::devices(&state.stranded), class.stranded, "{what}");
                    let regular = match &design.fabric {
                        Fabric::Clos(network) => network.clos.is_regular(),
                        _ => true,
                    };
                    for recovery in [Recovery::Alone, Recovery::Neighbour, Recovery::Spread] {
                        let (here, worst) = (state.kept(recovery), class.kept(recovery));
                        let is_equal = (here - worst).abs() < 1e-12;
                        let is_no_worse = !regular && here >= worst - 1e-12 && here < worst * 1.6;
                        assert!(is_equal || is_no_worse, "{what}: {state:?} {class:?}");
                    }
                }
            }
        }
    }
}

#[test]
fn failures_add_up_and_cut_domains_apart() {
    let rails = design(Kind::RailOnly, 64, 4, 16, Routing::Ecmp);
    let states = States::new(&rails).expect("a Clos");
    // Domain 0 keeps rail 3 alone, domain 1 keeps rail 0 alone: no rail joins them, though each reaches all
    // others.
    let nics = |list: &[u64]| list.iter().map(|&number| Part { class: "NIC", number }).collect::<Vec<_>>();
    let state = states.state(&nics(&[0, 1, 2, 5, 6, 7]));
    assert_eq!((state.is_connected, state.kept_spread), (false, 0.25));
    assert!(state.stranded.is_empty());
    assert_eq!(state.cut_off, [Range { first: 0, last: 2 }, Range { first: 5, last: 7 }]);
    let all = states.state(&nics(&[0, 1, 2, 3]));
    assert_eq!((all.stranded.as_slice(), all.is_connected), (&[Range { first: 0, last: 3 }][..], false));
    // With the same failed NICs, a Clos, which connects rails, stays connected.
    let clos = design(Kind::Clos, 64, 4, 16, Routing::Ecmp);
    assert!(States::new(&clos).expect("a Clos").state(&nics(&[0, 1, 2, 5, 6, 7])).is_connected);
}

#[test]
fn thousands_of_damaged_domains_are_held_against_each_other_once() {
    // One NIC of each of 1,024 domains. On one fabric all domains keep the same connections; on 4 rails there
    // are 4 different losses.
    let nics: Vec<Part> = (0..1024).map(|n| Part { class: "NIC", number: n * 4 + n / 4 % 4 }).collect();
    for (kind, manners) in [(Kind::Clos, 1), (Kind::RailOnly, 4)] {
        let design = design(kind, 4096, 4, 64, Routing::Ecmp);
        let (state, open) = States::new(&design).expect("a Clos").left(&nics);
        assert_eq!(
            (open.len(), state.is_connected, State::devices(&state.cut_off)),
            (manners, true, 1024),
            "{kind:?}"
        );
    }
}

#[test]
fn both_planes_of_a_rail_are_needed_to_cut_it_off() {
    let dual = design(Kind::DualPlane, 128, 8, 16, Routing::Ecmp);
    let states = States::new(&dual).expect("a Clos");
    let leaves = states.count("leaf");
    let one = states.state(&[Part { class: "leaf", number: 0 }]);
    let both = states.state(&[Part { class: "leaf", number: 0 }, Part { class: "leaf", number: leaves / 2 }]);
    assert_eq!((one.cut_off.len(), one.kept_alone), (0, 0.5));
    assert_eq!((State::devices(&both.cut_off), both.kept_spread), (16, 1.0 - 1.0 / 8.0));
}
