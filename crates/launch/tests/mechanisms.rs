//! Mechanisms that a sample of public launch files uses, each in a small file of our own.
//!
//! Responsible for: values that a reader once read wrongly without a remark. A row has the file, the keys
//! with their values, and a part of a remark or of the error.

use railwright_launch::{Context, Files, Launch, RemarkKind, read_with};
use railwright_spec::run::Value;

/// One folder in memory.
struct Folder(&'static [(&'static str, &'static str)]);

impl Files for Folder {
    fn open(&self, path: &str, _: &str) -> Result<(String, String), String> {
        let found = self.0.iter().find(|(name, _)| *name == path);
        found
            .map(|(name, text)| ((*name).to_owned(), (*text).to_owned()))
            .ok_or_else(|| "it is not here".to_owned())
    }
}

const BASES: Folder = Folder(&[
    (
        "child.yaml",
        "defaults: base.yaml\npolicy:\n  train_global_batch_size: 256\n  megatron_cfg:\n    enabled: true\n    pipeline_model_parallel_size: 2\ncluster:\n  gpus_per_node: 8\n  num_nodes: 4\n",
    ),
    (
        "base.yaml",
        "policy:\n  model_name: meta-llama/Llama-3.1-8B\n  train_global_batch_size: 128\n  train_micro_batch_size: 2\n  max_total_sequence_length: 1024\n  precision: bfloat16\n  dtensor_cfg:\n    enabled: false\n  megatron_cfg:\n    enabled: false\n    tensor_model_parallel_size: 4\n    pipeline_model_parallel_size: 1\n",
    ),
]);

const VERL: &str = "python3 -m verl.trainer.main_ppo \\\n  actor_rollout_ref.model.path=$MODEL \\\n  actor_rollout_ref.actor.strategy=megatron \\\n  \
    +actor_rollout_ref.actor.megatron.override_transformer_config.recompute_granularity=full \\\n  \
    +actor_rollout_ref.actor.megatron.override_transformer_config.recompute_method=uniform \\\n  \
    +actor_rollout_ref.actor.megatron.override_transformer_config.recompute_num_layers=1 \\\n  \
    +actor_rollout_ref.actor.optim.override_optimizer_config.optimizer_cpu_offload=True \\\n  \
    +actor_rollout_ref.actor.optim.override_optimizer_config.optimizer_offload_fraction=0.5\n";

const NEOX: &str = "{\n  \"pipe_parallel_size\": 1,\n  \"model_parallel_size\": 1,\n  \"num_layers\": 16,\n  \"hidden_size\": 2048,\n  \
    \"num_attention_heads\": 8,\n  \"fp16\": {\n    \"enabled\": true,\n    \"type\": \"bfloat16\"\n  }\n}\n";

const GEMMA: &str = "base_emb_dim: 3840\nbase_num_query_heads: 16\nbase_num_kv_heads: 8\nbase_mlp_dim: 15360\n\
    base_num_decoder_layers: 48\nhead_dim: 256\nvocab_size: 262144\ndecoder_block: \"gemma3\"\nsliding_window_size: 1024\n";

const SWIFT: &str = "NPROC_PER_NODE=16 megatron sft --model Qwen/Qwen3-30B-A3B --tensor_model_parallel_size 4 \
    --pipeline_model_parallel_size 2 --expert_model_parallel_size 8 --max_length 8192\n";

const FACTORY: &str = "model_name_or_path: meta-llama/Meta-Llama-3-8B\nstage: sft\nfinetuning_type: lora\ncutoff_len: 2048\ntemplate: llama3\n";

const RECIPE: &str = "from megatron.bridge import AutoBridge\n\
    from megatron.bridge.recipes.common import _pretrain_common\n\
    from megatron.bridge.recipes.utils.dataset_utils import default_peft_config\n\n\
    def _tuned(peft=None):\n    cfg = _pretrain_common()\n    cfg.train.global_batch_size = 32\n    \
    cfg.train.micro_batch_size = 1\n    cfg.model = AutoBridge.from_hf_pretrained(\"meta-llama/Llama-3.2-3B\").to_megatron_provider()\n    \
    cfg.model.tensor_model_parallel_size = 2\n    cfg.peft = default_peft_config(peft)\n    return cfg\n\n\
    def llama32_3b_sft_1gpu_config():\n    return _tuned(peft=None)\n";

struct Case {
    name: &'static str,
    text: String,
    values: &'static [(&'static str, &'static str)],
    remark: &'static str,
}

fn case(
    name: &'static str,
    text: impl Into<String>,
    values: &'static [(&'static str, &'static str)],
    remark: &'static str,
) -> Case {
    Case { name, text: text.into(), values, remark }
}

#[test]
fn values_that_were_wrong_in_silence() {
    let cases = [
        case(
            "prediction modules of a flag are not dropped from a model by name in silence",
            SWIFT.replace("--max_length", "--mtp_num_layers 1 --max_length"),
            &[("model.mtp", "-"), ("model.name", "\"Qwen3-30B-A3B\"")],
            "multi-token-prediction modules of a named model are not estimated",
        ),
        case(
            "a vision tower under Megatron's flags is not left out in silence",
            "torchrun --nproc_per_node 8 pretrain_qwen.py --num-layers 4 --hidden-size 256 --num-attention-heads 8 --seq-length 128 \
             --max-position-embeddings 128 --micro-batch-size 1 --global-batch-size 8 --mrope-section 24 20 20 --vocab-size 1024 --bf16\n",
            &[("model.layers", "4")],
            "without vision tower and projector",
        ),
        case(
            "a configuration without heads leaves its defaults to another file",
            "trainer:\n  devices: 8\n  num_nodes: 2\nmodel:\n  micro_batch_size: 1\n  global_batch_size: 32\n  num_layers: 80\n  \
             hidden_size: 8192\n  encoder_seq_length: 4096\n",
            &[("plan.tensor_parallel", "-"), ("plan.precision.preset", "-")],
            "`model.num_attention_heads` is not set",
        ),
        case(
            "linear attention of MindSpeed is not full attention",
            "torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 6 --hidden-size 256 --num-attention-heads 8 --seq-length 128 \
             --max-position-embeddings 128 --micro-batch-size 1 --global-batch-size 8 --ffn-hidden-size 512 --swiglu \
             --normalization RMSNorm --disable-bias-linear --untie-embeddings-and-output-weights --position-embedding-type rope \
             --group-query-attention --num-query-groups 2 --kv-channels 32 --full-attention-interval 3 --linear-key-head-dim 32 \
             --linear-value-head-dim 32 --linear-num-key-heads 4 --linear-num-value-heads 8 --vocab-size 1024 --bf16\n",
            &[("model.layers", "-")],
            "",
        ),
        case(
            "a vision tower of MaxText is not left out in silence",
            GEMMA.to_owned() + "use_multimodal: true\n",
            &[("model.layers", "48")],
            "without vision tower and projector",
        ),
        case(
            "preferences under GPT-NeoX are not plain training",
            NEOX.replace("\"num_layers\"", "\"train_impl\": \"dpo\",\n  \"num_layers\""),
            &[("model.layers", "16")],
            "pairs of samples",
        ),
        case(
            "experts of ms-swift are whole by default",
            SWIFT,
            &[("plan.expert_tensor_parallel", "1"), ("plan.tensor_parallel", "4")],
            "",
        ),
        case(
            "gemma has full attention in every sixth layer",
            GEMMA,
            &[("model.window", "1024"), ("model.full_attention_every", "6")],
            "",
        ),
        case(
            "an unknown block keeps its window with a remark",
            GEMMA.replace("gemma3", "novel"),
            &[("model.full_attention_every", "-")],
            "depend on the code of this block",
        ),
        case(
            "the type of a 16-bit section is its precision",
            NEOX,
            &[("plan.precision.preset", "\"bf16\"")],
            "the type overrides the section's name",
        ),
        case(
            "Megatron's fields under verl",
            VERL,
            &[("plan.recompute", "\"full\""), ("plan.offload.optimizer", "0.5")],
            "MODEL",
        ),
        case(
            "one visible device without a launcher",
            "CUDA_VISIBLE_DEVICES=0 \\\nswift sft --model Qwen/Qwen2.5-7B --max_length 2048\n",
            &[("cluster.devices", "1")],
            "",
        ),
        case(
            "several visible devices are open",
            "CUDA_VISIBLE_DEVICES=0,1 \\\nswift sft --model Qwen/Qwen2.5-7B --max_length 2048\n",
            &[("cluster.devices", "-")],
            "--gpus",
        ),
        case("no scheme is no adapter", RECIPE, &[("plan.optimizer", "-"), ("plan.global_batch", "32")], ""),
        case(
            "a script may count in steps",
            "#!/bin/bash\ntorchrun --nproc_per_node 8 pretrain_gpt.py --bf16 --num-layers 2 --hidden-size 64 --num-attention-heads 4 --cuda-graph-sizes $(seq 16 8 32) --tensor-model-parallel-size 2\n",
            &[("plan.tensor_parallel", "2"), ("plan.pipeline_parallel", "1")],
            "",
        ),
    ];
    for Case { name, text, values, remark } in cases {
        let launch = read(&text, None).unwrap_or_else(|problems| panic!("{name}: {problems}"));
        check(name, &launch, values);
        let remarks: String = launch
            .remarks
            .iter()
            .map(|r| format!("{}: {}", r.source, r.message))
            .collect::<Vec<_>>()
            .join("\n");
        assert!(remarks.contains(remark), "{name}: {remarks}");
    }
}

#[test]
fn runs_that_train_nothing_are_refused() {
    let convert = "#!/bin/bash\npython model_x_to_y.py --bf16 --micro-batch-size 1 --num-layers 2 --hidden-size 64 --num-attention-heads 4 --target-tensor-model-parallel-size 2\n";
    for (text, part) in [
        (format!("{FACTORY}do_predict: true\n"), "only evaluates"),
        (format!("{FACTORY}do_train: false\ndo_eval: true\n"), "only evaluates"),
        (convert.to_owned(), "converts a checkpoint"),
        (
            convert.replace("model_x_to_y.py", "impl/convert.py").replace("--target-tensor", "--tensor"),
            "converts a checkpoint",
        ),
        (
            "model_name_or_path: Qwen/Qwen3-4B\ntemplate: qwen3_nothink\ninfer_backend: huggingface\n"
                .to_owned(),
            "does not start training",
        ),
    ] {
        let problems = read(&text, None).map(|launch| launch.remarks.len()).expect_err("refused");
        assert!(problems.contains(part), "{problems}");
    }
    assert!(
        read(&format!("{FACTORY}do_train: true\ndo_predict: true\n"), None).is_ok(),
        "trains, then predicts"
    );
}

#[test]
fn defaults_of_other_files_are_followed() {
    let child = "defaults: child.yaml\npolicy:\n  megatron_cfg:\n    tensor_model_parallel_size: 1\ncluster:\n  gpus_per_node: 4\n";
    let launch = read(child, Some(&BASES)).expect("reads");
    let expected = [
        ("model.name", "\"llama-3-8b\""),
        ("plan.tensor_parallel", "1"),
        ("plan.pipeline_parallel", "2"),
        ("plan.global_batch", "256"),
        ("plan.micro_batch", "2"),
        ("cluster.devices", "16"),
    ];
    check("inherited", &launch, &expected);
    let place = launch.origins.iter().find(|origin| origin.key == "plan.micro_batch").expect("has an origin");
    assert_eq!((place.file.as_deref(), place.line), (Some("base.yaml"), Some(4)));
    // Without the other files the same keys are open.
    let alone = read(child, None).expect("reads");
    check("alone", &alone, &[("plan.pipeline_parallel", "-"), ("plan.global_batch", "-")]);
    assert!(alone.remarks.iter().any(|remark| remark.message.contains("is another file with defaults")));
}

fn read(text: &str, files: Option<&dyn Files>) -> Result<Launch, String> {
    let context = Context { files, ..Context::default() };
    read_with(text, "f", &context)
        .expect("a launch file")
        .map_err(|problems| problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))
}

