//! The exported trace is readable by the program's own reader.

use super::*;
use crate::joined::{JoinOptions, join};
use crate::readers::{self, Keep, Recording};
use crate::trace::GpuActivity;

macro_rules! fixture {
    ($name:literal) => {
        include_bytes!(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../fixtures/traces/megatron_tp2_v100/",
            $name
        ))
    };
}

fn read(bytes: &[u8]) -> RankTrace {
    let bytes = readers::inflate(bytes).expect("inflated");
    let reader = readers::detect(&bytes).expect("a reader");
    let mut read = reader.read("x", &bytes, Keep::default()).expect("a trace");
    match read.pop() {
        Some(Recording::Rank(trace)) => *trace,
        other => panic!("{other:?}"),
    }
}

fn job() -> Job {
    Job::new(vec![
        read(fixture!("rank0.9c44bd29b3f0_1375.1724066820235157909.pt.trace.json.gz")),
        read(fixture!("rank1.9c44bd29b3f0_1376.1724066820237002797.pt.trace.json.gz")),
    ])
}

fn rows(trace: &RankTrace) -> Vec<(i64, i64, GpuKind, String, u32, Option<u32>)> {
    let row = |row: GpuActivity| {
        (row.start, row.end, row.kind, trace.names.get(row.name).to_owned(), row.stream, row.correlation)
    };
    let mut rows: Vec<_> = trace.gpu.iter().map(row).collect();
    rows.sort();
    rows
}

#[test]
fn a_rank_reads_back_as_it_was() {
    let mut job = job();
    let joined = join(&mut job, &JoinOptions::default());
    let marks = waits(&job, &joined);
    for member in &job.members {
        let mut text = String::new();
        write_rank(&job, member, &marks, Options { flows: true, device_only: false }, &mut text)
            .expect("written");
        let again = read(text.as_bytes());
        assert_eq!((again.identity.rank, again.identity.world_size), (Some(member.rank), Some(2)));
        assert_eq!(rows(&again), rows(&member.trace));
        assert_eq!(again.host.len(), member.trace.host.len());
        assert_eq!(again.host.starts(), member.trace.host.starts());
        assert_eq!(again.report.damages, []);
        let calls = |trace: &RankTrace| trace.gpu.iter().filter(|row| row.collective.is_some()).count();
        assert_eq!(calls(&again), calls(&member.trace));
        assert_eq!(again.groups.len(), member.trace.groups.len());
    }
}

#[test]
fn merged_ranks_are_processes_of_their_own() {
    let mut job = job();
    let joined = join(&mut job, &JoinOptions::default());
    let marks = waits(&job, &joined);
    let mut text = String::new();
    write_merged(&job, &marks, Options::default(), &mut text).expect("written");
    let value: Value = serde_json::from_str(&text).expect("JSON");
    let events = value["traceEvents"].as_array().expect("events");
    let of = |pid: u64, category: &str| {
        let own = events.iter().filter(|e| e["pid"] == pid && e["cat"] == category);
        own.count()
    };
    for member in &job.members {
        let kernels = member.trace.gpu.iter().filter(|row| row.kind == GpuKind::Kernel).count();
        assert_eq!(of(u64::from(member.rank), "kernel"), kernels);
    }
    // Rank 1 waits 48.2 ms for rank 0 in this set.
    let waited: i64 =
        marks.iter().filter(|mark| mark.rank == Some(1)).map(|mark| mark.end - mark.start).sum();
    assert!((45_000_000..50_000_000).contains(&waited), "{waited}");
    assert!(marks.iter().filter(|mark| mark.rank == Some(1)).all(|mark| mark.name == "waits for rank 0"));
    assert_eq!(of(1, "railwright"), marks.iter().filter(|mark| mark.rank == Some(1)).count());
}

#[test]
fn the_manifest_names_every_file() {
    let job = job();
    let value: Value = serde_json::from_str(&manifest(&job, true)).expect("JSON");
    let files = value["perfetto_manifest"]["files"].as_array().expect("files");
    let paths: Vec<&str> = files.iter().filter_map(|file| file["path"].as_str()).collect();
    assert_eq!(paths, ["rank-00000.json", "rank-00001.json", "railwright.json"]);
    assert!(files[1]["machine"]["name"].as_str().expect("a name").starts_with("rank 1"));
}

#[test]
fn verdicts_are_slices_where_they_happened() {
    let mut job = crate::testing::Synthetic {
        stalls: vec![(1, 1, 4_000_000), (1, 3, 4_000_000)],
        ..crate::testing::Synthetic::default()
    }
    .job();
    crate::testing::move_clock(&mut job.members[1].trace, 5_000_000_000, 0.0);
    let joined = join(&mut job, &JoinOptions::default());
    let tables = crate::view::Tables::shipped();
    let views: Vec<_> = job.members.iter().map(|m| crate::view::View::new(&m.trace, &tables)).collect();
    let windows = crate::windows::windows(&views, &joined);
    let report = crate::attribution::stragglers_of(
        &job,
        &joined,
        &tables.communication,
        &windows,
        &crate::profile::OneByOne,
    );
    let marks = stragglers(&windows, &report);
    let verdict = marks.iter().find(|m| m.rank.is_none()).expect("a verdict on the job");
    assert!(verdict.name.starts_with("rank 1 is a straggler (slow host)"), "{verdict:?}");
    assert_eq!((verdict.start, verdict.end), windows.span());
    // The intervals are in the stalled steps, on the common time.
    let worst = marks
        .iter()
        .filter(|m| m.track.ends_with("moments") && m.name.starts_with("4.") && m.name.contains(" ms late"))
        .collect::<Vec<_>>();
    assert_eq!(worst.len(), 2, "{marks:#?}");
    for (moment, step) in worst.iter().zip([1, 3]) {
        let step = &windows.steps[step];
        assert!(
            moment.rank == Some(1) && moment.start >= step.start && moment.end <= step.end,
            "{moment:?} {step:?}"
        );
    }
    let mut text = String::new();
    write_rank(&job, &job.members[1], &marks, Options::default(), &mut text).expect("written");
    assert!(text.contains("is a straggler") && text.contains("cost_of_a_step"));
}
