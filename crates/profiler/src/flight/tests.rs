//! Truncated and damaged dumps, from dumps of a real run.

use super::*;
use crate::hang::{RootCause, hang};
use crate::trace::DamageKind;
use proptest::prelude::*;
use std::sync::LazyLock;

fn file(name: &str) -> (String, Vec<u8>) {
    let folder =
        concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/traces/generated_torch215_gloo_pp2dp2/");
    let path = format!("{folder}{name}");
    let bytes = std::fs::read(&path).expect("a fixture");
    (path, bytes)
}

/// JSON and pickle of rank 3 with their content. Only the pickle has stacks.
static WHOLE: LazyLock<Vec<(String, Vec<u8>, FlightRecord)>> = LazyLock::new(|| {
    ["fr_ok_rank_3.json", "fr_ok_trace_rank_3.pickle"]
        .map(|name| {
            let (path, bytes) = file(name);
            let record = read(&path, &bytes).expect("a dump");
            assert!(record.is_whole());
            (path, bytes, record)
        })
        .into()
});

/// The same dump as Python's own pickler writes it, protocol 4, in batches and single items.
#[test]
fn a_pickle_of_protocol_4_is_cut_as_well() {
    let bytes = include_bytes!("../../../../fuzz/seeds/flight_record/small-4.pickle");
    let whole = read("rank_0", bytes).expect("a dump");
    let mut most = 0;
    for cut in 0..bytes.len() {
        let Ok(record) = read("rank_0", &bytes[..cut]) else { continue };
        assert_eq!(record.entries, whole.entries[..record.entries.len()], "cut at {cut}");
        assert_eq!(record.cut_at().is_some(), cut < bytes.len());
        most = most.max(record.entries.len());
    }
    assert_eq!(most, whole.entries.len(), "all entries stand before the last byte");
}

/// Any damaged byte before the first entry loses at most one entry.
#[test]
fn damage_before_the_entries_costs_no_entries() {
    let (path, bytes, whole) = &WHOLE[0];
    let first = bytes.windows(2).position(|two| two == b"[{").expect("a list of entries");
    for place in 0..=first + 1 {
        for byte in [b'!', b'"', b'{', b'[', b',', b':', b' ', 0] {
            let mut bytes = bytes.clone();
            bytes[place] = byte;
            let Ok(record) = read(path, &bytes) else {
                // A whole file without the name is not a flight record.
                assert!(
                    serde_json::from_slice::<serde_json::Value>(&bytes).is_ok(),
                    "byte {place} as {byte}: nothing was read"
                );
                continue;
            };
            let kept = record.entries.iter().filter(|entry| whole.entries.contains(entry)).count();
            assert!(
                kept + 1 >= whole.entries.len(),
                "byte {place} as {byte}: {kept} of {}",
                whole.entries.len()
            );
        }
    }
}

proptest! {
    #![proptest_config(railwright_cases::cases(200))]

    /// Every prefix of a dump gives a prefix of its entries, with a warning about the position of its end.
    #[test]
    fn a_cut_dump_gives_the_entries_before_the_cut(which in 0..2_usize, at in 0.0..1.0_f64) {
        let (path, bytes, whole) = &WHOLE[which];
        let cut = (bytes.len() as f64 * at) as usize;
        if let Ok(record) = read(path, &bytes[..cut]) {
            prop_assert_eq!(&record.entries[..], &whole.entries[..record.entries.len()]);
            prop_assert!(!record.is_whole());
            prop_assert!(record.cut_at().is_some_and(|place| place as usize <= cut));
            prop_assert_eq!(record.report.kept as usize, record.entries.len());
            // At least as many entries as are complete before the cut.
            let complete = complete(bytes, cut, which == 1);
            prop_assert_eq!(record.entries.len(), complete, "cut at {}", cut);
        } else {
            prop_assert!(complete(bytes, cut, which == 1) == 0, "entries were lost");
        }
    }

    /// A changed byte loses only what cannot be read, and never causes a panic.
    #[test]
    fn a_bad_byte_ends_in_no_panic(which in 0..2_usize, at in 0.0..1.0_f64, byte in any::<u8>()) {
        let (path, bytes, whole) = &WHOLE[which];
        let mut bytes = bytes.clone();
        let place = (bytes.len() as f64 * at) as usize;
        bytes[place] = byte;
        if let Ok(record) = read(path, &bytes) {
            let kept = record.entries.iter().filter(|entry| whole.entries.contains(entry)).count();
            // In JSON, only the entry with the changed byte is lost.
            prop_assert!(which == 1 || kept + 1 >= whole.entries.len(), "byte {}: {} of {}", place, kept, whole.entries.len());
        }
        drop(hang(&[read(path, &bytes).unwrap_or_default()], &[]));
    }

    /// No hang in these dumps: truncating some of them neither blames a rank nor excludes a hang.
    #[test]
    fn no_rank_is_blamed_for_what_was_cut_off(cuts in prop::collection::vec(0.3..1.0_f64, 4), pickles in any::<bool>()) {
        let mut records = Vec::new();
        for (rank, at) in cuts.iter().enumerate() {
            let name = if pickles { format!("fr_ok_trace_rank_{rank}.pickle") } else { format!("fr_ok_rank_{rank}.json") };
            let (path, bytes) = file(&name);
            records.push(read(&path, &bytes[..(bytes.len() as f64 * at) as usize]).expect("a dump"));
        }
        let verdict = hang(&records, &[]);
        prop_assert_eq!(&verdict.stuck, &Vec::new());
        prop_assert_eq!(verdict.hangs(), None);
        prop_assert_eq!(verdict.damaged.len(), 4);
    }
}

