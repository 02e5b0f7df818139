//! Recovery of shifted clocks.

use super::*;
use crate::joined::{JoinOptions, Joined, join};
use crate::testing::{Synthetic, drop_leading, move_clock, replicate};
use proptest::prelude::*;

fn joined(job: &mut Job) -> Joined {
    join(job, &JoinOptions { clocks: ClockPolicy::Align, ..JoinOptions::default() })
}

/// Largest remaining difference of matched ends after alignment, in nanoseconds.
fn worst_end(joined: &Joined) -> i64 {
    let mut worst = 0;
    for collective in &joined.matching.collectives {
        let ends = joined.matching.members(collective).iter().map(|&at| joined.matching.part(at).end);
        worst = worst.max(ends.clone().max().unwrap_or_default() - ends.min().unwrap_or_default());
    }
    worst
}

proptest! {
    #![proptest_config(railwright_cases::cases(24))]

    #[test]
    fn clocks_seconds_apart_that_drift_are_recovered(
        offsets in proptest::collection::vec(-10_000_000_000_i64..10_000_000_000, 4),
        drifts in proptest::collection::vec(-50.0..50.0_f64, 4),
        lost in proptest::collection::vec(0_usize..6, 4),
        described in any::<bool>(),
        numbered in any::<bool>(),
        long in any::<bool>(),
    ) {
        let plan = Synthetic { described, numbered, steps: if long { 160 } else { 6 }, ..Synthetic::default() };
        let mut job = plan.job();
        let truth: Vec<i64> = job.members.iter().map(|m| m.trace.gpu.starts().len() as i64).collect();
        prop_assert!(truth.iter().all(|&n| n > 0));
        for (at, member) in job.members.iter_mut().enumerate() {
            drop_leading(&mut member.trace, lost[at]);
            move_clock(&mut member.trace, offsets[at], drifts[at]);
        }
        let joined = joined(&mut job);
        for (at, clock) in joined.clocks.clocks.iter().enumerate() {
            prop_assert_eq!(clock.against, 0);
            // Reading of rank 0's clock when this clock showed the middle of its span: both start with the plan.
            let expected = offsets[at] - offsets[0];
            prop_assert!((clock.offset - expected).abs() < 250_000, "{} {}", clock.offset, expected);
        }
        let worst = worst_end(&joined);
        // Half a second at 100 ppm is 50 us where drift cannot be fitted; otherwise the difference of the ends.
        let allowed = if long { 5_000 } else { 14_000 };
        prop_assert!(worst < allowed, "{worst} ns: {:?}", joined.clocks.clocks);
        if long {
            for (at, clock) in joined.clocks.clocks.iter().enumerate() {
                let expected = drifts[at] - drifts[0];
                prop_assert!((clock.drift_ppm - expected).abs() < 1.0, "{} {}", clock.drift_ppm, expected);
            }
        }
    }
}

#[test]
fn clocks_of_one_host_stay_unless_it_matters() {
    let mut job = Synthetic::default().job();
    move_clock(&mut job.members[1].trace, 9_000, 0.0);
    let before = job.clone();
    let options = JoinOptions::default();
    let joined = join(&mut job, &options);
    assert!(!joined.clocks.applied, "{}", joined.clocks.reason);
    assert_eq!(job, before);
    assert!((joined.clocks.clocks[1].offset - 9_000).abs() < 500);
    // The same difference with collectives of 20 microseconds.
    let mut short = Synthetic { compute: 100_000, transfer: 20_000, ..Synthetic::default() }.job();
    move_clock(&mut short.members[1].trace, 9_000, 0.0);
    assert!(join(&mut short, &options).clocks.applied);
}

