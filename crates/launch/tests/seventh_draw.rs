//! Causes of silent errors in an unseen draw of public launch files (November 2026), each with a text of its
//! own.

use crate::folder;
use railwright_launch::{Format, Launch, RemarkKind, detect, read};

fn launch(text: &str) -> Launch {
    match read(text, "run.sh") {
        Some(Ok(launch)) => launch,
        other => panic!("{other:?}, {:?}", detect(text)),
    }
}

fn check(text: &str, expected: &[(&str, &str)]) -> Launch {
    let launch = launch(text);
    folder::check(&launch, expected);
    launch
}

fn has(launch: &Launch, kind: RemarkKind, source: &str) -> bool {
    launch.remarks_of(kind).any(|remark| remark.source.contains(source))
}

/// leandermaben/AReaL `gsm8k_grpo_megatron_fp8.yaml`: a format that no key of the reader names.
#[test]
fn an_unknown_key_of_a_narrow_format_leaves_the_format_open() {
    let text = "experiment_name: a\ncluster:\n  n_nodes: 1\n  n_gpus_per_node: 8\nallocation_mode: sglang:d4p1t1+megatron:d4p1t1\n\
        gconfig:\n  max_new_tokens: 1024\n  n_samples: 4\nactor:\n  path: Qwen/Qwen3-1.7B\n  dtype: bfloat16\n  mb_spec:\n    \
        max_tokens_per_mb: 10240\n  optimizer:\n    type: adam\n  megatron:\n    fp8_config:\n      mode: hybrid\n\
        train_dataset:\n  batch_size: 256\n  max_length: 1024\n  type: rl\n";
    let read = check(text, &[("plan.precision.preset", "\"bf16\"")]);
    assert!(read.open.iter().any(|open| open.key == "plan.precision.compute"), "{:?}", read.open);
    assert!(has(&read, RemarkKind::Unresolved, "fp8_config.mode"), "{:?}", read.remarks);
    // The same key without an effect.
    let off = launch(&text.replace("mode: hybrid", "mode: null"));
    assert!(off.open.iter().all(|open| open.key != "plan.precision.compute"), "{:?}", off.open);
}

/// alibaba/Pai-Megatron-Patch `run_ds_train_huggingface_llama.sh`: seven flags of Megatron, and a parser of
/// its own.
const TRAINER: &str = "#!/bin/bash\noptions=\"--num-layers 32 --hidden-size 4096 --num-attention-heads 32 --seq-length 2048 \\\n \
    --intermediate-size 11008 --micro-batch-size 1 --gradient-accumulation-steps 4 --lr 1e-5 --bf16\"\n\
    torchrun --nproc_per_node 8 --nnodes 1 ds_train.py ${options}\n";

#[test]
fn a_program_with_flags_of_another_parser_is_not_megatron() {
    let read = check(
        TRAINER,
        &[
            ("cluster.devices", "8"),
            ("plan.micro_batch", "1"),
            ("plan.micro_batches", "4"),
            ("plan.sequence_length", "2048"),
            ("plan.precision.preset", "\"bf16\""),
            ("model.ffn", "open"),
            ("model.tied", "open"),
            ("plan.sharding", "open"),
        ],
    );
    assert_eq!(read.format, Format::Script);
    assert!(read.partial.is_some());
}

/// A fork of Megatron may have such a flag, but its defaults are not known.
#[test]
fn a_fork_with_a_flag_of_another_parser_has_no_defaults() {
    let text = "#!/bin/bash\ntorchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 32 --hidden-size 4096 --num-attention-heads 32 \\\n \
        --seq-length 2048 --max-position-embeddings 2048 --micro-batch-size 1 --tensor-model-parallel-size 2 --bf16";
    let own = check(text, &[("plan.pipeline_parallel", "1"), ("model.norm", "\"layer_norm\"")]);
    assert!(own.partial.is_none());
    let fork = check(
        &format!("{text} --gradient-accumulation-steps 4\n"),
        &[("plan.tensor_parallel", "2"), ("plan.pipeline_parallel", "open"), ("model.norm", "open")],
    );
    assert!(fork.partial.is_some_and(|why| why.contains("gradient-accumulation-steps")));
}