/// Number of entries that end before a cut, without the reader: JSON sorts keys, so the last one ends an
/// entry; in pickles it is a Boolean and the instruction that sets all members, before the next entry or the
/// end of the list.
fn complete(bytes: &[u8], cut: usize, is_pickle: bool) -> usize {
    let ends = |needle: &[u8], own: usize| {
        memchr::memmem::find_iter(bytes, needle).filter(|place| place + own <= cut).count()
    };
    if !is_pickle {
        return ends(b"\"timeout_ms\": 1800000}", 22);
    }
    [b"\x89u}", b"\x89ue", b"\x88u}", b"\x88ue"].into_iter().map(|end| ends(end, 2)).sum()
}

#[test]
fn a_cut_dump_of_the_rank_that_never_came_blames_no_one_else() {
    // Rank 3 stopped before the 20th all-reduce of its group with rank 1; then its dump was truncated even
    // earlier.
    let hanging = |cut: Option<f64>| {
        let mut records: Vec<FlightRecord> = (0..3)
            .map(|rank| {
                let (path, bytes) = file(&format!("fr_ok_rank_{rank}.json"));
                read(&path, &bytes).expect("a dump")
            })
            .collect();
        for record in &mut records {
            record.statuses.clear();
        }
        records[1].entries.retain(|e| e.group_description != "mesh_dp" || e.sequence <= 20);
        for entry in &mut records[1].entries {
            entry.retired &= !(entry.group_description == "mesh_dp" && entry.sequence == 20);
        }
        let (path, bytes) = file("fr_ok_rank_3.json");
        let end = (bytes.len() as f64 * cut.unwrap_or(1.0)) as usize;
        let mut third = read(&path, &bytes[..end]).expect("a dump");
        third.entries.retain(|e| e.group_description != "mesh_dp" || e.sequence < 20);
        third.statuses.clear();
        records.push(third);
        hang(&records, &[])
    };
    let whole = hanging(None);
    assert_eq!(
        (whole.roots[0].cause, &whole.roots[0].ranks[..]),
        (RootCause::OutsideOfCollectives, &[3][..])
    );
    for cut in [0.2, 0.4, 0.5, 0.7, 0.9] {
        let verdict = hanging(Some(cut));
        assert_eq!(verdict.hangs(), Some(true));
        assert_eq!(verdict.roots.len(), 1, "{cut}: {:#?}", verdict.roots);
        assert_eq!(
            (verdict.roots[0].cause, &verdict.roots[0].ranks[..]),
            (RootCause::NoDump, &[3][..]),
            "{cut}"
        );
        assert_eq!((verdict.damaged.len(), verdict.damaged[0].rank), (1, 3));
        let text = &verdict.warnings.iter().find(|w| w.id == "trace-damaged").expect("reported").message;
        assert!(
            text.contains("entries were read") && text.contains("at byte") && text.contains("truncated"),
            "{text}"
        );
    }
}

