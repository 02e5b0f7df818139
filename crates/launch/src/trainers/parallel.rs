//! Sharding of the trainers: DeepSpeed, FSDP, meshes, replicas.
//!
//! Responsible for: the files of DeepSpeed that the tools ship under well-known names, both versions of FSDP,
//! and a remark that replicas are the default. Does not read other files.

use super::common::{Dialect, calls_deepspeed, is_trainer, put, set_by_program};
use super::related::{OF_PROGRAM, is_file};
use super::{foundry, litgpt, openrlhf};
use crate::RemarkKind;
use crate::accelerate::{fsdp, software};
use crate::deepspeed;
use crate::degrees::DEGREES;
use crate::document::Data;
use crate::fields::Fields;
use railwright_spec::plan::{ContextKind, Sharding};

pub(super) fn read(fields: &mut Fields<'_>, dialect: Dialect) {
    if dialect == Dialect::Foundry {
        return foundry::parallel(fields);
    }
    if dialect == Dialect::OpenRlhf {
        return openrlhf::parallel(fields);
    }
    if dialect == Dialect::LitGpt {
        return litgpt::parallel(fields);
    }
    // ms-swift divides heads first, and rings only what the heads cannot be divided by.
    let is_divided = fields.draft.spec().plan.context_parallel.is_some_and(|ranks| ranks > 1);
    if dialect == Dialect::Swift && is_divided {
        fields.set("plan.context_kind", &ContextKind::Ulysses, "sequence_parallel_size");
    }
    if fields.document.has("deepspeed_file") {
        deepspeed::shards(fields, "deepspeed_file.");
        return software(fields, deepspeed::SOFTWARE, "DeepSpeed");
    }
    for path in ["deepspeed_config.zero_stage", "zero_stage"] {
        if let Some(stage) = fields.count(path).and_then(|stage| u8::try_from(stage).ok()).filter(|n| *n <= 3)
        {
            let sharding = Sharding::zero(stage);
            fields.set("plan.sharding", &sharding, path);
            for (path, key) in [
                ("deepspeed_config.offload_optimizer_device", "plan.offload.optimizer"),
                ("deepspeed_config.offload_param_device", "plan.offload.parameters"),
            ] {
                if fields.word(path).is_some_and(|word| matches!(word.as_str(), "cpu" | "nvme")) {
                    fields.set(key, &1.0, path);
                }
            }
            fields.take("deepspeed");
            return software(fields, deepspeed::SOFTWARE, "DeepSpeed");
        }
    }
    let path = "use_distributed_optimizer";
    if let Some(shards) = fields.flag(path) {
        // LLaMA-Factory on Megatron-Core.
        let sharding = Sharding { zero_stage: u8::from(shards), group: None, reshard_after_forward: false };
        fields.set("plan.sharding", &sharding, path);
        return software(fields, "megatron-core-2025", "Megatron-Core under the trainer");
    }
    let path = "deepspeed";
    if fields.document.has(path) && fields.document.get(path).is_none() {
        // The document contains the whole DeepSpeed file.
        let old: Vec<(String, String)> = fields
            .document
            .entries
            .iter()
            .filter_map(|e| Some((e.path.clone(), e.path.strip_prefix("deepspeed.")?.to_owned())))
            .collect();
        let pairs: Vec<(&str, &str)> = old.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
        fields.document.rename(&pairs);
        return deepspeed::read(fields, "");
    }
    if calls_deepspeed(fields) {
        return of_program(fields, path);
    }
    if fields.is_auto(path) {
        return fields.remark(RemarkKind::Unresolved, path, "determines sharding, which stays unset");
    }
    if let Some(word) = fields.word(path) {
        return named(fields, path, &word);
    }
    let path = "deepspeed_config.deepspeed_config_file";
    if let Some(word) = fields.word(path) {
        return named(fields, path, &word);
    }
    let path = "accelerate";
    if let Some(Data::Text(_)) = fields.document.get(path).map(|entry| entry.data.clone())
        && let Some(word) = fields.word(path)
    {
        return named(fields, path, &word);
    }
    for path in ["fsdp", "fsdp_config"] {
        let Some(Data::Text(word)) = fields.document.get(path).map(|entry| entry.data.clone()) else {
            continue;
        };
        if is_file(&word) {
            return unread(fields, path);
        }
    }
    let list = match fields.document.get("fsdp").map(|entry| entry.data.clone()) {
        Some(Data::List(items)) if !items.is_empty() => {
            Some(items.iter().map(|item| item.data.plain()).collect::<Vec<_>>().join(" "))
        }
        Some(Data::Text(text)) if !text.trim().is_empty() && text != "false" => Some(text),
        Some(Data::Flag(true)) => Some("full_shard".to_owned()),
        _ => None,
    };
    fields.take("fsdp");
    let has_config = fields.document.has("fsdp_config");
    if list.is_some() || has_config {
        if let Some(words) =
            list.filter(|_| fields.document.get("fsdp_config.fsdp_sharding_strategy").is_none())
        {
            let strategy = ["full_shard", "shard_grad_op", "no_shard", "hybrid_shard_zero2", "hybrid_shard"]
                .into_iter()
                .find(|strategy| words.contains(strategy));
            let (is_v2, line) = (
                fields.document.get("fsdp_config.fsdp_version").is_some_and(|e| e.data == Data::Integer(2)),
                fields.source("fsdp").1,
            );
            if let Some(strategy) = strategy.filter(|_| !is_v2) {
                put(
                    &mut fields.document,
                    "fsdp_config.fsdp_sharding_strategy",
                    Data::Text(strategy.to_ascii_uppercase()),
                    line.unwrap_or(0),
                );
            }
            if words.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').any(|word| word == "offload") {
                put(
                    &mut fields.document,
                    "fsdp_config.fsdp_offload_params",
                    Data::Flag(true),
                    line.unwrap_or(0),
                );
            }
        }
        return fsdp::read(fields);
    }
    if fields.document.has("parallelism_config") {
        fsdp::parallelism(fields);
    }
    if dialect == Dialect::Transformers && !is_trainer(fields) {
        let message = "this script has its own training loop: sharding stays unset: pass `--sharding`";
        fields.draft.remark(RemarkKind::Unresolved, "plan.sharding", None, message);
        fields.draft.leave_open("plan.sharding", "", None, "the script has its own training loop");
        return software(fields, "transformers-2026", "Hugging Face's models, eager");
    }
    let none = Sharding { zero_stage: 0, group: None, reshard_after_forward: false };
    fields.default("plan.sharding", &none, "replicas, as neither `deepspeed` nor `fsdp` is given");
    if dialect == Dialect::Transformers && fields.take("accelerate").is_none() {
        // `torchrun` and `python` start no sharding engine.
        return software(fields, "transformers-2026", "Hugging Face's models, eager");
    }
    let message = "replicas are assumed, because sharding is set in an accelerate configuration: pass \
        `--sharding fsdp` if it shards (in `tune`: `--set plan.sharding=fsdp`)";
    fields.draft.remark(RemarkKind::Assumed, "plan.sharding", None, message);
    software(fields, "transformers-2026", "Hugging Face's models, eager");
}

