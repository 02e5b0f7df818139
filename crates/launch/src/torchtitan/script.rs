//! Scripts that start torchtitan: the overrides of the command, above the settings of its configuration file.
//!
//! Responsible for: the last command with `--job.config_file`, its values by the shell, and the file that it
//! names; without such a command, the last one with overrides. A file that cannot be opened leaves its
//! settings open.

use super::keys::{current, knows};
use super::registry;
use crate::Context;
use crate::context::Sources;
use crate::document::{self, Data, Document};
use crate::megatron::Batch;
use crate::python;
use crate::shell::{self, Word};
use railwright_spec::problem::Problem;

/// The settings of a script.
pub(super) struct Started {
    pub(super) document: Document,
    /// True if the configuration below the overrides was read.
    pub(super) is_whole: bool,
    pub(super) sources: Sources,
    /// What is not known, with its line and the reason.
    pub(super) open: Vec<(String, usize, String)>,
    /// Overrides without a value: key, text and line.
    pub(super) unset: Vec<(String, String, usize)>,
}

/// Names of the flag for the file.
const FILE: [&str; 2] = ["job.config_file", "job.config-file"];

/// Sections of a configuration: a word of a command that begins with one is an override.
const SECTIONS: [&str; 4] =
    ["--training.", "--parallelism.", "--activation_checkpoint.", "--activation-checkpoint."];

/// Settings that the scripts that start torchtitan take from the environment.
pub(super) const FROM_ENVIRONMENT: [(&str, &str); 3] =
    [("MODULE", "module"), ("CONFIG", "config"), ("NGPU", "nproc_per_node")];

/// Renames the variables that are settings, and drops all others.
pub(super) fn variables(document: &mut Document) {
    document.rename(&FROM_ENVIRONMENT);
    let is_variable =
        |path: &str| path.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_');
    document.entries.retain(|entry| !is_variable(&entry.path));
}

/// Tests whether a script names a configuration file, or has overrides whose values are the shell's.
pub(super) fn is_one(text: &str) -> bool {
    if text.trim_start().starts_with('{') {
        return false;
    }
    let has_value = |line: &str| {
        SECTIONS.iter().any(|section| {
            let rest = line.split_once(section).map_or("", |(_, rest)| rest);
            let value =
                rest.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'));
            value.trim_start_matches([' ', '=', '"', '\'']).starts_with('$')
        })
    };
    let names_registry =
        || text.contains("torchtitan") && text.contains("--module") && text.contains("--config");
    text.contains("--job.config") || text.lines().any(has_value) || names_registry()
}

/// Tests whether a script starts torchtitan with a configuration of its registry.
pub(super) fn has_registry(text: &str) -> bool {
    ["torchtitan.train", "torchtitan/train.py"].iter().any(|program| text.contains(program))
        && ["--module", "--config"].iter().all(|flag| text.contains(flag))
}

/// Folders with the registries of torchtitan's models.
const REGISTRIES: [&str; 2] = ["torchtitan/models", "torchtitan/experiments"];

/// The configuration of a module's registry, if the repository is here.
fn of_module(
    document: &Document,
    file: &str,
    context: &Context<'_>,
) -> Option<(String, String, Document, bool)> {
    let text = |path: &str| document.get(path).map(|entry| entry.data.plain()).filter(|text| text != "auto");
    let (module, config) = (text("module")?, text("config")?);
    let is_name =
        |name: &str| name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'-'));
    if !is_name(&module) || !is_name(&config) {
        return None;
    }
    let folder = module.replace('.', "/");
    let opened = REGISTRIES
        .iter()
        .find_map(|of| context.open(&format!("{of}/{folder}/config_registry.py"), file).ok());
    let (name, text) = opened?;
    let (found, is_whole, _) = registry::read(&python::chosen(&text, &config), &name, context).ok()?;
    Some((name, text, found, is_whole))
}

