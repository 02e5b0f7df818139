//! Timelines compared with the fast path, and properties of every timeline.

use super::*;
use crate::schedule::OperationKind;
use railwright_spec::plan::{PlanSpec, Recompute, RecomputeModule, Schedule, Sharding, StageRecompute};
use railwright_spec::quantity::Seconds;
use railwright_spec::{cluster, model};

fn check(name: &str, preset: &str, devices: u64, change: impl FnOnce(&mut PlanSpec)) -> Step {
    let model = model::by_name(name).expect("in the catalogue");
    let cluster = cluster::by_name(preset, devices).expect("a preset");
    let mut spec = PlanSpec::default();
    change(&mut spec);
    let plan = spec.resolve(&model, &cluster).expect("resolves");
    check_plan(&model, &cluster, &plan)
}

fn check_plan(model: &Model, cluster: &Cluster, plan: &Plan) -> Step {
    let machine = Machine::new(cluster);
    let costing = Costing::new(model, cluster, plan, &machine).expect("known software");
    let evaluation = evaluate(&costing).expect("priced");
    let step = of_evaluation(&costing, &evaluation, Detail::Operators, &|| Ok(())).expect("a timeline");
    let problems = step.validate();
    assert!(problems.is_empty(), "{problems:?}");
    let total = evaluation.time.total;
    let simulated = simulate(&pipeline(
        plan,
        &evaluation.chunks.iter().map(|c| c.time).collect::<Vec<_>>(),
        evaluation.transfer,
    ))
    .expect("a schedule");
    // By itself, a step ends after the last reduction of any stage.
    let ends = simulated.stages.iter().zip(&evaluation.updates).map(|(passes, update)| {
        let last =
            passes.iter().filter(|pass| pass.operation.kind != OperationKind::Forward).map(|pass| pass.end);
        last.fold(Seconds::ZERO, Seconds::max) + update.gradient_exposed + update.between_stages
    });
    let reduced = ends.fold(simulated.duration, Seconds::max);
    let time = &evaluation.time;
    let gather = evaluation.updates.iter().map(|u| u.parameter_exposed).fold(Seconds::ZERO, Seconds::max);
    let expected = reduced + time.optimizer + gather + time.fixed + time.jitter;
    if !plan.schedule.validates_afterwards() {
        assert!((simulated.duration / evaluation.pipeline - 1.0).abs() < 1e-9);
        assert!((expected / total - 1.0).abs() < 1e-9, "{expected:?} against {total:?}");
    }
    // No stage's own passes and reduction take longer than the interval of steps.
    for (passes, update) in simulated.stages.iter().zip(&evaluation.updates) {
        let busy: Seconds = passes.iter().map(|pass| pass.end - pass.start).sum();
        let least =
            busy + update.gradient_exposed + update.between_stages + time.optimizer + gather + time.fixed;
        assert!(
            least.get() <= (total - time.jitter).get() * (1.0 + 1e-9),
            "{least:?} within {total:?}\n{plan:?}"
        );
    }
    let length = step.duration().seconds();
    assert!((length / expected - 1.0).abs() < 1e-6, "{length:?} against {expected:?}");
    let last = step.ranks.iter().flat_map(|r| &r.streams).filter_map(|s| s.spans.last_end()).max();
    assert_eq!(last, Some(step.end), "the last span ends with the step");
    assert!(length > Seconds::ZERO);
    step
}

