//! Benchmark of evaluation and timeline: `cargo bench -p railwright-calculator`.
//!
//! Targets: at most 20 microseconds on one core for an evaluation of 405B on 16,384 devices, after set-up. At
//! most 100 milliseconds for a timeline of 16 stages and 128 micro-batches with its trace.

use divan::{Bencher, black_box};
use railwright_calculator::costing::{Costing, Machine};
use railwright_calculator::estimate::{EstimateOptions, estimate};
use railwright_calculator::evaluate::{evaluate_with, pipeline, transfer_time};
use railwright_calculator::memory::{MemoryInput, SoftwareCatalogue, peak};
use railwright_calculator::schedule::Workspace;
use railwright_calculator::{stage, timeline};
use railwright_spec::cluster::{self, Cluster};
use railwright_spec::model::{self, Model};
use railwright_spec::plan::{Plan, PlanSpec};
use railwright_step::chrome;

fn main() {
    divan::main();
}

/// Llama 3.1 405B on 16,384 H100: TP 8, PP 16, DP 128, 16 micro-batches, as in its paper at 8k tokens.
fn run() -> (Model, Cluster, Plan) {
    run_with(2048)
}

fn run_with(global_batch: u64) -> (Model, Cluster, Plan) {
    let model = model::by_name("llama-3.1-405b").expect("in the catalogue");
    let cluster = cluster::by_name("dgx-h100", 16_384).expect("a preset");
    let spec = PlanSpec {
        tensor_parallel: Some(8),
        pipeline_parallel: Some(16),
        layers_per_stage: Some([vec![7], vec![8; 14], vec![7]].concat()),
        global_batch: Some(global_batch),
        sequence_length: Some(8192),
        ..PlanSpec::default()
    };
    let plan = spec.resolve(&model, &cluster).expect("resolves");
    (model, cluster, plan)
}

#[divan::bench]
fn machine(bencher: Bencher<'_, '_>) {
    let (_, cluster, _) = run();
    bencher.bench(|| Machine::new(black_box(&cluster)));
}

#[divan::bench]
fn costing(bencher: Bencher<'_, '_>) {
    let (model, cluster, plan) = run();
    let machine = Machine::new(&cluster);
    bencher.bench(|| Costing::new(black_box(&model), &cluster, &plan, &machine).expect("known software"));
}

#[divan::bench]
fn evaluate(bencher: Bencher<'_, '_>) {
    let (model, cluster, plan) = run();
    let machine = Machine::new(&cluster);
    let mut workspace = Workspace::default();
    bencher.bench_local(|| {
        let costing = Costing::new(&model, &cluster, black_box(&plan), &machine).expect("known software");
        evaluate_with(&costing, &mut workspace).expect("priced").time.total
    });
}

/// DeepSeek-V3 on 2,048 devices: latent attention, 61 layers of two kinds, 256 experts.
#[divan::bench]
fn evaluate_with_experts(bencher: Bencher<'_, '_>) {
    let model = model::by_name("deepseek-v3").expect("in the catalogue");
    let cluster = cluster::by_name("dgx-h100", 2048).expect("a preset");
    let spec = PlanSpec {
        pipeline_parallel: Some(16),
        expert_parallel: Some(64),
        layers_per_stage: Some([vec![3], vec![4; 13], vec![3, 3]].concat()),
        global_batch: Some(15_360),
        sequence_length: Some(4096),
        ..PlanSpec::default()
    };
    let plan = spec.resolve(&model, &cluster).expect("resolves");
    let machine = Machine::new(&cluster);
    let mut workspace = Workspace::default();
    bencher.bench_local(|| {
        let costing = Costing::new(&model, &cluster, black_box(&plan), &machine).expect("known software");
        evaluate_with(&costing, &mut workspace).expect("priced").time.total
    });
}

#[divan::bench]
fn chunks(bencher: Bencher<'_, '_>) {
    let (model, cluster, plan) = run();
    let machine = Machine::new(&cluster);
    let costing = Costing::new(&model, &cluster, &plan, &machine).expect("known software");
    bencher.bench(|| stage::chunks(black_box(&costing)));
}

#[divan::bench]
fn summarize(bencher: Bencher<'_, '_>) {
    let (model, cluster, plan) = run();
    let machine = Machine::new(&cluster);
    let costing = Costing::new(&model, &cluster, &plan, &machine).expect("known software");
    let times: Vec<_> = stage::chunks(&costing).iter().map(|c| c.time).collect();
    let transfer = transfer_time(&costing);
    let mut workspace = Workspace::default();
    bencher.bench_local(|| {
        workspace.summarize(black_box(&pipeline(&plan, &times, transfer))).expect("runs").duration
    });
}

#[divan::bench]
fn memory_peak(bencher: Bencher<'_, '_>) {
    let (model, cluster, plan) = run();
    let catalogue = SoftwareCatalogue::built_in().expect("built in");
    let input = MemoryInput {
        model: &model,
        cluster: &cluster,
        plan: &plan,
        software: catalogue.get(&plan.software),
        in_flight: None,
    };
    bencher.bench_local(|| peak(black_box(&input)));
}

#[divan::bench]
fn whole_estimate(bencher: Bencher<'_, '_>) {
    let (model, cluster, plan) = run();
    let options = EstimateOptions::default();
    bencher.bench(|| estimate(black_box(&model), &cluster, &plan, &options).expect("priced"));
}

#[divan::bench(sample_count = 20)]
fn timeline_of_16_stages_and_128_micro_batches(bencher: Bencher<'_, '_>) {
    let (model, cluster, plan) = run_with(128 * 128);
    bencher.bench(|| timeline::timeline(black_box(&model), &cluster, &plan).expect("a timeline"));
}

#[divan::bench(sample_count = 20)]
fn timeline_with_its_trace(bencher: Bencher<'_, '_>) {
    let (model, cluster, plan) = run_with(128 * 128);
    bencher.bench(|| {
        let step = timeline::timeline(black_box(&model), &cluster, &plan).expect("a timeline");
        chrome::to_string(&step, chrome::Options::default()).len()
    });
}
