//! Causes of silent errors, of false remarks and of poor messages in an unseen draw of public launch files
//! (seventeenth, November 2026), each with a text of its own.

use crate::folder;
use crate::remarks;
use railwright_launch::{Launch, RemarkKind};
use remarks::has;

/// Programs switch recomputation on by a method of the model.
#[test]
fn recompute_by_a_call_in_a_program() {
    let program = |call: &str| {
        format!(
            "import transformers\nfrom transformers import AutoModelForCausalLM\n\
             model = AutoModelForCausalLM.from_pretrained('Qwen/Qwen2.5-7B')\n{call}\n\
             trainer = transformers.Trainer(model=model, args=transformers.TrainingArguments(\n    \
             per_device_train_batch_size=4, logging_steps=1, save_steps=10, bf16=True, output_dir='out'))\ntrainer.train()\n"
        )
    };
    let read = |call: &str| folder::read(&program(call), "train.py", &[]);
    folder::check(&read("model.gradient_checkpointing_enable()"), &[("plan.recompute", "\"full\"")]);
    folder::check(&read("model = prepare_model_for_kbit_training(model)"), &[("plan.recompute", "\"full\"")]);
    folder::check(&read("# model.gradient_checkpointing_enable()"), &[("plan.recompute", "\"none\"")]);
    let either = read("if args.save:\n    model.gradient_checkpointing_enable()");
    folder::check(&either, &[("plan.recompute", "open")]);
}

/// `validate_yaml` accumulates bf16 in fp32, even if the configuration disables it.
#[test]
fn gradients_of_a_yaml_configuration_of_megatron() {
    let text = "language_model:\n  num_layers: 24\n  hidden_size: 1024\n  num_attention_heads: 16\nmodel_parallel:\n  \
        tensor_model_parallel_size: 1\n  bf16: True\nseq_length: 2048\nmicro_batch_size: 2\nglobal_batch_size: 64\n\
        max_position_embeddings: 2048\naccumulate_allreduce_grads_in_fp32: False\n";
    let read = folder::read(text, "gpt.yaml", &[]);
    folder::check(
        &read,
        &[("plan.precision.gradients", "\"fp32\""), ("plan.precision.gradient_reduce", "\"fp32\"")],
    );
    let narrow = format!("{text}grad_reduce_in_bf16: True\n");
    folder::check(&folder::read(&narrow, "gpt.yaml", &[]), &[("plan.precision.gradient_reduce", "\"bf16\"")]);
}

const DEEPSPEED: &str = "GLOBAL=64\nMICRO=4\nCONFIG=ds.json\ncat <<EOT > $CONFIG\n{\"train_batch_size\": $GLOBAL, \
    \"train_micro_batch_size_per_gpu\": $MICRO, \"zero_optimization\": {\"stage\": 2, \"offload_optimizer\": {\"device\": \"cpu\"}}}\nEOT\n\
    deepspeed --num_gpus 8 pretrain_gpt.py --num-layers 24 --hidden-size 1024 --num-attention-heads 16 --seq-length 1024 \
    --max-position-embeddings 1024 --micro-batch-size 4 --global-batch-size 1024 --vocab-size 50257 --fp16 --deepspeed \
    --deepspeed_config $CONFIG\n";

/// The file that a script writes for DeepSpeed is not elsewhere.
#[test]
fn the_deepspeed_file_that_a_script_writes() {
    let read = folder::read(&format!("#!/bin/bash\n{DEEPSPEED}"), "run.sh", &[]);
    folder::check(
        &read,
        &[("plan.sharding", "\"zero2\""), ("plan.offload.optimizer", "1.0"), ("plan.global_batch", "1024")],
    );
    assert!(
        has(&read, RemarkKind::Conflict, "`train_batch_size` of DeepSpeed's file `ds.json` is 64"),
        "{:?}",
        read.remarks
    );
    assert!(!has(&read, RemarkKind::NotModelled, "refers to a DeepSpeed file"), "{:?}", read.remarks);
    let agrees = DEEPSPEED.replace("GLOBAL=64", "GLOBAL=1024");
    let read = folder::read(&format!("#!/bin/bash\n{agrees}"), "run.sh", &[]);
    assert!(!has(&read, RemarkKind::Conflict, "train_batch_size"), "{:?}", read.remarks);
}

