//! Output formats: JSON with its version, CSV, Markdown, files; reproducible bytes; closed pipes.

use crate::support::{json, program, run};
use std::collections::BTreeSet;
use std::io::Read;
use std::process::Stdio;

const ESTIMATE: [&str; 10] =
    ["estimate", "llama-3-8b", "--cluster", "dgx-h100", "--gpus", "8", "--tp", "2", "--tokens", "1T"];

fn estimate(more: &[&'static str]) -> Vec<&'static str> {
    [&ESTIMATE[..], more].concat()
}

#[test]
fn json_carries_its_version() {
    for line in [
        &estimate(&["--json"])[..],
        &["models", "list", "--json"],
        &["models", "show", "gpt2", "--json"],
        &["gpus", "list", "--json"],
        &["gpus", "show", "h100", "--json"],
        &["clusters", "list", "--json"],
        &["clusters", "show", "dgx-h100", "--format", "json"],
        &["memory", "llama-3-8b", "--cluster", "h100", "--tp", "2", "--json"],
        &["validate", "runs.csv", "--json"],
        &["validate", "sweep.csv", "--regret", "--json"],
        &["explain", "--json"],
        &["explain", "mfu", "--json"],
        &["explain", "software", "--json"],
        &["keys", "--json"],
    ] {
        let answer = json(line, 0);
        assert_eq!(answer["schema_version"], 2, "{line:?}");
        assert!(answer["kind"].is_string() && answer["railwright"].is_string(), "{line:?}");
    }
}

/// Paths of all values, with the numbers of list entries left out.
fn paths(value: &serde_json::Value, path: &str, found: &mut BTreeSet<String>) {
    match value {
        serde_json::Value::Object(map) => {
            for (key, inner) in map {
                paths(inner, &format!("{path}/{key}"), found);
            }
        }
        serde_json::Value::Array(list) => {
            for inner in list {
                paths(inner, &format!("{path}/*"), found);
            }
        }
        _ => {
            found.insert(path.to_owned());
        }
    }
}

#[test]
fn the_fields_of_an_estimate_stay() {
    let mut found = BTreeSet::new();
    paths(&json(&estimate(&["--json"]), 0), "", &mut found);
    // The tree of time is as deep as the run is complex.
    let deepest = |path: &&String| path.matches("children").count() <= 1;
    let listed: Vec<&str> = found.iter().filter(deepest).map(String::as_str).collect();
    insta::assert_snapshot!("fields_of_an_estimate", listed.join("\n"));
}

#[test]
fn the_same_bytes_every_time() {
    for line in [estimate(&[]), estimate(&["--json"]), estimate(&["--why"]), estimate(&["--format", "csv"])] {
        assert_eq!(run(&line).stdout, run(&line).stdout, "{line:?}");
    }
}

#[test]
fn csv_and_markdown() {
    let csv = run(&["gpus", "list", "h100", "--format", "csv"]).stdout;
    let mut lines = csv.lines();
    assert_eq!(
        lines.next(),
        Some("accelerator,memory,bandwidth,dense bf16,dense fp8,scale-up,power,$/h,year")
    );
    assert!(
        lines.next().is_some_and(|line| line.starts_with("h100-sxm5-80gb,849") && line.ends_with(",2022")),
        "{csv}"
    );
    let md = run(&["gpus", "list", "h100", "--format", "md"]).stdout;
    assert!(md.starts_with("| accelerator | memory |") && md.contains("\n| --- | --: |"), "{md}");
    let flat = run(&estimate(&["--format", "csv"])).stdout;
    assert!(flat.starts_with("path,value\n") && flat.contains("\nmemory.fit,fits\n"), "{flat}");
}

#[test]
fn the_suffix_of_a_file_chooses_the_format() {
    let folder = std::env::temp_dir().join(format!("railwright-{}-voices", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder for temporary files");
    for (name, start) in [
        ("a.json", "{\n  \"schema_version\": 2"),
        ("a.csv", "path,value"),
        ("a.md", "53.6 s per step"),
        ("a", "53.6 s per step"),
    ] {
        let path = folder.join(name).to_str().expect("UTF-8").to_owned();
        let line = [&ESTIMATE[..], &["-o", path.as_str()][..]].concat();
        let outcome = run(&line);
        assert!(outcome.code == 0 && outcome.stdout.is_empty(), "{}", outcome.stderr);
        assert!(outcome.stderr.contains("note: wrote `"), "{}", outcome.stderr);
        assert!(std::fs::read_to_string(&path).expect("written").starts_with(start), "{name}");
        assert!(run(&[&line[..], &["-q"][..]].concat()).stderr.is_empty());
    }
    std::fs::remove_dir_all(&folder).expect("it was written");
}

#[test]
fn colour_follows_the_wishes() {
    let has_colour = |colour: &str, variable: Option<(&str, &str)>| {
        let mut command = program(&estimate(&[]));
        command.args(["--color", colour]);
        if let Some((name, value)) = variable {
            command.env(name, value);
        }
        command.output().expect("starts").stdout.contains(&0x1b)
    };
    assert!(!has_colour("auto", None), "a pipe is not a terminal");
    assert!(has_colour("always", None) && has_colour("auto", Some(("CLICOLOR_FORCE", "1"))));
    assert!(!has_colour("never", Some(("CLICOLOR_FORCE", "1"))));
    assert!(!has_colour("auto", Some(("NO_COLOR", "1"))));
}

#[test]
fn colour_changes_no_text() {
    let plain = run(&estimate(&[])).stdout;
    let coloured = run(&estimate(&["--color", "always"])).stdout;
    let mut stripped = String::new();
    let mut rest = coloured.as_str();
    while let Some(start) = rest.find('\u{1b}') {
        stripped.push_str(&rest[..start]);
        let end = rest[start..].find('m').expect("a sequence ends") + start;
        rest = &rest[end + 1..];
    }
    stripped.push_str(rest);
    let lines = |text: &str| text.lines().map(|line| line.trim_end().to_owned()).collect::<Vec<_>>();
    assert_eq!(lines(&stripped), lines(&plain));
}

#[test]
fn a_reader_that_stops_listening_is_no_error() {
    // Far more than the capacity of a pipe.
    let mut child = program(&["timeline", "llama-3-8b", "--cluster", "dgx-h100", "--gpus", "8", "--pp", "4"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("starts");
    let mut first = [0; 16];
    let mut stdout = child.stdout.take().expect("a pipe");
    stdout.read_exact(&mut first).expect("it speaks");
    drop(stdout);
    let output = child.wait_with_output().expect("ends");
    assert_eq!(output.status.code(), Some(0));
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn completions_and_manual_pages() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let outcome = run(&["completions", shell]);
        assert!(outcome.code == 0 && outcome.stdout.contains("tensor-parallel"), "{shell}");
    }
    assert!(run(&["man"]).stdout.contains(".TH railwright"));
    assert!(run(&["man", "estimate"]).stdout.contains("tensor"));
    assert_eq!(run(&["man", "estimat"]).code, 2);
}

#[test]
fn help_lists_all_commands() {
    insta::assert_snapshot!("help", crate::support::transcript(&["--help"]));
    let short = run(&["estimate", "-h"]).stdout;
    let long = run(&["estimate", "--help"]).stdout;
    assert!(
        !short.contains("--qk-nope-head-dim")
            && long.contains("--qk-nope-head-dim")
            && long.contains("Examples:")
    );
    assert!(long.lines().all(|line| line.chars().count() <= 100));
    assert_eq!(run(&[]).code, 2, "no command is a mistake");
    assert_eq!(run(&["--version"]).stdout.trim(), format!("railwright {}", env!("CARGO_PKG_VERSION")));
}

#[test]
fn the_schema_is_json() {
    let outcome = run(&["schema"]);
    let schema: serde_json::Value = serde_json::from_str(&outcome.stdout).expect("JSON");
    assert!(schema["properties"]["plan"]["properties"]["tensor_parallel"].is_object());
}

/// Every line is a comment or `name{labels} value`, and the values are those of the JSON.
#[test]
fn a_log_has_metrics_for_prometheus() {
    let log = "../../../../fixtures/logs/maxtext.log";
    let text = run(&["log", log, "--format", "prometheus", "--quiet"]);
    assert_eq!(text.code, 0, "{}", text.stderr);
    let json = json(&["log", log, "--json", "--quiet"], 0);
    let mut found = 0;
    for line in text.stdout.lines().filter(|line| !line.starts_with("# ")) {
        let (name, value) = line.rsplit_once(' ').expect("a value");
        assert!(value.parse::<f64>().is_ok(), "{line}");
        assert!(name.starts_with("railwright_log_") && name.contains("file=\""), "{line}");
        if name.starts_with("railwright_log_step_time_seconds{") {
            assert_eq!(value.parse::<f64>().ok(), json["log"]["step_time"].as_f64());
            found += 1;
        }
    }
    assert_eq!(found, 1, "{}", text.stdout);
    let refused = run(&["models", "list", "--format", "prometheus"]);
    assert_eq!(refused.code, 2);
    assert!(refused.stderr.contains("metrics"), "{}", refused.stderr);
}
