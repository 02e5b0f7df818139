//! Logs of Transformers' Trainer and of LLaMA-Factory, which print parts of their settings.
//!
//! Responsible for: batch, ranks, ZeRO stage, recompute, format, kind of tuning and model as lines of the log
//! show them. What no line shows stays unset: the trainer's defaults need not be those of the run. Times of
//! steps are read elsewhere (`profile`).

use super::command::Keys;
use super::common::{Dialect, put};
use crate::document::{Data, Document};
use crate::fields::Fields;

/// The line before the batch, which every version of the trainer prints.
const STARTS: &str = "***** Running training *****";
/// Lines of LLaMA-Factory: its parser names the ranks and the format.
const RANKS: &str = "llamafactory.hparams.parser";

/// Texts before a number, and the keys of the number.
const NUMBERS: [(&str, &str); 4] = [
    ("Instantaneous batch size per device = ", "per_device_train_batch_size"),
    ("Gradient Accumulation steps = ", "gradient_accumulation_steps"),
    ("distributed & accumulation) = ", TOTAL),
    (", world size: ", "num_processes"),
];

/// The samples of a step over all ranks.
pub(super) const TOTAL: &str = "train_batch_size_of_the_log";

/// Texts that show a setting, in lower case.
const SHOWN: [(&str, &str, &str); 11] = [
    ("gradient checkpointing enabled", "gradient_checkpointing", "true"),
    ("detected deepspeed zero-3", "deepspeed_config.zero_stage", "3"),
    ("deepspeed zero3 detected", "deepspeed_config.zero_stage", "3"),
    ("compute dtype: torch.bfloat16", "bf16", "true"),
    ("compute dtype: torch.float16", "fp16", "true"),
    ("fine-tuning method: full", "finetuning_type", "full"),
    ("fine-tuning method: freeze", "finetuning_type", "freeze"),
    ("fine-tuning method: lora", "finetuning_type", "lora"),
    ("fine-tuning method: dora", "finetuning_type", "dora"),
    ("since lora is enabled", "finetuning_type", "lora"),
    ("liger kernel has been applied", "enable_liger_kernel", "true"),
];

/// Texts before the name of the model, which a quote or a line's end closes.
const NAMES: [&str; 2] = ["name_or_path='", "\"_name_or_path\": \""];

/// The text that shows offload of some kind.
const OFFLOAD: &str = "Detected ZeRO Offload";

/// Lines that are searched; progress bars follow.
const LONGEST: usize = 20_000;

pub(super) fn is_one(text: &str) -> bool {
    let is_factory = || text.contains(RANKS) && text.contains(", world size: ");
    (text.contains(STARTS) && text.contains(NUMBERS[0].0)) || is_factory()
}

/// Trainer that printed the log.
pub(super) fn dialect(text: &str) -> Dialect {
    if text.contains("llamafactory") { Dialect::LlamaFactory } else { Dialect::Transformers }
}

fn number(line: &str, before: &str) -> Option<i64> {
    let rest = line.split_once(before)?.1.replace(',', "");
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    rest.get(..end)?.parse().ok().filter(|n| *n > 0)
}

/// The keys that lines of a log show; the first line of each.
pub(super) fn parse(text: &str) -> Keys {
    let mut document = Document::default();
    for (index, line) in text.lines().enumerate().take(LONGEST) {
        let mut set = |path: &str, data: Data| {
            if document.get(path).is_none() {
                put(&mut document, path, data, index + 1);
            }
        };
        for (before, path) in NUMBERS {
            if let Some(n) = number(line, before) {
                set(path, Data::Integer(n));
            }
        }
        let lower = line.to_ascii_lowercase();
        for (shown, path, value) in SHOWN {
            if lower.contains(shown) {
                set(path, Data::of_word(value));
            }
        }
        for before in NAMES {
            let name = line.split_once(before).and_then(|(_, rest)| rest.split(['\'', '"']).next());
            if let Some(name) = name.filter(|name| !name.is_empty()) {
                set("model_name_or_path", Data::Text(name.to_owned()));
            }
        }
        if line.contains(OFFLOAD) {
            set("offload_of_the_log", Data::Flag(true));
        }
    }
    Keys { document, ..Default::default() }
}

/// Settings that a log does not show, and the ranks of its batch.
pub(super) fn finish(fields: &mut Fields<'_>) {
    let plan = &fields.draft.spec().plan;
    let samples = plan.micro_batch.zip(plan.micro_batches).map(|(a, b)| a.saturating_mul(b));
    let total = fields.count(TOTAL);
    if let Some((total, samples)) =
        total.zip(samples).filter(|(all, each)| *each > 0 && all.is_multiple_of(*each))
        && fields.draft.spec().cluster.devices.is_none()
    {
        fields.set("cluster.devices", &(total / samples), TOTAL);
    }
    let why = "the log does not show it";
    for (key, paths) in [
        ("plan.sharding", &["deepspeed_config.zero_stage"][..]),
        ("plan.recompute", &["gradient_checkpointing"]),
        ("plan.micro_batch", &["per_device_train_batch_size"]),
        ("plan.micro_batches", &["gradient_accumulation_steps"]),
        ("plan.precision.preset", &["bf16", "fp16"]),
        ("plan.optimizer", &["finetuning_type"]),
        ("plan.lora_rank", &[]),
        ("plan.lora_targets", &[]),
    ] {
        if !paths.iter().any(|path| fields.document.has(path)) {
            fields.draft.leave_open(key, "", None, why);
        }
    }
    let path = "offload_of_the_log";
    if fields.flag(path) == Some(true) {
        let (source, line) = fields.source(path);
        for key in ["plan.offload.optimizer", "plan.offload.parameters"] {
            fields.draft.leave_open(key, &source, line, "the log shows that one of both is offloaded");
        }
        let message = "optimizer states, parameters or both are on the host; the log does not show which";
        fields.draft.remark(crate::RemarkKind::Unresolved, OFFLOAD, line, message);
    }
}
