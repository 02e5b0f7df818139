//! Files with the same content: events in a different order, other names of files and hosts, other
//! formatting.
//!
//! Responsible for: answers for changed files of real jobs, compared with those for the original files.
//! Excludes synthetic jobs, see `metamorphic`. Two files of one rank are two recordings, not the halves of
//! one, so split traces have no relation.

use railwright_profiler::Job;
use railwright_profiler::attribution::straggler_report;
use railwright_profiler::joined::{JoinOptions, join};
use railwright_profiler::profile::{OneByOne, Options, Profile, profile};
use railwright_profiler::readers::{self, Keep, Recording};
use railwright_profiler::testing::Recurrence;
use serde_json::Value;
use std::path::Path;

/// Jobs with their traces, in order of rank: NCCL on GPUs, and gloo without devices.
const JOBS: [(&str, &[&str]); 2] = [
    (
        "megatron_tp2_v100",
        &[
            "rank0.9c44bd29b3f0_1375.1724066820235157909.pt.trace.json.gz",
            "rank1.9c44bd29b3f0_1376.1724066820237002797.pt.trace.json.gz",
        ],
    ),
    (
        "generated_torch215_gloo_pp2dp2",
        &[
            "rank0_step5.pt.trace.json.gz",
            "rank1_step5.pt.trace.json.gz",
            "rank2_step5.pt.trace.json.gz",
            "rank3_step5.pt.trace.json.gz",
        ],
    ),
];

/// The files of a job as JSON.
fn files(folder: &str, names: &[&str]) -> Vec<(String, Value)> {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/traces")).join(folder);
    let read = |name: &&str| {
        let packed = std::fs::read(root.join(name)).expect("a fixture");
        let bytes = readers::inflate(&packed).expect("gzip");
        ((*name).to_owned(), serde_json::from_slice(&bytes).expect("JSON"))
    };
    names.iter().map(read).collect()
}

fn job(files: &[(String, Value)], write: impl Fn(&Value) -> Vec<u8>) -> Job {
    let mut traces = Vec::new();
    for (name, file) in files {
        let bytes = write(file);
        let reader = readers::detect(&bytes[..bytes.len().min(1 << 16)]).expect("a format");
        for recording in reader.read(name, &bytes, Keep::default()).expect("read") {
            if let Recording::Rank(trace) = recording {
                traces.push(*trace);
            }
        }
    }
    Job::new(traces)
}

fn compact(file: &Value) -> Vec<u8> {
    serde_json::to_vec(file).expect("written")
}

fn profiled(job: &Job) -> Profile {
    let mut job = job.clone();
    let joined = join(&mut job, &JoinOptions::default());
    profile(&job, &joined, &Options::default(), &OneByOne).expect("a profile")
}

/// Stragglers of a job, with costs in whole nanoseconds.
fn verdict(job: &Job) -> Vec<(String, Vec<u32>, i64)> {
    let report = straggler_report(&mut job.clone(), &JoinOptions::default());
    let cost = |seconds: f64| (seconds * 1e9).round() as i64;
    report
        .culprits
        .iter()
        .map(|one| (format!("{:?}", one.kind), one.ranks.clone(), cost(one.cost_s)))
        .collect()
}

fn same(what: &str, one: &Job, other: &Job) {
    let (before, after) = (profiled(one), profiled(other));
    assert_eq!(before.windows.steps, after.windows.steps, "{what}");
    // Numbers of names follow the order of the file, so kernels by name are excluded.
    let parts = |profile: &Profile| -> Vec<_> {
        profile.waterfall.ranks.iter().map(|one| (one.rank, one.steps.clone(), one.totals)).collect()
    };
    assert_eq!(parts(&before), parts(&after), "{what}");
    assert_eq!(before.report.findings, after.report.findings, "{what}");
    assert_eq!(verdict(one), verdict(other), "{what}");
}

fn shuffle(file: &mut Value, random: &mut Recurrence) {
    let events = file["traceEvents"].as_array_mut().expect("events");
    for at in (1..events.len()).rev() {
        events.swap(at, random.below(at as u64 + 1) as usize);
    }
}

#[test]
fn the_order_of_events_means_nothing() {
    for (folder, names) in JOBS {
        let mut changed = files(folder, names);
        let one = job(&changed, compact);
        for seed in 0..2 {
            let mut random = Recurrence(seed);
            for (_, file) in &mut changed {
                shuffle(file, &mut random);
            }
            same(&format!("{folder}, shuffle {seed}"), &one, &job(&changed, compact));
        }
    }
}

#[test]
fn names_of_files_and_hosts_and_white_space_mean_nothing() {
    for (folder, names) in JOBS {
        let mut changed = files(folder, names);
        let one = job(&changed, compact);
        let pretty = |file: &Value| serde_json::to_vec_pretty(file).expect("written");
        same(&format!("{folder}, white space"), &one, &job(&changed, pretty));
        for (at, (name, file)) in changed.iter_mut().enumerate() {
            *name = format!("elsewhere/{}.json", ["x", "a", "q", "b"][at]);
            if file["host_name"].is_string() {
                file["host_name"] = "elsewhere".into();
            }
        }
        changed.reverse();
        same(&format!("{folder}, names"), &one, &job(&changed, compact));
    }
}
