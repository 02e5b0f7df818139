//! One script of verl and one file of NeMo-RL.

use super::*;
use crate::{Launch, read as read_any};
use railwright_spec::run::Value;

fn check(text: &str, expected: &[(&str, &str)]) -> Launch {
    let launch = match read_any(text, "f") {
        Some(Ok(launch)) => launch,
        other => panic!("{other:?}"),
    };
    assert_eq!(launch.format, Format::Rl);
    for (key, expected) in expected {
        let value = launch.spec.get(key).as_ref().map_or_else(|| "open".to_owned(), Value::to_toml);
        assert_eq!(value, *expected, "{key}");
    }
    launch
}

fn remarks(launch: &Launch, kind: RemarkKind) -> String {
    launch.remarks_of(kind).fold(String::new(), |all, r| all + &r.source + ": " + &r.message + "\n")
}

fn remarks_text(launch: &Launch) -> String {
    launch.remarks.iter().fold(String::new(), |all, r| all + &r.source + ": " + &r.message + "\n")
}

const VERL: &str = "set -x\nprompt=1024\nresponse=$((1024 * 3))\ntrain_tp=4\n\npython3 -m verl.trainer.main_ppo \\\n    \
    data.max_prompt_length=$prompt \\\n    data.max_response_length=${response} \\\n    \
    actor_rollout_ref.model.path=Qwen/Qwen2.5-7B-Instruct \\\n    actor_rollout_ref.actor.strategy=megatron \\\n    \
    actor_rollout_ref.actor.megatron.tensor_model_parallel_size=$train_tp \\\n    \
    actor_rollout_ref.actor.megatron.pipeline_model_parallel_size=$PP \\\n    \
    actor_rollout_ref.actor.ppo_mini_batch_size=256 \\\n    actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=2 \\\n    \
    actor_rollout_ref.rollout.name=vllm actor_rollout_ref.rollout.n=5 \\\n    \
    actor_rollout_ref.rollout.tensor_model_parallel_size=2 \\\n    \
    actor_rollout_ref.rollout.gpu_memory_utilization=0.6 \\\n    trainer.n_gpus_per_node=8 trainer.nnodes=2 \"$@\"\n";

#[test]
fn verl_with_megatron_is_read() {
    let launch = check(
        VERL,
        &[
            ("model.name", "\"qwen2.5-7b\""),
            ("cluster.devices", "16"),
            ("plan.tensor_parallel", "4"),
            ("plan.pipeline_parallel", "open"),
            ("plan.sequence_parallel", "true"),
            ("plan.sharding", "\"zero1\""),
            ("plan.global_batch", "1280"),
            ("plan.micro_batch", "2"),
            ("plan.sequence_length", "4096"),
            ("plan.recompute", "\"none\""),
        ],
    );
    let remarks_text = remarks_text(&launch);
    assert!(
        remarks_text.contains("generation with vllm at TP 2 uses up to 60% of a GPU's memory"),
        "{remarks_text}"
    );
    // 7,615,616,512 parameters in two bytes on two GPUs.
    assert!(remarks_text.contains("weights take 7.09 GiB"), "{remarks_text}");
    assert!(
        remarks_text.contains("pipeline_model_parallel_size=${PP}: no value in this file"),
        "{remarks_text}"
    );
    assert!(
        remarks_text
            .contains("a step is one actor update: generation, rewards and log-probabilities are excluded"),
        "{remarks_text}"
    );
}

#[test]
fn verl_with_fsdp_is_not_megatron() {
    let text = VERL
        .replace("strategy=megatron", "strategy=fsdp2")
        .replace("megatron.tensor_model_parallel_size=$train_tp", "ulysses_sequence_parallel_size=2");
    check(
        &text,
        &[
            ("plan.tensor_parallel", "1"),
            ("plan.context_parallel", "2"),
            ("plan.sharding", "\"fsdp\""),
            ("plan.software", "\"torchtitan-2024-eager\""),
        ],
    );
}