/// tloen/alpaca-lora `finetune.py`: adapters on four modules are not those on all linear layers.
#[test]
fn adapters_of_a_program_without_a_reader_have_their_own_targets() {
    let text = "python finetune.py --base_model huggyllama/llama-7b --data_path d --batch_size 256 --num_epochs=1 --cutoff_len=512 \\\n \
        --lora_target_modules='[q_proj,k_proj]' --lora_r=16 --micro_batch_size=8 --learning_rate 1e-4\n";
    check(
        text,
        &[
            ("plan.optimizer", "\"lora\""),
            ("plan.lora_rank", "16"),
            ("plan.lora_targets", "[\"q_proj\", \"k_proj\"]"),
            ("plan.micro_batch", "8"),
            ("plan.sequence_length", "512"),
        ],
    );
}

/// ChenmienTan/RL2 `limo_sft.sh`, `orz_ppo.sh`: a length without a name of its own has an effect, and a value
/// is not a program.
#[test]
fn lengths_and_programs_of_an_unknown_trainer() {
    let text = "torchrun --nproc_per_node=4 -m loop.sft data.max_length=16384 data.batch_size=32 model_name=Qwen/Qwen2.5-7B \\\n \
        env=envs/tool.py learning_rate=1e-5\n";
    let read = check(text, &[("cluster.devices", "4"), ("plan.sequence_length", "open")]);
    assert!(has(&read, RemarkKind::Unresolved, "max_length"), "{:?}", read.remarks);
    assert!(!has(&read, RemarkKind::Ignored, "max_length"), "{:?}", read.remarks);
    assert!(has(&read, RemarkKind::Assumed, "loop.sft"), "{:?}", read.remarks);
}

/// Oneflow-Inc/OneAutoTest `args_libai_gpt2.sh`: sections with the names of Megatron-Bridge's.
#[test]
fn overrides_of_other_sections_are_not_those_of_megatron_bridge() {
    let text = "python3 -m torch.distributed.launch --nproc_per_node 8 tools/train_net.py --config-file gpt.py \\\n \
        model.cfg.num_layers=24 train.train_micro_batch_size=4 train.global_batch_size=32 train.dist.tensor_parallel_size=2 \\\n \
        train.dist.pipeline_parallel_size=4 train.amp.enabled=true train.train_iter=220\n";
    let read = check(
        text,
        &[
            ("cluster.devices", "8"),
            ("plan.tensor_parallel", "2"),
            ("plan.pipeline_parallel", "4"),
            ("plan.micro_batch", "4"),
            ("plan.global_batch", "32"),
        ],
    );
    assert_eq!(read.format, Format::Script);
    let bridge = "model.num_layers=32 model.tensor_model_parallel_size=4 train.global_batch_size=256 train.micro_batch_size=1\n";
    assert_eq!(detect(bridge).first().map(|seen| seen.format), Some(Format::MegatronBridge));
}

/// ZetangForward/MyRLHF: a copy of OpenRLHF, started by the path of its program.
#[test]
fn copies_of_openrlhf_are_read_by_their_flags() {
    let text = "deepspeed --include localhost:0,1,2,3 cli/train_sft.py --max_len 96000 --train_batch_size 16 \\\n \
        --micro_train_batch_size 1 --pretrain meta-llama/Meta-Llama-3.1-8B-Instruct --zero_stage 2 --bf16 --ring_attn_size 4\n";
    let read = check(
        text,
        &[
            ("plan.sequence_length", "96000"),
            ("plan.global_batch", "16"),
            ("plan.context_parallel", "4"),
            ("plan.sharding", "\"zero2\""),
            ("cluster.devices", "4"),
        ],
    );
    assert_eq!(read.format, Format::HfTrainer);
}

