//! Arguments of a request as text by their identifiers, and in the user's spelling.
//!
//! Responsible for: values of the kinds that an argument takes, relations between arguments, and defaults.
//! Values of another kind, and arguments that may not be set, are errors. Excludes types.

use super::offered::{is_called, name_of};
use super::program::{Caller, Interface};
use crate::desk::{Question, UPLOAD};
use clap::builder::{PossibleValue, ValueRange};
use clap::{Arg, ArgAction, Command};
use railwright_spec::human;
use railwright_spec::problem::{Problem, did_you_mean};
use serde_json::Value;
use std::collections::BTreeMap;

/// Maximum number of values in a list.
const MOST: usize = 10_000;

/// Maximum number of arguments of a request: more than any command has.
const MOST_ARGUMENTS: usize = 400;

/// Arguments by identifier: the argument as help shows it, for messages, and its values.
pub(super) type Values = BTreeMap<String, (String, Vec<String>)>;

/// An argument with its values, divided where it takes a list.
pub(super) fn given(argument: &Arg, texts: Vec<String>) -> (String, Vec<String>) {
    let texts = match argument.get_value_delimiter() {
        Some(comma) => texts.iter().flat_map(|text| text.split(comma)).map(str::to_owned).collect(),
        None => texts,
    };
    (argument.to_string(), texts)
}

