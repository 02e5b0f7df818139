//! Writers of recipes and of trainers, checked with random runs and with tables of facts.
//!
//! Responsible for: a written setting reads back or is listed, and written fields exist in the framework.

use super::corpus::{FLAT, runs};
use super::{Ranges, random, resolved, round_trip};
use crate::accelerate::AccelerateWriter;
use crate::maxtext::MaxTextWriter;
use crate::nemo::BridgeWriter;
use crate::trainers::{AxolotlWriter, LlamaFactoryWriter};
use crate::{Reader, Writer, differences, writers};
use proptest::prelude::*;

const MODELS: &[&str] =
    &["llama-3-8b", "llama-3-70b", "qwen3-8b", "qwen3-30b-a3b", "mixtral-8x7b", "deepseek-v3-671b"];

const RANGES: Ranges = Ranges {
    models: MODELS,
    clusters: &["dgx-h100"],
    sequences: &[2048, 4096, 8192],
    choices: &[],
    settings: &[],
};

proptest! {
    #![proptest_config(railwright_cases::cases(200))]

    #[test]
    fn recipes_read_back(run in random(RANGES)) {
        prop_assert_eq!(round_trip(&BridgeWriter, &run), Ok(()));
        let written = BridgeWriter.write(&run);
        for never in ["micro_batch", "global_batch", "sequence_length", "tensor_parallel", "context_parallel", "pipeline_parallel",
                      "virtual_stages", "expert_parallel", "layers_per_stage"] {
            let key = format!("plan.{never}");
            prop_assert!(!written.not_expressed.iter().any(|lost| lost.key == key), "{}: {:?}", key, written.not_expressed);
        }
    }

    #[test]
    fn maxtext_reads_back(run in random(RANGES)) {
        prop_assert_eq!(round_trip(&MaxTextWriter, &run), Ok(()));
        let written = MaxTextWriter.write(&run);
        for never in ["micro_batch", "global_batch", "sequence_length", "tensor_parallel", "context_parallel", "pipeline_parallel",
                      "virtual_stages", "expert_parallel", "data_parallel", "context_kind"] {
            let key = format!("plan.{never}");
            prop_assert!(!written.not_expressed.iter().any(|lost| lost.key == key), "{}: {:?}", key, written.not_expressed);
        }
    }

    #[test]
    fn trainers_read_back(run in random(FLAT)) {
        for writer in [&LlamaFactoryWriter as &dyn Writer, &AxolotlWriter] {
            prop_assert_eq!(round_trip(writer, &run), Ok(()));
            let written = writer.write(&run);
            for never in ["micro_batch", "sequence_length", "tensor_parallel", "context_parallel", "data_parallel"] {
                let key = format!("plan.{never}");
                prop_assert!(!written.not_expressed.iter().any(|lost| lost.key == key), "{}: {:?}", key, written.not_expressed);
            }
        }
    }

    #[test]
    fn accelerate_reads_back_with_its_trainer(run in random(FLAT)) {
        let written = AccelerateWriter.write(&run);
        let text: String = written.files.iter().map(|file| file.text.as_str()).collect();
        if !text.is_empty() {
            let launch = crate::accelerate::AccelerateReader.read(&text, "f").map_err(|problems| TestCaseError::fail(format!("{problems:?}")))?;
            let back = launch.spec.plan.resolve(&run.model, &run.cluster).map_err(|problem| TestCaseError::fail(problem.to_string()))?;
            for key in differences(&run.plan, &back) {
                prop_assert!(written.not_expressed.iter().any(|lost| lost.key == key), "{}\n{}", key, text);
            }
        }
    }
}

/// Modules that adapters can have, of which a random run has some.
const TARGETS: &[&str] = &[
    "q_proj",
    "k_proj",
    "v_proj",
    "o_proj",
    "gate_proj",
    "up_proj",
    "down_proj",
    "linear_qkv",
    "linear_fc1",
    "all-linear",
];