fn check(name: &str, launch: &Launch, values: &[(&str, &str)]) {
    for (key, expected) in values {
        let value = launch.spec.get(key).as_ref().map_or_else(|| "-".to_owned(), Value::to_toml);
        assert_eq!(value, *expected, "{name}: {key}");
    }
}

/// A value as in a run file.
fn value(launch: &Launch, key: &str) -> String {
    launch.spec.get(key).as_ref().map_or_else(|| "open".to_owned(), Value::to_toml)
}

/// Files of a repository, by the end of their paths.
struct Tree(&'static [(&'static str, &'static str)]);

impl Files for Tree {
    fn open(&self, path: &str, _from: &str) -> Result<(String, String), String> {
        let wanted = path.trim_start_matches("./").trim_start_matches("../");
        let found = self.0.iter().find(|(name, _)| *name == wanted || wanted.ends_with(&format!("/{name}")));
        found
            .map(|(name, text)| ((*name).to_owned(), (*text).to_owned()))
            .ok_or_else(|| "it is not here".to_owned())
    }
}

fn in_tree(text: &str, file: &str, files: &'static [(&'static str, &'static str)]) -> Launch {
    let tree = Tree(files);
    let context = Context { files: Some(&tree), ..Context::default() };
    match read_with(text, file, &context) {
        Some(Ok(launch)) => launch,
        other => panic!("{other:?}"),
    }
}

const BASE_RECIPE: &str = "from megatron.bridge.training.config import ConfigContainer, TrainingConfig\n\
    from .sizes import BATCH\n\
    def _common(seq_length=4096, **more):\n    \
    cfg = ConfigContainer(train=TrainingConfig(global_batch_size=BATCH, micro_batch_size=2), mixed_precision='bf16_mixed', **more)\n    \
    cfg.dataset.seq_length = seq_length\n    \
    if isinstance(cfg.mixed_precision, str):\n        cfg.ddp.overlap_grad_reduce = True\n    \
    return cfg\n\
    def _tuned(cfg):\n    cfg.model.pipeline_model_parallel_size = 4\n";

#[test]
fn functions_and_constants_of_imported_modules_are_followed() {
    let recipe = "from megatron.bridge import AutoBridge\n\
        from megatron.bridge.recipes.common import _common, _tuned\n\
        def llama_config():\n    \
        cfg = _common(seq_length=8192)\n    \
        cfg.model = AutoBridge.from_hf_pretrained('meta-llama/Meta-Llama-3-8B').get_model_config()\n    \
        cfg.model.tensor_model_parallel_size = 2\n    cfg.ddp.use_distributed_optimizer = True\n    _tuned(cfg)\n    return cfg\n";
    let files = &[
        ("megatron/bridge/recipes/common.py", BASE_RECIPE),
        ("megatron/bridge/recipes/sizes.py", "BATCH = 4 * 64\n"),
    ];
    let launch = in_tree(recipe, "recipes/llama.py", files);
    for (key, expected) in [
        ("model.name", "\"llama-3-8b\""),
        ("plan.tensor_parallel", "2"),
        ("plan.pipeline_parallel", "4"),
        ("plan.micro_batch", "2"),
        ("plan.global_batch", "256"),
        ("plan.sequence_length", "8192"),
        ("plan.overlap.gradient_reduce", "true"),
    ] {
        assert_eq!(value(&launch, key), expected, "{key}");
    }
    let origin = launch.origins.iter().find(|origin| origin.key == "plan.pipeline_parallel").expect("set");
    assert_eq!(origin.file.as_deref(), Some("megatron/bridge/recipes/common.py"));
    assert_eq!(launch.remarks_of(RemarkKind::Unresolved).count(), 0, "{:?}", launch.remarks);
    // Without the other file its settings are unknown, and that is reported.
    let alone = in_tree(recipe, "recipes/llama.py", &[]);
    assert_eq!(value(&alone, "plan.global_batch"), "open");
    assert!(
        alone.remarks_of(RemarkKind::Unresolved).any(|r| r.source.contains("_tuned")),
        "{:?}",
        alone.remarks
    );
}

#[test]
fn names_are_handed_on_by_several_modules() {
    let recipe = "from megatron.bridge import AutoBridge\n\
        from megatron.bridge.recipes.first import _common\n\
        def llama_config():\n    \
        cfg = _common(seq_length=8192)\n    \
        cfg.model = AutoBridge.from_hf_pretrained('meta-llama/Meta-Llama-3-8B').get_model_config()\n    \
        cfg.model.tensor_model_parallel_size = 2\n    return cfg\n";
    let files: &'static [(&str, &str)] = &[
        ("megatron/bridge/recipes/first.py", "from .second import *\n"),
        ("megatron/bridge/recipes/second.py", "from .first import *\nfrom .third import *\n"),
        ("megatron/bridge/recipes/third.py", "from .common import *\n"),
        ("megatron/bridge/recipes/common.py", BASE_RECIPE),
        ("megatron/bridge/recipes/sizes.py", "BATCH = 64\n"),
    ];
    let launch = in_tree(recipe, "recipes/llama.py", files);
    assert_eq!(value(&launch, "plan.global_batch"), "64");
    assert_eq!(value(&launch, "plan.sequence_length"), "8192");
}