#[test]
fn nemo_rl_is_read() {
    let text = "grpo:\n  num_prompts_per_step: 64\npolicy:\n  model_name: Qwen/Qwen3-30B-A3B\n  train_global_batch_size: 512\n  \
        train_micro_batch_size: 1\n  max_total_sequence_length: 4096\n  precision: bfloat16\n  dtensor_cfg:\n    enabled: false\n  \
        megatron_cfg:\n    enabled: true\n    activation_checkpointing: true\n    tensor_model_parallel_size: 4\n    \
        pipeline_model_parallel_size: 1\n    expert_model_parallel_size: 8\n    sequence_parallel: true\n    optimizer:\n      \
        use_distributed_optimizer: true\n  generation:\n    backend: vllm\n    colocated:\n      enabled: true\n    vllm_cfg:\n      \
        tensor_parallel_size: 4\n      gpu_memory_utilization: 0.7\ncluster:\n  gpus_per_node: 8\n  num_nodes: 4\n";
    let launch = check(
        text,
        &[
            ("model.name", "\"qwen3-30b-a3b\""),
            ("cluster.devices", "32"),
            ("plan.tensor_parallel", "4"),
            ("plan.expert_parallel", "8"),
            ("plan.global_batch", "512"),
            ("plan.recompute", "\"full\""),
            ("plan.sharding", "\"zero1\""),
        ],
    );
    assert!(remarks_text(&launch).contains("uses up to 70% of a GPU's memory"));
}

/// Uncertain parallel sizes are requested; so is a micro-batch filled up to an unknown number of tokens.
#[test]
fn what_is_open_is_asked_for() {
    let nemo = "defaults: ../../dpo.yaml\npolicy:\n  model_name: meta-llama/Llama-3.1-8B\n  train_global_batch_size: 256\n  train_micro_batch_size: 1\n  \
                max_total_sequence_length: 8192\n  dtensor_cfg:\n    tensor_parallel_size: 4\ncluster:\n  gpus_per_node: 8\n  num_nodes: 4\n";
    let launch = check(nemo, &[("plan.tensor_parallel", "4"), ("plan.sharding", "\"fsdp\"")]);
    assert!(
        remarks_text(&launch)
            .contains("NeMo-RL's examples enable `dtensor_cfg` by default: it is assumed to be in use")
    );
    let both = check(
        &nemo.replace("cluster:", "  megatron_cfg:\n    tensor_model_parallel_size: 2\ncluster:"),
        &[("plan.tensor_parallel", "open")],
    );
    assert!(both.open.iter().any(|open| open.key == "plan.tensor_parallel"));
    let verl = VERL.replace(
        "actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=2",
        "actor_rollout_ref.actor.use_dynamic_bsz=True",
    );
    // verl's own configuration packs up to 16,384 tokens, four samples of 4,096; one of a different name has
    // its own number.
    let launch = check(&verl, &[("plan.micro_batch", "4")]);
    assert!(remarks_text(&launch).contains("verl's own configuration has 16384"));
    let other = verl.replace("verl.trainer.main_ppo", "verl.trainer.main_ppo --config-name=my_trainer");
    let launch = check(&other, &[("plan.micro_batch", "open")]);
    assert!(launch.open.iter().any(|open| open.key == "plan.micro_batch"));
}

#[test]
fn adapters_of_verl_are_read() {
    let text = VERL.replace(
        "actor_rollout_ref.rollout.n=5",
        "actor_rollout_ref.rollout.n=5 actor_rollout_ref.model.lora_rank=64 actor_rollout_ref.model.target_modules=all-linear",
    );
    let expected =
        [("plan.optimizer", "\"lora\""), ("plan.lora_rank", "64"), ("plan.lora_targets", "[\"all-linear\"]")];
    check(&text, &expected);
    check(
        &text.replace("=all-linear", "=[q_proj,v_proj]"),
        &[("plan.lora_rank", "64"), ("plan.lora_targets", "[\"q_proj\", \"v_proj\"]")],
    );
    check(
        &text.replace("lora_rank=64", "lora_rank=0"),
        &[("plan.optimizer", "open"), ("plan.lora_rank", "open")],
    );
}

