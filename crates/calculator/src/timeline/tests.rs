//! Timelines against the fast path, and what every timeline must satisfy.

use super::*;
use railwright_spec::plan::{PlanSpec, Recompute, Schedule, Sharding};
use railwright_spec::quantity::Seconds;
use railwright_spec::{cluster, model};

fn check(name: &str, preset: &str, devices: u64, change: impl FnOnce(&mut PlanSpec)) -> Step {
    let model = model::by_name(name).expect("in the catalogue");
    let cluster = cluster::by_name(preset, devices).expect("a preset");
    let mut spec = PlanSpec::default();
    change(&mut spec);
    let plan = spec.resolve(&model, &cluster).expect("resolves");
    let machine = Machine::new(&cluster);
    let costing = Costing::new(&model, &cluster, &plan, &machine).expect("known software");
    let evaluation = evaluate(&costing).expect("priced");
    let step = of_evaluation(&costing, &evaluation, Detail::Operators).expect("a timeline");
    let problems = step.validate();
    assert!(problems.is_empty(), "{problems:?}");
    let total = evaluation.time.total;
    let simulated = simulate(&pipeline(
        &plan,
        &evaluation.chunks.iter().map(|c| c.time).collect::<Vec<_>>(),
        evaluation.transfer,
    ))
    .expect("a schedule");
    let expected = if plan.schedule.validates_afterwards() {
        total + (simulated.duration - evaluation.pipeline)
    } else {
        assert!((simulated.duration / evaluation.pipeline - 1.0).abs() < 1e-9);
        total
    };
    let length = step.duration().seconds();
    assert!((length / expected - 1.0).abs() < 1e-6, "{length:?} against {expected:?}");
    let last = step.ranks.iter().flat_map(|r| &r.streams).filter_map(|s| s.spans.last_end()).max();
    assert_eq!(last, Some(step.end), "the last span ends with the step");
    assert!(length > Seconds::ZERO);
    step
}

#[test]
fn a_405b_step_on_16384_devices_is_as_long_as_the_fast_path_says() {
    let step = check("llama-3.1-405b", "dgx-h100", 16_384, |p| {
        p.tensor_parallel = Some(8);
        p.pipeline_parallel = Some(16);
        p.layers_per_stage = Some([vec![7], vec![8; 14], vec![7]].concat());
        p.global_batch = Some(2048);
        p.sequence_length = Some(8192);
    });
    assert_eq!(step.ranks.len(), 16);
}

#[test]
fn every_kind_of_plan_has_a_timeline_of_the_right_length() {
    for schedule in [
        Schedule::Gpipe,
        Schedule::OneForwardOneBackward,
        Schedule::ZbH1,
        Schedule::ZbH2,
        Schedule::ZbV,
        Schedule::DualPipe,
    ] {
        check("llama-3-8b", "dgx-h100", 64, |p| {
            p.tensor_parallel = Some(2);
            p.pipeline_parallel = Some(4);
            p.schedule = Some(schedule);
            p.micro_batches = Some(16);
        });
    }
    check("llama-3-8b", "dgx-h100", 64, |p| {
        p.sharding = Some(Sharding { zero_stage: 3, group: None, reshard_after_forward: true });
        p.recompute = Some(Recompute::Full { layers: None });
    });
    check("deepseek-v3", "dgx-h100", 512, |p| {
        p.pipeline_parallel = Some(8);
        p.expert_parallel = Some(64);
        p.layers_per_stage = Some(vec![7, 8, 8, 8, 8, 8, 7, 7]);
        p.recompute = Some(Recompute::core_attention());
    });
    check("llama-3-70b", "dgx-h100", 64, |p| {
        p.tensor_parallel = Some(4);
        p.context_parallel = Some(2);
        p.pipeline_parallel = Some(4);
        p.virtual_stages = Some(5);
        p.micro_batches = Some(8);
    });
}

#[test]
fn memory_along_the_step_peaks_where_the_report_says() {
    let model = model::by_name("llama-3-70b").expect("in the catalogue");
    let cluster = cluster::by_name("dgx-h100", 64).expect("a preset");
    let spec = PlanSpec {
        tensor_parallel: Some(4),
        pipeline_parallel: Some(8),
        micro_batches: Some(32),
        ..PlanSpec::default()
    };
    let plan = spec.resolve(&model, &cluster).expect("resolves");
    let step = timeline(&model, &cluster, &plan).expect("a timeline");
    let catalogue = crate::memory::SoftwareCatalogue::built_in().expect("built in");
    let report = crate::memory::report(&crate::memory::MemoryInput {
        model: &model,
        cluster: &cluster,
        plan: &plan,
        software: catalogue.get(&plan.software),
        in_flight: None,
    });
    for (rank, stage) in step.ranks.iter().zip(&report.stages) {
        let (mut now, mut peak) = (0, 0);
        for (_, _, bytes) in rank.memory.iter() {
            now += bytes;
            peak = peak.max(now);
        }
        let expected = stage.device.get();
        assert!((peak as f64 / expected - 1.0).abs() < 0.01, "stage {}: {peak} {expected}", stage.stage);
    }
}
