//! Commands that start a trainer: scripts on Transformers' Trainer and OpenRLHF, with the files that they
//! name.

use super::*;
use crate::{Context, Files, read_with};

/// Files in the folder of the script.
struct Folder(&'static [(&'static str, &'static str)]);

impl Files for Folder {
    fn open(&self, path: &str, _: &str) -> Result<(String, String), String> {
        let found = self.0.iter().find(|(name, _)| *name == path);
        found
            .map(|(name, text)| ((*name).to_owned(), (*text).to_owned()))
            .ok_or_else(|| "it is not here".to_owned())
    }
}

fn check_in(text: &str, files: &'static [(&'static str, &'static str)], expected: &[(&str, &str)]) -> Launch {
    let folder = Folder(files);
    let context = Context { files: Some(&folder), ..Context::default() };
    let Some(Ok(launch)) = read_with(text, "f.sh", &context) else { panic!("{text}") };
    for (key, expected) in expected {
        let value = launch.spec.get(key).as_ref().map_or_else(|| "open".to_owned(), Value::to_toml);
        assert_eq!(value, *expected, "{key}");
    }
    launch
}

const ALPACA: &str = "N=4\ntorchrun --nproc_per_node=$N --nnodes=2 tune/train.py \\\n  --model_name_or_path huggyllama/llama-7b \\\n  \
    --data_path ./a.json --bf16 True --output_dir out \\\n  --per_device_train_batch_size 4 --gradient_accumulation_steps 8 \\\n  \
    --model_max_length 2048 --save_strategy steps --logging_steps 1 \\\n  --fsdp 'full_shard auto_wrap' --tf32 True\n";

#[test]
fn a_script_on_transformers_trainer_is_read() {
    let launch = check(
        ALPACA,
        &[
            ("model.name", "\"llama-1-7b\""),
            ("cluster.devices", "8"),
            ("plan.micro_batch", "4"),
            ("plan.micro_batches", "8"),
            ("plan.sequence_length", "2048"),
            ("plan.sharding", "\"fsdp\""),
            ("plan.precision.preset", "\"bf16\""),
            ("plan.recompute", "\"none\""),
        ],
    );
    let origin = launch.origins.iter().find(|o| o.key == "plan.micro_batch").expect("an origin");
    assert_eq!(origin.line, Some(5));
    // Defaults of `TrainingArguments` are stated only if the script uses them.
    let own = "python train.py --model_name_or_path gpt2 --per_device_train_batch_size 2 --max_length 512\n";
    let open = ["plan.precision.preset", "plan.recompute", "plan.sharding", "plan.micro_batches"];
    check(own, &open.map(|key| (key, "open")));
    check(own, &[("plan.micro_batch", "2")]);
    let lost = ALPACA.replace("--bf16 True", "");
    check(&lost, &[("plan.precision.preset", "\"fp32\"")]);
    // accelerate's own file may set the format and shard.
    let launched =
        lost.replace("torchrun --nproc_per_node=$N --nnodes=2", "accelerate launch --num_processes 16");
    let launched = launched.replace("--fsdp 'full_shard auto_wrap'", "");
    let launch = check(&launched, &[("cluster.devices", "16"), ("plan.precision.preset", "open")]);
    assert!(remarks(&launch, RemarkKind::Assumed).contains("replicas are assumed"));
    let unknown = ALPACA
        .replace("N=4\n", "")
        .replace("--model_name_or_path huggyllama/", "--model_name_or_path $ROOT/");
    check(&unknown, &[("cluster.devices", "open"), ("model.name", "\"llama-1-7b\"")]);
}

#[test]
fn files_of_deepspeed_and_accelerate_are_opened() {
    const FILES: &[(&str, &str)] = &[
        (
            "ds.json",
            "{\"zero_optimization\": {\"stage\": 3, \"offload_optimizer\": {\"device\": \"cpu\"}}, \"bf16\": {\"enabled\": \"auto\"}}",
        ),
        ("plain.json", "{\"bf16\": {\"enabled\": true}}"),
        (
            "fsdp.yaml",
            "distributed_type: FSDP\nfsdp_config:\n  fsdp_version: 2\n  fsdp_reshard_after_forward: true\nmixed_precision: bf16\nnum_processes: 32\n",
        ),
        (
            "ds.yaml",
            "distributed_type: DEEPSPEED\ndeepspeed_config:\n  zero_stage: 2\n  offload_optimizer_device: cpu\nnum_processes: 8\n",
        ),
    ];
    let deepspeed =
        |file: &str| ALPACA.replace("--fsdp 'full_shard auto_wrap'", &format!("--deepspeed {file}"));
    let sharded = [
        ("plan.sharding", "\"fsdp\""),
        ("plan.offload.optimizer", "1.0"),
        ("plan.precision.preset", "\"bf16\""),
    ];
    check_in(&deepspeed("ds.json"), FILES, &sharded);
    check_in(&deepspeed("plain.json"), FILES, &[("plan.sharding", "\"none\"")]);
    let launch = check_in(&deepspeed("absent.json"), FILES, &[("plan.sharding", "open")]);
    assert!(remarks(&launch, RemarkKind::Unresolved).contains("sharding stays unset"));
    let accelerate = |file: &str| {
        let launched = ALPACA.replace(
            "torchrun --nproc_per_node=$N --nnodes=2",
            &format!("accelerate launch --config_file {file}"),
        );
        launched.replace("--fsdp 'full_shard auto_wrap'", "").replace("--bf16 True", "")
    };
    let expected =
        [("cluster.devices", "32"), ("plan.sharding", "\"fsdp\""), ("plan.precision.preset", "\"bf16\"")];
    check_in(&accelerate("fsdp.yaml"), FILES, &expected);
    let expected =
        [("cluster.devices", "8"), ("plan.sharding", "\"zero2\""), ("plan.offload.optimizer", "1.0")];
    check_in(&accelerate("ds.yaml"), FILES, &expected);
    check_in(
        &accelerate("absent.yaml"),
        FILES,
        &[("plan.sharding", "open"), ("plan.precision.preset", "open")],
    );
    // A configuration in YAML also names such a file.
    let factory = FACTORY.replace("examples/deepspeed/ds_z3_config.json", "ds.json");
    check_in(&factory, FILES, &[("plan.sharding", "\"fsdp\""), ("plan.offload.optimizer", "1.0")]);
}

const OPENRLHF: &str = "read -r -d '' command <<EOF\nopenrlhf.cli.train_dpo \\\n   --train.batch_size 256 --train.micro_batch_size 2 \\\n   \
    --model.model_name_or_path meta-llama/Meta-Llama-3-8B --ds.param_dtype bf16 --data.max_len 8192 \\\n   \
    --ds.zero_stage 3 --ds.packing_samples --model.gradient_checkpointing_enable --ds.ring_attn_size 2\nEOF\n\
    deepspeed --module $command\n";

#[test]
fn openrlhf_is_read() {
    let expected = [
        ("model.name", "\"llama-3-8b\""),
        ("plan.global_batch", "256"),
        ("plan.micro_batch", "2"),
        ("plan.sequence_length", "8192"),
        ("plan.sharding", "\"fsdp\""),
        ("plan.context_parallel", "2"),
        ("plan.recompute", "\"full\""),
        ("plan.precision.preset", "\"bf16\""),
        ("plan.optimizer", "\"adam\""),
    ];
    let launch = check(OPENRLHF, &expected);
    assert!(remarks(&launch, RemarkKind::NotModelled).contains("a sample is a pair"));
    // Names of before 2026 mean the same.
    let older = "deepspeed --num_gpus 8 --module openrlhf.cli.train_dpo --train_batch_size 256 --micro_train_batch_size 2 \
        --pretrain meta-llama/Meta-Llama-3-8B --bf16 --max_len 8192 --zero_stage 3 --packing_samples --gradient_checkpointing \
        --ring_attn_size 2\n";
    check(older, &expected);
    check(older, &[("cluster.devices", "8")]);
    let reinforced = OPENRLHF
        .replace("train_dpo", "train_ppo_ray --actor.num_nodes 2 --actor.num_gpus_per_node 8")
        .replace("--ds.zero_stage 3", "--train.dynamic_batch_enable --train.max_tokens_per_gpu 16384");
    let launch = check(
        &reinforced,
        &[("cluster.devices", "16"), ("plan.micro_batch", "4"), ("plan.sharding", "\"zero2\"")],
    );
    let left_out = remarks(&launch, RemarkKind::NotModelled);
    assert!(
        left_out.contains("one actor update") && left_out.contains("a critic is also trained"),
        "{left_out}"
    );
}

#[test]
fn what_trains_nothing_is_not_taken() {
    for text in [
        "import argparse\nparser.add_argument('--per_device_train_batch_size')\nparser.add_argument('--model')\n",
        "python evaluate.py --model_name_or_path gpt2 --batch_size 8\n",
        "swift infer --model Qwen/Qwen3-8B --per_device_train_batch_size 1\n",
    ] {
        assert!(dialect(text).is_none(), "{text}");
    }
}

const LITGPT: &str = "checkpoint_dir: checkpoints/meta-llama/Llama-2-7b-hf\nout_dir: out\nprecision: bf16-true\ndevices: 4\nnum_nodes: 1\n\
    lora_r: 32\nlora_query: true\nlora_key: false\nlora_value: true\nlora_projection: false\nlora_mlp: false\ndata: Alpaca\ntrain:\n  \
    global_batch_size: 8\n  micro_batch_size: 1\n  max_seq_length: 512\n";

#[test]
fn litgpt_is_read() {
    let launch = check(
        LITGPT,
        &[
            ("model.name", "\"llama-2-7b\""),
            ("cluster.devices", "4"),
            ("plan.global_batch", "8"),
            ("plan.micro_batch", "1"),
            ("plan.sequence_length", "512"),
            ("plan.sharding", "\"fsdp\""),
            ("plan.recompute", "\"full\""),
            ("plan.lora_rank", "32"),
            ("plan.lora_targets", "[\"q_proj\", \"v_proj\"]"),
            ("plan.precision.preset", "\"bf16\""),
            ("plan.precision.moments", "\"bf16\""),
            ("plan.precision.master", "\"none\""),
        ],
    );
    assert_eq!(remarks(&launch, RemarkKind::NotModelled), "");
    let single = LITGPT.replace("devices: 4", "devices: 1");
    check(&single, &[("plan.sharding", "\"none\""), ("plan.recompute", "\"none\"")]);
    let open = LITGPT.replace("devices: 4", "devices: auto");
    check(&open, &[("plan.sharding", "open"), ("plan.recompute", "open"), ("cluster.devices", "open")]);
    let full = LITGPT
        .lines()
        .filter(|line| !line.starts_with("lora_"))
        .fold(String::new(), |all, line| all + line + "\n");
    let pretrain =
        full.replace("checkpoint_dir: checkpoints/meta-llama/Llama-2-7b-hf", "model_name: Llama-2-7b");
    let pretrain = pretrain.replace("num_nodes: 1", "num_nodes: 2");
    check(
        &pretrain,
        &[("plan.optimizer", "open"), ("plan.sharding", "\"hsdp:4\""), ("plan.recompute", "\"none\"")],
    );
    let own = pretrain + "model_config:\n  n_layer: 6\n  n_embd: 288\n";
    let launch = check(&own, &[("model.name", "open")]);
    assert!(remarks(&launch, RemarkKind::Unresolved).contains("`model_config` are not supported"));
}

/// TrainingArguments accumulates one step by default, Slurm's variables come from the directives, and a
/// number of nodes without a value is open.
#[test]
fn a_transformers_script_under_slurm() {
    const FILE: &[(&str, &str)] =
        &[("ds.json", "{\"zero_optimization\": {\"stage\": 3}, \"gradient_accumulation_steps\": \"auto\"}")];
    let script = |nodes: &str| {
        format!(
            "#!/bin/bash\n#SBATCH --nodes=4\ntorchrun --nproc_per_node 8 --nnodes={nodes} train.py --model_name_or_path Qwen/Qwen3-8B \\\n  \
             --per_device_train_batch_size 2 --deepspeed ds.json --bf16 --max_length 4096 --output_dir out\n"
        )
    };
    let spec = check_in(&script("$SLURM_NNODES"), &[], &[]).spec;
    assert_eq!(
        (spec.cluster.devices, spec.plan.micro_batch, spec.plan.micro_batches),
        (Some(32), Some(2), Some(1))
    );
    let opened = check_in(&script("2"), FILE, &[]).spec;
    assert_eq!((opened.cluster.devices, opened.plan.micro_batches), (Some(16), Some(1)));
    let open = check_in(&script("$NODES"), &[], &[]).spec;
    assert_eq!((open.cluster.devices, open.cluster.devices_per_node), (None, Some(8)));
}

#[test]
fn openrlhf_on_fsdp() {
    let text = "torchrun --nproc_per_node=8 -m openrlhf.cli.train_sft --backend fsdp2 --max_len 512 --train_batch_size 128 \\\n  \
                --micro_train_batch_size 2 --pretrain meta-llama/Meta-Llama-3-8B --param_dtype bf16\n";
    let plan = check_in(text, &[], &[]).spec.plan;
    assert_eq!(plan.sharding.map(|sharding| sharding.zero_stage), Some(3));
    assert_eq!(plan.software.as_deref(), Some("transformers-2026"));
}

/// Kkuntal990/vlm-self-reflection-ms-swift `run_sft_ddp.sh`: the path of the program is known only at run
/// time.
#[test]
fn a_program_that_is_looked_up_is_the_program() {
    for lookup in ["$(which swift)", "$(command -v swift)", "`which swift`"] {
        let text = format!(
            "#!/bin/bash\ntorchrun --nproc_per_node=2 {lookup} sft --model Qwen/Qwen3-8B --train_type lora --lora_rank 8 \\\n  \
             --max_length 2048 --per_device_train_batch_size 1 --gradient_accumulation_steps 16\n"
        );
        check(
            &text,
            &[
                ("model.name", "\"qwen3-8b\""),
                ("cluster.devices", "2"),
                ("plan.lora_rank", "8"),
                ("plan.micro_batches", "16"),
            ],
        );
    }
}