#[test]
fn a_405b_step_on_16384_devices_matches_the_fast_path() {
    let step = check("llama-3.1-405b", "dgx-h100", 16_384, |p| {
        p.tensor_parallel = Some(8);
        p.pipeline_parallel = Some(16);
        p.layers_per_stage = Some([vec![7], vec![8; 14], vec![7]].concat());
        p.global_batch = Some(2048);
        p.sequence_length = Some(8192);
        p.overlap_pipeline = Some(false);
    });
    assert_eq!(step.ranks.len(), 16);
    // The critical path runs from the end back through the pipeline, and not only to the last host span.
    let path = railwright_step::critical_path::critical_path(&step);
    let idle = path.parts.iter().find(|(label, _)| *label == railwright_step::breakdown::Label::Idle);
    let idle = idle.map_or(0.0, |(_, time)| time.share_of(step.duration()));
    assert!(idle < 0.1, "{idle} of the critical path is nothing");
    // Rank 1,024 is the first of stage 1: its tensor group is its eight neighbours, its data group every
    // eighth rank of the stage.
    let stage = &step.ranks[1];
    assert_eq!(stage.rank.0, 1024);
    let groups: Vec<(u32, u32, usize)> = stage
        .streams
        .iter()
        .flat_map(|s| s.spans.iter())
        .filter_map(|s| s.collective)
        .map(|c| &step.groups[step.collectives[c.0 as usize].group.0 as usize])
        .map(|g| (g[0].0, g[1].0, g.len()))
        .collect();
    assert!(groups.contains(&(1024, 1025, 8)) && groups.contains(&(1024, 1032, 128)));
    assert!(groups.contains(&(1024, 2048, 2)) && groups.contains(&(0, 1024, 2)));
}