#[test]
fn modules_that_import_each_other_end() {
    let files = &[
        ("megatron/bridge/a.py", "from megatron.bridge.b import make, SIZE\n"),
        ("megatron/bridge/b.py", "from megatron.bridge.a import make, SIZE\n"),
    ];
    let recipe = "from megatron.bridge.a import make, SIZE\ndef config():\n    cfg = make()\n    cfg.train.global_batch_size = 8\n    \
        cfg.train.micro_batch_size = SIZE\n    cfg.model.tensor_model_parallel_size = 2\n    return cfg\n";
    let launch = in_tree(recipe, "x.py", files);
    assert_eq!(value(&launch, "plan.tensor_parallel"), "2");
    assert_eq!(value(&launch, "plan.micro_batch"), "open");
}

const PRIMUS: &str = "modules:\n  pre_trainer:\n    framework: megatron\n    config: pre_trainer.yaml\n    model: ${PRIMUS_MODEL:tiny}.yaml\n    \
    overrides:\n      micro_batch_size: 3\n      tensor_model_parallel_size: 2\n";

#[test]
fn primus_modules_build_on_their_files() {
    let files = &[
        (
            "primus/configs/modules/megatron/pre_trainer.yaml",
            "extends:\n  - base.yaml\nglobal_batch_size: 24\nuse_distributed_optimizer: true\n",
        ),
        (
            "base.yaml",
            "bf16: true\naccumulate_allreduce_grads_in_fp32: false\nenable_zero_bubble: true\npatch_zero_bubble: false\n\
             micro_batch_size: 2\nglobal_batch_size: 128\nseq_length: 2048\n",
        ),
        (
            "primus/configs/models/megatron/tiny.yaml",
            "num_layers: 4\nhidden_size: 256\nnum_attention_heads: 4\ntokenizer_model: Qwen/Qwen3-8B\nswiglu: true\n",
        ),
    ];
    let launch = in_tree(PRIMUS, "examples/x.yaml", files);
    for (key, expected) in [
        ("model.layers", "4"),
        ("model.vocab", "151936"),
        ("plan.micro_batch", "3"),
        ("plan.global_batch", "24"),
        ("plan.sequence_length", "2048"),
        ("plan.tensor_parallel", "2"),
        ("plan.pipeline_parallel", "1"),
        ("plan.schedule", "\"1f1b\""),
        ("plan.precision.gradients", "\"fp32\""),
        ("plan.sharding", "\"zero1\""),
    ] {
        assert_eq!(value(&launch, key), expected, "{key}");
    }
    // With one of the files missing no setting has a default.
    let partial = in_tree(PRIMUS, "examples/x.yaml", &files[..2]);
    assert_eq!(value(&partial, "plan.global_batch"), "24");
    assert_eq!(value(&partial, "plan.pipeline_parallel"), "open");
    assert!(
        partial.remarks_of(RemarkKind::Assumed).any(|r| r.message.contains("tiny.yaml")),
        "{:?}",
        partial.remarks
    );
}

