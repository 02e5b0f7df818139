//! One configuration of each trainer, and the distinction between adapters and full fine-tuning.

mod commands;

use super::*;
use crate::{Launch, detect, read as read_any};
use railwright_spec::run::Value;

fn launch(text: &str) -> Launch {
    match read_any(text, "f") {
        Some(Ok(launch)) => launch,
        other => panic!("{other:?}, {:?}", detect(text)),
    }
}

fn check(text: &str, expected: &[(&str, &str)]) -> Launch {
    let launch = launch(text);
    assert_eq!(launch.format, Format::HfTrainer);
    for (key, expected) in expected {
        let value = launch.spec.get(key).as_ref().map_or_else(|| "open".to_owned(), Value::to_toml);
        assert_eq!(value, *expected, "{key}");
    }
    launch
}

fn remarks(launch: &Launch, kind: RemarkKind) -> String {
    launch.remarks_of(kind).fold(String::new(), |all, r| all + &r.source + ": " + &r.message + "\n")
}

const FACTORY: &str = "model_name_or_path: meta-llama/Meta-Llama-3-8B\nstage: sft\nfinetuning_type: full\n\
    deepspeed: examples/deepspeed/ds_z3_config.json\ncutoff_len: 4096\nper_device_train_batch_size: 2\n\
    gradient_accumulation_steps: 4\nbf16: true\nlearning_rate: 1.0e-5\n";

#[test]
fn llama_factory_is_read() {
    let launch = check(
        FACTORY,
        &[
            ("model.name", "\"llama-3-8b\""),
            ("plan.micro_batch", "2"),
            ("plan.micro_batches", "4"),
            ("plan.sequence_length", "4096"),
            ("plan.sharding", "\"fsdp\""),
            ("plan.recompute", "\"full\""),
            ("plan.precision.preset", "\"bf16\""),
            ("plan.optimizer", "open"),
        ],
    );
    assert!(remarks(&launch, RemarkKind::Assumed).contains("ZeRO stage 3 is inferred"));
    assert!(remarks(&launch, RemarkKind::Unresolved).contains("the number of devices"));
    let origin = launch.origins.iter().find(|o| o.key == "plan.sequence_length").expect("an origin");
    assert_eq!((origin.source.as_str(), origin.line), ("cutoff_len = 4096", Some(5)));
}

#[test]
fn adapters_on_quantized_weights_are_no_full_fine_tuning() {
    let text = FACTORY.replace("finetuning_type: full", "quantization_bit: 4\nfinetuning_type: lora");
    let launch = check(&text, &[("plan.optimizer", "\"lora\""), ("plan.frozen_weights", "\"nf4\"")]);
    assert!(!remarks(&launch, RemarkKind::NotModelled).contains("bits"));
    let eight = check(&text.replace("bit: 4", "bit: 8"), &[("plan.frozen_weights", "open")]);
    assert!(remarks(&eight, RemarkKind::NotModelled).contains("frozen weights in 8 bits"));
    let text = FACTORY.replace("finetuning_type: full\n", "");
    check(&text, &[("plan.optimizer", "\"lora\"")]);
}

const AXOLOTL: &str = "base_model: meta-llama/Llama-3.1-8B\ndp_shard_size: 4\ndp_replicate_size: 2\ntensor_parallel_size: 2\n\
    fsdp_version: 2\nfsdp_config:\n  offload_params: false\n  reshard_after_forward: true\n  state_dict_type: FULL_STATE_DICT\n\
    datasets:\n  - path: ours\n    type: alpaca\nsequence_len: 2048\nsample_packing: true\ngradient_accumulation_steps: 1\n\
    micro_batch_size: 1\noptimizer: adamw_torch_fused\nbf16: true\n";

