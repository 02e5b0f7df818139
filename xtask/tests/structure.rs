//! Structure of the code: the invariants of ARCHITECTURE.md that can be checked in the sources.
//!
//! Responsible for: crates that depend downwards only, core crates without I/O, the same functions on every
//! platform, build profiles, file lengths, module headers, and code without references to measured runs.
//! Excludes behaviour: see the tests of the crates.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The crates from the bottom up: each may depend only on those before it.
const FLOORS: &[&str] = &[
    "railwright-cases",
    "railwright-catalog",
    "railwright-web",
    "railwright-spec",
    "railwright-step",
    "railwright-launch",
    "railwright-calculator",
    "railwright-profiler",
    "railwright-tables",
    "railwright-network",
    "railwright-tuner",
    "railwright-answers",
    "railwright-report",
    "railwright-reports",
    "railwright-server",
    "railwright-remote",
    "railwright-inputs",
    "railwright-commands",
    "railwright",
    "railwright-python",
    "xtask",
];

/// Crates on the same floor, which must not depend on each other.
const APART: &[(&str, &str)] = &[
    ("railwright-profiler", "railwright-calculator"),
    ("railwright-network", "railwright-calculator"),
    ("railwright-network", "railwright-profiler"),
    ("railwright-launch", "railwright-step"),
    ("railwright-launch", "railwright-calculator"),
];

/// Crates without I/O.
const CORE: &[&str] = &["spec", "step", "launch", "calculator", "tuner", "network", "profiler", "answers"];

/// Files that may be longer than 600 lines, with the reason.
const LONG: &[(&str, &str)] = &[];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// Every file below a folder with one of these suffixes, sorted, without build outputs and installed files.
fn files_below(folder: &Path, suffixes: &[&str]) -> Vec<PathBuf> {
    const MADE: [&str; 4] = ["target", "node_modules", "dist", "artifacts"];
    let mut found = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        let Ok(entries) = std::fs::read_dir(&folder) else { continue };
        for entry in entries {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                if !MADE.iter().any(|made| path.ends_with(made)) {
                    folders.push(path);
                }
            } else if path.extension().and_then(|e| e.to_str()).is_some_and(|e| suffixes.contains(&e)) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    files_below(folder, &["rs"])
}

/// Hand-written source files of the web UI.
fn page_files() -> Vec<PathBuf> {
    let generated = root().join("web/src/api/schema");
    let mut files = files_below(&root().join("web"), &["ts", "tsx", "mjs"]);
    files.retain(|path| !path.starts_with(&generated));
    files
}

fn all_rust_files() -> Vec<PathBuf> {
    ["crates", "python", "xtask", "fuzz"].iter().flat_map(|folder| rust_files(&root().join(folder))).collect()
}

fn shown(path: &Path) -> String {
    path.strip_prefix(root()).unwrap_or(path).display().to_string()
}

/// The folders of the workspace's crates.
fn crate_folders() -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> = std::fs::read_dir(root().join("crates"))
        .expect("crates")
        .map(|e| e.expect("an entry").path())
        .filter(|p| p.join("Cargo.toml").is_file())
        .collect();
    folders.extend(["catalog", "python", "web", "xtask"].map(|folder| root().join(folder)));
    folders.sort();
    folders
}

/// `PROPTEST_CASES` has no effect on a number of cases that is fixed.
#[test]
fn property_tests_take_their_number_of_cases_from_one_rule() {
    // Split, so that this file is not found.
    let fixed = concat!("Config::with_", "cases(");
    let fixing: Vec<String> =
        all_rust_files().iter().filter(|path| read(path).contains(fixed)).map(|path| shown(path)).collect();
    assert!(fixing.is_empty(), "use `railwright_cases::cases` in {fixing:?}");
}

