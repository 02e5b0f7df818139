//! Settings by convention: `railwright.toml` and environment variables.

use crate::support::{Folder, program};
use std::process::Command;

/// The program in a folder.
fn inside(folder: &std::path::Path, arguments: &[&str]) -> Command {
    let mut command = program(arguments);
    command.current_dir(folder);
    command
}

/// Exit code, standard output and standard error.
fn ended(mut command: Command) -> (Option<i32>, String, String) {
    let output = command.output().expect("the program starts");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

const PROJECT: &str = "[model]\nname = \"llama-3-8b\"\n[cluster]\npreset = \"dgx-h100\"\ndevices = 16\n";

#[test]
fn the_nearest_railwright_toml_is_the_run_file() {
    let folder = Folder::new("convention-toml");
    folder.put("railwright.toml", PROJECT);
    let below = folder.path().join("scripts");
    std::fs::create_dir(&below).expect("made");
    for place in [folder.path(), below.as_path()] {
        let (code, out, err) = ended(inside(place, &["estimate", "--json"]));
        assert_eq!(code, Some(0), "{err}");
        let answer: serde_json::Value = serde_json::from_str(&out).expect("JSON");
        assert_eq!(answer["cluster"]["devices"], 16);
        assert!(err.contains("note: settings from `") && err.contains("railwright.toml`"), "{err}");
    }
    // Options override the file, `--run` replaces it.
    let (_, out, _) = ended(inside(folder.path(), &["estimate", "--gpus", "8", "--json"]));
    assert!(out.contains("\"devices\": 8") || out.contains("\"devices\":8"), "{out}");
    folder.put("other.toml", PROJECT.replace("16", "32"));
    let (_, out, err) = ended(inside(folder.path(), &["estimate", "--run", "other.toml", "--json"]));
    let answer: serde_json::Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!(answer["cluster"]["devices"], 32);
    assert!(!err.contains("settings from"), "{err}");
}

#[test]
fn environment_variables_set_the_run_file_and_the_cluster() {
    let folder = Folder::new("convention-environment");
    folder.put("railwright.toml", PROJECT);
    let path = folder.put("mine.toml", PROJECT.replace("16", "24"));
    let mut command = inside(folder.path(), &["estimate", "--json"]);
    command.env("RAILWRIGHT_RUN", &path).env("RAILWRIGHT_CLUSTER", "dgx-h200");
    let (code, out, err) = ended(command);
    assert_eq!(code, Some(0), "{err}");
    let answer: serde_json::Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!(answer["cluster"]["devices"], 24);
    assert!(
        answer["cluster"]["accelerator_name"].as_str().is_some_and(|name| name.contains("H200")),
        "{out}"
    );
    let err = err.replace("\n  ", " ");
    assert!(err.contains("cluster `dgx-h200` from RAILWRIGHT_CLUSTER"), "{err}");
    // An empty path disables the file.
    let mut command = inside(folder.path(), &["estimate"]);
    command.env("RAILWRIGHT_RUN", "");
    let (code, _, err) = ended(command);
    assert!(code == Some(2) && err.contains("no model is set"), "{err}");
    // A memory limit that cannot be read is an error.
    let mut command = inside(folder.path(), &["keys"]);
    command.env("RAILWRIGHT_MEMORY_LIMIT", "many");
    let (code, _, err) = ended(command);
    assert!(code == Some(2) && err.contains("RAILWRIGHT_MEMORY_LIMIT"), "{err}");
}
