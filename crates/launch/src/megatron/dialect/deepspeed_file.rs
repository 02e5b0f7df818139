//! The DeepSpeed file of Megatron-DeepSpeed: one that the script writes, or one in its folder.
//!
//! Responsible for: the stage and the offload that only the file has, and its batch, which must agree with
//! the flags. A file that cannot be opened keeps its flag, and so its remark.

use super::super::arguments::Arguments;
use crate::document::{self, Document};
use crate::{Context, Draft, RemarkKind};

const FLAG: &str = "deepspeed_config";

/// Settings of the file, and the flags that set them.
pub(crate) const BATCHES: [(&str, &str); 2] =
    [("train_batch_size", "global_batch_size"), ("train_micro_batch_size_per_gpu", "micro_batch_size")];

/// Reads the file that the flag names.
pub(crate) fn read(arguments: &mut Arguments, file: &str, context: &Context<'_>, draft: &mut Draft) {
    let Some(path) = arguments.word(FLAG).map(str::to_owned) else { return };
    let Ok((name, text)) = context.open(&path, file) else { return };
    let Ok(settings) = document::json(&text, &name) else { return };
    let (source, line) = arguments.origin(FLAG);
    for (key, flag) in BATCHES {
        let Some(own) = count(&settings, key) else { continue };
        match arguments.count(flag, draft) {
            Some(given) if given != own => {
                let (source, line) = arguments.origin(flag);
                let message = format!(
                    "but `{key}` of DeepSpeed's file `{name}` is {own}: the flag is used, but DeepSpeed itself uses the file"
                );
                draft.remark(RemarkKind::Conflict, &source, line, message);
            }
            Some(_) => {}
            None => arguments.presume(flag, &own.to_string(), &format!("{key} = {own} in {name}")),
        }
    }
    let stage = count(&settings, "zero_optimization.stage").unwrap_or(0);
    arguments.presume(
        "zero_stage",
        &stage.to_string(),
        &format!("zero_optimization.stage = {stage} in {name}"),
    );
    let device = settings.get("zero_optimization.offload_optimizer.device").map(|entry| entry.data.plain());
    if device.as_deref() == Some("cpu") {
        arguments.presume("cpu_optimizer", "True", &format!("offload_optimizer.device = cpu in {name}"));
    }
    *arguments = arguments.with(FLAG, None);
    let message = format!("its stage, batch and offload are read from `{name}`");
    draft.remark(RemarkKind::Assumed, &source, line, message);
}

fn count(settings: &Document, key: &str) -> Option<u64> {
    settings.get(key)?.data.count()
}
