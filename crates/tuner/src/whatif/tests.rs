//! Properties of what-if comparisons.

mod pairs;

use super::*;
use railwright_calculator::memory::Fit;
use railwright_spec::run::{Run, RunSpec};

fn no_file(_: &str) -> Result<String, Problem> {
    Err(Problem::new("not read"))
}

fn run(settings: &[&str]) -> (RunSpec, Run) {
    let mut spec = RunSpec::default();
    for setting in settings {
        spec.set(setting).expect(setting);
    }
    let model = spec.model.resolve(no_file).expect("known");
    let cluster = spec.cluster.resolve().expect("known");
    let plan = spec.plan.resolve(&model, &cluster).expect("possible");
    let run = Run {
        model,
        cluster,
        plan,
        training: spec.training.resolve().expect("sound"),
        cost: spec.cost.resolve().expect("sound"),
        software_origin: spec.software_origin(),
        open_settings: spec.plan.open_settings(),
    };
    (spec, run)
}

const FSDP: &[&str] = &[
    "model.name=llama-3-8b",
    "cluster.preset=dgx-h100",
    "cluster.devices=8",
    "plan.sharding=fsdp",
    "plan.micro_batch=2",
];
const DENSE: &[&str] = &[
    "model.name=llama-3.1-405b",
    "cluster.preset=dgx-h100",
    "cluster.devices=16384",
    "plan.tensor_parallel=8",
    "plan.pipeline_parallel=16",
    "plan.uneven_stages=true",
    "plan.global_batch=2048",
    "plan.sequence_length=8192",
];
const EXPERTS: &[&str] = &[
    "model.name=deepseek-v3-671b",
    "cluster.preset=h800",
    "cluster.devices=2048",
    "plan.pipeline_parallel=16",
    "plan.expert_parallel=64",
    "plan.uneven_stages=true",
    "plan.precision=fp8",
    "plan.global_batch=15360",
    "plan.sequence_length=4096",
];

fn what_if(settings: &[&str], changes: &[&str]) -> WhatIf {
    let (spec, run) = run(settings);
    let changes: Vec<Change> = changes.iter().map(|text| Change::parse(text).expect(text)).collect();
    rehearse(&Baseline { spec: &spec, run: &run, read: &no_file, network: None }, &changes).expect("priced")
}

/// The layout does not fit with less memory: that is the effect of the change, not another recompute.
#[test]
fn a_default_recompute_stays_unless_the_change_sets_it() {
    let of = |change: &str| {
        let answer = what_if(DENSE, &[change]);
        let whole = answer.whole().expect("one");
        let moved: Vec<&str> = whole.moved.iter().map(|moved| moved.key.as_str()).collect();
        (moved.join(" "), whole.possible().expect("possible").after.fit)
    };
    let (moved, fit) = of("hbm_gib=60");
    assert!(!moved.contains("recompute") && fit == Fit::DoesNotFit, "{moved}");
    assert_eq!(of("recompute=full").1, Fit::Fits);
}

fn share(settings: &[&str], change: &str) -> f64 {
    let answer = what_if(settings, &[change]);
    let rehearsal = answer.whole().expect("one");
    rehearsal.possible().unwrap_or_else(|| panic!("{change}: {:?}", rehearsal.outcome)).difference.share
}

#[test]
fn the_parts_of_the_difference_sum_to_it() {
    for (settings, changes) in [
        (
            DENSE,
            &[
                "precision=fp8",
                "nic_gbps=800",
                "overlap.tensor=true",
                "slow.rank=0.8",
                "micro_batch=2",
                "nodes=1024",
            ][..],
        ),
        (
            EXPERTS,
            &["overlap.expert=true", "nic=x2", "slow.nic=0.5", "sequence_length=8192", "recompute=full"],
        ),
        (FSDP, &["precision=fp8", "hbm=x2", "cluster=h200", "micro_batch=1", "slow.node=0.9", "tp=2"]),
    ] {
        for change in changes {
            let answer = what_if(settings, &[change]);
            let Some(possible) = answer.whole().and_then(ChangeResult::possible) else {
                panic!("{change}: {:?}", answer.whole())
            };
            let sum: f64 = possible.difference.parts.iter().map(|part| part.change.get()).sum();
            let step = answer.before.step_time.get();
            assert!((sum - possible.difference.step_time.get()).abs() < 1e-9 * step, "{change}: {sum}");
            assert!(possible.difference.share.is_finite() && possible.difference.share > -1.0, "{change}");
        }
    }
}

