//! Programs without a reader: what is read from names with one meaning, and what stays open.

use crate::{Format, Launch, RemarkKind, detect, read};
use railwright_spec::run::Value;

fn launch(text: &str) -> Launch {
    read(text, "run.yaml").expect("a launch file").expect("no problems")
}

fn check(launch: &Launch, expected: &[(&str, &str)]) {
    for (key, expected) in expected {
        let value = launch.spec.get(key).as_ref().map_or_else(|| "open".to_owned(), Value::to_toml);
        assert_eq!(&value, expected, "{key}: {:?}", launch.remarks);
    }
}

fn has(launch: &Launch, kind: RemarkKind, source: &str) -> bool {
    launch.remarks_of(kind).any(|remark| remark.source.contains(source))
}

const FILE: &str = "trainer:\n  devices: 32\n  num_nodes: 8\n  max_steps: 10\ndistributed_strategy:\n  tensor_model_parallel_size: 8\n  \
    pipeline_model_parallel_size: 4\n  zero1: true\ndata:\n  micro_batch_size: 1\n  global_batch_size: 128\nmodel:\n  \
    encoder_seq_length: 4096\n  num_layers: 32\n  hidden_size: 4096\n  activations_checkpoint_granularity: full\n  optim:\n    lr: 3e-4\n";

#[test]
fn clear_names_are_read_and_nothing_else_is_assumed() {
    assert_eq!(detect(FILE).first().map(|seen| seen.format), Some(Format::Other));
    let read = launch(FILE);
    check(
        &read,
        &[
            ("cluster.devices", "256"),
            ("plan.tensor_parallel", "8"),
            ("plan.pipeline_parallel", "4"),
            ("plan.sharding", "\"zero1\""),
            ("plan.micro_batch", "1"),
            ("plan.global_batch", "128"),
            ("plan.sequence_length", "4096"),
            ("plan.recompute", "\"full\""),
            ("plan.context_parallel", "open"),
            ("plan.precision.preset", "open"),
            // Layers and a width do not show an architecture.
            ("model.layers", "open"),
        ],
    );
    assert!(read.partial.is_some());
    for key in ["model.name", "plan.context_parallel", "plan.precision.preset"] {
        assert!(read.open.iter().any(|open| open.key == key), "{key}");
    }
}

#[test]
fn a_setting_with_two_values_is_open() {
    let two = FILE.replace("data:\n", "data:\n  seq_length: 8192\n");
    let read = launch(&two);
    check(&read, &[("plan.sequence_length", "open")]);
    assert!(has(&read, RemarkKind::Unresolved, "seq_length"));
    let unknown = FILE.replace("global_batch_size: 128", "global_batch_size: ${oc.env:BATCH}");
    check(&launch(&unknown), &[("plan.global_batch", "open"), ("plan.micro_batch", "1")]);
}

/// `batch_size` counts samples of a device in one program and of all devices in another.
#[test]
fn names_with_two_meanings_are_listed() {
    let text = FILE.replace("  global_batch_size: 128\n", "  batch_size: 128\n")
        + "fsdp_axis: embed\ncpu_offload_optimizer: true\n";
    let read = launch(&text);
    check(&read, &[("plan.global_batch", "open"), ("plan.offload.optimizer", "open")]);
    for key in ["batch_size", "fsdp_axis", "cpu_offload_optimizer"] {
        assert!(has(&read, RemarkKind::Unresolved, key), "{key}");
    }
}

/// alibaba/ROLL, hiyouga/EasyR1: a batch of prompts, other models next to the trained one, and engines with
/// degrees of their own.
#[test]
fn in_a_job_with_several_models_the_trained_one_is_read() {
    let text = "student_pretrain: Qwen/Qwen2.5-7B-Instruct\nteacher_pretrain: Qwen/Qwen2.5-14B-Instruct\nsequence_length: 2048\nstudent:\n  \
        per_device_train_batch_size: 8\n  global_batch_size: 64\n  learning_rate: 1e-6\n  tensor_model_parallel_size: 2\nteacher:\n  \
        tensor_model_parallel_size: 4\nrollout:\n  tensor_parallel_size: 8\nnum_nodes: 2\nnum_gpus_per_node: 8\n";
    let read = launch(text);
    check(
        &read,
        &[
            ("model.name", "\"qwen2.5-7b\""),
            ("plan.tensor_parallel", "2"),
            ("plan.micro_batch", "8"),
            ("plan.global_batch", "open"),
            ("cluster.devices", "open"),
            ("cluster.devices_per_node", "8"),
        ],
    );
    assert!(has(&read, RemarkKind::NotModelled, "teacher"));
}

