//! Written files are read back completely; and settings of each source of arguments.

mod generations;
mod overlap;
mod relatives;
mod routing;

use super::FlagsWriter;
use crate::{Format, Launch, RemarkKind, Writer, testing};
use proptest::prelude::*;
use railwright_spec::problem::Problem;

/// Settings that Megatron-LM can express: none of them may be lost.
const EXPRESSIBLE: &[&str] = &[
    "plan.schedule=1f1b",
    "plan.optimizer=adam",
    "plan.sharding=zero1",
    "plan.precision.preset=bf16",
    "plan.precision.gradient_reduce=fp32",
    "plan.overlap.pipeline=false",
    "plan.overlap.parameter_gather=false",
    "plan.overlap.tensor=false",
    "plan.overlap.expert=false",
    "plan.recompute=selective:core_attention,mlp",
    "plan.sequence_parallel=true",
    "plan.uneven_stages=false",
];

/// Keys that may be lost at all.
const MAY_BE_LOST: &[&str] = &[
    "plan.schedule",
    "plan.overlap.pipeline",
    "plan.overlap.parameter_gather",
    "plan.overlap.gradient_reduce",
    "plan.overlap.tensor",
    "plan.sharding",
    "plan.recompute",
    "plan.precision.gradients",
    "plan.precision.gradient_reduce",
    "plan.overlap.expert",
    "plan.sequence_parallel",
    "plan.offload.optimizer",
    "plan.precision.parameters",
    "plan.software",
];

proptest! {
    #![proptest_config(railwright_cases::cases(200))]

    #[test]
    fn what_is_written_is_read_back(run in testing::run(testing::MODELS, &[])) {
        prop_assert_eq!(testing::round_trip(&FlagsWriter, &run), Ok(()));
        for lost in FlagsWriter.write(&run).not_expressed.into_iter().filter(|lost| lost.key.starts_with("plan.")) {
            prop_assert!(MAY_BE_LOST.contains(&lost.key.as_str()), "{:?}", lost);
        }
    }

    #[test]
    fn nothing_is_lost_that_megatron_has(run in testing::run(testing::MODELS, EXPRESSIBLE)) {
        // Between two stages Megatron interleaves only with overlap.
        prop_assume!(run.plan.pipeline_parallel != 2 || run.plan.virtual_stages == 1);
        prop_assert_eq!(testing::round_trip(&FlagsWriter, &run), Ok(()));
        let mut lost: Vec<_> = FlagsWriter.write(&run).not_expressed;
        lost.retain(|lost| lost.key.starts_with("plan."));
        prop_assert!(lost.is_empty(), "{:?}", lost);
    }
}

/// torchrun starts as many processes on every node: 12 devices on nodes of 8 become two nodes of 6.
#[test]
fn nodes_that_are_not_filled_are_reported() {
    for (devices, written) in [("12", Some("2 nodes of 6")), ("4", None), ("16", None)] {
        let settings =
            ["model.name=llama-3-8b", "cluster.preset=dgx-h100", &format!("cluster.devices={devices}")];
        let run = testing::resolved(&settings).expect("a run");
        let lost = FlagsWriter.write(&run).not_expressed;
        let found = lost.iter().find(|lost| lost.key == "cluster.devices_per_node");
        assert_eq!(found.is_some(), written.is_some(), "{devices}: {lost:?}");
        assert!(
            written.is_none_or(|words| found.is_some_and(|lost| lost.message.contains(words))),
            "{found:?}"
        );
    }
}

/// The launch of an example.
fn example(text: &str, format: Format) -> Launch {
    let launch = crate::read(text, "example").expect("recognised").expect("sound");
    assert_eq!(launch.format, format);
    launch
}

fn value(launch: &Launch, key: &str) -> String {
    launch.spec.get(key).map_or_else(|| "-".to_owned(), |value| value.to_toml())
}

fn values(launch: &Launch, keys: &[&str]) -> Vec<String> {
    keys.iter().map(|key| value(launch, key)).collect()
}

