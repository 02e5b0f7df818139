//! OpenRLHF: fine-tuning, preferences and reinforcement learning under DeepSpeed, by the flags of its
//! commands.
//!
//! Responsible for: its defaults (`openrlhf/cli`, August 2026), ring attention, and parts excluded from a
//! step. Generation is not read.

use crate::RemarkKind;
use crate::adapter;
use crate::deepspeed;
use crate::fields::Fields;
use railwright_spec::plan::{ContextKind, LoraTarget, Optimizer, Sharding};

/// Adapters of a rank that is given, on all linear layers (`openrlhf/cli/train_sft.py`).
const ALL_LINEAR: adapter::Usual =
    adapter::Usual { of: "OpenRLHF", rank: 8, targets: &[LoraTarget::AllLinear] };

/// A global batch of 128; micro-batches of 8, and of 1 in reinforcement learning.
pub(super) fn batch(fields: &mut Fields<'_>) {
    if fields.document.get("global_train_batch_size").is_none() {
        fields.default("plan.global_batch", &128_u64, "OpenRLHF trains on 128 samples per step by default");
    }
    let path = "dynamic_batch";
    if fields.flag(path) == Some(true) {
        let tokens = "max_tokens_per_gpu";
        // Ranks of a ring each take this many tokens.
        let count = fields.count(tokens).unwrap_or(16_192);
        let ranks = fields.count("ring_attn_size").unwrap_or(1).max(1);
        let count = count.saturating_mul(ranks);
        if let Some(length) = fields.draft.spec().plan.sequence_length.filter(|&length| length > 0) {
            let share = crate::packed::share(fields.draft.spec(), ranks);
            fields.set("plan.micro_batch", &crate::packed::samples(count, length, share), path);
            let message = "samples are packed up to a number of tokens: estimated with as many samples of maximum length as fit";
            fields.remark(RemarkKind::Assumed, path, message);
        }
        return;
    }
    if fields.document.get("per_device_train_batch_size").is_none() {
        let micro: u64 = if is_reinforced(fields) { 1 } else { 8 };
        fields.default("plan.micro_batch", &micro, "OpenRLHF's default");
    }
}

fn is_reinforced(fields: &Fields<'_>) -> bool {
    fields.document.get("program").is_some_and(|entry| entry.data.plain().contains("ppo"))
}

/// ZeRO of stage 2 by default, and rings of ranks that share a sequence.
pub(super) fn parallel(fields: &mut Fields<'_>) {
    let backend = "backend";
    let is_fsdp = fields.document.get(backend).is_some_and(|entry| entry.data.plain().starts_with("fsdp"));
    if is_fsdp {
        let sharding = Sharding { zero_stage: 3, group: None, reshard_after_forward: true };
        fields.set("plan.sharding", &sharding, backend);
    }
    let path = "zero_stage";
    match fields.count(path).and_then(|stage| u8::try_from(stage).ok()).filter(|stage| *stage <= 3) {
        Some(stage) => {
            let mut sharding = Sharding::zero(stage);
            if let Some(group) = fields.count("zpg").filter(|&group| group > 1 && stage == 3) {
                sharding.group = Some(group);
                let message = "estimated as hybrid sharding: optimizer states, which ZeRO++ shards over all \
                    ranks, are counted in each group";
                fields.remark(RemarkKind::NotModelled, "zpg", message);
            }
            fields.set("plan.sharding", &sharding, path);
        }
        None if fields.document.get(path).is_some() => {
            fields.remark(RemarkKind::Unresolved, path, "determines sharding, which stays unset");
        }
        None if is_fsdp => {}
        None => {
            let sharding = Sharding::zero(2);
            fields.default("plan.sharding", &sharding, "OpenRLHF uses ZeRO stage 2 by default");
        }
    }
    let path = "adam_offload";
    if fields.flag(path) == Some(true) {
        fields.set("plan.offload.optimizer", &1.0, path);
    }
    let path = "ring_attn_size";
    if let Some(ranks) = fields.count(path).filter(|&ranks| ranks > 0) {
        fields.set("plan.context_parallel", &ranks, path);
        if ranks > 1 {
            fields.set("plan.context_kind", &ContextKind::Ring, path);
        }
    }
    if is_fsdp {
        crate::accelerate::software(fields, "transformers-2026", "Hugging Face's models, eager");
    } else {
        crate::accelerate::software(fields, deepspeed::SOFTWARE, "DeepSpeed");
    }
    let path = "lora_rank";
    if fields
        .document
        .get(path)
        .is_some_and(|entry| entry.data.plain().parse().is_ok_and(|rank: u64| rank > 0))
    {
        let (source, line) = fields.source(path);
        fields.draft.set("plan.optimizer", &Optimizer::Lora, &source, line);
        adapter::read(fields, &[path], &["lora_target_modules", "target_modules"], ALL_LINEAR);
    } else {
        fields.take(path);
        fields.default("plan.optimizer", &Optimizer::Adam, "OpenRLHF's default");
    }
}

/// Notes the parts of training that a step excludes, by program.
pub(super) fn remarks(fields: &mut Fields<'_>) {
    let lengths = ["max_prompt_length", "max_completion_length"].map(|path| fields.count(path));
    if let [Some(prompt), Some(completion)] = lengths
        && fields.draft.spec().plan.sequence_length.is_none()
    {
        fields.set("plan.sequence_length", &prompt.saturating_add(completion), "max_completion_length");
    }
    let Some(program) = fields.word("program") else { return };
    if program.contains("ppo") {
        let message = "a step is one actor update: generation, rewards and log-probabilities are excluded";
        fields.remark(RemarkKind::NotModelled, "program", message);
        if fields.word("advantage").is_none_or(|word| word == "gae") {
            fields.remark(RemarkKind::NotModelled, "program", "a critic is also trained; it is not modelled");
        }
    } else if program.contains("train_kd") {
        let message = "the teacher's forward pass and weights are not modelled: a lower bound";
        fields.remark(RemarkKind::NotModelled, "program", message);
    } else if program.contains("train_kto") {
        let message = "the reference model's forward pass and memory are not modelled: a lower bound";
        fields.remark(RemarkKind::NotModelled, "program", message);
    } else if ["train_rm", "train_dpo"].iter().any(|other| program.contains(other)) {
        let message = "a sample is a pair, and other models may be in memory: estimated as one sequence each, a lower bound";
        fields.remark(RemarkKind::NotModelled, "program", message);
    }
}
