//! Verdicts and tables of synthetic and replicated jobs with many ranks.

use proptest::prelude::*;
use railwright_profiler::attribution::{CauseClass, straggler_report};
use railwright_profiler::joined::{JoinOptions, join};
use railwright_profiler::profile::{OneByOne, Options, profile};
use railwright_profiler::testing::{Synthetic, replicate};
use railwright_profiler::trace::{GpuActivities, HostActivities};

/// Few rows per rank, so that a thousand ranks are generated quickly.
fn small(tensor: u32, data: u32) -> Synthetic {
    Synthetic { tensor, data, steps: 3, layers: 4, kernels: 2, ..Synthetic::default() }
}

proptest! {
    #![proptest_config(railwright_cases::cases(4))]

    /// One of 1,024 ranks has a slower chip: that rank is named, and no other.
    #[test]
    fn one_slow_rank_of_a_thousand_is_found(slow in 0_u32..1024, factor in 1.3_f64..1.8) {
        let mut job = Synthetic { slow_chip: vec![(slow, factor)], ..small(8, 128) }.job();
        prop_assert_eq!(job.members.len(), 1024);
        let report = straggler_report(&mut job, &JoinOptions::default());
        let named: Vec<_> = report.stragglers().map(|culprit| (culprit.rank, culprit.cause)).collect();
        prop_assert_eq!(named, [(slow, CauseClass::SlowChip)]);
        // Four layers of a millisecond.
        let cost = 4e6 * (factor - 1.0);
        prop_assert!((report.ranks[0].cost - cost).abs() < 0.2 * cost, "{} for {cost}", report.ranks[0].cost);
    }

    /// 1,024 ranks by replication with shifted groups: only the slow rank of each replica is charged.
    #[test]
    fn a_slow_rank_in_every_replica_is_found_in_every_replica(slow in 0_u32..4) {
        let one = Synthetic { slow_chip: vec![(slow, 1.5)], ..small(2, 2) }.job();
        let mut job = replicate(&one, 256);
        let report = straggler_report(&mut job, &JoinOptions::default());
        prop_assert_eq!((report.ranks_traced, report.world_size), (1024, 1024));
        // Replicas do not wait for each other, so no single rank makes the job shorter; but all waits are charged to the slow ones.
        prop_assert!(report.ranks.iter().all(|culprit| culprit.rank % 4 == slow), "{:?}", report.ranks);
    }
}

/// Rank 4's file is truncated after the first of four steps: the others' steps stay, and it is excluded from
/// the steps without its recording.
#[test]
fn a_file_that_is_cut_costs_the_other_ranks_nothing() {
    let mut job = Synthetic { stalls: vec![(3, 2, 20_000_000)], steps: 4, ..small(2, 4) }.job();
    let whole = straggler_report(&mut job.clone(), &JoinOptions::default());
    let trace = &mut job.members[4].trace;
    let first = trace.names.intern("ProfilerStep#0");
    let end = trace.host.iter().find(|row| row.name == first).expect("step 0").end;
    let (mut host, mut gpu) = (HostActivities::default(), GpuActivities::default());
    trace.host.iter().filter(|row| row.start < end).for_each(|row| host.push(row));
    trace.gpu.iter().filter(|row| row.start < end).for_each(|row| gpu.push(row));
    (trace.host, trace.gpu) = (host, gpu);
    let joined = join(&mut job, &JoinOptions::default());
    let found = profile(&job, &joined, &Options::default(), &OneByOne).expect("a profile");
    let report = &found.report;
    assert_eq!(report.steps.iter().map(|step| step.step.as_str()).collect::<Vec<_>>(), ["0", "1", "2", "3"]);
    assert_eq!((found.waterfall.ranks[4].missing.as_slice(), report.samples), (&[1, 2, 3][..], 8 * 4 - 3));
    for step in &report.steps {
        let sum: f64 = step.groups.iter().sum();
        assert!((sum - step.duration as f64).abs() < 1.0, "step {}: {sum} of {}", step.step, step.duration);
    }
    let reported =
        report.warnings.iter().find(|warning| warning.id == "steps-partly-recorded").expect("a warning");
    assert!(reported.message.contains("rank 4 (synthetic rank 4) in steps 1-3"), "{}", reported.message);
    // The waits for that rank are an estimate.
    assert!(report.estimated_wait > 0.0);
    let stragglers = straggler_report(&mut job, &JoinOptions::default());
    assert_eq!((stragglers.ranks[0].rank, stragglers.steps), (3, 4));
    let (cost, of_whole) = (stragglers.ranks[0].cost, whole.ranks[0].cost);
    // The missing rank's work is unknown, so the cost is a bound: at least the previous cost, except for a
    // rank's waits for the missing one.
    assert_eq!(stragglers.bounds_only.as_deref(), Some("rank 4 was not recorded in 3 of 4 steps"));
    assert!(cost > 0.95 * of_whole && cost < 1.3 * of_whole, "{cost} {of_whole}");
}