#[test]
fn crates_depend_downwards_only() {
    let floor = |name: &str| FLOORS.iter().position(|known| *known == name);
    let mut seen = 0;
    for folder in crate_folders() {
        let manifest: toml::Table = read(&folder.join("Cargo.toml")).parse().expect("a manifest");
        let name = manifest["package"]["name"].as_str().expect("a name").to_owned();
        let own = floor(&name).unwrap_or_else(|| panic!("{name} has no floor in this test's list"));
        for section in ["dependencies", "dev-dependencies", "build-dependencies"] {
            let Some(table) = manifest.get(section).and_then(toml::Value::as_table) else { continue };
            for dependency in table.keys().filter(|d| d.starts_with("railwright")) {
                let below = floor(dependency).unwrap_or_else(|| panic!("{dependency} has no floor"));
                assert!(below < own, "{name} must not depend on {dependency}");
                let apart = APART
                    .iter()
                    .any(|&(a, b)| (a == name && b == dependency) || (b == name && a == dependency));
                assert!(!apart, "{name} and {dependency} must not know each other");
                seen += 1;
            }
        }
    }
    assert!(seen >= 6, "only {seen} dependencies were seen: is the test looking in the right place?");
}

/// The code of a file without its comments and without its unit tests at the end.
fn production_code(text: &str) -> String {
    let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    text.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
}

/// Tests whether a file contains only tests.
fn is_test(path: &Path) -> bool {
    path.iter().any(|part| {
        part.to_str().is_some_and(|p| {
            matches!(
                p,
                "tests"
                    | "tests.rs"
                    | "benches"
                    | "examples"
                    | "testing.rs"
                    | "testing"
                    | "measured.rs"
                    | "properties.rs"
            )
        })
    })
}

/// A published crate is described, and its front page has an example that runs as a test.
#[test]
fn published_crates_have_a_front_page_with_an_example() {
    let mut published = 0;
    for folder in crate_folders() {
        let manifest = read(&folder.join("Cargo.toml"));
        if manifest.contains("publish = false") {
            continue;
        }
        published += 1;
        for key in ["description", "version", "license", "repository", "readme", "keywords", "categories"] {
            let is_set = manifest.lines().any(|line| line.starts_with(key));
            assert!(is_set, "{} has no {key}", shown(&folder));
        }
        let root =
            ["src/lib.rs", "embed.rs"].map(|file| folder.join(file)).into_iter().find(|file| file.exists());
        let text = root.as_deref().map(read).unwrap_or_default();
        let front = text.lines().take_while(|line| line.starts_with("//!"));
        assert!(front.into_iter().any(|line| line == "//! ```"), "{} shows no example", shown(&folder));
    }
    assert!(published > 10, "{published} published crates");
}

#[test]
fn core_crates_do_no_io() {
    let forbidden = [
        "std::fs",
        "std::net",
        "std::thread",
        "std::process",
        "std::env",
        "std::io::std",
        "SystemTime",
        "Instant::now",
        "println!",
        "print!(",
        "dbg!",
        "unsafe ",
        "HashMap",
        "HashSet",
    ];
    let mut files = 0;
    for krate in CORE {
        for path in rust_files(&root().join("crates").join(krate).join("src")) {
            if is_test(&path) {
                continue;
            }
            files += 1;
            let code = production_code(&read(&path));
            for word in forbidden {
                assert!(!code.contains(word), "{}: a core crate says `{word}`", shown(&path));
            }
        }
    }
    assert!(files > 100, "only {files} files were seen");
}

#[test]
fn elementary_functions_are_portable() {
    // Those of `f64` are the C library's, with other last digits in WebAssembly and on other machines.
    let methods = ["exp", "exp2", "exp_m1", "ln", "ln_1p", "log", "log2", "log10", "powf", "cbrt", "hypot"];
    let angles = ["sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh"];
    let mut uses = 0;
    for path in rust_files(&root().join("crates")) {
        if is_test(&path) || !path.iter().any(|part| part == "src") {
            continue;
        }
        let code = production_code(&read(&path));
        uses += code.matches(".portable_").count();
        for name in methods.iter().chain(&angles) {
            let direct = code.contains(&format!(".{name}(")) || code.contains(&format!("f64::{name}("));
            assert!(!direct, "{}: use `portable_{name}` of `railwright_spec::Portable`", shown(&path));
        }
    }
    assert!(uses > 50, "only {uses} uses were seen");
}

