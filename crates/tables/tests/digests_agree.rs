//! Traces and their digests give equal results.

use bytes::Bytes;
use proptest::prelude::*;
use railwright_profiler::attribution::straggler_report;
use railwright_profiler::collectives::communication_report;
use railwright_profiler::digest::{Digest, digest};
use railwright_profiler::joined::{JoinOptions, join};
use railwright_profiler::profile::{OneByOne, Options, profile};
use railwright_profiler::readers::{self, Keep, Recording};
use railwright_profiler::testing::Synthetic;
use railwright_profiler::{Job, RankTrace};
use railwright_tables::digest::{read_digest, write_digest};

/// Traces of ranks in a folder of fixtures.
fn fixture(folder: &str) -> Vec<RankTrace> {
    let folder = format!("{}/../../fixtures/traces/{folder}", env!("CARGO_MANIFEST_DIR"));
    let mut paths: Vec<_> =
        std::fs::read_dir(&folder).expect("a folder").flatten().map(|e| e.path()).collect();
    paths.sort();
    let mut traces = Vec::new();
    for path in paths.iter().filter(|path| path.is_file()) {
        let packed = std::fs::read(path).expect("a file");
        let bytes = readers::inflate(&packed).expect("bytes");
        let Some(reader) = readers::detect(&bytes[..bytes.len().min(1 << 16)]) else { continue };
        let label = path.display().to_string();
        for recording in reader.read(&label, &bytes, Keep::default()).unwrap_or_default() {
            if let Recording::Rank(trace) = recording {
                traces.push(*trace);
            }
        }
    }
    traces
}

/// Trace read back from the file of a digest, with the label of its trace.
fn again(made: &Digest) -> RankTrace {
    let packed = write_digest(made).expect("a digest");
    read_digest(&made.trace.identity.label, &Bytes::from(packed)).expect("a trace")
}

/// All results of the joint analyses, as text.
fn answers(traces: &[RankTrace]) -> Vec<(&'static str, String)> {
    let job = || {
        let mut job = Job::new(traces.to_vec());
        job.drop_ranks_without_device_activity();
        job
    };
    let json = |value: serde_json::Result<String>| value.expect("JSON");
    let mut profiled = job();
    let joined = join(&mut profiled, &JoinOptions::default());
    let found = profile(&profiled, &joined, &Options::default(), &OneByOne).expect("a profile");
    let passes = railwright_profiler::pipeline::from_job::passes(&profiled, &joined);
    let stragglers = straggler_report(&mut job(), &JoinOptions::default());
    let communication = communication_report(&mut job(), &JoinOptions::default());
    vec![
        ("waterfall", json(serde_json::to_string(&found.waterfall.steps))),
        ("windows", json(serde_json::to_string(&found.windows))),
        ("report", json(serde_json::to_string(&found.report))),
        ("passes", format!("{:?}", passes.map_err(|problem| problem.to_string()))),
        ("stragglers", json(serde_json::to_string(&stragglers))),
        ("charged waits", format!("{:?}", stragglers.charged)),
        ("communication", json(serde_json::to_string(&communication))),
    ]
}

fn agree(what: &str, traces: &[RankTrace]) -> Vec<Digest> {
    assert!(!traces.is_empty(), "{what}: no trace");
    let made: Vec<Digest> = traces.iter().map(digest).collect();
    let short = answers(&made.iter().map(again).collect::<Vec<_>>());
    for ((name, whole), (_, short)) in answers(traces).into_iter().zip(short) {
        if whole != short {
            let at = whole.bytes().zip(short.bytes()).take_while(|(a, b)| a == b).count();
            let part = |text: &str| text.chars().skip(at.saturating_sub(120)).take(320).collect::<String>();
            panic!("{what}, {name}:\n trace  ...{}\n digest ...{}", part(&whole), part(&short));
        }
    }
    made
}

#[test]
fn recorded_jobs_and_their_digests_agree() {
    for folder in [
        "modded_nanogpt_h100/ab",
        "param_dlrm_8r",
        "torchrec_v100_4r",
        "kineto_tb_2021",
        "generated_torch215_gloo_pp2dp2",
        "hta_samples/amd_trace",
        "tracelens_samples",
        "format_samples",
    ] {
        let traces = fixture(folder);
        // Samples of formats are not one job, so each is read alone.
        if matches!(folder, "tracelens_samples" | "format_samples" | "kineto_tb_2021") {
            for trace in traces {
                let label = trace.identity.label.clone();
                agree(&label, &[trace]);
            }
        } else if !traces.is_empty() {
            agree(folder, &traces);
        }
    }
}

#[test]
fn rows_of_the_host_are_left_out_where_nothing_reads_them() {
    let made = agree("a rank of eight", &fixture("modded_nanogpt_h100/ab"));
    let whole = fixture("modded_nanogpt_h100/ab");
    for (digest, trace) in made.iter().zip(&whole) {
        let (rows, all) = (digest.trace.host.len(), trace.host.len());
        assert!(digest.reduced && rows < all, "{rows} of {all} rows of the host are left");
    }
}

proptest! {
    #![proptest_config(railwright_cases::cases(12))]
    #[test]
    fn synthetic_jobs_and_their_digests_agree(
        jitter in 0_u64..200,
        tensor in 1_u32..3,
        experts in 1_u32..3,
        described in any::<bool>(),
        slow in proptest::option::of((0_u32..2, 1.0_f64..1.4)),
        pause in proptest::option::of((0_u32..2, 0_u32..3, 100_000_i64..4_000_000)),
        overlapped in any::<bool>(),
    ) {
        let plan = Synthetic {
            jitter,
            tensor,
            experts,
            described,
            overlapped,
            slow_chip: slow.into_iter().collect(),
            stalls: pause.into_iter().collect(),
            ..Synthetic::default()
        };
        let traces: Vec<RankTrace> = plan.job().members.into_iter().map(|member| member.trace).collect();
        agree("synthetic", &traces);
    }
}
