//! `serve`: the web UI, and every command over HTTP on this machine.
//!
//! Responsible for: readable files, initially opened files, and the life of the server. Independent of HTTP:
//! see `railwright-server`. [`mod@line`] describes the commands, and requests run as commands in [`desk`].

mod desk;
mod line;
mod start;

use super::runner::Runner;
use crate::args;
use crate::input::access;
use railwright_commands::typed;
#[cfg(target_family = "wasm")]
use railwright_server::Backend;
pub(crate) use railwright_server::Caller;
use railwright_server::{Asked, Question, Reply};
use railwright_spec::problem::Problem;
#[cfg(not(target_family = "wasm"))]
use {
    crate::exit::{Failure, Outcome},
    crate::printer::{Printer, Stop},
    railwright_server::{Server, Settings, token_from_file},
    std::path::Path,
    std::sync::Arc,
};

/// The desk for a web UI that runs the program in the browser: nothing was given, and only files passed by
/// the page are read.
#[cfg(target_family = "wasm")]
pub(crate) fn page_desk(run: Runner) -> impl Backend {
    desk::Commands::new(
        run,
        crate::input::given::Given::default(),
        Box::new(|uploads| access::restrict(&[], uploads)),
    )
}

/// Serves until Ctrl-C.
#[cfg(not(target_family = "wasm"))]
pub(crate) fn run(arguments: &args::Serve, run: Runner, printer: &Printer) -> Result<Outcome, Failure> {
    if arguments.openapi {
        let caller = if arguments.linked { Caller::Linked } else { Caller::Page };
        printer.data(&line::interface().openapi(caller), None)?;
        return Ok(Outcome::Yes);
    }
    let given = crate::input::given::given(&arguments.paths)?;
    let token = arguments.token_file.as_deref().map(|path| token_from_file(Path::new(path))).transpose()?;
    let settings = Settings { port: arguments.port, token, ..Settings::default() };
    let server = Server::bind(settings).map_err(|error| {
        let problem = Problem::new(format!("cannot listen on port {}: {error}", arguments.port));
        problem.in_file("--port").hint("omit it to use a free port")
    })?;
    let url = format!("{}{}", server.url(), given.fragment());
    let stopper = server.stopper();
    Stop::on_signal(move || stopper.stop());
    printer.data(&format!("{url}\n"), None)?;
    printer.note("listening on localhost only; Ctrl-C stops the server");
    if !arguments.no_open && has_display() {
        // The URL is printed, for use without a local browser.
        let _ = server.ticket().map(|ticket| open::that_detached(format!("{ticket}{}", given.fragment())));
    }
    let roots = given.roots.clone();
    let desk = desk::Commands::new(run, given, Box::new(move |uploads| access::restrict(&roots, uploads)));
    server.run(Arc::new(desk)).map_err(|error| Problem::new(format!("the server failed: {error}")))?;
    Ok(Outcome::Yes)
}

/// A request with its arguments, and the command that these make.
pub(crate) fn asked(
    words: &[&str],
    arguments: &serde_json::Map<String, serde_json::Value>,
    format: Option<&str>,
    caller: Caller,
) -> Result<(args::Command, Asked), Vec<Problem>> {
    let command = words.iter().map(|word| (*word).to_owned()).collect();
    let question = Question { command, arguments: arguments.clone(), format: format.map(str::to_owned) };
    let asked = line::interface().asked(&question, caller);
    let asked = asked.map_err(refused)?;
    let command = typed(&asked.words, &asked.values).map_err(|problem| vec![problem])?;
    Ok((command, asked))
}

/// The problems of a request.
fn refused(reply: Reply) -> Vec<Problem> {
    match reply {
        Reply::Problems { problems, .. } => problems,
        Reply::Unknown(problem) | Reply::Broken(problem) => vec![problem],
        Reply::Answer { .. } => vec![Problem::new("not a request of a command")],
    }
}

/// The description of every command for a program that links this one: OpenAPI, from which it reads arguments
/// and kinds of results.
#[cfg(not(target_family = "wasm"))]
pub(crate) fn description() -> String {
    line::interface().openapi(Caller::Linked)
}

/// Tests whether a browser can be shown.
#[cfg(not(target_family = "wasm"))]
fn has_display() -> bool {
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    cfg!(any(windows, target_os = "macos"))
        || is_set("DISPLAY")
        || is_set("WAYLAND_DISPLAY")
        || is_set("BROWSER")
}