const DEGREES: &[&str] = &[
    "cluster.devices",
    "plan.tensor_parallel",
    "plan.pipeline_parallel",
    "plan.virtual_stages",
    "plan.expert_parallel",
    "plan.micro_batch",
    "plan.global_batch",
    "plan.sequence_length",
];

#[test]
fn a_script_with_arrays_strings_and_conditions() {
    let launch = example(include_str!("../../../../examples/launch/llama3_70b.sh"), Format::MegatronScript);
    assert_eq!(values(&launch, DEGREES), ["64", "8", "4", "5", "-", "1", "256", "8192"]);
    assert_eq!(
        values(
            &launch,
            &["model.layers", "model.kv_heads", "model.vocab", "plan.precision.preset", "plan.recompute"]
        ),
        ["80", "8", "128256", "\"bf16\"", "\"selective:core_attention\""]
    );
    assert_eq!(
        values(&launch, &["plan.sharding", "plan.dropout", "plan.sequence_parallel"]),
        ["\"zero1\"", "false", "true"]
    );
    // 70.6B, as in the model card.
    let model = launch.spec.model.resolve(|_| Err(Problem::new("none"))).expect("sound");
    assert_eq!(model.parameters().total, 70_553_706_496);
    let of = |key: &str| launch.origins.iter().find(|origin| origin.key == key).expect(key);
    assert_eq!(
        (of("plan.tensor_parallel").line, of("plan.tensor_parallel").source.as_str()),
        (Some(79), "--tensor-model-parallel-size 8")
    );
    let remarks = |kind| {
        launch
            .remarks_of(kind)
            .map(|r| format!("{:?} {} {}", r.line, r.source, r.message))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        remarks(RemarkKind::Unknown),
        ["Some(100) --loss-scaling-factr unknown, ignored; did you mean `--loss-scale`?"]
    );
    assert_eq!(
        remarks(RemarkKind::Unresolved),
        ["Some(110) ${EXTRA_ARGS} no value in this file; its flags are unknown",]
    );
}

#[test]
fn a_script_of_2022_in_one_string() {
    let launch =
        example(include_str!("../../../../examples/launch/gpt3_175b_2022.sh"), Format::MegatronScript);
    assert_eq!(values(&launch, DEGREES), ["1024", "8", "16", "1", "-", "1", "1536", "2048"]);
    assert_eq!(
        values(
            &launch,
            &["plan.sharding", "plan.dropout", "plan.recompute", "plan.software", "cluster.devices_per_node"]
        ),
        ["\"none\"", "true", "\"selective:core_attention\"", "\"megatron-lm-2022\"", "8"]
    );
    let tensor = launch.origins.iter().find(|origin| origin.key == "plan.tensor_parallel").expect("given");
    assert_eq!(tensor.line, Some(14));
    let model = launch.spec.model.resolve(|_| Err(Problem::new("none"))).expect("sound");
    // GPT-3 by hand: 96 x (12 h^2 + 13 h) + (50,257 + 2,048) h + 2 h with h = 12,288.
    assert_eq!(model.parameters().total, 174_604_259_328);
}

#[test]
fn a_command_with_experts_and_a_layout() {
    let launch =
        example(include_str!("../../../../examples/launch/deepseek_v3_command.txt"), Format::MegatronCommand);
    assert!(!launch.remarks_of(RemarkKind::Conflict).any(|r| r.message.contains("commands start")));
    assert_eq!(values(&launch, DEGREES), ["1024", "2", "8", "4", "64", "1", "8192", "4096"]);
    let model = launch.spec.model.resolve(|_| Err(Problem::new("none"))).expect("sound");
    // 671.03B, the exact count of the published weights without prediction modules.
    assert_eq!(model.parameters().total, 671_026_404_352);
    let layers = launch.spec.plan.layers_per_stage.clone().expect("a layout");
    assert_eq!((layers.len(), layers.iter().sum::<u64>(), layers[0]), (32, 61, 3));
    assert_eq!(
        values(
            &launch,
            &[
                "plan.precision.compute",
                "plan.precision.moments",
                "plan.expert_tensor_parallel",
                "plan.recompute"
            ]
        ),
        ["\"fp8\"", "\"bf16\"", "1", "\"selective:activation,mlp,latent_up_projection\""]
    );
}

