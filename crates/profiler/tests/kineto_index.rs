//! Every PyTorch trace of the collection, compared with its row of `INDEX.csv`.

use railwright_profiler::RankTrace;
use railwright_profiler::readers::{Keep, Recording, detect, inflate};
use railwright_profiler::trace::GpuKind;
use std::path::PathBuf;

fn folder() -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "../../fixtures/traces"].iter().collect()
}

fn read(path: &str) -> RankTrace {
    let bytes = std::fs::read(folder().join(path)).unwrap_or_else(|e| panic!("{path}: {e}"));
    let bytes = inflate(&bytes).unwrap_or_else(|e| panic!("{path}: {e}"));
    let reader = detect(&bytes[..bytes.len().min(1 << 16)]).unwrap_or_else(|| panic!("{path}: no reader"));
    let mut recordings = reader.read(path, &bytes, Keep::default()).unwrap_or_else(|e| panic!("{path}: {e}"));
    match recordings.pop() {
        Some(Recording::Rank(trace)) => *trace,
        other => panic!("{path}: {other:?}"),
    }
}

#[test]
fn counts_and_identities_are_those_of_the_index() {
    let index = std::fs::read_to_string(folder().join("INDEX.csv")).unwrap_or_default();
    let mut rows = csv::Reader::from_reader(index.as_bytes());
    let heads = rows.headers().cloned().unwrap_or_default();
    let mut seen = 0;
    for row in rows.records() {
        let row = row.unwrap_or_else(|e| panic!("{e}"));
        let column =
            |name: &str| heads.iter().position(|h| h == name).and_then(|at| row.get(at)).unwrap_or_default();
        let path = column("file");
        if !folder().join(path).exists() {
            continue;
        }
        seen += 1;
        let trace = read(path);
        let number = |name: &str| column(name).parse::<u64>().ok();
        assert_eq!(Some(trace.report.bytes), number("raw_bytes"), "{path}");
        assert_eq!(Some(trace.report.events), number("events"), "{path}");
        assert_eq!(trace.identity.rank.map(u64::from), number("rank"), "{path}");
        assert_eq!(trace.identity.world_size.map(u64::from), number("world_size"), "{path}");
        if trace.identity.device.is_some() && !column("device").is_empty() {
            assert_eq!(trace.identity.devices[0].name, column("device"), "{path}");
        }
        let kernels: Vec<_> = trace.gpu.iter().filter(|r| r.kind == GpuKind::Kernel).collect();
        if !path.contains("ascend") {
            assert_eq!(Some(kernels.len() as u64), number("kernels"), "{path}");
        }
        let nccl = kernels.iter().filter(|r| trace.names.get(r.name).starts_with("nccl")).count() as u64;
        assert_eq!(Some(nccl), number("nccl_kernels"), "{path}");
        if column("collective_metadata_on") == "kernel" {
            assert!(kernels.iter().any(|r| r.collective.is_some()), "{path}");
        }
        if let Some(span) = column("gpu_span_us").parse::<f64>().ok().filter(|&s| s > 0.0) {
            let first = kernels.iter().map(|r| r.start).min().unwrap_or_default();
            let last = kernels.iter().map(|r| r.end).max().unwrap_or_default();
            let ours = (last - first) as f64 / 1000.0;
            assert!((ours - span).abs() < 1.0, "{path}: {ours} instead of {span}");
        }
    }
    assert!(seen >= 40, "only {seen} traces were found");
}