proptest! {
    #![proptest_config(railwright_cases::cases(200))]

    /// Adapters of any modules read back, or are listed as lost.
    #[test]
    fn adapters_of_random_modules_read_back(
        rank in 1_u64..128,
        targets in prop::sample::subsequence(TARGETS, 1..=4),
        model in prop::sample::select(MODELS),
    ) {
        let settings = [
            format!("model.name={model}"),
            "cluster.preset=dgx-h100".to_owned(),
            "cluster.devices=8".to_owned(),
            "plan.optimizer=lora".to_owned(),
            "plan.sharding=fsdp".to_owned(),
            format!("plan.lora_rank={rank}"),
            format!("plan.lora_targets={}", targets.join(",")),
        ];
        // Not every model has every module.
        if let Some(run) = resolved(&settings) {
            for writer in [&LlamaFactoryWriter as &dyn Writer, &AxolotlWriter, &BridgeWriter] {
                prop_assert_eq!(round_trip(writer, &run), Ok(()), "{} {:?}", writer.name(), targets);
            }
        }
    }
}

/// Every field that a recipe sets is one of the table, which is made from the classes of Megatron-Bridge and
/// Megatron-Core.
#[test]
fn recipes_set_fields_that_exist() {
    let table = include_str!("../../data/bridge_fields.csv");
    let has = |section: &str, field: &str| table.lines().any(|line| line == format!("{section},{field}"));
    let (mut recipes, mut fields) = (0, 0);
    for (name, run) in runs() {
        let written = BridgeWriter.write(&run);
        let Some(file) = written.files.first() else { continue };
        recipes += 1;
        let lines = file.text.lines().filter_map(|line| line.strip_prefix("    cfg.")?.split_once(" = "));
        for (path, _) in lines {
            fields += 1;
            let (section, field) = path.split_once('.').unwrap_or((path, ""));
            assert!(has(section, field), "{name}: {path}");
        }
    }
    assert!(recipes > 80 && fields > 20 * recipes, "{recipes} recipes set {fields} fields");
}

/// A feature that the framework lacks is rejected by name, never omitted.
#[test]
fn what_is_missing_is_refused() {
    let run = |settings: &[&str]| resolved(settings).unwrap_or_else(|| panic!("{settings:?}"));
    let pipeline = run(&[
        "model.name=llama-3-8b",
        "cluster.preset=dgx-h100",
        "cluster.devices=8",
        "plan.pipeline_parallel=4",
        "plan.micro_batches=8",
    ]);
    let experts = run(&[
        "model.name=mixtral-8x7b",
        "cluster.preset=dgx-h100",
        "cluster.devices=8",
        "plan.expert_parallel=8",
        "plan.sharding=zero1",
    ]);
    for writer in [&AccelerateWriter as &dyn Writer, &LlamaFactoryWriter, &AxolotlWriter] {
        for (run, key) in [(&pipeline, "plan.pipeline_parallel"), (&experts, "plan.expert_parallel")] {
            let written = writer.write(run);
            assert!(written.files.is_empty(), "{}", writer.name());
            assert_eq!(
                written.refused.iter().map(|lost| lost.key.as_str()).collect::<Vec<_>>(),
                [key],
                "{}",
                writer.name()
            );
        }
    }
    let bloom = run(&[
        "model.name=bloom-176b",
        "cluster.preset=dgx-h100",
        "cluster.devices=64",
        "plan.tensor_parallel=8",
        "plan.pipeline_parallel=2",
        "plan.micro_batches=2",
    ]);
    for writer in [&BridgeWriter as &dyn Writer, &MaxTextWriter] {
        assert_eq!(
            writer.write(&bloom).refused.first().map(|lost| lost.key.as_str()),
            Some("model"),
            "{}",
            writer.name()
        );
    }
    let adapters = run(&[
        "model.name=llama-3-8b",
        "cluster.preset=dgx-h100",
        "cluster.devices=8",
        "plan.optimizer=lora",
        "plan.sharding=fsdp",
    ]);
    // A file trains the adapters of the plan, or is not written.
    for writer in writers() {
        let versions = writer.versions().iter().map(|version| writer.write_for(&adapters, version));
        for written in versions.chain([writer.write(&adapters)]) {
            let text: String = written.files.iter().map(|file| file.text.to_lowercase()).collect();
            let is_refused = written.refused.first().is_some_and(|lost| lost.key == "plan.optimizer");
            assert!(text.contains("lora") != is_refused, "{}: {written:?}", writer.name());
            assert_eq!(is_refused, !writer.trains_adapters(), "{}", writer.name());
        }
    }
}

