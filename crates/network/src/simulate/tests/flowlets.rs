//! Flowlets: between one hash for each connection and packets spread evenly.

use super::*;

/// The mean slowdown of a shift over leaves, over hash seeds, on 64 devices below leaves of eight.
fn mean(routing: Routing, flowlets: u64) -> f64 {
    let seeds = 8;
    let slowdown = |seed| {
        let spec = DesignSpec {
            routing: Some(routing),
            flowlets: (routing == Routing::Ecmp).then_some(flowlets),
            seed: Some(seed),
            domain_latency: Some(Seconds::ZERO),
            link_latency: Some(Seconds::ZERO),
            ..spec(Kind::Clos, 64, 1, 16)
        };
        alone(&wiring(&spec, &[]), &exchange(64, Shape::Next, 2, 32, 1e9)).exchanges[0].slowdown
    };
    (0..seeds).map(slowdown).sum::<f64>() / seeds as f64
}

#[test]
fn more_flowlets_collide_less() {
    let slowdowns = [1, 4, 16, 64].map(|flowlets| mean(Routing::Ecmp, flowlets));
    assert!(slowdowns.is_sorted_by(|a, b| a > b), "{slowdowns:?}");
    assert!(slowdowns[0] > 1.5 && slowdowns[3] < 1.5, "{slowdowns:?}");
    near(mean(Routing::Spray, 1), 1.0, 1e-9);
    assert!(slowdowns[3] > 1.0, "{slowdowns:?}");
}
