//! A slow member compared with closed forms, and no slow member compared with none specified.

use super::*;
use crate::costing::Machine;
use crate::evaluate::{Evaluation, evaluate};
use crate::timeline::{self, Detail};
use railwright_spec::cluster::{self, Cluster};
use railwright_spec::model::{Model, by_name};
use railwright_spec::plan::{Plan, PlanSpec, RankOrder};

struct Case {
    model: Model,
    cluster: Cluster,
    plan: Plan,
    machine: Machine,
}

/// An 8B model on 64 devices.
fn case(tensor: u64, pipeline: u64, micro_batches: u64) -> Case {
    let model = by_name("llama-3-8b").expect("in the catalogue");
    let cluster = cluster::by_name("dgx-h100", 64).expect("a preset");
    let spec = PlanSpec {
        tensor_parallel: Some(tensor),
        pipeline_parallel: Some(pipeline),
        micro_batches: Some(micro_batches),
        sequence_length: Some(8192),
        // Overlapped transfers would hide the cost of slow links.
        overlap_pipeline: Some(false),
        overlap_tensor: Some(false),
        ..PlanSpec::default()
    };
    let plan = spec.resolve(&model, &cluster).expect("possible");
    let machine = Machine::new(&cluster);
    Case { model, cluster, plan, machine }
}

fn step(case: &Case, disturb: impl Fn(&mut Disturbance)) -> Evaluation {
    let mut disturbance = Disturbance::default();
    disturb(&mut disturbance);
    let costing = Costing::new(&case.model, &case.cluster, &case.plan, &case.machine).expect("priced");
    evaluate(&costing.disturbed(&disturbance)).expect("possible")
}

fn total(case: &Case, disturb: impl Fn(&mut Disturbance)) -> f64 {
    step(case, disturb).time.total.get()
}

#[test]
fn full_rate_changes_no_bit() {
    for case in [case(2, 4, 16), case(1, 1, 4)] {
        let usual = step(&case, |_| {});
        let same = step(&case, |d| {
            d.slow_device(0, 1.0);
            d.slow_host(0, 1.0);
            d.slow_links(0, &case.cluster, 1.0, 1.0);
        });
        assert_eq!(usual.time, same.time);
    }
}

#[test]
fn the_cost_of_a_slow_stage_matches_the_closed_form_of_1f1b() {
    // 1F1B with unequal stages: T = sum of all c + (m - 1) max c, except for transfers, which are now hidden.
    let (case, slow, rate) = (case(2, 4, 64), 1, 0.5);
    let usual = step(&case, |_| {});
    let disturbed = step(&case, |d| d.slow_device(slow, rate));
    let closed = |evaluation: &Evaluation| {
        let times: Vec<f64> = evaluation.chunks.iter().map(|c| c.time.total().get()).collect();
        let most = times.iter().copied().fold(0.0, f64::max);
        times.iter().sum::<f64>() + 63.0 * most
    };
    let (expected, found) =
        (closed(&disturbed) - closed(&usual), disturbed.pipeline.get() - usual.pipeline.get());
    assert!(expected > 0.02 && (found / expected - 1.0).abs() < 0.02, "{found} {expected}");
    // Kernels of the slow stage take twice their time.
    let compute = |e: &Evaluation| e.chunks[slow].cost.forward.compute_time().get();
    assert!((compute(&disturbed) / compute(&usual) - 2.0).abs() < 1e-9);
    assert_eq!(disturbed.critical_stage, slow);
}

#[test]
fn the_parts_still_sum_to_the_step() {
    let case = case(2, 4, 16);
    for disturb in [
        (&|d: &mut Disturbance| d.slow_device(2, 0.7)) as &dyn Fn(&mut Disturbance),
        &|d| d.slow_links(0, &case.cluster, 0.1, 0.5),
        &|d| d.slow_host(3, 0.1),
    ] {
        let time = step(&case, disturb).time;
        let device: Seconds = time.compute.iter().map(|c| c.1).chain(time.exposed.iter().map(|e| e.1)).sum();
        let parts =
            device + time.host + time.bubble + time.data_parallel + time.optimizer + time.fixed + time.jitter;
        assert!((parts / time.total - 1.0).abs() < 1e-9, "{parts:?} {:?}", time.total);
        assert!(time.host.get() > -1e-9, "{:?}", time.host);
    }
}

#[test]
fn one_slow_device_of_a_pure_data_parallel_run_slows_all() {
    // Compute dominates and all ranks wait: between the compute's share and the whole of 1/0.5.
    let case = case(1, 1, 8);
    let ratio = total(&case, |d| d.slow_device(0, 0.5)) / total(&case, |_| {});
    assert!((1.85..=2.0).contains(&ratio), "{ratio}");
}

#[test]
fn worse_is_never_faster_and_links_matter_where_they_are_used() {
    let case = case(2, 4, 16);
    let usual = total(&case, |_| {});
    let mut last = usual;
    for rate in [0.9, 0.5, 0.1] {
        let now = total(&case, |d| d.slow_device(1, rate));
        assert!(now > last, "{rate}");
        last = now;
    }
    assert!(total(&case, |d| d.slow_links(1, &case.cluster, 0.05, 1.0)) > usual);
    assert!(total(&case, |d| d.slow_links(1, &case.cluster, 1.0, 0.2)) > usual * 1.02);
    assert!(total(&case, |d| d.slow_host(1, 0.01)) > usual * 1.02);
    // Tensor parallel over all eight devices of one node: no traffic leaves it.
    let inside = Case {
        cluster: cluster::by_name("dgx-h100", 8).expect("a preset"),
        plan: Plan { tensor_parallel: 8, pipeline_parallel: 1, data_parallel: 1, ..case.plan.clone() },
        ..case
    };
    let links = total(&inside, |d| d.slow_links(0, &inside.cluster, 0.05, 1.0));
    assert_eq!(links, total(&inside, |_| {}));
}

#[test]
fn the_timeline_agrees() {
    let case = case(2, 4, 16);
    let mut disturbance = Disturbance::default();
    disturbance.slow_device(2, 0.6);
    disturbance.slow_links(1, &case.cluster, 0.1, 1.0);
    let costing = Costing::new(&case.model, &case.cluster, &case.plan, &case.machine).expect("priced");
    let costing = costing.disturbed(&disturbance);
    let evaluation = evaluate(&costing).expect("possible");
    let step = timeline::of_evaluation(&costing, &evaluation, Detail::Automatic, &|| Ok(())).expect("drawn");
    let difference = step.duration().seconds() - evaluation.time.total;
    assert!(difference.get().abs() < 1e-9, "{difference:?}");
}

#[test]
fn ranks_lie_on_stages_as_the_order_has_it() {
    let Case { plan, .. } = case(2, 4, 16);
    assert_eq!([0, 15, 16, 63].map(|rank| stage_of_rank(&plan, rank)), [0, 0, 1, 3]);
    let inner = Plan { rank_order: RankOrder::TensorContextPipelineData, ..plan };
    assert_eq!([0, 1, 2, 8, 63].map(|rank| stage_of_rank(&inner, rank)), [0, 0, 1, 0, 3]);
}
