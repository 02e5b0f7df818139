//! Differences between traces of several years, devices and writers, on real files: each test covers a
//! pitfall for readers.

use railwright_profiler::RankTrace;
use railwright_profiler::readers::{Keep, Recording, detect, inflate};
use railwright_profiler::trace::{DamageKind, GpuKind, HostKind, NONE, Source};
use railwright_step::CollectiveKind;
use std::collections::BTreeSet;
use std::path::PathBuf;

fn read(path: &str) -> RankTrace {
    let folder: PathBuf = [env!("CARGO_MANIFEST_DIR"), "../../fixtures/traces"].iter().collect();
    let bytes = std::fs::read(folder.join(path)).unwrap_or_else(|e| panic!("{path}: {e}"));
    trace(path, &inflate(&bytes).unwrap_or_else(|e| panic!("{path}: {e}")), Keep::default())
}

fn trace(label: &str, bytes: &[u8], keep: Keep) -> RankTrace {
    let reader = detect(&bytes[..bytes.len().min(1 << 16)]).unwrap_or_else(|| panic!("{label}: no reader"));
    match reader.read(label, bytes, keep).unwrap_or_else(|e| panic!("{label}: {e}")).pop() {
        Some(Recording::Rank(trace)) => *trace,
        other => panic!("{label}: {other:?}"),
    }
}

fn named<'a>(trace: &'a RankTrace, name: &'a str) -> impl Iterator<Item = usize> + 'a {
    trace
        .gpu
        .names()
        .iter()
        .enumerate()
        .filter(move |(_, id)| trace.names.get(**id).starts_with(name))
        .map(|(at, _)| at)
}

#[test]
fn in_2021_categories_are_capitalised_and_threads_are_strings() {
    let trace = read("kineto_tb_2021/r50_nw0_w0_a.pt.trace.json.gz");
    let kinds = |kind| trace.gpu.kinds().iter().filter(|k| **k == kind).count();
    assert_eq!((kinds(GpuKind::Kernel), kinds(GpuKind::Annotation)), (8772, 0));
    assert!(kinds(GpuKind::Copy) > 0 && kinds(GpuKind::Set) > 0);
    // `stream 7` as a thread, and steps among the operators.
    assert!(trace.gpu.streams().contains(&7) && !trace.gpu.streams().contains(&NONE));
    let is_step = |name| trace.names.get(name).starts_with("ProfilerStep#");
    let steps: Vec<_> = trace.host.iter().filter(|r| is_step(r.name)).collect();
    assert!(steps.len() >= 6 && steps.iter().all(|r| r.kind == HostKind::Annotation));
    // The process with and without quotes is the same row.
    let threads: BTreeSet<u32> = trace.host.iter().map(|r| r.thread).collect();
    assert!(threads.len() <= 4, "{threads:?}");
}

#[test]
fn relative_times_have_their_base_and_are_exact() {
    let trace = read("megatron_tp2_v100/rank0.9c44bd29b3f0_1375.1724066820235157909.pt.trace.json.gz");
    assert_eq!(trace.identity.base, Some(1_719_853_884_000_000_000));
    // "ts": 4212936072998.236, "dur": 22.879 after that base.
    let start = 1_719_853_884_000_000_000 + 4_212_936_072_998_236;
    let at = named(&trace, "ncclDevKernel_AllReduce").next().unwrap_or_default();
    let row = trace.gpu.get(at).unwrap_or_default();
    assert_eq!(
        (row.start, row.end - row.start, row.stream, row.correlation),
        (start, 22_879, 22, Some(23642))
    );
    // 2024-08-19, the date of the file.
    assert_eq!(row.start / 86_400_000_000_000, 19_954);
}

#[test]
fn collectives_have_kind_bytes_and_group() {
    let trace = read("megatron_tp2_v100/rank0.9c44bd29b3f0_1375.1724066820235157909.pt.trace.json.gz");
    let at = named(&trace, "ncclDevKernel_AllReduce").next().unwrap_or_default();
    let call = &trace.collectives[trace.gpu.get(at).and_then(|r| r.collective).unwrap_or(NONE) as usize];
    assert_eq!(
        (call.kind, call.elements_in, call.element_bytes),
        (Some(CollectiveKind::AllReduce), Some(6144), Some(4))
    );
    let group = &trace.groups[call.group.unwrap_or(NONE) as usize];
    // `undefined` is not a description.
    assert_eq!(
        (group.name.as_str(), group.ranks.clone(), group.description.clone()),
        ("13", Some(vec![0, 1]), None)
    );
    assert!(trace.groups.len() >= 7, "the groups that the head lists");
    // The host agrees, and waits are not a kind of collective.
    let host: Vec<_> = trace.host.iter().filter(|r| r.kind == HostKind::Collective).collect();
    let kinds: BTreeSet<Option<CollectiveKind>> =
        host.iter().filter_map(|r| r.collective).map(|c| trace.collectives[c as usize].kind).collect();
    assert_eq!(kinds, BTreeSet::from([None, Some(CollectiveKind::AllReduce)]));
}

#[test]
fn on_rocm_the_stream_may_be_zero() {
    let trace = read("hta_samples/amd_trace/mi250_minitoy_train_ROCm6_2_kineto.json.gz");
    let kernels: Vec<_> = trace.gpu.iter().filter(|r| r.kind == GpuKind::Kernel).collect();
    assert_eq!(kernels.len(), 14);
    assert!(kernels.iter().all(|r| r.stream == 0 && r.correlation.is_some()));
    assert_eq!(trace.identity.device, Some(2));
    assert!(read("format_samples/mi350x_rocm.pt.trace.json.gz").gpu.len() >= 20);
}

