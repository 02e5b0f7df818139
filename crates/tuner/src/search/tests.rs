//! The search compared with brute force: every combination evaluated, without pruning.

mod families;
mod racks;
mod simulated;

use super::*;
use crate::search::counts::divisors;
use proptest::prelude::{ProptestConfig, any, prop, prop_assert, prop_assert_eq, proptest};
use railwright_calculator::costing::{Costing, Machine};
use railwright_calculator::evaluate::evaluate;
use railwright_calculator::memory::{
    MemoryInput, SoftwareCatalogue, peak, probability_of_fitting, retry_slowdown,
};
use railwright_calculator::stage;
use railwright_spec::cluster::{self, Cluster};
use railwright_spec::model::{self, Model};
use railwright_spec::plan::{
    ContextKind, Overlap, Plan, PlanSpec, Recompute, Schedule, Segment, Sharding, validate,
};

/// A small random space.
#[derive(Clone, Debug)]
struct Case {
    model: &'static str,
    preset: &'static str,
    devices: u64,
    software: &'static str,
    batch: u64,
    length: u64,
    memory: f64,
    schedules: Vec<Schedule>,
    micro_batches: Vec<u64>,
    pipelines: Vec<u64>,
    virtual_stages: Vec<u64>,
    contexts: Vec<u64>,
    groups: Vec<u64>,
    uneven: bool,
    unlimited: bool,
    keep: usize,
    /// Seed of the samples of the other lists.
    seed: u64,
}

/// A limited sample of a list, selected by a seed.
fn thin<T: Clone>(list: &mut Vec<T>, seed: &mut u64, most: usize) {
    while list.len() > most {
        *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        list.remove((*seed >> 33) as usize % list.len());
    }
}

fn cases() -> impl Strategy2<Value = Case> {
    let software = prop::sample::select(vec![
        "megatron-core-2025",
        "torchtitan-2024-compile",
        "megatron-zero-bubble-2023",
        "nanotron-2024",
        "deepspeed-2024",
        "megatron-core-2026",
    ]);
    let shape = (
        prop::sample::select(vec![
            "llama-3.2-1b",
            "llama-3-8b",
            "gemma-2-2b",
            "qwen3-30b-a3b",
            "deepseek-v2-lite",
        ]),
        prop::sample::select(vec![
            ("dgx-h100", 8_u64),
            ("dgx-h100", 16),
            ("dgx-a100", 8),
            ("gb200-nvl72", 12),
        ]),
        software,
        prop::sample::select(vec![8_u64, 12, 16, 32, 48]),
        prop::sample::select(vec![2048_u64, 4096, 8192]),
        0.05..1.5_f64,
    );
    let some = |all: Vec<Schedule>| prop::sample::subsequence(all.clone(), 1..=all.len());
    let choices = (
        some(vec![
            Schedule::OneForwardOneBackward,
            Schedule::Gpipe,
            Schedule::ZbH1,
            Schedule::ZbH2,
            Schedule::ZbV,
            Schedule::DualPipe,
        ]),
        prop::sample::subsequence(vec![1_u64, 2, 4], 1..=2),
        prop::sample::subsequence(vec![1_u64, 2, 3, 4, 8], 1..=3),
        prop::sample::subsequence(vec![1_u64, 2, 3], 1..=3),
        prop::sample::subsequence(vec![1_u64, 2, 4], 1..=2),
        prop::sample::subsequence(vec![2_u64, 4], 0..=2),
        any::<(bool, bool)>(),
        (1..8_usize, any::<u64>()),
    );
    (shape, choices).prop_map(
        |(
            (model, (preset, devices), software, batch, length, memory),
            (
                schedules,
                micro_batches,
                pipelines,
                virtual_stages,
                contexts,
                groups,
                (uneven, unlimited),
                (keep, seed),
            ),
        )| Case {
            model,
            preset,
            devices,
            software,
            batch,
            length,
            memory,
            schedules,
            micro_batches,
            pipelines,
            virtual_stages,
            contexts,
            groups,
            uneven,
            unlimited,
            keep,
            seed,
        },
    )
}

