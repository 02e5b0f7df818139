//! Collectives by flows compared with the closed form on non-blocking networks, and their slowdown on others.

use super::*;
use proptest::prelude::*;
use railwright_network::topology::Routing;
use railwright_spec::cluster::by_name;

const OPERATIONS: [Collective; 6] = [
    Collective::AllReduce,
    Collective::AllGather,
    Collective::ReduceScatter,
    Collective::AllToAll,
    Collective::ExpertDispatch { copies: 8, most_domains: 4 },
    Collective::SendReceive,
];

fn groups(devices: u64, domain: u64) -> Vec<Group> {
    let sizes = [2, 3, 4, 8, 12, 16, 64, 72, devices];
    let strides = [1, 2, 4, 8, 16, domain];
    let all = sizes.iter().flat_map(|&n| strides.iter().map(move |&stride| (n, stride)));
    all.filter(|(n, stride)| devices.is_multiple_of(n * stride))
        .map(|(n, stride)| Group::new(n, stride, domain))
        .collect()
}

/// Accuracy of the flow model: on non-blocking fabrics, closed form and flows agree to 1e-6.
#[test]
fn flows_agree_with_the_closed_form_where_nothing_blocks() {
    let mut seen = 0;
    for (name, devices) in [("dgx-h100", 128), ("dgx-a100", 64), ("gb200-nvl72", 144), ("h800", 64)] {
        let mut cluster = by_name(name, devices).expect("a preset");
        for tier in &mut cluster.network.tiers {
            tier.oversubscription = 1.0;
        }
        for kind in [None, Some(Kind::RailOptimized), Some(Kind::RailOnly), Some(Kind::Clos)] {
            let spec = DesignSpec { kind, routing: Some(Routing::Spray), ..DesignSpec::default() };
            let wiring = wiring(&cluster, &spec, &[]).expect("it is built");
            let timer = FlowTimer::new(&cluster, wiring).expect("whole");
            let closed = Fabric::new(&cluster);
            for group in groups(devices, cluster.scale_up.domain_size) {
                for operation in OPERATIONS {
                    for bytes in [1e3, 1e6, 3e8, 2e10].map(Bytes::new) {
                        let (a, b) = (
                            timer.time(operation, bytes, &group, 1.0),
                            closed.time(operation, bytes, &group, 1.0),
                        );
                        let error = (a.time / b.time - 1.0).abs();
                        assert!(error < 1e-6, "{name} {kind:?} {operation:?} {group:?}: {error}");
                        seen += 1;
                    }
                }
            }
        }
    }
    assert!(seen > 2000, "{seen}");
}

/// Maximum that any rank sends or receives of one call by all groups: inside its domain, and across.
fn most_carried(operation: Collective, group: &Group, ranks: u64, domain: u64, bytes: f64) -> [f64; 2] {
    let (numbering, exchange) = exchange(operation, group, ranks);
    let mut ports = vec![[0.0_f64; 4]; numbering.ranks() as usize];
    let mut members = Vec::new();
    for group in 0..exchange.groups.count() {
        exchange.groups.members(&numbering, group, &mut members);
        exchange.flows(&members, domain, &mut |from, to, sent| {
            let side = usize::from(u64::from(from) / domain != u64::from(to) / domain);
            ports[from as usize][side] += sent * bytes / 1e9;
            ports[to as usize][2 + side] += sent * bytes / 1e9;
        });
    }
    let most = |side: usize| ports.iter().map(|port| port[side].max(port[2 + side])).fold(0.0, f64::max);
    [most(0), most(1)]
}

