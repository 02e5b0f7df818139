//! A bill of materials of the program: every crate that is linked into it, in CycloneDX 1.5 (JSON).
//!
//! Responsible for: names, versions, checksums, licences and dependencies, from `cargo metadata` and
//! `Cargo.lock`; the same lock file gives the same bytes. Excludes tools for development and tests: they are
//! not shipped.

use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

/// The crate that is shipped.
const PROGRAM: &str = "railwright";

/// `xtask sbom`.
pub(crate) fn run() -> Result<(), String> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--locked", "--format-version", "1"])
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
        .output()
        .map_err(|error| format!("cargo metadata: {error}"))?;
    if !output.status.success() {
        return Err(format!("cargo metadata: {}", String::from_utf8_lossy(&output.stderr).trim()));
    }
    let metadata: Value = serde_json::from_slice(&output.stdout).map_err(|error| error.to_string())?;
    let lock = concat!(env!("CARGO_MANIFEST_DIR"), "/../Cargo.lock");
    let lock = std::fs::read_to_string(lock).map_err(|error| format!("Cargo.lock: {error}"))?;
    let bill = bill(&metadata, &lock)?;
    println!("{}", serde_json::to_string_pretty(&bill).map_err(|error| error.to_string())?);
    Ok(())
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value[key].as_array().map_or(&[], Vec::as_slice)
}

/// The checksums of a lock file by name and version.
fn checksums(lock: &str) -> Result<BTreeMap<(String, String), String>, String> {
    let lock: toml::Table = lock.parse().map_err(|error| format!("Cargo.lock: {error}"))?;
    let packages = lock.get("package").and_then(toml::Value::as_array).map_or(&[][..], Vec::as_slice);
    let of = |package: &toml::Value, key: &str| package.get(key)?.as_str().map(str::to_owned);
    let sums = packages.iter().filter_map(|package| {
        Some(((of(package, "name")?, of(package, "version")?), of(package, "checksum")?))
    });
    Ok(sums.collect())
}

/// Crates that a crate links: neither tests nor build tools.
fn linked(node: &Value) -> Vec<&str> {
    let is_linked =
        |dependency: &&Value| list(dependency, "dep_kinds").iter().any(|kind| kind["kind"].is_null());
    list(node, "deps").iter().filter(is_linked).map(|dependency| text(dependency, "pkg")).collect()
}

fn bill(metadata: &Value, lock: &str) -> Result<Value, String> {
    let checksums = checksums(lock)?;
    let packages: BTreeMap<&str, &Value> =
        list(metadata, "packages").iter().map(|package| (text(package, "id"), package)).collect();
    let nodes: BTreeMap<&str, &Value> =
        list(&metadata["resolve"], "nodes").iter().map(|node| (text(node, "id"), node)).collect();
    let root = packages.values().find(|package| text(package, "name") == PROGRAM);
    let root = *root.ok_or_else(|| format!("no crate is called `{PROGRAM}`"))?;
    let reference =
        |package: &Value| format!("pkg:cargo/{}@{}", text(package, "name"), text(package, "version"));
    let (mut met, mut open) = (BTreeSet::new(), vec![text(root, "id")]);
    while let Some(id) = open.pop() {
        if met.insert(id) {
            open.extend(nodes.get(id).map(|node| linked(node)).unwrap_or_default());
        }
    }
    let mut components: BTreeMap<String, Value> = BTreeMap::new();
    let mut dependencies: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for id in met {
        let package = *packages.get(id).ok_or_else(|| format!("`{id}` is not described"))?;
        let own = reference(package);
        let needs = nodes.get(id).map(|node| linked(node)).unwrap_or_default();
        let mut needs: Vec<String> =
            needs.iter().filter_map(|id| packages.get(id)).map(|package| reference(package)).collect();
        needs.sort();
        needs.dedup();
        dependencies.insert(own.clone(), needs);
        if text(package, "id") == text(root, "id") {
            continue;
        }
        let mut component = json!({
            "type": "library",
            "bom-ref": own,
            "name": text(package, "name"),
            "version": text(package, "version"),
            "purl": own,
            "licenses": [{ "expression": text(package, "license").replace('/', " OR ") }],
        });
        let key = (text(package, "name").to_owned(), text(package, "version").to_owned());
        if let Some(sum) = checksums.get(&key) {
            component["hashes"] = json!([{ "alg": "SHA-256", "content": sum }]);
        }
        components.insert(own, component);
    }
    Ok(json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": { "component": {
            "type": "application",
            "bom-ref": reference(root),
            "name": PROGRAM,
            "version": text(root, "version"),
            "purl": reference(root),
            "licenses": [{ "expression": text(root, "license") }],
        }},
        "components": components.into_values().collect::<Vec<_>>(),
        "dependencies": dependencies
            .into_iter()
            .map(|(reference, needs)| json!({ "ref": reference, "dependsOn": needs }))
            .collect::<Vec<_>>(),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_linked_is_listed_with_its_checksum_and_tests_are_not() {
        let package = |name: &str, license: &str| json!({ "id": name, "name": name, "version": "1.0.0", "license": license });
        let needs = |name: &str, kind: Value| json!({ "pkg": name, "dep_kinds": [{ "kind": kind }] });
        let metadata = json!({
            "packages": [package(PROGRAM, "Apache-2.0"), package("a", "MIT/Apache-2.0"), package("b", "MIT"), package("t", "MIT")],
            "resolve": { "nodes": [
                { "id": PROGRAM, "deps": [needs("a", Value::Null), needs("t", json!("dev"))] },
                { "id": "a", "deps": [needs("b", Value::Null), needs("t", json!("build"))] },
                { "id": "b", "deps": [] }, { "id": "t", "deps": [] },
            ]},
        });
        let lock = "[[package]]\nname = \"a\"\nversion = \"1.0.0\"\nchecksum = \"0123\"\n";
        let bill = bill(&metadata, lock).expect("a bill");
        let names: Vec<&str> = list(&bill, "components").iter().map(|c| text(c, "name")).collect();
        assert_eq!(names, ["a", "b"]);
        assert_eq!(bill["components"][0]["hashes"][0]["content"], "0123");
        assert_eq!(bill["components"][0]["licenses"][0]["expression"], "MIT OR Apache-2.0");
        assert_eq!(
            bill["dependencies"][0],
            json!({ "ref": "pkg:cargo/a@1.0.0", "dependsOn": ["pkg:cargo/b@1.0.0"] })
        );
    }
}
