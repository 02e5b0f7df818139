//! `whatif` and `sensitivity`: their structure, exit codes, and errors of invalid changes. Predicted numbers
//! are not fixed here.

use crate::support::{json, program, rejected, run, transcript};
use serde_json::Value;

const RUN: [&str; 12] = [
    "llama-3-8b",
    "--cluster",
    "dgx-h100",
    "--gpus",
    "16",
    "--tp",
    "2",
    "--pp",
    "2",
    "--gbs",
    "64",
    "--quiet",
];

fn line<'a>(command: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [&[command][..], &RUN, more].concat()
}

/// An unspecified network has the accelerator's usual bandwidth, which relative changes scale.
#[test]
fn an_assumed_network_can_be_scaled() {
    let outcome = run(&[
        "whatif",
        "llama-3-8b",
        "--cluster",
        "h100",
        "--gpus",
        "64",
        "--tp",
        "2",
        "--change",
        "nic=x2",
    ]);
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
}

#[test]
fn each_change_alone_and_all_together() {
    let answer = json(
        &line(
            "whatif",
            &["--change", "precision=fp8", "-c", "nic=x2,hbm=+10%", "--change", "slow.rank=0.8", "--json"],
        ),
        0,
    );
    assert_eq!((answer["kind"].as_str(), answer["schema_version"].as_u64()), (Some("whatif"), Some(2)));
    let alone = answer["alone"].as_array().expect("a list");
    let names: Vec<&str> = alone.iter().filter_map(|r| r["name"].as_str()).collect();
    assert_eq!(names, ["precision=fp8", "nic=x2,hbm=+10%", "slow.rank=0.8"]);
    let share = |r: &Value| r["outcome"]["difference"]["share"].as_f64().expect("a share");
    assert!(share(&alone[0]) < -0.05 && share(&alone[1]) < 0.0 && share(&alone[2]) > 0.05, "{alone:#?}");
    assert_eq!(alone[0]["evidence"]["what"], "number format");
    let together = &answer["together"];
    assert!((share(&alone[0])..share(&alone[2])).contains(&share(together)));
    let interaction = answer["interaction"]["together"].as_f64().expect("a factor");
    assert!(
        (interaction * (1.0 + share(together)) - 1.0).abs() < 1e-9,
        "the speed-up is the inverse of the time"
    );
    for rehearsal in alone.iter().chain([together]) {
        let parts = rehearsal["outcome"]["difference"]["parts"].as_array().expect("parts");
        let sum: f64 = parts.iter().filter_map(|part| part["share"].as_f64()).sum();
        assert!((sum - share(rehearsal)).abs() < 1e-9, "{sum}");
    }
}

/// The step before the changes is that of `estimate` for the same line.
#[test]
fn the_step_before_changes_is_that_of_estimate() {
    let before = &json(&line("whatif", &["--change", "nic=x2", "--json"]), 0)["before"];
    let estimate = json(&line("estimate", &["--json"]), 0);
    assert!(before["step_time"].is_f64(), "{before:#}");
    assert_eq!(before["step_time"], estimate["step_time"]);
    assert_eq!(before["interval"], estimate["step_time_interval"]);
    let conventions = estimate["efficiency"]["model_flop"].as_array().expect("a list");
    let causal = conventions.iter().find(|of| of["convention"] == "causal_attention").expect("has it");
    assert!(before["model_flop_utilisation"].is_f64());
    assert_eq!(before["model_flop_utilisation"], causal["utilisation"][0]["share"]);
}

#[test]
fn impossible_changes_are_reported_beside_the_others_and_fail() {
    let changes = ["--change", "tp=3", "--change", "nic=x2", "--change", "hbm=x2", "-v"];
    let outcome = run(&line("whatif", &changes));
    assert_eq!(outcome.code, 1, "{}", outcome.stderr);
    for words in [
        "not valid",
        "16 devices cannot be divided into replicas of 6",
        "all valid changes together",
        "without `tp=3`, which is not valid alone",
        "largest differences",
    ] {
        assert!(outcome.stdout.contains(words), "`{words}` is missing in\n{}", outcome.stdout);
    }
    let rivals = run(&line("whatif", &["--change", "global_batch=128", "--change", "global_batch=32"]));
    assert_eq!(rivals.code, 0, "{}", rivals.stdout);
    assert!(
        rivals.stdout.contains("Two changes set `plan.global_batch` to different values"),
        "{}",
        rivals.stdout
    );
    // A change that does not fit also gives a negative outcome.
    let large = run(&line("whatif", &["--change", "micro_batch=16", "-v"]));
    assert_eq!(large.code, 1);
    assert!(large.stdout.contains("which does not fit"), "{}", large.stdout);
}

#[test]
fn changes_without_effect_are_reported() {
    let outcome = run(&line("whatif", &["--change", "tp=2", "--change", "pcie=x2"]));
    assert_eq!(outcome.code, 0);
    assert!(
        outcome.stdout.contains("the run already has this value, so nothing changes"),
        "{}",
        outcome.stdout
    );
    assert!(outcome.stdout.contains("no effect: step time and memory stay the same"), "{}", outcome.stdout);
}

