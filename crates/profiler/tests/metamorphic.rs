//! Changes that must not affect an answer: another origin of time, another order of files, other names of
//! hosts, and more of the same.
//!
//! Responsible for: profiles and verdicts of changed jobs, compared with those of the original ones. Does not
//! test that the answers are right: other tests do.

use proptest::prelude::*;
use railwright_profiler::Job;
use railwright_profiler::attribution::straggler_report;
use railwright_profiler::job::Member;
use railwright_profiler::joined::{JoinOptions, join};
use railwright_profiler::profile::{OneByOne, Options, Profile, profile};
use railwright_profiler::testing::{Synthetic, keep, replicate};

fn profiled(mut job: Job) -> Profile {
    let joined = join(&mut job, &JoinOptions::default());
    profile(&job, &joined, &Options::default(), &OneByOne).expect("a profile")
}

/// Stragglers of a job, as text.
fn verdict(mut job: Job) -> Vec<String> {
    let report = straggler_report(&mut job, &JoinOptions::default());
    report.culprits.iter().map(|one| format!("{:?} {:?}", one.kind, one.ranks)).collect()
}

/// Kinds and ranks of the stragglers, with renumbered ranks, in order of rank.
fn culprits(mut job: Job, to: impl Fn(u32) -> u32) -> Vec<(String, Vec<u32>)> {
    let report = straggler_report(&mut job, &JoinOptions::default());
    let of = |ranks: &[u32]| {
        let mut ranks: Vec<u32> = ranks.iter().map(|rank| to(*rank)).collect();
        ranks.sort_unstable();
        ranks
    };
    let mut found: Vec<_> =
        report.culprits.iter().map(|one| (format!("{:?}", one.kind), of(&one.ranks))).collect();
    found.sort();
    found
}

/// The same job with other numbers of its ranks.
fn renumbered(job: &Job, to: impl Fn(u32) -> u32) -> Job {
    let trace = |member: &Member| {
        let mut trace = member.trace.clone();
        trace.identity.rank = Some(to(member.rank));
        for ranks in trace.groups.iter_mut().filter_map(|group| group.ranks.as_mut()) {
            for rank in ranks.iter_mut() {
                *rank = to(*rank);
            }
            ranks.sort_unstable();
        }
        trace
    };
    Job::new(job.members.iter().map(trace).collect())
}

fn steps(profile: &Profile) -> Vec<i64> {
    profile.windows.steps.iter().map(railwright_profiler::windows::StepWindow::duration).collect()
}

fn plans() -> impl Strategy<Value = Synthetic> {
    let sizes = (prop::sample::select(vec![1_u32, 2]), prop::sample::select(vec![2_u32, 4]));
    (sizes, 2_u32..5, 0_u64..30, any::<bool>(), 0_u32..4, 0_u32..30).prop_map(
        |((tensor, data), steps, jitter, overlapped, rank, percent)| Synthetic {
            tensor,
            data,
            steps,
            jitter,
            overlapped,
            layers: 4,
            slow_chip: vec![(rank % (tensor * data), 1.0 + f64::from(percent) / 100.0)],
            ..Synthetic::default()
        },
    )
}