/// aws-samples/awsome-distributed-training: a training loop with arguments of its own.
#[test]
fn arguments_of_an_unknown_program_are_read() {
    let script = "#!/bin/bash\nN=4\ntorchrun --nproc_per_node=8 --nnodes=$N train.py base.py --max_context_width=4096 --hidden_width 4096 \\\n  \
        --num_layers=32 --train_batch_size=1 --sharding_strategy=full --offload_activations=1 --lr 1e-4 --size $UNSET -k 3\n";
    let read = launch(script);
    assert_eq!(read.format, Format::Script);
    check(
        &read,
        &[
            ("cluster.devices", "32"),
            ("plan.sequence_length", "4096"),
            ("plan.sharding", "\"fsdp\""),
            ("plan.micro_batch", "open"),
            ("model.hidden", "open"),
        ],
    );
    for key in ["train_batch_size", "offload_activations"] {
        assert!(has(&read, RemarkKind::Unresolved, key), "{key}");
    }
    for key in ["base.py", "k = 3"] {
        assert!(has(&read, RemarkKind::Unknown, key), "{key}: {:?}", read.remarks);
    }
}

#[test]
fn files_that_train_nothing_are_not_claimed() {
    for text in [
        "model: x/y\ntensor_parallel_size: 4\nmax_model_len: 4096\n",
        "batch_size: 4\nname: test\n",
        "services:\n  web:\n    image: a\n",
        "{\"dim\": 4096, \"n_layers\": 32, \"max_seq_len\": 2048, \"max_batch_size\": 4}",
        "eval:\n  batch_size: 8\n  max_seq_len: 4\nlr: 1\n",
    ] {
        assert!(detect(text).is_empty(), "{text}");
    }
}

/// NovaSky-AI/SkyRL `run_sft_fsdp.sh`, Ascend/MindSpeed-LLM `tune_gpt_oss_20b_128k_fsdp2_A3.yaml`.
#[test]
fn overrides_after_a_module_and_kinds_of_exchange_are_read() {
    let script = "uv run --extra fsdp -m skyrl.main model.path=Qwen/Qwen2.5-0.5B-Instruct batch_size=4 micro_train_batch_size_per_gpu=2 \\\n  \
        optimizer_config.lr=1e-6 placement.num_nodes=2 placement.num_gpus_per_node=8 parallel.cp_size=4 parallel.cp_type=ulysses recompute=True\n";
    check(
        &launch(script),
        &[
            ("model.name", "\"qwen2.5-0.5b\""),
            ("plan.micro_batch", "2"),
            ("cluster.devices", "16"),
            ("plan.context_parallel", "4"),
            ("plan.context_kind", "\"ulysses\""),
            ("plan.recompute", "\"full\""),
        ],
    );
}

/// InternLM/InternEvo `configs/7B_sft.py`: variables in Python.
#[test]
fn variables_in_python_are_read_and_code_is_not() {
    let text = "JOB = \"7b\"\nSEQ_LEN = 2048\nVOCAB_SIZE = 103168\ndata = dict(\n    seq_len=SEQ_LEN,\n    micro_num=4,\n    micro_bsz=2,\n)\n\
        adam = dict(lr=1e-4)\nmodel = dict(\n    checkpoint=False,\n    num_layers=32,\n    hidden_size=4096,\n    dtype=\"torch.bfloat16\",\n)\n\
        parallel = dict(zero1=dict(size=8), tensor=dict(size=2))\n";
    let read = launch(text);
    check(
        &read,
        &[
            ("plan.sequence_length", "2048"),
            ("plan.micro_batch", "2"),
            ("plan.micro_batches", "4"),
            ("plan.precision.preset", "\"bf16\""),
            ("plan.tensor_parallel", "open"),
            ("model.layers", "open"),
        ],
    );
    for key in ["parallel.zero1.size", "parallel.tensor.size"] {
        assert!(has(&read, RemarkKind::Unresolved, key), "{key}: {:?}", read.remarks);
    }
    let code = "import torch\n\nclass Config:\n    batch_size: int = 4\n    max_seq_len: int = 8\n\ndef train(lr, batch_size=4):\n    return lr\n";
    assert!(detect(code).is_empty());
}

const TUNED: &str = "model: meta-llama/Llama-3.1-8B\nper_device_train_batch_size: 2\nmax_seq_length: 2048\noptim: adamw_8bit\n\
    learning_rate: 1e-5\n";