#[test]
fn every_format_and_width() {
    let changes = ["--change", "precision=fp8", "--change", "accelerator=b200", "--change", "tp=16"];
    for command in ["whatif", "sensitivity"] {
        let more: &[&str] = if command == "whatif" { &changes } else { &[] };
        for columns in ["160", "100", "72", "50"] {
            let mut program = program(&line(command, more));
            let output = program.env("COLUMNS", columns).output().expect("starts");
            let text = String::from_utf8(output.stdout).expect("UTF-8");
            let width: usize = columns.parse().expect("a number");
            for text in text.lines() {
                assert!(text.chars().count() <= width, "{command} in {columns} columns: {text}");
            }
        }
        let ascii = run(&line(command, &[more, &["--ascii"]].concat()));
        assert!(ascii.stdout.is_ascii(), "{}", ascii.stdout);
        let markdown = run(&line(command, &[more, &["--format", "md"]].concat()));
        assert!(markdown.stdout.contains("| --"), "{}", markdown.stdout);
    }
    let table = run(&line("whatif", &[&changes[..], &["--format", "csv"]].concat()));
    assert!(
        table.stdout.starts_with("case,step time,change,tokens/s/GPU,MFU,memory,fits,$/M tokens\nbaseline,")
    );
    assert_eq!(table.stdout.lines().count(), 6, "{}", table.stdout);
}

#[test]
fn the_same_input_gives_the_same_bytes() {
    for command in ["whatif", "sensitivity"] {
        let more: &[&str] =
            if command == "whatif" { &["--change", "slow.nic=0.5", "--json"] } else { &["--json"] };
        assert_eq!(run(&line(command, more)).stdout, run(&line(command, more)).stdout);
    }
}

#[test]
fn sensitivity_names_what_to_buy() {
    let answer = json(&line("sensitivity", &["--json"]), 0);
    assert_eq!(answer["kind"], "sensitivity");
    let figures = answer["figures"].as_array().expect("a list");
    assert_eq!(figures[0]["id"], "cluster.peak.bf16");
    let sum = |key: &str| answer["sum"][key].as_f64().expect("a number");
    assert!((sum("times") - sum("rates") + sum("rest") - 1.0).abs() < 1e-9 && sum("rest").abs() < 0.02);
    let table = run(&line("sensitivity", &["--format", "csv"]));
    assert!(
        table.stdout.starts_with("id,title,kind,now,elasticity,less,more,best,through\ncluster.peak.bf16,")
    );
    assert_eq!(table.stdout.lines().count(), figures.len() + 1);
    let report = run(&line("sensitivity", &["-v"])).stdout;
    for words in ["sensitivity of the step time", "improvement ranking", "capacity has no effect"] {
        assert!(report.contains(words), "`{words}` is missing in\n{report}");
    }
    // A run that does not fit has exit code 1 and reports the required memory.
    let large = run(&line("sensitivity", &["--micro-batch", "16"]));
    assert_eq!(large.code, 1);
    assert!(large.stdout.contains("which does not fit"), "{}", large.stdout);
}

#[test]
fn bad_changes() {
    let mut text = String::new();
    for change in [
        "plan.mico_batch=2",
        "nic_gbs=800",
        "name=x",
        "tp",
        "tp=",
        "slow.rank=1.2",
        "slow.stage=0.5",
        "slow.disk=0.5",
        "tp=4,tp=8",
        "nic=x0",
        "nic=x-1",
        "nic=xnan",
        "nic=x1e300",
        "hbm=-100%",
        "gpu=bogus",
        "",
    ] {
        let line = ["whatif", "llama-3-8b", "--cluster", "dgx-h100", "--tp", "2", "--change", change];
        text.push_str(&rejected(&line));
    }
    text.push_str(&transcript(&["whatif", "llama-3-8b", "--cluster", "dgx-h100"]));
    insta::assert_snapshot!("bad_changes", text);
}

#[test]
fn values_that_nothing_can_be_are_bad_input_all_at_once() {
    let line = line(
        "whatif",
        &[
            "-c",
            "power=-5 W",
            "-c",
            "nic=400",
            "-c",
            "precision=fp9",
            "-c",
            "slow.node.2=0.9",
            "-c",
            "nodes=1.5",
            "-c",
            "model.name=llama-9",
            "-c",
            "accelerator=x2",
            "-c",
            "slow.stage.99=0.9",
        ],
    );
    let outcome = run(&line);
    assert_eq!(outcome.code, 2, "{}", outcome.stdout);
    assert!(outcome.stdout.is_empty(), "{}", outcome.stdout);
    insta::assert_snapshot!("impossible_values", outcome.stderr);
}

/// A plan that does not fit without recompute gets some, if it is unspecified, before and after a change: a
/// price has no effect on its time.
#[test]
fn unspecified_recompute_is_chosen_for_both_runs() {
    let line = ["whatif", "llama-3.1-8b", "--cluster", "dgx-h100", "--gpus", "8", "--dp", "8", "--fsdp"];
    let rest = ["--mbs", "4", "--seq", "8192", "--gbs", "512", "--change", "price=3", "--json"];
    let answer = json(&[&line[..], &rest[..]].concat(), 0);
    let share = answer["alone"][0]["outcome"]["difference"]["share"].as_f64();
    assert_eq!(share, Some(0.0), "{:#?}", answer["alone"][0]);
}