#[test]
fn primus_modules_of_torchtitan_are_read() {
    let text = "modules:\n  pre_trainer:\n    framework: torchtitan\n    config: pre_trainer.yaml\n    model: llama3_8B.yaml\n    \
        overrides:\n      training:\n        local_batch_size: 7\n";
    let files = &[
        (
            "primus/configs/modules/torchtitan/pre_trainer.yaml",
            "training:\n  local_batch_size: 8\n  seq_len: 2048\nparallelism:\n  tensor_parallel_degree: 2\n",
        ),
        ("primus/configs/models/torchtitan/llama3_8B.yaml", "model:\n  name: llama3\n  flavor: 8B\n"),
    ];
    let launch = in_tree(text, "examples/x.yaml", files);
    for (key, expected) in [
        ("model.name", "\"llama-3-8b\""),
        ("plan.micro_batch", "7"),
        ("plan.sequence_length", "2048"),
        ("plan.tensor_parallel", "2"),
    ] {
        assert_eq!(value(&launch, key), expected, "{key}");
    }
}

#[test]
fn maxtext_scripts_have_the_values_of_their_variables() {
    let text = "#!/bin/bash\nexport MODEL_NAME=${MODEL_NAME:-llama3-8b}\nBATCH=4\nCMD=\"python3 -m maxtext.train base.yml \\\n  \
        model_name=${MODEL_NAME} per_device_batch_size=${BATCH} max_target_length=2048 ici_fsdp_parallelism=${FSDP}\"\n\
        xpk workload create --command=\"${CMD}\"\n";
    let launch = in_tree(text, "run.sh", &[]);
    assert_eq!(value(&launch, "model.name"), "\"llama-3-8b\"");
    assert_eq!(value(&launch, "plan.micro_batch"), "4");
    assert_eq!(value(&launch, "plan.sequence_length"), "2048");
    assert!(
        launch.remarks_of(RemarkKind::Unresolved).any(|r| r.source.contains("ici_fsdp_parallelism")),
        "{:?}",
        launch.remarks
    );
}

