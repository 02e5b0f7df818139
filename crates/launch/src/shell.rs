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
mod script;
mod start;
mod substitute;
mod templates;
mod values;

pub(crate) use documents::documents;
pub(crate) use script::{Arm, Choice, Command, Exported, Script, Unknown, Why, Word};
pub(crate) use templates::{filled, template};

use crate::context::Context;

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
