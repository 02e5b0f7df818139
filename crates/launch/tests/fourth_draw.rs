//! Shapes of a fourth draw of public launch files, in own words: facts only, each with the file that has the
//! shape.
//!
//! Responsible for: flags that were read as their opposite or not at all, and scripts that name a
//! configuration. A value here was determined by reading that file.

use crate::folder;
use folder::check;

use railwright_launch::{Context, Format, Launch, RemarkKind, detect, read_with};

fn read_in(text: &str, files: &'static [(&'static str, &'static str)]) -> Launch {
    folder::read(text, "run.sh", files)
}

fn launch(text: &str) -> Launch {
    read_in(text, &[])
}

fn refused(text: &str) -> String {
    let problems =
        read_with(text, "run.sh", &Context::default()).expect("a launch file").expect_err("a problem");
    problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

fn remarks(launch: &Launch, kind: RemarkKind) -> String {
    let all: Vec<String> =
        launch.remarks_of(kind).map(|remark| format!("{} {}", remark.source, remark.message)).collect();
    all.join("\n")
}

/// RLHFlow/RLHF-Reward-Modeling `math-rm/llama-3.1-prm.yaml`: empty sections are absent.
#[test]
fn an_empty_section_shards_nothing() {
    let text = "base_model: meta-llama/Llama-3.1-8B-Instruct\ndatasets:\n  - path: a/b\nsequence_len: 8192\n\
        sample_packing: true\nadapter:\ngradient_accumulation_steps: 4\nmicro_batch_size: 1\nbf16: auto\ndeepspeed:\nfsdp:\nfsdp_config:\n";
    check(
        &launch(text),
        &[("plan.sharding", "\"none\""), ("plan.micro_batch", "1"), ("plan.optimizer", "open")],
    );
    let full = text.replace("fsdp_config:\n", "fsdp_config:\n  fsdp_version: 2\n");
    check(&launch(&full), &[("plan.sharding", "\"fsdp\"")]);
}

/// ligw1998/PRIV-QA `code/finetune_recover.sh`: version 1 of ms-swift, and a model in ModelScope's cache.
#[test]
fn the_first_ms_swift_has_its_own_batch() {
    let text = "NPROC_PER_NODE=3 swift sft --model_id_or_path /models/Qwen2-1___5B-Instruct --sft_type full \\\n  \
        --max_length 8192 --batch_size 4 --gradient_accumulation_steps 8 --deepspeed default-zero3\n";
    let read = launch(text);
    check(
        &read,
        &[("plan.micro_batch", "4"), ("plan.micro_batches", "8"), ("model.name", "\"qwen2.5-1.5b\"")],
    );
}

const SCRIPT: &str = "torchrun --nproc_per_node 4 finetune.py --model_name_or_path Qwen/Qwen-7B --bf16 True \\\n  \
    --per_device_train_batch_size 2 --gradient_accumulation_steps 8 --model_max_length 512 --logging_steps 1";

/// QwenLM/Qwen `finetune/finetune_lora_ds.sh`, and scripts that only set the shape of adapters.
#[test]
fn switches_and_shapes_of_adapters_are_read() {
    for (flags, optimizer, rank) in [
        ("--use_lora", "\"lora\"", "8"),
        ("--lora_enable True --lora_r 128", "\"lora\"", "128"),
        ("--use_lora False --lora_r 64", "open", "open"),
        ("--lora_r 64 --lora_alpha 16", "\"lora\"", "64"),
        ("--lora_r 0 --lora_alpha 16", "open", "open"),
        ("", "open", "open"),
    ] {
        let read = launch(&format!("{SCRIPT} {flags}\n"));
        check(
            &read,
            &[("plan.optimizer", optimizer), ("plan.lora_rank", rank), ("model.name", "\"qwen1.5-7b\"")],
        );
        let is_assumed = remarks(&read, RemarkKind::Assumed).contains("adapters: they are assumed");
        assert_eq!(is_assumed, flags.starts_with("--lora_r 64"), "{flags}");
    }
    let four = launch(&format!("{SCRIPT} --use_lora --q_lora\n"));
    check(&four, &[("plan.frozen_weights", "\"nf4\"")]);
}

/// EvolvingLMMs-Lab/LongVA `longva/scripts/pretrain.sh`: the first stage trains a projector alone.
#[test]
fn a_frozen_language_model_is_reported() {
    for (flags, is_frozen) in [
        ("--mm_tunable_parts mm_mlp_adapter", true),
        ("--mm_tunable_parts mm_mlp_adapter,mm_language_model", false),
        ("--tune_mm_mlp_adapter True", true),
        ("--freeze_llm False --freeze_backbone True", false),
    ] {
        let all = remarks(&launch(&format!("{SCRIPT} {flags}\n")), RemarkKind::NotModelled);
        assert_eq!(all.contains("the language model is frozen"), is_frozen, "{flags}: {all}");
    }
}

/// OpenSparseLLMs/LLaMA-MoE-v2 `scripts/expert_construction/align/get_hidden_distribution.sh`.
#[test]
fn a_program_that_may_not_train_is_reported() {
    for (name, is_reported) in [("get_hidden_distribution", true), ("finetune", false), ("run_sft", false)] {
        let read = launch(&SCRIPT.replace("finetune", name));
        let all = remarks(&read, RemarkKind::Unresolved);
        assert_eq!(all.contains("does not indicate training"), is_reported, "{name}: {all}");
    }
}

/// yyDing1/ScaleQuest `run_qwen2_qft.sh` and princeton-nlp/ProLong `train_64K.sh`: other names of the model,
/// and a command in a variable that a branch sets.
#[test]
fn a_command_of_a_branch_is_read() {
    let path = launch(&SCRIPT.replace(
        "--model_name_or_path Qwen/Qwen-7B",
        "--model_path PY007/TinyLlama-1.1B-intermediate-step-480k-1T",
    ));
    check(&path, &[("model.name", "\"tinyllama-1.1b\""), ("plan.micro_batch", "2")]);
    assert!(remarks(&path, RemarkKind::Assumed).contains("contains that of `tinyllama-1.1b`"));
    let text = "nodes=$(scontrol show hostnames | wc -l)\nif [ $nodes -gt 1 ]; then\n  header=\"srun torchrun --nnodes=$nodes \
        --nproc-per-node=8 -m training.train_language_model\"\nelse\n  header=\"torchrun --nnodes=1 --nproc-per-node=8 -m \
        training.train_language_model\"\nfi\nall=(\n  --model_name meta-llama/Meta-Llama-3-8B-Instruct\n  \
        --per_device_train_batch_size 1\n  --bf16\n  --logging_steps 1\n)\n${header} \"${all[@]}\" 2>&1 | tee out\n";
    let read = launch(text);
    check(&read, &[("model.name", "\"llama-3-8b\""), ("plan.micro_batch", "1")]);
    assert!(remarks(&read, RemarkKind::Unresolved).contains("a condition that is known only at run time"));
}

/// PeterGriffinJin/Search-R1 `scripts/nq_hotpotqa/v0.3/train_grpo_format.sh`: the micro-batch of all ranks.
#[test]
fn the_older_micro_batch_of_verl_is_of_all_ranks() {
    let text = "python3 -m verl.trainer.main_ppo actor_rollout_ref.model.path=Qwen/Qwen2.5-3B \\\n  \
        actor_rollout_ref.actor.ppo_mini_batch_size=256 actor_rollout_ref.actor.ppo_micro_batch_size=64 \\\n  \
        actor_rollout_ref.actor.optim.lr=5e-7 trainer.n_gpus_per_node=8 trainer.nnodes=1\n";
    check(&launch(text), &[("plan.micro_batch", "8"), ("plan.global_batch", "256")]);
    check(&launch(&text.replace(" trainer.nnodes=1", " trainer.nnodes=$N")), &[("plan.micro_batch", "open")]);
}

/// TaiMingLu/maxtext-distillation
/// `MaxText/inference_mlperf/trillium/microbenchmarks_llama2-70b-trillium_2x4.sh` and `MaxText/configs/v5p/
/// 64b.sh`.
#[test]
fn maxtext_serves_or_trains_in_bfloat16() {
    let serve = "python3 ../../inference_microbenchmark.py ../../configs/base.yml max_target_length=2048 \\\n  \
        model_name=llama2-70b per_device_batch_size=64 ici_tensor_parallelism=8\n";
    assert!(refused(serve).contains("no command in this file starts MaxText's training"));
    let train = "python3 -m MaxText.train MaxText/configs/base.yml per_device_batch_size=3 remat_policy=minimal \\\n  \
        global_parameter_scale=64 ici_tensor_parallelism=4 max_target_length=2048 quantization=\"\"\n";
    check(&launch(train), &[("plan.precision.preset", "\"bf16\""), ("plan.tensor_parallel", "4")]);
}

/// tilde-nlp/llm-gpt-neox `post-training/configs/llama3-8b-sft.yml`.
#[test]
fn the_path_of_a_tokenizer_determines_its_rows() {
    let text = "{\n  \"pipe_parallel_size\": 0,\n  \"model_parallel_size\": 4,\n  \"num_layers\": 32,\n  \"hidden_size\": 4096,\n  \
        \"num_attention_heads\": 32,\n  \"vocab-file\": \"checkpoints/llama3-8b-instruct/tokenizer/tokenizer.json\"\n}\n";
    check(&launch(text), &[("model.vocab", "128256")]);
    check(&launch(&text.replace("llama3-8b-instruct", "own")), &[("model.vocab", "open")]);
}

const NANOTRON: &str = "parallelism:\n  dp: 2\n  tp: 2\n  pp: 1\ntokens:\n  micro_batch_size: 3\n  batch_accumulation_per_replica: 4\n  \
    sequence_length: 4096\nmodel:\n  model_config:\n    hidden_size: 2048\n    num_hidden_layers: 28\n    num_attention_heads: 16\n    \
    vocab_size: 128256\n";

/// ntua-el21026/NTUA-Llama_500M_Nanotron_Full `slurm/run_stage1.sbatch`: the configuration lies in the home
/// folder of its machine.
#[test]
fn a_script_is_read_by_the_configuration_that_it_names() {
    let text = "#!/bin/bash\n#SBATCH --nodes=1\ntorchrun --nproc_per_node=4 $HOME/P/scripts/run_train.py \\\n  \
        --config-file $HOME/P/config/stage1.yaml\n";
    assert_eq!(detect(text).first().map(|seen| seen.format), Some(Format::Script));
    let read = read_in(text, &[("P/config/stage1.yaml", NANOTRON)]);
    check(
        &read,
        &[("plan.tensor_parallel", "2"), ("plan.sequence_length", "4096"), ("cluster.devices", "4")],
    );
    let origin = read.origins.iter().find(|origin| origin.key == "plan.tensor_parallel").expect("an origin");
    assert_eq!((origin.file.as_deref(), origin.line), (Some("P/config/stage1.yaml"), Some(3)));
    assert!(!remarks(&read, RemarkKind::Conflict).contains("processes"));
    let more = read_in(&text.replace("=4", "=8"), &[("P/config/stage1.yaml", NANOTRON)]);
    assert!(remarks(&more, RemarkKind::Conflict).contains("starts 8 processes"));
    let changed = read_in(
        &text.replace("stage1.yaml", "stage1.yaml --tokens.micro_batch_size 1"),
        &[("stage1.yaml", NANOTRON)],
    );
    assert!(remarks(&changed, RemarkKind::Unresolved).contains("--tokens.micro_batch_size is not read"));
    let absent = refused(text);
    assert!(absent.contains("`run_train.py` with the configuration `"), "{absent}");
    let unknown = "torchrun --nproc_per_node 2 own/text_extend.py --batch-size 1 --seq-length 224000\n";
    assert!(refused(unknown).contains("`text_extend.py`, which is not a known trainer"));
    assert!(detect("kind: Job\ncommand: torchrun own.py\n").is_empty());
}

const TITAN: &str = "[model]\nname = \"llama3\"\nflavor = \"8B\"\n[training]\nlocal_batch_size = 2\nseq_len = 8192\n[parallelism]\n\
        tensor_parallel_degree = 4\n";

/// eminorhan/frontier-torchtitan `old_scripts/train_1B.sh`.
#[test]
fn a_torchtitan_script_is_read_with_its_file() {
    let text = "#!/bin/bash\n#SBATCH --nodes=16\nexport all_proxy=socks://a\nCONFIG_FILE=${CONFIG_FILE:-\"./train_configs/l.toml\"}\n\
        srun torchrun --nnodes $SLURM_NNODES --nproc_per_node 8 ./train.py --job.config_file ${CONFIG_FILE} --training.seq_len 4096\n";
    let read = read_in(text, &[("train_configs/l.toml", TITAN)]);
    check(
        &read,
        &[
            ("cluster.devices", "128"),
            ("plan.tensor_parallel", "4"),
            ("plan.sequence_length", "4096"),
            ("plan.micro_batch", "2"),
            ("model.name", "\"llama-3-8b\""),
        ],
    );
    let alone = launch(text);
    check(&alone, &[("cluster.devices", "128"), ("plan.tensor_parallel", "open")]);
    let open = remarks(&alone, RemarkKind::Unresolved);
    assert!(open.contains("--job.config_file ./train_configs/l.toml its settings stay unset"), "{open}");
}

/// RLHFlow/Online-RLHF `run_loop2.sh`: the script writes the configuration of the trainer.
#[test]
fn a_configuration_that_a_script_writes_is_read() {
    let text = "source ~/.bashrc\nrun() {\n  cat <<EOT > dpo_config.yaml\nmodel_name_or_path: Qwen/Qwen3-8B\nref_model: Qwen/Qwen3-8B\n\
        max_length: 2048\nbf16: true\nper_device_train_batch_size: 3\nEOT\n  accelerate launch --num_processes 8 dpo/run_dpo.py dpo_config.yaml\n}\nrun\n";
    let read = launch(text);
    check(&read, &[("plan.micro_batch", "3"), ("model.name", "\"qwen3-8b\""), ("cluster.devices", "8")]);
    let origin = read.origins.iter().find(|origin| origin.key == "plan.micro_batch").expect("an origin");
    assert_eq!((origin.file.as_deref(), origin.line), (None, Some(8)));
    assert!(remarks(&read, RemarkKind::NotModelled).contains("pairs of samples"));
}

/// THUDM/LongAlign `scripts/llama_sort.sh` and haotian-liu/LLaVA `scripts/finetune_qlora.sh`.
#[test]
fn devices_of_deepspeed_and_bits_of_llava_are_read() {
    let text = SCRIPT.replace("torchrun --nproc_per_node 4", "deepspeed --include localhost:0,1,2,3,4,5");
    check(&launch(&format!("{text}\n")), &[("cluster.devices", "6")]);
    let bits = launch(&format!("{text} --lora_enable True --bits 4\n"));
    check(&bits, &[("plan.frozen_weights", "\"nf4\"")]);
    assert!(remarks(&bits, RemarkKind::Assumed).contains("own default is in its code"));
    let two = launch(&format!("{}\n", text.replace("4,5", "4@b:0,1,2,3,4")));
    check(&two, &[("cluster.devices", "10")]);
    check(&launch(&format!("{}\n", text.replace(":0,1,2,3,4,5", ""))), &[("cluster.devices", "open")]);
}

/// ZH-Haoran/PC-Layer-torchtitan `train_configs/llama2_pc_layer.toml`: steps of accumulation in a fork of
/// torchtitan.
#[test]
fn a_torchtitan_fork_accumulates() {
    let text = format!("{TITAN}data_parallel_degree = -1\n")
        .replace("seq_len", "grad_accumulation_steps = 4\nseq_len");
    check(&launch(&text), &[("plan.micro_batch", "2"), ("plan.micro_batches", "4")]);
    check(&launch(TITAN), &[("plan.micro_batches", "1")]);
}
