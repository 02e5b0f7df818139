//! Published numbers as anchors of the calculator, with tolerances.
//!
//! `tests/data/anchors.csv`: Narayanan et al. SC'21 table 1 (step time from the published TFLOP/s and its
//! formula; micro-batches and interleaving from the paper's run scripts) and Korthikanti et al. 2022 table 5
//! (iteration times). Llama 3: arXiv 2407.21783, table 4 and section 3.3. DeepSeek-V3: arXiv 2412.19437,
//! sections 3 and 4.2.

use railwright_calculator::estimate::{Estimate, EstimateOptions, estimate};
use railwright_calculator::model_flop::Convention;
use railwright_calculator::software;
use railwright_calculator::validation::{Machines, cases, evaluate_case};
use railwright_spec::plan::{PlanSpec, PrecisionPreset, Schedule, Sharding};
use railwright_spec::run::Training;
use railwright_spec::{cluster, model};

/// Predicted over measured step time of the rows whose identifier has the prefix.
fn ratios(prefix: &str) -> Vec<(String, f64)> {
    let list = cases(include_str!("data/anchors.csv"), "anchors.csv").expect("readable");
    let mut machines = Machines::default();
    let mut found = Vec::new();
    for (_, case) in &list {
        let case = case.as_ref().expect("a complete row");
        let id = &case.id;
        if !id.starts_with(prefix) {
            continue;
        }
        let software = software::by_id(&case.plan.software).expect("known software");
        let predicted = evaluate_case(case, machines.of(case), software).expect(id).time.total.get();
        found.push((id.clone(), predicted / case.step_time.expect("measured")));
    }
    found
}

#[track_caller]
fn check(prefix: &str, count: usize, each: f64, mean: f64) {
    let found = ratios(prefix);
    assert_eq!(found.len(), count, "rows of {prefix}");
    for (id, ratio) in &found {
        assert!((ratio - 1.0).abs() <= each, "{id}: {ratio:.3} of the measured time; all: {found:.3?}");
    }
    let error = found.iter().map(|(_, r)| (r - 1.0).abs()).sum::<f64>() / count as f64;
    assert!(error <= mean, "{prefix}: mean error {error:.3}; all: {found:.3?}");
}

#[test]
fn iteration_times_of_korthikanti_2022() {
    check("korthikanti", 8, 0.12, 0.06);
}

#[test]
fn throughput_of_narayanan_2021() {
    check("sc21", 10, 0.12, 0.06);
}

/// Llama 3 405B at 8,192 tokens: TP 8, PP 16, no context parallelism, 2,048 sequences, ZeRO-2. One layer per
/// chunk, and none in the first and the last chunk, which have the embedding and the head (section 3.3.2).
/// Tensor communication is not reported as overlapped. Priced as the Megatron of its year.
fn llama_3(devices: u64) -> Estimate {
    let model = model::by_name("llama-3.1-405b").expect("in the catalogue");
    let cluster = cluster::by_name("dgx-h100", devices).expect("a preset");
    let spec = PlanSpec {
        tensor_parallel: Some(8),
        pipeline_parallel: Some(16),
        virtual_stages: Some(8),
        // The paper also shards gradients and does not specify the number of reductions: once per step here.
        sharding: Some(Sharding { zero_stage: 1, group: None, reshard_after_forward: false }),
        layers_per_stage: Some([vec![0], vec![1; 126], vec![0]].concat()),
        overlap_tensor: Some(false),
        software: Some("megatron-core-2024".to_owned()),
        global_batch: Some(2048),
        sequence_length: Some(8192),
        ..PlanSpec::default()
    };
    let plan = spec.resolve(&model, &cluster).expect("resolves");
    estimate(&model, &cluster, &plan, &EstimateOptions::default()).expect("priced")
}

#[test]
fn llama_3_405b_reaches_38_to_43_percent() {
    // 430 TFLOP/s and 43% on 8,192, 400 TFLOP/s and 41% on 16,384; the paper does not define its attention
    // convention (4% apart). 38% is the same run at 131,072 tokens.
    for (devices, rate) in [(8192, 430.0), (16_384, 400.0)] {
        let estimate = llama_3(devices);
        let full = &estimate.efficiency.model_flop[0];
        assert_eq!(full.convention, Convention::FullAttention);
        let ratio = full.rate.tera() / rate;
        assert!((ratio - 1.0).abs() < 0.08, "{devices}: {:.0} TFLOP/s, {rate} published", full.rate.tera());
        let mfu = estimate.efficiency.mfu(Convention::FullAttention).expect("a peak");
        assert!((0.38 / 1.08..0.43 * 1.08).contains(&mfu), "{devices}: {mfu:.3}");
    }
}

#[test]
fn deepseek_v3_takes_its_device_hours() {
    // 2,048 H800, PP 16 DualPipe, EP 64, ZeRO-1, fp8, 15,360 sequences of 4,096 tokens: 2.664M GPU-hours for
    // 14.8T tokens.
    let model = model::by_name("deepseek-v3").expect("in the catalogue");
    let cluster = cluster::by_name("h800", 2048).expect("a preset");
    let spec = PlanSpec {
        tensor_parallel: Some(1),
        pipeline_parallel: Some(16),
        expert_parallel: Some(64),
        schedule: Some(Schedule::DualPipe),
        virtual_stages: Some(1),
        layers_per_stage: Some([vec![3], vec![4; 13], vec![3, 3]].concat()),
        global_batch: Some(15_360),
        sequence_length: Some(4096),
        precision: Some(PrecisionPreset::Fp8),
        software: Some("megatron-core-2026".to_owned()),
        ..PlanSpec::default()
    };
    let plan = spec.resolve(&model, &cluster).expect("resolves");
    let training = Training { tokens: Some(14.8e12), ..Training::default() };
    let options = EstimateOptions { training, ..EstimateOptions::default() };
    let estimate = estimate(&model, &cluster, &plan, &options).expect("priced");
    let hours = estimate.money.expect("a bill").device_hours.0;
    assert!((hours / 2.664e6 - 1.0).abs() < 0.15, "{:.3}M GPU-hours, 2.664M published", hours / 1e6);
}