/// The critical path has the same exposed communication whether a pass shows families of operators or layers.
#[test]
fn the_critical_path_has_the_same_parts_at_every_detail() {
    let model = model::by_name("llama-3.1-70b").expect("in the catalogue");
    let cluster = cluster::by_name("dgx-h100", 64).expect("a preset");
    let spec = PlanSpec {
        tensor_parallel: Some(4),
        pipeline_parallel: Some(4),
        global_batch: Some(64),
        ..PlanSpec::default()
    };
    let plan = spec.resolve(&model, &cluster).expect("resolves");
    let machine = Machine::new(&cluster);
    let costing = Costing::new(&model, &cluster, &plan, &machine).expect("known software");
    let evaluation = evaluate(&costing).expect("priced");
    let exposed = |detail| {
        let step = of_evaluation(&costing, &evaluation, detail, &|| Ok(())).expect("a timeline");
        let path = railwright_step::critical_path::critical_path(&step);
        let is_exposed = |label: &railwright_step::breakdown::Label| {
            *label == railwright_step::breakdown::Label::Exposed(railwright_step::Dimension::Tensor)
        };
        let time = path.parts.iter().find(|(label, _)| is_exposed(label)).expect("tensor communication").1;
        time.share_of(step.duration())
    };
    let (families, layers) = (exposed(Detail::Operators), exposed(Detail::Layers));
    assert!((families - layers).abs() < 0.002, "{families} of the step with families, {layers} with layers");
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
fn memory_along_the_step_peaks_as_reported() {
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

/// A plan for 64 devices from a few random settings. `None` if they contradict each other.
fn random_plan(model: &Model, cluster: &Cluster, choices: &[u8; 12]) -> Option<Plan> {
    let pick = |i: usize, list: &[u64]| list[usize::from(choices[i]) % list.len()];
    let flag = |i: usize| choices[i].is_multiple_of(2);
    let schedules = [
        Schedule::OneForwardOneBackward,
        Schedule::Gpipe,
        Schedule::OneForwardOneBackward,
        Schedule::ZbH1,
        Schedule::ZbH2,
        Schedule::ZbV,
        Schedule::DualPipe,
    ];
    let schedule = schedules[usize::from(choices[0]) % schedules.len()];
    let virtual_stages = match schedule {
        Schedule::OneForwardOneBackward => pick(1, &[1, 1, 2, 4]),
        Schedule::ZbV => 2,
        _ => 1,
    };
    let zero_stage = pick(2, &[0, 1, 2, 3]) as u8;
    let spec = PlanSpec {
        tensor_parallel: Some(pick(3, &[1, 2, 4, 8])),
        pipeline_parallel: Some(pick(4, &[1, 2, 4, 8])),
        context_parallel: Some(pick(5, &[1, 1, 2])),
        virtual_stages: Some(virtual_stages),
        schedule: Some(schedule),
        micro_batches: Some(pick(6, &[8, 16, 24, 64])),
        sequence_length: Some(pick(7, &[1024, 4096, 8192])),
        sharding: Some(Sharding { zero_stage, group: None, reshard_after_forward: flag(8) }),
        overlap_pipeline: Some(flag(9)),
        overlap_gradient_reduce: Some(flag(10)),
        overlap_tensor: Some(flag(8)),
        recompute: Some(if flag(11) { Recompute::Full { layers: Some(2) } } else { Recompute::None }),
        ..PlanSpec::default()
    };
    let mut plan = spec.resolve(model, cluster).ok()?;
    if choices[9].is_multiple_of(3) {
        plan.recompute = Recompute::None;
        plan.stage_recompute = Some(by_stage(&plan, model, &choices[10..]));
    }
    railwright_spec::plan::validate(model, cluster, &plan).is_empty().then_some(plan)
}

/// Entries that differ from stage to stage, one per stage or per virtual stage.
fn by_stage(plan: &Plan, model: &Model, choices: &[u8]) -> Vec<StageRecompute> {
    let feed_forward =
        if model.is_mixture_of_experts() { RecomputeModule::Moe } else { RecomputeModule::Mlp };
    let some = |modules: &[RecomputeModule], layers| Recompute::Selective {
        modules: modules.iter().copied().collect(),
        layers,
    };
    let policies = [
        vec![],
        vec![Recompute::Full { layers: Some(1) }],
        vec![Recompute::Full { layers: None }],
        vec![some(&[RecomputeModule::CoreAttention], Some(1)), some(&[feed_forward], None)],
        vec![some(&[], Some(1)), some(&[RecomputeModule::Norm], None)],
    ];
    let each = if choices[0].is_multiple_of(2) { plan.virtual_stages } else { 1 };
    (0..plan.pipeline_parallel * each)
        .map(|stage| {
            let choice = usize::from(choices[1]).wrapping_mul(stage as usize + 1) / 3;
            let offload = (choice.is_multiple_of(7)).then_some(0.25);
            StageRecompute { segments: policies[choice % policies.len()].clone(), offload }
        })
        .collect()
}

/// Consecutive steps of zero-bubble schedules: the timeline of a step by itself is longer by the overlap
/// alone.
#[test]
fn exposed_reductions_delay_the_next_step_of_their_own_stage() {
    for schedule in [Schedule::ZbH1, Schedule::ZbH2] {
        check("llama-3-8b", "dgx-h100", 64, |p| {
            p.pipeline_parallel = Some(8);
            p.schedule = Some(schedule);
            p.micro_batches = Some(16);
            p.sequence_length = Some(1024);
            p.overlap_gradient_reduce = Some(false);
        });
    }
}

proptest::proptest! {
    // Contradictory settings are skipped, regardless of the number of cases.
    #![proptest_config(proptest::test_runner::Config {
        cases: 128, max_global_rejects: u32::MAX, failure_persistence: None, ..Default::default()
    })]
    #[test]
    fn timelines_of_random_plans_match_the_fast_path(choices: [u8; 12], moe: bool) {
        let name = if moe { "mixtral-8x7b" } else { "llama-3-8b" };
        let model = model::by_name(name).expect("in the catalogue");
        let cluster = cluster::by_name("dgx-h100", 64).expect("a preset");
        let plan = random_plan(&model, &cluster, &choices);
        proptest::prop_assume!(plan.is_some());
        if let Some(plan) = plan {
            check_plan(&model, &cluster, &plan);
        }
    }
}

