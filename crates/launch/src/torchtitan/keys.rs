//! torchtitan's keys, as data.

use crate::fields::{Known, Meaning};
use Meaning::{Ignored, Key, Lost, Read};

/// Keys of older versions and their current names.
pub(crate) const OLDER: &[(&str, &str)] = &[
    ("training.batch_size", "training.local_batch_size"),
    // Of forks.
    ("training.grad_accumulation_steps", "training.gradient_accumulation_steps"),
    ("training.data_parallel_degree", "parallelism.data_parallel_shard_degree"),
    ("training.data_parallel_replicate_degree", "parallelism.data_parallel_replicate_degree"),
    ("training.data_parallel_shard_degree", "parallelism.data_parallel_shard_degree"),
    ("training.fsdp_reshard_after_forward", "parallelism.fsdp_reshard_after_forward"),
    ("training.tensor_parallel_degree", "parallelism.tensor_parallel_degree"),
    ("training.sequence_parallel_degree", "parallelism.tensor_parallel_degree"),
    ("training.pipeline_parallel_degree", "parallelism.pipeline_parallel_degree"),
    ("parallelism.pipeline_parallel_microbatches", "parallelism.num_pp_microbatches"),
    ("training.enable_fsdp_float8_all_gather", "float8.enable_fsdp_float8_all_gather"),
    (
        "training.precompute_float8_dynamic_scale_for_fsdp",
        "quantize.linear.float8.precompute_float8_dynamic_scale_for_fsdp",
    ),
    ("training.disable_loss_parallel", "parallelism.disable_loss_parallel"),
    ("training.enable_loss_parallel", "parallelism.enable_loss_parallel"),
    ("training.compile", "compile.enable"),
    ("training.mixed_precision", "training.mixed_precision_param"),
    ("training.max_context_length", "training.seq_len"),
    ("max_context_length", "training.seq_len"),
    ("training.enable_float8_linear", "float8.enable_float8_linear"),
    ("experimental.context_parallel_degree", "parallelism.context_parallel_degree"),
    ("experimental.context_parallel_rotate_method", "parallelism.context_parallel_rotate_method"),
    ("experimental.pipeline_parallel_degree", "parallelism.pipeline_parallel_degree"),
    ("experimental.pipeline_parallel_schedule", "parallelism.pipeline_parallel_schedule"),
    ("experimental.pipeline_parallel_microbatches", "parallelism.num_pp_microbatches"),
    ("experimental.pipeline_parallel_split_points", "parallelism.pipeline_parallel_split_points"),
    ("experimental.enable_async_tensor_parallel", "parallelism.enable_async_tensor_parallel"),
    ("compile.enable_async_tensor_parallel", "parallelism.enable_async_tensor_parallel"),
    ("model_spec.name", "model.name"),
    ("model_spec.flavor", "model.flavor"),
    (
        "activation_checkpoint.per_op_sac_force_recompute_mm_shapes_by_fqns",
        "activation_checkpoint.force_recompute",
    ),
    ("float8.recipe_name", "quantize.linear.float8.recipe_name"),
    ("mx.recipe_name", "quantize.linear.mx.recipe_name"),
    ("module", "model.name"),
    ("config", "model.config_name"),
];

