//! Causes of silent errors, of false remarks and of poor messages in an unseen draw of public launch files
//! (eighteenth, November 2026), each with a text of its own.

use crate::folder;
use crate::refused;
use crate::remarks;
use railwright_launch::RemarkKind;
use refused::refused;
use remarks::has;

const ZERO: &str = "{\"train_micro_batch_size_per_gpu\": 2, \"zero_optimization\": {\"stage\": 3}, \"bf16\": {\"enabled\": true";

/// DeepSpeed keeps master weights and moments in 16 bits if its file asks for it.
#[test]
fn states_in_16_bits_of_deepspeed() {
    let text =
        format!("{ZERO}, \"bf16_master_weights_and_grads\": true, \"bf16_optimizer_states\": true}}}}");
    folder::check(
        &folder::read(&text, "ds.json", &[]),
        &[
            ("plan.precision.master", "\"bf16\""),
            ("plan.precision.gradients", "\"bf16\""),
            ("plan.precision.moments", "\"bf16\""),
        ],
    );
    let plain = folder::read(&format!("{ZERO}}}}}"), "ds.json", &[]);
    folder::check(&plain, &[("plan.precision.master", "open"), ("plan.precision.moments", "open")]);
}

/// A trainer leaves degrees and formats of states to DeepSpeed's file.
#[test]
fn the_trainers_deepspeed_file_has_degrees() {
    const TRAINER: &str = "model_name_or_path: Qwen/Qwen2.5-7B\nstage: sft\ndo_train: true\nfinetuning_type: full\ndeepspeed: ds.json\n\
        dataset: a\ncutoff_len: 2048\nper_device_train_batch_size: 4\ngradient_accumulation_steps: 2\nbf16: true\n";
    const TENSOR: &str = "{\"zero_optimization\": {\"stage\": 2}, \"tensor_parallel\": {\"autotp_size\": 4}, \
        \"bf16\": {\"enabled\": \"auto\", \"bf16_optimizer_states\": true}}";
    const SEQUENCE: &str = "{\"train_batch_size\": \"auto\", \"sequence_parallel_size\": 2}";
    let read = folder::read(TRAINER, "train.yaml", &[("ds.json", TENSOR)]);
    let expected = [
        ("plan.tensor_parallel", "4"),
        ("plan.sharding", "\"zero2\""),
        ("plan.precision.moments", "\"bf16\""),
        ("plan.precision.preset", "\"bf16\""),
    ];
    folder::check(&read, &expected);
    let read = folder::read(TRAINER, "train.yaml", &[("ds.json", SEQUENCE)]);
    folder::check(&read, &[("plan.context_parallel", "2"), ("plan.sharding", "\"none\"")]);
    // The name of a file that cannot be opened.
    let elsewhere = TRAINER.replace("ds.json", "ds_z2_autotp_config.json");
    let read = folder::read(&elsewhere, "train.yaml", &[]);
    folder::check(&read, &[("plan.tensor_parallel", "open"), ("plan.sharding", "\"zero2\"")]);
}

const GPT: &str = "--num-layers 24 --hidden-size 1024 --num-attention-heads 16 --seq-length 2048 \
    --max-position-embeddings 2048 --micro-batch-size 1 --global-batch-size 64 --vocab-size 32000 --bf16";

/// Degrees of a program's own flags are not defaults of Megatron-LM.
#[test]
fn degrees_under_names_of_the_program() {
    let script = |more: &str| format!("#!/bin/bash\ntorchrun --nproc-per-node 8 train_own.py {GPT} {more}\n");
    let read = folder::read(&script("--llm-tp 2 --llm-pp 2"), "run.sh", &[]);
    let expected = [
        ("plan.tensor_parallel", "open"),
        ("plan.pipeline_parallel", "open"),
        ("plan.context_parallel", "1"),
    ];
    folder::check(&read, &expected);
    assert!(has(&read, RemarkKind::Unresolved, "its name indicates a parallel size"), "{:?}", read.remarks);
    let read = folder::read(
        &script("--rollout-tp 2 --check-tp-norm 1 --tensor-model-parallel-size 4"),
        "run.sh",
        &[],
    );
    folder::check(&read, &[("plan.tensor_parallel", "4"), ("plan.pipeline_parallel", "1")]);
    // One program for a tower and a language model on GPUs of their own.
    let text = format!(
        "#!/bin/bash\npython -m torch.distributed.run --nproc-per-node 8 -m examples.mimo.pretrain_mimo {GPT}\n"
    );
    let problem = refused(&text, "run.sh");
    assert!(problem.contains("trains a vision-language model"), "{problem}");
}

/// MaxText's file of GPT-3 has a block of its own, and a file of a model is not a run.
#[test]
fn decoder_blocks_of_maxtext() {
    let text = "base_emb_dim: 1024\nbase_num_query_heads: 16\nbase_num_kv_heads: 16\nbase_mlp_dim: 4096\n\
        base_num_decoder_layers: 8\nhead_dim: 64\ntrainable_position_size: 2048\nmlp_activations: [\"gelu\"]\n\
        vocab_size: 50304\ndecoder_block: \"gpt3\"\n";
    let read = folder::read(text, "gpt3.yml", &[]);
    folder::check(&read, &[("model.style", "\"gpt\""), ("model.max_positions", "2048")]);
    assert!(has(&read, RemarkKind::Unresolved, "this file does not set"), "{:?}", read.remarks);
}

