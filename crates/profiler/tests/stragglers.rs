//! Stragglers of real jobs.
//!
//! Responsible for: reference answers for whole sets. Excludes properties that only synthetic jobs can show.

use crate::jobs;
use jobs::job;
use railwright_profiler::RankTrace;
use railwright_profiler::attribution::{CauseClass, Kind, StragglerReport, Verdict, straggler_report};
use railwright_profiler::certainty::Certainty;
use railwright_profiler::joined::JoinOptions;
use railwright_profiler::trace::{GpuActivities, GpuKind};

fn report(folder: &str) -> StragglerReport {
    let report = straggler_report(&mut job(folder, "pt.trace"), &JoinOptions::default());
    assert!(report.replay_error.abs() < 0.02, "{folder}: {}", report.replay_error);
    report
}

#[test]
fn ranks_that_hold_both_up() {
    // Kernels of Megatron's rank 0 start 2.4 ms after their launches, on an idle device: the host is not
    // late.
    for (folder, rank, cause) in [
        ("torchrec_v100_4r/resnet18", 1, CauseClass::SlowHost),
        ("megatron_tp2_v100", 0, CauseClass::LaunchLatency),
    ] {
        let report = report(folder);
        assert!(report.host_bound, "{folder}: idle {}", report.idle);
        let most = report.ranks.iter().max_by(|a, b| a.waits.total_cmp(&b.waits)).unwrap();
        assert_eq!((most.rank, most.cause), (rank, cause), "{folder}: {:?}", report.ranks);
    }
}

#[test]
fn the_rank_that_others_wait_for_is_not_the_one_that_is_late_by_microseconds() {
    let report = report("torchrec_v100_4r/sst_long_a2a_optimizer_3");
    assert_eq!(report.ranks[0].rank, 2, "{:?}", report.ranks);
    assert!(report.ranks[0].waits_share > 0.8);
    // Kernels of ranks 1 and 3 run at other places of the step, but no longer in total.
    let named: Vec<&[u32]> = report.culprits.iter().map(|one| one.ranks.as_slice()).collect();
    assert_eq!(named, [&[2][..]], "{:?}", report.culprits);
    let report = self::report("param_dlrm_8r");
    let most = report.ranks.iter().max_by(|a, b| a.waits.total_cmp(&b.waits)).unwrap();
    assert_eq!((most.rank, most.last), (7, 5), "{:?}", report.ranks);
}

/// The host launches the all-to-alls of every step 20 ms late while the device computes. Earlier launches are
/// not recorded.
#[test]
fn a_host_that_launches_communication_late_is_slow_beside_a_busy_device() {
    let report = report("torchrec_v100_4r/sst_long_a2a_optimizer_4");
    let named: Vec<_> = report.culprits.iter().map(|one| (one.ranks.as_slice(), one.cause)).collect();
    assert_eq!(named, [(&[2][..], "slow host")], "{:?}", report.culprits);
    let evidence = &report.ranks[0].evidence[0];
    assert_eq!(evidence.name, "until communication is launched");
    // Seven all-to-alls of 3 steps, each about 20 ms later than on the peers.
    let later = evidence.own - evidence.peers;
    assert!((25e6..60e6).contains(&later), "{evidence:?}");
    // Its host is in the backward pass.
    let held =
        report.ranks[0].moments.iter().filter(|one| one.annotation.as_deref() == Some("## backward ##"));
    assert!(held.count() >= 2, "{:?}", report.ranks[0].moments);
}

/// Rank 1 is last in all 12 collectives, by times that vary from 0.1 ms to 1.4 ms.
#[test]
fn a_rank_that_is_always_last_is_no_acquittal() {
    let report = report("torchrec_v100_4r/resnet18");
    assert_eq!(report.verdict, Verdict::CannotTell);
    let [reason] = report.reasons.as_slice() else { panic!("{:?}", report.reasons) };
    assert!(
        reason.starts_with("rank 1 enters 12 of 12 collectives last; if it were the cause, it would cost "),
        "{reason}"
    );
}

#[test]
fn a_stall_of_every_micro_batch_of_one_step() {
    let report = report("generated_torch215_gloo_pp2dp2");
    let culprit = &report.ranks[0];
    assert_eq!(culprit.rank, 2, "{:?}", report.ranks);
    assert!(culprit.is_straggler);
    let stalls: Vec<_> = culprit.moments.iter().filter(|moment| moment.excess > 40_000_000).collect();
    assert_eq!(stalls.len(), 4, "{:#?}", culprit.moments);
    for stall in stalls {
        assert_eq!(stall.step, Some(3));
        assert!((stall.excess - 50_000_000).abs() <= 5_000_000, "{stall:?}");
    }
}