#[test]
fn axolotl_with_a_mesh_is_read() {
    let launch = check(
        AXOLOTL,
        &[
            ("model.name", "\"llama-3-8b\""),
            ("cluster.devices", "16"),
            ("plan.tensor_parallel", "2"),
            ("plan.data_parallel", "8"),
            ("plan.sharding", "\"hsdp:4\""),
            ("plan.micro_batch", "1"),
            ("plan.sequence_length", "2048"),
            ("plan.recompute", "\"none\""),
            ("plan.optimizer", "\"adam\""),
            ("plan.software", "\"torchtitan-2024-eager\""),
        ],
    );
    assert_eq!(remarks(&launch, RemarkKind::Unknown), "");
    let text = AXOLOTL.replace("sample_packing: true", "adapter: qlora\nload_in_4bit: true");
    let launch = check(&text, &[("plan.optimizer", "\"lora\""), ("plan.frozen_weights", "\"nf4\"")]);
    assert!(remarks(&launch, RemarkKind::Assumed).contains("not packed"));
}

#[test]
fn the_older_fsdp_of_axolotl_is_version_1() {
    let text = "base_model: NousResearch/Llama-2-7b-hf\nsequence_len: 4096\nmicro_batch_size: 2\ngradient_accumulation_steps: 2\n\
        fsdp:\n  - full_shard\n  - auto_wrap\nfsdp_config:\n  fsdp_offload_params: true\n  fsdp_state_dict_type: FULL_STATE_DICT\n\
        gradient_checkpointing: true\nbf16: auto\noptimizer: adamw_torch\n";
    check(
        text,
        &[
            ("model.name", "\"llama-2-7b\""),
            ("plan.sharding", "\"fsdp\""),
            ("plan.offload.parameters", "1.0"),
            ("plan.recompute", "\"full\""),
            ("plan.precision.preset", "\"bf16\""),
            ("plan.software", "\"fsdp1-2023\""),
        ],
    );
}

#[test]
fn a_script_of_ms_swift_is_read() {
    let text = "nproc=4\nNPROC_PER_NODE=$nproc \\\nswift sft \\\n    --model Qwen/Qwen2.5-7B-Instruct \\\n    --tuner_type lora \\\n\
        \x20   --dataset 'a#500' 'b#500' \\\n    --torch_dtype bfloat16 --per_device_train_batch_size 1 \\\n\
        \x20   --gradient_accumulation_steps 16 --max_length 2048 --deepspeed zero2 --output_dir $OUT\n";
    let launch = check(
        text,
        &[
            ("model.name", "\"qwen2.5-7b\""),
            ("cluster.devices", "4"),
            ("plan.optimizer", "\"lora\""),
            ("plan.micro_batches", "16"),
            ("plan.sharding", "\"zero2\""),
            ("plan.sequence_length", "2048"),
            ("plan.precision.preset", "\"bf16\""),
        ],
    );
    let origin = launch.origins.iter().find(|o| o.key == "plan.sequence_length").expect("an origin");
    assert_eq!(origin.line, Some(8));
    let open = text.replace("--max_length 2048", "--max_length $LENGTH");
    let launch = check(&open, &[("plan.sequence_length", "open")]);
    assert!(remarks(&launch, RemarkKind::Unresolved).contains("--max_length ${LENGTH}"));
    let open = text.replace("--tuner_type lora", "--tuner_type $HOW").replace("size 1 ", "size $SIZE ");
    let open = open.replace("--deepspeed zero2", "--deepspeed $FILE");
    check(&open, &[("plan.optimizer", "open"), ("plan.micro_batch", "open"), ("plan.sharding", "open")]);
}

#[test]
fn llm_foundry_is_read() {
    let text = "variables:\n  length: 2048\nmax_seq_len: ${variables.length}\nmodel:\n  name: mpt_causal_lm\n  d_model: 4096\n\
        \x20 n_heads: 32\n  n_layers: 32\n  expansion_ratio: 4\n  vocab_size: 50368\nglobal_train_batch_size: 1024\n\
        device_train_microbatch_size: 8\nprecision: amp_bf16\nfsdp_config:\n  sharding_strategy: FULL_SHARD\n\
        \x20 mixed_precision: PURE\n  activation_checkpointing: true\n";
    check(
        text,
        &[
            ("model.layers", "32"),
            ("model.hidden", "4096"),
            ("model.ffn", "16384"),
            ("model.gated_mlp", "false"),
            ("model.vocab", "50368"),
            ("plan.sequence_length", "2048"),
            ("plan.global_batch", "1024"),
            ("plan.micro_batch", "8"),
            ("plan.sharding", "\"fsdp\""),
            ("plan.recompute", "\"full\""),
            ("plan.precision.gradient_reduce", "\"bf16\""),
        ],
    );
}

