//! Names of Megatron-Bridge and NeMo with Megatron-LM's equivalents, as data.

use crate::Format;
use crate::megatron::flags;

/// Mapping of a key to Megatron's fields.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Name {
    /// Megatron's field of that name has the same meaning.
    Is(String),
    /// Megatron's field of that name has the opposite meaning.
    Not(String),
    /// Read by its own code.
    Derived,
    /// Without effect.
    Ignored,
}

/// Key of either, and Megatron's field; `!` for the opposite.
const RENAMED: &[(&str, &str)] = &[
    ("model.num_moe_experts", "num_experts"),
    ("model.override_vocab_size", "vocab_size"),
    ("model.fp8_param", "fp8_param_gather"),
    ("model.fp8_params", "fp8_param_gather"),
    ("mixed_precision.fp8_param", "fp8_param_gather"),
    ("mixed_precision.fp8_param_gather", "fp8_param_gather"),
    ("mixed_precision.bf16", "bf16"),
    ("mixed_precision.fp16", "fp16"),
    ("mixed_precision.fp8", "fp8"),
    ("mixed_precision.fp8_recipe", "fp8_recipe"),
    ("mixed_precision.fp4", "fp4"),
    ("model.num_layers_in_first_pipeline_stage", "decoder_first_pipeline_num_layers"),
    ("model.num_layers_in_last_pipeline_stage", "decoder_last_pipeline_num_layers"),
    ("model.virtual_pipeline_model_parallel_size", "num_virtual_stages_per_pipeline_rank"),
    ("model.share_embeddings_and_output_weights", "!untie_embeddings_and_output_weights"),
    ("model.bias", "add_bias_linear"),
    ("model.qkv_bias", "add_qkv_bias"),
    ("model.activations_checkpoint_granularity", "recompute_granularity"),
    ("model.activations_checkpoint_method", "recompute_method"),
    ("model.activations_checkpoint_num_layers", "recompute_num_layers"),
    ("model.ub_tp_comm_overlap", "tp_comm_overlap"),
    ("model.optim.overlap_grad_sync", "overlap_grad_reduce"),
    ("model.optim.overlap_param_sync", "overlap_param_gather"),
    ("model.optim.bucket_cap_mb", "ddp_bucket_size"),
    ("model.rotary_percentage", "rotary_percent"),
    ("model.tokenizer.type", "tokenizer_model"),
    ("model.tokenizer.model", "tokenizer_model"),
    ("model.tokenizer.vocab_file", "vocab_file"),
    ("model.tokenizer.merge_file", "merge_file"),
    ("tokenizer.tokenizer_model", "tokenizer_model"),
    ("tokenizer.tokenizer_type", "tokenizer_type"),
    ("tokenizer.vocab_size", "vocab_size"),
    ("trainer.max_steps", "train_iters"),
    ("ddp.average_in_collective", "ddp_average_in_collective"),
    ("ddp.bucket_size", "ddp_bucket_size"),
    ("ddp.num_buckets", "ddp_num_buckets"),
    ("dataset.sequence_length", "seq_length"),
    ("dataset.seq_length", "seq_length"),
    ("comm_overlap.tp_comm_overlap", "tp_comm_overlap"),
    ("comm_overlap.overlap_p2p_comm", "overlap_p2p_comm"),
    ("comm_overlap.overlap_grad_reduce", "overlap_grad_reduce"),
    ("comm_overlap.overlap_param_gather", "overlap_param_gather"),
    ("comm_overlap.overlap_moe_expert_parallel_comm", "overlap_moe_expert_parallel_comm"),
    ("comm_overlap.delay_wgrad_compute", "delay_wgrad_compute"),
    ("comm_overlap.defer_embedding_wgrad_compute", "defer_embedding_wgrad_compute"),
    ("dist.use_tp_pp_dp_mapping", "use_tp_pp_dp_mapping"),
    ("dist.use_torch_fsdp2", "use_torch_fsdp2"),
    ("dist.use_megatron_fsdp", "use_megatron_fsdp"),
];

/// Keys that the reader treats itself.
const DERIVED: &[&str] = &[
    "model.activation",
    "model.activation_func",
    "model.activation_func._target_",
    "model.gated_linear_unit",
    "model.fp8",
    "model.fp8_hybrid",
    "model.fp8_e4m3",
    "model.optim.name",
    "model.optim.grad_sync_dtype",
    "mixed_precision",
    "mixed_precision.grad_reduce_in_fp32",
    "ddp.grad_reduce_in_fp32",
    "trainer.devices",
    "trainer.num_nodes",
    "trainer.precision",
    "ddp.use_megatron_fsdp",
    "ddp.use_custom_fsdp",
];