/// All keys that are known.
pub(super) const KNOWN: &[Known] = &[
    ("training.seq_len", Key("plan.sequence_length")),
    ("parallelism.tensor_parallel_degree", Key("plan.tensor_parallel")),
    ("parallelism.context_parallel_degree", Key("plan.context_parallel")),
    ("parallelism.pipeline_parallel_degree", Key("plan.pipeline_parallel")),
    ("parallelism.expert_parallel_degree", Key("plan.expert_parallel")),
    ("parallelism.enable_sequence_parallel", Key("plan.sequence_parallel")),
    ("model.name", Read),
    ("model.flavor", Read),
    ("model.config_name", Read),
    ("model.converters", Read),
    ("training.local_batch_size", Read),
    ("training.gradient_accumulation_steps", Read),
    ("training.global_batch_size", Read),
    ("training.num_tokens_per_microbatch_per_dp_rank", Read),
    ("training.num_tokens_per_train_step", Read),
    ("training.steps", Read),
    ("training.mixed_precision_param", Read),
    ("training.mixed_precision_reduce", Read),
    ("training.dtype", Read),
    ("training.enable_cpu_offload", Read),
    ("parallelism.data_parallel_replicate_degree", Read),
    ("parallelism.data_parallel_shard_degree", Read),
    ("parallelism.fsdp_reshard_after_forward", Read),
    ("parallelism.expert_tensor_parallel_degree", Read),
    ("parallelism.enable_async_tensor_parallel", Read),
    ("parallelism.context_parallel_rotate_method", Read),
    ("parallelism.pipeline_parallel_schedule", Read),
    ("parallelism.pipeline_parallel_microbatch_size", Read),
    ("parallelism.num_pp_microbatches", Read),
    ("parallelism.pipeline_parallel_layers_per_stage", Read),
    ("parallelism.pipeline_parallel_first_stage_less_layers", Read),
    ("parallelism.pipeline_parallel_last_stage_less_layers", Read),
    ("parallelism.module_fqns_per_model_part", Read),
    ("parallelism.pipeline_parallel_split_points", Read),
    ("activation_checkpoint.mode", Read),
    ("activation_checkpoint.selective_ac_option", Read),
    ("compile.enable", Read),
    ("compile.components", Read),
    ("float8.enable_float8_linear", Read),
    ("quantize.linear.float8.recipe_name", Read),
    ("quantize.linear.mx.recipe_name", Read),
    ("optimizer.name", Read),
    ("nproc_per_node", Read),
    ("nnodes", Read),
    ("node_rank", Ignored),
    ("master_addr", Ignored),
    ("master_port", Ignored),
    ("rdzv_id", Ignored),
    ("rdzv_backend", Ignored),
    ("rdzv_endpoint", Ignored),
    ("rdzv_conf", Ignored),
    ("max_restarts", Ignored),
    ("local_ranks_filter", Ignored),
    ("role", Ignored),
    ("tee", Ignored),
    ("parallelism.disable_loss_parallel", Read),
    ("parallelism.enable_loss_parallel", Read),
    (
        "parallelism.pipeline_parallel_schedule_csv",
        Lost(&[""], "schedules from files are not supported; the named schedule is used"),
    ),
    ("parallelism.expert_parallel_comm_backend", Lost(&["standard"], "estimated as plain all-to-all")),
    (
        "parallelism.pipeline_parallel_expert_parallel_overlap",
        Lost(&["false"], "the overlap of passes is not estimated; see `plan.overlap.expert`"),
    ),
    ("parallelism.enable_compiled_autograd", Ignored),
    ("parallelism.context_parallel_load_balancer", Lost(&["headtail", "ptrr"], "estimated as balanced")),
    ("parallelism.spmd_backend", Ignored),
    (
        "optimizer.early_step_in_backward",
        Lost(
            &["false"],
            "the optimizer step is estimated after the backward \
        pass",
        ),
    ),
    (
        "optimizer.swap_optimizer",
        Lost(
            &["false"],
            "moments that move between host and device are not modelled: they are estimated on the device",
        ),
    ),
    ("optimizer.lr", Ignored),
    ("optimizer.beta1", Ignored),
    ("optimizer.beta2", Ignored),
    ("optimizer.eps", Ignored),
    ("optimizer.weight_decay", Ignored),
    ("optimizer.fused", Ignored),
    ("optimizer.foreach", Ignored),
    ("optimizer.implementation", Ignored),
    ("optimizer.param_groups.*", Ignored),
    (
        "quantize.linear.float8.enable_fsdp_float8_all_gather",
        Lost(&["false"], "parameters are assumed to be gathered in 16 bits"),
    ),
    (
        "float8.enable_fsdp_float8_all_gather",
        Lost(&["false"], "parameters are assumed to be gathered in 16 bits"),
    ),
    ("quantize.linear.float8.precompute_float8_dynamic_scale_for_fsdp", Ignored),
    ("quantize.linear.*", Ignored),
    ("quantize.grouped_mm.float8.fqns", Lost(&[], "expert GEMMs use the format of the other GEMMs")),
    ("quantize.grouped_mm.mx.fqns", Lost(&[], "expert GEMMs use the format of the other GEMMs")),
    ("quantize.*", Ignored),
    ("float8.*", Ignored),
    ("mx.*", Ignored),
    ("activation_checkpoint.memory_budget", Ignored),
    ("activation_checkpoint.force_recompute", Ignored),
    ("activation_checkpoint.*", Ignored),
    ("compile.*", Ignored),
    ("fault_tolerance.enable", Lost(&["false"], "elastic replica groups are not estimated")),
    ("fault_tolerance.semi_sync_method", Lost(&[], "periodic synchronization is not estimated")),
    ("fault_tolerance.*", Ignored),
    ("training.max_norm", Ignored),
    ("training.gc_freq", Ignored),
    ("training.seed", Ignored),
    ("training.deterministic", Ignored),
    ("training.dataset", Ignored),
    ("training.dataset_path", Ignored),
    ("dataloader.*", Ignored),
    ("model.hf_assets_path", Ignored),
    ("model.tokenizer_path", Ignored),
    ("model.norm_type", Ignored),
    ("model.print_after_conversion", Ignored),
    ("model_spec.*", Ignored),
    ("job.*", Ignored),
    ("debug.*", Ignored),
    ("profiling.*", Ignored),
    ("profiler.*", Ignored),
    ("override.*", Ignored),
    ("training.disable_cuda_graphs", Read),
    ("metrics.*", Ignored),
    ("lr_scheduler.*", Ignored),
    ("checkpoint.*", Ignored),
    ("comm.*", Ignored),
    ("memory_estimation.*", Ignored),
    ("experimental.*", Ignored),
    ("validation.*", Ignored),
    ("validator.*", Ignored),
    ("tokenizer.*", Ignored),
    ("loss.name", Read),
    ("loss.*", Ignored),
    ("model.attn_backend", Ignored),
    (
        "model.moe_comm_backend",
        Lost(&["standard"], "its kernels of dispatch are not modelled: estimated with an all-to-all"),
    ),
    (
        "model.non_blocking_capacity_factor",
        Lost(&[], "experts are estimated with the tokens that they get, without padding to a capacity"),
    ),
    (
        "model.num_mtp_layers",
        Lost(&["0"], "modules of multi-token prediction are not estimated: a lower bound"),
    ),
    ("hf_assets_path", Ignored),
    ("dump_folder", Ignored),
    ("training.gc_debug", Ignored),
    ("training.warmup_steps", Ignored),
    ("training.dataset_type", Ignored),
    ("training.dataloader.*", Ignored),
    ("training.checkpoint_interval", Ignored),
    ("training.checkpoint_interval_type", Ignored),
    ("training.checkpoint_folder", Ignored),
    ("training.warmup_pct", Ignored),
    ("training.debug_moe_force_load_balance", Ignored),
    ("parallelism.context_parallel_ptrr_mask_key", Ignored),
    ("parallelism.full_dtensor", Ignored),
    (
        "parallelism.enable_fsdp_symm_mem",
        Lost(&["false"], "gathers in symmetric memory are estimated as collectives of NCCL"),
    ),
    (
        "parallelism.hybridep_non_blocking_expert_capacity_factor",
        Lost(&[], "experts are estimated with the tokens that they get, without padding to a capacity"),
    ),
    ("model.attn_mask_type", Lost(&["causal"], "estimated as causal attention over whole sequences")),
    (
        "model.use_flex_attn",
        Lost(&["false"], "FlexAttention is estimated with the kernel of `plan.attention_kernel`"),
    ),
    ("training.tokenizer_path", Ignored),
    ("rdzv_backend", Ignored),
    ("rdzv_endpoint", Ignored),
    ("local_ranks_filter", Ignored),
    ("role", Ignored),
    ("tee", Ignored),
    ("LOG_RANK", Ignored),
];

