//! Published crates: the files that each must contain.
//!
//! Responsible for: licence, description and readme of every crate, and embedded files inside the crate.
//! Excludes what registries check themselves.

use std::path::{Path, PathBuf};
use toml::{Table, Value};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().expect("the repository")
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Folders of the published crates with their manifests.
fn published() -> Vec<(PathBuf, Table)> {
    let mut folders: Vec<PathBuf> =
        ["catalog", "fuzz", "python", "web", "xtask"].map(|f| root().join(f)).into();
    let crates = std::fs::read_dir(root().join("crates")).expect("crates");
    folders.extend(crates.map(|entry| entry.expect("an entry").path()).filter(|path| path.is_dir()));
    let with_manifest = |folder: PathBuf| {
        let manifest: Table = read(&folder.join("Cargo.toml")).parse().expect("a manifest");
        (folder, manifest)
    };
    let is_published = |(_, manifest): &(PathBuf, Table)| {
        manifest["package"].get("publish").and_then(Value::as_bool) != Some(false)
    };
    let mut found: Vec<_> = folders.into_iter().map(with_manifest).filter(is_published).collect();
    found.sort_by(|a, b| a.0.cmp(&b.0));
    found
}

/// Rust files of a folder that are not of tests alone.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let (mut found, mut folders) = (Vec::new(), vec![folder.to_path_buf()]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            if path.is_dir() {
                let others = ["tests", "benches", "target", "node_modules", "dist"];
                if !others.contains(&name) {
                    folders.push(path);
                }
            } else if path.extension().is_some_and(|end| end == "rs") && name != "tests.rs" {
                found.push(path);
            }
        }
    }
    found
}

/// Paths that `include!`, `include_str!` and `include_bytes!` name before the tests of a file.
fn embedded(code: &str) -> Vec<&str> {
    let production = code.split("#[cfg(test)]").next().unwrap_or_default();
    let mut found = Vec::new();
    for start in ["include!(\"", "include_str!(\"", "include_bytes!(\""] {
        found.extend(production.split(start).skip(1).filter_map(|rest| rest.split('"').next()));
    }
    found
}

#[test]
fn every_published_crate_has_licence_description_and_readme() {
    let licence = read(&root().join("LICENSE"));
    let crates = published();
    assert!(crates.len() > 15, "only {} crates", crates.len());
    for (folder, manifest) in crates {
        let name = folder.display();
        // The licence requires a copy of its text with every copy of the code.
        assert!(read(&folder.join("LICENSE")) == licence, "{name}: another licence text");
        let package = manifest["package"].as_table().expect("a table");
        for key in ["description", "license", "readme", "repository"] {
            assert!(package.contains_key(key), "{name}: no `{key}`");
        }
        if let Some(files) = package.get("include").and_then(Value::as_array) {
            assert!(
                files.iter().any(|file| file.as_str() == Some("/LICENSE")),
                "{name}: LICENSE is left out"
            );
        }
    }
}

/// A path outside of the crate exists in the repository only: the published crate does not build.
#[test]
fn embedded_files_are_inside_their_crate() {
    let mut seen = 0;
    for (folder, _) in published() {
        for file in sources(&folder) {
            let code = read(&file);
            for path in embedded(&code) {
                let target = file.parent().expect("a folder").join(path);
                let target =
                    target.canonicalize().unwrap_or_else(|error| panic!("{}: {error}", target.display()));
                assert!(target.starts_with(&folder), "{}: embeds {path}", file.display());
                seen += 1;
            }
        }
    }
    assert!(seen > 50, "only {seen} embedded files");
}

#[test]
fn files_of_tests_may_be_outside() {
    let code =
        "const A: &str = include_str!(\"a.md\");\n#[cfg(test)]\nconst B: &str = include_str!(\"../b.md\");\n";
    assert_eq!(embedded(code), ["a.md"]);
}

/// A package that lists its tests runs no other file: each file in `tests` must be listed or be a module of
/// one that is.
#[test]
fn every_file_of_listed_tests_is_run() {
    let mut checked = 0;
    for entry in std::fs::read_dir(root().join("crates")).expect("crates") {
        let folder = entry.expect("an entry").path();
        let manifest: Table = read(&folder.join("Cargo.toml")).parse().expect("a manifest");
        if manifest["package"].get("autotests").and_then(Value::as_bool) != Some(false) {
            continue;
        }
        let targets = manifest["test"].as_array().expect("targets").iter();
        let listed: Vec<String> = targets.filter_map(|t| t["path"].as_str()).map(str::to_owned).collect();
        let roots: String = listed.iter().map(|path| read(&folder.join(path))).collect();
        for file in std::fs::read_dir(folder.join("tests")).expect("tests") {
            let path = file.expect("an entry").path();
            if path.extension().is_none_or(|end| end != "rs") {
                continue;
            }
            let name = path.file_stem().and_then(|name| name.to_str()).expect("a name");
            let is_run = listed.contains(&format!("tests/{name}.rs"))
                || roots.lines().any(|line| line == format!("mod {name};"));
            assert!(is_run, "{}: no target of the package includes it", path.display());
            checked += 1;
        }
    }
    assert!(checked > 100, "only {checked} files");
}