#[test]
fn a_timeline_that_is_no_longer_wanted_ends() {
    let model = model::by_name("llama-3.1-8b").expect("in the catalogue");
    let cluster = cluster::by_name("dgx-h100", 8).expect("a preset");
    let spec = PlanSpec { pipeline_parallel: Some(8), global_batch: Some(5000), ..PlanSpec::default() };
    let plan = spec.resolve(&model, &cluster).expect("resolves");
    let machine = Machine::new(&cluster);
    // Stages have 10,000 passes each: several cancellation checks per stage.
    for last in [0, 3, 12] {
        let asked = std::cell::Cell::new(0);
        let gone = || {
            asked.set(asked.get() + 1);
            if asked.get() > last { Err(Problem::new("gone")) } else { Ok(()) }
        };
        let ended = timeline_on(&machine, &model, &cluster, &plan, Detail::Passes, &gone);
        assert_eq!(ended.map(|_| ()), Err(Problem::new("gone")));
        assert_eq!(asked.get(), last + 1, "it was asked again after the end");
    }
}

/// Sums of spans on the compute streams and of exposed communication of a step, by chunk, phase and family.
fn sums(step: &Step) -> std::collections::BTreeMap<(usize, Option<u32>, String, String), i64> {
    let mut sums = std::collections::BTreeMap::new();
    for (rank, timeline) in step.ranks.iter().enumerate() {
        for stream in &timeline.streams {
            for span in stream.spans.iter().filter(|span| span.phase.is_pass()) {
                let name = step.names.get(span.name);
                let what = format!("{:?} {:?} {}", stream.kind, span.operator, name.ends_with("hidden"));
                let key = (rank, span.chunk, format!("{:?}", span.phase), what);
                *sums.entry(key).or_insert(0) += span.duration().0;
            }
        }
    }
    sums
}

/// Layer by layer, a step has the same time as by families of operators, for every pass and every family.
#[test]
fn layers_add_up_to_the_passes_they_are_of() {
    type Change = fn(&mut PlanSpec);
    let cases: [(&str, u64, Change); 5] = [
        ("llama-3-8b", 64, |p| {
            (p.tensor_parallel, p.pipeline_parallel) = (Some(2), Some(4));
            p.micro_batches = Some(8);
            p.schedule = Some(Schedule::ZbH1);
        }),
        ("llama-3-70b", 64, |p| {
            (p.tensor_parallel, p.pipeline_parallel) = (Some(8), Some(2));
            p.micro_batches = Some(4);
            p.recompute = Some(Recompute::core_attention());
        }),
        ("llama-3-8b", 64, |p| {
            p.sharding = Some(Sharding { zero_stage: 3, group: None, reshard_after_forward: true });
            p.recompute = Some(Recompute::Full { layers: Some(3) });
            p.offload_activations = Some(0.5);
        }),
        ("mixtral-8x7b", 64, |p| {
            (p.tensor_parallel, p.pipeline_parallel, p.expert_parallel) = (Some(2), Some(2), Some(8));
            p.micro_batches = Some(4);
        }),
        ("deepseek-v3", 512, |p| {
            (p.pipeline_parallel, p.expert_parallel) = (Some(8), Some(64));
            p.layers_per_stage = Some(vec![7, 8, 8, 8, 8, 8, 7, 7]);
            p.micro_batches = Some(16);
        }),
    ];
    for (name, devices, change) in cases {
        let model = model::by_name(name).expect("in the catalogue");
        let cluster = cluster::by_name("dgx-h100", devices).expect("a preset");
        let mut spec = PlanSpec::default();
        change(&mut spec);
        let plan = spec.resolve(&model, &cluster).expect("resolves");
        let drawn = |detail| timeline_with(&model, &cluster, &plan, detail).expect("a timeline");
        let (families, layers) = (drawn(Detail::Operators), drawn(Detail::Layers));
        assert!(layers.validate().is_empty(), "{name}: {:?}", layers.validate());
        assert_eq!(families.duration(), layers.duration(), "{name}");
        let (whole, parts) = (sums(&families), sums(&layers));
        assert_eq!(whole.keys().collect::<Vec<_>>(), parts.keys().collect::<Vec<_>>(), "{name}");
        for (key, sum) in &whole {
            // Each span is rounded to a nanosecond.
            let slack = (*sum as f64 * 1e-3).max(200_000.0);
            assert!((parts[key] - sum).abs() as f64 <= slack, "{name} {key:?}: {} and {sum}", parts[key]);
        }
        // Every layer exists, in order in each forward pass and reversed in each backward pass.
        let compute = |rank: &railwright_step::RankTimeline| {
            let stream = rank.streams.iter().find(|s| s.kind == railwright_step::StreamKind::Compute);
            stream.map(|s| s.spans.iter().collect::<Vec<_>>()).unwrap_or_default()
        };
        let mut seen = std::collections::BTreeSet::new();
        for rank in &layers.ranks {
            let spans = compute(rank);
            seen.extend(spans.iter().filter_map(|span| span.layer).map(|layer| layer.0));
            for pair in spans.windows(2) {
                let key = |span: &railwright_step::Span| (span.phase, span.micro_batch, span.chunk);
                if let ([a, b], true) = (pair, key(&pair[0]) == key(&pair[1]))
                    && let (Some(before), Some(after)) = (a.layer, b.layer)
                {
                    let onwards = matches!(
                        a.phase,
                        railwright_step::Phase::Forward | railwright_step::Phase::Recompute
                    );
                    assert!(if onwards { before <= after } else { before >= after }, "{name}: {a:?} {b:?}");
                }
            }
        }
        let last = seen.last().copied().unwrap_or_default() as usize;
        assert!(seen.len() == last + 1 && seen.len() >= model.layers.len(), "{name}: {seen:?}");
    }
}

