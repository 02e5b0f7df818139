//! DeepSpeed's files, good and bad.

use super::*;
use crate::testing::{round_trip, run};
use crate::{Remark, Writer, detect};
use proptest::prelude::*;
use railwright_spec::run::Value;

fn read(text: &str) -> Launch {
    DeepspeedReader.read(text, "f").unwrap_or_else(|problems| panic!("{problems:?}"))
}

fn refused(text: &str) -> String {
    let problems = DeepspeedReader.read(text, "f").expect_err("a mistake");
    problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

fn value(launch: &Launch, key: &str) -> String {
    launch.spec.get(key).as_ref().map_or_else(|| "open".to_owned(), Value::to_toml)
}

fn remarks(launch: &Launch, kind: RemarkKind) -> Vec<String> {
    launch.remarks_of(kind).map(|Remark { source, message, .. }| format!("{source}: {message}")).collect()
}

const ZERO3: &str = include_str!("../../tests/fixtures/deepspeed/zero3_offload.json");
const AUTO: &str = include_str!("../../tests/fixtures/deepspeed/auto.json");

#[test]
fn stage_3_with_offload_is_read() {
    let launch = read(ZERO3);
    for (key, expected) in [
        ("plan.sharding", "\"fsdp\""),
        ("plan.offload.optimizer", "0.5"),
        ("plan.offload.parameters", "1.0"),
        ("plan.micro_batch", "4"),
        ("plan.global_batch", "256"),
        ("plan.data_parallel", "16"),
        ("cluster.devices", "32"),
        ("plan.tensor_parallel", "2"),
        ("plan.sequence_parallel", "false"),
        ("plan.precision.preset", "\"bf16\""),
        ("plan.precision.gradients", "\"bf16\""),
        ("plan.precision.gradient_reduce", "\"fp32\""),
        ("plan.overlap.gradient_reduce", "true"),
        ("plan.overlap.parameter_gather", "true"),
        ("plan.optimizer", "\"adam\""),
        ("plan.software", "\"deepspeed-2024\""),
        ("plan.recompute", "open"),
        ("model.name", "open"),
    ] {
        assert_eq!(value(&launch, key), expected, "{key}");
    }
    let origin = launch.origins.iter().find(|o| o.key == "plan.offload.optimizer").expect("an origin");
    assert_eq!(
        (origin.source.as_str(), origin.line),
        ("zero_optimization.offload_optimizer.ratio = 0.5", Some(17))
    );
    assert_eq!(remarks(&launch, RemarkKind::Unknown), Vec::<String>::new());
    assert!(remarks(&launch, RemarkKind::NotModelled)[0].contains("gathered in 16 bits"));
    assert_eq!(
        remarks(&launch, RemarkKind::Unresolved),
        ["DeepSpeed: this file does not set the model, the sequence length \
          (`--sequence-length`) or recompute (`--recompute`)"]
    );
}

#[test]
fn auto_leaves_things_open() {
    let launch = read(AUTO);
    for key in [
        "plan.micro_batch",
        "plan.global_batch",
        "plan.micro_batches",
        "plan.precision.preset",
        "plan.data_parallel",
    ] {
        assert_eq!(value(&launch, key), "open", "{key}");
    }
    assert_eq!(value(&launch, "plan.sharding"), "\"zero2\"");
    assert_eq!(value(&launch, "plan.overlap.gradient_reduce"), "false");
    let open = remarks(&launch, RemarkKind::Unresolved);
    let open = open.into_iter().filter(|source| source.starts_with("DeepSpeed")).collect::<Vec<_>>();
    assert!(open[0].contains("the micro-batch (`--micro-batch`), the batch (`--global-batch`)"), "{open:?}");
    assert!(open[0].contains("the number of devices (`--gpus`)"), "{open:?}");
}

#[test]
fn stage_3_goes_in_groups_with_mics_and_with_hpz() {
    let with = |keys: &str| read(&format!("{{\"zero_optimization\": {{\"stage\": 3, {keys}}}}}"));
    assert_eq!(value(&with("\"mics_shard_size\": 8"), "plan.sharding"), "\"hsdp:8\"");
    let hpz = with("\"zero_hpz_partition_size\": 8, \"zero_quantized_gradients\": true");
    assert_eq!(value(&hpz, "plan.sharding"), "\"hsdp:8\"");
    assert_eq!(remarks(&hpz, RemarkKind::NotModelled).len(), 2);
    assert_eq!(value(&with("\"mics_shard_size\": -1"), "plan.sharding"), "\"fsdp\"");
    let wrong = read("{\"zero_optimization\": {\"stage\": 2, \"zero_hpz_partition_size\": 8}}");
    assert!(remarks(&wrong, RemarkKind::Conflict)[0].contains("only with stage 3"));
}

#[test]
fn contradictions_are_refused_where_they_stand() {
    for (text, expected) in [
        (
            "{\"train_batch_size\": 100,\n \"train_micro_batch_size_per_gpu\": 3, \"gradient_accumulation_steps\": 4}",
            "f:1:2 `train_batch_size`: a batch of 100 is not a multiple of micro-batch 3 x accumulation 4 = 12, \
             for any number of ranks",
        ),
        ("{\"zero_optimization\": {\"stage\": 4}}", "expected a stage from 0 to 3, found 4"),
        (
            "{\"zero_optimization\": {\"stage\": \"three\"}}",
            "expected a whole number, found the text `three`",
        ),
        (
            "{\"bf16\": {\"enabled\": true}, \"fp16\": {\"enabled\": true}}",
            "`bf16` and `fp16` are both enabled",
        ),
        (
            "{\"zero_optimization\": {\"stage\": 3, \"offload_param\": {\"device\": \"gpu\"}}}",
            "expected `none`, `cpu` or `nvme`",
        ),
        ("{\"train_micro_batch_size_per_gpu\": 0}", "expected a number of 1 or more, found 0"),
        ("{\"train_micro_batch_size_per_gpu\": -2}", "expected a whole number, 0 or more, found -2"),
        ("{\"bf16\": {\"enabled\": 3}}", "expected `true` or `false`, found 3"),
        ("{\"zero_optimization\": {", "EOF while parsing"),
        ("{\"bf16\": {\"enabled\": true}, \"data_types\": {\"grad_accum_dtype\": \"fp7\"}}", "found `fp7`"),
    ] {
        let problems = refused(text);
        assert!(problems.contains(expected), "{problems}\n{expected}");
    }
}

#[test]
fn numbers_may_be_floats_and_typos_are_reported() {
    let launch = read(
        "{\"train_micro_batch_size_per_gpu\": 4e0, \"zero_optimisation\": {\"stage\": 3}, \"grad_clipping\": 1, \
                       \"zero_optimization\": {\"stage\": 0, \"offload_optimizer\": {\"device\": \"cpu\"}, \"reduce_bucket_size\": 5e8}}",
    );
    assert_eq!(value(&launch, "plan.micro_batch"), "4");
    assert_eq!(value(&launch, "plan.offload.optimizer"), "open");
    assert!(remarks(&launch, RemarkKind::Conflict)[0].contains("from stage 1 on"));
    let unknown = remarks(&launch, RemarkKind::Unknown);
    assert!(unknown.iter().any(|u| u.contains("did you mean `zero_optimization.stage`?")), "{unknown:?}");
    assert!(unknown.iter().any(|u| u.contains("did you mean `gradient_clipping`?")), "{unknown:?}");
}

#[test]
fn deepspeed_is_recognised() {
    for text in [ZERO3, AUTO] {
        assert_eq!(detect(text).first().map(|s| s.format), Some(Format::Deepspeed));
    }
    assert!(detect("{\"model_type\": \"llama\"}").iter().all(|s| s.format != Format::Deepspeed));
}

#[test]
fn eight_bits_are_written_as_sixteen() {
    let written = |settings: &[&str]| {
        let mut spec = railwright_spec::run::RunSpec::default();
        for setting in settings.iter().chain(&[
            "model.name=llama-3.1-8b",
            "cluster.preset=dgx-h100",
            "cluster.devices=8",
        ]) {
            spec.set(setting).expect("a setting");
        }
        DeepspeedWriter.write(&spec.resolve(|_| Err(Problem::new("no file"))).expect("a run"))
    };
    let eight: &[&[&str]] = &[
        &["plan.precision.preset=fp8"],
        &["plan.precision.preset=mxfp8"],
        &["plan.precision.preset=fp8", "plan.precision.parameters=fp8"],
    ];
    for settings in eight {
        let out = written(settings);
        assert_eq!(value(&read(&out.files[0].text), "plan.precision.preset"), "\"bf16\"", "{settings:?}");
        let compute =
            out.not_expressed.iter().find(|lost| lost.key == "plan.precision.compute").expect("lost");
        assert!(compute.message.contains("`bf16` applies instead of"), "{}", compute.message);
    }
    let narrow = written(&["plan.precision.preset=fp8", "plan.precision.parameters=fp8"]);
    let parameters =
        narrow.not_expressed.iter().find(|l| l.key == "plan.precision.parameters").expect("lost");
    assert!(parameters.message.contains("`bf16` applies instead of `fp8`"), "{}", parameters.message);
    for (preset, expected) in [("fp32", "fp32"), ("tf32", "fp32"), ("fp16", "fp16"), ("bf16", "bf16")] {
        let setting = format!("plan.precision.preset={preset}");
        let back = read(&written(&[&setting]).files[0].text);
        assert_eq!(value(&back, "plan.precision.preset"), format!("\"{expected}\""));
    }
}

proptest! {
    #![proptest_config(railwright_cases::cases(128))]

    #[test]
    fn what_is_written_reads_back(run in run(crate::testing::MODELS, &[])) {
        prop_assert_eq!(round_trip(&DeepspeedWriter, &run), Ok(()));
        let lost = DeepspeedWriter.write(&run).not_expressed;
        for never in ["micro_batch", "global_batch", "tensor_parallel", "context_parallel", "pipeline_parallel", "data_parallel",
                      "precision.gradients", "precision.gradient_reduce", "uneven_stages"] {
            prop_assert!(!lost.iter().any(|l| l.key == format!("plan.{never}")), "{:?}", lost);
        }
        if run.plan.expert_parallel == 1 {
            prop_assert!(!lost.iter().any(|l| l.key == "plan.overlap.gradient_reduce"), "{:?}", lost);
        }
        let sharding = run.plan.sharding;
        if run.plan.expert_parallel == 1 && (sharding.zero_stage < 3 || sharding.reshard_after_forward) {
            prop_assert!(!lost.iter().any(|l| l.key == "plan.sharding"), "{:?}", lost);
        }
    }
}
