//! Solutions compared with every possible choice, and with the evaluation of their plan.

use super::*;
use proptest::prelude::*;
use railwright_calculator::evaluate::evaluate;
use railwright_spec::plan::RecomputeModule;
use railwright_spec::plan::{PlanSpec, Schedule, Sharding, is_offered, validate};
use railwright_spec::precision::DataType;
use railwright_spec::quantity::Seconds;
use railwright_spec::{cluster, model};
use std::collections::BTreeSet;

/// A model reduced to a few layers, so that every choice can be tried.
fn small(name: &str, layers: usize) -> Model {
    let mut model = model::by_name(name).expect("known");
    model.layers.truncate(layers);
    model
}

/// All assignments of `layers` layers to `n` policies.
fn compositions(layers: u64, n: usize) -> Vec<Vec<u64>> {
    if n == 1 {
        return vec![vec![layers]];
    }
    (0..=layers)
        .flat_map(|first| {
            compositions(layers - first, n - 1).into_iter().map(move |rest| [vec![first], rest].concat())
        })
        .collect()
}

/// Minimum step of all choices of all stages that fit, by the calculator alone.
fn brute_force(model: &Model, cluster: &Cluster, plan: &Plan, options: &Options) -> Option<Seconds> {
    let machine = Machine::new(cluster);
    let trial = Trial { model, cluster, machine: &machine, options };
    let bare = bare(plan);
    let allowed = options.modules.clone().expect("a short list");
    let list = policies::policies(model, &allowed);
    let stages = bare.pipeline_parallel as usize;
    let each = model.num_layers() / bare.pipeline_parallel;
    let ways: Vec<StageRecompute> = compositions(each, list.len())
        .into_iter()
        .map(|counts| {
            let some = counts.iter().zip(&list).filter(|(n, _)| **n > 0);
            StageRecompute { segments: some.map(|(n, p)| p.on(*n)).collect(), offload: None }
        })
        .collect();
    let mut best: Option<Seconds> = None;
    let total = ways.len().pow(stages as u32);
    for number in 0..total {
        let entries =
            (0..stages).map(|s| ways[number / ways.len().pow(s as u32) % ways.len()].clone()).collect();
        let specified = Plan { stage_recompute: Some(entries), ..bare.clone() };
        let variant = trial.variant(&specified).expect("priced");
        if variant.fits && best.is_none_or(|best| variant.step_time < best) {
            best = Some(variant.step_time);
        }
    }
    best
}

