//! Questions as command lines.
//!
//! Responsible for: which commands may be asked, which flags may be set, and words in the order and spelling that the parser of the
//! terminal takes, so that a question means exactly what the command line does. Refuses flags that write, and whatever the parser refuses.

use crate::args::Arguments;
use clap::builder::ValueRange;
use clap::{Arg, ArgAction, Command, CommandFactory as _, FromArgMatches as _, ValueHint};
use railwright_network::topology::DesignSpec;
use railwright_server::{Question, Reply};
use railwright_spec::human;
use railwright_spec::problem::{Problem, did_you_mean};
use railwright_spec::run::{Key, Section as _, keys};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::{Mutex, OnceLock, PoisonError};

/// Commands that are about the terminal, or write files.
const NOT_ASKED: &[&str] = &["serve", "completions", "man", "init", "save", "export-perfetto", "help"];
/// Arguments that are about the terminal.
const NOT_SET: &[&str] = &["help", "version", "color", "ascii", "quiet", "format", "json"];
/// Commands whose answers are pages, too.
const PAGES: &[&str] = &["estimate", "profile"];
/// The most values of a list.
const MOST: usize = 10_000;

/// A question that can be answered.
pub(super) struct Line {
    pub(super) arguments: Arguments,
    /// What to type for the same.
    pub(super) command: String,
    /// The media type of the answer, if it can be known before.
    pub(super) media: Option<&'static str>,
}

/// All commands as the parser knows them, complete.
pub(super) fn commands() -> &'static Command {
    static COMMANDS: OnceLock<Command> = OnceLock::new();
    COMMANDS.get_or_init(|| {
        let mut commands = Arguments::command();
        commands.build();
        commands
    })
}

/// The commands below one that may be asked.
pub(super) fn asked(command: &Command) -> impl Iterator<Item = &Command> {
    command.get_subcommands().filter(|one| !NOT_ASKED.contains(&one.get_name()))
}

/// The arguments that a question may set.
pub(super) fn settable(command: &Command) -> impl Iterator<Item = &Arg> {
    command
        .get_arguments()
        .filter(|argument| !NOT_SET.contains(&argument.get_id().as_str()) && !writes(argument))
}

/// Whether an argument names something to write.
fn writes(argument: &Arg) -> bool {
    let is_path =
        matches!(argument.get_value_hint(), ValueHint::FilePath | ValueHint::DirPath | ValueHint::AnyPath);
    let is_output = argument.get_help_heading() == Some("Output");
    argument.get_action().takes_values()
        && ((is_path && is_output) || ["output", "figures"].contains(&argument.get_id().as_str()))
}

/// What an argument is called in a question.
pub(super) fn name_of(argument: &Arg) -> String {
    argument.get_long().map_or_else(|| argument.get_id().as_str().to_lowercase(), str::to_owned)
}

fn is_called(argument: &Arg, name: &str) -> bool {
    match argument.get_long() {
        Some(long) => {
            long == name || argument.get_all_aliases().is_some_and(|aliases| aliases.contains(&name))
        }
        None => argument.is_positional() && argument.get_id().as_str().eq_ignore_ascii_case(name),
    }
}

/// Parsers that are not in use: making one takes longer than most answers.
static SPARE: Mutex<Vec<Command>> = Mutex::new(Vec::new());

fn parse(words: &[String]) -> Result<Arguments, clap::Error> {
    let spare = SPARE.lock().unwrap_or_else(PoisonError::into_inner).pop();
    let mut parser = spare.unwrap_or_else(|| commands().clone());
    let parsed =
        parser.try_get_matches_from_mut(words).and_then(|matches| Arguments::from_arg_matches(&matches));
    SPARE.lock().unwrap_or_else(PoisonError::into_inner).push(parser);
    parsed
}

/// A question in words for the parser.
pub(super) struct Asked {
    /// The words.
    pub(super) parsed: Vec<String>,
    command: String,
    media: Option<&'static str>,
}

impl Asked {
    /// What the words mean.
    pub(super) fn parse(&self) -> Result<Line, Reply> {
        let command = self.command.clone();
        match parse(&self.parsed) {
            Ok(arguments) => Ok(Line { arguments, command, media: self.media }),
            Err(error) => Err(Reply::Problems { problems: vec![told(&error)], command }),
        }
    }
}

