//! A program as its interface sees it: its commands, and which of them are about the terminal or write files.

use clap::Command;
use railwright_spec::run::Key;
use std::collections::BTreeMap;

/// Origin of a question; determines the allowed commands and arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Caller {
    /// A web UI or another program, over HTTP or inside a page: nothing is written.
    Page,
    /// A program that links this one, with the rights of its own process: all arguments except those of the
    /// terminal.
    Linked,
}

/// Kinds of results of a command: its words, separated by slashes, and the kinds.
pub type Kinds = (&'static str, &'static [&'static str]);

/// Description of a program.
#[derive(Debug)]
pub struct Program {
    /// Complete description of all commands.
    pub commands: Command,
    /// Keys that arguments set, with the identifier of an argument as path.
    pub keys: Vec<Key>,
    /// Commands that are about the terminal.
    pub terminal: &'static [&'static str],
    /// Commands that write files.
    pub writing: &'static [&'static str],
    /// Arguments that are about the terminal.
    pub not_set: &'static [&'static str],
    /// Arguments that name output files without being listed as output.
    pub outputs: &'static [&'static str],
    /// Commands with results in HTML.
    pub pages: &'static [&'static str],
    /// Kinds of results of commands whose names differ from their result's; the rest have one of the
    /// command's name.
    pub kinds: &'static [Kinds],
    /// Version of the fields of results.
    pub schema_version: u32,
}

/// The questions that a program answers.
#[derive(Debug)]
pub struct Interface {
    pub(super) program: Program,
    pub(super) keys: BTreeMap<String, Key>,
}

impl Interface {
    /// The questions of a program.
    pub fn new(program: Program) -> Self {
        let keys = program.keys.iter().map(|key| (key.path(), key.clone())).collect();
        Self { program, keys }
    }
}
