//! Properties of the verdict on any job with a known fault.
//!
//! Responsible for: tensor, data and expert parallelism and full sharding together, with reductions
//! overlapped with compute, and random faults. Excludes faults that cost less than two percent of a step:
//! others absorb them.

use proptest::prelude::*;
use railwright_profiler::attribution::{Kind, MOST_OFF, StragglerReport, Verdict, straggler_report};
use railwright_profiler::joined::JoinOptions;
use railwright_profiler::testing::Synthetic;

fn report(plan: &Synthetic) -> StragglerReport {
    straggler_report(&mut plan.job(), &JoinOptions::default())
}

/// Time from the first row of any device to the end of the last, in nanoseconds.
fn length(plan: &Synthetic) -> i64 {
    let job = plan.job();
    let rows = || job.members.iter().flat_map(|member| member.trace.gpu.iter());
    let first = rows().map(|row| row.start).min().unwrap_or_default();
    rows().map(|row| row.end).max().unwrap_or_default() - first
}

fn plans() -> impl Strategy<Value = Synthetic> {
    let sizes = (prop::sample::select(vec![1_u32, 2, 4]), prop::sample::select(vec![4_u32, 6, 8]));
    let rest = (
        prop::sample::select(vec![1_u32, 2]),
        any::<bool>(),
        any::<bool>(),
        4_u32..9,
        5_u64..30,
        0_u64..20_000,
    );
    (sizes, rest).prop_map(|((tensor, data), (experts, gathered, numbered, layers, jitter, end_jitter))| {
        Synthetic {
            tensor,
            data,
            experts,
            gathered,
            numbered,
            layers,
            jitter,
            end_jitter,
            steps: 5,
            overlapped: true,
            ..Synthetic::default()
        }
    })
}

#[derive(Clone, Copy, Debug)]
enum Fault {
    Chip(u32),
    Pause(u32),
    Host(u32),
    /// Milliseconds before the first launch of every step.
    Loader(u32),
}

fn faults() -> impl Strategy<Value = Fault> {
    prop_oneof![
        (8_u32..40).prop_map(Fault::Chip),
        (10_u32..60).prop_map(Fault::Pause),
        (4_u32..8).prop_map(Fault::Host),
        (2_u32..20).prop_map(Fault::Loader),
    ]
}

/// The job with a fault of one rank.
fn with_fault(plan: &Synthetic, fault: Fault, rank: u32) -> Synthetic {
    let mut faulty = plan.clone();
    match fault {
        Fault::Chip(percent) => faulty.slow_chip = vec![(rank, 1.0 + f64::from(percent) * 0.01)],
        Fault::Pause(ms) => faulty.stalls = vec![(rank, 2, i64::from(ms) * 1_000_000)],
        Fault::Host(hundreds) => faulty.slow_host = vec![(rank, i64::from(hundreds) * 100_000)],
        Fault::Loader(ms) => {
            faulty.late = (0..plan.steps).map(|step| (rank, step, i64::from(ms) * 1_000_000)).collect();
        }
    }
    faulty
}

proptest! {
    #![proptest_config(railwright_cases::cases(32))]

    /// The rank with the fault is named with the fault's cost, and the job without it has no straggler. A slow host may launch concurrent
    /// communications late. Its cost is then a lower bound: its replay keeps the order in which it launched them and waited for others. Up
    /// to a few percent of its cost can remain on its partners; otherwise no other rank is named.
    #[test]
    fn the_fault_is_named_with_its_cost(plan in plans(), fault in faults(), pick in 0_u32..64) {
        let rank = pick % plan.world();
        let quiet = report(&plan);
        prop_assert_eq!(quiet.verdict, Verdict::None, "{:?}", quiet.culprits);
        prop_assert!(quiet.replay_error.abs() <= MOST_OFF);
        let faulty = with_fault(&plan, fault, rank);
        let cost = (length(&faulty) - length(&plan)) as f64 / f64::from(plan.steps);
        prop_assume!(cost > 0.02 * quiet.step_time);
        let found = report(&faulty);
        prop_assert!(found.replay_error.abs() <= MOST_OFF);
        prop_assert_eq!(found.verdict, Verdict::Straggler, "{} ns of {}", cost, quiet.step_time);
        prop_assert!(found.culprits.iter().all(|named| named.kind == Kind::Rank));
        let is_host = matches!(fault, Fault::Host(_));
        let is_left_over = |cost_s: f64| is_host && cost_s * 1e9 < 0.05 * cost;
        let counted = found.culprits.iter().filter(|named| !is_left_over(named.cost_s));
        let ranks: Vec<u32> = counted.flat_map(|named| named.ranks.clone()).collect();
        prop_assert_eq!(ranks, [rank], "{:?} {}", found.culprits, cost);
        let least = if is_host { 0.6 } else { 0.85 };
        let tolerance = 0.005 * quiet.step_time;
        prop_assert!(
            found.joint() > least * cost - tolerance && found.joint() < 1.15 * cost + tolerance,
            "{} for {}", found.joint(), cost
        );
    }

    /// With an unrecorded rank no other rank and no link is named: waits for the unrecorded rank look like slow transfers of its groups.
    #[test]
    fn an_unrecorded_rank_accuses_no_other(
        plan in plans(), fault in faults(), pick in 0_u32..64, absent in 0_u32..64, is_near in any::<bool>(),
    ) {
        let rank = pick % plan.world();
        // A rank of the tensor-parallel group waits for the straggler itself, and others of its data-parallel group wait for it.
        let absent = if is_near { rank / plan.tensor * plan.tensor + absent % plan.tensor } else { absent % plan.world() };
        let faulty = with_fault(&plan, fault, rank);
        let cost = (length(&faulty) - length(&plan)) as f64 / f64::from(plan.steps);
        let mut job = faulty.job();
        job.members.retain(|member| member.rank != absent);
        let found = straggler_report(&mut job, &JoinOptions::default());
        prop_assert_ne!(found.verdict, Verdict::None, "{:?}", found.culprits);
        let is_left_over = |cost_s: f64| matches!(fault, Fault::Host(_)) && cost_s * 1e9 < 0.05 * cost;
        for named in found.culprits.iter().filter(|named| !is_left_over(named.cost_s)) {
            prop_assert_eq!(named.kind, Kind::Rank, "{:?}", named);
            prop_assert_eq!(&named.ranks, &vec![rank], "{:?}, absent {}", named, absent);
            prop_assert_ne!(rank, absent);
        }
    }
}
