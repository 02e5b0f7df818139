//! Saved profiles are read back unchanged; damage is reported.

use super::*;
use crate::ParquetTable;
use proptest::prelude::*;
use railwright_profiler::RankTrace;
use railwright_profiler::passes::StepTime;
use railwright_profiler::trace::{
    CollectiveCall, DamageKind, Device, GpuActivities, GpuActivity, GpuKind, HostActivity, HostKind, LIMIT,
    RankGroup, Source,
};
use railwright_step::CollectiveKind;

const GPU: [GpuKind; 5] = [GpuKind::Kernel, GpuKind::Copy, GpuKind::Set, GpuKind::Annotation, GpuKind::Sync];
const HOST: [HostKind; 6] = [
    HostKind::Operator,
    HostKind::Runtime,
    HostKind::Annotation,
    HostKind::Collective,
    HostKind::Overhead,
    HostKind::Python,
];

prop_compose! {
    fn a_trace()(
        rank in proptest::option::of(0_u32..4000),
        words in proptest::collection::vec(".{0,12}", 1..6),
        rows in proptest::collection::vec(
            (-LIMIT / 128..LIMIT / 128, 0..LIMIT / 128, 0_usize..6, 0_u32..6, any::<u32>(), proptest::option::of(0_u32..3)),
            0..60,
        ),
        calls in 3_u64..6,
        damages in 0_u64..5,
    ) -> RankTrace {
        let mut trace = RankTrace::default();
        trace.identity.label = format!("a \"trace\"/{rank:?}.json");
        trace.identity.source = if rank.is_some() { Source::NsightSystems } else { Source::Kineto };
        trace.identity.rank = rank;
        trace.identity.host = words.first().cloned();
        trace.identity.devices.push(Device { id: 3, name: "H100".to_owned(), memory_bytes: Some(u64::MAX), multiprocessors: None });
        let ids: Vec<_> = words.iter().map(|word| trace.names.intern(word)).collect();
        trace.groups.push(RankGroup { name: "0".to_owned(), description: None, ranks: Some(vec![0, 7]), size: Some(2) });
        for at in 0..calls {
            trace.collectives.push(CollectiveCall {
                kind: (at % 2 == 0).then_some(CollectiveKind::AllGather),
                label: "_allgather_base".to_owned(),
                elements_in: Some(u64::MAX - at),
                elements_out: None,
                element: (at > 2).then(|| "BFloat16".to_owned()),
                element_bytes: Some(2),
                group: (at % 2 == 0).then_some(0),
                sequence: Some(at),
                peer: (at == 1).then_some(u32::MAX),
            });
        }
        let mut rows = rows;
        rows.sort_by_key(|row| row.0);
        for (start, duration, kind, name, number, call) in rows {
            let end = start + duration;
            let name = ids[name as usize % ids.len()];
            trace.gpu.push(GpuActivity {
                start, end, name, kind: GPU[kind % 5], stream: number, correlation: Some(number).filter(|n| n % 3 > 0 && *n < u32::MAX),
                collective: call, bytes: u64::from(number) << 20,
            });
            trace.host.push(HostActivity {
                start, end, name, kind: HOST[kind], thread: number % 7, correlation: None, collective: call,
                shapes: (number % 2 == 0).then_some(name),
            });
            // Traces without named streams are saved without this part.
            if damages > 2 && number % 5 == 0 {
                trace.host.name_stream(number % 9, (number % 2 == 0).then_some(number / 7));
            }
        }
        for at in 0..damages {
            trace.report.note(DamageKind::BadTime, at, || "an event".to_owned());
        }
        trace
    }
}

proptest! {
    #![proptest_config(railwright_cases::cases(48))]

    #[test]
    fn what_is_saved_comes_back(traces in proptest::collection::vec(a_trace(), 0..4)) {
        let job = Job::new(traces);
        let bytes = save(&job, &[]).expect("saved");
        prop_assert!(is_store(&bytes));
        let saved = Store::open("x", bytes.clone()).and_then(|store| store.load()).expect("opened");
        prop_assert_eq!(&saved.job, &job);
        prop_assert_eq!(save(&saved.job, &saved.passes).expect("saved again"), bytes);
    }
}