#[test]
fn a_log_with_its_measurements() {
    let launch = example(include_str!("../../../../examples/launch/mixtral_8x7b.log"), Format::MegatronLog);
    assert_eq!(values(&launch, DEGREES), ["16", "2", "1", "1", "8", "1", "128", "2048"]);
    // Experts are sharded by tensor parallelism by default.
    assert_eq!(
        values(&launch, &["plan.expert_tensor_parallel", "plan.software", "model.vocab"]),
        ["2", "\"megatron-core-2024\"", "32000"]
    );
    let model = launch.spec.model.resolve(|_| Err(Problem::new("none"))).expect("sound");
    assert_eq!(model.parameters().total, 46_702_792_704);
    let measured = launch.measured.expect("iterations");
    assert!((measured.step_time - 5.4106).abs() < 1e-9);
    assert_eq!((measured.tflops_per_device, measured.left_out), (Some(241.4), 1));
    assert_eq!(measured.tokens_per_step, Some(262_144.0));
    assert_eq!(measured.reserved, Some(61_480.0 * 1_048_576.0));
}

#[test]
fn a_dispatcher_and_graphs_are_features_of_the_stack() {
    let software = |flags: &str| {
        let script = format!(
            "torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 16 --hidden-size 2048 --num-attention-heads 16 \
             --seq-length 4096 --micro-batch-size 1 --global-batch-size 64 --num-experts 8 {flags}\n"
        );
        value(&crate::read(&script, "run.sh").expect("recognised").expect("sound"), "plan.software")
    };
    assert_eq!(
        software("--moe-enable-deepep --moe-token-dispatcher-type flex"),
        "\"megatron-core-2025+fused-dispatch\""
    );
    // This flag dates from 2026, which always has the dispatcher, and graphs of parts of layers.
    let flags = "--moe-enable-deepep --cuda-graph-impl full_iteration";
    assert_eq!(software(flags), "\"megatron-core-2026+cuda-graphs\"");
    // The whole iteration was a scope of `local`; that of generation is not a graph of the training step.
    let scope = |scope: &str| software(&format!("--cuda-graph-impl local --cuda-graph-scope {scope}"));
    assert_eq!(scope("full_iteration"), "\"megatron-core-2026+cuda-graphs\"");
    assert_eq!(scope("attn moe_router"), "\"megatron-core-2026\"");
    assert_eq!(scope("full_iteration_inference"), "\"megatron-core-2026+no-cuda-graphs\"");
    let switch = "--enable-cuda-graph --cuda-graph-scope full_iteration";
    assert_eq!(software(switch), "\"megatron-core-2025+cuda-graphs\"");
}

#[test]
fn a_real_log_of_megatron_deepspeed() {
    let text = include_str!("../../../../examples/launch/megatron_deepspeed_2022.log");
    let launch = example(text, Format::MegatronLog);
    assert_eq!(values(&launch, DEGREES), ["8", "1", "1", "1", "-", "4", "256", "2048"]);
    assert_eq!(
        values(&launch, &["plan.precision.preset", "plan.sharding", "plan.dropout"]),
        ["\"fp16\"", "\"none\"", "true"]
    );
    assert_eq!(values(&launch, &["plan.software"]), ["\"megatron-deepspeed-2022\""]);
    let measured = launch.measured.expect("iterations");
    assert!((0.45..0.60).contains(&measured.step_time), "{measured:?}");
    // Cut anywhere, it is read or rejected, and never panics.
    for end in (0..text.len()).step_by(97).filter(|end| text.is_char_boundary(*end)) {
        drop(crate::read(&text[..end], "cut"));
    }
}

