//! Impossible plans, each with its message.

use super::*;
use crate::cluster::Cluster;
use crate::cluster::by_name;
use crate::model;
use crate::model::Model;
use crate::plan::{ContextKind, PlanSpec, Recompute, Schedule, Sharding, balanced_layers};
use crate::problem::Warning;

/// The first problem of a plan as `key: message; hint`, from settings on an otherwise sound plan.
fn first(model: &str, cluster: &str, devices: u64, change: impl FnOnce(&mut Plan)) -> String {
    let (model, cluster) =
        (model::by_name(model).expect("model"), by_name(cluster, devices).expect("cluster"));
    let mut plan =
        PlanSpec { tensor_parallel: Some(1), ..PlanSpec::default() }.resolve(&model, &cluster).expect("plan");
    change(&mut plan);
    match validate(&model, &cluster, &plan).first() {
        None => "possible".to_owned(),
        Some(problem) => {
            let key = problem.place.as_ref().and_then(|p| p.key.clone()).unwrap_or_default();
            format!("{key}: {}; {}", problem.message, problem.hint.clone().unwrap_or_default())
        }
    }
}

const LLAMA: &str = "llama-3-8b"; // 32 layers, 32 heads, 8 key-value heads, MLP 14336
const MIXTRAL: &str = "mixtral-8x7b"; // 8 experts

#[test]
fn a_sound_plan_has_no_problem() {
    assert_eq!(first(LLAMA, "dgx-h100", 64, |_| {}), "possible");
    assert_eq!(first(MIXTRAL, "dgx-h100", 64, |p| p.expert_parallel = 8), "possible");
}

#[test]
fn degrees_must_make_up_the_cluster() {
    assert_eq!(
        first(LLAMA, "dgx-h100", 64, |p| p.tensor_parallel = 2),
        "plan.data_parallel: tensor 2 x context 1 x pipeline 1 x data 64 = 128 ranks, but the cluster has 64 devices; use data_parallel 32, or omit it; or set cluster.devices to 128"
    );
}

#[test]
fn heads_are_divided_or_shared() {
    assert_eq!(
        first(LLAMA, "dgx-h100", 6, |p| (p.tensor_parallel, p.data_parallel, p.global_batch) = (6, 1, 6)),
        "plan.tensor_parallel: 32 attention heads are not divisible by 6 ranks; use 2"
    );
    // 16 ranks share 8 key-value heads in pairs.
    let shared = first(LLAMA, "gb200-nvl72", 16, |p| (p.tensor_parallel, p.data_parallel) = (16, 1));
    assert_eq!(shared, "possible");
}

#[test]
fn layers_are_divided_or_listed() {
    let pipeline = |plan: &mut Plan| {
        (plan.pipeline_parallel, plan.data_parallel, plan.global_batch) = (5, 1, 64);
    };
    assert_eq!(
        first(LLAMA, "dgx-h100", 5, pipeline),
        "plan.pipeline_parallel: 32 layers cannot be divided evenly among 5 stages; use 1, or set uneven_stages = true for [4 x 7, 4]"
    );
    let listed = |list: Vec<u64>| {
        first(LLAMA, "dgx-h100", 5, |plan| {
            pipeline(plan);
            plan.layers_per_stage = Some(list);
        })
    };
    assert_eq!(listed(vec![6, 7, 7, 6, 6]), "possible");
    assert!(
        listed(vec![6, 7, 7, 6, 7])
            .starts_with("plan.layers_per_stage: the entries sum to 33, but llama-3-8b has 32")
    );
    assert!(listed(vec![32]).starts_with("plan.layers_per_stage: 1 entries for 5 x 1 = 5 virtual stages"));
}

