//! Counts of folded Clos fabrics compared with textbooks and published systems.

use super::*;

fn request(groups: u64, endpoints: u64, radix: u64) -> Request {
    Request {
        groups,
        endpoints,
        radix,
        spine_radix: None,
        core_radix: None,
        top_radix: None,
        hosts_per_port: 1,
        hosts_per_leaf: None,
        server: 1,
        backup_ports: 0,
        tiers: None,
        leaf_oversubscription: None,
        spine_oversubscription: 1.0,
        core_oversubscription: 1.0,
        pods: None,
        zones: None,
        groups_in_pods: false,
    }
}

fn switches(clos: &Clos) -> (u64, u64, u64) {
    (clos.leaves(), clos.spines(), clos.cores())
}

#[test]
fn full_fabrics_have_the_textbook_counts() {
    // Endpoints k, k^2/2, k^3/4; switches N/k, 3N/k, 5N/k (Al-Fares et al.; rail-only, section 5).
    for k in [8_u64, 32, 64, 128] {
        let (one, two, three) = (k, k * k / 2, k * k * k / 4);
        for (tiers, n) in [(1, one), (2, two), (3, three)] {
            let clos = Clos::new(&request(1, n, k)).expect("full");
            assert_eq!(clos.tiers, tiers, "{k} {n}");
            assert_eq!(clos.leaves() + clos.spines() + clos.cores(), (2 * tiers - 1) * n / k, "{k} {n}");
            assert_eq!(clos.endpoints() + clos.leaf_spine_links() + clos.spine_core_links(), tiers * n);
            assert_eq!(most_endpoints(&request(1, n, k), tiers), n);
        }
        assert!(Clos::new(&request(1, three + 1, k)).is_err());
    }
}

#[test]
fn spines_are_raised_to_a_divisor_of_the_uplinks() {
    // DGX H100 SuperPOD, 3 SU of 32 nodes, 8 rails; DGX B300 XDR, 4 and 8 SU.
    assert_eq!(switches(&Clos::new(&request(8, 96, 64)).expect("3 SU")), (24, 16, 0));
    assert_eq!(switches(&Clos::new(&request(8, 288, 144)).expect("4 SU")), (32, 18, 0));
    assert_eq!(switches(&Clos::new(&request(8, 576, 144)).expect("8 SU")), (64, 36, 0));
}

#[test]
fn pods_of_a_rail_each_give_the_system_that_symmetry_made_larger() {
    // DGX A100 SuperPOD of 140 nodes: 56 leaves, 80 spines in 8 groups of 10, 28 cores, 1,120 cables in each
    // layer.
    let rails = Request { pods: Some(8), groups_in_pods: true, ..request(8, 140, 40) };
    let clos = Clos::new(&rails).expect("built in 2020");
    assert_eq!(switches(&clos), (56, 80, 28));
    assert_eq!((clos.leaf_spine_links(), clos.spine_core_links()), (1120, 1120));
    assert_eq!((clos.core_groups, clos.cores_per_group, clos.trunk()), (2, 14, 2));
}

/// An extended generalized fat tree XGFT(h; m1..mh; w1..wh) has `m1 .. mh` endpoints, and on its level i
/// `m(i+1) .. mh * w1 .. wi` switches (S. Öhring et al., "On generalized fat trees", IPPS 1995). Leaves of 64
/// ports, spines of 576 (a chassis of 16 line cards with 36 ports), cores of 576.
#[test]
fn modular_spines_have_the_counts_of_generalized_fat_trees() {
    let modular = |endpoints| Request { spine_radix: Some(576), ..request(1, endpoints, 64) };
    let levels = |m: &[u64], w: &[u64]| -> Vec<u64> {
        (1..=m.len()).map(|i| m[i..].iter().product::<u64>() * w[..i].iter().product::<u64>()).collect()
    };
    let (m, w) = ([32, 576], [1, 32]);
    let two = Clos::new(&modular(m.iter().product())).expect("full");
    assert_eq!([two.leaves(), two.spines()].as_slice(), levels(&m, &w));
    assert_eq!((two.tiers, two.cores(), two.trunk()), (2, 0, 1));
    let (m, w) = ([32, 288, 576], [1, 32, 288]);
    let three = Clos::new(&modular(m.iter().product())).expect("full");
    assert_eq!([three.leaves(), three.spines(), three.cores()].as_slice(), levels(&m, &w));
    for (tiers, clos) in [(2, two), (3, three)] {
        assert_eq!(most_endpoints(&modular(1), tiers), clos.endpoints());
        assert!(
            Clos::new(&Request { tiers: Some(tiers), ..modular(clos.endpoints() + 1) }).is_err(),
            "{tiers}"
        );
    }
    // The 131,072 endpoints that three tiers of 64 ports cannot connect.
    assert!(Clos::new(&request(1, 131_072, 64)).is_err());
    let clos = Clos::new(&modular(131_072)).expect("three tiers");
    assert_eq!((clos.tiers, clos.leaves(), clos.leaf_spine_links()), (3, 4096, 131_072));
}