#[test]
fn defaults_are_megatrons() {
    let read = |text: &str| example(text, Format::MegatronCommand);
    let base =
        "--num-layers 24 --hidden-size 1024 --num-attention-heads 16 --seq-length 1024 --micro-batch-size 2";
    let bare = read(base);
    assert_eq!(
        values(
            &bare,
            &[
                "plan.precision.preset",
                "plan.sharding",
                "plan.recompute",
                "plan.overlap.gradient_reduce",
                "plan.dropout"
            ]
        ),
        ["\"fp32\"", "\"none\"", "\"none\"", "false", "true"]
    );
    assert_eq!(
        values(&bare, &["model.ffn", "model.tied", "model.biases", "model.position", "cluster.devices"]),
        ["4096", "true", "true", "\"learned\"", "-"]
    );
    let gated = read(&format!(
        "{base} --swiglu --bf16 --tensor-model-parallel-size 2 --pipeline-model-parallel-size 2"
    ));
    // 8/3 of the width, down to a multiple of 64; fp32 gradients; no sequence parallelism by default.
    assert_eq!(
        values(&gated, &["model.ffn", "plan.precision.gradients", "plan.sequence_parallel"]),
        ["2688", "\"fp32\"", "false"]
    );
    let reduced = read(&format!(
        "{base} --bf16 --grad-reduce-in-bf16 --num-layers-per-virtual-pipeline-stage 3 --pipeline-model-parallel-size 4"
    ));
    assert_eq!(
        values(&reduced, &["plan.precision.gradients", "plan.virtual_stages", "plan.overlap.pipeline"]),
        ["\"bf16\"", "2", "true"]
    );
    let block = read(&format!(
        "{base} --recompute-granularity full --recompute-method block --recompute-num-layers 2 --pipeline-model-parallel-size 4"
    ));
    assert_eq!(values(&block, &["plan.recompute"]), ["\"full:2\""]);
    let ends = read(&format!(
        "{base} --pipeline-model-parallel-size 4 --account-for-embedding-in-pipeline-split --account-for-loss-in-pipeline-split --num-layers 26"
    ));
    assert_eq!(values(&ends, &["plan.layers_per_stage"]), ["[6, 7, 7, 6]"]);
    let every = read(&format!("{base} --num-experts 8 --moe-layer-freq 2 --num-layers 4"));
    assert_eq!(values(&every, &["model.moe_layers", "plan.expert_tensor_parallel"]), ["[0, 2]", "1"]);
    let hybrid = read(&format!("{base} --hybrid-override-pattern M-M*-M- --vocab-size 1000"));
    assert!(hybrid.model_config.as_deref().is_some_and(|text| text.contains("nemotron_h")));
}

#[test]
fn yaml_of_megatron_itself() {
    let text = "language_model:\n  num_layers: 24\n  hidden_size: 1024\n  num_attention_heads: 16\n  activation_func: swiglu\n  \
                add_bias_linear: False\n  hidden_dropout: 0.0\n  attention_dropout: 0.0\n  recompute_granularity: null\n\
                model_parallel:\n  tensor_model_parallel_size: 2\n  sequence_parallel: True\n  bf16: True\nmicro_batch_size: 2\n\
                global_batch_size: 128\nseq_length: 4096\nuse_distributed_optimizer: True\nvocab_size: 50304\n";
    let launch = example(text, Format::MegatronYaml);
    assert_eq!(values(&launch, DEGREES), ["-", "2", "1", "1", "-", "2", "128", "4096"]);
    assert_eq!(
        values(
            &launch,
            &["model.gated_mlp", "model.biases", "plan.dropout", "plan.precision.preset", "plan.sharding"]
        ),
        ["true", "false", "false", "\"bf16\"", "\"zero1\""]
    );
}

/// The run of settings on 64 devices, and its script.
fn written(settings: &[&str]) -> (String, Vec<String>) {
    let mut spec = railwright_spec::run::RunSpec::default();
    let usual = [
        "cluster.preset=dgx-h100",
        "cluster.devices=64",
        "plan.micro_batch=1",
        "plan.global_batch=256",
        "plan.sequence_length=4096",
    ];
    for setting in usual.iter().chain(settings) {
        spec.set(setting).expect(setting);
    }
    let run = spec.resolve(|_| Err(Problem::new("no file"))).expect("sound");
    let written = FlagsWriter.write(&run);
    let lost = written.not_expressed.into_iter().map(|lost| lost.key).collect();
    (written.files[0].text.clone(), lost)
}