#[test]
fn balanced_layers_keep_the_ends_short() {
    // Llama 3.1 405B as Meta trained it: 126 layers on 16 stages of 8, the first and the last one less.
    assert_eq!(balanced_layers(126, 16), [7, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 7]);
    assert_eq!(balanced_layers(61, 4), [15, 16, 15, 15]);
    // Embedding and head each have a virtual stage of their own.
    assert_eq!(balanced_layers(126, 128).iter().filter(|n| **n == 0).count(), 2);
    for (layers, stages) in [(61, 8), (32, 5), (7, 7), (3, 9), (126, 64)] {
        assert_eq!(balanced_layers(layers, stages).iter().sum::<u64>(), layers);
    }
}

#[test]
fn the_batch_is_divided() {
    assert_eq!(
        first(LLAMA, "dgx-h100", 64, |p| p.global_batch = 100),
        "plan.global_batch: 100 sequences are not divisible into micro-batches of 1 on 64 replicas; use 64 or \
         128"
    );
    assert!(
        first(LLAMA, "dgx-h100", 1, |p| p.global_batch = 10_000_000)
            .contains("micro-batches per step exceed the limit")
    );
}

#[test]
fn experts_are_divided() {
    assert_eq!(
        first(MIXTRAL, "dgx-h100", 64, |p| p.expert_parallel = 16),
        "plan.expert_parallel: 8 experts are not divisible by 16 ranks; use 8"
    );
    assert_eq!(
        first(LLAMA, "dgx-h100", 64, |p| p.expert_parallel = 8),
        "plan.expert_parallel: 8 expert-parallel ranks are set, but llama-3-8b has no experts; use 1"
    );
    assert!(first(MIXTRAL, "dgx-h100", 12, |p| (p.expert_parallel, p.global_batch) = (8, 12)).starts_with(
        "plan.expert_parallel: 8 expert-parallel x 1 expert-tensor-parallel ranks do not divide the 12"
    ));
}

/// GPT-3 has 2,048 learned positions, so a length above them is not a remedy.
#[test]
fn a_remedy_is_within_the_learned_positions() {
    let model = model::by_name("gpt3-175b").expect("model");
    let cluster = by_name("dgx-h100", 24).expect("cluster");
    let mut plan = Plan::default_for(&model, &cluster).expect("possible");
    (plan.tensor_parallel, plan.sequence_length, plan.sequence_parallel) = (3, 2048, true);
    let found = validate(&model, &cluster, &plan);
    let cut = found.iter().find(|problem| problem.message.contains("cannot divide")).expect("not divisible");
    assert_eq!(cut.hint.as_deref(), Some("use 2046"));
}

#[test]
fn sequences_are_cut_evenly() {
    let ring = first(LLAMA, "dgx-h100", 64, |p| {
        (p.context_parallel, p.data_parallel, p.sequence_length) = (8, 8, 8200);
    });
    assert_eq!(
        ring,
        "plan.sequence_length: 8200 tokens are not divisible into 16 shards (two per rank, to balance causal attention); use 8192 or 8208"
    );
    let ulysses = first(LLAMA, "dgx-h100", 64, |p| {
        (p.context_parallel, p.data_parallel, p.context_kind) = (64, 1, crate::plan::ContextKind::Ulysses);
    });
    assert!(
        ulysses
            .starts_with("plan.context_parallel: ulysses assigns whole heads to each of 1 x 64 = 64 ranks"),
        "{ulysses}"
    );
    assert!(ulysses.ends_with("use 32, or context_kind = \"ring\""), "{ulysses}");
}

#[test]
fn schedules_need_what_they_need() {
    let on = |schedule, pp, vp, batch| {
        first(LLAMA, "dgx-h100", pp, move |p| {
            (p.pipeline_parallel, p.data_parallel, p.global_batch) = (pp, 1, batch);
            (p.schedule, p.virtual_stages) = (schedule, vp);
        })
    };
    assert_eq!(
        on(Schedule::OneForwardOneBackward, 1, 4, 8),
        "plan.virtual_stages: 4 virtual stages, but only one pipeline stage; use 1"
    );
    assert!(
        on(Schedule::ZbV, 4, 1, 8).starts_with("plan.virtual_stages: zb-v runs 2 chunks per stage, found 1")
    );
    assert_eq!(on(Schedule::ZbV, 4, 2, 8), "possible");
    assert!(on(Schedule::ZbH1, 1, 1, 8).starts_with("plan.schedule: zb-h1 is a pipeline schedule"));
    assert!(
        on(Schedule::DualPipe, 4, 1, 6)
            .contains("dualpipe requires an even number of micro-batches of at least 8, found 6")
    );
    assert_eq!(on(Schedule::DualPipe, 4, 1, 8), "possible");
    assert!(on(Schedule::OneForwardOneBackward, 8, 2, 4).starts_with(
        "plan.global_batch: interleaving requires at least as many micro-batches as stages (8), found 4"
    ));
}

