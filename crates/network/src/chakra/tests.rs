//! Tests of Chakra execution traces: written and read, with the protocol's own figures and damaged files.

use super::*;
use crate::flow::listed::play;
use crate::simulate::Wiring;
use crate::topology::{DesignSpec, Kind, Routing};
use proptest::prelude::*;
use railwright_spec::quantity::BytesPerSecond;

/// A trace of ASTRA-sim's examples, `all_gather.0.et` of four ranks with 1 MB (astra-sim,
/// examples/workload/microbenchmarks), byte for byte.
const ALL_GATHER: &str = "070a05302e302e344812146\
    16c6c5f6761746865725f346e7075735f314d421807520e0a0969735f6370755f6f70d80100520d0a09636f6d6d5f747970654802520f0a09636f6d6d5f73697a6548808040";

fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<u8> = hex.bytes().filter_map(|c| (c as char).to_digit(16)).map(|d| d as u8).collect();
    digits.chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]).collect()
}

#[test]
fn traces_of_others_are_read() {
    let trace = read(&bytes(ALL_GATHER), "all_gather.0.et").expect("a trace");
    assert_eq!(trace.version, "0.0.4");
    let node = Node {
        id: 0,
        name: "all_gather_4npus_1MB".to_owned(),
        after: vec![],
        work: Work::Collective {
            kind: CollectiveKind::AllGather,
            input: Bytes::new(1_048_576.0),
            group: String::new(),
        },
    };
    assert_eq!(trace.nodes, [node]);
}

/// Gathering a part of 1 MiB of each of four ranks over a switch of 50 GB/s: three parts into each rank, in
/// three steps over two links.
#[test]
fn a_collective_takes_the_time_of_its_bytes() {
    let trace = read(&bytes(ALL_GATHER), "all_gather.0.et").expect("a trace");
    let program = Program::new(&vec![trace; 4], &BTreeMap::new(), 1).expect("a program");
    let spec = |latency: f64| DesignSpec {
        kind: Some(Kind::Clos),
        devices: Some(4),
        domain: Some(1),
        radix: Some(8),
        speed: Some(BytesPerSecond::from_gb(50.0)),
        routing: Some(Routing::Spray),
        link_latency: Some(Seconds::new(latency)),
        ..DesignSpec::default()
    };
    for latency in [0.0, 1e-6] {
        let wiring = Wiring::new(&spec(latency).resolve().expect("a design"), &[]).expect("a network");
        let (_, outcome) = play(&wiring, &program.flows, 0).expect("it ends");
        let expected = 3.0 * (1_048_576.0 / 50e9 + 2.0 * latency);
        assert!((outcome.duration.get() / expected - 1.0).abs() < 1e-9, "{:?}", outcome.duration);
    }
}

fn node(id: u64, after: &[u64], work: Work) -> Node {
    Node { id, name: format!("n{id}"), after: after.to_vec(), work }
}

/// Seconds that this thread was on a processor: other processes share the machine.
#[cfg(target_os = "linux")]
fn on_processor() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux");
    let nanoseconds = text.split_whitespace().next().and_then(|word| word.parse::<f64>().ok());
    nanoseconds.expect("a number") / 1e9
}

