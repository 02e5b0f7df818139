//! The schema and the reference page in the repository match the table of keys, and the examples are valid.
//!
//! After a change of keys, `RAILWRIGHT_UPDATE=1 cargo test -p railwright-spec --test run_reference` updates
//! them.

use railwright_spec::problem::Problem;
use railwright_spec::run;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn check(path: &str, expected: &str) {
    let file = root().join(path);
    if std::env::var_os("RAILWRIGHT_UPDATE").is_some() {
        std::fs::write(&file, expected).expect("a writable repository");
    }
    let found = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(found == expected, "{path} is stale: run with RAILWRIGHT_UPDATE=1 to write it anew");
}

#[test]
fn the_schema_is_current() {
    let text = serde_json::to_string_pretty(&run::schema()).expect("a value");
    check("railwright.schema.json", &format!("{text}\n"));
}

#[test]
fn the_reference_is_current() {
    check("docs/reference/run-file.md", &run::reference());
}

#[test]
fn every_example_is_possible() {
    let mut count = 0;
    let mut files: Vec<PathBuf> = std::fs::read_dir(root().join("examples/runs"))
        .expect("examples")
        .map(|e| e.expect("entry").path())
        .collect();
    files.sort();
    for path in files {
        let name = path.display().to_string();
        let text = std::fs::read_to_string(&path).expect("readable");
        let spec = run::parse(&text, &name).unwrap_or_else(|p| panic!("{p} {:?}", p.hint));
        let (run, _) = spec
            .resolve_valid(|config| Err(Problem::new(format!("{config} is not read here"))))
            .unwrap_or_else(|p| panic!("{name}: {p:?}"));
        assert_eq!(run.plan.world_size(), run.cluster.devices, "{name}");
        count += 1;
    }
    assert!(count >= 4);
}
