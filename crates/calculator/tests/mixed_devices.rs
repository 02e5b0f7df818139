//! Jobs on devices of several kinds.

use proptest::prelude::*;
use railwright_calculator::costing::{Costing, Machine};
use railwright_calculator::estimate::{EstimateOptions, estimate};
use railwright_calculator::evaluate::{Evaluation, evaluate};
use railwright_calculator::prepared::{Buffers, Priced, Setting, step_time};
use railwright_calculator::timeline::timeline;
use railwright_spec::cluster::{self, Cluster, ClusterSpec, PoolSpec, Pools};
use railwright_spec::model::{Model, by_name};
use railwright_spec::plan::{Plan, PlanSpec};
use railwright_spec::quantity::Seconds;

fn mixed(main: &str, devices: u64, pools: &[(&str, u64)]) -> Cluster {
    let pools = pools.iter().map(|&(name, devices)| PoolSpec { name: name.to_owned(), devices }).collect();
    let spec = ClusterSpec {
        preset: Some(main.to_owned()),
        devices: Some(devices),
        pools: Some(Pools(pools)),
        ..ClusterSpec::default()
    };
    spec.resolve().expect("sound")
}

fn plan(model: &Model, cluster: &Cluster, tensor: u64, pipeline: u64) -> Plan {
    let spec = PlanSpec {
        tensor_parallel: Some(tensor),
        pipeline_parallel: Some(pipeline),
        global_batch: Some(256),
        sequence_length: Some(4096),
        software: Some("megatron-core-2024".to_owned()),
        ..PlanSpec::default()
    };
    spec.resolve(model, cluster).expect("possible")
}

fn evaluated(model: &Model, cluster: &Cluster, plan: &Plan) -> Evaluation {
    let machine = Machine::new(cluster);
    evaluate(&Costing::new(model, cluster, plan, &machine).expect("known software")).expect("possible")
}

/// Chunk times of one micro-batch, by virtual stage.
fn passes(evaluation: &Evaluation) -> Vec<f64> {
    evaluation.chunks.iter().map(|chunk| chunk.time.total().get()).collect()
}

#[test]
fn every_stage_has_the_passes_of_a_job_on_its_kind_alone() {
    let model = by_name("llama-3-8b").expect("known");
    let both = mixed("dgx-h100", 64, &[("dgx-a100", 32)]);
    let plan = plan(&model, &both, 2, 4);
    let on = |cluster: &Cluster| passes(&evaluated(&model, cluster, &plan));
    let h100 = on(&cluster::by_name("dgx-h100", 64).expect("known"));
    let a100 = on(&cluster::by_name("dgx-a100", 64).expect("known"));
    // Stages 0 and 1 are on ranks 0 to 31, H100; 2 and 3 on the A100.
    assert_eq!(on(&both), [h100[0], h100[1], a100[2], a100[3]]);
    assert!(a100[2] > 1.5 * h100[2], "{a100:?} {h100:?}");
}

#[test]
fn a_stage_on_two_kinds_is_as_fast_as_the_slower_one() {
    let model = by_name("llama-3-8b").expect("known");
    let cluster = mixed("dgx-h100", 64, &[("dgx-a100", 8)]);
    let plan = plan(&model, &cluster, 2, 2);
    let a100 = passes(&evaluated(&model, &cluster::by_name("dgx-a100", 64).expect("known"), &plan));
    assert_eq!(passes(&evaluated(&model, &cluster, &plan))[1], a100[1]);
}

#[test]
fn a_pool_of_the_same_devices_changes_nothing() {
    let model = by_name("llama-3-70b").expect("known");
    let alike = mixed("dgx-h100", 64, &[("dgx-h100", 16)]);
    let plan = plan(&model, &alike, 8, 4);
    let one = cluster::by_name("dgx-h100", 64).expect("known");
    let options = EstimateOptions::default();
    let (a, b) = (
        estimate(&model, &alike, &plan, &options).expect("possible"),
        estimate(&model, &one, &plan, &options).expect("possible"),
    );
    assert_eq!((a.step_time, &a.communication), (b.step_time, &b.communication));
    assert_eq!(a.efficiency, b.efficiency);
    assert_eq!(a.memory, b.memory);
    assert_eq!(a.stages, b.stages);
}

#[test]
fn memory_is_that_of_the_kind_on_each_stage() {
    let model = by_name("llama-3-8b").expect("known");
    // 80 GB and 40 GB.
    let cluster = mixed("dgx-a100", 16, &[("dgx-a100-40gb", 8)]);
    let options = EstimateOptions::default();
    let plan = plan(&model, &cluster, 2, 2);
    let found = estimate(&model, &cluster, &plan, &options).expect("possible");
    let gib: Vec<f64> = found.memory.stages.iter().map(|stage| stage.available.gib()).collect();
    assert!(gib[0] > 79.0 && gib[1] < 40.0, "{gib:?}");
    // The first stage needs more, but the second one has half of the memory.
    assert_eq!(found.memory.worst, 1);
    assert_eq!(found.memory.device_memory, found.memory.stages[1].available);
}

#[test]
fn the_timeline_is_as_long_as_the_step() {
    let model = by_name("llama-3-8b").expect("known");
    let cluster = mixed("dgx-h100", 32, &[("dgx-a100", 16)]);
    let plan = plan(&model, &cluster, 2, 4);
    let evaluation = evaluated(&model, &cluster, &plan);
    let step = timeline(&model, &cluster, &plan).expect("possible");
    let length = step.end.seconds().get();
    assert!((length / evaluation.time.total.get() - 1.0).abs() < 1e-6, "{length} {:?}", evaluation.time);
}

proptest! {
    #![proptest_config(railwright_cases::cases(24))]

    /// The step is between those of jobs on either kind alone, and the search's fast path has the same time.
    #[test]
    fn a_mixed_step_is_between_those_of_its_kinds(
        (tensor, pipeline, share) in (0_u32..3, 0_u32..4, 1_u64..8),
        main in prop::sample::select(vec!["dgx-h100", "dgx-a100"]),
    ) {
        let model = by_name("llama-3-8b").expect("known");
        let other = if main == "dgx-h100" { "dgx-a100" } else { "dgx-h100" };
        let cluster = mixed(main, 64, &[(other, share * 8)]);
        let plan = plan(&model, &cluster, 1 << tensor, 1 << pipeline);
        let machine = Machine::new(&cluster);
        let costing = Costing::new(&model, &cluster, &plan, &machine).expect("known software");
        let total = evaluate(&costing).expect("possible").time.total;
        let alone = |name| {
            evaluated(&model, &cluster::by_name(name, 64).expect("known"), &plan).time.total
        };
        let (fast, slow) = (alone("dgx-h100"), alone("dgx-a100"));
        prop_assert!(total >= fast * (1.0 - 1e-9) && total <= slow * (1.0 + 1e-9), "{fast:?} {total:?} {slow:?}");
        let setting = Setting::new(&costing);
        let mut priced = Priced::new(&costing, &setting);
        let split: Vec<u64> = evaluate(&costing).expect("possible").chunks.iter().map(|c| c.layers).collect();
        let limit = Seconds::new(f64::INFINITY);
        let again = step_time(&costing, &setting, &mut priced, &split, limit, &mut Buffers::default());
        prop_assert_eq!(again.expect("possible"), Some(total));
    }
}
