//! Every damage of `fixtures/traces/reference/truth/FAULTS.csv`, made from one clean trace, with the expected
//! result of a reader.
//!
//! Responsible for: the mutations, their results, and equality of windowed and whole reading.

use super::Kineto;
use super::parser::Parser;
use super::stream::read_by;
use crate::RankTrace;
use crate::readers::{Keep, Reader, inflate};
use crate::trace::{DamageKind, GpuKind, HostKind};
use railwright_spec::problem::Problem;
use std::ops::Range;
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "../../fixtures/traces"].iter().collect()
}

fn bytes_of(path: &Path) -> Vec<u8> {
    let bytes = std::fs::read(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    inflate(&bytes).unwrap_or_else(|e| panic!("{}: {e}", path.display())).into_owned()
}

fn clean() -> String {
    let path = folder().join("param_dlrm_8r/worker0_step_12.1694128201545.pt.trace.json.gz");
    String::from_utf8(bytes_of(&path)).unwrap_or_default()
}

fn read(bytes: &[u8]) -> Result<RankTrace, Problem> {
    let mut parser = Parser::new("damaged", Keep::default());
    parser.feed(bytes, true);
    parser.end().map(|mut traces| traces.remove(0))
}

/// Tools that merge the traces of a job write the rank of every event.
#[test]
fn a_merged_file_has_a_trace_for_every_rank() {
    let kernel = |rank: u32, time: u32| {
        format!(
            r#"{{"ph": "X", "cat": "kernel", "name": "k{rank}", "pid": {rank}, "tid": 7, "ts": {time}, "dur": 5,
                "args": {{"stream": 7, "correlation": {time}, "rank": {rank}}}}}"#
        )
    };
    let events = [kernel(2, 10), kernel(5, 11), kernel(2, 20)].join(",");
    let text = format!(r#"{{"traceEvents": [{events}]}}"#);
    let mut parser = Parser::new("merged", Keep::default());
    parser.feed(text.as_bytes(), true);
    let traces = parser.end().unwrap_or_else(|e| panic!("{e}"));
    let found: Vec<_> = traces.iter().map(|trace| (trace.identity.rank, trace.gpu.len())).collect();
    assert_eq!(found, [(Some(2), 2), (Some(5), 1)]);
    // The events of one rank are a trace without a rank of its own.
    let text = format!(r#"{{"traceEvents": [{}]}}"#, kernel(2, 10));
    let one = read(text.as_bytes()).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!((one.identity.rank, one.gpu.len()), (None, 1));
}

/// Position of the damaged kernel's object.
fn victim(text: &str) -> Range<usize> {
    let name = text.find("void split_embedding_codegen_forward_unweighted_kernel").unwrap_or_default();
    let start = text[..name].rfind("\n  {").unwrap_or_default() + 3;
    let end = name + text[name..].find("\n  }").unwrap_or_default() + 4;
    start..end
}

/// The trace with a word of the selected kernel replaced.
fn with(from: &str, to: &[u8]) -> Vec<u8> {
    let text = clean();
    let place = victim(&text);
    let at =
        place.start + text[place.clone()].find(from).unwrap_or_else(|| panic!("no `{from}` in the event"));
    [&text.as_bytes()[..at], to, &text.as_bytes()[at + from.len()..]].concat()
}

/// Value of a member of the selected kernel, as written.
fn member(key: &str) -> String {
    let text = clean();
    let event = &text[victim(&text)];
    let start = event.find(&format!("\"{key}\": ")).unwrap_or_default();
    let end = event[start..].find([',', '\n']).unwrap_or_default();
    event[start..start + end].to_owned()
}

/// Time from the first start to the last end on the device, in microseconds.
fn kernel_time(trace: &RankTrace) -> i64 {
    let wanted = |kind| matches!(kind, GpuKind::Kernel | GpuKind::Copy | GpuKind::Set);
    let rows = || trace.gpu.iter().filter(|r| wanted(r.kind) && r.stream != crate::trace::NONE);
    let first = rows().map(|r| r.start).min().unwrap_or_default();
    (rows().map(|r| r.end).max().unwrap_or_default() - first) / 1000
}

/// Expected result for a damaged file: kept rows, and the one kind of damage with its count and a word of its
/// message.
struct Wanted {
    kept: u64,
    damage: Option<(DamageKind, u64, &'static str)>,
}

const ALL: u64 = 2459;

fn check(fault: &str, bytes: &[u8], wanted: &Wanted) {
    let trace = read(bytes).unwrap_or_else(|e| panic!("{fault}: {e}"));
    assert_eq!(trace.report.events, 3290, "{fault}");
    assert_eq!(trace.report.kept, wanted.kept, "{fault}: {:?}", trace.report.damages);
    assert_eq!(kernel_time(&trace), 13009, "{fault}");
    let damages: Vec<_> =
        trace.report.damages.iter().filter(|d| d.kind != DamageKind::PartialOverlap).collect();
    match (&wanted.damage, damages.as_slice()) {
        (None, []) => {}
        (Some((kind, count, word)), [damage]) => {
            assert_eq!((damage.kind, damage.count), (*kind, *count), "{fault}");
            let (offset, stated) = damage.places.first().unwrap_or_else(|| panic!("{fault}: no place"));
            assert!(stated.contains(word), "{fault}: {stated}");
            // The position is the beginning of the event, and the line is its line.
            let line = memchr::memchr_iter(b'\n', &bytes[..*offset as usize]).count() + 1;
            assert!(
                stated.starts_with(&format!("line {line}: ")),
                "{fault}: {stated} instead of line {line}"
            );
        }
        (_, found) => panic!("{fault}: {found:?}"),
    }
}

fn at_victim(bytes: &[u8]) {
    let text = clean();
    let trace = read(bytes).unwrap_or_else(|e| panic!("{e}"));
    let places: Vec<u64> = trace.report.damages.iter().flat_map(|d| d.places.iter().map(|p| p.0)).collect();
    assert_eq!(places, [victim(&text).start as u64]);
}

#[test]
fn f00_the_clean_file() {
    check("00_clean", clean().as_bytes(), &Wanted { kept: ALL, damage: None });
}

#[test]
fn f01_cut_anywhere_everything_complete_is_kept() {
    let text = clean();
    for share in [0.1, 0.37, 0.6, 0.93] {
        let cut = &text[..(text.len() as f64 * share) as usize];
        let trace = read(cut.as_bytes()).unwrap_or_else(|e| panic!("{e}"));
        // Events up to the last closing bracket, by a strict parser.
        let complete = cut.rfind("\n  },").unwrap_or_default() + 4;
        let strict: serde_json::Value =
            serde_json::from_str(&format!("{}]}}", &cut[..complete])).unwrap_or_else(|e| panic!("{e}"));
        let events = strict["traceEvents"].as_array().map_or(0, Vec::len);
        assert_eq!(trace.report.events, events as u64, "cut at {share}");
        assert_eq!(trace.report.count(DamageKind::Truncated), 1, "cut at {share}");
        let stated = &trace.report.damages[0].places[0].1;
        assert!(stated.contains("its last") && stated.contains("bytes were ignored"), "{stated}");
    }
}

#[test]
fn f03_04_06_07_names_are_repaired() {
    let repaired = Wanted { kept: ALL, damage: Some((DamageKind::RepairedName, 1, "now `void")) };
    for (fault, with_what) in [
        ("03_control_char", b"void \x01split".as_slice()),
        ("04_raw_newline_in_name", b"void \nsplit"),
        ("06_bad_utf8", b"void \xffsplit"),
        ("07_backslash", br"void \split"),
    ] {
        let bytes = with("void split", with_what);
        check(fault, &bytes, &repaired);
        at_victim(&bytes);
    }
    let trace = read(&with("void split", b"void \xffsplit")).unwrap_or_else(|e| panic!("{e}"));
    assert!(trace.names.iter().any(|n| n.starts_with("void \u{fffd}split")));
}

#[test]
fn f05_a_bare_quote_costs_its_event() {
    let bytes = with("void split", b"void \"split");
    let damage = Some((DamageKind::UnreadableEvent, 1, "it may contain a quote (byte "));
    check("05_bare_quote", &bytes, &Wanted { kept: ALL - 1, damage });
    at_victim(&bytes);
    // The same for a value that is skipped: the content after it is not lost.
    let bytes = with("\"registers per thread\": ", b"\"note\": \"x\"y\", \"registers per thread\": ");
    let damage = Some((DamageKind::UnreadableEvent, 1, "it contains a quote"));
    check("05_bare_quote in args", &bytes, &Wanted { kept: ALL - 1, damage });
}

#[test]
fn f08_09_10_15_16_19_events_without_a_usable_time_are_dropped() {
    let (time, duration) = (member("ts"), member("dur"));
    for (fault, from, to, kind, word) in [
        ("08_nan_dur", &duration, "\"dur\": NaN", DamageKind::BadTime, "its duration is `NaN`"),
        ("09_inf_dur", &duration, "\"dur\": Infinity", DamageKind::BadTime, "its duration is `Infinity`"),
        ("10_minus_inf_lower", &duration, "\"dur\": -inf", DamageKind::BadTime, "its duration is `-inf`"),
        (
            "15_negative_dur",
            &duration,
            "\"dur\": -5",
            DamageKind::NegativeDuration,
            "it ends before it begins",
        ),
        ("16_string_ts", &time, "\"ts\": \"N/A\"", DamageKind::BadTime, "its time is `N/A`"),
        ("19_missing_dur", &duration, "\"gone\": 1", DamageKind::BadTime, "it has no duration"),
        ("no ts at all", &time, "\"gone\": 1", DamageKind::BadTime, "it has no time"),
    ] {
        let bytes = with(from, to.as_bytes());
        check(fault, &bytes, &Wanted { kept: ALL - 1, damage: Some((kind, 1, word)) });
        at_victim(&bytes);
    }
}

#[test]
fn f11_12_13_22_23_what_is_around_the_events_may_be_missing_or_too_much() {
    let text = clean();
    let start = text.find("\"traceEvents\": [").unwrap_or_default() + "\"traceEvents\": ".len();
    let end = text.rfind(']').unwrap_or_default();
    let array = &text[start..=end];
    check("11_array_only", array.as_bytes(), &Wanted { kept: ALL, damage: None });
    let cut = Some((DamageKind::Truncated, 1, "the file ends before the bracket that closes its events"));
    check("12_no_closing", &text.as_bytes()[..end], &Wanted { kept: ALL, damage: cut });
    let comma = format!("{},{}", text[..end].trim_end(), &text[end..]);
    check("13_trailing_comma", comma.as_bytes(), &Wanted { kept: ALL, damage: None });
    check("22_bom", format!("\u{feff}{text}").as_bytes(), &Wanted { kept: ALL, damage: None });
    let more = Some((DamageKind::TrailingData, 1, "data after the end of the trace was ignored"));
    check("23_two_objects", format!("{text}\n{text}").as_bytes(), &Wanted { kept: ALL, damage: more });
    let open = text.trim_end().strip_suffix('}').unwrap_or_default();
    let cut = Some((DamageKind::Truncated, 1, "the file ends before its closing bracket"));
    check("the last bracket", open.as_bytes(), &Wanted { kept: ALL, damage: cut });
}

#[test]
fn f14_of_a_member_that_comes_twice_the_last_counts() {
    let duration = member("dur");
    let bytes = with(&duration, format!("\"dur\": 999999999, {duration}").as_bytes());
    let damage = Some((DamageKind::DuplicateKey, 1, "`dur` occurs twice"));
    check("14_duplicate_key", &bytes, &Wanted { kept: ALL, damage });
    let stream = member("stream");
    let bytes = with(&stream, format!("\"stream\": 9, {stream}").as_bytes());
    let damage = Some((DamageKind::DuplicateKey, 1, "`args.stream` occurs twice"));
    check("14_duplicate_key in args", &bytes, &Wanted { kept: ALL, damage });
    let first = read(clean().as_bytes()).unwrap_or_else(|e| panic!("{e}"));
    let second = read(&bytes).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(first.gpu, second.gpu);
}

#[test]
fn f17_18_a_stream_is_a_stream_in_every_spelling() {
    let text = clean();
    let sane = read(text.as_bytes()).unwrap_or_else(|e| panic!("{e}"));
    let place = victim(&text);
    let event = &text[place.clone()];
    let bare = format!("{}\"end\": 1}}", &event[..event.find("\"args\"").unwrap_or_default()]);
    let without = [&text[..place.start], &bare, &text[place.end..]].concat();
    check("17_kernel_without_args", without.as_bytes(), &Wanted { kept: ALL, damage: None });
    let without = read(without.as_bytes()).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(without.gpu.streams(), sane.gpu.streams());
    for word in ["\"7\"", "\"stream 7\""] {
        let strings = text.replace("\"stream\": 7,", &format!("\"stream\": {word},"));
        check("18_stream_string", strings.as_bytes(), &Wanted { kept: ALL, damage: None });
        assert_eq!(read(strings.as_bytes()).unwrap_or_else(|e| panic!("{e}")).gpu, sane.gpu);
    }
}

#[test]
fn f20_a_time_of_zero_does_not_stretch_the_window() {
    let bytes = with(&member("ts"), b"\"ts\": 0");
    let damage = Some((DamageKind::OutlyingTime, 1, "is -1694128201 s from the middle of the trace"));
    check("20_ts_zero", &bytes, &Wanted { kept: ALL - 1, damage });
    at_victim(&bytes);
    // An implausible duration is as bad, and so is a wrong time in the first event.
    let bytes = with(&member("dur"), b"\"dur\": 1e15");
    let trace = read(&bytes).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!((kernel_time(&trace), trace.report.count(DamageKind::OutlyingTime)), (13009, 1));
    let text = clean();
    let first = text.find("\"ts\": ").unwrap_or_default();
    let end = first + text[first..].find(',').unwrap_or_default();
    let bytes = [&text[..first], "\"ts\": 0", &text[end..]].concat();
    let trace = read(bytes.as_bytes()).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!((trace.report.kept, trace.report.count(DamageKind::OutlyingTime)), (ALL - 1, 1));
}

#[test]
fn f21_an_empty_file_is_one_clear_line() {
    for (bytes, wanted) in [
        ("", "damaged: the file is empty"),
        ("{}", "damaged: the file contains no trace events"),
        ("nothing of interest", "damaged: the file contains no trace events"),
    ] {
        let stated = read(bytes.as_bytes()).map(|_| ()).map_err(|e| e.to_string());
        assert_eq!(stated, Err(wanted.to_owned()));
    }
}

#[test]
fn windows_of_any_size_give_the_same_as_the_whole() {
    let mut cases = vec![clean().into_bytes()];
    cases.push(with("void split", b"void \"split"));
    cases.push(with("void split", b"void \xffsplit"));
    cases.push(with(&member("ts"), b"\"ts\": 0"));
    cases.push(clean().into_bytes()[..500_000].to_vec());
    cases.push(format!("{0}\n{0}", clean()).into_bytes());
    for path in [
        "format_samples/ibm_aiu_allreduce_tp4.json.gz",
        "format_samples/ascend_trace_view.json.gz",
        "megatron_tp2_v100/rank0.9c44bd29b3f0_1375.1724066820235157909.pt.trace.json.gz",
    ] {
        cases.push(bytes_of(&folder().join(path)));
    }
    for bytes in &cases {
        let whole = Kineto.read("x", bytes, Keep::default());
        let whole = whole.unwrap_or_else(|e| panic!("{e}")).pop();
        for window in [64, 1000, 4096, 65_537] {
            let parts = read_by("x", &mut bytes.as_slice(), Keep::default(), window);
            let parts = parts.unwrap_or_else(|e| panic!("{e}")).remove(0);
            assert_eq!(Some(crate::readers::Recording::Rank(Box::new(parts))), whole, "windows of {window}");
        }
    }
}

#[test]
fn a_stream_that_breaks_off_keeps_what_came_before() {
    let path = folder().join("param_dlrm_8r/worker0_step_12.1694128201545.pt.trace.json.gz");
    let packed = std::fs::read(&path).unwrap_or_else(|e| panic!("{e}"));
    let mut stream = crate::readers::open(&packed[..packed.len() / 2]).unwrap_or_else(|e| panic!("{e}"));
    let trace =
        read_by("cut", &mut stream, Keep::default(), 4096).unwrap_or_else(|e| panic!("{e}")).remove(0);
    assert!(trace.report.events > 1000, "{}", trace.report.events);
    assert!(trace.report.count(DamageKind::Truncated) >= 1);
    assert!(trace.report.damages.iter().any(|d| d.places.iter().any(|p| p.1.contains("truncated"))));
}

#[test]
fn a_damaged_head_costs_itself() {
    let text = clean();
    let kept = |text: &str| read(text.as_bytes()).unwrap_or_else(|e| panic!("{e}"));
    // A value that is invalid JSON, and one without a closing bracket.
    let wrong = text.replace("\"rank\": 0", "\"rank\": zero");
    let trace = kept(&wrong);
    assert_eq!((trace.report.kept, trace.identity.rank), (ALL, None));
    let stated = &trace.report.damages[0].places[0].1;
    assert!(stated.contains("`distributedInfo` could not be read"), "{stated}");
    let quoted = text.replace("\"backend\": \"nccl\"", "\"backend\": \"nc\"cl\"");
    let trace = kept(&quoted);
    assert_eq!((trace.report.kept, trace.report.count(DamageKind::UnreadableEvent)), (ALL, 1));
    assert!(
        trace.report.damages[0].places[0]
            .1
            .contains("the header is damaged here; its content before the events was ignored")
    );
}

#[test]
fn what_stands_behind_the_events_counts_as_well() {
    let text = r#"{"traceEvents": [{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 1.5, "dur": 2}],
        "baseTimeNanoseconds": 1000000, "distributedInfo": {"rank": 5, "world_size": 8}}"#;
    let trace = read(text.as_bytes()).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!((trace.identity.rank, trace.gpu.starts()), (Some(5), &[1_001_500][..]));
}

#[test]
fn partial_overlaps_are_kept_and_counted() {
    let event = |name: &str, start: u32, tid: u32| {
        format!(
            r#"{{"ph": "X", "cat": "kernel", "name": "{name}", "pid": 0, "tid": {tid}, "ts": {start}, "dur": 10}}"#
        )
    };
    // a and b overlap on stream 7; c is on another stream; d begins at the end of b.
    let events = [event("a", 0, 7), event("b", 8, 7), event("c", 9, 8), event("d", 18, 7)].join(",");
    let trace = read(format!("[{events}]").as_bytes()).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!((trace.gpu.len(), trace.report.count(DamageKind::PartialOverlap)), (4, 1));
}

#[test]
fn damage_in_one_event_after_another_does_not_swallow_what_is_between() {
    let good = r#"{"ph": "X", "cat": "cpu_op", "name": "g", "pid": 0, "tid": 1, "ts": 1, "dur": 1, "args": {"a": {"name": 1}}}"#;
    let bad = [
        r#"{"ph": "X", "cat": "cpu_op", "name": "b"ad", "ts": 1, "dur": 1}"#,
        r#"{"ph": "X", "cat": "cpu_op", "name": "bad, "ts": 1, "dur": 1}"#,
        r#"{"ph": "X", "cat": "cpu_op" "name": "bad", "ts": 1, "dur": 1}"#,
        r#"{"ph": "X", "cat": "cpu_op", "name" "bad", "ts": 1, "dur": 1}"#,
        r#"{"ph": "X", "cat": "cpu_op", "args": {"x": "y"z", "w": 1}}"#,
        r#"{"ph": "X", "ca"#,
        r#"{"ph": "X", "name": "never ends"#,
        "garbage",
    ];
    for bad in bad {
        let text = format!("[{good},\n{bad},\n{good},\n{good}]");
        let trace = read(text.as_bytes()).unwrap_or_else(|e| panic!("{bad}: {e}"));
        assert_eq!(trace.report.kept, 3, "{bad}: {:?}", trace.report.damages);
        assert_eq!(trace.report.count(DamageKind::UnreadableEvent), 1, "{bad}");
    }
}

/// Operators of compiled kernels name a stream as a number. ROCm's calls name one as an address, which is no
/// stream number.
#[test]
fn streams_that_the_host_names_are_kept_beside_its_rows() {
    let event = |category: &str, at: u32, arguments: &str| {
        format!(
            r#"{{"ph":"X","cat":"{category}","name":"n","pid":1,"tid":1,"ts":{at},"dur":1,"args":{{{arguments}}}}}"#
        )
    };
    let events = [
        event("cpu_op", 30, r#""num_warps": 8, "stream": 0, "kernel_backend": "triton""#),
        event("cpu_op", 20, r#""External id": 3, "Concrete Inputs": ["\"stream\": 4"]"#),
        event("cuda_runtime", 10, r#""stream": "0x55d0", "correlation": 4"#),
        event("user_annotation", 40, r#""correlation": 9, "stream": "7""#),
        event("cpu_op", 50, r#""stream": -1"#),
    ];
    let text = format!("[{}]", events.join(","));
    let trace = read(text.as_bytes()).expect("a trace");
    let named: Vec<_> = trace
        .host
        .named_streams()
        .iter()
        .map(|one| (trace.host.starts()[one.row as usize], one.stream, one.correlation))
        .collect();
    assert_eq!(named, [(30_000, 0, None), (40_000, 7, Some(9))]);
}

/// PyTorch's profiler of 2020 has no categories: device times are nested rows by operator, and an annotation
/// is a row around operators.
#[test]
fn nested_device_times_by_operator_are_kernels() {
    let event = |process: &str, name: &str, start: u32, duration: u32| {
        format!(
            r#"{{"name":"{name}","ph":"X","ts":{start},"dur":{duration},"tid":0,"pid":"{process} functions","args":{{}}}}"#
        )
    };
    let events = [
        event("CPU", "model_inference", 0, 100),
        event("CPU", "aten::conv2d", 1, 40),
        event("CUDA", "model_inference", 2, 120),
        event("CUDA", "aten::conv2d", 5, 45),
        event("CUDA", "aten::cudnn_convolution", 7, 40),
        event("CUDA", "aten::relu_", 60, 10),
    ];
    let trace = read(format!("[{}]", events.join(",")).as_bytes()).expect("a trace");
    let kinds: Vec<_> =
        trace.host.iter().map(|row| (trace.names.get(row.name).to_owned(), row.kind)).collect();
    assert_eq!(
        kinds,
        [
            ("model_inference".to_owned(), HostKind::Annotation),
            ("aten::conv2d".to_owned(), HostKind::Operator)
        ]
    );
    let kernels: Vec<&str> = trace.gpu.iter().map(|row| trace.names.get(row.name)).collect();
    assert_eq!(kernels, ["aten::conv2d", "aten::relu_"]);
}

const KERNEL: &str =
    r#"{"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":7,"ts":TS,"dur":DUR,"args":{"stream":7}}"#;

fn of_events(head: &str, events: &[String]) -> Result<RankTrace, Problem> {
    read(format!("{{{head}\"schemaVersion\":1,\"traceEvents\":[{}]}}", events.join(",")).as_bytes())
}

#[test]
fn a_trace_without_a_readable_event_is_no_empty_trace() {
    let problem = of_events("", &[r#"{"ph":"X","cat":"kernel","na"me":1}"#.to_owned()]).unwrap_err();
    assert!(problem.message.starts_with("no event of the trace can be read"), "{problem}");
    // A trace without events is that of an idle rank.
    assert!(of_events("", &[]).is_ok());
}

#[test]
fn a_timeline_of_the_program_is_no_recording() {
    let text = railwright_step::chrome::to_string(
        &railwright_step::Step::default(),
        railwright_step::chrome::Options::default(),
    );
    let problem = read(text.as_bytes()).unwrap_err();
    assert!(problem.message.contains("not a recorded trace"), "{problem}");
}

#[test]
fn an_event_that_outlasts_the_trace_is_named_with_its_line() {
    let event = |ts: i64, dur: &str| KERNEL.replace("TS", &ts.to_string()).replace("DUR", dur);
    let mut events: Vec<String> = (0..8).map(|at| event(1_000 + at * 10, "5")).collect();
    events.insert(4, event(1_039, "1000000000000000"));
    let trace = of_events("", &events).expect("a trace");
    assert_eq!((trace.gpu.len(), trace.report.count(DamageKind::OutlyingTime)), (8, 1));
    let place = &trace.report.damages[0].places[0];
    assert_eq!(place.1, "line 1: `gemm` takes 1000000000 s, longer than the trace");
    assert!(place.0 > 0);
}
