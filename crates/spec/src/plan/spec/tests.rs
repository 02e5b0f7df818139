//! Reading, resolution and rejection of a plan's keys.

use super::*;
use crate::cluster::by_name;
use crate::model;
use crate::plan::{Plan, default_imbalance, validate};
use crate::run::{Section as _, Value};

fn resolved(model: &str, cluster: &str, devices: u64, spec: &PlanSpec) -> Plan {
    let (model, cluster) =
        (model::by_name(model).expect("model"), by_name(cluster, devices).expect("cluster"));
    spec.resolve(&model, &cluster).expect("plan")
}

#[test]
fn a_plan_becomes_a_specification_of_itself() {
    let spec = PlanSpec {
        precision: Some(PrecisionPreset::Fp16),
        sharding: Some(Sharding { zero_stage: 3, group: Some(8), reshard_after_forward: true }),
        recompute: Some(Recompute::Full { layers: Some(2) }),
        expert_capacity: Some(1.25),
        ..PlanSpec::default()
    };
    let plan = resolved("llama-3-8b", "dgx-h100", 64, &spec);
    assert_eq!(resolved("llama-3-8b", "dgx-h100", 64, &PlanSpec::from_plan(&plan)), plan);
    let by_stage = StageRecompute { segments: vec![Recompute::Full { layers: Some(3) }], offload: Some(0.5) };
    let spec = PlanSpec { recompute: None, stage_recompute: Some(vec![by_stage]), ..spec };
    let plan = resolved("llama-3-8b", "dgx-h100", 64, &spec);
    assert!(plan.stage_recompute.is_some());
    assert_eq!(resolved("llama-3-8b", "dgx-h100", 64, &PlanSpec::from_plan(&plan)), plan);
}

#[test]
fn defaults_are_what_people_start_with() {
    // 8B: 6 x 8.03e9 B leave too little of 79 GiB for activations, so the model is split over two devices; it
    // fits into 141 GB whole.
    let plan = resolved("llama-3-8b", "dgx-h100", 64, &PlanSpec::default());
    assert_eq!((plan.tensor_parallel, plan.pipeline_parallel, plan.data_parallel), (2, 1, 32));
    assert_eq!(resolved("llama-3-8b", "dgx-h200", 64, &PlanSpec::default()).tensor_parallel, 1);
    assert_eq!((plan.sequence_length, plan.global_batch), (8192, 512));
    assert_eq!((plan.sharding.zero_stage, plan.software.as_str()), (1, "megatron-core-2025"));
    // 70B: 6 x 70.6e9 B alone require at least ten devices.
    let plan = resolved("llama-3-70b", "dgx-h100", 256, &PlanSpec::default());
    assert!(plan.tensor_parallel * plan.pipeline_parallel >= 8, "{plan:?}");
    assert!(plan.sequence_parallel);
    // V100 has no bf16.
    let plan = resolved("gpt2", "dgx-v100", 8, &PlanSpec::default());
    assert_eq!(plan.precision, PrecisionPreset::Fp16.precision());
    // Experts are spread before matrices are sharded.
    let plan = resolved("mixtral-8x7b", "dgx-h100", 64, &PlanSpec::default());
    assert_eq!((plan.expert_parallel, plan.expert_tensor_parallel), (8, 1), "{plan:?}");
}

#[test]
fn a_batch_has_three_spellings_and_only_one_at_a_time() {
    let base = PlanSpec { tensor_parallel: Some(8), ..PlanSpec::default() };
    let batch = |spec: &PlanSpec| resolved("llama-3-8b", "dgx-h100", 64, spec).global_batch;
    assert_eq!(batch(&PlanSpec { global_batch: Some(48), ..base.clone() }), 48);
    assert_eq!(batch(&PlanSpec { micro_batches: Some(4), ..base.clone() }), 32);
    assert_eq!(batch(&PlanSpec { batch_tokens: Some(Amount(1e6)), ..base.clone() }), 120);
    let twice = PlanSpec { global_batch: Some(48), micro_batches: Some(4), ..base };
    let (model, cluster) =
        (model::by_name("llama-3-8b").expect("model"), by_name("dgx-h100", 64).expect("cluster"));
    let problem = twice.resolve(&model, &cluster).expect_err("twice");
    assert_eq!(problem.message, "`plan.global_batch` and `plan.micro_batches` both set the batch");
}

#[test]
fn presets_keep_megatrons_bytes() {
    // 2 + 4 + 4 + 8 bytes per parameter; ZeRO-1 divides the last 12 (Megatron's distributed optimizer: 6 +
    // 12/d).
    for preset in
        [PrecisionPreset::Bf16, PrecisionPreset::Fp8, PrecisionPreset::Mxfp8, PrecisionPreset::Nvfp4]
    {
        let p = preset.precision();
        let master = p.master.map_or(0.0, DataType::bytes);
        assert_eq!(
            (p.parameters.bytes() + p.gradients.bytes(), master + 2.0 * p.moments.bytes()),
            (6.0, 12.0)
        );
    }
}