#[test]
fn a_tokenizer_without_a_file_adds_a_token() {
    // 128,256 rows are already a multiple of 8 x 128; one more would pad to 129,024.
    let (text, lost) =
        written(&["model.name=llama-3.1-8b", "plan.tensor_parallel=8", "plan.precision.preset=bf16"]);
    assert!(text.contains("--vocab-size 128255\n"), "{text}");
    assert!(!lost.contains(&"model".to_owned()), "{lost:?}");
    let read = |tokenizer: &str| {
        let text = format!(
            "--num-layers 2 --hidden-size 64 --num-attention-heads 2 --tokenizer-type {tokenizer} --vocab-size 1000"
        );
        value(&example(&text, Format::MegatronCommand), "model.vocab")
    };
    assert_eq!((read("NullTokenizer"), read("GPT2BPETokenizer")), ("1001".to_owned(), "50257".to_owned()));
}

#[test]
fn the_header_names_what_is_yours_to_add() {
    let header = |settings: &[&str]| {
        let (text, _) = written(settings);
        text.lines()
            .find(|line| line.contains("# Not written, add if needed"))
            .map(str::to_owned)
            .expect("a header")
    };
    assert_eq!(
        header(&["model.name=mixtral-8x7b", "plan.precision.preset=fp8"]),
        "# Not written, add if needed: norm epsilon, rotary base, rope scaling, router score function, router load balancing."
    );
    assert_eq!(
        header(&["model.name=gpt3-175b", "plan.precision.preset=bf16", "plan.sequence_length=2048"]),
        "# Not written, add if needed: norm epsilon."
    );
}

#[test]
fn flags_come_with_what_megatron_requires() {
    const LLAMA: &str = "model.name=llama-3.1-8b";
    const MIXTRAL: &str = "model.name=mixtral-8x7b";
    // Settings, texts present and absent in the script, and lost settings.
    let cases: &[[&[&str]; 4]] = &[
        [
            &[LLAMA, "plan.sharding=fsdp-no-reshard"],
            &["--use-torch-fsdp2", "--no-gradient-accumulation-fusion"],
            &["--use-distributed-optimizer"],
            &[],
        ],
        [
            &[LLAMA, "plan.sharding=fsdp-no-reshard", "plan.precision.preset=fp16"],
            &["--use-megatron-fsdp", "--use-distributed-optimizer"],
            &["--use-torch-fsdp2"],
            &["plan.sharding"],
        ],
        [
            &[LLAMA, "plan.sharding=none", "plan.offload.optimizer=1"],
            &[],
            &["--optimizer-cpu-offload", "--use-precision-aware-optimizer"],
            &["plan.offload.optimizer"],
        ],
        [
            &[LLAMA, "plan.sharding=none", "plan.precision.moments=bf16"],
            &[],
            &["--use-precision-aware-optimizer", "--exp-avg-dtype"],
            &["plan.precision.moments"],
        ],
        [
            &[LLAMA, "plan.sharding=none", "plan.precision.preset=fp8", "plan.precision.parameters=fp8"],
            &[],
            &["--fp8-param-gather"],
            &["plan.precision.parameters"],
        ],
        [
            &[LLAMA, "plan.sharding=zero1", "plan.offload.optimizer=1", "plan.precision.moments=bf16"],
            &["--use-distributed-optimizer", "--optimizer-cpu-offload", "--exp-avg-dtype bf16"],
            &[],
            &[],
        ],
        [
            &[MIXTRAL, "plan.tensor_parallel=2", "plan.sequence_parallel=false"],
            &["--sequence-parallel"],
            &[],
            &["plan.sequence_parallel"],
        ],
        [
            &[MIXTRAL, "plan.expert_parallel=8", "plan.pipeline_parallel=2", "plan.overlap.expert=true"],
            &[],
            &["--overlap-moe-expert-parallel-comm"],
            &["plan.overlap.expert"],
        ],
        [
            &[MIXTRAL, "plan.expert_parallel=8", "plan.overlap.expert=true", "plan.recompute=full"],
            &[],
            &["--overlap-moe-expert-parallel-comm"],
            &["plan.overlap.expert"],
        ],
        [
            &[MIXTRAL, "plan.expert_parallel=8", "plan.overlap.expert=true"],
            &["--overlap-moe-expert-parallel-comm"],
            &[],
            &[],
        ],
    ];
    for [settings, with, without, gone] in cases {
        let (text, lost) = written(settings);
        let has = |flag: &&str| text.contains(&format!("    {flag}"));
        assert!(with.iter().all(has), "{settings:?}\n{text}");
        assert!(!without.iter().any(has), "{settings:?}\n{text}");
        assert!(gone.iter().all(|key| lost.iter().any(|lost| lost == key)), "{settings:?} {lost:?}");
        let watched = [
            "plan.offload.optimizer",
            "plan.precision.moments",
            "plan.overlap.expert",
            "plan.sequence_parallel",
        ];
        let surplus: Vec<_> = lost
            .iter()
            .filter(|key| watched.contains(&key.as_str()) && !gone.contains(&key.as_str()))
            .collect();
        assert!(surplus.is_empty(), "{settings:?} {surplus:?}");
    }
}

