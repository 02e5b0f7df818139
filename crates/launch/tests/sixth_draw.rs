//! Shapes of a sixth draw of public launch files, in own words: facts only, each with the file that has the
//! shape.
//!
//! Responsible for: keys that passed as harmless, and files that another reader claimed. A value here was
//! determined by reading that file.

use crate::folder;
use folder::check;

use railwright_launch::{Format, Launch, RemarkKind, detect};

fn has(launch: &Launch, kind: RemarkKind, source: &str) -> bool {
    launch.remarks_of(kind).any(|remark| remark.source.contains(source))
}

/// torchtitan-npu/torchtitan-npu `deepseek_v32_671b_61layers_32k_128die.toml`, ZH-Haoran/PC-Layer-torchtitan
/// `gpt2_pc_layer.toml`.
#[test]
fn keys_of_a_fork_are_not_harmless() {
    let text = "[model]\nname = \"llama3\"\nflavor = \"8B\"\nprecondition_mlp = true\n[optimizer]\nname = \"AdamW\"\nlr = 1e-4\n\
        swap_optimizer = true\nmuon_adjust = \"x\"\n[training]\nlocal_batch_size = 1\nseq_len = 4096\n[parallelism]\n\
        tensor_parallel_degree = 1\n[experimental]\nactivation_offload = true\nname = \"x\"\n";
    let read = folder::read(text, "run.toml", &[]);
    assert!(has(&read, RemarkKind::NotModelled, "swap_optimizer"), "{:?}", read.remarks);
    for key in ["precondition_mlp", "muon_adjust", "activation_offload"] {
        assert!(has(&read, RemarkKind::Unknown, key), "{key}: {:?}", read.remarks);
    }
    assert!(
        has(&read, RemarkKind::Ignored, "optimizer.lr")
            && !has(&read, RemarkKind::Unknown, "experimental.name")
    );
}

/// hkust-nlp/simpleRL-reason `verl/trainer/config/sft_trainer.yaml`: NeMo has a trainer, a model and a
/// micro-batch as well.
#[test]
fn the_fine_tuning_of_verl_is_not_of_nemo() {
    let text = "data:\n  train_batch_size: 128\n  micro_batch_size_per_gpu: 2\n  max_length: 2048\nmodel:\n  \
        partial_pretrain: Qwen/Qwen2.5-7B\n  enable_gradient_checkpointing: False\n  lora_rank: 0\noptim:\n  lr: 1e-5\n\
        ulysses_sequence_parallel_size: 2\ntrainer:\n  total_epochs: 4\n";
    assert_eq!(detect(text).first().map(|seen| seen.format), Some(Format::Rl));
    let read = folder::read(text, "sft.yaml", &[]);
    check(
        &read,
        &[
            ("model.name", "\"qwen2.5-7b\""),
            ("plan.global_batch", "128"),
            ("plan.micro_batch", "2"),
            ("plan.sequence_length", "2048"),
            ("plan.recompute", "\"none\""),
            ("plan.context_parallel", "2"),
            ("plan.sharding", "\"fsdp\""),
            ("cluster.devices", "open"),
        ],
    );
}

/// agentica-project/rllm `scripts/pipeline/minibatch_pipeline.sh`: a part of the devices of a node trains.
#[test]
fn devices_that_generate_do_not_train() {
    let script = |more: &str| {
        format!(
            "python3 -m verl.trainer.main_ppo_pipeline actor_rollout_ref.model.path=Qwen/Qwen2.5-7B \\\n  \
             actor_rollout_ref.hybrid_engine=False actor_rollout_ref.actor.ppo_mini_batch_size=16 \\\n  \
             actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=1 trainer.n_gpus_per_node=8 {more} trainer.nnodes=1\n"
        )
    };
    let own = folder::read(&script("trainer.n_training_gpus_per_node=4"), "run.sh", &[]);
    check(&own, &[("cluster.devices", "4")]);
    let unsaid = folder::read(&script("trainer.n_generator_gpus=4"), "run.sh", &[]);
    check(&unsaid, &[("cluster.devices", "open")]);
    assert!(has(&unsaid, RemarkKind::Unknown, "n_generator_gpus"), "{:?}", unsaid.remarks);
}

