//! Keys that are not read.
//!
//! Responsible for: listing them all: those of other parts of the job together, those whose name indicates an
//! effect on time or memory as unresolved, and the rest as unknown or without effect.

use super::found::open;
use super::parts::{last, side};
use crate::document::{Data, Entry};
use crate::fields::Fields;
use crate::{RemarkKind, effects};
use std::collections::BTreeMap;

/// Words of keys without effect on the time and memory of a step.
const HARMLESS: &[&str] = &[
    "lr",
    "learning",
    "warmup",
    "decay",
    "beta",
    "betas",
    "beta1",
    "beta2",
    "eps",
    "epsilon",
    "seed",
    "log",
    "logs",
    "logger",
    "logging",
    "wandb",
    "tensorboard",
    "swanlab",
    "mlflow",
    "tracker",
    "save",
    "output",
    "dir",
    "run",
    "project",
    "experiment",
    "trial",
    "tokenizer",
    "template",
    "shuffle",
    "workers",
    "epochs",
    "temperature",
    "top",
    "entropy",
    "clip",
    "report",
    "resume",
    "date",
    "user",
    "entity",
    "tags",
    "notes",
    "scheduler",
    "checkpointer",
    "interval",
    "freq",
    "url",
    "host",
    "port",
    "timeout",
    "norm",
    "momentum",
    "adam",
    "split",
    "folder",
    "cache",
    "dataset",
    "datasets",
    "data",
    "ckpt",
    "profiling",
    "profiler",
    "alpha",
    "dropout",
];

fn is_harmless(path: &str) -> bool {
    let mut words = path.split(|c: char| !c.is_ascii_alphanumeric()).map(str::to_ascii_lowercase);
    words.any(|word| HARMLESS.contains(&word.as_str()))
}

/// The setting that a key of offload may change.
fn offloaded(entry: &Entry) -> Option<&'static str> {
    let name = last(&entry.path);
    let is_one = name.contains("offload") || entry.path.to_ascii_lowercase().contains("offload.");
    if !is_one || effects::is_off(&entry.data) {
        return None;
    }
    ["optim", "param", "activation"]
        .into_iter()
        .zip(["plan.offload.optimizer", "plan.offload.parameters", "plan.offload.activations"])
        .find(|(word, _)| name.contains(word))
        .map(|(_, key)| key)
}

fn is_disabled(off: &[String], path: &str) -> bool {
    off.iter().any(|section| path.starts_with(section.as_str()))
}

/// Lists all keys that no setting has used.
pub(super) fn rest(fields: &mut Fields<'_>) {
    let left: Vec<Entry> = fields.document.entries.iter().filter(|entry| !entry.taken).cloned().collect();
    let mut sides: BTreeMap<String, (Option<usize>, usize)> = BTreeMap::new();
    let mut declared = 0_usize;
    // Settings of a disabled section have no effect.
    let off: Vec<String> = fields
        .document
        .entries
        .iter()
        .filter(|entry| matches!(last(&entry.path).as_str(), "enabled" | "enable" | "use"))
        .filter(|entry| entry.data == Data::Flag(false))
        .filter_map(|entry| entry.path.rsplit_once('.').map(|(section, _)| format!("{section}.")))
        .collect();
    for entry in left {
        if entry.data == Data::Null {
            continue;
        }
        if let Some(word) = side(&entry.path) {
            sides.entry(word).or_insert((entry.spot.line(), 0)).1 += 1;
            continue;
        }
        // Most declared arguments concern data, logs and variants of the program.
        let is_declared = crate::python::is_declared(&entry.path);
        if is_declared && !effects::named(&entry.path) {
            declared += 1;
            continue;
        }
        let source = format!("{} = {}", entry.name, entry.data.shown());
        let line = entry.spot.line();
        if let Some(key) = offloaded(&entry) {
            let why = "offload during the update, or between updates only, depending on the program";
            open(fields, key, &entry.path, why);
            continue;
        }
        let is_scale = ["alpha", "dropout"].iter().any(|end| last(&entry.path).ends_with(end));
        let has_effect = effects::named(&entry.path) || effects::of_kernels(&last(&entry.path));
        let (kind, message) = if has_effect
            && !effects::is_off(&entry.data)
            && !is_scale
            && !is_disabled(&off, &entry.path)
        {
            (RemarkKind::Unresolved, "not read: its name indicates an effect on time or memory")
        } else if is_harmless(&entry.path) || last(&entry.path).is_empty() || is_disabled(&off, &entry.path) {
            (RemarkKind::Ignored, "without effect on the time and memory of a step, judged by its name")
        } else {
            (RemarkKind::Unknown, "unknown, ignored")
        };
        fields.draft.remark(kind, &source, line, message);
    }
    if declared > 0 {
        let message = format!("{declared} other defaults of the program's arguments are not read");
        fields.draft.remark(RemarkKind::Unknown, "add_argument(...)", None, message);
    }
    for (word, (line, count)) in sides {
        let keys = if count == 1 { "key" } else { "keys" };
        let message =
            format!("{count} {keys} of another part of the job than the trained model are not read");
        fields.draft.remark(RemarkKind::NotModelled, &word, line, message);
    }
}
