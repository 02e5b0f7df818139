//! Fixtures as passes.

use railwright_profiler::passes::Passes;
use railwright_profiler::readers::{self, Keep, Recording};
use std::io::Read;
use std::path::Path;

/// Reads files below `fixtures/traces` as passes of one job.
pub(crate) fn passes(files: &[&str]) -> Passes {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/traces"));
    let mut parts = Vec::new();
    for file in files {
        let mut bytes = std::fs::read(root.join(file)).expect(file);
        if Path::new(file).extension().is_some_and(|e| e == "gz") {
            let mut inflated = Vec::new();
            flate2::read::GzDecoder::new(&bytes[..]).read_to_end(&mut inflated).expect(file);
            bytes = inflated;
        }
        let reader = readers::detect(&bytes).expect("a reader");
        for recording in reader.read(file, &bytes, Keep::default()).expect(file) {
            if let Recording::Passes(passes) = recording {
                parts.push(passes);
            }
        }
    }
    Passes::join(parts)
}

/// Primus, 8 stages, 16 micro-batches, 20 steps.
pub(crate) fn primus() -> Passes {
    let files: Vec<String> = (0..8).map(|r| format!("primus_pp8_mi300/pp8/pp_rank_{r}.json")).collect();
    let mut files: Vec<&str> = files.iter().map(String::as_str).collect();
    files.insert(3, "primus_pp8_mi300/pp8/config.json");
    passes(&files)
}

/// MegatronApp, 4 stages, 32 micro-batches, 20 steps.
#[allow(dead_code)]
pub(crate) fn megatron_app() -> Passes {
    passes(&["megatronapp_pp4/data-1-pipeline-4-tensor-1-pp-aggregated.json.gz"])
}

/// Reads a reference file as lines split at commas.
#[allow(dead_code)]
pub(crate) fn reference(file: &str) -> Vec<Vec<String>> {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/traces/reference"));
    let text = std::fs::read_to_string(root.join(file)).expect(file);
    text.lines().skip(1).map(|line| line.split(',').map(str::to_owned).collect()).collect()
}

/// Reads files below `fixtures/traces` as the ranks of one job.
#[allow(dead_code)]
pub(crate) fn job(files: &[String]) -> railwright_profiler::Job {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/traces"));
    let mut traces = Vec::new();
    for file in files {
        let bytes = readers::inflate(&std::fs::read(root.join(file)).expect(file)).expect(file).into_owned();
        let reader = readers::detect(&bytes[..bytes.len().min(1 << 16)]).expect("a reader");
        for recording in reader.read(file, &bytes, Keep::default()).expect(file) {
            if let Recording::Rank(trace) = recording {
                traces.push(*trace);
            }
        }
    }
    railwright_profiler::Job::new(traces)
}
