//! Shapes of a fifth draw of public launch files, in own words: facts only, each with the file that has the
//! shape.
//!
//! Responsible for: sizes and shards that were read as a default although the file sets them, and jobs that
//! wrap a configuration. A value here was determined by reading that file.

use crate::folder;
use folder::check;

use railwright_launch::{Launch, RemarkKind};

fn launch(text: &str) -> Launch {
    folder::read(text, "run.sh", &[])
}

/// FlagOpen/FlagScale `examples/aquila/conf/train/34b.yaml`: the width of an MLP by a factor and a multiple.
#[test]
fn a_width_by_factor_and_multiple_is_computed() {
    let text = "system:\n  tensor_model_parallel_size: 4\n  pipeline_model_parallel_size: 4\n  use_distributed_optimizer: True\nmodel:\n  \
        num_layers: 60\n  hidden_size: 6144\n  num_attention_heads: 48\n  hidden_dim_multiplier: 1.3\n  multiple_of: 4096\n  swiglu: true\n  \
        seq_length: 4096\n  max_position_embeddings: 4096\n  micro_batch_size: 1\n  global_batch_size: 1024\ndata:\n  \
        tokenizer:\n    vocab_size: 100008\n";
    check(&folder::read(text, "34b.yaml", &[]), &[("model.ffn", "24576")]);
    let endless = text.replace("multiplier: 1.3", "multiplier: 1e300");
    check(&folder::read(&endless, "34b.yaml", &[]), &[("model.ffn", "open")]);
    let without = text.replace("  hidden_dim_multiplier: 1.3\n", "");
    check(&folder::read(&without, "34b.yaml", &[]), &[("model.ffn", "16384")]);
}

const CONFIGURATION: &str = "model_name_or_path: mistralai/Mistral-7B-v0.1\nbf16: true\nper_device_train_batch_size: 8\n\
    gradient_accumulation_steps: 1\nmax_length: 1024\ngradient_checkpointing: true\nlearning_rate: 5.0e-07\n";

/// uclaml/SPIN `scripts/finetune_iter2.sh`: the launcher's file shards, not the trainer's configuration.
#[test]
fn a_launcher_shards_the_configuration_that_it_starts() {
    let script = "accelerate launch --config_file configs/shards.yaml --num_processes=8 run_spin.py configs/run.yaml --beta=0.1\n";
    let files = &[
        ("run.yaml", CONFIGURATION),
        (
            "shards.yaml",
            "distributed_type: DEEPSPEED\ndeepspeed_config:\n  zero_stage: 3\nnum_processes: 4\n",
        ),
    ];
    let read = folder::read(script, "run.sh", files);
    check(&read, &[("plan.sharding", "\"fsdp\""), ("cluster.devices", "8"), ("plan.micro_batch", "8")]);
    // A file that is not here is open or inferred from its name, but not a default.
    let absent =
        folder::read(&script.replace("shards", "multi_node"), "run.sh", &[("run.yaml", CONFIGURATION)]);
    check(&absent, &[("plan.sharding", "open")]);
    let inferred =
        folder::read(&script.replace("shards", "deepspeed_zero2"), "run.sh", &[("run.yaml", CONFIGURATION)]);
    check(&inferred, &[("plan.sharding", "\"zero2\"")]);
}

/// mosaicml/llm-foundry `mcli/mcli-llama3-finetune.yaml`: a job with the settings in a section.
#[test]
fn the_settings_of_a_job_are_read() {
    let text = "command: |\n  composer train/train.py /mnt/config/parameters.yaml\nimage: mosaicml/llm-foundry:latest\ncompute:\n  gpus: 16\n\
        parameters:\n  variables:\n    max_seq_len: 4096\n\n  max_seq_len: ${variables.max_seq_len}\n  model:\n    name: hf_causal_lm\n    \
        pretrained_model_name_or_path: meta-llama/Meta-Llama-3-8B\n  global_train_batch_size: 64\n  device_train_microbatch_size: 2\n  \
        precision: amp_bf16\n  fsdp_config:\n    sharding_strategy: FULL_SHARD\n    activation_checkpointing: true\n";
    check(
        &folder::read(text, "job.yaml", &[]),
        &[
            ("model.name", "\"llama-3-8b\""),
            ("cluster.devices", "16"),
            ("plan.sequence_length", "4096"),
            ("plan.global_batch", "64"),
            ("plan.sharding", "\"fsdp\""),
            ("plan.recompute", "\"full\""),
        ],
    );
}

/// LLM360/k2-train `scripts/pretrain_65b.sh`: a launcher of a cluster takes the command as one word.
#[test]
fn a_command_in_one_word_is_a_command() {
    let text = "bcprun -p 8 --env 'CUDA_DEVICE_MAX_CONNECTIONS=1' -c 'python /mount/main.py \\\n--swiglu \\\n--num-layers 80 \\\n\
        --hidden-size 8192 \\\n--ffn-hidden-size 22016 \\\n--num-attention-heads 64 \\\n--seq-length 2048 \\\n\
        --max-position-embeddings 2048 \\\n--tensor-model-parallel-size 8 \\\n--pipeline-model-parallel-size 4 \\\n\
        --micro-batch-size 4 \\\n--global-batch-size 2040 \\\n--bf16\n'\n";
    check(
        &launch(text),
        &[("model.layers", "80"), ("plan.tensor_parallel", "8"), ("plan.global_batch", "2040")],
    );
}

