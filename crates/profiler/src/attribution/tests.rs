//! Straggler attribution of jobs with known faults.

use super::event::Chains;
use super::replay::{Unrecorded, replay, replay_with};
use super::*;
use crate::Job;
use crate::communication::NameTable;
use crate::joined::{JoinOptions, Joined, join};
use crate::occupancy::Occupancy;
use crate::testing::{Synthetic, replicate};
use crate::trace::{GpuActivities, GpuActivity, GpuKind, HostActivities, HostActivity, HostKind};
use crate::view::{Tables, View};
use crate::windows::windows;
use crate::workers::OneByOne;

fn report(plan: &Synthetic) -> StragglerReport {
    straggler_report(&mut plan.job(), &JoinOptions::default())
}

fn plan() -> Synthetic {
    Synthetic { tensor: 2, data: 4, ..Synthetic::default() }
}

/// A job with aligned clocks, joined, and the events of its ranks.
pub(super) fn chains_of(mut job: Job) -> (Job, Joined, Chains) {
    let joined = join(&mut job, &JoinOptions::default());
    let on: Vec<Occupancy> =
        job.members.iter().map(|m| Occupancy::of(&m.trace, NameTable::shipped())).collect();
    let tables = Tables::shipped();
    let views: Vec<View<'_>> = job.members.iter().map(|m| View::new(&m.trace, &tables)).collect();
    let windows = windows(&views, &joined);
    let chains = Chains::of(&job, &joined, &on, &windows, &OneByOne);
    drop(views);
    (job, joined, chains)
}

#[test]
fn replay_of_what_was_measured_gives_what_was_measured() {
    let job = Synthetic { stalls: vec![(3, 2, 5_000_000)], slow_chip: vec![(1, 1.1)], ..plan() }.job();
    let (_, joined, chains) = chains_of(job);
    let own = |member: usize, place: usize| chains.events[member][place].own;
    let transfer = |member: usize, place: usize| chains.events[member][place].transfer;
    let replayed = replay(&chains, &joined, &own, &transfer);
    for &collective in &chains.order {
        assert_eq!(replayed.last_start[collective as usize], chains.last_start[collective as usize]);
    }
    assert_eq!(chains.order.len(), joined.matching.collectives.len());
    assert_eq!(replayed.span, chains.span.1 - chains.span.0);
}

/// The last rank is late by 20 ms and not recorded: the wait of its partner is known to be no work of its
/// own.
#[test]
fn waits_for_an_unrecorded_rank_are_removed_if_it_is_prompt() {
    let mut job = Synthetic { tensor: 2, data: 2, stalls: vec![(3, 2, 20_000_000)], ..plan() }.job();
    job.members.pop();
    let (_, joined, chains) = chains_of(job);
    let own = |member: usize, place: usize| chains.events[member][place].own;
    let transfer = |member: usize, place: usize| chains.events[member][place].transfer;
    let span = |unrecorded| replay_with(&chains, &joined, &own, &transfer, unrecorded).span;
    let (measured, prompt) = (span(Unrecorded::Measured), span(Unrecorded::Prompt));
    assert_eq!(measured, chains.span.1 - chains.span.0);
    assert!((19_000_000..22_000_000).contains(&(measured - prompt)), "{measured} {prompt}");
}

#[test]
fn a_quiet_job_has_no_straggler() {
    let report = report(&plan());
    assert_eq!(report.stragglers().count(), 0, "{:?}", report.ranks.first());
    assert!(report.replay_error.abs() < 1e-6);
}

#[test]
fn kernels_of_one_rank_ten_percent_slower() {
    let report = report(&Synthetic { slow_chip: vec![(5, 1.1)], ..plan() });
    let culprit = &report.ranks[0];
    assert_eq!((culprit.rank, culprit.is_straggler, culprit.cause), (5, true, CauseClass::SlowChip));
    // Eight layers of a millisecond.
    assert!((culprit.cost - 800_000.0).abs() < 80_000.0, "{}", culprit.cost);
    assert!(culprit.waits_share > 0.8, "{}", culprit.waits_share);
    assert_eq!(report.stragglers().count(), 1);
}

