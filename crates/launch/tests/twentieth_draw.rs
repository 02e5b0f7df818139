//! Causes of silent errors and of poor messages in an unseen draw of public launch files (twentieth,
//! November 2026), each with a text of its own.

use crate::folder;
use crate::refused;
use crate::remarks;
use railwright_launch::RemarkKind;
use refused::refused;
use remarks::has;

/// verl's engine of MindSpeed has parallel sizes and recompute of Megatron in a section of its own.
#[test]
fn the_engine_of_mindspeed_under_verl() {
    let at = "actor_rollout_ref.actor.mindspeed";
    let script = |more: &str| {
        format!(
            "#!/bin/bash\npython3 -m verl.trainer.main_ppo model_engine=mindspeed data.train_batch_size=16 \
             data.max_prompt_length=2048 data.max_response_length=2048 actor_rollout_ref.model.path=Qwen/Qwen3-32B \
             actor_rollout_ref.actor.ppo_mini_batch_size=16 actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=1 \
             actor_rollout_ref.rollout.n=8 {at}.tensor_model_parallel_size=4 {at}.pipeline_model_parallel_size=2 \
             +{at}.mcore_kwargs.recompute_method=uniform +{at}.mcore_kwargs.recompute_granularity=full \
             +{at}.mcore_kwargs.overlap_grad_reduce=True trainer.n_gpus_per_node=16 trainer.nnodes=1 {more}\n"
        )
    };
    let read = folder::read(&script(&format!("{at}.strategy=mindspeed_megatron")), "run.sh", &[]);
    let expected = [
        ("plan.tensor_parallel", "4"),
        ("plan.pipeline_parallel", "2"),
        ("plan.recompute", "\"full\""),
        ("plan.sharding", "\"zero1\""),
        ("plan.overlap.gradient_reduce", "true"),
        ("plan.global_batch", "128"),
    ];
    folder::check(&read, &expected);
    assert!(!has(&read, RemarkKind::Unknown, "tensor_model_parallel_size"), "{:?}", read.remarks);
}

/// ms-swift's `max_length` limits prompts where it generates completions.
#[test]
fn prompts_and_completions_of_ms_swift() {
    let script = |kind: &str, more: &str| {
        format!(
            "#!/bin/bash\nNPROC_PER_NODE=8 swift rlhf --rlhf_type {kind} --model Qwen/Qwen3-8B --tuner_type lora \
             --per_device_train_batch_size 4 --max_length 768 --torch_dtype bfloat16 {more}\n"
        )
    };
    let length = |kind: &str, more: &str| {
        let read = folder::read(&script(kind, more), "run.sh", &[]);
        folder::value(&read, "plan.sequence_length")
    };
    assert_eq!(length("grpo", "--max_completion_length 32"), "800");
    assert_eq!(length("grpo", ""), "1280");
    assert_eq!(length("gkd", "--max_completion_length 256"), "1024");
    assert_eq!(length("dpo", ""), "768");
}

/// MaxText's `dot_product` has the scores of attention in memory.
#[test]
fn attention_without_a_fused_kernel_under_maxtext() {
    let script = |kind: &str| {
        format!(
            "#!/bin/bash\npython3 -m MaxText.train MaxText/configs/base.yml run_name=x model_name=llama3.1-8b \
             per_device_batch_size=2 max_target_length=4096 attention={kind}\n"
        )
    };
    let read = folder::read(&script("dot_product"), "run.sh", &[]);
    folder::check(&read, &[("plan.attention_kernel", "\"unfused\"")]);
    let read = folder::read(&script("flash"), "run.sh", &[]);
    folder::check(&read, &[("plan.attention_kernel", "open")]);
}

/// Remarks have no value that gives access to an account.
#[test]
fn values_of_secrets_are_not_repeated() {
    let secret = "abcdefgh0123";
    let text = format!(
        "#!/bin/bash\npython3 -m MaxText.train MaxText/configs/base.yml run_name=x model_name=llama3.1-8b \
         per_device_batch_size=2 max_target_length=4096 hf_access_token={secret}\n"
    );
    let read = folder::read(&text, "run.sh", &[]);
    assert!(has(&read, RemarkKind::Unknown, "hf_access_token"), "{:?}", read.remarks);
    assert!(!format!("{read:?}").contains(secret), "{read:?}");
    let text = format!(
        "#!/bin/bash\ntorchrun pretrain_gpt.py --num-layers 2 --hidden-size 64 --num-attention-heads 4 --seq-length 128 --max-position-embeddings 128 --micro-batch-size 1 --global-batch-size 8 --vocab-size 32000 --bf16 --wandb-api-key {secret}\n"
    );
    let read = folder::read(&text, "run.sh", &[]);
    assert!(!format!("{:?}", read.remarks).contains(secret), "{:?}", read.remarks);
}

/// The program of verl's fine-tuning can be a variable that the caller sets.
#[test]
fn a_program_that_the_caller_sets() {
    let text = "#!/bin/bash\nENTRYPOINT=\"-m verl.trainer.sft_trainer\"\n\
        $COMMAND data.train_files=x data.train_batch_size=64 model.path=Qwen/Qwen3-8B engine=megatron\n";
    let problem = refused(text, "run.sh");
    assert!(
        problem.contains("the program of the command at line 3 is in a variable without a value"),
        "{problem}"
    );
}

/// A variable `gpus` can be a list of devices, here of a function's own.
#[test]
fn a_list_of_devices_in_a_variable() {
    let text = "#!/bin/bash\nlaunch_group () {\n  local gpus=\"$1\"\n  CUDA_VISIBLE_DEVICES=\"$gpus\" accelerate launch \
        --num_processes 4 train.py --model_name_or_path Qwen/Qwen2.5-3B --per_device_train_batch_size 2 \
        --gradient_accumulation_steps 8 --max_length 2048 --bf16 true\n}\nlaunch_group \"0,1,2,3\"\n";
    let read = folder::read(text, "run.sh", &[]);
    folder::check(&read, &[("cluster.devices", "4"), ("plan.micro_batch", "2")]);
}

/// Flags of hybrid models are in the model's configuration, not in keys of a run.
#[test]
fn flags_of_hybrid_models_have_an_effect() {
    let text = "#!/bin/bash\ntorchrun --nproc_per_node 8 pretrain_mamba.py --num-layers 8 --hidden-size 512 \
        --num-attention-heads 8 --hybrid-attention-ratio 0.25 --hybrid-mlp-ratio 0.5 --mamba-state-dim 64 \
        --mamba-head-dim 32 --mamba-num-groups 4 --seq-length 1024 --max-position-embeddings 1024 --vocab-size 32000 \
        --micro-batch-size 1 --global-batch-size 8 --bf16\n";
    let read = folder::read(text, "run.sh", &[]);
    assert!(!has(&read, RemarkKind::Unknown, "--mamba-"), "{:?}", read.remarks);
}
