//! Arguments as words: for the parser, and in the user's spelling.
//!
//! Responsible for: conversion of values to text, in an order and spelling in which no value can be parsed as
//! a flag. Values of a kind other than the argument's, and arguments that may not be set, are errors.

use super::offered::{is_called, name_of};
use super::program::{Caller, Interface};
use crate::desk::{Question, UPLOAD};
use clap::builder::ValueRange;
use clap::{Arg, ArgAction, Command};
use railwright_spec::human;
use railwright_spec::problem::{Problem, did_you_mean};
use serde_json::Value;

/// Maximum number of values in a list.
const MOST: usize = 10_000;

/// Maximum number of arguments of a request: more than any command has.
const MOST_ARGUMENTS: usize = 400;

/// The words of a command line: for the parser, and in the user's spelling.
#[derive(Default)]
pub(super) struct Words {
    pub(super) parsed: Vec<String>,
    pub(super) positional: Vec<String>,
    pub(super) typed: Vec<String>,
    typed_flags: Vec<String>,
}

impl Interface {
    /// Converts the arguments of a request to words.
    pub(super) fn arguments(
        &self,
        words: &mut Words,
        command: &Command,
        (question, caller): (&Question, Caller),
    ) -> Vec<Problem> {
        let mut problems = Vec::new();
        if question.arguments.len() > MOST_ARGUMENTS {
            return vec![Problem::new(format!("a request has at most {MOST_ARGUMENTS} arguments"))];
        }
        let mut given: Vec<(&Arg, &str, &Value)> = Vec::new();
        for (name, value) in &question.arguments {
            if value.is_null() {
                continue;
            }
            match command.get_arguments().find(|argument| is_called(argument, name)) {
                Some(argument)
                    if self.settable(command, caller).any(|one| one.get_id() == argument.get_id()) =>
                {
                    if given.iter().any(|(known, ..)| known.get_id() == argument.get_id()) {
                        let message = format!("`{}` is set twice, under different names", name_of(argument));
                        problems.push(Problem::new(message).at_key(human::shorten(name)));
                    }
                    given.push((argument, name, value));
                }
                Some(argument) => problems.push(self.refused(argument, name)),
                None => problems.push(self.unknown(command, name, caller)),
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
                            format!("`{}` is required with `{}`", name_of(missing), name_of(argument));
                        problems.push(Problem::new(message).at_key(name_of(missing)));
                    }
                    words.typed.extend(texts.iter().map(|text| shown(text)));
                    words.positional.extend(texts);
                }
                Err(problem) => problems.push(problem),
            }
        }
        for (argument, name, value) in given {
            if !argument.is_positional() {
                match self.flag(argument, name, value) {
                    Ok(flag) => {
                        for word in flag {
                            words.typed_flags.extend(typed(argument, &word));
                            words.parsed.push(word);
                        }
                    }
                    Err(problem) => problems.push(problem),
                }
            }
        }
        problems
    }

    fn refused(&self, argument: &Arg, name: &str) -> Problem {
        let problem = if self.writes(argument) {
            Problem::new("the server writes no files").hint("omit it: the result is the response")
        } else if matches!(argument.get_id().as_str(), "format" | "json") {
            Problem::new("the output format is not an argument")
                .hint("set it in the request, as in `\"format\": \"csv\"`")
        } else {
            Problem::new("this option applies only to the terminal").hint("omit it")
        };
        problem.at_key(human::shorten(name))
    }

    fn unknown(&self, command: &Command, name: &str, caller: Caller) -> Problem {
        let mut names: Vec<String> = self.settable(command, caller).map(name_of).collect();
        names.extend(
            self.settable(command, caller)
                .flat_map(|one| one.get_visible_aliases().unwrap_or_default())
                .map(str::to_owned),
        );
        let list = format!("`railwright {} --help` lists them", command.get_name());
        let hint = did_you_mean(name, names.iter().map(String::as_str), &list);
        Problem::new(format!("`{}` has no argument of this name", command.get_name()))
            .at_key(human::shorten(name))
            .hint(hint)
    }

    /// A flag with its values as words for the parser.
    fn flag(&self, argument: &Arg, long: &str, value: &Value) -> Result<Vec<String>, Problem> {
        let takes_none = !argument.get_action().takes_values();
        let may_be_bare =
            takes_none || argument.get_num_args().is_some_and(|range: ValueRange| range.min_values() == 0);
        match value {
            Value::Bool(true) if may_be_bare => Ok(vec![format!("--{long}")]),
            Value::Bool(false) if takes_none => Ok(Vec::new()),
            // `false` is one of three states of a flag; unset is the third.
            Value::Bool(truth) if argument.is_require_equals_set() || !may_be_bare => {
                Ok(vec![format!("--{long}={truth}")])
            }
            Value::Bool(_) => Ok(Vec::new()),
            Value::Array(list) if list.is_empty() => Ok(Vec::new()),
            _ if takes_none => Err(Problem::new("expected true or false").at_key(long)),
            value => {
                let texts = texts(argument, value)?;
                // A key has one value, which may be a list; at the terminal the last of repeated keys counts.
                // The same holds for an argument that is given once.
                let is_one =
                    self.key_of(argument).is_some() || matches!(argument.get_action(), ArgAction::Set);
                let words = if value.is_array() && is_one { vec![texts.join(",")] } else { texts };
                Ok(words.into_iter().map(|text| format!("--{long}={text}")).collect())
            }
        }
    }
}

impl Words {
    /// Command-line form.
    pub(super) fn shown(&self, output_format: &[String]) -> String {
        let mut words = self.typed.clone();
        // A value that begins like a flag is passed after `--`.
        let split = words.iter().position(|word| word.starts_with('-'));
        let after = split.map(|at| words.split_off(at));
        words.extend(self.typed_flags.iter().cloned());
        words.extend(output_format.iter().filter(|flag| !flag.ends_with("json")).cloned());
        if let Some(after) = after {
            words.push("--".to_owned());
            words.extend(after);
        }
        words.join(" ")
    }
}

/// The values of an argument as text.
fn texts(argument: &Arg, value: &Value) -> Result<Vec<String>, Problem> {
    let one = |value: &Value| match value {
        Value::String(text) if text.contains('\0') => {
            Err(Problem::new("a string contains a zero byte").at_key(name_of(argument)))
        }
        Value::String(text) => Ok(text.clone()),
        Value::Number(number) => Ok(number.to_string()),
        _ => Err(Problem::new("expected a string, a number, or a list of these").at_key(name_of(argument))),
    };
    match value {
        Value::Array(list) if list.len() > MOST => {
            Err(Problem::new(format!("a list has at most {MOST} values")).at_key(name_of(argument)))
        }
        Value::Array(list) => list.iter().map(one).collect(),
        value => one(value).map(|text| vec![text]),
    }
}

/// A word of the parser in the user's spelling.
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

/// A word, quoted for a shell. Uploaded files appear with their own names.
fn shown(word: &str) -> String {
    let upload = word.strip_prefix(UPLOAD).and_then(|rest| rest.split_once('/'));
    let word = upload.map_or(word, |(_, name)| name);
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}