/// Eight replicas that reduce once per step; the host of one is idle for ten milliseconds.
fn replicas(steps: u32, stalled: std::ops::Range<u32>) -> StragglerReport {
    let stalls = stalled.map(|step| (1, step, 10_000_000)).collect();
    let mut job = Synthetic { tensor: 1, data: 8, layers: 4, steps, stalls, ..Synthetic::default() }.job();
    for member in &mut job.members {
        // Groups of one rank.
        let mut kept = GpuActivities::default();
        member.trace.gpu.iter().filter(|row| row.stream != 21).for_each(|row| kept.push(row));
        member.trace.gpu = kept;
    }
    straggler_report(&mut job, &JoinOptions::default())
}

#[test]
fn few_collectives_and_what_comes_before_the_first_of_them_count_in_full() {
    for steps in [2, 3, 5] {
        let quiet = replicas(steps, 0..0);
        assert_eq!(quiet.stragglers().count(), 0, "{:?}", quiet.ranks.first());
        let report = replicas(steps, 0..steps);
        let culprit = &report.ranks[0];
        assert_eq!((culprit.rank, culprit.is_straggler, report.steps), (1, true, steps));
        assert!((culprit.cost - 10e6).abs() < 0.2e6, "{steps}: {}", culprit.cost);
        let longer = report.step_time - quiet.step_time;
        assert!((longer - 10e6).abs() < 0.2e6, "{steps}: {longer}");
    }
    let first = replicas(3, 0..1);
    assert_eq!(first.stragglers().count(), 0, "{:?}", first.ranks.first());
    assert!(first.warnings.iter().any(|warning| warning.id == "steps-before-steady-state"));
}

#[test]
fn steps_without_annotations_and_a_short_first_rank_are_the_jobs_steps() {
    let plan = Synthetic { slow_chip: vec![(5, 1.1)], tensor: 1, data: 8, ..Synthetic::default() };
    let shortened = |keep: &dyn Fn(usize, &HostActivity, &str) -> bool| {
        let mut job = plan.job();
        for (at, member) in job.members.iter_mut().enumerate() {
            let mut kept = HostActivities::default();
            let names = &member.trace.names;
            member
                .trace
                .host
                .iter()
                .filter(|row| keep(at, row, names.get(row.name)))
                .for_each(|row| kept.push(row));
            member.trace.host = kept;
            for row in 0..member.trace.collectives.len() {
                // One repeated size.
                member.trace.collectives[row].elements_in = Some(1 << 20);
            }
        }
        straggler_report(&mut job, &JoinOptions::default())
    };
    let whole = shortened(&|_, _, _| true);
    assert_eq!((whole.ranks[0].rank, whole.steps), (5, 4));
    let others = [
        ("no annotation", shortened(&|_, row, _| row.kind != HostKind::Annotation)),
        (
            "the first rank has two",
            shortened(&|at, _, name| at != 0 || !matches!(name, "ProfilerStep#2" | "ProfilerStep#3")),
        ),
    ];
    for (case, report) in others {
        let culprit = &report.ranks[0];
        assert!(culprit.rank == 5 && report.steps > 1, "{case}: {} steps, {culprit:?}", report.steps);
        assert!((culprit.cost - 0.8e6).abs() < 0.08e6, "{case}: {}", culprit.cost);
        assert!(
            (report.step_time - whole.step_time).abs() < 0.02 * whole.step_time,
            "{case}: {}",
            report.step_time
        );
    }
}

#[test]
fn a_tenth_more_work() {
    let plan = Synthetic { kernels: 20, more_work: vec![(2, 1.1)], ..plan() };
    let report = report(&plan);
    assert_eq!((report.ranks[0].rank, report.ranks[0].cause), (2, CauseClass::MoreWork));
}

