//! Edits of TOML, YAML and JSON configurations.
//!
//! Responsible for: keys that differ between plans, from the output of the format's writer, and texts with
//! one key set, added to its section or removed; comments and order are kept. Rejects texts without one key
//! per line, because the start of a key is ambiguous.

use super::language::{Language, Settings, Splice, Target};
use crate::document::{Data, Document as Tree, Entry, json, toml, yaml};
use crate::{Format, Writer, torchtitan, writer_of};
use railwright_spec::model::by_name;
use railwright_spec::run::Run;
use std::collections::{BTreeMap, BTreeSet};

/// A model with a name in every framework, used to write the plan of a model without one.
const STAND_IN: &str = "llama-3-8b";

/// Syntax of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Syntax {
    Toml,
    Yaml,
    Json,
}

/// A configuration of a framework that something writes.
pub(super) struct Document {
    format: Format,
    writer: &'static dyn Writer,
    syntax: Syntax,
}

impl Document {
    /// The language of a text; `None` for formats without a writer, and for lists of overrides.
    pub(super) fn of(format: Format, text: &str) -> Option<Self> {
        Some(Self::by(writer_of(format, text)?, text)).filter(|document| !document.is_overrides())
    }

    /// Tests whether it is a list of overrides, which has no sections.
    fn is_overrides(&self) -> bool {
        self.format == Format::Torchtitan && self.syntax == Syntax::Yaml
    }

    fn by(writer: &'static dyn Writer, text: &str) -> Self {
        let syntax = match text.trim_start().chars().next() {
            Some('{') => Syntax::Json,
            _ if toml(text, "").is_ok_and(|tree| !tree.entries.is_empty()) => Syntax::Toml,
            _ => Syntax::Yaml,
        };
        Self { format: writer.format(), writer, syntax }
    }

    fn tree(&self, text: &str, syntax: Syntax) -> Option<Tree> {
        let tree = match syntax {
            Syntax::Toml => toml(text, ""),
            Syntax::Yaml => yaml(text, ""),
            Syntax::Json => json(text, ""),
        };
        let mut tree = tree.ok()?;
        if self.format == Format::Torchtitan {
            tree.rename(torchtitan::OLDER);
        }
        Some(tree)
    }

    /// Settings that the writer writes for a run.
    fn of_run(&self, run: &Run) -> Settings {
        let Some(file) = self.writer.write(run).files.into_iter().next() else { return Settings::new() };
        let own = Self::by(self.writer, &file.text);
        let syntax = if own.is_overrides() { self.syntax } else { own.syntax };
        self.tree(&file.text, syntax).map(|tree| settings(&tree)).unwrap_or_default()
    }

    /// Tests whether the framework has no name for the model. The file then keeps the user's own.
    fn has_no_name(&self, run: &Run) -> bool {
        let run = self.writer.determined(run);
        self.writer.write(&run).refused.first().is_some_and(|lost| lost.key == "model")
    }

    /// The run with a model that the framework has a name for; the settings of a plan are the same for both.
    fn with_a_name(&self, run: &Run) -> Run {
        let run = self.writer.determined(run);
        match by_name(STAND_IN) {
            Ok(model) if self.has_no_name(&run) => Run { model, ..run },
            _ => run,
        }
    }

    /// Tests whether the user's value of a key would make another plan of the one that the writer writes.
    /// Data, templates, outputs and schedules do not, nor defaults that the writer states.
    fn decides(&self, to: &Run, path: &str, now: &Settings) -> bool {
        let run = self.with_a_name(to);
        let Some(file) = self.writer.write(&run).files.into_iter().next() else { return false };
        let own = Self::by(self.writer, &file.text);
        let (Some(settings), Some(plan)) = (own.settings(&file.text), plan_of(&file.text)) else {
            return false;
        };
        let target = (path.to_owned(), now.get(path).cloned());
        let changed = own
            .candidates(&file.text, &target, &settings)
            .into_iter()
            .map(|candidate| candidate.applied(&file.text))
            .find(|text| own.settings(text).is_some_and(|then| then.get(path) == now.get(path)));
        changed.is_some_and(|text| plan_of(&text).as_ref() != Some(&plan))
    }

