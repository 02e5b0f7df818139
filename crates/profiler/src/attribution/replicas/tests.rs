//! Positions of programs that lose, swap or add starts.

use super::super::launches::Launch;
use super::super::programs::Turns;
use super::*;

fn start(kind: u32, message: bool, time: i64) -> Start {
    Start { kind, message, time }
}

/// Ten collectives of kind 0, with one of kind 1 after every second one; `early` of these start one position earlier.
fn program(early: &[usize], lost: usize) -> Vec<Start> {
    let mut starts = Vec::new();
    for k in 0..10_usize {
        let time = k as i64 * 1_000;
        if k % 2 == 1 && early.contains(&k) {
            starts.push(start(1, false, time));
        }
        starts.push(start(0, false, time));
        if k % 2 == 1 && !early.contains(&k) {
            starts.push(start(1, false, time));
        }
    }
    starts.split_off(lost)
}

fn by_time(starts: Vec<Start>) -> Program {
    Program { starts, turns: None }
}

fn class(programs: &[Vec<Start>]) -> Class {
    let reference = Reference::new(&by_time(programs[0].clone()));
    let placed = programs.iter().enumerate().map(|(member, program)| {
        let program = by_time(program.clone());
        let keys = reference.keys(&program);
        let same = reference.holds(&program, &keys);
        assert!(reference.may_hold(&program.starts, &by_kind(&program.starts)) && same);
        (member, keys)
    });
    let placed: Vec<Placed> = placed.collect();
    reference.class(placed)
}

#[test]
fn a_place_that_one_member_has_elsewhere_counts_for_none() {
    let class = class(&[program(&[], 0), program(&[5], 0)]);
    for (member, places) in &class.members {
        assert_eq!(places.iter().filter(|place| place.is_none()).count(), 1, "{member}");
    }
    // The fourth start of kind 0 and the second of kind 1 are the same in both.
    let (one, other) = (&class.members[0].1, &class.members[1].1);
    assert_eq!((one[4], one[5]), (other[4], other[5]));
    assert_eq!((one[8], other[7]), (None, None));
}

#[test]
fn lost_leading_starts_move_nothing() {
    let class = class(&[program(&[], 0), program(&[], 3)]);
    assert_eq!(class.members[0].1[3..], class.members[1].1[..]);
    assert!(class.members[1].1.iter().all(Option::is_some));
}

#[test]
fn messages_elsewhere_make_another_program() {
    let with = |at: usize| -> Vec<Start> {
        let mut starts: Vec<Start> = (0..12).map(|k| start(0, false, k * 1_000)).collect();
        for k in 0..3 {
            starts.insert(at + 4 * k, start(2, true, (at as i64 + 4 * k as i64) * 1_000));
        }
        starts
    };
    let reference = Reference::new(&by_time(with(2)));
    let holds = |program: &Program| reference.holds(program, &reference.keys(program));
    assert!(holds(&by_time(with(2))));
    assert!(!holds(&by_time(with(4))));
}

#[test]
fn messages_that_start_in_another_order_than_they_were_launched_are_the_same_program() {
    // The first of each pair is launched first. On the slow rank it also starts first; on the other rank it starts after the second.
    // The steps exclude three starts of one rank and none of the other.
    let program = |slow: bool, cut: usize| {
        let pair = |k: i64| {
            let (a, b) = (start(0, true, k * 1_000), start(1, true, k * 1_000 + 1));
            if slow { [a, b] } else { [b, a] }
        };
        let starts: Vec<Start> = (0..16).flat_map(pair).collect();
        let at = |start: &Start| Launch { time: start.time / 1_000 * 2 + i64::from(start.kind), step: 7 };
        let parts: Vec<_> = starts.iter().map(|start| Some((at(start), start.kind))).collect();
        let places: Vec<usize> = (cut..starts.len()).collect();
        let turns = Some(Turns::of(&parts, &places));
        Program { starts: starts[cut..].to_vec(), turns }
    };
    let (fast, slow) = (program(false, 0), program(true, 3));
    let reference = Reference::new(&fast);
    let keys = reference.keys(&slow);
    assert!(reference.holds(&slow, &keys));
    assert_eq!(keys[..3], [(1, 1), (0, 2), (1, 2)]);
    let (by_times, reference) = (by_time(slow.starts.clone()), Reference::new(&by_time(fast.starts)));
    assert!(!reference.holds(&by_times, &reference.keys(&by_times)), "by time alone they differ");
}
