//! Properties of simulated programs on any network: the order of flows, the bytes of links, and the unit of
//! time do not matter.

use proptest::prelude::*;
use railwright_network::flow::listed::{Listed, Routes, play};
use railwright_network::simulate::LinkPath;
use railwright_spec::quantity::{Bytes, Seconds};

/// A network in which the route of device `n` to any other is the list `n`.
#[derive(Clone, Debug)]
struct Network {
    capacities: Vec<f64>,
    routes: Vec<Vec<(u32, f64)>>,
}

impl Routes for Network {
    fn capacities(&self) -> Vec<f64> {
        self.capacities.clone()
    }

    fn link_path(&self, from: u32, _: u32, _: u64) -> Option<LinkPath> {
        self.routes.get(from as usize).map(|links| LinkPath { links: links.clone(), latency: 0.0 })
    }
}

/// Flows with routes of their own on up to 12 links. Some start late, and some follow the flow before them.
fn programs() -> impl Strategy<Value = (Network, Vec<Listed>)> {
    (2_u32..12).prop_flat_map(|links| {
        let share = prop_oneof![3 => Just(1.0), 1 => Just(0.5), 1 => Just(0.25)];
        let route = proptest::collection::btree_map(0..links, share, 1..=3);
        let flow = (route, 1_u32..2000, 0_u32..3, any::<bool>());
        let capacity = (1_u32..20).prop_map(f64::from);
        (proptest::collection::vec(capacity, links as usize), proptest::collection::vec(flow, 1..80))
            .prop_map(|(capacities, made)| {
                let routes = made.iter().map(|flow| flow.0.clone().into_iter().collect()).collect();
                let devices = made.len() as u32;
                let flow = |(at, (_, bytes, start, follows)): (u32, &(_, u32, u32, bool))| Listed {
                    name: at.to_string(),
                    from: at,
                    to: devices,
                    bytes: Bytes::new(f64::from(*bytes)),
                    start: Seconds::new(f64::from(*start)),
                    after: if *follows && at > 0 { vec![at - 1] } else { Vec::new() },
                };
                let flows = (0_u32..).zip(&made).map(flow).collect();
                (Network { capacities, routes }, flows)
            })
    })
}

fn ends(network: &Network, flows: &[Listed]) -> Vec<f64> {
    let (intervals, _) = play(network, flows, 0).expect("it ends");
    intervals.iter().map(|interval| interval.end.get()).collect()
}

fn is_near(one: f64, other: f64) -> bool {
    (one / other - 1.0).abs() < 1e-9
}

proptest! {
    #[test]
    fn the_order_of_flows_has_no_effect((network, flows) in programs()) {
        let last = flows.len() as u32 - 1;
        let mut turned: Vec<Listed> = flows.iter().rev().cloned().collect();
        for flow in &mut turned {
            flow.after.iter_mut().for_each(|before| *before = last - *before);
        }
        let turned = ends(&network, &turned);
        for (one, other) in ends(&network, &flows).iter().zip(turned.iter().rev()) {
            prop_assert!(is_near(*one, *other), "{one} {other}");
        }
    }

    /// A link carries the bytes of its flows, and at most its capacity in the time.
    #[test]
    fn bytes_are_conserved_on_every_link((network, flows) in programs()) {
        let (_, outcome) = play(&network, &flows, 0).expect("it ends");
        for (link, capacity) in network.capacities.iter().enumerate() {
            let sent = flows.iter().zip(&network.routes).flat_map(|(flow, route)| {
                route.iter().filter(|hop| hop.0 as usize == link).map(|hop| flow.bytes.get() * hop.1)
            });
            let (sent, carried) = (sent.sum::<f64>(), outcome.carried[link].get());
            prop_assert!((sent - carried).abs() <= 1e-9 * sent, "{sent} {carried}");
            prop_assert!(carried <= capacity * outcome.duration.get() * (1.0 + 1e-9));
        }
    }

    /// Links of three times the capacity take a third of the time. One faster link alone can delay a flow: max-min fair sharing gives the
    /// freed capacity to others.
    #[test]
    fn faster_links_shorten_all_flows_by_as_much((network, mut flows) in programs()) {
        for flow in &mut flows {
            flow.start = Seconds::ZERO;
        }
        let mut faster = network.clone();
        faster.capacities.iter_mut().for_each(|capacity| *capacity *= 3.0);
        for (one, other) in ends(&network, &flows).iter().zip(ends(&faster, &flows)) {
            prop_assert!(is_near(*one, 3.0 * other), "{one} {other}");
        }
    }
}
