//! Properties of any collective on any machine.

use super::super::{Collective, CollectiveCost, Fabric};
use super::Machine;
use proptest::prelude::*;
use railwright_spec::cluster::{Tier, accelerator_ids, by_name, preset_names};
use railwright_spec::plan::Group;
use railwright_spec::quantity::{Bytes, Seconds};

const ALL: [Collective; 7] = [
    Collective::AllReduce,
    Collective::AllGather,
    Collective::ReduceScatter,
    Collective::AllToAll,
    Collective::ExpertDispatch { copies: 8, most_domains: 0 },
    Collective::Broadcast,
    Collective::SendReceive,
];

fn machines() -> impl Strategy<Value = Machine> {
    let links = prop::sample::select(vec![
        ("NVLink2", 150.0, 8),
        ("NVLink3", 300.0, 8),
        ("NVLink bridge (pair)", 300.0, 2),
        ("NVLink4", 450.0, 8),
        ("NVLink5", 900.0, 72),
        ("xGMI", 448.0, 8),
        ("PCIe4", 31.0, 8),
        ("none", 0.0, 1),
        ("ICI 3D torus", 600.0, 4096),
        ("HCCS", 196.0, 8),
    ]);
    let networks =
        prop::sample::select(vec![("InfiniBand", 50.0), ("RoCE", 25.0), ("EFA", 12.5), ("Ethernet", 1.5)]);
    (links, networks, any::<bool>(), 1.0..7.0f64).prop_map(
        |((link, link_gb, domain), (network, nic_gb), nvls, blocking)| {
            let tier = |name: &str, devices, oversubscription| Tier {
                name: name.into(),
                devices,
                oversubscription,
                latency: Seconds::from_micros(1.0),
            };
            let tiers = vec![tier("leaf", 32, 1.0), tier("spine", 512, blocking), tier("core", 1 << 15, 1.0)];
            Machine { link, link_gb, nvls, domain, node: 8, nic_gb, network, tiers }
        },
    )
}

fn groups() -> impl Strategy<Value = (u64, u64)> {
    (1u64..=2048, prop::sample::select(vec![1u64, 2, 4, 8, 64]))
}

fn price(
    fabric: &Fabric,
    machine: &Machine,
    op: Collective,
    bytes: f64,
    (ranks, stride): (u64, u64),
) -> CollectiveCost {
    fabric.time(op, Bytes::new(bytes), &Group::new(ranks, stride, machine.domain), 1.0)
}

proptest! {
    #[test]
    fn more_bytes_never_take_less(machine in machines(), group in groups(), bytes in 1.0..1e10f64, more in 1.0..100.0f64) {
        let fabric = machine.fabric();
        for op in ALL {
            let (few, many) = (price(&fabric, &machine, op, bytes, group), price(&fabric, &machine, op, bytes * more, group));
            prop_assert!(few.time <= many.time, "{op:?} {few:?} {many:?}");
        }
    }

    #[test]
    fn no_collective_beats_its_wires(machine in machines(), group in groups(), bytes in 1.0..1e10f64) {
        let fabric = machine.fabric();
        let link = if machine.link_gb > 0.0 && group.0 * group.1 <= machine.domain { machine.link_gb } else { machine.link_gb.max(31.0) };
        for op in ALL {
            let cost = price(&fabric, &machine, op, bytes, group);
            prop_assert!(cost.time.is_finite() && cost.time.get() >= 0.0);
            prop_assert!(cost.latency <= cost.time);
            let floor = (cost.wire_bytes_network.get() / machine.nic_gb).max(cost.wire_bytes_scale_up.get() / link) / 1e9;
            prop_assert!(cost.time.get() >= floor * 0.999_999, "{op:?} {cost:?} under {floor}");
        }
    }

    #[test]
    fn shared_nics_never_help(machine in machines(), group in groups(), bytes in 1.0..1e10f64, sharing in 1.0..8.0f64) {
        let fabric = machine.fabric();
        let layout = Group::new(group.0, group.1, machine.domain);
        for op in ALL {
            let alone = fabric.time(op, Bytes::new(bytes), &layout, 1.0);
            let shared = fabric.time(op, Bytes::new(bytes), &layout, sharing);
            prop_assert!(alone.time <= shared.time, "{op:?}");
        }
    }

    /// A reduce-scatter and an all-gather form an all-reduce, which therefore takes no longer. It is faster only if the switch reduces.
    #[test]
    fn all_reduce_is_a_scatter_and_a_gather(nodes in 1u64..64, local in prop::sample::select(vec![1u64, 2, 4, 8])) {
        prop_assume!(nodes * local > 1);
        let machine = Machine::h100();
        let fabric = machine.fabric();
        let group = Group { ranks: nodes * local, per_domain: local, least: local, stride: 8 / local };
        let time = |op| fabric.time(op, Bytes::new(16e9), &group, 1.0).time.get();
        let ratio = time(Collective::AllReduce) / (time(Collective::ReduceScatter) + time(Collective::AllGather));
        // Two domains may run a tree, which sends half of the bytes through the NICs.
        let least = if nodes <= 3 { 0.45 } else { 0.7 };
        prop_assert!((least..1.1).contains(&ratio), "{nodes} x {local}: {ratio}");
    }
}