#[test]
fn degrees_that_do_not_divide_are_reported() {
    let (model, cluster) =
        (model::by_name("llama-3-8b").expect("model"), by_name("dgx-h100", 60).expect("cluster"));
    let refused = |spec: PlanSpec| {
        let problem = spec.resolve(&model, &cluster).expect_err("60 devices");
        let key = problem.place.as_ref().and_then(|p| p.key.clone()).unwrap_or_default();
        format!("{key}: {}; {}", problem.message, problem.hint.unwrap_or_default())
    };
    assert_eq!(
        refused(PlanSpec { tensor_parallel: Some(8), ..PlanSpec::default() }),
        "plan.tensor_parallel: 60 devices cannot be divided into replicas of 8 (tensor 8 x pipeline 1 x context 1); use a size of 4, or 56 or 64 devices"
    );
    assert!(refused(PlanSpec { pipeline_parallel: Some(128), ..PlanSpec::default() }).ends_with("; use 4"));
    assert!(
        refused(PlanSpec { data_parallel: Some(0), ..PlanSpec::default() }).contains("at least 1, found 0")
    );
    let far = PlanSpec { tensor_parallel: Some(u64::MAX), ..PlanSpec::default() };
    assert!(refused(far).contains("exceed the largest supported number of devices"));
    let sound = PlanSpec { tensor_parallel: Some(4), ..PlanSpec::default() }
        .resolve(&model, &cluster)
        .expect("15 x 4");
    assert_eq!(validate(&model, &cluster, &sound), []);
}

#[test]
fn uneven_stages_are_spread_when_asked_for() {
    let spec = PlanSpec { pipeline_parallel: Some(4), uneven_stages: Some(true), ..PlanSpec::default() };
    let plan = resolved("deepseek-v3", "h800", 64, &spec);
    assert_eq!(plan.layers_per_stage, Some(vec![16, 17, 16, 12]));
    let even = PlanSpec { pipeline_parallel: Some(4), uneven_stages: Some(true), ..PlanSpec::default() };
    assert_eq!(resolved("llama-3-8b", "dgx-h100", 64, &even).layers_per_stage, None);
}

/// Value of a key as text.
fn word(spec: &PlanSpec, name: &str) -> Option<String> {
    use crate::run::Section as _;
    spec.get(name).map(|value| value.to_plain().trim_end_matches(".0").to_owned())
}

/// Defaults printed in help, reference and schema equal the defaults of plans without the key.
#[test]
fn printed_defaults_are_what_plans_get() {
    use crate::run::Section as _;
    let of = |software: Option<&str>, virtual_stages: Option<u64>| {
        let spec = PlanSpec {
            tensor_parallel: Some(2),
            pipeline_parallel: Some(2),
            virtual_stages,
            software: software.map(str::to_owned),
            ..PlanSpec::default()
        };
        PlanSpec::from_plan(&resolved("llama-3-8b", "dgx-h100", 64, &spec))
    };
    let plain = of(None, None);
    let (mut literal, mut by_software) = (0, 0);
    for key in PlanSpec::KEYS {
        let by_framework =
            key.default.strip_prefix("set by the software: ").filter(|_| key.name != "sharding");
        if let Some(clauses) = by_framework {
            // `true in Megatron-Core and torchtitan`, `true in Megatron-Core since mid 2026, false in
            // torchtitan`.
            for clause in clauses.split(", ") {
                let Some((value, names)) = clause.split_once(" in ") else { continue };
                let virtual_stages = names.ends_with(" with virtual stages").then_some(2);
                let names = names.split(" with ").next().unwrap_or(names);
                for name in names.split(" and ") {
                    let id = match name {
                        "Megatron-Core" => "megatron-core-2025",
                        "Megatron-Core since mid 2026" => "megatron-core-2026-06",
                        "torchtitan" => "torchtitan-2025",
                        other => panic!("{}: what is `{other}`?", key.name),
                    };
                    let found = word(&of(Some(id), virtual_stages), key.name);
                    assert_eq!(found.as_deref(), Some(value), "{} of {id}", key.name);
                    by_software += 1;
                }
            }
            continue;
        }
        // It depends on how the model balances its experts.
        if key.name == "expert_imbalance" {
            for (name, text) in [
                ("mixtral-8x7b", "1.25 for mixtures of experts"),
                ("deepseek-v3", "1.04 if a bias balances them"),
                ("llama-3-8b", "1 for dense models"),
            ] {
                let model = model::by_name(name).expect("known");
                let value = default_imbalance(&model, None).to_string();
                assert!(
                    key.default.contains(text) && text.starts_with(&format!("{value} ")),
                    "{name} {value}"
                );
            }
            literal += 1;
            continue;
        }
        // `none, or as much as the plan needs to fit`: the first is that of a plan that fits.
        let value = if key.default.starts_with("none, or ") { "none" } else { key.default };
        let is_literal = !value.contains([' ', ';', '/']);
        // Without parallel sizes the program chooses them; without an entry nothing is written.
        let Some(found) = word(&plain, key.name).filter(|_| is_literal) else { continue };
        assert_eq!(found, value, "{}", key.name);
        literal += 1;
    }
    assert!(literal >= 11 && by_software >= 12, "{literal} {by_software}");
}

