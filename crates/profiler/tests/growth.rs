//! Time that is linear, not quadratic, in the input.
//!
//! Responsible for: inputs in two sizes for everything that recordings have many of: steps, groups, names,
//! entries, ranks, lines. Processor time of this thread is compared, so a busy machine does not matter.
//! Absolute times are not tested.

#![cfg(target_os = "linux")]

use railwright_profiler::Job;
use railwright_profiler::joined::{JoinOptions, join};
use railwright_profiler::profile::{OneByOne, Options, profile};
use railwright_profiler::readers::{self, Keep, Recording};
use railwright_profiler::testing::processor_seconds;
use std::fmt::Write as _;

fn cost(work: impl FnOnce()) -> f64 {
    let begun = processor_seconds();
    work();
    processor_seconds() - begun
}

/// Four times the input takes about four times as long; quadratic time would be sixteen times.
fn grows_with_its_size(what: &str, size: usize, mut work: impl FnMut(usize)) {
    work(size / 4);
    let one = cost(|| work(size));
    let four = cost(|| work(size * 4));
    assert!(four < one * 9.0 + 0.05, "{what}: {size} take {one:.3} s, four times as many {four:.3} s");
}

fn read(name: &str, text: &str) -> Vec<Recording> {
    let reader = readers::detect(&text.as_bytes()[..text.len().min(1 << 16)]).expect("a format");
    reader.read(name, text.as_bytes(), Keep::default()).expect("read")
}

/// Profiles traces of ranks like `profile` does.
fn profiled(texts: &[String]) {
    let traces = texts.iter().enumerate().flat_map(|(rank, text)| read(&format!("rank{rank}.json"), text));
    let traces = traces.filter_map(|recording| match recording {
        Recording::Rank(trace) => Some(*trace),
        _ => None,
    });
    let mut job = Job::new(traces.collect());
    let joined = join(&mut job, &JoinOptions::default());
    assert!(profile(&job, &joined, &Options::default(), &OneByOne).is_ok());
}

fn trace(rank: usize, ranks: usize, about: &str, events: &[String]) -> String {
    let events = events.join(",\n");
    format!(
        r#"{{"schemaVersion": 1, "distributedInfo": {{"backend": "nccl", "rank": {rank}, "world_size": {ranks}{about}}}, "traceEvents": [{events}]}}"#
    )
}

fn kernel(name: &str, at: usize, arguments: &str) -> String {
    format!(
        r#"{{"ph": "X", "cat": "kernel", "name": "{name}", "pid": 0, "tid": 7, "ts": {at}, "dur": 5, "args": {{"stream": 7{arguments}}}}}"#
    )
}

fn host(category: &str, name: &str, at: usize, long: usize, arguments: &str) -> String {
    format!(
        r#"{{"ph": "X", "cat": "{category}", "name": "{name}", "pid": 1, "tid": 1, "ts": {at}, "dur": {long}, "args": {{{arguments}}}}}"#
    )
}

