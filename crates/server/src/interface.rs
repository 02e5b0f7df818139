//! The commands of a program as questions: what a client may ask, and the arguments of a question by name.
//!
//! Responsible for: one set of arguments for every client, checked by the description that also reads the
//! command line. The program describes its commands in a [`Program`]; this file knows none of them.

mod offered;
mod openapi;
mod output_format;
mod program;
mod values;

use crate::desk::{Question, Reply};
pub use openapi::VERSION;
pub use program::{Caller, Interface, Kinds, Program};
use railwright_spec::problem::Problem;
use values::{Line, Values, given};

/// A question whose arguments exist and agree.
#[derive(Debug)]
pub struct Asked {
    /// Words of the command.
    pub words: Vec<String>,
    /// Values of all arguments, defaults included.
    pub values: Values,
    /// Equivalent command line.
    pub line: String,
    /// The media type of the result, if known in advance.
    pub media: Option<&'static str>,
}

impl Interface {
    /// The arguments of a question, with defaults.
    ///
    /// # Errors
    ///
    /// The reply to an invalid question.
    pub fn asked(&self, question: &Question, caller: Caller) -> Result<Asked, Reply> {
        let command = self.find(&question.command, caller)?;
        let mut line = Line::new(self.program.commands.get_name(), &question.command);
        let (mut values, mut problems) = self.arguments(&mut line, command, (question, caller));
        let mut media = None;
        match self.output_format(command, question.format.as_deref()) {
            Ok((of_format, chosen)) => {
                media = of_format;
                if let Some((argument, text)) = chosen {
                    line.format(argument, &text);
                    values.insert(argument.get_id().to_string(), given(argument, vec![text]));
                }
            }
            Err(problem) => problems.push(problem),
        }
        let line = line.shown();
        if problems.is_empty() {
            problems = values::completed(command, &mut values);
        }
        if !problems.is_empty() {
            return Err(Reply::Problems { problems, command: line });
        }
        Ok(Asked { words: question.command.clone(), values, line, media })
    }
}

impl Asked {
    /// Text that is equal for equal questions.
    pub fn key(&self) -> String {
        format!("{:?}", (&self.words, &self.values))
    }

    /// The reply to a value that its argument does not accept.
    pub fn refused(&self, problem: Problem) -> Reply {
        Reply::Problems { problems: vec![problem], command: self.line.clone() }
    }
}

/// The media type of a result with a single format.
pub fn media_of(text: &str) -> &'static str {
    if text.starts_with(['{', '[']) { "application/json" } else { "text/plain; charset=utf-8" }
}