/// `r` is a rank only next to other keys of adapters, and full fine-tuning is stated only without any.
#[test]
fn adapters_are_never_full_fine_tuning() {
    check(&launch(TUNED), &[("plan.optimizer", "\"adam\""), ("plan.lora_rank", "open")]);
    let shaped =
        format!("{TUNED}r: 32\nlora_alpha: 64\ntarget_modules:\n- q_proj\n- v_proj\nload_in_4bit: true\n");
    check(
        &launch(&shaped),
        &[
            ("plan.optimizer", "\"lora\""),
            ("plan.lora_rank", "32"),
            ("plan.lora_targets", "[\"q_proj\", \"v_proj\"]"),
            ("plan.frozen_weights", "\"nf4\""),
        ],
    );
    let switched = format!("{TUNED}peft_config:\n  use_peft: true\n");
    let read = launch(&switched);
    check(&read, &[("plan.optimizer", "open"), ("plan.lora_rank", "open")]);
    assert!(has(&read, RemarkKind::Unresolved, "use_peft"), "{:?}", read.remarks);
    let off = format!("{TUNED}lora:\n  enabled: false\n  r: 8\n");
    check(&launch(&off), &[("plan.optimizer", "\"adam\""), ("plan.lora_rank", "open")]);
    let alone = format!("{TUNED}r: 32\n");
    let read = launch(&alone);
    check(&read, &[("plan.optimizer", "\"adam\""), ("plan.lora_rank", "open")]);
    assert!(has(&read, RemarkKind::Unknown, "r = 32"), "{:?}", read.remarks);
}

/// The optimizer of adapters is a known key, and a value that the script leaves open is shown as it stands
/// there.
#[test]
fn keys_are_shown_as_they_stand() {
    let text = format!("{}lora_rank: 8\n", TUNED.replace("adamw_8bit", "adafactor"));
    let read = launch(&text);
    check(&read, &[("plan.optimizer", "\"lora\"")]);
    assert!(has(&read, RemarkKind::Ignored, "adafactor"), "{:?}", read.remarks);
    let script =
        "python train.py --model_name x/y --per_device_batch_size 4 --seq_length $(cat length) --lr 1\n";
    let read = launch(script);
    let shown: Vec<&str> = read.remarks.iter().map(|remark| remark.source.as_str()).collect();
    assert!(shown.iter().any(|source| source.contains("$(cat length)")), "{shown:?}");
    assert!(shown.iter().all(|source| !source.contains("$$")), "{shown:?}");
}

/// allenai/OLMo-core `OLMo2-7B-long-context.py`: the batch counts tokens.
#[test]
fn a_batch_of_tokens_is_no_batch_of_samples() {
    let text = TUNED.to_owned() + "global_batch_size: 4194304\n";
    let read = launch(&text);
    check(&read, &[("plan.global_batch", "open"), ("plan.sequence_length", "2048")]);
    assert!(has(&read, RemarkKind::Unresolved, "4194304"), "{:?}", read.remarks);
}

/// Names of recomputation and accumulation in trainers of research groups; kernels are never without effect.
#[test]
fn synonyms_are_read_and_names_of_kernels_are_not_ignored() {
    let text = "torchrun --nproc_per_node=2 train_fsdp.py --model_name_or_path Qwen/Qwen3-0.6B --seq_len 1024 \\\n  \
        --micro_batch_size 1 --grad_accumulation_steps 50 --use_activation_checkpointing --bf16 --lr 1e-5 \\\n  \
        --attn_implementation eager --torch_compile true --use_liger_kernel false\n";
    let read = read(text, "train.sh").expect("a launch file").expect("no problems");
    check(
        &read,
        &[
            ("plan.micro_batches", "50"),
            ("plan.recompute", "\"full\""),
            ("plan.attention_kernel", "\"unfused\""),
        ],
    );
    // Hugging Face's modules, not those of Megatron-LM.
    check(&read, &[("plan.software", "\"transformers-2026\""), ("plan.sharding", "open")]);
    assert!(has(&read, RemarkKind::Unresolved, "torch_compile"));
    assert!(!has(&read, RemarkKind::Unresolved, "use_liger_kernel"));
}

/// A program whose batch is a default: its length and degrees are read, and the batch stays open.
#[test]
fn arguments_without_a_batch_are_part_of_a_run() {
    let text = "torchrun --nproc-per-node 4 cli/train.py --max_seq_len 2048 --train_steps 100 --pipe_parallel_size 4\n";
    let read = read(text, "train.sh").expect("a launch file").expect("no problems");
    check(
        &read,
        &[("plan.pipeline_parallel", "4"), ("plan.sequence_length", "2048"), ("plan.micro_batch", "open")],
    );
}

/// The batch of this name is not MaxText's beside a model of Hugging Face.
#[test]
fn a_batch_per_device_alone_is_not_maxtext() {
    let text = "model_name_or_path: Qwen/Qwen3-8B\nmax_seq_length: 4096\nper_device_batch_size: 2\nlearning_rate: 1e-5\n";
    let read = launch(text);
    assert_eq!(read.format, Format::Other);
    check(
        &read,
        &[
            ("plan.micro_batch", "2"),
            ("plan.sequence_length", "4096"),
            ("plan.software", "\"transformers-2026\""),
        ],
    );
    assert_eq!(launch("per_device_batch_size: 2\nmax_target_length: 4096\n").format, Format::MaxText);
}
