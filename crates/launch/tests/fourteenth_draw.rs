//! Causes of silent errors and of partial readings in an unseen draw of public launch files (fourteenth,
//! November 2026), each with a text of its own.

use crate::folder;
use crate::remarks;
use railwright_launch::{Launch, RemarkKind};
use remarks::has;

fn launch(text: &str, file: &str) -> Launch {
    folder::read(text, file, &[])
}

const DENSE: &str = "torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 24 --hidden-size 2048 --num-attention-heads 16 \
    --seq-length 2048 --max-position-embeddings 2048 --micro-batch-size 4 --global-batch-size 64 --bf16";

fn flags(more: &str) -> Launch {
    launch(&format!("{DENSE} {more}\n"), "run.sh")
}

/// `Llama2Tokenizer` reads any SentencePiece file, and `GPT2BPETokenizer` any pairs of files (llm-jp,
/// LumiOpen).
#[test]
fn a_kind_of_tokenizer_has_no_rows_where_a_file_is_named() {
    for more in [
        "--tokenizer-type Llama2Tokenizer --tokenizer-model /t/ours-100k.model",
        "--tokenizer-type GPT2BPETokenizer --vocab-file /t/bpe_262144/vocab.json --merge-file /t/bpe_262144/merges.txt",
        "--tokenizer-type GPT2BPETokenizer --vocab-file $VOCAB --merge-file $MERGES",
        "--tokenizer-type Llama2Tokenizer --tokenizer-model $TOKENIZER",
    ] {
        let read = flags(more);
        folder::check(&read, &[("model.vocab", "open")]);
        assert!(has(&read, RemarkKind::Unresolved, "pass --vocab"), "{more}: {:?}", read.remarks);
        assert!(read.open.iter().any(|open| open.key == "model.vocab"), "{more}: {:?}", read.open);
    }
    let hint = flags("--tokenizer-type Llama2Tokenizer --tokenizer-model /t/ours-100k.model");
    assert!(has(&hint, RemarkKind::Unresolved, "`100k`"), "{:?}", hint.remarks);
    for (more, rows) in [
        ("--tokenizer-type GPT2BPETokenizer", "50257"),
        ("--tokenizer-type GPT2BPETokenizer --vocab-file data/gpt2-vocab.json --merge-file $MERGES", "50257"),
        ("--tokenizer-type Llama2Tokenizer", "32000"),
        ("--tokenizer-type Llama2Tokenizer --tokenizer-model /m/Llama-2-7b/tokenizer.model", "32000"),
        ("--tokenizer-type HuggingFaceTokenizer --tokenizer-model EleutherAI/pythia-12b", "50277"),
    ] {
        folder::check(&flags(more), &[("model.vocab", rows)]);
    }
}

const SWIFT: &str = "NPROC_PER_NODE=2 swift sft --model Qwen/Qwen3-8B --per_device_train_batch_size 1 --max_length 4096 \
    --gradient_accumulation_steps 16 --fsdp ./cpu_offload/f.json\n";

const FSDP: &str = "{\"fsdp\": \"full_shard auto_wrap\", \"fsdp_config\": {\"fsdp_version\": 2, \"reshard_after_forward\": true, \
    \"activation_cpu_offload\": true}}";

/// ms-swift's `--fsdp` may name a JSON file.
#[test]
fn a_file_of_fsdp_is_opened() {
    let read = folder::read(SWIFT, "run.sh", &[("cpu_offload/f.json", FSDP)]);
    let expected = [
        ("plan.sharding", "\"fsdp\""),
        ("plan.offload.activations", "1.0"),
        ("plan.offload.parameters", "open"),
        ("plan.software", "\"torchtitan-2024-eager\""),
    ];
    folder::check(&read, &expected);
    let absent = launch(SWIFT, "run.sh");
    folder::check(&absent, &[("plan.sharding", "open"), ("plan.offload.parameters", "open")]);
    assert!(has(&absent, RemarkKind::Unresolved, "f.json"), "{:?}", absent.remarks);
    let words = launch(&SWIFT.replace("./cpu_offload/f.json", "'full_shard offload'"), "run.sh");
    folder::check(&words, &[("plan.offload.parameters", "1.0")]);
}

/// A program over parts of Megatron-LM has the flag without `--deepspeed` (moe-recipes).
#[test]
fn a_stage_of_zero_without_deepspeed_is_listed() {
    let read = flags("--zero-stage 3 --use-zero --zero-config z.json");
    folder::check(&read, &[("plan.sharding", "open")]);
    assert!(has(&read, RemarkKind::Unresolved, "--zero-stage 3"), "{:?}", read.remarks);
    folder::check(&flags("--zero-stage 2 --deepspeed"), &[("plan.sharding", "\"zero2\"")]);
}

