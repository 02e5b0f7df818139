//! Dependencies of the manifests: each is used by the code of its crate, and by its production code unless it
//! is one of tests.

use std::path::{Path, PathBuf};
use toml::{Table, Value};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Folders of a crate with code of tests and benchmarks alone.
const OF_TESTS: [&str; 3] = ["tests", "benches", "examples"];

/// Dependencies without a name in the code, with the reason.
const UNNAMED: &[(&str, &str)] = &[(
    "syn",
    "its features are those that the Python package asks for, so that both share all other dependencies",
)];

/// The code of a crate without comments: all of it, or production code alone.
fn code(folder: &Path, with_tests: bool) -> String {
    let (mut code, mut folders) = (String::new(), vec![folder.to_path_buf()]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
            if path.is_dir() {
                let is_of_tests = OF_TESTS.contains(&name.as_str());
                let is_made = ["target", "node_modules", "dist"].contains(&name.as_str());
                if !is_made && (with_tests || !is_of_tests) {
                    folders.push(path);
                }
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = std::fs::read_to_string(&path).expect("readable");
                for line in text.lines().filter(|line| !line.trim_start().starts_with("//")) {
                    code.push_str(line);
                    code.push('\n');
                }
            }
        }
    }
    code
}

/// Tests whether a path of code begins with a crate: `name::`, `name!`, `use name;`, `use {name}`.
fn names(code: &str, dependency: &str) -> bool {
    let name = dependency.replace('-', "_");
    code.match_indices(&name).any(|(at, _)| {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let before = code[..at].chars().next_back();
        let rest = &code[at + name.len()..];
        !before.is_some_and(|c| is_word(c) || c == '.')
            && ["::", "!", ";", "}", " as "].iter().any(|end| rest.starts_with(end))
    })
}

/// The tables of a manifest with this name, those of its targets included.
fn tables<'a>(manifest: &'a Table, name: &str) -> Vec<&'a Table> {
    let targets = manifest.get("target").and_then(Value::as_table);
    let of_targets = targets.into_iter().flat_map(|all| all.values().filter_map(Value::as_table));
    std::iter::once(manifest).chain(of_targets).filter_map(|table| table.get(name)?.as_table()).collect()
}

#[test]
fn every_dependency_is_used() {
    let mut folders: Vec<PathBuf> =
        ["catalog", "fuzz", "python", "web", "xtask"].map(|f| root().join(f)).into();
    let crates = std::fs::read_dir(root().join("crates")).expect("crates");
    folders.extend(crates.map(|entry| entry.expect("an entry").path()).filter(|path| path.is_dir()));
    let (mut seen, mut unused) = (0, Vec::new());
    for folder in folders {
        let text = std::fs::read_to_string(folder.join("Cargo.toml")).expect("a manifest");
        let manifest: Table = text.parse().expect("a manifest");
        let (production, all) = (code(&folder, false), code(&folder, true));
        for (kind, code) in
            [("dependencies", &production), ("dev-dependencies", &all), ("build-dependencies", &all)]
        {
            for dependency in tables(&manifest, kind).into_iter().flat_map(Table::keys) {
                seen += 1;
                let is_unnamed = UNNAMED.iter().any(|(unnamed, _)| unnamed == dependency);
                if !is_unnamed && !names(code, dependency) {
                    unused.push(format!("{}: {kind}: {dependency}", folder.display()));
                }
            }
        }
    }
    assert!(seen > 150, "only {seen} dependencies were seen");
    assert!(unused.is_empty(), "unused dependencies:\n{}", unused.join("\n"));
}

#[test]
fn names_of_crates_are_found() {
    let code = "use serde_json::Value;\nuse { csv };\nlet toml = self.toml;\nring::digest();\n";
    let found: Vec<&str> =
        ["serde-json", "serde", "csv", "toml", "ring"].into_iter().filter(|name| names(code, name)).collect();
    // `self.toml;` is a field, and `serde_json` is not `serde`.
    assert_eq!(found, ["serde-json", "ring"]);
    assert!(names("use csv;", "csv") && names("vec![divan::Bencher]", "divan"));
}