/// Tests whether a dotted key is known, in its current or an earlier spelling.
pub(crate) fn knows(path: &str) -> bool {
    KNOWN.iter().any(|(known, _)| *known == path) || OLDER.iter().any(|(old, _)| *old == path)
}

/// Tests whether a dotted key is known, alone or as one of a section whose keys have no effect.
pub(crate) fn accepts(path: &str) -> bool {
    let of_section = |known: &str| known.strip_suffix('*').is_some_and(|section| path.starts_with(section));
    knows(path) || KNOWN.iter().any(|(known, _)| of_section(known))
}

/// The current spelling of a key.
pub(super) fn current(path: &str) -> &str {
    OLDER.iter().find(|(old, _)| *old == path).map_or(path, |(_, new)| new)
}

/// Settings of a plan that a key without a value leaves open. Degrees also determine the ranks and the
/// shards.
pub(super) fn determined(path: &str) -> &'static [&'static str] {
    const RANKS: [&str; 3] = ["cluster.devices", "plan.data_parallel", "plan.sharding"];
    match path {
        "training.seq_len" => &["plan.sequence_length", "training.tokens"],
        "training.local_batch_size" => &["plan.micro_batch", "plan.micro_batches"],
        "training.global_batch_size" | "training.gradient_accumulation_steps" => {
            &["plan.global_batch", "plan.micro_batches", "training.tokens"]
        }
        "training.steps" => &["training.tokens"],
        "parallelism.tensor_parallel_degree" => &["plan.tensor_parallel", RANKS[0], RANKS[1]],
        "parallelism.context_parallel_degree" => &["plan.context_parallel", RANKS[0], RANKS[1]],
        "parallelism.pipeline_parallel_degree" => {
            &["plan.pipeline_parallel", "plan.micro_batches", RANKS[0], RANKS[1]]
        }
        "parallelism.pipeline_parallel_microbatch_size" | "parallelism.num_pp_microbatches" => {
            &["plan.micro_batch", "plan.micro_batches"]
        }
        "parallelism.pipeline_parallel_schedule" => &["plan.schedule", "plan.virtual_stages"],
        "parallelism.pipeline_parallel_layers_per_stage" => &["plan.virtual_stages"],
        "parallelism.expert_parallel_degree" => &["plan.expert_parallel"],
        "parallelism.expert_tensor_parallel_degree" => &["plan.expert_tensor_parallel"],
        "parallelism.data_parallel_replicate_degree" | "parallelism.data_parallel_shard_degree" => {
            &["plan.sharding", "cluster.devices", "plan.data_parallel"]
        }
        "parallelism.fsdp_reshard_after_forward" => &["plan.sharding"],
        "activation_checkpoint.mode" | "activation_checkpoint.selective_ac_option" => &["plan.recompute"],
        "compile.enable" => &["plan.software"],
        "training.mixed_precision_param" => &["plan.precision.preset"],
        "model.name" | "model.flavor" => &["model.name"],
        _ => &[],
    }
}