#[test]
fn a_host_that_stands_still_in_one_step() {
    let report = report(&Synthetic { stalls: vec![(6, 2, 20_000_000)], ..plan() });
    let culprit = &report.ranks[0];
    assert_eq!((culprit.rank, culprit.cause), (6, CauseClass::SlowHost));
    assert!(culprit.is_straggler);
    // Twenty milliseconds in one of four steps.
    assert!((culprit.cost - 5_000_000.0).abs() < 100_000.0, "{}", culprit.cost);
    let moment = &culprit.moments[0];
    assert_eq!(moment.step, Some(2));
    assert!((moment.excess - 20_000_000).abs() < 200_000, "{}", moment.excess);
    assert_eq!(report.stragglers().count(), 1);
}

#[test]
fn a_host_that_launches_slowly() {
    let report = report(&Synthetic { slow_host: vec![(3, 400_000)], ..plan() });
    let culprit = &report.ranks[0];
    assert_eq!((culprit.rank, culprit.is_straggler, culprit.cause), (3, true, CauseClass::SlowHost));
}

#[test]
fn clocks_and_the_order_of_input_change_nothing() {
    let job = Synthetic { slow_chip: vec![(5, 1.1)], ..plan() }.job();
    let mut moved = job.clone();
    for (at, member) in moved.members.iter_mut().enumerate() {
        crate::testing::move_clock(&mut member.trace, at as i64 * 1_300_000_000, 0.0);
    }
    moved.members.reverse();
    let mut moved = crate::Job::new(moved.members.into_iter().map(|member| member.trace).collect());
    let plain = straggler_report(&mut job.clone(), &JoinOptions::default());
    let other = straggler_report(&mut moved, &JoinOptions::default());
    let (a, b) = (&plain.ranks[0], &other.ranks[0]);
    assert_eq!((a.rank, a.cause), (b.rank, b.cause));
    // Aligned ends are the times at which a device detected the end; that shifts waits by less than a
    // microsecond.
    assert!((a.cost - b.cost).abs() < 0.01 * a.cost, "{} {}", a.cost, b.cost);
    // Without alignment, the result is identical.
    let mut again = job.clone();
    again.members.reverse();
    let mut again = crate::Job::new(again.members.into_iter().map(|member| member.trace).collect());
    assert_eq!(straggler_report(&mut again, &JoinOptions::default()), plain);
}

#[test]
fn each_of_many_replicas_has_its_culprit() {
    let job = Synthetic { slow_chip: vec![(1, 1.1)], ..Synthetic::default() }.job();
    let mut many = replicate(&job, 8);
    assert_eq!(many.world_size, 32);
    let report = straggler_report(&mut many, &JoinOptions::default());
    // The replicas are equal and independent, so no single rank costs the job anything; its waits are still
    // charged to it.
    let mut ranks: Vec<u32> = report.ranks[..8].iter().map(|culprit| culprit.rank).collect();
    ranks.sort_unstable();
    assert_eq!(ranks, [1, 5, 9, 13, 17, 21, 25, 29]);
}

#[test]
fn ranks_that_were_not_traced_make_costs_bounds() {
    let plan = Synthetic { slow_chip: vec![(5, 1.1)], ..plan() };
    let whole = report(&plan);
    assert_eq!(whole.bounds_only, None);
    assert!(whole.ranks.iter().all(|culprit| culprit.cost <= culprit.at_most + 1.0));
    let mut job = plan.job();
    job.members.retain(|member| member.rank != 7);
    assert_eq!((job.members.len(), job.world_size), (7, 8));
    let report = straggler_report(&mut job, &JoinOptions::default());
    assert_eq!(report.bounds_only.as_deref(), Some("1 of 8 ranks was not traced"));
    let culprit = &report.ranks[0];
    assert_eq!(culprit.rank, 5);
    assert!(culprit.at_most >= culprit.cost && culprit.at_most >= 700_000.0, "{culprit:?}");
}