#[test]
fn a_mismatched_call_is_not_inferred_from_the_remaining_calls() {
    // Two ranks made one call, one rank another; a fourth call is lost and may be either.
    let entry = |operation: &str| Entry {
        group_description: "default_pg".to_owned(),
        sequence: 1,
        operation: operation.to_owned(),
        created: 5,
        ..Entry::default()
    };
    let record = |rank: u32, entries: Vec<Entry>| FlightRecord {
        rank: Some(rank),
        entries,
        groups: vec![Group {
            name: String::new(),
            description: "default_pg".to_owned(),
            ranks: vec![0, 1, 2, 3],
        }],
        ..FlightRecord::default()
    };
    let mut records = vec![
        record(0, vec![entry("nccl:all_reduce")]),
        record(1, vec![entry("nccl:all_reduce")]),
        record(2, vec![entry("nccl:reduce_scatter")]),
        record(3, vec![entry("nccl:reduce_scatter")]),
    ];
    for record in &mut records {
        record.groups[0].name = "0".to_owned();
        for entry in &mut record.entries {
            entry.group_name = "0".to_owned();
        }
    }
    records[3].entries.clear();
    records[3].report.note(DamageKind::Truncated, 9, String::new);
    let verdict = hang(&records, &[]);
    assert_eq!(verdict.roots[0].cause, RootCause::DifferentCall);
    assert_eq!(verdict.roots[0].ranks, [0, 1, 2], "with the cut one they may be two and two");
}

#[test]
fn a_lost_entry_shifts_no_message() {
    // Five messages from 0 to 1, the last one pending at the sender. The sender's second entry is unreadable.
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
    let sends = |lost: Option<u64>| {
        (0..5).filter(|&n| Some(n) != lost).map(|n| entry(n, "nccl:send 0->1", n < 4)).collect::<Vec<_>>()
    };
    let receives = (0..4).map(|n| entry(n, "nccl:recv 1<-0", true)).collect::<Vec<_>>();
    let whole = hang(&[record(0, sends(None)), record(1, receives.clone())], &[]);
    assert_eq!((whole.stuck[0].sequence, &whole.stuck[0].missing[..]), (5, &[1][..]));
    let mut damaged = record(0, sends(Some(1)));
    damaged.report.note_many(DamageKind::UnreadableEvent, 1);
    let verdict = hang(&[damaged, record(1, receives)], &[]);
    assert_eq!(verdict.stuck, [], "the fifth must not be taken for the fourth, which rank 1 has left");
    assert_eq!(verdict.hangs(), None);
}

#[test]
fn a_stream_that_breaks_off_gives_what_came_before() {
    use crate::readers::{self, Keep, Recording};
    use std::io::Write as _;
    for (path, bytes, whole) in WHOLE.iter() {
        let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        out.write_all(bytes).expect("packed");
        let packed = out.finish().expect("packed");
        let reader = readers::detect(bytes).expect("a reader");
        let mut stream = readers::open(&packed[..packed.len() * 2 / 3]).expect("a stream");
        let read = reader.read_stream(path, &mut stream, Keep::default()).expect("what came before");
        let [Recording::Flight(record)] = read.as_slice() else { panic!("{read:?}") };
        assert!(!record.entries.is_empty() && record.entries.len() < whole.entries.len());
        assert_eq!(record.entries, whole.entries[..record.entries.len()]);
        assert!(!record.is_whole());
    }
}

#[test]
fn what_is_no_dump_is_refused_with_the_place_of_the_damage() {
    let refused = |bytes: &[u8]| read("rank_0", bytes).expect_err("no dump").message;
    assert!(refused(b"{\"entries\": ").contains("`entries` is missing"), "{}", refused(b"{\"entries\": "));
    assert!(refused(b"\x80\x02}q\x00(X\x01\x00\x00\x00aK\x01X").contains("at byte"));
    assert!(refused(b"{}").contains("`entries` is missing"));
    let snapshot =
        read("snapshot.pickle", b"{\"segments\": [], \"device_traces\": [[]]}").expect_err("no dump");
    assert!(snapshot.hint.as_deref().is_some_and(|hint| hint.contains("memory-snapshot")), "{snapshot:?}");
}

#[test]
fn a_wait_that_depends_on_a_lost_count_is_not_assumed() {
    // Rank 1's 64th all-reduce of `mesh_dp` stays open in its list; `pg_status`, after the entries, records
    // its end.
    let (path, bytes) = file("fr_ok_rank_1.json");
    let whole = read(&path, &bytes).expect("a dump");
    assert!(whole.entries.iter().any(|entry| !entry.retired && entry.sequence == 64));
    let cut = read(&path, &bytes[..bytes.len() - 200]).expect("a dump");
    assert!(
        cut.statuses.is_empty() && cut.entries == whole.entries,
        "only what is behind the entries is lost"
    );
    assert_eq!(hang(std::slice::from_ref(&cut), &[]).stuck, []);
    // NCCL's recorder queries the device, so its open entries are open.
    let mut nccl = cut;
    for entry in &mut nccl.entries {
        entry.operation = entry.operation.replace("gloo:", "nccl:");
    }
    assert_eq!(hang(&[nccl], &[]).stuck.len(), 1);
}
