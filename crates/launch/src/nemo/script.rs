//! Shell scripts that start a recipe of Megatron-Bridge or NeMo with overrides.
//!
//! Responsible for: the overrides of the last command that has any, with the script's variables in their values, the name of its recipe and
//! its ranks. Variables of the script are no settings. Does not open the recipe.

use crate::document::{Data, Document, Entry, Spot};
use crate::megatron::meaning::World;
use crate::megatron::world::{self, Batch};
use crate::shell::{self, Command, Word};
use crate::{Context, Draft};
use std::path::Path;

/// A command that starts a recipe.
pub(super) struct Started {
    pub(super) document: Document,
    /// Name of the recipe, with its line.
    pub(super) recipe: Option<(String, usize)>,
    pub(super) world: World,
    /// Overrides with a value that is known at run time alone, with their lines.
    pub(super) open: Vec<(String, usize)>,
}

/// The command that starts a recipe; `None` for a text without one, such as a list of overrides alone.
pub(super) fn read(text: &str, file: &str, context: &Context<'_>, draft: &mut Draft) -> Option<Started> {
    let batch = Batch::read(text, 1);
    let script = shell::read(text, file, context, |text| Batch::read(text, 1).variables());
    let is_python = |word: &Word| Path::new(&word.text).extension().is_some_and(|ending| ending == "py");
    let is_program = |command: &&Command| command.words.iter().any(is_python);
    let has_overrides = |command: &&Command| command.words.iter().any(|word| override_of(word).is_some());
    let command = script.commands.iter().filter(is_program).rfind(has_overrides)?;
    let mut started =
        Started { document: Document::default(), recipe: None, world: World::default(), open: Vec::new() };
    for word in &command.words {
        let Some((name, value)) = override_of(word) else { continue };
        if !word.unknown.is_empty() {
            started.open.push((word.text.clone(), word.line));
            continue;
        }
        let spot = Spot { line: word.line, column: 0 };
        let data = Data::of_word(value.trim_matches(['"', '\'']));
        started.document.entries.push(Entry::new(name.to_owned(), data, spot));
    }
    started.recipe = flag(command, &["--recipe"]).map(|(name, line)| (name.to_owned(), line));
    started.world = world::of_commands(command, &script, &batch, draft);
    Some(started)
}

/// The key of a plan that an override sets, for those that the layout depends on.
pub(super) fn key_of(word: &str) -> Option<&'static str> {
    const KEYS: [(&str, &str); 9] = [
        ("tensor_model_parallel_size", "plan.tensor_parallel"),
        ("pipeline_model_parallel_size", "plan.pipeline_parallel"),
        ("context_parallel_size", "plan.context_parallel"),
        ("expert_model_parallel_size", "plan.expert_parallel"),
        ("expert_tensor_parallel_size", "plan.expert_tensor_parallel"),
        ("sequence_parallel", "plan.sequence_parallel"),
        ("micro_batch_size", "plan.micro_batch"),
        ("global_batch_size", "plan.global_batch"),
        ("seq_length", "plan.sequence_length"),
    ];
    let (name, _) = word.split_once('=')?;
    let last = name.rsplit('.').next()?;
    KEYS.iter().find(|(field, _)| *field == last).map(|(_, key)| *key)
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
