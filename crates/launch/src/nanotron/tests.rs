//! nanotron's files, good and bad.

use super::*;
use crate::testing::{round_trip, run};
use crate::{Remark, Writer, detect};
use proptest::prelude::*;
use railwright_spec::run::Value;

fn read(text: &str) -> Launch {
    NanotronReader.read(text, "f").unwrap_or_else(|problems| panic!("{problems:?}"))
}

fn refused(text: &str) -> String {
    let problems = NanotronReader.read(text, "f").expect_err("a mistake");
    problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

fn value(launch: &Launch, key: &str) -> String {
    launch.spec.get(key).as_ref().map_or_else(|| "open".to_owned(), Value::to_toml)
}

fn remarks(launch: &Launch, kind: RemarkKind) -> Vec<String> {
    launch.remarks_of(kind).map(|Remark { source, message, .. }| format!("{source}: {message}")).collect()
}

const LLAMA: &str = include_str!("../../tests/fixtures/nanotron/llama.yaml");
const EXPERTS: &str = include_str!("../../tests/fixtures/nanotron/qwen_moe.yaml");

/// Arcana-2236/nanotron `config_llama_350m_mudam.yaml`: a mode of an optimizer may hold more states.
#[test]
fn unknown_settings_of_an_optimizer_are_listed() {
    let text = LLAMA.replace("    name: adamW\n", "    name: muon\n    muon_mode: adam_preconditioned\n");
    assert_ne!(text, LLAMA);
    assert!(remarks(&read(&text), RemarkKind::Unknown).iter().any(|remark| remark.contains("muon_mode")));
}

#[test]
fn a_llama_is_read() {
    let launch = read(LLAMA);
    for (key, expected) in [
        ("model.layers", "28"),
        ("model.hidden", "3072"),
        ("model.tied", "true"),
        ("cluster.devices", "64"),
        ("plan.data_parallel", "16"),
        ("plan.tensor_parallel", "2"),
        ("plan.pipeline_parallel", "2"),
        ("plan.sequence_parallel", "true"),
        ("plan.schedule", "\"1f1b\""),
        ("plan.sharding", "\"zero1\""),
        ("plan.recompute", "\"none\""),
        ("plan.micro_batch", "2"),
        ("plan.micro_batches", "8"),
        ("plan.overlap.tensor", "true"),
        ("plan.precision.gradients", "\"fp32\""),
        ("plan.vocabulary_multiple", "1"),
        ("plan.software", "\"nanotron-2024\""),
        ("training.tokens", "104857600000.0"),
    ] {
        assert_eq!(value(&launch, key), expected, "{key}");
    }
    let origin = launch.origins.iter().find(|o| o.key == "plan.tensor_parallel").expect("an origin");
    assert_eq!((origin.source.as_str(), origin.line), ("parallelism.tp = 2", Some(63)));
    assert_eq!(remarks(&launch, RemarkKind::Unknown), Vec::<String>::new());
    assert!(remarks(&launch, RemarkKind::Conflict)[0].contains("sequences of 16384"));
    // 28 layers of 4 x 3072^2 + 3 x 3072 x 8192 + 2 x 3072, a tied embedding of 131072 x 3072, a final norm.
    let model = launch.spec.model.resolve(|_| Err(Problem::new("no file"))).expect("a model");
    assert_eq!(
        model.parameters().total,
        28 * (4 * 3072 * 3072 + 3 * 3072 * 8192 + 2 * 3072) + 131_072 * 3072 + 3072
    );
}

#[test]
fn experts_are_read() {
    let launch = read(EXPERTS);
    for (key, expected) in [
        ("model.experts", "64"),
        ("model.shared_ffn", "1536"),
        ("model.moe_every", "2"),
        ("model.first_dense_layers", "0"),
        ("plan.rank_order", "\"tp-cp-pp-ep-dp\""),
        ("plan.expert_parallel", "8"),
        ("plan.expert_tensor_parallel", "1"),
        ("plan.recompute", "\"selective:moe\""),
        ("plan.schedule", "\"gpipe\""),
        ("plan.sequence_parallel", "false"),
        ("plan.precision.gradients", "\"bf16\""),
        ("plan.precision.master", "\"none\""),
        ("cluster.devices", "32"),
    ] {
        assert_eq!(value(&launch, key), expected, "{key}");
    }
    let model = launch.spec.model.resolve(|_| Err(Problem::new("no file"))).expect("a model");
    assert!(!matches!(model.layer(0).feed_forward, railwright_spec::model::FeedForward::MixtureOfExperts(_)));
    assert!(matches!(model.layer(1).feed_forward, railwright_spec::model::FeedForward::MixtureOfExperts(_)));
}

#[test]
fn contradictions_are_refused_where_they_stand() {
    for (change, expected) in [
        (("zero_stage: 1", "zero_stage: 3"), "f:56:15 `optimizer.zero_stage`: expected 0 or 1, found 3"),
        (("pp_engine: 1f1b", "pp_engine: 1f1c"), "expected `1f1b` or `afab`, found `1f1c`"),
        (
            ("tp_mode: REDUCE_SCATTER", "tp_mode: SUM"),
            "expected `REDUCE_SCATTER` or `ALL_REDUCE`, found `sum`",
        ),
        (("tp: 2", "tp: two"), "expected a whole number, 0 or more, found the text `two`"),
        (("expert_parallel_size: 1", "expert_parallel_size: 3"), "is not a multiple of 3"),
        (("dtype: bfloat16", "dtype: int8"), "found `int8`"),
        (("tokens:\n", "token:\n"), "the section `tokens` is missing"),
        (("general:", "general: [1, 2"), "f:"),
    ] {
        let text = LLAMA.replace(change.0, change.1);
        assert_ne!(text, LLAMA, "{change:?}");
        let problems = refused(&text);
        assert!(problems.contains(expected), "{problems}\n{expected}");
    }
    let irregular = EXPERTS.replace("layers: [1, 3,", "layers: [1, 2, 3,");
    assert!(refused(&irregular).contains("irregular expert layers are not supported here"));
    let copies = EXPERTS.replace("expert_data_parallel_size: 2", "expert_data_parallel_size: 4");
    assert!(refused(&copies).contains("differs from the 32 ranks of the other dimensions"));
}

#[test]
fn typos_are_reported() {
    let launch = read(&LLAMA.replace("recompute_layer: false", "recompute_layers: true"));
    assert!(remarks(&launch, RemarkKind::Unknown)[0].contains("did you mean `parallelism.recompute_layer`?"));
}

#[test]
fn experts_without_the_switch_are_no_experts() {
    let text = EXPERTS.replace("enabled_moe: true", "enabled_moe: false");
    assert_ne!(text, EXPERTS);
    assert_eq!(value(&read(&text), "plan.expert_parallel"), "8");
    let reported_for = |text: &str| {
        remarks(&read(text), RemarkKind::Conflict)
            .iter()
            .any(|source| source.contains("only with `enabled_moe: true`"))
    };
    assert!(reported_for(&text));
    assert!(reported_for(&EXPERTS.replace("  enabled_moe: true\n", "")));
    assert!(!reported_for(EXPERTS));
}

fn written(settings: &[&str]) -> crate::Written {
    let mut spec = railwright_spec::run::RunSpec::default();
    for setting in settings.iter().chain(&["cluster.preset=dgx-h100"]) {
        spec.set(setting).expect("a setting");
    }
    NanotronWriter.write(&spec.resolve(|_| Err(Problem::new("no file"))).expect("a run"))
}

#[test]
fn experts_are_written_where_they_are_not_spread() {
    let out = written(&["model.name=mixtral-8x7b", "cluster.devices=16", "plan.expert_parallel=8"]);
    assert!(
        out.files.is_empty() && out.refused[0].message.contains("nanotron multiplies the expert size with all others (world = ep x pp x dp x cp x tp), so expert groups of data-parallel ranks are not expressible"),
        "{:?}",
        out.refused
    );
    let out = written(&["model.name=mixtral-8x7b", "cluster.devices=16", "plan.expert_parallel=1"]);
    let text = &out.files[0].text;
    assert!(text.contains("layers: [0, 1, 2, ") && !text.contains("enabled_moe"), "{text}");
}

/// The file holds no nodes: a node of a different size than the preset's is a warning.
#[test]
fn devices_of_a_node_are_not_lost_in_silence() {
    let plan = ["model.name=llama-2-7b", "cluster.devices=16"];
    let is_lost =
        |out: &crate::Written| out.not_expressed.iter().any(|lost| lost.key == "cluster.devices_per_node");
    assert!(!is_lost(&written(&plan)));
    assert!(is_lost(&written(&[plan[0], plan[1], "cluster.devices_per_node=4"])));
}

#[test]
fn master_weights_in_32_bits_are_written() {
    let plan = ["model.name=llama-2-7b", "cluster.devices=8", "plan.precision.preset=bf16"];
    let out = written(&[plan[0], plan[1], plan[2], "plan.precision.gradients=bf16"]);
    assert!(out.files[0].text.contains("accumulate_grad_in_fp32: true"), "{}", out.files[0].text);
    assert!(out.not_expressed.iter().any(|lost| lost.key == "plan.precision.gradients"));
}

#[test]
fn layers_that_do_not_divide_are_divided_by_work() {
    let text = LLAMA.replace("num_hidden_layers: 28", "num_hidden_layers: 27");
    assert_ne!(text, LLAMA);
    let launch = read(&text);
    assert_eq!(value(&launch, "plan.uneven_stages"), "true");
    assert!(
        remarks(&launch, RemarkKind::Assumed)
            .iter()
            .any(|source| source.contains("27 layers are not a multiple of 2"))
    );
    assert_eq!(value(&read(LLAMA), "plan.uneven_stages"), "open");
    // A division by number is reported, with nanotron's own division by work instead.
    let out = written(&[
        "model.name=llama-3.1-405b",
        "cluster.devices=128",
        "plan.tensor_parallel=8",
        "plan.pipeline_parallel=16",
        "plan.uneven_stages=true",
    ]);
    let lost: Vec<_> = out.not_expressed.iter().filter(|l| l.key == "plan.layers_per_stage").collect();
    assert!(
        lost.iter().any(|l| l.message.contains("nanotron balances layers by work")),
        "{:?}",
        out.not_expressed
    );
}

#[test]
fn models_that_it_does_not_have_are_refused() {
    let out = written(&["model.name=deepseek-v3-671b", "cluster.devices=64"]);
    assert!(
        out.files.is_empty() && out.refused[0].message.contains("but not deepseek-v3-671b"),
        "{:?}",
        out.refused
    );
}

#[test]
fn an_unspecified_vocabulary_is_reported() {
    let lines: Vec<&str> = LLAMA.lines().filter(|line| !line.contains("vocab_size: ")).collect();
    let text = lines.join("\n");
    let rows = |text: &str| {
        remarks(&read(text), RemarkKind::Assumed).into_iter().find(|source| source.starts_with("model.vocab"))
    };
    assert_eq!(
        rows(&text).as_deref(),
        Some("model.vocab: no vocabulary size is set: 32000 rows are assumed; `--vocab` sets it")
    );
    assert_eq!(rows(LLAMA), None);
}

#[test]
fn nanotron_is_recognised() {
    for text in [LLAMA, EXPERTS] {
        assert_eq!(detect(text).first().map(|s| s.format), Some(Format::Nanotron));
    }
}

proptest! {
    #![proptest_config(railwright_cases::cases(128))]

    #[test]
    fn what_is_written_reads_back(run in run(crate::testing::MODELS, &[])) {
        prop_assert_eq!(round_trip(&NanotronWriter, &run), Ok(()));
        let written = NanotronWriter.write(&run);
        let is_refused = !written.refused.is_empty();
        let lost = written.not_expressed;
        let has = |key: &str| lost.iter().any(|lost| lost.key == key);
        for never in ["micro_batch", "global_batch", "sequence_length", "tensor_parallel", "context_parallel", "pipeline_parallel",
                      "data_parallel", "expert_parallel", "overlap.tensor", "vocabulary_multiple"] {
            prop_assert!(!has(&format!("plan.{never}")), "{}: {:?}", never, lost);
        }
        if run.plan.sharding.zero_stage < 2 {
            prop_assert!(!has("plan.sharding"), "{:?}", lost);
        }
        if ["llama-2-7b", "mistral-7b-v0.1", "qwen2.5-7b", "mixtral-8x7b"].contains(&run.model.name.as_str()) {
            prop_assert!(run.plan.expert_parallel > 1 || !is_refused, "{} {:?}", run.model.name, written.refused);
        }
    }
}