const NEOX: &str = "pipe_parallel_size: 1\nmodel_parallel_size: 2\nnum_layers: 12\nhidden_size: 768\nnum_attention_heads: 12\n\
    seq_length: 2048\nmax_position_embeddings: 2048\nno_weight_tying: true\ntrain_micro_batch_size_per_gpu: 4\ngas: 8\n\
    zero_optimization: {stage: 1}\nfp16: {enabled: true}\n";

/// Experts of GPT-NeoX, by today's names and DeepSpeed's.
#[test]
fn experts_of_gpt_neox() {
    let text = format!(
        "{NEOX}moe_num_experts: 16\nmoe_top_k: 2\nmoe_expert_interval: 2\nmoe_expert_parallel_size: 4\n\
         enable_expert_tensor_parallelism: true\nmoe_token_dropping: true\nmoe_train_capacity_factor: 1.5\n"
    );
    let read = folder::read(&text, "moe.yml", &[]);
    let expected = [
        ("model.experts", "16"),
        ("model.top_k", "2"),
        ("model.moe_every", "2"),
        ("plan.expert_parallel", "4"),
        ("plan.expert_tensor_parallel", "2"),
        ("plan.expert_capacity", "1.5"),
        ("plan.micro_batches", "8"),
    ];
    folder::check(&read, &expected);
    let read = folder::read(&format!("{NEOX}num_experts: 8\n"), "moe.yml", &[]);
    let expected = [
        ("model.experts", "8"),
        ("model.top_k", "1"),
        ("model.moe_every", "1"),
        ("plan.expert_parallel", "1"),
        ("plan.expert_tensor_parallel", "1"),
        ("plan.expert_capacity", "open"),
    ];
    folder::check(&read, &expected);
    folder::check(
        &folder::read(&format!("{NEOX}moe_num_experts: 1\n"), "d.yml", &[]),
        &[("model.experts", "open")],
    );
}

/// GPT-NeoX marks the values of its dump, which is not a dump of Megatron-LM.
#[test]
fn a_log_of_gpt_neox() {
    let text = "-------------------- arguments --------------------\n\
        \x20 bf16 ............................ {'enabled': True}...........updated\n\
        \x20 checkpoint_activations .......... True........................updated\n\
        \x20 global_num_gpus ................. 8...........................updated\n\
        \x20 hidden_size ..................... 768.........................updated\n\
        \x20 no_weight_tying ................. True........................updated\n\
        \x20 num_attention_heads ............. 12..........................updated\n\
        \x20 num_layers ...................... 12..........................updated\n\
        \x20 precision ....................... bfloat16....................updated\n\
        \x20 seq_length ...................... 2048........................updated\n\
        \x20 train_batch_size ................ 32..........................updated\n\
        \x20 train_micro_batch_size_per_gpu .. 4...........................updated\n\
        \x20 zero_optimization ............... {'stage': 1, 'overlap_comm': True}updated\n\
        \x20 model_parallel_size ............. 1...........................default\n\
        \x20 pipe_parallel_size .............. 0...........................default\n\
        \x20 moe_num_experts ................. 1...........................default\n\
        \x20 fp16 ............................ None........................default\n\
        ---------------- end of arguments ----------------\n\
        \x20samples/sec: 64.0 | iteration       10/     100 | elapsed time per iteration (ms): 500.0 | learning rate: 1.0E-4 |\n";
    let read = folder::read(text, "stdout.txt", &[]);
    let expected = [
        ("model.layers", "12"),
        ("model.hidden", "768"),
        ("model.tied", "false"),
        ("model.experts", "open"),
        ("cluster.devices", "8"),
        ("plan.micro_batch", "4"),
        ("plan.global_batch", "32"),
        ("plan.sequence_length", "2048"),
        ("plan.precision.preset", "\"bf16\""),
        ("plan.recompute", "\"full\""),
        ("plan.sharding", "\"zero1\""),
        ("plan.pipeline_parallel", "1"),
    ];
    folder::check(&read, &expected);
    let step = read.measured.as_ref().expect("measured").step_time;
    assert!((step - 0.5).abs() < 1e-9, "{step}");
}