fn run(
    name: &str,
    layers: usize,
    stages: u64,
    schedule: Schedule,
    micro_batches: u64,
    sequence: u64,
) -> (Model, Cluster, Plan) {
    let model = small(name, layers);
    let cluster = cluster::by_name("dgx-h100", 8).expect("a preset");
    let spec = PlanSpec {
        tensor_parallel: Some(8 / stages),
        pipeline_parallel: Some(stages),
        schedule: Some(schedule),
        micro_batches: Some(micro_batches),
        sequence_length: Some(sequence),
        sharding: Some(Sharding { zero_stage: 1, group: None, reshard_after_forward: false }),
        ..PlanSpec::default()
    };
    let plan = spec.resolve(&model, &cluster).expect("sound");
    assert_eq!(validate(&model, &cluster, &plan), []);
    (model, cluster, plan)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn the_answer_is_the_best_of_all(
        memory in 0.02..1.05_f64,
        which in 0..4_usize,
        per_stage in 1..4_usize,
        mixture: bool,
        micro_batches in 2..8_u64,
        sets in 0..3_usize,
    ) {
        use RecomputeModule::{Activation, CoreAttention, Mlp, Moe, Norm};
        let schedule = [Schedule::OneForwardOneBackward, Schedule::Gpipe, Schedule::ZbH1, Schedule::ZbH2][which];
        let name = if mixture { "mixtral-8x7b" } else { "llama-3-8b" };
        let block = if mixture { Moe } else { Mlp };
        let modules = [[CoreAttention, Norm], [Activation, CoreAttention], [block, Activation]][sets];
        let (model, mut cluster, plan) = run(name, 2 * per_stage, 2, schedule, micro_batches, 32_768);
        let mut options = Options { modules: Some(modules.into()), ..Options::default() };
        // Device memory between the needs of full and no recompute, where the choice has an effect.
        let machine = Machine::new(&cluster);
        let trial = Trial { model: &model, cluster: &cluster, machine: &machine, options: &options };
        let none = trial.variant(&bare(&plan)).expect("priced").memory;
        let full = Plan { recompute: Recompute::Full { layers: None }, ..bare(&plan) };
        let full = trial.variant(&full).expect("priced").memory;
        cluster.accelerator.memory = (full + (none - full) * memory) * 1.1;
        options.probability = 0.9;
        let answer = solve(&model, &cluster, &plan, &options).expect("priced");
        let best = brute_force(&model, &cluster, &plan, &options);
        let found = answer.best.as_ref().map(|best| best.step_time);
        match (found, best) {
            (None, None) => {}
            (Some(found), Some(best)) => {
                prop_assert!((found / best - 1.0).abs() < 1e-9, "{found:?} {best:?}");
                prop_assert_eq!(answer.gap, 0.0);
            }
            other => prop_assert!(false, "{other:?}"),
        }
    }

    /// Premise of an exact solution: more recompute on any one stage never shortens the step.
    #[test]
    fn a_stage_that_recomputes_more_never_makes_the_step_shorter(
        which in 0..4_usize,
        stage in 0..4_usize,
        layers in prop::collection::vec(0..8_u64, 4),
        micro_batches in 4..24_u64,
        devices in 0..3_u32,
        overlap: bool,
    ) {
        let schedule = [Schedule::OneForwardOneBackward, Schedule::Gpipe, Schedule::ZbH1, Schedule::ZbH2][which];
        let model = model::by_name("llama-3-8b").expect("known");
        let cluster = cluster::by_name("dgx-h100", 8 << devices).expect("a preset");
        let spec = PlanSpec {
            tensor_parallel: Some(2),
            pipeline_parallel: Some(4),
            schedule: Some(schedule),
            micro_batches: Some(micro_batches),
            overlap_gradient_reduce: Some(overlap),
            ..PlanSpec::default()
        };
        let plan = spec.resolve(&model, &cluster).expect("sound");
        let machine = Machine::new(&cluster);
        let step = |layers: &[u64]| {
            let entry = |n: &u64| StageRecompute {
                segments: if *n == 0 { Vec::new() } else { vec![Recompute::Full { layers: Some(*n) }] },
                offload: None,
            };
            let specified = Plan { stage_recompute: Some(layers.iter().map(entry).collect()), ..plan.clone() };
            let costing = Costing::new(&model, &cluster, &specified, &machine).expect("priced");
            evaluate(&costing).expect("runs").time.total
        };
        let mut more = layers.clone();
        more[stage] += 1;
        let (before, after) = (step(&layers), step(&more));
        prop_assert!(after.get() >= before.get() * (1.0 - 1e-12), "{before:?} {after:?}");
    }
}

