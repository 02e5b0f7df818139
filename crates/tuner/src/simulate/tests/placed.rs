//! Steps on allocations of hosts, and with other runs, compared with calculations by hand.

use super::*;
use crate::simulate::{Job, Order, placed, together};
use railwright_network::placement::{Allocation, Inventory};
use railwright_network::simulate::class_time;
use railwright_network::traffic::{Algorithm, Exchange, Groups, Numbering};
use railwright_spec::quantity::Bytes;
use railwright_step::CollectiveKind;

/// Leaves of 16 devices, two hosts of 8, with a quarter of their bandwidth upwards.
fn tapered(devices: u64) -> DesignSpec {
    DesignSpec {
        devices: Some(devices),
        radix: Some(20),
        leaf_oversubscription: Some(4.0),
        ..spec_of(Kind::Clos)
    }
}

fn hosts(places: &[u32], devices: u32) -> Allocation {
    let inventory = Inventory { first: 0, per_host: 8, devices };
    let host = |place: &u32| inventory.at(*place, format!("node{place}"), None);
    Allocation::new(places.iter().map(host).collect(), 8 * places.len() as u64).expect("each once")
}

fn exchange(kind: CollectiveKind, (extent, stride): (u64, u64), ranks: u64) -> (Numbering, Exchange) {
    let numbering = Numbering::pipeline_outermost(1, ranks);
    let exchange = Exchange {
        dimension: Dimension::Data,
        purpose: "gradients",
        phase: Phase::Optimizer,
        kind,
        algorithm: Algorithm::Ring,
        bytes: Bytes::new(1e9),
        count: 1.0,
        groups: Groups::within(&numbering, vec![0], extent, stride),
    };
    (numbering, exchange)
}

fn slowdown(wiring: &Wiring, (numbering, exchange): (Numbering, Exchange), seats: &RankPlacement) -> f64 {
    let class = Class::seated(&exchange, &numbering, None, &wiring.topology.design, Some(seats));
    class_time(wiring, &[class]).expect("joined").exchanges[0].slowdown
}

/// Eight rings over four hosts. With alternating hosts of two leaves, every one of the 16 devices of a leaf
/// sends over its 4 uplinks, 4 times their capacity. Sorted, one of its two hosts does: twice.
#[test]
fn rings_share_the_uplinks_that_they_cross() {
    let cluster = cluster_by_name("dgx-h100", 64).expect("a preset");
    let wiring = wiring(&cluster, &tapered(64), &[]).expect("built");
    let gather = || exchange(CollectiveKind::AllGather, (4, 8), 32);
    let of = |places: &[u32]| slowdown(&wiring, gather(), &hosts(places, 64).seats().expect("each once"));
    assert!((of(&[0, 2, 1, 3]) - 4.0).abs() < 1e-9, "{}", of(&[0, 2, 1, 3]));
    assert!((of(&[0, 1, 2, 3]) - 2.0).abs() < 1e-9, "{}", of(&[0, 1, 2, 3]));
}

/// A tensor group of four on half of two hosts: priced as `V 3/4` over NVLink, it sends `V 3/4 / 2` through
/// each of two NICs.
#[test]
fn a_group_split_over_hosts_goes_at_the_pace_of_its_nics() {
    let cluster = cluster_by_name("dgx-h100", 64).expect("a preset");
    let wiring = wiring(&cluster, &spec_of(Kind::Clos), &[]).expect("built");
    let design = &wiring.topology.design;
    let seats = RankPlacement::new(vec![0, 1, 8, 9]).expect("each once");
    let found = slowdown(&wiring, exchange(CollectiveKind::AllGather, (4, 1), 4), &seats);
    let expected = 0.5 * (design.domain.bandwidth / design.nic_bandwidth);
    assert!((found / expected - 1.0).abs() < 1e-9, "{found} {expected}");
}

fn small() -> (Model, Cluster, Plan) {
    run("llama-3.1-8b", 32, |p| {
        (p.tensor_parallel, p.pipeline_parallel, p.global_batch) = (Some(8), Some(1), Some(32));
    })
}

/// Ranks on the first devices equal a run without seats; alternating hosts are slower, and sorting removes
/// all of it.
#[test]
fn sorting_hosts_gives_back_what_fragments_cost() {
    let run = small();
    let wiring = wiring(&run.1, &tapered(64), &[]).expect("built");
    let own = (&run.0, &run.1, &run.2);
    let on = |places: &[u32]| {
        let allocation = hosts(places, 64);
        let seats = allocation.seats().expect("each once");
        let setting = Setting { seats: Some(&seats), ..Setting::on(&wiring) };
        let mut simulation = simulate(own.0, own.1, own.2, &setting).expect("simulated");
        placed(own, (&setting, &mut simulation), &allocation, &mut |_, _| ControlFlow::Continue(()))
            .expect("simulated");
        simulation
    };
    let plain = simulate(own.0, own.1, own.2, &Setting::on(&wiring)).expect("simulated");
    let first = on(&[0, 1, 2, 3]);
    assert_eq!(first.step_time, plain.step_time);
    let placed = first.placed.expect("placed");
    assert_eq!((placed.best, placed.gain), (Order::Given, 0.0));
    let mixed = on(&[0, 2, 1, 3]);
    assert!(mixed.step_time > plain.step_time * 1.002, "{} {}", mixed.step_time.get(), plain.step_time.get());
    let placed = mixed.placed.expect("placed");
    assert_eq!(placed.best, Order::ByNetwork);
    assert_eq!(placed.hosts, ["node0", "node1", "node2", "node3"]);
    let sorted = placed.orders.iter().find(|row| row.order == Order::ByNetwork).expect("tried");
    assert!((sorted.step_time / plain.step_time - 1.0).abs() < 1e-9);
    assert!((placed.gain - (1.0 - plain.step_time / mixed.step_time)).abs() < 1e-9);
    let survey = placed.survey.expect("leaves");
    assert_eq!((survey.hosts, survey.leaf_groups, survey.least_leaf_groups), (4, 2, 2));
}

/// Runs below separate leaves do not share links; runs that alternate below the same leaves slow each other
/// equally.
#[test]
fn runs_slow_each_other_only_where_they_share_links() {
    let run = small();
    let wiring = wiring(&run.1, &tapered(64), &[]).expect("built");
    let both = |first: &[u32], second: &[u32]| {
        let seats = [first, second].map(|places| hosts(places, 64).seats().expect("each once"));
        let job = |seats| Job { name: "a run", model: &run.0, cluster: &run.1, plan: &run.2, seats };
        together(&wiring, [job(&seats[0]), job(&seats[1])], &mut |_, _| ControlFlow::Continue(()))
            .expect("simulated")
    };
    let apart = both(&[0, 1, 2, 3], &[4, 5, 6, 7]);
    assert!(apart.iter().all(|job| (job.slowdown - 1.0).abs() < 1e-9 && job.steps == 4), "{apart:?}");
    let mixed = both(&[0, 2, 4, 6], &[1, 3, 5, 7]);
    assert!(mixed.iter().all(|job| job.slowdown > 1.001), "{mixed:?}");
    assert!((mixed[0].mean / mixed[1].mean - 1.0).abs() < 1e-9, "{mixed:?}");
    let seats = hosts(&[0, 1, 2, 3], 64).seats().expect("each once");
    let job = Job { name: "a run", model: &run.0, cluster: &run.1, plan: &run.2, seats: &seats };
    let problem =
        together(&wiring, [job, job], &mut |_, _| ControlFlow::Continue(())).expect_err("the same devices");
    assert_eq!(problem.message, "device 0 belongs to both runs");
}
