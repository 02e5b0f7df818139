//! accelerate's files of every kind.

use super::*;
use crate::{Remark, detect};
use railwright_spec::run::Value;

const MESH: &str = include_str!("../../tests/fixtures/accelerate/fsdp2_mesh.yaml");
const HYBRID: &str = include_str!("../../tests/fixtures/accelerate/fsdp1_hybrid.yaml");
const DEEPSPEED: &str = include_str!("../../tests/fixtures/accelerate/deepspeed.yaml");
const MEGATRON: &str = include_str!("../../tests/fixtures/accelerate/megatron.yaml");

fn read(text: &str) -> Launch {
    AccelerateReader.read(text, "f").unwrap_or_else(|problems| panic!("{problems:?}"))
}

fn refused(text: &str) -> String {
    let problems = AccelerateReader.read(text, "f").expect_err("a mistake");
    problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

fn remarks(launch: &Launch, kind: RemarkKind) -> Vec<String> {
    launch.remarks_of(kind).map(|Remark { source, message, .. }| format!("{source}: {message}")).collect()
}

fn expect(text: &str, expected: &[(&str, &str)]) -> Launch {
    let launch = read(text);
    for (key, expected) in expected {
        let value = launch.spec.get(key).as_ref().map_or_else(|| "open".to_owned(), Value::to_toml);
        assert_eq!(value, *expected, "{key}");
    }
    assert_eq!(remarks(&launch, RemarkKind::Unknown), Vec::<String>::new());
    launch
}

#[test]
fn fsdp_2_on_a_mesh() {
    let launch = expect(
        MESH,
        &[
            ("cluster.devices", "16"),
            ("cluster.devices_per_node", "8"),
            ("plan.data_parallel", "4"),
            ("plan.tensor_parallel", "2"),
            ("plan.sequence_parallel", "false"),
            ("plan.context_parallel", "2"),
            ("plan.context_kind", "\"ring\""),
            ("plan.sharding", "\"hsdp:4\""),
            ("plan.recompute", "\"full\""),
            ("plan.precision.preset", "\"bf16\""),
            ("plan.precision.gradient_reduce", "\"bf16\""),
            ("plan.software", "\"torchtitan-2024-eager\""),
            ("plan.offload.parameters", "open"),
        ],
    );
    assert_eq!(
        remarks(&launch, RemarkKind::Unresolved),
        ["accelerate: this file does not set the model, the sequence length \
          (`--sequence-length`), the micro-batch (`--micro-batch`) or the batch (`--global-batch`)"]
    );
}

#[test]
fn what_is_not_in_the_file_has_no_source() {
    let text = "distributed_type: FSDP\nparallelism_config:\n  parallelism_config_dp_shard_size: 8\n";
    let launch = read(text);
    for (key, why) in [
        ("plan.context_parallel", "accelerate uses no context parallelism by default"),
        ("plan.tensor_parallel", "accelerate uses no tensor parallelism by default"),
    ] {
        let origin = launch.origins.iter().find(|origin| origin.key == key).expect("an origin");
        assert_eq!((origin.source.as_str(), origin.line, origin.value.as_str()), (why, None, "1"));
    }
    let turned = read(&format!("{text}  parallelism_config_sp_size: 4\n"));
    let origin = turned.origins.iter().find(|o| o.key == "plan.context_parallel").expect("an origin");
    assert_eq!(origin.source, "parallelism_config.parallelism_config_sp_size = 4");
}

#[test]
fn fsdp_1_hybrid_with_the_trainers_arguments() {
    let launch = expect(
        HYBRID,
        &[
            ("model.name", "\"llama-3-8b\""),
            ("plan.sharding", "\"hsdp:8\""),
            ("plan.offload.parameters", "1.0"),
            ("plan.offload.optimizer", "1.0"),
            ("plan.micro_batch", "2"),
            ("plan.micro_batches", "8"),
            ("plan.sequence_length", "4096"),
            ("plan.recompute", "\"full\""),
            ("plan.optimizer", "\"adam\""),
            ("plan.software", "\"fsdp1-2023\""),
        ],
    );
    assert_eq!(remarks(&launch, RemarkKind::Unresolved), Vec::<String>::new());
}

#[test]
fn strategies_by_name_and_number() {
    for (strategy, sharding) in [
        ("FULL_SHARD", "\"fsdp\""),
        ("1", "\"fsdp\""),
        ("SHARD_GRAD_OP", "\"fsdp-no-reshard\""),
        ("2", "\"fsdp-no-reshard\""),
        ("NO_SHARD", "\"none\""),
        ("4", "\"hsdp:8\""),
        ("HYBRID_SHARD_ZERO2", "\"fsdp-no-reshard:8\""),
    ] {
        expect(&HYBRID.replace("HYBRID_SHARD", strategy), &[("plan.sharding", sharding)]);
    }
    expect(&MESH.replace("forward: true", "forward: false"), &[("plan.sharding", "\"fsdp-no-reshard:4\"")]);
}

#[test]
fn deepspeed_inside() {
    let launch = expect(
        DEEPSPEED,
        &[
            ("cluster.devices", "8"),
            ("plan.sharding", "\"fsdp\""),
            ("plan.offload.optimizer", "1.0"),
            ("plan.offload.parameters", "open"),
            ("plan.micro_batches", "4"),
            ("plan.precision.preset", "\"bf16\""),
            ("plan.precision.gradients", "\"bf16\""),
            ("plan.software", "\"deepspeed-2024\""),
        ],
    );
    let origin = launch.origins.iter().find(|o| o.key == "plan.sharding").expect("an origin");
    assert_eq!((origin.source.as_str(), origin.line), ("deepspeed_config.zero_stage = 3", Some(8)));
    let elsewhere = read(
        "distributed_type: DEEPSPEED\ndeepspeed_config:\n  deepspeed_config_file: ds.json\nnum_processes: 8\n",
    );
    assert!(remarks(&elsewhere, RemarkKind::Unresolved).iter().any(|u| u.contains("pass `ds.json`")));
}

#[test]
fn megatron_inside_and_plain_replicas() {
    expect(
        MEGATRON,
        &[
            ("plan.tensor_parallel", "4"),
            ("plan.pipeline_parallel", "2"),
            ("plan.sequence_parallel", "true"),
            ("plan.micro_batches", "16"),
            ("plan.recompute", "\"selective:core_attention\""),
            ("plan.sharding", "\"zero1\""),
            ("cluster.devices_per_node", "8"),
            ("plan.software", "\"megatron-core-2024\""),
        ],
    );
    expect(
        "distributed_type: MULTI_GPU\nnum_processes: 4\nmixed_precision: fp16\n",
        &[("plan.sharding", "\"none\""), ("cluster.devices", "4"), ("plan.precision.preset", "\"fp16\"")],
    );
}

#[test]
fn contradictions_are_refused_where_they_stand() {
    for (text, expected) in [
        (
            MESH.replace("dp_shard_size: 2", "dp_shard_size: 3"),
            "f:21:37 `parallelism_config.parallelism_config_dp_shard_size`: replicas 2 x shards 3 x tensor 2 x context 2 x sequence 1 = 24 ranks, but `num_processes` is 16",
        ),
        (MESH.replace("fsdp_version: 2", "fsdp_version: 3"), "expected 1 or 2, found 3"),
        (MESH.replace("type: FSDP", "type: FSPD"), "f:3:19 `distributed_type`: unknown kind `FSPD`"),
        (HYBRID.replace("HYBRID_SHARD", "SHARD"), "found `SHARD`"),
        (
            HYBRID.replace("num_machines: 4", "num_machines: 5"),
            "32 processes cannot be divided among 5 machines",
        ),
        (
            MESH.replace("precision: bf16", "precision: bf8"),
            "expected `no`, `bf16`, `fp16` or `fp8`, found `bf8`",
        ),
        ("distributed_type: FSDP\n\tx: 1\n".to_owned(), "f:1:19: while scanning a plain scalar, found a tab"),
    ] {
        let problems = refused(&text);
        assert!(problems.contains(expected), "{problems}\n{expected}");
    }
}

#[test]
fn accelerate_is_recognised() {
    for text in [MESH, HYBRID, DEEPSPEED, MEGATRON] {
        assert_eq!(detect(text).first().map(|s| s.format), Some(Format::Accelerate));
    }
}

/// ALST: DeepSpeed shards, and two ranks share each sequence (the configuration of TRL for four GPUs, in own
/// words).
#[test]
fn deepspeed_with_ranks_that_share_sequences() {
    let text = "distributed_type: DEEPSPEED\nnum_processes: 4\nmixed_precision: bf16\ndeepspeed_config:\n  zero_stage: 3\n\
                parallelism_config:\n  parallelism_config_dp_shard_size: 2\n  parallelism_config_sp_size: 2\n  parallelism_config_sp_backend: deepspeed\n";
    expect(
        text,
        &[
            ("cluster.devices", "4"),
            ("plan.data_parallel", "2"),
            ("plan.context_parallel", "2"),
            ("plan.context_kind", "\"ulysses\""),
            ("plan.pipeline_parallel", "1"),
            ("plan.sharding", "\"fsdp\""),
        ],
    );
}
