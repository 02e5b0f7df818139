//! Names of settings that have one meaning in all programs, as data.
//!
//! A name that counts samples of a device in one program and of all devices in another is in [`EITHER`], and
//! is not read.

pub(super) const MODEL: &[&str] = &[
    "model_name_or_path",
    "pretrained_model_name_or_path",
    "model_name",
    "model_path",
    "model_id",
    "base_model",
    "hf_model",
    "hf_model_name",
    "student_pretrain",
    "pretrain",
    "actor_pretrain",
    "pretrained_model",
    "policy_model_path",
    "actor_model_path",
    "actor_model_name_or_path",
];
/// Names of models in sections of other meaning: read only if the value is a known model.
pub(super) const MODEL_IF_KNOWN: &[&str] =
    &["model", "path", "name", "hf_path", "pretrained", "checkpoint", "model_config"];
pub(super) const DIMENSIONS: &[&str] = &[
    "num_layers",
    "num_hidden_layers",
    "n_layers",
    "n_layer",
    "hidden_size",
    "d_model",
    "n_embd",
    "hidden_dim",
    "hidden_width",
    "num_attention_heads",
    "num_heads",
    "n_heads",
    "n_head",
    "intermediate_size",
    "ffn_hidden_size",
    "mlp_hidden_size",
    "intermediate_dim",
    "num_key_value_heads",
    "num_kv_heads",
    "n_kv_heads",
    "vocab_size",
    "num_experts",
    "n_experts",
];
pub(super) use crate::degrees::DEGREES;
pub(super) const ULYSSES: &[&str] =
    &["ulysses_sequence_parallel_size", "ulysses_parallel_size", "ulysses_size", "ulysses_degree"];
/// Sequences are divided, by heads, in a ring or with tensor parallelism.
pub(super) const SEQUENCE: &[&str] =
    &["sp_size", "sequence_parallel_size", "sequence_parallel_degree", "sp_degree", "ring_attn_size"];
pub(super) const MICRO_BATCH: &[&str] = &[
    "micro_batch_size",
    "per_device_train_batch_size",
    "per_device_batch_size",
    "train_micro_batch_size_per_gpu",
    "device_train_microbatch_size",
    "micro_train_batch_size",
    "micro_batch_size_per_gpu",
    "micro_batch_size_per_device",
    "micro_batch_size_per_device_for_update",
    "ppo_micro_batch_size_per_gpu",
    "train_micro_batch_size",
    "device_microbatch_size",
    "micro_train_batch_size_per_gpu",
    "micro_bsz",
    "train_batch_size_per_device",
    "per_gpu_train_batch_size",
];
pub(super) const GLOBAL_BATCH: &[&str] =
    &["global_batch_size", "global_train_batch_size", "train_global_batch_size"];
pub(super) const ACCUMULATION: &[&str] = &[
    "gradient_accumulation_steps",
    "accumulate_grad_batches",
    "gradient_accumulation",
    "grad_accum_steps",
    "grad_accumulation_steps",
    "gradient_accumulate_steps",
    "gradient_accumulate_every",
    "accumulation_steps",
    "accumulate_steps",
    "grad_acc_steps",
    "batch_accumulation_per_replica",
    "micro_num",
];
/// Samples of a device in some programs, and of all devices in others.
pub(super) const EITHER: &[&str] = &[
    "batch_size",
    "train_batch_size",
    "rollout_batch_size",
    "mini_batch_size",
    "ppo_mini_batch_size",
    "max_tokens_per_mb",
    "batch_size_per_device",
    "local_batch_size",
    "train_mini_batch_size",
    "policy_mini_batch_size",
    "rank_microbatch_size",
];
pub(super) const LENGTH: &[&str] = &[
    "max_seq_length",
    "max_seq_len",
    "seq_length",
    "seq_len",
    "sequence_length",
    "max_sequence_length",
    "cutoff_len",
    "model_max_length",
    "max_context_width",
    "encoder_seq_length",
    "train_seq_len",
    "block_size",
    "context_length",
    "ctx_len",
];
/// The longest sample of a data set, unless prompts and responses have lengths of their own.
pub(super) const LONGEST: &[&str] = &["max_length", "max_len"];
pub(super) const PROMPT: &[&str] =
    &["max_prompt_length", "prompt_max_len", "prompt_length", "max_prompt_len"];
pub(super) const RESPONSE: &[&str] = &[
    "max_response_length",
    "response_length",
    "generate_max_len",
    "max_completion_length",
    "max_response_len",
];
pub(super) const PRECISION: &[&str] = &[
    "precision",
    "dtype",
    "torch_dtype",
    "mixed_precision",
    "bf16",
    "fp16",
    "mixed_precision_param",
    "trainer_precision",
];
pub(super) const RECOMPUTE: &[&str] = &[
    "gradient_checkpointing",
    "activation_checkpointing",
    "enable_gradient_checkpointing",
    "use_gradient_checkpointing",
    "use_gradient_checkpoint",
    "use_grad_checkpoint",
    "grad_checkpointing",
    "use_activation_checkpointing",
    "use_activation_checkpoint",
    "enable_activation_checkpointing",
    "fsdp_activation_checkpointing",
    "recompute_granularity",
    "activations_checkpoint_granularity",
    "disable_gradient_checkpointing",
    "activation_checkpoint",
    "checkpoint_activations",
    "gradient_checkpointing_method",
    "gradient_checkpoint",
    "grad_checkpoint",
    "recompute",
    "use_recompute",
];
/// Implementations of attention; all but one use a kernel that keeps no scores in memory.
pub(super) const ATTENTION: &[&str] = &["attn_implementation", "attn_impl"];
pub(super) const OPTIMIZER: &[&str] = &["optimizer", "optim", "optimizer_name", "optimizer_type"];
pub(super) const RANK: &[&str] = &["lora_rank", "lora_r"];
pub(super) const TARGETS: &[&str] = &["lora_target_modules", "lora_targets", "lora_target", "target_modules"];
pub(super) const FOUR_BITS: &[&str] = &["load_in_4bit"];
pub(super) const EIGHT_BITS: &[&str] = &["load_in_8bit"];
pub(super) const STAGE: &[&str] = &["zero_stage", "zero1"];
pub(super) const DISTRIBUTED: &[&str] = &["use_distributed_optimizer"];
pub(super) const STRATEGY: &[&str] = &["sharding_strategy", "fsdp_sharding_strategy"];
pub(super) const PER_NODE: &[&str] = &[
    "gpus_per_node",
    "n_gpus_per_node",
    "num_gpus_per_node",
    "num_gpus_per_nodes",
    "devices_per_node",
    "nproc_per_node",
    "devices",
];
pub(super) const NODES: &[&str] = &["num_nodes", "nnodes", "n_nodes", "num_machines"];
/// How ranks share a sequence.
pub(super) const CONTEXT_KIND: &[&str] = &["cp_type", "cp_comm_type", "context_parallel_algo"];
