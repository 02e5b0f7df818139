//! Recordings other than traces, a target for each: memory snapshots, counters of devices, execution traces.
//!
//! Responsible for: passing bytes to the reader, and accepted recordings to the analysis of its command. Does
//! not check values.

use railwright_network::chakra::{self, Program};
use railwright_profiler::{Job, snapshot, telemetry};
use std::collections::BTreeMap;

/// A memory snapshot, a pickle or a trace with `[memory]` events, and its report.
pub fn memory_snapshot(bytes: &[u8]) {
    let read = match std::str::from_utf8(bytes) {
        Ok(text) if bytes.first() != Some(&0x80) => snapshot::read_trace("trace.json", text),
        _ => snapshot::read("snapshot.pickle", bytes),
    };
    for device in read.map_or_else(|_| Vec::new(), |read| snapshot::report(&read).devices) {
        let kinds: u64 = device.kinds.iter().map(|kind| kind.bytes).sum();
        assert_eq!(kinds, device.peak_allocated_bytes, "kinds do not add up to the peak");
    }
}

/// Counters of devices, compared between the ranks of a job.
pub fn device_counters(bytes: &[u8]) {
    let _ = telemetry::matches(bytes);
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Ok((samples, _)) = telemetry::read("counters", text) {
        drop(telemetry::health(&Job::default(), &samples).warnings());
    }
}

/// Execution traces, run as a program of two ranks.
pub fn execution_trace(bytes: &[u8]) {
    let Ok(trace) = chakra::read(bytes, "rank.0.et") else { return };
    let groups = BTreeMap::from([("1".to_owned(), vec![0, 1])]);
    if let Ok(program) = Program::new(&vec![trace.clone(); 2], &groups, 8) {
        let flows = program.flows.len() as u32;
        assert!(program.flows.iter().all(|flow| flow.after.iter().all(|before| *before < flows)));
    }
    let written = chakra::write(&trace);
    assert_eq!(
        chakra::read(&written, "again.et").ok().map(|again| again.nodes.len()),
        Some(trace.nodes.len())
    );
}