/// The words of a question, or why there are none.
pub(super) fn of(question: &Question) -> Result<Asked, Reply> {
    let command = find(&question.command)?;
    let mut words = Words::default();
    for word in std::iter::once("railwright").chain(question.command.iter().map(String::as_str)) {
        words.parsed.push(word.to_owned());
        words.typed.push(word.to_owned());
    }
    let mut problems = words.arguments(command, question);
    let (media, flags) = match voice(command, question.format.as_deref()) {
        Ok(voice) => voice,
        Err(problem) => {
            problems.push(problem);
            (None, Vec::new())
        }
    };
    let command = words.shown(&flags);
    if !problems.is_empty() {
        return Err(Reply::Problems { problems, command });
    }
    let Words { mut parsed, mut positional, .. } = words;
    parsed.extend(flags);
    if !positional.is_empty() {
        parsed.push("--".to_owned());
        parsed.append(&mut positional);
    }
    Ok(Asked { parsed, command, media })
}

fn find(path: &[String]) -> Result<&'static Command, Reply> {
    let mut command = commands();
    for word in path {
        let Some(inner) = asked(command).find(|one| one.get_name() == word) else {
            let names: Vec<&str> = asked(command).map(Command::get_name).collect();
            let list = format!("there are {}", names.join(", "));
            let hint = did_you_mean(word, names.iter().copied(), &list);
            let word = human::shorten(word);
            return Err(Reply::Unknown(Problem::new(format!("no question is called `{word}`")).hint(hint)));
        };
        command = inner;
    }
    if command.get_subcommands().next().is_some() || path.is_empty() {
        let names: Vec<&str> = asked(command).map(Command::get_name).collect();
        let problem = Problem::new(format!("`{}` needs another word", path.join("/")));
        return Err(Reply::Unknown(problem.hint(format!("there are {}", names.join(", ")))));
    }
    Ok(command)
}

/// Flags for the form of an answer, and its media type as far as the form decides it.
fn voice(command: &Command, format: Option<&str>) -> Result<(Option<&'static str>, Vec<String>), Problem> {
    let format = format.unwrap_or("json");
    let has = |name: &str| command.get_arguments().find(|argument| argument.get_id() == name);
    let media = match format {
        "json" | "columns" => Some("application/json"),
        "csv" => Some("text/csv; charset=utf-8"),
        "md" => Some("text/markdown; charset=utf-8"),
        "svg" => Some("image/svg+xml"),
        "html" => Some("text/html; charset=utf-8"),
        _ => Some("text/plain; charset=utf-8"),
    };
    let formats = has("format").map(Arg::get_possible_values).unwrap_or_default();
    if formats.iter().any(|value| value.matches(format, false)) {
        return Ok((media, vec![format!("--format={format}")]));
    }
    if has(format).is_some_and(|flag| matches!(flag.get_action(), ArgAction::SetTrue)) {
        return Ok((media, vec![format!("--{format}")]));
    }
    // What has one form alone is printed in it.
    if format == "json" || (format == "table" && formats.is_empty()) {
        return Ok((None, Vec::new()));
    }
    let names = forms(command);
    let problem = Problem::new(format!("`{}` has no form `{}`", command.get_name(), human::shorten(format)));
    let list =
        if names.is_empty() { "leave it out".to_owned() } else { format!("there are {}", names.join(", ")) };
    Err(problem.at_key("format").hint(did_you_mean(format, names.iter().map(String::as_str), &list)))
}

/// The forms of a command's answer that can be asked for by name; none if it has one alone.
pub(super) fn forms(command: &Command) -> Vec<String> {
    let has = |name: &str| command.get_arguments().find(|argument| argument.get_id() == name);
    let formats = has("format").map(Arg::get_possible_values).unwrap_or_default();
    let mut names: Vec<String> = formats.iter().map(|value| value.get_name().to_owned()).collect();
    // Every command takes the word, but only some have a page.
    names.retain(|name| name != "html" || PAGES.contains(&command.get_name()));
    for flag in ["json", "svg"] {
        let is_flag = has(flag).is_some_and(|argument| !argument.get_action().takes_values());
        if is_flag && !names.iter().any(|name| name == flag) {
            names.push(flag.to_owned());
        }
    }
    names
}

