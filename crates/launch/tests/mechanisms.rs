//! Mechanisms that a sample of public launch files uses, each in a small file of our own.
//!
//! Responsible for: values that a reader once got wrong without a remark. A row has the file, the keys with their values, and a part
//! of a remark or of the refusal.

use railwright_launch::{Context, Files, Launch, read_with};
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
        (format!("{FACTORY}do_predict: true\n"), "trains nothing"),
        (format!("{FACTORY}do_train: false\ndo_eval: true\n"), "trains nothing"),
        (convert.to_owned(), "converts a checkpoint"),
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