const INTERNVL: &str = "torchrun --nnodes=1 --nproc_per_node=8 internvl/train/internvl_chat_finetune.py \\\n  \
    --model_name_or_path OpenGVLab/InternVL3-8B --freeze_llm True --freeze_backbone True --use_llm_lora 16 --bf16 True \\\n  \
    --per_device_train_batch_size 4 --gradient_accumulation_steps 2 --max_seq_length 8192 --grad_checkpoint True \\\n  \
    --deepspeed zero_stage1_config.json --save_steps 200";

/// OpenGVLab/InternVL `internvl_chat/shell/internvl3.0/2nd_finetune/*.sh`: checkpointing and adapters by
/// names of its own.
#[test]
fn internvl_has_names_of_its_own() {
    let read = launch(INTERNVL);
    check(
        &read,
        &[
            ("model.name", "\"internvl3-8b\""),
            ("plan.recompute", "\"full\""),
            ("plan.optimizer", "\"lora\""),
            ("plan.lora_rank", "16"),
            ("plan.lora_targets", "[\"all-linear\"]"),
        ],
    );
    assert!(
        read.remarks_of(RemarkKind::NotModelled).all(|r| !r.message.contains("frozen")),
        "{:?}",
        read.remarks
    );
    let full = launch(&INTERNVL.replace("--use_llm_lora 16", "--use_llm_lora 0"));
    check(&full, &[("plan.optimizer", "open"), ("plan.lora_rank", "open")]);
}

/// volcengine/verl `examples/sft/vlm/run_qwen3_vl_2b.sh`: no more samples in a pass than a rank has.
#[test]
fn a_packed_batch_has_at_most_the_samples_of_its_rank() {
    let text = "torchrun --nnodes=1 --nproc-per-node=8 -m verl.trainer.sft_trainer data.train_batch_size=96 data.max_length=2048 \\\n  \
        data.use_dynamic_bsz=True data.max_token_len_per_gpu=65536 model.path=Qwen/Qwen3-VL-2B-Instruct engine=fsdp \\\n  \
        engine.ulysses_sequence_parallel_size=2 engine.strategy=fsdp2\n";
    check(
        &launch(text),
        &[("plan.micro_batch", "24"), ("plan.global_batch", "96"), ("plan.context_parallel", "2")],
    );
}

const ADAPTERS: &str = "deepspeed llava/train/train_mem.py --deepspeed zero2.json --model_name_or_path lmsys/vicuna-7b-v1.5 --bf16 True \\\n  \
    --per_device_train_batch_size 16 --model_max_length 2048 --gradient_checkpointing True --lora_r 128 --logging_steps 1";

/// PKU-YuanGroup/Video-LLaVA `scripts/v1_5/finetune_lora.sh`, TinyLLaVA/TinyLLaVA_Factory
/// `scripts/train/custom_finetune.sh` and ymcui/Chinese-LLaMA-Alpaca-2 `scripts/training/run_pt.sh`: the
/// adapted modules are in the script's code, or in a flag of its own.
#[test]
fn targets_of_a_script_are_no_fact() {
    let assumed = |launch: &Launch, what: &str| {
        launch
            .remarks_of(RemarkKind::Assumed)
            .any(|r| r.source == "plan.lora_targets" && r.message.contains(what))
    };
    let llava = launch(&format!("{ADAPTERS} --lora_enable True"));
    check(&llava, &[("plan.lora_targets", "[\"all-linear\"]"), ("plan.lora_rank", "128")]);
    assert!(assumed(&llava, "LLaVA"), "{:?}", llava.remarks);
    let own = launch(ADAPTERS);
    check(&own, &[("plan.lora_targets", "[\"q_proj\", \"v_proj\"]")]);
    assert!(assumed(&own, "PEFT"), "{:?}", own.remarks);
    let named =
        launch(&format!("{ADAPTERS} --trainable q_proj,o_proj --modules_to_save embed_tokens,lm_head"));
    check(&named, &[("plan.lora_targets", "[\"q_proj\", \"o_proj\"]")]);
    assert!(!assumed(&named, ""), "{:?}", named.remarks);
    assert!(named.remarks_of(RemarkKind::NotModelled).any(|r| r.source.contains("modules_to_save")));
}

/// TIGER-AI-Lab/VLM2Vec `experiments/public/train/train_v2-qwen2vl-2B.sh`: a batch in chunks.
#[test]
fn chunks_of_a_contrastive_batch_are_listed() {
    let text = ADAPTERS.replace("--lora_r 128", "--lora --lora_r 16 --grad_cache True --gc_q_chunk_size 8");
    let read = launch(&text);
    check(&read, &[("plan.optimizer", "\"lora\"")]);
    assert!(
        read.remarks_of(RemarkKind::NotModelled).any(|r| r.source.contains("grad_cache")),
        "{:?}",
        read.remarks
    );
}

