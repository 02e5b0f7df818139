//! Optical circuits between pods, matched to the traffic of a job, as a DOT fabric.
//!
//! Responsible for: the number of circuits of every pair of pods, and the file that `--fabric` reads.
//! Circuits are set once for a job and are fixed during it. Excludes their price ([`crate::bill`]), and the
//! reconfiguration of circuits within a step.
//!
//! W. Wang et al., "TopoOpt" (NSDI 2023), and L. Poutievski et al., "Jupiter Evolving" (SIGCOMM 2022), set
//! direct circuits by demand as well. Here every pair of pods with traffic has circuits in proportion, as far
//! as whole circuits and ports allow.

use crate::topology::{Design, Fabric, Kind};
use railwright_spec::problem::Problem;
use std::cmp::Ordering;
use std::collections::{BTreeMap, BinaryHeap};
use std::fmt::Write as _;

/// Pod and spine of both ends of a circuit.
type Ends = ((u64, u64), (u64, u64));

/// Number of circuits of each pair of pods, the smaller pod first.
pub type Circuits = BTreeMap<(u64, u64), u64>;

/// A pair of pods by its bytes for each circuit, including the next one.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Wanting {
    bytes_each: f64,
    pair: (u64, u64),
}

impl Eq for Wanting {}

impl PartialOrd for Wanting {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Wanting {
    /// The most bytes first, then the first pair.
    fn cmp(&self, other: &Self) -> Ordering {
        self.bytes_each.total_cmp(&other.bytes_each).then(other.pair.cmp(&self.pair))
    }
}

/// Circuits of pods with a number of ports each, for the bytes between pairs (both directions together).
///
/// Every pod has one circuit to the next, so that all are joined. Then each circuit goes to the pair with the
/// most bytes per circuit, until no such pair has free ports at both ends: the largest of
/// `bytes / circuits` becomes as small as whole circuits allow. Remaining ports are spread evenly over pairs.
pub fn matched(pods: u64, ports: u64, bytes: &BTreeMap<(u64, u64), f64>) -> Circuits {
    let mut free: BTreeMap<u64, u64> = (0..pods).map(|pod| (pod, ports)).collect();
    let mut circuits = Circuits::new();
    let mut take = |pair: (u64, u64), circuits: &mut Circuits| -> bool {
        let has = |pod: u64| free.get(&pod).is_some_and(|ports| *ports > 0);
        let is_possible = pair.0 != pair.1 && has(pair.0) && has(pair.1);
        if is_possible {
            for pod in [pair.0, pair.1] {
                if let Some(ports) = free.get_mut(&pod) {
                    *ports -= 1;
                }
            }
            *circuits.entry(pair).or_default() += 1;
        }
        is_possible
    };
    for pod in 0..pods {
        let next = (pod + 1) % pods.max(1);
        let pair = (pod.min(next), pod.max(next));
        if !circuits.contains_key(&pair) {
            take(pair, &mut circuits);
        }
    }
    let of = |pair: (u64, u64), circuits: &Circuits| circuits.get(&pair).copied().unwrap_or_default();
    let mut heap: BinaryHeap<Wanting> = bytes
        .iter()
        .filter(|(pair, bytes)| pair.0 < pair.1 && pair.1 < pods && **bytes > 0.0)
        .map(|(&pair, &bytes)| {
            let own = of(pair, &circuits);
            Wanting { bytes_each: if own == 0 { f64::INFINITY } else { bytes / own as f64 }, pair }
        })
        .collect();
    while let Some(Wanting { pair, .. }) = heap.pop() {
        if take(pair, &mut circuits) {
            let all = bytes.get(&pair).copied().unwrap_or_default();
            heap.push(Wanting { bytes_each: all / of(pair, &circuits) as f64, pair });
        }
    }
    // The pairs with the fewest circuits first, of these the nearest pods.
    for level in 0..=ports {
        for offset in 1..=pods / 2 {
            for pod in 0..pods {
                let other = (pod + offset) % pods;
                let pair = (pod.min(other), pod.max(other));
                if of(pair, &circuits) <= level {
                    take(pair, &mut circuits);
                }
            }
        }
    }
    circuits
}

/// Bytes between pods of a design. `flows` calls its argument with sender, receiver and bytes of every flow
/// between devices.
pub fn between_pods(
    design: &Design,
    flows: impl FnOnce(&mut dyn FnMut(u32, u32, f64)),
) -> BTreeMap<(u64, u64), f64> {
    let per_pod = match &design.fabric {
        Fabric::DragonflyPlus(d) => (d.hosts * d.leaves).max(1),
        _ => 1,
    };
    let mut bytes: BTreeMap<(u64, u64), f64> = BTreeMap::new();
    flows(&mut |from, to, own| {
        let (from, to) = (u64::from(from) / per_pod, u64::from(to) / per_pod);
        if from != to {
            *bytes.entry((from.min(to), from.max(to))).or_default() += own;
        }
    });
    bytes
}

/// The fabric of a dragonfly-plus with these bytes between its pods, as DOT: circuits in place of its links
/// between groups.
pub fn fabric(design: &Design, bytes: &BTreeMap<(u64, u64), f64>) -> Result<String, Problem> {
    let Fabric::DragonflyPlus(d) = &design.fabric else {
        return Err(Problem::new(format!("pods of a {} are not joined by circuits", design.kind.name()))
            .at_key("design.kind")
            .hint(format!("use `--topology {}`", Kind::DragonflyPlus.name())));
    };
    let circuits = matched(d.groups, d.spines * d.globals, bytes);
    let gigabit = |speed: railwright_spec::quantity::BytesPerSecond| speed.get() * 8.0 / 1e9;
    let (nic, port) = (gigabit(design.nic_port_bandwidth()), gigabit(design.port_bandwidth));
    let latency = design.link_latency.get() * 1e6;
    let mut text = format!(
        "// {} devices in {} pods: circuits between pods by the bytes of a step.\ngraph circuits {{\n  edge [latency=\"{latency} us\"]\n  node [type=switch]\n",
        design.devices, d.groups
    );
    // Writing to a text cannot fail.
    let mut line = |words: std::fmt::Arguments<'_>| {
        let _ = writeln!(text, "  {words}");
    };
    for pod in 0..d.groups {
        for leaf in 0..d.leaves {
            for spine in 0..d.spines {
                line(format_args!("leaf{pod}.{leaf} -- spine{pod}.{spine} [bandwidth=\"{port} Gbit/s\"]"));
            }
        }
    }
    // Circuits of a pod take the ports of its spines in turn.
    let mut next: BTreeMap<u64, u64> = BTreeMap::new();
    let mut joined: BTreeMap<Ends, u64> = BTreeMap::new();
    for (&(a, b), &count) in &circuits {
        for _ in 0..count {
            let mut spine = |pod: u64| {
                let port = next.entry(pod).or_default();
                *port += 1;
                (pod, (*port - 1) % d.spines)
            };
            *joined.entry((spine(a), spine(b))).or_default() += 1;
        }
    }
    for ((a, b), count) in joined {
        line(format_args!(
            "spine{}.{} -- spine{}.{} [bandwidth=\"{port} Gbit/s\", count={count}]",
            a.0, a.1, b.0, b.1
        ));
    }
    line(format_args!("node [type=device]"));
    for device in 0..design.devices {
        let (leaf, host) = (device / d.hosts, device / design.domain.size);
        let (pod, leaf) = (leaf / d.leaves, leaf % d.leaves);
        line(format_args!("gpu{device} [host=h{host}]"));
        line(format_args!("gpu{device} -- leaf{pod}.{leaf} [bandwidth=\"{nic} Gbit/s\"]"));
    }
    text += "}\n";
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::imported::{Imported, RouteSetting, Surroundings, parse, shared_time};
    use crate::simulate::Edge;
    use crate::topology::{DesignSpec, Routing};

