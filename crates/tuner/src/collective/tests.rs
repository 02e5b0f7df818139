//! Curves of collectives compared with the closed form and with rates calculated by hand.

use super::*;
use crate::flows::wiring;
use railwright_calculator::collectives::Collective;
use railwright_network::simulate::Wiring;
use railwright_network::topology::{DesignSpec, Kind, Routing};
use railwright_spec::cluster::{Cluster, by_name};
use railwright_spec::quantity::Bytes;
use std::ops::ControlFlow;

mod alike;

fn network(
    devices: u64,
    kind: Kind,
    routing: Routing,
    change: impl FnOnce(&mut DesignSpec),
) -> (Cluster, Wiring) {
    let cluster = by_name("dgx-h100", devices).expect("a preset");
    let mut spec = DesignSpec { kind: Some(kind), routing: Some(routing), ..DesignSpec::default() };
    change(&mut spec);
    let wiring = wiring(&cluster, &spec, &[]).expect("it is built");
    (cluster, wiring)
}

fn of(network: &(Cluster, Wiring), operation: Collective, groups: &[Vec<u32>], seeds: u32) -> Curve {
    let sizes = range("1M..1G", 4.0).expect("sizes");
    let question = Question { operation, sizes: &sizes, groups, seeds };
    curve(&network.0, Network::Design(&network.1), &question).expect("a curve")
}

const OPERATIONS: [Collective; 6] = [
    Collective::AllReduce,
    Collective::AllGather,
    Collective::ReduceScatter,
    Collective::AllToAll,
    Collective::Broadcast,
    Collective::SendReceive,
];

/// Without contention the curve is the closed form, and bus bandwidth is `S / t` times the factor of
/// nccl-tests' PERFORMANCE.md.
#[test]
fn a_fabric_without_contention_has_the_closed_form() {
    let free = network(64, Kind::RailOptimized, Routing::Spray, |_| {});
    let factors = [2.0 * 63.0 / 64.0, 63.0 / 64.0, 63.0 / 64.0, 63.0 / 64.0, 1.0, 1.0];
    for (operation, factor) in OPERATIONS.into_iter().zip(factors) {
        let curve = of(&free, operation, &[(0..64).collect()], 1);
        assert_eq!((curve.ranks, curve.domains, curve.per_domain, curve.points.len()), (64, 8, 8, 6));
        for point in &curve.points {
            assert!((point.time / point.closed_form - 1.0).abs() < 1e-9, "{operation:?} {point:?}");
            let expected = point.bytes.get() / point.time.get() * factor;
            assert!((point.bus_bandwidth.get() / expected - 1.0).abs() < 1e-12, "{operation:?}");
        }
    }
}

/// An all-to-all over four racks of 16 below a leaf with 4:1 oversubscription: 48 of 56 remote parts leave
/// the leaf over a quarter of its NICs, so the bandwidth time grows by `4 x 48/56`.
#[test]
fn oversubscription_slows_by_the_share_that_leaves_a_leaf() {
    let slow = network(64, Kind::Clos, Routing::Spray, |spec| {
        spec.leaf_oversubscription = Some(4.0);
        spec.radix = Some(20);
    });
    let curve = of(&slow, Collective::AllToAll, &[(0..64).collect()], 1);
    assert!((curve.slowdown.median / (4.0 * 48.0 / 56.0) - 1.0).abs() < 1e-9, "{:?}", curve.slowdown);
    // Inside one leaf there is no slowdown.
    let inside = of(&slow, Collective::AllToAll, &[(0..16).collect()], 1);
    assert!((inside.slowdown.median - 1.0).abs() < 1e-9);
}

#[test]
fn hashes_have_a_distribution_over_seeds() {
    let hashed = network(256, Kind::Clos, Routing::Ecmp, |spec| spec.radix = Some(32));
    let groups: Vec<Vec<u32>> = (0..2).map(|half| (half..256).step_by(2).collect()).collect();
    let curve = of(&hashed, Collective::SendReceive, &groups, 12);
    let (one, over) = (of(&hashed, Collective::SendReceive, &groups, 1).slowdown, curve.slowdown);
    assert_eq!((one.seeds, one.median, over.seeds), (1, one.p90, 12));
    assert!(over.median >= 1.0 && over.p90 > over.median, "{over:?}");
    assert!(curve.points.iter().all(|point| point.time_p90 >= point.time));
}