    /// Axolotl's FSDP has recompute of its own (`fsdp_config`), which stands for that of the trainer: both
    /// cannot be on.
    fn recompute_of_fsdp(&self, now: &Settings, targets: &mut Vec<Target>) {
        const OF_TRAINER: &str = "gradient_checkpointing";
        let of_fsdp = ["fsdp_config.activation_checkpointing", "fsdp_config.fsdp_activation_checkpointing"];
        let Some(own) = of_fsdp.into_iter().find(|path| now.contains_key(*path)) else { return };
        if self.format != Format::HfTrainer {
            return;
        }
        let is_on = |values: Option<&Vec<String>>| values.is_some_and(|values| values == &["true"]);
        let Some(at) = targets.iter().position(|(path, _)| path == OF_TRAINER) else {
            return;
        };
        let (of_fsdp, of_trainer) = (is_on(now.get(own)), is_on(now.get(OF_TRAINER)));
        if of_fsdp || !of_trainer {
            // With both on, both are changed: the trainer's alone would still recompute.
            let values = if of_fsdp && of_trainer { targets[at].1.clone() } else { targets.remove(at).1 };
            if now.get(own) != values.as_ref() {
                targets.push((own.to_owned(), values));
            }
        }
    }

    fn literal(&self, values: &[String]) -> String {
        let text = values.first().map_or("", String::as_str);
        match self.syntax {
            // Values are kept as TOML writes them, which JSON reads as well.
            Syntax::Toml | Syntax::Json => text.to_owned(),
            Syntax::Yaml => {
                let bare = text.trim_matches('"');
                let is_plain = bare.starts_with(|c: char| c.is_ascii_alphabetic())
                    && bare.chars().all(|c| c.is_ascii_alphanumeric() || "_-./".contains(c))
                    && !matches!(bare, "true" | "false" | "null" | "yes" | "no" | "on" | "off");
                if is_plain { bare.to_owned() } else { text.to_owned() }
            }
        }
    }

    /// Position of a value after its key: `from..to` of the text.
    fn value_at(&self, text: &str, name: &str, line: usize) -> Option<(usize, usize, usize)> {
        let last = name.rsplit('.').next()?;
        let start = text.split_inclusive('\n').take(line.checked_sub(1)?).map(str::len).sum::<usize>();
        let end = text[start..].find('\n').map_or(text.len(), |length| start + length);
        let written = &text[start..end];
        let sign = if self.syntax == Syntax::Toml { '=' } else { ':' };
        let at = written.match_indices(last).find_map(|(at, _)| {
            let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
            let whole = !written[..at].ends_with(is_part);
            let rest = &written[at + last.len()..];
            let behind = rest.trim_start_matches(['"', '\'', ' ', '\t']).strip_prefix(sign)?;
            whole.then_some((at, written.len() - behind.len()))
        })?;
        let (key, behind) = (start + at.0, start + at.1);
        let from = behind + (text[behind..].len() - text[behind..].trim_start_matches([' ', '\t']).len());
        Some((key, from, self.end_of_value(text, from)))
    }

    fn end_of_value(&self, text: &str, from: usize) -> usize {
        let (mut depth, mut quote) = (0_usize, None);
        for (at, c) in text[from..].char_indices() {
            match (quote, c) {
                (Some(open), c) if c == open => quote = None,
                (None, '"' | '\'') => quote = Some(c),
                (None, '[' | '{') => depth += 1,
                (None, ']' | '}') if depth > 0 => depth -= 1,
                (None, ',' | '}' | ']' | '\n') if depth == 0 => return trimmed(text, from, from + at),
                (None, '#') if depth == 0 && self.syntax != Syntax::Json => {
                    return trimmed(text, from, from + at);
                }
                _ => {}
            }
        }
        trimmed(text, from, text.len())
    }