/// The media type of an answer that has one form alone.
pub(super) fn media_of(text: &str) -> &'static str {
    if text.starts_with(['{', '[']) { "application/json" } else { "text/plain; charset=utf-8" }
}

/// The parser's complaint as a problem.
fn told(error: &clap::Error) -> Problem {
    let text = error.to_string();
    let mut parts = text.split("\n\n");
    let first = parts.next().unwrap_or_default().trim_start_matches("error: ");
    let message = first.split_whitespace().collect::<Vec<_>>().join(" ");
    let hint = parts.find_map(|part| part.trim().strip_prefix("tip: "));
    let mut problem = Problem::new(message);
    if let Some(hint) = hint {
        problem = problem.hint(hint.split_whitespace().collect::<Vec<_>>().join(" "));
    }
    problem
}

/// The words of a command line: for the parser, and for people.
#[derive(Default)]
struct Words {
    parsed: Vec<String>,
    positional: Vec<String>,
    typed: Vec<String>,
    typed_flags: Vec<String>,
}

impl Words {
    /// Puts the arguments of a question into words.
    fn arguments(&mut self, command: &Command, question: &Question) -> Vec<Problem> {
        let mut problems = Vec::new();
        let mut given: Vec<(&Arg, &str, &Value)> = Vec::new();
        for (name, value) in &question.arguments {
            if value.is_null() {
                continue;
            }
            match command.get_arguments().find(|argument| is_called(argument, name)) {
                Some(argument) if settable(command).any(|one| one.get_id() == argument.get_id()) => {
                    if given.iter().any(|(known, ..)| known.get_id() == argument.get_id()) {
                        let message = format!("`{}` is said twice, by different names", name_of(argument));
                        problems.push(Problem::new(message).at_key(human::shorten(name)));
                    }
                    given.push((argument, name, value));
                }
                Some(argument) => problems.push(refused(argument, name)),
                None => problems.push(unknown(command, name)),
            }
        }
        let mut missing = None;
        for argument in command.get_positionals() {
            let value = given
                .iter()
                .find(|(known, ..)| known.get_id() == argument.get_id())
                .map(|(.., value)| *value);
            let texts = value.map(|value| texts(argument, value)).transpose();
            match texts {
                Ok(None) => missing = missing.or(Some(argument)),
                Ok(Some(texts)) if texts.is_empty() => missing = missing.or(Some(argument)),
                Ok(Some(texts)) => {
                    if let Some(missing) = missing {
                        let message =
                            format!("`{}` must be said where `{}` is", name_of(missing), name_of(argument));
                        problems.push(Problem::new(message).at_key(name_of(missing)));
                    }
                    self.typed.extend(texts.iter().map(|text| shown(text)));
                    self.positional.extend(texts);
                }
                Err(problem) => problems.push(problem),
            }
        }
        for (argument, name, value) in given {
            if !argument.is_positional() {
                match flag(argument, name, value) {
                    Ok(words) => {
                        for word in words {
                            self.typed_flags.extend(typed(argument, &word));
                            self.parsed.push(word);
                        }
                    }
                    Err(problem) => problems.push(problem),
                }
            }
        }
        problems
    }

    /// What to type.
    fn shown(&self, voice: &[String]) -> String {
        let mut words = self.typed.clone();
        // A word that begins like a flag is told from one behind two dashes.
        let split = words.iter().position(|word| word.starts_with('-'));
        let after = split.map(|at| words.split_off(at));
        words.extend(self.typed_flags.iter().cloned());
        words.extend(voice.iter().filter(|flag| !flag.ends_with("json")).cloned());
        if let Some(after) = after {
            words.push("--".to_owned());
            words.extend(after);
        }
        words.join(" ")
    }
}