const SWIFT: &str = "run sh: `python -m torch.distributed.run --nproc_per_node 8 swift/cli/sft.py --model m --tuner_type full`\n\
    [INFO:swift] rank: 0, local_rank: 0, world_size: 16, local_world_size: 8\n[INFO:swift] args: SftArguments(\n\
    adapters=[],\nattn_impl=flash_attention_2,\nbf16=True,\ndeepspeed=None,\nfsdp=full_shard auto_wrap,\n\
    fsdp_config={'fsdp_version': 2, 'reshard_after_forward': True, 'activation_checkpointing': False},\n\
    gradient_accumulation_steps=2,\ngradient_checkpointing=True,\nlora_rank=8,\nmax_length=16384,\n\
    model=/cache/models/Qwen/Qwen2.5-7B-Instruct,\npacking=True,\nper_device_train_batch_size=1,\nquant_bits=None,\n\
    sequence_parallel_size=2,\ntarget_modules=['all-linear'],\ntorch_dtype=torch.bfloat16,\ntuner_type=full,\n)\n\
    Train:   3%|x         | 1/30 [00:10<05:00, 10.35s/it]\n";

/// A log of ms-swift has all its arguments, including those at their defaults.
#[test]
fn a_log_of_ms_swift() {
    let read = folder::read(SWIFT, "stdout.log", &[]);
    let expected = [
        ("model.name", "\"qwen2.5-7b\""),
        ("cluster.devices", "16"),
        ("plan.context_parallel", "2"),
        ("plan.sharding", "\"fsdp\""),
        ("plan.recompute", "\"full\""),
        ("plan.sequence_length", "16384"),
        ("plan.micro_batch", "1"),
        ("plan.micro_batches", "2"),
        ("plan.lora_rank", "open"),
        ("plan.precision.preset", "\"bf16\""),
    ];
    folder::check(&read, &expected);
    let lora = SWIFT
        .replace("tuner_type=full,", "tuner_type=lora,")
        .replace("fsdp=full_shard auto_wrap,", "fsdp=None,");
    folder::check(
        &folder::read(&lora, "stdout.log", &[]),
        &[("plan.lora_rank", "8"), ("plan.optimizer", "\"lora\"")],
    );
}

const VERL: &str = "data.max_prompt_length=512 data.max_response_length=512 actor_rollout_ref.model.path=Qwen/Qwen2.5-7B \
    actor_rollout_ref.actor.ppo_mini_batch_size=64 trainer.n_gpus_per_node=8 trainer.nnodes=1";

/// A program that gives actor and critic separate devices, and versions before the samples of a device had a
/// key.
#[test]
fn devices_and_defaults_of_older_programs_on_verl() {
    let read = folder::read(
        &format!("python3 main_ppo_split.py {VERL} actor_rollout_ref.actor.ppo_micro_batch_size=16\n"),
        "run.sh",
        &[],
    );
    folder::check(
        &read,
        &[("cluster.devices", "open"), ("plan.micro_batch", "open"), ("plan.recompute", "open")],
    );
    assert!(has(&read, RemarkKind::Unresolved, "a part of the devices"), "{:?}", read.remarks);
    let newer = format!(
        "python3 -m verl.trainer.main_ppo {VERL} actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=2 \
         actor_rollout_ref.actor.strategy=fsdp2 actor_rollout_ref.actor.fsdp_config.reshard_after_forward=False\n"
    );
    let read = folder::read(&newer, "run.sh", &[]);
    let expected =
        [("cluster.devices", "8"), ("plan.recompute", "\"full\""), ("plan.sharding", "\"fsdp-no-reshard\"")];
    folder::check(&read, &expected);
}

