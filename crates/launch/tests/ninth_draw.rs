//! Causes of silent errors and of refusals in an unseen draw of public launch files (ninth, November 2026),
//! each with a text of its own.

use crate::folder;
use railwright_launch::{Format, Launch, RemarkKind, detect, read};

fn launch(text: &str, file: &str) -> Launch {
    match read(text, file) {
        Some(Ok(launch)) => launch,
        other => panic!("{other:?}, {:?}", detect(text)),
    }
}

fn check(text: &str, expected: &[(&str, &str)]) -> Launch {
    let launch = launch(text, "run.sh");
    folder::check(&launch, expected);
    launch
}

fn has(launch: &Launch, kind: RemarkKind, source: &str) -> bool {
    launch.remarks_of(kind).any(|remark| remark.source.contains(source))
}

/// Megatron-Bridge's scripts name a recipe of the library, which is in the same repository, and set nodes in
/// Slurm's directives.
#[test]
fn a_recipe_that_a_script_names_is_read_with_its_overrides() {
    const LIBRARY: &[(&str, &str)] = &[
        (
            "src/megatron/bridge/recipes/__init__.py",
            "from megatron.bridge.recipes.other import *\nfrom megatron.bridge.recipes.some import *\n",
        ),
        ("src/megatron/bridge/recipes/other.py", "x = 1\n"),
        (
            "src/megatron/bridge/recipes/some.py",
            "def _common():\n    cfg = ConfigContainer()\n    cfg.train.micro_batch_size = 2\n    cfg.train.global_batch_size = 64\n    \
             return cfg\n\ndef some_8b_sft_config():\n    cfg = _common()\n    cfg.model.tensor_model_parallel_size = 2\n    \
             cfg.model.pipeline_model_parallel_size = 4\n    cfg.model.sequence_parallel = True\n    return cfg\n",
        ),
    ];
    let text = "#!/bin/bash\n#SBATCH --nodes=4 --gpus-per-node=8\n#SBATCH --ntasks-per-node=8\nNAME=some_8b\n\
        CMD=\"python run_recipe.py --recipe ${NAME}_sft_config train.global_batch_size=128 model.seq_length=4096 \
        model.pipeline_model_parallel_size=1\"\nsrun bash -c \"$CMD\"\n";
    let expected = [
        ("cluster.devices", "32"),
        ("plan.global_batch", "128"),
        ("plan.sequence_length", "4096"),
        ("plan.pipeline_parallel", "1"),
    ];
    let alone = check(text, &expected);
    folder::check(&alone, &[("plan.tensor_parallel", "open"), ("plan.micro_batch", "open")]);
    let followed = folder::read(text, "examples/sft.sh", LIBRARY);
    folder::check(&followed, &expected);
    folder::check(
        &followed,
        &[("plan.tensor_parallel", "2"), ("plan.sequence_parallel", "true"), ("plan.micro_batch", "2")],
    );
}

const TITAN: &str = "from torchtitan.config import CompileConfig, ParallelismConfig, TrainingConfig\n\
from torchtitan.components.loss import ChunkedLossWrapper, CrossEntropyLoss\n\
from torchtitan.trainer import Trainer\nfrom . import model_registry\n\n\
def llama3_8b() -> Trainer.Config:\n    return Trainer.Config(\n        loss=ChunkedLossWrapper.Config(loss_fn=CrossEntropyLoss.Config()),\n        \
model_spec=model_registry(\"8B\", attn_backend=\"flex\"),\n        \
training=TrainingConfig(num_tokens_per_microbatch_per_dp_rank=2 * 8192, max_context_length=8192, disable_cuda_graphs=True),\n        \
parallelism=ParallelismConfig(tensor_parallel_degree=2),\n        compile=CompileConfig(enable=True, components=[\"loss\"]),\n    )\n";

