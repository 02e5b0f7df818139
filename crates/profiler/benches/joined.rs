//! Time to join 1,024 ranks with 500 collectives each.
//!
//! Responsible for: the joining time in the report. Excludes reading.

use railwright_profiler::Job;
use railwright_profiler::attribution::straggler_report;
use railwright_profiler::clocks::ClockPolicy;
use railwright_profiler::collectives::communication_report;
use railwright_profiler::joined::{JoinOptions, join};
use railwright_profiler::testing::{Synthetic, move_clock, replicate};

fn main() {
    divan::main();
}

/// One job of 1,024 ranks (128 replicas of 8 shards), 504 collectives on each rank, clocks seconds apart.
fn job() -> Job {
    let plan = Synthetic { tensor: 8, data: 128, steps: 6, layers: 83, kernels: 2, ..Synthetic::default() };
    let mut job = plan.job();
    for (at, member) in job.members.iter_mut().enumerate() {
        move_clock(&mut member.trace, at as i64 * 7_000_001, (at % 7) as f64 * 10.0 - 30.0);
    }
    job
}

fn options() -> JoinOptions {
    JoinOptions { clocks: ClockPolicy::Align, ..JoinOptions::default() }
}

#[divan::bench(sample_count = 3, sample_size = 1)]
fn join_1024_ranks(bencher: divan::Bencher<'_, '_>) {
    let job = job();
    bencher
        .with_inputs(|| job.clone())
        .bench_local_values(|mut job| join(&mut job, &options()).matching.collectives.len());
}

#[divan::bench(sample_count = 3, sample_size = 1)]
fn join_128_replicas_of_8_ranks(bencher: divan::Bencher<'_, '_>) {
    let plan = Synthetic { tensor: 4, data: 2, steps: 6, layers: 83, kernels: 2, ..Synthetic::default() };
    let job = replicate(&plan.job(), 128);
    bencher
        .with_inputs(|| job.clone())
        .bench_local_values(|mut job| join(&mut job, &options()).matching.collectives.len());
}

#[divan::bench(sample_count = 3, sample_size = 1)]
fn communication_of_1024_ranks(bencher: divan::Bencher<'_, '_>) {
    let job = job();
    bencher
        .with_inputs(|| job.clone())
        .bench_local_values(|mut job| communication_report(&mut job, &options()).groups.len());
}

#[divan::bench(sample_count = 3, sample_size = 1)]
fn stragglers_of_1024_ranks(bencher: divan::Bencher<'_, '_>) {
    let job = job();
    bencher
        .with_inputs(|| job.clone())
        .bench_local_values(|mut job| straggler_report(&mut job, &options()).ranks.len());
}
