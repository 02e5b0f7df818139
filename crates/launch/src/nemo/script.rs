//! Shell scripts that start a recipe of Megatron-Bridge or NeMo with overrides.
//!
//! Responsible for: the overrides of the last command that has any, with the script's variables in their
//! values, the name of its recipe and its ranks. Variables of the script are not settings. Does not open the
//! recipe.

use super::started::Started;
use super::{launcher, performance};
use crate::document::{self, Data, Document, Entry, Spot};
use crate::megatron::world::{self, Batch};
use crate::shell::{self, Command, Script, Why, Word};
use crate::{Context, Draft, RemarkKind};
use std::path::Path;

/// The command that starts a recipe; `None` for a text without one, such as a list of overrides alone.
pub(super) fn read(text: &str, file: &str, context: &Context<'_>, draft: &mut Draft) -> Option<Started> {
    let batch = Batch::read(text, 1);
    let script = shell::read(text, file, context, |text| Batch::read(text, 1).variables());
    if let Some(started) = performance::read(&script, text) {
        return Some(started);
    }
    let is_python = |word: &Word| Path::new(&word.text).extension().is_some_and(|ending| ending == "py");
    let is_program = |command: &&Command| command.words.iter().any(is_python);
    let has_overrides = |command: &&Command| command.words.iter().any(|word| override_of(word).is_some());
    let command = script.commands.iter().filter(is_program).rfind(has_overrides)?;
    let stage = launcher::stage(&command.words);
    let command = &stage.as_ref().map_or_else(|| command.clone(), |stage| stage.command(command));
    draft.lines_of(script.sources.clone());
    for (line, what, why) in &script.open {
        draft.remark(RemarkKind::Unresolved, what, Some(*line), why.clone());
    }
    let mut started = Started::default();
    match &stage {
        Some(stage) => {
            let opened = stage.configuration(&command.words, (file, context));
            of_file(opened, (&stage.named, stage.line), &script, &mut started);
        }
        None => configuration(command, &script, (file, context), &mut started),
    }
    for word in &command.words {
        let Some((name, value)) = override_of(word) else {
            // Overrides of one branch of a condition.
            let choices = word.unknown.iter().filter_map(|unknown| match unknown.why {
                Why::Either(index) => script.choices.get(index),
                _ => None,
            });
            let inner = choices.flat_map(|choice| choice.alternatives.iter().flatten());
            let overrides = inner.filter(|word| override_of(word).is_some());
            started.open.extend(overrides.map(|word| (word.text.clone(), word.line)));
            continue;
        };
        if !word.unknown.is_empty() {
            started.open.push((word.text.clone(), word.line));
            continue;
        }
        let spot = Spot { line: word.line, column: 0 };
        let data = Data::of_word(value.trim_matches(['"', '\'']));
        started.document.entries.retain(|entry| entry.path != name);
        started.document.entries.push(Entry::new(name.to_owned(), data, spot));
    }
    started.recipe = flag(command, &["--recipe"]).map(|(name, line)| (name.to_owned(), line));
    started.world = world::of_commands(command, &script, &batch, draft);
    Some(started)
}

