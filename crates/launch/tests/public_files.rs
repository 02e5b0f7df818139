//! Shapes of launch files drawn from public repositories in November 2026, in own words: facts only, each
//! with the file that has the shape. A value here was determined by reading that file.

use railwright_launch::{Context, Files, Launch, RemarkKind, read, read_with};
use railwright_spec::run::Value;

fn launch(text: &str) -> Launch {
    read(text, "run.sh").expect("a launch file").expect("no problems")
}

fn value(launch: &Launch, key: &str) -> String {
    launch.spec.get(key).as_ref().map_or_else(|| "open".to_owned(), Value::to_toml)
}

fn check(launch: &Launch, expected: &[(&str, &str)]) {
    for (key, expected) in expected {
        assert_eq!(&value(launch, key), expected, "{key}");
    }
}

fn remarks(launch: &Launch, kind: RemarkKind) -> String {
    let all: Vec<String> =
        launch.remarks_of(kind).map(|remark| format!("{} {}", remark.source, remark.message)).collect();
    all.join("\n")
}

const GPT: &str = "torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 40 --hidden-size 6144 --num-attention-heads 48 \
                   --seq-length 8192 --micro-batch-size 1 --global-batch-size 512 --vocab-size 49152 --bf16";

/// bigcode-project/Megatron-LM `examples/finetune_bigcode_model.slurm`;
/// musram/LLM-Pretraining-Megatron-DeepSpeed `examples_deepspeed/pretrain_qvac_distributed.sh`;
/// Ascend/MindSpeed-LLM `lora_finetune_deepseek4_flash_4k_A3_ptd.sh`.
#[test]
fn forks_of_megatron_have_heads_and_positions_of_their_own() {
    let multiquery = launch(&format!("{GPT} --attention-head-type multiquery\n"));
    check(&multiquery, &[("model.kv_heads", "1"), ("model.position", "\"learned\"")]);
    let grouped = launch(&format!("{GPT} --deepspeed --num-key-value-heads 4\n"));
    check(&grouped, &[("model.kv_heads", "4")]);
    let rotated =
        launch(&format!("{GPT} --position-embedding-type deepseek4 --spec fork.models.spec layer_spec\n"));
    check(&rotated, &[("model.position", "\"rotary\"")]);
    let listed = remarks(&rotated, RemarkKind::NotModelled);
    assert!(
        listed.contains("--position-embedding-type deepseek4") && listed.contains("--spec fork.models.spec"),
        "{listed}"
    );
    let own = launch(&format!("{GPT} --spec megatron.core.models.gpt.gpt_layer_specs get_spec\n"));
    assert_eq!(remarks(&own, RemarkKind::NotModelled), "");
}

/// NVIDIA/Megatron-LM `examples/mamba/train.sh`: shares of attention and MLP layers, never a GPT.
#[test]
fn shares_of_layers_are_a_hybrid_model() {
    let hybrid = "torchrun --nproc_per_node 8 pretrain_mamba.py --num-layers 48 --hidden-size 1024 --num-attention-heads 16 \
        --group-query-attention --num-query-groups 8 --hybrid-attention-ratio 0.08 --hybrid-mlp-ratio 0.5 --seq-length 4096 \
        --micro-batch-size 4 --global-batch-size 32 --vocab-size 256000 --position-embedding-type none --bf16";
    let config = launch(&format!("{hybrid}\n")).model_config.expect("a config.json");
    assert!(config.contains("M-M-M--M-*M-M-M-M--*M-M-M-M-*M--M-M-M-*M-M--M-M-"), "{config}");
    let mamba = hybrid.replace(
        "--hybrid-attention-ratio 0.08 --hybrid-mlp-ratio 0.5",
        "--spec x.layer_specs mamba_stack_spec",
    );
    let config = launch(&format!("{mamba}\n")).model_config.expect("a config.json");
    assert!(config.contains(&"M".repeat(48)), "{config}");
}

struct Beside<'a>(&'a str);

impl Files for Beside<'_> {
    fn open(&self, path: &str, _: &str) -> Result<(String, String), String> {
        if path.ends_with("run.sh") {
            Ok((format!("./{path}"), self.0.to_owned()))
        } else {
            Err("it is not here".to_owned())
        }
    }
}