impl Interface {
    /// The arguments of a request, and their spelling on a line.
    pub(super) fn arguments(
        &self,
        line: &mut Line,
        command: &Command,
        (question, caller): (&Question, Caller),
    ) -> (Values, Vec<Problem>) {
        let mut values = Values::new();
        let mut problems = Vec::new();
        if question.arguments.len() > MOST_ARGUMENTS {
            return (values, vec![Problem::new(format!("a request has at most {MOST_ARGUMENTS} arguments"))]);
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
        let mut keep = |argument: &Arg, texts: Vec<String>| {
            values.insert(argument.get_id().to_string(), of_possible(argument, texts)?);
            Ok(())
        };
        let mut missing = None;
        for argument in command.get_positionals() {
            let value = given.iter().find(|(known, ..)| known.get_id() == argument.get_id());
            match value.map(|(.., value)| texts(argument, value)).transpose() {
                Ok(Some(texts)) if !texts.is_empty() => {
                    if let Some(missing) = missing {
                        let message =
                            format!("`{}` is required with `{}`", name_of(missing), name_of(argument));
                        problems.push(Problem::new(message).at_key(name_of(missing)));
                    }
                    let takes_one = matches!(argument.get_action(), ArgAction::Set)
                        && argument.get_num_args().is_none_or(|number| number.max_values() <= 1);
                    if takes_one && texts.len() > 1 {
                        let message = format!("`{}` takes one value, not a list", name_of(argument));
                        problems.push(Problem::new(message).at_key(name_of(argument)));
                    }
                    line.positional.extend(texts.iter().map(|text| shown(text)));
                    problems.extend(keep(argument, texts).err());
                }
                Ok(_) => missing = missing.or(Some(argument)),
                Err(problem) => problems.push(problem),
            }
        }
        for (argument, name, value) in given.into_iter().filter(|(argument, ..)| !argument.is_positional()) {
            match self.flag(argument, name, value) {
                Ok(Flag::Unset) => {}
                Ok(Flag::Bare) => {
                    line.flags.push(format!("--{name}"));
                    // A key without a value is true, another argument empty.
                    let is_true = !argument.get_action().takes_values() || self.key_of(argument).is_some();
                    let text = if is_true { "true" } else { "" };
                    problems.extend(keep(argument, vec![text.to_owned()]).err());
                }
                Ok(Flag::Texts(texts)) => {
                    line.flags.extend(texts.iter().flat_map(|text| typed(argument, name, text)));
                    problems.extend(keep(argument, texts).err());
                }
                Err(problem) => problems.push(problem),
            }
        }
        (values, problems)
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

    /// The values of a flag.
    fn flag(&self, argument: &Arg, long: &str, value: &Value) -> Result<Flag, Problem> {
        let takes_none = !argument.get_action().takes_values();
        let may_be_bare =
            takes_none || argument.get_num_args().is_some_and(|range: ValueRange| range.min_values() == 0);
        match value {
            Value::Bool(true) if may_be_bare => Ok(Flag::Bare),
            // `false` is one of three states of a key; unset is the third.
            Value::Bool(truth) if !takes_none && (argument.is_require_equals_set() || !may_be_bare) => {
                Ok(Flag::Texts(vec![truth.to_string()]))
            }
            Value::Bool(_) => Ok(Flag::Unset),
            Value::Array(list) if list.is_empty() => Ok(Flag::Unset),
            _ if takes_none => Err(Problem::new("expected true or false").at_key(long)),
            value => {
                let texts = texts(argument, value)?;
                // A key has one value, which may be a list. The same holds for an argument that is given
                // once.
                let is_one =
                    self.key_of(argument).is_some() || matches!(argument.get_action(), ArgAction::Set);
                Ok(Flag::Texts(if value.is_array() && is_one { vec![texts.join(",")] } else { texts }))
            }
        }
    }
}

/// A flag of a request.
enum Flag {
    Unset,
    Bare,
    Texts(Vec<String>),
}

/// Values under the names of the argument's choices, if it has a list of these.
fn of_possible(argument: &Arg, texts: Vec<String>) -> Result<(String, Vec<String>), Problem> {
    let (shown, mut texts) = given(argument, texts);
    let possible = argument.get_possible_values();
    for text in texts.iter_mut().filter(|_| !possible.is_empty()) {
        let Some(known) = possible.iter().find(|value| value.matches(text, false)) else {
            let names = || possible.iter().map(PossibleValue::get_name);
            let list = format!("use one of {}", names().collect::<Vec<_>>().join(", "));
            let problem = Problem::new(format!("invalid value '{}' for '{shown}'", human::shorten(text)));
            return Err(problem.hint(did_you_mean(text, names(), &list)));
        };
        known.get_name().clone_into(text);
    }
    Ok((shown, texts))
}

/// Adds defaults. Returns missing arguments, and those that exclude each other.
pub(super) fn completed(command: &Command, values: &mut Values) -> Vec<Problem> {
    let is_set = |argument: &Arg| values.contains_key(argument.get_id().as_str());
    let mut problems = Vec::new();
    for argument in command.get_arguments().filter(|argument| is_set(argument)) {
        for other in command.get_arg_conflicts_with(argument).into_iter().filter(|other| is_set(other)) {
            problems.push(Problem::new(format!("the argument '{argument}' cannot be used with '{other}'")));
        }
    }
    let missing: Vec<String> = command
        .get_arguments()
        .filter(|argument| argument.is_required_set() && !is_set(argument))
        .map(ToString::to_string)
        .collect();
    if !missing.is_empty() {
        let message = format!("the following required arguments were not provided: {}", missing.join(" "));
        problems.push(Problem::new(message));
    }
    for argument in command.get_arguments() {
        let defaults = argument.get_default_values();
        if !defaults.is_empty() && !values.contains_key(argument.get_id().as_str()) {
            let texts = defaults.iter().map(|text| text.to_string_lossy().into_owned()).collect();
            values.insert(argument.get_id().to_string(), given(argument, texts));
        }
    }
    problems
}

/// A command line in the user's spelling.
pub(super) struct Line {
    positional: Vec<String>,
    flags: Vec<String>,
}

impl Line {
    /// The line of a command, without arguments.
    pub(super) fn new(program: &str, command: &[String]) -> Self {
        let words = std::iter::once(program).chain(command.iter().map(String::as_str));
        Self { positional: words.map(str::to_owned).collect(), flags: Vec::new() }
    }

    /// Adds the output format; JSON is that of every request.
    pub(super) fn format(&mut self, argument: &Arg, format: &str) {
        if argument.get_action().takes_values() && format != "json" {
            self.flags.push(format!("--{}={format}", name_of(argument)));
        } else if !argument.get_action().takes_values() && name_of(argument) != "json" {
            self.flags.push(format!("--{}", name_of(argument)));
        }
    }

    /// The line.
    pub(super) fn shown(self) -> String {
        let mut words = self.positional;
        // A value that begins like a flag is passed after `--`.
        let split = words.iter().position(|word| word.starts_with('-'));
        let after = split.map(|at| words.split_off(at));
        words.extend(self.flags);
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

/// A flag with a value in the user's spelling.
fn typed(argument: &Arg, name: &str, value: &str) -> Vec<String> {
    if argument.is_require_equals_set() || value.starts_with('-') || value.is_empty() {
        vec![format!("--{name}={}", shown(value))]
    } else {
        vec![format!("--{name}"), shown(value)]
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