/// OpenGVLab/InternVL `internvl_chat/shell/internvl2.5/stage2/*.sh`: Slurm starts the processes.
#[test]
fn tasks_of_slurm_are_processes() {
    let text = "GPUS=${GPUS:-512}\nsrun --nodes=64 --ntasks=${GPUS} --ntasks-per-node=8 python -u internvl/train/internvl_chat_pretrain.py \\\n  \
        --model_name_or_path Qwen/Qwen2.5-7B --bf16 True --per_device_train_batch_size 1 --max_seq_length 16384 --use_packed_ds True \\\n  \
        --deepspeed zero_stage3_config.json --save_steps 200";
    let read = launch(text);
    check(&read, &[("cluster.devices", "512")]);
    assert!(
        read.remarks_of(RemarkKind::Assumed).all(|r| !r.message.contains("not packed")),
        "{:?}",
        read.remarks
    );
    // A launcher of its own starts more processes than tasks.
    let nested = text
        .replace("python -u", "torchrun --nproc_per_node=8 --nnodes=64")
        .replace("--ntasks=${GPUS}", "--ntasks=64");
    check(&launch(&nested), &[("cluster.devices", "512")]);
}

/// OpenRLHF/OpenRLHF-M `examples/scripts/train_llama_slurm.sh`: the script sources the file of the command.
#[test]
fn a_command_of_a_sourced_file_is_found() {
    let script = "source ./train.sh slurm\nsrun bash -c \"torchrun --nproc_per_node 8 --nnodes 2 -m ${training_commands}\"\n";
    let files = &[(
        "train.sh",
        "read -r -d '' training_commands <<EOF\nopenrlhf.cli.train_dpo \\\n   --train_batch_size 256 \\\n   --micro_train_batch_size 1 \\\n   \
         --pretrain meta-llama/Meta-Llama-3-8B --bf16 --max_len 8192 --zero_stage 3 --gradient_checkpointing\nEOF\n",
    )];
    check(
        &folder::read(script, "slurm.sh", files),
        &[
            ("model.name", "\"llama-3-8b\""),
            ("cluster.devices", "16"),
            ("plan.global_batch", "256"),
            ("plan.sequence_length", "8192"),
            ("plan.sharding", "\"fsdp\""),
        ],
    );
    let megatron = "source ./args.sh\ntorchrun --nproc_per_node 8 pretrain_gpt.py ${MODEL[@]} ${TRAIN[@]}\n";
    let files = &[(
        "args.sh",
        "MODEL=(--num-layers 32 --hidden-size 4096 --num-attention-heads 32 --seq-length 4096 --max-position-embeddings 4096)\n\
         TRAIN=(--micro-batch-size 1 --global-batch-size 64 --bf16 --tensor-model-parallel-size 2)\n",
    )];
    check(
        &folder::read(megatron, "run.sh", files),
        &[("model.layers", "32"), ("plan.tensor_parallel", "2"), ("plan.global_batch", "64")],
    );
}

/// alibaba/Pai-Megatron-Patch `examples/qwen3_vl/run_mcore_qwen3_vl_lite.sh`: the padded vocabulary is given.
#[test]
fn a_padded_vocabulary_leaves_nothing_open() {
    let text = "torchrun --nproc_per_node 8 pretrain_qwen.py --num-layers 4 --hidden-size 2048 --num-attention-heads 32 --seq-length 4096 \\\n  \
        --max-position-embeddings 4096 --micro-batch-size 1 --global-batch-size 8 --bf16 --padded-vocab-size 152064 \\\n  \
        --patch-tokenizer-type Qwen2VLTokenizer\n";
    let read = launch(text);
    check(&read, &[("model.vocab", "152064")]);
    assert!(read.open.iter().all(|open| open.key != "model.vocab"), "{:?}", read.open);
}

const DUMP: &str = "------------------------ arguments ------------------------\n  bf16 ............................................ True\n  \
    global_batch_size ............................... 128\n  hidden_size ..................................... 4096\n  \
    micro_batch_size ................................ 1\n  num_attention_heads ............................. 32\n  \
    num_layers ...................................... 32\n  seq_length ...................................... 4096\n  \
    tensor_model_parallel_size ...................... 2\n";

/// A dump of which only a part was kept: absent arguments have no default.
#[test]
fn a_part_of_a_dump_has_no_defaults() {
    let part = folder::read(DUMP, "train.log", &[]);
    check(
        &part,
        &[
            ("model.layers", "32"),
            ("plan.tensor_parallel", "2"),
            ("plan.pipeline_parallel", "open"),
            ("plan.sharding", "open"),
            ("plan.recompute", "open"),
        ],
    );
    assert!(part.remarks.iter().any(|r| r.message.contains("no default")), "{:?}", part.remarks);
    let whole = format!(
        "{DUMP}  rank ............................................ 0\n  world_size ...................................... 16\n"
    );
    check(
        &folder::read(&whole, "train.log", &[]),
        &[("plan.pipeline_parallel", "1"), ("plan.sharding", "\"none\""), ("cluster.devices", "16")],
    );
}