/// luukkonenr/megatron-workdir-lumi `scripts/training/qwen3_30B_A3B.slurm`: outside a job the script
/// submits itself.
#[test]
fn a_script_that_submits_itself_is_read_once() {
    for submits in
        ["if [ -z $SLURM_JOB_ID ]; then\n  sbatch \"$0\" \"$@\"\n  exit\nfi\n", "sbatch \"$0\" \"$@\"\n"]
    {
        let script = format!("#!/bin/bash\n#SBATCH --nodes=4\n#SBATCH --ntasks-per-node=8\n{submits}{GPT}\n");
        let files = Beside(&script);
        let context = Context { files: Some(&files), ..Context::default() };
        let found = read_with(&script, "run.sh", &context).expect("a launch file").expect("no problems");
        check(&found, &[("model.layers", "40"), ("plan.global_batch", "512")]);
        let longest = found.remarks.iter().map(|remark| remark.message.len() + remark.source.len()).max();
        assert!(longest < Some(400), "{longest:?}");
    }
}

/// eminorhan/frontier-torchtitan `train_8B_n64.sh` and RithishRamesh-dev/multi-node-torchtitan
/// `torchtitan-pytorchjob.yaml`.
#[test]
fn nodes_of_a_torchtitan_job() {
    let script = |head: &str, nodes: &str| {
        format!(
            "#!/bin/bash\n{head}\nexport NCCL_DEBUG=INFO\nsrun torchrun --nnodes {nodes} --nproc_per_node 8 -m torchtitan.train \\\n  \
                 --job.config_file c.toml --training.seq_len 4096\n"
        )
    };
    let slurm = launch(&script("#SBATCH --nodes=64", "$SLURM_NNODES"));
    check(&slurm, &[("cluster.devices", "512"), ("plan.sequence_length", "4096")]);
    assert_eq!(remarks(&slurm, RemarkKind::Unknown), "");
    check(&launch(&script("NNODES=2", "${NNODES}")), &[("cluster.devices", "16")]);
    let open = launch(&script("NNODES=${PET_NNODES}", "${NNODES}"));
    check(&open, &[("cluster.devices", "open")]);
    assert!(open.open.iter().any(|open| open.key == "cluster.devices"));
}

/// allenai/open-instruct `scripts/train/olmo3/32b_instruct_dpo.sh` and `scripts/train/tulu3/dpo_8b.sh`.
#[test]
fn a_wrapper_and_a_file_without_offload() {
    let script = |nodes: u64, processes: u64| {
        format!(
            "python mason.py --num_nodes {nodes} --gpus 8 -- accelerate launch --num_processes {processes} --use_deepspeed \\\n  \
                 --deepspeed_config_file configs/stage3_no_offloading_accelerate.conf open_instruct/dpo_tune_cache.py \\\n  \
                 --model_name_or_path allenai/Llama-3.1-Tulu-3-8B-SFT --max_seq_length 2048 --per_device_train_batch_size 1 \\\n  \
                 --gradient_accumulation_steps 16 --bf16 --gradient_checkpointing\n"
        )
    };
    let agreed = launch(&script(8, 64));
    check(
        &agreed,
        &[
            ("model.name", "\"llama-3-8b\""),
            ("cluster.devices", "64"),
            ("plan.sharding", "\"fsdp\""),
            ("plan.offload.optimizer", "open"),
            ("plan.offload.parameters", "open"),
        ],
    );
    assert!(
        remarks(&agreed, RemarkKind::NotModelled).contains("pairs of samples"),
        "preferences, by the program's name"
    );
    check(&launch(&script(4, 8)), &[("cluster.devices", "open")]);
}