#[test]
fn small_profiles_have_their_own_level_for_every_crate() {
    // A profile inherits the levels of single crates: one that `release` compiles quickly would be large
    // there.
    let text = read(&root().join("Cargo.toml"));
    let crates = |profile: &str| -> BTreeSet<String> {
        let start = format!("[profile.{profile}.package.");
        text.lines()
            .filter_map(|line| Some(line.strip_prefix(&start)?.strip_suffix(']')?.to_owned()))
            .collect()
    };
    assert!(crates("release").len() > 10);
    for profile in ["playground", "dist"] {
        let missing: Vec<String> = crates("release").difference(&crates(profile)).cloned().collect();
        assert!(missing.is_empty(), "[profile.{profile}] needs an opt-level for {}", missing.join(", "));
    }
}

/// Calls that access the disk.
const DISK: &[&str] = &[
    "std::fs",
    "fs::",
    "File::",
    ".exists()",
    ".is_dir()",
    ".is_file()",
    ".canonicalize()",
    ".metadata()",
    "read_dir",
    "read_file(",
    "stdin()",
    "process::Command",
];

/// Files of commands that may access the disk themselves, with the reason.
const MAY_LOOK: &[(&str, &str)] = &[
    (
        "cli/src/commands/planned/search.rs",
        "whether a folder to write into is there, once writing is allowed",
    ),
    ("commands/src/tune.rs", "whether what is written to is a folder; the server does not run it"),
    (
        "cli/src/commands/planned/export.rs",
        "whether what is written to is a folder; the server refuses the flag",
    ),
];

/// The server runs the commands of the program, so all their reads must pass the access check
/// (`crates/inputs/src/access.rs`).
#[test]
fn reading_has_one_door() {
    let folder = root().join("crates");
    let (mut files, mut excused) = (0, BTreeSet::new());
    let of = |krate: &str| rust_files(&folder.join(krate).join("src"));
    for path in of("cli").into_iter().chain(of("commands")) {
        let name = path.strip_prefix(&folder).expect("a file of the program").display().to_string();
        if is_test(&path) {
            continue;
        }
        files += 1;
        let code = production_code(&read(&path));
        for word in DISK.iter().filter(|word| code.contains(**word)) {
            let known = MAY_LOOK.iter().find(|(known, _)| *known == name);
            assert!(
                known.is_some(),
                "{name} contains `{word}`: read through `railwright-inputs`, or a server reads too much"
            );
            excused.insert(name.clone());
        }
    }
    assert!(files > 80, "only {files} files were seen");
    for (name, _) in MAY_LOOK {
        assert!(excused.contains(*name), "{name} no longer looks at the disk: take it off the list");
    }
}

#[test]
fn files_are_of_bearable_length() {
    let mut lengths: BTreeMap<String, usize> = BTreeMap::new();
    for path in all_rust_files().into_iter().chain(page_files()) {
        lengths.insert(shown(&path), read(&path).lines().count());
    }
    for (path, &length) in &lengths {
        let allowed = LONG.iter().any(|(long, _)| long == path);
        assert!(length <= 600 || allowed, "{path} has {length} lines: split it by idea");
    }
    for (path, _) in LONG {
        assert!(
            lengths.get(*path).is_some_and(|&l| l > 600),
            "{path} is no longer long: take it off the list"
        );
    }
    let mut sorted: Vec<usize> = lengths.into_values().collect();
    sorted.sort_unstable();
    let median = sorted[sorted.len() / 2];
    assert!(median < 250, "the median file has {median} lines");
}

