//! Causes of silent errors and of partial readings in an unseen draw of public launch files (thirteenth,
//! November 2026), each with a text of its own.

use crate::folder;
use crate::remarks;
use railwright_launch::{Launch, RemarkKind, detect};
use remarks::has;

fn launch(text: &str, file: &str) -> Launch {
    folder::read(text, file, &[])
}

/// NeMo-RL passes the setting to Megatron-Core.
#[test]
fn the_format_of_gradients_under_nemo_rl_is_read() {
    let text = |precision: &str, wide: bool| {
        format!(
            "sft:\n  max_num_epochs: 1\npolicy:\n  model_name: meta-llama/Llama-3.2-1B-Instruct\n  train_global_batch_size: 64\n  \
             train_micro_batch_size: 2\n  max_total_sequence_length: 4096\n  {precision}\n  megatron_cfg:\n    enabled: true\n    \
             tensor_model_parallel_size: 1\n    distributed_data_parallel_config:\n      grad_reduce_in_fp32: {wide}\n\
             cluster:\n  gpus_per_node: 8\n  num_nodes: 1\n"
        )
    };
    let read = |wide| launch(&text("precision: bfloat16", wide), "sft.yaml");
    let formats = |format| [("plan.precision.gradients", format), ("plan.precision.gradient_reduce", format)];
    folder::check(&read(false), &formats("\"bf16\""));
    folder::check(&read(true), &formats("\"fp32\""));
    let open = launch(&text("make_sequence_length_divisible_by: 1", false), "sft.yaml");
    folder::check(&open, &formats("open"));
    assert!(has(&open, RemarkKind::Unresolved, "format of the parameters"), "{:?}", open.remarks);
}

/// Megatron takes `--vocab-size` only for tokenizers without a file.
#[test]
fn a_tokenizer_with_its_own_vocabulary_overrides_the_flag() {
    let read = |tokenizer: &str| {
        launch(
            &format!(
                "torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 24 --hidden-size 2048 --num-attention-heads 16 --seq-length \
                 2048 --max-position-embeddings 2048 --micro-batch-size 4 --global-batch-size 64 --bf16 --vocab-size 3200 {tokenizer}\n"
            ),
            "run.sh",
        )
    };
    let unknown = read("--tokenizer-type HuggingFaceTokenizer --tokenizer-model /data/tokenizer");
    folder::check(&unknown, &[("model.vocab", "open")]);
    assert!(has(&unknown, RemarkKind::Unresolved, "own vocabulary"), "{:?}", unknown.remarks);
    let known = read("--tokenizer-type HuggingFaceTokenizer --tokenizer-model meta-llama/Llama-2-7b-hf");
    folder::check(&known, &[("model.vocab", "32000")]);
    assert!(has(&known, RemarkKind::Conflict, "32,000"), "{:?}", known.remarks);
    folder::check(&read("--tokenizer-type NullTokenizer"), &[("model.vocab", "3201")]);
    folder::check(&read(""), &[("model.vocab", "3200")]);
}

/// A log states the vocabulary of the tokenizer.
#[test]
fn the_vocabulary_of_a_log_is_the_padded_one() {
    let text = |tokenizer: &str| {
        format!(
            "using world size: 8, data-parallel size: 8\n------------------------ arguments ------------------------\n  bf16 .......... True\n  \
             global_batch_size .......... 64\n  hidden_size .......... 2048\n  micro_batch_size .......... 4\n  num_attention_heads \
             .......... 16\n  num_layers .......... 24\n  rank .......... 0\n  seq_length .......... 2048\n  tokenizer_type .......... \
             {tokenizer}\n  vocab_size .......... 3200\n  world_size .......... 8\n-------------------- end of arguments \
             ---------------------\n > padded vocab (size: 32000) with 0 dummy tokens (new size: 32000)\n"
        )
    };
    let read = launch(&text("Llama2Tokenizer"), "run.log");
    folder::check(&read, &[("model.vocab", "32000")]);
    assert!(!has(&read, RemarkKind::Unresolved, "own vocabulary"), "{:?}", read.remarks);
}

const OWN: &str = "deepspeed --num_gpus 8 training/main.py --model_name_or_path meta-llama/Llama-2-7b-hf \
    --per_device_train_batch_size 4 --gradient_accumulation_steps 1 --gradient_checkpointing --logging_steps 1 --save_steps 100";

const FILE: &str = "{\"bf16\": {\"enabled\": true}, \"zero_optimization\": {\"stage\": 2}, \"train_micro_batch_size_per_gpu\": 4}";

const SILENT: &str = "{\"zero_optimization\": {\"stage\": 2}}";

