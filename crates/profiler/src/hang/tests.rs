//! Hangs made from the dumps of a good run: what a rank would have dumped had it, or another, stopped earlier.

use super::*;
use crate::flight::{self, Entry, FlightRecord};

fn dump(rank: u32, pickle: bool) -> FlightRecord {
    let folder =
        concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/traces/generated_torch215_gloo_pp2dp2/");
    let name =
        if pickle { format!("fr_ok_trace_rank_{rank}.pickle") } else { format!("fr_ok_rank_{rank}.json") };
    let path = format!("{folder}{name}");
    let bytes = std::fs::read(&path).expect("a fixture");
    assert!(flight::matches(&bytes));
    flight::read(&path, &bytes).expect("a dump")
}

fn good() -> Vec<FlightRecord> {
    (0..4).map(|rank| dump(rank, true)).collect()
}

/// Forgets what a rank did from its `from`-th entry of a group on.
fn stop(record: &mut FlightRecord, group: &str, from: u64) {
    record.entries.retain(|e| e.group_description != group || e.sequence < from);
    forget_status(record);
}

fn forget_status(record: &mut FlightRecord) {
    record.statuses.clear();
}

/// What a rank entered from there on has not ended.
fn pend(record: &mut FlightRecord, group: &str, from: u64) {
    record.entries.retain(|e| e.group_description != group || e.sequence <= from);
    for entry in &mut record.entries {
        if entry.group_description == group && entry.sequence == from {
            entry.retired = false;
        }
    }
    forget_status(record);
}

#[test]
fn json_and_pickle_say_the_same() {
    for rank in 0..4 {
        let (json, pickle) = (dump(rank, false), dump(rank, true));
        assert_eq!(json.entries.len(), pickle.entries.len());
        assert_eq!((json.rank, pickle.rank), (Some(rank), Some(rank)));
        for (a, b) in json.entries.iter().zip(&pickle.entries) {
            let bare = |e: &Entry| Entry { frames: Vec::new(), ..e.clone() };
            assert_eq!(bare(a), bare(b));
        }
        assert!(pickle.entries.iter().all(|e| !e.frames.is_empty()), "the pickles hold stacks");
    }
}

#[test]
fn a_good_run_does_not_hang() {
    let verdict = hang(&good());
    assert_eq!(verdict.stuck, []);
    assert_eq!(verdict.roots, []);
    assert_eq!((verdict.ranks, verdict.world_size), (vec![0, 1, 2, 3], 4));
}

#[test]
fn the_rank_that_never_came_is_found() {
    // Data parallel groups are {0, 2} and {1, 3}; rank 3 never enters the 20th all-reduce of the second.
    let mut dumps = good();
    pend(&mut dumps[1], "mesh_dp", 20);
    stop(&mut dumps[3], "mesh_dp", 20);
    let verdict = hang(&dumps);
    assert_eq!(verdict.stuck.len(), 1, "{:#?}", verdict.stuck);
    let stuck = &verdict.stuck[0];
    assert_eq!((stuck.state, stuck.sequence), (State::NotEntered, 20));
    assert_eq!((&stuck.waiting[..], &stuck.missing[..]), (&[1][..], &[3][..]));
    let root = &verdict.roots[0];
    assert_eq!((root.rank, root.cause), (3, RootCause::OutsideOfCollectives));
    assert_eq!(root.last_operation.as_deref(), Some("gloo:all_reduce"));
    assert!(!root.last_frames.is_empty());
}

#[test]
fn the_chain_is_followed_to_its_end() {
    // 1 waits for 3 in their data parallel group; 3 waits for 2 in their pipeline group; 2 is in no collective.
    let mut dumps = good();
    pend(&mut dumps[1], "mesh_dp", 20);
    stop(&mut dumps[3], "mesh_dp", 20);
    let mut extra = dumps[3].entries.iter().find(|e| e.group_description == "mesh_pp").expect("one").clone();
    extra.sequence = 9;
    extra.record = 999;
    extra.retired = false;
    dumps[3].entries.push(extra);
    let verdict = hang(&dumps);
    assert_eq!(verdict.stuck.len(), 2);
    assert_eq!(verdict.roots.len(), 1, "{:#?}", verdict.roots);
    let root = &verdict.roots[0];
    assert_eq!((root.rank, root.cause, &root.victims[..]), (2, RootCause::OutsideOfCollectives, &[1, 3][..]));
}

