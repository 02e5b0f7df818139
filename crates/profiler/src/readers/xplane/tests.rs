//! A profile made from the published schema.

use super::super::wire::encode::{bytes, number};
use super::*;

/// A metadata map entry.
fn metadata(field: u64, id: u64, name: &str) -> Vec<u8> {
    bytes(field, &[number(1, id), bytes(2, &[number(1, id), bytes(2, name.as_bytes())].concat())].concat())
}

/// An event: kind, start and duration in nanoseconds, stats as (number of the name, value).
fn event(kind: u64, start: u64, duration: u64, stats: &[(u64, u64)]) -> Vec<u8> {
    let stats = stats.iter().map(|(id, value)| bytes(4, &[number(1, *id), number(3, *value)].concat()));
    let head = [number(1, kind), number(2, start * 1000), number(3, duration * 1000)].concat();
    bytes(4, &[head, stats.collect::<Vec<_>>().concat()].concat())
}

fn line(name: &str, start: u64, events: &[Vec<u8>]) -> Vec<u8> {
    bytes(3, &[bytes(2, name.as_bytes()), number(3, start), events.concat()].concat())
}

fn plane(name: &str, parts: &[Vec<u8>]) -> Vec<u8> {
    bytes(1, &[bytes(2, name.as_bytes()), parts.concat()].concat())
}

/// Two GPUs of one process, launched by one thread, each within a step.
fn profile() -> Vec<u8> {
    let gpu = |at: u64| {
        plane(
            &format!("/device:GPU:{at}"),
            &[
                line(
                    "Stream #7(Kernel)",
                    5_000,
                    &[event(1, 100, 50, &[(1, 10 + at)]), event(2, 200, 30, &[(1, 20 + at)])],
                ),
                line("XLA Ops", 5_000, &[event(3, 100, 130, &[]), event(1, 110, 20, &[])]),
                line("Framework Ops", 5_000, &[event(1, 100, 50, &[])]),
                metadata(4, 1, "loop_fusion"),
                metadata(4, 2, "MemcpyD2H"),
                metadata(4, 3, "while.1"),
                metadata(5, 1, "correlation_id"),
                metadata(5, 2, "memory_size"),
                bytes(6, &[number(1, 2), number(3, 80 << 30)].concat()),
            ],
        )
    };
    [
        gpu(0),
        gpu(1),
        plane(
            "/host:CPU",
            &[
                line(
                    "python3",
                    5_000,
                    &[
                        event(1, 0, 400, &[(2, 3)]),
                        event(2, 20, 5, &[(1, 10)]),
                        event(2, 30, 5, &[(1, 11)]),
                        event(3, 40, 5, &[]),
                    ],
                ),
                metadata(4, 1, "train"),
                metadata(4, 2, "cuLaunchKernel"),
                metadata(4, 3, "$model.py:12 forward"),
                metadata(5, 1, "correlation_id"),
                metadata(5, 2, "step_num"),
            ],
        ),
        plane(
            "Task Environment",
            &[
                metadata(5, 1, "profile_start_time"),
                bytes(6, &[number(1, 1), number(3, 1_700_000_000_000_000_000)].concat()),
            ],
        ),
        bytes(4, b"node3"),
    ]
    .concat()
}

fn ranks(bytes: &[u8]) -> Vec<RankTrace> {
    let rank = |recording| match recording {
        Recording::Rank(trace) => Some(*trace),
        _ => None,
    };
    XPlane.read("t.xplane.pb", bytes, Keep::default()).expect("traces").into_iter().filter_map(rank).collect()
}

#[test]
fn each_device_is_a_trace_with_the_calls_that_launched_on_it() {
    let profile = profile();
    assert!(XPlane.matches(&profile) && XPlane.matches(&profile[..64]));
    let traces = ranks(&profile);
    assert_eq!(traces.len(), 2);
    for (at, trace) in traces.iter().enumerate() {
        let identity = &trace.identity;
        assert_eq!(identity.label, format!("t.xplane.pb (/device:GPU:{at})"));
        assert_eq!((identity.device, identity.host.as_deref()), (Some(at as u32), Some("node3")));
        assert_eq!(identity.devices[0].memory_bytes, Some(80 << 30));
        let rows: Vec<(i64, &str, GpuKind, u32)> = (trace.gpu.iter())
            .map(|row| {
                (row.start - 1_700_000_000_000_005_000, trace.names.get(row.name), row.kind, row.stream)
            })
            .collect();
        assert_eq!(
            rows,
            [
                (100, "loop_fusion", GpuKind::Kernel, 7),
                (100, "while.1", GpuKind::Annotation, 8),
                (110, "loop_fusion", GpuKind::Kernel, 8),
                (200, "MemcpyD2H", GpuKind::Copy, 7),
            ]
        );
        let host: Vec<(&str, HostKind, Option<u32>)> =
            trace.host.iter().map(|row| (trace.names.get(row.name), row.kind, row.correlation)).collect();
        assert_eq!(
            host,
            [
                ("step_3", HostKind::Annotation, None),
                ("cuLaunchKernel", HostKind::Runtime, Some(10 + at as u32)),
            ]
        );
        let left_out = |what: &str| trace.report.left_out.iter().any(|(name, _)| name == what);
        assert!(left_out("lines derived from others") && left_out("Python functions"));
    }
}

#[test]
fn no_cut_panics_and_other_bytes_are_not_known() {
    let profile = profile();
    for cut in 0..profile.len() {
        let _ = XPlane.read("cut.pb", &profile[..cut], Keep { python: true });
    }
    for other in [&b"{\"traceEvents\": []}"[..], b"", b"\x0a", b"\x0a\x05hello", b"SQLite format 3\0"] {
        assert!(!XPlane.matches(other), "{other:?}");
    }
}

/// Four times the devices take about four times as long; quadratic time would be sixteen times.
#[cfg(target_os = "linux")]
#[test]
fn devices_take_time_by_their_number() {
    use crate::testing::processor_seconds;
    let time = |devices: u64| {
        let gpu = |at: u64| {
            let line = line("Stream #7(Kernel)", 5_000, &[event(1, 100, 50, &[(1, 10 + at)])]);
            let names = [metadata(4, 1, "fusion"), metadata(5, 1, "correlation_id")];
            plane(&format!("/device:GPU:{at}"), &[line, names.concat()])
        };
        let bytes: Vec<u8> = (0..devices).flat_map(gpu).collect();
        let begun = processor_seconds();
        let traces = XPlane.read("x", &bytes, Keep::default()).expect("a profile");
        assert_eq!(traces.len() as u64, devices);
        processor_seconds() - begun
    };
    let (one, four) = (time(500), time(2000));
    assert!(four < one * 9.0 + 0.05, "{one:.3} s, four times as many {four:.3} s");
}
