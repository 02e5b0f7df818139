//! Handles requests by running commands.
//!
//! Responsible for: one command for each request, run as at the terminal, with its output unchanged.
//! Computes nothing itself.

use super::line::interface;
use super::start;
use crate::args::Command;
use crate::commands::runner::Runner;
use crate::exit::Failure;
use crate::input::access::{self, Seen};
use crate::input::given::Given;
use crate::input::jobs_found;
use crate::limits;
use crate::printer::{Listener, Printer};
use bytes::Bytes;
use railwright_commands::typed;
use railwright_server::{Asked, Backend, Caller, Kept, Question, Reply, Watch, media_of};
use railwright_spec::problem::Problem;
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;

/// Commands that always take milliseconds: they read no traces, search no space and write no timelines.
const QUICK: &[&[&str]] = &[
    &["estimate"],
    &["memory"],
    &["explain"],
    &["export"],
    &["keys"],
    &["values"],
    &["examples"],
    &["detect"],
    &["whatif"],
    &["models", "list"],
    &["models", "show"],
    &["gpus", "list"],
    &["gpus", "show"],
    &["clusters", "list"],
    &["clusters", "show"],
    &["network", "topologies"],
    &["network", "show"],
    &["network", "cost"],
];

/// Maximum number of values of a short request; more take longer, such as what-ifs of a thousand changes.
const SHORT_LIST: usize = 64;
/// The same for a text, in bytes.
const SHORT_TEXT: usize = 4096;

/// Continuation after uploads are stored.
type Restrict = Box<dyn Fn(&Path) + Send + Sync>;

/// The commands of the program, for requests.
pub(super) struct Commands {
    run: Runner,
    given: Given,
    restrict: Restrict,
    kept: Kept<Seen>,
}

impl Commands {
    pub(super) fn new(run: Runner, given: Given, restrict: Restrict) -> Self {
        Self { run, given, restrict, kept: Kept::default() }
    }
}

impl Backend for Commands {
    fn ask(&self, question: &Question, watch: &Arc<Watch>) -> Reply {
        let asked = match interface().asked(question, Caller::Page) {
            Ok(asked) => asked,
            Err(reply) => return reply,
        };
        let key = asked.key();
        if let Some(reply) = self.kept.find(&key, Seen::is_still_so) {
            return reply;
        }
        let command = match typed(&asked.words, &asked.values) {
            Ok(command) => command,
            Err(problem) => return asked.refused(problem),
        };
        access::note();
        let reply = answer(self.run, &command, asked, watch);
        self.kept.keep(key, &reply, access::noted());
        reply
    }

    fn is_quick(&self, question: &Question) -> bool {
        let words: Vec<&str> = question.command.iter().map(String::as_str).collect();
        let is_short = |value: &Value| match value {
            Value::Array(list) => list.len() <= SHORT_LIST,
            Value::String(text) => text.len() <= SHORT_TEXT,
            _ => true,
        };
        QUICK.contains(&words.as_slice()) && question.arguments.values().all(is_short)
    }

    fn openapi(&self) -> Bytes {
        Bytes::from(interface().openapi(Caller::Page))
    }

    fn start(&self) -> Value {
        start::json(&self.given)
    }

    fn traces(&self) -> Value {
        json!(jobs_found::list(&self.given.traces))
    }

    fn uploads(&self, folder: &Path) {
        (self.restrict)(folder);
        // The first question of the web UI is for this list: it is ready when the browser is.
        let given = self.given.traces.clone();
        let _ = std::thread::Builder::new().spawn(move || jobs_found::list(&given));
    }
}

/// Runs a command for a client other than a terminal.
fn answer(run: Runner, command: &Command, Asked { line, media, .. }: Asked, watch: &Arc<Watch>) -> Reply {
    let listener = Listener::new(Arc::clone(watch));
    let printer = Printer::with_listener(Arc::clone(&listener));
    crate::run::launch::forget();
    let open = limits::Open::new();
    let end = run(command, &printer);
    drop(open);
    crate::run::launch::forget();
    let outcome = match end {
        Ok(end) => end,
        Err(Failure::Input(problems)) => return Reply::Problems { problems, command: line },
        // This output is not a pipe.
        Err(Failure::BrokenPipe) => return Reply::Broken(Problem::new("the result was lost")),
    };
    let text = listener.take();
    let media = media.unwrap_or_else(|| media_of(&text));
    Reply::Answer { outcome, media, body: Bytes::from(text), command: line, notes: listener.notes() }
}