#[test]
fn formats_are_those_of_the_hardware() {
    use crate::plan::PrecisionPreset::{Bf16, Fp8, Mxfp8};

    let in_format = |cluster, preset: crate::plan::PrecisionPreset| {
        first(LLAMA, cluster, 8, |p| p.precision = preset.precision())
    };
    assert_eq!(in_format("dgx-h100", Fp8), "possible");
    assert_eq!(
        in_format("dgx-h100", Mxfp8),
        "plan.precision.preset: H100 SXM5 80GB does not support GEMMs in mxfp8 (its fp8 has no block scales in hardware); supported: fp32, tf32, fp16, bf16, fp8, int8"
    );
    assert_eq!(in_format("dgx-b200", Mxfp8), "possible");
    assert!(in_format("dgx-v100", Bf16).contains("does not support GEMMs in bf16"));
}

#[test]
fn groups_and_recompute_are_bounded() {
    use crate::plan::Sharding;
    assert_eq!(
        first(LLAMA, "dgx-h100", 64, |p| {
            p.sharding = Sharding { zero_stage: 3, group: Some(12), reshard_after_forward: true };
        }),
        "plan.sharding: the group size 12 does not divide the 64 ranks (data x context) of sharding; use hsdp:8 or hsdp:16"
    );
    assert!(
        first(LLAMA, "dgx-h100", 64, |p| p.recompute = Recompute::Full { layers: Some(40) })
            .starts_with("plan.recompute: 40 layers per stage are set to be recomputed, but a stage has 32")
    );
}

#[test]
fn recompute_by_stage_is_of_layers_and_modules_that_are_there() {
    use crate::plan::StageRecompute;
    use crate::run::{Field, Value};
    let with = |texts: &[&str], change: fn(&mut Plan)| {
        first(LLAMA, "dgx-h100", 64, |p| {
            (p.pipeline_parallel, p.data_parallel, p.global_batch) = (4, 16, 64);
            let list = texts.iter().map(|t| Value::Text((*t).to_owned())).collect();
            p.stage_recompute = Some(Field::read(&Value::List(list)).expect("reads"));
            change(p);
        })
    };
    assert_eq!(with(&["full:3 core_attention+mlp:5", "none*2", "full"], |_| {}), "possible");
    assert_eq!(
        with(&["full", "none"], |_| {}),
        "plan.stage_recompute: 2 entries for 4 stages; use `none` for a stage without recompute, `none*14` \
         for 14 of them"
    );
    assert_eq!(
        with(&["full:3 core_attention+mlp:6", "none*3"], |_| {}),
        "plan.stage_recompute: 9 layers are set to be recomputed on stage 0, which has only 8; a policy without a number covers all remaining layers"
    );
    // Per virtual stage, and per stage with chunks.
    assert_eq!(with(&["full:4*8"], |p| p.virtual_stages = 2), "possible");
    assert!(with(&["full:5*8"], |p| p.virtual_stages = 2).contains("on virtual stage 0, which has only 4"));
    assert_eq!(with(&["full:8*4"], |p| p.virtual_stages = 2), "possible");
    assert_eq!(with(&["full:9", "none*3"], |p| p.layers_per_stage = Some(vec![9, 7, 8, 8])), "possible");
    assert!(
        with(&["full:9*4"], |p| p.layers_per_stage = Some(vec![9, 7, 8, 8]))
            .contains("stage 1, which has only 7")
    );
    assert_eq!(
        with(&["moe*4"], |_| {}),
        "plan.stage_recompute: llama-3-8b has no moe to recompute; omit `moe`"
    );
    assert!(
        with(&["full*4"], |p| p.recompute = Recompute::core_attention())
            .contains("set for all stages and per stage")
    );
    let nan = |p: &mut Plan| {
        p.stage_recompute = Some(vec![StageRecompute { segments: Vec::new(), offload: Some(f64::NAN) }; 4]);
    };
    assert!(with(&["none*4"], nan).contains("is not between 0 and 1"));
}