#[test]
fn prediction_modules_have_a_place_in_a_layout() {
    let (text, _) = written(&[
        "model.name=deepseek-v3-671b",
        "plan.pipeline_parallel=4",
        "plan.expert_parallel=16",
        "plan.layers_per_stage=[15, 16, 16, 14]",
    ]);
    let predicts = text.contains("--mtp-num-layers 1");
    assert_eq!(text.contains("Et*15|t*16|t*16|t*14mL"), predicts, "{text}");
    let command = "--num-layers 4 --hidden-size 64 --num-attention-heads 2 --vocab-size 1000 --pipeline-model-parallel-size 2 \
                   --mtp-num-layers 1 --pipeline-model-parallel-layout";
    let remarks = |layout: &str| {
        let launch = example(&format!("{command} '{layout}'"), Format::MegatronCommand);
        launch
            .remarks_of(RemarkKind::NotModelled)
            .filter(|r| r.message.contains("prediction modules"))
            .count()
    };
    assert_eq!((remarks("Ett,m|ttL"), remarks("Ett|ttmL")), (1, 0));
}

#[test]
fn an_embedding_may_be_alone_in_its_chunk() {
    let text = "--num-layers 2 --hidden-size 64 --num-attention-heads 2 --vocab-size 1000 --pipeline-model-parallel-size 4 \
                --account-for-embedding-in-pipeline-split --account-for-loss-in-pipeline-split";
    let launch = example(text, Format::MegatronCommand);
    assert_eq!(value(&launch, "plan.layers_per_stage"), "[0, 1, 1, 0]");
}

/// A dump of arguments with the following reports: of a start at an iteration, with milliseconds of each.
fn start(tensor: u64, save: &str, from: u64, times: &[f64]) -> String {
    let (tensor_parallel, ranks) = (tensor.to_string(), (4 * tensor).to_string());
    let world = format!("using world size: {}, data-parallel size: 4", 4 * tensor);
    let dump = [
        ("num_layers", "4"),
        ("hidden_size", "64"),
        ("num_attention_heads", "2"),
        ("seq_length", "128"),
        ("micro_batch_size", "1"),
        ("global_batch_size", "8"),
        ("vocab_size", "1000"),
        ("tensor_model_parallel_size", &tensor_parallel),
        ("rank", "0"),
        ("world_size", &ranks),
        ("save", save),
    ]
    .map(|(name, value)| format!("  {name} ................ {value}"));
    let reports = (from..).zip(times).map(|(iteration, time)| {
        format!(" iteration {iteration}/ 100 | elapsed time per iteration (ms): {time:.1} | global batch size: 8 |")
    });
    let around = |what: &str| format!("------------------------ {what} ------------------------");
    let mut lines = vec![world, around("arguments")];
    lines.extend(dump);
    lines.push(around("end of arguments"));
    lines.extend(reports);
    lines.join("\n") + "\n"
}

