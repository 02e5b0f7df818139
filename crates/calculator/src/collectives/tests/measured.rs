//! Compared with rows of the calibration table: `catalog/collectives/samples.csv` has each row's source.

use super::super::Collective;
use super::Machine;
use railwright_spec::plan::Group;
use railwright_spec::quantity::Bytes;
use std::collections::BTreeMap;

const SAMPLES: &str = include_str!("../../../../../catalog/collectives/samples.csv");

struct Sample {
    device: &'static str,
    op: &'static str,
    domains: u64,
    ranks: u64,
    bytes: f64,
    measured: f64,
    predicted: f64,
    algorithm: &'static str,
}

impl Sample {
    fn error(&self) -> f64 {
        (self.predicted / self.measured - 1.0).abs()
    }
}

fn samples() -> Vec<Sample> {
    SAMPLES
        .lines()
        .skip(1)
        .map(|line| {
            let cells: Vec<&'static str> = line.split(',').collect();
            let number = |at: usize| cells[at].parse::<f64>().expect("a number");
            let machine = Machine {
                link: cells[2],
                link_gb: number(3),
                nvls: cells[4] == "1",
                domain: number(8) as u64,
                node: number(8) as u64,
                nic_gb: number(9),
                network: cells[10],
                tiers: Vec::new(),
            };
            let op = match cells[5] {
                "all_reduce" => Collective::AllReduce,
                "all_gather" => Collective::AllGather,
                "reduce_scatter" => Collective::ReduceScatter,
                _ => Collective::AllToAll,
            };
            let (ranks, per_domain) = (number(7) as u64, number(8) as u64);
            let group = Group { ranks, per_domain, least: per_domain, stride: 1 };
            let cost = machine.fabric().time(op, Bytes::new(number(11)), &group, 1.0);
            Sample {
                device: cells[1],
                op: cells[5],
                domains: group.domains(),
                ranks,
                bytes: number(11),
                measured: number(12),
                predicted: cost.time.micros(),
                algorithm: cost.algorithm,
            }
        })
        .collect()
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Errors by device, operation and domains; the message of a failure lists them all.
fn residuals() -> (BTreeMap<(&'static str, &'static str, u64), f64>, String) {
    let mut classes: BTreeMap<_, Vec<f64>> = BTreeMap::new();
    for s in samples() {
        classes.entry((s.device, s.op, s.domains)).or_default().push(s.error());
    }
    let medians: BTreeMap<_, _> =
        classes.into_iter().map(|(class, errors)| (class, median(errors))).collect();
    let table = medians
        .iter()
        .map(|((device, op, domains), error)| {
            format!("{device:15} {op:15} domains {domains:3} median error {error:.3}")
        })
        .collect::<Vec<_>>()
        .join("\n");
    (medians, table)
}

/// Inside one domain the model has a median error of at most 7.5 % for each accelerator and operation, all
/// sizes from 1 KB.
#[test]
fn inside_a_domain_every_class_is_within_eight_percent() {
    let (medians, table) = residuals();
    let mut judged = 0;
    for ((device, op, domains), error) in medians {
        if domains == 1 && !device.contains("PCIe") && !device.starts_with("V100") {
            judged += 1;
            assert!(error < 0.08, "{device} {op}: {error:.3}\n{table}");
        }
    }
    assert_eq!(judged, 4 * 7 + 1, "\n{table}");
}

/// Machines with a single published figure of a vendor: NVLink 2 within 10%. PCIe machines of 8 differ by a
/// factor of 2 (12.5 of 31 GB/s measured in one, 24 in another), and the slower is assumed.
#[test]
fn boxes_with_a_single_figure_are_near() {
    let (medians, table) = residuals();
    assert!(medians[&("V100-32G-SXM", "all_reduce", 1)] < 0.1, "\n{table}");
    assert!(medians[&("A100 PCIe4 box", "all_reduce", 1)] < 1.0, "\n{table}");
    assert!(medians[&("PCIe5 box", "all_reduce", 1)] < 1.0, "\n{table}");
}

/// Between domains: 2 nodes of A100 and H200 over Ethernet, 4 over one slow network, 16 over EFA.
#[test]
fn across_domains_classes_are_near() {
    let (medians, table) = residuals();
    for (device, domains, most) in [
        ("A100-40G-SXM", 2, 0.08),
        ("H200-141G-SXM", 2, 0.07),
        ("H200-141G-SXM", 16, 0.03),
        ("not stated", 4, 0.12),
        ("A100-80G-SXM", 4, 0.05),
        // In-network reduction of an older fabric reached 80% of the NICs.
        ("A100-80G-SXM", 16, 0.18),
        // Ring, although newer libraries use the NVLS tree.
        ("H100-80G-SXM", 2, 0.18),
        // Two racks: a ring, as a tree over racks does not reduce in switches.
        ("GB300", 2, 0.05),
    ] {
        let error = medians[&(device, "all_reduce", domains)];
        assert!(error < most, "{device} over {domains}: {error:.3}\n{table}");
    }
}

/// A whole rack of 64 ranks, and other rank counts outside the fit.
#[test]
fn rank_counts_beyond_the_fit_hold() {
    let beyond: Vec<Sample> =
        samples().into_iter().filter(|s| s.domains == 1 && ![2, 4, 8].contains(&s.ranks)).collect();
    assert!(beyond.len() >= 15);
    for s in &beyond {
        assert!(
            s.error() < 0.15,
            "{} {} {} ranks: {:.0} for {:.0} us",
            s.device,
            s.op,
            s.ranks,
            s.predicted,
            s.measured
        );
    }
}

/// Floors over two and more nodes: 36 to 75 us measured from 8 B to 32 KB.
#[test]
fn floors_between_nodes_are_tens_of_microseconds() {
    let floors: Vec<Sample> =
        samples().into_iter().filter(|s| s.domains > 1 && s.bytes <= 32_768.0).collect();
    assert_eq!(floors.len(), 3);
    for s in floors {
        assert!(
            s.error() < 0.25,
            "{} {} ({}): {:.0} for {:.0} us",
            s.device,
            s.ranks,
            s.algorithm,
            s.predicted,
            s.measured
        );
    }
}

/// DeepEP 1 on H800 (4096 tokens, width 7168, top-8, fp8; its README): 153 GB/s inside a node; 43, 44 and 46
/// GB/s over 2, 4 and 8 nodes. Of these a token visits at most 4. The bandwidth counts every node of a token,
/// including its own (as its tests do).
#[test]
fn expert_dispatch_takes_the_published_time() {
    let fabric = Machine { link_gb: 200.0, ..Machine::h100() }.fabric();
    let token = 4096.0 * 7168.0;
    let dispatch = |ranks| {
        let group = Group { ranks, per_domain: 8, least: 8, stride: 1 };
        fabric.time(
            Collective::ExpertDispatch { copies: 8, most_domains: 4 },
            Bytes::new(token * 8.0),
            &group,
            1.0,
        )
    };
    let inside = dispatch(8);
    let rate = inside.wire_bytes_scale_up.get() / inside.time.get() / 1e9;
    assert!((rate / 153.0 - 1.0).abs() < 0.1, "{rate}");
    for (ranks, domains, published) in [(16, 2.0_f64, 43e9), (32, 4.0, 44e9), (64, 4.0, 46e9)] {
        let reached = domains * (1.0 - (1.0 - 1.0 / domains).powi(8));
        let ratio = dispatch(ranks).time.get() / (token * reached / published);
        assert!((ratio - 1.0).abs() < 0.12, "{ranks}: {ratio}");
    }
}