/// DeepSpeed's own parser has `--deepspeed` without a value; Transformers' has the name of a file.
#[test]
fn a_program_that_calls_deepspeed_itself_has_its_settings() {
    let text = format!("{OWN} --deepspeed --deepspeed_config conf/ds.json\n");
    let read = folder::read(&text, "run.sh", &[("conf/ds.json", FILE)]);
    folder::check(&read, &[("plan.sharding", "\"zero2\""), ("plan.precision.preset", "\"bf16\"")]);
    let read = folder::read(&text, "run.sh", &[("conf/ds.json", SILENT)]);
    folder::check(&read, &[("plan.sharding", "\"zero2\""), ("plan.precision.preset", "open")]);
    assert!(has(&read, RemarkKind::Unresolved, "precision itself"), "{:?}", read.remarks);
    let absent = launch(&text, "run.sh");
    folder::check(&absent, &[("plan.sharding", "open"), ("plan.precision.preset", "open")]);
    // The Trainer's default stays where its own flag names the file.
    let trainer = launch(&format!("{OWN} --deepspeed conf/ds_zero2.json\n"), "run.sh");
    folder::check(&trainer, &[("plan.sharding", "\"zero2\""), ("plan.precision.preset", "\"fp32\"")]);
}

/// The second step of DeepSpeed-Chat trains on pairs, in the format of its program.
#[test]
fn pairs_of_deepspeed_chat_are_listed() {
    let text = format!("{OWN} --num_padding_at_beginning 0 --zero_stage 3 --deepspeed\n");
    let read = launch(&text, "run.sh");
    folder::check(&read, &[("plan.sharding", "\"fsdp\""), ("plan.precision.preset", "open")]);
    assert!(has(&read, RemarkKind::NotModelled, "pairs"), "{:?}", read.remarks);
    assert!(has(&read, RemarkKind::Unresolved, "precision itself"), "{:?}", read.remarks);
}

/// AutoParallel chooses the layout at the start of a run.
#[test]
fn a_layout_of_a_solver_is_listed() {
    let text = |class: &str| {
        format!(
            "from torchtitan.config import ParallelismConfig, TrainingConfig\nfrom torchtitan.models.llama3 import model_registry\nfrom \
             torchtitan.trainer import {class}\n\n\ndef run():\n    return {class}(\n        \
             model_spec=model_registry(\"8B\"),\n        training=TrainingConfig(local_batch_size=1, seq_len=8192),\n        \
             parallelism=ParallelismConfig(tensor_parallel_degree=2),\n    )\n"
        )
    };
    let solved = launch(&text("AutoParallelConfig"), "config_registry.py");
    folder::check(&solved, &[("plan.sequence_length", "8192")]);
    assert!(has(&solved, RemarkKind::NotModelled, "a solver places the weights"), "{:?}", solved.remarks);
    let plain = launch(&text("TrainerConfig"), "config_registry.py");
    assert!(!has(&plain, RemarkKind::NotModelled, "solver"), "{:?}", plain.remarks);
}

/// Scripts begin without `#!` too, with a test or a group of commands.
#[test]
fn a_test_at_the_start_of_a_line_is_one_of_a_script() {
    let start = "torchrun --nproc_per_node 8 tools/train.py --config run.yaml\n";
    for first in ["[ -f env.sh ] && source env.sh", "[[ -z $A ]] && A=1", "{ date; hostname; } > place"] {
        assert!(!detect(&format!("{first}\n{start}")).is_empty(), "{first}");
    }
    for first in ["[section]", "[ section ]", "{\"a\": 1}", "<html>", "- item"] {
        assert!(detect(&format!("{first}\n{start}")).is_empty(), "{first}");
    }
}

/// MaxText's base file shards within a slice only.
#[test]
fn replicas_of_slices_are_named_where_no_axis_is_set() {
    let text = "base_config: base.yml\nhardware: gpu\nmodel_name: llama2-70b\nper_device_batch_size: 4\nmax_target_length: 4096\n";
    let read = launch(text, "run.yml");
    folder::check(&read, &[("plan.sharding", "\"fsdp\"")]);
    assert!(has(&read, RemarkKind::Assumed, "between slices"), "{:?}", read.remarks);
    let set = launch(&format!("{text}dcn_data_parallelism: 1\ndcn_fsdp_parallelism: 8\n"), "run.yml");
    assert!(!has(&set, RemarkKind::Assumed, "between slices"), "{:?}", set.remarks);
}

const YAML: &str = "model_name: pythia-1b\nout_dir: out\nprecision: bf16-mixed\ndevices: 8\nnum_nodes: 1\ntrain:\n  save_interval: 1000\n  \
        global_batch_size: 64\n  micro_batch_size: 8\n  max_seq_length: 2048\n";

/// Arguments of LitGPT take precedence over its configuration.
#[test]
fn arguments_of_litgpt_override_its_configuration() {
    let text = "litgpt pretrain --config conf/run.yaml --devices 1 --train.micro_batch_size=2 --train.max_seq_length 4096 \
        --train.save_interval 10\n";
    let read = folder::read(text, "run.sh", &[("conf/run.yaml", YAML)]);
    folder::check(
        &read,
        &[
            ("cluster.devices", "1"),
            ("plan.micro_batch", "2"),
            ("plan.sequence_length", "4096"),
            ("plan.global_batch", "64"),
        ],
    );
    assert!(!has(&read, RemarkKind::Unresolved, "max_seq_length"), "{:?}", read.remarks);
    let open =
        folder::read(&text.replace("--devices 1", "--devices $N"), "run.sh", &[("conf/run.yaml", YAML)]);
    folder::check(&open, &[("cluster.devices", "8")]);
    assert!(has(&open, RemarkKind::Unresolved, "--devices"), "{:?}", open.remarks);
}
