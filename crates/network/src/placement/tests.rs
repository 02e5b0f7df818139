//! Placement compared with node lists, orders and bytes worked out by hand.

use super::*;
use crate::simulate::Wiring;
use crate::topology::{DesignSpec, Kind, Topology};
use crate::traffic::{Algorithm, Exchange, Groups, Matrix, Numbering, Place, Traffic};
use proptest::prelude::*;
use railwright_spec::quantity::Bytes;
use railwright_step::{CollectiveKind, Dimension, Phase};
use std::ops::ControlFlow;

#[test]
fn node_lists_are_those_of_slurm() {
    let names = |text| host_names(text).expect(text);
    assert_eq!(names("gpu[001-003,007],login1"), ["gpu001", "gpu002", "gpu003", "gpu007", "login1"]);
    assert_eq!(names("r[1-2]n[08-09]"), ["r1n08", "r1n09", "r2n08", "r2n09"]);
    assert_eq!(names("gpu[0-15:8]"), ["gpu0", "gpu8"]);
    for bad in [
        "gpu[0-3:0]",
        "gpu[001-",
        "gpu[3-1]",
        "gpu[a]",
        "",
        "gpu1,,gpu2",
        "gpu]1",
        "gpu[-3]",
        "gpu[1-4294967295]",
    ] {
        assert!(host_names(bad).is_err(), "{bad}");
    }
    assert_eq!(number_of("rack2-gpu017").expect("a number"), 17);
    assert_eq!(number_of("gpu017.cluster").expect("a number"), 17);
    assert!(number_of("login").is_err());
}

const INVENTORY: Inventory = Inventory { first: 1, per_host: 8, devices: 64 };

#[test]
fn host_files_have_slots_and_devices() {
    let text = "# two hosts\ngpu1 slots=2\ngpu3:3\n\ngpu2 gpus=4-6,1 # misaligned\n";
    let hosts = read_hosts(text, "hosts.txt", &INVENTORY).expect("reads");
    let devices: Vec<&[u32]> = hosts.iter().map(|host| host.devices.as_slice()).collect();
    assert_eq!(devices, [&[0, 1][..], &[16, 17, 18], &[12, 13, 14, 9]]);
    let allocation = Allocation::new(hosts, 9).expect("each device once");
    assert_eq!(written_hosts(&allocation, 8), "gpu1 slots=2\ngpu3 slots=3\ngpu2 gpus=4,5,6,1\n");
    let line =
        |text: &str| read_hosts(text, "hosts.txt", &INVENTORY).expect_err(text).place.and_then(|p| p.line);
    for (bad, at) in [
        ("gpu1\ngpu2 slots=9", 2),
        ("gpu9", 1),
        ("gpu0", 1),
        ("gpu1 port=3", 1),
        ("gpu1 gpus=8", 1),
        ("gpu1 slots=4 gpus=0-1", 1),
    ] {
        assert_eq!(line(bad), Some(at), "{bad}");
    }
    assert!(read_hosts("# none\n", "hosts.txt", &INVENTORY).is_err());
}

#[test]
fn an_allocation_has_each_device_once_and_as_many_as_ranks() {
    let hosts = |names: &[&str]| -> Vec<Host> {
        names.iter().map(|name| INVENTORY.host((*name).to_owned(), None).expect(name)).collect()
    };
    assert!(Allocation::new(hosts(&["n1", "n1"]), 16).is_err());
    assert!(Allocation::new(hosts(&["n1"]), 9).is_err());
    let part = Allocation::new(hosts(&["n2", "n1", "n5"]), 12).expect("enough");
    assert_eq!((part.ranks(), part.hosts.len()), (12, 2));
    let seats = part.seats().expect("each once");
    assert_eq!((seats.device(0), seats.device(8), seats.rank(3), seats.last()), (8, 0, 11, 15));
}

/// 64 devices in hosts of 4 with one NIC each below leaves of 8: leaf groups of 2 hosts, two to one
/// oversubscribed.
fn clos() -> Topology {
    built(Kind::Clos)
}

fn built(kind: Kind) -> Topology {
    let spec = DesignSpec {
        kind: Some(kind),
        devices: Some(64),
        domain: Some(4),
        radix: Some(12),
        leaf_oversubscription: Some(2.0),
        ..DesignSpec::default()
    };
    Wiring::new(&spec.resolve().expect("valid"), &[]).expect("built").topology
}

fn allocation(places: &[u32]) -> Allocation {
    let inventory = Inventory { first: 0, per_host: 4, devices: 64 };
    let host = |place: &u32| inventory.at(*place, format!("n{place}"), None);
    Allocation::new(places.iter().map(host).collect(), 4 * places.len() as u64).expect("each once")
}

/// Rings of one rank of each host, 4 of them.
fn rings(hosts: u64) -> Traffic {
    let numbering = Numbering::pipeline_outermost(1, 4 * hosts);
    let exchange = Exchange {
        dimension: Dimension::Data,
        purpose: "gradients",
        phase: Phase::Optimizer,
        kind: CollectiveKind::AllGather,
        algorithm: Algorithm::Ring,
        bytes: Bytes::new(hosts as f64 * 25.0),
        count: 1.0,
        groups: Groups::within(&numbering, vec![0], hosts, 4),
    };
    Traffic { numbering, exchanges: vec![exchange] }
}

