//! Profiles of real traces, two of them side by side, and what cannot be profiled.

mod support;

use support::{json, run, transcript};

const TRACES: &str = "../../../../fixtures/traces";
const CURRENT: &str = "../../../../fixtures/traces/modded_nanogpt_h100/ab/current-rank0.json.gz";
const HOOK: &str = "../../../../fixtures/traces/modded_nanogpt_h100/ab/hook-rank0.json.gz";

#[test]
fn reports_of_real_traces() {
    let mut text = String::new();
    for line in [
        &[
            "profile",
            CURRENT,
            "--model-flops",
            "1.6e14",
            "--step",
            "12",
            "--depth",
            "4",
            "--top",
            "3",
            "--ascii",
        ][..],
        &[
            "profile",
            &format!("{TRACES}/param_dlrm_8r"),
            "--rank",
            "3",
            "--depth",
            "2",
            "--top",
            "0",
            "--format",
            "md",
        ],
        &["profile", &format!("{TRACES}/megatron_tp2_v100/rank*"), "--format", "csv"],
    ] {
        text.push_str(&transcript(line));
        text.push('\n');
    }
    insta::assert_snapshot!(text);
}

#[test]
fn comparisons_of_real_traces() {
    let mut text = String::new();
    for line in [
        &["compare", CURRENT, HOOK, "--fail-if", "step_time>+3%", "--top", "5"][..],
        &["compare", &format!("{TRACES}/../runs/tiny-gpt-tp2.toml"), &format!("{TRACES}/megatron_tp2_v100")],
    ] {
        text.push_str(&transcript(line));
        text.push('\n');
    }
    insta::assert_snapshot!(text);
}

#[test]
fn a_condition_that_is_met_is_a_no() {
    let said = run(&[
        "compare",
        CURRENT,
        HOOK,
        "--fail-if",
        "exposed_communication<-1%",
        "--fail-if",
        "step_time>+50%",
    ]);
    assert_eq!(said.code, 1, "{}", said.stderr);
    assert!(said.stdout.contains("met, so this fails"), "{}", said.stdout);
}

#[test]
fn the_parts_of_the_json_add_up() {
    let answer = json(&["profile", &format!("{TRACES}/param_dlrm_8r"), "--json"], 0);
    let lines = answer["lines"].as_array().expect("lines");
    let sum =
        |list: &[serde_json::Value], key: &str| list.iter().filter_map(|v| v[key].as_i64()).sum::<i64>();
    let total = sum(lines, "time");
    let of_steps: i64 =
        answer["steps"].as_array().expect("steps").iter().filter_map(|s| s["duration"].as_i64()).sum();
    assert_eq!(total, of_steps * answer["ranks"].as_i64().expect("a number"));
    assert_eq!(total, sum(answer["tree"].as_array().expect("a tree"), "time"));
}

#[test]
fn mistakes_are_told() {
    let mut text = String::new();
    for line in [
        &["profile", "no-such-folder"][..],
        &["profile", "a-folder"],
        &["profile", "runs.csv"],
        &["profile", CURRENT, "--step", "99"],
        &["profile", CURRENT, "--rank", "5"],
        &["profile", CURRENT, "--model-flops", "-1"],
        &["profile", CURRENT, "--model-flops", "1e15", "--accelerator", "h1000"],
        &["profile", CURRENT, "--precision", "bf17"],
        &["profile", CURRENT, "--layout", "tp=2,xp=4"],
        &["profile", CURRENT, "--families", "wrong-type.toml"],
        &["compare", CURRENT, HOOK, "--fail-if", "step_time"],
        &["compare", CURRENT, HOOK, "--fail-if", "step_tiem>3%"],
        &["compare", "wrong-type.toml", "wrong-type.toml"],
    ] {
        let said = run(line);
        assert_eq!(said.code, 2, "{line:?}: {}", said.stderr);
        text.push_str(&transcript(line));
        text.push('\n');
    }
    insta::assert_snapshot!(text);
}

#[test]
fn tables_of_another_tool() {
    let ranks = format!("{TRACES}/megatron_tp2_v100/rank*");
    let answer = json(&["profile", &ranks, "--compat", "hta", "--json"], 0);
    // As the tool says it of rank 1, whose device waits for rank 0.
    assert_eq!(answer["temporal"][1]["non_compute_time"], 48303);
    assert_eq!(answer["temporal"][1]["non_compute_percent"], 82.82);
    assert_eq!(answer["overlap"][0]["overlap_percent"], 37.15);
    let refused = run(&["profile", &ranks, "--compat", "tensorboard"]);
    assert_eq!(refused.code, 2, "{}", refused.stderr);
}
