//! Hints of random impossible plans, applied: every remedy removes its problem, and adds none of its own
//! settings.

use super::validate;
use crate::cluster::{self, Cluster};
use crate::model::{self, Model};
use crate::plan::{ContextKind, PlanSpec, Schedule, Sharding};
use crate::problem::{Problem, Remedy};
use crate::run::{Section as _, Value};
use proptest::prelude::*;
use proptest::sample::select;

const MODELS: [&str; 6] =
    ["llama-3-8b", "gemma-3-27b", "mixtral-8x7b", "deepseek-v3", "gpt3-175b", "qwen3-30b-a3b"];

fn problems(model: &Model, cluster: &Cluster, spec: &PlanSpec) -> Vec<Problem> {
    match spec.resolve(model, cluster) {
        Ok(plan) => validate(model, cluster, &plan),
        Err(problem) => vec![problem],
    }
}

fn key(problem: &Problem) -> String {
    problem.place.as_ref().and_then(|place| place.key.clone()).unwrap_or_default()
}

/// The specification and the cluster after a remedy; `None` if its value cannot be read.
fn applied(spec: &PlanSpec, cluster: &Cluster, remedy: &Remedy) -> Option<(PlanSpec, Cluster)> {
    let (mut spec, mut cluster) = (spec.clone(), cluster.clone());
    if remedy.key == "cluster.devices" {
        cluster.devices = remedy.value.parse().ok()?;
        return Some((spec, cluster));
    }
    let name = remedy.key.strip_prefix("plan.")?;
    let text = &remedy.value;
    let value = match text.as_str() {
        "true" => Value::Flag(true),
        "false" => Value::Flag(false),
        text => text.parse().map_or_else(|_| Value::Text(text.to_owned()), Value::Integer),
    };
    // The layers of stages are open for this setting.
    if name == "uneven_stages" {
        spec.layers_per_stage = None;
    }
    matches!(spec.set(name, &value), Some(Ok(()))).then_some((spec, cluster))
}

prop_compose! {
    fn any_spec()(
        degrees in (1..10_u64, 1..10_u64, 1..5_u64, 1..5_u64),
        experts in (select(vec![1, 2, 3, 4, 8, 16]), select(vec![None, Some(1), Some(2)])),
        schedule in select(Schedule::ALL.to_vec()),
        context_kind in select(vec![ContextKind::Ring, ContextKind::Ulysses]),
        sequence in select(vec![512, 999, 1000, 1022, 2048, 4096]),
        batch in (1..4_u64, 1..200_u64),
        group in select(vec![None, Some(2), Some(3), Some(8)]),
        sequence_parallel in any::<bool>(),
    ) -> PlanSpec {
        let (tp, pp, vp, cp) = degrees;
        PlanSpec {
            tensor_parallel: Some(tp),
            pipeline_parallel: Some(pp),
            virtual_stages: Some(vp),
            context_parallel: Some(cp),
            context_kind: Some(context_kind),
            expert_parallel: Some(experts.0),
            expert_tensor_parallel: experts.1,
            schedule: Some(schedule),
            sequence_length: Some(sequence),
            sequence_parallel: Some(sequence_parallel),
            micro_batch: Some(batch.0),
            global_batch: Some(batch.1),
            sharding: group.map(|_| Sharding { zero_stage: 3, group, reshard_after_forward: true }),
            ..PlanSpec::default()
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn an_applied_remedy_removes_its_problem(spec in any_spec(), name in select(&MODELS[..]), nodes in 1..9_u64) {
        let model = model::by_name(name).expect("known");
        let cluster = cluster::by_name("dgx-h100", nodes * 8).expect("a preset");
        let before = problems(&model, &cluster, &spec);
        for problem in &before {
            for remedy in &problem.remedies {
                let after = applied(&spec, &cluster, remedy);
                prop_assert!(after.is_some(), "{problem:?}: {remedy:?} cannot be read");
                let (changed, devices) = after.expect("checked");
                let left = problems(&model, &devices, &changed);
                // Other problems of the plan may remain, but neither this one nor a new one of the same settings.
                let is_other = |left: &Problem| before.iter().any(|b| b != problem && b.message == left.message);
                let keys = [key(problem), remedy.key.clone()];
                let same = left.iter().find(|left| keys.contains(&key(left)) && !is_other(left));
                prop_assert!(same.is_none(), "{problem:?}\nafter {remedy:?}\n{same:?}\n{name} {nodes} {spec:?}");
            }
        }
    }
}
