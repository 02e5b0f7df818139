//! Flow simulations compared with the output of another simulator, with formulas, and with an independent
//! oracle.

use super::program::{self, Phases, Ring};
use super::testing::{RailOnly, oracle};
use super::{Allocator, FatTree, Flow, Outcome, Traffic, Wires, simulate};
use proptest::prelude::*;

const MILLI: f64 = 1e-3;

fn fat_tree(hosts: u32, under_leaf: u32, spines: u32) -> FatTree {
    FatTree { spines, ..FatTree::non_blocking(hosts, under_leaf) }
}

fn run(wires: &impl Wires, mut traffic: impl Traffic) -> Outcome {
    simulate(wires, &mut traffic).expect("it ends")
}

fn all(n: u32) -> Vec<u32> {
    (0..n).collect()
}

#[track_caller]
fn near(outcome: &Outcome, milliseconds: f64) {
    let here = outcome.duration.get() / MILLI;
    assert!((here / milliseconds - 1.0).abs() < 1e-6, "{here} ms, SimGrid has {milliseconds} ms");
}

/// SimGrid 3.32, CM02 without TCP corrections, two-tier fat tree with D-mod-k: the table of
/// `docs/concepts/flow-model.md`.
#[test]
fn all_to_all_match_simgrid() {
    for (hosts, milliseconds) in [(64, 1.262), (128, 2.542)] {
        let flows = program::all_to_all(&all(hosts), 1e6);
        near(&run(&fat_tree(hosts, 8, 8), Phases::new([flows])), milliseconds);
    }
    let flows = program::all_to_all(&all(64), 1e6);
    near(&run(&fat_tree(64, 8, 2), Phases::new([flows])), 4.484);
    near(&run(&fat_tree(64, 8, 8), Phases::new(program::shifted_all_to_all(&all(64), 1e6))), 1.512);
}

#[test]
fn rings_and_halving_doubling_match_simgrid() {
    let outcome = run(&fat_tree(256, 16, 16), Ring::all_reduce(all(256), 1e9));
    near(&outcome, 41.88375);
    assert_eq!(outcome.flows, 130_560);
    let outcome = run(&fat_tree(1024, 32, 32), Ring::all_reduce(all(1024), 1e9));
    assert_eq!(outcome.flows, 2_095_104);
    assert!((outcome.duration.get() / MILLI - 48.144_917).abs() < 3e-5, "{:?}", outcome.duration);
    // Every step but the first few is skipped, and skipped steps count on the links.
    assert!(outcome.simulated < 50_000, "{}", outcome.simulated);
    let first = outcome.carried[0].get();
    assert!((first / (2046.0 * 1e9 / 1024.0) - 1.0).abs() < 1e-9, "{first}");
    let ranks = all(1024);
    let halving = program::halving_doubling(&ranks, 1e9).expect("a power of two");
    near(&run(&fat_tree(1024, 32, 32), Phases::new(halving)), 40.020_937_5);
}

#[test]
fn a_hierarchical_all_reduce_on_rails_matches_the_formula() {
    for (devices, domain, inside, across) in [(64, 8, 1.944_444_444, 4.375), (512, 64, 2.1875, 0.546_875)] {
        let wires = RailOnly { devices, domain, inside: 450e9, rail: 50e9 };
        let domains: Vec<Vec<u32>> =
            (0..devices / domain).map(|d| (d * domain..(d + 1) * domain).collect()).collect();
        let rails: Vec<Vec<u32>> =
            (0..domain).map(|r| (0..devices / domain).map(|d| d * domain + r).collect()).collect();
        let share = 1e9 / f64::from(domain);
        near(&run(&wires, Phases::new([program::direct(&domains, 1e9)])), inside);
        let both = || program::direct(&rails, share);
        near(&run(&wires, Phases::new([both(), both()])), across);
    }
}

/// Equation (16) of the rail-only note, which SimGrid confirmed: 11.111% for N = 64, K = 8 and 9.877% for N =
/// 512, K = 8 in two steps.
#[test]
fn forwarding_an_all_to_all_matches_the_formula() {
    for (devices, domain, percent) in [(64_u32, 8_u32, 11.111), (512, 8, 9.877)] {
        let wires = RailOnly { devices, domain, inside: 450e9, rail: 50e9 };
        let (n, k) = (f64::from(devices), f64::from(domain));
        // One domain and one rail represent all: the steps are symmetrical.
        let inside = vec![all(domain)];
        let rail: Vec<u32> = (0..devices / domain).map(|d| d * domain).collect();
        // Each member sends every other the N/K messages for that rail. Then each pair of the rail exchanges
        // K messages.
        let first = run(&wires, Phases::new([program::direct(&inside, 1e6 * n / k * k)]));
        let second = run(&wires, Phases::new([program::all_to_all(&rail, 1e6 * k)]));
        let overhead = first.duration / second.duration * 100.0;
        assert!((overhead - percent).abs() < 5e-4, "{overhead}");
    }
}

#[test]
fn messages_that_are_cut_off_are_reported() {
    let wires = FatTree { bandwidth: 0.0, ..fat_tree(16, 8, 2) };
    let problem = simulate(&wires, &mut Phases::new([program::all_to_all(&all(16), 1e6)])).expect_err("cut");
    assert!(problem.message.contains("240 messages have no route"), "{}", problem.message);
}