proptest! {
    #![proptest_config(railwright_cases::cases(192))]

    /// For any placement of groups on domains, even or not, the closed form equals the flows on non-blocking fabrics. It counts the bytes
    /// that flows send through the busiest NIC.
    #[test]
    fn closed_form_and_flows_agree_on_random_layouts(
        (name, domain) in prop_oneof![2 => Just(("gb200-nvl72", 72_u64)), 1 => Just(("dgx-h100", 8))],
        n in 2_u64..40, stride in prop_oneof![2 => Just(1_u64), 2 => Just(2), 2 => Just(4), 2 => Just(8), 1 => 1_u64..20],
        groups in 1_u64..7,
        operation in proptest::sample::select(OPERATIONS.to_vec()),
        kind in proptest::sample::select(vec![Kind::RailOptimized, Kind::Clos, Kind::RailOnly]),
        bytes in prop_oneof![Just(1e5_f64), Just(1e8), Just(1e10)],
    ) {
        let devices = n * stride * groups;
        prop_assume!(devices <= 600);
        let mut cluster = by_name(name, devices).expect("a preset");
        cluster.network.tiers.iter_mut().for_each(|tier| tier.oversubscription = 1.0);
        let domain = domain.min(devices);
        let group = Group::strided(n, stride, domain, devices);
        let spec = DesignSpec { kind: Some(kind), routing: Some(Routing::Spray), ..DesignSpec::default() };
        let wiring = wiring(&cluster, &spec, &[]).expect("it is built");
        let timer = FlowTimer::new(&cluster, wiring).expect("whole");
        let here = timer.time(operation, Bytes::new(bytes), &group, 1.0);
        let closed = Fabric::new(&cluster).time(operation, Bytes::new(bytes), &group, 1.0);
        let error = here.time / closed.time - 1.0;
        let keeps_to_rails = {
            let (numbering, exchange) = exchange(operation, &group, devices);
            let (mut members, mut keeps) = (Vec::new(), true);
            for group in 0..exchange.groups.count() {
                exchange.groups.members(&numbering, group, &mut members);
                exchange.flows(&members, domain, &mut |from, to, _| {
                    let (a, b) = (u64::from(from), u64::from(to));
                    keeps &= a / domain == b / domain || a % domain == b % domain;
                });
            }
            keeps
        };
        // Traffic that changes rails is forwarded through domains (NCCL's PXN): it may take longer, never less.
        if kind != Kind::Clos && !keeps_to_rails {
            prop_assert!(error > -1e-6, "{error}");
        } else {
            prop_assert!(error.abs() < 1e-6, "{name} {kind:?} {operation:?} {group:?}: {error}");
        }
        let is_counted = matches!(operation, Collective::AllGather | Collective::ReduceScatter | Collective::AllToAll | Collective::ExpertDispatch { .. });
        if is_counted {
            let [inside, across] = most_carried(operation, &group, devices, domain, bytes);
            let network = closed.wire_bytes_network.get();
            prop_assert!((across - network).abs() <= 1e-9 * bytes, "{group:?} {operation:?}: {across} {network}");
            let links = closed.wire_bytes_scale_up.get();
            if domain.is_multiple_of(stride) {
                prop_assert!((inside - links).abs() <= 1e-9 * bytes, "{group:?} {operation:?}: {inside} {links}");
            }
        }
    }
}

#[test]
fn oversubscription_and_failures_show() {
    let cluster = by_name("dgx-h100", 256).expect("a preset");
    let slow = |spec: &DesignSpec, failed: &[&str], stride| {
        let failed: Vec<Part> = failed.iter().map(|part| Part::parse(part).expect("a part")).collect();
        let timer = FlowTimer::new(&cluster, wiring(&cluster, spec, &failed).expect("built")).expect("whole");
        timer.slowdown(Collective::AllReduce, &Group::new(256 / stride, stride, 8)).expect("joined")
    };
    let rails = DesignSpec { kind: Some(Kind::RailOnly), ..DesignSpec::default() };
    assert!((slow(&rails, &[], 8) - 1.0).abs() < 1e-9);
    assert!((slow(&rails, &["nic:3"], 8) - 8.0 / 7.0).abs() < 1e-9);
    let thin = DesignSpec {
        kind: Some(Kind::Clos),
        routing: Some(Routing::Spray),
        leaf_oversubscription: Some(4.0),
        hosts_per_leaf: Some(32),
        ..DesignSpec::default()
    };
    // Rings over all domains leave a leaf through the NICs of one in four of its domains; rings that skip
    // leaves use all.
    assert!((slow(&thin, &[], 8) - 1.0).abs() < 1e-9, "{}", slow(&thin, &[], 8));
    assert!((slow(&thin, &[], 32) - 4.0).abs() < 1e-9, "{}", slow(&thin, &[], 32));
}

#[test]
fn domains_that_differ_and_ranks_that_are_cut_off_are_reported() {
    let cluster = by_name("dgx-h100", 64).expect("a preset");
    let spec = DesignSpec { kind: Some(Kind::RailOnly), domain: Some(16), ..DesignSpec::default() };
    let problem = wiring(&cluster, &spec, &[]).expect_err("another domain");
    assert!(problem.message.contains("domains of 16 devices, but the cluster of 8"), "{}", problem.message);
    let clos = DesignSpec { kind: Some(Kind::Clos), ..DesignSpec::default() };
    let problem = wiring(&cluster, &clos, &[Part::Switch(1, 0)]).expect_err("one leaf for all");
    assert!(problem.message.contains("the step cannot finish"), "{}", problem.message);
}