    fn pairs(list: &[(u64, u64, f64)]) -> BTreeMap<(u64, u64), f64> {
        list.iter().map(|&(a, b, bytes)| ((a, b), bytes)).collect()
    }

    /// A ring over eight pods of 14 ports: uniform circuits leave 2 for each neighbour, matched ones 7. The
    /// neighbours then have `(g - 1) / 2` times the bandwidth, for any number of pods.
    #[test]
    fn a_ring_has_all_circuits() {
        for pods in [4, 8, 15] {
            let ports = 2 * (pods - 1);
            let ring: Vec<_> =
                (0..pods).map(|n| (n.min((n + 1) % pods), n.max((n + 1) % pods), 1.0)).collect();
            let circuits = matched(pods, ports, &pairs(&ring));
            for (a, b, _) in ring {
                assert_eq!(circuits[&(a, b)], ports / 2, "{pods}");
            }
            assert_eq!(circuits.len() as u64, pods);
        }
    }

    /// Every device sends to the next of eight pods with 16 devices and 16 ports. Uniform circuits leave 3
    /// for a neighbour, and 16 devices need 16/3 of the time of their NICs; matched ones leave 8.
    #[test]
    fn a_shift_over_pods_takes_the_time_of_its_circuits() {
        let design = DesignSpec::of(Kind::DragonflyPlus, 128, 8, 8).resolve().expect("built");
        let surroundings = Surroundings {
            domain: 8,
            domain_bandwidth: design.domain.bandwidth,
            latency: design.link_latency,
        };
        let edge = |from: u32| Edge { from, to: (from + 16) % 128, bytes: 1e9 };
        let own = between_pods(&design, |flow| {
            (0..128).map(edge).for_each(|edge| flow(edge.from, edge.to, edge.bytes));
        });
        for (bytes, expected) in [(BTreeMap::new(), 16.0 / 3.0), (own, 2.0)] {
            let text = fabric(&design, &bytes).expect("a dragonfly-plus");
            let drawing = parse(&text, "circuits.dot").expect("valid");
            let setting = RouteSetting { routing: Routing::Spray, seed: 0, paths: 2 };
            let fabric = Imported::new(&drawing, "circuits.dot", &surroundings, setting).expect("joined");
            let slowdown = shared_time(&fabric, &[(0..128).map(edge).collect()], 0).expect("joined").slowdown;
            assert!((slowdown - expected).abs() < 1e-9, "{slowdown} {expected}");
        }
    }

