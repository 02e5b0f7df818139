//! An estimate as one HTML file: self-contained, with the same numbers as in JSON.

use crate::support::run;
use serde_json::Value;

const LINE: [&str; 9] =
    ["estimate", "llama-3.1-8b", "--cluster", "dgx-h100", "--gpus", "8", "--tp", "2", "--tokens=1T"];

/// Results in the page for its scripts.
fn inside(page: &str) -> Value {
    let (_, rest) = page.split_once("id=\"railwright-report\">").expect("a place for answers");
    let (text, _) = rest.split_once("</script>").expect("an end");
    assert!(!text.contains('<'), "markup would end it early");
    serde_json::from_str(text).expect("JSON")
}

fn answer<'a>(report: &'a Value, command: &str) -> &'a Value {
    let all = report["answers"].as_array().expect("answers");
    all.iter().find(|one| one["command"] == command).unwrap_or_else(|| panic!("no `{command}`"))
}

#[test]
fn the_page_holds_the_answers_of_the_command_line() {
    let outcome = run(&[&LINE[..], &["--format", "html"]].concat());
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    let report = inside(&outcome.stdout);
    assert_eq!(
        report["fragment"],
        "#/calculator?model=llama-3.1-8b&cluster=dgx-h100&gpus=8&tp=2&tokens=1000000000000"
    );
    let estimate: Value =
        serde_json::from_str(&run(&[&LINE[..], &["--json"]].concat()).stdout).expect("JSON");
    let held = answer(&report, "estimate");
    assert_eq!(held["answer"], estimate);
    assert_eq!(held["outcome"], "yes");
    assert_eq!(held["arguments"]["tp"], "2");
    let line = held["command_line"].as_str().expect("a line");
    let typed: Vec<&str> = line.split(' ').skip(1).chain(["--json"]).collect();
    let again: Value = serde_json::from_str(&run(&typed).stdout).expect("JSON");
    assert_eq!(again, estimate, "`{line}` says something else");
    let memory =
        run(&["memory", "llama-3.1-8b", "--cluster", "dgx-h100", "--gpus", "8", "--tp", "2", "--json"]);
    let memory: Value = serde_json::from_str(&memory.stdout).expect("JSON");
    assert_eq!(answer(&report, "memory")["answer"], memory);
    assert_eq!(answer(&report, "models/show")["answer"]["kind"], "model");
}

#[test]
fn the_page_stands_alone() {
    let page = run(&[&LINE[..], &["--format", "html"]].concat()).stdout;
    let (head, rest) = page.split_once("id=\"railwright-report\">").expect("a place for answers");
    for word in ["src=\"", "href=\"http", "@import", "url(http", "<link rel=\"stylesheet\""] {
        assert!(!head.contains(word), "it fetches by `{word}`");
    }
    assert!(!rest.contains("<script src"), "it fetches a script");
    assert!(page.len() < 3 << 20, "{} bytes", page.len());
}

#[test]
fn a_run_file_is_spelled_out_and_hostile_names_stay_text() {
    let outcome =
        run(&["estimate", "--run", "../../../../examples/runs/llama-3-8b-fsdp.toml", "--format", "html"]);
    let report = inside(&outcome.stdout);
    let fragment = report["fragment"].as_str().expect("a fragment");
    assert!(fragment.starts_with("#/calculator?model=llama-3-8b&accelerator=h100&gpus=8&"), "{fragment}");
    assert!(!fragment.contains("run="), "{fragment}");
    let name = "</script><script>alert(1)</script>";
    let set = format!("cluster.name={name}");
    let outcome = run(&[&LINE[..], &["--set", &set, "--format", "html"]].concat());
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    assert!(!outcome.stdout.contains("<script>alert"), "it came through");
    assert_eq!(answer(&inside(&outcome.stdout), "estimate")["answer"]["cluster"]["name"], name);
}

#[test]
fn the_suffix_chooses_the_page_and_others_have_none() {
    let path = std::env::temp_dir().join(format!("railwright-page-{}.html", std::process::id()));
    let outcome = run(&[&LINE[..], &["-o", &path.to_string_lossy()]].concat());
    assert_eq!((outcome.code, outcome.stdout.as_str()), (0, ""));
    let page = std::fs::read_to_string(&path).expect("a page");
    std::fs::remove_file(&path).expect("removed");
    assert_eq!(page, run(&[&LINE[..], &["--format", "html"]].concat()).stdout);
    let none = run(&["keys", "--format", "html"]);
    assert_eq!(none.code, 2);
    assert!(none.stderr.contains("this command has no HTML report"), "{}", none.stderr);
    let profile = run(&["profile", "../../../../fixtures/traces/megatron_tp2_v100", "--format", "html"]);
    assert!(profile.stdout.to_lowercase().starts_with("<!doctype html>"), "{}", &profile.stdout[..80]);
}
