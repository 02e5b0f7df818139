//! Snapshots against the bookkeeping of whoever wrote them.

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

#[test]
fn a_snapshot_without_history_shows_its_end() {
    let mut read = read("training.pickle", TRAINING).expect("a snapshot");
    read.devices.clear();
    let found = report(&read).devices.remove(0);
    assert!(!found.has_history && found.peak.is_none() && found.leaks.is_empty());
    // Requested bytes of the blocks that are left: six times 12 and 24 MiB, eight times 700 KiB.
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
        // What was there before is freed.
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