/// A fork of 2023 routes a token to one expert (Zyphra).
#[test]
fn experts_of_an_undated_fork_leave_their_number_per_token_open() {
    let read = flags("--num-experts 16 --expert-model-parallel-size 8");
    folder::check(&read, &[("model.experts", "16"), ("model.top_k", "open")]);
    assert!(has(&read, RemarkKind::Unresolved, "--top-k"), "{:?}", read.remarks);
    folder::check(&flags("--num-experts 16 --moe-grouped-gemm"), &[("model.top_k", "2")]);
    folder::check(&flags("--num-experts 16 --deepspeed --zero-stage 1"), &[("model.top_k", "1")]);
}

const TITAN: &str = "torchrun --nproc_per_node 8 -m torchtitan.train --job.config_file=a.toml \
    --training.local_batch_size=$BATCH --parallelism.pipeline_parallel_degree $STAGES --training.seq_len 2048\n";

const TOML: &str = "[model]\nname = \"llama3\"\nflavor = \"8B\"\n[training]\nlocal_batch_size = 16\nseq_len = 4096\n[parallelism]\n\
    pipeline_parallel_degree = 1\n";

/// Overrides of torchtitan from the environment (dgxc-benchmarking).
#[test]
fn an_override_without_a_value_has_no_default() {
    let read = folder::read(TITAN, "run.sh", &[("a.toml", TOML)]);
    let expected =
        [("plan.micro_batch", "open"), ("plan.pipeline_parallel", "open"), ("plan.sequence_length", "2048")];
    folder::check(&read, &expected);
    for key in ["plan.micro_batch", "plan.pipeline_parallel"] {
        assert!(read.open.iter().any(|open| open.key == key), "{key}: {:?}", read.open);
    }
    assert!(has(&read, RemarkKind::Unresolved, "--training.local_batch_size=${BATCH}"), "{:?}", read.remarks);
    let whole = folder::read(&format!("BATCH=4\nSTAGES=2\n{TITAN}"), "run.sh", &[("a.toml", TOML)]);
    folder::check(&whole, &[("plan.micro_batch", "1"), ("plan.pipeline_parallel", "2")]);
}

/// MaxText's base file has defaults that the file of the command may replace.
#[test]
fn an_unread_file_of_maxtext_leaves_the_defaults_of_the_base_file_open() {
    let text =
        "python3 -m MaxText.train models/gpu/absent.yml dcn_data_parallelism=2 ici_fsdp_parallelism=8\n";
    let read = launch(text, "run.sh");
    folder::check(
        &read,
        &[("plan.recompute", "open"), ("plan.software", "open"), ("plan.micro_batch", "open")],
    );
    assert!(has(&read, RemarkKind::Unresolved, "absent.yml"), "{:?}", read.remarks);
    let set = launch(&text.replace("dcn_data", "remat_policy=none hardware=gpu dcn_data"), "run.sh");
    folder::check(&set, &[("plan.recompute", "\"none\""), ("plan.software", "\"maxtext-gpu-2024\"")]);
}

/// A program over llm-foundry reads settings of its command above those of the file (LLM-Shearing).
#[test]
fn settings_of_the_command_override_those_of_llm_foundry() {
    let text = "composer train.py conf/run.yaml global_train_batch_size=256 device_train_microbatch_size=16 max_seq_len=$LENGTH\n";
    let read = folder::read(text, "run.sh", &[("conf/run.yaml", MPT)]);
    folder::check(&read, &[("plan.global_batch", "256"), ("plan.micro_batch", "16")]);
    assert!(!has(&read, RemarkKind::Unresolved, "global_train_batch_size"), "{:?}", read.remarks);
    assert!(has(&read, RemarkKind::Unresolved, "max_seq_len"), "{:?}", read.remarks);
}

const MPT: &str = "max_seq_len: 2048\nmodel:\n  name: mpt_causal_lm\n  d_model: 2048\n  n_heads: 16\n  n_layers: 24\n  \
    max_seq_len: 2048\n  vocab_size: 50368\nglobal_train_batch_size: 32\ndevice_train_microbatch_size: 8\nprecision: amp_bf16\n\
    fsdp_config:\n  sharding_strategy: FULL_SHARD\n";

/// Programs with their own names for experts (megablocks).
#[test]
fn an_unknown_flag_for_experts_leaves_their_number_open() {
    let read = flags("--moe-num-experts=64 --moe-top-k=1");
    folder::check(&read, &[("model.experts", "open")]);
    assert!(read.open.iter().any(|open| open.key == "model.experts"), "{:?}", read.open);
    assert!(Launch::needs_of_model("model.experts", &read.spec));
    let unset = flags("--moe-num-experts=$EXPERTS");
    assert!(unset.open.iter().any(|open| open.key == "model.experts"), "{:?}", unset.open);
    let dense = flags("--my-moe-loss 0.01 --experts-as-text yes");
    assert!(!dense.open.iter().any(|open| open.key == "model.experts"), "{:?}", dense.open);
}