/// A rollout engine with dedicated GPUs leaves the others to training, and packed samples make a micro-batch
/// of tokens.
#[test]
fn gpus_of_generation_do_not_train() {
    let text = "grpo:\n  num_prompts_per_step: 64\npolicy:\n  model_name: Qwen/Qwen3-32B\n  train_global_batch_size: 512\n  \
        train_micro_batch_size: 1\n  max_total_sequence_length: 4096\n  precision: bfloat16\n  sequence_packing:\n    enabled: true\n    \
        train_mb_tokens: ${mul:${policy.max_total_sequence_length}, 2}\n  megatron_cfg:\n    enabled: true\n    \
        activation_checkpointing: true\n    tensor_model_parallel_size: 4\n    pipeline_model_parallel_size: 4\n    \
        num_layers_in_first_pipeline_stage: 15\n    num_layers_in_last_pipeline_stage: 15\n  generation:\n    colocated:\n      \
        enabled: false\n      resources:\n        num_nodes: 4\n        gpus_per_node: 8\ncluster:\n  gpus_per_node: 8\n  num_nodes: 12\n";
    check(
        text,
        &[
            ("cluster.devices", "64"),
            ("plan.micro_batch", "2"),
            ("plan.layers_per_stage", "[15, 17, 17, 15]"),
            ("plan.recompute", "\"full\""),
        ],
    );
    let single = text
        .replace("num_nodes: 12", "num_nodes: 1")
        .replace("        num_nodes: 4\n", "")
        .replace("gpus_per_node: 8\ncluster", "gpus_per_node: 2\ncluster");
    check(&single, &[("cluster.devices", "6")]);
    let open = text.replace("      resources:\n        num_nodes: 4\n        gpus_per_node: 8\n", "");
    let launch = check(&open, &[("cluster.devices", "open")]);
    assert!(remarks_text(&launch).contains("the number of training GPUs is unknown"));
    let graphs = |keys: &str, expected: &str| {
        let text = text.replace(
            "    enabled: true\n    activation",
            &format!("    enabled: true\n{keys}    activation"),
        );
        let launch = check(&text, &[("plan.software", expected)]);
        assert!(!remarks_text(&launch).contains("cuda_graph"), "{:?}", launch.remarks);
    };
    graphs("    cuda_graph_impl: none\n", "\"megatron-core-2025\"");
    graphs(
        "    cuda_graph_impl: transformer_engine\n    cuda_graph_modules: [attn]\n",
        "\"megatron-core-2025+partial-cuda-graphs\"",
    );
    graphs(
        "    cuda_graph_impl: local\n    cuda_graph_scope: full_iteration\n",
        "\"megatron-core-2025+cuda-graphs\"",
    );
}

#[test]
fn megatron_under_verls_fine_tuning_is_read() {
    let text = "torchrun --nproc_per_node=8 --nnodes=2 -m verl.trainer.sft_trainer data.train_batch_size=64 data.max_length=2048 \
        data.max_token_len_per_gpu=4096 model.path=Qwen/Qwen3-30B-A3B engine=megatron engine.tensor_model_parallel_size=2 \
        engine.pipeline_model_parallel_size=2 engine.virtual_pipeline_model_parallel_size=2 engine.expert_model_parallel_size=4 \
        engine.use_mbridge=True engine.use_distributed_optimizer=False engine.param_offload=True \
        engine.override_transformer_config.recompute_granularity=full engine.override_transformer_config.recompute_method=uniform\n";
    let launch = check(
        text,
        &[
            ("cluster.devices", "16"),
            ("plan.virtual_stages", "2"),
            ("plan.sequence_parallel", "true"),
            ("plan.sharding", "\"none\""),
            ("plan.recompute", "\"full\""),
            ("plan.micro_batch", "2"),
        ],
    );
    let texts = remarks_text(&launch);
    assert!(texts.contains("is offloaded only between updates") && !texts.contains("unknown"), "{texts}");
}