/// torchtitan's `config_registry.py` of models with experts: the class of the loss, the backend of the
/// dispatch and graphs change a step.
#[test]
fn classes_of_torchtitan_switch_features_on() {
    let software = |text: &str| folder::value(&launch(text, "config_registry.py"), "plan.software");
    assert_eq!(software(TITAN), "\"torchtitan-2024-eager+compiled-loss+chunked-loss\"");
    let plain = TITAN
        .replace("ChunkedLossWrapper.Config(loss_fn=CrossEntropyLoss.Config())", "CrossEntropyLoss.Config()");
    let compiled = plain.replace(", components=[\"loss\"]", "");
    assert_eq!(software(&compiled), "\"torchtitan-2024-compile\"");
    let graphs = compiled.replace(", disable_cuda_graphs=True", "");
    assert_eq!(software(&graphs), "\"torchtitan-2024-compile+cuda-graphs\"");
    let experts =
        compiled.replace("attn_backend", "num_mtp_layers=1, moe_comm_backend=\"hybridep\", attn_backend");
    assert_eq!(software(&experts), "\"torchtitan-2024-compile+fused-dispatch\"");
    let other = experts.replace("hybridep", "minimal_async_ep");
    assert_eq!(software(&other), "\"torchtitan-2024-compile\"");
    let read = launch(&other, "config_registry.py");
    for key in ["moe_comm_backend", "num_mtp_layers"] {
        assert!(has(&read, RemarkKind::NotModelled, key), "{key}: {:?}", read.remarks);
    }
}

/// AI-Hypercomputer/maxtext: a short file that names a model, changes its layers, and multiplies all experts.
#[test]
fn a_named_model_with_other_layers_is_open() {
    let text = "base_config: \"base.yml\"\nmodel_name: \"mixtral-8x7b\"\nhardware: \"gpu\"\nper_device_batch_size: 8\n\
        max_target_length: 4096\nremat_policy: \"full\"\nsparse_matmul: false\n";
    let named = check(text, &[("model.name", "\"mixtral-8x7b\"")]);
    assert!(has(&named, RemarkKind::NotModelled, "sparse_matmul"), "{:?}", named.remarks);
    let same = format!("{text}base_num_decoder_layers: 32\n");
    check(&same, &[("model.name", "\"mixtral-8x7b\"")]);
    let read = check(&same.replace("layers: 32", "layers: 5"), &[("model.name", "open")]);
    assert!(read.open.iter().any(|open| open.key == "model.name"), "{:?}", read.open);
    assert!(has(&read, RemarkKind::Conflict, "model_name"), "{:?}", read.remarks);
    // A dense model has no experts.
    let dense = check(&text.replace("mixtral-8x7b", "llama3-8b"), &[("model.name", "\"llama-3-8b\"")]);
    assert!(!has(&dense, RemarkKind::NotModelled, "sparse_matmul"), "{:?}", dense.remarks);
}

/// NeMo's recipes for encoders with decoders have a second length under `data`.
#[test]
fn keys_of_data_with_an_effect_are_listed() {
    let text = "trainer:\n  devices: 8\n  num_nodes: 1\nmodel:\n  tensor_model_parallel_size: 2\n  micro_batch_size: 1\n\
        dataset:\n  seq_length: 512\n  seq_length_dec: 128\n  num_workers: 2\n";
    let read = check(text, &[("plan.tensor_parallel", "2")]);
    assert!(has(&read, RemarkKind::Unknown, "seq_length_dec"), "{:?}", read.remarks);
    assert!(!has(&read, RemarkKind::Unknown, "num_workers"), "{:?}", read.remarks);
}

const SWIFT: &str = "NPROC_PER_NODE=4 swift rlhf --rlhf_type grpo --model Qwen/Qwen2.5-7B --use_vllm true --vllm_mode colocate \
    --max_completion_length 1024 --offload_model true --offload_optimizer true --deepspeed zero2\n";

/// modelscope/ms-swift: models leave the device while samples are generated, and the accumulation has a rule
/// of its own.
#[test]
fn what_moves_during_generation_is_no_offload_of_training() {
    let grpo = check(SWIFT, &[("plan.micro_batches", "1"), ("plan.sharding", "\"zero2\"")]);
    assert!(grpo.open.iter().all(|open| open.key != "plan.offload.optimizer"), "{:?}", grpo.open);
    for key in ["offload_model", "offload_optimizer", "vllm_mode"] {
        assert!(has(&grpo, RemarkKind::NotModelled, key), "{key}: {:?}", grpo.remarks);
    }
    let sft = "NPROC_PER_NODE=4 swift sft --model Qwen/Qwen2.5-7B --max_length 2048 --per_device_train_batch_size 2\n";
    check(sft, &[("plan.micro_batch", "2"), ("plan.micro_batches", "2")]);
    check(&sft.replace("NPROC_PER_NODE=4 ", ""), &[("plan.micro_batches", "open")]);
}

