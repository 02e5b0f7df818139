//! Traces of inference servers: steps by mode, the waterfall of each mode, no advice on training.

use crate::support;
use railwright_profiler::joined::{JoinOptions, join};
use railwright_profiler::profile::{OneByOne, Options, Report, profile};
use railwright_profiler::serving::{Mode, ModeRow, Server};
use railwright_profiler::trace::{GpuActivity, HostActivity, HostKind, RankTrace};
use railwright_profiler::windows::CutBy;
use railwright_profiler::{Job, RankTrace as Trace};

fn report(mut job: Job, options: &Options) -> Report {
    let joined = join(&mut job, &JoinOptions::default());
    profile(&job, &joined, options, &OneByOne).expect("a profile").report
}

fn recorded(file: &str) -> Report {
    let options = Options { accelerator: Some("mi300x".to_owned()), ..Options::default() };
    report(support::job(&[format!("inference/{file}.json.gz")]), &options)
}

fn modes(report: &Report) -> &[ModeRow] {
    &report.serving.as_ref().expect("a report on inference").modes
}

/// Words that only make sense in training.
const TRAINING: [&str; 10] = [
    "gradient",
    "micro-batch",
    "micro batch",
    "optimizer",
    "recompute",
    "backward",
    "--tp-comm-overlap",
    "data loading",
    "num_workers",
    "epoch",
];

fn advises_no_training(report: &Report) {
    for finding in &report.findings {
        for word in TRAINING {
            assert!(!finding.advice.contains(word) && !finding.message.contains(word), "{finding:#?}");
        }
        assert!(
            !["optimizer", "recompute", "varying-steps", "step-time-drift", "unused-overlap"]
                .contains(&finding.id.as_str()),
            "{finding:#?}"
        );
    }
    assert!(report.warnings.iter().all(|warning| warning.id != "trace-unknown-mfu"), "{:?}", report.warnings);
}

/// Counted in the file by another program: kernels with the correlation of `hipGraphLaunch` take 98.88% of
/// the kernels' time.
#[test]
fn a_decode_step_of_sglang() {
    let report = recorded("sglang_qwen3_8b_decode");
    assert_eq!(report.cut_by, Some(CutBy::InferenceSteps));
    let serving = report.serving.as_ref().expect("a report on inference");
    assert_eq!(serving.server, Server::Sglang);
    let [decode] = modes(&report) else { panic!("{serving:#?}") };
    assert_eq!((decode.mode, decode.steps, decode.generation_requests), (Mode::Decode, 1, Some(32.0)));
    assert!((decode.graph_share - 0.9888).abs() < 2e-3, "{decode:?}");
    let parts: f64 = decode.groups_ns.iter().sum();
    assert!((parts - decode.mean_ns).abs() <= 1.0, "{decode:?}");
    advises_no_training(&report);
}

/// Likewise 97.32% and 96.10%.
#[test]
fn steps_of_vllm_in_full_and_piecewise_graphs() {
    let report = recorded("vllm_decode_full_graph");
    let [decode] = modes(&report) else { panic!("{:#?}", report.serving) };
    assert_eq!(
        (decode.mode, decode.generation_tokens, decode.context_tokens),
        (Mode::Decode, Some(32.0), Some(0.0))
    );
    assert!((decode.graph_share - 0.9732).abs() < 5e-3, "{decode:?}");
    advises_no_training(&report);
    let report = recorded("vllm_mixed_piecewise_graphs");
    let [mixed] = modes(&report) else { panic!("{:#?}", report.serving) };
    assert_eq!(
        (mixed.mode, mixed.context_requests, mixed.generation_requests),
        (Mode::Mixed, Some(9.0), Some(37.0))
    );
    assert_eq!((mixed.context_tokens, mixed.generation_tokens), (Some(8155.0), Some(37.0)));
    assert!((mixed.graph_share - 0.9610).abs() < 5e-3, "{mixed:?}");
    let rate = 8192.0 / (mixed.mean_ns * 1e-9);
    assert!((mixed.tokens_per_s.expect("tokens") / rate - 1.0).abs() < 1e-9);
    advises_no_training(&report);
}

