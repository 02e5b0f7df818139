//! Shell scripts that start MaxText: the overrides after `train.py`, with the values of the script's
//! variables.
//!
//! Responsible for: the command with the most of MaxText's keys, even if it is text of a variable or of an
//! option. Overrides without a value in the script stay open. Of several runs the last is read, with a
//! remark. Excludes programs that train nothing.

use super::keys::knows;
use crate::context::Sources;
use crate::document::{self, Data, Document, Entry, Spot};
use crate::shell::{self, Word};
use crate::{Context, Draft, RemarkKind};
use railwright_spec::problem::Problem;

/// Minimum number of MaxText's keys in a command of it.
const FEWEST: usize = 2;

/// The overrides of a script.
#[derive(Debug)]
pub(super) struct Overrides {
    pub(super) document: Document,
    sources: Sources,
    /// Overrides without a value.
    open: Vec<(String, usize)>,
    /// Parts that the shell leaves undecided: loops of several iterations, missing files.
    undecided: Vec<(usize, String, String)>,
    /// The configuration that the command names and that was not read: its text and line.
    unread: Option<(String, usize)>,
    /// A base file that could not be opened, with its line.
    assumed: Option<(String, usize)>,
}

/// The overrides with which a script starts MaxText's training; `None` for a text that is not a script of it.
pub(super) fn read(text: &str, file: &str, context: &Context<'_>) -> Result<Option<Overrides>, Problem> {
    let script = shell::read(text, file, context, |_| Vec::new());
    let all: Vec<Vec<Word>> = script
        .commands
        .iter()
        .map(|command| pieces(&command.words))
        .chain(script.variables.values().map(|words| pieces(words)))
        .filter(|words| count(words) >= FEWEST)
        .collect();
    let is_other = all.iter().any(|words| starts(words) == Some(false));
    // The words of a variable start nothing if a command starts a program of a different kind.
    let found: Vec<&Vec<Word>> = all.iter().filter(|words| starts(words).unwrap_or(!is_other)).collect();
    if found.is_empty() && is_other {
        return Err(Problem::new("no command in this file starts MaxText's training").in_file(file));
    }
    let Some(most) = found.iter().map(|words| count(words)).max() else { return Ok(None) };
    let Some(words) = found.iter().rev().find(|words| count(words) == most) else { return Ok(None) };
    let (mut document, mut open) = (Document::default(), Vec::new());
    let mut sources = script.sources;
    for word in *words {
        let Some((name, value)) = assignment(word) else { continue };
        let spot = Spot { line: word.line, column: 0 };
        let data = if word.unknown.is_empty() && value.is_empty() {
            // A variable of the environment that is not given, unless the file itself has an empty value.
            let is_literal = ["\"\"", "''"].iter().any(|empty| {
                let written = format!("{name}={empty}");
                sources.around(word.line).first().is_some_and(|(text, first)| {
                    text.lines()
                        .nth(word.line.saturating_sub(*first))
                        .is_some_and(|line| line.contains(&written))
                })
            });
            if knows(name) && !is_literal {
                open.push((word.text.clone(), word.line));
            }
            continue;
        } else if word.unknown.is_empty() {
            Data::of_word(value.trim_matches(['"', '\'']))
        } else if knows(name) {
            open.push((word.text.clone(), word.line));
            // `auto` keeps a value open, so that no default is stated for it.
            Data::Text("auto".to_owned())
        } else {
            continue;
        };
        document.entries.push(Entry::new(name.to_owned(), data, spot));
    }
    let (mut undecided, mut unread, mut assumed) = (script.open, None, None);
    let is_file = |word: &&Word| {
        let path = std::path::Path::new(&word.text);
        path.extension().is_some_and(|ending| ending == "yml") && assignment(word).is_none()
    };
    if let Some(config) = words.iter().find(is_file) {
        let mut own = None;
        if config.text.ends_with("base.yml") {
            // Forks change it. Its lines are not those of the script.
            own = context.open(&config.text, file).ok();
            // A model by name has the dimensions of its own file.
            let is_assumed = own.is_none() && !document.has("model_name");
            assumed = is_assumed.then(|| (config.text.clone(), config.line));
        } else {
            match context.open(&config.text, file) {
                Ok((name, text)) => below(&mut document, &text, &name, &mut sources)?,
                Err(why) => {
                    let message = format!("its settings are not read: {why}");
                    undecided.push((config.line, config.text.clone(), message));
                    unread = Some((config.text.clone(), config.line));
                }
            }
        }
        if undecided.is_empty() || config.text.ends_with("base.yml") {
            let own = own.map(|(name, text)| document::yaml(&text, &name)).transpose()?;
            super::base::fill(&mut document, own.as_ref());
        }
    }
    Ok(Some(Overrides { document, sources, open, undecided, unread, assumed }))
}

