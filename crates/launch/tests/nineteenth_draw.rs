//! Causes of silent errors and of poor messages in an unseen draw of public launch files (nineteenth,
//! November 2026), each with a text of its own.

use crate::folder;
use crate::refused;
use crate::remarks;
use railwright_launch::RemarkKind;
use refused::refused;
use remarks::has;

const GPT: &str = "--num-layers 24 --hidden-size 1024 --num-attention-heads 16 --seq-length 2048 \
    --max-position-embeddings 2048 --micro-batch-size 1 --global-batch-size 64 --bf16";

/// A word with a switch or nothing is no value of the unknown flag before it.
#[test]
fn switches_of_a_branch_behind_an_unknown_flag() {
    let text = format!(
        "#!/bin/bash\nif [ ${{PMIX_RANK}} -ge 8 ]; then\n  CKPT=\"\"\nelse\n  CKPT=\"--checkpoint-activations\"\nfi\n\
         torchrun pretrain_gpt.py {GPT} --vocab-size 32000 --own-switch \\\n  $CKPT \\\n  --tensor-model-parallel-size 2\n"
    );
    let read = folder::read(&text, "run.sh", &[]);
    folder::check(&read, &[("plan.recompute", "open"), ("plan.tensor_parallel", "2")]);
    assert!(has(&read, RemarkKind::Unknown, "--own-switch"), "{:?}", read.remarks);
}

/// A tokenizer has its name in the last part of its path, in any folder.
#[test]
fn a_tokenizer_in_an_unknown_folder() {
    let script = |path: &str| {
        format!(
            "#!/bin/bash\ntorchrun pretrain_gpt.py {GPT} --tokenizer-type HuggingFaceTokenizer --tokenizer-model {path}\n"
        )
    };
    let read = folder::read(&script("/scratch/$USER/tokenizers/llama-3.2-1b"), "run.sh", &[]);
    folder::check(&read, &[("model.vocab", "128256")]);
    let read = folder::read(&script("/scratch/tokenizers/$NAME"), "run.sh", &[]);
    folder::check(&read, &[("model.vocab", "open")]);
}

/// Switches of Megatron-LM and of Megatron-DeepSpeed take no value.
#[test]
fn switches_without_effect_take_no_value() {
    let text = format!(
        "#!/bin/bash\ntorchrun pretrain_gpt.py {GPT} --vocab-size 32000 --perform-rl-step --cpu-torch-adam \
         --synchronize-each-layer --tensor-model-parallel-size 2\n"
    );
    let read = folder::read(&text, "run.sh", &[]);
    folder::check(&read, &[("plan.tensor_parallel", "2")]);
    assert!(!has(&read, RemarkKind::Unresolved, "has no value"), "{:?}", read.remarks);
}

/// torchtitan's overrides of a script have the values of its variables, without a configuration file too.
#[test]
fn variables_in_overrides_of_torchtitan() {
    let script = |tensor: &str| {
        format!(
            "#!/bin/bash\nNGPU=\"${{NGPU:-4}}\"\nSEQ=\"${{SEQ:-2048}}\"\nBS=3\n\
             args=(--training.local_batch_size \"${{BS}}\" --compile.enable)\n\
             PYTORCH_ALLOC_CONF=expandable_segments:True torchrun --nproc_per_node=\"${{NGPU}}\" -m torchtitan.train \
             --module llama3 --config llama3_8b --training.seq_len \"${{SEQ}}\" \
             --parallelism.data_parallel_shard_degree \"${{NGPU}}\" \
             --parallelism.tensor_parallel_degree {tensor} \"${{args[@]}}\" 2>&1 | tee log\n"
        )
    };
    let read = folder::read(&script("1"), "run.sh", &[]);
    let expected = [
        ("model.name", "\"llama-3-8b\""),
        ("cluster.devices", "4"),
        ("plan.sequence_length", "2048"),
        ("plan.micro_batch", "3"),
        ("plan.tensor_parallel", "1"),
    ];
    folder::check(&read, &expected);
    assert!(!has(&read, RemarkKind::Unknown, ""), "{:?}", read.remarks);
    let read = folder::read(&script("\"${TP}\""), "run.sh", &[]);
    folder::check(&read, &[("plan.tensor_parallel", "open"), ("plan.sequence_length", "2048")]);
}

/// Composer's optimizers have names of their own.
#[test]
fn optimizers_of_llm_foundry() {
    const TEXT: &str = "max_seq_len: 2048\nmodel:\n  name: hf_causal_lm\n  pretrained_model_name_or_path: meta-llama/Llama-2-7b-hf\n\
        optimizer:\n  name: decoupled_lionw\n  lr: 5.0e-7\nglobal_train_batch_size: 64\ndevice_train_microbatch_size: 1\n\
        precision: amp_bf16\nfsdp_config:\n  sharding_strategy: FULL_SHARD\n  mixed_precision: PURE\n";
    let read = folder::read(TEXT, "tune.yaml", &[]);
    folder::check(&read, &[("plan.optimizer", "\"lion\""), ("plan.sharding", "\"fsdp\"")]);
    let read = folder::read(&TEXT.replace("lionw", "adamw"), "tune.yaml", &[]);
    folder::check(&read, &[("plan.optimizer", "\"adam\"")]);
}