/// The variable stops launches ahead of the device (bigscience).
#[test]
fn launches_that_block_are_listed() {
    let read = launch(&format!("export CUDA_LAUNCH_BLOCKING=1\n{DENSE}\n"), "run.sh");
    assert!(has(&read, RemarkKind::NotModelled, "CUDA_LAUNCH_BLOCKING=1"), "{:?}", read.remarks);
    for usual in ["export CUDA_LAUNCH_BLOCKING=0", "# export CUDA_LAUNCH_BLOCKING=1"] {
        let read = launch(&format!("{usual}\n{DENSE}\n"), "run.sh");
        assert!(!has(&read, RemarkKind::NotModelled, "CUDA_LAUNCH"), "{usual}");
    }
}

const PRIMUS: &str = "modules:\n  pre_trainer:\n    framework: megatron\n    config: pre_trainer.yaml\n    model: llama2_7B.yaml\n    \
    overrides:\n      micro_batch_size: 4\n      global_batch_size: 256\n      seq_length: 4096\n      bf16: true\n      \
    tensor_model_parallel_size: 1\n      use_distributed_optimizer: true\n";

/// The command line of Primus names a configuration, and its flags override it.
#[test]
fn the_command_line_of_primus_is_read_with_its_configuration() {
    let text = "#!/bin/bash\n./primus-cli direct -- train pretrain --config conf/run.yaml --micro_batch_size 2 \\\n  \
        --global_batch_size $GLOBAL --num_layers 8 --pipeline_model_parallel_size 2\n";
    let read = folder::read(text, "run.sh", &[("conf/run.yaml", PRIMUS)]);
    let expected = [
        ("plan.micro_batch", "2"),
        ("plan.global_batch", "open"),
        ("plan.sequence_length", "4096"),
        ("plan.pipeline_parallel", "2"),
        ("plan.precision.preset", "\"bf16\""),
    ];
    folder::check(&read, &expected);
    assert!(has(&read, RemarkKind::Unresolved, "global_batch_size"), "{:?}", read.remarks);
}

/// The launcher of NeMo's configurations often has the number of nodes, and an empty key sets nothing
/// (gpu-recipes).
#[test]
fn nodes_that_no_line_of_nemo_has_are_asked_for() {
    let text = "trainer:\n  devices: 8\n  precision: bf16\nmodel:\n  mcore_gpt: true\n  num_layers: 32\n  hidden_size: 4096\n  \
        num_attention_heads: 32\n  encoder_seq_length: 4096\n  micro_batch_size: 1\n  global_batch_size: 128\n  \
        tokenizer:\n    library: megatron\n    type: GPT2BPETokenizer\n    model: null\n    vocab_file: gpt2-vocab.json\n";
    let read = launch(text, "conf.yaml");
    folder::check(&read, &[("cluster.devices", "open"), ("plan.micro_batch", "1"), ("model.vocab", "50257")]);
    assert!(has(&read, RemarkKind::Unresolved, "number of nodes"), "{:?}", read.remarks);
    assert!(!has(&read, RemarkKind::Conflict, "overrides"), "{:?}", read.remarks);
    let set = launch(&text.replace("  devices: 8", "  devices: 8\n  num_nodes: 2"), "conf.yaml");
    folder::check(&set, &[("cluster.devices", "16")]);
}

/// A wrapper sets variables and hands over to another script (Primus, FLAME-MoE).
#[test]
fn a_wrapper_is_followed_to_the_script_that_it_starts() {
    for start in [
        "exec \"${HERE}/run_flash.sh\" \"$@\"",
        "srun -W 0 modules/run_flash.sh",
        "sbatch --nodes=4 jobs/run_flash.sh",
    ] {
        let text =
            format!("#!/bin/bash\nexport LAYERS=24\nHERE=\"$(cd \"$(dirname \"$0\")\" && pwd)\"\n{start}\n");
        assert!(!railwright_launch::detect(&text).is_empty(), "{start}");
        let read = folder::read(&text, "run.sh", &[("run_flash.sh", WRAPPED)]);
        folder::check(&read, &[("model.layers", "24"), ("plan.micro_batch", "4")]);
    }
    let other = "#!/bin/bash\nbash prepare.sh\necho ready\n";
    assert!(railwright_launch::detect(other).is_empty());
}

const WRAPPED: &str = "torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers ${LAYERS} --hidden-size 2048 --num-attention-heads 16 \
    --seq-length 2048 --max-position-embeddings 2048 --micro-batch-size 4 --global-batch-size 64 --bf16\n";