/// NVIDIA/NeMo-Framework-Launcher `conf/peft/t5/squad.yaml`: an encoder and a decoder.
#[test]
fn lengths_of_source_and_target_are_not_one_length() {
    let text = "trainer:\n  devices: 8\n  num_nodes: 1\n  precision: bf16\nmodel:\n  tensor_model_parallel_size: 1\n  \
        micro_batch_size: 4\n  global_batch_size: 32\n  data:\n    train_ds:\n      max_src_seq_length: 512\n      \
        max_tgt_seq_length: 128\n      max_seq_length: 2048\n      micro_batch_size: 4\n      global_batch_size: 32\n  \
        peft:\n    peft_scheme: lora\n";
    let read = folder::read(text, "squad.yaml", &[]);
    check(&read, &[("plan.sequence_length", "open"), ("plan.micro_batch", "4"), ("cluster.devices", "8")]);
    assert!(has(&read, RemarkKind::NotModelled, "max_src_seq_length"), "{:?}", read.remarks);
}

/// Ascend/MindSpeed-LLM `examples/mindspore/qwen3/pretrain_qwen3_4b_4K_ms.sh`: MindSpore's launcher.
#[test]
fn workers_of_mindspore_are_ranks() {
    let script = "#!/bin/bash\nmsrun --local_worker_num 8 --worker_num 16 --join=True pretrain_gpt.py --num-layers 36 \\\n  \
        --hidden-size 2560 --num-attention-heads 32 --seq-length 4096 --max-position-embeddings 4096 \\\n  \
        --micro-batch-size 1 --global-batch-size 64 --tensor-model-parallel-size 1 --bf16\n";
    check(&folder::read(script, "run.sh", &[]), &[("cluster.devices", "16"), ("plan.global_batch", "64")]);
}

/// sail-sg/understand-r1-zero `examples/qwen2.5-7b.sh`: a program without a launcher. NovaSky-AI and others
/// have the same shape.
#[test]
fn a_program_without_a_launcher_is_read_by_its_arguments() {
    let script = "N=8\npython train_zero.py --pretrain Qwen/Qwen2.5-7B --gradient-checkpointing --bf16 --zero-stage 2 \\\n  \
        --learning_rate 1e-6 --num_ppo_epochs 1 --train_batch_size 128 --rollout_batch_size_per_device $((128 / N)) \\\n  \
        --prompt_max_length 1024 --ref_offload --vllm_gpu_ratio 0.35\n";
    let read = folder::read(script, "run.sh", &[]);
    check(
        &read,
        &[
            ("model.name", "\"qwen2.5-7b\""),
            ("plan.sharding", "\"zero2\""),
            ("plan.recompute", "\"full\""),
            ("plan.precision.preset", "\"bf16\""),
            ("plan.global_batch", "open"),
        ],
    );
    assert!(has(&read, RemarkKind::Unresolved, "train_batch_size"), "{:?}", read.remarks);
}

/// hkust-nlp/simpleRL-reason `train_grpo_math_tune_ray.sh`: a number that the user fills in.
#[test]
fn a_number_to_be_filled_in_is_open() {
    let script = "NODES=TO_BE_FILLED\npython3 -m verl.trainer.main_ppo actor_rollout_ref.model.path=Qwen/Qwen2.5-7B \\\n  \
        actor_rollout_ref.actor.ppo_mini_batch_size=16 actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=1 \\\n  \
        trainer.n_gpus_per_node=8 trainer.nnodes=$NODES\n";
    let read = folder::read(script, "run.sh", &[]);
    check(&read, &[("cluster.devices", "open"), ("plan.micro_batch", "1")]);
    assert!(has(&read, RemarkKind::Unresolved, "trainer.nnodes"), "{:?}", read.remarks);
}

/// sail-sg/understand-r1-zero `examples/qwen2.5-math-7b.sh`: enough of its flags have names of Megatron.
#[test]
fn flags_of_another_program_are_not_of_megatron() {
    let script = "#!/bin/bash\npython train_zero.py --pretrain Qwen/Qwen2.5-7B --bf16 --lr 1e-6 --lr-warmup-fraction 0.1 --seed 1 \\\n  \
        --train_batch_size 128 --gradient-checkpointing --weight-decay 0.1 --adam-beta1 0.9 --adam-beta2 0.95 --save out --load in\n";
    let read = folder::read(script, "run.sh", &[]);
    check(
        &read,
        &[("model.name", "\"qwen2.5-7b\""), ("plan.recompute", "\"full\""), ("plan.tensor_parallel", "open")],
    );
}
