//! Hangs made from the dumps of a successful run: dumps as if one rank had stopped earlier.

use super::*;
use crate::flight::{self, Entry, FlightRecord};
use crate::trace::DamageKind;

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

/// Removes a rank's entries of a group from number `from` on.
fn stop(record: &mut FlightRecord, group: &str, from: u64) {
    record.entries.retain(|e| e.group_description != group || e.sequence < from);
    forget_status(record);
}

fn forget_status(record: &mut FlightRecord) {
    record.statuses.clear();
}

/// Makes a rank's entry `from` of a group pending, and removes later ones.
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
fn json_and_pickle_agree() {
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
    let verdict = hang(&good(), &[]);
    assert_eq!(verdict.stuck, []);
    assert_eq!(verdict.roots, []);
    assert_eq!((verdict.ranks, verdict.world_size), (vec![0, 1, 2, 3], 4));
}

#[test]
fn the_rank_that_never_came_is_found() {
    // Data-parallel groups are {0, 2} and {1, 3}; rank 3 never enters the 20th all-reduce of the second one.
    let mut dumps = good();
    pend(&mut dumps[1], "mesh_dp", 20);
    stop(&mut dumps[3], "mesh_dp", 20);
    let verdict = hang(&dumps, &[]);
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
    // 1 waits for 3 in their data-parallel group; 3 waits for 2 in their pipeline group; 2 is in no
    // collective.
    let mut dumps = good();
    pend(&mut dumps[1], "mesh_dp", 20);
    stop(&mut dumps[3], "mesh_dp", 20);
    let mut extra = dumps[3].entries.iter().find(|e| e.group_description == "mesh_pp").expect("one").clone();
    extra.sequence = 9;
    extra.record = 999;
    extra.retired = false;
    dumps[3].entries.push(extra);
    let verdict = hang(&dumps, &[]);
    assert_eq!(verdict.stuck.len(), 2);
    assert_eq!(verdict.roots.len(), 1, "{:#?}", verdict.roots);
    let root = &verdict.roots[0];
    assert_eq!((root.rank, root.cause, &root.victims[..]), (2, RootCause::OutsideOfCollectives, &[1, 3][..]));
}

#[test]
fn a_mismatched_call_is_found() {
    let mut dumps = good();
    pend(&mut dumps[1], "mesh_dp", 20);
    pend(&mut dumps[3], "mesh_dp", 20);
    let last = dumps[3].entries.iter_mut().rfind(|e| e.group_description == "mesh_dp").expect("one");
    last.inputs = "[[257]] [Float]".to_owned();
    let verdict = hang(&dumps, &[]);
    assert_eq!(verdict.stuck[0].state, State::Mismatched);
    assert_eq!(verdict.roots[0].cause, RootCause::DifferentCall);
    assert_eq!(verdict.roots[0].ranks, [1, 3], "of two camps of one size both are named");
}

#[test]
fn everyone_there_and_nothing_ends() {
    let mut dumps = good();
    pend(&mut dumps[0], "mesh_dp", 30);
    pend(&mut dumps[2], "mesh_dp", 30);
    let verdict = hang(&dumps, &[]);
    assert_eq!(verdict.stuck[0].state, State::NoneFinished);
    assert_eq!(verdict.roots[0].cause, RootCause::Transfer);
}

#[test]
fn ranks_in_a_circle_are_named() {
    // 1 waits for 3 in one group, and 3 waits for 1 in another one; the dumps list the same ranks for both.
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
    let verdict = hang(&dumps, &[]);
    assert_eq!(verdict.stuck.len(), 2);
    assert_eq!(verdict.roots[0].cause, RootCause::Circle, "{:#?}", verdict.roots);
    assert_eq!(verdict.roots[0].ranks, [1, 3]);
}

