//! Failures on dragonflies, Slim Fly and tori: `network failures` against simulated traffic that uses the
//! failed part.

use super::*;
use crate::failures::{Recovery, classes, parts};
use crate::simulate::Edge;

/// The name of a part of `network failures` in `simulate`.
fn named(class: &str, number: u64) -> String {
    let part = match class {
        "NIC" => "nic",
        "NIC-leaf link" => "link:access",
        "router" => "router",
        "leaf" => "leaf",
        "spine" => "spine",
        "leaf-spine link" | "link within a group" | "link" => "link:local",
        "global link" => "link:global",
        other => panic!("{other}"),
    };
    format!("{part}:{number}")
}

/// Messages of every device to the one a number of devices further.
fn shift(design: &Design, by: u64) -> Class {
    let n = design.devices;
    let edge = |from: u64| vec![Edge { from: from as u32, to: ((from + by) % n) as u32, bytes: 1e9 }];
    Class::new("shift", (0..n).map(edge).collect(), 1.0, design)
}

/// Ports and routers with devices agree exactly. Other parts have a bound: no traffic keeps less, and some is
/// near it.
#[test]
fn failures_and_simulate_agree_on_grouped_networks() {
    let mut wrong = Vec::new();
    for (spec, routing) in [
        (spec(Kind::Dragonfly, 72, 2, 7), Routing::Spray),
        (spec(Kind::Dragonfly, 72, 2, 7), Routing::Adaptive),
        (spec(Kind::Dragonfly, 16, 2, 7), Routing::Spray),
        (spec(Kind::Dragonfly, 24, 2, 7), Routing::Spray),
        (spec(Kind::DragonflyPlus, 64, 2, 8), Routing::Spray),
        (spec(Kind::DragonflyPlus, 128, 2, 8), Routing::Spray),
        (spec(Kind::DragonflyPlus, 128, 2, 8), Routing::Adaptive),
        (spec(Kind::DragonflyPlus, 272, 2, 8), Routing::Spray),
    ] {
        let design = resolve(&DesignSpec { routing: Some(routing), ..spec });
        let n = design.devices;
        let shifts: Vec<Class> = [2, 4, 8, 16, n / 2].map(|by| shift(&design, by)).into();
        let everyone = exchange(n, Shape::Everyone, n, 1, 1e9);
        let times = |wiring: &Wiring| -> Vec<Option<f64>> {
            let of = |class: &Class| class_time(wiring, std::slice::from_ref(class)).ok();
            let all = exchange_time(wiring, &everyone.0, std::slice::from_ref(&everyone.1)).ok();
            let times = shifts.iter().map(of).chain([all]);
            times.map(|all| all.map(|all| all.duration.get())).collect()
        };
        let whole = times(&Wiring::new(&design, &[]).expect("whole"));
        for (class, count) in parts(&classes(&design)) {
            let there = classes(&design).into_iter().filter(|one| one.part == class);
            let there = there.map(|one| one.kept_spread).fold(1.0, f64::min);
            let (kind, mut least) = (design.kind, f64::INFINITY);
            for number in [0, count / 2, count - 1] {
                let part = Part::parse(&named(class, number)).expect("a part");
                let broken = Wiring::new(&design, &[part]).expect("there").recovering(Recovery::Spread);
                for (time, whole) in times(&broken).into_iter().zip(&whole) {
                    least = least.min(time.map_or(0.0, |time| whole.expect("joined") / time));
                }
            }
            let what = format!("{kind:?} {n} {routing:?} {class}: simulated {least}, failures {there}");
            let is_exact = ["NIC", "NIC-leaf link", "router", "leaf"].contains(&class);
            if least < there - 1e-9 || least > there + if is_exact { 1e-9 } else { 0.35 } {
                wrong.push(what);
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A cable of a torus: a ring becomes a line and takes twice as long; rings in other dimensions and of other
/// rows take the same time.
#[test]
fn failures_and_simulate_agree_on_tori() {
    for dimensions in [vec![4, 4, 4], vec![8, 4], vec![16]] {
        let n: u64 = dimensions.iter().product();
        let design = resolve(&DesignSpec {
            kind: Some(Kind::Torus),
            devices: Some(n),
            dimensions: Some(dimensions.clone()),
            ..DesignSpec::default()
        });
        let whole = Wiring::new(&design, &[]).expect("whole");
        let broken = Wiring::new(&design, &[Part::parse("link:torus:0").expect("a part")]).expect("there");
        let classes = classes(&design);
        let [link] = classes.as_slice() else { panic!("{classes:?}") };
        let kept = |shape, side, stride| {
            let own = exchange(n, shape, side, stride, 1e9);
            alone(&whole, &own).duration / alone(&broken, &own).duration
        };
        let first = dimensions[0];
        near(kept(Shape::Gather, first, 1), link.kept_spread, 1e-9);
        near(kept(Shape::Gather, n, 1), link.kept_spread, 1e-9);
        assert!(kept(Shape::Everyone, first, 1) >= link.kept_spread - 1e-9);
        let mut stride = first;
        for side in &dimensions[1..] {
            near(kept(Shape::Gather, *side, stride), 1.0, 1e-9);
            stride *= side;
        }
    }
}