/// Reads the configuration of Hydra that a command names: `--config-path`, from the folder of the program,
/// and `--config-name`.
fn configuration(
    command: &Command,
    script: &Script,
    (file, context): (&str, &Context<'_>),
    started: &mut Started,
) {
    let Some((name, line)) = flag(command, &["--config-name", "-cn"]) else {
        let at = command.words.iter().find(|word| word.text.starts_with("--config-name"));
        if let Some(word) = at {
            let why = "its name has no value in this file".to_owned();
            started.unread = Some((word.text.clone(), word.line, why));
        }
        return;
    };
    let path = hydra(&command.words).unwrap_or_else(|| name.to_owned());
    let program = command.words.iter().find(|word| crate::megatron::is_program(&word.text));
    let folder = program.and_then(|word| word.text.rsplit_once('/')).map(|(folder, _)| folder);
    let beside = folder.map(|folder| format!("{folder}/{path}"));
    let opened = beside.iter().chain([&path]).map(|path| context.open(path, file)).reduce(Result::or);
    let read = opened.unwrap_or_else(|| Err(String::new())).and_then(|(name, text)| {
        let document = document::yaml(&text, &name).map_err(|problem| problem.to_string())?;
        Ok((name, text, document))
    });
    of_file(read, (&format!("--config-name {path}"), line), script, started);
}

/// Takes the keys of a configuration, or the reason why it is not read.
fn of_file(
    read: Result<(String, String, Document), String>,
    (named, line): (&str, usize),
    script: &Script,
    started: &mut Started,
) {
    match read {
        Ok((name, text, document)) => {
            let mut sources = script.sources.clone();
            let base = sources.add(&name, &text);
            let moved = document.entries.into_iter().map(|entry| {
                let line = entry.spot.line().map_or(0, |line| line + base - 1);
                Entry { spot: Spot { line, ..entry.spot }, ..entry }
            });
            started.document.entries.extend(moved);
            started.sources = Some(sources);
        }
        Err(why) => started.unread = Some((named.to_owned(), line, why)),
    }
}

/// The path of Hydra's configuration: `--config-path` and `--config-name` with its ending. NeMo's programs
/// have `conf` as the folder.
pub(crate) fn hydra(words: &[Word]) -> Option<String> {
    let value = |names: &[&str]| {
        let at =
            words.iter().position(|word| names.contains(&word.text.split('=').next().unwrap_or_default()))?;
        let word = &words[at];
        let text = match word.text.split_once('=') {
            Some((_, value)) => value,
            None => words.get(at + 1).map(|word| word.text.as_str())?,
        };
        Some(text.trim_matches(['"', '\'']).to_owned())
    };
    let name = value(&["--config-name", "-cn"])?;
    let folder = value(&["--config-path", "-cp"]).unwrap_or_else(|| "conf".to_owned());
    let ending = if Path::new(&name).extension().is_some_and(|end| end == "yaml" || end == "yml") {
        ""
    } else {
        ".yaml"
    };
    Some(format!("{}/{name}{ending}", folder.trim_end_matches('/')))
}

/// The key of a plan that an override sets, for those that the layout depends on.
pub(super) fn key_of(word: &str) -> Option<&'static str> {
    const KEYS: &[(&str, &str)] = &[
        ("tensor_model_parallel_size", "plan.tensor_parallel"),
        ("pipeline_model_parallel_size", "plan.pipeline_parallel"),
        ("context_parallel_size", "plan.context_parallel"),
        ("expert_model_parallel_size", "plan.expert_parallel"),
        ("expert_tensor_parallel_size", "plan.expert_tensor_parallel"),
        ("sequence_parallel", "plan.sequence_parallel"),
        ("micro_batch_size", "plan.micro_batch"),
        ("global_batch_size", "plan.global_batch"),
        ("seq_length", "plan.sequence_length"),
        ("virtual_pipeline_model_parallel_size", "plan.virtual_stages"),
        ("use_megatron_fsdp", "plan.sharding"),
        ("use_custom_fsdp", "plan.sharding"),
        ("use_torch_fsdp2", "plan.sharding"),
        ("use_distributed_optimizer", "plan.sharding"),
        ("data_parallel_sharding_strategy", "plan.sharding"),
        ("recompute_granularity", "plan.recompute"),
        ("recompute_method", "plan.recompute"),
        ("recompute_num_layers", "plan.recompute"),
        ("recompute_modules", "plan.recompute"),
        ("fp8", "plan.precision.compute"),
        ("fp4", "plan.precision.compute"),
        ("mixed_precision", "plan.precision.preset"),
        ("precision", "plan.precision.preset"),
        ("num_nodes", "cluster.devices"),
    ];
    let (name, _) = word.split_once('=')?;
    let last = name.rsplit('.').next()?;
    KEYS.iter().find(|(field, _)| *field == last).map(|(_, key)| *key)
}

/// The path of an override.
pub(super) fn path_of(word: &str) -> &str {
    let word = word.trim_start_matches(['+', '\'', '"']);
    word.split_once('=').map_or(word, |(path, _)| path)
}

/// The name and the value of `a.b=c`; `None` for other words.
fn override_of(word: &Word) -> Option<(&str, &str)> {
    let (name, value) = word.text.trim_start_matches(['+', '\'', '"']).split_once('=')?;
    let is_name = name.contains('.')
        && name
            .split('.')
            .all(|part| !part.is_empty() && part.chars().all(|c| c.is_ascii_alphanumeric() || c == '_'));
    is_name.then_some((name, value))
}

/// The value of a flag, `--name value` or `--name=value`, unless it is known at run time alone.
fn flag<'a>(command: &'a Command, names: &[&str]) -> Option<(&'a str, usize)> {
    let at = command.words.iter().position(|word| {
        names.contains(&word.text.split('=').next().unwrap_or_default()) && word.unknown.is_empty()
    })?;
    let word = &command.words[at];
    if let Some((_, value)) = word.text.split_once('=') {
        return Some((value, word.line));
    }
    let value = command.words.get(at + 1).filter(|value| value.unknown.is_empty())?;
    Some((&value.text, value.line))
}