#[test]
fn a_missing_dump_is_a_finding() {
    let mut dumps = good();
    for record in &mut dumps {
        // Lists the group, as NCCL's dumps do, unlike gloo's.
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
    let verdict = hang(&dumps, &[]);
    assert_eq!((verdict.world_size, &verdict.without_dump[..]), (4, &[3][..]));
    assert_eq!((verdict.roots[0].rank, verdict.roots[0].cause), (3, RootCause::NoDump));
}

#[test]
fn a_message_without_receiver() {
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
    let dumps = [
        record(0, vec![entry(0, "nccl:send 0->1", true), entry(1, "nccl:send 0->1", false)]),
        record(1, vec![entry(0, "nccl:recv 1<-0", true)]),
    ];
    let verdict = hang(&dumps, &[]);
    assert_eq!(verdict.stuck.len(), 1);
    assert_eq!((verdict.stuck[0].sequence, &verdict.stuck[0].missing[..]), (2, &[1][..]));
    assert_eq!(verdict.roots[0].rank, 1);
}

/// All present ranks wait in a group of the whole world whose members no dump lists.
fn unlisted(ranks: &[u32]) -> Vec<FlightRecord> {
    let entry = |record: u64, retired: bool| Entry {
        record,
        group_name: "0".to_owned(),
        group_description: "default_pg".to_owned(),
        sequence: record + 1,
        operation: "nccl:all_reduce".to_owned(),
        created: 1_000 + record.cast_signed(),
        retired,
        ..Entry::default()
    };
    let dump = |&rank: &u32| FlightRecord {
        label: format!("dumps/nccl_trace_rank_{rank}"),
        rank: Some(rank),
        entries: vec![entry(0, true), entry(1, false)],
        ..FlightRecord::default()
    };
    ranks.iter().map(dump).collect()
}

#[test]
fn a_rank_whose_dump_is_lost_may_be_the_one() {
    let cause = |dumps: &[FlightRecord], lost: &[u32]| {
        let verdict = hang(dumps, lost);
        assert_eq!(verdict.roots.len(), 1, "{:#?}", verdict.roots);
        let root = &verdict.roots[0];
        (root.cause, root.ranks.clone(), root.victims.clone())
    };
    // A gap in rank numbers reveals it, and so does the name of an unreadable file, also beyond the last
    // rank.
    assert_eq!(cause(&unlisted(&[0, 1, 3]), &[]), (RootCause::NoDump, vec![2], vec![0, 1, 3]));
    assert_eq!(cause(&unlisted(&[0, 1, 2]), &[3]), (RootCause::NoDump, vec![3], vec![0, 1, 2]));
    // With all dumps present, the transfer is stuck.
    assert_eq!(cause(&unlisted(&[0, 1, 2]), &[]).0, RootCause::Transfer);
    let dumps = unlisted(&[0, 1]);
    assert_eq!(lost_rank("other/nccl_trace_rank_7", &dumps), Some(7));
    assert_eq!(lost_rank("other/notes_7.txt", &dumps), None);
}

#[test]
fn one_rank_alone_in_an_unlisted_group_is_no_transfer() {
    let mut dumps = unlisted(&[0, 1]);
    dumps[1].entries.clear();
    let verdict = hang(&dumps, &[]);
    assert_eq!(verdict.stuck[0].state, State::NoneFinished);
    assert_eq!((verdict.roots[0].cause, &verdict.roots[0].ranks[..]), (RootCause::MembersUnknown, &[1][..]));
    assert_eq!(verdict.roots[0].victims, [0]);
    // The group is known if another rank's dump lists it.
    dumps[1].groups =
        vec![flight::Group { name: "0".to_owned(), description: "default_pg".to_owned(), ranks: vec![0, 1] }];
    let verdict = hang(&dumps, &[]);
    assert_eq!((verdict.roots[0].rank, verdict.roots[0].cause), (1, RootCause::OutsideOfCollectives));
}

#[test]
fn a_damaged_dump_is_a_doubt_and_not_an_absence() {
    let mut dumps = unlisted(&[0, 1]);
    dumps[1].entries.pop();
    assert_eq!(hang(&dumps, &[]).roots[0].cause, RootCause::OutsideOfCollectives);
    dumps[1].report.note_many(DamageKind::UnreadableEvent, 1);
    let verdict = hang(&dumps, &[]);
    assert_eq!((verdict.roots[0].cause, &verdict.roots[0].ranks[..]), (RootCause::NoDump, &[1][..]));
}

#[test]
fn one_dump_alone_blames_no_rank_of_another_group() {
    // Rank 1 waits for rank 3 in a group that gloo's dumps do not list; rank 0 is in another one.
    let mut dump = dump(1, true);
    pend(&mut dump, "mesh_dp", 20);
    let verdict = hang(&[dump], &[]);
    let root = &verdict.roots[0];
    assert_eq!(
        (root.cause, &root.ranks[..], &root.victims[..]),
        (RootCause::MembersUnknown, &[][..], &[1][..])
    );
    assert_eq!(verdict.extent(), "1 of at least 2 ranks");
    assert_eq!(verdict.hangs(), Some(true));
}

#[test]
fn nothing_hangs_only_where_all_dumps_are_there() {
    let some: Vec<FlightRecord> = [0, 2].map(|rank| dump(rank, true)).into();
    let verdict = hang(&some, &[]);
    assert_eq!((&verdict.stuck[..], verdict.hangs()), (&[][..], None), "dumps are missing");
    assert_eq!(verdict.extent(), "2 of at least 3 ranks");
    let mut all = good();
    // No gap in rank numbers, and every group was used by at least two ranks: no sign of more ranks, although
    // the world size is not recorded.
    let verdict = hang(&all, &[]);
    assert_eq!((verdict.hangs(), verdict.world_size_listed), (Some(false), false));
    assert_eq!(hang(&all[..1], &[]).hangs(), None);
    // Ranks 0 and 1 are two of two by their numbers, but each used a data-parallel group that no other rank
    // used.
    let verdict = hang(&all[..2], &[]);
    assert_eq!((&verdict.without_dump[..], verdict.hangs()), (&[][..], None));
    let lone: Vec<_> = verdict.incomplete_groups.iter().map(|g| (g.name.as_str(), &g.ranks[..])).collect();
    assert_eq!(lone, [("mesh_dp (1)", &[0][..]), ("mesh_dp (2)", &[1][..])]);
    // A message to a rank without a dump.
    let mut sending = good();
    let entry = sending[0].entries.last_mut().expect("one");
    (entry.is_message, entry.operation) = (true, "gloo:send 0->7".to_owned());
    assert_eq!(hang(&sending, &[]).hangs(), None);
    // A group of all ranks determines the world size.
    all[0].groups = vec![flight::Group {
        name: "0".to_owned(),
        description: "default_pg".to_owned(),
        ranks: vec![0, 1, 2, 3],
    }];
    let verdict = hang(&all, &[]);
    assert_eq!((verdict.extent(), verdict.hangs()), ("4 of 4 ranks".to_owned(), Some(false)));
    all.pop();
    let verdict = hang(&all, &[]);
    assert_eq!((verdict.extent(), verdict.hangs()), ("3 of 4 ranks".to_owned(), None));
    // A smaller group does not.
    all[0].groups[0].ranks = vec![0, 2];
    assert_eq!(hang(&all, &[]).extent(), "3 of at least 3 ranks");
}

#[test]
fn complete_attendance_needs_all_dumps() {
    // Rank 1 left a collective that rank 0 is still in: without a list of ranks, groups of one name are not
    // distinguished.
    let mut dumps = unlisted(&[0, 1, 3]);
    for rank in [1, 2] {
        dumps[rank].entries[1].retired = true;
    }
    let verdict = hang(&dumps, &[]);
    assert_eq!(verdict.stuck[0].state, State::PartlyFinished);
    assert_eq!((verdict.roots[0].cause, &verdict.roots[0].ranks[..]), (RootCause::NoDump, &[2][..]));
    dumps[2].rank = Some(2);
    assert_eq!(hang(&dumps, &[]).roots[0].cause, RootCause::Transfer);
}