/// Two ranks have a device 0 each: they are on two hosts, whose clocks are 54 us apart.
#[test]
fn clocks_of_several_hosts_are_aligned_to_what_collectives_show() {
    let plan = || Synthetic { compute: 3_000_000, transfer: 1_000_000, ..Synthetic::default() };
    let on = |hosts: u32, offset: i64| {
        let mut job = plan().job();
        for (at, member) in job.members.iter_mut().enumerate() {
            let per_host = 4 / hosts;
            member.trace.identity.device = Some(at as u32 % per_host);
            if at as u32 >= per_host {
                move_clock(&mut member.trace, offset, 0.0);
            }
        }
        join(&mut job, &JoinOptions::default()).clocks
    };
    let one = on(1, 0);
    assert!(!one.applied && one.reason.contains("clocks agree within"), "{}", one.reason);
    let apart = on(2, 54_000);
    assert!(apart.applied, "{}", apart.reason);
    assert!((apart.clocks[2].offset - apart.clocks[0].offset - 54_000).abs() < 1_000, "{:?}", apart.clocks);
    let synchronized = on(2, 0);
    assert!(!synchronized.applied && !synchronized.reason.contains("host"), "{}", synchronized.reason);
}

#[test]
fn ranks_without_a_common_collective_are_on_separate_times() {
    let mut job = replicate(&Synthetic::default().job(), 2);
    for member in &mut job.members[4..] {
        move_clock(&mut member.trace, 3_000_000_000, 0.0);
    }
    let joined = joined(&mut job);
    let against: Vec<u32> = joined.clocks.clocks.iter().map(|clock| clock.against).collect();
    assert_eq!(against, [0, 0, 0, 0, 4, 4, 4, 4]);
    assert_eq!(joined.warnings[0].id, "clocks-not-tied");
}

#[test]
fn a_late_receiver_bounds_the_sender() {
    use super::bounds::Point;
    use super::bounds::bounds;
    // Rank 1's end is before rank 0's start: its clock is behind by at least 40.
    let points = [Point { parts: vec![(0, 100, 160), (1, 20, 60)], blocking: true, receiver: None }];
    let mut clocks = vec![RankClock::default(), RankClock { rank: 1, ..RankClock::default() }];
    bounds(&points, &mut clocks);
    assert_eq!((clocks[1].least, clocks[1].greatest), (Some(-140), Some(-40)));
    assert_eq!(clocks[1].offset, -40);
    // In a message from 0 to 1, only the receiver's end is bound.
    let points = [Point { receiver: Some(1), blocking: false, parts: points[0].parts.clone() }];
    let mut clocks = vec![RankClock::default(), RankClock { rank: 1, ..RankClock::default() }];
    bounds(&points, &mut clocks);
    assert_eq!((clocks[1].least, clocks[1].greatest), (None, Some(-40)));
}

#[test]
fn clocks_that_violate_causality_are_not_called_consistent() {
    let clock = |rank: u32, offset: i64, greatest: Option<i64>| RankClock {
        rank,
        offset,
        greatest,
        collectives: 5,
        ..RankClock::default()
    };
    let of = |clocks: Vec<RankClock>| {
        let clocks = Clocks { clocks, ..Clocks::default() };
        (clocks.agreement_text(), clocks.warnings().first().map(|warning| warning.message.clone()))
    };
    let (text, doubt) = of(vec![clock(0, 0, None), clock(1, 9_000, Some(20_000))]);
    assert_eq!((text.contains("clocks agree within 9.00 us; recorded"), doubt), (true, None));
    let (text, doubt) = of(vec![clock(0, 0, None), clock(1, 9_000, None), clock(2, 56_500, Some(20_000))]);
    assert_eq!(
        text,
        "clocks agree within 9.00 us, except on rank 2, whose clock is inconsistent with causality; recorded times are used"
    );
    assert!(doubt.is_some_and(|doubt_text| {
        doubt_text.starts_with("clocks of rank 2 are inconsistent with causality")
    }));
    let (text, doubt) =
        of(vec![clock(0, 0, None), clock(1, 90_000, Some(20_000)), clock(2, 56_500, Some(20_000))]);
    assert!(!text.contains("agree") && text.contains("ranks 1, 2, whose clocks are inconsistent"), "{text}");
    assert!(doubt.is_some_and(|doubt_text| doubt_text.starts_with("clocks of ranks 1, 2 are inconsistent")));
}