use proptest::strategy::Strategy as Strategy2;

fn space(case: &Case, model: &Model, cluster: &Cluster) -> Space {
    let specified = PlanSpec {
        software: Some(case.software.to_owned()),
        global_batch: Some(case.batch),
        sequence_length: Some(case.length),
        ..PlanSpec::default()
    };
    let mut space = if case.unlimited {
        Space::unlimited(&specified, model, cluster)
    } else {
        Space::new(&specified, model, cluster)
    }
    .expect("a space");
    space.schedules.clone_from(&case.schedules);
    space.micro_batch = Counts::Listed(case.micro_batches.clone());
    space.pipeline = Counts::Listed(case.pipelines.clone());
    space.virtual_stages = Counts::Listed(case.virtual_stages.clone());
    space.context = Counts::Listed(case.contexts.clone());
    if let Shardings::Open { groups, .. } = &mut space.sharding {
        *groups = Counts::Listed(case.groups.clone());
    }
    if !case.uneven {
        space.splits = vec![Split::Even];
    }
    let seed = &mut case.seed.clone();
    let mut tensors = vec![1, 2, 4];
    thin(&mut tensors, seed, 2);
    if space.tensor.is_open() {
        space.tensor = Counts::Listed(tensors);
    }
    let mut experts = vec![1, 2, 4, 8];
    thin(&mut experts, seed, 2);
    if space.expert.is_open() {
        space.expert = Counts::Listed(experts);
    }
    thin(&mut space.splits, seed, 2);
    // Segments have a separate test.
    space.segments = Some(vec![Segment::Whole]);
    thin(&mut space.rank_orders, seed, 1 + (case.seed % 2) as usize);
    thin(&mut space.context_kinds, seed, 2);
    if let Shardings::Open { stages, .. } = &mut space.sharding {
        thin(stages, seed, 2);
    }
    for switch in [
        &mut space.overlap_gradient_reduce,
        &mut space.overlap_parameter_gather,
        &mut space.overlap_tensor,
        &mut space.overlap_expert,
    ] {
        *seed = seed.rotate_left(7) ^ 0x9e37;
        thin(switch, &mut seed.clone(), 1 + usize::from(seed.is_multiple_of(5)));
    }
    thin(&mut space.policies, seed, 2);
    if !space.policies.contains(&Policy::Full) {
        space.policies.push(Policy::Full);
    }
    let least = case.seed % 7;
    space.recompute_layers = Counts::Between(least, least + 3 + case.seed / 7 % 30 / 29 * 100);
    space
}

/// Brute-force result of a strategy that fits.
type Found = Entry;

/// Every combination of every choice, filtered only by validation and memory and evaluated from scratch.
fn brute(case: &Case, search: &Search<'_>, model: &Model, cluster: &Cluster) -> Vec<Found> {
    brute_from(case, search, model, cluster, 0.9)
}