#[test]
fn a_scale_up_network_is_one_domain_with_the_bandwidth_of_the_design() {
    let cluster = by_name("dgx-h100", 256).expect("a preset");
    let spec = DesignSpec { kind: Some(Kind::ScaleUp), ..DesignSpec::default() };
    let one = wiring(&cluster, &spec, &[]).expect("built");
    let free = unblocked(&cluster, &one);
    assert_eq!((free.scale_up.domain_size, free.scale_up.bandwidth), (256, cluster.scale_up.bandwidth));
    // The layout of the run has domains of 8; those of the network are used.
    let group = Group::new(32, 8, 8);
    let timer = FlowTimer::new(&cluster, one).expect("whole");
    let (inside, over_nics) = (
        timer.time(Collective::AllGather, Bytes::new(1e9), &group, 1.0).time,
        Fabric::new(&cluster).time(Collective::AllGather, Bytes::new(1e9), &group, 1.0).time,
    );
    assert!(inside * 4.0 < over_nics, "{inside:?} {over_nics:?}");
    assert_eq!(timer.problem(), None);
}

#[test]
fn a_domains_bandwidth_is_carried_and_what_is_not_is_refused() {
    let cluster = by_name("dgx-h100", 64).expect("a preset");
    let rails = DesignSpec { kind: Some(Kind::RailOnly), ..DesignSpec::default() };
    let group = Group::new(8, 1, 8);
    let growing = |spec: &DesignSpec| {
        let timer = FlowTimer::new(&cluster, wiring(&cluster, spec, &[]).expect("built")).expect("whole");
        let cost = timer.time(Collective::AllGather, Bytes::new(1e10), &group, 1.0);
        cost.time - cost.latency
    };
    let half = DesignSpec { domain_bandwidth: Some(cluster.scale_up.bandwidth / 2.0), ..rails.clone() };
    let longer = growing(&half) / growing(&rails);
    assert!((1.9..2.1).contains(&longer), "{longer}");

    let microsecond = Some(Seconds::from_micros(1.0));
    let torus = DesignSpec { kind: Some(Kind::Torus), ..DesignSpec::default() };
    for (spec, key, words) in [
        (DesignSpec { domain_latency: microsecond, ..rails.clone() }, "design.domain_latency", "latencies"),
        (DesignSpec { link_latency: microsecond, ..rails.clone() }, "design.link_latency", "latencies"),
        (torus, "design.kind", "a torus connects single devices, but the cluster has scale-up domains of"),
    ] {
        let problem = wiring(&cluster, &spec, &[]).expect_err("it would be ignored");
        assert!(problem.message.contains(words), "{}", problem.message);
        assert_eq!(problem.place.expect("a place").key.as_deref(), Some(key));
    }
}

/// TPU pods on a torus: groups for which the closed form is exact have its time, others depend on their
/// placement.
#[test]
fn a_torus_is_priced_by_its_links() {
    let cluster = by_name("tpu-v5p-pod", 512).expect("a preset");
    let spec = DesignSpec { kind: Some(Kind::Torus), ..DesignSpec::default() };
    let timer = FlowTimer::new(&cluster, wiring(&cluster, &spec, &[]).expect("built")).expect("whole");
    let closed = Fabric::new(&cluster);
    let ratio = |operation, ranks, stride| {
        let group = Group::strided(ranks, stride, 8960, 512);
        let bytes = Bytes::new(1e9);
        let (a, b) = (timer.time(operation, bytes, &group, 1.0), closed.time(operation, bytes, &group, 1.0));
        (a.time - a.latency) / (b.time - b.latency)
    };
    // 8 x 8 x 8: one ring, a plane, everything.
    for (ranks, stride) in [(8, 1), (8, 8), (8, 64), (64, 1), (512, 1)] {
        for operation in [Collective::AllGather, Collective::AllReduce] {
            let here = ratio(operation, ranks, stride);
            assert!((here - 1.0).abs() < 1e-6, "{operation:?} {ranks} {stride}: {here}");
        }
    }
    // Half a ring has no return path: twice the time.
    assert!((ratio(Collective::AllGather, 4, 1) - 2.0).abs() < 1e-6);
    let broken = [Part::parse("link:torus:0").expect("a part")];
    let broken = FlowTimer::new(&cluster, wiring(&cluster, &spec, &broken).expect("built")).expect("whole");
    let ring = Group::strided(8, 1, 8960, 512);
    let slower = broken.slowdown(Collective::AllGather, &ring).expect("joined");
    assert!(slower > 1.5, "{slower}");
    // The torus of NICs: two links of two directions each, and no scale-up domains.
    let mut lone = by_name("dgx-h100", 64).expect("a preset");
    lone.scale_up.domain_size = 1;
    let flat = DesignSpec { dimensions: Some(vec![8, 8]), ..spec };
    let timer = FlowTimer::new(&lone, wiring(&lone, &flat, &[]).expect("built")).expect("whole");
    let slowdown =
        |n, stride| timer.slowdown(Collective::AllGather, &Group::new(n, stride, 1)).expect("joined");
    assert!((slowdown(64, 1) - 1.0).abs() < 1e-9 && (slowdown(8, 8) - 2.0).abs() < 1e-9);
}