/// Four times the dependencies of a node, or calls of a group, take about four times as long; their square
/// would be sixteen.
#[cfg(target_os = "linux")]
#[test]
fn dependencies_and_calls_take_time_by_their_number() {
    type Make<'a> = &'a dyn Fn(u64) -> Vec<Trace>;
    let fan = |nodes: u64| {
        let mut all: Vec<Node> =
            (0..nodes).map(|id| node(id, &[], Work::Compute(Seconds::from_micros(1.0)))).collect();
        let after: Vec<u64> = (0..nodes).collect();
        all.push(node(nodes, &after, Work::Nothing("metadata")));
        vec![Trace { nodes: all, ..Trace::default() }]
    };
    let calls = |ranks: u64| {
        let work =
            Work::Collective { kind: CollectiveKind::Barrier, input: Bytes::ZERO, group: "all".to_owned() };
        let nodes: Vec<Node> = (0..16).map(|id| node(id, &[], work.clone())).collect();
        vec![Trace { nodes, ..Trace::default() }; ranks as usize]
    };
    for (what, make, size) in [("dependencies", &fan as Make<'_>, 10_000), ("calls", &calls, 256)] {
        let time = |size: u64| {
            let traces = make(size);
            let groups = BTreeMap::from([("all".to_owned(), (0..size as u32).collect())]);
            let begun = on_processor();
            let program = Program::new(&traces, &groups, 8).expect("a program");
            assert!(!program.flows.is_empty());
            on_processor() - begun
        };
        let (one, four) = (time(size), time(size * 4));
        assert!(four < one * 9.0 + 0.05, "{what}: {one:.3} s, four times as many {four:.3} s");
    }
}

#[test]
fn what_does_not_match_is_an_error_with_its_rank() {
    let send = Work::Send { to: 1, bytes: Bytes::new(8.0), tag: 3 };
    let receive = |tag| Work::Receive { from: 0, bytes: Bytes::new(8.0), tag };
    let trace = |nodes: Vec<Node>| Trace { nodes, ..Trace::default() };
    let fails = |traces: &[Trace]| Program::new(traces, &BTreeMap::new(), 8).expect_err("an error").message;
    let sender = trace(vec![node(0, &[], send.clone())]);
    assert!(
        Program::new(&[sender.clone(), trace(vec![node(0, &[], receive(3))])], &BTreeMap::new(), 8).is_ok()
    );
    let other_tag = fails(&[sender.clone(), trace(vec![node(0, &[], receive(4))])]);
    assert!(other_tag.contains("rank 0 sends no message with tag 4"), "{other_tag}");
    let lost = fails(&[sender, trace(vec![node(0, &[], Work::Nothing("metadata"))])]);
    assert!(lost.contains("rank 1 receives no message"), "{lost}");
    let reduce = |group: &str| Work::Collective {
        kind: CollectiveKind::AllReduce,
        input: Bytes::new(8.0),
        group: group.to_owned(),
    };
    let alone =
        fails(&[trace(vec![node(0, &[], reduce(""))]), trace(vec![node(0, &[], Work::Nothing("metadata"))])]);
    assert!(alone.contains("rank 1 calls 0 collectives"), "{alone}");
    let unknown = fails(&[trace(vec![node(0, &[], reduce("7"))])]);
    assert!(unknown.contains("no process group `7`"), "{unknown}");
    let early = fails(&[trace(vec![node(0, &[9], Work::Compute(Seconds::ZERO))])]);
    assert!(early.contains("node 9, which does not exist"), "{early}");
}

fn work() -> impl Strategy<Value = Work> {
    let bytes = (1_u64..1 << 40).prop_map(|bytes| Bytes::new(bytes as f64));
    let kind = prop::sample::select(vec![
        CollectiveKind::AllReduce,
        CollectiveKind::AllGather,
        CollectiveKind::ReduceScatter,
        CollectiveKind::AllToAll,
        CollectiveKind::Broadcast,
    ]);
    prop_oneof![
        (0_u64..1 << 30).prop_map(|micros| Work::Compute(Seconds::from_micros(micros as f64))),
        (any::<u16>(), bytes.clone(), any::<u16>()).prop_map(|(to, bytes, tag)| Work::Send {
            to: to.into(),
            bytes,
            tag: tag.into()
        }),
        (any::<u16>(), bytes.clone(), any::<u16>()).prop_map(|(from, bytes, tag)| Work::Receive {
            from: from.into(),
            bytes,
            tag: tag.into()
        }),
        (kind, bytes, "[1-9][0-9]{0,3}").prop_map(|(kind, input, group)| Work::Collective {
            kind,
            input,
            group
        }),
    ]
}

proptest! {
    #[test]
    fn traces_are_read_as_they_were_written(works in prop::collection::vec(work(), 1..20), damage in any::<(u16, u8)>()) {
        let nodes = works.into_iter().enumerate().map(|(n, work)| {
            let after: Vec<u64> = (0..n as u64).filter(|before| (before + n as u64).is_multiple_of(3)).collect();
            node(n as u64, &after, work)
        });
        let trace = Trace { version: SCHEMA.to_owned(), nodes: nodes.collect(), groups: BTreeMap::new() };
        let mut file = write(&trace);
        let again = read(&file, "t.0.et").expect("a trace");
        prop_assert_eq!(again.nodes.len(), trace.nodes.len());
        for (a, b) in again.nodes.iter().zip(&trace.nodes) {
            let same = match (&a.work, &b.work) {
                (Work::Compute(x), Work::Compute(y)) => (x.get() - y.get()).abs() < 1e-6,
                (x, y) => x == y,
            };
            prop_assert!(same && a.id == b.id && a.name == b.name && a.after == b.after, "{a:?} {b:?}");
        }
        // Damaged files are errors or other traces, never a panic.
        let at = usize::from(damage.0) % file.len();
        file[at] ^= damage.1;
        let _ = read(&file, "t.0.et");
        let _ = read(&file[..at], "t.0.et");
    }
}
