//! Time to read a trace: `cargo bench -p railwright-profiler --bench kineto`.
//!
//! Targets: a rank of 54 MB in at most 0.2 CPU seconds, and no slower than a typed parse by serde_json that
//! keeps nothing.

use divan::counter::BytesCount;
use divan::{Bencher, black_box};
use railwright_profiler::readers::{Keep, detect, inflate};
use railwright_profiler::{Job, hta, readers::Recording};
use std::borrow::Cow;

fn main() {
    divan::main();
}

/// The largest trace of the collection: 54 MB, 216,092 events.
fn bytes() -> Vec<u8> {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../fixtures/traces/hta_samples/df_index_resolver/df_index_resolver.json.gz"
    );
    inflate(&std::fs::read(path).expect("the trace")).expect("gzip").into_owned()
}

#[divan::bench(sample_count = 10)]
fn inflated(bencher: Bencher<'_, '_>) {
    let packed = std::fs::read(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../fixtures/traces/hta_samples/df_index_resolver/df_index_resolver.json.gz"
    ))
    .expect("the trace");
    bencher.bench(|| inflate(black_box(&packed)).map(|b| b.len()));
}

#[divan::bench(sample_count = 10)]
fn read(bencher: Bencher<'_, '_>) {
    let bytes = bytes();
    let reader = detect(&bytes).expect("a reader");
    bencher
        .counter(BytesCount::new(bytes.len()))
        .bench(|| reader.read_stream("trace", &mut black_box(bytes.as_slice()), Keep::default()));
}

#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
struct Typed<'a> {
    #[serde(borrow)]
    trace_events: Vec<TypedEvent<'a>>,
}

#[derive(serde::Deserialize)]
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
struct TypedArguments {
    correlation: Option<i64>,
    stream: Option<i64>,
}

/// Parses the trace into borrowed structures with serde_json, without interning, sorting or checks. Baseline
/// of the reader.
#[divan::bench(sample_count = 10)]
fn serde_json_typed(bencher: Bencher<'_, '_>) {
    let bytes = bytes();
    bencher.counter(BytesCount::new(bytes.len())).bench(|| {
        let typed: Typed<'_> = serde_json::from_slice(black_box(&bytes)).expect("typed");
        typed.trace_events.iter().fold(0.0, |sum, e| {
            let tied = usize::from(e.args.correlation.is_some()) + usize::from(e.args.stream.is_some());
            sum + e.ts + e.dur + (e.name.len() + e.cat.len() + tied) as f64
        })
    });
}

#[divan::bench(sample_count = 10)]
fn hta_tables(bencher: Bencher<'_, '_>) {
    let bytes = bytes();
    let reader = detect(&bytes).expect("a reader");
    let traces = reader.read("trace", &bytes, Keep::default()).expect("read");
    let traces = traces.into_iter().filter_map(|r| if let Recording::Rank(t) = r { Some(*t) } else { None });
    let job = Job::new(traces.collect());
    bencher.bench(|| hta::tables(black_box(&job)));
}