const MS: i64 = 1_000_000;

/// A server's rank: a step for each name, launched ahead of the device, with `long` milliseconds of kernels
/// each. It follows `late` steps that were not recorded.
fn rank(number: u32, steps: &[(&str, i64)], late: usize) -> Trace {
    let mut trace = RankTrace::default();
    trace.identity.rank = Some(number);
    trace.identity.world_size = Some(2);
    let (mut host, mut device, mut id) = (1_700_000_000_000_000_000, 1_700_000_000_000_000_000 + 50_000, 0);
    for (at, (name, long)) in steps.iter().enumerate() {
        host = host.max(device - MS / 2);
        let start = host;
        for _ in 0..*long {
            id += 1;
            host += 10_000;
            let begin = device.max(host);
            device = begin + MS;
            if at < late {
                continue;
            }
            let call = trace.names.intern("cudaGraphLaunch");
            let correlation = Some(id);
            let kind = HostKind::Runtime;
            trace.host.push(HostActivity {
                start: host - 5_000,
                end: host - 1_000,
                name: call,
                kind,
                correlation,
                ..HostActivity::default()
            });
            let name = trace.names.intern("nvjet_tst_256x128_64x4_2x1_v_bz_coopA_TNT");
            trace.gpu.push(GpuActivity {
                start: begin,
                end: device,
                name,
                stream: 7,
                correlation,
                ..GpuActivity::default()
            });
        }
        if at >= late {
            let name = trace.names.intern(name);
            let kind = HostKind::Annotation;
            trace.host.push(HostActivity { start, end: host, name, kind, ..HostActivity::default() });
        }
    }
    trace.gpu.sort();
    trace.host.sort();
    trace
}

#[test]
fn modes_of_a_recording_are_apart_and_ranks_that_began_later_are_counted_alike() {
    let steps = [
        ("step[EXTEND bs=2 toks=4000]", 40),
        ("step[DECODE bs=16]", 5),
        ("step[DECODE bs=16]", 5),
        ("step[MIXED bs=17 c=1 g=16 c_sq=1000 c_sk=1000 g_sq=16 g_sk=9000]", 12),
        ("step[DECODE bs=17]", 5),
        ("step[DECODE bs=17]", 6),
    ];
    for late in [0, 1] {
        let job = Job::new(vec![rank(0, &steps, 0), rank(1, &steps, late)]);
        let report = report(job, &Options::default());
        // A step that one of two ranks lacks is excluded.
        let prefills = usize::from(late == 0);
        assert_eq!(
            (report.cut_by, report.steps.len()),
            (Some(CutBy::InferenceSteps), 5 + prefills),
            "{late} {:?}",
            report.warnings
        );
        let of = |mode: Mode| modes(&report).iter().find(|row| row.mode == mode);
        assert_eq!(of(Mode::Prefill).map_or(0, |row| row.steps), prefills);
        let decode = of(Mode::Decode).expect("decode steps");
        assert_eq!((decode.steps, decode.median_ns, decode.longest_ns), (4, 5 * MS, 6 * MS), "{decode:?}");
        assert_eq!(decode.generation_tokens, Some(16.5));
        let mixed = of(Mode::Mixed).expect("a mixed step");
        assert_eq!((mixed.context_tokens, mixed.mean_ns), (Some(1000.0), 12.0 * MS as f64));
        assert!(
            (mixed.graph_share - 1.0).abs() < 1e-12
                && (mixed.tokens_per_s.expect("tokens") - 1016.0 / 12e-3).abs() < 1.0
        );
        // Prefill of 40 ms and decode of 5 ms are different kinds of steps.
        assert!(
            report.warnings.iter().all(|warning| warning.id != "steps-do-not-repeat"),
            "{:?}",
            report.warnings
        );
        advises_no_training(&report);
    }
}
