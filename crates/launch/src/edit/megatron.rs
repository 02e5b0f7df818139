//! Megatron-LM's flags as settings, and those that another plan changes.
//!
//! Responsible for: the difference of two plans in flags, from the writer's output for each, and a script's
//! equivalent flags. Independent of shell syntax; see [`super::shell`].

use super::language::{Language, Settings, Splice, Target};
use super::shell;
use crate::megatron::{FlagsWriter, arguments_of, flags};
use crate::{Format, Writer};
use railwright_spec::plan::Schedule;
use railwright_spec::run::Run;
use std::collections::BTreeSet;

/// Scripts and command lines of Megatron-LM.
pub(super) struct Megatron {
    pub(super) format: Format,
}

/// Flags that belong together: if one changes, the others follow the new plan, including absent ones.
const FAMILIES: &[&[&str]] = &[
    &[
        "num_virtual_stages_per_pipeline_rank",
        "num_layers_per_virtual_pipeline_stage",
        "virtual_pipeline_model_parallel_size",
        "pipeline_model_parallel_layout",
        "decoder_first_pipeline_num_layers",
        "decoder_last_pipeline_num_layers",
        "account_for_embedding_in_pipeline_split",
        "account_for_loss_in_pipeline_split",
    ],
    &[
        "use_distributed_optimizer",
        "use_torch_fsdp2",
        "use_megatron_fsdp",
        "use_custom_fsdp",
        "data_parallel_sharding_strategy",
        "torch_fsdp2_reshard_after_forward",
        "num_distributed_optimizer_instances",
    ],
    &[
        "recompute_granularity",
        "recompute_method",
        "recompute_num_layers",
        "recompute_modules",
        "recompute_activations",
        "checkpoint_activations",
        "checkpoint_num_layers",
        "activations_checkpoint_method",
        "activations_checkpoint_num_layers",
        "moe_layer_recompute",
        "deepspeed_activation_checkpointing",
    ],
    &["optimizer_cpu_offload", "optimizer_offload_fraction"],
    &["cpu_offloading_num_layers"],
    &["overlap_p2p_comm", "overlap_p2p_communication"],
];

/// Flags determined by a plan, without a family. Others of the writer (data, vocabulary, iterations) stay as
/// in the user's file.
const OF_THE_PLAN: &[&str] = &[
    "tensor_model_parallel_size",
    "sequence_parallel",
    "pipeline_model_parallel_size",
    "context_parallel_size",
    "cp_comm_type",
    "use_tp_pp_dp_mapping",
    "expert_model_parallel_size",
    "expert_tensor_parallel_size",
    "moe_token_dispatcher_type",
    "micro_batch_size",
    "global_batch_size",
    "seq_length",
    "bf16",
    "fp16",
    "fp8",
    "fp8_recipe",
    "fp4",
    "fp8_param_gather",
    "fp8_dot_product_attention",
    "accumulate_allreduce_grads_in_fp32",
    "grad_reduce_in_bf16",
    "use_precision_aware_optimizer",
    "main_params_dtype",
    "exp_avg_dtype",
    "exp_avg_sq_dtype",
    "overlap_grad_reduce",
    "overlap_param_gather",
    "tp_comm_overlap",
    "overlap_moe_expert_parallel_comm",
    "attention_backend",
    "optimizer",
];

/// Defaults of Megatron: a script without the flag needs none for this value.
const DEFAULTS: &[(&str, &str)] =
    &[("cp_comm_type", "p2p"), ("context_parallel_size", "1"), ("expert_model_parallel_size", "1")];

const RECOMPUTE: &str = "recompute_granularity";

const STAGES: &str = "num_virtual_stages_per_pipeline_rank";
const LAYERS_PER_CHUNK: &str = "num_layers_per_virtual_pipeline_stage";
const CHUNKS: &str = "virtual_pipeline_model_parallel_size";

impl Megatron {
    /// The settings that the writer gives a run.
    pub(super) fn of_run(run: &Run) -> Settings {
        // Forks have their own flags for adapters, which stay unchanged.
        let run = FlagsWriter.determined(run);
        let text =
            FlagsWriter.write(&run).files.into_iter().next().map_or_else(String::new, |file| file.text);
        arguments_of(Format::MegatronScript, &text).unwrap_or_default()
    }
}

