//! torchtitan's files, old and new, good and bad.

use super::*;
use crate::testing::{round_trip, run};
use crate::{Launch, Remark, Writer, detect};
use proptest::prelude::*;
use railwright_spec::run::Value;

fn read(text: &str) -> Launch {
    TorchtitanReader.read(text, "f").unwrap_or_else(|problems| panic!("{problems:?}"))
}

fn refused(text: &str) -> String {
    let problems = TorchtitanReader.read(text, "f").expect_err("a mistake");
    problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

fn value(launch: &Launch, key: &str) -> String {
    launch.spec.get(key).as_ref().map_or_else(|| "open".to_owned(), Value::to_toml)
}

fn remarks(launch: &Launch, kind: RemarkKind) -> Vec<String> {
    launch.remarks_of(kind).map(|Remark { source, message, .. }| format!("{source}: {message}")).collect()
}

const LLAMA: &str = include_str!("../../tests/fixtures/torchtitan/llama3_405b.toml");
const JSON: &str = include_str!("../../tests/fixtures/torchtitan/saved.json");
const OLD: &str = include_str!("../../tests/fixtures/torchtitan/of_2024.toml");

/// Without a load balancer, context parallelism has contiguous parts.
#[test]
fn context_without_a_load_balancer_is_contiguous() {
    let software = |balancer: &str| {
        let with = format!("context_parallel_degree = 2\ncontext_parallel_load_balancer = \"{balancer}\"\n");
        value(&read(&LLAMA.replace("context_parallel_degree = 1\n", &with)), "plan.software")
    };
    assert!(software("null").contains("+contiguous-context"), "{}", software("null"));
    assert!(!software("headtail").contains("contiguous"), "{}", software("headtail"));
}

#[test]
fn a_whole_configuration_is_read() {
    let launch = read(LLAMA);
    for (key, expected) in [
        ("model.name", "\"llama-3.1-405b\""),
        ("plan.tensor_parallel", "8"),
        ("plan.sequence_length", "8192"),
        ("plan.micro_batch", "2"),
        ("plan.micro_batches", "1"),
        ("plan.global_batch", "open"),
        ("plan.data_parallel", "open"),
        ("plan.sharding", "\"fsdp\""),
        ("plan.recompute", "\"full\""),
        ("plan.precision.preset", "\"fp8\""),
        ("plan.overlap.tensor", "true"),
        ("plan.software", "\"torchtitan-2024-compile\""),
        ("plan.optimizer", "\"adam\""),
        ("plan.vocabulary_multiple", "1"),
    ] {
        assert_eq!(value(&launch, key), expected, "{key}");
    }
    let origin = launch.origins.iter().find(|o| o.key == "plan.tensor_parallel").expect("an origin");
    assert_eq!((origin.source.as_str(), origin.line), ("parallelism.tensor_parallel_degree = 8", Some(31)));
    assert_eq!(remarks(&launch, RemarkKind::Unknown), Vec::<String>::new());
    assert!(remarks(&launch, RemarkKind::NotModelled)[0].contains("gathered in 16 bits"));
}

#[test]
fn the_saved_json_is_read() {
    let launch = read(JSON);
    for (key, expected) in [
        ("model.name", "\"deepseek-v3-671b\""),
        ("cluster.devices", "2048"),
        ("plan.data_parallel", "256"),
        ("plan.sharding", "\"hsdp:128\""),
        ("plan.expert_parallel", "64"),
        ("plan.pipeline_parallel", "8"),
        ("plan.virtual_stages", "2"),
        ("plan.schedule", "\"1f1b\""),
        ("plan.micro_batch", "1"),
        ("plan.global_batch", "8192"),
        ("plan.layers_per_stage", "[3, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 2]"),
        ("plan.recompute", "\"selective:operators\""),
        ("training.tokens", "3355443200000.0"),
    ] {
        assert_eq!(value(&launch, key), expected, "{key}");
    }
}

#[test]
fn keys_of_2024_are_read() {
    let launch = read(OLD);
    for (key, expected) in [
        ("model.name", "\"llama-3-8b\""),
        ("plan.micro_batch", "1"),
        ("plan.tensor_parallel", "2"),
        ("plan.context_parallel", "4"),
        ("plan.context_kind", "\"all_gather\""),
        ("plan.precision.preset", "\"fp8\""),
        ("plan.recompute", "\"full:16\""),
        ("plan.software", "\"torchtitan-2024-eager\""),
    ] {
        assert_eq!(value(&launch, key), expected, "{key}");
    }
    let origin = launch.origins.iter().find(|o| o.key == "plan.context_parallel").expect("an origin");
    assert_eq!(origin.source, "experimental.context_parallel_degree = 4");
}

#[test]
fn overrides_set_their_values_and_no_more() {
    let text = "NGPU=16 MODULE=llama3 CONFIG=llama3_8b ./run_train.sh --parallelism.tensor-parallel-degree=8 \\\n\
                --parallelism.data_parallel_shard_degree -1 --compile.enable --training.local_batch_size 4";
    let launch = read(text);
    assert_eq!(value(&launch, "model.name"), "\"llama-3-8b\"");
    assert_eq!(value(&launch, "plan.tensor_parallel"), "8");
    assert_eq!(value(&launch, "plan.data_parallel"), "2");
    assert_eq!(value(&launch, "cluster.devices"), "16");
    assert_eq!(value(&launch, "plan.micro_batch"), "4");
    for open in ["plan.recompute", "plan.sequence_length", "plan.global_batch", "plan.vocabulary_multiple"] {
        assert_eq!(value(&launch, open), "open", "{open}");
    }
    let off = read("--parallelism.pipeline_parallel_degree 1 --compile.no-enable");
    assert_eq!(value(&off, "plan.software"), "\"torchtitan-2024-eager\"");
}

#[test]
fn contradictions_are_refused_where_they_stand() {
    let with = |lines: &str| {
        format!("[model]\nname = \"llama3\"\nflavor = \"8B\"\n[training]\nseq_len = 8192\n{lines}")
    };
    for (lines, expected) in [
        (
            "local_batch_size = 4\nglobal_batch_size = 30\n[parallelism]\ndata_parallel_shard_degree = 8\n",
            "f:7:21 `training.global_batch_size`: a global batch of 30 sequences is not a multiple of 4 sequences on 8 data-parallel ranks",
        ),
        (
            "[parallelism]\ndata_parallel_shard_degree = 8\nexpert_parallel_degree = 3\n",
            "f:8:26 `parallelism.expert_parallel_degree`: expert groups use the ranks of other dimensions: shards 8 x context 1 x tensor 1 = 8 is not a multiple of 3",
        ),
        (
            "[parallelism]\ndata_parallel_shard_degree = 0\n",
            "f:7:30 `parallelism.data_parallel_shard_degree`: expected -1 for the rest, or a number of 1 or more, found 0",
        ),
        (
            "[parallelism]\npipeline_parallel_degree = 4\npipeline_parallel_schedule = \"1F2B\"\n",
            "f:8:30 `parallelism.pipeline_parallel_schedule`: unknown schedule `1F2B`",
        ),
        (
            "[parallelism]\npipeline_parallel_degree = 4\npipeline_parallel_layers_per_stage = 5\n",
            "f:8:38 `parallelism.pipeline_parallel_layers_per_stage`: 32 layers, plus 2 for embedding and head, result in 7 stages for 4 pipeline ranks",
        ),
        (
            "[parallelism]\ntensor_parallel_degree = \"x\"\n",
            "expected a whole number, 0 or more, found the text `x`",
        ),
        (
            "[activation_checkpoint]\nmode = \"some\"\n",
            "expected `none`, `selective`, `full` or `memory_budget`, found `some`",
        ),
        (
            "[activation_checkpoint]\nselective_ac_option = \"0\"\n",
            "expected `op` or a number of 1 or more, found `0`",
        ),
        ("dtype = \"int8\"\n", "expected `bfloat16` or `float32`, found `int8`"),
        ("local_batch_size = 0\n", "expected a number of 1 or more, found 0"),
    ] {
        let problems = refused(&with(lines));
        assert!(problems.contains(expected), "{problems}\n{expected}");
    }
    let launcher = "torchrun --nproc_per_node 8 t.py --parallelism.data_parallel_shard_degree 4";
    assert!(refused(launcher).contains("= 4 ranks, but the launcher starts 8"));
    assert!(refused("[parallelism\n[training]\n").starts_with("f:1:"));
}

#[test]
fn pipelines_that_drain_several_times_are_reported() {
    let with = |local: u64, shard: i64, stages: u64, batch: &str| {
        let launch = read(&format!(
            "[model]\nname = \"llama3\"\nflavor = \"8B\"\n[training]\nseq_len = 8192\nlocal_batch_size = {local}\n{batch}\n\
             [parallelism]\ndata_parallel_shard_degree = {shard}\npipeline_parallel_degree = {stages}\n\
             pipeline_parallel_first_stage_less_layers = 0\npipeline_parallel_last_stage_less_layers = 0\n"
        ));
        remarks(&launch, RemarkKind::NotModelled).into_iter().find(|source| source.contains("drains"))
    };
    let batch = "global_batch_size = 256";
    assert!(with(8, 8, 4, batch).expect("reported").contains("drains 4 times"));
    let open = with(8, -1, 4, batch).expect("reported");
    assert!(
        open.contains("every 8 sequences of a rank") && open.contains("fewer than 32 data-parallel"),
        "{open}"
    );
    assert!(with(8, -1, 4, "num_tokens_per_train_step = 2097152").is_some());
    assert_eq!(with(32, 8, 4, batch), None, "one pass");
    assert_eq!(with(256, -1, 4, batch), None, "one pass on one rank");
    assert_eq!(with(8, -1, 1, batch), None, "no pipeline");
}

fn written(settings: &[&str]) -> crate::Written {
    let mut spec = railwright_spec::run::RunSpec::default();
    for setting in settings.iter().chain(&["cluster.preset=dgx-h100"]) {
        spec.set(setting).expect("a setting");
    }
    TorchtitanWriter.write(&spec.resolve(|_| Err(Problem::new("no file"))).expect("a run"))
}

#[test]
fn both_generations_are_written_in_their_own_words() {
    let out = written(&[
        "model.name=llama-3-8b",
        "cluster.devices=64",
        "plan.tensor_parallel=2",
        "plan.sequence_parallel=false",
        "plan.pipeline_parallel=4",
        "plan.layers_per_stage=[7, 8, 8, 9]",
        "plan.precision.preset=fp8",
        "plan.recompute=full:2",
    ]);
    let (toml, python) = (&out.files[0].text, &out.files[1].text);
    for line in [
        "converters = [\"quantize.linear.float8\"]\n",
        "[quantize.linear.float8]\n",
        "selective_ac_option = \"4\"\n",
        "until February 2026",
        "# The pipeline runs all micro-batches of a step in one pass",
    ] {
        assert!(toml.contains(line), "{line}\n{toml}");
    }
    assert!(!toml.contains("enable_sequence_parallel"), "{toml}");
    let lost = out.not_expressed.iter().find(|lost| lost.key == "plan.sequence_parallel").expect("lost");
    assert!(lost.message.contains("the Python configuration has one"), "{}", lost.message);
    let lost = out.not_expressed.iter().find(|lost| lost.key == "plan.recompute").expect("lost");
    assert!(lost.message.starts_with("in railwright_plan.py alone: "), "{}", lost.message);
    for line in [
        "from torchtitan.models.llama3.config_registry import llama3_8b\n",
        "    config.model_spec = model_registry(\"8B\", converters=[Float8LinearConverter.Config(model_compile_enabled=True)])\n",
        "    config.parallelism.enable_sequence_parallel = False\n",
        "    config.parallelism.module_fqns_per_model_part = [[\"tok_embeddings\", \"layers.0\", ",
        "    config.activation_checkpoint = FullAC.Config()\n",
    ] {
        assert!(python.contains(line), "{line}\n{python}");
    }
    assert_eq!(value(&read(toml), "plan.precision.preset"), "\"fp8\"");
    // Neither of the two files pads the vocabulary.
    let out = written(&["model.name=llama-3-8b", "cluster.devices=64", "plan.vocabulary_multiple=128"]);
    let lost = out.not_expressed.iter().find(|lost| lost.key == "plan.vocabulary_multiple").expect("lost");
    assert!(!lost.message.contains(" alone: "), "{}", lost.message);
    // No n gives 5 of 32 / 4 layers.
    let out = written(&[
        "model.name=llama-3-8b",
        "cluster.devices=64",
        "plan.pipeline_parallel=4",
        "plan.recompute=full:5",
    ]);
    assert!(out.not_expressed.iter().any(|lost| lost.key == "plan.recompute"), "{:?}", out.not_expressed);
}

/// Versions since mid 2026 count the tokens of one forward pass, and the micro-batches of a pipeline.
#[test]
fn the_python_of_a_pipeline_is_read_with_its_model() {
    let out = written(&[
        "model.name=qwen3-14b",
        "cluster.devices=64",
        "plan.tensor_parallel=2",
        "plan.pipeline_parallel=2",
        "plan.virtual_stages=2",
        "plan.micro_batch=2",
        "plan.global_batch=256",
        "plan.sequence_length=8192",
        "plan.overlap.tensor=true",
        "plan.software=torchtitan-2024-compile",
    ]);
    let python = read(&out.files[1].text);
    for (key, expected) in [
        ("model.name", "\"qwen3-14b\""),
        ("plan.micro_batch", "2"),
        ("plan.global_batch", "256"),
        ("plan.overlap.tensor", "true"),
        ("plan.precision.gradient_reduce", "\"fp32\""),
        ("plan.software", "\"torchtitan-2024-compile\""),
    ] {
        assert_eq!(value(&python, key), expected, "{key}");
    }
    // Graphs are written where they are priced.
    assert!(out.files[1].text.contains("disable_cuda_graphs = True\n"), "{}", out.files[1].text);
    let out = written(&[
        "model.name=qwen3-14b",
        "cluster.devices=8",
        "plan.software=torchtitan-2024-compile+cuda-graphs",
    ]);
    let python = read(&out.files[1].text);
    assert_eq!(value(&python, "plan.software"), "\"torchtitan-2024-compile+cuda-graphs\"");
}

/// `trainer.py`: a step with pipelines is not captured, and a configuration that does not disable graphs is
/// rejected.
#[test]
fn graphs_of_a_pipeline_are_rejected_and_not_priced() {
    let of = |stages: u64, switch: &str| {
        let text = format!(
            "[model]\nname = \"llama3\"\nflavor = \"8B\"\n[training]\nmax_context_length = 4096\n\
             num_tokens_per_microbatch_per_dp_rank = 4096\n{switch}[parallelism]\npipeline_parallel_degree = {stages}\n"
        );
        let launch = read(&text);
        let invalid = remarks(&launch, RemarkKind::Invalid).len();
        (value(&launch, "plan.software").contains("cuda-graphs"), invalid)
    };
    assert_eq!(of(1, "disable_cuda_graphs = false\n"), (true, 0));
    assert_eq!(of(2, "disable_cuda_graphs = false\n"), (false, 1));
    assert_eq!(of(2, ""), (false, 1));
    assert_eq!(of(2, "disable_cuda_graphs = true\n"), (false, 0));
}

#[test]
fn what_is_unknown_or_not_modelled_is_reported() {
    let launch = read(
        "[model]\nname = \"llama3\"\nflavor = \"debugmodel\"\n[training]\nsequence_len = 4096\n[parallelism]\n\
         data_parallel_replicate_degree = 2\ntensor_paralel_degree = 2\nenable_async_tensor_parallel = true\n\
         expert_parallel_comm_backend = \"deepep\"\n[checkpoint]\ninterval = 5\nfolder = \"x\"\n[nonsense]\na = 1\n",
    );
    let unresolved = remarks(&launch, RemarkKind::Unresolved);
    assert!(
        unresolved
            .iter()
            .any(|source| source.starts_with("model.flavor = debugmodel: the dimensions of this flavour")),
        "{unresolved:?}"
    );
    assert!(unresolved.iter().any(|source| source.contains("--sharding hsdp:8")), "{unresolved:?}");
    assert!(remarks(&launch, RemarkKind::Unknown).contains(&"nonsense.a = 1: unknown, ignored".to_owned()));
    assert!(
        remarks(&launch, RemarkKind::Conflict)[0]
            .contains("needs compiled layers, but `compile.enable` is off")
    );
    assert!(remarks(&launch, RemarkKind::NotModelled)[0].contains("plain all-to-all"));
    let ignored = remarks(&launch, RemarkKind::Ignored);
    assert_eq!(ignored.iter().filter(|source| source.starts_with("checkpoint")).count(), 1, "{ignored:?}");
}

#[test]
fn a_typo_in_a_section_that_is_otherwise_ignored_is_reported() {
    let launch = read("[training]\nseq_length = 1\n[parallelism]\ntensor_paralel_degree = 2\n[job]\n");
    let unknown = remarks(&launch, RemarkKind::Unknown);
    assert_eq!(
        unknown,
        [
            "training.seq_length = 1: unknown, ignored; did you mean `training.seq_len`?",
            "parallelism.tensor_paralel_degree = 2: unknown, ignored; did you mean `parallelism.tensor_parallel_degree`?"
        ]
    );
}

#[test]
fn layers_are_divided_as_torchtitan_divides_them() {
    use super::pipeline::divide;
    // Llama 3 8B over 4 stages: 32 layers and 2 for embedding and head, 9 + 9 + 8 + 8.
    assert_eq!(divide(32, 4, 1, 1), Some(vec![8, 9, 8, 7]));
    assert_eq!(divide(126, 8, 1, 1), Some(vec![15, 16, 16, 16, 16, 16, 16, 15]));
    assert_eq!(divide(32, 4, 0, 0), Some(vec![8; 4]));
    assert_eq!(divide(2, 8, 1, 1), None);
}

#[test]
fn every_flavour_names_a_model_of_the_catalogue() {
    for (name, flavour, model) in super::models::FLAVOURS {
        let known = railwright_spec::model::by_name(model).expect(model);
        // Llama 2 was removed from torchtitan before its TOML, and Qwen3-VL came after it: files can name
        // them, written ones do not.
        match super::models::flavour(&known) {
            Some((back, _)) => assert!(back == *name, "{name} {flavour}: {back}"),
            None => assert!(matches!(*name, "llama2" | "qwen3_vl"), "{name} {flavour}"),
        }
    }
}

#[test]
fn torchtitan_is_recognised_and_nothing_else() {
    for text in [LLAMA, JSON, OLD, "x --parallelism.tensor_parallel_degree 8"] {
        assert_eq!(detect(text).first().map(|s| s.format), Some(Format::Torchtitan), "{text}");
    }
    for text in
        ["[model]\nname = \"gpt2\"\n[plan]\n", "{\"parallelism\": 1}", "--tensor-model-parallel-size 8"]
    {
        assert_ne!(detect(text).first().map(|s| s.format), Some(Format::Torchtitan), "{text}");
    }
}

/// Tests whether the flavour existed in February 2026 and has been removed since.
fn out_of_date(model: &railwright_spec::model::Model) -> bool {
    super::models::flavour(model).is_some_and(|(name, _)| matches!(name, "llama4"))
}

#[test]
fn the_script_of_the_guide_becomes_a_configuration() {
    let text = include_str!("../../../../examples/launch/llama3_70b.sh");
    let mut spec = crate::read(text, "f").expect("recognised").expect("sound").spec;
    spec.cluster.preset = Some("dgx-h100".to_owned());
    let out = TorchtitanWriter.write(&spec.resolve(|_| Err(Problem::new("no file"))).expect("a run"));
    assert!(out.refused.is_empty() && out.files.len() == 2, "{:?}", out.refused);
}

#[test]
fn models_without_a_flavour_are_refused() {
    let out = written(&["model.name=llama-2-7b", "cluster.devices=8"]);
    assert!(
        out.files.is_empty() && out.refused[0].message.contains("flavour for llama-2-7b"),
        "{:?}",
        out.refused
    );
    let out = written(&["model.name=llama-4-scout-17b-16e", "cluster.devices=8", "plan.sharding=fsdp"]);
    assert_eq!(out.files.len(), 1);
    assert!(
        out.not_expressed.iter().any(|lost| lost.message.contains("has no flavour")),
        "{:?}",
        out.not_expressed
    );
}

/// Settings that torchtitan can express are never lost.
fn lost_only_where_it_must(run: &railwright_spec::run::Run) -> Result<(), String> {
    let written = TorchtitanWriter.write(run);
    let plan = &run.plan;
    for lost in &written.not_expressed {
        let must = match lost.key.as_str() {
            "plan.sharding" => {
                plan.sharding.zero_stage != 3 || plan.data_parallel * plan.context_parallel == 1
            }
            "plan.schedule" => {
                !matches!(
                    plan.schedule,
                    railwright_spec::plan::Schedule::OneForwardOneBackward
                        | railwright_spec::plan::Schedule::Gpipe
                        | railwright_spec::plan::Schedule::ZbV
                ) || plan.pipeline_parallel == 1
            }
            "plan.expert_tensor_parallel" => plan.expert_parallel == 1,
            "plan.sequence_parallel" => !plan.sequence_parallel,
            "plan.recompute" => {
                !matches!(&plan.recompute, Recompute::None | Recompute::Full { layers: None })
            }
            "plan.overlap.tensor" => plan.software == "torchtitan-2024-eager",
            // Versions since mid 2026 only gather.
            "plan.context_kind" => plan.context_kind != railwright_spec::plan::ContextKind::AllGather,
            "model.name" => out_of_date(&run.model),
            key => ![
                "tensor_parallel",
                "pipeline_parallel",
                "virtual_stages",
                "context_parallel",
                "data_parallel",
            ]
            .iter()
            .chain(&["expert_parallel", "micro_batch", "global_batch", "sequence_length", "layers_per_stage"])
            .any(|never| key == format!("plan.{never}")),
        };
        if !must {
            return Err(format!(
                "{} need not be lost: {}\n{}",
                lost.key, lost.message, written.files[0].text
            ));
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(railwright_cases::cases(128))]

    #[test]
    fn what_is_written_reads_back(run in run(crate::testing::MODELS, &[])) {
        prop_assert_eq!(round_trip(&TorchtitanWriter, &run), Ok(()));
        prop_assert_eq!(lost_only_where_it_must(&run), Ok(()));
    }
}