/// NVIDIA-NeMo/RL and Automodel: kernels of the dispatch.
#[test]
fn fused_kernels_of_the_dispatch_are_read() {
    let text = "policy:\n  model_name: openai/gpt-oss-20b\n  train_global_batch_size: 128\n  train_micro_batch_size: 8\n  \
        max_total_sequence_length: 512\n  precision: bfloat16\n  dtensor_cfg:\n    enabled: true\n    expert_parallel_size: 8\n    \
        dp_replicate_size: 2\n    activation_checkpointing: false\n    automodel_kwargs:\n      backend:\n        attn: te\n        \
        enable_deepep: true\ncluster:\n  gpus_per_node: 8\n  num_nodes: 1\n";
    let fused = "\"torchtitan-2024-eager+fused-dispatch\"";
    let read = check(text, &[("plan.software", fused), ("plan.expert_parallel", "8")]);
    assert!(has(&read, RemarkKind::NotModelled, "dp_replicate_size"), "{:?}", read.remarks);
    assert!(!has(&read, RemarkKind::Unknown, "backend"), "{:?}", read.remarks);
    check(
        &text.replace("expert_parallel_size: 8", "expert_parallel_size: 1"),
        &[("plan.software", "\"torchtitan-2024-eager\"")],
    );
    let automodel = "step_scheduler:\n  global_batch_size: 64\n  local_batch_size: 1\ndistributed:\n  strategy: fsdp2\n  ep_size: 8\n\
        model:\n  _target_: nemo_automodel.NeMoAutoModelForCausalLM.from_pretrained\n  \
        pretrained_model_name_or_path: Qwen/Qwen3-30B-A3B\n  backend:\n    dispatcher: hybridep\n\
        loss_fn:\n  _target_: nemo_automodel.components.loss.masked_ce.MaskedCrossEntropy\n";
    check(automodel, &[("plan.software", fused)]);
    let loss = automodel
        .replace("hybridep", "torch")
        .replace("masked_ce.MaskedCrossEntropy", "linear_ce.FusedLinearCrossEntropy");
    check(&loss, &[("plan.software", "\"torchtitan-2024-eager+fused-loss\"")]);
}

/// Trainers on Hugging Face's models: Liger's loss and Axolotl's own never hold the logits.
#[test]
fn a_loss_that_is_fused_with_the_head_is_a_feature() {
    let text = "model_name_or_path: Qwen/Qwen2.5-7B\ntorch_dtype: bfloat16\nbf16: true\nmax_length: 4096\n\
        per_device_train_batch_size: 2\ngradient_accumulation_steps: 8\nuse_liger_kernel: true\n";
    check(text, &[("plan.software", "\"transformers-2026+fused-loss+fused-layers\"")]);
    check(&text.replace("kernel: true", "kernel: false"), &[("plan.software", "\"transformers-2026\"")]);
    // Single kernels of Liger are taken back; the loss on whole logits is not a feature.
    let layers =
        "liger_kernel_config:\n  fused_linear_cross_entropy: false\n  cross_entropy: true\n  swiglu: false\n";
    let read = check(&format!("{text}{layers}"), &[("plan.software", "\"transformers-2026+fused-layers\"")]);
    assert!(has(&read, RemarkKind::NotModelled, "cross_entropy"), "{:?}", read.remarks);
    assert!(has(&read, RemarkKind::NotModelled, "swiglu"), "{:?}", read.remarks);
    let command = "accelerate launch --num_processes 8 train.py --model_name_or_path Qwen/Qwen2.5-7B --bf16 --max_length 4096 \
        --per_device_train_batch_size 2 --use_liger_kernel --liger_kernel_config '{\"rope\": true, \"rms_norm\": false}'\n";
    check(command, &[("plan.software", "\"transformers-2026+fused-loss\"")]);
    let axolotl = "base_model: Qwen/Qwen2.5-7B\nmicro_batch_size: 1\nsequence_len: 4096\ncut_cross_entropy: true\nbf16: true\n";
    check(axolotl, &[("plan.software", "\"transformers-2026+fused-loss\"")]);
    let verl = "python3 -m verl.trainer.main_ppo actor_rollout_ref.model.path=Qwen/Qwen2.5-7B algorithm.use_kl_in_reward=True \
        actor_rollout_ref.model.use_fused_kernels=True actor_rollout_ref.actor.strategy=fsdp2 trainer.nnodes=1 trainer.n_gpus_per_node=8\n";
    let read = check(verl, &[("plan.software", "\"torchtitan-2024-eager+fused-loss\"")]);
    assert!(has(&read, RemarkKind::NotModelled, "use_kl_in_reward"), "{:?}", read.remarks);
}