/// A rank that begins a step late, by up to twice a step, is charged. In the first recorded step alone it is
/// warm-up, or a doubt if it takes a notable part of the recording.
#[test]
fn a_step_that_begins_late_is_charged_unless_it_is_the_first_one() {
    let quiet = report(&plan());
    for share in [0.1, 0.3, 1.0, 2.0] {
        let late = (quiet.step_time * share) as i64;
        let first = report(&Synthetic { late: vec![(6, 0, late)], ..plan() });
        // A first step far above the others is excluded before.
        let verdict = if share == 0.3 { Verdict::CannotTell } else { Verdict::None };
        assert_eq!((first.stragglers().count(), first.verdict), (0, verdict), "{share}");
        assert!(first.warnings.iter().any(|warning| warning.id == "steps-before-steady-state"));
        for step in [1, 2] {
            let report = report(&Synthetic { late: vec![(6, step, late)], ..plan() });
            let culprit = &report.ranks[0];
            let cost = late as f64 / 4.0;
            assert_eq!((culprit.rank, culprit.cause), (6, CauseClass::SlowHost), "{share} in step {step}");
            assert!(
                (culprit.cost - cost).abs() < 0.02 * cost + 10_000.0,
                "{share} {step}: {} {cost}",
                culprit.cost
            );
            assert_eq!(culprit.moments[0].step, Some(step));
            assert!(culprit.waits_share > 0.8, "{}", culprit.waits_share);
        }
    }
}

/// The same without host rows: waits of other ranks show it. A late recording is not a late rank: it lacks
/// collectives, and no rank waited.
#[test]
fn a_late_start_is_distinguished_from_a_late_recording() {
    // The device keeps the step marks.
    let strip = |job: &mut crate::Job| {
        for trace in job.members.iter_mut().map(|member| &mut member.trace) {
            let steps: Vec<(i64, crate::NameId)> = trace
                .host
                .iter()
                .filter(|row| row.kind == HostKind::Annotation)
                .map(|row| (row.start, row.name))
                .collect();
            let launched = crate::launches::launches(trace, &trace.gpu);
            for (at, (from, name)) in steps.iter().enumerate() {
                let until = steps.get(at + 1).map_or(i64::MAX, |next| next.0);
                let called = |launch: u32| trace.host.get(launch as usize).map(|row| row.start);
                let rows = trace.gpu.iter().zip(&launched);
                let own = rows.filter(|(_, launch)| {
                    called(**launch).is_some_and(|call| (*from..until).contains(&call))
                });
                let Some((start, end)) = own.fold(None, |all: Option<(i64, i64)>, (row, _)| {
                    Some(all.map_or((row.start, row.end), |(a, b)| (a.min(row.start), b.max(row.end))))
                }) else {
                    continue;
                };
                let row = GpuActivity {
                    start,
                    end,
                    name: *name,
                    kind: GpuKind::Annotation,
                    ..GpuActivity::default()
                };
                trace.gpu.push(row);
            }
            trace.gpu.sort();
            trace.host = HostActivities::default();
        }
    };
    let late = (report(&plan()).step_time * 0.3) as i64;
    let mut job = Synthetic { late: vec![(6, 0, late), (6, 2, late)], numbered: true, ..plan() }.job();
    strip(&mut job);
    let shown = straggler_report(&mut job, &JoinOptions::default());
    let culprit = &shown.ranks[0];
    let cost = 2.0 * late as f64 / f64::from(shown.steps);
    assert_eq!(culprit.rank, 6);
    assert!((culprit.cost - cost).abs() < 0.05 * cost, "{} {cost} of {} steps", culprit.cost, shown.steps);

    for hosts in [true, false] {
        let mut job = Synthetic { numbered: true, ..plan() }.job();
        let trace = &mut job.members[6].trace;
        let begin = trace.gpu.iter().map(|row| row.start).min().unwrap_or_default() + late;
        let mut kept = GpuActivities::default();
        trace.gpu.iter().filter(|row| row.start >= begin).for_each(|row| kept.push(row));
        trace.gpu = kept;
        if !hosts {
            strip(&mut job);
        }
        let shown = straggler_report(&mut job, &JoinOptions::default());
        let charged =
            shown.ranks.iter().find(|culprit| culprit.rank == 6).map_or(0.0, |culprit| culprit.cost);
        assert!(charged < shown.noise && shown.stragglers().count() == 0, "{hosts}: {charged}");
    }
}

