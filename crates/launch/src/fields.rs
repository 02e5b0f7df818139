//! Transfers values of a configuration to a launch without loss.
//!
//! Responsible for: types of values with their errors, the line of every value, and the remaining keys: known
//! without effect, not modelled, unknown. Independent of frameworks: a reader provides a table of its keys.

use crate::document::{Data, Document, Entry};
use crate::{Draft, Format, Launch, RemarkKind, effects, tuned};
use railwright_spec::human::shorten;
use railwright_spec::model::by_name;
use railwright_spec::problem::{Place, Problem, nearest};
use railwright_spec::run::{Field, RunSpec, Value};
use std::collections::BTreeSet;

/// Maximum number of reported keys without effect, and of unknown keys, per file.
const MOST_REPORTED: usize = 200;

/// Values that a reader need not ask for: one rank, and a switch.
const NEUTRAL: [&str; 2] = ["1", "true"];
/// Keys that a reader asks for only if others are absent: classes, kinds of blocks, and lists of devices.
const BESIDE: [&str; 3] = ["_target_", "CUDA_VISIBLE_DEVICES", "decoder_block"];

/// Meaning of a framework's key for a plan.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Meaning {
    /// A run-file key with the same name and meaning.
    Key(&'static str),
    /// Handled by the reader's code.
    Read,
    /// Without effect on the time and memory of a step. The key may end in `.*` for a whole section.
    Ignored,
    /// Has an effect that the calculator cannot express, unless it has one of these values.
    Lost(&'static [&'static str], &'static str),
}

/// A key of a framework, with its meaning.
pub(crate) type Known = (&'static str, Meaning);

/// A configuration and the launch that it becomes.
pub(crate) struct Fields<'a> {
    /// Parsed document.
    pub(crate) document: Document,
    /// Draft of the launch made from it.
    pub(crate) draft: Draft,
    file: &'a str,
    text: &'a str,
}

impl<'a> Fields<'a> {
    pub(crate) fn new(format: Format, file: &'a str, text: &'a str, document: Document) -> Self {
        let mut draft = Draft::new(format, file);
        for (path, spot) in &document.repeated {
            let message = "occurs twice: the last one applies, as in PyYAML";
            draft.remark(RemarkKind::Conflict, path, spot.line(), message);
        }
        Self { document, draft, file, text }
    }

    /// The text of the file itself.
    pub(crate) fn text(&self) -> &str {
        self.text
    }

    /// The value of a key, which then counts as used. `null` is treated as absent.
    pub(crate) fn take(&mut self, path: &str) -> Option<Entry> {
        let mut last = None;
        for entry in self.document.entries.iter_mut().filter(|entry| entry.path == path) {
            entry.taken = true;
            last = Some(entry.clone());
        }
        last.filter(|entry| entry.data != Data::Null)
    }

    /// A whole number, negative ones included. `auto` leaves it open.
    pub(crate) fn integer(&mut self, path: &str) -> Option<i64> {
        let entry = self.take(path)?;
        match &entry.data {
            Data::Integer(n) => Some(*n),
            Data::Number(x) if x.fract() == 0.0 && x.abs() < 9e15 => Some(*x as i64),
            Data::Text(text) if text.trim() == "auto" => None,
            Data::Text(text) if text.trim().parse::<i64>().is_ok() => text.trim().parse().ok(),
            Data::Text(text) if is_placeholder(text) => {
                self.remark(RemarkKind::Unresolved, path, "is a placeholder, so it stays unset");
                None
            }
            _ => self.wrong(&entry, "a whole number"),
        }
    }

    /// A whole number from 0.
    pub(crate) fn count(&mut self, path: &str) -> Option<u64> {
        let entry = self.document.get(path).cloned();
        let n = self.integer(path)?;
        u64::try_from(n).ok().or_else(|| self.wrong(&entry?, "a whole number, 0 or more"))
    }

