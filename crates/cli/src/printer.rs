//! Output formats of a result (terminal, JSON, CSV, Markdown) and messages on stderr.
//!
//! Responsible for: format and destination of results and problems. Data goes to stdout or a file, messages
//! to stderr. Does not compute: all numbers come from the libraries of the commands, and `railwright-report`
//! renders documents.

mod interruptible;
mod progress;
mod watched;

use crate::args::{ColourChoice, Format, Global, Output};
use crate::exit::{Failure, Outcome};
use crate::input::{self, Caller};
pub(crate) use progress::{Progress, Stop, Watching, end_tidily};
use railwright_commands::{Ended, Front, Work};
use railwright_report::document::{self, Document, Tone};
use railwright_report::{Answer, Terminal, clean, envelope, html, markdown, prometheus, text};
use railwright_server::Watch;
use railwright_spec::problem::{Problem, Warning};
use serde::Serialize;
use serde_json::Value;
use std::fmt::Write as _;
use std::io::{ErrorKind, Write as _};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Destinations of results and of messages.
#[derive(Clone, Debug)]
pub(crate) struct Printer {
    data: Terminal,
    talk: Terminal,
    quiet: bool,
    /// The receiver that replaces the streams.
    listener: Option<Arc<Listener>>,
}

/// A client of the server, which receives the output.
#[derive(Debug, Default)]
pub(crate) struct Listener {
    data: Mutex<String>,
    notes: Mutex<Vec<String>>,
    watch: Arc<Watch>,
    /// Result as values instead of text.
    typed: Option<Mutex<Option<Typed>>>,
}

/// A result as values, and as readable text.
#[derive(Clone, Debug, Default)]
pub(crate) struct Typed {
    /// The kind of result.
    pub(crate) kind: &'static str,
    /// Its fields.
    pub(crate) fields: Value,
    /// The table of the terminal.
    pub(crate) text: String,
    /// The same as a fragment of HTML.
    pub(crate) html: String,
}

impl Listener {
    /// A client with a watch.
    pub(crate) fn new(watch: Arc<Watch>) -> Arc<Self> {
        Arc::new(Self { watch, ..Self::default() })
    }

    /// A client that accepts values.
    pub(crate) fn typed(watch: Arc<Watch>) -> Arc<Self> {
        Arc::new(Self { watch, typed: Some(Mutex::default()), ..Self::default() })
    }