/// The asynchronous trainer of verl counts the devices of generation apart.
#[test]
fn the_asynchronous_trainer_of_verl() {
    let text = format!(
        "python3 -m verl.experimental.fully_async_policy.fully_async_main {VERL} rollout.nnodes=2 \
         rollout.n_gpus_per_node=8 actor_rollout_ref.hybrid_engine=False \
         actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=2\n"
    );
    let read = folder::read(&text, "run.sh", &[]);
    folder::check(&read, &[("cluster.devices", "8")]);
    assert!(has(&read, RemarkKind::Assumed, "generates on 16 other devices"), "{:?}", read.remarks);
}

/// `sed` and `tr` that only squeeze blanks keep the settings of a command.
#[test]
fn overrides_with_squeezed_blanks() {
    let text = "#!/bin/bash\nTP=2\nO=\"\n    model.tensor_model_parallel_size=$TP\n    model.seq_length=4096\n    \
        train.micro_batch_size=1\n    train.global_batch_size=64\n\"\nCMD=\"python scripts/training/run_recipe.py --recipe llama3_8b_pretrain_config\"\n\
        CMD=\"$CMD $(echo \"$O\" | tr '\\n' ' ' | sed 's/ \\+/ /g')\"\nsrun bash -c \"$CMD\"\n";
    let read = folder::read(text, "run.sh", &[]);
    let expected =
        [("plan.tensor_parallel", "2"), ("plan.global_batch", "64"), ("plan.sequence_length", "4096")];
    folder::check(&read, &expected);
}

/// Attention kernels of NeMo-RL's Megatron.
#[test]
fn the_attention_of_nemo_rl() {
    let text = "policy:\n  model_name: Qwen/Qwen2.5-7B\n  train_global_batch_size: 32\n  train_micro_batch_size: 1\n  \
        max_total_sequence_length: 4096\n  precision: bfloat16\n  dtensor_cfg: {enabled: false}\n  megatron_cfg:\n    enabled: true\n    \
        tensor_model_parallel_size: 4\n    pipeline_model_parallel_size: 1\n    context_parallel_size: 1\n    attention_backend: unfused\n\
        grpo:\n  num_prompts_per_step: 8\ncluster:\n  gpus_per_node: 8\n  num_nodes: 1\n";
    let read = folder::read(text, "grpo.yaml", &[]);
    folder::check(&read, &[("plan.attention_kernel", "\"unfused\"")]);
    assert!(!has(&read, RemarkKind::Ignored, "attention_backend"), "{:?}", read.remarks);
}

/// Options of a shell before its command line, in a job that the script submits.
#[test]
fn a_command_line_behind_options_of_the_shell() {
    let text = "#!/bin/bash\nARGS=(--num-layers 24 --hidden-size 1024 --num-attention-heads 16 --seq-length 2048 --vocab-size 50257\n\
        --max-position-embeddings 2048 --micro-batch-size 4 --global-batch-size 64 --bf16)\nCMD=\"cd /m;\npython pretrain_gpt.py ${ARGS[@]}\"\n\
        sbatch <<EOF\n#!/bin/bash\n#SBATCH --nodes=2\n#SBATCH --gpus-per-node=8\nsrun -l bash -x -c \"${CMD}\" 2>&1 | tee log\nEOF\n";
    let read = folder::read(text, "run.sh", &[]);
    folder::check(
        &read,
        &[("plan.pipeline_parallel", "1"), ("plan.recompute", "\"none\""), ("model.layers", "24")],
    );
    assert_eq!(read.partial, None, "{:?}", read.remarks);
    let other = text.replace("bash -x -c", "bash -e -o pipefail -c");
    assert_eq!(folder::read(&other, "run.sh", &[]).partial, None);
}

