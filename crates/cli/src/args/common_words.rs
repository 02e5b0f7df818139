//! Common words for a flag that has another name here.
//!
//! Responsible for: a suggestion for a flag that is neither a typing error nor a framework's. Near names are
//! left to clap.

use clap::Command;

/// Words as typed without dashes, and the flags to use instead, the likeliest first. A flag that the command
/// lacks is left out.
const WORDS: &str = include_str!("help/common-words.txt");

/// Words and flags of each line.
fn words() -> impl Iterator<Item = (Vec<&'static str>, Vec<&'static str>)> {
    let sides = WORDS.lines().filter_map(|line| line.split_once(" = "));
    sides.map(|(words, flags)| (words.split(' ').collect(), flags.split("; ").collect()))
}

/// Flags of a command that mean a word.
pub(super) fn meant(typed: &str, command: &Command) -> Vec<String> {
    let word = typed.trim_start_matches('-').split('=').next().unwrap_or_default().replace('_', "-");
    let Some((_, flags)) = words().find(|(words, _)| words.contains(&word.as_str())) else {
        return Vec::new();
    };
    flags.iter().filter(|flag| has(command, flag)).map(|flag| format!("use `{flag}`")).map(closed).collect()
}

/// A suggestion whose remark is outside the quotation marks.
fn closed(text: String) -> String {
    match text.split_once(": ") {
        Some((flag, remark)) => format!("{flag}`, {}", remark.trim_end_matches('`')),
        None => text,
    }
}

/// Tests whether a command has a flag, by its name or an alias.
fn has(command: &Command, flag: &str) -> bool {
    let name = flag.trim_start_matches('-').split([' ', ':']).next().unwrap_or_default();
    command.get_arguments().any(|arg| {
        arg.get_long() == Some(name) || arg.get_all_aliases().is_some_and(|aliases| aliases.contains(&name))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_word_stands_once_and_every_flag_exists() {
        let whole = super::super::whole();
        let commands: Vec<&Command> = whole.get_subcommands().collect();
        let mut seen = BTreeSet::new();
        for (words, flags) in words() {
            assert!(words.iter().all(|word| seen.insert(*word)), "{words:?}");
            for flag in flags {
                assert!(commands.iter().any(|command| has(command, flag)), "{flag}");
            }
        }
    }

    /// A word that every command with the flag takes is never looked up.
    #[test]
    fn every_word_is_unknown_to_a_command_with_its_flag() {
        let whole = super::super::whole();
        let is_offered = |word: &str, flags: &[&str]| {
            whole
                .get_subcommands()
                .any(|command| !has(command, word) && flags.iter().any(|flag| has(command, flag)))
        };
        for (words, flags) in words() {
            for word in words {
                assert!(is_offered(word, &flags), "{word}");
            }
        }
    }

    #[test]
    fn a_command_is_offered_its_own_flags_only() {
        let whole = super::super::whole();
        let of = |command: &str, word: &str| meant(word, whole.find_subcommand(command).unwrap());
        assert_eq!(of("size", "--days"), ["use `--deadline <TIME>`, such as 90d"]);
        assert_eq!(of("estimate", "--days"), [""; 0]);
        assert_eq!(
            of("estimate", "--gradient_checkpointing"),
            ["use `--recompute <full|selective|none|...>`"]
        );
        assert_eq!(of("size", "--lora"), ["use `--optimizer lora`"]);
        assert_eq!(of("estimate", "--nodes=4"), ["use `--gpus <N>`, the number of all devices"]);
        assert!(of("estimate", "--colour").is_empty());
    }
}