#[test]
fn trl_is_read() {
    let text = "model_name_or_path: Qwen/Qwen3-8B\ndataset_name: ours\nper_device_train_batch_size: 4\nmax_length: 4096\n\
        use_peft: true\nload_in_4bit: true\npacking: true\n";
    let launch = check(
        text,
        &[
            ("model.name", "\"qwen3-8b\""),
            ("plan.optimizer", "\"lora\""),
            ("plan.frozen_weights", "\"nf4\""),
            ("plan.micro_batch", "4"),
            ("plan.micro_batches", "1"),
            ("plan.recompute", "\"full\""),
            ("plan.sharding", "\"none\""),
        ],
    );
    assert!(remarks(&launch, RemarkKind::Assumed).contains("replicas are assumed"));
}

#[test]
fn a_megatron_script_of_ms_swift_is_not_taken() {
    assert!(dialect("megatron sft \\\n --model Qwen/Qwen3-8B --micro_batch_size 1\n").is_none());
}

#[test]
fn megatron_under_a_trainer_is_read() {
    let text = FACTORY.replace(
        "deepspeed: examples/deepspeed/ds_z3_config.json",
        "use_distributed_optimizer: true\ntensor_model_parallel_size: 2\noverlap_grad_reduce: true",
    );
    check(
        &text,
        &[
            ("plan.tensor_parallel", "2"),
            ("plan.sharding", "\"zero1\""),
            ("plan.software", "\"megatron-core-2025\""),
        ],
    );
}

/// Preferences and rewards are detected by their keys, and a missing length is requested.
#[test]
fn rewards_and_preferences_are_reported() {
    let base = "model_name_or_path: Qwen/Qwen3-8B\nper_device_train_batch_size: 2\ngradient_accumulation_steps: 4\nbf16: true\n";
    let rewards = check(
        &format!("{base}reward_funcs: [accuracy]\nmax_prompt_length: 512\nmax_completion_length: 1536\n"),
        &[("plan.sequence_length", "2048")],
    );
    assert!(remarks(&rewards, RemarkKind::NotModelled).contains("generation"));
    let pairs = check(
        &format!("{base}beta: 0.1\n"),
        &[("plan.sequence_length", "open"), ("plan.pipeline_parallel", "1")],
    );
    assert!(remarks(&pairs, RemarkKind::NotModelled).contains("pairs of samples"));
    assert!(pairs.open.iter().any(|open| open.key == "plan.sequence_length"));
}

/// Names of repositories identify quantized weights; open-instruct shares names with TRL and not its
/// checkpointing.
#[test]
fn names_and_older_keys_are_distinguished() {
    let quantized = check(
        &FACTORY.replace("Meta-Llama-3-8B", "Meta-Llama-3-8B-Instruct-GPTQ"),
        &[("model.name", "\"llama-3-8b\"")],
    );
    assert!(remarks(&quantized, RemarkKind::NotModelled).contains("in 4 bits"));
    let older = "base_model: 01-ai/Yi-34B\nadapter: lora\nbatch_size: 8\nmicro_batch_size: 2\nsequence_len: 2048\nbf16: true\n";
    check(older, &[("plan.micro_batch", "2"), ("plan.micro_batches", "4")]);
    let instruct = "model_name_or_path: meta-llama/Llama-3.1-8B\nuse_slow_tokenizer: true\nmax_seq_length: 4096\n\
                    per_device_train_batch_size: 1\ngradient_accumulation_steps: 2\nwith_tracking: true\n";
    let launch = check(instruct, &[("plan.recompute", "open")]);
    assert!(remarks(&launch, RemarkKind::Unresolved).contains("recompute (`--recompute"));
}

