//! Collectives on a torus: gathers and reductions along all dimensions concurrently, in both directions of
//! each ring.
//!
//! Responsible for: bytes between neighbours. Excludes routes (`topology::link_paths`) and communication that
//! is equal on any network (messages, all-to-all).
//!
//! A group whose members fill a grid splits its bytes into parts. Each part uses one dimension after the
//! other, forwards or backwards. Parts use the dimensions in different orders such that all dimensions carry
//! equal load. That is always possible: a set `A` of dimensions of `e` members can carry any share up to `1 -
//! 1/prod e` of the bytes. That exceeds its equal share of `1 - 1/n`. So each neighbour receives `V (n - 1) /
//! n / (2 D)` in D dimensions, the bound of a device's own links (bucket algorithms: E. Chan et al.,
//! Concurrency and Computation 19, 2007; P. Sack and W. Gropp, 2015).

use super::edge::Edge;
use crate::topology::torus::Torus;
use crate::traffic::{Algorithm, Exchange};
use railwright_step::CollectiveKind;

/// The pairs of one group, if the exchange is one that uses all dimensions.
pub(super) fn edges(torus: &Torus, exchange: &Exchange, members: &[u32]) -> Option<Vec<Edge>> {
    let times = match exchange.kind {
        CollectiveKind::AllReduce => 2.0,
        CollectiveKind::AllGather | CollectiveKind::ReduceScatter => 1.0,
        _ => return None,
    };
    if exchange.algorithm == Algorithm::Direct || members.len() < 2 {
        return None;
    }
    let n = members.len() as f64;
    let volume = times * exchange.bytes.get() * (n - 1.0) / n;
    let mut edges = Vec::new();
    match grid(torus, members) {
        Some(axes) => {
            let used = axes.iter().filter(|axis| axis.len() > 1).count() as f64;
            along(torus, &axes, members, volume / (2.0 * used), &mut edges);
        }
        // Members that fill no grid form one ring in their order, with half of the bytes in each direction.
        None => both_directions(members, volume / 2.0, &mut edges),
    }
    Some(edges)
}

/// Positions along each dimension, if members are at all positions of their product; else `None`.
fn grid(torus: &Torus, members: &[u32]) -> Option<[Vec<u64>; 3]> {
    let mut axes: [Vec<u64>; 3] = Default::default();
    for (dimension, axis) in axes.iter_mut().enumerate() {
        axis.extend(members.iter().map(|member| torus.place(u64::from(*member))[dimension]));
        axis.sort_unstable();
        axis.dedup();
    }
    (axes.iter().map(Vec::len).product::<usize>() == members.len()).then_some(axes)
}

fn along(torus: &Torus, axes: &[Vec<u64>; 3], members: &[u32], bytes: f64, edges: &mut Vec<Edge>) {
    for (dimension, axis) in axes.iter().enumerate().filter(|(_, axis)| axis.len() > 1) {
        for &member in members {
            let place = torus.place(u64::from(member));
            if place[dimension] != axis[0] {
                continue;
            }
            let line: Vec<u32> = axis
                .iter()
                .map(|at| {
                    let mut place = place;
                    place[dimension] = *at;
                    torus.device(place) as u32
                })
                .collect();
            both_directions(&line, bytes, edges);
        }
    }
}