#[test]
fn absurd_numbers_are_reported_alone() {
    assert!(
        first(LLAMA, "dgx-h100", 8, |p| p.tensor_parallel = 0)
            .starts_with("plan.tensor_parallel: expected a whole number from 1 to 10000000, found 0")
    );
    assert!(first(LLAMA, "dgx-h100", 8, |p| p.expert_imbalance = f64::NAN).contains("found NaN"));
    assert!(first(LLAMA, "dgx-h100", 8, |p| p.offload.optimizer = -0.5).contains("found -0.5"));
    for huge in [u64::MAX, 1 << 40, 9_999_999] {
        let all = first(LLAMA, "dgx-h100", 8, |p| {
            (p.tensor_parallel, p.context_parallel, p.pipeline_parallel) = (huge, huge, huge);
            (p.data_parallel, p.expert_parallel, p.expert_tensor_parallel) = (huge, huge, huge);
            (p.micro_batch, p.global_batch, p.sequence_length, p.virtual_stages) = (huge, huge, huge, huge);
        });
        assert_ne!(all, "possible");
    }
}

#[test]
fn doubtful_plans_are_warned_about() {
    let (model, cluster) = (model::by_name(LLAMA).expect("model"), by_name("dgx-h100", 64).expect("cluster"));
    let ids = |spec: PlanSpec| -> Vec<String> {
        let plan = spec.resolve(&model, &cluster).expect("plan");
        assert_eq!(validate(&model, &cluster, &plan), []);
        warnings(&model, &cluster, &plan).into_iter().map(|Warning { id, .. }| id).collect()
    };
    assert_eq!(ids(PlanSpec { tensor_parallel: Some(8), ..PlanSpec::default() }), [""; 0]);
    assert_eq!(
        ids(PlanSpec { tensor_parallel: Some(16), ..PlanSpec::default() }),
        ["tensor-parallel-leaves-domain"]
    );
    let zero = Sharding { zero_stage: 2, group: None, reshard_after_forward: false };
    let spec = PlanSpec {
        pipeline_parallel: Some(4),
        sharding: Some(zero),
        global_batch: Some(32),
        ..PlanSpec::default()
    };
    assert_eq!(ids(spec.clone()), ["few-micro-batches", "not-offered"]);
    let chunks = PlanSpec { virtual_stages: Some(2), global_batch: Some(128), ..spec };
    assert_eq!(ids(chunks), ["zero-with-pipeline", "not-offered"]);
    let is_warned = |zero_stage, reshard_after_forward, virtual_stages| {
        let ids = ids(PlanSpec {
            pipeline_parallel: Some(4),
            virtual_stages: Some(virtual_stages),
            sharding: Some(Sharding { zero_stage, group: None, reshard_after_forward }),
            global_batch: Some(128),
            software: Some("torchtitan-2025".to_owned()),
            ..PlanSpec::default()
        });
        ids.iter().any(|id| id == "zero-with-pipeline")
    };
    // One chunk per stage reduces once a step, several in each round; full sharding in each micro-batch, but
    // once if parameters stay gathered.
    assert!(!is_warned(2, false, 1) && is_warned(2, false, 2));
    assert!(is_warned(3, true, 1) && !is_warned(3, false, 1));
}