#[test]
fn rank_and_targets_are_read() {
    let lora = |more: &str| FACTORY.replace("finetuning_type: full", &format!("finetuning_type: lora{more}"));
    let shape = |text: &str, rank: &str, targets: &str| {
        let expected =
            [("plan.optimizer", "\"lora\""), ("plan.lora_rank", rank), ("plan.lora_targets", targets)];
        check(text, &expected)
    };
    shape(&lora("\nlora_rank: 16\nlora_target: q_proj,v_proj"), "16", "[\"q_proj\", \"v_proj\"]");
    let launch = shape(&lora(""), "8", "[\"all-linear\"]");
    let origin = launch.origins.iter().find(|o| o.key == "plan.lora_rank").expect("an origin");
    assert_eq!((origin.source.as_str(), origin.line), ("the default rank of the trainer", None));
    let axolotl = |more: &str| AXOLOTL.replace("sample_packing: true", &format!("adapter: lora\n{more}"));
    shape(&axolotl("lora_r: 32\nlora_target_linear: true"), "32", "[\"all-linear\"]");
    // All linear layers and some of them are all of them.
    let both = "lora_r: 32\nlora_target_linear: true\nlora_target_modules: [q_proj]";
    shape(&axolotl(both), "32", "[\"all-linear\"]");
    let launch = shape(
        &axolotl("lora_r: 16\nlora_target_modules: [model.layers.0.self_attn.q_proj]"),
        "16",
        "[\"q_proj\"]",
    );
    assert!(remarks(&launch, RemarkKind::NotModelled).contains("counted on all layers"));
    let launch =
        shape(&axolotl("lora_r: 64\nlora_target_modules:\n  - q_proj\n  - conv1"), "64", "[\"q_proj\"]");
    assert!(remarks(&launch, RemarkKind::NotModelled).contains("adapters on `conv1` are not modelled"));
    let trl = "model_name_or_path: Qwen/Qwen3-8B\ndataset_name: ours\nper_device_train_batch_size: 4\nmax_length: 4096\n\
               use_peft: true\nlora_r: 8\nlora_target_modules: all-linear\n";
    shape(trl, "8", "[\"all-linear\"]");
    let swift = "NPROC_PER_NODE=4 \\\nswift sft \\\n    --model Qwen/Qwen2.5-7B-Instruct --tuner_type lora --lora_rank 64 \\\n\
                 \x20   --target_modules q_proj down_proj --per_device_train_batch_size 1 --max_length 2048\n";
    shape(swift, "64", "[\"q_proj\", \"down_proj\"]");
    // A file that trains everything, with remaining adapter settings.
    let full =
        FACTORY.replace("finetuning_type: full", "finetuning_type: full\nlora_rank: 16\nlora_target: all");
    check(&full, &[("plan.lora_rank", "open"), ("plan.lora_targets", "open")]);
}

/// Trainers share a format, not their keys: a file is edited with the keys of its own trainer, or not at all.
#[test]
fn each_trainer_has_its_own_writer() {
    let name = |text: &str| crate::writer_of(crate::Format::HfTrainer, text).map(crate::Writer::name);
    assert_eq!(name(FACTORY), Some("llama-factory"));
    assert_eq!(name(AXOLOTL), Some("axolotl"));
    let trl = "model_name_or_path: Qwen/Qwen3-8B\ndataset_name: ours\nper_device_train_batch_size: 4\n";
    assert_eq!(name(trl), None);
    assert_eq!(name("swift sft --model Qwen/Qwen3-8B --lora_rank 8\n"), None);
}

/// An invalid adapter rank is read as written, by every reader of ranks, so that resolving the plan rejects
/// it.
#[test]
fn a_rank_of_zero_is_refused() {
    let factory = FACTORY.replace("finetuning_type: full", "finetuning_type: lora\nlora_rank: 0");
    let swift = "NPROC_PER_NODE=2 megatron sft --model Qwen/Qwen2.5-7B --tuner_type lora --lora_rank 0 \\\n --tensor_model_parallel_size 2 --micro_batch_size 1 --global_batch_size 16\n";
    let peft = |rank: &str| {
        include_str!("../../tests/fixtures/bridge/run_config.yaml").to_owned()
            + &format!("peft:\n  _target_: megatron.bridge.peft.lora.LoRA\n  dim: {rank}\n")
    };
    for text in [factory, swift.to_owned(), peft("0"), peft("-3")] {
        let launch = launch(&text);
        assert_eq!(launch.spec.plan.lora_rank, Some(0), "{:?} of {text}", launch.format);
    }
}