/// Sections and keys without effect on time and memory.
const IGNORED: &[&str] = &[
    "_target_",
    "_call_",
    "_args_",
    "env_vars",
    "log",
    "resume",
    "fn",
    "dir",
    "peft_scheme",
    "packed_sequence",
    "performance_mode",
    "trainer.strategy",
    "ddp.check_for_nan_in_grad",
    "model.version",
    "model.tokenizer_config",
    "name",
    "defaults",
    "hydra",
    "run",
    "restore_from_path",
    "exp_manager",
    "logger",
    "checkpoint",
    "rng",
    "profiling",
    "scheduler",
    "data",
    "peft",
    "inference",
    "straggler",
    "nvrx_straggler",
    "ft",
    "rerun_state_machine",
    "inprocess_restart",
    "validation",
    "tensor_inspect",
    "optimizer_config_override_provider",
    "tokenizer",
    "dataset",
    "dist",
    "trainer",
    "mixed_precision",
    "comm_overlap",
    "model.data",
    "model.peft",
    "model.answer_only_loss",
    "model.save_nemo_on_validation_end",
    "model.tokenizer",
    "model.optim",
    "model.nsys_profile",
    "model.init_method",
    "model.output_layer_init_method",
    "model.embedding_init_method",
    "model.generation_config",
    "model.transformer_layer_spec",
    "model.activation_func",
    "model.hf_model_id",
    "model.restore_from_path",
    "model.resume_from_checkpoint",
    "model.megatron_amp_O2",
    "model.mcore_gpt",
    "model.transformer_engine",
    "model.precision",
    "model.params_dtype",
    "model.pipeline_dtype",
    "model.autocast_dtype",
    "model.headscale",
    "model.ffn_dropout",
    "model.grad_allreduce_chunk_size_mb",
    "model.transformer_block_type",
    "model.openai_gelu",
    "model.onnx_safe",
    "model.gc_interval",
    "model.gradient_as_bucket_view",
    "model.grad_div_ar_fusion",
    "model.num_micro_batches_with_partial_activation_checkpoints",
    "model.activations_checkpoint_layers_per_pipeline",
    "model.rotary_base",
    "model.seq_len_interpolation_factor",
    "model.scale_factor",
    "model.rope_scaling",
    "model.rope_scaling_factor",
    "model.rotary_scaling_factor",
    "model.rotary_interleaved",
    "model.parallel_output",
    "model.fp16_lm_cross_entropy",
    "model.pretrained_model_path",
    "model.should_pad_vocab",
    "model.moe_aux_loss_coeff",
    "model.softmax_scale",
    "model.softmax_type",
    "model.attention_softmax_in_fp32",
    "model.fp8_margin",
    "model.fp8_interval",
    "model.fp8_amax_history_len",
    "model.fp8_amax_compute_algo",
    "model.layernorm_zero_centered_gamma",
    "model.layernorm_epsilon",
    "model.init_method_std",
    "model.ub_tp_comm_overlap_cfg",
    "model.nccl_communicator_config_path",
    "model.use_cpu_initialization",
    "model.sync_batch_comm",
    "model.hidden_act",
    "model.encoder_num_layers",
    "train.empty_unused_memory_level",
    "train.eval_iters",
    "train.eval_interval",
    "train.exit_signal",
    "train.check_weight_hash_across_dp_replicas_interval",
    "optimizer.config_logger_dir",
    "optimizer.timers",
    "optimizer.lr",
    "optimizer.weight_decay",
    "optimizer._target_",
    "ddp._target_",
    "train._target_",
    "model._target_",
];

/// The Megatron field of a key; `None` if unknown.
pub(super) fn of(format: Format, path: &str) -> Option<Name> {
    if let Some((_, name)) = RENAMED.iter().find(|(known, _)| *known == path) {
        return Some(match name.strip_prefix('!') {
            Some(opposite) => Name::Not(opposite.to_owned()),
            None => Name::Is((*name).to_owned()),
        });
    }
    if DERIVED.contains(&path) && (format == Format::Nemo || !path.starts_with("model.fp8")) {
        return Some(Name::Derived);
    }
    let (section, rest) = path.split_once('.').unwrap_or((path, ""));
    let holds_fields = matches!(section, "model" | "train" | "ddp" | "optimizer");
    if holds_fields && flags::by_name(rest).is_some() {
        return Some(Name::Is(rest.to_owned()));
    }
    let is_ignored = IGNORED
        .iter()
        .any(|known| path.strip_prefix(known).is_some_and(|rest| rest.is_empty() || rest.starts_with('.')));
    let is_plumbing = path
        .rsplit('.')
        .next()
        .is_some_and(|last| matches!(last, "_target_" | "_call_" | "_args_" | "_partial_"));
    (is_ignored || is_plumbing).then_some(Name::Ignored)
}
