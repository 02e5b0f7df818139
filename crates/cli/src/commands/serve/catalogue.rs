//! Commands and arguments that requests may use.
//!
//! Responsible for: one place that identifies arguments of the terminal and of output files. Does not read values.

use crate::args;
use clap::{Arg, Command, ValueHint};
use railwright_network::topology::DesignSpec;
use railwright_server::Reply;
use railwright_spec::human;
use railwright_spec::problem::{Problem, did_you_mean};
use railwright_spec::run::{Key, Section as _, keys};
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// Origin of a request; determines the allowed commands and arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Caller {
    /// A web UI or another program, over HTTP or inside a page: nothing is written.
    Page,
    /// A program that links this one, with the rights of its own process: all arguments except those of the terminal.
    Linked,
}

/// Commands that are about the terminal.
const TERMINAL: &[&str] = &["serve", "completions", "man", "help"];
/// Commands that write files.
const WRITE: &[&str] = &["init", "save", "digest", "tune", "export-perfetto"];
/// Arguments that are about the terminal.
const NOT_SET: &[&str] = &["help", "version", "color", "ascii", "quiet", "format", "json", "listed_designs"];

/// All commands of the parser, complete.
pub(super) fn commands() -> &'static Command {
    static COMMANDS: OnceLock<Command> = OnceLock::new();
    COMMANDS.get_or_init(args::whole)
}

/// The available subcommands of a command.
pub(super) fn asked(command: &Command, caller: Caller) -> impl Iterator<Item = &Command> {
    command.get_subcommands().filter(move |one| {
        !TERMINAL.contains(&one.get_name()) && (caller == Caller::Linked || !WRITE.contains(&one.get_name()))
    })
}

/// The arguments that a request may set.
pub(super) fn settable(command: &Command, caller: Caller) -> impl Iterator<Item = &Arg> {
    command.get_arguments().filter(move |argument| {
        !NOT_SET.contains(&argument.get_id().as_str()) && (caller == Caller::Linked || !writes(argument))
    })
}

/// Tests whether an argument names an output file.
pub(super) fn writes(argument: &Arg) -> bool {
    let is_path =
        matches!(argument.get_value_hint(), ValueHint::FilePath | ValueHint::DirPath | ValueHint::AnyPath);
    let is_output = argument.get_help_heading() == Some("Output");
    argument.get_action().takes_values()
        && ((is_path && is_output) || ["output", "figures"].contains(&argument.get_id().as_str()))
}

/// Name of an argument in a request.
pub(super) fn name_of(argument: &Arg) -> String {
    argument.get_long().map_or_else(|| argument.get_id().as_str().to_lowercase(), str::to_owned)
}

pub(super) fn is_called(argument: &Arg, name: &str) -> bool {
    match argument.get_long() {
        Some(long) => {
            long == name || argument.get_all_aliases().is_some_and(|aliases| aliases.contains(&name))
        }
        None => argument.is_positional() && argument.get_id().as_str().eq_ignore_ascii_case(name),
    }
}

/// The key of a run file or a design that an argument sets; `None` for other arguments.
pub(super) fn key_of(argument: &Arg) -> Option<&'static Key> {
    static KEYS: OnceLock<BTreeMap<String, Key>> = OnceLock::new();
    let keys = KEYS.get_or_init(|| {
        keys().into_iter().chain(DesignSpec::KEYS.iter().cloned()).map(|key| (key.path(), key)).collect()
    });
    keys.get(argument.get_id().as_str())
}

/// The command of some words.
pub(super) fn find(path: &[String], caller: Caller) -> Result<&'static Command, Reply> {
    let mut command = commands();
    for word in path {
        let Some(inner) = asked(command, caller).find(|one| one.get_name() == word) else {
            let names: Vec<&str> = asked(command, caller).map(Command::get_name).collect();
            let list = format!("use one of {}", names.join(", "));
            let hint = did_you_mean(word, names.iter().copied(), &list);
            let word = human::shorten(word);
            return Err(Reply::Unknown(Problem::new(format!("unknown command `{word}`")).hint(hint)));
        };
        command = inner;
    }
    if command.get_subcommands().next().is_some() || path.is_empty() {
        let names: Vec<&str> = asked(command, caller).map(Command::get_name).collect();
        let problem = Problem::new(format!("`{}` requires a subcommand", path.join("/")));
        return Err(Reply::Unknown(problem.hint(format!("use one of {}", names.join(", ")))));
    }
    Ok(command)
}
