//! What a script would start: its commands, their words and their unknown parts.

use crate::context::Sources;
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

impl Script {
    /// The value of a variable that the script sets to known words.
    pub(super) fn value(&self, name: &str) -> Option<String> {
        let words = self.variables.get(name)?;
        let is_known = words.iter().all(|word| word.unknown.is_empty());
        is_known.then(|| words.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" "))
    }
}

/// A command `envsubst`, as it starts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Substitution {
    /// Its line.
    pub(crate) line: usize,
    /// Known values of exported variables.
    pub(crate) values: BTreeMap<String, String>,
    /// The variables that its argument names; empty for all.
    pub(crate) only: Vec<String>,
}
