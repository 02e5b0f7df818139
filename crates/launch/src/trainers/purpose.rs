//! Purpose of a run that its keys and its program indicate: training, preferences, rewards.
//!
//! Responsible for: remarks on parts of a step that are not modelled, and on programs that may not train.

use super::common::{Dialect, calls_deepspeed, set_by_program};
use crate::RemarkKind;
use crate::document::Data;
use crate::fields::Fields;
use railwright_spec::plan::PrecisionPreset;

/// Remarks on a program whose name does not indicate training: others than trainers have the same arguments.
pub(super) fn program(fields: &mut Fields<'_>) {
    let path = "program";
    let program = fields.word(path).unwrap_or_default().to_ascii_lowercase();
    let name = program.split_whitespace().next().unwrap_or_default();
    let trains = ["train", "tun", "distil", "align", "instruct", "reward", "lora"]
        .iter()
        .any(|part| name.contains(part))
        || name.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| {
            matches!(
                word,
                "sft"
                    | "dpo"
                    | "grpo"
                    | "ppo"
                    | "kto"
                    | "orpo"
                    | "simpo"
                    | "rl"
                    | "rlhf"
                    | "rm"
                    | "prm"
                    | "clm"
                    | "mlm"
                    | "lm"
                    | "pt"
                    | "cpt"
                    | "main"
                    | "run"
            )
        });
    if !trains {
        let message = "its name does not indicate training: read as training, because it has the arguments of \
            Transformers' Trainer";
        fields.remark(RemarkKind::Unresolved, path, message);
    }
}

/// Precision of a program that calls DeepSpeed itself: that of DeepSpeed's file, or unknown. Transformers'
/// default does not apply.
pub(super) fn precision(fields: &mut Fields<'_>) {
    if !calls_deepspeed(fields) || fields.draft.value("plan.precision.preset").is_some() {
        return;
    }
    let formats = [
        ("deepspeed_file.bf16.enabled", PrecisionPreset::Bf16),
        ("deepspeed_file.bfloat16.enabled", PrecisionPreset::Bf16),
        ("deepspeed_file.fp16.enabled", PrecisionPreset::Fp16),
    ];
    for (path, preset) in formats {
        if fields.document.get(path).is_some_and(|entry| entry.data == Data::Flag(true)) {
            return fields.set("plan.precision.preset", &preset, path);
        }
    }
    set_by_program(fields, "plan.precision.preset", "precision");
}

/// Training on preferences or rewards, detected by keys that plain fine-tuning lacks.
pub(super) fn rewards(fields: &mut Fields<'_>, dialect: Dialect) {
    // Under ms-swift both make room for generation, and are back before the update.
    for path in ["offload_model", "offload_optimizer"] {
        if dialect == Dialect::Swift && fields.document.has("rlhf_type") && fields.flag(path) == Some(true) {
            let message = "moves to the host while samples are generated: the transfers are not modelled";
            fields.remark(RemarkKind::NotModelled, path, message);
        }
    }
    if dialect == Dialect::Swift {
        generated(fields);
    }
    let generates =
        ["reward_funcs", "num_generations", "use_vllm"].into_iter().find(|key| fields.document.has(key));
    let prefers = ["beta", "rpo_alpha", "ref_model", "ref_model_name_or_path"]
        .into_iter()
        .find(|key| fields.document.has(key));
    // The name of the program, where no key of its own is set.
    let program = fields.word("program").unwrap_or_default().to_ascii_lowercase();
    let is_named = ["dpo", "kto", "orpo", "simpo", "reward", "_rm"].iter().any(|name| program.contains(name));
    let prefers = prefers.or_else(|| is_named.then_some("program"));
    // The second step of DeepSpeed-Chat, whose program is `main.py` in every step.
    let path = "num_padding_at_beginning";
    let prefers = prefers.or_else(|| fields.document.has(path).then_some(path));
    let lengths = (fields.count("max_prompt_length"), fields.count("max_completion_length"));
    if let Some(path) = generates {
        let message =
            "generation, rewards and reference models are not modelled: a step is one update on completions";
        fields.remark(RemarkKind::NotModelled, path, message);
        if let (Some(prompt), Some(completion)) = lengths
            && fields.draft.spec().plan.sequence_length.is_none()
        {
            fields.set("plan.sequence_length", &prompt.saturating_add(completion), "max_completion_length");
        }
    } else if let Some(path) = prefers {
        let message = "pairs of samples and reference models are not modelled: estimated as plain training, a lower bound";
        fields.remark(RemarkKind::NotModelled, path, message);
    }
}

/// Under ms-swift `max_length` limits prompts where completions are generated
/// (`swift/rlhf_trainers/rollout_mixin.py`); its default of completions is 512 tokens.
fn generated(fields: &mut Fields<'_>) {
    const USUAL: u64 = 512;
    let path = "max_completion_length";
    let completion = match fields.word("rlhf_type").as_deref() {
        Some("grpo") if !fields.is_auto(path) => Some(fields.count(path).unwrap_or(USUAL)),
        Some("gkd") => fields.count(path),
        _ => None,
    };
    let prompt = fields.draft.spec().plan.sequence_length;
    if let (Some(prompt), Some(completion)) = (prompt, completion) {
        fields.set("plan.sequence_length", &prompt.saturating_add(completion), "max_length");
        let message = format!("prompts, with {completion} tokens of a completion");
        fields.remark(RemarkKind::Assumed, "max_length", message);
    }
}