/// A network of links and flows over random subsets of them, some of them sprayed.
fn networks() -> impl Strategy<Value = (Vec<f64>, Vec<Vec<(u32, f64)>>)> {
    (2_usize..10).prop_flat_map(|links| {
        let share = prop_oneof![3 => Just(1.0), 1 => Just(0.5), 1 => Just(0.25)];
        let route = proptest::collection::btree_map(0..links as u32, share, 1..=links.min(4));
        (
            proptest::collection::vec((1_u32..20).prop_map(f64::from), links),
            proptest::collection::vec(route.prop_map(|map| map.into_iter().collect()), 1..30),
        )
    })
}

proptest! {
    #[test]
    fn rates_are_those_of_the_definition((capacities, routes) in networks()) {
        let mut allocator = Allocator::new(capacities.iter().copied());
        let slots: Vec<_> = routes.iter().map(|route| allocator.insert(route)).collect();
        allocator.solve(|_, _| {});
        for (slot, rate) in slots.iter().zip(oracle(&capacities, &routes)) {
            prop_assert!((allocator.rate(*slot) - rate).abs() < 1e-6, "{} {rate}", allocator.rate(*slot));
        }
    }

    /// Coming and going flows leave the same rates as a fresh start with those that are left.
    #[test]
    fn updates_leave_the_rates_of_a_fresh_start(
        (capacities, routes) in networks(),
        leave in proptest::collection::vec(any::<bool>(), 30),
    ) {
        let mut allocator = Allocator::new(capacities.iter().copied());
        let slots: Vec<_> = routes.iter().map(|route| allocator.insert(route)).collect();
        allocator.solve(|_, _| {});
        let mut kept = Vec::new();
        for (index, &slot) in slots.iter().enumerate() {
            if leave[index] {
                allocator.remove(slot);
                allocator.solve(|_, _| {});
            } else {
                kept.push(index);
            }
        }
        let again: Vec<Vec<(u32, f64)>> = kept.iter().map(|&index| routes[index].clone()).collect();
        for (&index, rate) in kept.iter().zip(oracle(&capacities, &again)) {
            prop_assert!((allocator.rate(slots[index]) - rate).abs() < 1e-6);
        }
    }

    /// The same for networks so large that a change affects few of the flows: after every change, all rates equal those of a new solution.
    #[test]
    fn rates_of_few_affected_flows_are_those_of_all(
        capacities in proptest::collection::vec((1_u32..40).prop_map(f64::from), 60),
        routes in proptest::collection::vec(
            proptest::collection::btree_map(0_u32..60, prop_oneof![3 => Just(1.0), 1 => Just(0.5)], 1..4),
            150,
        ),
        changes in proptest::collection::vec(0_usize..150, 40),
    ) {
        let routes: Vec<Vec<(u32, f64)>> = routes.into_iter().map(|route| route.into_iter().collect()).collect();
        let mut allocator = Allocator::new(capacities.iter().copied());
        let mut slots: Vec<_> = routes.iter().map(|route| Some(allocator.insert(route))).collect();
        allocator.solve(|_, _| {});
        for change in changes {
            match slots[change].take() {
                Some(slot) => allocator.remove(slot),
                None => slots[change] = Some(allocator.insert(&routes[change])),
            }
            allocator.solve(|_, _| {});
            let mut fresh = Allocator::new(capacities.iter().copied());
            let again: Vec<_> = routes.iter().zip(&slots).map(|(route, slot)| slot.map(|_| fresh.insert(route))).collect();
            fresh.solve(|_, _| {});
            for (known, new) in slots.iter().zip(&again).filter_map(|(a, b)| a.zip(*b)) {
                let (known, new) = (allocator.rate(known), fresh.rate(new));
                prop_assert!((known - new).abs() <= 1e-9 * new, "{known} {new}");
            }
        }
    }

    /// Skipping laps of a ring gives the time of running them all.
    #[test]
    fn leaps_lose_no_time(hosts in 2_u32..24, steps in 1_u64..60, under_leaf in 1_u32..6, bytes in 1e3_f64..1e7) {
        let hosts = hosts.div_ceil(under_leaf) * under_leaf;
        let wires = fat_tree(hosts, under_leaf, 2);
        let ring = Ring::new(all(hosts), bytes, steps);
        let leapt = run(&wires, ring.clone());
        let walked = run(&wires, Walked(ring));
        prop_assert_eq!(leapt.flows, walked.flows);
        let (a, b) = (leapt.duration.get(), walked.duration.get());
        prop_assert!((a / b - 1.0).abs() < 1e-9, "{} {}", a, b);
        for (x, y) in leapt.carried.iter().zip(&walked.carried) {
            prop_assert!((x.get() - y.get()).abs() <= 1e-6 * y.get());
        }
    }
}

/// A repeating program without lap information.
struct Walked(Ring);

impl Traffic for Walked {
    fn begin(&mut self, start: &mut Vec<Flow>) {
        self.0.begin(start);
    }

    fn arrived(&mut self, tag: u64, start: &mut Vec<Flow>) {
        self.0.arrived(tag, start);
    }
}

#[test]
fn the_first_share_of_a_link_that_occurs_twice_counts() {
    let mut allocator = Allocator::new([10.0, 4.0]);
    let first = allocator.insert(&[(0, 0.5), (0, 1.0), (1, 0.1)]);
    allocator.solve(|_, _| ());
    assert_eq!(allocator.rate(first), 20.0);
    let second = allocator.insert(&[(0, 0.5)]);
    allocator.solve(|_, _| ());
    assert_eq!([allocator.rate(first), allocator.rate(second)], [10.0, 10.0]);
}
