//! The program as a library: the same results as on the command line, and the same problems.

use railwright::door::{Watch, ask, description};
use serde_json::{Map, Value, json};
use std::sync::Arc;

fn arguments(value: &Value) -> Map<String, Value> {
    value.as_object().cloned().expect("an object")
}

fn fixture(path: &str) -> String {
    format!("{}/../../{path}", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn answers_are_those_of_the_command_line() {
    let traces = fixture("fixtures/traces/megatron_tp2_v100");
    let script = fixture("examples/launch/llama3_70b.sh");
    let run = json!({ "model": "llama-3-8b", "cluster": "dgx-h100", "gpus": 64, "tp": 8, "pp": 2, "global-batch": 128 });
    let words = "llama-3-8b --cluster dgx-h100 --gpus 64 --tp 8 --pp 2 --global-batch 128";
    let questions: [(&[&str], Value, String); 7] = [
        (&["stragglers"], json!({ "paths": traces }), format!("stragglers {traces}")),
        (&["profile"], json!({ "paths": [traces], "step": null }), format!("profile {traces}")),
        (&["check"], json!({ "files": script }), format!("check {script}")),
        (&["estimate"], run.clone(), format!("estimate {words}")),
        (&["sensitivity"], run, format!("sensitivity {words}")),
        (&["network", "cost"], json!({ "gpus": 1024 }), "network cost --gpus 1024".to_owned()),
        (
            &["tune"],
            json!({ "model": script, "cluster": "dgx-h100" }),
            format!("tune {script} --cluster dgx-h100"),
        ),
    ];
    for (command, passed, line) in questions {
        let answer = ask(command, &arguments(&passed), None, &Arc::default())
            .unwrap_or_else(|e| panic!("{line}: {e:?}"));
        let mut words: Vec<&str> = line.split(' ').collect();
        words.push("--json");
        let printed = crate::support::run(&words);
        let mut whole: Map<String, Value> = serde_json::from_str(&printed.stdout).expect("JSON");
        assert_eq!(answer.kind.map(Value::from), whole.remove("kind"), "{line}");
        for name in ["schema_version", "railwright"] {
            whole.remove(name);
        }
        // Converted through text like the other: its numbers are read back to within their last digit.
        let fields: Value = serde_json::from_str(&answer.fields.to_string()).expect("JSON");
        assert!(fields == Value::Object(whole), "the values of {line} are not those of its JSON");
        assert!(answer.html.starts_with("<div>") && answer.text.lines().count() > 3, "{line}");
        assert!(
            answer.command.starts_with(&format!("railwright {}", command.join(" "))),
            "{}",
            answer.command
        );
    }
}

#[test]
fn a_picture_is_beside_its_answer() {
    let run = json!({ "model": "llama-3-8b", "cluster": "dgx-h100", "gpus": 8, "svg": "-" });
    for command in ["estimate", "memory"] {
        let answer = ask(&[command], &arguments(&run), None, &Arc::default()).expect("an answer");
        assert_eq!(answer.kind, Some(command));
        let line = [command, "llama-3-8b", "--cluster", "dgx-h100", "--gpus", "8", "--svg", "-"];
        assert_eq!(answer.data, crate::support::run(&line).stdout);
        assert!(answer.data.starts_with("<svg") && answer.data.trim_end().ends_with("</svg>"));
    }
}

#[test]
fn problems_are_those_of_the_command_line() {
    let passed = json!({ "paths": "no/such/folder" });
    let problems = ask(&["profile"], &arguments(&passed), None, &Arc::default()).expect_err("a problem");
    assert!(crate::support::run(&["profile", "no/such/folder"]).stderr.contains(&problems[0].message));
    let unknown = ask(&["profile"], &arguments(&json!({ "path": "a" })), None, &Arc::default());
    let unknown = unknown.expect_err("a problem");
    assert!(unknown[0].hint.as_deref().is_some_and(|hint| hint.contains("paths")), "{:?}", unknown[0]);
    assert!(ask(&["serve"], &Map::new(), None, &Arc::default()).is_err());
}

#[test]
fn a_stopped_search_ends() {
    let watch = Arc::new(Watch::default());
    watch.stop();
    let run = json!({ "model": "llama-3.1-405b", "cluster": "dgx-h100", "gpus": 1024, "global-batch": 2048 });
    match ask(&["search"], &arguments(&run), None, &watch) {
        Ok(answer) => assert_eq!(answer.outcome, "interrupted"),
        Err(problems) => assert!(problems[0].message.contains("stopped"), "{}", problems[0]),
    }
}

#[test]
fn commands_that_write_are_described_and_those_of_the_terminal_are_not() {
    let whole: Value = serde_json::from_str(&description()).expect("JSON");
    for command in ["tune", "digest", "save", "network/cost", "stragglers"] {
        assert!(whole["paths"].get(format!("/api/v1/{command}")).is_some(), "{command}");
    }
    for command in ["serve", "completions", "man"] {
        assert!(whole["paths"].get(format!("/api/v1/{command}")).is_none(), "{command}");
    }
}