/// Replicas with overlapped gradient reductions: a rank with slower kernels does not wait and has all kernels
/// in its intervals, while waiting ranks have some after theirs. It does not do more work.
#[test]
fn a_slow_chip_beside_overlapped_reductions_does_no_more_work() {
    for slower in [1.1, 1.3] {
        let plan = Synthetic { tensor: 1, data: 8, overlapped: true, ..Synthetic::default() };
        let report = report(&Synthetic { slow_chip: vec![(3, slower)], ..plan });
        let culprit = &report.ranks[0];
        assert_eq!((culprit.rank, culprit.cause), (3, CauseClass::SlowChip), "{slower}: {culprit:?}");
        let kernels = culprit.evidence.iter().find(|number| number.name == "kernels").expect("kernels");
        assert!((kernels.own - kernels.peers).abs() < 0.5, "{slower}: {kernels:?}");
    }
    // More kernels are more work there, too.
    let plan = Synthetic { tensor: 1, data: 8, kernels: 20, overlapped: true, ..Synthetic::default() };
    let report = report(&Synthetic { more_work: vec![(3, 1.1)], ..plan });
    assert_eq!((report.ranks[0].rank, report.ranks[0].cause), (3, CauseClass::MoreWork));
}

/// True cost of a fault per step, in nanoseconds: the same job with and without it.
fn truth(plan: &Synthetic, faulty: &Synthetic) -> f64 {
    let length = |plan: &Synthetic| {
        let job = plan.job();
        let rows = || job.members.iter().flat_map(|member| member.trace.gpu.iter());
        let first = rows().map(|row| row.start).min().unwrap_or_default();
        rows().map(|row| row.end).max().unwrap_or_default() - first
    };
    (length(faulty) - length(plan)) as f64 / f64::from(plan.steps)
}

/// Tensor groups, and reductions of gradients open at the same time: the standard job.
fn overlapped(tensor: u32, data: u32) -> Synthetic {
    Synthetic { tensor, data, overlapped: true, ..Synthetic::default() }
}

#[test]
fn several_communicators_at_once_hide_no_straggler() {
    for (tensor, data) in [(2, 4), (4, 4), (1, 8), (8, 2)] {
        let plan = overlapped(tensor, data);
        let quiet = report(&plan);
        assert_eq!(
            (quiet.verdict, quiet.culprits.len()),
            (Verdict::None, 0),
            "{tensor} {data}: {:?}",
            quiet.culprits
        );
        assert!(quiet.reasons.is_empty() && quiet.replay_error.abs() < 1e-6);
        let rank = tensor * data - 3;
        for (cause, faulty) in [
            (CauseClass::SlowChip, Synthetic { slow_chip: vec![(rank, 1.15)], ..plan.clone() }),
            (CauseClass::SlowHost, Synthetic { stalls: vec![(rank, 1, 30_000_000)], ..plan.clone() }),
            (CauseClass::SlowHost, Synthetic { slow_host: vec![(rank, 400_000)], ..plan.clone() }),
        ] {
            let report = report(&faulty);
            let cost = truth(&plan, &faulty) * 1e-9;
            assert_eq!(report.verdict, Verdict::Straggler, "{tensor} {data} {cause:?}");
            assert!(report.replay_error.abs() < MOST_OFF, "{}", report.replay_error);
            let [named] = report.culprits.as_slice() else { panic!("{:?}", report.culprits) };
            assert_eq!(
                (named.kind, named.ranks.as_slice(), named.cause),
                (Kind::Rank, &[rank][..], cause.name())
            );
            assert!(
                (named.cost_s - cost).abs() < 0.15 * cost,
                "{tensor} {data} {cause:?}: {} {cost}",
                named.cost_s
            );
        }
    }
}