    /// The name of a new key in the version of a file: torchtitan of 2024 has its parallel sizes under
    /// `training` and `experimental`. `None` for keys that this version lacks.
    fn of_version(&self, tree: &Tree, path: &str) -> Option<String> {
        const SECTION: &str = "parallelism.";
        let names = tree.entries.iter().map(|entry| entry.name.as_str());
        if self.format == Format::Torchtitan && torchtitan::lacks(names, path) {
            return None;
        }
        let is_own = |entry: &Entry| entry.name.starts_with(SECTION);
        let is_older = |entry: &Entry| entry.path.starts_with(SECTION) && !is_own(entry);
        let is_new = !path.starts_with(SECTION) || !tree.entries.iter().any(is_older);
        if self.format != Format::Torchtitan || is_new || tree.entries.iter().any(is_own) {
            return Some(path.to_owned());
        }
        let has = |name: &str| {
            let section = name.split('.').next().unwrap_or_default();
            tree.entries.iter().any(|entry| entry.name.split('.').next() == Some(section))
        };
        torchtitan::OLDER.iter().find(|(old, new)| *new == path && has(old)).map(|(old, _)| (*old).to_owned())
    }

    fn added(&self, text: &str, tree: &Tree, path: &str, literal: &str) -> Vec<Splice> {
        let Some(path) = self.of_version(tree, path) else { return Vec::new() };
        let path = path.as_str();
        let (section, key) = path.rsplit_once('.').unwrap_or(("", path));
        let siblings = tree.entries.iter().filter(|entry| {
            entry.name.rsplit_once('.').map_or("", |(section, _)| section) == section && entry.spot.line > 0
        });
        let mut lines: Vec<usize> = siblings.map(|entry| entry.spot.line).collect();
        lines.sort_unstable();
        let mut out = Vec::new();
        for line in lines.iter().rev() {
            let start: usize = text.split_inclusive('\n').take(line - 1).map(str::len).sum();
            let written = text[start..].split('\n').next().unwrap_or_default();
            let indent: &str = &written[..written.len() - written.trim_start().len()];
            match self.syntax {
                Syntax::Toml => out.push(below(text, start, &format!("{indent}{key} = {literal}"))),
                Syntax::Yaml => out.push(below(text, start, &format!("{indent}{key}: {literal}"))),
                // Before a sibling, so that the comma is always right.
                Syntax::Json => {
                    let line = format!("{indent}\"{key}\": {literal},\n");
                    out.push(Splice::new(start, start, line));
                }
            }
        }
        match self.syntax {
            Syntax::Toml => {
                let gap = if text.ends_with('\n') { "" } else { "\n" };
                out.push(at_the_end(text, format!("{gap}\n[{section}]\n{key} = {literal}\n")));
            }
            Syntax::Yaml if !section.contains('.') => {
                let gap = if text.ends_with('\n') { "" } else { "\n" };
                out.push(at_the_end(text, format!("{gap}{section}:\n  {key}: {literal}\n")));
            }
            Syntax::Json if !section.contains('.') && !section.is_empty() => {
                if let Some(open) = text.find('{') {
                    let line = format!("\n  \"{section}\": {{\"{key}\": {literal}}},");
                    out.push(Splice::new(open + 1, open + 1, line));
                }
            }
            _ => {}
        }
        out
    }
}

/// The values of a plan that a text sets.
fn plan_of(text: &str) -> Option<BTreeMap<String, String>> {
    let launch = crate::read(text, "file")?.ok()?;
    let origins = launch.origins.into_iter().filter(|origin| origin.key.starts_with("plan."));
    Some(origins.map(|origin| (origin.key, origin.value)).collect())
}

/// Keys that are derived if a file leaves them open: torchtitan shards over all remaining ranks.
fn follows(path: &str, now: &Settings) -> bool {
    let is_open = now.get(path).and_then(|values| values.first()).is_none_or(|value| value == "-1");
    path == "parallelism.data_parallel_shard_degree" && is_open
}

