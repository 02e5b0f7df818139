//! Parts of a job: the trained model, and others.
//!
//! Responsible for: words that show another part, and the test whether a document describes a training run.

use super::names;
use crate::document::{Data, Document};

/// The last part of a path, as names are compared.
pub(super) fn last(path: &str) -> String {
    path.rsplit('.').next().unwrap_or(path).to_ascii_lowercase().replace('-', "_")
}

/// Words in the path of settings of another part of the job than the trained model.
const SIDE: &[&str] = &[
    "rollout",
    "infer",
    "inference",
    "generation",
    "generator",
    "vllm",
    "sglang",
    "teacher",
    "ref",
    "reference",
    "critic",
    "reward",
    "rewards",
    "eval",
    "evaluation",
    "evaluator",
    "evaluators",
    "validation",
    "valid",
    "val",
    "judge",
    "orchestrator",
    "serving",
    "server",
    "test",
    "sampling",
    "gconfig",
    "draft",
    "hydra",
    "launcher",
    "slurm",
];
/// Words of jobs whose batches count prompts, or pairs, and whose devices are shared by several models.
const SEVERAL: &[&str] = &[
    "rollout",
    "ppo",
    "grpo",
    "dapo",
    "dpo",
    "kto",
    "orpo",
    "simpo",
    "reward",
    "rewards",
    "critic",
    "vllm",
    "sglang",
    "gconfig",
    "orchestrator",
    "actor",
    "teacher",
    "rlhf",
    "rl",
    "distill",
    "kd",
];

fn words(path: &str) -> impl Iterator<Item = String> + '_ {
    path.split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|part| !part.is_empty())
        .map(str::to_ascii_lowercase)
}

/// The part of a job other than the trained model that a key belongs to.
pub(super) fn side(path: &str) -> Option<String> {
    words(path).find(|word| SIDE.contains(&word.as_str()))
}

/// A key of a job with several models: its path.
pub(super) fn several(document: &Document) -> Option<String> {
    let is_mark = |path: &str| words(path).any(|word| SEVERAL.contains(&word.as_str()));
    document
        .entries
        .iter()
        .find(|entry| is_mark(&entry.path) && entry.data != Data::Null)
        .map(|entry| entry.path.clone())
}

/// Tests whether a key of a program may be a setting of its run: by its name, or as all of its settings.
pub(super) fn is_setting(path: &str) -> bool {
    let name = last(path);
    let lists = [
        names::MODEL,
        names::DIMENSIONS,
        names::MICRO_BATCH,
        names::GLOBAL_BATCH,
        names::ACCUMULATION,
        names::EITHER,
        names::LENGTH,
        names::PRECISION,
        names::RECOMPUTE,
        names::OPTIMIZER,
        &["args", "config", "cfg", "conf", "opt"],
    ];
    lists.iter().any(|list| list.contains(&name.as_str())) || crate::effects::named(path)
}

/// The evidence that a document describes a training run: a batch, and a length, a degree, a model or its
/// dimensions.
pub(super) fn evidence(document: &Document) -> Option<String> {
    let find = |names: &[&[&str]]| {
        let of_names = |name: &str| names.iter().any(|list| list.contains(&name));
        let entry =
            document.entries.iter().find(|entry| side(&entry.path).is_none() && of_names(&last(&entry.path)));
        entry.map(|entry| entry.path.clone())
    };
    let divides = || {
        let is_one = |path: &str| side(path).is_none() && crate::effects::named(path);
        document.entries.iter().find(|entry| is_one(&entry.path)).map(|entry| entry.path.clone())
    };
    let batch = find(&[names::MICRO_BATCH, names::GLOBAL_BATCH, names::EITHER])?;
    let degrees: Vec<&str> = names::DEGREES.iter().flat_map(|(_, names)| names.iter().copied()).collect();
    let other =
        find(&[names::LENGTH, &degrees, names::MODEL, names::DIMENSIONS, names::RESPONSE, names::RECOMPUTE])
            .or_else(divides)?;
    learns(document).then(|| format!("the keys `{batch}` and `{other}`"))
}

fn learns(document: &Document) -> bool {
    document.entries.iter().any(|entry| {
        words(&last(&entry.path)).any(|word| {
            matches!(
                word.as_str(),
                "lr" | "learning"
                    | "optim"
                    | "optimizer"
                    | "epochs"
                    | "steps"
                    | "train"
                    | "warmup"
                    | "iters"
                    | "iterations"
            )
        })
    })
}

/// Tests whether the settings of a started program are those of a training run: two kinds of them, and a rate
/// or a number of steps. The batch may be a default of the program.
pub(super) fn is_training(document: &Document) -> bool {
    let degrees: Vec<&str> = names::DEGREES.iter().flat_map(|(_, names)| names.iter().copied()).collect();
    let batch = [names::MICRO_BATCH, names::GLOBAL_BATCH, names::EITHER].concat();
    let kinds: [&[&str]; 6] =
        [&batch, names::LENGTH, &degrees, names::MODEL, names::DIMENSIONS, names::RECOMPUTE];
    let has = |kind: &&&[&str]| {
        let is_one = |path: &str| side(path).is_none() && kind.contains(&last(path).as_str());
        document.entries.iter().any(|entry| is_one(&entry.path))
    };
    kinds.iter().filter(has).count() > 1 && learns(document)
}