    /// The result as values, if one was given.
    pub(crate) fn take_typed(&self) -> Option<Typed> {
        self.typed.as_ref()?.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Notes in addition to the result: the first ones, without duplicates.
    pub(crate) fn notes(&self) -> Vec<String> {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn hear(&self, note: String) {
        /// Maximum number of kept messages.
        const MOST: usize = 20;
        let mut notes = self.notes.lock().unwrap_or_else(PoisonError::into_inner);
        if notes.len() < MOST && !notes.contains(&note) {
            notes.push(note);
        }
    }

    /// Printed text.
    pub(crate) fn take(&self) -> String {
        std::mem::take(&mut self.data.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Printer {
    /// Creates a printer from the environment and the flags.
    pub(crate) fn new(global: &Global) -> Self {
        use anstream::{AutoStream, ColorChoice};
        let wants = |auto: ColorChoice| match global.color {
            ColourChoice::Always => true,
            ColourChoice::Never => false,
            ColourChoice::Auto => auto != ColorChoice::Never,
        };
        Self {
            data: Terminal::detect(wants(AutoStream::choice(&std::io::stdout())), global.ascii),
            talk: Terminal::for_messages(wants(AutoStream::choice(&std::io::stderr())), global.ascii),
            quiet: global.quiet,
            listener: None,
        }
    }

    /// A printer without colours, for messages before the flags are known.
    pub(crate) fn plain() -> Self {
        let plain = Terminal::file(true);
        Self { data: plain, talk: plain, quiet: false, listener: None }
    }

    /// A printer for clients other than a terminal: wide, plain, messages separate.
    pub(crate) fn with_listener(listener: Arc<Listener>) -> Self {
        let plain = Self::plain();
        // They have no `-v`.
        let data = Terminal { verbose: true, ..plain.data };
        Self { data, quiet: true, listener: Some(listener), ..plain }
    }

    /// Prints a result in the requested format to the requested destination.
    pub(crate) fn answer<A: Answer>(&self, answer: &A, output: &Output) -> Result<(), Failure> {
        let path = output.output.as_deref();
        let terminal = if path.is_some() { Terminal::file(self.data.unicode) } else { self.data };
        let terminal = Terminal { verbose: output.verbose || self.data.verbose, ..terminal };
        if path.is_none()
            && format(output)? == Format::Json
            && let Some(typed) = self.listener.as_ref().and_then(|listener| listener.typed.as_ref())
        {
            *typed.lock().unwrap_or_else(PoisonError::into_inner) = Some(self.typed(answer));
            return Ok(());
        }
        let text = match format(output)? {
            Format::Table => text::render(&clean::document(answer.document(terminal)), terminal),
            Format::Md => markdown::render(&clean::document(answer.document(Terminal {
                colour: false,
                verbose: true,
                ..terminal
            }))),
            Format::Csv => answer.csv(),
            Format::Json => envelope(A::KIND, &answer.json()),
            Format::Html => answer.page().map(|page| clean::markup(&page).into_owned()).ok_or_else(|| {
                Problem::new("this command has no HTML report")
                    .in_file("--format")
                    .hint("use table, json, csv or md; `estimate` and `profile` have html")
            })?,
            Format::Prometheus => answer.metrics().map(|all| prometheus::render(&all)).ok_or_else(|| {
                Problem::new("this command has no metrics").in_file("--format").hint(
                    "use table, json, csv or md; `log` has prometheus, `estimate` and `profile` have html",
                )
            })?,
        };
        self.put(&text, path)
    }

    /// Prints fields without a report: as JSON, or as values in addition to a text for a client that accepts
    /// values.
    pub(crate) fn fields(
        &self,
        kind: &'static str,
        fields: &impl Serialize,
        text: &str,
        path: Option<&str>,
    ) -> Result<(), Failure> {
        let typed = self.listener.as_ref().and_then(|listener| listener.typed.as_ref());
        let Some(typed) = typed.filter(|_| path.is_none()) else {
            return self.data(&envelope(kind, fields), path);
        };
        let mut document = Document::default();
        document.blocks.push(document::Block::Verbatim(text.to_owned()));
        *typed.lock().unwrap_or_else(PoisonError::into_inner) = Some(Typed {
            kind,
            // Structures with text keys always serialize.
            fields: serde_json::to_value(fields).unwrap_or_default(),
            text: text.to_owned(),
            html: html::render(&document),
        });
        Ok(())
    }

    /// A result as values.
    fn typed<A: Answer>(&self, answer: &A) -> Typed {
        let document = clean::document(answer.document(self.data));
        Typed {
            kind: A::KIND,
            // Structures with text keys always serialize.
            fields: serde_json::to_value(answer.json()).unwrap_or_default(),
            text: text::render(&document, self.data),
            html: html::render(&document),
        }
    }

    /// Writes data to stdout or a file. A chart or a page is safe for any destination. Any other text, such
    /// as a launch file, is written unchanged to files, but must not control the terminal.
    pub(crate) fn data(&self, text: &str, path: Option<&str>) -> Result<(), Failure> {
        if text.starts_with('<') {
            return self.put(&clean::markup(text), path);
        }
        let is_shown = path.is_none_or(|path| path == "-") && self.is_on_terminal();
        if is_shown { self.put(&clean::lines(text), path) } else { self.put(text, path) }
    }

    /// Writes safe text.
    fn put(&self, text: &str, path: Option<&str>) -> Result<(), Failure> {
        match path.filter(|path| *path != "-") {
            Some(path) => {
                input::write(path, text)?;
                self.note(&format!("wrote `{path}`"));
                Ok(())
            }
            None => match &self.listener {
                Some(listener) => {
                    listener.data.lock().unwrap_or_else(PoisonError::into_inner).push_str(text);
                    Ok(())
                }
                None => to_stdout(|| std::io::stdout().write_all(text.as_bytes())),
            },
        }
    }

    /// Prints problems to stderr.
    pub(crate) fn problems(&self, problems: &[Problem]) {
        const MOST: usize = 12;
        if let Some(listener) = &self.listener {
            for problem in problems {
                listener.hear(problem.to_string());
            }
            return;
        }
        let mut out = String::new();
        for (index, problem) in problems.iter().take(MOST).enumerate() {
            if index > 0 {
                out.push('\n');
            }
            out.push_str(&railwright_report::problem(problem, self.talk));
        }
        if problems.len() > MOST {
            // Writing to a String cannot fail.
            let _ = writeln!(out, "\nand {} more", problems.len() - MOST);
        }
        to_stderr(&out);
    }

    /// Prints warnings to stderr, for formats that cannot contain them.
    pub(crate) fn warnings(&self, warnings: &[Warning]) {
        if let Some(listener) = &self.listener {
            for warning in warnings {
                listener.hear(warning.message.clone());
            }
        }
        if !self.quiet {
            for warning in warnings {
                to_stderr(&railwright_report::remark("warning", Tone::Doubtful, &warning.message, self.talk));
            }
        }
    }

    /// Progress of work with a number of units: an indicatif bar on a terminal.
    pub(crate) fn progress(&self, template: &str, doing: &str, total: u64) -> Progress {
        use std::io::IsTerminal as _;
        let watch = self.listener.as_ref().map(|listener| Arc::clone(&listener.watch));
        let wanted = watch.is_none() && !self.quiet && std::io::stderr().is_terminal();
        Progress::new(template, doing, total, wanted, watch)
    }

    /// Progress and cancellation for work of a core crate.
    pub(crate) fn watching(&self, template: &str, doing: &str) -> Watching {
        Watching { progress: self.progress(template, doing, 0), stop: self.stop() }
    }

    /// Prints the report of a command, or the reason why there is none.
    pub(crate) fn reported<A: Answer>(
        &self,
        answer: Result<A, Ended>,
        output: &Output,
    ) -> Result<Outcome, Failure> {
        match answer {
            Ok(answer) => self.answer(&answer, output).map(|()| Outcome::Yes),
            Err(ended) => self.ended(ended),
        }
    }

    /// The end of a command without a report.
    pub(crate) fn ended(&self, ended: Ended) -> Result<Outcome, Failure> {
        match ended {
            Ended::Refused(problems) => Err(Failure::Input(problems)),
            Ended::Stopped(problem) => self.stopped(problem),
            Ended::Closed => Err(Failure::BrokenPipe),
        }
    }

    /// The end of work cancelled before a result: a message on the terminal, an error for a client of the
    /// server.
    pub(crate) fn stopped(&self, problem: Problem) -> Result<Outcome, Failure> {
        if self.listener.is_some() {
            return Err(problem.into());
        }
        self.note(&problem.message);
        Ok(Outcome::Interrupted)
    }

    /// Cancellation of the work: by Ctrl-C, from the first call on, or by the client.
    pub(crate) fn stop(&self) -> Stop {
        match &self.listener {
            Some(listener) => Stop::Asked(Arc::clone(&listener.watch)),
            None => Stop::signal(),
        }
    }

    /// Tests whether the client accepts typed values in addition to text.
    pub(crate) fn takes_values(&self) -> bool {
        self.listener.as_ref().is_some_and(|listener| listener.typed.is_some())
    }

    /// The client of the server, if any.
    pub(crate) fn caller(&self) -> Option<Arc<Watch>> {
        self.listener.as_ref().map(|listener| Arc::clone(&listener.watch))
    }

    /// Tests whether the client of the server disconnected, so that work can stop.
    pub(crate) fn is_quiet(&self) -> bool {
        self.listener.as_ref().is_some_and(|listener| listener.watch.is_stopped())
    }

    /// Cancellation check: an error after the client of the server disconnected. On a terminal, Ctrl-C ends
    /// the program.
    pub(crate) fn wanted(&self) -> Result<(), Problem> {
        if self.is_quiet() { Err(Problem::new("stopped: the client closed the connection")) } else { Ok(()) }
    }

    /// Tests whether data would be written to a terminal.
    pub(crate) fn is_on_terminal(&self) -> bool {
        use std::io::IsTerminal as _;
        self.listener.is_none() && std::io::stdout().is_terminal()
    }

    /// Prints the defaults of unspecified settings to stderr.
    pub(crate) fn chosen(&self, chosen: &[String]) {
        if !chosen.is_empty() {
            self.note(&format!("defaults: {}", chosen.join("; ")));
        }
    }

    /// Prints a note to stderr.
    pub(crate) fn note(&self, message: &str) {
        if let Some(listener) = &self.listener {
            listener.hear(message.to_owned());
        }
        if !self.quiet {
            to_stderr(&railwright_report::remark("note", Tone::Name, message, self.talk));
        }
    }
}

impl Caller for Printer {
    fn note(&self, message: &str) {
        Printer::note(self, message);
    }

    fn warnings(&self, warnings: &[Warning]) {
        Printer::warnings(self, warnings);
    }

    fn is_quiet(&self) -> bool {
        Printer::is_quiet(self)
    }

    fn wanted(&self) -> Result<(), Problem> {
        Printer::wanted(self)
    }

    fn progress(&self, template: &str, doing: &str, total: u64) -> Box<dyn input::Progress + '_> {
        Box::new(Printer::progress(self, template, doing, total))
    }
}

impl Front for Printer {
    fn work(&self, template: &str, doing: &str) -> Box<dyn Work + '_> {
        Box::new(self.watching(template, doing))
    }

    fn write(&self, path: &str, text: &str) -> Result<(), Ended> {
        self.data(text, Some(path)).map_err(|failure| match failure {
            Failure::Input(problems) => Ended::Refused(problems),
            Failure::BrokenPipe => Ended::Closed,
        })
    }
}

/// Tests whether the output format is HTML.
pub(crate) fn is_page(output: &Output) -> bool {
    matches!(format(output), Ok(Format::Html))
}

/// Fails if no format fits the output, for commands that take long before they print.
pub(crate) fn check_format(output: &Output) -> Result<(), Problem> {
    format(output).map(|_| ())
}

/// The format: the requested one, else by the suffix of the file, else the table.
fn format(output: &Output) -> Result<Format, Problem> {
    if output.json {
        return Ok(Format::Json);
    }
    if let Some(format) = output.format {
        return Ok(format);
    }
    let Some(path) = output.output.as_deref() else { return Ok(Format::Table) };
    match suffix(path) {
        Some("json") => Ok(Format::Json),
        Some("csv") => Ok(Format::Csv),
        Some("md" | "markdown") => Ok(Format::Md),
        Some("html" | "htm") => Ok(Format::Html),
        Some("prom") => Ok(Format::Prometheus),
        Some("txt") | None => Ok(Format::Table),
        Some(other) => Err(unknown_suffix(other, "table, json, csv, md or html")),
    }
}

/// Suffix of a file's name.
pub(crate) fn suffix(path: &str) -> Option<&str> {
    path.rsplit(['/', '\\']).next()?.rsplit_once('.').map(|(_, suffix)| suffix)
}

/// Tests whether a path names an SVG image.
pub(crate) fn is_svg(path: Option<&str>) -> bool {
    path.is_some_and(|path| Path::new(path).extension().is_some_and(|suffix| suffix == "svg"))
}

/// The error for a suffix of no format.
pub(crate) fn unknown_suffix(suffix: &str, formats: &str) -> Problem {
    Problem::new(format!("unknown output format for the suffix `.{suffix}`"))
        .in_file("--output")
        .hint(format!("set it with --format: {formats}"))
}

/// True if results have no reader, because the caller closed standard output.
static IS_STDOUT_CLOSED: AtomicBool = AtomicBool::new(false);

/// Makes every write to standard output an error, if the caller closed it.
pub(crate) fn refuse_stdout(is_closed: bool) {
    IS_STDOUT_CLOSED.store(is_closed, Ordering::Relaxed);
}

/// Writes to standard output. A reader that closes a pipe ends the program without an error; a stream that is
/// closed from the start is an error.
pub(crate) fn to_stdout(write: impl FnOnce() -> std::io::Result<()>) -> Result<(), Failure> {
    let fail = |error: &dyn std::fmt::Display| {
        Err(Problem::new(format!("cannot write to standard output: {error}")).into())
    };
    if IS_STDOUT_CLOSED.load(Ordering::Relaxed) {
        return fail(&"it is closed");
    }
    match write().and_then(|()| std::io::stdout().flush()) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Err(Failure::BrokenPipe),
        Err(error) => fail(&error),
    }
}

/// Errors of stderr are ignored.
fn to_stderr(text: &str) {
    let _ = std::io::stderr().lock().write_all(text.as_bytes());
}