#[test]
fn streams_that_the_host_names_are_a_part_that_may_be_missing() {
    let mut trace = RankTrace::default();
    let name = trace.names.intern("triton_poi_fused_add_0");
    for start in 0..6 {
        trace.host.push(HostActivity { start, end: start + 1, name, ..HostActivity::default() });
    }
    let plain =
        rank_parts(&railwright_profiler::job::Member { rank: 0, trace: trace.clone() }).expect("parts");
    trace.host.name_stream(7, Some(3));
    let member = railwright_profiler::job::Member { rank: 0, trace };
    let parts = rank_parts(&member).expect("parts");
    // The other parts are unchanged, so older files open.
    assert_eq!(plain, parts[..5]);
    assert_eq!(parts[5].name, "rank-00000/host_streams.parquet");
    let job = Job { members: vec![member], world_size: 1, ..Job::default() };
    let open = |parts: Vec<Part>| {
        Store::open("x", assemble(&job, 0, parts).expect("a file"))
            .and_then(|store| store.load())
            .map(|s| s.job)
    };
    assert_eq!(open(parts.clone()), Ok(job.clone()));
    assert!(open(plain).expect("older").members[0].trace.host.named_streams().is_empty());
    // A part of another rank, whose rows do not exist.
    let mut others = parts;
    let mut few = RankTrace::default();
    few.host.push(HostActivity::default());
    let few = rank_parts(&railwright_profiler::job::Member { rank: 0, trace: few }).expect("parts");
    others[3] = few[3].clone();
    others[1] = few[1].clone();
    assert!(open(others).is_err());
}

fn passes() -> Passes {
    let bytes: &[u8] = include_bytes!(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../fixtures/traces/bytedance_whatif/trace-ST.parquet"
    ));
    let mut read = ParquetTable.read("ST", bytes, Keep::default()).expect("a table");
    let Some(Recording::Passes(passes)) = read.pop() else { panic!("passes") };
    passes
}

#[test]
fn passes_come_back_smaller_than_they_came() {
    let passes = passes();
    let bytes = save(&Job::default(), std::slice::from_ref(&passes)).expect("saved");
    assert!(bytes.len() < 77_037, "{} bytes", bytes.len());
    let saved = Store::open("x", bytes.clone()).and_then(|store| store.load()).expect("opened");
    assert_eq!(saved.passes, [passes]);
    let read = SavedProfile.read("x", &bytes, Keep::default()).expect("read");
    assert_eq!(read, [Recording::Passes(saved.passes[0].clone())]);
}

#[test]
fn stored_fields_of_passes_come_back() {
    let mut passes = passes();
    passes.host_order = true;
    passes.warnings.push(Warning::new("trace-damaged", "1 row was left out"));
    let bytes = save(&Job::default(), std::slice::from_ref(&passes)).expect("saved");
    let saved = Store::open("x", bytes).and_then(|store| store.load()).expect("opened");
    assert_eq!(saved.passes, [passes]);
}

#[test]
fn every_flipped_byte_is_reported_or_harmless() {
    let mut trace = RankTrace::default();
    let name = trace.names.intern("kernel");
    for at in 0..40 {
        trace.gpu.push(GpuActivity { start: at, end: at + 1, name, ..GpuActivity::default() });
    }
    let job = Job::new(vec![trace]);
    let good = save(&job, &[]).expect("saved");
    let (mut reported, mut silent) = (0, 0);
    for at in (0..good.len()).step_by(7) {
        let mut bytes = good.clone();
        bytes[at] ^= 0x55;
        match Store::open("x", bytes).and_then(|store| store.load()) {
            Ok(saved) => {
                // The flip hit padding, an owner, or descriptive text of the manifest.
                assert_eq!(saved.job.members, job.members, "byte {at}");
                silent += 1;
            }
            Err(problem) => {
                assert!(problem.to_string().starts_with('x'), "{problem}");
                reported += 1;
            }
        }
    }
    assert!(reported > 300, "{reported} reported, {silent} silent");
    for length in (0..good.len() - 2048).step_by(101) {
        Store::open("x", good[..length].to_vec()).and_then(|store| store.load()).expect_err("cut off");
    }
}

