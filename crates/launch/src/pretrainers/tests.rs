//! Texts of each library, with the settings that they mean.

use super::lingua::width_of_mlp;
use crate::{Format, Launch, RemarkKind, detect, read};
use railwright_spec::run::Value;

fn launch(text: &str) -> Launch {
    assert_eq!(detect(text).first().map(|seen| seen.format), Some(Format::Pretrainer), "{:?}", detect(text));
    read(text, "run").expect("a launch file").unwrap_or_else(|problems| panic!("{problems:?}"))
}

fn check(launch: &Launch, expected: &[(&str, &str)]) {
    for (key, expected) in expected {
        let found = launch.spec.get(key).as_ref().map_or_else(|| "open".to_owned(), Value::to_toml);
        assert_eq!(found.trim_matches('"'), *expected, "{key}");
    }
}

fn is_open(launch: &Launch, key: &str) -> bool {
    launch.open.iter().any(|open| open.key == key)
}

const LEVANTER: &str = "data:\n  tokenizer: meta-llama/Llama-3.1-8B\nmodel:\n  type: llama\n  seq_len: 4096\n  hidden_dim: 2048\n  \
    intermediate_dim: 8192\n  num_layers: 16\n  num_heads: 32\n  num_kv_heads: 8\ntrainer:\n  mp: p=f32,c=bfloat16\n  \
    train_batch_size: 512\n  per_device_parallelism: 4\n  num_train_steps: 1000\noptimizer:\n  learning_rate: 1E-3\n";

#[test]
fn levanter_shards_parameters_and_recomputes_by_default() {
    let read = launch(LEVANTER);
    check(
        &read,
        &[
            ("model.layers", "16"),
            ("model.hidden", "2048"),
            ("model.kv_heads", "8"),
            ("model.ffn", "8192"),
            ("model.vocab", "128256"),
            ("plan.sequence_length", "4096"),
            ("plan.global_batch", "512"),
            ("plan.micro_batch", "4"),
            ("plan.sharding", "fsdp"),
            ("plan.recompute", "full"),
            ("plan.precision.preset", "bf16"),
            ("plan.tensor_parallel", "1"),
        ],
    );
    assert_eq!(read.remarks_of(RemarkKind::Unknown).count(), 0, "{:?}", read.remarks);
    let other = launch(
        &LEVANTER.replace("per_device_parallelism: 4", "per_device_parallelism: -1\n  model_axis_size: 2"),
    );
    check(
        &other,
        &[("plan.micro_batch", "open"), ("plan.micro_batches", "1"), ("plan.tensor_parallel", "2")],
    );
}

#[test]
fn levanter_leaves_open_what_it_cannot_express() {
    let other = launch(&LEVANTER.replace("type: llama", "type: hyena"));
    assert!(is_open(&other, "model.name"), "{:?}", other.open);
    check(&other, &[("model.layers", "open"), ("model.hidden", "open"), ("plan.sequence_length", "4096")]);
    let axes =
        launch(&LEVANTER.replace("  num_train_steps", "  replica_dcn_axis_size: 4\n  num_train_steps"));
    assert!(is_open(&axes, "plan.sharding"));
    let policy = launch(&LEVANTER.replace("  num_layers", "  gradient_checkpointing: offload\n  num_layers"));
    assert!(is_open(&policy, "plan.recompute"));
    let batches = LEVANTER.replace("train_batch_size: 512", "train_batch_size:\n  - start: 0\n    value: 64");
    assert!(is_open(&launch(&batches), "plan.global_batch"));
    // The checkpoint's dimensions replace those of the file.
    let named = format!(
        "{LEVANTER}initialize_from_hf: true\nmodel_name_or_path: meta-llama/Llama-3.1-8B\nuse_hf_model_config: true\n"
    );
    check(&launch(&named), &[("model.name", "llama-3-8b"), ("model.layers", "open")]);
}

const LINGUA: &str = "name: x\ngrad_acc_steps: 2\ndistributed:\n  fsdp_type: full_shard\n  compile: true\n  model_dtype: bf16\n  \
    selective_activation_checkpointing: false\n  tp_size: 1\nmodel:\n  dim: 2048\n  n_layers: 25\n  n_heads: 16\ndata:\n  batch_size: 4\n  \
    seq_len: 4096\n  n_views: 2\n";

#[test]
fn lingua_has_its_rule_for_the_width_of_the_mlp() {
    // Llama 2 7B and 70B, and Llama 3 8B, whose repositories have this rule (`multiple_of`,
    // `ffn_dim_multiplier`).
    assert_eq!(width_of_mlp(4096, 1.0, 256), 11_008);
    assert_eq!(width_of_mlp(8192, 1.3, 4096), 28_672);
    assert_eq!(width_of_mlp(4096, 1.3, 1024), 14_336);
    let read = launch(LINGUA);
    check(
        &read,
        &[
            ("model.layers", "25"),
            ("model.ffn", "5632"),
            ("plan.micro_batch", "4"),
            ("plan.micro_batches", "2"),
            ("plan.sharding", "fsdp"),
            ("plan.recompute", "none"),
            ("plan.precision.gradient_reduce", "fp32"),
            ("plan.software", "torchtitan-2024-compile"),
        ],
    );
    assert_eq!(read.remarks_of(RemarkKind::Unknown).count(), 0, "{:?}", read.remarks);
    let groups = LINGUA.replace("  compile: true", "  compile: true\n  dp_shard: 8");
    check(&launch(&groups), &[("plan.sharding", "hsdp:8")]);
    check(&launch(&LINGUA.replace("full_shard", "no_shard")), &[("plan.sharding", "none")]);
}