const SETTINGS: &str = "model_name_or_path: Qwen/Qwen3-8B\nstage: sft\ndo_train: true\nfinetuning_type: full\ncutoff_len: 4096\n\
    per_device_train_batch_size: 2\ngradient_accumulation_steps: 4\nbf16: true\n";

/// MachinePhoenix/GeoReasoning `run_sft.sh`: a configuration with overrides and without a flag.
#[test]
fn a_program_that_starts_itself_is_read_by_its_configuration() {
    let text = "CUDA_VISIBLE_DEVICES=0,1 llamafactory-cli train conf/full_sft.yaml learning_rate=1e-5 cutoff_len=8192\n";
    assert_eq!(detect(text).first().map(|seen| seen.format), Some(Format::Script));
    let problems = read(text, "run.sh").expect("a script").expect_err("the configuration is missing");
    assert!(problems[0].to_string().contains("conf/full_sft.yaml"), "{problems:?}");
    let found = folder::read(text, "run.sh", &[("conf/full_sft.yaml", SETTINGS)]);
    let expected = [
        ("model.name", "\"qwen3-8b\""),
        ("plan.micro_batch", "2"),
        ("plan.sequence_length", "8192"),
        ("plan.precision.preset", "\"bf16\""),
    ];
    folder::check(&found, &expected);
    assert!(!has(&found, RemarkKind::Unresolved, "cutoff_len"), "{:?}", found.remarks);
}

/// ZetangForward/MyRLHF `sbatch_qwen2.5-7B-Ins-SimPO.sh`: the training is in a script that is missing.
#[test]
fn a_script_that_starts_a_missing_script_names_it() {
    let text = "#!/bin/bash\nsource /opt/conda.sh\ncd /work\nbash scripts/qwen_simpo.sh 2 8\n";
    assert_eq!(detect(text).first().map(|seen| seen.format), Some(Format::Script));
    let problems = read(text, "run.sh").expect("a script").expect_err("the script is missing");
    assert!(problems[0].to_string().contains("scripts/qwen_simpo.sh"), "{problems:?}");
    // Other scripts start no training.
    assert!(detect("#!/bin/bash\nbash build.sh\n").is_empty());
}

/// Megatron-LM of 2021 under PyTorch's wrapper, which reduces during the backward pass
/// (`model/distributed.py` of that year).
#[test]
fn pytorchs_wrapper_overlaps_the_reduction() {
    let text = "#!/bin/bash\ntorchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 24 --hidden-size 2304 --num-attention-heads 24 \\\n \
        --seq-length 2048 --max-position-embeddings 2048 --micro-batch-size 16 --fp16 --DDP-impl torch\n";
    let read = check(text, &[("plan.overlap.gradient_reduce", "true")]);
    assert!(!has(&read, RemarkKind::Ignored, "DDP-impl"), "{:?}", read.remarks);
    check(&text.replace("impl torch", "impl local"), &[("plan.overlap.gradient_reduce", "false")]);
}

/// swjeong9/nanotron `qwen3_14b/alpaca_pp4_tp4.yaml`: a key of a fork divides the layers.
#[test]
fn an_unknown_key_of_the_stages_leaves_their_layers_open() {
    let text = "general:\n  project: a\nmodel:\n  dtype: bfloat16\n  model_config:\n    is_qwen2_config: true\n    hidden_size: 5120\n    \
        num_hidden_layers: 40\n    num_attention_heads: 40\n    intermediate_size: 17408\n    vocab_size: 151936\nparallelism:\n  dp: 1\n  \
        pp: 4\n  tp: 4\n  pp_layer_partition: [19, 19, 1, 1]\ntokens:\n  micro_batch_size: 2\n  sequence_length: 8192\n  \
        batch_accumulation_per_replica: 16\n";
    let read = launch(text);
    assert_eq!(read.format, Format::Nanotron);
    assert!(read.open.iter().any(|open| open.key == "plan.layers_per_stage"), "{:?}", read.open);
    assert!(has(&read, RemarkKind::Unresolved, "pp_layer_partition"), "{:?}", read.remarks);
}

