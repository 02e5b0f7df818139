//! The plan of the rooms: modules without circles, schedules in their own files, no prose as an interface,
//! rooms of bearable size.

#[path = "support/modules.rs"]
mod modules;

use modules::Modules;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// Every Rust file below a folder, sorted.
fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let (mut found, mut folders) = (Vec::new(), vec![folder.to_path_buf()]);
    while let Some(folder) = folders.pop() {
        let Ok(entries) = std::fs::read_dir(&folder) else { continue };
        for entry in entries {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "rs") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// Crates, and files in circles of each: numbers that may only fall.
const IN_CIRCLES: &[(&str, usize)] = &[
    ("spec", 0),
    ("step", 0),
    ("launch", 0),
    ("calculator", 0),
    ("tuner", 0),
    ("network", 0),
    ("profiler", 0),
    ("answers", 0),
    ("server", 0),
    ("tables", 0),
    ("reports", 0),
    ("inputs", 0),
    ("commands", 0),
    ("cli", 0),
];

#[test]
fn circles_of_modules_become_fewer() {
    let (mut seen, mut wrong) = (0, Vec::new());
    for &(krate, most) in IN_CIRCLES {
        let modules = Modules::read(&root().join("crates").join(krate).join("src"));
        seen += modules.len();
        let circles = modules.circles();
        let count: usize = circles.iter().map(Vec::len).sum();
        if count > most {
            wrong.push(format!("{krate}: {count} files, {most} are known: {circles:?}"));
        }
    }
    assert!(
        wrong.is_empty(),
        "more files use each other in circles; move what both need into a file of its own:\n{}",
        wrong.join("\n")
    );
    assert!(seen > 700, "only {seen} modules were seen");
}

/// Cases of the test above: a re-export is no use by the parent, but leads to the definition of a name.
#[test]
fn circles_are_seen_through_re_exports() {
    let folder = std::env::temp_dir().join(format!("railwright-rooms-{}", std::process::id()));
    std::fs::create_dir_all(folder.join("a")).expect("a folder");
    let write = |name: &str, text: &str| std::fs::write(folder.join(name), text).expect("written");
    write("lib.rs", "mod a;\nmod b;\nmod c;\n");
    write("a.rs", "mod one;\nmod two;\npub use one::One;\npub use two::Two;\n");
    write("a/one.rs", "pub struct One;\n");
    write("a/two.rs", "use super::One;\npub struct Two(One);\n");
    write("b.rs", "use crate::c::three;\nuse crate::a::{One, Two};\npub fn four() { three(); }\n");
    write("c.rs", "pub fn three() { crate::b::four(); }\n");
    let circles = Modules::read(&folder).circles();
    std::fs::remove_dir_all(&folder).expect("removed");
    assert_eq!(circles, [vec!["b".to_owned(), "c".to_owned()]]);
}

/// The variants of the list of schedules.
const SCHEDULES: [&str; 6] = ["Gpipe", "OneForwardOneBackward", "ZbH1", "ZbH2", "ZbV", "DualPipe"];

/// A schedule appears in the two lists and in its own two files. Readers of launch files contain the
/// frameworks' names of schedules.
#[test]
fn a_schedule_is_named_in_at_most_five_files() {
    let mut named: BTreeMap<&str, BTreeSet<PathBuf>> = BTreeMap::new();
    for krate in [
        "spec",
        "step",
        "calculator",
        "network",
        "tuner",
        "answers",
        "reports",
        "commands",
        "server",
        "cli",
        "profiler",
    ] {
        for path in rust_files(&root().join("crates").join(krate).join("src")) {
            let code = production(&path);
            for schedule in SCHEDULES {
                let is_named =
                    ["Schedule::", "Self::"].iter().any(|of| code.contains(&format!("{of}{schedule}")));
                let file =
                    path.file_stem().map(|stem| stem.to_string_lossy().replace('_', "")).unwrap_or_default();
                if is_named || file == schedule.to_lowercase() {
                    named.entry(schedule).or_default().insert(path.clone());
                }
            }
        }
    }
    assert_eq!(named.len(), SCHEDULES.len());
    for (schedule, files) in named {
        assert!(files.len() >= 4, "{schedule}: {files:#?}");
        assert!(
            files.len() <= 5,
            "{schedule} is named in {} files: ask its facts instead: {files:#?}",
            files.len()
        );
    }
}

/// Production code of a file; empty for a test file.
fn production(path: &Path) -> String {
    const TESTS: [&str; 6] = ["tests", "tests.rs", "testing.rs", "testing", "measured.rs", "properties.rs"];
    if path.iter().any(|part| part.to_str().is_some_and(|part| TESTS.contains(&part))) {
        return String::new();
    }
    let text = read(path);
    let text = text.split("#[cfg(test)]").next().unwrap_or_default();
    text.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
}

/// Files that look for words in messages of libraries: SQLite's have no code for an unknown name.
const READ_PROSE: &[&str] = &["crates/tables/src/query/ask.rs"];

/// Messages are for users: code uses a code, a key or a remedy.
#[test]
fn no_code_reads_its_own_messages() {
    let mut found = BTreeSet::new();
    for path in rust_files(&root().join("crates")) {
        let code = production(&path);
        let reads = ["message", "hint", "advice"].iter().any(|word| {
            [".contains(\"", ".contains(text", ".starts_with(\""]
                .iter()
                .any(|how| code.contains(&format!("{word}{how}")))
        });
        if reads {
            let name = path.strip_prefix(root()).unwrap_or(&path).display().to_string();
            found.insert(name.trim_start_matches("../").to_owned());
        }
    }
    for name in &found {
        assert!(READ_PROSE.contains(&name.as_str()), "{name} looks for words in a message");
    }
    for name in READ_PROSE {
        assert!(found.contains(*name), "{name} no longer reads messages: take it off the list");
    }
}

/// Maximum number of lines of a crate's sources, tests included: a larger crate must be divided, or another
/// must take over a part.
const ROOMS: &[(&str, usize)] = &[
    ("answers", 6_000),
    ("server", 3_300),
    ("report", 2_000),
    ("reports", 15_200),
    ("inputs", 7_000),
    ("commands", 3_020),
    ("cli", 9_500),
    ("step", 5_000),
    ("spec", 20_500),
];

#[test]
fn rooms_stay_of_bearable_size() {
    let mut wrong = Vec::new();
    for &(krate, most) in ROOMS {
        let files = rust_files(&root().join("crates").join(krate).join("src"));
        let lines: usize = files.iter().map(|path| read(path).lines().count()).sum();
        assert!(lines > most / 4, "{krate}: {lines} lines: is the test looking in the right place?");
        if lines > most {
            wrong.push(format!("{krate} has {lines} lines, more than {most}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Crates, and modules that each shows to the world: a new one is to be private, its names re-exported. The
/// numbers may only fall.
const PUBLIC_MODULES: &[(&str, usize)] = &[
    ("spec", 11),
    ("step", 10),
    ("launch", 12),
    ("calculator", 27),
    ("tuner", 17),
    ("network", 14),
    ("profiler", 45),
    ("answers", 0),
    ("report", 8),
    ("reports", 33),
    ("inputs", 27),
    ("commands", 0),
    ("server", 0),
    ("tables", 4),
];

#[test]
fn crates_show_no_more_modules_than_they_do() {
    let mut wrong = Vec::new();
    for &(krate, most) in PUBLIC_MODULES {
        let text = read(&root().join("crates").join(krate).join("src/lib.rs"));
        let count = text.lines().filter(|line| line.starts_with("pub mod ")).count();
        if count > most {
            wrong.push(format!("{krate} has {count} public modules, {most} are known"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
