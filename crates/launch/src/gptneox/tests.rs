//! A configuration in the style of JSON.

use crate::{Format, RemarkKind, detect, read};
use railwright_spec::run::Value;

const TEXT: &str = "{\n  \"pipe-parallel-size\": 4,\n  \"model-parallel-size\": 2,\n\n  # model\n  \"num-layers\": 44,\n  \"hidden-size\": 6144,\n  \
    \"num-attention-heads\": 64,\n  \"seq-length\": 2048,\n  \"max-position-embeddings\": 2048,\n  \"pos-emb\": \"rotary\",\n  \
    \"no-weight-tying\": true,\n  \"gpt_j_residual\": true,\n  \"zero_optimization\": {\"stage\": 1, \"overlap_comm\": True},\n  \
    \"train_micro_batch_size_per_gpu\": 4,\n  \"gradient_accumulation_steps\": 32,\n  \"checkpoint-activations\": true,\n  \
    \"hidden-dropout\": 0,\n  \"fp16\": {\"enabled\": true},\n  \"lr-decay-iters\": 150000,\n}\n";

#[test]
fn gpt_neox_is_read() {
    let seen = detect(TEXT);
    let launch = match read(TEXT, "20B.yml") {
        Some(Ok(launch)) => launch,
        other => panic!("{other:?} {seen:?}"),
    };
    assert_eq!(launch.format, Format::GptNeox);
    for (key, expected) in [
        ("model.layers", "44"),
        ("model.hidden", "6144"),
        ("model.position", "\"rotary\""),
        ("model.tied", "false"),
        ("model.gated_mlp", "false"),
        ("plan.tensor_parallel", "2"),
        ("plan.pipeline_parallel", "4"),
        ("plan.micro_batch", "4"),
        ("plan.micro_batches", "32"),
        ("plan.sharding", "\"zero1\""),
        ("plan.recompute", "\"full\""),
        ("plan.precision.preset", "\"fp16\""),
        ("plan.dropout", "false"),
        ("plan.vocabulary_multiple", "128"),
    ] {
        let value = launch.spec.get(key).as_ref().map_or_else(|| "open".to_owned(), Value::to_toml);
        assert_eq!(value, expected, "{key}");
    }
    let lost: Vec<&str> = launch.remarks_of(RemarkKind::NotModelled).map(|r| r.source.as_str()).collect();
    assert!(lost.iter().any(|source| source.contains("gpt_j_residual")), "{lost:?}");
    assert_eq!(launch.remarks_of(RemarkKind::Unknown).count(), 0);
}