/// verl passes the dispatch of tokens and the fusions on to Megatron.
#[test]
fn the_dispatch_of_tokens_under_verl() {
    let at = "+actor_rollout_ref.actor.megatron.override_transformer_config.";
    let script = |more: &str| {
        format!(
            "#!/bin/bash\npython3 -m verl.trainer.main_ppo --config-name=ppo_megatron_trainer data.train_batch_size=32 \
             data.max_prompt_length=1024 data.max_response_length=1024 actor_rollout_ref.model.path=Qwen/Qwen3-30B-A3B \
             actor_rollout_ref.actor.ppo_mini_batch_size=16 actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=1 \
             actor_rollout_ref.actor.megatron.tensor_model_parallel_size=2 \
             actor_rollout_ref.actor.megatron.expert_model_parallel_size=4 {at}apply_rope_fusion=True {more} \
             trainer.nnodes=1 trainer.n_gpus_per_node=8\n"
        )
    };
    let fused =
        format!("{at}moe_token_dispatcher_type=flex {at}moe_enable_deepep=True {at}moe_grouped_gemm=False");
    let read = folder::read(&script(&fused), "run.sh", &[]);
    folder::check(&read, &[("plan.software", "\"megatron-core-2025+fused-dispatch\"")]);
    assert!(has(&read, RemarkKind::NotModelled, "this fusion is off"), "{:?}", read.remarks);
    assert!(!has(&read, RemarkKind::Unknown, "override_transformer_config"), "{:?}", read.remarks);
    let read = folder::read(&script(""), "run.sh", &[]);
    folder::check(&read, &[("plan.software", "\"megatron-core-2025\"")]);
}

/// A checkpoint in Megatron-Core's format has the name of the model with an ending.
#[test]
fn converted_checkpoints_name_their_model() {
    let text = "#!/bin/bash\nNPROC_PER_NODE=4 megatron sft --load Qwen3-30B-A3B-Base-mcore --expert_model_parallel_size 4 \
        --micro_batch_size 1 --global_batch_size 16 --max_length 8192\n";
    let read = folder::read(text, "run.sh", &[]);
    assert!(folder::value(&read, "model.name").contains("30B-A3B"), "{:?}", read.spec.get("model.name"));
}

/// The classes of NeMo's Llama 4 name its experts, not its parameters.
#[test]
fn names_by_number_of_experts() {
    for (name, model) in [
        ("Llama4Experts16", "llama-4-scout-17b-16e"),
        ("llama4_e128", "llama-4-maverick-17b-128e"),
        ("Qwen3-235B", "qwen3-235b-a22b"),
    ] {
        assert_eq!(
            railwright_spec::model::by_name(name).map(|model| model.name).as_deref(),
            Ok(model),
            "{name}"
        );
    }
}

/// A template is refused with the name of a placeholder.
#[test]
fn a_template_is_no_configuration() {
    let text = "model:\n  _component_: torchtune.models.qwen2.lora_qwen2_0_5b\n  lora_rank: 32\ntokenizer:\n  \
        path: {{student_dir}}/vocab.json\noptimizer:\n  _component_: torch.optim.AdamW\nbatch_size: 4\n";
    let problem = refused(text, "tune.yaml");
    assert!(
        problem.contains("`{{student_dir}}` has no value") && problem.contains("tune.yaml:5"),
        "{problem}"
    );
}

/// Training that continues an adapter has that adapter's rank.
#[test]
fn an_adapter_that_exists_has_its_own_rank() {
    let text = "model_name_or_path: meta-llama/Llama-3.1-8B\nadapter_name_or_path: out/sft\nstage: dpo\ndo_train: true\n\
        finetuning_type: lora\nlora_target: all\npref_loss: sigmoid\ndataset: a\ncutoff_len: 1024\n\
        per_device_train_batch_size: 8\nbf16: true\n";
    let read = folder::read(text, "dpo.yaml", &[]);
    assert!(has(&read, RemarkKind::Unresolved, "training continues this adapter"), "{:?}", read.remarks);
    assert!(!has(&read, RemarkKind::Unknown, ""), "{:?}", read.remarks);
}

/// Conversions and decoding before and after a training of MaxText are no trainings.
#[test]
fn conversions_are_no_trainings() {
    let base = "MaxText/configs/base.yml run_name=a per_device_batch_size=1 max_target_length=8192 model_name=gemma-2b";
    let text = format!(
        "#!/bin/bash\npython3 -m MaxText.utils.ckpt_conversion.to_maxtext {base} scan_layers=true\n\
         python3 MaxText/train.py {base} steps=10\npython3 MaxText/decode.py {base} steps=5\n\
         python3 -m MaxText.utils.ckpt_conversion.to_huggingface {base} scan_layers=false\n\
         python3 MaxText/tests/forward_pass_logit_checker.py {base} steps=5\n"
    );
    let read = folder::read(&text, "end_to_end.sh", &[]);
    folder::check(&read, &[("model.name", "\"gemma-2b\""), ("plan.sequence_length", "8192")]);
    assert!(!has(&read, RemarkKind::Conflict, "start training"), "{:?}", read.remarks);
}
