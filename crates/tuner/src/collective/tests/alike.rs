//! An all-reduce has the same time in `network collective`, in `validate --network`, in the table of an
//! estimate and in a simulated step without contention.

use super::*;
use crate::simulate::{Setting, simulate};
use railwright_calculator::costing::{Costing, Machine};
use railwright_calculator::estimate::{EstimateOptions, estimate};
use railwright_calculator::evaluate::evaluate;
use railwright_calculator::update::of_stage;
use railwright_spec::cluster::from_parts;
use railwright_spec::model;
use railwright_spec::plan::{PlanSpec, Sharding};

#[track_caller]
fn near(a: f64, b: f64, what: &str) {
    assert!((a / b - 1.0).abs() < 1e-6, "{what}: {a} {b}");
}

/// Gradients of replicas without sharding: one all-reduce of all ranks, in buckets. `tensor` ranks share each
/// replica.
fn check(gpu: &str, devices: u64, tensor: u64) {
    let name = format!("{devices} x {gpu}, tensor {tensor}");
    let cluster = from_parts(gpu, devices, None, None).expect(gpu);
    let model = model::by_name("llama-3.2-1b").expect("in the catalogue");
    let mut spec =
        PlanSpec { tensor_parallel: Some(tensor), pipeline_parallel: Some(1), ..PlanSpec::default() };
    (spec.micro_batch, spec.global_batch) = (Some(1), Some(2 * devices / tensor));
    spec.sharding = Some(Sharding { zero_stage: 0, group: None, reshard_after_forward: true });
    let plan = spec.resolve(&model, &cluster).expect(&name);
    let machine = Machine::new(&cluster);
    let costing = Costing::new(&model, &cluster, &plan, &machine).expect("known software");
    let evaluation = evaluate(&costing).expect("possible");
    let updates = of_stage(&costing, &evaluation, 0);
    let update =
        updates.iter().map(|priced| priced.collective).find(|u| u.operation == Collective::AllReduce);
    let update = update.expect("gradients");
    let bucket = update.bytes / update.buckets;

    // The curve on a non-blocking network.
    let wiring = wiring(&cluster, &DesignSpec::default(), &[]).expect("built");
    let group: Vec<u32> = (0..devices as u32).step_by(tensor as usize).collect();
    let (sizes, groups) = ([bucket], [group]);
    let question = Question { operation: Collective::AllReduce, sizes: &sizes, groups: &groups, seeds: 1 };
    let point = curve(&cluster, Network::Design(&wiring), &question).expect("a curve").points[0];
    near(point.time.get(), point.closed_form.get(), &format!("{name}: on the topology and in closed form"));

    // The table of the estimate: all buckets, at the sustained rate.
    let answer = estimate(&model, &cluster, &plan, &EstimateOptions::default()).expect("priced");
    let row = answer.communication.iter().find(|row| row.dimension == "data").expect("gradients");
    assert_eq!((row.operation, row.algorithm, row.ranks), ("all_reduce", point.algorithm, devices / tensor));
    let whole = point.closed_form * update.buckets / costing.software.collective_rate;
    near(row.time_each.get(), whole.get(), &format!("{name}: estimate"));
    let bounds =
        |bounds: Option<[railwright_spec::quantity::Seconds; 2]>, of: f64| bounds.map(|b| b[1].get() / of);
    match (bounds(row.unmeasured, row.time_each.get()), bounds(point.unmeasured, point.time.get())) {
        (Some(a), Some(b)) => assert!(a >= 1.0 && b >= 1.0, "{name}: {a} {b}"),
        (a, b) => assert_eq!(a.is_some(), b.is_some(), "{name}"),
    }

    // The simulated step.
    let simulation = simulate(&model, &cluster, &plan, &Setting::on(&wiring)).expect("simulated");
    let data = simulation.dimensions.iter().find(|row| row.dimension == "data").expect("gradients");
    near(data.closed_form.get(), row.time.get(), &format!("{name}: simulation in closed form"));
    near(data.alone.get(), row.time.get(), &format!("{name}: simulation alone"));

    // A row of measurements with the same group: bus bandwidth.
    if tensor == 1 {
        let fabric = &cluster.network.kind;
        let table = format!(
            "source,gpu,n_gpus,fabric,operation,bytes,bus_gbps\na,{gpu},{devices},{fabric},all_reduce,{},100\n",
            bucket.get()
        );
        let watch = &mut |_, _| ControlFlow::Continue(());
        let found = validate_network(&table, "table.csv", Predictor::Flow, watch).expect("a table");
        let row = &found.rows[0];
        let (closed, flow) = (row.closed_form.expect(&name), row.flow.expect(&name));
        assert_eq!((row.line, closed.algorithm), (2, point.algorithm));
        near(closed.bus_bandwidth.get(), point.closed_form_bus.get(), &format!("{name}: validation"));
        near(flow.bus_bandwidth.get(), point.bus_bandwidth.get(), &format!("{name}: validation as flows"));
    }
}

#[test]
fn every_command_shows_one_all_reduce_alike() {
    for (gpu, devices, tensor) in [
        ("h100", 8, 1),
        ("h100", 64, 1),
        ("h100", 512, 4),
        ("h100", 1024, 8),
        ("a100", 128, 1),
        ("h200", 256, 2),
        ("b200", 64, 1),
        ("mi300x", 64, 1),
        ("gb200-nvl72", 72, 1),
        ("gb200-nvl72", 144, 1),
        ("gb200-nvl72", 576, 4),
        ("gb200-nvl72", 1440, 1),
    ] {
        check(gpu, devices, tensor);
    }
}