#[test]
fn questions_without_an_answer_are_errors() {
    let free = network(64, Kind::RailOptimized, Routing::Spray, |_| {});
    let sizes = [Bytes::new(1e6)];
    let problem = |groups: &[Vec<u32>], seeds| {
        let question = Question { operation: Collective::AllReduce, sizes: &sizes, groups, seeds };
        curve(&free.0, Network::Design(&free.1), &question).expect_err("no answer").message
    };
    assert_eq!(problem(&[vec![0]], 1), "a collective has at least 2 ranks");
    assert_eq!(
        problem(&[vec![0, 64]], 1),
        "rank 64 does not exist: the network has 64 devices, counted from 0"
    );
    assert_eq!(problem(&[vec![0, 1], vec![1, 2]], 1), "rank 1 is listed twice");
    assert!(problem(&[vec![0, 1], vec![2]], 1).contains("sizes must be equal"));
    assert!(problem(&[vec![0, 1]], 4).contains("no hash seed"));
    assert!(problem(&[vec![0, 1]], 0).contains("not between"));
    // 2,048 x 2,048 x 16 routes are exactly the maximum.
    let hashed = network(4096, Kind::Clos, Routing::Ecmp, |_| {});
    let question = Question {
        operation: Collective::AllToAll,
        sizes: &sizes,
        groups: &[(0..2049).collect()],
        seeds: 16,
    };
    let refused = curve(&hashed.0, Network::Design(&hashed.1), &question).expect_err("too many");
    assert!(refused.message.ends_with(": 67,174,416"), "{}", refused.message);
}

#[test]
fn sizes_are_those_of_nccl_tests() {
    let all = |text: &str, factor| -> Vec<f64> {
        range(text, factor).expect("sizes").iter().map(|bytes| bytes.get()).collect()
    };
    assert_eq!(all("8..64", 2.0), [8.0, 16.0, 32.0, 64.0]);
    assert_eq!(all("1K..1M", 32.0), [1024.0, 32768.0, 1_048_576.0]);
    assert_eq!(all("3MB,2GiB, 5g", 2.0), [3e6, 2_147_483_648.0, 5_368_709_120.0]);
    for bad in ["", "0", "-1M", "x", "1..", "2M..1M", "1e300G", "nan", "1K,"] {
        assert!(range(bad, 2.0).is_err(), "{bad}");
    }
    assert!(range("1..1T", 1.0).is_err() && range("1..1T", 1.0001).is_err());
}

#[test]
fn ranks_and_node_lists_are_read() {
    assert_eq!(ranks("0-3,8,16-20:2").expect("ranks"), [0, 1, 2, 3, 8, 16, 18, 20]);
    assert_eq!(nodes("gpu[001-003,010],b7").expect("nodes"), [1, 2, 3, 10, 7]);
    assert_eq!(nodes("dgx-h100-12").expect("nodes"), [12]);
    for bad in ["", "1-", "5-2", "a", "0-9:0", "0-4294967295"] {
        assert!(ranks(bad).is_err(), "{bad}");
    }
    for bad in ["", "gpu", "gpu[1-2", "gpu[x]"] {
        assert!(nodes(bad).is_err(), "{bad}");
    }
}

fn at_scale(predictor: Predictor) -> NetworkValidation {
    let table = include_str!("../../../../catalog/evidence/collectives_at_scale.csv");
    validate_network(table, "at scale", predictor, &mut |_, _| ControlFlow::Continue(())).expect("a table")
}

