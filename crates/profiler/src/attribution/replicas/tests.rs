//! Positions of programs that lose, swap or add starts.

use super::super::launches::Launch;
use super::super::programs::Turns;
use super::*;
use crate::attribution::{Verdict, straggler_report};
use crate::joined::JoinOptions;
use crate::testing::Synthetic;

fn start(kind: u32, message: bool, time: i64) -> Start {
    Start { kind, message, time }
}

/// Ten collectives of kind 0, with one of kind 1 after every second one; `early` of these start one position
/// earlier.
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
    // The first of each pair is launched first. On the slow rank it also starts first; on the other rank it
    // starts after the second. The steps exclude three starts of one rank and none of the other.
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

/// A replica with one micro-batch more in each of four steps, as a member and as the reference of its class.
#[test]
fn further_micro_batches_shift_no_positions_of_later_steps() {
    let program = |micro_batches: i64| {
        let mut starts = Vec::new();
        let mut parts = Vec::new();
        for step in 0..4_i64 {
            // Two collectives of kind 0 per micro-batch, and one of kind 1 at the end of the step.
            for at in 0..=(2 * micro_batches) {
                let kind = u32::from(at == 2 * micro_batches);
                let time = step * 1_000 + at * 10;
                starts.push(start(kind, false, time));
                parts.push(Some((Launch { time, step: 10 + step as u64 }, kind)));
            }
        }
        let places: Vec<usize> = (0..starts.len()).collect();
        Program { turns: Some(Turns::of(&parts, &places)), starts }
    };
    let (usual, more) = (program(4), program(5));
    for programs in [[&usual, &usual, &more], [&more, &usual, &usual]] {
        let mut reference = Reference::new(programs[0]);
        let placed: Vec<Placed> = (programs.iter().enumerate())
            .map(|(member, program)| {
                let keys = reference.keys(program);
                assert!(reference.holds(program, &keys));
                reference.in_steps |= reference.differs_in_steps(program);
                (member, keys)
            })
            .collect();
        let class = reference.class(placed);
        let shared = |member: usize| class.members[member].1.iter().flatten().copied().collect::<Vec<u32>>();
        let of_kind_0 = |member: usize| {
            let starts = &programs[member].starts;
            let places = starts.iter().zip(&class.members[member].1);
            places.filter(|(start, _)| start.kind == 0).filter_map(|(_, place)| *place).collect::<Vec<u32>>()
        };
        assert_eq!(shared(0).len(), shared(1).len());
        // Eight of each step, at the same positions.
        assert_eq!(of_kind_0(0).len(), 32);
        assert_eq!(of_kind_0(0), of_kind_0(1));
        assert_eq!(of_kind_0(1), of_kind_0(2));
    }
}

/// One replica runs the layers of another micro-batch in every step: all of its time beyond its peers, with
/// the transfers, is the cost.
#[test]
fn a_replica_with_another_micro_batch_is_named_with_its_cost() {
    let plan = Synthetic { tensor: 4, data: 4, steps: 5, ..Synthetic::default() };
    let more = Synthetic { more_layers: vec![(2, 3)], ..plan.clone() };
    let of = |plan: &Synthetic| straggler_report(&mut plan.job(), &JoinOptions::default());
    let (quiet, found) = (of(&plan), of(&more));
    assert_eq!(found.verdict, Verdict::Straggler, "{:?} {:?}", found.culprits, found.reasons);
    let ranks: Vec<u32> = found.culprits.iter().flat_map(|one| one.ranks.clone()).collect();
    assert_eq!(ranks, [8, 9, 10, 11], "{:?}", found.culprits);
    assert!(found.culprits.iter().all(|one| one.cause == "more work"), "{:?}", found.culprits);
    let cost: f64 = found.culprits.iter().map(|one| one.cost_s).sum();
    let truth = (found.step_time - quiet.step_time) * 1e-9;
    assert!((cost / truth - 1.0).abs() < 0.15, "{cost} {truth}");
}
