//! Digests are read back exactly; damaged or hostile files are rejected.

use super::*;
use bytes::Bytes;
use railwright_profiler::digest::digest;
use railwright_profiler::testing::Synthetic;

fn bytes() -> Vec<u8> {
    let plan = Synthetic { tensor: 2, data: 2, ..Synthetic::default() };
    write_digest(&digest(&plan.job().members.swap_remove(1).trace)).expect("a digest")
}

#[test]
fn what_is_written_comes_back_equal() {
    for member in Synthetic::default().job().members {
        let mut made = digest(&member.trace);
        let packed = write_digest(&made).expect("a digest");
        assert_eq!(packed, write_digest(&made).expect("a digest"), "the same bytes each time");
        made.trace.identity.label = "x".to_owned();
        assert_eq!(packed, write_digest(&made).expect("a digest"), "the same bytes for any path");
        let read = read_digest("x", &Bytes::from(packed)).expect("a trace");
        assert!(read.identity.digest);
        assert_eq!(read, made.trace);
    }
}

/// With any wrong byte or end of file, the result is the same trace or a problem.
#[test]
fn flipped_and_missing_bytes_are_refused() {
    let whole = bytes();
    let truth = read_digest("x", &Bytes::from(whole.clone())).expect("a trace");
    for at in (0..whole.len()).step_by(41) {
        let mut bad = whole.clone();
        bad[at] ^= 0x5a;
        if let Ok(read) = read_digest("x", &Bytes::from(bad)) {
            assert_eq!((read.gpu, read.host), (truth.gpu.clone(), truth.host.clone()), "byte {at}");
            assert_eq!((read.identity.rank, read.groups.len()), (truth.identity.rank, truth.groups.len()));
        }
        assert!(read_digest("x", &Bytes::copy_from_slice(&whole[..at])).is_err(), "cut at {at}");
    }
}

/// A digest with forged columns or metadata and a correct checksum.
fn forged(change: impl Fn(&mut railwright_profiler::digest::Digest)) -> String {
    let mut made = digest(&Synthetic::default().job().members.swap_remove(0).trace);
    change(&mut made);
    let packed = write_digest(&made).expect("bytes");
    read_digest("x", &Bytes::from(packed)).expect_err("hostile").to_string()
}

#[test]
fn hostile_values_are_refused() {
    use railwright_profiler::trace::{GpuActivity, LIMIT};
    let backwards =
        forged(|made| made.trace.gpu.push(GpuActivity { start: 9, end: 3, ..GpuActivity::default() }));
    assert!(
        backwards.contains("ends before it starts") || backwards.contains("starts before"),
        "{backwards}"
    );
    let beyond = forged(|made| {
        made.trace.gpu.push(GpuActivity { start: LIMIT, end: i64::MAX, ..GpuActivity::default() });
    });
    assert!(beyond.contains("years"), "{beyond}");
    let huge = forged(|made| {
        let last = made.trace.gpu.ends().iter().copied().max().unwrap_or(0);
        let row = GpuActivity { start: last, end: last, bytes: u64::MAX, ..GpuActivity::default() };
        made.trace.gpu.push(row);
    });
    assert!(huge.contains("exabytes"), "{huge}");
    let group = forged(|made| made.trace.groups.clear());
    assert!(group.contains("refers to a missing group"), "{group}");
}

#[test]
fn newer_versions_are_refused() {
    let text = r#"{"version": 2, "written_by": "railwright 9.0", "identity": {}}"#.to_owned();
    let field = crate::parquet::Field { name: "lane", values: crate::parquet::Values::Texts(vec!["device"]) };
    let packed = crate::parquet::write_with(&[field], &[(KEY, text)]).expect("a table");
    let problem = read_digest("x", &Bytes::from(packed)).expect_err("newer").to_string();
    assert!(problem.contains("has version 2, written by railwright 9.0"), "{problem}");
}
