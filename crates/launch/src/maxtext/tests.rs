//! MaxText's files and overrides.

use super::*;
use crate::{Remark, detect};
use railwright_spec::run::Value;

const CUSTOM: &str = include_str!("../../tests/fixtures/maxtext/custom.yml");

fn read(text: &str) -> Launch {
    MaxTextReader.read(text, "f").unwrap_or_else(|problems| panic!("{problems:?}"))
}

fn value(launch: &Launch, key: &str) -> String {
    launch.spec.get(key).as_ref().map_or_else(|| "open".to_owned(), Value::to_toml)
}

fn remarks(launch: &Launch, kind: RemarkKind) -> Vec<String> {
    launch.remarks_of(kind).map(|Remark { source, message, .. }| format!("{source}: {message}")).collect()
}

#[test]
fn a_decoder_of_ones_own() {
    let launch = read(CUSTOM);
    for (key, expected) in [
        ("model.layers", "32"),
        ("model.gated_mlp", "true"),
        ("model.experts", "open"),
        ("cluster.devices", "256"),
        ("plan.data_parallel", "128"),
        ("plan.tensor_parallel", "2"),
        ("plan.sharding", "\"hsdp:64\""),
        ("plan.micro_batch", "3"),
        ("plan.global_batch", "768"),
        ("plan.recompute", "\"full\""),
        ("plan.software", "\"maxtext-tpu\""),
        ("training.tokens", "6291456000.0"),
    ] {
        assert_eq!(value(&launch, key), expected, "{key}");
    }
    let model = launch.spec.model.resolve(|_| Err(Problem::new("no file"))).expect("a model");
    // The dimensions are those of Llama 3 8B.
    assert_eq!(model.parameters().total, 8_030_261_248);
    assert_eq!(remarks(&launch, RemarkKind::Unknown), Vec::<String>::new());
}

#[test]
fn overrides_with_a_model_by_name() {
    let text = "python3 train.py base.yml model_name=llama3-70b ici_fsdp_parallelism=-1 per_device_batch_size=2 \
                max_target_length=4096 remat_policy=custom hardware=gpu quantization=fp8";
    assert_eq!(detect(text).first().map(|s| s.format), Some(Format::MaxText));
    let launch = read(text);
    assert_eq!(value(&launch, "model.name"), "\"llama-3-70b\"");
    assert_eq!(value(&launch, "plan.sharding"), "\"fsdp\"");
    assert_eq!(value(&launch, "plan.data_parallel"), "open");
    assert_eq!(value(&launch, "plan.precision.preset"), "\"fp8\"");
    assert_eq!(value(&launch, "plan.software"), "\"maxtext-gpu-2024\"");
    // Replicas take the remaining devices: each has two sequences, for any number of replicas.
    assert_eq!(value(&launch, "plan.micro_batch"), "2");
    assert_eq!(value(&launch, "plan.micro_batches"), "1");
    assert_eq!(remarks(&launch, RemarkKind::Unresolved), Vec::<String>::new());
    // `custom` rematerialises all tensors that it does not place but the input of a layer.
    assert_eq!(value(&launch, "plan.recompute"), "\"full\"");
}

#[test]
fn a_custom_policy_places_each_tensor() {
    let read_with = |places: &str| {
        read(&format!(
            "python3 train.py base.yml model_name=llama3-70b ici_fsdp_parallelism=-1 per_device_batch_size=2 \
             max_target_length=4096 remat_policy=custom {places}"
        ))
    };
    let qkv = "query_proj=offload key_proj=offload value_proj=offload";
    for (places, recompute, offload, remark) in [
        ("decoder_layer_input=offload", "full", "1.0", None),
        (
            &format!("decoder_layer_input=offload {qkv} out_proj=offload"),
            "selective:core_attention,norm,mlp,moe",
            "1.0",
            None,
        ),
        (
            &format!("{qkv} out_proj=offload"),
            "selective:core_attention,norm,mlp,moe",
            "open",
            Some("on the device"),
        ),
        (
            "qkv_proj=device context=device out_proj=device mlpwi_0=device mlpwi_1=device",
            "selective:norm,activation",
            "open",
            None,
        ),
        ("query_proj=hbm", "open", "open", Some("recompute stays unset")),
        // A part of the projections is kept.
        (
            "query_proj=device out_proj=device",
            "selective:core_attention,norm,mlp,moe",
            "open",
            Some("only part of them"),
        ),
        // A layer's input cannot be rematerialised.
        ("decoder_layer_input=remat", "open", "open", Some("recompute stays unset")),
    ] {
        let launch = read_with(places);
        assert_eq!(value(&launch, "plan.recompute").trim_matches('"'), recompute, "{places}");
        assert_eq!(value(&launch, "plan.offload.activations"), offload, "{places}");
        let found = remarks(&launch, RemarkKind::NotModelled).join("; ");
        assert!(remark.is_none_or(|words| found.contains(words)), "{places}: {found}");
        assert_eq!(found.is_empty(), remark.is_none(), "{places}: {found}");
        assert_eq!(remarks(&launch, RemarkKind::Unknown), Vec::<String>::new(), "{places}");
    }
}