#[test]
fn who_called_something_else_is_found() {
    let mut dumps = good();
    pend(&mut dumps[1], "mesh_dp", 20);
    pend(&mut dumps[3], "mesh_dp", 20);
    let last = dumps[3].entries.iter_mut().rfind(|e| e.group_description == "mesh_dp").expect("one");
    last.inputs = "[[257]] [Float]".to_owned();
    let verdict = hang(&dumps);
    assert_eq!(verdict.stuck[0].state, State::Mismatched);
    assert_eq!(verdict.roots[0].cause, RootCause::DifferentCall);
    assert_eq!(verdict.roots[0].ranks, [1, 3], "of two camps of one size both are named");
}

#[test]
fn everyone_there_and_nothing_ends() {
    let mut dumps = good();
    pend(&mut dumps[0], "mesh_dp", 30);
    pend(&mut dumps[2], "mesh_dp", 30);
    let verdict = hang(&dumps);
    assert_eq!(verdict.stuck[0].state, State::NoneFinished);
    assert_eq!(verdict.roots[0].cause, RootCause::Transfer);
}

#[test]
fn ranks_in_a_circle_are_named() {
    // 1 waits for 3 in one group, 3 waits for 1 in another that the dumps call by the same ranks.
    let mut dumps = good();
    pend(&mut dumps[1], "mesh_dp", 20);
    stop(&mut dumps[3], "mesh_dp", 20);
    for rank in [1, 3] {
        let mut other = dumps[rank].entries[5].clone();
        other.group_description = "other".to_owned();
        other.sequence = 1;
        other.record = 0;
        other.retired = true;
        dumps[rank].entries.push(other.clone());
        if rank == 3 {
            dumps[rank].entries.push(Entry { sequence: 2, record: 998, retired: false, ..other });
        }
    }
    let verdict = hang(&dumps);
    assert_eq!(verdict.stuck.len(), 2);
    assert_eq!(verdict.roots[0].cause, RootCause::Circle, "{:#?}", verdict.roots);
    assert_eq!(verdict.roots[0].ranks, [1, 3]);
}

#[test]
fn a_missing_dump_is_a_finding() {
    let mut dumps = good();
    for record in &mut dumps {
        // As NCCL's dumps do, and unlike gloo's, list the group.
        let rank = record.rank.expect("a rank");
        let name =
            record.entries.iter().find(|e| e.group_description == "mesh_dp").expect("one").group_name.clone();
        record.groups = vec![flight::Group {
            name,
            description: "mesh_dp".to_owned(),
            ranks: vec![rank % 2, rank % 2 + 2],
        }];
    }
    pend(&mut dumps[1], "mesh_dp", 20);
    dumps.remove(3);
    let verdict = hang(&dumps);
    assert_eq!((verdict.world_size, &verdict.without_dump[..]), (4, &[3][..]));
    assert_eq!((verdict.roots[0].rank, verdict.roots[0].cause), (3, RootCause::NoDump));
}

#[test]
fn a_message_that_nobody_receives() {
    let entry = |record: u64, operation: &str, retired: bool| Entry {
        record,
        group_name: "0".to_owned(),
        group_description: "default_pg".to_owned(),
        sequence: record + 1,
        operation: operation.to_owned(),
        is_message: true,
        created: 1_000 + record.cast_signed(),
        retired,
        ..Entry::default()
    };
    let record = |rank: u32, entries: Vec<Entry>| FlightRecord {
        rank: Some(rank),
        entries,
        ..FlightRecord::default()
    };
    let verdict = hang(&[
        record(0, vec![entry(0, "nccl:send 0->1", true), entry(1, "nccl:send 0->1", false)]),
        record(1, vec![entry(0, "nccl:recv 1<-0", true)]),
    ]);
    assert_eq!(verdict.stuck.len(), 1);
    assert_eq!((verdict.stuck[0].sequence, &verdict.stuck[0].missing[..]), (2, &[1][..]));
    assert_eq!(verdict.roots[0].rank, 1);
}
