//! Sharding that a search ranks: only what the framework has.

use railwright_spec::plan::{PlanSpec, is_offered};
use railwright_spec::{cluster, model};
use railwright_tuner::search::Shardings;
use railwright_tuner::search::Space;

/// ZeRO-3 of DeepSpeed gathers a layer's parameters again for the backward pass; FSDP may keep them, and has
/// no stage that shards gradients and replicates parameters.
#[test]
fn a_search_has_the_sharding_of_the_framework() {
    let model = model::by_name("llama-3-8b").expect("known");
    let cluster = cluster::by_name("dgx-h100", 16).expect("known");
    let of = |software: &str| {
        let spec = PlanSpec { software: Some(software.to_owned()), ..PlanSpec::default() };
        match Space::new(&spec, &model, &cluster).expect("a space").sharding {
            Shardings::Open { stages, reshard, .. } => (stages, reshard),
            Shardings::Listed(list) => panic!("{list:?}"),
        }
    };
    assert_eq!(of("deepspeed-2024"), (vec![0, 1, 2, 3], vec![true]));
    assert_eq!(of("fsdp1-2023"), (vec![0, 3], vec![false, true]));
    assert_eq!(of("torchtitan-2024-eager"), (vec![0, 3], vec![false, true]));
    let kept = |software: &str| {
        let sharding =
            railwright_spec::plan::Sharding { zero_stage: 3, group: None, reshard_after_forward: false };
        let spec =
            PlanSpec { software: Some(software.to_owned()), sharding: Some(sharding), ..PlanSpec::default() };
        is_offered(&model, &spec.resolve(&model, &cluster).expect("possible"))
    };
    assert!(kept("fsdp1-2023") && !kept("deepspeed-2024"));
}
