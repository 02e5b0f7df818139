//! Memory reports: sums of items, and verdicts on known runs.

use super::*;
use crate::memory::Fit;
use crate::memory::{SoftwareCatalogue, peak, testing};
use railwright_spec::plan::{Plan, Recompute, Schedule, StageRecompute};

fn check(model: &railwright_spec::model::Model, plan: &Plan, software: &crate::memory::MemorySoftware) {
    let cluster = testing::cluster(80.0);
    let input = MemoryInput { model, cluster: &cluster, plan, software, in_flight: None };
    let report = report(&input);
    let fast = peak(&input);
    assert_eq!(fast.least(), report.least);
    let worst = &report.stages[report.worst];
    assert_eq!((fast.stage, fast.moment), (report.worst, worst.moment));
    assert_eq!((fast.allocated, fast.reserved, fast.device), (worst.allocated, worst.reserved, worst.device));
    for stage in &report.stages {
        let sum: f64 = stage.items.iter().map(|i| i.bytes.get()).sum();
        assert!(
            (sum / stage.device.get() - 1.0).abs() < 1e-9,
            "stage {}: {sum} {}",
            stage.stage,
            stage.device.get()
        );
        assert!(stage.items.iter().all(|i| i.bytes.is_finite() && i.bytes.get() > 0.0));
    }
}

#[test]
fn items_add_up_and_the_fast_path_agrees() {
    let models = [
        testing::llama(4096, 14336, 32, 8, 32, 128_256),
        testing::gpt(2048, 16, 24, 50257),
        testing::mixture(2048, 1024, 64, 8),
    ];
    let catalogue = SoftwareCatalogue::built_in().expect("reads");
    let mut count = 0;
    for software in catalogue.iter() {
        for model in &models {
            for (tp, pp, dp) in [(1, 1, 8), (8, 1, 1), (2, 4, 4), (4, 8, 1)] {
                for stage in 0..4 {
                    for recompute in
                        [Recompute::None, Recompute::core_attention(), Recompute::Full { layers: Some(2) }]
                    {
                        for schedule in [
                            Schedule::OneForwardOneBackward,
                            Schedule::ZbH2,
                            Schedule::ZbV,
                            Schedule::DualPipe,
                        ] {
                            let mut plan = testing::plan();
                            plan.tensor_parallel = tp;
                            plan.pipeline_parallel = pp;
                            plan.data_parallel = dp;
                            plan.sequence_parallel = tp > 1;
                            plan.sharding.zero_stage = stage;
                            plan.recompute = recompute.clone();
                            plan.schedule = schedule;
                            plan.virtual_stages =
                                if matches!(schedule, Schedule::OneForwardOneBackward) { 2 } else { 1 };
                            plan.sequence_length = 2048;
                            plan.global_batch = 64;
                            check(model, &plan, software);
                            // Stage by stage: each has its own recompute, of one layer, of none or of all.
                            let segments = [
                                vec![],
                                vec![recompute.clone()],
                                vec![recompute.everywhere().on(1), recompute.everywhere()],
                            ];
                            let stages = (0..pp as usize).map(|stage| StageRecompute {
                                segments: segments[stage % 3].clone(),
                                offload: (stage == 1).then_some(0.5),
                            });
                            plan.stage_recompute = Some(stages.collect());
                            plan.recompute = Recompute::None;
                            check(model, &plan, software);
                            count += 1;
                        }
                    }
                }
            }
        }
    }
    assert!(count > 5000, "{count}");
}

#[test]
fn tied_embeddings_lie_on_both_ends() {
    let mut model = testing::gpt(2048, 16, 24, 50257);
    model.tied_embeddings = true;
    let software = testing::neutral();
    let cluster = testing::cluster(80.0);
    let mut plan = testing::plan();
    let parameters = |plan: &Plan| -> f64 {
        let input =
            MemoryInput { model: &model, cluster: &cluster, plan, software: &software, in_flight: None };
        let items = report(&input).stages.into_iter().flat_map(|s| s.items);
        items.filter(|i| i.kind == Kind::Parameters).map(|i| i.bytes.get()).sum()
    };
    let one = parameters(&plan);
    plan.pipeline_parallel = 2;
    assert_eq!(parameters(&plan) - one, 2.0 * 50257.0 * 2048.0);
}

#[test]
fn items_of_adapters_add_up_too() {
    let catalogue = SoftwareCatalogue::built_in().expect("reads");
    for model in [testing::llama(4096, 14336, 32, 8, 32, 128_256), testing::mixture(2048, 1024, 64, 8)] {
        for zero_stage in 0..4 {
            let mut plan = testing::plan();
            plan.optimizer = railwright_spec::plan::Optimizer::Lora;
            plan.precision.compute = railwright_spec::precision::DataType::Fp8;
            plan.data_parallel = 8;
            plan.global_batch = 8;
            plan.sharding.zero_stage = zero_stage;
            check(&model, &plan, catalogue.get("megatron-mlperf"));
        }
    }
}

#[test]
fn a_device_too_small_does_not_fit() {
    let model = testing::llama(4096, 14336, 32, 8, 32, 128_256);
    let software = testing::neutral();
    let plan = testing::plan();
    let at = |gib| {
        let cluster = testing::cluster(gib);
        report(&MemoryInput {
            model: &model,
            cluster: &cluster,
            plan: &plan,
            software: &software,
            in_flight: None,
        })
    };
    let (small, large) = (at(80.0), at(288.0));
    assert!(small.fit == Fit::DoesNotFit && small.probability_of_fitting < 0.01 && small.margin.get() < 0.0);
    assert!(large.fit == Fit::Fits && large.probability_of_fitting > 0.99);
}
