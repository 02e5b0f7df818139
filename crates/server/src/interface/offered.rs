//! Commands and arguments that questions may use.
//!
//! Responsible for: one place that identifies arguments of the terminal and of output files. Does not read
//! values.

use super::program::{Caller, Interface};
use crate::desk::Reply;
use clap::{Arg, Command, ValueHint};
use railwright_spec::human;
use railwright_spec::problem::{Problem, did_you_mean};
use railwright_spec::run::Key;

impl Interface {
    /// The available subcommands of a command.
    pub(super) fn offered<'a>(
        &self,
        command: &'a Command,
        caller: Caller,
    ) -> impl Iterator<Item = &'a Command> {
        let (terminal, writing) = (self.program.terminal, self.program.writing);
        command.get_subcommands().filter(move |one| {
            !terminal.contains(&one.get_name())
                && (caller == Caller::Linked || !writing.contains(&one.get_name()))
        })
    }

    /// The arguments that a question may set.
    pub(super) fn settable<'a>(
        &'a self,
        command: &'a Command,
        caller: Caller,
    ) -> impl Iterator<Item = &'a Arg> {
        command.get_arguments().filter(move |argument| {
            !self.program.not_set.contains(&argument.get_id().as_str())
                && (caller == Caller::Linked || !self.writes(argument))
        })
    }

    /// Tests whether an argument names an output file.
    pub(super) fn writes(&self, argument: &Arg) -> bool {
        let is_path = matches!(
            argument.get_value_hint(),
            ValueHint::FilePath | ValueHint::DirPath | ValueHint::AnyPath
        );
        let is_output = argument.get_help_heading() == Some("Output");
        argument.get_action().takes_values()
            && ((is_path && is_output) || self.program.outputs.contains(&argument.get_id().as_str()))
    }

    /// The key of a run file or a design that an argument sets; `None` for other arguments.
    pub(super) fn key_of(&self, argument: &Arg) -> Option<&Key> {
        self.keys.get(argument.get_id().as_str())
    }

    /// The command of some words.
    pub(super) fn find(&self, path: &[String], caller: Caller) -> Result<&Command, Reply> {
        let mut command = &self.program.commands;
        for word in path {
            let Some(inner) = self.offered(command, caller).find(|one| one.get_name() == word) else {
                let names: Vec<&str> = self.offered(command, caller).map(Command::get_name).collect();
                let list = format!("use one of {}", names.join(", "));
                let hint = did_you_mean(word, names.iter().copied(), &list);
                let word = human::shorten(word);
                return Err(Reply::Unknown(Problem::new(format!("unknown command `{word}`")).hint(hint)));
            };
            command = inner;
        }
        if command.get_subcommands().next().is_some() || path.is_empty() {
            let names: Vec<&str> = self.offered(command, caller).map(Command::get_name).collect();
            let problem = Problem::new(format!("`{}` requires a subcommand", path.join("/")));
            return Err(Reply::Unknown(problem.hint(format!("use one of {}", names.join(", ")))));
        }
        Ok(command)
    }
}

/// Name of an argument in a question.
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