#[test]
fn a_newer_version_is_reported() {
    let good = save(&Job::default(), &[]).expect("saved");
    let text = String::from_utf8(good).expect("JSON only").replace("\"version\":1", "\"version\":7");
    let problem = Store::open("x", text.into_bytes()).expect_err("newer");
    assert!(problem.message.contains("version 7"), "{problem}");
    assert!(Store::open("y", b"{}".to_vec()).expect_err("other").message.contains("not a saved profile"));
}

/// A job of one rank with these rows on device and host.
fn job_of(rows: &[(i64, i64)]) -> Job {
    let mut trace = RankTrace::default();
    let name = trace.names.intern("kernel");
    for &(start, end) in rows {
        trace.gpu.push(GpuActivity { start, end, name, ..GpuActivity::default() });
    }
    Job { members: vec![Member { rank: 0, trace }], world_size: 1, ..Job::default() }
}

fn opened(bytes: Vec<u8>) -> Result<Saved, Problem> {
    Store::open("x", bytes).and_then(|store| store.load())
}

#[test]
fn times_that_cannot_be_are_damage() {
    assert!(opened(save(&job_of(&[(-5, 1), (0, 9)]), &[]).expect("saved")).is_ok());
    for (rows, expected) in [
        (&[(9, 3)][..], "row 0 of `gpu.parquet` ends before it starts"),
        (&[(0, i64::MIN)], "ends before it starts"),
        (&[(i64::MIN, 5)], "is outside the"),
        (&[(0, i64::MAX)], "is outside the"),
        (&[(i64::MAX - 3, i64::MAX)], "is outside the"),
        (&[(0, 1), (5, 9), (4, 6)], "row 2 of `gpu.parquet` starts before the previous row"),
        (&[(0, LIMIT), (0, LIMIT)], "raises the sum"),
    ] {
        let problem = opened(save(&job_of(rows), &[]).expect("saved")).expect_err("damaged");
        assert!(problem.to_string().contains(expected), "{rows:?}: {problem}");
    }
    let mut of_host = job_of(&[]);
    of_host.members[0].trace.host.push(HostActivity { start: 7, end: 6, ..HostActivity::default() });
    assert!(opened(save(&of_host, &[]).expect("saved")).is_err());
}

#[test]
fn sizes_that_no_sum_holds_are_damage() {
    let mut job = job_of(&[(0, 1), (1, 2)]);
    let trace = &mut job.members[0].trace;
    let rows: Vec<GpuActivity> = trace.gpu.iter().collect();
    trace.gpu = GpuActivities::default();
    for row in rows {
        trace.gpu.push(GpuActivity { bytes: u64::MAX / 2, ..row });
    }
    let problem = opened(save(&job, &[]).expect("saved")).expect_err("damaged");
    assert!(problem.message.contains("9 exabytes"), "{problem}");
}

#[test]
fn passes_that_cannot_be_are_damage() {
    let bad = |change: fn(&mut Passes)| {
        let mut table = passes();
        change(&mut table);
        opened(save(&Job::default(), &[table]).expect("saved")).expect_err("damaged").to_string()
    };
    assert!(
        bad(|table| table.passes[3].end = table.passes[3].start - 1).contains("row 3 ends before it starts")
    );
    assert!(bad(|table| table.passes[0].start = i64::MIN).contains("row 0"));
    assert!(bad(|table| table.passes[1].stage = u32::MAX - 1).contains("refers to 4294967294"));
    let negative = StepTime { step: 0, rank: 0, duration: -1, memory_bytes: None };
    let mut table = passes();
    table.steps.push(negative);
    assert!(opened(save(&Job::default(), &[table]).expect("saved")).is_err());
}

#[test]
fn a_rank_is_named_once() {
    let mut job = job_of(&[(0, 1)]);
    job.members = vec![job.members[0].clone(); 2];
    let problem = opened(save(&job, &[]).expect("saved")).expect_err("damaged");
    assert!(problem.message.contains("lists rank 0 twice"), "{problem}");
    job.members.truncate(1);
    job.members[0].rank = u32::MAX;
    assert!(opened(save(&job, &[]).expect("saved")).is_err());
    let many = String::from_utf8(save(&Job::default(), &[]).expect("saved")).expect("JSON only");
    let many = many.replace("\"passes\":0", "\"passes\":9");
    assert!(opened(many.into_bytes()).is_err());
}