#[test]
fn one_straggler_behind_another() {
    let plan = overlapped(2, 4);
    let faulty = Synthetic { slow_chip: vec![(1, 1.3), (6, 1.15)], ..plan.clone() };
    let report = report(&faulty);
    let mut ranks: Vec<u32> = report.stragglers().map(|culprit| culprit.rank).collect();
    ranks.sort_unstable();
    assert_eq!(ranks, [1, 6], "{:?}", report.culprits);
    let cost = truth(&plan, &faulty);
    assert!((report.joint() - cost).abs() < 0.15 * cost, "{} {cost}", report.joint());
}

#[test]
fn two_that_hold_the_job_up_only_together() {
    let plan = overlapped(2, 4);
    let faulty = Synthetic { slow_chip: vec![(1, 1.2), (6, 1.2)], jitter: 0, ..plan.clone() };
    let report = report(&faulty);
    let named: Vec<u32> = report.culprits.iter().flat_map(|named| named.ranks.clone()).collect();
    assert!(named.contains(&1) && named.contains(&6) && named.len() == 2, "{:?}", report.culprits);
    let cost = truth(&plan, &faulty);
    assert!((report.joint() - cost).abs() < 0.15 * cost, "{} {cost}", report.joint());
}

#[test]
fn a_slow_node_is_named_even_where_it_is_half_of_the_job() {
    let plan = Synthetic { jitter: 0, ..overlapped(1, 16) };
    for node in [8..16_u32, 0..4] {
        let slow_chip = node.clone().map(|rank| (rank, 1.1)).collect();
        let faulty = Synthetic { slow_chip, ..plan.clone() };
        let report = report(&faulty);
        let [named] = report.culprits.as_slice() else { panic!("{:?}", report.culprits) };
        assert_eq!((named.kind, &named.ranks), (Kind::Rank, &node.collect::<Vec<_>>()));
        let cost = truth(&plan, &faulty) * 1e-9;
        assert!((named.cost_s - cost).abs() < 0.15 * cost, "{} {cost}", named.cost_s);
    }
    // The slow ranks are on different nodes: half of the job is normal, but it is unknown which half.
    let slow_chip = (0..16).step_by(2).map(|rank| (rank, 1.1)).collect();
    let report = report(&Synthetic { slow_chip, ..plan });
    assert!(report.culprits.is_empty(), "{:?}", report.culprits);
}

#[test]
fn a_slow_link_is_a_group_with_a_cost() {
    // The first step has no predecessor: with many steps its share is small.
    let plan = Synthetic { steps: 12, ..overlapped(4, 4) };
    let faulty = Synthetic { slow_links: vec![(2, 20.0)], ..plan.clone() };
    let report = report(&faulty);
    assert_eq!(report.verdict, Verdict::SlowLink, "{:?}", report.culprits);
    let [named] = report.culprits.as_slice() else { panic!("{:?}", report.culprits) };
    assert_eq!((named.kind, named.ranks.as_slice()), (Kind::Group, &[2, 6, 10, 14][..]));
    let cost = truth(&plan, &faulty) * 1e-9;
    assert!((named.cost_s - cost).abs() < 0.15 * cost, "{} {cost}", named.cost_s);
    assert_eq!(report.stragglers().count(), 0);
}