/// bigcode-project/Megatron-LM `sc21`: the nodes are an option of `sbatch`, and a directive has several
/// options.
#[test]
fn options_of_sbatch_give_the_ranks() {
    const JOB: &[(&str, &str)] = &[(
        "job.sh",
        "#!/bin/bash\n#SBATCH -t 0:30:00 --exclusive --ntasks-per-node=8\nsrun -l sh -c \"python pretrain_gpt.py ${PARAMS}\"\n",
    )];
    let text = "#!/bin/bash\nexport PARAMS=\"--num-layers 24 --hidden-size 2048 --num-attention-heads 16 --seq-length 2048 \
        --max-position-embeddings 2048 --micro-batch-size 1 --global-batch-size 12 --tensor-model-parallel-size 8 \
        --pipeline-model-parallel-size 12 --fp16\"\nsbatch --nodes=12 job.sh\n";
    let read = folder::read(text, "run.sh", JOB);
    folder::check(&read, &[("cluster.devices", "96"), ("plan.pipeline_parallel", "12")]);
}

/// THUDM/slime `low_precision`: a variable of the job's environment rounds the weights.
#[test]
fn variables_of_the_environment_of_a_job_are_read() {
    let text = "#!/bin/bash\nENV=\"{\n  \\\"env_vars\\\": {\n    \\\"OPEN_TRAINING_INT4_FAKE_QAT_FLAG\\\": \\\"1\\\",\n    \
        \\\"MASTER_PORT\\\": \\\"1\\\"\n  }\n}\"\nray job submit --runtime-env-json=\"${ENV}\" -- python3 train.py --actor-num-nodes 1 \
        --actor-num-gpus-per-node 8 --colocate --num-layers 4 --hidden-size 1024 --num-attention-heads 8 --rollout-batch-size 8 \
        --hf-checkpoint a --tensor-model-parallel-size 2 --global-batch-size 64 --num-rollout 8\n";
    let read = check(text, &[("plan.tensor_parallel", "2"), ("cluster.devices", "8")]);
    assert!(has(&read, RemarkKind::NotModelled, "FAKE_QAT"), "{:?}", read.remarks);
    assert!(!has(&read, RemarkKind::Unknown, "MASTER_PORT"), "{:?}", read.remarks);
    let off = check(&text.replace("QAT_FLAG\\\": \\\"1", "QAT_FLAG\\\": \\\"0"), &[("cluster.devices", "8")]);
    assert!(!has(&off, RemarkKind::NotModelled, "FAKE_QAT"), "{:?}", off.remarks);
}

/// DeepSpeed-Chat's names of adapters.
#[test]
fn adapters_of_deepspeed_chat_are_read() {
    let text = "deepspeed --num_gpus 8 main.py --model_name_or_path meta-llama/Llama-2-7b-hf --per_device_train_batch_size 4 \
        --max_seq_len 512 --gradient_accumulation_steps 1 --deepspeed --zero_stage 3 --lora_dim 128 --lora_module_name layers.\n";
    let read = check(
        text,
        &[
            ("plan.optimizer", "\"lora\""),
            ("plan.lora_rank", "128"),
            ("plan.lora_targets", "[\"all-linear\"]"),
        ],
    );
    assert!(has(&read, RemarkKind::NotModelled, "lora_module_name"), "{:?}", read.remarks);
    check(&text.replace("--lora_dim 128", "--lora_dim 0"), &[("plan.optimizer", "open")]);
}

const PROGRAM: &str = "import sys\n\
from transformers import AutoModelForCausalLM\nfrom trl import SFTConfig, SFTTrainer\n\
from peft import LoraConfig\nNAME = \"meta-llama/Llama-3.1-8B\"\n\n\ndef main(size):\n    \
model = AutoModelForCausalLM.from_pretrained(NAME, torch_dtype=\"bfloat16\")\n    \
peft = LoraConfig(r=16, target_modules=[\"q_proj\", \"v_proj\"])\n    \
args = SFTConfig(output_dir=\"out\", per_device_train_batch_size=4, gradient_accumulation_steps=8, max_length=2048, bf16=True)\n    \
trainer = SFTTrainer(model=model, args=args, peft_config=peft)\n    trainer.train()\n\n\nmain(sys.argv[1])\n";