/// The same for a probability of fitting.
fn brute_from(case: &Case, search: &Search<'_>, model: &Model, cluster: &Cluster, least: f64) -> Vec<Found> {
    let space = &search.space;
    let machine = Machine::new(cluster);
    let software = SoftwareCatalogue::shared().expect("reads").get(case.software);
    let mut found = Vec::new();
    let flags = |list: &[bool]| list.to_vec();
    for degrees in search.pieces() {
        for &micro_batch in &case.micro_batches {
            for &schedule in &case.schedules {
                for &virtual_stages in &case.virtual_stages {
                    for &split in &space.splits {
                        for sequence_parallel in
                            if degrees.tensor > 1 { flags(&space.sequence_parallel) } else { vec![false] }
                        {
                            for &context_kind in if degrees.context > 1 {
                                &space.context_kinds[..]
                            } else {
                                &[ContextKind::Ring]
                            } {
                                for &rank_order in &space.rank_orders {
                                    for sharding in all_shardings(space, degrees) {
                                        for (policy, of) in space.policies.iter().enumerate() {
                                            for layers in rungs(space, of, model, degrees.pipeline) {
                                                for overlap in overlaps(
                                                    space,
                                                    degrees,
                                                    sequence_parallel,
                                                    (schedule, virtual_stages),
                                                ) {
                                                    let strategy = Strategy {
                                                        tensor: degrees.tensor,
                                                        pipeline: degrees.pipeline,
                                                        context: degrees.context,
                                                        expert: degrees.expert,
                                                        expert_tensor: degrees.expert_tensor,
                                                        data: degrees.data,
                                                        micro_batch,
                                                        sequence_parallel,
                                                        context_kind,
                                                        segment: None,
                                                        rank_order,
                                                        sharding,
                                                        overlap,
                                                        schedule,
                                                        virtual_stages,
                                                        split,
                                                        policy: policy as u16,
                                                        layers,
                                                    };
                                                    if !is_of_the_space(space, model, &strategy) {
                                                        continue;
                                                    }
                                                    let plan = strategy.plan(space, model);
                                                    found.extend(judge(
                                                        &plan, strategy, model, cluster, &machine, software,
                                                        least,
                                                    ));
                                                }
                                            }
                                        }
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
    found
}

/// Tests whether splits and virtual stages are in the space: a split must apply to them.
fn is_of_the_space(space: &Space, model: &Model, strategy: &Strategy) -> bool {
    // A single stage needs no schedule.
    if strategy.pipeline == 1
        && strategy.schedule == Schedule::Gpipe
        && space.schedules.contains(&Schedule::OneForwardOneBackward)
    {
        return false;
    }
    let chunks = strategy.pipeline * strategy.virtual_stages;
    let Some(list) = space.split_layers(strategy.split, model, chunks) else { return false };
    let simple = strategy.split == Split::Even
        || list.len() as u64 == chunks && list.iter().sum::<u64>() == model.num_layers();
    if !simple {
        return false;
    }
    // All layers is the number that covers the largest chunk, which must be allowed.
    let all = space.policies[usize::from(strategy.policy)] == Policy::Full && strategy.layers.is_none();
    let Counts::Between(_, limit) = space.recompute_layers else { return false };
    let plan = strategy.plan(space, model);
    let software = SoftwareCatalogue::shared().expect("reads").get(&plan.software);
    let layers = railwright_calculator::memory::layers_per_chunk(model, &plan, software.stage_split);
    let largest = layers.iter().max().copied().unwrap_or(0);
    !all || stage::chunks_per_stage(&plan) * largest <= limit
}

fn judge(
    plan: &Plan,
    strategy: Strategy,
    model: &Model,
    cluster: &Cluster,
    machine: &Machine,
    software: &railwright_calculator::memory::MemorySoftware,
    least: f64,
) -> Option<Found> {
    if !validate(model, cluster, plan).is_empty() {
        return None;
    }
    let memory = peak(&MemoryInput { model, cluster, plan, software, in_flight: None });
    if probability_of_fitting(memory.least(), cluster.accelerator.memory, software.sigma) < least {
        return None;
    }
    let costing = Costing::new(model, cluster, plan, machine).ok()?;
    let total = evaluate(&costing).ok()?.time.total.get();
    let slow = retry_slowdown(memory.device / cluster.accelerator.memory);
    Some(Entry { strategy, time: total * slow, memory: memory.device.get() })
}

/// Numbers of layers allowed by the space, useful or not; all of them count as the largest.
fn rungs(space: &Space, policy: &Policy, model: &Model, pipeline: u64) -> Vec<Option<u64>> {
    // A stage of ZB-V and DualPipe holds two chunks, and an uneven split may exceed the mean.
    let most = 2 * model.num_layers().div_ceil(pipeline) + 2;
    match policy {
        Policy::Full => {
            let some = (1..most).filter(|n| space.recompute_layers.allows(*n)).map(Some);
            some.chain([None]).collect()
        }
        _ => vec![None],
    }
}

fn all_shardings(space: &Space, degrees: &Degrees) -> Vec<Sharding> {
    let Shardings::Open { stages, groups, reshard } = &space.sharding else { return Vec::new() };
    let ranks = degrees.data * degrees.context;
    let mut found = Vec::new();
    for &zero_stage in stages {
        let limits = space.offers.as_ref();
        if ranks == 1 && zero_stage > 0
            || limits.is_some_and(|o| {
                degrees.pipeline > 1 && !o.zero_stages_with_pipeline.contains(&zero_stage)
                    || degrees.tensor > 1 && !o.zero_stages_with_tensor.contains(&zero_stage)
            })
        {
            continue;
        }
        for group in [None].into_iter().chain(divisors(ranks).into_iter().map(Some)) {
            if zero_stage == 0 && group.is_some() || group.is_some_and(|g| !groups.allows(g)) {
                continue;
            }
            for &reshard_after_forward in if zero_stage == 3 { &reshard[..] } else { &[false] } {
                found.push(Sharding { zero_stage, group, reshard_after_forward });
            }
        }
    }
    if found.is_empty() && ranks == 1 {
        found.push(Sharding { zero_stage: 0, group: None, reshard_after_forward: false });
    }
    found
}

/// All settings of the switches, with those off that the software cannot overlap.
fn overlaps(
    space: &Space,
    degrees: &Degrees,
    sequence_parallel: bool,
    (schedule, virtual_stages): (Schedule, u64),
) -> Vec<Overlap> {
    let tensor_form = space.offers.is_none() || sequence_parallel || space.overlap_tensor == [true];
    let with_tensor = degrees.tensor > 1 && tensor_form;
    let tensors = if with_tensor || space.overlap_tensor.len() == 1 {
        space.overlap_tensor.clone()
    } else {
        vec![false]
    };
    // Megatron-Core 1F1B without interleaving waits for its transfers.
    let waits = space.offers.as_ref().is_some_and(|offers| offers.overlaps_transfers_only_interleaved)
        && schedule == Schedule::OneForwardOneBackward
        && virtual_stages == 1;
    let pipelines =
        if waits && space.overlap_pipeline.len() > 1 { vec![false] } else { space.overlap_pipeline.clone() };
    // Its exchanges of experts hide under the passes of another chunk.
    let exposes = degrees.expert > 1
        && space.offers.as_ref().is_some_and(|offers| offers.overlaps_experts_only_interleaved)
        && degrees.pipeline > 1
        && virtual_stages == 1;
    let experts =
        if exposes && space.overlap_expert.len() > 1 { vec![false] } else { space.overlap_expert.clone() };
    let mut found = Vec::new();
    for &gradient_reduce in &space.overlap_gradient_reduce {
        for &parameter_gather in &space.overlap_parameter_gather {
            for &tensor in &tensors {
                for &pipeline in &pipelines {
                    for &expert in &experts {
                        found.push(Overlap { gradient_reduce, parameter_gather, tensor, pipeline, expert });
                    }
                }
            }
        }
    }
    found
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * a.abs().max(b.abs())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn the_search_is_brute_force(case in cases()) {
        let model = model::by_name(case.model).expect("known");
        let mut cluster = cluster::by_name(case.preset, case.devices).expect("known");
        cluster.accelerator.memory = cluster.accelerator.memory * case.memory;
        let space = space(&case, &model, &cluster);
        let of = |objective, front| Options { objective, keep: case.keep, front, ..Options::default() };
        let options = of(Objective::Time, false);
        let Ok(search) = Search::new(&model, &cluster, space.clone(), options) else { return Ok(()) };
        let all = brute(&case, &search, &model, &cluster);

        // The best layouts by time, and by memory; one entry per layout.
        for (objective, score) in [(Objective::Time, Score::Time), (Objective::Headroom, Score::Memory)] {
            let mut wanted = ShortList::new(score, case.keep);
            for entry in &all {
                wanted.offer(entry);
            }
            let search = Search::new(&model, &cluster, space.clone(), of(objective, false)).expect("as before");
            let results = search.run();
            let found = results.best.entries();
            prop_assert_eq!(found.len(), wanted.entries().len());
            for (a, b) in found.iter().zip(wanted.entries()) {
                let (x, y) = if score == Score::Time { (a.time, b.time) } else { (a.memory, b.memory) };
                prop_assert!(close(x, y), "{objective:?}: {a:?} {b:?}");
            }
            let c = results.counters;
            prop_assert_eq!(
                c.enumerated,
                c.did_not_fit + c.did_not_fit_as_group + c.bounded_away + c.dominated + c.timed
            );
            if all.is_empty() {
                // Without any time bound, near misses are those with the least memory of all strategies.
                let mut wanted = results::near_misses();
                for entry in brute_from(&case, &search, &model, &cluster, 0.0) {
                    wanted.offer(&entry);
                }
                let needs = |list: &ShortList| -> Vec<f64> { list.entries().iter().map(|e| e.memory).collect() };
                let (found, wanted) = (needs(&results.misses), needs(&wanted));
                prop_assert_eq!(found.len(), wanted.len());
                prop_assert!(found.iter().zip(&wanted).all(|(a, b)| close(*a, *b)), "{found:?} {wanted:?}");
            }
        }

        // The front of time and memory.
        let mut wanted = Front::default();
        for entry in &all {
            wanted.offer(entry);
        }
        let search = Search::new(&model, &cluster, space, of(Objective::Time, true)).expect("as before");
        let found = search.run().front;
        // Rounding may separate points that are one in brute force, so both fronts must cover each other.
        let lone = |a: &[Entry], b: &[Entry]| {
            b.iter().copied().find(|e| {
                !a.iter().any(|o| o.time <= e.time * (1.0 + 1e-9) && o.memory <= e.memory * (1.0 + 1e-9))
            })
        };
        prop_assert_eq!(lone(found.entries(), wanted.entries()), None, "missed by the search");
        prop_assert_eq!(lone(wanted.entries(), found.entries()), None, "unknown to brute force");
    }
}

/// For any fixed setting, the open search finds a result at least as good.
fn no_pin_wins(name: &str, layers: usize, preset: &str, devices: u64, batch: u64) {
    let mut model = model::by_name(name).expect("known");
    model.layers.truncate(layers);
    let mut cluster = cluster::by_name(preset, devices).expect("known");
    cluster.accelerator.memory = cluster.accelerator.memory * 0.5;
    let specified = PlanSpec {
        software: Some("megatron-core-2025".to_owned()),
        global_batch: Some(batch),
        sequence_length: Some(2048),
        ..PlanSpec::default()
    };
    let best = |specified: &PlanSpec| {
        let space = Space::new(specified, &model, &cluster).expect("a space");
        let options = Options { keep: 1, ..Options::default() };
        let search = Search::new(&model, &cluster, space, options).ok()?;
        search.run().best.entries().first().copied()
    };
    let open = best(&specified).expect("something fits");
    let mut pins: Vec<(String, PlanSpec)> = Vec::new();
    let mut pin = |text: String, change: &dyn Fn(&mut PlanSpec)| {
        let mut pinned = specified.clone();
        change(&mut pinned);
        pins.push((text, pinned));
    };
    for n in 1..=8 {
        pin(format!("vp={n}"), &|s| s.virtual_stages = Some(n));
        pin(format!("pp={n}"), &|s| s.pipeline_parallel = Some(n));
        pin(format!("tp={n}"), &|s| s.tensor_parallel = Some(n));
        pin(format!("cp={n}"), &|s| s.context_parallel = Some(n));
        pin(format!("ep={n}"), &|s| s.expert_parallel = Some(n));
        pin(format!("mbs={n}"), &|s| s.micro_batch = Some(n));
        // The best often needs two fixed settings: the number of chunks has an effect under deep pipelines.
        for pipeline in [2, 4, 8] {
            pin(format!("pp={pipeline} vp={n}"), &|s| {
                (s.pipeline_parallel, s.virtual_stages) = (Some(pipeline), Some(n));
            });
        }
    }
    // Experts sharded further than everything else are a known exclusion.
    pin("etp=1".to_owned(), &|s| s.expert_tensor_parallel = Some(1));
    for on in [false, true] {
        pin(format!("sp={on}"), &|s| s.sequence_parallel = Some(on));
        pin(format!("uneven={on}"), &|s| s.uneven_stages = Some(on));
        pin(format!("overlap.tensor={on}"), &|s| s.overlap_tensor = Some(on));
        pin(format!("overlap.pipeline={on}"), &|s| s.overlap_pipeline = Some(on));
        pin(format!("overlap.gradient_reduce={on}"), &|s| s.overlap_gradient_reduce = Some(on));
    }
    for (text, pinned) in &pins {
        if let Some(found) = best(pinned) {
            assert!(
                open.time <= found.time * (1.0 + 1e-9),
                "{name}, {layers} layers: {text}: {found:?} beats {open:?}"
            );
        }
    }
    // Numbers of chunks of the best pipelines, which an open search must suggest.
    let space = Space::new(&specified, &model, &cluster).expect("a space");
    for pipeline in [2, 4, 8] {
        let suggested =
            space.virtual_stage_choices(Schedule::OneForwardOneBackward, pipeline, model.num_layers());
        for virtual_stages in 1..=model.num_layers() / pipeline {
            assert!(suggested.contains(&virtual_stages), "{pipeline} x {virtual_stages}: {suggested:?}");
        }
    }
}

#[test]
fn no_pin_beats_the_open_search() {
    no_pin_wins("llama-3-8b", 29, "dgx-a100", 16, 16);
    no_pin_wins("qwen3-30b-a3b", 23, "dgx-h100", 16, 16);
}

#[test]
fn no_chunk_is_without_work() {
    let cluster = cluster::by_name("dgx-h100", 64).expect("known");
    for name in ["llama-3.1-405b", "deepseek-v3", "llama-3-8b", "gemma-2-2b"] {
        let model = model::by_name(name).expect("known");
        let space = Space::new(&PlanSpec::default(), &model, &cluster).expect("a space");
        let layers = model.num_layers();
        for chunks in 2..=layers + 4 {
            for split in [Split::Even, Split::ShortEnds, Split::LightHead] {
                let Some(list) = space.split_layers(split, &model, chunks) else { continue };
                let inner = &list[1..list.len() - 1];
                assert!(inner.iter().all(|n| *n > 0), "{name} {split:?}: {list:?}");
                let alone = list[0] == 0 || list[list.len() - 1] == 0 && split != Split::LightHead;
                assert!(!alone || inner.iter().all(|n| *n == 1), "{name} {split:?}: {list:?}");
            }
        }
    }
    // Llama 3 405B's own layout: the embedding and the head without layers on the ends.
    let model = model::by_name("llama-3.1-405b").expect("known");
    let space = Space::new(&PlanSpec::default(), &model, &cluster).expect("a space");
    let list = space.split_layers(Split::ShortEnds, &model, 128).expect("offered");
    assert_eq!((list[0], list[1], list[127]), (0, 1, 0));
}

#[test]
fn what_ties_in_memory_is_ordered_by_time() {
    let model = model::by_name("llama-3-8b").expect("known");
    let cluster = cluster::by_name("dgx-h100", 8).expect("known");
    let specified = PlanSpec {
        global_batch: Some(32),
        sequence_length: Some(4096),
        context_parallel: Some(1),
        virtual_stages: Some(1),
        ..PlanSpec::default()
    };
    let space = Space::new(&specified, &model, &cluster).expect("a space");
    let options = Options { objective: Objective::Headroom, keep: 20, ..Options::default() };
    let search = Search::new(&model, &cluster, space, options).expect("a search");
    let candidates = search.outcome(&search.run()).candidates;
    let ties = candidates.iter().take_while(|c| c.tied_with_best).count();
    assert!(ties > 1 && candidates[ties..].iter().all(|c| !c.tied_with_best), "{ties}");
    assert!(candidates[..ties].windows(2).all(|pair| pair[0].expected_time <= pair[1].expected_time));
    let needs = candidates[..ties].iter().map(|c| c.memory.device.get());
    let (least, most) = needs.fold((f64::INFINITY, 0.0_f64), |(a, b), n| (a.min(n), b.max(n)));
    assert!(least < most && most <= least * search.memory.sigma.exp() * (1.0 + 1e-9), "{least} {most}");
}
