//! Reads traces one after another and prints what it took, for the comparison with peers: `read_traces MODE FILE...`, MODE being `read` (columns
//! alone), `tables` (columns and the tables of HolisticTraceAnalysis) or `typed` (serde_json into borrowed structures, kept nowhere).

use railwright_profiler::readers::{self, Keep, Recording};
use railwright_profiler::{Job, hta};
use std::borrow::Cow;

#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
struct Typed<'a> {
    #[serde(borrow)]
    trace_events: Vec<TypedEvent<'a>>,
}

#[derive(serde::Deserialize)]
#[allow(dead_code, reason = "parsed, as a reader would have to")]
struct TypedEvent<'a> {
    #[serde(borrow)]
    name: Cow<'a, str>,
    #[serde(borrow, default)]
    cat: Cow<'a, str>,
    ts: f64,
    #[serde(default)]
    dur: f64,
    #[serde(default)]
    args: TypedArguments,
}

#[derive(Default, serde::Deserialize)]
#[serde(default)]
#[allow(dead_code, reason = "parsed, as a reader would have to")]
struct TypedArguments {
    correlation: Option<i64>,
    stream: Option<i64>,
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let mode = arguments.next().unwrap_or_default();
    let mut traces = Vec::new();
    let mut events = 0;
    for path in arguments {
        let file = std::fs::File::open(&path).expect("a file");
        let mut stream = readers::open(file).expect("a stream");
        if mode == "typed" {
            let mut bytes = Vec::new();
            stream.read_to_end(&mut bytes).expect("bytes");
            let typed: Typed<'_> = serde_json::from_slice(&bytes).expect("typed");
            events += typed.trace_events.len() as u64;
            continue;
        }
        let reader = readers::all().iter().find(|r| r.name() == "PyTorch profiler").expect("a reader");
        for recording in reader.read_stream(&path, &mut stream, Keep::default()).expect("a trace") {
            if let Recording::Rank(trace) = recording {
                events += trace.report.events;
                traces.push(*trace);
            }
        }
    }
    let mut rows = 0;
    if mode == "tables" {
        let tables = hta::tables(&Job::new(traces));
        rows = tables.temporal.len() + tables.kernels.len() + tables.idle.len() + tables.queues.len();
    }
    #[allow(clippy::print_stdout, reason = "it is a program")]
    {
        println!("{events} events, {rows} rows");
    }
}