#[test]
fn without_a_device_gloo_records_what_is_communicated() {
    let trace = read("generated_torch215_gloo_pp2dp2/rank1_step5.pt.trace.json.gz");
    assert!(trace.gpu.is_empty());
    assert_eq!((trace.identity.rank, trace.identity.host.as_deref()), (Some(1), Some("vm")));
    let calls: Vec<_> =
        trace.host.iter().filter_map(|r| r.collective).map(|c| &trace.collectives[c as usize]).collect();
    let of = |kind| calls.iter().filter(|c| c.kind == Some(kind)).count();
    assert!(
        of(CollectiveKind::Send) > 0 && of(CollectiveKind::Receive) > 0 && of(CollectiveKind::AllReduce) > 0
    );
    let sum = calls
        .iter()
        .find(|c| c.kind == Some(CollectiveKind::AllReduce))
        .map(|c| (c.elements_in, c.element_bytes));
    assert_eq!(sum, Some((Some(65_536), Some(4))));
    let groups: Vec<_> = trace.groups.iter().filter_map(|g| g.description.as_deref()).collect();
    assert_eq!(groups, ["default_pg", "mesh_dp", "mesh_pp"]);
}

#[test]
fn an_array_with_times_as_strings_and_processes_instead_of_categories() {
    let trace = read("format_samples/ascend_trace_view.json.gz");
    // 276 rows of "Ascend Hardware" on stream 3; the rows of "Overlap Analysis" only repeat them.
    assert_eq!(trace.gpu.len(), 276);
    assert!(trace.gpu.streams().iter().all(|&s| s == 3));
    let derived = trace.report.left_out.iter().find(|(what, _)| what == "derived rows");
    assert_eq!(derived.map(|(_, count)| *count), Some(547));
    // "ts": "1704161511420306.491" to the nanosecond.
    assert!(trace.host.starts().contains(&1_704_161_511_420_306_491));
    let runtime = trace.host.kinds().iter().filter(|k| **k == HostKind::Runtime).count();
    assert_eq!(runtime, 148 + 148 + 68 + 191 + 51 + 72);
}

#[test]
fn begins_and_ends_are_joined() {
    let trace = read("format_samples/ibm_aiu_allreduce_tp4.json.gz");
    assert_eq!((trace.identity.source, trace.host.len(), trace.report.events), (Source::ChromeTrace, 28, 56));
    assert_eq!(trace.report.count(DamageKind::UnmatchedBegin), 0);
    let first = trace
        .host
        .iter()
        .find(|r| trace.names.get(r.name) == "add_11 Cmpt Prep" && r.end - r.start == 1_088_802);
    assert!(first.is_some(), "from 2097962447511.067 to 2097962448599.869 us");
    let text = r#"[{"ph": "B", "name": "a", "ts": 1, "pid": 0, "tid": 0}, {"ph": "E", "ts": 2, "pid": 0, "tid": 1}]"#;
    let lone = self::trace("lone", text.as_bytes(), Keep::default());
    assert_eq!((lone.host.len(), lone.report.count(DamageKind::UnmatchedBegin)), (0, 2));
}

#[test]
fn kernels_without_launches_and_before_them_are_kept() {
    let trace = read("param_dlrm_8r/worker1_step_12.1694128201556.pt.trace.json.gz");
    let calls: BTreeSet<u32> = trace.host.iter().filter_map(|r| r.correlation).collect();
    let lone = trace
        .gpu
        .iter()
        .filter(|r| r.kind == GpuKind::Kernel && r.correlation.is_none_or(|c| !calls.contains(&c)));
    assert_eq!(lone.count(), 64);
}

#[test]
fn a_trace_of_a_device_alone_and_one_without_a_rank() {
    let alone = read("tracelens_samples/mi210_gpu_only_trace_gpu_only_trace.json.gz");
    assert_eq!((alone.gpu.len(), alone.host.iter().all(|r| r.kind == HostKind::Runtime)), (562, true));
    assert_eq!(read("hta_samples/rank_unavailable/rank_not_found.json.gz").identity.rank, None);
    assert_eq!(
        read("hta_samples/distributed_info_unavailable/distributed_info_not_found.json.gz").identity.backend,
        None
    );
}

#[test]
fn functions_of_python_are_kept_when_asked_for() {
    let folder: PathBuf =
        [env!("CARGO_MANIFEST_DIR"), "../../fixtures/traces/tracelens_samples"].iter().collect();
    let bytes =
        std::fs::read(folder.join("h100_gaunernst_bert-small-uncased__1016001.json.gz")).unwrap_or_default();
    let bytes = inflate(&bytes).unwrap_or_default();
    let count = |keep| {
        let trace = trace("h100", &bytes, keep);
        trace.host.kinds().iter().filter(|k| **k == HostKind::Python).count()
    };
    assert_eq!((count(Keep::default()), count(Keep { python: true })), (0, 1385));
}

#[test]
fn shapes_are_kept_where_they_determine_work() {
    let trace = read("modded_nanogpt_h100/ab/current-rank0.json.gz");
    let shapes: Vec<_> = trace
        .host
        .iter()
        .filter_map(|r| r.shapes.map(|s| (trace.names.get(r.name), trace.names.get(s))))
        .collect();
    assert!(
        shapes.iter().any(|(name, shape)| name.ends_with("mm") && shape.starts_with("[[")),
        "{:?}",
        shapes.first()
    );
    let group = trace.groups.iter().find(|g| g.name == "0").and_then(|g| g.ranks.clone());
    assert_eq!(group, Some((0..8).collect()));
}