    #[test]
    fn circuits_follow_the_bytes_and_use_every_port() {
        // Three pods of 12 ports: 3 to 1 between two of the pairs, and the pair without traffic keeps its one
        // circuit until ports are left.
        let circuits = matched(3, 12, &pairs(&[(0, 1, 3.0), (0, 2, 1.0)]));
        assert_eq!((circuits[&(0, 1)], circuits[&(0, 2)]), (9, 3));
        let ports = |pod| {
            circuits.iter().filter(|(pair, _)| pair.0 == pod || pair.1 == pod).map(|(_, n)| n).sum::<u64>()
        };
        assert_eq!([ports(0), ports(1), ports(2)], [12, 12, 6]);
        // Equal traffic of all pairs: the uniform wiring.
        let all: Vec<_> = (0..5).flat_map(|a| (a + 1..5).map(move |b| (a, b, 1.0))).collect();
        assert!(matched(5, 12, &pairs(&all)).values().all(|count| *count == 3));
        // Without traffic as well.
        assert!(matched(5, 12, &pairs(&[])).values().all(|count| *count == 3));
    }

    #[test]
    fn the_file_is_read_back_with_all_cables() {
        let design = DesignSpec::of(Kind::DragonflyPlus, 128, 8, 8).resolve().expect("built");
        let text = fabric(&design, &pairs(&[(0, 1, 1.0), (2, 3, 5.0)])).expect("a dragonfly-plus");
        let drawing = parse(&text, "circuits.dot").expect("valid");
        let Fabric::DragonflyPlus(d) = &design.fabric else { panic!("{design:?}") };
        // Cables of leaves and devices, and at most every global port.
        let cables = drawing.cables.len() as u64;
        let fixed = d.local_links() + design.devices;
        assert!(cables > fixed && cables <= fixed + d.groups * d.spines * d.globals / 2, "{cables} {fixed}");
        let tree = DesignSpec::of(Kind::Clos, 128, 8, 64).resolve().expect("built");
        assert!(fabric(&tree, &BTreeMap::new()).is_err());
    }
}
