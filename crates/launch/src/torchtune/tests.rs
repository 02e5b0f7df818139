//! Configurations with the keys of torchtune's own recipes.

use crate::{Format, Launch, RemarkKind, detect, read};
use railwright_spec::run::Value;

const LORA: &str = include_str!("../../tests/fixtures/torchtune/lora_single_device.yaml");
const FULL: &str = include_str!("../../tests/fixtures/torchtune/full_distributed.yaml");

fn launch(text: &str) -> Launch {
    match read(text, "f") {
        Some(Ok(launch)) => launch,
        other => panic!("{other:?}, {:?}", detect(text)),
    }
}

fn value(launch: &Launch, key: &str) -> String {
    launch.spec.get(key).as_ref().map_or_else(|| "open".to_owned(), Value::to_toml)
}

fn check(text: &str, expected: &[(&str, &str)]) -> Launch {
    let launch = launch(text);
    assert_eq!(launch.format, Format::Torchtune);
    for (key, expected) in expected {
        assert_eq!(value(&launch, key), *expected, "{key}");
    }
    launch
}

fn remarks(launch: &Launch, kind: RemarkKind) -> String {
    launch.remarks_of(kind).fold(String::new(), |all, r| all + &r.source + ": " + &r.message + "\n")
}

#[test]
fn adapters_on_one_device_are_read() {
    let launch = check(
        LORA,
        &[
            ("model.name", "\"llama-3-8b\""),
            ("cluster.devices", "1"),
            ("plan.optimizer", "\"lora\""),
            ("plan.lora_rank", "64"),
            (
                "plan.lora_targets",
                "[\"q_proj\", \"v_proj\", \"o_proj\", \"gate_proj\", \"up_proj\", \"down_proj\"]",
            ),
            ("plan.micro_batch", "2"),
            ("plan.micro_batches", "8"),
            ("plan.sequence_length", "2048"),
            ("plan.recompute", "\"full\""),
            ("plan.offload.activations", "1.0"),
            ("plan.precision.preset", "\"bf16\""),
            ("plan.precision.moments", "\"bf16\""),
            ("plan.precision.master", "\"none\""),
            ("plan.software", "\"torchtune-2024+chunked-loss\""),
        ],
    );
    assert_eq!(remarks(&launch, RemarkKind::Unknown), "");
    assert_eq!(remarks(&launch, RemarkKind::Unresolved), "");
    assert!(
        remarks(&launch, RemarkKind::Assumed)
            .contains("a comment mentions the recipe for one device: 1 device is assumed")
    );
    let origin = launch.origins.iter().find(|o| o.key == "plan.lora_rank").expect("an origin");
    assert_eq!((origin.source.as_str(), origin.line), ("model.lora_rank = 64", Some(9)));
}

#[test]
fn full_fine_tuning_on_a_mesh_is_read() {
    let launch = check(
        FULL,
        &[
            ("model.name", "\"llama-3-70b\""),
            ("cluster.devices", "open"),
            ("plan.optimizer", "\"adam\""),
            ("plan.lora_rank", "open"),
            ("plan.tensor_parallel", "2"),
            ("plan.sequence_parallel", "true"),
            ("plan.sharding", "\"fsdp\""),
            ("plan.offload.parameters", "1.0"),
            ("plan.offload.optimizer", "1.0"),
            ("plan.sequence_length", "open"),
            ("plan.recompute", "\"full\""),
            ("plan.precision.gradients", "\"bf16\""),
            ("plan.software", "\"torchtitan-2024-eager+chunked-loss\""),
        ],
    );
    let open = remarks(&launch, RemarkKind::Unresolved);
    assert!(open.contains("the number of devices is unknown"), "{open}");
    let left_out = remarks(&launch, RemarkKind::NotModelled);
    for expected in ["custom_sharded_layers", "optimizer_in_bwd"] {
        assert!(left_out.contains(expected), "{expected}: {left_out}");
    }
    let mesh = FULL
        .replace(
            "tensor_parallel_dim: 2",
            "tensor_parallel_dim: 2\ndata_parallel_shard_dim: 4\ndata_parallel_replicate_dim: 2",
        )
        .replace("compile: false", "compile: true");
    let expected = [
        ("cluster.devices", "16"),
        ("plan.sharding", "\"hsdp:4\""),
        ("plan.software", "\"torchtitan-2024-compile+chunked-loss\""),
    ];
    check(&mesh, &expected);
}

