//! The documentation site: every page is in its table of contents, and the command reference is the program's
//! own help. `xtask` checks links.
//!
//! `GUIDES_UPDATE=1` writes `docs/reference/commands.md` again.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs")
}

/// All Markdown files below a folder, the built book left out.
fn pages(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() && path.file_name().is_some_and(|name| name != "book") {
            found.extend(pages(&path));
        } else if path.extension().is_some_and(|e| e == "md") {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// Targets of links and pictures outside code blocks.
fn links(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut fenced = false;
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        }
        if fenced {
            continue;
        }
        let mut rest = line;
        while let Some((_, after)) = rest.split_once("](") {
            let Some((target, after)) = after.split_once(')') else { break };
            found.push(target.to_owned());
            rest = after;
        }
    }
    found
}

#[test]
fn every_page_is_in_the_table_of_contents() {
    let root = docs();
    let summary = std::fs::read_to_string(root.join("SUMMARY.md")).expect("a table of contents");
    let listed: BTreeSet<String> = links(&summary).into_iter().collect();
    let written: BTreeSet<String> = pages(&root)
        .iter()
        .map(|page| page.strip_prefix(&root).expect("below docs").to_string_lossy().into_owned())
        .filter(|name| name != "SUMMARY.md")
        .collect();
    assert_eq!(written, listed);
}

/// The help of a command, without the options that every command has.
fn help(path: &[&str]) -> String {
    let mut arguments = path.to_vec();
    arguments.push("--help");
    let answer = crate::support::run(&arguments);
    assert_eq!(answer.code, 0, "{path:?}: {}", answer.stderr);
    let text = answer.stdout;
    let cut = text.find("\nGlobal:").map_or(text.as_str(), |at| &text[..at]);
    let after = text.find("\nExamples:").filter(|at| *at > cut.len()).map_or("", |at| &text[at..]);
    let lines: Vec<&str> = cut.lines().chain(after.lines()).map(str::trim_end).collect();
    lines.join("\n").trim_end().to_owned()
}

/// A help text whose groups of options refer to the first command with the same group.
fn shortened(command: &str, text: &str, known: &mut BTreeMap<String, String>) -> String {
    let is_title = |line: &str| line.ends_with(':') && line.starts_with(char::is_uppercase);
    let mut groups: Vec<Vec<&str>> = vec![Vec::new()];
    for line in text.lines() {
        if is_title(line) {
            groups.push(Vec::new());
        }
        groups.last_mut().expect("a group").push(line);
    }
    let mut shown = Vec::new();
    for group in groups {
        let body = group.join("\n").trim_end().to_owned();
        match known.get(&body) {
            Some(first) if group.len() > 6 => shown.push(format!("{} as in `{first}`", group[0])),
            _ => {
                known.insert(body.clone(), command.to_owned());
                shown.push(body);
            }
        }
    }
    shown.retain(|group| !group.is_empty());
    shown.join("\n\n")
}

/// Names of the commands that a help text lists.
fn commands(text: &str) -> Vec<String> {
    // The program groups its commands by task; other commands have one list.
    let Some((_, list)) = text.split_once("\nCommands:\n").or_else(|| text.split_once("\nPlan\n")) else {
        return Vec::new();
    };
    list.lines()
        .take_while(|line| !line.starts_with("Options"))
        .filter(|line| line.starts_with("  "))
        .filter(|line| !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| *name != "help")
        .map(str::to_owned)
        .collect()
}

#[test]
fn the_command_reference_is_the_help_of_the_program() {
    let mut page = String::from(
        "# Command line\n\nThe help of every command (`railwright COMMAND --help`). All commands accept `--color`, `--ascii` and `--quiet`. \
         Exit codes are listed in [Exit codes](exit-codes.md).\n",
    );
    let mut count = 0;
    let mut known = BTreeMap::new();
    for name in commands(&help(&[])) {
        let text = help(&[&name]);
        let _ = write!(page, "\n## {name}\n\n```text\n{}\n```\n", shortened(&name, &text, &mut known));
        count += 1;
        for inner in commands(&text) {
            let full = format!("{name} {inner}");
            let text = shortened(&full, &help(&[&name, &inner]), &mut known);
            let _ = write!(page, "\n### {full}\n\n```text\n{text}\n```\n");
            count += 1;
        }
    }
    assert!(count > 40, "only {count} commands were found");
    let path = docs().join("reference/commands.md");
    if std::env::var_os("GUIDES_UPDATE").is_some() {
        std::fs::write(&path, &page).expect("writable");
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(written == page, "docs/reference/commands.md is stale; run this test with GUIDES_UPDATE=1");
}

#[test]
fn the_record_of_unseen_publications_is_what_the_program_prints() {
    let table = docs().join("../catalog/evidence/unseen_runs.csv");
    let output = crate::support::run(&["validate", &table.to_string_lossy(), "--json"]).stdout;
    let answer: serde_json::Value = serde_json::from_str(&output).expect("JSON");
    let summary = &answer["summary"];
    let limits = std::fs::read_to_string(docs().join("limits.md")).expect("a page");
    for (name, group) in [
        ("all predicted", &summary["overall"]),
        ("mixtures of experts", &summary["groups"]["mixture of experts"]),
    ] {
        let share = |value: &serde_json::Value| format!("{:.1}%", 100.0 * value.as_f64().expect("a number"));
        let time = &group["step_time"];
        let [median, p90, inside] =
            [&time["median_absolute"], &time["p90_absolute"], &group["interval_coverage"]].map(share);
        let row = format!("| {name} | {median} | {p90} | {inside} |");
        assert!(limits.contains(&row), "docs/limits.md lacks `{row}`");
    }
}
