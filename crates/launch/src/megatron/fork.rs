//! Programs of forks, whose models have parts of their own.
//!
//! Responsible for: dimensions that stay open because the fork's defaults are not Megatron-LM's. Flags of the
//! fork that are unknown show which part of the model is its own.

use super::arguments::Arguments;
use crate::{Draft, RemarkKind};

/// Beginnings of the names of Megatron-LM's own programs.
const PROGRAMS: &[&str] =
    &["pretrain_gpt", "pretrain_mamba", "pretrain_hybrid", "pretrain_llama", "train_rl", "finetune"];

/// Parts of names of flags that describe a model.
const OF_MODEL: &[&str] = &[
    "norm",
    "gate",
    "gated",
    "router",
    "attention",
    "attn",
    "ffn",
    "mlp",
    "rope",
    "rotary",
    "moe",
    "expert",
    "experts",
    "embedding",
    "glu",
    "mla",
    "head",
    "heads",
    "hidden",
    "layer",
    "layers",
    "conv",
    "conv2d",
];

/// Parts of names of flags that choose a kernel or its precision.
const OF_KERNELS: &[&str] = &[
    "flash",
    "triton",
    "fused",
    "fusion",
    "kernel",
    "backend",
    "impl",
    "overlap",
    "recompute",
    "checkpoint",
    "log",
    "drop",
    "dropout",
    "init",
    "std",
    "dtype",
];

/// Parts of names of flags with a degree, and the setting that they may give.
const DEGREES: &[(&[&str], &str)] = &[
    (&["tp", "tensor"], "plan.tensor_parallel"),
    (&["pp", "pipeline"], "plan.pipeline_parallel"),
    (&["cp", "context"], "plan.context_parallel"),
    (&["ep", "expert", "experts"], "plan.expert_parallel"),
];

/// Parts of names of flags with the degree of something other than the trained model, or that only concern
/// its communication.
const APART: &[&str] = &[
    "comm",
    "overlap",
    "check",
    "norm",
    "rollout",
    "vllm",
    "sglang",
    "inference",
    "infer",
    "engine",
    "target",
    "ckpt",
    "checkpoint",
    "load",
    "save",
    "layout",
    "dtype",
    "schedule",
    "dataloader",
    "balancing",
    "timeout",
];

/// Tests whether a flag gives a degree under a name that Megatron-LM does not have: `--llm-tp`,
/// `--encoder-pipeline-parallel-size`.
fn is_degree(parts: &[String], names: &[&str]) -> bool {
    let has = |words: &[&str]| parts.iter().any(|part| words.contains(&part.as_str()));
    let (short, long): (Vec<&str>, Vec<&str>) = names.iter().partition(|name| name.len() == 2);
    let is_size = has(&["size", "degree", "num"]) && has(&["parallel", "parallelism"]);
    !has(APART) && ((has(&short) && parts.len() < 4) || (has(&long) && is_size))
}

/// Leaves degrees open that a program's own flags may give: Megatron-LM's default of 1 is none of theirs.
fn degrees(arguments: &Arguments, draft: &mut Draft) {
    for (flag, line) in arguments.unknown() {
        let parts: Vec<String> =
            flag.trim_start_matches('-').split(['-', '_', '.']).map(str::to_ascii_lowercase).collect();
        for (names, key) in DEGREES {
            let is_default =
                || draft.origins().iter().any(|origin| origin.key == *key && origin.line.is_none());
            if is_degree(&parts, names) && is_default() {
                draft.leave_open(
                    key,
                    flag,
                    *line,
                    "its name indicates a parallel size that Megatron-LM does not have",
                );
                let message = format!("its name indicates a parallel size, so `{key}` has no default");
                draft.remark(RemarkKind::Unresolved, flag, *line, message);
            }
        }
    }
}

/// Families of models with parts that GPT does not have, as forks name programs after them.
const FAMILIES: &[&str] = &[
    "llama", "qwen", "mistral", "mixtral", "baichuan", "gemma", "internlm", "deepseek", "glm", "falcon",
    "aquila",
];

/// Fields that choose the parts in which all of these families differ from GPT-2.
const PARTS: [&[&str]; 3] = [
    &["swiglu", "geglu", "squared_relu", "gated_linear_unit"],
    &["normalization"],
    &["position_embedding_type", "use_rotary_position_embeddings"],
];

/// Leaves the parts of a model open that no flag sets if the program is named after a family: its code builds
/// the family, not Megatron-LM's default of GPT-2. A script with flags for MLP, norm and positions describes
/// the model by flags, so the rest has the defaults of the parser.
fn parts(arguments: &Arguments, draft: &mut Draft) {
    let Some(program) = arguments.started() else { return };
    let is_named = FAMILIES.iter().any(|family| program.to_ascii_lowercase().contains(family));
    let is_set = |fields: &&[&str]| fields.iter().any(|field| arguments.mentions(field));
    if !is_named || PARTS.iter().all(is_set) {
        return;
    }
    let why = "the program is named after a model family, and no flag sets this part";
    let mut open = Vec::new();
    for part in ["gated_mlp", "norm", "position", "tied", "biases", "activation"] {
        let key = format!("model.{part}");
        if draft.origins().iter().any(|origin| origin.key == key && origin.line.is_none()) {
            draft.leave_open(&key, program, None, why);
            open.push(format!("`{key}`"));
        }
    }
    if !open.is_empty() {
        let list = open.join(", ");
        let message = format!("named after a model family; parts that no flag sets have no default: {list}");
        draft.remark(RemarkKind::Unresolved, program, None, message);
    }
}

/// Leaves open what a fork's own defaults decide.
pub(super) fn leave_open(arguments: &Arguments, draft: &mut Draft) {
    degrees(arguments, draft);
    parts(arguments, draft);
    let is_own = arguments.program().is_some_and(|name| !PROGRAMS.iter().any(|own| name.starts_with(own)));
    for (flag, line) in arguments.unknown() {
        let parts: Vec<String> = flag.split(['-', '_', '.']).map(str::to_ascii_lowercase).collect();
        let has = |words: &[&str]| parts.iter().any(|part| words.contains(&part.as_str()));
        let of_model = is_own && has(OF_MODEL) && !has(OF_KERNELS);
        let keys = [("model.norm", of_model || has(&["norm"])), ("model.ffn", of_model)];
        for (key, _) in keys.into_iter().filter(|(_, is_open)| *is_open) {
            let is_default = draft.origins().iter().any(|origin| origin.key == key && origin.line.is_none());
            if is_default {
                let why = "Megatron-LM has no such flag, so the program's own default may apply";
                draft.leave_open(key, flag, *line, why);
                let message = format!("the program has its own model flags, so `{key}` has no default");
                draft.remark(RemarkKind::Unresolved, flag, *line, message);
            }
        }
    }
}
