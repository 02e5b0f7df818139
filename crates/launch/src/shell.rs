//! Shell scripts read without running them: which commands a script would start, with which words.
//!
//! Responsible for: assignments, arrays, parameter expansion, whole-number arithmetic, conditions on what is known, and the line that
//! every word comes from. Refuses to run anything, to read other files and to look at the environment: what depends on these is
//! marked as unknown. What a hostile script can make it hold and do is bounded.

mod arithmetic;
mod condition;
mod expand;
mod lex;
mod run;

use std::collections::BTreeMap;

/// What a script was read as.
#[derive(Debug, Default)]
pub(crate) struct Script {
    /// The commands that it would start, in order.
    pub(crate) commands: Vec<Command>,
    /// The variables at its end, each as words: for commands that are put together and started in a way not understood here.
    pub(crate) variables: BTreeMap<String, Vec<Word>>,
    /// What could not be decided: the line, what stands there, why.
    pub(crate) open: Vec<(usize, String, String)>,
}

/// A command with its words.
#[derive(Clone, Debug)]
pub(crate) struct Command {
    /// The words, expanded.
    pub(crate) words: Vec<Word>,
    /// The line that it begins in.
    pub(crate) line: usize,
}

/// A word of a command.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Word {
    /// Its text; what is unknown stands as it is written, `$NAME`.
    pub(crate) text: String,
    /// The line that it is written in.
    pub(crate) line: usize,
    /// What has no value in this script: names of variables, commands whose output is meant.
    pub(crate) unknown: Vec<String>,
}

/// Reads a script. `given` are variables that are known from elsewhere.
pub(crate) fn read(text: &str, given: &[(&str, String)]) -> Script {
    run::run(text, given)
}

#[cfg(test)]
mod tests;