/// Published bus bandwidths of clusters. Of these rows, constants were fitted only to the all-to-alls over
/// EFA; the bounds are the errors of docs/validation-network.md.
#[test]
fn errors_against_published_measurements_are_those_of_the_page() {
    let found = at_scale(Predictor::Closed);
    let within = |gpu: &str, ranks, low: f64, high: f64| {
        let of = |row: &&MeasuredCollective| {
            row.gpu.as_deref() == Some(gpu) && row.ranks == Some(ranks) && !row.fabric.starts_with('E')
        };
        let errors = found.rows.iter().filter(of).filter_map(|row| Some(row.closed_form?.error));
        let (least, most) =
            errors.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), error| (a.min(error), b.max(error)));
        assert!((least - low).abs() < 0.005 && (most - high).abs() < 0.005, "{gpu} {ranks}: {least} {most}");
    };
    within("H100-80G-SXM", 64, -0.025, -0.008);
    within("GB200", 72, 0.076, 0.337);
    within("GB200", 144, -0.087, -0.065);
    within("GB200", 1440, 0.011, 0.065);
    within("GB300", 72, 0.002, 0.002);
}

/// Collectives over EFA on 2 to 32 nodes (p5.48xlarge): median and 90th percentile of the errors that the
/// page states, by collective.
#[test]
fn errors_over_efa_are_those_of_the_page() {
    let found = at_scale(Predictor::Closed);
    for (operation, rows, median, ninetieth) in
        [("all_reduce", 45, 0.051, 0.173), ("all_gather", 35, 0.109, 0.209), ("alltoall", 35, 0.019, 0.122)]
    {
        let of =
            |row: &&MeasuredCollective| row.source.starts_with("crazyguitar/") && row.operation == operation;
        let mut errors: Vec<f64> =
            found.rows.iter().filter(of).filter_map(|row| Some(row.closed_form?.error.abs())).collect();
        errors.sort_by(f64::total_cmp);
        assert_eq!(errors.len(), rows, "{operation}");
        let at = |share: f64| errors[(share * rows as f64) as usize];
        assert!((at(0.5) - median).abs() < 0.005, "{operation}: {}", at(0.5));
        assert!((at(0.9) - ninetieth).abs() < 0.005, "{operation}: {}", at(0.9));
    }
}

/// Every row of the published table has a prediction or a reason, and errors of groups are those of their
/// rows.
#[test]
fn rows_without_figures_are_skipped_with_the_reason() {
    let found = at_scale(Predictor::Closed);
    assert_eq!(found.rows.len(), 168);
    for row in &found.rows {
        assert_ne!(row.closed_form.is_some(), row.skipped.is_some(), "{row:?}");
        assert!(row.flow.is_none() && row.hashed.is_none());
    }
    let skipped: Vec<(&str, usize)> = found.skipped.iter().map(|(reason, n)| (reason.as_str(), *n)).collect();
    assert_eq!(skipped, [("no `bytes`", 1), ("no `gpu`", 1), ("no `n_gpus`", 3)]);
    assert_eq!(found.groups.iter().map(|group| group.rows.len()).sum::<usize>(), 163);
    let overall = found.overall.closed_form.expect("errors");
    assert_eq!(overall.n, 163);
}

/// Flows without contention equal the closed form; hashed routes are never faster.
#[test]
fn flows_of_a_table_are_those_of_the_collective() {
    let header = "source,gpu,n_gpus,gpus_per_node,fabric,nic_gbps,operation,bytes,bus_gbps\n";
    let table = format!(
        "{header}a,H100-80G-SXM,64,8,InfiniBand,400,all_reduce,1073741824,365.9\nb,H100-80G-SXM,64,8,a net,400,all_reduce,1e9,300\n"
    );
    let watch = &mut |_, _| ControlFlow::Continue(());
    let found = validate_network(&table, "t", Predictor::Flow, watch).expect("a table");
    let row = &found.rows[0];
    let (closed, flow, hashed) =
        (row.closed_form.expect("closed"), row.flow.expect("flow"), row.hashed.expect("hashed"));
    assert!((flow.bus_bandwidth / closed.bus_bandwidth - 1.0).abs() < 1e-9);
    assert!(hashed.bus_bandwidth <= flow.bus_bandwidth * (1.0 + 1e-9));
    assert!((closed.error - (closed.bus_bandwidth.gb() / 365.9 - 1.0)).abs() < 1e-12);
    assert!(row.assumed.as_deref().is_some_and(|assumed| assumed.ends_with("1:1")), "{row:?}");
    assert_eq!(found.rows[1].skipped.as_deref(), Some("unknown kind of network"));
    assert!(validate_network("gpu,n_gpus\nH100,8\n", "t", Predictor::Closed, watch).is_err());
}