#[test]
fn nothing_to_do_takes_no_time() {
    let fabric = Machine::h100().fabric();
    let alone = Group { ranks: 1, per_domain: 1, least: 1, stride: 1 };
    let eight = Group { ranks: 8, per_domain: 8, least: 8, stride: 1 };
    for op in ALL {
        assert_eq!(fabric.time(op, Bytes::new(1e9), &alone, 1.0), CollectiveCost::NOTHING);
        assert_eq!(fabric.time(op, Bytes::ZERO, &eight, 1.0), CollectiveCost::NOTHING);
        assert_eq!(fabric.time(op, Bytes::new(f64::NAN), &eight, 1.0), CollectiveCost::NOTHING);
    }
    assert_eq!(fabric.send(Bytes::ZERO, &Group::new(2, 8, 8), 1.0), CollectiveCost::NOTHING);
}

#[test]
fn a_group_with_one_rank_per_domain_is_held_by_its_own_nic() {
    let fabric = Machine::h100().fabric();
    let bytes = Bytes::new(8e9);
    let lone = fabric.time(
        Collective::AllGather,
        bytes,
        &Group { ranks: 16, per_domain: 1, least: 1, stride: 8 },
        1.0,
    );
    let full = fabric.time(
        Collective::AllGather,
        bytes,
        &Group { ranks: 128, per_domain: 8, least: 8, stride: 1 },
        1.0,
    );
    let ratio = lone.time / full.time;
    assert!((6.5..8.5).contains(&ratio), "{ratio}");
}

#[test]
fn oversubscription_hurts_all_to_all_more_than_rings() {
    let tier = |name: &str, devices, oversubscription| Tier {
        name: name.into(),
        devices,
        oversubscription,
        latency: Seconds::from_micros(1.0),
    };
    let flat = Machine::h100();
    let tapered = Machine { tiers: vec![tier("leaf", 32, 4.0), tier("spine", 1024, 1.0)], ..flat.clone() };
    let group = Group { ranks: 256, per_domain: 8, least: 8, stride: 1 };
    let slowdown = |op| {
        let time = |machine: &Machine| machine.fabric().time(op, Bytes::new(8e9), &group, 1.0).time;
        time(&tapered) / time(&flat)
    };
    assert!(slowdown(Collective::AllGather) < 1.05);
    assert!(slowdown(Collective::AllToAll) > 3.0);
}

#[test]
fn neighbours_on_a_mesh_have_one_link() {
    let mesh = Machine { link: "xGMI", link_gb: 448.0, ..Machine::h100() }.fabric();
    let rate = 4e9 / mesh.send(Bytes::new(4e9), &Group::new(2, 1, 8), 1.0).time.get() / 1e9;
    // MI300X, 2 ranks: 47.7 GB/s measured of one 64 GB/s link.
    assert!((40.0..64.0).contains(&rate), "{rate}");
}

#[test]
fn limited_routing_saves_network() {
    let fabric = Machine::h100().fabric();
    let group = Group { ranks: 64, per_domain: 8, least: 8, stride: 1 };
    let sent = |most_domains| {
        let op = Collective::ExpertDispatch { copies: 8, most_domains };
        fabric.time(op, Bytes::new(1e9), &group, 1.0).wire_bytes_network
    };
    let plain = fabric.time(Collective::AllToAll, Bytes::new(1e9), &group, 1.0).wire_bytes_network;
    assert!(sent(4) < sent(0) && sent(0) < plain);
}

#[test]
fn every_machine_of_the_catalogue_has_finite_times() {
    let names = preset_names().into_iter().map(str::to_owned).chain(accelerator_ids());
    let mut seen = 0;
    for name in names {
        let cluster = by_name(&name, 4096).expect("a catalogued name");
        let fabric = Fabric::new(&cluster);
        for ranks in [2, 3, 8, 64, 100, 4096] {
            for stride in [1, 8] {
                let group = Group::new(ranks, stride, cluster.scale_up.domain_size);
                for op in ALL {
                    let time = fabric.time(op, Bytes::new(1e8), &group, 1.0).time.get();
                    assert!(time > 1e-6 && time < 100.0, "{name} {op:?} {ranks} x {stride}: {time}");
                }
            }
        }
        seen += 1;
    }
    assert!(seen > 50);
}