/// Adapters of slime and miles.
#[test]
fn adapters_of_slime() {
    let text = "ray job submit -- python3 train.py --actor-num-nodes 1 --actor-num-gpus-per-node 4 --num-layers 36 --hidden-size 2560 \
        --ffn-hidden-size 9728 --num-attention-heads 32 --vocab-size 151936 --swiglu --disable-bias-linear --hf-checkpoint /root/m \
        --lora-rank 64 --lora-alpha 32 --target-modules all-linear --global-batch-size 64 --micro-batch-size 1 --seq-length 4096\n";
    let read = folder::read(text, "run.sh", &[]);
    let expected = [
        ("plan.optimizer", "\"lora\""),
        ("plan.lora_rank", "64"),
        ("plan.lora_targets", "[\"all-linear\"]"),
        ("cluster.devices", "4"),
    ];
    folder::check(&read, &expected);
    assert!(!has(&read, RemarkKind::Unknown, "--lora"), "{:?}", read.remarks);
}

/// open-instruct's learners are a part of the devices.
#[test]
fn learners_of_open_instruct() {
    let text = |learners: &str| {
        format!(
            "python open_instruct/grpo_fast.py --model_name_or_path meta-llama/Llama-3.1-8B --per_device_train_batch_size 1 \
             --deepspeed_stage 2 --pack_length 4096 --num_learners_per_node {learners} --vllm_num_engines 2 --logging_steps 1\n"
        )
    };
    folder::check(&folder::read(&text("6"), "run.sh", &[]), &[("cluster.devices", "6")]);
    folder::check(&folder::read(&text("4 8"), "run.sh", &[]), &[("cluster.devices", "12")]);
}

const OLMO: &str = "run_name: r\nmodel:\n  d_model: 4096\n  n_heads: 32\n  n_layers: 32\n  mlp_hidden_size: 22016\n  weight_tying: false\n  \
    rope: true\n  include_bias: false\n  layer_norm_type: rms\n  attention_layer_norm: true\n  activation_type: swiglu\n  attention_dropout: 0.0\n  \
    residual_dropout: 0.0\n  max_sequence_length: 4096\n  vocab_size: 100278\n  embedding_size: 100352\noptimizer:\n  name: adamw\n\
    global_train_batch_size: 1024\ndevice_train_microbatch_size: 2\nprecision: amp_bf16\nfsdp:\n  wrapping_strategy: by_block_and_size\n  \
    precision: mixed\nactivation_checkpointing: one_in_four\ncompile: null\n";

/// OLMo's first trainer: half of the width of a gated MLP, rows of the embedding, and recompute of some
/// blocks.
#[test]
fn the_first_trainer_of_olmo() {
    let read = folder::read(OLMO, "olmo.yaml", &[]);
    let expected = [
        ("model.layers", "32"),
        ("model.ffn", "11008"),
        ("model.vocab", "100352"),
        ("model.tied", "false"),
        ("model.gated_mlp", "true"),
        ("plan.global_batch", "1024"),
        ("plan.micro_batch", "2"),
        ("plan.sequence_length", "4096"),
        ("plan.sharding", "\"fsdp\""),
        ("plan.recompute", "\"full:8\""),
        ("plan.precision.gradient_reduce", "\"fp32\""),
        ("plan.optimizer", "\"adam\""),
        ("plan.dropout", "false"),
    ];
    folder::check(&read, &expected);
    assert_eq!(read.partial, None);
    let hybrid = OLMO.replace("precision: mixed", "sharding_strategy: HYBRID_SHARD");
    let read = folder::read(&hybrid, "olmo.yaml", &[]);
    folder::check(&read, &[("plan.sharding", "open"), ("plan.precision.gradient_reduce", "\"bf16\"")]);
    let parts = OLMO.replace("one_in_four", "fine_grained");
    folder::check(&folder::read(&parts, "olmo.yaml", &[]), &[("plan.recompute", "open")]);
}

const ROLLOUTS: &str = "from torchtitan.config import CompileConfig, ParallelismConfig, TrainingConfig\n\
    from torchtitan.experiments.rl.trainer import RLTrainer, PolicyTrainer\n\ndef rl_grpo_qwen3_0_6b():\n    \
    return RLTrainer.Config(\n        model_spec=model_registry('0.6B'),\n        \
    batcher=Batcher.Config(batch=BatchConfig(local_batch_size=2, global_batch_size=8, seq_len=2048)),\n        \
    generator=VLLMGenerator.Config(parallelism=ParallelismConfig(tensor_parallel_degree=4)),\n        \
    trainer=PolicyTrainer.Config(\n            training=TrainingConfig(),\n            \
    parallelism=ParallelismConfig(data_parallel_shard_degree=1, tensor_parallel_degree=2),\n        ),\n    )\n";

