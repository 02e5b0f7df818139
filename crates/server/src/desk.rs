//! The trait between the server and the program.
//!
//! Responsible for: the type of a question and its outcomes. Independent of the available commands.

use crate::Watch;
use bytes::Bytes;
use railwright_spec::problem::Problem;
use serde_json::{Map, Value};
use std::path::Path;
use std::sync::Arc;

/// A command of the program with its arguments.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Question {
    /// The words of the command, such as `estimate` or `network`, `cost`.
    pub command: Vec<String>,
    /// Flags without dashes and positional arguments by name: text, number, truth value, or a list of these.
    pub arguments: Map<String, Value>,
    /// The form of the answer; JSON without it.
    pub format: Option<String>,
}

/// How a command that worked ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Yes, or there was no question.
    Yes,
    /// No: the plan does not fit, a limit is exceeded.
    No,
    /// Neither: the plan may fit.
    AtRisk,
    /// Neither: the input does not carry an answer.
    CannotTell,
    /// A part of the input is wrong; the answer lists it.
    Invalid,
    /// It was stopped; the answer is what was known by then.
    Interrupted,
}

impl Outcome {
    /// The word for it in headers and events.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Yes => "yes",
            Self::No => "no",
            Self::AtRisk => "at-risk",
            Self::CannotTell => "cannot-tell",
            Self::Invalid => "invalid",
            Self::Interrupted => "interrupted",
        }
    }
}

/// What comes of a question.
#[derive(Clone, Debug)]
pub enum Reply {
    /// The bytes that the command prints.
    Answer {
        /// How it ended.
        outcome: Outcome,
        /// The media type of the bytes.
        media: &'static str,
        /// The bytes.
        body: Bytes,
        /// The command line that prints the same.
        command: String,
        /// Messages of the command, such as files that could not be read.
        notes: Vec<String>,
    },
    /// The question is at fault.
    Problems {
        /// All that is wrong with it.
        problems: Vec<Problem>,
        /// The equivalent command line, if there is one.
        command: String,
    },
    /// There is no such command, or it is not for asking from afar.
    Unknown(Problem),
    /// The program is at fault.
    Broken(Problem),
}

/// Answers questions. It is asked from many threads at once.
pub trait Desk: Send + Sync + 'static {
    /// Answers a question, with progress and cancellation through `watch`.
    fn ask(&self, question: &Question, watch: &Arc<Watch>) -> Reply;

    /// Whether a question is of a kind that is answered in a moment. It has places of its own then.
    fn is_quick(&self, question: &Question) -> bool;

    /// The description of all questions: OpenAPI 3.1, JSON.
    fn openapi(&self) -> Bytes;

    /// What was given when the server was started.
    fn start(&self) -> Value;

    /// The jobs that can be opened below what was given, as they lie there now.
    fn traces(&self) -> Value;

    /// Called once before the first question: where uploads lie, which may be read. `upload:ID/name` in an argument means `ID/name` there.
    fn uploads(&self, folder: &Path);
}
