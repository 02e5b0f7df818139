//! Help, documentation and snapshots use the words of the glossary, and help has short sentences.
//!
//! Responsible for: reading the words to avoid from `docs/glossary.md`, and counting them. Help may have
//! none. Every other text may have as many as `words.counts` lists for it, which may only fall:
//! `WORDS_UPDATE=1` writes lower counts and rejects higher ones.

#[path = "support/glossary.rs"]
mod glossary;
use glossary::{avoided, count, flat, root};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Words in a sentence of help.
const LONGEST: usize = 25;

/// Columns of the narrowest terminal that help is written for.
const NARROWEST: usize = 80;
/// Lines of the longest short help, at that width: one screen.
const LONGEST_SHORT_HELP: usize = 40;

/// Words to avoid that help may use, each with the line that uses it.
const ALLOWED: &[(&str, &str)] = &[];

/// All commands with help, as command lines.
fn commands() -> Vec<Vec<String>> {
    let (mut open, mut found) = (vec![Vec::new()], Vec::new());
    while let Some(command) = open.pop() {
        let help = help(&command);
        // The program groups its commands by task; other commands have one list.
        let list = help.split_once("\nCommands:\n").or_else(|| help.split_once("\nPlan\n"));
        let list = list.map_or("", |(_, list)| list);
        for line in list.lines().take_while(|line| !line.starts_with("Options")) {
            let Some(name) = line.strip_prefix("  ").and_then(|line| line.split(' ').next()) else {
                continue;
            };
            if !name.is_empty() && name != "help" {
                open.push(command.iter().cloned().chain([name.to_owned()]).collect());
            }
        }
        found.push(command);
    }
    found
}

fn help(command: &[String]) -> String {
    let words: Vec<&str> = command.iter().map(String::as_str).chain(["--help"]).collect();
    crate::support::run(&words).stdout
}

/// The texts of a help: paragraphs and descriptions, without examples and usage.
fn texts(help: &str) -> Vec<String> {
    let mut found: Vec<String> = vec![String::new()];
    for line in help.lines() {
        let text = line.trim();
        if text.is_empty() || text.starts_with("- ") || text.starts_with('-') {
            found.push(String::new());
        }
        // A name and its description have a gap between them.
        let text = text.rsplit("  ").next().unwrap_or_default().trim_start_matches("- ");
        let is_command = line.starts_with("  railwright ") || line.starts_with("Usage:");
        if is_command || text.starts_with("--") || text.ends_with(':') {
            found.push(String::new());
        } else if let Some(last) = found.last_mut() {
            last.push(' ');
            last.push_str(text);
        }
        if line.starts_with("  ") && !line.starts_with("    ") && line.trim().contains("  ") {
            found.push(String::new());
        }
    }
    found
}

#[test]
fn help_avoids_what_the_glossary_avoids() {
    let avoided = avoided();
    let commands = commands();
    assert!(commands.len() > 40, "{}", commands.len());
    let mut wrong = BTreeSet::new();
    for command in &commands {
        let help = flat(&help(command));
        for word in avoided.iter().filter(|word| count(&help, word) > 0) {
            let is_allowed = ALLOWED.iter().any(|(allowed, place)| allowed == word && help.contains(place));
            if !is_allowed {
                wrong.insert(format!("railwright {} --help: `{word}`", command.join(" ")));
            }
        }
    }
    assert!(wrong.is_empty(), "see docs/glossary.md:\n{}", wrong.into_iter().collect::<Vec<_>>().join("\n"));
}