/// The trainer that runs with a generator, with the batch that is made of rollouts.
#[test]
fn reinforcement_learning_of_torchtitan() {
    let read = folder::read(ROLLOUTS, "config_registry.py", &[]);
    let expected = [
        ("model.name", "\"qwen3-0.6b\""),
        ("plan.tensor_parallel", "2"),
        ("plan.sequence_length", "2048"),
        ("plan.global_batch", "8"),
        ("cluster.devices", "2"),
    ];
    folder::check(&read, &expected);
    assert!(has(&read, RemarkKind::Assumed, "generation and rewards are excluded"), "{:?}", read.remarks);
}

/// A template of DeepSpeed's file has names in the place of values.
#[test]
fn names_that_a_script_replaces_are_named() {
    let text = "{\n  \"train_batch_size\": GBSIZE,\n  \"train_micro_batch_size_per_gpu\": 4,\n  \"zero_optimization\": {\"stage\": 1}\n}\n";
    let problems = railwright_launch::read(text, "ds.json").expect("a format").expect_err("refused");
    assert!(
        problems[0].message.contains("`GBSIZE` is not JSON, but a name that a script replaces"),
        "{problems:?}"
    );
}

fn refusal(text: &str, file: &str) -> String {
    let problems = railwright_launch::read(text, file).expect("a format").expect_err("refused");
    problems[0].message.clone()
}

/// Files of known kinds that no reader supports have a reason of their own.
#[test]
fn files_that_are_not_read_have_a_reason() {
    let recipe = "type: basic\nformat_version: 1\nspec:\n  model: gpt\n  script: |-\n    ls\n";
    assert!(refusal(recipe, "r.yaml").contains("NVIDIA's test runner"));
    let serves = "base_config: \"inference/inference_jetstream.yml\"\nmodel_name: \"llama3-70b\"\nattention: 'dot_product'\n";
    assert!(refusal(serves, "v5e.yml").contains("for inference"));
    let program = "import os\n\ndef main(tp):\n    args = f\"--tensor-model-parallel-size {tp} --num-layers 24 --hidden-size 1024 \"\n    \
        os.system(f\"torchrun pretrain_gpt.py {args} --seq-length 2048\")\n";
    let open = [("plan.tensor_parallel", "open"), ("model.layers", "24")];
    folder::check(&folder::read(program, "run.py", &[]), &open);
    let tokens = "model:\n  name: \"olmo-2-0425-1b\"\ndataset:\n  max_seq_len: 4096\n  max_num_tokens: 8192\ntrainer:\n  \
        data_parallelism: fsdp\noptimizer:\n  name: adamw\n";
    assert!(refusal(tokens, "sft.yaml").contains("fairseq2"));
    let retriever = "torchrun --nproc_per_node 8 sft.py --num-layers 24 --hidden-size 1024 --num-attention-heads 16 \
        --seq-length 2048 --max-position-embeddings 2048 --micro-batch-size 1 --retro-add-retriever --bf16\n";
    assert!(refusal(retriever, "run.sh").contains("(RETRO)"));
}

/// The devices of a list of visible ones, and the division of sequences under ms-swift.
#[test]
fn visible_devices_are_counted_and_heads_are_divided_first() {
    let text = "#!/bin/bash\nexport CUDA_VISIBLE_DEVICES=${CUDA_VISIBLE_DEVICES:-0,1,2,3}\n\
        N=$(echo $CUDA_VISIBLE_DEVICES | tr ',' '\\n' | wc -l)\nNPROC_PER_NODE=$N swift sft --model Qwen/Qwen2.5-7B-Instruct \
        --train_type full --max_length 8192 --sequence_parallel_size 2 --per_device_train_batch_size 1\n";
    let read = folder::read(text, "run.sh", &[]);
    let expected =
        [("cluster.devices", "4"), ("plan.context_parallel", "2"), ("plan.context_kind", "\"ulysses\"")];
    folder::check(&read, &expected);
}