/// FSDP with settings in a file that could not be opened.
fn unread(fields: &mut Fields<'_>, path: &str) {
    let (source, line) = fields.source(path);
    let message = "a file of FSDP that is not read: sharding, offload and recompute stay unset";
    fields.remark(RemarkKind::Unresolved, path, message);
    for key in ["plan.sharding", "plan.offload.parameters", "plan.offload.activations", "plan.recompute"] {
        fields.draft.leave_open(key, &source, line, "it is set in another file");
    }
    fields.take("fsdp");
    fields.take("fsdp_config");
}

/// Sharding of a program that calls DeepSpeed itself: that of the file that it names, or unknown.
fn of_program(fields: &mut Fields<'_>, path: &str) {
    fields.take(path);
    if let Some(word) = fields.word(OF_PROGRAM) {
        return named(fields, OF_PROGRAM, &word);
    }
    set_by_program(fields, "plan.sharding", "sharding");
    software(fields, deepspeed::SOFTWARE, "DeepSpeed");
}

/// Tests whether the name of a file indicates offload: `zero3_cpuoffload`, but not `stage3_no_offloading`.
fn is_offloaded(name: &str) -> bool {
    let words: Vec<&str> = name.split(|c: char| !c.is_ascii_alphanumeric()).collect();
    let negated = |index: usize| {
        index
            .checked_sub(1)
            .and_then(|before| words.get(before))
            .is_some_and(|word| matches!(*word, "no" | "non" | "not" | "without" | "wo"))
    };
    words.iter().enumerate().any(|(index, word)| {
        let is_mark = (word.contains("offload") || word.contains("cpu")) && !word.starts_with("nooffload");
        is_mark && !negated(index)
    })
}

