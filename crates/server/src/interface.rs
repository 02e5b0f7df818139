//! The commands of a program as questions: what a client may ask, and a question as the words that the
//! program's parser reads.
//!
//! Responsible for: arguments that the parser reads exactly as the question, and errors of the parser as
//! problems. The program describes its commands in a [`Program`]; this file knows none of them.

mod offered;
mod openapi;
mod output_format;
mod program;
mod words;

use crate::desk::{Question, Reply};
use clap::ArgMatches;
pub use openapi::VERSION;
pub use program::{Caller, Interface, Kinds, Program};
use railwright_spec::problem::Problem;
use std::sync::PoisonError;
use words::Words;

/// A question as words for the parser.
#[derive(Debug)]
pub struct Asked {
    /// The words.
    pub words: Vec<String>,
    /// Equivalent command line.
    pub command: String,
    /// The media type of the result, if known in advance.
    pub media: Option<&'static str>,
}

impl Interface {
    /// The words of a question.
    ///
    /// # Errors
    ///
    /// The reply to an invalid question.
    pub fn words(&self, question: &Question, caller: Caller) -> Result<Asked, Reply> {
        let command = self.find(&question.command, caller)?;
        let mut words = Words::default();
        for word in std::iter::once(self.program.commands.get_name())
            .chain(question.command.iter().map(String::as_str))
        {
            words.parsed.push(word.to_owned());
            words.typed.push(word.to_owned());
        }
        let mut problems = self.arguments(&mut words, command, (question, caller));
        let (media, flags) = match self.output_format(command, question.format.as_deref()) {
            Ok(output_format) => output_format,
            Err(problem) => {
                problems.push(problem);
                (None, Vec::new())
            }
        };
        let line = words.shown(&flags);
        if !problems.is_empty() {
            return Err(Reply::Problems { problems, command: line });
        }
        let Words { mut parsed, mut positional, .. } = words;
        parsed.extend(flags);
        if !positional.is_empty() {
            // After `--` some commands expect the arguments of a script, not their own.
            if !command.get_arguments().any(clap::Arg::is_last_set) {
                parsed.push("--".to_owned());
            }
            parsed.append(&mut positional);
        }
        Ok(Asked { words: parsed, command: line, media })
    }

    /// The arguments of a question, as the parser reads them.
    ///
    /// # Errors
    ///
    /// The reply with the parser's complaint.
    pub fn parse<T>(
        &self,
        asked: &Asked,
        read: impl FnOnce(&ArgMatches) -> Result<T, clap::Error>,
    ) -> Result<T, Reply> {
        let spare = self.spare.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut parser = spare.unwrap_or_else(|| self.program.commands.clone());
        let parsed = parser.try_get_matches_from_mut(&asked.words).and_then(|matches| read(&matches));
        self.spare.lock().unwrap_or_else(PoisonError::into_inner).push(parser);
        parsed.map_err(|error| Reply::Problems {
            problems: vec![problem_of(&error)],
            command: asked.command.clone(),
        })
    }
}

/// The media type of a result with a single format.
pub fn media_of(text: &str) -> &'static str {
    if text.starts_with(['{', '[']) { "application/json" } else { "text/plain; charset=utf-8" }
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