#[test]
fn oversubscription_divides_the_uplinks() {
    let o = |o| Request { leaf_oversubscription: Some(o), ..request(1, 2048, 64) };
    let three = Clos::new(&o(3.0)).expect("3:1");
    assert_eq!((three.hosts_per_leaf, three.leaf_uplinks), (48, 16));
    assert_eq!(Clos::new(&o(1.0)).expect("1:1").leaf_uplinks, 32);
    assert_eq!(
        Clos::new(&o(100.0)).expect_err("no port is left above").place.expect("key").key.as_deref(),
        Some("design.radix")
    );
}

/// 42 or 51 ports below are not whole servers of 8: 40 and 48 are. A leaf below the size of a server stays
/// full.
#[test]
fn leaves_have_whole_servers() {
    let o = |o, server| Request { leaf_oversubscription: Some(o), server, ..request(1, 2048, 64) };
    let below = |request: &Request| Clos::new(request).expect("built").hosts_per_leaf;
    assert_eq!([1.0, 2.0, 3.0, 4.0].map(|ratio| below(&o(ratio, 8))), [32, 40, 48, 48]);
    for ratio in [1.0, 1.5, 2.0, 3.0, 4.0, 7.0] {
        for server in [2, 4, 8, 16] {
            let clos = Clos::new(&o(ratio, server)).expect("built");
            assert!(clos.hosts_per_leaf.is_multiple_of(server), "{ratio} {server}: {clos:?}");
            assert!(
                clos.hosts_per_leaf as f64 <= clos.leaf_uplinks as f64 * ratio * 1.1,
                "{ratio} {server}: {clos:?}"
            );
        }
    }
    assert_eq!(Split::of(&o(1.0, 72)), Split::of(&o(1.0, 1)));
    let split = Request { hosts_per_port: 2, ..o(2.0, 8) };
    assert_eq!(Split::of(&split).expect("ports").hosts % 8, 0);
}

#[test]
fn too_many_endpoints_are_reported_with_what_suffices() {
    let problem = Clos::new(&request(1, 131_072, 64)).expect_err("too many");
    assert_eq!(
        problem.message,
        "131,072 endpoints exceed the 65,536 that 3 tiers of 64-port switches connect"
    );
    assert!(problem.hint.expect("a hint").starts_with("design.radix = 128 is sufficient"));
}

/// Full trees of four tiers of `k`-port switches: 2 (k/2)^4 endpoints and 7 (k/2)^3 switches (an XGFT with m
/// = k/2, k/2, k/2, k and w = 1, k/2, k/2, k/2; S. Öhring et al., "On generalized fat trees", IPPS 1995).
#[test]
fn four_full_tiers_have_the_textbook_counts() {
    for k in [4_u64, 8, 16, 64] {
        let half = k / 2;
        let four = |endpoints| Request { tiers: Some(4), ..request(1, endpoints, k) };
        let clos = Clos::new(&four(2 * half.pow(4))).expect("full");
        let layer = 2 * half.pow(3);
        assert_eq!((switches(&clos), clos.tops()), ((layer, layer, layer), half.pow(3)), "{k}");
        assert_eq!(clos.core_top_links(), clos.endpoints());
        assert_eq!(most_endpoints(&four(1), 4), clos.endpoints());
        assert!(Clos::new(&four(2 * half.pow(4) + 1)).is_err(), "{k}");
    }
}

/// Different ports in each tier: levels of the generalized fat tree with m = 32, 32, 288, 576 and w = 1, 32,
/// 32, 288. Leaves and spines have 64 ports, cores and top switches 576.
#[test]
fn four_tiers_of_different_switches_are_generalized_fat_trees() {
    let (m, w) = ([32_u64, 32, 288, 576], [1_u64, 32, 32, 288]);
    let levels: Vec<u64> =
        (1..=4).map(|i| m[i..].iter().product::<u64>() * w[..i].iter().product::<u64>()).collect();
    let clos = Clos::new(&Request {
        tiers: Some(4),
        spine_radix: Some(64),
        core_radix: Some(576),
        ..request(1, m.iter().product(), 64)
    })
    .expect("full");
    assert_eq!([clos.leaves(), clos.spines(), clos.cores(), clos.tops()].as_slice(), levels);
}

/// An island of three tiers, 4:1 above: a quarter of the links and top switches.
#[test]
fn cores_can_be_oversubscribed() {
    let four = |o| Request { tiers: Some(4), core_oversubscription: o, ..request(1, 8192, 16) };
    let (even, over) = (Clos::new(&four(1.0)).expect("1:1"), Clos::new(&four(4.0)).expect("4:1"));
    assert_eq!(even.core_top_links(), 8192);
    assert!(over.core_top_links() < even.core_top_links() / 2, "{over:?}");
    assert!(over.tops() < even.tops());
    // 131,072 endpoints on switches of 64 ports, which three tiers cannot connect.
    let clos = Clos::new(&Request { tiers: Some(4), ..request(8, 16_384, 64) }).expect("four tiers");
    assert_eq!((clos.leaves(), clos.leaf_spine_links(), clos.core_top_links()), (4096, 131_072, 131_072));
}