#[test]
fn doubt_rules_out_no_straggler() {
    let mut job = plan().job();
    job.members.retain(|member| member.rank != 7);
    let report = straggler_report(&mut job, &JoinOptions::default());
    assert_eq!(report.verdict, Verdict::CannotTell);
    assert_eq!(report.reasons, ["1 of 8 ranks was not traced"]);
    let mut job = plan().job();
    job.members.truncate(1);
    assert_eq!(straggler_report(&mut job, &JoinOptions::default()).verdict, Verdict::CannotTell);
}

/// A rank whose collective ends scatter, by its recorder or by a PCIe box, is still matched; a layout forces
/// it; and if it is not matched, no rank is cleared.
#[test]
fn scattered_ends_rule_out_no_straggler() {
    for (microseconds, rank) in [(1, 3), (4, 0), (12, 5), (20, 7), (60, 2), (200, 6)] {
        let plan = Synthetic { tensor: 1, data: 8, layers: 16, described: false, ..Synthetic::default() };
        let mut job = Synthetic { stalls: vec![(rank, 1, 30_000_000), (rank, 2, 30_000_000)], ..plan }.job();
        // Only the ends of one rank scatter.
        let mut random = crate::testing::Recurrence(u64::from(rank) + 7);
        let trace = &mut job.members[rank as usize].trace;
        let mut gpu = GpuActivities::default();
        for row in trace.gpu.iter() {
            let most = 2_000 * microseconds;
            let late = if row.stream >= 20 { random.below(most) as i64 - most as i64 / 2 } else { 0 };
            gpu.push(GpuActivity { end: (row.end + late).max(row.start + 1), ..row });
        }
        trace.gpu = gpu;
        for layout in [None, Some(crate::groups::Layout::read("dp=8").unwrap())] {
            let forced = layout.is_some();
            let options = JoinOptions { layout, ..JoinOptions::default() };
            let report = straggler_report(&mut job.clone(), &options);
            assert_ne!(report.verdict, Verdict::None, "{microseconds} us");
            if forced || report.verdict == Verdict::Straggler {
                let named: Vec<u32> = report.culprits.iter().flat_map(|named| named.ranks.clone()).collect();
                assert_eq!(named, [rank], "{microseconds} us, {:?}", report.reasons);
                let cost = report.joint() / 15e6;
                assert!((cost - 1.0).abs() < 0.15, "{microseconds} us: {cost}");
            }
        }
    }
}

/// An expert with more tokens has longer GEMMs and unchanged other kernels; a slow chip slows all kernels.
#[test]
fn longer_products_beside_unchanged_ones_are_more_work() {
    let cause = |stretch: &dyn Fn(usize) -> bool| {
        let mut job = Synthetic { jitter: 5, ..plan() }.job();
        // Two kinds of GEMMs: kernels that the plan names norms replace the second one.
        for member in &mut job.members {
            let other =
                member.trace.names.intern("void cutlass::gemm::GroupedGemm<cutlass_80_tensorop_bf16>(...)");
            let norm = member.trace.names.intern("layer_norm_kernel");
            let mut gpu = GpuActivities::default();
            for row in member.trace.gpu.iter() {
                let name = if row.name == norm { other } else { row.name };
                gpu.push(GpuActivity { name, ..row });
            }
            member.trace.gpu = gpu;
        }
        let trace = &job.members[5].trace;
        let mut longer = trace.clone();
        let mut gpu = GpuActivities::default();
        for (at, row) in trace.gpu.iter().enumerate() {
            let is_product = trace.names.get(row.name).to_lowercase().contains("gemm");
            let more = if is_product && stretch(at) { (row.end - row.start) / 2 } else { 0 };
            gpu.push(GpuActivity { end: row.end + more, ..row });
        }
        longer.gpu = gpu;
        let peers: Vec<usize> = (0..8).filter(|&member| member != 5).collect();
        job.members[5].trace = longer;
        let span = (i64::MIN, i64::MAX);
        super::uneven::uneven(&job, NameTable::shipped(), 5, &peers, span).map(|evidence| evidence.name)
    };
    let job = Synthetic { jitter: 5, ..plan() }.job();
    let trace = &job.members[5].trace;
    let norms: Vec<bool> = trace.gpu.iter().map(|row| trace.names.get(row.name).contains("norm")).collect();
    assert_eq!(cause(&|at| norms[at]).as_deref(), Some("mean cutlass::gemm::GroupedGemm"));
    assert_eq!(cause(&|_| true), None);
    // Another process uses the device occasionally.
    assert_eq!(cause(&|at| norms[at] && at % 9 < 3), None);
}