#[test]
fn layers_of_other_apps_are_no_transformer() {
    let recurrent = launch(&LINGUA.replace("  n_heads: 16", "  n_heads: 16\n  lru_dim_multiplier: 0.65"));
    assert!(is_open(&recurrent, "model.name"), "{:?}", recurrent.open);
    check(&recurrent, &[("model.layers", "open"), ("plan.sequence_length", "4096")]);
}

const INTERNEVO: &str = "SEQ_LEN = 2048\nHIDDEN = 4096\nmodel_type = \"INTERNLM2_PUBLIC\"\ndata = dict(seq_len=SEQ_LEN, micro_num=4, \
    micro_bsz=1)\nhybrid_zero_optimizer = dict(overlap_sync_grad=True, overlap_sync_param=False)\nmodel = dict(checkpoint=False, num_chunks=1, \
    num_attention_heads=32, vocab_size=92544, hidden_size=HIDDEN, num_layers=32, no_bias=True, mlp_ratio=3.5, dtype=\"torch.bfloat16\", \
    norm_type=\"rmsnorm\", num_kv_attention_heads=8, use_flash_attn=True)\nparallel = dict(zero1=dict(size=-1), tensor=dict(size=2, \
    mode=\"msp\"), pipeline=dict(size=2, interleaved_overlap=True), weight=dict(size=1, overlap=True, memory_pool=True))\n";

#[test]
fn internevo_has_dictionaries() {
    let read = launch(INTERNEVO);
    check(
        &read,
        &[
            ("model.layers", "32"),
            ("model.ffn", "14336"),
            ("model.kv_heads", "8"),
            ("model.vocab", "92544"),
            ("plan.sequence_length", "2048"),
            ("plan.micro_batch", "1"),
            ("plan.micro_batches", "4"),
            ("plan.tensor_parallel", "2"),
            ("plan.sequence_parallel", "true"),
            ("plan.pipeline_parallel", "2"),
            ("plan.sharding", "zero1"),
            ("plan.recompute", "none"),
            ("plan.precision.gradients", "bf16"),
            ("plan.overlap.gradient_reduce", "true"),
        ],
    );
    assert_eq!(read.remarks_of(RemarkKind::Unknown).count(), 0, "{:?}", read.remarks);
    let weights =
        launch(&INTERNEVO.replace("\"msp\"", "\"isp\"").replace("weight=dict(size=1", "weight=dict(size=4"));
    assert!(is_open(&weights, "plan.tensor_parallel") && is_open(&weights, "plan.sharding"));
    let experts = launch(&INTERNEVO.replace("num_chunks=1", "num_chunks=1, num_experts=8"));
    assert!(is_open(&experts, "model.name"));
    check(&experts, &[("model.layers", "open")]);
    let groups = launch(&INTERNEVO.replace("zero1=dict(size=-1)", "zero1=dict(size=8)"));
    assert_eq!(groups.remarks_of(RemarkKind::NotModelled).count(), 1, "{:?}", groups.remarks);
}

const NANOGPT: &str = "# a comment\nwandb_log = True\nbatch_size = 12\nblock_size = 1024\ngradient_accumulation_steps = 5 * 8\n\
    max_iters = 600000\nlr_decay_iters = 600000\neval_interval = 1000\nweight_decay = 1e-1\n";

/// `train.py`: 12 x 40 sequences of all ranks, GPT-2 of 124 M parameters.
#[test]
fn nanogpt_shares_its_accumulation_among_ranks() {
    let read = launch(NANOGPT);
    check(
        &read,
        &[
            ("model.layers", "12"),
            ("model.hidden", "768"),
            ("model.ffn", "3072"),
            ("model.vocab", "50304"),
            ("model.biases", "false"),
            ("plan.micro_batch", "12"),
            ("plan.global_batch", "480"),
            ("plan.sequence_length", "1024"),
            ("plan.sharding", "none"),
            ("plan.precision.gradients", "fp32"),
            ("plan.software", "torchtitan-2024-compile"),
        ],
    );
    assert_eq!(read.remarks_of(RemarkKind::Unknown).count(), 0, "{:?}", read.remarks);
    let tuned =
        launch("init_from = 'gpt2-xl'\nbatch_size = 1\ngradient_accumulation_steps = 32\nmax_iters = 20\n");
    check(&tuned, &[("plan.global_batch", "32"), ("model.layers", "open")]);
    assert!(tuned.spec.get("model.name").is_some());
    let characters = launch(&format!("{NANOGPT}dataset = 'shakespeare_char'\n"));
    assert!(is_open(&characters, "model.vocab"));
}