#[test]
fn full_sharding_alone_is_torchtitan() {
    let full = Some(Sharding { zero_stage: 3, group: None, reshard_after_forward: true });
    let plan = resolved("llama-3-8b", "h100", 8, &PlanSpec { sharding: full, ..PlanSpec::default() });
    assert_eq!((plan.software.as_str(), plan.context_kind), ("torchtitan-2025", ContextKind::AllGather));
    let tensor = PlanSpec { sharding: full, tensor_parallel: Some(2), ..PlanSpec::default() };
    assert_eq!(resolved("llama-3-8b", "h100", 8, &tensor).software, "megatron-core-2025");
}

/// `overlap_p2p_comm` of Megatron-Core is off without virtual stages (`megatron/training/arguments.py`);
/// PyTorch's pipelines overlap in every schedule.
#[test]
fn transfers_are_overlapped_only_where_the_framework_does() {
    let model = model::by_name("llama-3-8b").expect("known");
    let cluster = by_name("dgx-h100", 64).expect("known");
    let overlaps = |software: &str, virtual_stages: u64, asked: Option<bool>| {
        let spec = PlanSpec {
            pipeline_parallel: Some(4),
            virtual_stages: Some(virtual_stages),
            software: Some(software.to_owned()),
            overlap_pipeline: asked,
            ..PlanSpec::default()
        };
        let plan = spec.resolve(&model, &cluster).expect("possible");
        let is_doubted = crate::plan::warnings(&model, &cluster, &plan)
            .iter()
            .any(|warning| warning.message.contains("overlap of transfers between stages"));
        (plan.overlap.pipeline, is_doubted)
    };
    assert_eq!(overlaps("megatron-core-2025", 1, None), (false, false));
    assert_eq!(overlaps("megatron-core-2025", 2, None), (true, false));
    assert_eq!(overlaps("torchtitan-2025", 1, None), (true, false));
    assert_eq!(overlaps("megatron-core-2025", 1, Some(true)), (true, true));
    assert_eq!(overlaps("megatron-core-2025", 2, Some(false)), (false, false));
}

/// Each remedy of sizes that do not divide the devices leads to a valid plan.
#[test]
fn remedies_of_indivisible_sizes_are_accepted() {
    let mut tried = 0;
    for name in
        ["llama-3-8b", "llama-3.1-70b", "mixtral-8x7b", "qwen3-30b-a3b", "gpt3-175b", "deepseek-v3-671b"]
    {
        let model = model::by_name(name).expect(name);
        for (preset, devices) in [("dgx-h100", 64), ("dgx-h100", 24), ("dgx-a100", 8), ("gb200-nvl72", 72)] {
            let cluster = by_name(preset, devices).expect(preset);
            for key in ["tensor_parallel", "pipeline_parallel", "context_parallel"] {
                for size in [3, 5, 7, 12, 48, 100] {
                    let mut spec = PlanSpec::default();
                    spec.set(key, &Value::Integer(size)).expect("known").expect("a size");
                    let Err(problem) = spec.resolve(&model, &cluster) else { continue };
                    for remedy in &problem.remedies {
                        let (mut spec, mut cluster) = (spec.clone(), cluster.clone());
                        let value: u64 = remedy.value.parse().expect("a count");
                        match remedy.key.as_str() {
                            "cluster.devices" => cluster.devices = value,
                            key => {
                                let key = key.trim_start_matches("plan.");
                                spec.set(key, &Value::Integer(value.cast_signed()))
                                    .expect("known")
                                    .expect("a size");
                            }
                        }
                        let plan = spec.resolve(&model, &cluster).expect("resolves");
                        assert_eq!(
                            validate(&model, &cluster, &plan),
                            [],
                            "{name} {preset} {key} {size} {remedy:?}"
                        );
                        tried += 1;
                    }
                }
            }
        }
    }
    assert!(tried > 100, "{tried}");
}