/// yemokoo/Megatron-LM `job_train_anvil.sh`: the flags are in sourced files of another machine.
#[test]
fn a_script_whose_flags_are_in_a_missing_file_names_it() {
    let text = "#!/bin/bash\nsource /base/configs/model.sh\ntorchrun --nproc_per_node 8 pretrain_gpt.py \"${MODEL_ARGS[@]}\"\n";
    let problems = read(text, "run.sh").expect("a script").expect_err("no flags");
    assert!(problems[0].to_string().contains("source /base/configs/model.sh"), "{problems:?}");
}

/// CCCarloooo/FastChat `scripts/train_lora.sh`: a switch of quantized weights that is off leaves adapters on.
#[test]
fn adapters_without_quantized_weights_are_adapters() {
    let text = "deepspeed --include \"localhost:3,4,5\" train_lora.py --deepspeed conf/zero2.json --model_name_or_path huggyllama/llama-7b \\\n \
        --lora_r 4 --lora_alpha 2 --bf16 True --per_device_train_batch_size 8 --model_max_length 1280 --q_lora False\n";
    let read = check(
        text,
        &[("plan.optimizer", "\"lora\""), ("plan.lora_rank", "4"), ("plan.frozen_weights", "open")],
    );
    assert!(has(&read, RemarkKind::Assumed, "plan.lora_targets"), "{:?}", read.remarks);
    check(&text.replace("--q_lora False", "--use_lora False"), &[("plan.optimizer", "open")]);
}

/// song-wx/SIFT `lora_llama_30b_alpaca.sh`: DeepSpeed's file has another name and is elsewhere.
#[test]
fn a_stage_in_a_file_without_a_known_name_is_open() {
    let text = "deepspeed --num_gpus=4 train.py --model_name_or_path huggyllama/llama-30b --bf16 True --per_device_train_batch_size 2 \\\n \
        --deepspeed ./configs/default_offload_opt_param.json\n";
    let read = check(text, &[("plan.sharding", "open"), ("plan.software", "\"deepspeed-2024\"")]);
    for key in ["plan.sharding", "plan.offload.optimizer", "plan.offload.parameters"] {
        assert!(read.open.iter().any(|open| open.key == key), "{key}: {:?}", read.open);
    }
}

/// OminiX-ai/OminiX-LLM `run.sh`, ryanyxw/phdbrainstorm `train.sh`: the refusal names the program.
#[test]
fn programs_without_a_reader_are_named() {
    for (text, name) in [
        ("colossalai run --nproc_per_node 1 pretrain.py --config 7b\n", "pretrain.py"),
        ("litgpt pretrain pythia-14m --data TextFiles --optimizer AdamW\n", "litgpt"),
    ] {
        let problems = read(text, "run.sh").expect("a script").expect_err("no reader");
        assert!(problems[0].to_string().contains(name), "{problems:?}");
    }
}

const BASE: &str =
    "base_emb_dim: 4096\nbase_num_query_heads: 32\nmax_target_length: 8192\nper_device_batch_size: 4.0\n";

/// classicboyir/maxtext `Brian_2.sh`: a fork has a base file of its own.
#[test]
fn the_base_file_of_a_fork_of_maxtext_is_read() {
    let text = "python3 MaxText/train.py MaxText/configs/base.yml run_name=a ici_fsdp_parallelism=8 steps=5 remat_policy=full\n";
    let own = folder::read(text, "run.sh", &[("configs/base.yml", BASE)]);
    folder::check(
        &own,
        &[
            ("model.hidden", "4096"),
            ("model.heads", "32"),
            ("model.ffn", "7168"),
            ("plan.sequence_length", "8192"),
            ("plan.global_batch", "32"),
        ],
    );
    check(text, &[("model.hidden", "2048"), ("plan.sequence_length", "2048"), ("plan.global_batch", "96")]);
}
