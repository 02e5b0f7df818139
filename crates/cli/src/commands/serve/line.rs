//! Requests as command lines.
//!
//! Responsible for: arguments that the command-line parser reads exactly as the request. Has the errors of
//! the parser.

use super::catalogue::{Caller, commands, find};
use super::output_format::output_format;
use super::words::Words;
use crate::args::Arguments;
use clap::{Command, FromArgMatches as _};
use railwright_server::{Question, Reply};
use railwright_spec::problem::Problem;
use std::sync::{Mutex, PoisonError};

/// A valid request.
pub(super) struct Line {
    pub(super) arguments: Arguments,
    /// Equivalent command line.
    pub(super) command: String,
    /// The media type of the result, if known in advance.
    pub(super) media: Option<&'static str>,
}

/// Unused parsers: making one takes longer than most requests.
static SPARE: Mutex<Vec<Command>> = Mutex::new(Vec::new());

fn parse(words: &[String]) -> Result<Arguments, clap::Error> {
    let spare = SPARE.lock().unwrap_or_else(PoisonError::into_inner).pop();
    let mut parser = spare.unwrap_or_else(|| commands().clone());
    let parsed =
        parser.try_get_matches_from_mut(words).and_then(|matches| Arguments::from_arg_matches(&matches));
    SPARE.lock().unwrap_or_else(PoisonError::into_inner).push(parser);
    parsed
}

/// A request as words for the parser.
pub(super) struct Asked {
    /// The words.
    pub(super) parsed: Vec<String>,
    command: String,
    media: Option<&'static str>,
}

impl Asked {
    /// Parsed arguments.
    pub(super) fn parse(&self) -> Result<Line, Reply> {
        let command = self.command.clone();
        match parse(&self.parsed) {
            Ok(arguments) => Ok(Line { arguments, command, media: self.media }),
            Err(error) => Err(Reply::Problems { problems: vec![problem_of(&error)], command }),
        }
    }
}

/// The words of a request, or an error reply.
pub(super) fn of(question: &Question, caller: Caller) -> Result<Asked, Reply> {
    let command = find(&question.command, caller)?;
    let mut words = Words::default();
    for word in std::iter::once("railwright").chain(question.command.iter().map(String::as_str)) {
        words.parsed.push(word.to_owned());
        words.typed.push(word.to_owned());
    }
    let mut problems = words.arguments(command, question, caller);
    let (media, flags) = match output_format(command, question.format.as_deref()) {
        Ok(output_format) => output_format,
        Err(problem) => {
            problems.push(problem);
            (None, Vec::new())
        }
    };
    let command_line = command;
    let command = words.shown(&flags);
    if !problems.is_empty() {
        return Err(Reply::Problems { problems, command });
    }
    let Words { mut parsed, mut positional, .. } = words;
    parsed.extend(flags);
    if !positional.is_empty() {
        // After `--` some commands expect the arguments of a script, not their own.
        if !command_line.get_arguments().any(clap::Arg::is_last_set) {
            parsed.push("--".to_owned());
        }
        parsed.append(&mut positional);
    }
    Ok(Asked { parsed, command, media })
}

/// The parser's complaint as a problem.
fn problem_of(error: &clap::Error) -> Problem {
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