#[test]
fn hardware_matters_where_it_is_used_and_nowhere_else() {
    // One node: no NIC is in use.
    let answer = what_if(FSDP, &["nic_gbps=100"]);
    let rehearsal = answer.whole().expect("one");
    assert_eq!(rehearsal.possible().expect("possible").difference.step_time.get(), 0.0);
    assert!(
        rehearsal.notes[0].starts_with("no effect: step time and memory stay the same"),
        "{:?}",
        rehearsal.notes
    );
    // Twice the peak halves only the time of GEMMs: a compute-bound run becomes between 1.5 and 2 times as
    // fast.
    let faster = share(FSDP, "bf16_tflops=x2");
    assert!((-0.5..-0.33).contains(&faster), "{faster}");
    assert!(share(FSDP, "bf16_tflops=x0.5") > 0.7);
    assert!(share(FSDP, "hbm=x2") < -0.01);
    assert!(share(DENSE, "nic=x0.25") > 0.0 && share(DENSE, "nvlink=x0.5") > 0.02);
    assert!(share(EXPERTS, "nic=x2") < -0.01);
}

#[test]
fn all_else_stays() {
    let answer =
        what_if(DENSE, &["micro_batch=2", "pp=8", "nodes=1024", "data_parallel=64", "micro_batches=32"]);
    for rehearsal in &answer.alone {
        let possible = rehearsal.possible().unwrap_or_else(|| panic!("{rehearsal:?}"));
        let is_batch = rehearsal.name.starts_with("micro_batches");
        assert_eq!(possible.difference.rescaled, is_batch, "{}", rehearsal.name);
    }
    let moved =
        |index: usize| -> Vec<&str> { answer.alone[index].moved.iter().map(|m| m.key.as_str()).collect() };
    assert_eq!(moved(0), ["plan.micro_batch"]);
    assert_eq!(moved(1), ["plan.pipeline_parallel", "plan.data_parallel", "plan.layers_per_stage"]);
    assert_eq!(moved(2), ["cluster.devices", "plan.data_parallel"]);
    assert_eq!(moved(3), ["cluster.devices", "plan.data_parallel"]);
    assert_eq!(moved(4), ["plan.global_batch"]);
}

#[test]
fn another_gpu_brings_its_links_and_another_system_its_network() {
    let answer = what_if(FSDP, &["accelerator=h200", "cluster=dgx-b200", "cluster=mi300x"]);
    for (rehearsal, name) in answer.alone.iter().zip(["H200", "B200", "MI300X"]) {
        let possible = rehearsal.possible().unwrap_or_else(|| panic!("{rehearsal:?}"));
        assert!(possible.after.accelerator.contains(name), "{}", possible.after.accelerator);
        assert_eq!(possible.after.devices, 8);
    }
    let first = &answer.alone[0];
    assert!(
        first.moved.iter().any(|m| m.key == "cluster.memory")
            && first.possible().expect("possible").difference.share < 0.0
    );
    let doubled = what_if(FSDP, &["hbm=x2,cluster=dgx-b200"]);
    let bandwidth = doubled.alone[0].moved.iter().find(|m| m.key == "cluster.memory_bandwidth");
    assert_eq!(bandwidth.and_then(|m| m.after.as_deref()), Some("16000 GB/s"));
    // FSDP2 runs the same software on both generations.
    assert!(!answer.alone[1].moved.iter().any(|m| m.key == "plan.software"), "{:?}", answer.alone[1].moved);
}

#[test]
fn impossible_changes_have_reasons_and_the_others_still_count() {
    let answer = what_if(DENSE, &["tp=7", "nic_gbps=800", "global_batch=2047"]);
    let reasons: Vec<Option<String>> = answer
        .alone
        .iter()
        .map(|rehearsal| match &rehearsal.outcome {
            Outcome::Impossible { problems } => Some(problems[0].to_string()),
            Outcome::Possible(_) => None,
        })
        .collect();
    assert!(reasons[1].is_none());
    for (index, part) in [(0, "tensor 7"), (2, "global_batch")] {
        let reason = reasons[index].as_deref().expect("impossible");
        assert!(reason.contains(part) && reason.starts_with("--change"), "{reason}");
    }
    assert!(answer.together.is_none() && answer.fit() == Fit::DoesNotFit);
    let rest = what_if(DENSE, &["nic_gbps=800", "tp=7", "hbm=x2"]);
    let whole = rest.together.as_ref().expect("two are possible");
    assert!(
        whole.possible().is_some()
            && whole.notes[0].contains("without `tp=7`")
            && rest.fit() == Fit::DoesNotFit,
        "{whole:?}"
    );
    assert!(rest.interaction.is_some());
    let rivals = what_if(DENSE, &["tp=4", "tp=2"]);
    assert_eq!((rivals.rivals.as_deref(), rivals.together), (Some("plan.tensor_parallel"), None));
}

