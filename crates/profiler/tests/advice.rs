//! Advice of findings on real traces.
//!
//! Responsible for: the remedy that the recorded events support (fixtures/traces/SOURCES.md has the sources).
//! Excludes costs.

use crate::jobs;
use jobs::job;
use railwright_profiler::joined::{JoinOptions, join};
use railwright_profiler::profile::{Finding, OneByOne, Options, profile};

fn findings(folder: &str, part: &str) -> Vec<Finding> {
    let mut job = job(folder, part);
    let joined = join(&mut job, &JoinOptions::default());
    profile(&job, &joined, &Options::default(), &OneByOne).expect("a profile").report.findings
}

fn advice(folder: &str, part: &str, id: &str) -> String {
    let found = findings(folder, part);
    let finding = found.iter().find(|finding| finding.id == id);
    finding.unwrap_or_else(|| panic!("{folder}: no `{id}` among {found:#?}")).advice.clone()
}

#[test]
fn remedies_fit_the_recorded_events() {
    for (folder, part, id, word) in [
        // The first step allocates with `cudaMalloc`, and no operator frees memory.
        ("hta_samples/critical_path/alexnet", "benchmark", "memory-allocation", "cache grows"),
        // Shampoo has no fused version.
        ("hta_samples/trace_filter", "rank-1", "host-work", "torch.compile"),
        // Hosts are recorded, but no launch ends the idle time.
        ("format_samples", "ascend", "unexplained", "no recorded launch"),
    ] {
        let advice = advice(folder, part, id);
        assert!(advice.contains(word), "{folder}: {advice}");
    }
    // The device is idle before its first and after its last kernel: the recording, not the run.
    assert!(findings("hta_samples/triton_example", "triton").is_empty());
}

/// All four ranks, and one gap of 18 ms per step of rank 2 in an annotation without calls.
#[test]
fn a_gap_in_an_annotation_is_no_slow_clock() {
    let found = findings("torchrec_v100_4r/sst_long_a2a_optimizer_3", "pt.trace");
    let of =
        |id: &str| found.iter().find(|one| one.id == id).unwrap_or_else(|| panic!("no `{id}`: {found:#?}"));
    let straggler = of("straggler");
    assert_eq!(straggler.subject.ranks, [2]);
    assert!(straggler.advice.contains("# running sparse arch"), "{straggler:#?}");
    let idle = of("idle-unknown");
    assert!(idle.message.contains("# running sparse arch"), "{idle:#?}");
    assert!(found.iter().all(|one| !one.advice.contains("record all ranks")), "{found:#?}");
    // 8192 x 512 x 8192 is aligned, whatever the strides are.
    let found = findings("hta_samples/trace_filter", "rank-1");
    let shapes = found.iter().filter(|one| one.id == "matrix-shapes").flat_map(|one| &one.evidence);
    assert!(shapes.into_iter().all(|line| !line.contains("[[8192, 512], [512, 8192]]")), "{found:#?}");
}