#[test]
fn a_pattern_of_modules_names_its_alternatives() {
    let text = "base_model: meta-llama/Meta-Llama-3-8B\nmicro_batch_size: 1\nsequence_len: 2048\nadapter: lora\nlora_r: 8\n\
        lora_target_modules: 'layers.[\\d]+.(mlp|self_attn).(up|down|q|v)_proj'\n";
    let launch = in_tree(text, "x.yml", &[]);
    assert_eq!(
        value(&launch, "plan.lora_targets"),
        "[\"q_proj\", \"v_proj\", \"up_proj\", \"down_proj\"]",
        "{:?}",
        launch.remarks
    );
}

#[test]
fn a_run_set_up_in_variables_has_all_of_them() {
    let text = "#!/bin/bash\nBATCH=\"--micro-batch-size 2 --global-batch-size 64\"\nMODEL=\"--num-layers 4 --hidden-size 256 \
        --num-attention-heads 4 --seq-length 1024 --max-position-embeddings 1024 --bf16 --tensor-model-parallel-size 2\"\n";
    let launch = in_tree(text, "run.sh", &[]);
    assert_eq!(value(&launch, "plan.micro_batch"), "2");
    assert_eq!(value(&launch, "model.layers"), "4");
    assert!(launch.partial.is_some());
}

