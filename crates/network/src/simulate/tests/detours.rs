//! Exchanges on a dragonfly by minimal routes, by detours through third groups, and by the faster of both.

use super::*;
use crate::simulate::Edge;

/// The example of Kim et al. (ISCA 2008): 33 groups of 32 devices, one link between any two groups; no
/// latencies.
fn kims(routing: Routing) -> DesignSpec {
    DesignSpec {
        routing: Some(routing),
        domain_latency: Some(Seconds::ZERO),
        link_latency: Some(Seconds::ZERO),
        ..spec(Kind::Dragonfly, 1056, 1, 15)
    }
}

/// Slowdown of communication in which each device sends to its peer a number of groups away.
fn shift(wiring: &Wiring, groups: u32) -> f64 {
    let edges = (0..1056).map(|from| Edge { from, to: (from + 32 * groups) % 1056, bytes: 1e6 }).collect();
    let class = Class::new("shift", vec![edges], 1.0, &wiring.topology.design);
    class_time(wiring, &[class]).expect("joined").exchanges[0].slowdown
}

/// Section 4.2 and figure 8 of that paper: 1/(a h) of the bandwidth by minimal routes, somewhat under half of
/// it by Valiant's.
#[test]
fn adaptive_routing_takes_the_better_of_both() {
    let [minimal, valiant, adaptive] =
        [Routing::Spray, Routing::Valiant, Routing::Adaptive].map(|routing| wiring(&kims(routing), &[]));
    let shifts = [1, 4, 15];
    for groups in shifts {
        let by_detours = shift(&valiant, groups);
        near(shift(&minimal, groups), 32.0, 1e-9);
        near(shift(&adaptive, groups), by_detours, 1e-9);
        assert!(by_detours < 6.4, "{groups}: {by_detours}");
    }
    let best = shifts.map(|groups| shift(&valiant, groups)).into_iter().fold(f64::INFINITY, f64::min);
    near(best, 64.0 / 31.0, 1e-9);
    // All to all: minimal routes load each global link once, which is its capacity, and detours twice.
    let time = |routing| {
        let spec = DesignSpec { devices: Some(72), radix: Some(7), ..kims(routing) };
        alone(&wiring(&spec, &[]), &exchange(72, Shape::Everyone, 72, 1, 1e9)).duration.get()
    };
    near(time(Routing::Adaptive), time(Routing::Spray), 1e-9);
    assert!(time(Routing::Valiant) > 1.5 * time(Routing::Spray));
}

/// One link less is one third group less: 30 detours remain for the 32 messages of that route, and the others
/// are slightly more congested.
#[test]
fn detours_leave_out_broken_links() {
    for routing in [Routing::Valiant, Routing::Adaptive] {
        let whole = shift(&wiring(&kims(routing), &[]), 4);
        let broken = wiring(&kims(routing), &["link:global:3"]);
        let without = shift(&broken, 4);
        assert!(without > whole && without < whole * 1.1, "{routing:?}: {whole} {without}");
    }
    // With two groups there is no third: minimal routes.
    let two = |routing| DesignSpec { devices: Some(64), ..kims(routing) };
    let edges = || (0..64).map(|from| Edge { from, to: (from + 32) % 64, bytes: 1e6 }).collect();
    let time = |spec: &DesignSpec| {
        let wiring = wiring(spec, &[]);
        let class = Class::new("swap", vec![edges()], 1.0, &wiring.topology.design);
        class_time(&wiring, &[class]).expect("joined").duration.get()
    };
    near(time(&two(Routing::Valiant)), time(&two(Routing::Spray)), 1e-12);
}

/// Every router of a group sends to the next one: its 4 hosts share one link by minimal routes, and have `2 p
/// / (a - 2)` of each link by detours through the other `a - 2 = 6` routers (each link has the first half of
/// one router's traffic and the second half of another's).
#[test]
fn a_group_has_detours_of_its_own() {
    let edges = || {
        let to = |from: u32| from / 32 * 32 + (from % 32 + 4) % 32;
        (0..1056).map(|from| Edge { from, to: to(from), bytes: 1e6 }).collect::<Vec<_>>()
    };
    let slowdown = |routing| {
        let wiring = wiring(&kims(routing), &[]);
        let class = Class::new("next router", vec![edges()], 1.0, &wiring.topology.design);
        class_time(&wiring, &[class]).expect("joined").exchanges[0].slowdown
    };
    near(slowdown(Routing::Spray), 4.0, 1e-9);
    near(slowdown(Routing::Valiant), 8.0 / 6.0, 1e-9);
    near(slowdown(Routing::Adaptive), 8.0 / 6.0, 1e-9);
}
