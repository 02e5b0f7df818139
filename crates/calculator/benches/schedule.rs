//! Benchmark of pipeline evaluation: `cargo bench -p railwright-calculator --bench schedule`.

use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use railwright_calculator::schedule::{ChunkCost, Detail, Pipeline, Workspace, simulate, write_step};
use railwright_spec::plan::Schedule;
use railwright_spec::quantity::Seconds;
use railwright_step::{Step, chrome, svg};

fn main() {
    divan::main();
}

/// Schedule, stages, virtual stages, micro-batches, and true for equal stages.
type Case = (&'static str, Schedule, u64, u64, u64, bool);

const CASES: [Case; 9] = [
    ("1f1b", Schedule::OneForwardOneBackward, 16, 1, 128, true),
    ("1f1b", Schedule::OneForwardOneBackward, 16, 1, 128, false),
    ("1f1b", Schedule::OneForwardOneBackward, 8, 1, 32, false),
    ("interleaved", Schedule::OneForwardOneBackward, 16, 8, 128, true),
    ("interleaved", Schedule::OneForwardOneBackward, 16, 8, 128, false),
    ("interleaved", Schedule::OneForwardOneBackward, 16, 8, 1024, false),
    ("zb-h1", Schedule::ZbH1, 16, 1, 128, false),
    ("zb-v", Schedule::ZbV, 16, 2, 128, false),
    ("dualpipe", Schedule::DualPipe, 16, 1, 128, false),
];

fn costs(case: &Case) -> Vec<ChunkCost> {
    let cost = ChunkCost {
        forward: Seconds::from_millis(1.0),
        backward_input: Seconds::from_millis(1.1),
        backward_weight: Seconds::from_millis(0.9),
        ..ChunkCost::default()
    };
    let mut chunks = vec![cost; case.1.chunk_count(case.2, case.3) as usize];
    if !case.5 {
        chunks[0].forward = Seconds::from_millis(1.2);
        if let Some(last) = chunks.last_mut() {
            last.forward = Seconds::from_millis(1.3);
            last.backward_input = Seconds::from_millis(1.45);
        }
    }
    chunks
}

fn pipeline<'a>(case: &Case, chunks: &'a [ChunkCost]) -> Pipeline<'a> {
    Pipeline {
        schedule: case.1,
        stages: case.2,
        virtual_stages: case.3,
        micro_batches: case.4,
        chunks,
        transfer: Seconds::from_millis(0.05),
        overlap_transfer: true,
    }
}

#[divan::bench(args = CASES)]
fn summarize(bencher: Bencher, case: Case) {
    let chunks = costs(&case);
    let mut workspace = Workspace::default();
    bencher.bench_local(|| workspace.summarize(black_box(&pipeline(&case, &chunks))).map(|s| s.duration));
}

#[divan::bench(args = CASES)]
fn engine(bencher: Bencher, case: Case) {
    let chunks = costs(&case);
    let passes = chunks.len() as u64 * case.4 * 2;
    bencher.counter(ItemsCount::new(passes)).bench_local(|| simulate(black_box(&pipeline(&case, &chunks))));
}

fn step(case: &Case) -> Step {
    let chunks = costs(case);
    let pipeline = pipeline(case, &chunks);
    let mut step = Step::new("bench");
    if let Ok(timeline) = simulate(&pipeline) {
        let _ = write_step(&mut step, &pipeline, &timeline, &Detail::default());
    }
    step
}

#[divan::bench]
fn perfetto(bencher: Bencher) {
    let step = step(&CASES[1]);
    bencher.bench_local(|| chrome::to_string(black_box(&step), chrome::Options::default()));
}

#[divan::bench]
fn picture(bencher: Bencher) {
    let step = step(&CASES[1]);
    bencher.bench_local(|| svg::pipeline(black_box(&step), &svg::Options::default()));
}

#[divan::bench]
fn breakdown(bencher: Bencher) {
    let step = step(&CASES[1]);
    bencher.bench_local(|| railwright_step::breakdown::breakdown(black_box(&step)));
}