/// A decoder of 16 layers of width 2,560.
const BASE: &str = "max_target_length: 2048\nper_device_batch_size: 12.0\nbase_emb_dim: 2560\nbase_num_query_heads: 8\n\
    base_num_kv_heads: 8\nbase_mlp_dim: 8192\nbase_num_decoder_layers: 16\nhead_dim: 256\nvocab_size: 32768\n";

/// The base file of a fork that is not in the script's folder is MaxText's own.
#[test]
fn the_base_file_of_maxtext_is_elsewhere() {
    let text = "#!/bin/bash\npython3 MaxText/train.py MaxText/configs/base.yml run_name=a per_device_batch_size=1 \
        global_parameter_scale=2 ici_fsdp_parallelism=8 max_target_length=2048 steps=10 dataset_type=synthetic\n";
    let read = folder::read(text, "2b.sh", &[]);
    assert!(has(&read, RemarkKind::Assumed, "cannot be opened"), "{:?}", read.remarks);
    let read = folder::read(text, "2b.sh", &[("MaxText/configs/base.yml", BASE)]);
    assert!(!has(&read, RemarkKind::Assumed, "cannot be opened"), "{:?}", read.remarks);
    folder::check(&read, &[("model.hidden", "2560")]);
}

/// Forks of torchtitan train other models.
#[test]
fn a_vision_model_in_a_fork_of_torchtitan() {
    let text = "[model]\nbackbone = \"vit\"\nnum_classes = 10\ncrop_size = [64, 64]\n[training]\nbatch_size = 4\n\
        tensor_parallel_degree = 1\n[activation_checkpoint]\nmode = \"full\"\n";
    let problem = refused(text, "segment.toml");
    assert!(problem.contains("trains a vision model"), "{problem}");
}

/// GPT-NeoX is given several files, each with a part of the configuration, as YAML that looks like JSON with
/// comments.
#[test]
fn a_part_of_a_configuration_of_gpt_neox() {
    let text = "{\n  # batch\n  \"train_batch_size\": 256,\n  \"gradient_accumulation_steps\": 2,\n  \
        \"checkpoint_activations\": true,\n  \"synchronize_each_layer\": true,\n  \"train_iters\": 10,\n  \
        \"zero_optimization\": {\n    \"stage\": 1,\n  },\n  \"precision\": \"bfloat16\",\n}\n";
    let read = folder::read(text, "train.yml", &[]);
    let expected = [
        ("plan.global_batch", "256"),
        ("plan.sharding", "\"zero1\""),
        ("plan.recompute", "\"full\""),
        ("plan.precision.preset", "\"bf16\""),
        ("plan.tensor_parallel", "open"),
        ("plan.pipeline_parallel", "open"),
    ];
    folder::check(&read, &expected);
    assert!(read.partial.is_some());
    let text = "train_micro_batch_size_per_gpu: 16\ntrain_iters: 100\nlr_decay_iters: 100\n";
    let read = folder::read(text, "small.yaml", &[]);
    let expected = [
        ("plan.micro_batch", "16"),
        ("plan.micro_batches", "open"),
        ("plan.sharding", "open"),
        ("plan.recompute", "open"),
        ("plan.dropout", "open"),
    ];
    folder::check(&read, &expected);
}

/// DeepSpeed's launcher may start a shell with the command.
#[test]
fn ranks_of_a_launcher_around_a_shell() {
    let text = format!(
        "#!/bin/bash\nCMD=\"python3 -u /x/pretrain_gpt.py {GPT}\"\ndeepspeed --num_nodes 2 --num_gpus 8 --no_python \
         /usr/bin/bash -c \"$CMD\"\n"
    );
    folder::check(&folder::read(&text, "run.sh", &[]), &[("cluster.devices", "16")]);
}

const PLAIN: &str = "python train_own.py --model_name_or_path Qwen/Qwen2.5-7B --per_device_train_batch_size 2 \
    --gradient_accumulation_steps 4 --max_length 2048 --bf16 --logging_steps 5 --save_steps 10 --gradient_checkpointing";

/// Scripts after TRL's examples have switches of their own for frozen weights, and one GPU of a job without a
/// launcher.
#[test]
fn quantized_weights_and_the_gpu_of_a_job() {
    let job = |gpus: u32| {
        format!(
            "#!/bin/bash\n#SBATCH --nodes=1\n#SBATCH --gres=gpu:h100:{gpus}\n{PLAIN} --use_4bit --lora_r 16\n"
        )
    };
    let read = folder::read(&job(1), "job.sh", &[]);
    let expected = [("plan.frozen_weights", "\"nf4\""), ("plan.lora_rank", "16"), ("cluster.devices", "1")];
    folder::check(&read, &expected);
    folder::check(&folder::read(&job(4), "job.sh", &[]), &[("cluster.devices", "open")]);
    let launched = job(1).replace("python train", "accelerate launch train");
    folder::check(&folder::read(&launched, "job.sh", &[]), &[("cluster.devices", "open")]);
}

