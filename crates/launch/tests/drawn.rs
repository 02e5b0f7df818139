//! Shapes of a third draw of public launch files, in own words: facts only, each with the file that has the
//! shape.
//!
//! Responsible for: front ends that had no reader, and values that were read from a relative of the right
//! model. A value here was determined by reading that file.

use crate::folder;
use folder::{check, value};

use railwright_launch::{Context, Launch, RemarkKind, read_with};

fn launch(text: &str) -> Launch {
    read_with(text, "run", &Context::default()).expect("a launch file").expect("no problems")
}

fn read_in(text: &str, files: &'static [(&'static str, &'static str)]) -> Launch {
    folder::read(text, "run", files)
}

fn refused(text: &str) -> String {
    let problems =
        read_with(text, "run", &Context::default()).expect("a launch file").expect_err("a problem");
    problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

fn remarks(launch: &Launch, kind: RemarkKind) -> String {
    let all: Vec<String> =
        launch.remarks_of(kind).map(|remark| format!("{} {}", remark.source, remark.message)).collect();
    all.join("\n")
}

const AUTOMODEL: &str = "step_scheduler:\n  global_batch_size: 128\n  local_batch_size: 4\nmodel:\n  _target_: nemo_automodel.NeMoAutoModelForCausalLM.from_pretrained\n  \
    pretrained_model_name_or_path: Qwen/Qwen3-30B-A3B\ndistributed:\n  strategy: fsdp2\n  tp_size: 1\n  cp_size: 1\n  pp_size: 1\n  ep_size: 8\n  dp_size: none\n  \
    activation_checkpointing: true\ndataset:\n  _target_: nemo_automodel.components.datasets.llm.chat_dataset.ChatDataset\n  seq_length: 2048\npacked_sequence:\n  \
    packed_sequence_size: 0\noptimizer:\n  _target_: torch.optim.AdamW\n  lr: 1e-5\n";

/// NVIDIA-NeMo/Automodel
/// `examples/convergence/tulu3/models/moonlight-16b/moonlight_16b_ep8_te_fusedadam.yaml`.
#[test]
fn recipes_of_nemo_automodel_are_read() {
    let plain = launch(AUTOMODEL);
    check(
        &plain,
        &[
            ("model.name", "\"qwen3-30b-a3b\""),
            ("cluster.devices", "open"),
            ("plan.expert_parallel", "8"),
            ("plan.micro_batch", "4"),
            ("plan.global_batch", "128"),
            ("plan.sequence_length", "2048"),
            ("plan.recompute", "\"full\""),
            ("plan.optimizer", "\"adam\""),
            ("plan.precision.master", "\"none\""),
            ("plan.precision.moments", "\"bf16\""),
            ("plan.precision.gradient_reduce", "\"fp32\""),
        ],
    );
    let wide = launch(&AUTOMODEL.replace("Qwen3-30B-A3B\n", "Qwen3-30B-A3B\n  torch_dtype: float32\n"));
    check(&wide, &[("plan.precision.master", "open"), ("plan.precision.moments", "open")]);
    let fused = launch(&AUTOMODEL.replace(
        "torch.optim.AdamW\n",
        "transformer_engine.pytorch.optimizers.fused_adam.FusedAdam\n  master_weights: true\n  exp_avg_dtype: torch.bfloat16\n",
    ));
    check(&fused, &[("plan.precision.master", "\"fp32\""), ("plan.precision.moments", "\"bf16\"")]);
    let replicas = launch(&AUTOMODEL.replace("dp_size: none", "dp_size: 16\n  dp_replicate_size: 2"));
    check(&replicas, &[("cluster.devices", "16"), ("plan.sharding", "\"fsdp-no-reshard:8\"")]);
}

/// NVIDIA-NeMo/Automodel `examples/llm_finetune/deepseek_v4/deepseek_v4_flash_hellaswag_lora.yaml`, and its
/// pipelines and diffusion recipes.
#[test]
fn adapters_pipelines_and_other_models_of_nemo_automodel() {
    let lora = launch(&format!("{AUTOMODEL}peft:\n  dim: 16\n  target_modules: ['*.q_proj', '*.v_proj']\n"));
    check(
        &lora,
        &[
            ("plan.optimizer", "\"lora\""),
            ("plan.lora_rank", "16"),
            ("plan.lora_targets", "[\"q_proj\", \"v_proj\"]"),
        ],
    );
    let unknown = launch(&format!("{AUTOMODEL}peft:\n  dim: 16\n  target_modules: ['*wo_b']\n"));
    check(&unknown, &[("plan.lora_targets", "open")]);
    let pipeline = "pp_size: 4\n  pipeline:\n    pp_schedule: interleaved1f1b\n    pp_microbatch_size: 1\n    layers_per_stage: 6";
    let pipeline = launch(&AUTOMODEL.replace("pp_size: 1", pipeline));
    check(
        &pipeline,
        &[("plan.micro_batch", "1"), ("plan.virtual_stages", "2"), ("plan.schedule", "\"1f1b\"")],
    );
    let cut = AUTOMODEL.replace("Qwen3-30B-A3B\n", "Qwen3-30B-A3B\n  config:\n    num_hidden_layers: 4\n");
    check(&launch(&cut), &[("model.name", "open")]);
    assert!(refused(&format!("{AUTOMODEL}flow_matching:\n  shift: 3.0\n")).contains("diffusion"));
}

const XTUNER: &str = "import torch\nfrom mmengine.optim import AmpOptimWrapper\nfrom peft import LoraConfig\nfrom torch.optim import AdamW\n\
    from transformers import AutoModelForCausalLM, BitsAndBytesConfig\nfrom xtuner.model import SupervisedFinetune\nfrom xtuner.dataset import process_hf_dataset\n\
    pretrained_model_name_or_path = 'meta-llama/Llama-2-7b-chat-hf'\nmax_length = 512\nsequence_parallel_size = 2\nbatch_size = 1\naccumulative_counts = 16\n\
    accumulative_counts *= sequence_parallel_size\noptim_type = AdamW\n\
    model = dict(\n    type=SupervisedFinetune,\n    llm=dict(\n        type=AutoModelForCausalLM.from_pretrained,\n        \
    pretrained_model_name_or_path=pretrained_model_name_or_path,\n        torch_dtype=torch.float16,\n        quantization_config=dict(type=BitsAndBytesConfig, load_in_4bit=True)),\n    \
    lora=dict(type=LoraConfig, r=64))\n\
    train_dataset = dict(type=process_hf_dataset, max_length=max_length, pack_to_max_length=False)\n\
    train_dataloader = dict(batch_size=batch_size, dataset=train_dataset)\n\
    optim_wrapper = dict(type=AmpOptimWrapper, optimizer=dict(type=optim_type, lr=2e-4), accumulative_counts=accumulative_counts, dtype='float16')\n";

/// InternLM/xtuner `xtuner/configs/llama/llama2_7b_chat/llama2_7b_chat_qlora_tiny_codes_e1.py`, and the
/// sequence parallelism of `internlm2_5_chat_20b_alpaca_e3.py`.
#[test]
fn configurations_of_xtuner_are_read() {
    let tuned = launch(XTUNER);
    check(
        &tuned,
        &[
            ("model.name", "\"llama-2-7b\""),
            ("plan.optimizer", "\"lora\""),
            ("plan.lora_rank", "64"),
            ("plan.lora_targets", "[\"all-linear\"]"),
            ("plan.frozen_weights", "\"nf4\""),
            ("plan.sequence_length", "512"),
            ("plan.micro_batch", "1"),
            ("plan.micro_batches", "32"),
            ("plan.context_parallel", "2"),
            ("plan.context_kind", "\"ulysses\""),
            ("plan.precision.preset", "\"fp16\""),
            ("plan.recompute", "\"full\""),
        ],
    );
    assert!(remarks(&tuned, RemarkKind::Assumed).contains("replicas are assumed"));
    assert!(
        refused("from xtuner.v1.train import Trainer\nfrom xtuner.model import X\n").contains("xtuner 1.0")
    );
}

const TITAN: &str = "[job]\ndump_folder = \"out\"\n[training]\nlocal_batch_size = 1\nseq_len = 4096\n[parallelism]\ntensor_parallel_degree = 1\n";

/// torchtitan's `qwen3_vl`, and torchtitan-npu `deepseek_v32_671b_61layers_4k_128die.toml`: names that begin
/// as another family's.
#[test]
fn families_whose_name_begins_as_another_are_not_that_one() {
    for (name, flavour, model) in [
        ("qwen3_vl", "8B", "\"qwen3-vl-8b\""),
        ("qwen3_5", "4B", "open"),
        ("deepseek_v32", "671B", "open"),
        ("llama3_ft", "8B", "\"llama-3-8b\""),
        ("torchtitan.experiments.simple_fsdp.llama3", "8B", "\"llama-3-8b\""),
    ] {
        let text = format!("{TITAN}[model]\nname = \"{name}\"\nflavor = \"{flavour}\"\n");
        assert_eq!(value(&launch(&text), "model.name"), model, "{name}");
    }
}

/// NVIDIA-NeMo/RL `grpo-qwen3-30ba3b-10n8g-megatron-cp2-r3-async-single-controller.yaml`: a file of defaults
/// and steps alone.
#[test]
fn nemo_rl_without_a_policy_of_its_own() {
    let base = "policy:\n  model_name: Qwen/Qwen3-8B\n  train_global_batch_size: 512\n  train_micro_batch_size: 1\n  max_total_sequence_length: 4096\n  \
        dtensor_cfg:\n    enabled: true\n    tensor_parallel_size: 2\n";
    let files: &'static [(&str, &str)] = Box::leak(Box::new([("base.yaml", base)]));
    let text = "defaults: ./base.yaml\ngrpo:\n  max_num_steps: 20\ncheckpointing:\n  checkpoint_dir: out\n";
    check(&read_in(text, files), &[("model.name", "\"qwen3-8b\""), ("plan.tensor_parallel", "2")]);
}

/// aws-samples `run_qwen3_vl-235b-megatron.sh`: 94 layers with embedding and loss counted fill eight stages.
#[test]
fn verl_counts_the_ends_of_a_pipeline_as_layers() {
    let at = "+actor_rollout_ref.actor.megatron.override_transformer_config.account_for";
    let text = format!(
        "python3 -m verl.trainer.main_ppo --config-name=ppo_megatron_trainer actor_rollout_ref.model.path=Qwen/Qwen3-235B-A22B \
         actor_rollout_ref.actor.megatron.pipeline_model_parallel_size=8 actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=1 \
         {at}_loss_in_pipeline_split=True {at}_embedding_in_pipeline_split=True\n"
    );
    check(&launch(&text), &[("plan.layers_per_stage", "[11, 12, 12, 12, 12, 12, 12, 11]")]);
}

const GPT: &str = "torchrun --nproc_per_node 16 pretrain_gpt.py --num-layers 48 --hidden-size 2048 --ffn-hidden-size 6144 --num-attention-heads 32 \
    --num-experts 128 --moe-router-topk 8 --seq-length 4096 --micro-batch-size 1 --global-batch-size 32 --bf16";

/// Ascend/MindSpeed-LLM `tune_qwen3_30b_a3b_32K_full_pack_A+X_ptd.sh`.
#[test]
fn mindspeed_swaps_states_and_gives_every_layer_experts() {
    let swapped = launch(&format!(
        "{GPT} --moe-layer-freq -1 --first-k-dense-replace -1 --swap-optimizer --norm-topk-prob\n"
    ));
    check(&swapped, &[("model.first_dense_layers", "open"), ("model.experts", "128")]);
    assert!(!remarks(&swapped, RemarkKind::Unresolved).contains("--moe-layer-freq"));
    assert!(remarks(&swapped, RemarkKind::NotModelled).contains("--swap-optimizer"));
    assert_eq!(remarks(&swapped, RemarkKind::Unknown), "");
}

/// THUDM/slime `run-qwen3.5-9B-fully_async.sh`: a specification in Python, with the name of the checkpoint.
#[test]
fn models_that_slime_builds_in_python_have_the_name_of_their_checkpoint() {
    let text = "python3 train_async.py --spec slime_plugins.models.qwen3_5 get_spec --hf-checkpoint /root/models/Qwen3.5-9B --num-layers 32 --hidden-size 4096 \
        --num-attention-heads 16 --attention-output-gate --rollout-batch-size 8 --actor-num-nodes 1 --actor-num-gpus-per-node 4 --micro-batch-size 1 --seq-length 4096 \
        --tensor-model-parallel-size 2 --global-batch-size 32\n";
    check(&launch(text), &[("model.name", "\"Qwen3.5-9B\""), ("model.layers", "open")]);
}

/// LLaMA-Factory `examples/extras/oft/qwen2_5vl_oft_sft.yaml`; llm-foundry `dbrx-lora-ft.yaml`; ms-swift
/// `examples/train/multi-node/ray/sft.yaml`; GPT-NeoX `bnb_125M.yml`; DeepSpeedExamples
/// `DeepSpeed-Domino/pretrain_llama_13b.sh`.
#[test]
fn trainers_name_methods_modules_and_vocabularies_of_their_own() {
    let rotated = launch(
        "model_name_or_path: Qwen/Qwen3-8B\nstage: sft\ndo_train: true\nfinetuning_type: oft\ncutoff_len: 2048\noft_block_size: 32\ndataset: x\n",
    );
    assert!(remarks(&rotated, RemarkKind::NotModelled).contains("rotations of weights"));
    assert_eq!(remarks(&rotated, RemarkKind::Unknown), "");
    let fused = launch(
        "max_seq_len: 4096\nglobal_train_batch_size: 16\ndevice_train_microbatch_size: 1\nmodel:\n  name: hf_causal_lm\n  pretrained_model_name_or_path: databricks/dbrx-base\n  \
         peft_config:\n    peft_type: LORA\n    r: 64\n    target_modules: [Wqkv]\n",
    );
    check(&fused, &[("plan.lora_targets", "[\"linear_qkv\"]")]);
    let swift = launch(
        "model: Qwen/Qwen2.5-7B-Instruct\ntuner_type: lora\ntorch_dtype: bfloat16\nper_device_train_batch_size: 1\ndataset: x\ndeepspeed: zero3\n",
    );
    check(&swift, &[("model.name", "\"qwen2.5-7b\""), ("plan.optimizer", "\"lora\"")]);
    let neox = launch(
        "{\n  \"pipe_parallel_size\": 1,\n  \"model_parallel_size\": 1,\n  \"num_layers\": 12,\n  \"hidden_size\": 768,\n  \"num_attention_heads\": 12,\n  \
         \"use_bnb_optimizer\": true,\n  \"train_micro_batch_size_per_gpu\": 4\n}\n",
    );
    assert!(remarks(&neox, RemarkKind::NotModelled).contains("use_bnb_optimizer"));
    let domino = launch(
        "deepspeed --num_gpus 2 pretrain_llama.py --num-layers 2 --hidden-size 4096 --num-attention-heads 32 --seq-length 1024 --micro-batch-size 8 \
         --vocab-file dataset/gpt2-vocab.json --merge-file dataset/gpt2-merges.txt --swiglu --normalization RMSNorm --fp16\n",
    );
    check(&domino, &[("model.vocab", "50257")]);
}

/// NVIDIA-NeMo/Megatron-Bridge `examples/models/gemma/gemma4/slurm_pretrain.sh`: overrides with the script's
/// variables, a recipe by name.
#[test]
fn scripts_that_start_a_recipe_of_megatron_bridge() {
    let script = "#!/bin/bash\nTP_SIZE=2\nSEQ_LENGTH=${SEQ_LENGTH:-4096}\nCKPT=$(date)\nuv run python -m torch.distributed.run \\\n  --nproc_per_node 8 \\\n  \
        --nnodes 2 \\\n  scripts/training/run_recipe.py --recipe qwen3_8b_pretrain_config \\\n  \"model.seq_length=$SEQ_LENGTH\" \\\n  \
        \"model.tensor_model_parallel_size=$TP_SIZE\" train.global_batch_size=64 train.micro_batch_size=$CKPT checkpoint.save=$CKPT\n";
    let started = launch(script);
    check(
        &started,
        &[
            ("model.name", "\"qwen3-8b\""),
            ("cluster.devices", "16"),
            ("plan.tensor_parallel", "2"),
            ("plan.sequence_length", "4096"),
            ("plan.global_batch", "64"),
            ("plan.micro_batch", "open"),
            ("plan.recompute", "open"),
        ],
    );
    assert_eq!(remarks(&started, RemarkKind::Unknown), "");
    assert!(started.open.iter().any(|open| open.key == "plan.micro_batch"));
    let other = launch(&script.replace("qwen3_8b_pretrain_config", "own_model_config"));
    assert!(other.open.iter().any(|open| open.key == "model.name"), "{:?}", other.open);
}

/// NousResearch/torchtitan `flux_dev_model.toml`; swiss-ai/nanotron-multilingual
/// `examples/mamba/config_mamba.yaml`.
#[test]
fn models_of_other_kinds_are_refused_by_name() {
    assert!(
        refused(&format!("{TITAN}[model]\nname = \"flux\"\nflavor = \"flux-dev\"\n")).contains("diffusion")
    );
    let mamba = "parallelism:\n  dp: 2\n  tp: 2\n  pp: 2\n  pp_engine: 1f1b\ntokens:\n  sequence_length: 2048\n  micro_batch_size: 2\n\
        model:\n  model_config:\n    is_mamba_config: true\n    num_hidden_layers: 48\n    d_model: 1536\n";
    assert!(refused(mamba).contains("Mamba models of nanotron"));
}

/// HYGON-AI/Megatron-LM-das `examples/qwen3.5/train_qwen35_27B_LLM.sh`: the model is that of a config.json,
/// not of the other flags.
#[test]
fn models_that_megatron_bridge_builds_are_not_those_of_the_flags() {
    let unknown = launch(&format!("{GPT} --use-bridge --bridge-hf-model ${{tokenizer_path}}\n"));
    check(&unknown, &[("model.layers", "open"), ("model.name", "open")]);
    assert!(unknown.open.iter().any(|open| open.key == "model.name"), "{:?}", unknown.open);
    let known = launch(&format!("{GPT} --use-bridge --bridge-hf-model /models/Qwen3-8B\n"));
    check(&known, &[("model.name", "\"Qwen3-8B\""), ("model.layers", "open")]);
}

/// bigscience `experiments/gpt2-meg/meg_gpt2_base_n4.slurm`: a script with lines of its log in comments.
#[test]
fn scripts_that_quote_a_log_are_scripts() {
    let text =
        format!("#!/bin/bash\n{GPT}\n# iteration 190/ 1000 | elapsed time per iteration (ms): 1381.7 | x\n");
    let script = launch(&text);
    assert_eq!(script.format.name(), "megatron-script");
    check(&script, &[("model.layers", "48")]);
}

/// CIeNET-International/maxtext `end_to_end/tpu/run_sft.sh`: fine-tuning is a program of its own, as
/// conversions are.
#[test]
fn the_fine_tuning_program_of_maxtext_trains() {
    let text = "#!/bin/bash\npython3 -m MaxText.utils.ckpt_conversion.to_maxtext MaxText/configs/base.yml model_name=llama3.1-8b scan_layers=true \\\n  \
        base_output_directory=out\npython3 -m MaxText.sft_trainer MaxText/configs/sft.yml run_name=x model_name=llama3.1-8b per_device_batch_size=2 steps=5 \\\n  \
        max_target_length=1024 ici_fsdp_parallelism=8\n";
    check(
        &launch(text),
        &[("model.name", "\"llama-3-8b\""), ("plan.sequence_length", "1024"), ("plan.micro_batch", "2")],
    );
}

/// epfLLM/Megatron-LLM `examples/pretrain_gpt.sh`; OptimalScale/LMFlow `run_finetune_with_qlora.sh`; OpenRLHF
/// `train_knowledge_distillation.sh`.
#[test]
fn biases_numbers_as_flags_and_teachers() {
    let gpt = "python pretrain_gpt.py --num_layers 24 --hidden_size 1024 --num_attention_heads 16 --micro_batch_size 4 --global_batch_size 8 \
        --seq_length 1024 --max_position_embeddings 1024 --vocab_file gpt2-vocab.json --merge_file gpt2-merges.txt --fp16\n";
    check(&launch(gpt), &[("model.biases", "false"), ("model.layers", "24")]);
    check(&launch(&gpt.replace("--fp16", "--fp16 --use_bias")), &[("model.biases", "true")]);
    check(
        &launch(&gpt.replace('_', "-").replace("pretrain-gpt", "pretrain_gpt")),
        &[("model.biases", "true")],
    );
    let llama = launch(&gpt.replace("--fp16", "--fp16 --glu_activation swiglu --use_rms_norm --no_tie_embed_logits --position_embedding_type rotary"));
    check(
        &llama,
        &[
            ("model.gated_mlp", "true"),
            ("model.norm", "\"rms_norm\""),
            ("model.tied", "false"),
            ("model.position", "\"rotary\""),
        ],
    );
    assert_eq!(remarks(&llama, RemarkKind::Unknown), "");
    let tuned = "deepspeed --num_gpus 8 finetune.py --model_name_or_path Qwen/Qwen3-8B --per_device_train_batch_size 1 --bf16 --logging_steps 1 \
        --gradient_checkpointing 0\n";
    check(&launch(tuned), &[("plan.recompute", "\"none\"")]);
    let distilled = launch(
        "deepspeed --module openrlhf.cli.train_kd --pretrain Qwen/Qwen3-0.6B --teacher_model Qwen/Qwen3-8B --max_len 2048 --zero_stage 2\n",
    );
    check(&distilled, &[("model.name", "\"qwen3-0.6b\""), ("plan.sequence_length", "2048")]);
    assert!(remarks(&distilled, RemarkKind::NotModelled).contains("teacher"));
}