impl Language for Megatron {
    fn settings(&self, text: &str) -> Option<Settings> {
        let mut settings = arguments_of(self.format, text)?;
        // A path that contains a parallel size may change with it, without effect on the run.
        settings.retain(|name, values| {
            let is_file = values.first().is_some_and(|value| {
                std::path::Path::new(value).extension().is_some_and(|suffix| suffix == "json")
            });
            // ms-swift has a word for no recompute, because its default is another one.
            let is_none = name == RECOMPUTE && values.first().is_some_and(|value| value == "none");
            !is_file && !is_none && flags::by_name(name).is_none_or(|flag| flag.effect != flags::Effect::None)
        });
        Some(settings)
    }

    fn candidates(&self, text: &str, target: &Target, now: &Settings) -> Vec<Splice> {
        let mut all = shell::candidates(text, target, now);
        if target.0 == RECOMPUTE && target.1.is_none() {
            all.extend(shell::candidates(text, &(target.0.clone(), Some(vec!["none".to_owned()])), now));
        }
        all
    }

    fn spelled(&self, name: &str) -> String {
        flags::by_name(name).map_or_else(|| name.to_owned(), |flag| flag.spelling())
    }

    fn targets(&self, from: &Run, to: &Run, now: &Settings, thorough: bool) -> Vec<Target> {
        let (before, after) = (Self::of_run(from), Self::of_run(to));
        let moves = |name: &str| {
            before.get(name) != after.get(name) || (thorough && now.get(name) != after.get(name))
        };
        let mut wanted: BTreeSet<&str> = OF_THE_PLAN.iter().copied().filter(|name| moves(name)).collect();
        for family in FAMILIES.iter().filter(|family| family.iter().any(|name| moves(name))) {
            wanted.extend(family.iter().copied());
        }
        let mut targets: Vec<Target> =
            wanted.into_iter().map(|name| (name.to_owned(), after.get(name).cloned())).collect();
        keep_words(&mut targets, to, now, &after);
        drop_schedule(&mut targets, to, now);
        if now.contains_key("zero_stage") {
            of_deepspeed(&mut targets, to);
        }
        targets.retain(|(name, values)| now.get(name) != values.as_ref());
        let is_default = |name: &str, values: Option<&Vec<String>>| matches!(values.map(Vec::as_slice), Some([value]) if DEFAULTS.contains(&(name, value.as_str())));
        targets.retain(|(name, values)| now.contains_key(name) || !is_default(name, values.as_ref()));
        // Removals come first: two flags for one setting must not coexist.
        targets.sort_by_key(|(name, values)| (values.is_some(), !now.contains_key(name)));
        targets
    }
}

/// The flags of sharding in [`FAMILIES`].
const SHARDING: usize = 1;

/// Writes sharding as a stage of DeepSpeed, which ignores Megatron's flags for it and has no flags of
/// overlap.
fn of_deepspeed(targets: &mut Vec<Target>, to: &Run) {
    let is_ignored = |name: &str| FAMILIES[SHARDING].contains(&name) || name.starts_with("overlap_");
    targets.retain(|(name, values)| !(values.is_some() && is_ignored(name)));
    let stage = to.plan.sharding.zero_stage.to_string();
    targets.push(("zero_stage".to_owned(), Some(vec![stage])));
}

/// Flags of schedules without bubbles, which forks have.
const ZERO_BUBBLE: [&str; 2] = ["enable_zbh1_pipeline", "enable_zero_bubble"];

/// Removes a schedule that the new plan lacks.
fn drop_schedule(targets: &mut Vec<Target>, to: &Run, now: &Settings) {
    if to.plan.pipeline_parallel == 1 || to.plan.schedule != Schedule::ZbH1 {
        let gone = ZERO_BUBBLE.iter().filter(|name| now.contains_key(**name));
        targets.extend(gone.map(|name| ((*name).to_owned(), None)));
    }
}

/// Writes chunks in the script's terms: layers of a chunk if it uses those.
fn keep_words(targets: &mut Vec<Target>, to: &Run, now: &Settings, after: &Settings) {
    let plan = &to.plan;
    let chunks = plan.pipeline_parallel.saturating_mul(plan.virtual_stages).max(1);
    let layers = to.model.num_layers();
    let word = [LAYERS_PER_CHUNK, CHUNKS].into_iter().find(|word| now.contains_key(*word));
    let Some(word) = word.filter(|_| !after.contains_key("pipeline_model_parallel_layout")) else { return };
    let value = match (word, plan.virtual_stages) {
        (_, 0 | 1) => None,
        (CHUNKS, stages) => Some(stages),
        _ if layers.is_multiple_of(chunks) => Some(layers / chunks),
        _ => return,
    };
    targets.retain(|(name, _)| name != STAGES && name != word);
    targets.push((word.to_owned(), value.map(|value| vec![value.to_string()])));
}
