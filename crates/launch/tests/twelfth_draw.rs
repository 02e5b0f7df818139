//! Causes of silent errors and of partial readings in an unseen draw of public launch files (twelfth,
//! November 2026), each with a text of its own.

use crate::folder;
use crate::remarks;
use railwright_launch::{Launch, RemarkKind};
use remarks::has;

fn launch(text: &str, file: &str) -> Launch {
    folder::read(text, file, &[])
}

/// MaxText divides the weights outside experts along the axes `fsdp` and `expert`.
#[test]
fn the_axis_of_experts_divides_other_weights_too() {
    let text = |data: i64, fsdp: u64| {
        format!(
            "base_config: base.yml\nhardware: gpu\nmodel_name: mixtral-8x7b\nper_device_batch_size: 4\nmax_target_length: 4096\n\
             remat_policy: full\ndcn_data_parallelism: {data}\ndcn_fsdp_parallelism: {fsdp}\nici_fsdp_parallelism: 1\n\
             ici_expert_parallelism: 8\n"
        )
    };
    let read = |data, fsdp| launch(&text(data, fsdp), "run.yml");
    folder::check(&read(-1, 4), &[("plan.expert_parallel", "8"), ("plan.sharding", "\"hsdp:32\"")]);
    folder::check(&read(2, 1), &[("plan.sharding", "\"hsdp:8\""), ("plan.data_parallel", "16")]);
    folder::check(&read(1, 4), &[("plan.sharding", "\"fsdp\"")]);
}

/// The stage of sharding is in DeepSpeed's file, unless it is in the command.
#[test]
fn sharding_of_a_deepspeed_file_that_is_not_read_is_open() {
    let text = |more: &str| {
        format!(
            "deepspeed --num_gpus 8 pretrain_gpt.py --num-layers 24 --hidden-size 2048 --num-attention-heads 16 --seq-length 2048 \
             --max-position-embeddings 2048 --micro-batch-size 4 --global-batch-size 64 --fp16 --deepspeed {more}\n"
        )
    };
    let file = launch(&text("--deepspeed_config ds.json"), "run.sh");
    folder::check(&file, &[("plan.sharding", "open"), ("plan.micro_batch", "4")]);
    let stage = launch(&text("--deepspeed_config ds.json --zero-stage 2"), "run.sh");
    folder::check(&stage, &[("plan.sharding", "\"zero2\"")]);
    folder::check(&launch(&text(""), "run.sh"), &[("plan.sharding", "\"none\"")]);
    // A teacher is a second model.
    let taught = launch(&text("--mos --create-moe-param-group --num-layers-teacher 24"), "run.sh");
    assert!(has(&taught, RemarkKind::NotModelled, "teacher"), "{:?}", taught.remarks);
    assert!(!has(&taught, RemarkKind::Unresolved, "--mos"), "{:?}", taught.remarks);
    assert!(!has(&taught, RemarkKind::Unknown, "teacher"), "{:?}", taught.remarks);
}

/// A reward model is trained on pairs.
#[test]
fn pairs_of_a_reward_model_are_listed() {
    let text = "rm:\n  max_num_epochs: 1\npolicy:\n  model_name: meta-llama/Llama-3.2-1B-Instruct\n  train_global_batch_size: 64\n  \
        train_micro_batch_size: 2\n  max_total_sequence_length: 4096\n  precision: bfloat16\n  dtensor_cfg:\n    enabled: true\n    \
        tensor_parallel_size: 1\ncluster:\n  gpus_per_node: 8\n  num_nodes: 1\n";
    let read = launch(text, "rm.yaml");
    folder::check(&read, &[("plan.global_batch", "64"), ("cluster.devices", "8")]);
    assert!(has(&read, RemarkKind::NotModelled, "a sample is a pair"), "{:?}", read.remarks);
    assert!(!has(&read, RemarkKind::Assumed, "generation, rewards"), "{:?}", read.remarks);
    let other = launch(&text.replace("rm:", "grpo:"), "grpo.yaml");
    assert!(!has(&other, RemarkKind::NotModelled, "a sample is a pair"), "{:?}", other.remarks);
    assert!(has(&other, RemarkKind::Assumed, "generation, rewards"), "{:?}", other.remarks);
}

/// InternEvo divides experts over replicas without a number.
#[test]
fn ranks_of_experts_that_follow_the_devices_are_open() {
    let text = |size: &str| {
        format!(
            "data = dict(seq_len=2048, micro_num=4, micro_bsz=2)\nmodel = dict(num_attention_heads=32, hidden_size=4096, num_layers=32, \
             vocab_size=92544, mlp_ratio=2.5, dtype=\"torch.bfloat16\", num_experts=4, checkpoint=False)\nhybrid_zero_optimizer = \
             dict(clip_grad_norm=1.0)\nparallel = dict(zero1=dict(size=-1), tensor=dict(size=1, mode=\"mtp\"), \
             pipeline=dict(size=1), {size})\n"
        )
    };
    let read = |size: &str| launch(&text(size), "7B.py");
    folder::check(
        &read("expert=dict(size=-1)"),
        &[("plan.expert_parallel", "open"), ("plan.tensor_parallel", "1")],
    );
    folder::check(&read("weight=dict(size=1)"), &[("plan.expert_parallel", "open")]);
    folder::check(&read("expert=dict(size=2, no_tp=False)"), &[("plan.expert_parallel", "2")]);
}

/// Transformers' own attention has the scores in memory.
#[test]
fn eager_attention_is_unfused() {
    let text = |kernel: &str| {
        format!(
            "swift sft --model Qwen/Qwen3-0.6B --tuner_type lora --torch_dtype bfloat16 --attn_impl {kernel} --max_length 4096 \
             --per_device_train_batch_size 8 --gradient_accumulation_steps 1 --dataset a\n"
        )
    };
    folder::check(&launch(&text("eager"), "run.sh"), &[("plan.attention_kernel", "\"unfused\"")]);
    folder::check(&launch(&text("flash_attn"), "run.sh"), &[("plan.attention_kernel", "open")]);
}