/// Llama 3.1 405B on 1,024 H100: the resulting plan has the reported time, and every stage fits.
#[test]
fn four_hundred_billion_parameters_on_a_thousand_devices() {
    let model = model::by_name("llama-3.1-405b").expect("known");
    let cluster = cluster::by_name("dgx-h100", 1024).expect("a preset");
    let spec = PlanSpec {
        tensor_parallel: Some(8),
        pipeline_parallel: Some(16),
        uneven_stages: Some(true),
        global_batch: Some(512),
        precision_gradients: Some(DataType::Bf16),
        precision_gradient_reduce: Some(DataType::Bf16),
        ..PlanSpec::default()
    };
    let plan = spec.resolve(&model, &cluster).expect("sound");
    for (schedule, virtual_stages) in
        [(Schedule::OneForwardOneBackward, 1), (Schedule::OneForwardOneBackward, 2), (Schedule::ZbV, 2)]
    {
        let mut plan = Plan { schedule, virtual_stages, ..plan.clone() };
        if virtual_stages > 1 {
            plan.overlap.pipeline = true;
            plan.layers_per_stage = Some(railwright_spec::plan::balanced_layers(126, 16 * virtual_stages));
        }
        let answer = solve(&model, &cluster, &plan, &Options::default()).expect("priced");
        assert!(!answer.none.fits && answer.full.fits, "{schedule:?} {}", answer.none.probability_of_fitting);
        let any = answer.uniform_any.expect("fits");
        let flags = answer.uniform.as_ref().expect("fits");
        assert!(any.fits && any.step_time <= flags.step_time, "{any:?} {flags:?}");
        // A plan with one policy for all stages is among the tested ones.
        let modules = policies::modules(&model, &plan.software);
        let recompute = Recompute::Selective { modules, layers: None };
        let machine = Machine::new(&cluster);
        let options = Options::default();
        let trial = Trial { model: &model, cluster: &cluster, machine: &machine, options: &options };
        let named = trial.variant(&Plan { recompute, ..bare(&plan) }).expect("priced");
        assert!(!named.fits || any.step_time <= named.step_time * (1.0 + 1e-9), "{any:?} {named:?}");
        let best = answer.best.expect("fits");
        assert!(best.step_time <= any.step_time * (1.0 + 1e-9));
        assert!(best.fits && best.step_time < answer.full.step_time);
        assert_eq!(validate(&model, &cluster, &best.plan), []);
        assert!(answer.uniform.is_some_and(|uniform| uniform.step_time >= best.step_time));
        assert!(answer.stages.iter().all(|s| s.probability_of_fitting >= 0.9 - 1e-9));
        if virtual_stages == 1 {
            assert_eq!(answer.gap, 0.0);
        } else {
            assert!(answer.gap < 0.05, "{schedule:?} {}", answer.gap);
        }
    }
}

/// One policy on the first layers of every stage: every policy on every number of layers, tried one by one.
#[test]
fn the_best_on_all_stages_is_the_best_of_every_policy_on_every_number_of_layers() {
    use RecomputeModule::{Activation, CoreAttention, Norm};
    let (model, mut cluster, plan) = run("llama-3-8b", 6, 2, Schedule::OneForwardOneBackward, 4, 32_768);
    let options = Options { modules: Some([Activation, CoreAttention, Norm].into()), ..Options::default() };
    let memory = |cluster: &Cluster, plan: &Plan| {
        let machine = Machine::new(cluster);
        let trial = Trial { model: &model, cluster, machine: &machine, options: &options };
        trial.variant(plan).expect("priced").memory
    };
    let none = memory(&cluster, &bare(&plan));
    let full = memory(&cluster, &Plan { recompute: Recompute::Full { layers: None }, ..bare(&plan) });
    let mut found = 0;
    for share in [0.1, 0.3, 0.5, 0.7, 0.9] {
        cluster.accelerator.memory = (full + (none - full) * share) * 1.1;
        let answer = solve(&model, &cluster, &plan, &options).expect("priced");
        let machine = Machine::new(&cluster);
        let trial = Trial { model: &model, cluster: &cluster, machine: &machine, options: &options };
        let policies = policies::policies(&model, options.modules.as_ref().expect("a short list"));
        let mut best: Option<Seconds> = None;
        for policy in &policies {
            for layers in 1..=3 {
                let policy = if layers < 3 { policy.on(layers) } else { policy.clone() };
                let segments = if policy == Recompute::None { Vec::new() } else { vec![policy] };
                let entry = StageRecompute { segments, offload: None };
                let plan = Plan { stage_recompute: Some(vec![entry.clone(), entry]), ..bare(&plan) };
                let variant = trial.variant(&plan).expect("priced");
                if variant.fits && best.is_none_or(|best| variant.step_time < best) {
                    best = Some(variant.step_time);
                }
            }
        }
        match (answer.uniform_any, best) {
            (Some(any), Some(best)) => {
                found += 1;
                assert!((any.step_time / best - 1.0).abs() < 1e-9, "{share}: {any:?} {best:?}");
            }
            (None, None) => {}
            other => panic!("{share}: {other:?}"),
        }
    }
    assert!(found > 2);
}