fn refused(argument: &Arg, name: &str) -> Problem {
    let problem = if writes(argument) {
        Problem::new("nothing is written through the server")
            .hint("leave it out: the answer is what comes back")
    } else if matches!(argument.get_id().as_str(), "format" | "json") {
        Problem::new("the form of the answer stands beside the arguments")
            .hint("such as `\"format\": \"csv\"`")
    } else {
        Problem::new("this is about the terminal").hint("leave it out")
    };
    problem.at_key(human::shorten(name))
}

fn unknown(command: &Command, name: &str) -> Problem {
    let mut names: Vec<String> = settable(command).map(name_of).collect();
    names.extend(
        settable(command).flat_map(|one| one.get_visible_aliases().unwrap_or_default()).map(str::to_owned),
    );
    let list = format!("`railwright {} --help` lists them", command.get_name());
    let hint = did_you_mean(name, names.iter().map(String::as_str), &list);
    Problem::new(format!("`{}` has no argument of this name", command.get_name()))
        .at_key(human::shorten(name))
        .hint(hint)
}

/// A flag with its values as words for the parser.
fn flag(argument: &Arg, long: &str, value: &Value) -> Result<Vec<String>, Problem> {
    let takes_none = !argument.get_action().takes_values();
    let may_be_bare =
        takes_none || argument.get_num_args().is_some_and(|range: ValueRange| range.min_values() == 0);
    match value {
        Value::Bool(true) if may_be_bare => Ok(vec![format!("--{long}")]),
        Value::Bool(false) if takes_none => Ok(Vec::new()),
        // Of a flag with three states, `false` is one: not said is the third.
        Value::Bool(truth) if argument.is_require_equals_set() || !may_be_bare => {
            Ok(vec![format!("--{long}={truth}")])
        }
        Value::Bool(_) => Ok(Vec::new()),
        Value::Array(list) if list.is_empty() => Ok(Vec::new()),
        _ if takes_none => Err(Problem::new("expected true or false").at_key(long)),
        value => {
            let texts = texts(argument, value)?;
            // A key has one value, which may be a list; at the terminal, of keys said twice the last one counts.
            let words =
                if value.is_array() && key_of(argument).is_some() { vec![texts.join(",")] } else { texts };
            Ok(words.into_iter().map(|text| format!("--{long}={text}")).collect())
        }
    }
}

/// The key of a run file or a design that an argument stands for, if it is one.
pub(super) fn key_of(argument: &Arg) -> Option<&'static Key> {
    static KEYS: OnceLock<BTreeMap<String, Key>> = OnceLock::new();
    let keys = KEYS.get_or_init(|| {
        keys().into_iter().chain(DesignSpec::KEYS.iter().cloned()).map(|key| (key.path(), key)).collect()
    });
    keys.get(argument.get_id().as_str())
}

/// The values of an argument as text.
fn texts(argument: &Arg, value: &Value) -> Result<Vec<String>, Problem> {
    let one = |value: &Value| match value {
        Value::String(text) if text.contains('\0') => {
            Err(Problem::new("a text holds a zero byte").at_key(name_of(argument)))
        }
        Value::String(text) => Ok(text.clone()),
        Value::Number(number) => Ok(number.to_string()),
        _ => Err(Problem::new("expected a text, a number, or a list of these").at_key(name_of(argument))),
    };
    match value {
        Value::Array(list) if list.len() > MOST => {
            Err(Problem::new(format!("a list has at most {MOST} values")).at_key(name_of(argument)))
        }
        Value::Array(list) => list.iter().map(one).collect(),
        value => one(value).map(|text| vec![text]),
    }
}

/// A word of the parser's as people type it.
fn typed(argument: &Arg, word: &str) -> Vec<String> {
    match word.split_once('=') {
        Some((flag, value))
            if !argument.is_require_equals_set() && !value.starts_with('-') && !value.is_empty() =>
        {
            vec![flag.to_owned(), shown(value)]
        }
        Some((flag, value)) => vec![format!("{flag}={}", shown(value))],
        None => vec![word.to_owned()],
    }
}

/// A word as a shell takes it. Uploaded files stand with their own names.
fn shown(word: &str) -> String {
    let upload = word.strip_prefix(crate::input::access::UPLOAD).and_then(|rest| rest.split_once('/'));
    let word = upload.map_or(word, |(_, name)| name);
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}
