//! Real traces as jobs.
//!
//! Responsible for: reading the fixtures of a folder and the rows of reference tables. An unreadable trace is
//! an error.

use railwright_profiler::readers::{self, Keep, Recording};
use railwright_profiler::{Job, RankTrace};
use std::path::{Path, PathBuf};

pub(crate) fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/traces").join(name)
}

/// Traces of a folder whose names contain `part`, in order of name.
pub(crate) fn traces(name: &str, part: &str) -> Vec<RankTrace> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder(name))
        .expect("a folder of fixtures")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.to_string_lossy().contains(part))
        .collect();
    files.sort();
    assert!(!files.is_empty(), "{name}");
    let mut traces = Vec::new();
    for file in files {
        let whole = std::fs::read(&file).expect("a fixture");
        let bytes = readers::inflate(&whole).expect("bytes");
        let reader = readers::detect(&bytes[..bytes.len().min(1 << 16)]).expect("a reader");
        let label = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        for recording in reader.read(&label, &bytes, Keep::default()).expect("a trace") {
            if let Recording::Rank(trace) = recording {
                traces.push(*trace);
            }
        }
    }
    traces
}

pub(crate) fn job(name: &str, part: &str) -> Job {
    Job::new(traces(name, part))
}

#[allow(dead_code, reason = "not every test has a table")]
/// A table of reference answers: its header and its rows.
pub(crate) fn table(name: &str) -> (Vec<String>, Vec<Vec<String>>) {
    let text = std::fs::read_to_string(folder("reference/collectives").join(name)).expect("a table");
    let mut lines = text.lines().map(|line| line.split(',').map(str::to_owned).collect::<Vec<_>>());
    let header = lines.next().expect("a header");
    (header, lines.collect())
}
