//! Benchmark of searches: `cargo bench -p railwright-tuner --bench search`.
//!
//! Targets: Llama 3.1 405B on 16,384 H100 within 2 seconds on two cores. A thousand times the configurations
//! per second and core of Calculon's optimal-execution search (228 as it ships, 506 with its logger silenced;
//! 175B on 4,096 devices).

// Ratios to a published tool are printed with the timings.
#![allow(clippy::print_stdout)]

use divan::{Bencher, black_box};
use railwright_spec::cluster::{self, Cluster};
use railwright_spec::model::{self, Model};
use railwright_spec::plan::PlanSpec;
use railwright_tuner::search::{Counters, Incumbent, Options, Results, Search, Space};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

fn main() {
    for (name, devices, unlimited) in CASES {
        ratios(name, devices, unlimited);
    }
    divan::main();
}

/// Model, number of H100, and true for the whole space instead of the features of Megatron-Core.
const CASES: [(&str, u64, bool); 4] = [
    ("gpt3-175b", 4096, false),
    ("llama-3.1-405b", 16_384, false),
    ("llama-3.1-405b", 16_384, true),
    ("deepseek-v3", 2048, false),
];

fn setting(name: &str, devices: u64, unlimited: bool) -> (Model, Cluster, Space) {
    let model = model::by_name(name).expect("in the catalogue");
    let cluster = cluster::by_name("dgx-h100", devices).expect("a preset");
    let specified = PlanSpec {
        global_batch: (name == "gpt3-175b").then_some(4096),
        software: Some("megatron-core-2025".to_owned()),
        ..PlanSpec::default()
    };
    let new = if unlimited { Space::unlimited } else { Space::new };
    let space = new(&specified, &model, &cluster).expect("a space");
    (model, cluster, space)
}

/// Runs all pieces on a number of threads, as a front end does.
fn run(search: &Search<'_>, threads: usize) -> Results {
    let (incumbent, next) = (Incumbent::default(), AtomicUsize::new(0));
    let work = || {
        let mut worker = search.worker();
        let mut own = search.results();
        own.counters = Counters::default();
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            if index >= search.pieces().len() {
                return own;
            }
            own.merge(&search.run_piece(index, &mut worker, &incumbent));
        }
    };
    let mut results = search.results();
    std::thread::scope(|scope| {
        let handles: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        for handle in handles {
            results.merge(&handle.join().expect("a thread"));
        }
    });
    results
}

/// Prints the counts and rates of one search on one thread.
fn ratios(name: &str, devices: u64, unlimited: bool) {
    let (model, cluster, space) = setting(name, devices, unlimited);
    let begin = Instant::now();
    let search = Search::new(&model, &cluster, space, Options::default()).expect("a search").ordered();
    let c = run(&search, 1).counters;
    let seconds = begin.elapsed().as_secs_f64();
    let rate = |count: u64| count as f64 / seconds;
    let one_by_one = c.did_not_fit + c.timed;
    println!(
        "{name} on {devices}{}: {:.2e} strategies in {seconds:.2} s of one core, {:.0} times Calculon's 228/s, {:.0} times its 506/s",
        if unlimited { ", every choice" } else { "" },
        c.enumerated as f64,
        rate(c.enumerated) / 228.0,
        rate(c.enumerated) / 506.0,
    );
    println!(
        "  {:.3}% a twin is provably as good; {:.3}% bounded away; {:.3}% too large with a group; {:.3}% too large ({} of them); {} timed: \
         looked at one by one {:.0}/s, {:.0} times the 506/s",
        100.0 * c.dominated as f64 / c.enumerated as f64,
        100.0 * c.bounded_away as f64 / c.enumerated as f64,
        100.0 * c.did_not_fit_as_group as f64 / c.enumerated as f64,
        100.0 * c.did_not_fit as f64 / c.enumerated as f64,
        c.did_not_fit,
        c.timed,
        rate(one_by_one),
        rate(one_by_one) / 506.0,
    );
}

#[divan::bench(args = CASES, sample_count = 3, sample_size = 1)]
fn two_threads(bencher: Bencher<'_, '_>, (name, devices, unlimited): (&str, u64, bool)) {
    let (model, cluster, space) = setting(name, devices, unlimited);
    bencher.bench(|| {
        let search = Search::new(black_box(&model), &cluster, space.clone(), Options::default())
            .expect("a search")
            .ordered();
        run(&search, 2).best.entries().len()
    });
}