#[test]
fn defaults_are_possible_for_every_model_of_the_catalogue() {
    for entry in model::catalogue() {
        let model = model::by_name(entry.name).expect("known");
        for (cluster, devices) in
            [("dgx-h100", 8), ("dgx-h100", 1024), ("gb200-nvl72", 72), ("dgx-v100", 16), ("mi300x", 1)]
        {
            let cluster = by_name(cluster, devices).expect("known");
            let plan = Plan::default_for(&model, &cluster).unwrap_or_else(|p| panic!("{}: {p}", entry.name));
            let problems = validate(&model, &cluster, &plan);
            assert!(problems.is_empty(), "{} on {devices} {}: {problems:?}", entry.name, cluster.name);
        }
    }
}

/// A plan with a few random changes, and the specification with every setting.
fn changed(model: &Model, cluster: &Cluster, choices: &[u8; 12]) -> Option<Plan> {
    let mut plan =
        PlanSpec { uneven_stages: Some(true), ..PlanSpec::default() }.resolve(model, cluster).ok()?;
    let pick = |at: usize, values: &[u64], now: u64| {
        if choices[at].is_multiple_of(2) { now } else { values[usize::from(choices[at] / 2) % values.len()] }
    };
    plan.layers_per_stage = None;
    plan.tensor_parallel = pick(0, &[1, 2, 3, 6, 8, 16], plan.tensor_parallel);
    plan.pipeline_parallel = pick(1, &[1, 2, 3, 5, 8, 64], plan.pipeline_parallel);
    plan.virtual_stages = pick(2, &[1, 2, 3, 5], plan.virtual_stages);
    plan.context_parallel = pick(3, &[1, 2, 3, 4], plan.context_parallel);
    plan.expert_parallel = pick(4, &[1, 2, 3, 16], plan.expert_parallel);
    plan.data_parallel = pick(5, &[1, 3, 8], plan.data_parallel);
    plan.micro_batch = pick(6, &[1, 2, 3], plan.micro_batch);
    plan.global_batch = pick(7, &[1, 6, 100, 64], plan.global_batch);
    plan.sequence_length = pick(8, &[1000, 4096, 4099], plan.sequence_length);
    plan.schedule = Schedule::ALL[usize::from(choices[9]) % Schedule::ALL.len()];
    plan.context_kind = if choices[10].is_multiple_of(2) { ContextKind::Ring } else { ContextKind::Ulysses };
    plan.segment = choices[11].is_multiple_of(5).then_some(16);
    Some(plan)
}

/// A remedy removes its problem, even if there are other problems.
#[test]
fn remedies_mend_what_they_are_of() {
    let mut state = 1_u64;
    let mut byte = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 56) as u8
    };
    let (mut tried, mut keys) = (0, std::collections::BTreeSet::new());
    for round in 0..600 {
        let name = [LLAMA, MIXTRAL, "gpt3-175b"][round % 3];
        let model = model::by_name(name).expect("model");
        let cluster = by_name("dgx-h100", 64).expect("cluster");
        let choices: [u8; 12] = std::array::from_fn(|_| byte());
        let Some(plan) = changed(&model, &cluster, &choices) else { continue };
        for problem in validate(&model, &cluster, &plan) {
            for remedy in &problem.remedies {
                let mut spec = crate::run::RunSpec::default();
                spec.plan = PlanSpec::from_plan(&plan);
                spec.set(&format!("{}={}", remedy.key, remedy.value))
                    .unwrap_or_else(|e| panic!("{remedy:?}: {e}"));
                let devices = spec.cluster.devices.unwrap_or(cluster.devices);
                let cluster = by_name("dgx-h100", devices).expect("cluster");
                let left = match spec.plan.resolve(&model, &cluster) {
                    Ok(mended) => validate(&model, &cluster, &mended),
                    Err(problem) => vec![problem],
                };
                let is_left = left.iter().any(|other| other.message == problem.message);
                assert!(!is_left, "{remedy:?} leaves {problem:?}\n{plan:?}");
                tried += 1;
                keys.insert(remedy.key.clone());
            }
        }
    }
    assert!(tried > 1000 && keys.len() >= 9, "{tried} remedies of {keys:?}");
}
