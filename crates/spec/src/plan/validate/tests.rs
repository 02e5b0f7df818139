//! Impossible plans, each with its message.

use super::*;
use crate::cluster::by_name;
use crate::model;
use crate::plan::{PlanSpec, Recompute, Schedule};
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
        "plan.tensor_parallel: 32 attention heads do not divide by 6 ranks; use 4 or 8"
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
        "plan.pipeline_parallel: 32 layers do not divide evenly among 5 stages; use 4 or 8, or set uneven_stages = true for [4 x 7, 4]"
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
    // Where embedding and head each take a virtual stage of their own.
    assert_eq!(balanced_layers(126, 128).iter().filter(|n| **n == 0).count(), 2);
    for (layers, stages) in [(61, 8), (32, 5), (7, 7), (3, 9), (126, 64)] {
        assert_eq!(balanced_layers(layers, stages).iter().sum::<u64>(), layers);
    }
}

#[test]
fn the_batch_is_divided() {
    assert_eq!(
        first(LLAMA, "dgx-h100", 64, |p| p.global_batch = 100),
        "plan.global_batch: 100 sequences cannot be divided into micro-batches of 1 on 64 replicas; use 64 or \
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
        "plan.expert_parallel: 8 experts do not divide by 16 ranks; use 8"
    );
    assert_eq!(
        first(LLAMA, "dgx-h100", 64, |p| p.expert_parallel = 8),
        "plan.expert_parallel: 8 ranks of expert parallelism, but llama-3-8b has no experts; use 1"
    );
    assert!(
        first(MIXTRAL, "dgx-h100", 12, |p| (p.expert_parallel, p.global_batch) = (8, 12))
            .starts_with("plan.expert_parallel: 8 ranks of expert parallelism x 1 of expert tensor parallelism do not divide the 12")
    );
}

#[test]
fn sequences_are_cut_evenly() {
    let ring = first(LLAMA, "dgx-h100", 64, |p| {
        (p.context_parallel, p.data_parallel, p.sequence_length) = (8, 8, 8200);
    });
    assert_eq!(
        ring,
        "plan.sequence_length: 8200 tokens do not divide into 16 shards (two per rank, to balance causal attention); use 8192 or 8208"
    );
    let ulysses = first(LLAMA, "dgx-h100", 64, |p| {
        (p.context_parallel, p.data_parallel, p.context_kind) = (64, 1, crate::plan::ContextKind::Ulysses);
    });
    assert!(
        ulysses.starts_with("plan.context_parallel: ulysses gives each of 1 x 64 ranks whole heads"),
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
    assert!(on(Schedule::ZbH1, 1, 1, 8).starts_with("plan.schedule: zb-h1 schedules a pipeline"));
    assert!(
        on(Schedule::DualPipe, 4, 1, 6)
            .contains("dualpipe needs an even number of micro-batches, 8 at least, found 6")
    );
    assert_eq!(on(Schedule::DualPipe, 4, 1, 8), "possible");
    assert!(
        on(Schedule::OneForwardOneBackward, 8, 2, 4).starts_with(
            "plan.global_batch: interleaving needs as many micro-batches as stages (8), found 4"
        )
    );
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
    assert!(in_format("dgx-v100", Bf16).contains("cannot multiply in bf16"));
}

#[test]
fn groups_and_recompute_are_bounded() {
    use crate::plan::Sharding;
    assert_eq!(
        first(LLAMA, "dgx-h100", 64, |p| {
            p.sharding = Sharding { zero_stage: 3, group: Some(12), reshard_after_forward: true };
        }),
        "plan.sharding: groups of 12 do not divide the 64 ranks of data x context parallelism; use 8 or 16"
    );
    assert!(
        first(LLAMA, "dgx-h100", 64, |p| p.recompute = Recompute::Full { layers: Some(40) })
            .starts_with("plan.recompute: 40 layers per stage to recompute, but a stage has 32")
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
        "plan.stage_recompute: 9 layers to recompute on stage 0, which has only 8; a policy without a number covers all remaining layers"
    );
    // Per virtual stage, and per stage with chunks.
    assert_eq!(with(&["full:4*8"], |p| p.virtual_stages = 2), "possible");
    assert!(with(&["full:5*8"], |p| p.virtual_stages = 2).contains("on virtual stage 0, which has 4"));
    assert_eq!(with(&["full:8*4"], |p| p.virtual_stages = 2), "possible");
    assert_eq!(with(&["full:9", "none*3"], |p| p.layers_per_stage = Some(vec![9, 7, 8, 8])), "possible");
    assert!(
        with(&["full:9*4"], |p| p.layers_per_stage = Some(vec![9, 7, 8, 8])).contains("stage 1, which has 7")
    );
    assert_eq!(
        with(&["moe*4"], |_| {}),
        "plan.stage_recompute: llama-3-8b has no moe to recompute; leave `moe` out"
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
fn absurd_numbers_are_told_alone() {
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
    let zero = super::super::Sharding { zero_stage: 2, group: None, reshard_after_forward: false };
    let spec = PlanSpec {
        pipeline_parallel: Some(4),
        sharding: Some(zero),
        global_batch: Some(32),
        ..PlanSpec::default()
    };
    assert_eq!(ids(spec), ["zero-with-pipeline", "few-micro-batches", "not-offered"]);
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