impl Overrides {
    /// Reports overrides without a value.
    pub(super) fn remark(&self, draft: &mut Draft) {
        draft.lines_of(self.sources.clone());
        for (word, line) in &self.open {
            let message = "no value in this file, so it stays unset";
            draft.remark(RemarkKind::Unresolved, word, Some(*line), message);
        }
        for (line, what, why) in &self.undecided {
            draft.remark(RemarkKind::Unresolved, what, Some(*line), why.clone());
        }
        if let Some((path, line)) = &self.assumed {
            let message =
                "cannot be opened: settings and dimensions without an override have MaxText's own values";
            draft.remark(RemarkKind::Assumed, path, Some(*line), message);
        }
        if let Some((path, line)) = &self.unread {
            // Defaults of the base file would stand for settings of this one.
            for (_, key) in OF_FILE.iter().filter(|(path, _)| self.document.get(path).is_none()) {
                draft.leave_open(key, path, Some(*line), "it is set in another file");
            }
        }
    }
}

/// Settings with a default in MaxText's base file.
const OF_FILE: [(&str, &str); 4] = [
    ("remat_policy", "plan.recompute"),
    ("hardware", "plan.software"),
    ("per_device_batch_size", "plan.micro_batch"),
    ("max_target_length", "plan.sequence_length"),
];

/// Adds the keys of the file that a command names; overrides have priority.
fn below(document: &mut Document, text: &str, name: &str, sources: &mut Sources) -> Result<(), Problem> {
    let base = sources.add(name, text);
    for mut entry in document::yaml(text, name)?.entries {
        if document.get(&entry.path).is_none() {
            entry.spot.line += base.saturating_sub(1);
            document.entries.push(entry);
        }
    }
    Ok(())
}

/// Words, and the words inside those that contain a whole command.
fn pieces(words: &[Word]) -> Vec<Word> {
    words
        .iter()
        .flat_map(|word| {
            // A computed value, such as `$(( 8 * $N ))`, is one word.
            let mut text = word.text.clone();
            for unknown in word.unknown.iter().filter(|unknown| unknown.text.contains(char::is_whitespace)) {
                let short: String = unknown.text.split_whitespace().collect();
                text = text.replace(&unknown.text, &short);
            }
            let is_command = text.trim().contains(char::is_whitespace) && text.contains('=');
            let parts: Vec<&str> =
                if is_command { text.split_whitespace().collect() } else { vec![text.as_str()] };
            parts
                .into_iter()
                .map(|part| Word {
                    text: part.to_owned(),
                    line: word.line,
                    unknown: word.unknown.iter().filter(|unknown| holds(part, unknown)).cloned().collect(),
                })
                .collect::<Vec<_>>()
        })
        .collect()
}

/// Tests whether words start training rather than another program of MaxText. `None` if they name no program
/// of it.
fn starts(words: &[Word]) -> Option<bool> {
    let programs = words.iter().filter(|word| {
        let text = word.text.to_ascii_lowercase();
        !text.contains('=') && text.contains("maxtext") && !text.contains(".yml")
    });
    let names: Vec<String> = programs.map(|word| word.text.to_ascii_lowercase()).collect();
    // Programs without the package's name in their path: `../../inference_microbenchmark.py`.
    let serves = |word: &&Word| {
        let name = word.text.rsplit('/').next().unwrap_or_default();
        !name.contains('=')
            && name.strip_suffix(".py").is_some_and(|stem| stem.starts_with("inference") || stem == "decode")
    };
    if words.iter().any(|word| serves(&word)) {
        return Some(false);
    }
    (!names.is_empty()).then(|| {
        names.iter().any(|name| {
            name.rsplit(['.', '/']).take(3).any(|part| part.starts_with("train") || part == "sft_trainer")
        })
    })
}

fn holds(part: &str, unknown: &shell::Unknown) -> bool {
    let short: String = unknown.text.split_whitespace().collect();
    part.contains(&unknown.text) || part.contains(&short)
}

fn assignment(word: &Word) -> Option<(&str, &str)> {
    let (name, value) = word.text.trim_matches(['"', '\'']).split_once('=')?;
    (!name.is_empty() && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_'))
        .then_some((name, value))
}

fn count(words: &[Word]) -> usize {
    words.iter().filter(|word| assignment(word).is_some_and(|(name, _)| knows(name))).count()
}
