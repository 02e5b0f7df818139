//! Offered values are valid, other candidates are rejected, and the numbers are those of the published
//! layouts.

use super::*;
use railwright_spec::plan::validate;

fn spec(settings: &[&str]) -> RunSpec {
    let mut spec = RunSpec::default();
    for setting in settings {
        spec.set(setting).expect("a setting");
    }
    spec
}

fn offered(spec: &RunSpec) -> Vec<Valid> {
    let model =
        spec.model.resolve(|_| Err(railwright_spec::problem::Problem::new("not read"))).expect("known");
    let cluster = spec.cluster.resolve().expect("known");
    valid_values(spec, &model, &cluster)
}

fn of<'a>(list: &'a [Valid], key: &str) -> Vec<&'a str> {
    list.iter().find(|one| one.key == key).expect(key).values.iter().map(String::as_str).collect()
}

const DEEPSEEK: &[&str] = &[
    "model.name=deepseek-v3",
    "cluster.preset=dgx-h100",
    "cluster.devices=2048",
    "plan.pipeline_parallel=16",
    "plan.expert_parallel=64",
    "plan.uneven_stages=true",
    "plan.global_batch=15360",
];

#[test]
fn everything_that_is_offered_resolves_to_a_possible_plan() {
    for settings in [
        DEEPSEEK,
        &[
            "model.name=llama-3.1-405b",
            "cluster.preset=dgx-h100",
            "cluster.devices=1008",
            "plan.tensor_parallel=8",
            "plan.pipeline_parallel=14",
        ],
        &["model.name=llama-3-8b", "cluster.preset=gb200-nvl72", "cluster.devices=72"],
    ] {
        let specified = spec(settings);
        let mut tried = 0;
        for valid in offered(&specified) {
            for value in &valid.values {
                let mut with = specified.clone();
                if valid.key == "plan.schedule" {
                    with.plan.virtual_stages = None;
                }
                with.set(&format!("{}={value}", valid.key)).expect("takes it");
                let run = with.resolve(|_| Err(railwright_spec::problem::Problem::new("not read")));
                let problems = run.map(|run| validate(&run.model, &run.cluster, &run.plan));
                // `defaults::start` selects the layout of an open run if the specification's own default is
                // invalid.
                let is_open = defaults::is_open(&with.plan);
                assert!(
                    is_open || problems.as_ref().is_ok_and(Vec::is_empty),
                    "{}={value}: {problems:?}",
                    valid.key
                );
                tried += 1;
            }
        }
        assert!(tried > 60, "{settings:?}: {tried}");
    }
}

#[test]
fn devices_follow_the_expert_ranks() {
    // DeepSeek-V3's own layout: 16 stages and 64 expert ranks need 1,024 GPUs at least (arXiv:2412.19437,
    // section 3.2).
    let list = offered(&spec(DEEPSEEK));
    let devices = of(&list, "cluster.devices");
    assert_eq!(devices.first(), Some(&"1024"), "{devices:?}");
    assert!(devices.contains(&"2048") && !devices.contains(&"512"));
    let experts = of(&list, "plan.expert_parallel");
    assert_eq!(experts, ["1", "2", "4", "8", "16", "32", "64", "128"]);
}

#[test]
fn a_refused_run_has_the_values_that_make_it_possible_again() {
    // 126 layers on 16 stages: the common divisors of 126 and of 1,024 devices are 1 and 2.
    let mut specified = spec(&[
        "model.name=llama-3.1-405b",
        "cluster.preset=dgx-h100",
        "cluster.devices=1024",
        "plan.tensor_parallel=8",
        "plan.pipeline_parallel=16",
    ]);
    let list = offered(&specified);
    assert_eq!(of(&list, "plan.pipeline_parallel"), ["1", "2"]);
    assert_eq!(of(&list, "plan.uneven_stages"), ["true"]);
    assert_eq!(of(&list, "plan.tensor_parallel"), Vec::<&str>::new());
    // Replicas of 8 x 11 devices divide no power of two: their own multiples are offered.
    let odd = ["cluster.devices=1024", "plan.pipeline_parallel=11", "plan.uneven_stages=true"];
    let mut replicas = specified.clone();
    for setting in odd {
        replicas.set(setting).expect("a key");
    }
    assert!(of(&offered(&replicas), "cluster.devices").contains(&"968"));
    specified.set("plan.uneven_stages=true").expect("a key");
    let list = offered(&specified);
    assert!(of(&list, "plan.pipeline_parallel").contains(&"16"));
    // 128 query heads and 8 key-value heads.
    assert_eq!(of(&list, "plan.tensor_parallel"), ["1", "2", "4", "8", "16", "32", "64"]);
    assert_eq!(of(&list, "plan.expert_parallel"), ["1"]);
}

#[test]
fn words_are_tried_like_numbers() {
    let list = offered(&spec(&[
        "model.name=llama-3-8b",
        "cluster.preset=dgx-h100",
        "cluster.devices=8",
        "plan.pipeline_parallel=1",
    ]));
    assert_eq!(of(&list, "plan.virtual_stages"), ["1"]);
    assert!(of(&list, "plan.precision.preset").contains(&"fp8"));
    let list = offered(&spec(&[
        "model.name=llama-3-8b",
        "cluster.preset=dgx-a100",
        "cluster.devices=8",
        "plan.pipeline_parallel=1",
    ]));
    // The A100 has no FP8 units.
    assert!(!of(&list, "plan.precision.preset").contains(&"fp8"));
}

#[test]
fn a_setting_is_open_if_the_run_is_valid_without_it() {
    let list = offered(&spec(DEEPSEEK));
    let open = |key: &str| list.iter().find(|one| one.key == key).expect(key).open;
    // 61 layers on 16 stages need uneven ones, and the replicas of one stage do not divide the batch.
    assert_eq!(of(&list, "plan.uneven_stages"), ["true"]);
    assert!(!open("plan.uneven_stages") && !open("plan.pipeline_parallel"));
    assert!(open("plan.tensor_parallel") && open("plan.micro_batch"));
    // Offered words of every kind are listed, those of recompute and overlap included.
    assert!(of(&list, "plan.recompute").contains(&"full"));
    assert_eq!(of(&list, "plan.overlap.tensor"), ["false", "true"]);
}