/// LLaMA-Factory's command takes its ranks from the environment, and overrides of its file from the command
/// line.
#[test]
fn ranks_of_llama_factorys_command() {
    const FILE: &str = "model_name_or_path: Qwen/Qwen2.5-7B\nstage: sft\ndo_train: true\nfinetuning_type: full\ndataset: a\n\
        cutoff_len: 2048\nper_device_train_batch_size: 4\ngradient_accumulation_steps: 2\nbf16: true\n";
    let read = |before: &str| {
        let text = format!("#!/bin/bash\n{before} llamafactory-cli train c.yaml cutoff_len=4096\n");
        folder::read(&text, "run.sh", &[("c.yaml", FILE)])
    };
    let started = read("FORCE_TORCHRUN=1 NNODES=2 NPROC_PER_NODE=8");
    folder::check(&started, &[("cluster.devices", "16"), ("plan.sequence_length", "4096")]);
    folder::check(&read("CUDA_VISIBLE_DEVICES=0,1,2,3"), &[("cluster.devices", "4")]);
    folder::check(&read("NPROC_PER_NODE=$GPUS"), &[("cluster.devices", "open")]);
    folder::check(&read(""), &[("cluster.devices", "open")]);
}

/// Transformers' Trainer and LLaMA-Factory print parts of their settings.
#[test]
fn a_log_of_a_trainer() {
    let ranks = "[INFO|2025-01-01 00:00:00] llamafactory.hparams.parser:143 >> Process rank: 0, world size: 4, device: cuda:0, \
        distributed training: True, compute dtype: torch.bfloat16\n";
    let model =
        "- tokenizer: Qwen2TokenizerFast(name_or_path='Qwen/Qwen2.5-7B-Instruct', vocab_size=151643)\n";
    let states = "[INFO] llamafactory.model.model_utils.checkpointing:143 >> Gradient checkpointing enabled.\n\
        Detected DeepSpeed ZeRO-3: activating zero.init() for this model\n\
        >> Fine-tuning method: LoRA\n";
    let batch = "***** Running training *****\n  Num examples = 90\n  Instantaneous batch size per device = 2\n  \
        Total train batch size (w. parallel, distributed & accumulation) = 64\n  Gradient Accumulation steps = 8\n";
    let read = folder::read(&format!("{ranks}{model}{states}{batch}"), "job.out", &[]);
    let expected = [
        ("model.name", "\"qwen2.5-7b\""),
        ("cluster.devices", "4"),
        ("plan.micro_batch", "2"),
        ("plan.micro_batches", "8"),
        ("plan.sharding", "\"fsdp\""),
        ("plan.recompute", "\"full\""),
        ("plan.precision.preset", "\"bf16\""),
        ("plan.optimizer", "\"lora\""),
        ("plan.lora_rank", "open"),
        ("plan.sequence_length", "open"),
        ("plan.offload.optimizer", "open"),
    ];
    folder::check(&read, &expected);
    // The trainer alone prints the batch, from which the ranks follow; recompute and sharding are not shown.
    let read = folder::read(batch, "train.log", &[]);
    let expected = [("cluster.devices", "4"), ("plan.recompute", "open"), ("plan.sharding", "open")];
    folder::check(&read, &expected);
}

/// A tower's language model is in a section of its own.
#[test]
fn the_language_model_of_nanotron_with_a_tower() {
    let text = "model:\n  dtype: bfloat16\n  model_config:\n    text_config:\n      is_llama_config: true\n      hidden_size: 1024\n      \
        intermediate_size: 4096\n      num_attention_heads: 16\n      num_hidden_layers: 12\n      num_key_value_heads: 4\n      \
        vocab_size: 32000\n    vision_config:\n      hidden_size: 512\n      num_hidden_layers: 6\nparallelism:\n  dp: 2\n  pp: 1\n  tp: 1\n  \
        pp_engine: 1f1b\n  tp_mode: REDUCE_SCATTER\ntokens:\n  batch_accumulation_per_replica: 2\n  micro_batch_size: 1\n  sequence_length: 2048\n";
    let read = folder::read(text, "vlm.yaml", &[]);
    folder::check(&read, &[("model.layers", "12"), ("model.hidden", "1024"), ("cluster.devices", "2")]);
    assert!(has(&read, RemarkKind::NotModelled, "without vision tower"), "{:?}", read.remarks);
}

/// A recipe of a test runner is refused with its reason, even if it contains Megatron's flags.
#[test]
fn a_recipe_of_a_test_runner() {
    let text = format!(
        "type: basic\nformat_version: 1\nspec:\n  script: |-\n    torchrun pretrain_gpt.sh TP_SIZE={{tp_size}}\n\
         products:\n  - {{extra_args: [\"{GPT}\"]}}\n"
    );
    let problem = refused(&text, "recipe.yaml");
    assert!(problem.contains("recipe of NVIDIA's test runner"), "{problem}");
}