#[test]
fn nothing_is_priced_as_something_else() {
    let with = |from: &str, to: &str| {
        let text = LORA.replace(from, to);
        assert_ne!(text, LORA, "{from}");
        launch(&text)
    };
    for (from, to, expected) in [
        ("lora_rank: 64", "lora_rank: 64\n  use_dora: true", "DoRA"),
        ("apply_lora_to_output: false", "apply_lora_to_output: true", "adapters on the head"),
        ("torchtune.modules.loss.LinearCrossEntropyLoss", "torchtune.rlhf.loss.DPOLoss", "pairs of samples"),
        ("epochs: 1", "quantizer:\n  _component_: torchtune.training.quantization.X\n  groupsize: 32", "QAT"),
        ("epochs: 1", "teacher_model:\n  _component_: torchtune.models.llama3_1.llama3_1_8b", "teacher"),
    ] {
        let changed = with(from, to);
        assert_eq!(value(&changed, "plan.optimizer"), "\"lora\"", "{to}");
        let left_out = remarks(&changed, RemarkKind::NotModelled);
        assert!(left_out.contains(expected), "{to}: {left_out}");
        assert!(!remarks(&launch(LORA), RemarkKind::NotModelled).contains(expected), "{expected}");
    }
    for (from, to) in
        [("lora_llama3_1_8b", "qlora_llama3_1_8b"), ("lora_rank: 64", "lora_rank: 64\n  quantize_base: true")]
    {
        assert_eq!(value(&with(from, to), "plan.frozen_weights"), "\"nf4\"", "{to}");
    }
    assert_eq!(value(&launch(LORA), "plan.frozen_weights"), "open");
    let unknown = with("epochs: 1", "frobnicate: 3");
    assert!(remarks(&unknown, RemarkKind::Unknown).contains("frobnicate"));
    let selective = with("epochs: 1", "ac_mode: selective\nac_option: 2");
    assert_eq!(value(&selective, "plan.recompute"), "open");
    let none = with("['q_proj', 'v_proj', 'output_proj']", "[]");
    assert_eq!(value(&none, "plan.lora_targets"), "[\"gate_proj\", \"up_proj\", \"down_proj\"]");
    let other = with(
        "torchtune.models.llama3_1.lora_llama3_1_8b",
        "torchtune.models.llama3_2_vision.lora_llama3_2_vision_11b",
    );
    assert_eq!(value(&other, "model.name"), "open");
    assert!(remarks(&other, RemarkKind::Unresolved).contains("the model is unknown"));
}

#[test]
fn comments_that_disagree_leave_the_devices_open() {
    let text = format!("# tune run --nproc_per_node 2 lora_finetune_distributed --config c\n{LORA}");
    let expected = [("cluster.devices", "open"), ("plan.sharding", "\"fsdp\"")];
    check(&text, &expected);
    let text = LORA.lines().filter(|line| !line.starts_with('#')).collect::<Vec<_>>().join("\n");
    check(&text, &expected);
}

/// Builders of the published recipes; models of 3.1 have the dimensions of 3.
#[test]
fn builders_name_the_models_of_the_catalogue() {
    for (builder, name) in [
        ("llama2.llama2_7b", "llama-2-7b"),
        ("llama2.qlora_llama2_70b", "llama-2-70b"),
        ("llama3.llama3_8b", "llama-3-8b"),
        ("llama3_1.qlora_llama3_1_405b", "llama-3.1-405b"),
        ("llama3_2.lora_llama3_2_1b", "llama-3.2-1b"),
        ("llama3_2.llama3_2_3b", "llama-3.2-3b"),
        ("llama4.llama4_scout_17b_16e", "llama-4-scout-17b-16e"),
        ("mistral.lora_mistral_7b", "mistral-7b-v0.1"),
        ("gemma.gemma_2b", "gemma-2b"),
        ("gemma2.lora_gemma2_27b", "gemma-2-27b"),
        ("phi4.phi4_14b", "phi-4-14b"),
        ("qwen2_5.qwen2_5_0_5b", "qwen2.5-0.5b"),
        ("qwen2_5.lora_qwen2_5_14b_instruct", "qwen2.5-14b"),
        ("qwen3.lora_qwen3_0_6b_instruct", "qwen3-0.6b"),
        ("qwen3.lora_qwen3_32b", "qwen3-32b"),
    ] {
        let text = LORA.replace("llama3_1.lora_llama3_1_8b", builder);
        assert_eq!(value(&launch(&text), "model.name"), format!("\"{name}\""), "{builder}");
    }
}

#[test]
fn evaluation_and_bad_values_are_refused() {
    let text = "model:\n  _component_: torchtune.models.llama2.llama2_7b\ntasks: [x]\nbatch_size: 8\n";
    assert!(detect(text).is_empty(), "{:?}", detect(text));
    for (from, to) in [("dtype: bf16", "dtype: fp16"), ("batch_size: 2", "batch_size: some")] {
        assert!(read(&LORA.replace(from, to), "f").is_some_and(|read| read.is_err()), "{to}");
    }
}

/// `ac_mode: full` recomputes for any value of the flag: the distributed recipe applies it if the flag is
/// off.
#[test]
fn full_recompute_has_two_spellings() {
    let flag = "enable_activation_checkpointing: true";
    for text in ["ac_mode: full\nenable_activation_checkpointing: false", "ac_mode: full", flag] {
        check(&FULL.replace(flag, text), &[("plan.recompute", "\"full\"")]);
    }
    check(&FULL.replace(flag, "enable_activation_checkpointing: false"), &[("plan.recompute", "\"none\"")]);
}

/// A reference without a value leaves one setting open: a default of the builder would contradict it.
#[test]
fn references_and_unknown_models_are_open_without_defaults() {
    let text = LORA
        .replace("lora_rank: 64", "lora_rank: ${rank}")
        .replace("llama3_1.lora_llama3_1_8b", "x.lora_x_9b");
    assert_ne!(text, LORA);
    let launch = launch(&text);
    let open = |key: &str| launch.open.iter().find(|open| open.key == key).map(|open| open.why.as_str());
    assert_eq!(open("plan.lora_rank"), Some("`rank` is not in this file"));
    assert_eq!(open("model.name"), Some("`x_9b` is not in the catalogue"));
    assert!(launch.origins.iter().all(|origin| origin.key != "plan.lora_rank"), "{:?}", launch.origins);
    assert!(!launch.has_model());
}
