//! Shell scripts read without running them: the commands that a script would start, with their words.
//!
//! Responsible for: assignments, arrays, parameter expansion, whole-number arithmetic, conditions on known
//! values, functions and loops; the scripts that a script reads or starts; the origin of every word. Runs
//! nothing and ignores the environment: values that depend on these are unknown, with the reason. An
//! undecided branch leaves open the values that it would change. Memory and time of a hostile script are
//! bounded.

mod arithmetic;
mod blocks;
mod condition;
mod documents;
mod edits;
mod expand;
mod lex;
mod merge;
mod parameter;
mod pattern;
mod run;
mod start;
mod substitute;
mod templates;
mod values;

pub(crate) use documents::documents;
pub(crate) use templates::{Substitution, filled, template};

use crate::context::{Context, Sources};
use std::collections::{BTreeMap, BTreeSet};

/// Parsed script. Lines are numbered through all its files; [`Sources`] maps them to files.
#[derive(Debug, Default)]
pub(crate) struct Script {
    /// The commands that it would start, in order.
    pub(crate) commands: Vec<Command>,
    /// The words of `sbatch` before the script that it starts.
    pub(crate) submitted: Vec<Command>,
    /// The variables at its end, each as words: for commands that are assembled and started in an
    /// unsupported form.
    pub(crate) variables: BTreeMap<String, Vec<Word>>,
    /// Variables that its programs inherit, in the order of their export.
    pub(crate) environment: Vec<Exported>,
    /// Its commands `envsubst`, with what they inherit.
    pub(crate) substitutions: Vec<Substitution>,
    /// Texts of the files that it writes, by path.
    pub(crate) written: BTreeMap<String, String>,
    /// Undecided parts: line, text and reason.
    pub(crate) open: Vec<(usize, String, String)>,
    /// Values that branches leave open, which [`Why::Either`] counts into.
    pub(crate) choices: Vec<Choice>,
    /// Environment variables that are not given: read as unset.
    pub(crate) taken_as_unset: BTreeSet<String>,
    /// True if a file that it reads or starts is missing.
    pub(crate) has_missing: bool,
    /// True if its expansion exceeds the limit, so that the rest of it is ignored.
    pub(crate) is_cut: bool,
    /// True if it uses its arguments and none were given.
    pub(crate) needs_arguments: bool,
    /// The texts that were read, the script's own first, with the first line of each.
    pub(crate) sources: Sources,
}

/// A command with its words.
#[derive(Clone, Debug, Default)]
pub(crate) struct Command {
    /// The words, expanded.
    pub(crate) words: Vec<Word>,
    /// Its first line.
    pub(crate) line: usize,
    /// The undecided branches that contain it, the outermost first.
    pub(crate) arms: Vec<Arm>,
    /// True if nothing in the script starts it: it is the value of a variable.
    pub(crate) is_alone: bool,
    /// Variables set for this command alone, before it.
    pub(crate) prefix: Vec<(String, String)>,
}

/// A variable that a program inherits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Exported {
    /// Its name.
    pub(crate) name: String,
    /// Its value, if it is known.
    pub(crate) value: Option<String>,
    /// The line that exports it.
    pub(crate) line: usize,
}

/// One of the branches of a condition that cannot be decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Arm {
    /// The line of the condition.
    pub(crate) line: usize,
    /// Which of its branches.
    pub(crate) index: usize,
}

impl Command {
    /// The line of the innermost undecided condition that contains it.
    pub(crate) fn conditional(&self) -> Option<usize> {
        self.arms.last().map(|arm| arm.line)
    }

    /// Tests whether one run starts only one of two commands: they are in different branches of a condition.
    pub(crate) fn excludes(&self, other: &Self) -> bool {
        let same = self.arms.iter().zip(&other.arms).find(|(own, their)| own != their);
        same.is_some_and(|(own, their)| own.line == their.line)
    }
}

impl Script {
    /// The last command whose words pass a test, as the words of its launcher and those that begin with the
    /// program.
    pub(crate) fn last_with(&self, is_program: impl Fn(&str) -> bool) -> Option<(&[Word], &[Word])> {
        self.commands.iter().rev().find_map(|command| {
            let at = command.words.iter().position(|word| is_program(&word.text))?;
            Some(command.words.split_at(at))
        })
    }
}

/// A word of a command.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Word {
    /// Its text; an unknown part is kept as written, `$NAME`.
    pub(crate) text: String,
    /// The line that it is written in.
    pub(crate) line: usize,
    /// Parts without a value in this script.
    pub(crate) unknown: Vec<Unknown>,
}

impl Word {
    /// The part after the last slash: the name of a program, also with its path.
    pub(crate) fn file_name(&self) -> &str {
        self.text.rsplit('/').next().unwrap_or_default()
    }
}

/// A part of a word that has no value, and the reason.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Unknown {
    /// The text as written: `${TP}`, `$(nproc)`.
    pub(crate) text: String,
    /// Reason why it has no value.
    pub(crate) why: Why,
}

/// Reason why something has no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Why {
    /// A variable that the script does not set; in a test it is empty.
    Unset,
    /// An argument of the script, which is read without arguments.
    Argument,
    /// Values known only at run time.
    Undecidable,
    /// One of several values, by a branch that cannot be decided; the index among the choices.
    Either(usize),
}

/// A value that a branch leaves open.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Choice {
    /// The line of the branch.
    pub(crate) line: usize,
    /// Possible texts, each as words.
    pub(crate) alternatives: Vec<Vec<Word>>,
}

/// Tests whether the first line of a text names a shell.
pub(crate) fn is_marked(text: &str) -> bool {
    text.lines().next().is_some_and(|line| {
        line.starts_with("#!")
            && line
                .split(|c: char| c == '/' || c.is_whitespace())
                .any(|word| matches!(word, "sh" | "bash" | "zsh" | "dash" | "ksh"))
    })
}

/// Tests whether the expansion of a script exceeds the limit, so that commands after it are unknown.
pub fn expands_beyond_the_limit(text: &str) -> bool {
    is_marked(text) && read_alone(text).is_cut
}

impl Script {
    /// The value of a variable that the script sets to known words.
    fn value(&self, name: &str) -> Option<String> {
        let words = self.variables.get(name)?;
        let is_known = words.iter().all(|word| word.unknown.is_empty());
        is_known.then(|| words.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" "))
    }
}

/// Reads a script. `given` are variables that its own directives set; `directives` reads those of further
/// scripts.
pub(crate) fn read(
    text: &str,
    file: &str,
    context: &Context<'_>,
    directives: fn(&str) -> Vec<(&'static str, String)>,
) -> Script {
    let mut script = run::run(text, file, context, directives);
    let filled = |word: &str| edits::with_values(word, |name| script.value(name));
    let edited = edits::made(&filled, file, text, context);
    for (name, made) in edited {
        script.written.entry(name).or_insert(made);
    }
    script
}

/// Reads a script without context. Assignments before a command also count as variables.
pub(crate) fn read_alone(text: &str) -> Script {
    let mut script = read(text, "", &Context::default(), |_| Vec::new());
    for command in &script.commands {
        for (name, value) in &command.prefix {
            let word = Word { text: value.clone(), line: command.line, unknown: Vec::new() };
            script.variables.entry(name.clone()).or_insert_with(|| vec![word]);
        }
    }
    script
}

#[cfg(test)]
mod tests;