/// DeepSpeed's files with offload that LLaMA-Factory and Axolotl ship.
const SHIPPED: [&str; 6] = [
    "ds_z2_offload_config.json",
    "ds_z3_offload_config.json",
    "zero3_bf16_cpuoffload_all.json",
    "zero3_bf16_cpuoffload_params.json",
    "zero3_cpuoffload_optimizer.json",
    "zero2_offload.json",
];

/// A preset of ms-swift, or one of the files that LLaMA-Factory and Axolotl ship.
fn named(fields: &mut Fields<'_>, path: &str, word: &str) {
    let name = word.rsplit('/').next().unwrap_or(word).to_ascii_lowercase();
    if name.contains("autotp") {
        let (source, line) = fields.source(path);
        fields.draft.leave_open(
            "plan.tensor_parallel",
            &source,
            line,
            "the name of DeepSpeed's file indicates it",
        );
    }
    let stage = ["zero", "_z", "stage"].iter().find_map(|mark| {
        let rest = name.split(mark).nth(1)?.trim_start_matches(['_', '-']);
        rest.chars().next()?.to_digit(10).filter(|&stage| stage <= 3)
    });
    let Some(stage) = stage else {
        let message = "is another file: pass it with `--launch`; sharding stays unset";
        fields.remark(RemarkKind::Unresolved, path, message);
        let (source, line) = fields.source(path);
        fields.draft.leave_open("plan.sharding", &source, line, "it is set in another file");
        if path == "accelerate" {
            return;
        }
        if is_offloaded(&name) {
            let why = "the name of DeepSpeed's file indicates it";
            fields.draft.leave_open("plan.offload.optimizer", &source, line, why);
            fields.draft.leave_open("plan.offload.parameters", &source, line, why);
        }
        return software(fields, deepspeed::SOFTWARE, "DeepSpeed");
    };
    let stage = u8::try_from(stage).unwrap_or(0);
    let sharding = Sharding::zero(stage);
    fields.set("plan.sharding", &sharding, path);
    // The text of a shipped file is known; that of another file is not.
    let is_shipped = std::path::Path::new(&name).extension().is_none_or(|suffix| suffix != "json")
        || SHIPPED.contains(&name.as_str());
    if is_offloaded(&name) && is_shipped {
        if stage == 3 && !name.contains("cpuoffload_optimizer") {
            fields.set("plan.offload.parameters", &1.0, path);
        }
        fields.set("plan.offload.optimizer", &1.0, path);
    } else if is_offloaded(&name) {
        let (source, line) = fields.source(path);
        for key in ["plan.offload.optimizer", "plan.offload.parameters"] {
            fields.draft.leave_open(key, &source, line, "the name of DeepSpeed's file indicates it");
        }
    }
    let message = format!(
        "is another file: ZeRO stage {stage} is inferred from its name; pass the file with `--launch`"
    );
    fields.remark(RemarkKind::Assumed, path, message);
    software(fields, deepspeed::SOFTWARE, "DeepSpeed");
}

/// Parallel sizes of a script with a loop of its own, by the names that most programs give them: the trainer
/// has none of these arguments.
pub(super) fn of_own_loop(fields: &mut Fields<'_>) {
    for (key, names) in DEGREES {
        if fields.draft.value(key).is_some() || fields.draft.is_open(key) {
            continue;
        }
        let Some(path) = names.iter().find(|path| fields.document.has(path)) else { continue };
        if let Some(ranks) = fields.count(path).filter(|&ranks| ranks > 0) {
            fields.set(key, &ranks, path);
        } else {
            let (source, line) = fields.source(path);
            fields.draft.leave_open(key, &source, line, "its value is not a count");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::is_offloaded;

    /// Names of files in public repositories (open-instruct, LLaMA-Factory, Axolotl, ms-swift).
    #[test]
    fn a_negated_offload_is_none() {
        for name in ["ds_z3_offload_config.json", "zero3_cpuoffload_params.json", "zero2_offload"] {
            assert!(is_offloaded(name), "{name}");
        }
        for name in
            ["stage3_no_offloading_accelerate.conf", "zero3-without-offload.json", "ds_z3_config.json"]
        {
            assert!(!is_offloaded(name), "{name}");
        }
    }
}
