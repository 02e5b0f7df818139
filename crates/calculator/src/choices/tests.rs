//! Choices compared with the evaluation and the memory report of the equivalent plan.

use super::*;
use crate::costing::Machine;
use crate::evaluate::{evaluate, local_chunks};
use crate::memory::report;
use railwright_spec::plan::{Plan, PlanSpec, RecomputeModule, Schedule, StageRecompute};
use railwright_spec::{cluster, model};

fn treatments() -> Vec<Treatment> {
    let some = |modules: &[RecomputeModule]| Recompute::Selective {
        modules: modules.iter().copied().collect(),
        layers: None,
    };
    let policies = [
        Recompute::None,
        some(&[RecomputeModule::CoreAttention, RecomputeModule::Norm]),
        Recompute::Full { layers: None },
    ];
    policies.into_iter().map(|recompute| Treatment { recompute, offload: 0.0 }).collect()
}

#[test]
fn a_choice_takes_and_keeps_what_its_plan_does() {
    let cluster = cluster::by_name("dgx-h100", 512).expect("a preset");
    let machine = Machine::new(&cluster);
    for (name, expert, schedule, virtual_stages, zero) in [
        ("llama-3-70b", 1, Schedule::OneForwardOneBackward, 1, 1),
        ("llama-3-70b", 1, Schedule::OneForwardOneBackward, 2, 3),
        ("llama-3-70b", 1, Schedule::ZbV, 2, 1),
        ("deepseek-v3", 32, Schedule::DualPipe, 1, 1),
        ("deepseek-v3", 32, Schedule::OneForwardOneBackward, 1, 1),
    ] {
        let model = model::by_name(name).expect("known");
        let spec = PlanSpec {
            tensor_parallel: Some(2),
            pipeline_parallel: Some(8),
            virtual_stages: Some(virtual_stages),
            schedule: Some(schedule),
            expert_parallel: Some(expert),
            uneven_stages: Some(true),
            micro_batches: Some(16),
            sharding: Some(railwright_spec::plan::Sharding {
                zero_stage: zero,
                group: None,
                reshard_after_forward: true,
            }),
            ..PlanSpec::default()
        };
        let plan = spec.resolve(&model, &cluster).expect("sound");
        let costing = Costing::new(&model, &cluster, &plan, &machine).expect("priced");
        let mut choices = Choices::new(&costing, treatments()).expect("a bare plan");
        let split = memory::layers_per_chunk(&model, &plan, costing.stage_split);
        // Full recompute of one layer, then some modules on all others.
        let entry = StageRecompute {
            segments: vec![Recompute::Full { layers: Some(1) }, treatments()[1].recompute.clone()],
            offload: None,
        };
        let expected = Plan { stage_recompute: Some(vec![entry; split.len()]), ..plan.clone() };
        let costing_expected = Costing::new(&model, &cluster, &expected, &machine).expect("priced");
        let evaluation = evaluate(&costing_expected).expect("runs");
        let mut next = 0;
        let mut parts = Vec::new();
        for (index, &layers) in split.iter().enumerate() {
            let kinds = &model.layers[next..next + layers as usize];
            next += layers as usize;
            let own: Vec<Part> = kinds
                .iter()
                .enumerate()
                .map(|(i, &kind)| Part { kind, treatment: if i == 0 { 2 } else { 1 }, count: 1 })
                .collect();
            let time = choices.time(index, split.len(), &own, 1);
            let want = evaluation.chunks[index].time;
            assert!((time.total() / want.total() - 1.0).abs() < 1e-12, "{name} {index}");
            assert!((time.recompute / want.recompute - 1.0).abs() < 1e-12, "{name} {index}");
            // The slope at any load is a lower bound, and exact at its own load.
            let load = choices.chunk_load(index, split.len(), &own, 1);
            assert!((load.slope().dot(&load) / time.total().get() - 1.0).abs() < 1e-9);
            parts.push(own);
        }
        let software = SoftwareCatalogue::shared().expect("reads").get(&plan.software);
        let input =
            MemoryInput { model: &model, cluster: &cluster, plan: &expected, software, in_flight: None };
        let report = report(&input);
        let rooms = choices.rooms(&split);
        for (stage, room) in rooms.iter().enumerate() {
            let (mut kept, mut working) = (Bytes::ZERO, Bytes::ZERO);
            for (chunk, alive) in room.chunks.iter().zip(&room.alive) {
                for part in &parts[chunk.chunk] {
                    kept += choices.saved(part.kind, part.treatment) * (part.count as f64 * alive);
                    working = working.max(choices.working(part.kind, part.treatment));
                }
                if chunk.head {
                    working += choices.prediction_working_memory(1);
                }
            }
            let allocated = room.allocated(kept, working);
            assert!((allocated / report.stages[stage].allocated - 1.0).abs() < 1e-12, "{name} stage {stage}");
            let exact = room.left(working, allocated).map_or(0.0, Bytes::get);
            assert!(exact >= kept.get() * (1.0 - 1e-9), "{name} stage {stage}");
            assert_eq!(local_chunks(&plan, stage).len(), room.chunks.len());
        }
        let least = choices.least(report.stages[report.worst].allocated);
        assert!((least / report.least - 1.0).abs() < 1e-12);
        // The limit is the point where the verdict changes.
        let limit = choices.limit(0.9);
        let probability =
            memory::probability_of_fitting(choices.least(limit), cluster.accelerator.memory, software.sigma);
        assert!((probability - 0.9).abs() < 1e-6, "{probability}");
    }
}
