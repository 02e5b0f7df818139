//! The fast path compared with evaluation, to the last bit.

use super::*;
use crate::costing::Machine;
use crate::evaluate::evaluate;
use railwright_spec::cluster;
use railwright_spec::model::by_name;
use railwright_spec::plan::{ContextKind, PlanSpec, RecomputeModule, Sharding, balanced_layers, validate};
use std::collections::BTreeSet;

/// The bits of the step time, calculated by both paths.
fn both(
    name: &str,
    plan: &Plan,
    (machine, cluster): (&Machine, &cluster::Cluster),
    memo: &LayerMemo,
) -> Option<(u64, u64)> {
    let model = by_name(name).expect("known");
    if !validate(&model, cluster, plan).is_empty() {
        return None;
    }
    let costing = Costing::new(&model, cluster, plan, machine).expect("known software");
    let slow = evaluate(&costing).ok()?.time.total;
    let setting = Setting::remembered(&costing, memo);
    let mut priced = Priced::new(&costing, &setting);
    let split = crate::memory::layers_per_chunk(&model, plan, costing.stage_split);
    let mut buffers = Buffers::default();
    let mut time = |limit: Seconds| {
        step_time(&costing, &setting, &mut priced, &split, limit, &mut buffers).expect("runs")
    };
    let fast = time(Seconds::new(f64::INFINITY)).expect("no limit");
    assert_eq!(time(fast).expect("at the limit").get().to_bits(), fast.get().to_bits());
    // With a lower limit, the result may be missing, but is never wrong.
    assert!(time(fast * 0.5).is_none_or(|again| again == fast));
    assert_eq!(time(fast * 1e-3), None);
    Some((fast.get().to_bits(), slow.get().to_bits()))
}

#[test]
fn the_step_time_is_that_of_evaluate_to_the_last_bit() {
    let cluster = cluster::by_name("dgx-h100", 64).expect("a preset");
    let machine = Machine::new(&cluster);
    let selective = |m| Recompute::Selective { modules: BTreeSet::from([m]), layers: None };
    let mut checked = 0;
    for (name, experts) in
        [("llama-3-8b", 1), ("llama-3-8b", 1), ("mixtral-8x7b", 8), ("deepseek-v3", 8), ("gemma-2-9b", 1)]
    {
        let mut memos: BTreeMap<String, LayerMemo> = BTreeMap::new();
        for (tp, pp, vp, cp, schedule) in [
            (1, 1, 1, 1, Schedule::OneForwardOneBackward),
            (2, 4, 1, 1, Schedule::OneForwardOneBackward),
            (1, 4, 2, 2, Schedule::OneForwardOneBackward),
            (2, 4, 2, 1, Schedule::ZbV),
            (1, 8, 1, 1, Schedule::ZbH1),
            (1, 4, 1, 1, Schedule::DualPipe),
            (4, 2, 1, 1, Schedule::Gpipe),
        ] {
            for zero in [0, 1, 2, 3] {
                for recompute in [
                    Recompute::None,
                    Recompute::Full { layers: Some(3) },
                    Recompute::Full { layers: None },
                    selective(RecomputeModule::Norm),
                ] {
                    let model = by_name(name).expect("known");
                    let group = if zero == 2 { Some(2) } else { None };
                    let spec = PlanSpec {
                        tensor_parallel: Some(tp),
                        pipeline_parallel: Some(pp),
                        virtual_stages: Some(vp),
                        context_parallel: Some(cp),
                        context_kind: Some(ContextKind::AllGather),
                        expert_parallel: Some(experts),
                        schedule: Some(schedule),
                        recompute: Some(recompute),
                        sharding: Some(Sharding {
                            zero_stage: zero,
                            group,
                            reshard_after_forward: zero == 3,
                        }),
                        layers_per_stage: Some(balanced_layers(model.num_layers(), pp * vp)),
                        global_batch: Some(1024),
                        overlap_tensor: Some(zero == 1),
                        ..PlanSpec::default()
                    };
                    let plan = spec.resolve(&model, &cluster).expect("resolves");
                    let memo = memos.entry(plan.software.clone()).or_default();
                    if let Some((fast, slow)) = both(name, &plan, (&machine, &cluster), memo) {
                        assert_eq!(fast, slow, "{name} {plan:?}");
                        checked += 1;
                    }
                }
            }
        }
    }
    assert!(checked > 300, "{checked}");
}

/// Shardings below stage 3 are timed from the passes of the first, with the bits of a separate calculation,
/// also near a limit.
#[test]
fn shardings_that_keep_the_passes_are_timed_from_those_of_the_last() {
    let cluster = cluster::by_name("dgx-h100", 64).expect("a preset");
    let machine = Machine::new(&cluster);
    for (name, experts) in [("llama-3-8b", 1), ("mixtral-8x7b", 8)] {
        let model = by_name(name).expect("known");
        let plans =
            [(0, None), (1, None), (1, Some(2)), (2, Some(4)), (1, None)].map(|(zero_stage, group)| {
                let spec = PlanSpec {
                    pipeline_parallel: Some(4),
                    virtual_stages: Some(2),
                    expert_parallel: Some(experts),
                    sharding: Some(Sharding { zero_stage, group, reshard_after_forward: false }),
                    global_batch: Some(256),
                    ..PlanSpec::default()
                };
                spec.resolve(&model, &cluster).expect("resolves")
            });
        let costings =
            plans.each_ref().map(|plan| Costing::new(&model, &cluster, plan, &machine).expect("known"));
        let split = crate::memory::layers_per_chunk(&model, &plans[0], costings[0].stage_split);
        let without = Seconds::new(f64::INFINITY);
        let setting = Setting::new(&costings[0]);
        let mut shared = (Priced::new(&costings[0], &setting), Buffers::default());
        let mut times = Vec::new();
        for (turn, costing) in costings.iter().enumerate() {
            let mut own = (Priced::new(costing, &setting), Buffers::default());
            let alone = step_time(costing, &setting, &mut own.0, &split, without, &mut own.1);
            let alone = alone.expect("runs").expect("no limit");
            let again = if turn == 0 { step_time } else { step_time_again };
            let mut again = |limit: Seconds| {
                again(costing, &setting, &mut shared.0, &split, limit, &mut shared.1).expect("runs")
            };
            assert_eq!(again(alone), Some(alone), "{name} {turn}");
            assert!(again(alone * 0.99).is_none_or(|time| time == alone), "{name} {turn}");
            assert_eq!(again(alone * 0.1), None, "{name} {turn}");
            times.push(alone.get().to_bits());
        }
        assert_eq!(times[1], times[4]);
        assert!(BTreeSet::from_iter(times).len() > 2, "{name}: sharding has no effect");
    }
}
