//! The trait between the server and the program.
//!
//! Responsible for: the type of a question and its outcomes. Independent of the available commands.

use crate::Watch;
use bytes::Bytes;
use railwright_spec::problem::Problem;
use serde_json::{Map, Value};
use std::path::Path;
use std::sync::Arc;

/// Prefix of an uploaded file in an argument.
pub(crate) const UPLOAD: &str = "upload:";

/// A command of the program with its arguments.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Question {
    /// Words of the command, such as `estimate` or `network`, `cost`.
    pub command: Vec<String>,
    /// Flags without dashes and positional arguments by name: string, number, Boolean, or a list of these.
    pub arguments: Map<String, Value>,
    /// Output format; `None`: JSON.
    pub format: Option<String>,
}

/// Outcome of a command that worked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Yes, or nothing to decide.
    Yes,
    /// No: the plan does not fit, or a limit is exceeded.
    No,
    /// Undecided: the plan may fit.
    AtRisk,
    /// Undecided: the input has no answer.
    CannotTell,
    /// A part of the input is invalid; the answer lists it.
    Invalid,
    /// Stopped; the answer is partial.
    Interrupted,
}

impl Outcome {
    /// Name in headers and events.
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

/// Reply to a question.
#[derive(Clone, Debug)]
pub enum Reply {
    /// Output of the command.
    Answer {
        /// Outcome.
        outcome: Outcome,
        /// Media type of the body.
        media: &'static str,
        /// Output.
        body: Bytes,
        /// Equivalent command line.
        command: String,
        /// Notes of the command, such as files that could not be read.
        notes: Vec<String>,
    },
    /// The question is invalid.
    Problems {
        /// All problems of the question.
        problems: Vec<Problem>,
        /// Equivalent command line, if there is one; else empty.
        command: String,
    },
    /// The command does not exist, or is not available over HTTP.
    Unknown(Problem),
    /// Internal error of the program.
    Broken(Problem),
}

/// Answers questions. Called from many threads concurrently.
pub trait Backend: Send + Sync + 'static {
    /// Answers a question, with progress and cancellation through `watch`.
    fn ask(&self, question: &Question, watch: &Arc<Watch>) -> Reply;

    /// True for quick questions, which have a concurrency limit of their own.
    fn is_quick(&self, question: &Question) -> bool;

    /// Description of all questions: OpenAPI 3.1, JSON.
    fn openapi(&self) -> Bytes;

    /// Arguments given at the start of the server.
    fn start(&self) -> Value;

    /// Jobs in the folders given at the start, as currently on disk.
    fn traces(&self) -> Value;

    /// Sets the folder of uploads, which is readable. Called once before the first question. `upload:ID/name`
    /// in an argument means `ID/name` there.
    fn uploads(&self, folder: &Path);
}
