//! Environment variables that reach a program: exported ones, those before a command, and those of its
//! launcher or container.
//!
//! Responsible for: remarks on all that no reader and no estimate uses, so that none of them is taken as
//! read. Variables of a framework belong to its reader.

mod known;

use crate::shell::{Command, Exported, Script};
use crate::{Launch, Remark, RemarkKind, effects};
use std::collections::BTreeSet;

/// Names that are listed; the rest is counted.
const SHOWN: usize = 12;

/// Lists the variables of a text that are not modelled, and those of a script that nothing reads.
pub(crate) fn note(launch: &mut Launch, text: &str, script: Option<&Script>) {
    let mut remarks = match script {
        Some(script) => of_script(launch, script),
        None => of_document(text),
    };
    if !remarks.is_empty() {
        remarks.retain(|remark| !launch.remarks.contains(remark));
        launch.remarks.extend(remarks);
        launch.remarks.sort_by_key(|remark| (remark.kind, remark.line));
    }
}

/// The effect of a value of a variable, if an estimate lacks it.
fn effect(name: &str, value: &str) -> Option<&'static str> {
    // Every device's runtime has such a switch of its own: CUDA, HIP, Ascend, MUSA.
    let wanted = if name.ends_with("_LAUNCH_BLOCKING") { "CUDA_LAUNCH_BLOCKING" } else { name };
    let known = known::EFFECTS.iter().find(|known| known.name == wanted)?;
    // Dumps of XLA cost no step.
    let is_dump = name == "XLA_FLAGS" && value.split_whitespace().all(|flag| flag.starts_with("--xla_dump"));
    (!known.usual.contains(&value) && !is_dump).then_some(known.why)
}

fn of_script(launch: &Launch, script: &Script) -> Vec<Remark> {
    let mut remarks = Vec::new();
    let mut unread = Names::default();
    let mut uncertain = Names::default();
    let of_words: Vec<Exported> = script.commands.iter().flat_map(of_command).collect();
    for set in script.environment.iter().chain(&of_words) {
        let value = set.value.as_deref().unwrap_or("?").trim();
        let (file, line) = script.sources.place(set.line);
        let mut remark = |kind: RemarkKind, message: &str| {
            let source = format!("{}={value}", set.name);
            let remark =
                Remark { kind, source, line: Some(line), message: message.to_owned(), file: file.clone() };
            if !remarks.contains(&remark) {
                remarks.push(remark);
            }
        };
        let is_read = is_read(launch, script, &set.name);
        if let Some(why) = effect(&set.name, value) {
            remark(RemarkKind::NotModelled, why);
        } else if !is_read && known::is_uncertain(&set.name) {
            // Also zero: it switches off what a library would decide by itself.
            uncertain.add(format!("`{}={value}`", set.name), file.clone(), line);
        } else if !is_read && !is_off(value) {
            if effects::named(&set.name) {
                remark(
                    RemarkKind::Unknown,
                    "a variable whose name indicates an effect on time or memory: not read",
                );
            } else {
                unread.add(format!("`{}`", set.name), file.clone(), line);
            }
        }
    }
    remarks.extend(uncertain.remark(RemarkKind::NotModelled, |names| {
        format!("may change collectives or kernels, by an amount that is not modelled: {names}")
    }));
    remarks.extend(unread.remark(RemarkKind::Unknown, |names| {
        format!("set for the program and not read: {names}; check that none changes time or memory")
    }));
    remarks
}

/// Variables that one remark lists, with the place of the first.
#[derive(Default)]
struct Names {
    names: BTreeSet<String>,
    first: Option<(Option<String>, usize)>,
}

impl Names {
    fn add(&mut self, name: String, file: Option<String>, line: usize) {
        self.first.get_or_insert((file, line));
        self.names.insert(name);
    }

    fn remark(self, kind: RemarkKind, message: impl Fn(&str) -> String) -> Option<Remark> {
        let (file, line) = self.first?;
        let more = self.names.len().saturating_sub(SHOWN);
        let names: Vec<String> = self.names.into_iter().take(SHOWN).collect();
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let message = message(&format!("{}{more}", names.join(", ")));
        Some(Remark { kind, source: "the environment".to_owned(), line: Some(line), message, file })
    }
}

fn is_off(value: &str) -> bool {
    effects::is_off(&crate::document::Data::of_word(value))
}

