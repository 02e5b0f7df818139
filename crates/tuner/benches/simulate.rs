//! Benchmark of the simulation of whole steps: `cargo bench -p railwright-tuner --bench simulate`.
//!
//! Target: Llama 3.1 405B on 32,768 GPUs, rail-only and Clos, in at most 2 seconds.

use divan::Bencher;
use railwright_network::simulate::Wiring;
use railwright_network::topology::{DesignSpec, Kind, Routing};
use railwright_spec::cluster::{self, Cluster};
use railwright_spec::model::{self, Model};
use railwright_spec::plan::{Plan, PlanSpec};
use railwright_tuner::flows;
use railwright_tuner::simulate::{Setting, simulate};

fn main() {
    divan::main();
}

fn run() -> (Model, Cluster, Plan) {
    let model = model::by_name("llama-3.1-405b").expect("in the catalogue");
    let cluster = cluster::by_name("dgx-h100", 32_768).expect("a preset");
    let spec = PlanSpec {
        tensor_parallel: Some(8),
        pipeline_parallel: Some(16),
        micro_batch: Some(1),
        global_batch: Some(4096),
        layers_per_stage: Some([vec![7], vec![8; 14], vec![7]].concat()),
        ..PlanSpec::default()
    };
    let plan = spec.resolve(&model, &cluster).expect("resolves");
    (model, cluster, plan)
}

/// Everything: topology, wiring, exchanges, flows, events.
#[divan::bench(args = [(Kind::RailOnly, Routing::Ecmp), (Kind::RailOnly, Routing::Spray), (Kind::Clos, Routing::Ecmp), (Kind::Clos, Routing::Spray), (Kind::Clos, Routing::Static)], sample_count = 3)]
fn step_of_405b_on_32768(bencher: Bencher<'_, '_>, (kind, routing): (Kind, Routing)) {
    let (model, cluster, plan) = run();
    let design = DesignSpec { kind: Some(kind), routing: Some(routing), ..DesignSpec::default() };
    bencher.bench_local(|| {
        let wiring: Wiring = flows::wiring(&cluster, &design, &[]).expect("it is built");
        simulate(&model, &cluster, &plan, &Setting::on(&wiring)).expect("it ends").step_time
    });
}