/// Programs on Transformers and TRL that set their arguments in Python.
#[test]
fn arguments_in_a_program_are_read() {
    let read = launch(PROGRAM, "train.py");
    assert_eq!(read.format, Format::HfTrainer);
    folder::check(
        &read,
        &[
            ("model.name", "\"llama-3-8b\""),
            ("plan.micro_batch", "4"),
            ("plan.micro_batches", "8"),
            ("plan.sequence_length", "2048"),
            ("plan.precision.preset", "\"bf16\""),
            ("plan.optimizer", "\"lora\""),
            ("plan.lora_rank", "16"),
            ("plan.recompute", "\"full\""),
        ],
    );
    // A computed value is open, and has no default.
    let computed = launch(
        &PROGRAM.replace("per_device_train_batch_size=4", "per_device_train_batch_size=size"),
        "train.py",
    );
    folder::check(&computed, &[("plan.micro_batch", "open"), ("plan.sequence_length", "2048")]);
    let format = launch(
        &PROGRAM.replace("bf16=True", "bf16=size > 1").replace(", torch_dtype=\"bfloat16\"", ""),
        "train.py",
    );
    folder::check(&format, &[("plan.precision.preset", "open")]);
    // Two sets of arguments are two runs.
    let two = PROGRAM.replace("    trainer = ", "    args = SFTConfig(max_length=4096)\n    trainer = ");
    let problems = read_problems(&two);
    assert!(problems.contains("2 calls of `SFTConfig`"), "{problems}");
    // Classes of the same name in another package are not TRL's.
    let other = PROGRAM.replace("from trl import", "import transformers\nfrom own import");
    assert!(read_problems(&other).contains("no call of `SFTConfig`"));
}

fn read_problems(text: &str) -> String {
    let problems = read(text, "train.py").expect("a program").expect_err("no single run");
    problems.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
}

/// huggingface/trl `examples/scripts`: the program takes all settings from its command line, which its
/// documentation has.
#[test]
fn the_command_in_the_documentation_of_a_program_is_read() {
    let text = "# Copyright\n\"\"\"\n# Full training:\npython examples/sft.py \\\n    --model_name_or_path Qwen/Qwen2.5-0.5B \\\n    \
        --per_device_train_batch_size 4 \\\n    --gradient_accumulation_steps 2 \\\n    --max_length 1024 --bf16\n\"\"\"\n\
        from transformers import HfArgumentParser\nfrom trl import SFTTrainer\n\n\ndef main():\n    parser = HfArgumentParser(SFTConfig)\n    \
        SFTTrainer(args=parser.parse_args()).train()\n";
    let read = launch(text, "sft.py");
    folder::check(
        &read,
        &[
            ("model.name", "\"qwen2.5-0.5b\""),
            ("plan.micro_batch", "4"),
            ("plan.micro_batches", "2"),
            ("plan.sequence_length", "1024"),
        ],
    );
    let origin = read.origins.iter().find(|origin| origin.key == "plan.micro_batch").expect("an origin");
    assert_eq!(origin.line, Some(6));
    let command = "python examples/sft.py --per_device_train_batch_size 1 --use_peft\n\"\"\"\nfrom";
    let problems = read_problems(&text.replacen("\"\"\"\nfrom", command, 1));
    assert!(problems.contains("2 commands, at the lines 4, 9"), "{problems}");
}

/// Unsloth's notebooks: four bits by default, and a format that the device decides.
#[test]
fn programs_of_unsloth_are_read() {
    let text = "from unsloth import FastLanguageModel, is_bfloat16_supported\nfrom trl import SFTTrainer\n\
        from transformers import TrainingArguments\n\
        model, tokenizer = FastLanguageModel.from_pretrained(model_name=\"unsloth/Llama-3.2-1B\", max_seq_length=2048)\n\
        model = FastLanguageModel.get_peft_model(model, r=8, target_modules=[\"q_proj\"], use_gradient_checkpointing=\"unsloth\")\n\
        trainer = SFTTrainer(model=model, args=TrainingArguments(per_device_train_batch_size=2, gradient_accumulation_steps=4,\n    \
        fp16=not is_bfloat16_supported(), bf16=is_bfloat16_supported(), optim=\"adamw_8bit\"))\ntrainer.train()\n";
    let read = launch(text, "train.py");
    folder::check(
        &read,
        &[
            ("model.name", "\"llama-3.2-1b\""),
            ("plan.micro_batch", "2"),
            ("plan.sequence_length", "2048"),
            ("plan.precision.preset", "\"bf16\""),
            ("plan.lora_rank", "8"),
            ("plan.frozen_weights", "\"nf4\""),
            ("plan.recompute", "\"full\""),
        ],
    );
    assert!(has(&read, RemarkKind::NotModelled, "use_unsloth"), "{:?}", read.remarks);
}
