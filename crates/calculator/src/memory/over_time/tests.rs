//! Memory over the step: peaks calculated by hand.

use super::*;
use crate::memory::{SoftwareCatalogue, report, testing};
use crate::schedule::{ChunkCost, Pipeline, in_flight, simulate};
use railwright_spec::plan::{Plan, Recompute, Schedule, StageRecompute};

fn pipeline<'a>(plan: &Plan, chunks: &'a [ChunkCost]) -> Pipeline<'a> {
    Pipeline {
        schedule: plan.schedule,
        stages: plan.pipeline_parallel,
        virtual_stages: plan.virtual_stages,
        micro_batches: plan.micro_batches(),
        chunks,
        transfer: Seconds::from_micros(10.0),
        overlap_transfer: true,
    }
}

/// Peak of what a chart draws: of the states that last.
fn peak(events: &MemoryEvents) -> i64 {
    railwright_step::memory::curve(events).into_iter().map(|(_, bytes)| bytes).max().unwrap_or(0)
}

#[test]
fn the_curves_peak_is_the_reports() {
    let model = testing::llama(4096, 14336, 32, 8, 32, 128_256);
    let cluster = testing::cluster(80.0);
    let catalogue = SoftwareCatalogue::built_in().expect("reads");
    let mut checked = 0;
    for name in ["megatron-core-2025", "torchtitan-2024-eager", "nanotron-2024", "megatron-lm-2022"] {
        for (schedule, pp, virtual_stages) in [
            (Schedule::OneForwardOneBackward, 1, 1),
            (Schedule::OneForwardOneBackward, 4, 1),
            (Schedule::OneForwardOneBackward, 4, 2),
            (Schedule::Gpipe, 4, 1),
            (Schedule::ZbH1, 4, 1),
            (Schedule::ZbH2, 4, 1),
            (Schedule::ZbV, 4, 2),
        ] {
            let full = Recompute::Full { layers: None };
            for (recompute, by_stage) in [(Recompute::None, false), (full.clone(), false), (full, true)] {
                for m in [1, 16] {
                    if m < pp && schedule != Schedule::OneForwardOneBackward {
                        continue;
                    }
                    let mut plan = testing::plan();
                    plan.schedule = schedule;
                    plan.pipeline_parallel = pp;
                    plan.virtual_stages = virtual_stages;
                    plan.global_batch = m;
                    plan.recompute = recompute.clone();
                    if by_stage {
                        plan.recompute = Recompute::None;
                        let stages = (0..pp).map(|stage| StageRecompute {
                            segments: vec![recompute.on(stage + 1)],
                            offload: (stage == 1).then_some(0.5),
                        });
                        plan.stage_recompute = Some(stages.collect());
                    }
                    if m < pp && virtual_stages > 1 {
                        continue;
                    }
                    let cost = ChunkCost {
                        forward: Seconds::from_millis(1.0),
                        backward_input: Seconds::from_millis(1.0),
                        backward_weight: Seconds::from_millis(1.0),
                        ..ChunkCost::default()
                    };
                    let costs = vec![cost; schedule.chunk_count(pp, virtual_stages) as usize];
                    let pipeline = pipeline(&plan, &costs);
                    let alive: Vec<Vec<u64>> =
                        (0..pp).map(|s| in_flight(&pipeline, s).expect("counts").per_chunk).collect();
                    let count = |stage: usize, chunk: usize| alive[stage][chunk] as f64;
                    let software = catalogue.get(name);
                    let input = MemoryInput {
                        model: &model,
                        cluster: &cluster,
                        plan: &plan,
                        software,
                        in_flight: Some(&count),
                    };
                    let report = report(&input);
                    let timeline = simulate(&pipeline).expect("runs");
                    for stage in 0..pp as usize {
                        let end = timeline.duration + Seconds::from_millis(1.0);
                        let events = over_time(&input, stage, &timeline.stages[stage], end);
                        let want = report.stages[stage].device.get();
                        let got = peak(&events) as f64;
                        assert!(
                            (got / want - 1.0).abs() < 0.01,
                            "{name} {schedule:?} {pp} {virtual_stages} {m} stage {stage}: {got} {want}"
                        );
                        checked += 1;
                    }
                }
            }
        }
    }
    assert!(checked > 100, "{checked}");
}

#[test]
fn what_a_pass_takes_is_given_back() {
    let model = testing::llama(1024, 4096, 8, 8, 8, 32000);
    let cluster = testing::cluster(80.0);
    let software = testing::neutral();
    let mut plan = testing::plan();
    plan.pipeline_parallel = 2;
    plan.global_batch = 4;
    let costs = vec![ChunkCost { forward: Seconds::from_millis(1.0), ..ChunkCost::default() }; 2];
    let timeline = simulate(&pipeline(&plan, &costs)).expect("runs");
    let input =
        MemoryInput { model: &model, cluster: &cluster, plan: &plan, software: &software, in_flight: None };
    let events = over_time(&input, 0, &timeline.stages[0], timeline.duration);
    let left: i64 = events.iter().filter(|(_, kind, _)| *kind == MemoryKind::Activations).map(|e| e.2).sum();
    assert!(left.abs() < 64, "{left} bytes of activations left");
    assert!(events.iter().filter(|(_, kind, _)| *kind == MemoryKind::Activations).count() >= 2 * 4 * 4);
}