/// Two leaves of 32 devices in hosts of 8: with equal numbers of cables to the spine and below, and with a
/// quarter of them.
#[test]
fn a_drawn_fabric_agrees_with_the_generated_one() {
    let drawn = |uplinks: u32| {
        let mut text = "graph { edge [bandwidth=400G]; node [type=switch]; s; a; b\n".to_owned();
        let cables = format!("a -- s [count={uplinks}]; b -- s [count={uplinks}]; node [type=device]\n");
        text.push_str(&cables);
        for device in 0..64 {
            let leaf = if device < 32 { "a" } else { "b" };
            let lines = format!("g{device} [host=n{}]; g{device} -- {leaf}\n", device / 8);
            text.push_str(&lines);
        }
        let drawing = railwright_network::imported::parse(&(text + "}"), "drawn").expect("a drawing");
        let surroundings = railwright_network::imported::Surroundings {
            domain: 1,
            domain_bandwidth: railwright_spec::quantity::BytesPerSecond::from_gb(450.0),
            latency: railwright_spec::quantity::Seconds::ZERO,
        };
        let setting =
            railwright_network::imported::RouteSetting { routing: Routing::Spray, seed: 0, paths: 2 };
        railwright_network::imported::Imported::new(&drawing, "drawn", &surroundings, setting)
            .expect("a fabric")
    };
    let cluster = by_name("dgx-h100", 64).expect("a preset");
    let sizes = [Bytes::new(1e9)];
    for (uplinks, operation, expected) in [
        (32, Collective::AllToAll, 1.0),
        (8, Collective::AllReduce, 1.0),
        // 32 of 56 remote parts leave the leaf, over a quarter of its NICs.
        (8, Collective::AllToAll, 4.0 * 32.0 / 56.0),
    ] {
        let fabric = drawn(uplinks);
        let question = Question { operation, sizes: &sizes, groups: &[(0..64).collect()], seeds: 1 };
        let found = curve(&cluster, Network::Imported(&fabric), &question).expect("a curve");
        assert!(
            (found.slowdown.median / expected - 1.0).abs() < 1e-9,
            "{uplinks} {operation:?} {:?}",
            found.slowdown
        );
    }
    let other = by_name("gb200-nvl72", 72).expect("a preset");
    let question =
        Question { operation: Collective::AllReduce, sizes: &sizes, groups: &[(0..64).collect()], seeds: 1 };
    let problem = curve(&other, Network::Imported(&drawn(32)), &question).expect_err("other domains");
    assert!(problem.message.contains("have 8 devices"), "{}", problem.message);
}

/// A whole pod in the order of its links has the time of the torus law, not that of the NICs of its hosts.
#[test]
fn the_closed_form_of_a_torus_is_that_of_its_links() {
    let cluster = by_name("tpu-v5p-pod", 512).expect("a preset");
    let spec = DesignSpec { kind: Some(Kind::Torus), ..DesignSpec::default() };
    let torus = (cluster.clone(), wiring(&cluster, &spec, &[]).expect("built"));
    let curve = of(&torus, Collective::AllReduce, &[(0..512).collect()], 1);
    let group = railwright_spec::plan::Group::strided(512, 1, 8960, 512);
    let fabric = railwright_calculator::collectives::Fabric::new(&cluster);
    for point in &curve.points {
        let expected = fabric.time(Collective::AllReduce, point.bytes, &group, 1.0).time;
        assert!((point.closed_form / expected - 1.0).abs() < 1e-9, "{point:?} {expected:?}");
        assert!((point.time / point.closed_form - 1.0).abs() < 1e-6, "{point:?}");
    }
}

#[test]
fn no_size_and_no_node_is_dropped() {
    let list = vec!["1M"; 300].join(",");
    assert!(range(&list, 2.0).expect_err("too many").message.starts_with("300 sizes"));
    let racks = nodes("r1n[1-4],r2n[1-4]").expect_err("the same numbers");
    assert_eq!(racks.message, "hosts `r1n1` and `r2n1` have the same number");
    assert!(nodes("n1,n1").expect_err("twice").message.contains("listed twice"));
}