#[test]
fn nothing_fits_on_a_device_too_small_and_the_answer_names_what_would() {
    let model = model::by_name("llama-3.1-405b").expect("known");
    let cluster = cluster::by_name("dgx-h100", 1024).expect("a preset");
    let spec = PlanSpec {
        tensor_parallel: Some(8),
        pipeline_parallel: Some(4),
        uneven_stages: Some(true),
        ..PlanSpec::default()
    };
    let plan = spec.resolve(&model, &cluster).expect("sound");
    let answer = solve(&model, &cluster, &plan, &Options::default()).expect("priced");
    assert!(answer.best.is_none() && answer.stages.is_empty());
    assert!(!answer.remedies.is_empty());
}

#[test]
fn offload_is_used_where_it_costs_less() {
    let (model, mut cluster, plan) = run("llama-3-8b", 8, 2, Schedule::OneForwardOneBackward, 8, 32_768);
    let none = solve(&model, &cluster, &plan, &Options::default()).expect("priced").none.memory;
    cluster.accelerator.memory = none;
    let of = |offload| {
        let options = Options { offload, ..Options::default() };
        solve(&model, &cluster, &plan, &options).expect("priced").best.expect("fits")
    };
    let (without, with) = (of(false), of(true));
    assert!(with.step_time <= without.step_time && with.fits, "{with:?} {without:?}");
}

/// A run that already offloads may keep doing so: no answer excludes its own row.
#[test]
fn a_run_that_offloads_and_fits_is_an_answer() {
    let (model, mut cluster, plan) = run("llama-3-8b", 8, 2, Schedule::OneForwardOneBackward, 8, 131_072);
    let mut given = Plan { recompute: Recompute::Full { layers: None }, ..plan.clone() };
    given.offload.activations = 0.9;
    let full = solve(&model, &cluster, &plan, &Options::default()).expect("priced").full.memory;
    let mut only_offloaded = 0;
    for part in 70..130 {
        cluster.accelerator.memory = full * (f64::from(part) / 100.0);
        for uniform in [false, true] {
            let options = Options { uniform, ..Options::default() };
            let answer = solve(&model, &cluster, &given, &options).expect("priced");
            let own = answer.given.expect("differs from both");
            let best = answer.best.filter(|best| best.fits);
            assert!(
                !own.fits || best.is_some_and(|best| best.step_time <= own.step_time),
                "{part} {uniform}"
            );
            only_offloaded += u32::from(own.fits && !answer.full.fits);
        }
    }
    assert!(only_offloaded > 0);
}

/// The choice keeps to what the generation recomputes, as a search does; named modules are the user's.
#[test]
fn a_choice_needs_nothing_that_the_software_lacks() {
    let model = model::by_name("llama-3.1-405b").expect("known");
    let cluster = cluster::by_name("dgx-h100", 16_384).expect("a preset");
    let of = |software: &str, modules: Option<BTreeSet<RecomputeModule>>| {
        let spec = PlanSpec {
            software: Some(software.into()),
            tensor_parallel: Some(8),
            pipeline_parallel: Some(16),
            virtual_stages: Some(8),
            uneven_stages: Some(true),
            global_batch: Some(2048),
            sequence_length: Some(8192),
            ..PlanSpec::default()
        };
        let plan = spec.resolve(&model, &cluster).expect("possible");
        solve(&model, &cluster, &plan, &Options { modules, ..Options::default() }).expect("solved")
    };
    for software in ["megatron-core-2024", "megatron-core-2025"] {
        let answer = of(software, None);
        for variant in [&answer.best, &answer.uniform, &answer.uniform_any].into_iter().flatten() {
            assert!(is_offered(&model, &variant.plan), "{software}: {}", variant.what);
        }
    }
    let has_norm = |modules| {
        let answer = of("megatron-core-2024", modules);
        answer.layers.iter().flat_map(|layer| &layer.rows).any(|row| row.policy.contains("norm"))
    };
    assert!(has_norm(Some([RecomputeModule::Norm].into())) && !has_norm(None));
}