/// Rank and targets are read back, or are listed as lost.
#[test]
fn adapters_read_back() {
    for (rank, targets) in [
        ("16", "all-linear"),
        ("8", "q_proj,v_proj"),
        ("64", "linear_qkv,linear_proj"),
        ("32", "linear_qkv,linear_proj,linear_fc1,linear_fc2"),
        ("1", "o_proj,gate_proj,up_proj,down_proj"),
    ] {
        let settings = [
            "model.name=llama-3-8b",
            "cluster.preset=dgx-h100",
            "cluster.devices=8",
            "plan.optimizer=lora",
            "plan.sharding=fsdp",
            &format!("plan.lora_rank={rank}"),
            &format!("plan.lora_targets={targets}"),
        ];
        let run = resolved(&settings).expect("a run");
        // The trainer's arguments have the adapters of accelerate's run, in a file of their own.
        let accelerate = AccelerateWriter.write(&run);
        assert!(!accelerate.not_expressed.iter().any(|lost| lost.key == "plan.optimizer"), "{accelerate:?}");
        let text: String = accelerate.files.iter().map(|file| file.text.as_str()).collect();
        let launch = crate::accelerate::AccelerateReader.read(&text, "f").expect("reads");
        let back = launch.spec.plan.resolve(&run.model, &run.cluster).expect("resolves");
        assert_eq!(back.adapters().map(|lora| lora.rank), run.plan.adapters().map(|lora| lora.rank));
        let writers = [&LlamaFactoryWriter as &dyn Writer, &AxolotlWriter, &BridgeWriter];
        for (writer, key) in writers.into_iter().zip(["lora_rank: ", "lora_r: ", "LoRA(dim="]) {
            round_trip(writer, &run).unwrap_or_else(|why| panic!("{}: {why}", writer.name()));
            let written = writer.write(&run);
            let has = |file: &crate::WrittenFile| file.text.contains(&format!("{key}{rank}"));
            assert!(written.files.iter().any(has), "{}: {written:?}", writer.name());
            let is_optimizer = |lost: &crate::Lost| lost.key == "plan.optimizer";
            assert!(!written.not_expressed.iter().any(is_optimizer), "{:?}", written.not_expressed);
            let lost = written.not_expressed.iter().any(|lost| lost.key == "plan.lora_targets");
            // PEFT has no adapters of fused matrices; Bridge has those of their parts in another class,
            // without a name for all.
            let is_bridge = writer.name() == "megatron-bridge";
            let expected = targets.contains(if is_bridge { "all-linear" } else { "linear_qkv" });
            assert_eq!(lost, expected, "{} {targets}", writer.name());
            let is_apart = written.files.iter().any(|file| file.text.contains("CanonicalLoRA(dim="));
            assert_eq!(is_apart, is_bridge && !targets.contains("linear_"), "{targets}");
        }
    }
}

/// Layouts of a search come back from the files of every framework that has their models.
#[test]
fn winners_read_back() {
    let winners: Vec<_> = runs().into_iter().filter(|(name, _)| name.starts_with("winner")).collect();
    for writer in writers().iter().filter(|writer| writer.name() != "accelerate") {
        let mut written = 0;
        for (name, run) in &winners {
            written += usize::from(!writer.write(run).files.is_empty());
            round_trip(*writer, run).unwrap_or_else(|why| panic!("{name} for {}: {why}", writer.name()));
        }
        let is_flat = matches!(writer.name(), "llama-factory" | "axolotl");
        assert!(is_flat || written > 2, "{}: {written}", writer.name());
    }
}

/// Each release has its own flags: the newest flags do not appear, missing flags that only save time are
/// listed, the rest is rejected.
#[test]
fn releases_of_megatron_get_their_own_flags() {
    let table = include_str!("../../data/megatron_versions.csv");
    let writer = &crate::megatron::FlagsWriter;
    for version in writer.versions() {
        let mut counts = (0, 0);
        for (name, run) in runs() {
            let written = writer.write_for(&run, version);
            let Some(file) = written.files.first() else {
                counts.1 += 1;
                assert!(!written.refused.is_empty(), "{name}");
                continue;
            };
            counts.0 += 1;
            assert_eq!(&file.version, version);
            let missing = table
                .lines()
                .filter_map(|line| line.strip_prefix(version)?.strip_prefix(',')?.strip_suffix(",-"));
            for option in missing {
                assert!(
                    !file.text.contains(&format!("    {option} "))
                        && !file.text.contains(&format!("    {option}\n")),
                    "{name} for {version}: {option}"
                );
            }
        }
        assert!(counts.0 > 85, "{version}: {counts:?}");
    }
}