#[test]
fn every_rank_in_every_step() {
    let mut job =
        Synthetic { slow_chip: vec![(5, 1.3)], stalls: vec![(2, 1, 4_000_000)], steps: 4, ..small(2, 4) }
            .job();
    let joined = join(&mut job, &JoinOptions::default());
    let report = profile(&job, &joined, &Options::default(), &OneByOne).expect("a profile").report;
    let map = report.rank_steps.expect("a map");
    assert_eq!(map.ranks, (0..8).collect::<Vec<_>>());
    assert_eq!((map.steps.len(), map.step_time.len()), (report.steps.len(), report.steps.len()));
    for table in [&map.own_time, &map.compute, &map.waiting, &map.waiting_caused] {
        assert!(table.len() == 8 && table.iter().all(|row| row.len() == map.steps.len()));
    }
    for (own, waiting) in map.own_time.iter().zip(&map.waiting) {
        for ((own, waiting), step) in own.iter().zip(waiting).zip(&map.step_time) {
            assert_eq!(own.zip(*waiting).map(|(own, waiting)| own + waiting), Some(*step));
        }
    }
    // The slow chip has the longest compute and causes most waits in normal steps, the idle rank in its own
    // step.
    let most = |table: &[Vec<Option<i64>>], at: usize| {
        (0..8).max_by_key(|&rank| table[rank][at]).unwrap_or_default()
    };
    let last = map.steps.len() - 1;
    assert_eq!((most(&map.compute, last), most(&map.waiting_caused, last)), (5, 5));
    let stalled = map.steps.iter().position(|step| step == "1").expect("step 1");
    assert_eq!(most(&map.waiting_caused, stalled), 2, "{:?}", map.waiting_caused);
}

/// Steps without recording of a rank have no value, which differs from zero.
#[test]
fn a_rank_has_no_value_in_steps_in_which_it_was_not_recorded() {
    use railwright_profiler::trace::{GpuActivities, HostActivities};
    let mut job = Synthetic { steps: 4, ..small(2, 4) }.job();
    let trace = &mut job.members[3].trace;
    let third =
        trace.host.iter().find(|row| trace.names.get(row.name) == "ProfilerStep#2").expect("step 2").start;
    let (mut host, mut gpu) = (HostActivities::default(), GpuActivities::default());
    trace.host.iter().filter(|row| row.start < third).for_each(|row| host.push(row));
    trace.gpu.iter().filter(|row| row.start < third).for_each(|row| gpu.push(row));
    (trace.host, trace.gpu) = (host, gpu);
    let joined = join(&mut job, &JoinOptions::default());
    let report = profile(&job, &joined, &Options::default(), &OneByOne).expect("a profile").report;
    let map = report.rank_steps.expect("a map");
    assert_eq!(map.steps, ["0", "1", "2", "3"]);
    for table in [&map.own_time, &map.compute, &map.waiting, &map.waiting_caused] {
        for (rank, row) in table.iter().enumerate() {
            let there: Vec<bool> = row.iter().map(Option::is_some).collect();
            assert_eq!(there, [true, true, rank != 3, rank != 3], "rank {rank}");
        }
    }
}