/// Results of a topology are reused for the next cluster with the same network, and unlimited links are
/// valid.
#[test]
fn a_topology_serves_clusters_that_change() {
    let cluster = by_name("dgx-h100", 64).expect("a preset");
    let thin = DesignSpec {
        kind: Some(Kind::Clos),
        leaf_oversubscription: Some(4.0),
        hosts_per_leaf: Some(8),
        ..DesignSpec::default()
    };
    let topology = OnTopology::new(thin);
    let group = Group::new(8, 8, 8);
    let time = |cluster: &Cluster| {
        let machine = topology.machine(cluster).expect("built");
        machine.fabric.time(Collective::AllGather, Bytes::new(1e9), &group, 1.0).time
    };
    let mut faster = cluster.clone();
    faster.network.bandwidth = faster.network.bandwidth * 2.0;
    let mut endless = cluster.clone();
    (endless.network.bandwidth, endless.scale_up.bandwidth) =
        (cluster.network.bandwidth * 1e12, cluster.scale_up.bandwidth * 1e12);
    let (own, fast, free) = (time(&cluster), time(&faster), time(&endless));
    assert!(own > fast * 1.5 && fast > free, "{own:?} {fast:?} {free:?}");
    assert_eq!(time(&cluster), own);
    assert_eq!(topology.built.lock().expect("whole").len(), 3);
}

#[test]
fn groups_that_cannot_be_simulated_are_problems_and_no_times() {
    let cluster = by_name("dgx-h100", 64).expect("a preset");
    let rails = DesignSpec { kind: Some(Kind::RailOnly), ..DesignSpec::default() };
    let timer = FlowTimer::new(&cluster, wiring(&cluster, &rails, &[]).expect("built")).expect("whole");
    let wide = Group::new(16, 8, 8);
    let problem = timer.slowdown(Collective::AllReduce, &wide).expect_err("128 ranks on 64 devices");
    assert!(problem.message.contains("need 128 devices, but the network has 64"), "{}", problem.message);
    // The timer returns a number, and the step returns the problem.
    assert!(timer.time(Collective::AllReduce, Bytes::new(1e6), &wide, 1.0).time.get().is_finite());
    assert_eq!(timer.problem(), Some(problem));
}

#[test]
fn a_given_topology_has_no_word_on_tiers_that_are_not_simulated() {
    let warning = |id: &str| Warning { id: id.to_owned(), message: String::new() };
    let left = without_own_tiers(vec![warning("fabric-too-small"), warning("node-partly-used")]);
    assert_eq!(left.iter().map(|warning| warning.id.as_str()).collect::<Vec<_>>(), ["node-partly-used"]);
}

/// Devices without scale-up links have the bandwidth of their host link in a design, and keep the closed
/// form.
#[test]
fn devices_without_scale_up_links_have_a_network() {
    for name in ["l40s-48gb", "rtx4090-24gb", "v100-pcie-32gb", "rtxpro6000-server"] {
        let cluster = by_name(name, 64).expect("known");
        let built = wiring(&cluster, &DesignSpec::default(), &[]).expect("built");
        assert_eq!(built.topology.design.domain.bandwidth, cluster.accelerator.host_link(), "{name}");
        let timer = FlowTimer::new(&cluster, built).expect("whole");
        let (group, bytes) = (Group::new(64, 1, 1), Bytes::new(1e9));
        let [flow, closed] = [
            timer.time(Collective::AllReduce, bytes, &group, 1.0).time,
            Fabric::new(&cluster).time(Collective::AllReduce, bytes, &group, 1.0).time,
        ];
        assert!((flow / closed - 1.0).abs() < 1e-9, "{name}: {flow:?} {closed:?}");
    }
}

/// NICs beyond the link of a device: the step uses that link, the switches keep their ports.
#[test]
fn a_device_limits_faster_nics() {
    let of = |name: &str, gbit: f64| {
        let cluster = by_name(name, 64).expect("known");
        let speed = Some(BytesPerSecond::from_gbit(gbit));
        let spec = DesignSpec { kind: Some(Kind::Clos), speed, ..DesignSpec::default() };
        let design = wiring(&cluster, &spec, &[]).expect("built").topology.design.clone();
        let bought = design_of(&cluster, &spec).resolve().expect("built");
        (design.nic_bandwidth.gb(), design.port_bandwidth.gb(), idle_nics(&bought, &cluster).is_some())
    };
    let (nic, port, warns) = of("dgx-h100", 800.0);
    assert!((nic - 63.0).abs() < 0.1 && port == 100.0 && warns, "{nic} {port}");
    assert_eq!(of("dgx-h100", 400.0), (50.0, 50.0, false));
    for name in ["dgx-b200", "dgx-b300", "gb200-nvl72"] {
        let cluster = by_name(name, 72).expect("known");
        assert!(cluster.device_limit().gb() >= 100.0, "{name}");
    }
}
