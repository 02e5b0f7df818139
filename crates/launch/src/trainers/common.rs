//! Common parts of the readers of trainers: the trainers, models by name, and features of Transformers.
//!
//! Responsible for: names without the endings of other storage forms. Reads no configuration.

use crate::RemarkKind;
use crate::document::{Data, Document, Entry, Spot};
use crate::fields::Fields;

/// A trainer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dialect {
    LlamaFactory,
    Axolotl,
    Trl,
    Swift,
    Foundry,
    OpenRlhf,
    LitGpt,
    /// A script of the user's own on Transformers' `TrainingArguments`.
    Transformers,
}

impl Dialect {
    /// Choices of its generation that it passes on (`catalog/front_ends.toml`); none under Megatron-Core, and
    /// if the generation has no others.
    pub(super) const fn front_end(self, is_megatron: bool) -> Option<&'static str> {
        match self {
            _ if is_megatron => None,
            Self::LlamaFactory | Self::Trl | Self::Transformers => Some("transformers"),
            Self::Axolotl => Some("axolotl"),
            Self::Swift => Some("ms-swift"),
            Self::OpenRlhf => Some("openrlhf"),
            Self::LitGpt => Some("litgpt"),
            Self::Foundry => None,
        }
    }

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::LlamaFactory => "LLaMA-Factory",
            Self::Axolotl => "Axolotl",
            Self::Trl => "TRL",
            Self::Swift => "ms-swift",
            Self::Foundry => "llm-foundry",
            Self::OpenRlhf => "OpenRLHF",
            Self::LitGpt => "LitGPT",
            Self::Transformers => "Transformers' Trainer",
        }
    }
}

/// A key of a command.
pub(super) fn put(document: &mut Document, path: &str, data: Data, line: usize) {
    document.entries.push(Entry::new(path.to_owned(), data, Spot { line, column: 0 }));
}

/// The model of an identifier of Hugging Face.
pub(super) fn named(fields: &mut Fields<'_>, path: &str, name: &str) {
    // Repositories of the same weights in a different form.
    if let Some(end) = ["-GPTQ", "-AWQ", "-4bit", "-nf4"].iter().find(|end| name.contains(**end)) {
        let (source, line) = fields.source(path);
        crate::adapter::quantized(&mut fields.draft, &format!("{source} ({end})"), line, "4");
    }
    if name.contains("-AQLM") {
        let (source, line) = fields.source(path);
        crate::adapter::quantized(&mut fields.draft, &format!("{source} (-AQLM)"), line, "2");
    }
    // Linearized experts are the same weights, each expert as separate matrices.
    let stem =
        ["-bnb-4bit", "-bnb-nf4", "-unsloth", "-fp16", "-bf16", "-GPTQ", "-AWQ", "-4bit", "-Linearized"]
            .iter()
            // ModelScope's cache writes the point of `1.5B` as three underscores.
            .fold(name.replace("___", "."), |name, end| name.replace(end, ""));
    fields.named_model(path, &stem);
}

/// Tests whether a script uses Transformers' `TrainingArguments`, whose defaults then apply. The test uses
/// flags that custom loops rarely have.
pub(super) fn is_trainer(fields: &Fields<'_>) -> bool {
    const OWN: [&str; 11] = [
        "do_train",
        "logging_steps",
        "save_strategy",
        "save_steps",
        "evaluation_strategy",
        "eval_strategy",
        "overwrite_output_dir",
        "tf32",
        "bf16",
        "deepspeed",
        "fsdp",
    ];
    if calls_deepspeed(fields) {
        return false;
    }
    // Opening a file of DeepSpeed replaced its name by its settings.
    let has_file = fields.document.entries.iter().any(|entry| entry.path.starts_with("deepspeed_file."));
    let names_class =
        fields.document.get("program").is_some_and(|entry| entry.data.plain().contains("TrainingArguments"));
    names_class || OWN.iter().filter(|key| fields.document.has(key)).count() + usize::from(has_file) > 1
}

/// Leaves a setting unset that a program which calls DeepSpeed sets itself; `what` is its flag without the
/// dashes.
pub(super) fn set_by_program(fields: &mut Fields<'_>, key: &str, what: &str) {
    let path = "deepspeed";
    let message = format!("the program sets DeepSpeed's {what} itself, so it stays unset: pass `--{what}`");
    fields.remark(RemarkKind::Unresolved, path, message);
    let (source, line) = fields.source(path);
    fields.draft.leave_open(key, &source, line, "the program sets it itself");
}

/// Tests whether a program calls DeepSpeed itself: DeepSpeed's own parser has `--deepspeed` without a value,
/// and Transformers' `--deepspeed` names a file.
pub(super) fn calls_deepspeed(fields: &Fields<'_>) -> bool {
    fields.document.get("deepspeed").is_some_and(|entry| entry.data == Data::Flag(true))
}

/// Tests whether a key of the program's own takes the place of the trainer's micro-batch, which then stays
/// unset. `is_known`: whether the trainer has a key.
pub(super) fn has_own_batch(fields: &mut Fields<'_>, is_known: fn(&str) -> bool) -> bool {
    let is_own = |path: &str| path.starts_with("per_device_train_batch") && !is_known(path);
    let own = fields.document.entries.iter().find(|entry| is_own(&entry.path));
    let Some(path) = own.map(|entry| entry.path.clone()) else { return false };
    if fields.draft.spec().plan.micro_batch.is_none() {
        let (source, line) = fields.source(&path);
        let why = "not a key of the trainer, and may set the batch";
        fields.draft.leave_open("plan.micro_batch", &source, line, why);
    }
    true
}
