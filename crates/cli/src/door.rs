//! The commands for a program that links this one, such as the Python package: a request as input, values as
//! output, without a process or text between.
//!
//! Responsible for: mapping one request to its command, the result as values and as text, and its notes.
//! Computes nothing itself. Excludes commands about the terminal.
//!
//! ```
//! let mut arguments = serde_json::Map::new();
//! arguments.insert("id".to_owned(), "mfu".into());
//! let answer = railwright::door::ask(&["explain"], &arguments, None, &Default::default()).unwrap();
//! assert_eq!(answer.kind, Some("explanation"));
//! ```

use crate::args::Global;
use crate::commands::{self, serve};
use crate::exit::Failure;
use crate::limits;
use crate::printer::{Listener, Printer, Typed};
use railwright_commands::typed;
pub use railwright_server::Watch;
use railwright_spec::problem::Problem;
use serde_json::{Map, Value};
use std::sync::Arc;

/// Result of a command.
#[derive(Clone, Debug, Default)]
pub struct Answer {
    /// The kind of result, such as `stragglers`; `None` if the result is a text in its own format.
    pub kind: Option<&'static str>,
    /// The fields of the result, with their names in `--json`; null if the result is a text.
    pub fields: Value,
    /// Printed output: the table, or the text in the requested format.
    pub text: String,
    /// Further output on stdout, such as a chart.
    pub data: String,
    /// The table as a fragment of HTML; empty if the result is a text.
    pub html: String,
    /// Exit code as a word: `yes`, `no`, `at-risk`, `cannot-tell` or `interrupted`.
    pub outcome: &'static str,
    /// Notes in addition to the result, such as files that could not be read.
    pub notes: Vec<String>,
    /// The equivalent command line.
    pub command: String,
}

/// Runs a command on this thread. Inputs are the words of the command, its arguments, and the form of the
/// result (values by default). Arguments are named by flags without dashes, or by positions. `watch` stops
/// it.
///
/// # Errors
///
/// Problems of the request or its files, as the program prints them.
pub fn ask(
    command: &[&str],
    arguments: &Map<String, Value>,
    form: Option<&str>,
    watch: &Arc<Watch>,
) -> Result<Answer, Vec<Problem>> {
    let (command, asked) = serve::asked(command, arguments, form, serve::Caller::Linked)?;
    let global: Global = typed(&[], &asked.values).map_err(|problem| vec![problem])?;
    let listener = Listener::typed(Arc::clone(watch));
    let printer = Printer::with_listener(Arc::clone(&listener));
    // Readers check the limit; the process is not ours to end.
    limits::bound_memory(global.memory_limit, None::<fn(Problem)>);
    crate::run::launch::forget();
    let end = commands::run(&command, &printer);
    crate::run::launch::forget();
    let outcome = match end {
        Ok(end) => end.name(),
        Err(Failure::Input(problems)) => return Err(problems),
        // This output is not a pipe.
        Err(Failure::BrokenPipe) => return Err(vec![Problem::new("internal error: the result was lost")]),
    };
    let base = Answer { outcome, notes: listener.notes(), command: asked.line, ..Answer::default() };
    Ok(match listener.take_typed() {
        Some(Typed { kind, fields, text, html }) => {
            Answer { kind: Some(kind), fields, text, html, data: listener.take(), ..base }
        }
        None => Answer { text: listener.take(), ..base },
    })
}

/// Every available command, with its arguments and kinds of results: OpenAPI as in
/// `docs/reference/openapi.json`, and the commands that write files.
pub fn description() -> String {
    serve::description()
}