/// Hosts taken from two leaf groups in turn: every hop of four rings crosses with 75 of 100 bytes. After
/// sorting, only the two hops between the groups cross.
#[test]
fn rings_over_alternate_leaf_groups_cross_at_every_hop() {
    let (topology, traffic) = (clos(), rings(4));
    let tree = Tree::new(&topology).expect("leaves");
    assert_eq!(tree.spot(0).leaf, tree.spot(7).leaf);
    assert_ne!(tree.spot(7).leaf, tree.spot(8).leaf);
    assert!((tree.oversubscription[0] - 2.0).abs() < 1e-12, "{:?}", tree.oversubscription);
    let allocation = allocation(&[0, 2, 1, 3]);
    let first = Place::on(&topology.design, 16).expect("room");
    let levels = |allocation: &Allocation| {
        let place = first.clone().seated(Some(&allocation.seats().expect("each once")));
        ByLevel::new(&Matrix::new(&traffic, &place), &place, Some(&tree))
    };
    let given = levels(&allocation);
    assert_eq!(
        (given.same_leaf_group.get(), given.same_pod.get(), given.other_rail.get()),
        (0.0, 1200.0, 0.0)
    );
    let sorted = by_network(&allocation, &tree);
    assert_eq!(sorted, [0, 2, 1, 3]);
    let after = levels(&allocation.ordered(&sorted));
    assert_eq!((after.same_leaf_group.get(), after.same_pod.get()), (600.0, 600.0));
    let between = Between::new(&Matrix::new(&traffic, &first), &allocation);
    let spots = spots(&allocation, &tree);
    // 1 for the links of the devices, and the oversubscription of 2 above leaves.
    assert!((between.cost(&spots, &tree, &[0, 1, 2, 3]) - 3600.0).abs() < 1e-9);
    let exchanged = refined(&allocation, &tree, &between, &[0, 1, 2, 3], &mut || ControlFlow::Continue(()))
        .expect("few hosts");
    assert!((between.cost(&spots, &tree, &exchanged) - 2400.0).abs() < 1e-9, "{exchanged:?}");
    let found = survey(&allocation, &tree);
    assert_eq!((found.hosts, found.leaf_groups, found.least_leaf_groups, found.pods), (4, 2, 2, 1));
    assert_eq!(found.rows[0].ranks, [(0, 3), (8, 11)]);
}

/// One host gives devices in the opposite order: its ring partners are on other rails, on both sides.
#[test]
fn reversed_devices_of_a_host_leave_their_rails() {
    let (topology, traffic) = (built(Kind::RailOptimized), rings(4));
    let mut allocation = allocation(&[0, 1, 2, 3]);
    allocation.hosts[1].devices.reverse();
    let place =
        Place::on(&topology.design, 16).expect("room").seated(Some(&allocation.seats().expect("each once")));
    let levels = ByLevel::new(&Matrix::new(&traffic, &place), &place, Tree::new(&topology).as_ref());
    assert_eq!((levels.other_rail.get(), levels.across().get()), (600.0, 1200.0));
}

#[test]
fn fragments_are_the_first_hosts_of_each_part() {
    let topology = clos();
    let tree = Tree::new(&topology).expect("leaves");
    let inventory = Inventory { first: 1, per_host: 4, devices: 64 };
    let hosts = tree.fragments(&[1, 0, 2], &inventory).expect("room");
    let names: Vec<&str> = hosts.iter().map(|host| host.name.as_str()).collect();
    assert_eq!(names, ["node1", "node5", "node6"]);
    assert!(tree.fragments(&[3], &inventory).is_err());
    assert!(tree.fragments(&[1; 9], &inventory).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    /// Swaps never add bytes above leaves, and end when no swap of two hosts saves any.
    #[test]
    fn swaps_end_in_a_minimum(places in Just((0..16_u32).collect::<Vec<_>>()).prop_shuffle(), hosts in 2_usize..12) {
        let topology = clos();
        let tree = Tree::new(&topology).expect("leaves");
        let allocation = allocation(&places[..hosts]);
        let first = Place::on(&topology.design, 4 * hosts as u64).expect("room");
        let between = Between::new(&Matrix::new(&rings(hosts as u64), &first), &allocation);
        let spots = spots(&allocation, &tree);
        let start: Vec<usize> = (0..hosts).collect();
        let order = refined(&allocation, &tree, &between, &start, &mut || ControlFlow::Continue(())).expect("few hosts");
        let cost = between.cost(&spots, &tree, &order);
        prop_assert!(cost <= between.cost(&spots, &tree, &start));
        let mut sorted = order.clone();
        sorted.sort_unstable();
        prop_assert_eq!(sorted, start);
        for a in 0..hosts {
            for b in a + 1..hosts {
                let mut other = order.clone();
                other.swap(a, b);
                prop_assert!(between.cost(&spots, &tree, &other) >= cost * (1.0 - 1e-6));
            }
        }
    }
}
