//! Settings that a software generation offers, against the plans that it resolves.

use railwright_spec::plan::{PlanSpec, is_offered};
use railwright_spec::{cluster, model, software};

#[test]
fn exchanges_of_experts_hide_in_a_pipeline_with_virtual_stages_only() {
    let model = model::by_name("mixtral-8x7b").expect("known");
    let cluster = cluster::by_name("dgx-h100", 64).expect("known");
    let of = |pipeline, chunks, overlap_expert| {
        let spec = PlanSpec {
            expert_parallel: Some(8),
            pipeline_parallel: Some(pipeline),
            virtual_stages: Some(chunks),
            software: Some("megatron-core-2026-06".into()),
            overlap_expert,
            ..PlanSpec::default()
        };
        let plan = spec.resolve(&model, &cluster).expect("possible");
        (plan.overlap.expert, is_offered(&model, &plan))
    };
    assert_eq!([of(1, 1, None), of(2, 1, None), of(2, 2, None)], [(true, true), (false, true), (true, true)]);
    assert_eq!([of(2, 1, Some(true)), of(2, 2, Some(true))], [(true, false), (true, true)]);
}

#[test]
fn no_generation_lacks_what_it_does_by_default() {
    let model = model::by_name("llama-3-8b").expect("known");
    let cluster = cluster::by_name("dgx-h100", 64).expect("known");
    for generation in software::generations() {
        let spec = PlanSpec {
            software: Some(generation.id.clone()),
            tensor_parallel: Some(1),
            ..PlanSpec::default()
        };
        let plan = spec.resolve(&model, &cluster).expect("possible");
        assert!(is_offered(&model, &plan), "{}", generation.id);
    }
}