#[test]
fn sentences_of_help_are_short() {
    let mut wrong = BTreeSet::new();
    for command in commands() {
        for text in texts(&help(&command)) {
            let text = text.split(" [").next().unwrap_or_default();
            for sentence in text.split(['.', ':', ';']).filter(|s| s.split_whitespace().count() > LONGEST) {
                wrong.insert(format!("railwright {} --help: {}", command.join(" "), sentence.trim()));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "more than {LONGEST} words:\n{}",
        wrong.into_iter().collect::<Vec<_>>().join("\n")
    );
}

#[test]
fn help_fits_a_narrow_terminal() {
    let mut wide = BTreeSet::new();
    for command in commands() {
        for flag in ["-h", "--help"] {
            let words: Vec<&str> = command.iter().map(String::as_str).chain([flag]).collect();
            let mut program = crate::support::program(&words);
            let output = program.env("COLUMNS", NARROWEST.to_string()).output().expect("the program starts");
            let help = String::from_utf8(output.stdout).expect("the program writes UTF-8");
            // Examples are command lines to copy, which must not be broken, and words are never broken.
            let (text, _) = help.split_once("\nExamples:\n").unwrap_or((&help, ""));
            let wide_line = |line: &&str| line.chars().count() > NARROWEST && line.trim().contains(' ');
            for line in text.lines().filter(wide_line) {
                wide.insert(format!("railwright {} {flag}: {line}", command.join(" ")));
            }
        }
    }
    assert!(
        wide.is_empty(),
        "wider than {NARROWEST} columns:\n{}",
        wide.into_iter().collect::<Vec<_>>().join("\n")
    );
}

/// `-h` fits on one screen; `--help` has the rest.
#[test]
fn short_help_is_short() {
    for command in commands() {
        let words: Vec<&str> = command.iter().map(String::as_str).chain(["-h"]).collect();
        let mut program = crate::support::program(&words);
        let output = program.env("COLUMNS", NARROWEST.to_string()).output().expect("the program starts");
        let lines = String::from_utf8_lossy(&output.stdout).lines().count();
        assert!((1..=LONGEST_SHORT_HELP).contains(&lines), "railwright {}: {lines} lines", words.join(" "));
    }
}

/// Documents and snapshots, by their path in the repository.
fn documents() -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut open =
        vec![root().join("docs"), root().join("crates/cli/tests/snapshots"), root().join("README.md")];
    while let Some(path) = open.pop() {
        if path.is_dir() {
            open.extend(
                std::fs::read_dir(&path).expect("a folder").map(|entry| entry.expect("an entry").path()),
            );
            continue;
        }
        let is_text = path.extension().is_some_and(|ending| ending == "md" || ending == "snap");
        let name = path.strip_prefix(root()).expect("within").to_string_lossy().replace('\\', "/");
        if is_text && name != "docs/glossary.md" {
            found.insert(name, std::fs::read_to_string(&path).expect("readable"));
        }
    }
    found
}

#[test]
fn documents_have_fewer_and_fewer_words_to_avoid() {
    let avoided = avoided();
    let list = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/words.counts");
    let listed = std::fs::read_to_string(&list).unwrap_or_default();
    let most: BTreeMap<&str, usize> = listed
        .lines()
        .filter_map(|line| line.split_once(' '))
        .map(|(count, name)| (name, count.parse().expect("a count")))
        .collect();
    let (mut wrong, mut counts) = (Vec::new(), Vec::new());
    for (name, text) in documents() {
        let text = flat(&text);
        let found: Vec<(usize, &String)> =
            avoided.iter().map(|word| (count(&text, word), word)).filter(|(n, _)| *n > 0).collect();
        let all: usize = found.iter().map(|(n, _)| n).sum();
        if all > most.get(name.as_str()).copied().unwrap_or(0) {
            let words: Vec<String> = found.iter().map(|(n, word)| format!("{n} x `{word}`")).collect();
            wrong.push(format!("{name}: {all}: {}", words.join(", ")));
        }
        if all > 0 {
            counts.push(format!("{all} {name}\n"));
        }
    }
    if std::env::var_os("WORDS_UPDATE").is_some() && (wrong.is_empty() || listed.is_empty()) {
        std::fs::write(&list, counts.concat()).expect("writable");
        return;
    }
    assert!(
        wrong.is_empty(),
        "more words to avoid than tests/words.counts has, see docs/glossary.md:\n{}",
        wrong.join("\n")
    );
}