/// Reads a script; `None` if no command of it names a configuration file or has overrides.
pub(super) fn read(text: &str, file: &str, context: &Context<'_>) -> Result<Option<Started>, Problem> {
    document::check_length(text, file)?;
    let script = shell::read(text, file, context, |text| Batch::read(text, 1).variables());
    let names_file = |words: &[Word]| {
        words.iter().any(|word| {
            let name = word.text.trim_start_matches("--").split('=').next().unwrap_or_default();
            word.text.starts_with("--") && FILE.contains(&name)
        })
    };
    let overrides = |words: &[Word]| {
        words.iter().any(|word| SECTIONS.iter().any(|section| word.text.starts_with(section)))
    };
    // Configurations in Python have a name in the registry of a module.
    let of_registry = |words: &[Word]| {
        let has = |flag: &str| words.iter().any(|word| word.text.split('=').next() == Some(flag));
        has("--module") && has("--config")
    };
    let last =
        |fits: &dyn Fn(&[Word]) -> bool| script.commands.iter().rev().find(|command| fits(&command.words));
    let Some(command) = last(&names_file).or_else(|| last(&overrides)).or_else(|| last(&of_registry)) else {
        return Ok(None);
    };
    let mut open: Vec<(String, usize, String)> =
        script.open.iter().map(|(line, what, why)| (what.clone(), *line, why.clone())).collect();
    let quoted: Vec<String> = command
        .words
        .iter()
        .map(|word| {
            let mut text = word.text.clone();
            if let (false, Some((name, _))) = (word.unknown.is_empty(), word.text.split_once('=')) {
                text = format!("{name}=auto");
            } else if !word.unknown.is_empty() {
                "auto".clone_into(&mut text);
            }
            format!("'{}'", text.replace('\'', ""))
        })
        .collect();
    let mut unset = Vec::new();
    for (index, word) in command.words.iter().enumerate() {
        let Some(text) = word.text.strip_prefix("--") else { continue };
        let next = command.words.get(index + 1).filter(|next| !next.text.starts_with("--"));
        let (name, source, is_open) = match (text.split_once('='), next) {
            (Some((name, _)), _) => (name, word.text.clone(), !word.unknown.is_empty()),
            (None, Some(value)) => (text, format!("--{text} {}", value.text), !value.unknown.is_empty()),
            (None, None) => continue,
        };
        let name = name.replace('-', "_");
        if is_open && name.contains('.') && knows(&name) {
            let why = "no value in this file, so it stays unset".to_owned();
            open.push((source.clone(), word.line, why));
            unset.push((current(&name).to_owned(), source, word.line));
        }
    }
    let mut document = document::overrides(&quoted.join(" "), file)?.document;
    variables(&mut document);
    for entry in &mut document.entries {
        entry.spot.line = command.line;
    }
    let mut sources = script.sources;
    let path = document.get(FILE[0]).map(|entry| entry.data.plain()).unwrap_or_default();
    document.entries.retain(|entry| entry.path != FILE[0]);
    let mut is_whole = false;
    match context.open(&path, file) {
        _ if path.is_empty() => {}
        _ if path == "auto" => {
            let why = "its path has no value in this file, so its settings stay unset".to_owned();
            open.push(("--job.config_file".to_owned(), command.line, why));
        }
        Ok((name, text)) => {
            let base = sources.add(&name, &text);
            for mut entry in document::toml(&text, &name)?.entries {
                if document.get(&entry.path).is_none() {
                    entry.spot.line += base.saturating_sub(1);
                    document.entries.push(entry);
                }
            }
            is_whole = true;
        }
        Err(why) => {
            let why = format!("its settings stay unset: {why}; pass it with `--launch`");
            open.push((format!("--job.config_file {path}"), command.line, why));
        }
    }
    if let Some((name, text, found, of_registry)) = of_module(&document, file, context) {
        let (base, own) = (sources.add(&name, &text), text.lines().count());
        for mut entry in found.entries {
            if document.get(&entry.path).is_none() {
                // Lines of other modules have no place among those of the script.
                let line = Some(entry.spot.line).filter(|line| (1..=own).contains(line));
                entry.spot.line = line.map_or(0, |line| line + base.saturating_sub(1));
                document.entries.push(entry);
            }
        }
        document.entries.retain(|entry| !matches!(entry.path.as_str(), "module" | "config"));
        is_whole = of_registry;
    }
    // Words of the launcher without a meaning here.
    document.entries.retain(|entry| entry.data != Data::Null);
    Ok(Some(Started { document, is_whole, sources, open, unset }))
}