/// Impossible values are input errors for any run.
#[test]
fn changes_that_make_no_sense_are_errors_all_at_once() {
    let (spec, run) = run(DENSE);
    let changes = ["tp=7", "power=-5 W", "slow.stage.16=0.5", "accelerator=bogus", "nodes=1.5", "hbm=x2"]
        .map(|text| Change::parse(text).expect(text));
    let problems = rehearse(&Baseline { spec: &spec, run: &run, read: &no_file, network: None }, &changes)
        .expect_err("senseless");
    let message: Vec<String> = problems.iter().map(ToString::to_string).collect();
    assert_eq!(message.len(), 4, "{message:?}");
    for (message, part) in
        message.iter().zip(["cluster.power", "there is no stage 16", "`bogus`", "found 1.5"])
    {
        assert!(message.contains(part) && message.starts_with("--change"), "{message}");
    }
    // A stage removed by another change is not an error: each is valid alone.
    let fewer = what_if(DENSE, &["pp=8", "slow.stage.12=0.5"]);
    let whole = fewer.together.as_ref().expect("two");
    assert!(whole.possible().is_none() && fewer.fit() == Fit::DoesNotFit, "{whole:?}");
}

#[test]
fn changes_already_in_effect_are_reported() {
    let answer = what_if(DENSE, &["tp=8", "memory=x1", "price=9"]);
    assert!(
        answer.alone[0].notes[0].starts_with("the run already has this value, so nothing changes"),
        "{:?}",
        answer.alone[0]
    );
    assert!(
        answer.alone[1].notes[0].starts_with("the run already has this value, so nothing changes"),
        "{:?}",
        answer.alone[1]
    );
    assert!(answer.alone[2].notes[0].ends_with("only the price changes"), "{:?}", answer.alone[2]);
    let price = answer.alone[2].possible().expect("possible").difference.price_of_tokens;
    assert!(price.is_some_and(|share| share > 0.5), "{price:?}");
}

#[test]
fn interaction_is_none_where_changes_do_not_touch_and_negative_where_they_compete() {
    // Both reduce exposed tensor communication.
    let settings = [DENSE, &["plan.overlap.tensor=false"]].concat();
    let compete =
        what_if(&settings, &["nvlink=x2", "overlap.tensor=true"]).interaction.expect("all possible");
    assert!(compete.beyond < -0.005, "{compete:?}");
    let alone = what_if(FSDP, &["price=9", "bf16_tflops=x2"]).interaction.expect("all possible");
    assert!(alone.beyond.abs() < 1e-12 && alone.verdict.contains("independent"), "{alone:?}");
}

#[test]
fn a_slow_member_costs_less_than_its_share_and_is_named() {
    let answer = what_if(
        DENSE,
        &["slow.rank=0.8", "slow.stage.3=0.9", "slow.node.7=0.8", "slow.nic.0=0.5", "slow.host=0.2"],
    );
    for rehearsal in &answer.alone {
        let difference = &rehearsal.possible().expect("possible").difference;
        assert!(
            difference.share >= 0.0 && difference.share < 0.25,
            "{}: {}",
            rehearsal.name,
            difference.share
        );
        assert!(rehearsal.notes[0].contains("of its rate"), "{:?}", rehearsal.notes);
    }
    assert!(answer.alone[0].notes[0].contains("(most expensive position)"));
    assert!(answer.alone[1].notes[0].contains("stage 3"));
    // 1F1B with m micro-batches on p stages: m / (m + p - 1) of the passes are the slow stage's, here 16 of
    // 31. Most of these are kernels and take a quarter more.
    let slow = &answer.alone[0].possible().expect("possible").difference;
    let most = 16.0 / 31.0 * 0.25;
    assert!((0.7 * most..most).contains(&slow.share), "{}", slow.share);
}