#[test]
fn only_iterations_of_the_arguments_that_count_are_compared() {
    let first = start(1, "a", 1, &[900.0, 500.0, 500.0, 500.0, 500.0]);
    let second = start(2, "a", 6, &[900.0, 200.0]);
    let third = start(2, "b", 8, &[900.0, 210.0, 210.0]);
    let log = |parts: &[&str]| example(&parts.concat(), Format::MegatronLog);
    let launch = log(&[&first, &second, &third]);
    assert_eq!(values(&launch, &["plan.tensor_parallel", "cluster.devices"]), ["2", "8"]);
    let measured = launch.measured.clone().expect("iterations");
    // The second and the third start, which count on; the first report of each is warm-up.
    assert_eq!((measured.starts, measured.reported, measured.left_out), (2, 5, 2));
    assert_eq!(measured.step_time, 0.21);
    let remarks: Vec<&str> = launch.remarks_of(RemarkKind::Assumed).map(|r| r.message.as_str()).collect();
    assert!(
        remarks.iter().any(|message| message.contains("differ in tensor_model_parallel_size")
            && message.contains("iterations of the first 1 are not compared")),
        "{remarks:?}"
    );
    // The same arguments: all of them.
    let same = log(&[&second, &third]).measured.expect("iterations");
    assert_eq!((same.starts, same.reported), (2, 5));
    // A start without reports: nothing to compare with.
    let none = log(&[&first, &start(2, "a", 6, &[])]);
    assert_eq!(none.measured, None);
    assert!(none.remarks_of(RemarkKind::Assumed).any(|r| r.message.contains(
        "no iterations after the last start, and earlier starts had different arguments: no comparison"
    )));
}

#[test]
fn two_formats_at_once_are_a_conflict() {
    let base = "--num-layers 2 --hidden-size 64 --num-attention-heads 2 --vocab-size 1000 --bf16";
    let conflicts = |text: &str| {
        let launch = example(text, Format::MegatronCommand);
        assert_eq!(value(&launch, "plan.precision.preset"), "\"bf16\"");
        launch.remarks_of(RemarkKind::Conflict).filter(|r| r.source == "--fp16").count()
    };
    assert_eq!((conflicts(&format!("{base} --fp16")), conflicts(base)), (1, 0));
}

#[test]
fn what_a_value_comes_from_is_not_without_effect() {
    let text = include_str!("../../../../examples/launch/llama3_70b.sh");
    let scripts = [
        text,
        include_str!("../../../../examples/launch/deepseek_v3_command.txt"),
        include_str!("../../../../examples/launch/mixtral_8x7b.log"),
        "torchrun pretrain_gpt.py --num-layers 2 --hidden-size 64 --num-attention-heads 2 --tokenizer-type Llama2Tokenizer",
    ];
    for text in scripts {
        let launch = crate::read(text, "example").expect("recognised").expect("sound");
        for remark in launch.remarks_of(RemarkKind::Ignored) {
            let is_origin = |origin: &&crate::Origin| {
                (origin.source.as_str(), origin.line) == (remark.source.as_str(), remark.line)
                    && remark.message.contains("without effect")
            };
            assert_eq!(launch.origins.iter().find(is_origin), None, "{remark:?}");
        }
    }
}

#[test]
fn a_hundred_thousand_unknown_flags_end_soon() {
    let flags: Vec<String> = (0..100_000).map(|index| format!("--frobnicate-the-quux-{index}")).collect();
    let base = "torchrun pretrain_gpt.py --num-layers 2 --hidden-size 64 --num-attention-heads 2";
    let text = format!("{base} {}", flags.join(" "));
    let launch = example(&text, Format::MegatronCommand);
    assert!(launch.remarks_of(RemarkKind::Unknown).count() <= 500);
}
