//! Files other than traces, a target for each reader: flight records, training logs, NCCL Inspector's lines,
//! XPUTimer's metrics, pipeline timers.
//!
//! Responsible for: passing bytes to one reader, whole and as a stream, and accepted records to the analysis
//! of its command. Neither may panic. Refuses to judge values.

use railwright_profiler::Job;
use railwright_profiler::hang::hang;
use railwright_profiler::joined::{JoinOptions, join};
use railwright_profiler::log::{Known, judge};
use railwright_profiler::monitors::{inspector, xpu_timer};
use railwright_profiler::pipeline::{Question, page};
use railwright_profiler::profile::{OneByOne, Options, profile};
use railwright_profiler::readers::{self, Keep, Recording};

/// A reader under attack.
pub type Target = fn(&[u8]);

/// Every target of bytes by name; `fuzz/seeds/NAME` holds its seeds.
pub const TARGETS: &[(&str, Target)] = &[
    ("flight_record", flight_record),
    ("training_log", training_log),
    ("nccl_inspector", nccl_inspector),
    ("xpu_timer", xpu_timer),
    ("pipeline_timer", pipeline_timer),
    ("profiled_trace", profiled_trace),
    ("nccl_tests_log", nccl_tests_log),
    ("calibration_file", calibration_file),
    ("table_file", crate::tables::table_file),
    ("memory_snapshot", crate::recordings::memory_snapshot),
    ("device_counters", crate::recordings::device_counters),
    ("execution_trace", crate::recordings::execution_trace),
];

/// A dump of a flight recorder, JSON or pickle, and its diagnosis.
pub fn flight_record(bytes: &[u8]) {
    read(bytes, "flight record");
}

/// A training log.
pub fn training_log(bytes: &[u8]) {
    read(bytes, "training log");
}

/// Lines of NCCL Inspector.
pub fn nccl_inspector(bytes: &[u8]) {
    read(bytes, "NCCL Inspector lines");
}

/// Metrics of XPUTimer.
pub fn xpu_timer(bytes: &[u8]) {
    read(bytes, "XPUTimer metrics");
}

/// Pipeline timers of any tool, with replay.
pub fn pipeline_timer(bytes: &[u8]) {
    for reader in readers::all().iter().filter(|reader| !WHOLE.contains(&reader.name())) {
        read(bytes, reader.name());
    }
}

/// A trace that is joined with itself as two ranks and profiled.
pub fn profiled_trace(bytes: &[u8]) {
    let Some(reader) = readers::detect(bytes) else { return };
    let (mut own, mut traces) = (Vec::new(), Vec::new());
    for rank in 0..2 {
        for recording in reader.read("trace", bytes, Keep::default()).unwrap_or_default() {
            if let Recording::Rank(mut trace) = recording {
                if rank == 0 {
                    own.push((*trace).clone());
                }
                trace.identity.rank = Some(rank);
                traces.push(*trace);
            }
        }
    }
    // Ranks and world size as they are recorded.
    drop(Job::new(own).extent());
    let mut job = Job::new(traces);
    job.drop_ranks_without_device_activity();
    let joined = join(&mut job, &JoinOptions::default());
    if let Ok(found) = profile(&job, &joined, &Options::default(), &OneByOne) {
        // The parts add up to the steps for any input.
        let ranks = i64::try_from(found.waterfall.ranks.len()).unwrap_or(i64::MAX);
        let steps: i64 = found.windows.steps.iter().map(|step| step.end - step.start).sum();
        assert_eq!(found.waterfall.time(), steps * ranks, "time was lost");
    }
}

/// A log of nccl-tests.
pub fn nccl_tests_log(bytes: &[u8]) {
    if let Ok(text) = std::str::from_utf8(bytes) {
        drop(railwright_profiler::nccl_tests::read(text, "nccl.log"));
    }
}

/// A calibration; an accepted one is written and reads as the same.
pub fn calibration_file(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let Ok(read) = railwright_spec::calibration::Calibration::parse(text, "calibration.toml") else { return };
    let written = read.to_toml().expect("what was read can be written");
    let again = railwright_spec::calibration::Calibration::parse(&written, "again.toml");
    // As text, because figures that are not numbers equal nothing.
    let twice = again.ok().and_then(|again| again.to_toml().ok());
    assert_eq!(twice, Some(written), "a calibration does not survive being written");
}

/// Readers that have a target of their own.
const WHOLE: [&str; 4] = ["flight record", "training log", "NCCL Inspector lines", "XPUTimer metrics"];

fn read(bytes: &[u8], name: &str) {
    let reader = readers::all().iter().find(|reader| reader.name() == name);
    let reader = reader.unwrap_or_else(|| panic!("no reader is called `{name}`"));
    let _ = reader.matches(bytes);
    let whole = reader.read("rank_0", bytes, Keep::default());
    let parts = reader.read_stream("rank_0", &mut &*bytes, Keep::default());
    assert!(same(&whole, &parts), "{name}: a stream reads differently");
    for recording in whole.unwrap_or_default() {
        judged(recording);
    }
}

/// Equal, numbers that are none included.
fn same<T: PartialEq + std::fmt::Debug>(a: &T, b: &T) -> bool {
    a == b || format!("{a:?}") == format!("{b:?}")
}

fn judged(recording: Recording) {
    match recording {
        Recording::Flight(record) => {
            // The same dump of two ranks: both must agree on the hang.
            let mut other = (*record).clone();
            other.rank = Some(record.rank.unwrap_or(0).wrapping_add(1));
            drop(hang(&[(*record).clone(), other], &[]));
            // And a third whose dump could not be read.
            drop(hang(&[*record], &[7]));
        }
        Recording::Log(log) => drop(judge(&log, &Known::default())),
        Recording::Inspector { records, damaged } => drop(inspector::inspect(&records, damaged)),
        Recording::Metrics { gauges, damaged } => drop(xpu_timer::judge(&gauges, damaged)),
        Recording::Passes(passes) => drop(page(passes, &Question::default())),
        _ => {}
    }
}