    /// The first of these keys with a whole number from 0, and its value.
    pub(crate) fn first_count<'p, const N: usize>(&mut self, paths: [&'p str; N]) -> Option<(&'p str, u64)> {
        paths.into_iter().find_map(|path| Some((path, self.count(path)?)))
    }

    /// A number.
    pub(crate) fn number(&mut self, path: &str) -> Option<f64> {
        let entry = self.take(path)?;
        match &entry.data {
            Data::Integer(n) => Some(*n as f64),
            Data::Number(x) if x.is_finite() => Some(*x),
            Data::Text(text) if text.trim() == "auto" => None,
            Data::Text(text) if text.trim().parse::<f64>().is_ok_and(f64::is_finite) => {
                text.trim().parse().ok()
            }
            _ => self.wrong(&entry, "a number"),
        }
    }

    /// True or false, including YAML's older words.
    pub(crate) fn flag(&mut self, path: &str) -> Option<bool> {
        let entry = self.take(path)?;
        match &entry.data {
            Data::Flag(flag) => Some(*flag),
            // Transformers' argument parser takes both.
            Data::Integer(n @ (0 | 1)) if self.draft.format() == Format::HfTrainer => Some(*n == 1),
            Data::Text(text) => match text.trim().to_ascii_lowercase().as_str() {
                "true" | "yes" | "on" => Some(true),
                "false" | "no" | "off" => Some(false),
                "auto" => None,
                _ => self.wrong(&entry, "`true` or `false`"),
            },
            _ => self.wrong(&entry, "`true` or `false`"),
        }
    }

    /// A text; numbers and flags count as the text that they were written as. `auto` leaves it open.
    pub(crate) fn word(&mut self, path: &str) -> Option<String> {
        let entry = self.take(path)?;
        match &entry.data {
            Data::Text(text) if text.trim() == "auto" => None,
            Data::Text(text) => Some(text.trim().to_owned()),
            Data::Integer(_) | Data::Number(_) | Data::Flag(_) => Some(entry.data.plain()),
            _ => self.wrong(&entry, "a string"),
        }
    }

    /// A list of texts; a single text is split at its commas.
    pub(crate) fn words(&mut self, path: &str) -> Option<Vec<String>> {
        let entry = self.take(path)?;
        let texts = |items: &[crate::document::Node]| {
            items
                .iter()
                .map(|item| match &item.data {
                    Data::Text(text) => Some(text.clone()),
                    _ => None,
                })
                .collect::<Option<Vec<_>>>()
        };
        match &entry.data {
            Data::List(items) => texts(items).or_else(|| self.wrong(&entry, "a list of strings")),
            Data::Text(text) => {
                Some(text.split(',').map(|word| word.trim().to_owned()).filter(|w| !w.is_empty()).collect())
            }
            _ => self.wrong(&entry, "a list of strings"),
        }
    }

    /// Tests whether a key is `auto`.
    pub(crate) fn is_auto(&self, path: &str) -> bool {
        self.document.get(path).is_some_and(|e| matches!(&e.data, Data::Text(text) if text.trim() == "auto"))
    }

    fn wrong<T>(&mut self, entry: &Entry, expected: &str) -> Option<T> {
        let found = match &entry.data {
            Data::Text(text) => format!("the text `{}`", shorten(text)),
            data => data.shown(),
        };
        self.problem(Problem::new(format!("expected {expected}, found {found}")), &entry.path.clone());
        None
    }

    /// Sets a key of a run file from a key of the configuration.
    pub(crate) fn set<T: Field>(&mut self, key: &str, value: &T, path: &str) {
        let (source, line) = self.source(path);
        self.draft.set(key, value, &source, line);
    }

    /// Sets a key of a run file that the configuration leaves to a default of the framework.
    pub(crate) fn default<T: Field>(&mut self, key: &str, value: &T, why: &str) {
        if self.draft.value(key).is_none() {
            self.draft.set(key, value, why, None);
        }
    }

    /// Degrees that a file does not set are 1, except those that are open.
    pub(crate) fn undivided(&mut self, framework: &str) {
        let why = format!("{framework} does not shard a model by default");
        for key in [
            "plan.tensor_parallel",
            "plan.pipeline_parallel",
            "plan.context_parallel",
            "plan.expert_parallel",
        ] {
            if !self.draft.is_open(key) {
                self.default(key, &1_u64, &why);
            }
        }
    }

    /// The value of a key, and its line.
    pub(crate) fn source(&self, path: &str) -> (String, Option<usize>) {
        match self.document.get(path) {
            Some(entry) => (format!("{} = {}", entry.name, entry.data.shown()), entry.spot.line()),
            None => (path.to_owned(), None),
        }
    }

    /// A remark about a key.
    pub(crate) fn remark(&mut self, kind: RemarkKind, path: &str, message: impl Into<String>) {
        let (source, line) = self.source(path);
        self.draft.remark(kind, &source, line, message);
    }

    /// A problem with a key.
    pub(crate) fn problem(&mut self, problem: Problem, path: &str) {
        let spot = self.document.get(path).map(|entry| entry.spot).unwrap_or_default();
        let text = spot.line().and_then(|line| self.text.lines().nth(line - 1));
        let place = Place {
            file: self.file.to_owned(),
            line: spot.line(),
            column: spot.line().filter(|_| spot.column > 0).map(|_| spot.column),
            key: Some(self.document.get(path).map_or(path, |entry| &entry.name).to_owned()),
            text: text.map(|text| text.chars().take(200).collect()),
        };
        self.draft.problem(Problem { place: Some(Box::new(place)), ..problem });
    }

    /// Sets the model of a Hugging Face identifier, or reports it as open.
    pub(crate) fn named_model(&mut self, path: &str, name: &str) {
        if let Ok(model) = by_name(name) {
            self.set("model.name", &model.name, path);
        } else if let Some(model) = tuned::base(name) {
            self.set("model.name", &model, path);
            let message = format!(
                "not in the catalogue; its name contains that of `{model}`, whose dimensions are assumed"
            );
            self.remark(RemarkKind::Assumed, path, message);
        } else {
            let (source, line) = self.source(path);
            self.draft.unknown_model(name, &source, line);
        }
    }

    /// Reads all keys with the same name and meaning as in a run file.
    pub(crate) fn copy(&mut self, known: &[Known]) {
        for (path, meaning) in known {
            let Meaning::Key(key) = meaning else { continue };
            let Some(entry) = self.take(path) else { continue };
            if matches!(&entry.data, Data::Text(text) if text.trim() == "auto") {
                continue;
            }
            let value = match entry.data.value() {
                // Words of a list of overrides, and YAML with quotes around all values.
                Some(Value::Text(text)) => Data::of_word(text.trim()).value(),
                value => value,
            };
            let (source, line) = self.source(path);
            match value {
                Some(value) => {
                    // Tried first, so that a complaint has column and text.
                    match RunSpec::default().set_at(key, &value, Place::default()) {
                        Ok(()) => self.draft.set_value(key, &value, &source, line),
                        Err(problem) => self.problem(Problem { place: None, ..problem }, path),
                    }
                }
                None => {
                    let _: Option<()> = self.wrong(&entry, "a value");
                }
            }
        }
    }

    /// Reports the unused keys.
    pub(crate) fn rest(&mut self, known: &[Known]) {
        let (taken, left): (Vec<Entry>, Vec<Entry>) =
            self.document.entries.iter().cloned().partition(|entry| entry.taken);
        // Sections with any relevant key.
        let used: BTreeSet<&str> = taken
            .iter()
            .flat_map(|entry| entry.path.match_indices('.').map(|(at, _)| &entry.path[..at]))
            .collect();
        let mut reported: BTreeSet<String> = BTreeSet::new();
        let mut unknown = 0;
        for entry in left {
            let (source, line) = (format!("{} = {}", entry.name, entry.data.shown()), entry.spot.line());
            let open =
                matches!(entry.data, Data::Null) || matches!(&entry.data, Data::List(l) if l.is_empty());
            match meaning(known, &entry.path) {
                Some((_, Meaning::Lost(neutral, why)))
                    if !open && !neutral.contains(&entry.data.plain().as_str()) =>
                {
                    self.draft.remark(RemarkKind::NotModelled, &source, line, why);
                }
                // A section without effect may have new keys with one.
                Some((pattern, Meaning::Ignored))
                    if pattern.ends_with(".*")
                        && !self.is_in_a_section_that_is_off(&entry.path)
                        && effects::named(last_of(&entry.path))
                        && !effects::is_off(&entry.data) =>
                {
                    let message = "unknown key whose name indicates an effect on time or memory: not read";
                    self.draft.remark(RemarkKind::Unknown, &source, line, message);
                }
                Some((pattern, Meaning::Ignored)) => {
                    // A section without effect is reported as a whole.
                    let section = pattern.strip_suffix(".*").filter(|section| !used.contains(section));
                    let shown = section.unwrap_or(&source);
                    if reported.len() < MOST_REPORTED && reported.insert(shown.to_owned()) {
                        let message = "without effect on the time and memory of a step";
                        self.draft.remark(RemarkKind::Ignored, shown, line, message);
                    }
                }
                // The reader knows the key and did not ask for it with the others.
                Some((_, Meaning::Read | Meaning::Key(_)))
                    if !effects::is_off(&entry.data)
                        && !NEUTRAL.contains(&entry.data.plain().as_str())
                        && !BESIDE.contains(&last_of(&entry.path))
                        && !self.is_in_a_section_that_is_off(&entry.path) =>
                {
                    let message =
                        "known, but not read in combination with the other settings: check its effect";
                    self.draft.remark(RemarkKind::Unknown, &source, line, message);
                }
                None if unknown < MOST_REPORTED => {
                    unknown += 1;
                    self.unknown(&entry, known);
                }
                _ => {}
            }
        }
    }

    /// Tests whether a section of a key has a switch that is off: `fp8_cfg.enabled: false`.
    fn is_in_a_section_that_is_off(&self, path: &str) -> bool {
        path.match_indices('.').any(|(at, _)| {
            ["enabled", "enable"].iter().any(|switch| {
                let switch = format!("{}.{switch}", &path[..at]);
                self.document.get(&switch).is_some_and(|entry| effects::is_off(&entry.data))
            })
        })
    }

    /// A key that may change a setting leaves it open: what another key states holds only without this one.
    fn may_change(&mut self, key: &str, entry: &Entry, why: &str) {
        let source = format!("{} = {}", entry.name, entry.data.shown());
        let line = entry.spot.line();
        self.draft.remark(
            RemarkKind::Unresolved,
            &source,
            line,
            format!("not read: {why}, so `{key}` stays unset"),
        );
        self.draft.leave_open(key, &source, line, why);
    }

    fn unknown(&mut self, entry: &Entry, known: &[Known]) {
        if let Some((key, why)) = effects::setting(&entry.path)
            && !effects::is_off(&entry.data)
            && !self.is_in_a_section_that_is_off(&entry.path)
        {
            return self.may_change(key, entry, why);
        }
        let split = |path: &'static str| path.rsplit_once('.').unwrap_or(("", path));
        let (parent, last) = entry.path.rsplit_once('.').unwrap_or(("", &entry.path));
        let names: Vec<(&str, &str, &str)> = known
            .iter()
            .filter(|(name, _)| !name.ends_with(".*"))
            .map(|(name, _)| (*name, split(name).0, split(name).1))
            .collect();
        // The nearest key of the same section, else an equal or similar name in another section.
        let beside = nearest(last, names.iter().filter(|n| n.1 == parent).map(|n| n.2)).first().copied();
        let near = match beside {
            Some(near) => names.iter().find(|n| n.1 == parent && n.2 == near),
            None => names.iter().find(|n| n.2 == last).or_else(|| {
                // Short names are similar to all others.
                let all = names.iter().map(|n| n.2).filter(|_| last.len() > 4);
                let near = nearest(last, all).first().copied()?;
                names.iter().find(|n| n.2 == near)
            }),
        };
        let message = match near {
            Some((name, ..)) => format!("unknown, ignored; did you mean `{name}`?"),
            None => "unknown, ignored".to_owned(),
        };
        let source = format!("{} = {}", entry.name, entry.data.shown());
        self.draft.remark(RemarkKind::Unknown, &source, entry.spot.line(), message);
    }

    /// The launch, or all errors.
    pub(crate) fn finish(self) -> Result<Launch, Vec<Problem>> {
        self.draft.finish()
    }
}

/// Tests whether a text stands for a value that the user or a template fills in: `TO_BE_FILLED`, `<gpus>`,
/// `{gpus}`, `{{ gpus }}`, `???`.
pub(crate) fn is_placeholder(text: &str) -> bool {
    let text = text.trim();
    let is_bracketed = (text.starts_with('<') && text.ends_with('>'))
        || text.starts_with("{{")
        || (text.starts_with('{') && text.ends_with('}') && !text.contains([':', ',']));
    let is_shouted =
        text.len() > 3 && text.contains('_') && text.bytes().all(|b| b.is_ascii_uppercase() || b == b'_');
    is_bracketed || is_shouted || text == "???"
}

/// The last part of a path.
fn last_of(path: &str) -> &str {
    path.rsplit('.').next().unwrap_or(path)
}

/// The table entry of a key, or that of its section.
fn meaning(known: &[Known], path: &str) -> Option<(&'static str, Meaning)> {
    let own = known.iter().find(|(name, _)| *name == path);
    let section = || {
        known.iter().find(|(name, _)| {
            name.strip_suffix(".*")
                .and_then(|section| path.strip_prefix(section))
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        })
    };
    own.or_else(section).copied()
}
