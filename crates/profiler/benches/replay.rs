//! Time to replay a step: `cargo bench -p railwright-profiler --bench replay`.
//!
//! Target: one replay of 16 stages x 512 micro-batches in well under 10 ms.

#[path = "../tests/support/schedule.rs"]
mod schedule;

use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use railwright_profiler::passes::Passes;
use railwright_profiler::pipeline::{Question, page};
use railwright_profiler::replay::{Delays, Replay, Runner};
use schedule::Made;

fn main() {
    divan::main();
}

fn job(chunks: u32) -> Passes {
    let made = Made { stages: 16, chunks, micro_batches: 512, steps: 1, hop: 100_000 };
    made.record(|_, stage, _, back, batch| {
        9_000_000 + i64::from(stage * 7919 + batch * 104_729 + u32::from(back)) % 2_000_000
    })
    .0
}

/// One replay, with every recorded delay.
#[divan::bench(args = [1, 4])]
fn replay(bencher: Bencher, chunks: u32) {
    let passes = job(chunks);
    let replay = Replay::new(&passes).expect("a replay");
    let mut runner = Runner::default();
    bencher
        .counter(ItemsCount::new(passes.passes.len()))
        .bench_local(|| replay.time(0, Delays::Kept, |p| replay.duration(black_box(p)), &mut runner));
}

/// Conversion from passes to graphs, gaps and medians.
#[divan::bench(args = [1, 4], sample_count = 10)]
fn prepare(bencher: Bencher, chunks: u32) {
    let passes = job(chunks);
    bencher
        .counter(ItemsCount::new(passes.passes.len()))
        .bench_local(|| Replay::new(black_box(&passes)).map(|replay| replay.len()));
}

/// The whole pipeline view.
#[divan::bench(sample_count = 5)]
fn whole_page(bencher: Bencher) {
    let passes = job(1);
    bencher
        .with_inputs(|| passes.clone())
        .bench_local_values(|passes| page(passes, &Question::default()).map(|page| page.median_step));
}