fn with_times(mut job: Job, to: impl Fn(i64) -> i64) -> Job {
    for member in &mut job.members {
        member.trace.gpu.map_times(&to);
        member.trace.host.map_times(&to);
    }
    job
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn another_origin_of_time_is_the_same_job(plan in plans(), shift in -1_000_000_000_000_000_i64..1_000_000_000_000_000) {
        let job = plan.job();
        let moved = with_times(job.clone(), |time| time + shift);
        let (before, after) = (profiled(job.clone()), profiled(moved.clone()));
        prop_assert_eq!(steps(&before), steps(&after));
        prop_assert_eq!(&before.waterfall.ranks, &after.waterfall.ranks);
        prop_assert_eq!(&before.report.findings, &after.report.findings);
        prop_assert_eq!(verdict(job), verdict(moved));
    }

    #[test]
    fn twice_as_slow_is_twice_as_long(plan in plans()) {
        let job = plan.job();
        let (before, after) = (profiled(job.clone()), profiled(with_times(job, |time| time * 2 - EPOCH)));
        let doubled: Vec<i64> = steps(&before).iter().map(|step| step * 2).collect();
        // The last step is completed to the mean, in whole nanoseconds.
        for (doubled, after) in doubled.iter().zip(steps(&after)) {
            prop_assert!(doubled.abs_diff(after) <= 1, "{doubled} {after}");
        }
        for (before, after) in before.waterfall.ranks.iter().zip(&after.waterfall.ranks) {
            prop_assert_eq!(before.totals.compute * 2, after.totals.compute);
            prop_assert_eq!(before.totals.communication * 2, after.totals.communication);
            prop_assert_eq!(before.totals.idle * 2, after.totals.idle);
        }
    }

    #[test]
    fn the_order_of_files_and_the_names_of_hosts_mean_nothing(plan in plans(), turn in 0_usize..8) {
        let job = plan.job();
        let mut traces: Vec<_> = job.members.iter().map(|member| {
            let mut trace = member.trace.clone();
            trace.identity.rank = Some(member.rank);
            trace.identity.host = Some(format!("elsewhere-{}", member.rank / 2));
            trace
        }).collect();
        let places = traces.len();
        traces.rotate_left(turn % places);
        let mut other = Job::new(traces);
        prop_assert_eq!(other.members.len(), job.members.len());
        (other.world_size, other.world_size_known) = (job.world_size, job.world_size_known);
        let (before, after) = (profiled(job.clone()), profiled(other.clone()));
        prop_assert_eq!(steps(&before), steps(&after));
        prop_assert_eq!(&before.waterfall.ranks, &after.waterfall.ranks);
        prop_assert_eq!(verdict(job), verdict(other));
    }

    #[test]
    fn numbers_of_replicas_mean_nothing(plan in plans(), turn in 1_u32..4) {
        let job = plan.job();
        let to = |rank: u32| (rank + turn * plan.tensor) % plan.world();
        let other = renumbered(&job, to);
        let (before, after) = (profiled(job.clone()), profiled(other.clone()));
        prop_assert_eq!(steps(&before), steps(&after));
        for own in &before.waterfall.ranks {
            let same = after.waterfall.ranks.iter().find(|rank| rank.rank == to(own.rank));
            prop_assert_eq!(Some(&own.totals), same.map(|rank| &rank.totals), "rank {}", own.rank);
        }
        prop_assert_eq!(culprits(job, to), culprits(other, |rank| rank));
    }

    #[test]
    fn a_slower_clock_names_the_same_ranks(plan in plans()) {
        let job = plan.job();
        prop_assert_eq!(verdict(job.clone()), verdict(with_times(job, |time| time * 2 - EPOCH)));
    }

    #[test]
    fn a_rank_that_only_computes_changes_no_verdict(plan in plans()) {
        let job = plan.job();
        let mut idle = job.members[0].trace.clone();
        idle.identity.rank = Some(plan.world());
        idle.groups.clear();
        keep(&mut idle, |row| row.collective.is_none());
        idle.collectives.clear();
        let mut traces: Vec<_> = job.members.iter().map(|member| member.trace.clone()).collect();
        traces.push(idle);
        for trace in &mut traces {
            trace.identity.world_size = Some(plan.world() + 1);
        }
        let other = Job::new(traces);
        // Steps are those of all ranks: they shift by the differences between ends of collectives, which the completion of the last one adds
        // up.
        let (own, same) = (steps(&profiled(job.clone())), steps(&profiled(other.clone())));
        for (at, (own_step, same_step)) in own.iter().zip(&same).enumerate() {
            let sum = if at + 1 == own.len() { own.len() as u64 } else { 1 };
            prop_assert!(own_step.abs_diff(*same_step) <= 2 * sum * plan.end_jitter, "{own:?} {same:?}");
        }
        prop_assert_eq!(verdict(job), verdict(other));
    }

    #[test]
    fn a_replica_beside_it_changes_no_rank_of_a_job(plan in plans()) {
        let job = plan.job();
        let (one, two) = (profiled(job.clone()), profiled(replicate(&job, 2)));
        prop_assert_eq!(steps(&one), steps(&two));
        for (one, two) in one.waterfall.ranks.iter().zip(&two.waterfall.ranks) {
            prop_assert_eq!(&one.totals, &two.totals);
        }
    }
}

/// Midnight of a day in 2024, near which synthetic jobs run.
const EPOCH: i64 = 1_710_000_000_000_000_000;