#[test]
fn steps() {
    for category in ["user_annotation", "gpu_user_annotation"] {
        grows_with_its_size(category, 1000, |steps| {
            let step = |step: usize| {
                let (at, id) = (step * 100, format!(r#""correlation": {}"#, step + 1));
                [
                    host(category, &format!("ProfilerStep#{step}"), at, 90, ""),
                    host("cuda_runtime", "cudaLaunchKernel", at + 1, 2, &id),
                    kernel(&format!("k{}", step % 7), at + 10, &format!(", {id}")),
                ]
            };
            profiled(&[trace(0, 1, "", &(0..steps).flat_map(step).collect::<Vec<_>>())]);
        });
    }
}

#[test]
fn names() {
    grows_with_its_size("names", 2000, |names| {
        let events: Vec<String> = (0..names).map(|at| kernel(&format!("kernel_{at}"), at * 10, "")).collect();
        profiled(&[trace(0, 1, "", &events)]);
    });
}

#[test]
fn streams_and_threads() {
    grows_with_its_size("streams", 1000, |rows| {
        let row = |at: usize| {
            let stream = format!(
                r#"{{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": {at}, "ts": {}, "dur": 5, "args": {{"stream": {at}}}}}"#,
                at * 10
            );
            let thread = format!(
                r#"{{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": {at}, "ts": {}, "dur": 5}}"#,
                at * 10
            );
            [stream, thread]
        };
        profiled(&[trace(0, 1, "", &(0..rows).flat_map(row).collect::<Vec<_>>())]);
    });
}

/// Groups with one description, and with one each, as jobs that create them by hand.
#[test]
fn groups() {
    for (what, size, described) in [("groups", 1000, false), ("described groups", 2000, true)] {
        let name = |at: usize| if described { format!("group {at}") } else { "undefined".to_owned() };
        grows_with_its_size(what, size, |groups| {
            let listed: Vec<String> = (0..groups)
                .map(|at| {
                    let (described, other) = (name(at), at + 1);
                    format!(
                        r#"{{"pg_name": "{at}", "pg_desc": "{described}", "pg_size": 2, "ranks": [0, {other}]}}"#
                    )
                })
                .collect();
            let call = |at: usize| {
                let (described, other) = (name(at), at + 1);
                let of = format!(
                    r#", "Collective name": "allreduce", "In msg nelems": 1024, "Out msg nelems": 1024, "Group size": 2, "dtype": "BFloat16",
                    "Process Group Name": "{at}", "Process Group Ranks": "[0, {other}]", "Process Group Description": "{described}""#
                );
                kernel("ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevComm*)", at * 20, &of)
            };
            let about = format!(r#", "pg_config": [{}]"#, listed.join(", "));
            profiled(&[trace(0, groups + 1, &about, &(0..groups).map(call).collect::<Vec<_>>())]);
        });
    }
}

#[test]
fn ranks() {
    grows_with_its_size("ranks", 32, |ranks| {
        let rank = |rank: usize| {
            let events: Vec<String> = (0..20)
                .map(|at| {
                    let of = format!(
                        r#", "Collective name": "allreduce", "In msg nelems": 1024, "Out msg nelems": 1024, "Group size": {ranks}, "dtype": "Float",
                        "Process Group Name": "0", "Process Group Ranks": "[0, ..., 9]", "Process Group Description": "default_pg""#
                    );
                    kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevComm*)", at * 20 + rank % 3, &of)
                })
                .collect();
            trace(rank, ranks, "", &events)
        };
        profiled(&(0..ranks).map(rank).collect::<Vec<_>>());
    });
}

#[test]
fn entries_of_a_flight_record() {
    grows_with_its_size("entries", 2000, |entries| {
        let mut text = String::from(
            r#"{"version": "2.4", "pg_config": {"0": {"name": "0", "desc": "default_pg", "ranks": "[0, 1]"}}, "entries": ["#,
        );
        for at in 0..entries {
            let comma = if at > 0 { "," } else { "" };
            let _ = write!(
                text,
                r#"{comma}{{"record_id": {at}, "pg_id": 0, "process_group": ["0", "default_pg"], "collective_seq_id": {at}, "profiling_name": "nccl:all_reduce",
                "input_sizes": [[1024]], "output_sizes": [[1024]], "state": "completed", "frames": []}}"#
            );
        }
        text.push_str("]}");
        let found = read("fr_rank_0.json", &text);
        let Some(Recording::Flight(record)) = found.first() else { panic!("a record") };
        assert_eq!(record.entries.len(), entries);
    });
}

#[test]
fn lines_of_an_inspector_that_do_not_close() {
    let good = r#"{"header":{"id":"0x1","rank":0,"n_ranks":2,"nnodes":1},"coll_perf":{"coll":"AllReduce","coll_sn":1,"coll_msg_size_bytes":1024,"coll_exec_time_us":10}}"#;
    for bad in [
        r#"{"header":{"id":"0x1"},"coll_perf":{"coll_sn":[[[[[[[["#.to_owned(),
        format!(r#"{{"header":{{"id":"0x1"}},"coll_perf":{}"#, "[".repeat(400)),
        r#""header" "header" "header""#.to_owned(),
        r#"{"header":{"#.to_owned(),
    ] {
        grows_with_its_size(&bad, 1000, |lines| {
            let text = format!("{good}\n{}{good}\n", format!("{bad}\n").repeat(lines));
            let found =
                railwright_profiler::monitors::inspector::read("x", text.as_bytes()).expect("records");
            assert!(!found.0.is_empty() && found.1 > 0);
        });
    }
}