/// verl passes the first and the last stage to Megatron; a child file of NeMo-RL may set only its cluster.
#[test]
fn uneven_stages_and_bare_children_are_read() {
    let at = "+actor_rollout_ref.actor.megatron.override_transformer_config.num_layers_in";
    let text = VERL.replace(
        "actor_rollout_ref.rollout.n=5",
        &format!(
            "actor_rollout_ref.actor.strategy=megatron actor_rollout_ref.actor.megatron.pipeline_model_parallel_size=4 \
             {at}_first_pipeline_stage=6 {at}_last_pipeline_stage=6 actor_rollout_ref.rollout.n=5"
        ),
    );
    let launch = check(&text, &[]);
    let layers = launch.spec.plan.layers_per_stage.clone().expect("a division");
    assert_eq!((layers.first(), layers.last(), layers.len()), (Some(&6), Some(&6), 4), "{layers:?}");
    let child = "defaults: ./sft-8n8g.yaml\nlogger:\n  log_dir: x\ncluster:\n  gpus_per_node: 4\n";
    assert!(remarks_text(&check(child, &[])).contains("is another file with defaults"));
}

/// inclusionAI/AReaL `examples/math/gsm8k_grpo.yaml` (May 2026) and its older notation.
const AREAL: &str = "experiment_name: a\ncluster:\n  n_nodes: 1\n  n_gpus_per_node: 8\nrollout:\n  backend: \"sglang:d4p1t1\"\n\
    gconfig:\n  n_samples: 4\n  max_new_tokens: 1024\nactor:\n  backend: \"fsdp:d2p1t1c2\"\n  path: Qwen/Qwen2.5-1.5B-Instruct\n  \
    gradient_checkpointing: true\n  dtype: bfloat16\n  mb_spec:\n    max_tokens_per_mb: 10240\n  optimizer:\n    type: adam\n    lr: 1e-5\n  \
    ppo_n_minibatches: 2\nref:\n  path: ${actor.path}\ntrain_dataset:\n  batch_size: 256\n  max_length: 1024\n";

#[test]
fn areal_is_read() {
    let launch = check(
        AREAL,
        &[
            ("cluster.devices", "4"),
            ("plan.tensor_parallel", "1"),
            ("plan.context_parallel", "2"),
            ("plan.context_kind", "\"ulysses\""),
            ("plan.sharding", "\"fsdp\""),
            // 256 prompts of 4 samples in 2 updates; 10,240 tokens hold 5 samples, of which 4 divide those
            // of a replica.
            ("plan.global_batch", "512"),
            ("plan.sequence_length", "2048"),
            ("plan.micro_batch", "4"),
            ("plan.recompute", "\"full\""),
            ("plan.precision.moments", "\"bf16\""),
            ("plan.precision.gradient_reduce", "\"fp32\""),
        ],
    );
    assert!(remarks(&launch, RemarkKind::NotModelled).contains("ref"));
    let older = AREAL
        .replace("  backend: \"fsdp:d2p1t1c2\"\n", "")
        .replace("  backend: \"sglang:d4p1t1\"\n", "  a: 1\n")
        + "allocation_mode: sglang.d4+megatron.d2p2t1e2\n";
    check(
        &older,
        &[
            ("cluster.devices", "4"),
            ("plan.pipeline_parallel", "2"),
            ("plan.expert_parallel", "2"),
            ("plan.sharding", "\"zero1\""),
        ],
    );
}