#[test]
fn every_file_states_its_responsibility() {
    let silent: Vec<String> = all_rust_files()
        .iter()
        .filter(|path| {
            let text = read(path);
            // A fuzz target begins with `no_main`.
            let opens = text.lines().find(|line| !line.trim().is_empty() && !line.starts_with("#![no_main]"));
            !opens.is_some_and(|line| line.starts_with("//!"))
        })
        .map(|path| shown(path))
        .collect();
    assert!(silent.is_empty(), "files that do not open with `//!`: {}", silent.join(", "));
    let page = page_files();
    assert!(page.len() > 50, "only {} files of the page were seen", page.len());
    let silent: Vec<String> =
        page.iter().filter(|path| !read(path).starts_with("//")).map(|path| shown(path)).collect();
    assert!(silent.is_empty(), "files of the page that do not open with a comment: {}", silent.join(", "));
}

/// Texts in backticks.
fn quoted(text: &str) -> BTreeSet<&str> {
    text.lines().flat_map(|line| line.split('`').skip(1).step_by(2)).collect()
}

#[test]
fn the_architecture_is_that_of_the_code() {
    let text = read(&root().join("ARCHITECTURE.md"));
    let quoted = quoted(&text);
    let mut modules = 0;
    for krate in CORE {
        let code = read(&root().join("crates").join(krate).join("src/lib.rs"));
        for name in code.lines().filter_map(|l| l.strip_prefix("pub mod ")?.strip_suffix(';')) {
            modules += 1;
            assert!(quoted.contains(name), "ARCHITECTURE.md does not tell of `{name}` of crates/{krate}");
        }
    }
    assert!(modules > 30, "only {modules} modules were seen");
    for path in quoted.iter().filter(|q| q.contains('/') && !q.contains([' ', ':', '*'])) {
        let found = [
            "",
            "crates/spec/src",
            "crates/step/src",
            "crates/calculator/src",
            "crates/cli/src",
            "catalog",
            "xtask",
        ]
        .iter()
        .any(|folder| root().join(folder).join(path).exists());
        let nested = rust_files(&root().join("crates"))
            .iter()
            .any(|f| f.to_string_lossy().contains(&format!("/{path}")));
        assert!(found || nested, "ARCHITECTURE.md tells of `{path}`, which does not exist");
    }
}

/// Every column that a row of measured runs is read by is explained, and so is every phrase of its notes.
#[test]
fn the_table_of_measured_runs_is_explained() {
    let page = read(&root().join("docs/validation.md"));
    let code = production_code(&read(&root().join("crates/calculator/src/validation/row.rs")));
    let named = |mark: &'static str| {
        let code = &code;
        code.match_indices(mark).filter_map(move |(at, _)| code[at + mark.len()..].split('"').next())
    };
    let columns: BTreeSet<&str> =
        ["cells.text(\"", "cells.count(\"", "cells.number(\"", "cells.flag(\"", "need(\""]
            .into_iter()
            .flat_map(named)
            .collect();
    assert!(columns.len() > 30, "only {} columns were seen", columns.len());
    // Informational columns: a second peak and the trust in a source do not affect predictions.
    for column in columns.iter().filter(|c| !["peak_reserved_gb", "trust"].contains(c)) {
        assert!(
            page.contains(&format!("`{column}`")),
            "docs/validation.md does not explain the column `{column}`"
        );
    }
    for phrase in named("notes.contains(\"")
        .chain(named("number_after(notes, \""))
        .chain(named("number_after(&notes, \""))
    {
        assert!(
            page.contains(&format!("`{}", phrase.trim())),
            "docs/validation.md does not list the phrase `{phrase}`"
        );
    }
}