/// OpenRLHF/OpenRLHF `examples/scripts/train_sft_mixtral_lora.sh`, `train_ppo_ray_slurm.sh` and
/// `train_prorlv2_math_hybrid_engine.sh`.
#[test]
fn openrlhf_keeps_its_rank_and_its_command_behind_another() {
    let lora = launch(
        "deepspeed --module openrlhf.cli.train_sft --data.max_len 2048 --train.batch_size 128 --train.micro_batch_size 4 \
         --model.model_name_or_path mistralai/Mixtral-8x7B-v0.1 --ds.zero_stage 3 --ds.lora.rank 64\n",
    );
    check(
        &lora,
        &[
            ("plan.optimizer", "\"lora\""),
            ("plan.lora_rank", "64"),
            ("plan.lora_targets", "[\"all-linear\"]"),
        ],
    );
    let behind = launch(
        "#!/bin/bash\nsrun bash -c \\\n\"pip install ray && ray job submit -- python3 -m openrlhf.cli.train_ppo_ray \\\n  \
         --actor.num_nodes 1 --actor.num_gpus_per_node 4 --actor.model_name_or_path OpenRLHF/Llama-3-8b-sft-mixture \\\n  \
         --train.micro_batch_size 8 --train.batch_size 128 --data.max_len 2048 --ds.zero_stage 3\"\n",
    );
    check(
        &behind,
        &[("cluster.devices", "4"), ("model.name", "\"llama-3-8b\""), ("plan.global_batch", "128")],
    );
    let packed = launch(
        "python3 -m openrlhf.cli.train_ppo_ray --actor.num_nodes 1 --actor.num_gpus_per_node 8 --train.batch_size 1024 \
         --actor.model_name_or_path deepseek-ai/DeepSeek-R1-Distill-Qwen-1.5B --train.dynamic_batch_enable --data.max_len 9216 \
         --train.max_tokens_per_gpu 32768 --ds.zero_stage 3\n",
    );
    check(&packed, &[("plan.micro_batch", "2"), ("model.name", "\"deepseek-r1-distill-qwen-1.5b\"")]);
}

/// Lightning-AI/litgpt `config_hub/finetune/*/full.yaml`; volcengine/verl `trainer/config` of November 2026.
#[test]
fn weights_and_moments_without_copies() {
    let litgpt = launch(
        "checkpoint_dir: checkpoints/meta-llama/Llama-2-7b-hf\nout_dir: out\nprecision: bf16-true\ndevices: 4\nnum_nodes: 1\n\
         train:\n  global_batch_size: 8\n  micro_batch_size: 1\n  max_seq_length: 512\n",
    );
    let narrow = [
        ("plan.precision.parameters", "\"bf16\""),
        ("plan.precision.moments", "\"bf16\""),
        ("plan.precision.master", "\"none\""),
    ];
    check(&litgpt, &narrow);
    let verl = launch(
        "python3 -m verl.trainer.main_ppo actor_rollout_ref.model.path=Qwen/Qwen2.5-7B \\\n  \
         actor_rollout_ref.model.enable_gradient_checkpointing=True actor_rollout_ref.actor.use_dynamic_bsz=True \\\n  \
         actor_rollout_ref.actor.fsdp_config.model_dtype=bf16\n",
    );
    check(&verl, &narrow);
    check(
        &verl,
        &[
            ("cluster.devices", "8"),
            ("plan.sequence_length", "1024"),
            ("plan.global_batch", "256"),
            ("plan.micro_batch", "16"),
        ],
    );
}

/// pytorch/torchtitan `models/kimi_k2_7/config_registry.py`: Adam for norms and embeddings, Muon for
/// matrices.
#[test]
fn groups_of_parameters_name_the_optimizer() {
    let found = launch(
        "from torchtitan.trainer import Trainer\n\n\ndef moonlight_16b_a3b():\n    return Trainer.Config(\n        \
         model_spec=model_registry(\"moonlight-16B-A3B\"),\n        training=TrainingConfig(max_context_length=4096, \
         num_tokens_per_microbatch_per_dp_rank=4 * 4096),\n        parallelism=ParallelismConfig(expert_parallel_degree=8),\n        \
         optimizer=OptimizersContainer.Config(param_groups=[ParamGroupConfig(pattern=\"w\", optimizer_name=\"DistMuon\"), \
         ParamGroupConfig(pattern=\".*\", optimizer_name=\"AdamW\")]),\n    )\n",
    );
    check(&found, &[("plan.optimizer", "\"muon\""), ("model.name", "\"moonlight-16b-a3b\"")]);
}

/// ThuanNaN/vi-llm-pretraining `configs/training/7b.yaml`: a program of its own, whose keys are not
/// MaxText's.
#[test]
fn a_nested_key_is_no_maxtext() {
    let text =
        "model:\n  hidden_size: 4096\n  num_hidden_layers: 32\ntraining:\n  per_device_batch_size: 4\n";
    assert!(read(text, "7b.yaml").is_none());
}