/// Work that starts long after its launch on an idle device: the profile and the verdict have the same cause
/// and the same time.
#[test]
fn launch_latency_is_the_same_in_the_profile_and_in_the_verdict() {
    use crate::causes::Cause;
    use crate::profile::{Options, profile};
    let latency = 6_000_000;
    // The latency of the very first kernel is before the first step, which begins with that kernel.
    let late_start = (1..4).map(|step| (3, step, latency)).collect();
    let per_step = latency as f64 * 3.0 / 4.0;
    let mut job = Synthetic { late_start, ..plan() }.job();
    let joined = join(&mut job, &JoinOptions::default());
    let report = joined_straggler_report(&job, &joined, None, &OneByOne);
    let [named] = report.culprits.as_slice() else { panic!("{:?}", report.culprits) };
    assert_eq!((named.ranks.as_slice(), named.cause), (&[3][..], CauseClass::LaunchLatency.name()));
    assert!((named.cost_s * 1e9 / per_step - 1.0).abs() < 0.05, "{named:?}");
    let profiled = profile(&job, &joined, &Options::default(), &OneByOne).expect("a profile").report;
    let rows = profiled.causes.iter().filter(|row| row.cause == Cause::LaunchLatency);
    // The mean over ranks and steps, with one rank late in every step.
    let of_rank = rows.map(|row| row.mean_ns).sum::<f64>() * job.members.len() as f64;
    let evidence = report.ranks[0].evidence.iter().find(|one| one.name.starts_with("idle after a launch"));
    let in_verdict = evidence.expect("evidence").own;
    assert!(
        (of_rank / in_verdict - 1.0).abs() < 0.03,
        "{of_rank} in the profile, {in_verdict} in the verdict"
    );
    assert!((in_verdict / per_step - 1.0).abs() < 0.03, "{in_verdict}");
}

/// A warm-up many times as long as a step is a one-off cost: it is excluded from the verdict and from the
/// means of the profile.
#[test]
fn steps_before_the_steady_state_are_not_part_of_the_verdict() {
    let stalls = vec![(1, 0, 400_000_000)];
    let report = report(&Synthetic { steps: 6, stalls, slow_chip: vec![(5, 1.1)], ..plan() });
    assert_eq!(report.steps, 5);
    let [named] = report.culprits.as_slice() else { panic!("{:?}", report.culprits) };
    assert_eq!((named.ranks.as_slice(), named.cause), (&[5][..], CauseClass::SlowChip.name()));
    assert!(report.warnings.iter().any(|warning| warning.id == "steps-before-steady-state"));
}

/// The first kernels of a rank's recording are lost: the activity of its device at that time is unknown, so
/// no host is to blame.
#[test]
fn lost_first_kernels_accuse_nobody() {
    let mut job = plan().job();
    let trace = &mut job.members[6].trace;
    let mut kept = GpuActivities::default();
    trace.gpu.iter().skip(20).for_each(|row| kept.push(row));
    trace.gpu = kept;
    let report = straggler_report(&mut job, &JoinOptions::default());
    assert!(report.culprits.is_empty(), "{:?}", report.culprits);
}