#[test]
fn gated_mlps_of_neox_are_two_thirds() {
    let text = "{\n  \"pipe_parallel_size\": 1,\n  \"model_parallel_size\": 8,\n  \"num_layers\": 80,\n  \"hidden_size\": 8192,\n  \
        \"intermediate_size\": 65536,\n  \"num_attention_heads\": 64,\n  \"activation\": \"swiglu\",\n  \"mlp_multiple_of\": 256\n}\n";
    // The published width of this 65B model.
    assert_eq!(value(&in_tree(text, "65B.yml", &[]), "model.ffn"), "22016");
}

#[test]
fn what_takes_the_remaining_devices_is_open() {
    let text = "base_config: base.yml\nmodel_name: mixtral-8x7b\nper_device_batch_size: 2\nmax_target_length: 4096\n\
        ici_fsdp_parallelism: 1\nici_expert_parallelism: -1\n";
    let launch = in_tree(text, "x.yml", &[]);
    assert_eq!(value(&launch, "plan.expert_parallel"), "open");
    assert!(launch.open.iter().any(|open| open.key == "plan.expert_parallel"), "{:?}", launch.open);
}

#[test]
fn a_hybrid_without_a_pattern_is_no_attention_model() {
    let text = "#!/bin/bash\ntorchrun --nproc_per_node 8 pretrain_mamba.py --num-layers 32 --hidden-size 2048 --num-attention-heads 32 \
        --is-hybrid-model --seq-length 2048 --max-position-embeddings 2048 --micro-batch-size 1 \
        --global-batch-size 64 --bf16 --tensor-model-parallel-size 1\n";
    let launch = in_tree(text, "run.sh", &[]);
    assert_eq!(value(&launch, "model.layers"), "open");
    assert!(launch.open.iter().any(|open| open.key == "model.layers"), "{:?}", launch.open);
}

#[test]
fn scripts_of_maxtext_that_only_decode_are_rejected() {
    let text = "#!/bin/bash\npython3 -m maxtext.inference.decode base.yml model_name=llama3-8b per_device_batch_size=1 max_target_length=16\n";
    let Some(Err(problems)) = read_with(text, "run.sh", &Context::default()) else {
        panic!("it trains nothing")
    };
    assert!(problems[0].message.contains("training"), "{problems:?}");
}

#[test]
fn overrides_of_a_recipe_have_no_defaults() {
    let text = "MODEL_ARGS:\n  trainer.devices: 8\n  trainer.strategy.tensor_model_parallel_size: 1\n  model.config.num_layers: 12\n  \
        model.config.hidden_size: 768\n  model.config.num_attention_heads: 16\n  data.micro_batch_size: 4\n  data.global_batch_size: 64\n  \
        data.seq_length: 2048\n";
    let launch = in_tree(text, "model_config.yaml", &[]);
    assert_eq!(value(&launch, "plan.micro_batch"), "4");
    assert_eq!(value(&launch, "plan.precision.preset"), "open");
    assert_eq!(value(&launch, "model.position"), "open");
}
