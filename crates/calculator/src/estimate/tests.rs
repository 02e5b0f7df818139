use super::*;
use railwright_spec::plan::PlanSpec;
use railwright_spec::{cluster, model};

fn estimate_of(name: &str, preset: &str, devices: u64, change: impl FnOnce(&mut PlanSpec)) -> Estimate {
    let model = model::by_name(name).expect("in the catalogue");
    let cluster = cluster::by_name(preset, devices).expect("a preset");
    let mut spec = PlanSpec::default();
    change(&mut spec);
    let plan = spec.resolve(&model, &cluster).expect("resolves");
    estimate(&model, &cluster, &plan, &EstimateOptions::default()).expect("priced")
}

fn check_sums(part: &Part) {
    if part.children.is_empty() {
        return;
    }
    let sum: Seconds = part.children.iter().map(|c| c.time).sum();
    let error = (sum - part.time).get().abs();
    assert!(error <= 1e-9 * part.time.get().abs().max(1e-3), "{}: {sum:?} against {:?}", part.id, part.time);
    part.children.iter().for_each(check_sums);
}

fn large() -> Estimate {
    estimate_of("llama-3.1-405b", "dgx-h100", 1024, |p| {
        p.tensor_parallel = Some(8);
        p.pipeline_parallel = Some(16);
        p.layers_per_stage = Some([vec![7], vec![8; 14], vec![7]].concat());
        p.global_batch = Some(512);
        p.sequence_length = Some(8192);
    })
}

#[test]
fn the_parts_of_a_step_sum_to_it_at_every_level() {
    check_sums(&large().time);
    check_sums(
        &estimate_of("deepseek-v3", "dgx-h100", 256, |p| {
            p.pipeline_parallel = Some(4);
            p.expert_parallel = Some(8);
            p.layers_per_stage = Some(vec![15, 16, 15, 15]);
        })
        .time,
    );
    check_sums(&estimate_of("llama-3-8b", "dgx-h100", 8, |_| ()).time);
}

#[test]
fn a_405b_run_is_believable() {
    let estimate = large();
    let mfu = estimate.efficiency.mfu(crate::model_flop::Convention::FullAttention).expect("a peak");
    assert!((0.3..0.55).contains(&mfu), "{mfu}");
    let memory: f64 = estimate.memory.stages[0].kinds.iter().map(|k| k.bytes.get()).sum();
    assert!((memory / estimate.memory.stages[0].device.get() - 1.0).abs() < 1e-9);
    assert_eq!(estimate.stages.iter().map(|s| s.layers).sum::<u64>(), 126);
    for stage in &estimate.stages {
        assert!(stage.busy.get() > 0.0 && stage.bubble.get() >= 0.0, "{stage:?}");
    }
    let json = serde_json::to_string(&estimate).expect("serialises");
    assert!(json.len() < 200_000, "{}", json.len());
}

#[test]
fn a_token_budget_has_a_bill() {
    let model = model::by_name("llama-3.1-405b").expect("in the catalogue");
    let cluster = cluster::by_name("dgx-h100", 1024).expect("a preset");
    let spec = PlanSpec {
        tensor_parallel: Some(8),
        pipeline_parallel: Some(8),
        layers_per_stage: Some([vec![15], vec![16; 6], vec![15]].concat()),
        ..PlanSpec::default()
    };
    let plan = spec.resolve(&model, &cluster).expect("resolves");
    let training = Training { tokens: Some(15.6e12), availability: 0.9 };
    let options = EstimateOptions { training, ..EstimateOptions::default() };
    let estimate = estimate(&model, &cluster, &plan, &options).expect("priced");
    let bill = estimate.money.expect("a bill");
    let hours = 15.6e12 / estimate.throughput.tokens_per_second_per_device / 3600.0 / 0.9;
    assert!((bill.device_hours.0 / hours - 1.0).abs() < 1e-3, "{} {hours}", bill.device_hours.0);
}