/// A layer of a forward pass, operator by operator, in the order of execution.
#[test]
fn operators_of_a_layer_run_in_their_order() {
    let model = model::by_name("llama-3-8b").expect("in the catalogue");
    let cluster = cluster::by_name("dgx-h100", 8).expect("a preset");
    let spec = PlanSpec {
        tensor_parallel: Some(8),
        micro_batches: Some(1),
        overlap_tensor: Some(false),
        ..PlanSpec::default()
    };
    let plan = spec.resolve(&model, &cluster).expect("resolves");
    let step = timeline_with(&model, &cluster, &plan, Detail::Layers).expect("a timeline");
    let mut spans: Vec<_> = step.ranks[0]
        .streams
        .iter()
        .flat_map(|stream| stream.spans.iter())
        .filter(|span| span.phase == railwright_step::Phase::Forward && span.layer.is_some_and(|l| l.0 == 5))
        .collect();
    spans.sort_by_key(|span| (span.start, span.end));
    let names: Vec<&str> = spans.iter().map(|span| step.names.get(span.name)).collect();
    assert_eq!(
        names,
        [
            "norms",
            "all gather",
            "qkv",
            "attention",
            "attention_output",
            "reduce scatter",
            "residual, dropout, rotary, casts",
            "norms",
            "all gather",
            "gate_up",
            "activations",
            "down",
            "reduce scatter",
            "residual, dropout, rotary, casts",
        ]
    );
}

#[test]
fn layers_of_a_step_that_is_too_large_are_refused() {
    let model = model::by_name("llama-3.1-405b").expect("in the catalogue");
    let cluster = cluster::by_name("dgx-h100", 16_384).expect("a preset");
    let spec = PlanSpec {
        tensor_parallel: Some(8),
        pipeline_parallel: Some(16),
        uneven_stages: Some(true),
        global_batch: Some(128 * 2048),
        ..PlanSpec::default()
    };
    let plan = spec.resolve(&model, &cluster).expect("resolves");
    let refused = timeline_with(&model, &cluster, &plan, Detail::Layers).expect_err("too many spans");
    assert!(refused.message.contains("spans is too large") && refused.hint.is_some(), "{refused}");
}