/// A line below the one that starts at an offset.
fn below(text: &str, start: usize, line: &str) -> Splice {
    let end = text[start..].find('\n').map_or(text.len(), |length| start + length);
    Splice::new(end, end, format!("\n{line}"))
}

fn at_the_end(text: &str, with: String) -> Splice {
    Splice::new(text.len(), text.len(), with)
}

fn trimmed(text: &str, from: usize, to: usize) -> usize {
    from + text[from..to].trim_end().len()
}

fn settings(tree: &Tree) -> Settings {
    let shown = |data: &Data| match data {
        Data::Null => Some("null".to_owned()),
        Data::Table(_) => None,
        data => data.value().map(|value| value.to_toml()),
    };
    tree.entries.iter().filter_map(|entry| Some((entry.path.clone(), vec![shown(&entry.data)?]))).collect()
}

impl Language for Document {
    fn settings(&self, text: &str) -> Option<Settings> {
        self.tree(text, self.syntax).map(|tree| settings(&tree))
    }

    fn candidates(&self, text: &str, target: &Target, now: &Settings) -> Vec<Splice> {
        let (path, wanted) = target;
        let Some(tree) = self.tree(text, self.syntax) else { return Vec::new() };
        let entry = tree.get(path).filter(|_| now.contains_key(path));
        match (entry, wanted) {
            (Some(entry), Some(new)) => {
                let lines = [entry.spot.line, entry.spot.line.saturating_sub(1)];
                let at = lines.into_iter().filter_map(|line| self.value_at(text, &entry.name, line));
                at.map(|(_, from, to)| {
                    // An empty value of YAML has no space after its colon.
                    let gap =
                        if self.syntax == Syntax::Yaml && text[..from].ends_with(':') { " " } else { "" };
                    Splice::new(from, to, format!("{gap}{}", self.literal(new)))
                })
                .collect()
            }
            (Some(entry), None) => {
                let Some((key, _, to)) = self.value_at(text, &entry.name, entry.spot.line) else {
                    return Vec::new();
                };
                let start = text[..key].rfind('\n').map_or(0, |newline| newline + 1);
                let end = text[to..].find('\n').map_or(text.len(), |length| to + length + 1);
                // The last of an object leaves a comma before it.
                let before = text[..start].trim_end();
                let bare = before.strip_suffix(',').unwrap_or(before);
                vec![Splice::new(start, end, ""), Splice::new(bare.len(), end, "\n")]
            }
            (None, Some(new)) => self.added(text, &tree, path, &self.literal(new)),
            (None, None) => Vec::new(),
        }
    }

    fn spelled(&self, name: &str) -> String {
        name.to_owned()
    }

    fn refusal(&self, to: &Run) -> Option<String> {
        let refused = self.writer.write(&self.with_a_name(to)).refused;
        refused.first().map(|lost| format!("`{}`: {}", lost.key, lost.message))
    }

    fn targets(&self, from: &Run, to: &Run, now: &Settings, thorough: bool) -> Vec<Target> {
        // Without the model's own name only the differences between the two plans are known.
        let thorough = thorough && !self.has_no_name(to);
        let (before, after) = (self.of_run(&self.with_a_name(from)), self.of_run(&self.with_a_name(to)));
        let all: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
        let mut targets: Vec<Target> = all
            .into_iter()
            .filter(|path| {
                before.get(*path) != after.get(*path) || (thorough && now.get(*path) != after.get(*path))
            })
            .map(|path| (path.clone(), after.get(path).cloned()))
            .filter(|(path, values)| now.get(path) != values.as_ref())
            .filter(|(path, _)| thorough || !follows(path, now))
            .filter(|(path, _)| before.get(path) != after.get(path) || self.decides(to, path, now))
            .collect();
        self.recompute_of_fsdp(now, &mut targets);
        targets.sort_by_key(|(path, values)| (values.is_some(), !now.contains_key(path)));
        targets
    }
}