fn both_directions(ring: &[u32], bytes: f64, edges: &mut Vec<Edge>) {
    for (index, &from) in ring.iter().enumerate() {
        let to = ring[(index + 1) % ring.len()];
        edges.push(Edge { from, to, bytes });
        edges.push(Edge { from: to, to: from, bytes });
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Part, Wiring, exchange_time};
    use crate::simulate::tests::{Shape, exchange};
    use crate::topology::{DesignSpec, Kind, Routing};

    fn torus(dimensions: &[u64], failed: &[&str]) -> Wiring {
        let spec = DesignSpec {
            kind: Some(Kind::Torus),
            devices: Some(dimensions.iter().product()),
            dimensions: Some(dimensions.to_vec()),
            routing: Some(Routing::Spray),
            ..DesignSpec::default()
        };
        let failed: Vec<Part> = failed.iter().map(|part| Part::parse(part).expect("a part")).collect();
        Wiring::new(&spec.resolve().expect("valid"), &failed).expect("built")
    }

    /// Seconds of one call of all groups of `n` at a stride, `bytes` each, and one link's bandwidth.
    fn time(wiring: &Wiring, shape: Shape, n: u64, stride: u64) -> (f64, f64) {
        let design = &wiring.topology.design;
        let crate::topology::Fabric::Torus(torus) = &design.fabric else { panic!("a torus") };
        let (numbering, exchange) = exchange(design.devices, shape, n, stride, 1e9);
        let together = exchange_time(wiring, &numbering, &[exchange]).expect("joined");
        (together.duration.get(), design.torus_link_bandwidth(torus).get())
    }

    #[track_caller]
    fn near(a: f64, b: f64) {
        assert!((a / b - 1.0).abs() < 1e-9, "{a} {b}");
    }

    /// `V (n - 1)/n` over the links of a group's dimensions: all six for the whole torus, two for one ring of
    /// it.
    #[test]
    fn gathers_and_reductions_take_their_closed_forms() {
        let whole = torus(&[4, 4, 4], &[]);
        let (gather, link) = time(&whole, Shape::Gather, 64, 1);
        near(gather, 1e9 * 63.0 / 64.0 / (6.0 * link));
        near(time(&whole, Shape::Reduce, 64, 1).0, 2.0 * gather);
        // Rings along each dimension, and planes.
        for (n, stride, dimensions) in [(4, 1, 1.0), (4, 4, 1.0), (4, 16, 1.0), (16, 1, 2.0), (16, 4, 2.0)] {
            let n_ = n as f64;
            near(time(&whole, Shape::Gather, n, stride).0, 1e9 * (n_ - 1.0) / n_ / (2.0 * dimensions * link));
        }
        // Uneven sides, a side of two with two cables, and two dimensions.
        let (uneven, link) = time(&torus(&[8, 4, 2], &[]), Shape::Gather, 64, 1);
        near(uneven, 1e9 * 63.0 / 64.0 / (6.0 * link));
        let (flat, link) = time(&torus(&[16, 16], &[]), Shape::Reduce, 256, 1);
        near(flat, 2e9 * 255.0 / 256.0 / (4.0 * link));
        // Half of a ring is a line: without the short link back, it takes twice as long.
        let (line, link) = time(&torus(&[8, 8], &[]), Shape::Gather, 4, 1);
        near(line, 1e9 * 3.0 / 4.0 / link);
    }

    /// An all-to-all is limited by the bisection, `2 N / n` links in each direction for `(N/2)^2` pairs
    /// (network.md, section 3: `2 n^2` of an `n^3`): `N n / 8` messages per link for even sides.
    #[test]
    fn an_all_to_all_meets_the_bisection_bound() {
        for (dimensions, longest) in [(&[4_u64, 4, 4][..], 4.0), (&[8, 4], 8.0), (&[8], 8.0), (&[6, 6], 6.0)]
        {
            let wiring = torus(dimensions, &[]);
            let n = dimensions.iter().product::<u64>();
            let (all, link) = time(&wiring, Shape::Everyone, n, 1);
            let message = 1e9 / n as f64;
            let crate::topology::Fabric::Torus(torus) = &wiring.topology.design.fabric else {
                panic!("a torus")
            };
            let half = n as f64 / 2.0;
            near(all, half * half * message / (torus.bisection_links() as f64 * link));
            near(all, n as f64 * longest / 8.0 * message / link);
        }
    }

    /// A broken cable: rings through it use the other direction, over the links of their own dimension. They
    /// take three times as long: own bytes in both directions, and the bytes of the broken cable. With
    /// the return link broken too, ranks are cut off or others forward.
    #[test]
    fn broken_cables_are_gone_around() {
        let (whole, _) = time(&torus(&[8], &[]), Shape::Gather, 8, 1);
        let (line, _) = time(&torus(&[8], &["link:torus:3"]), Shape::Gather, 8, 1);
        near(line, 2.0 * whole);
        let problem = || {
            let wiring = torus(&[8], &["link:torus:3", "link:torus:4"]);
            let (numbering, exchange) = exchange(8, Shape::Gather, 8, 1, 1e9);
            exchange_time(&wiring, &numbering, &[exchange]).expect_err("cut off")
        };
        assert!(problem().message.contains("rank 4 is disconnected"), "{}", problem().message);
        let (solid, _) = time(&torus(&[4, 4], &[]), Shape::Gather, 16, 1);
        let (broken, _) = time(&torus(&[4, 4], &["link:torus:0"]), Shape::Gather, 16, 1);
        assert!(broken > solid * 1.2 && broken < solid * 3.1, "{broken} {solid}");
    }
}