/// The presets that offload leave the layers' inputs on the device, so the share in host memory depends on
/// the model.
#[test]
fn named_policies_are_those_of_maxtext() {
    for (policy, recompute, remark) in [
        ("minimal", "selective:core_attention,norm,activation", None),
        ("minimal_with_context", "selective:norm,activation", None),
        ("save_dot_except_mlp", "selective:core_attention,norm,mlp,moe", None),
        ("save_out_proj", "full", Some("recomputed")),
        ("minimal_offloaded", "selective:core_attention,norm,activation", Some("on the device")),
        ("qkv_proj_offloaded", "selective:core_attention,norm,mlp,moe", Some("on the device")),
        ("everything", "open", Some("recompute stays unset")),
    ] {
        // Places of tensors have an effect with `custom` alone.
        let launch = read(&format!(
            "python3 train.py base.yml model_name=llama3-70b ici_fsdp_parallelism=-1 per_device_batch_size=2 \
             max_target_length=4096 remat_policy={policy} decoder_layer_input=offload mlpwo=remat"
        ));
        assert_eq!(value(&launch, "plan.recompute").trim_matches('"'), recompute, "{policy}");
        assert_eq!(value(&launch, "plan.offload.activations"), "open", "{policy}");
        let found = remarks(&launch, RemarkKind::NotModelled).join("; ");
        assert!(remark.is_none_or(|words| found.contains(words)), "{policy}: {found}");
        assert_eq!(found.is_empty(), remark.is_none(), "{policy}: {found}");
        assert_eq!(remarks(&launch, RemarkKind::Unknown), Vec::<String>::new(), "{policy}");
        let ignored = remarks(&launch, RemarkKind::Ignored).join("; ");
        assert!(ignored.contains("only with `remat_policy: custom`"), "{policy}: {ignored}");
    }
}

#[test]
fn contradictions_are_refused_where_they_stand() {
    for (change, expected) in [
        (
            ("per_device_batch_size: 1.5", "per_device_batch_size: 0.3"),
            "f:21:24 `per_device_batch_size`: 0.3 sequences",
        ),
        (
            ("ici_tensor_parallelism: 2", "ici_tensor_parallelism: 0"),
            "expected -1 for the rest, or a number of 1 or more, found 0",
        ),
        (("dtype: bfloat16\nw", "dtype: half\nw"), "expected `bfloat16` or `float32`, found `half`"),
        (("base_emb_dim: 4096", "base_emb_dim: wide"), "expected a whole number, found the text `wide`"),
    ] {
        let text = CUSTOM.replace(change.0, change.1);
        let problems = MaxTextReader.read(&text, "f").expect_err("a mistake");
        let all: Vec<String> = problems.iter().map(ToString::to_string).collect();
        assert!(all.iter().any(|p| p.contains(expected)), "{all:?}\n{expected}");
    }
}

#[test]
fn a_scale_multiplies_dimensions_by_powers_of_two() {
    let launch = read(&CUSTOM.replace("parameter_scale: 1", "parameter_scale: 4"));
    assert_eq!(value(&launch, "model.hidden"), "8192");
    assert_eq!(value(&launch, "model.layers"), "32");
    let problems = MaxTextReader
        .read(&CUSTOM.replace("parameter_scale: 1", "parameter_scale: 3"), "f")
        .expect_err("no power of two");
    assert!(problems[0].to_string().contains("expected a power of two, found 3"), "{problems:?}");
    let alone = read("global_parameter_scale: 4\nper_device_batch_size: 1\nmax_target_length: 2048\n");
    assert_eq!(value(&alone, "model.hidden"), "open");
    let open = remarks(&alone, RemarkKind::Unresolved);
    assert!(open.iter().any(|text| text.contains("so the model is unknown")), "{open:?}");
}

#[test]
fn maxtext_is_recognised_once() {
    let seen = detect(CUSTOM);
    assert_eq!(seen.iter().map(|s| s.format).collect::<Vec<_>>(), [Format::MaxText]);
}

/// By default the base file shards over the remaining devices (`ici_fsdp_parallelism: -1`), gathers keys and
/// values, and has a batch per device. A replica has several of these.
#[test]
fn values_of_the_base_file_hold() {
    let launch = read(
        "base_config: base.yml\nmodel_name: llama3.1-405b\nper_device_batch_size: 1.0\nmax_target_length: 4096\n",
    );
    for (key, expected) in [
        ("cluster.devices", "open"),
        ("plan.sharding", "\"fsdp\""),
        ("plan.micro_batch", "1"),
        ("plan.global_batch", "open"),
    ] {
        assert_eq!(value(&launch, key), expected, "{key}");
    }
    let launch = read(
        "per_device_batch_size: 0.5\nici_tensor_parallelism: 4\nici_context_parallelism: 2\nmax_target_length: 4096\n",
    );
    for (key, expected) in
        [("plan.micro_batch", "4"), ("plan.micro_batches", "1"), ("plan.context_kind", "\"all_gather\"")]
    {
        assert_eq!(value(&launch, key), expected, "{key}");
    }
    let contiguous = read(
        "per_device_batch_size: 1\nici_context_parallelism: 2\nmax_target_length: 4096\ncontext_parallel_load_balance: false\n",
    );
    assert_eq!(value(&contiguous, "plan.software"), "\"maxtext-tpu+contiguous-context\"");
    let whole = read("per_device_batch_size: 0.25\nici_tensor_parallelism: 2\nmax_target_length: 4096\n");
    assert!(
        remarks(&whole, RemarkKind::Unresolved).iter().any(|source| source.contains("do not divide into"))
    );
}

#[test]
fn names_of_models_are_the_catalogues() {
    for (maxtext, known) in model::NAMES {
        let launch = read(&format!("model_name: {maxtext}\nmax_target_length: 4096\n"));
        assert_eq!(value(&launch, "model.name"), format!("\"{known}\""), "{maxtext}");
        let known = railwright_spec::model::by_name(known).expect("a model of the catalogue");
        assert!(model::name(&known).is_some(), "{maxtext}");
    }
}
