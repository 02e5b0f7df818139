//! Four tiers and zones: what top switches carry, and what a reduced ratio between zones costs.

use super::*;
use crate::topology::{Detail, Topology};

fn sprayed(spec: DesignSpec) -> DesignSpec {
    DesignSpec {
        routing: Some(Routing::Spray),
        domain_latency: Some(Seconds::ZERO),
        link_latency: Some(Seconds::ZERO),
        ..spec
    }
}

fn slow(spec: &DesignSpec, (shape, n, stride): (Shape, u64, u64)) -> f64 {
    let wiring = wiring(spec, &[]);
    let devices = u64::from(wiring.devices());
    alone(&wiring, &exchange(devices, shape, n, stride, 1e9)).exchanges[0].slowdown
}

/// Four full tiers of k-port switches join `k^4 / 8` devices without blocking, on `7 (k / 2)^3` switches.
#[test]
fn four_full_tiers_do_not_block() {
    for (k, devices) in [(4_u64, 32_u64), (8, 512)] {
        let four = sprayed(DesignSpec { tiers: Some(4), ..spec(Kind::Clos, devices, 1, k) });
        assert_eq!(resolve(&four).counts().switches(), 7 * (k / 2).pow(3));
        near(slow(&four, (Shape::Everyone, devices, 1)), 1.0, 1e-9);
        let far = (Shape::Next, 2, devices / 2);
        near(slow(&four, far), 1.0, 1e-9);
    }
    // 131,072 devices on switches of 64 ports, more than three tiers join.
    let large = sprayed(DesignSpec { tiers: Some(4), ..spec(Kind::RailOptimized, 131_072, 8, 64) });
    near(slow(&large, (Shape::Gather, 16_384, 8)), 1.0, 1e-9);
}

/// With a ratio `o` above the cores of `z` equal zones, an all-to-all of `n` devices takes `o (n - n / z) /
/// (n - 1)` times as long, if that is more than 1: all but a zone's own bytes cross its uplinks. Traffic
/// within zones is not slowed.
#[test]
fn a_ratio_between_zones_slows_what_crosses_them() {
    for (zones, ratio) in [(2_u64, 2.0), (2, 4.0), (4, 4.0)] {
        let n = 256;
        let islands = sprayed(DesignSpec {
            zones: Some(zones),
            core_oversubscription: Some(ratio),
            ..spec(Kind::Clos, n, 1, 16)
        });
        let design = resolve(&islands);
        // Whole uplinks keep the ratio below the requested one: 13 cores with 5 of them each carry 65 / 128,
        // not a half.
        let counts = design.counts();
        let links = |layer| counts.links_in(layer) as f64;
        let over = links(Layer::SpineCore) / links(Layer::CoreTop);
        assert!(over <= ratio && over > 0.85 * ratio, "{over} {ratio}");
        let crossing = (n - n / zones) as f64 / (n - 1) as f64;
        near(slow(&islands, (Shape::Everyone, n, 1)), (over * crossing).max(1.0), 1e-9);
        near(slow(&islands, (Shape::Everyone, n / zones, 1)), 1.0, 1e-9);
        // A pair in two zones: every byte crosses.
        near(slow(&islands, (Shape::Next, 2, n / 2)), over, 1e-9);
    }
}

/// Packets spread over all links load them as pooled links do, and hashes never more evenly.
#[test]
fn hashes_between_zones_collide() {
    let islands = sprayed(DesignSpec { zones: Some(2), ..spec(Kind::Clos, 128, 1, 8) });
    let design = resolve(&islands);
    let single = Wiring::of(Topology::build(&design, Detail::Links).expect("small"), &[]).expect("whole");
    let far = exchange(128, Shape::Next, 2, 64, 1e9);
    near(alone(&single, &far).exchanges[0].slowdown, 1.0, 1e-9);
    let hashed = DesignSpec { routing: Some(Routing::Ecmp), ..islands };
    assert!(slow(&hashed, (Shape::Next, 2, 64)) > 1.2);
}

/// A lost top switch: each core has all of its links to one, so a spine of 4 uplinks has 3 to cores that
/// still reach the other zone. Leaves do not know of it and spread their packets evenly over spines:
/// `simulate` and `failures` have 3/4, not the 15/16 of all top switches.
#[test]
fn a_lost_top_switch_costs_what_one_spine_loses() {
    let islands = sprayed(DesignSpec { zones: Some(2), ..spec(Kind::Clos, 128, 1, 8) });
    let design = resolve(&islands);
    let class = crate::failures::classes(&design).into_iter().find(|class| class.part == "top switch");
    let kept = class.expect("four tiers have them").kept_alone;
    let far = exchange(128, Shape::Next, 2, 64, 1e9);
    let part = Part::parse("top:0").expect("a part");
    let slowdown = alone(&Wiring::new(&design, &[part]).expect("there"), &far).exchanges[0].slowdown;
    near(kept, 3.0 / 4.0, 1e-12);
    near(slowdown, 4.0 / 3.0, 1e-9);
}