/// Simulated jobs with known faults and costs (fixtures/traces/SOURCES.md).
#[test]
fn planted_faults_are_named_with_their_costs() {
    // (job, kind, ranks, cause, cost in seconds)
    let faults = [
        ("slow_host_pipeline", Kind::Rank, vec![2], "slow host", 15.221e-3),
        ("drifting_clocks", Kind::Rank, vec![3], "slow host", 39.362e-3),
        ("hot_expert", Kind::Rank, vec![3], "more work", 4.315e-3),
        ("two_stages", Kind::Stage, vec![0, 1], "imbalance", 3.008e-3),
        // A stage without replicas is compared with itself; its last stage has a head, and is not a
        // straggler.
        ("lone_pipeline", Kind::Rank, vec![1], "slow host", 5.670e-3),
        // All kernels of the rank are longer, or its GEMMs and attention alone.
        ("lone_chip", Kind::Rank, vec![2], "slow chip", 1.125e-3),
        ("lone_stage", Kind::Stage, vec![1], "imbalance or slow chip", 2.822e-3),
    ];
    for (name, kind, ranks, cause, cost_s) in faults {
        let verdict = if kind == Kind::Stage { Verdict::Imbalance } else { Verdict::Straggler };
        let report = report(&format!("simulated/{name}"));
        assert_eq!(report.verdict, verdict, "{name}: {:?}", report.culprits);
        let [named] = report.culprits.as_slice() else { panic!("{name}: {:?}", report.culprits) };
        assert_eq!((named.kind, &named.ranks, named.cause), (kind, &ranks, cause), "{name}");
        assert!((named.cost_s / cost_s - 1.0).abs() < 0.15, "{name}: {} s for {cost_s} s", named.cost_s);
        let saved = report.step_time - report.step_time_without;
        assert!(saved >= 0.99e9 * named.cost_s, "{name}: {saved} ns for {} s", named.cost_s);
    }
}

/// The odd ranks of four context-parallel pairs have 1.7 times the attention of the even ones, as with a
/// causal mask: equal chunks save 0.725 ms.
#[test]
fn longer_chunks_of_context_parallelism_are_named_by_their_ranks() {
    let report = report("simulated/longer_chunks");
    assert_eq!(report.verdict, Verdict::Imbalance, "{:?}", report.reasons);
    let [named] = report.culprits.as_slice() else { panic!("{:?}", report.culprits) };
    assert_eq!((named.kind, named.cause), (Kind::Group, "context parallel chunks"));
    assert_eq!(named.ranks, [1, 3, 5, 7]);
    assert!((named.cost_s / 0.725e-3 - 1.0).abs() < 0.15, "{} s", named.cost_s);
}

/// Its host is slow in all steps: it differs from the other stages alone. The cost is too low by up to 30%:
/// the order of launches is not replayed.
#[test]
fn a_slow_host_of_a_stage_without_replicas_is_named() {
    let report = report("simulated/lone_host");
    assert_eq!(report.verdict, Verdict::Straggler, "{:?}", report.reasons);
    let [named] = report.culprits.as_slice() else { panic!("{:?}", report.culprits) };
    assert_eq!((named.kind, named.ranks.as_slice(), named.cause), (Kind::Rank, &[2][..], "slow host"));
    assert!((0.7..1.05).contains(&(named.cost_s / 17.865e-3)), "{} s", named.cost_s);
}

/// A rank of another stage, or a partner of the same one, is not recorded: the true cost is within the bound.
#[test]
fn stragglers_beside_unrecorded_ranks_are_named_with_bounds() {
    for (name, rank, cause, cost_s) in
        [("absent_rank", 3, "slow host", 5.893e-3), ("absent_partner", 8, "slow chip", 1.148e-3)]
    {
        let report = report(&format!("simulated/{name}"));
        assert_eq!(report.verdict, Verdict::Straggler, "{name}: {:?}", report.reasons);
        let [named] = report.culprits.as_slice() else { panic!("{name}: {:?}", report.culprits) };
        assert_eq!((named.ranks.as_slice(), named.cause), (&[rank][..], cause), "{name}");
        assert_eq!(named.certainty, Certainty::AtMost, "{name}");
        assert!((0.95..1.5).contains(&(named.cost_s / cost_s)), "{name}: {} of {cost_s}", named.cost_s);
    }
}

/// A stage that computes 8% longer than the others may do so by design: it is not named, and excludes "no
/// straggler".
#[test]
fn a_stage_that_is_somewhat_longer_is_a_doubt() {
    let mut job = job("simulated/two_stages", "pt.trace");
    let is_compute = |name: &str| !name.contains("nccl");
    let compute = |trace: &RankTrace| -> i64 {
        let rows = trace.gpu.iter().filter(|row| row.kind == GpuKind::Kernel);
        rows.filter(|row| is_compute(trace.names.get(row.name))).map(|row| row.duration()).sum()
    };
    let ratio = compute(&job.members[0].trace) as f64 / compute(&job.members[2].trace) as f64;
    for member in &mut job.members[..2] {
        let trace = &mut member.trace;
        let mut rows = GpuActivities::default();
        for mut row in trace.gpu.iter() {
            if row.kind == GpuKind::Kernel && is_compute(trace.names.get(row.name)) {
                row.end = row.start + (row.duration() as f64 * 1.08 / ratio) as i64;
            }
            rows.push(row);
        }
        trace.gpu = rows;
    }
    let report = straggler_report(&mut job, &JoinOptions::default());
    assert_eq!(report.verdict, Verdict::CannotTell, "{:?}", report.culprits);
    let is_stage =
        |reason: &String| reason.starts_with("stage 0 computes 1.08 times as long as the median stage");
    assert!(report.reasons.iter().any(is_stage), "{:?}", report.reasons);
}