/// inclusionAI/AReaL `examples/alignment/hhrlhf_rw.yaml`: a batch of pairs is not a batch of samples.
#[test]
fn pairs_of_areal_are_not_counted_as_samples() {
    let text = "allocation_mode: d8p1t1\nmodel:\n  path: Qwen/Qwen2.5-7B\n  is_critic: true\n  backend: fsdp\n  optimizer:\n    lr: 2e-5\n\
        train_dataset:\n  batch_size: 256\n  type: rw\n";
    let launch = check(
        text,
        &[("cluster.devices", "8"), ("plan.global_batch", "open"), ("model.name", "\"qwen2.5-7b\"")],
    );
    let found = remarks(&launch, RemarkKind::NotModelled);
    assert!(found.contains("pairs") && found.contains("a head with one output"), "{found}");
}

/// A recipe outside verl starts a program of its own.
#[test]
fn a_program_beside_verl_is_reported() {
    let text = VERL.replace("verl.trainer.main_ppo", "recipe.dance_grpo.main_dance");
    let Some(Ok(launch)) = read_any(&text, "f") else { panic!("not read") };
    assert!(
        remarks(&launch, RemarkKind::Unresolved).contains("recipe.dance_grpo.main_dance"),
        "{:?}",
        launch.remarks
    );
    let Some(Ok(own)) = read_any(VERL, "f") else { panic!("not read") };
    assert!(!remarks(&own, RemarkKind::Unresolved).contains("main_ppo"), "{:?}", own.remarks);
}

/// PrimeIntellect-ai/prime-rl `examples/advanced/qwen3-30b-a3b/math.toml` (July 2026).
const PRIME: &str = "seq_len = 32768\n[model]\nname = \"Qwen/Qwen3-30B-A3B-Thinking-2507\"\n[deployment]\ntype = \"multi_node\"\n\
    num_train_nodes = 2\nnum_infer_nodes = 2\n[monitors.wandb]\nproject = \"a\"\n[trainer.model]\nimpl = \"custom\"\ncp = 2\n\
    [trainer.model.compile]\n[trainer.model.ac]\nfreq = 1\n[trainer.optim]\ntype = \"muon\"\nlr = 1e-6\n[orchestrator]\n\
    batch_size = 512\n[inference.vllm]\ntensor_parallel_size = 8\n";

#[test]
fn prime_rl_is_read() {
    let launch = check(
        PRIME,
        &[
            ("cluster.devices", "16"),
            ("cluster.devices_per_node", "8"),
            ("plan.tensor_parallel", "1"),
            ("plan.context_parallel", "2"),
            ("plan.expert_parallel", "8"),
            ("plan.sequence_length", "32768"),
            ("plan.global_batch", "512"),
            ("plan.micro_batch", "1"),
            ("plan.recompute", "\"full\""),
            ("plan.optimizer", "\"muon\""),
            ("plan.offload.activations", "1.0"),
            ("plan.software", "\"torchtitan-2024-compile\""),
        ],
    );
    assert!(remarks(&launch, RemarkKind::NotModelled).contains("optim_cpu_offload"));
    let off = PRIME
        .replace("[trainer.model.ac]\nfreq = 1\n", "")
        .replace("cp = 2\n", "cp = 2\nac = \"None\"\nac_offloading = \"None\"\n");
    check(&off, &[("plan.recompute", "\"none\""), ("plan.offload.activations", "open")]);
}

/// Defaults that changed are not stated for files without keys of the later versions.
#[test]
fn fine_tuning_with_prime_rl_is_read() {
    let text = "max_steps = 5\n[model]\nname = \"Qwen/Qwen3-0.6B\"\n[model.lora]\nrank = 8\n[data]\nbatch_size = 4\nseq_len = 1024\n\
        [optim]\nlr = 1e-5\n";
    let launch = check(
        text,
        &[
            ("model.name", "\"qwen3-0.6b\""),
            ("plan.global_batch", "4"),
            ("plan.micro_batch", "1"),
            ("plan.sequence_length", "1024"),
            ("plan.optimizer", "\"lora\""),
            ("plan.lora_rank", "8"),
            ("plan.expert_parallel", "1"),
            ("plan.recompute", "open"),
            ("plan.software", "open"),
            ("cluster.devices", "open"),
        ],
    );
    assert_eq!(remarks(&launch, RemarkKind::Unknown), "");
}
