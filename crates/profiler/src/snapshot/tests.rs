//! Snapshots compared with the statistics of their recorders.

use super::*;

/// Written by `fixtures/memory_snapshot/make.py`, which prints the figures below.
const TRAINING: &[u8] = include_bytes!("../../../../fixtures/memory_snapshot/training.pickle");

fn training() -> DeviceReport {
    let read = read("training.pickle", TRAINING).expect("a snapshot");
    report(&read).devices.remove(0)
}

#[test]
fn the_peak_is_that_of_the_allocator() {
    let found = training();
    assert_eq!(found.peak_allocated_bytes, 312_250_468);
    let kinds: Vec<(Use, u64)> = found.kinds.iter().filter_map(|g| Some((g.kind?, g.bytes))).collect();
    assert_eq!(
        kinds,
        [
            (Use::Optimizer, 150_994_944),
            (Use::Backward, 75_497_472),
            (Use::Parameters, 75_497_472),
            (Use::Activations, 5_242_980),
            (Use::Other, 5_017_600),
        ]
    );
    assert_eq!(found.modules[0].name, "user/model.py:63 forward");
    assert_eq!(found.places[0].name, "user/train.py:97 train_step");
    assert_eq!(found.events, 332);
    let most = found.curve.iter().map(|point| point.allocated_bytes).max();
    assert_eq!((most, found.peak.map(|peak| peak.allocated_bytes)), (Some(312_250_468), Some(312_250_468)));
}

#[test]
fn the_allocator_is_taken_to_account() {
    let found = training();
    assert_eq!((found.allocated_bytes, found.reserved_bytes), (232_226_816, 339_738_624));
    assert_eq!((found.fragmented_bytes, found.cached_bytes), (Some(2_654_208), Some(104_857_600)));
    assert_eq!(found.cache_flushes, 1);
    assert_eq!((found.out_of_memory, found.first_failure), (1, Some((900 << 20, Some(300 << 20)))));
}

#[test]
fn what_stays_from_step_to_step_is_growth_and_weights_are_not() {
    let [leak] = &training().leaks[..] else { panic!("one stack grows") };
    assert_eq!(
        (leak.place.as_str(), leak.blocks, leak.bytes),
        ("user/train.py:99 train_step", 8, 8 * 700 * 1024)
    );
}

#[test]
fn what_is_no_snapshot_is_refused_and_nothing_is_run() {
    // pickle.dumps({'a': 1}, protocol=2)
    let problem = read("x", b"\x80\x02}q\x00X\x01\x00\x00\x00aq\x01K\x01s.").unwrap_err();
    assert!(problem.message.contains("`segments`"), "{}", problem.message);
    let evil = read("evil", b"\x80\x02}cos\nsystem\n(X\x02\x00\x00\x00idtR.").unwrap_err();
    assert!(evil.message.contains("an instruction that executes code was rejected"), "{}", evil.message);
    for cut in 0..TRAINING.len().min(400) {
        assert!(read("cut", &TRAINING[..cut]).is_err());
    }
}

/// Instructions of a pickle: a text, an integer, a list, a dictionary.
fn text(text: &str) -> Vec<u8> {
    [b"X", &(text.len() as u32).to_le_bytes()[..], text.as_bytes()].concat()
}

fn whole(number: i64) -> Vec<u8> {
    [b"\x8a\x08", &number.to_le_bytes()[..]].concat()
}

fn list(items: &[Vec<u8>]) -> Vec<u8> {
    [b"](", &items.concat()[..], b"e"].concat()
}

fn dictionary(pairs: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let pairs: Vec<u8> = pairs.iter().flat_map(|(key, value)| [text(key), value.clone()].concat()).collect();
    [b"}(", &pairs[..], b"u"].concat()
}

/// A snapshot of segments with one block each, of this size and these frames.
fn snapshot(segments: &[(i64, Vec<Vec<u8>>)]) -> Vec<u8> {
    let segment = |(device, (size, frames)): (i64, &(i64, Vec<Vec<u8>>))| {
        let state = text("active_allocated");
        let block = dictionary(&[("size", whole(*size)), ("state", state), ("frames", list(frames))]);
        dictionary(&[("device", whole(device)), ("total_size", whole(*size)), ("blocks", list(&[block]))])
    };
    let segments: Vec<Vec<u8>> = (0..).zip(segments).map(segment).collect();
    [b"\x80\x02", &dictionary(&[("segments", list(&segments))])[..], b"."].concat()
}

#[test]
fn sizes_that_no_sum_holds_are_damage() {
    assert!(read("x", &snapshot(&[(5, vec![])])).is_ok());
    let problem = read("x", &snapshot(&[(i64::MAX, vec![])])).expect_err("damaged");
    assert!(problem.message.contains("18 exabytes"), "{}", problem.message);
}

