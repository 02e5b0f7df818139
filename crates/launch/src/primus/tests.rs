//! A pre-training of Primus.

use crate::{Format, RemarkKind, read};
use railwright_spec::run::Value;

const TEXT: &str = "work_group: ${PRIMUS_TEAM:amd}\nmodules:\n  pre_trainer:\n    framework: megatron\n    config: pre_trainer.yaml\n    \
    model: llama3.1_70B.yaml\n    overrides:\n      train_iters: 50\n      micro_batch_size: ${MBS:3}\n      global_batch_size: 24\n      \
    seq_length: 8192\n      tensor_model_parallel_size: 1\n      use_torch_fsdp2: true\n      recompute_granularity: full\n      \
    recompute_method: block\n      recompute_num_layers: 80\n      lora:\n        enabled: true\n      enable_primus_turbo: true\n";

#[test]
fn primus_is_read() {
    let launch = match read(TEXT, "f.yaml") {
        Some(Ok(launch)) => launch,
        other => panic!("{other:?}"),
    };
    assert_eq!(launch.format, Format::Primus);
    for (key, expected) in [
        ("model.name", "\"llama-3-70b\""),
        ("plan.micro_batch", "3"),
        ("plan.global_batch", "24"),
        ("plan.sequence_length", "8192"),
        ("plan.tensor_parallel", "1"),
        ("plan.pipeline_parallel", "open"),
        ("plan.optimizer", "\"lora\""),
        ("plan.precision.preset", "open"),
    ] {
        let value = launch.spec.get(key).as_ref().map_or_else(|| "open".to_owned(), Value::to_toml);
        assert_eq!(value, expected, "{key}");
    }
    let assumed: Vec<&str> = launch.remarks_of(RemarkKind::Assumed).map(|r| r.message.as_str()).collect();
    assert!(
        assumed.iter().any(|m| m.contains("the environment variable `MBS` is assumed unset")),
        "{assumed:?}"
    );
    assert!(launch.remarks_of(RemarkKind::Unknown).any(|r| r.source.contains("enable_primus_turbo")));
}