/// Rows of the evidence: identifier and source.
fn evidence() -> Vec<(String, String)> {
    let text = read(&root().join("catalog/evidence/measured_runs.csv"));
    let mut reader = csv::ReaderBuilder::new().flexible(true).from_reader(text.as_bytes());
    let header = reader.headers().expect("a header").clone();
    let column = |name: &str| header.iter().position(|h| h == name).expect("a column");
    let (id, source) = (column("id"), column("source"));
    reader
        .records()
        .map(|record| record.expect("a row"))
        .map(|record| {
            (record.get(id).unwrap_or_default().to_owned(), record.get(source).unwrap_or_default().to_owned())
        })
        .collect()
}

/// No code contains the name of a validation case (invariant 10): calibration is by accelerator, software
/// generation and operator.
#[test]
fn no_code_names_a_measured_run() {
    let mut names: BTreeSet<String> = BTreeSet::new();
    // A run may be called as its model is; a model's name is not knowledge of a run.
    let is_model = |id: &str| railwright_spec::model::by_name(id).is_ok();
    for (id, source) in evidence().into_iter().filter(|(id, _)| !is_model(id)) {
        // A name of a few letters would be found in any code; there is none today.
        assert!(id.len() >= 6, "row `{id}` needs a longer identifier to be recognized");
        names.insert(id.to_lowercase());
        names.insert(source.to_lowercase());
    }
    assert!(names.len() > 2000, "only {} names were read", names.len());
    for path in rust_files(&root().join("crates")) {
        if is_test(&path) || !path.iter().any(|part| part == "src") {
            continue;
        }
        let code = production_code(&read(&path));
        let literals: Vec<&str> = string_literals(&code).collect();
        let literals = literals.join("\n").to_lowercase();
        for name in &names {
            assert!(
                !literals.contains(name.as_str()),
                "{} names the measured run or source `{name}`",
                shown(&path)
            );
        }
        for choice in choices(&code) {
            let choice = choice.to_lowercase();
            let collection = COLLECTIONS.iter().find(|c| choice.contains(**c));
            assert!(collection.is_none(), "{} chooses by the source `{choice}`", shown(&path));
        }
    }
    // The calibrated data may name the source of a constant, but must not choose by run.
    for file in
        ["catalog/software.toml", "catalog/memory.toml", "catalog/intervals.toml", "catalog/differences.toml"]
    {
        let text = read(&root().join(file)).to_lowercase();
        for name in &names {
            assert!(
                !text.contains(&format!("\"{name}\"")),
                "{file} chooses by the measured run or source `{name}`"
            );
        }
    }
}

/// Authors and collections that published runs: no software, so no basis for a choice.
const COLLECTIONS: &[&str] = &[
    "bigscience",
    "chronicles",
    "dgx cloud",
    "dgxc",
    "korthikanti",
    "narayanan",
    "playbook",
    "sc21",
    "ultrascale",
    "vtrain",
];

/// The literals that code compares with.
fn choices(code: &str) -> impl Iterator<Item = &str> {
    ["contains(\"", "starts_with(\"", "ends_with(\"", "== \"", "!= \"", "\" =>"].into_iter().flat_map(
        move |mark| {
            code.match_indices(mark).filter_map(move |(at, _)| {
                if mark.starts_with('"') {
                    code[..at].rsplit('"').next()
                } else {
                    code[at + mark.len()..].split('"').next()
                }
            })
        },
    )
}

/// Texts between double quotes, line by line.
fn string_literals(text: &str) -> impl Iterator<Item = &str> {
    text.lines().flat_map(|line| line.split('"').skip(1).step_by(2)).filter(|literal| literal.len() >= 6)
}

#[test]
fn a_named_run_would_be_found() {
    let code = "if id == \"bigscience-row\" || id.contains(\"vTrain\") { 1.1 } else { match id { \"sc21\" => 2.0, _ => 1.0 } }";
    assert!(string_literals(code).any(|literal| literal == "bigscience-row"));
    let found: BTreeSet<&str> = choices(code).collect();
    assert_eq!(found, BTreeSet::from(["bigscience-row", "vTrain", "sc21"]));
}
