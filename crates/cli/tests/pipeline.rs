//! Pipeline views of recorded jobs, charts, predictions, and invalid inputs.

use crate::support::{json, run};

const TRACES: &str = "../../../../fixtures/traces";

fn primus() -> String {
    format!("{TRACES}/primus_pp8_mi300/pp8")
}

/// Output of a command with the expected exit code.
fn prints(arguments: &[&str]) -> String {
    let outcome = run(arguments);
    assert_eq!(outcome.code, 0, "{arguments:?}: {}", outcome.stderr);
    outcome.stdout
}

#[test]
fn pages_of_recorded_jobs() {
    let primus = primus();
    let page = prints(&["pipeline", &primus, "--what-if", "stage=7", "--what-if", "kind=forward step=16"]);
    // Widths of columns depend on the terminal.
    let page = page.split_whitespace().collect::<Vec<_>>().join(" ");
    for line in [
        "8 stages, 16 micro-batches, 20 steps",
        "step 18: 3.50 s; stalls cost 242 ms; expected 3.01 s",
        "stage 7 computes 8.3% longer than the mean stage",
        "stage 7 640 143 ms",
        "savings: ",
    ] {
        assert!(page.contains(line), "{line} is not in\n{page}");
    }
    let traces = format!("{TRACES}/generated_torch215_gloo_pp2dp2");
    let page = prints(&["pipeline", &traces, "--step", "3", "--ascii", "--limit", "5"]);
    assert!(page.is_ascii() && page.contains("step 3, replica 1"), "{page}");
    let stall = page.lines().find(|line| line.contains("forward") && line.contains("50."));
    assert!(stall.is_some_and(|line| line.split_whitespace().nth(2) == Some("2")), "rank 2 stalls: {page}");
}

#[test]
fn programs_get_every_stall_with_its_cost() {
    let page = json(&["pipeline", &primus(), "--step", "16", "--json"], 0);
    let shown = &page["pipeline"]["shown"];
    assert_eq!((shown["step"].as_u64(), shown["stalls"][0]["stage"].as_u64()), (Some(16), Some(2)));
    let cost = shown["stalls"][0]["cost_ns"].as_i64().unwrap_or_default();
    assert!((cost as f64 / 1e6 - 218.0).abs() <= 15.0, "{cost}");
    assert_eq!(shown["rows"].as_array().map(Vec::len), Some(8));
}

/// Both reports once named different causes of the same delay.
#[test]
fn pipeline_and_straggler_reports_agree_on_the_cause() {
    for job in ["lone_stage", "slow_host_pipeline", "two_stages", "lone_pipeline"] {
        let traces = format!("{TRACES}/simulated/{job}");
        let answer = |command: &str| {
            let outcome = run(&[command, &traces, "--json"]);
            serde_json::from_str::<serde_json::Value>(&outcome.stdout).expect("JSON")
        };
        let (page, report) = (answer("pipeline"), answer("stragglers"));
        let judgement = &page["pipeline"]["judgement"];
        assert!(report["culprits"].as_array().is_some_and(|list| !list.is_empty()), "{job}");
        for key in ["verdict", "culprits"] {
            assert_eq!(judgement[key], report[key], "{job}: {key}");
        }
    }
}

#[test]
fn pictures_and_predictions() {
    let file = std::env::temp_dir().join(format!("railwright-pipeline-{}.svg", std::process::id()));
    let path = file.display().to_string();
    let primus = primus();
    for arguments in [
        &["pipeline", &primus[..], "--svg", &path][..],
        &["pipeline", "--predict", "../../../../examples/runs/gpt3-175b.toml", "--svg", &path],
    ] {
        prints(arguments);
        let drawn = std::fs::read_to_string(&file).unwrap_or_default();
        assert!(drawn.starts_with("<svg ") && drawn.ends_with("</svg>\n") && drawn.contains(">expected: "));
    }
    let _ = std::fs::remove_file(&file);
}

#[test]
fn what_cannot_be_shown_is_reported() {
    let primus = primus();
    let flat = format!("{TRACES}/param_dlrm_8r");
    for (arguments, expected) in [
        (&["pipeline"][..], "required arguments"),
        (&["pipeline", "nowhere/"], "file not found"),
        (&["pipeline", &primus, "--step", "99"], "steps go from 1 to 20"),
        (&["pipeline", &primus, "--replica", "2"], "there is no replica 2"),
        (&["pipeline", &primus, "--what-if", "stag=3"], "did you mean `stage`?"),
        (&["pipeline", &primus, "--what-if", "kind=forwrd"], "did you mean `forward`?"),
        (&["pipeline", &primus, "--what-if", "stage=44"], "no such passes: stage 44"),
        (&["pipeline", &flat], "all ranks are on one pipeline stage"),
    ] {
        let outcome = run(arguments);
        assert_eq!(outcome.code, 2, "{arguments:?}");
        assert!(outcome.stderr.contains(expected), "{arguments:?}: {}", outcome.stderr);
    }
}
