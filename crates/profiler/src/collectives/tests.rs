//! Waits, transfers and bandwidths.

use super::*;
use crate::Job;
use crate::groups::RankSet;
use crate::joined::JoinOptions;
use crate::testing::Synthetic;
use railwright_spec::cluster::accelerators;
use railwright_step::CollectiveKind;

#[test]
fn bus_factors_are_those_of_nccl_tests() {
    assert_eq!(bus_factor(Some(CollectiveKind::AllReduce), 8), 1.75);
    assert_eq!(bus_factor(Some(CollectiveKind::ReduceScatter), 4), 0.75);
    assert_eq!(bus_factor(Some(CollectiveKind::Broadcast), 8), 1.0);
    assert_eq!(bus_factor(Some(CollectiveKind::AllReduce), 1), 1.0);
}

#[test]
fn groups_beyond_a_scale_up_domain_are_bounded_by_the_network() {
    let all = accelerators();
    let h100 = all.iter().find(|accelerator| accelerator.id == "h100-sxm5-80gb").unwrap();
    let link = |ranks: &[u32]| ceiling(h100, &RankSet::new(ranks)).unwrap();
    assert_eq!((link(&[0, 7]).kind, link(&[0, 7]).bytes_per_second), (LinkKind::ScaleUp, 450e9));
    assert_eq!((link(&[0, 8]).kind, link(&[0, 8]).bytes_per_second), (LinkKind::Network, 50e9));
}

fn report(job: &mut Job) -> CommunicationReport {
    communication_report(job, &JoinOptions::default())
}

#[test]
fn a_planned_job_gives_its_plan_back() {
    let plan = Synthetic { slow_chip: vec![(1, 1.2)], ..Synthetic::default() };
    let report = report(&mut plan.job());
    let tensor = report.groups.iter().find(|group| group.label == "tensor").unwrap();
    // Two groups of 8 layers in 4 steps, of 8 MiB in 100 us.
    assert_eq!((tensor.groups, tensor.count, tensor.bytes), (2, 64, Some(64 * 8_388_608)));
    let rate = tensor.bus_bandwidth.unwrap();
    assert!((rate / (8_388_608.0 / 100e-6) - 1.0).abs() < 0.02, "{rate}");
    assert!((tensor.transfer - 3.2e6).abs() < 0.1e6, "{}", tensor.transfer);
    // Rank 0 waits for rank 1 for a fifth of every layer.
    let waits: Vec<f64> = report.ranks.iter().map(|rank| rank.wait as f64 * 1e-6).collect();
    assert!(waits[0] > 5.0 && waits[1] < 1.0, "{waits:?}");
    // Nothing overlaps here.
    assert_eq!(report.ranks[0].overlap, 0);
    assert!(report.warnings.is_empty(), "{:?}", report.warnings);
}

#[test]
fn a_rank_alone_has_bounds() {
    let plan = Synthetic { slow_chip: vec![(1, 1.2)], ..Synthetic::default() };
    let mut whole = plan.job();
    let truth = report(&mut whole).ranks[0].wait;
    let mut alone = Job::new(vec![plan.job().members.swap_remove(0).trace]);
    let report = report(&mut alone);
    let rank = &report.ranks[0];
    assert_eq!((rank.collectives, rank.wait), (0, 0));
    assert!(rank.estimates > 30);
    // A part longer than the shortest of its kind includes waiting; there may be more.
    assert!(rank.estimated_wait > 0 && rank.estimated_wait <= truth, "{} {truth}", rank.estimated_wait);
    assert!(report.groups.iter().all(|group| group.estimate));
}