/// Adapters of NeMo before `peft`.
#[test]
fn adapters_of_early_nemo_are_named() {
    let text = "trainer: {devices: 8, num_nodes: 1, precision: bf16}\nmodel:\n  tensor_model_parallel_size: 4\n  \
        pipeline_model_parallel_size: 1\n  global_batch_size: 64\n  micro_batch_size: 8\n  encoder_seq_length: 2048\n  \
        adapter_tuning:\n    type: parallel_adapter\n    adapter_dim: 16\n";
    let read = folder::read(text, "squad.yaml", &[]);
    assert!(
        has(&read, RemarkKind::NotModelled, "only adapters or prompts are trained"),
        "{:?}",
        read.remarks
    );
}

/// Programs of Megatron-LM's tools train nothing, and preferences are more than plain training.
#[test]
fn tools_and_preferences_under_megatron() {
    let merge = "python tools/merge_mp_partitions.py --model-type BERT --tensor-model-parallel-size 2 --num-layers 24 --hidden-size 1024 \
        --num-attention-heads 16 --seq-length 512 --max-position-embeddings 512\n";
    assert!(refusal(merge, "merge.sh").contains("merge_mp_partitions"));
    let index = merge.replace("merge_mp_partitions", "create_doc_index");
    assert!(refusal(&index, "index.sh").contains("builds an index"));
    let preference = launch(&format!("{DENSE} --stage dpo\n"));
    assert!(has(&preference, RemarkKind::NotModelled, "reference models"), "{:?}", preference.remarks);
    let teacher =
        launch(&format!("{DENSE} --deepspeed --zero-stage 1 --kd --kd-beta-ce 1 --num-layers-teacher 24\n"));
    assert!(has(&teacher, RemarkKind::NotModelled, "the teacher"), "{:?}", teacher.remarks);
}

const DENSE: &str = "torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 24 --hidden-size 2048 --num-attention-heads 16 \
    --seq-length 2048 --max-position-embeddings 2048 --micro-batch-size 4 --global-batch-size 64 --vocab-size 50257 --bf16";

fn launch(text: &str) -> Launch {
    folder::read(text, "run.sh", &[])
}

/// Settings of a command replace those of LLaMA-Factory's configuration.
#[test]
fn a_command_overrides_the_configuration_of_llama_factory() {
    let files = &[(
        "conf.yaml",
        "model_name_or_path: Qwen/Qwen2.5-7B\nstage: sft\ndo_train: true\nfinetuning_type: full\ndataset: d\ncutoff_len: 4096\n\
         per_device_train_batch_size: 1\ngradient_accumulation_steps: 8\nbf16: true\n",
    )];
    let text = "#!/bin/bash\nG=2\naccelerate launch --num_processes 4 src/train.py conf.yaml dataset=other per_device_train_batch_size=2 \
        gradient_accumulation_steps=\"${G}\" cutoff_len=8192\n";
    let read = folder::read(text, "run.sh", files);
    let expected = [
        ("plan.micro_batch", "2"),
        ("plan.micro_batches", "2"),
        ("plan.sequence_length", "8192"),
        ("cluster.devices", "4"),
    ];
    folder::check(&read, &expected);
    assert!(!has(&read, RemarkKind::Unresolved, "is not read"), "{:?}", read.remarks);
}

/// An actor of another engine has no defaults of FSDP.
#[test]
fn an_actor_of_another_engine_under_verl() {
    let text = format!(
        "python3 -m verl.trainer.main_ppo actor@actor_rollout_ref.actor=own_actor {VERL} \
         actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=2\n"
    );
    let read = folder::read(&text, "run.sh", &[]);
    folder::check(
        &read,
        &[("plan.sharding", "open"), ("plan.tensor_parallel", "open"), ("plan.recompute", "open")],
    );
    assert!(has(&read, RemarkKind::Unresolved, "an engine of its own"), "{:?}", read.remarks);
}
