//! Configurations with the sections of the second generation.

use crate::{Format, Launch, RemarkKind, detect, read};
use railwright_spec::run::Value;

const FILE: &str = "model: Qwen/Qwen3-4B\nmodel_class: llm\nkernel_config:\n  name: auto\nquant_config: null\n\
    dist_config:\n  name: fsdp2\n  dcp_path: null\ntrain_dataset: data/own.yaml\noutput_dir: out\nmicro_batch_size: 2\n\
    cutoff_len: 4096\nlearning_rate: 1.0e-4\nmax_steps: 10\n";

fn launch(text: &str) -> Launch {
    assert_eq!(detect(text).first().map(|seen| seen.format), Some(Format::HfTrainer), "{text}");
    read(text, "run.yaml").expect("a launch file").expect("no problems")
}

fn check(text: &str, expected: &[(&str, &str)]) -> Launch {
    let launch = launch(text);
    for (key, expected) in expected {
        let value = launch.spec.get(key).as_ref().map_or_else(|| "open".to_owned(), Value::to_toml);
        assert_eq!(&value, expected, "{key}: {:?}", launch.remarks);
    }
    launch
}

#[test]
fn all_parameters_under_fsdp_are_read() {
    let read = check(
        FILE,
        &[
            ("model.name", "\"qwen3-4b\""),
            ("plan.micro_batch", "2"),
            ("plan.micro_batches", "1"),
            ("plan.sequence_length", "4096"),
            ("plan.sharding", "\"fsdp\""),
            ("plan.recompute", "\"full\""),
            ("plan.optimizer", "\"adam\""),
            ("plan.precision.preset", "\"bf16\""),
            ("plan.precision.master", "\"none\""),
            ("plan.precision.gradient_reduce", "\"fp32\""),
            ("plan.context_parallel", "1"),
            ("cluster.devices", "open"),
        ],
    );
    assert!(read.partial.is_none());
    assert_eq!(read.remarks_of(RemarkKind::Unknown).count(), 0, "{:?}", read.remarks);
    let copies = FILE.to_owned() + "mp_replicate_size: 2\nmp_shard_size: 4\ncp_size: 2\nbf16: false\n";
    check(
        &copies,
        &[
            ("plan.sharding", "\"hsdp:4\""),
            ("cluster.devices", "8"),
            ("plan.context_parallel", "2"),
            ("plan.context_kind", "\"ulysses\""),
            ("plan.precision.preset", "\"fp32\""),
        ],
    );
    check(&(FILE.to_owned() + "mp_replicate_size: 2\n"), &[("plan.sharding", "open")]);
}

#[test]
fn adapters_and_frozen_layers_are_no_full_training() {
    let lora = FILE.replace(
        "quant_config: null\n",
        "peft_config:\n  name: lora\n  r: 16\n  lora_alpha: 32\n  target_modules: all\nquant_config:\n  name: bnb\n  \
            quantization_bit: 4\n",
    );
    let read = check(
        &lora,
        &[
            ("plan.optimizer", "\"lora\""),
            ("plan.lora_rank", "16"),
            ("plan.lora_targets", "[\"all-linear\"]"),
            ("plan.frozen_weights", "\"nf4\""),
        ],
    );
    assert_eq!(read.remarks_of(RemarkKind::Unknown).count(), 0, "{:?}", read.remarks);
    check(
        &lora.replace("  r: 16\n", "").replace(": all", ": [q_proj, v_proj]"),
        &[("plan.lora_rank", "8"), ("plan.lora_targets", "[\"q_proj\", \"v_proj\"]")],
    );
    let freeze =
        FILE.replace("quant_config: null\n", "peft_config:\n  name: freeze\n  freeze_trainable_layers: 2\n");
    check(&freeze, &[("plan.optimizer", "open")]);
}

#[test]
fn a_stage_in_another_file_is_open() {
    let stage =
        FILE.replace("  name: fsdp2\n  dcp_path: null\n", "  name: deepspeed\n  config_file: ds.json\n");
    check(
        &stage,
        &[
            ("plan.sharding", "open"),
            ("plan.software", "\"deepspeed-2024\""),
            ("plan.precision.master", "open"),
        ],
    );
    let other = FILE.replace("fsdp2", "own_engine");
    check(&other, &[("plan.sharding", "open")]);
    let experts = FILE.replace("  name: fsdp2\n", "  name: fsdpturbo\n  ep_size: 8\n");
    check(&experts, &[("plan.expert_parallel", "8"), ("plan.sharding", "\"fsdp\"")]);
    check(
        &FILE.replace("dist_config:\n  name: fsdp2\n  dcp_path: null\n", ""),
        &[("plan.sharding", "\"none\"")],
    );
}