/// A text shared by two frames is in memory once, as in the file.
#[test]
fn texts_that_frames_share_are_not_copied() {
    let file = [text(&"x".repeat(1000)), b"q\x01".to_vec()].concat();
    let frame = |file: Vec<u8>, name: &str| dictionary(&[("filename", file), ("name", text(name))]);
    let frames = vec![
        [frame(file, "a"), b"q\x02".to_vec()].concat(),
        frame(b"h\x01".to_vec(), "b"),
        b"h\x02".to_vec(),
    ];
    let read = read("x", &snapshot(&[(5, frames)])).expect("a snapshot");
    let [stack] = &read.stacks[..] else { panic!("{:?}", read.stacks) };
    assert_eq!((stack[0].file.len(), &*stack[0].name, &*stack[1].name), (1000, "a", "b"));
    assert!(std::sync::Arc::ptr_eq(&stack[0].file, &stack[1].file));
    assert!(std::sync::Arc::ptr_eq(&stack[0], &stack[2]));
}

/// Segments of as many devices: time is linear in their number.
#[cfg(target_os = "linux")]
#[test]
fn devices_take_time_by_their_number() {
    use crate::testing::processor_seconds;
    let time = |count: usize| {
        let read = read("x", &snapshot(&vec![(5, vec![]); count])).expect("a snapshot");
        let begun = processor_seconds();
        assert_eq!(report(&read).devices.len(), count);
        processor_seconds() - begun
    };
    let (one, four) = (time(2000), time(8000));
    assert!(four < one * 9.0 + 0.05, "{one:.3} s, four times as many {four:.3} s");
}

/// Frames that never end, with an allocation in each.
#[test]
fn frames_that_never_end_make_no_stack_as_long_as_the_trace() {
    let events: Vec<String> = (0..1000)
        .flat_map(|at| {
            let frame = format!(
                r#"{{"ph":"X","cat":"cpu_op","name":"f{at}","pid":1,"tid":2,"ts":{},"dur":1e9}}"#,
                at * 2
            );
            let memory = format!(
                r#"{{"ph":"i","name":"[memory]","pid":1,"tid":2,"ts":{},"args":{{"Bytes":8,"Addr":{at},"Device Id":0,"Device Type":1}}}}"#,
                at * 2 + 1
            );
            [frame, memory]
        })
        .collect();
    let read = read_trace("x", &format!(r#"{{"traceEvents": [{}]}}"#, events.join(","))).expect("a history");
    assert_eq!(read.stacks.len(), 1000);
    let longest = read.stacks.iter().map(Vec::len).max();
    assert_eq!(longest, Some(256));
    assert_eq!(&*read.stacks[999][0].name, "f999", "innermost first");
}

#[test]
fn a_snapshot_without_history_shows_its_end() {
    let mut read = read("training.pickle", TRAINING).expect("a snapshot");
    read.devices.clear();
    let found = report(&read).devices.remove(0);
    assert!(!found.has_history && found.peak.is_none() && found.leaks.is_empty());
    // Requested bytes of the remaining blocks: six times 12 and 24 MiB, eight times 700 KiB.
    assert_eq!(found.peak_allocated_bytes, 6 * (36 << 20) + 8 * 700 * 1024);
}

#[test]
fn memory_events_of_a_trace_have_the_frames_around_them() {
    let memory = |ts: u32, bytes: i64, address: u32, allocated: u32, reserved: u32| {
        format!(
            r#"{{"ph":"i","cat":"cpu_instant_event","s":"t","name":"[memory]","pid":1,"tid":2,"ts":{ts},"args":{{"Total Reserved":{reserved},"Total Allocated":{allocated},"Bytes":{bytes},"Addr":{address},"Device Id":0,"Device Type":1,"Ev Idx":1}}}}"#
        )
    };
    let frame = |name: &str, ts: u32, dur: u32| {
        format!(
            r#"{{"ph":"X","cat":"cpu_op","name":"{name}","pid":1,"tid":2,"ts":{ts},"dur":{dur},"args":{{"Ev Idx":0}}}}"#
        )
    };
    let events = [
        frame("aten::linear", 10, 50),
        frame("aten::addmm", 12, 20),
        memory(14, 600, 7, 1600, 4000),
        memory(40, 100, 8, 1700, 4000),
        // A block from before the recording is freed.
        memory(70, -300, 9, 1400, 4000),
        frame("autograd::engine::evaluate_function: AddmmBackward0", 80, 50),
        memory(90, 2000, 10, 3400, 8000),
        memory(140, -600, 7, 2800, 8000),
    ];
    let text = format!(r#"{{"schemaVersion":1,"traceEvents":[{}]}}"#, events.join(","));
    let read = read_trace("trace.json", &text).expect("memory events");
    let found = report(&read).devices.remove(0);
    // The profiler's own total.
    assert_eq!((found.peak_allocated_bytes, found.peak_reserved_bytes), (3400, 8000));
    assert_eq!(found.allocated_bytes, 2800);
    let kinds: Vec<(Use, u64)> = found.kinds.iter().filter_map(|g| Some((g.kind?, g.bytes))).collect();
    assert_eq!(kinds, [(Use::Backward, 2000), (Use::Other, 700), (Use::Unknown, 700)]);
    assert_eq!(found.places.iter().find(|p| p.bytes == 600).map(|p| p.name.as_str()), Some("aten::addmm"));
    assert!(found.fragmented_bytes.is_none(), "a trace has no segments");
    assert!(read_trace("trace.json", r#"{"traceEvents":[]}"#).is_err());
}
