//! Files made from the published schema.

use super::super::wire::encode::{bytes, number};
use super::*;
use railwright_step::CollectiveKind;

fn prefix(message: &[u8]) -> Vec<u8> {
    let mut all = super::super::wire::encode::varint(message.len() as u64);
    all.extend_from_slice(message);
    all
}

fn attribute(name: &str, field: u64, value: u64) -> Vec<u8> {
    bytes(10, &[bytes(1, name.as_bytes()), number(field, value)].concat())
}

fn node(id: u64, name: &str, kind: u64, on: [u64; 2], rest: &[Vec<u8>]) -> Vec<u8> {
    let head =
        [number(1, id), bytes(2, name.as_bytes()), number(3, kind), number(6, on[0]), number(7, on[1])]
            .concat();
    prefix(&[head, rest.concat()].concat())
}

fn file() -> Vec<u8> {
    let group = bytes(10, &[bytes(1, b"pg_name"), bytes(29, b"tp")].concat());
    [
        prefix(&bytes(1, b"0.0.4")),
        node(
            1,
            "aten::mm",
            4,
            [10, 30],
            &[
                attribute("is_cpu_op", 27, 1),
                attribute("tid", 9, 7),
                bytes(8, &bytes(2, b"[[4, 5], [5, 6]]")),
            ],
        ),
        node(2, "cudaLaunchKernel", 4, [12, 5], &[attribute("is_cpu_op", 27, 1), attribute("tid", 9, 7)]),
        // Packed dependencies, as in proto3.
        node(
            3,
            "sm90_gemm",
            4,
            [40, 100],
            &[attribute("is_cpu_op", 27, 0), attribute("stream", 9, 7), bytes(5, &[2])],
        ),
        node(
            4,
            "ncclDevKernel_AllReduce",
            7,
            [150, 50],
            &[
                attribute("is_cpu_op", 27, 0),
                attribute("comm_type", 9, 0),
                attribute("comm_size", 9, 4_096),
                group,
            ],
        ),
        node(5, "later", 4, [0, 0], &[]),
    ]
    .concat()
}

#[test]
fn nodes_with_times_are_a_trace() {
    let file = file();
    assert!(Chakra.matches(&file));
    let found = Chakra.read("rank.0.et", &file, Keep::default()).expect("a trace");
    let [Recording::Rank(trace)] = found.as_slice() else { panic!("one trace") };
    assert_eq!((trace.gpu.len(), trace.host.len(), trace.identity.source), (2, 2, Source::Chakra));
    let kernel = trace.gpu.get(0).expect("a kernel");
    assert_eq!((kernel.start, kernel.end, kernel.stream), (40_000, 140_000, 7));
    let call = trace.host.get(1).expect("a call");
    assert_eq!((call.kind, call.correlation), (HostKind::Runtime, kernel.correlation));
    assert!(kernel.correlation.is_some());
    let collective = &trace.collectives[0];
    assert_eq!((collective.kind, collective.elements_in), (Some(CollectiveKind::AllReduce), Some(4_096)));
    assert_eq!(trace.groups[collective.group.expect("a group") as usize].name, "tp");
    assert_eq!(trace.report.left_out, [("nodes without a time".to_owned(), 1)]);
}

#[test]
fn damage_costs_what_comes_after_it_and_files_without_times_are_refused() {
    let file = file();
    for cut in 0..file.len() {
        // No truncation causes a panic; the metadata and the first node are required for a result.
        let _ = Chakra.read("cut.et", &file[..cut], Keep::default());
    }
    let none = [prefix(&bytes(1, b"0.0.4")), node(5, "later", 4, [0, 0], &[])].concat();
    let problem = Chakra.read("order.et", &none, Keep::default()).expect_err("no times");
    assert!(problem.to_string().contains("none of them with a time"), "{problem}");
    assert!(!Chakra.matches(b"\x05hello\x03abc") && !Chakra.matches(b"") && !Chakra.matches(b"{\"a\": 1}"));
}