/// Tests whether a variable is known without an effect here, used by the script itself, or named in the
/// result.
fn is_read(launch: &Launch, script: &Script, name: &str) -> bool {
    if known::is_harmless(name) || known::EFFECTS.iter().any(|known| known.name == name) {
        return true;
    }
    let is_named = |text: &str| text.match_indices(name).any(|(at, _)| is_whole(text, at, name.len()));
    script.sources.texts().any(|text| uses(text, name))
        || script.substitutions.iter().any(|command| command.passes(name))
        || launch.origins.iter().any(|origin| is_named(&origin.source))
        || launch.open.iter().any(|open| is_named(&open.source) || is_named(&open.why))
        || launch.remarks.iter().any(|remark| is_named(&remark.source))
}

fn is_whole(text: &str, at: usize, length: usize) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    !text[..at].ends_with(is_part) && !text[at + length..].starts_with(is_part)
}

/// Tests whether a script uses a variable: `$NAME`, `${NAME...}`, or in arithmetic.
fn uses(text: &str, name: &str) -> bool {
    text.match_indices(name).filter(|(at, _)| is_whole(text, *at, name.len())).any(|(at, _)| {
        let before = &text[..at];
        let start = before.rfind('\n').map_or(0, |newline| newline + 1);
        before.ends_with(['$', '!']) || before.ends_with("${") || text[start..at].contains("((")
    })
}

/// Variables in the words of a command: `docker run -e NAME=value`, `mpirun -x NAME=value`, `env NAME=value`,
/// `srun --export=ALL,NAME=value`, and Ray's `--runtime-env-json`.
fn of_command(command: &Command) -> Vec<Exported> {
    let mut found = Vec::new();
    let mut add = |text: &str, line: usize| {
        let Some((name, value)) = text.split_once('=') else { return };
        let is_name = !name.is_empty()
            && name.starts_with(|c: char| c.is_ascii_uppercase() || c == '_')
            && name.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_');
        if is_name {
            let value = value.trim_matches(['"', '\'']);
            let value = (!value.contains('$')).then(|| value.to_owned());
            found.push(Exported { name: name.to_owned(), value, line });
        }
    };
    let words = &command.words;
    let mut is_environment = false;
    for (at, word) in words.iter().enumerate() {
        let text = word.text.as_str();
        let before = at.checked_sub(1).map_or("", |at| words[at].text.as_str());
        is_environment = matches!(before.rsplit('/').next(), Some("env"))
            || (is_environment && before.contains('='))
            || matches!(before, "-e" | "-x" | "--env" | "--export" | "--environment");
        if is_environment {
            text.split(',').for_each(|pair| add(pair, word.line));
        } else if let Some(pairs) =
            ["--env=", "--export=", "--environment="].iter().find_map(|flag| text.strip_prefix(flag))
        {
            pairs.split(',').for_each(|pair| add(pair, word.line));
        }
    }
    if let Some(at) = words.iter().position(|word| word.text.starts_with("--runtime-env-json")) {
        // The text has nested quotes, and may be several words.
        let end = words.iter().skip(at + 1).position(|word| word.text.starts_with("--"));
        let text = words[at..].iter().take(end.map_or(usize::MAX, |end| end + 1));
        let text: Vec<&str> = text.map(|word| word.text.as_str()).collect();
        for pair in text.join(" ").split([',', '{', '}']) {
            let bare = |part: &str| part.trim_matches([' ', '\n', '"', '\'', '\\']).to_owned();
            if let Some((name, value)) = pair.split_once(':') {
                add(&format!("{}={}", bare(name), bare(value)), words[at].line);
            }
        }
    }
    found
}

/// Variables with an effect in a file of settings: `NAME: value` of a section of variables.
fn of_document(text: &str) -> Vec<Remark> {
    let pair = |line: &str| {
        let (name, value) = line.trim().trim_start_matches("- ").split_once([':', '='])?;
        let bare = |text: &str| text.trim().trim_matches(['"', '\'', ',']).to_owned();
        Some((bare(name), bare(value.split(" #").next().unwrap_or_default())))
    };
    let mut remarks = Vec::new();
    for (index, line) in text.lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with('#')) {
        let Some((name, value)) = pair(line) else { continue };
        if let Some(why) = effect(&name, &value) {
            remarks.push(Remark {
                kind: RemarkKind::NotModelled,
                source: format!("{name}={value}"),
                line: Some(index + 1),
                message: why.to_owned(),
                file: None,
            });
        }
    }
    remarks
}
